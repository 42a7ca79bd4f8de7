"""Programs that know what they did, watched: every message, byte and call is accounted for."""
import os
import signal
import subprocess
import unittest

import checks
import lab
import recording


class Watched:
    """Mixed into test cases of one MPI."""
    mpi = None
    yielding = {}  # environment in which more ranks than cores do not take each other's time

    def watched(self, place, ranks, name, *arguments, executable=None, seconds=lab.PATIENCE, matched=True,
                volumes=True):
        """Run under Holter with a daemon of our own, the stream tapped from the first frame; compare recording,
        stream, late joiner's state and truth. Returns (finished run, sums of the recording).

        matched: every message is matched; volumes: as checks.recording_tells_the_truth() has it."""
        path = executable or lab.program(name, self.mpi)
        daemon = place.daemon()
        live = place.tap('--until-end')
        yielding = {} if executable else self.yielding  # what finds MPI by itself cannot be told to yield
        finished = place.watched(*lab.mpirun(self.mpi, ranks, path, *arguments), seconds=seconds, env=yielding)
        self.assertEqual(0, finished.status, finished)
        self.assertNotIn('no program that initialised MPI was seen', finished.err)
        stream = live.finish()
        job = lab.stream_messages(stream.out)[0]['job']
        late = place.tap('--until-end', '--job', job).finish()
        daemon.kill(15)
        stopped = daemon.finish()
        self.assertEqual(0, stopped.status, stopped)
        sums = place.recording().sums()
        checks.recording_tells_the_truth(self, sums, place.truth(), volumes)
        checks.nothing_lost(self, sums)
        if matched:
            checks.all_is_matched(self, place.recording(), sums)
        checks.totals_agree(self, place.recording().totals(), sums)
        windows, _ = recording.tapped(stream.out)
        checks.streams_agree(self, 'published windows', sums, windows)
        _, state = recording.tapped(late.out)
        checks.streams_agree(self, 'state for a late joiner', sums, state)
        return finished, sums

    def check_open_receives(self, ranks, receives):
        with self.subTest(receives=receives), lab.Lab() as place:
            place.env['HOLTER_RING'] = '4194304'
            # so many records come at once, and are summed only
            self.watched(place, ranks, 'open', receives, 0, matched=False)


