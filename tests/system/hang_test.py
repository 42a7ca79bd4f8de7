"""Ranks that wait for ever: who is behind is named, of real jobs, while they hang; and it is over when they go on."""
import os
import signal
import time
import unittest

import lab

SECOND = 10**9
PATIENT = 'rules:\n  - name: hang\n    kind: hang\n    for: 3s\n    stopped-for: 3s\n'


class Hangs(unittest.TestCase):
    def setUp(self):
        self.place = lab.Lab()
        self.place.__enter__()
        self.addCleanup(self.place.close)
        self.gate = self.path('gate')

    def path(self, name):
        return os.path.join(self.place.dir, name)

    def write(self, name, text):
        with open(self.path(name), 'w', encoding='utf-8') as f:
            f.write(text)
        return self.path(name)

    def start(self, mpi, program, *arguments, rules=None):
        """A daemon, a job of 4 ranks that it watches, and what is told of alerts."""
        more = ('--rules', self.write('rules.yaml', rules)) if rules else ()
        self.daemon = self.place.daemon(*more)
        self.job = self.place.holter('run', '--', *lab.mpirun(mpi, 4, lab.program(program, mpi), *arguments))
        lab.wait_for(lambda: self.place.ranks_seen() == 4 or not self.job.alive(), 'the ranks to be known')
        self.assertTrue(self.job.alive(), str(self.job))
        self.tap = self.place.tap('--topic', 'alerts', '--until-end')

    def told(self):
        """Alerts about hangs so far."""
        lines = [line for line in self.tap.out().splitlines(keepends=True) if line.endswith('\n')]
        return [m for m in lab.stream_messages(''.join(lines)) if m.get('kind') == 'hang']

    def fired(self):
        return lab.wait_for(lambda: [m for m in self.told() if m['state'] == 'firing'], 'the alert')[0]

    def end(self):
        """The job goes on and ends; the alert is over. @return all that was told of hangs"""
        self.write('gate', '')
        self.assertEqual(0, self.job.finish().status, str(self.job))
        self.tap.finish()
        self.daemon.kill(signal.SIGTERM)
        self.assertEqual(0, self.daemon.finish().status, str(self.daemon))
        told = self.told()
        self.place.__exit__(None, None, None)
        return told

    def of_rank(self, mpi, program, rank):
        """Process of a rank."""
        for pid in self.place.pids(f'{program}.{mpi}'):
            with open(f'/proc/{pid}/environ', 'rb') as f:
                words = f.read().split(b'\0')
            if f'OMPI_COMM_WORLD_RANK={rank}'.encode() in words or f'PMI_RANK={rank}'.encode() in words:
                return pid
        raise AssertionError(f'no rank {rank}: {self.place.processes()}')

    def one_episode(self, told):
        self.assertEqual(1, len({m['id'] for m in told}), told)
        self.assertEqual('resolved', told[-1]['state'], told)

    # -- tests ----------------------------------------------------------------------------------

    def stopped(self, mpi):
        """A rank that is stopped anywhere in its work is named within 10 s, by the default rules."""
        place = os.path.join(self.place.dir, 'steps')
        os.mkdir(place)
        self.start(mpi, 'steps', place, 1024, 20000)
        pid = self.of_rank(mpi, 'steps', 2)
        stopped_ns = time.time_ns()
        os.kill(pid, signal.SIGSTOP)
        alert = self.fired()
        self.assertEqual((2, '2'), (alert['rank'], alert['ranks']), alert)
        self.assertIn('stopped', alert['text'], alert)
        self.assertLess(alert['updated_ns'] - stopped_ns, 10 * SECOND, alert)
        print(f'{mpi}: named {(alert["updated_ns"] - stopped_ns) / SECOND:.1f} s after it was stopped: {alert["title"]}: '
              f'{alert["text"]}')
        os.kill(pid, signal.SIGCONT)
        lab.wait_for(lambda: self.told()[-1]['state'] == 'resolved', 'the end of the alert')
        with open(os.path.join(place, 'end'), 'w', encoding='utf-8'):
            pass
        self.one_episode(self.end())

    def test_a_stopped_rank_under_open_mpi(self):
        self.stopped('openmpi')

    def test_a_stopped_rank_under_mpich(self):
        self.stopped('mpich')

    def test_a_rank_that_does_not_come_to_a_barrier(self):
        self.start('openmpi', 'hang', self.gate, rules=PATIENT)
        alert = self.fired()
        print(alert['text'])
        self.assertEqual((3, '3', 1), (alert['rank'], alert['ranks'], alert['comm']), alert)
        self.assertEqual('rank 3 has not arrived in MPI_Barrier on MPI_COMM_WORLD', alert['title'])
        self.assertIn('3 of 4 ranks wait since', alert['text'])
        self.assertIn('collective call 1 there', alert['text'])
        self.assertIn('outside of MPI', alert['text'])
        self.assertIn('Rank 3 has not called MPI_Barrier on MPI_COMM_WORLD, which 3 others are in', alert['advice'])
        told = self.end()
        self.assertIn('over: ranks move again; ', told[-1]['text'])
        self.one_episode(told)

    def test_a_message_that_is_never_sent(self):
        self.start('openmpi', 'await', self.gate, rules=PATIENT)
        alert = self.fired()
        print(alert['text'])
        self.assertEqual((3, '3'), (alert['rank'], alert['ranks']), alert)
        self.assertEqual('rank 3 keeps others waiting in MPI_Recv on MPI_COMM_WORLD', alert['title'])
        self.assertIn('3 of 4 ranks wait since', alert['text'])
        self.assertIn('rank 2 has waited longest', alert['text'])
        self.one_episode(self.end())

    def killed(self):
        """All ranks are killed while they hang. @return the last that was told of the hang"""
        for pid in self.place.pids('stuck.openmpi'):
            os.kill(pid, signal.SIGKILL)
        self.assertNotEqual(0, self.job.finish().status)
        last = lab.wait_for(lambda: [m for m in self.told() if m['state'] == 'resolved'], 'the end of the alert')[-1]
        print(last['text'])
        self.one_episode(self.told())
        self.assertNotIn('move again', last['text'])
        return last

    def test_a_circle_of_sends_whose_ranks_are_killed(self):
        self.start('openmpi', 'stuck', 'sends', rules=PATIENT)
        alert = self.fired()
        print(alert['text'], alert['advice'])
        self.assertEqual('deadlock: ranks 0-3 wait for each other', alert['title'])
        self.assertIn('rank 3 is in MPI_Ssend to rank 0', alert['text'])
        self.assertIn('use MPI_Sendrecv or MPI_Isend', alert['advice'])
        self.assertRegex(self.killed()['text'], r'^over: (\d of \d ranks that waited have died|the job has ended);')

    def test_one_rank_in_a_barrier_that_no_other_calls(self):
        self.start('openmpi', 'stuck', 'barrier', rules=PATIENT)
        alert = self.fired()
        print(alert['text'], alert['advice'])
        self.assertEqual('only rank 0 is in MPI_Barrier on MPI_COMM_WORLD, 3 others are not', alert['title'])
        self.assertEqual((0, '0'), (alert['rank'], alert['ranks']), alert)
        self.assertIn('Look at why rank 0 called MPI_Barrier', alert['advice'])
        self.killed()


if __name__ == '__main__':
    lab.main()
