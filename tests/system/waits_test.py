"""A rank that is blocked in its sends waits, for a rank that is named: in every view."""
import os
import re
import unittest

import bed
import lab

LARGE = 4 << 20  # bytes: no MPI puts so much into a buffer
ROUNDS = 60
WINDOW = '250ms'
SETTLED = 8      # windows until the two ends of a message between nodes have been joined


class Waits(unittest.TestCase):
    def ranks(self, place):
        """@return number of the newest window, sums of the ranks since the start: as all get them who connect"""
        messages = lab.stream_messages(place.tap('--topic', 'ranks', '--count', 1).finish().out)
        return (max((m['window'] for m in messages), default=0),
                {row['rank']: row for m in messages for row in m.get('ranks', ())})

    def check(self, place, launcher, mpi, size):
        """Runs the program. @return the row of the sender, what the program measured, texts of commands"""
        gate = os.path.join(place.dir, 'gate')
        job = place.holter('run', '--window', WINDOW, '--', *launcher, lab.program('late', mpi), size, ROUNDS, gate)
        received = lambda: self.ranks(place)[1].get(1, {}).get('received', 0) > 0  # the message that comes last
        lab.wait_for(lambda: not job.alive() or received(), 'all messages')
        self.assertTrue(job.alive(), str(job))
        window = self.ranks(place)[0]
        lab.wait_for(lambda: self.ranks(place)[0] >= window + SETTLED, 'the windows after them')
        rows = self.ranks(place)[1]
        texts = [place.holter('tap', '--topic', 'ranks', '--count', 1).finish().out,
                 place.holter('top', '--once').finish().out]
        with open(gate, 'w', encoding='utf-8'):
            pass
        finished = job.finish()
        self.assertEqual(0, finished.status, str(finished))
        truth = {name: int(re.search(rf'{name} (\d+)', finished.out)[1]) for name in ('blocked', 'waited')}
        print(truth, *rows.values(), *texts, finished.err, sep='\n')
        self.assertLessEqual(rows[1]['send_wait_ns'], 1.01 * truth['blocked'])
        return rows[1], truth, [*texts, finished.err]

    def check_late_receiver(self, place, launcher, mpi):
        row, truth, texts = self.check(place, launcher, mpi, LARGE)
        self.assertAlmostEqual(row['send_wait_ns'], truth['waited'], delta=0.02 * truth['waited'])
        self.assertEqual(1 + 0, row['awaited'])
        self.assertIn('for rank', texts[0])
        self.assertIn('for rank', texts[1])
        self.assertRegex(texts[2], r'% of the time in MPI, [1-9]\d? % waiting')

    def test_a_thread_that_waits_for_requests_is_no_waiting_of_its_rank(self):
        with lab.Lab() as place:
            control = os.path.join(place.dir, 'control')
            os.mkdir(control)
            job = place.holter('run', '--window', WINDOW, '--',
                               *lab.mpirun('openmpi', 4, lab.program('causes', 'openmpi'), control, 'serve'))
            lab.wait_for(lambda: not job.alive() or self.ranks(place)[0] > 0, 'the first window')
            first = self.ranks(place)[0]
            lab.wait_for(lambda: self.ranks(place)[0] >= first + 4 * SETTLED, 'windows')
            self.assertTrue(job.alive(), str(job))
            rows = self.ranks(place)[1]
            with open(os.path.join(control, 'end'), 'w', encoding='utf-8'):
                pass
            finished = job.finish()
            self.assertEqual(0, finished.status, str(finished))
            print(*rows.values(), finished.err, sep='\n')
            for row in rows.values():
                waiting = sum(row[f'{name}_ns'] for name in ('recv', 'wait', 'poll', 'collective'))
                self.assertLess(waiting, 0.8 * row['service_ns'])  # it computes for 0.6 of the time
            self.assertRegex(finished.err, r' [1-7]?\d % of the time in MPI')

    def test_a_late_receiver_under_open_mpi(self):
        with lab.Lab() as place:
            self.check_late_receiver(place, lab.mpirun('openmpi', 2), 'openmpi')

    def test_a_late_receiver_under_mpich(self):
        with lab.Lab() as place:
            self.check_late_receiver(place, lab.mpirun('mpich', 2), 'mpich')

    def test_a_late_receiver_on_another_host(self):
        with lab.Lab() as place, bed.Bed(place, 2) as hosts:
            self.check_late_receiver(place, (*hosts.openmpi(), '-n', 2), 'openmpi')

    def test_small_messages_wait_no_longer_than_they_are_blocked(self):
        with lab.Lab() as place:
            self.check(place, lab.mpirun('openmpi', 2), 'openmpi', 64)


if __name__ == '__main__':
    lab.main(network=True)
