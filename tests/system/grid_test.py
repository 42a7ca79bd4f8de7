"""The process grid of a program as the network under it: --topology cart.

The program makes its grid of some of its ranks, in the reverse of their order, and frees it before it sends: places
must come from when the grid was made. It sends to neighbours only, so that hop-bytes are bytes."""
import re
import sqlite3
import unittest

import lab

RANKS = 8
SENT = 50 * 8000  # by a rank that is in the grid
OUTSIDE = (1 << 64) - 1


def bindings(mpi):
    return [f'grid.{mpi}'] + [f'grid_{b}.{mpi}' for b in ('mpif', 'mpi', 'mpi_f08')]


class Grids(unittest.TestCase):
    def run_grid(self, place, name, mpi, members, topology='cart'):
        finished = place.holter('run', '--window', '200ms', '--topology', topology, '--',
                                *lab.mpirun(mpi, RANKS, lab.program(name, mpi), members)).finish()
        self.assertEqual(0, finished.status, finished)
        return finished, {int(rank): at for rank, at in re.findall(r'place (\d+) (\(\d,\d\))', finished.out)}

    def query(self, place, text):
        connection = sqlite3.connect(place.recording().path)
        try:
            return connection.execute(text).fetchall()
        finally:
            connection.close()

    def assert_placed(self, place, places, members):
        self.assertEqual(members, len(places))
        self.assertEqual([('cart', '', f'cartesian {members // 2} x 2 (mesh): {members} nodes, {members} vertices, '
                           f'{members // 2 * 2 * (3 if members > 4 else 2)} links')],
                         self.query(place, 'SELECT source, fault, text FROM topology'))
        seats = {rank: name for rank, name in self.query(place, 'SELECT rank, name FROM seat') if name is not None}
        self.assertEqual(places, seats)

    def remap(self, place, *arguments):
        return place.holter('remap', place.recordings()[0], '--objective', 'hop-bytes', '--time', 0, '-o', '-',
                            *arguments).finish()

    def hop_bytes(self, finished):
        return int(re.search(r'^hop-bytes +(\d+)', finished.err + finished.out, re.M).group(1))

    def assert_one_hop(self, place, members):
        """The grid that the recording keeps, and the one made from what agents told, are the same."""
        for topology in ([], ['--topology', 'cart']):
            finished = self.remap(place, *topology)
            self.assertEqual(0, finished.status, finished)
            self.assertEqual(members * SENT, self.hop_bytes(finished))
            self.assertRegex(finished.err, r'(?m)^inter-node-bytes +0 +0 ')  # all of them are on this host

    def watch(self, mpi):
        for name in bindings(mpi):
            with self.subTest(name), lab.Lab() as place:
                _, places = self.run_grid(place, name.split('.')[0], mpi, RANKS)
                self.assertEqual('(3,1)', places[0])  # in reverse
                self.assert_placed(place, places, RANKS)
                self.assert_one_hop(place, RANKS)

    def test_open_mpi(self):
        self.watch('openmpi')

    def test_mpich(self):
        self.watch('mpich')

    def test_ranks_outside_the_grid_have_no_place(self):
        with lab.Lab() as place:
            _, places = self.run_grid(place, 'grid', 'openmpi', 6)
            self.assert_placed(place, places, 6)
            finished = self.remap(place)
            self.assertEqual(1, finished.status)
            self.assertIn('rank 6 is not in the process grid, which has 6 of 8 ranks', finished.err)
            shown = place.holter('topology', 'cart', '--recording', place.recordings()[0]).finish()
            self.assertEqual(0, shown.status)
            self.assertIn('A 3, torus\n            B 2, mesh', shown.out)

    def test_program_without_a_grid_is_reported(self):
        with lab.Lab() as place:
            finished, places = self.run_grid(place, 'grid', 'openmpi', 0)
            self.assertEqual({}, places)
            [(source, fault, kind)] = self.query(place, 'SELECT source, fault, kind FROM topology')
            self.assertEqual(('', 'tree'), (source, kind))
            self.assertIn('no Cartesian communicator', fault)
            self.assertIn('network: the job has made no Cartesian communicator', finished.err)
            refused = self.remap(place, '--topology', 'cart')
            self.assertEqual(1, refused.status)
            self.assertIn('it has no Cartesian communicator', refused.err)

    def test_recording_without_the_option_can_be_looked_at_so(self):
        with lab.Lab() as place:
            self.run_grid(place, 'grid', 'openmpi', RANKS, 'mesh:1')
            finished = self.remap(place, '--topology', 'cart')
            self.assertEqual(0, finished.status, finished)
            self.assertEqual(RANKS * SENT, self.hop_bytes(finished))


if __name__ == '__main__':
    lab.main()
