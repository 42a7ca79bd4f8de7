"""Jobs across four hosts: one agent each, every rank under its host's name, everything encrypted and counted."""
import os
import unittest

import bed
import checks
import lab


class Hosts(unittest.TestCase):
    def check(self, place, hosts, job, ranks):
        self.assertEqual(0, job.status, job)
        recorded = place.recording()
        checks.recording_tells_the_truth(self, recorded.sums(), place.truth())
        self.assertEqual(set(hosts.names), {m['host'] for m in recorded.windows()})
        places = {m['rank']: host for host, members in recorded.members().items() for m in members}
        self.assertEqual(set(range(ranks)), set(places))
        self.assertEqual({name: ranks // len(hosts.names) for name in hosts.names},
                         {name: list(places.values()).count(name) for name in hosts.names})
        lab.wait_for(lambda: not hosts.shared_memory(), 'clean shared memory on all hosts')
        place.check_clean()

    def check_encryption(self, place):
        """The daemon listens beyond this host with keys only, which nobody else can read; without them it is mute."""
        daemon, = place.pids('holterd')
        words = place.processes()[daemon].split()
        outward = [w for w in words if w.startswith('tcp://') and '127.0.0.1' not in w]
        self.assertTrue(outward, words)
        keys = words[words.index('--keys') + 1]
        self.assertEqual(0o700, os.stat(keys).st_mode & 0o777)
        for name in os.listdir(keys):
            self.assertEqual(0o600, os.stat(os.path.join(keys, name)).st_mode & 0o777, name)
        asked = {with_keys: place.holter('status', '--timeout', seconds, '--connect', outward[0], *with_keys).finish()
                 for with_keys, seconds in (((), 2), (('--keys', keys), lab.PATIENCE))}
        self.assertEqual([1, 0], [finished.status for finished in asked.values()], list(map(str, asked.values())))

    def run_across(self, launcher, mpi, ranks, env=None):
        with lab.Lab() as place, bed.Bed(place, 4) as hosts:
            gate = os.path.join(place.dir, 'gate')
            job = place.holter('run', '--', *launcher(hosts), '-n', ranks, lab.program('hang', mpi), gate, env=env)
            lab.wait_for(lambda: not job.alive() or len(place.pids('holter-agent')) == 2 * len(hosts.names),
                         'an agent, with its supervisor, on each host')
            self.assertTrue(job.alive(), job)
            self.check_encryption(place)
            with open(gate, 'w', encoding='utf-8'):
                pass
            self.check(place, hosts, job.finish(), ranks)

    def test_open_mpi(self):
        self.run_across(lambda hosts: hosts.openmpi(), 'openmpi', 8)

    def test_mpich(self):
        yields = lab.YIELDING
        env = {'UCX_NET_DEVICES': 'eth0', 'UCX_TLS': 'tcp,self', 'LD_PRELOAD': yields}
        self.run_across(lambda hosts: hosts.mpich(), 'mpich', 4, env)

    def alerts_of(self, command):
        """Titles of the alerts of a job that does not end well, of four ranks on two hosts."""
        with lab.Lab() as place, bed.Bed(place, 2) as hosts:
            finished = place.watched(*hosts.openmpi(), '-n', '4', *map(str, command))
            self.assertNotEqual(0, finished.status, finished)
            lab.wait_for(lambda: not hosts.shared_memory(), 'clean shared memory on all hosts')
            place.check_clean()
            return [row['title'] for row in place.recording().alerts()]

    def test_ranks_that_are_ended_because_of_another_host_are_not_the_cause(self):
        """The last rank, on the second host, is killed; the launcher ends the others."""
        title, *more = self.alerts_of([lab.program('crash', 'openmpi'), 'kill', 200])
        self.assertEqual([], more)
        self.assertRegex(title, '^rank 3 on node2 died after MPI_Sendrecv, peer .; 3 more ended after it$')

    def test_status_after_finalize_of_a_rank_on_another_host_is_no_death(self):
        self.assertEqual([], self.alerts_of([lab.program('status', 'openmpi'), 3]))


if __name__ == '__main__':
    lab.main(network=True)