class Programs(Watched):
    most_communicators = 5000
    partitioned = 0  # messages of 'seldom' that are

    def test_messages_back_and_forth(self):
        with lab.Lab() as place:
            # a record a microsecond: a ring that fills before the agent gets a core is summed, not matched
            place.env['HOLTER_RING'] = '4194304'
            self.watched(place, 3, 'pingpong', 5000, 100)

    def test_every_way_to_send_and_receive(self):
        for ranks, seed in ((4, 11), (3, 12)):
            with self.subTest(ranks=ranks, seed=seed), lab.Lab() as place:
                self.watched(place, ranks, 'stress', seed, 4)

    def test_every_collective(self):
        with lab.Lab() as place:
            self.watched(place, 3, 'collectives', 4)

    def test_another_tool_between_program_and_library(self):
        with lab.Lab() as place:
            place.env['LD_PRELOAD'] = os.path.join(lab.BUILD, 'tests', 'system', f'layer.{self.mpi}.so')
            self.watched(place, 2, 'pingpong', 100, 100)

    def test_one_sided(self):
        with lab.Lab() as place:
            self.watched(place, 4, 'onesided', 5)

    def test_calls_that_few_programs_make(self):
        with lab.Lab() as place:
            # the partitioned messages of MPI 4 are counted as unmatched, both ends of each
            _, sums = self.watched(place, 3, 'seldom', 3, os.path.join(place.output, 'written'),
                                   matched=not self.partitioned)
            counts = place.recording().matching()
            self.assertEqual((sums.total('received') - self.partitioned, 2 * self.partitioned),
                             (counts['matched'], counts['unmatched']))

    def test_ports_copies_shapes_and_large_counts(self):
        with lab.Lab() as place:
            self.watched(place, 4, 'rare', 5)

    def test_nothing_goes_to_nobody(self):
        with lab.Lab() as place:
            _, sums = self.watched(place, 3, 'nobody', 3)
            volumes = {k: v[1:] for k, v in place.truth().calls.items()}
            checks.same(self, lab.differences('bytes given and got', volumes,
                                              {k: (sums.given[k], sums.got[k]) for k in volumes}))

    def test_more_open_receives_than_fit_a_table(self):
        self.check_open_receives(4, 20000)
        self.check_open_receives(3, 180000)  # somewhat more than all ranks of a node have room for in the matcher

    def test_receives_that_are_freed_are_shown_as_not_tracked(self):
        with lab.Lab() as place:
            finished = place.watched(*lab.mpirun(self.mpi, 2, lab.program('open', self.mpi), 50, 10), env=self.yielding)
            self.assertEqual(0, finished.status, finished)
            sums, truth = place.recording().sums(), place.truth()
            self.assertEqual(20, sums.total('untracked'))
            self.assertEqual({rank: messages - 10 for rank, (messages, _) in truth.received.items()},
                             {rank: row['received'] for rank, row in sums.ranks.items()})
            self.assertIn('20 requests not tracked, nothing else lost', finished.err)
            path = place.recordings()[0]
            self.assertIn('the end of 20 requests: not tracked; else nothing', place.holter('info', path).finish().out)
            page = os.path.join(place.output, 'page.html')
            place.holter('report', path, '-o', page).finish()
            with open(page, encoding='utf-8') as f:
                text = f.read()
            self.assertIn('<b>20</b><span class="second">requests not tracked to their end', text)
            self.assertNotIn('<b>nothing</b>', text)

    def test_code_regions_and_pause(self):
        with lab.Lab() as place:
            self.watched(place, 4, 'regions')

    def test_halo_exchange_in_three_dimensions(self):
        with lab.Lab() as place:
            self.watched(place, 8, 'halo', 200, 1000)

    def test_simulation_that_draws_pictures(self):
        with lab.Lab() as place:
            self.watched(place, 6, 'insitu', 2, 3, 2, 20, 65536)

    def test_message_rate(self):
        with lab.Lab() as place:
            # at millions of records a second sums go on and matching is left out: counted, see agent/node/rank_match.c
            self.watched(place, 2, 'rate', 300000, 64, matched=False)

    def test_message_rate_with_rings_that_are_lapped_without_pause(self):
        with lab.Lab() as place:
            place.env['HOLTER_RING'] = '1024'
            _, sums = self.watched(place, 2, 'rate', 1000000, 64, matched=False)
            self.assertGreater(sums.total('tallied'), 0, 'no ring was lapped: the test shows nothing')

    def test_messages_of_many_sizes_by_threads_whose_rings_are_lapped(self):
        with lab.Lab() as place:
            place.env['HOLTER_RING'] = '1024'
            daemon = place.daemon()
            path = lab.program('threads', self.mpi)
            job = place.holter('run', '--', *lab.mpirun(self.mpi, 2, path, 40, 3000), env=self.yielding)
            _, agent = place.agents()
            os.kill(agent, signal.SIGSTOP)
            lab.wait_for(lambda: not place.pids(os.path.basename(path)), 'the ranks to end')
            os.kill(agent, signal.SIGCONT)
            finished = job.finish()
            self.assertEqual(0, finished.status, finished)
            daemon.kill(15)
            self.assertEqual(0, daemon.finish().status)
            sums = place.recording().sums()
            checks.recording_tells_the_truth(self, sums, place.truth(), volumes=False)
            checks.nothing_lost(self, sums)
            self.assertGreater(sums.total('tallied'), 10000, 'rings were hardly lapped: the test shows nothing')

    def test_sixty_four_threads_of_a_rank(self):
        with lab.Lab() as place:
            self.watched(place, 2, 'threads', 31, 60, 64, matched=False, volumes=False)
            self.assertEqual(64, max(row['threads'] for window in place.recording().windows() for row in window['ranks']))

    def test_sixty_four_threads_that_call_at_the_same_time(self):
        with lab.Lab() as place:
            place.env['HOLTER_RING'] = '65536'  # so that all are matched
            self.watched(place, 2, 'mixed', 60, 64)

    def test_hundreds_of_datatypes(self):
        with lab.Lab() as place:
            self.watched(place, 2, 'unusual', 'types', 300)

    def test_thousands_of_communicators(self):
        with lab.Lab() as place:
            self.watched(place, 2, 'unusual', 'communicators', self.most_communicators)

    def test_a_program_that_closes_all_descriptors(self):
        with lab.Lab() as place:
            if self.mpi == 'mpich':
                self.skipTest('a rank of MPICH has its connection to the launcher as a descriptor')
            self.watched(place, 2, 'unusual', 'descriptors', 500)

    def test_a_program_whose_directory_is_removed(self):
        with lab.Lab() as place:
            self.watched(place, 2, 'unusual', 'directory', 500)

    def test_fortran_mpif_h(self):
        with lab.Lab() as place:
            self.watched(place, 3, 'fortran_mpif')

    def test_fortran_use_mpi(self):
        with lab.Lab() as place:
            self.watched(place, 3, 'fortran_mpi')

    def test_fortran_use_mpi_f08(self):
        with lab.Lab() as place:
            self.watched(place, 3, 'fortran_mpi_f08')

    def test_children_are_not_watched(self):
        with lab.Lab() as place:
            finished, _ = self.watched(place, 2, 'fork')
            self.assertIn('/cat', finished.out)
            self.assertNotIn('libholter', finished.out, 'the probe was loaded into a child program')

    def test_programs_that_become_or_start_another_one_before_they_call_mpi(self):
        another = lab.program('pingpong', self.mpi)
        for arguments in (('exec', another, 100, 100), ('child', another, 100, 100), ('fork',)):
            with self.subTest(way=arguments[0]), lab.Lab() as place:
                self.watched(place, 2, 'begin', *arguments)

    def test_mpi_loaded_privately(self):
        with lab.Lab() as place:
            folder = os.path.join(lab.BUILD, 'tests', 'system')
            plugin = os.path.join(folder, f'dlopen_plugin.{self.mpi}.so')
            if not os.path.exists(plugin):
                self.skipTest(f'{self.mpi} is not installed')
            self.watched(place, 2, 'dlopen', plugin, executable=os.path.join(folder, 'dlopen_host'))


