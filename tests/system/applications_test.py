"""Real applications, counted in full, each with a count of its own to compare with: LAMMPS and CP2K with what
Open MPI itself counts, NetPIPE with a counting tool loaded behind the probe."""
import os
import unittest

import checks
import lab

WATER = '/usr/share/doc/cp2k/examples/H2O.inp'
# ranks: (calls of MPI_Send, the same of MPI_Irecv and MPI_Wait, calls of MPI_Allreduce)
KNOWN = {2: (2034, 180), 8: (24408, 720)}


def calls_of(sums):
    """Calls summed over ranks, {name: how many}."""
    calls = {}
    for (_, call), n in sums.calls.items():
        calls[call] = calls.get(call, 0) + n
    return calls


class Counted(unittest.TestCase):
    def counted_by_open_mpi(self, ranks, *command, seconds=lab.PATIENCE):
        """Watch one run with Open MPI's own monitoring; compare the pairs. @return sums of the recording"""
        with lab.Lab() as place:
            monitoring = lab.openmpi_monitoring(os.path.join(place.dir, 'pml'))
            launcher, *rest = lab.mpirun('openmpi', ranks, *command)
            finished = place.watched(launcher, *monitoring, *rest, seconds=seconds, env={'OMP_NUM_THREADS': '1'})
            self.assertEqual(0, finished.status, finished)
            sums = place.recording().sums()
            oracle = lab.openmpi_pairs(place.dir, 'pml')
        self.assertTrue(oracle, 'Open MPI wrote no counts')
        checks.nothing_lost(self, sums)
        checks.same(self, lab.differences('messages and bytes of pair', oracle, checks.pairs_of(sums)))
        self.assertEqual(sum(n for n, _ in oracle.values()), sums.total('received'))
        self.assertEqual(sum(size for _, size in oracle.values()), sums.total('received_bytes'))
        return sums

    def melt(self, ranks):
        if not os.path.exists(lab.MELT):
            self.skipTest('lammps-examples is not installed')
        sums = self.counted_by_open_mpi(ranks, lab.installed('lmp'), '-in', lab.MELT, '-log', 'none', seconds=1800)
        calls = calls_of(sums)
        if ranks in KNOWN:
            sends, allreduces = KNOWN[ranks]
            for call in ('MPI_Send', 'MPI_Irecv', 'MPI_Wait'):
                self.assertEqual(sends, calls[call], call)
            self.assertEqual(allreduces, calls['MPI_Allreduce'])
        return calls

    def cp2k(self, steps):
        if not os.path.exists(WATER):
            self.skipTest('cp2k is not installed')
        with open(WATER, encoding='utf-8') as f:
            text = f.read()
        self.assertIn('STEPS 5', text)
        with lab.Lab() as place:
            path = os.path.join(place.dir, 'water.inp')
            with open(path, 'w', encoding='utf-8') as f:
                f.write(text.replace('STEPS 5', f'STEPS {steps}'))
            self.counted_by_open_mpi(4, lab.installed('cp2k.psmp'), '-i', path, '-o', os.path.join(place.dir, 'log'),
                                     seconds=1800)

    def netpipe(self, most_bytes, repeats, seconds):
        """Two ranks that do nothing but send fill a ring in some 25 ms, and fill it again without pause."""
        counter = os.path.join(lab.BUILD, 'tests', 'system', 'count.mpich.so')
        program = lab.installed('NPmpich2')
        with lab.Lab() as place:
            finished = place.watched(*lab.mpirun('mpich', 2, program, '-u', most_bytes, *repeats, '-o', '/dev/null'),
                                     env={'LD_PRELOAD': counter}, seconds=seconds)
            self.assertEqual(0, finished.status, finished)
            sums, truth = place.recording().sums(), place.truth()
        checks.nothing_lost(self, sums)
        received = {r: (row['received'], row['received_bytes']) for r, row in sums.ranks.items()}
        checks.same(self, lab.differences('messages and bytes of pair', truth.sent, checks.pairs_of(sums)),
                    lab.differences('messages and bytes received by rank', truth.received, received))
        return sums


class Applications(Counted):
    def test_lammps_on_two_ranks_twice_the_same(self):
        self.assertEqual(self.melt(2), self.melt(2))

    def test_lammps_on_four_ranks(self):
        self.melt(4)

    def test_lammps_on_eight_ranks(self):
        self.melt(8)

    def test_lammps_on_sixteen_ranks(self):
        self.melt(16)

    def test_cp2k_fortran(self):
        self.cp2k(2)

    def test_netpipe_under_mpich(self):
        self.netpipe(100000, ['-n', 500], lab.PATIENCE)


class Long(Counted):
    """The same for minutes, and more ranks than this machine has room for."""

    def test_cp2k_fortran(self):
        self.cp2k(200)

    def test_netpipe_under_mpich(self):
        sums = self.netpipe(10000, [], 1800)
        self.assertGreater(sums.total('sent'), 1000000)

    def test_halo_exchange_on_512_ranks(self):
        for mpi in ('openmpi', 'mpich'):
            with self.subTest(mpi=mpi), lab.Lab() as place:
                halo = [lab.installed('nice'), '-n', '19', lab.program('halo', mpi), 20, 1000]
                yields = {'LD_PRELOAD': lab.YIELDING}
                with lab.timers_together():
                    finished = place.watched(*lab.mpirun(mpi, 512, *halo), seconds=1200,
                                             env=yields if mpi == 'mpich' else None)
                self.assertEqual(0, finished.status, finished)
                sums = place.recording().sums()
                self.assertEqual(512, len(sums.ranks))
                self.assertEqual(0, sums.total('lost'))
                checks.recording_tells_the_truth(self, sums, place.truth())


if __name__ == '__main__':
    lab.main()