class OpenMpi(Programs, unittest.TestCase):
    mpi = 'openmpi'

    def test_python_with_mpi4py(self):
        python = '/usr/bin/python3'  # of the distribution, as the package is
        if subprocess.run([python, '-c', 'import mpi4py'], stderr=subprocess.DEVNULL, check=False).returncode != 0:
            self.skipTest('python3-mpi4py is not installed')
        with lab.Lab() as place:
            program = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'programs', 'ring.py')
            self.watched(place, 3, None, program, 40, executable=python)


class Mpich(Programs, unittest.TestCase):
    mpi = 'mpich'
    partitioned = 18
    most_communicators = 2000  # MPICH has 2^11 contexts
    yielding = {'LD_PRELOAD': lab.YIELDING}

    def test_immediate_calls_that_send_and_receive(self):
        with lab.Lab() as place:
            # the status of the receive is not always set, so that not all messages can be matched
            _, sums = self.watched(place, 3, 'unusual', 'exchanges', 400, matched=False)
            self.assertEqual(2 * 400 * 3, sums.total('received'))

    def test_mpi_loaded_privately_under_the_name_of_a_vendor(self):
        with lab.Lab() as place:
            folder = os.path.join(lab.BUILD, 'tests', 'system')
            plugin = os.path.join(folder, 'dlopen_plugin.mpich.so')
            if not os.path.exists(plugin):
                self.skipTest('mpich is not installed')
            libraries = dict(line.split()[0::2] for line in place.run('ldd', plugin).out.splitlines() if ' => /' in line)
            with open(plugin, 'rb') as file:
                content = file.read()
            self.assertIn(b'libmpich.so.12\0', content)
            renamed = os.path.join(place.dir, 'plugin.so')
            with open(renamed, 'wb') as file:
                file.write(content.replace(b'libmpich.so.12\0', b'libmpi_gnu.so\0\0'))
            os.symlink(libraries['libmpich.so.12'], os.path.join(place.dir, 'libmpi_gnu.so'))
            place.env['LD_LIBRARY_PATH'] = place.dir
            self.watched(place, 2, 'dlopen', renamed, executable=os.path.join(folder, 'dlopen_host'))

    def test_sessions_of_a_program_that_never_calls_mpi_init(self):
        with lab.Lab() as place:
            self.watched(place, 4, 'sessions', 5)
            self.assertEqual([], place.recording().deaths())


class Long(Watched, unittest.TestCase):
    mpi = 'openmpi'  # MPICH has 2^18 handles of requests

    def test_a_million_open_receives(self):
        self.check_open_receives(2, 1000000)


if __name__ == '__main__':
    lab.main()
