"""Hosts whose clocks differ: daemon time as their agents know it, and a job across them."""
import os
import statistics
import unittest

import bed
import checks
import lab

WINDOWS = 30  # that each host is to report while the job runs, after those
UNKNOWN = 6   # in which the difference of its clock is measured first
SHIFTS = {'node1': 1000, 'node2': 250, 'node3': -30}
CLOCK_UNKNOWN = 4  # WINDOW_CLOCK


class Clocks(unittest.TestCase):
    def check_errors(self, windows):
        """The daemon's time is its host's CLOCK_REALTIME, and CLOCK_REALTIME is one for all hosts of this machine, so
        that what agents take for the difference is nothing but their error. It grows with the round trips, which take
        longer on a busy machine, and is to be small beside what is stated: an agent takes the middle of what its round
        trips leave open. That not too much is stated is checked by the messages, few of which may be below it."""
        told = [(m['host'], abs(row['clock_offset_ns']) / 1e3, row['clock_error_ns'] / 1e3)
                for m in windows for row in m['node'] if not m['flags'] & CLOCK_UNKNOWN]
        self.assertGreaterEqual(len(told), 4 * WINDOWS)
        for host in sorted({host for host, _, _ in told}):
            errors = [error for name, error, _ in told if name == host]
            bounds = [bound for name, _, bound in told if name == host]
            print(f'{host}: error median {statistics.median(errors):.2f} us, largest {max(errors):.2f} us; '
                  f'stated median {statistics.median(bounds):.2f} us, largest {max(bounds):.2f} us')
            self.assertLess(statistics.median(errors), statistics.median(bounds) / 2, host)
        outside = [t for t in told if t[1] > t[2]]
        self.assertLessEqual(len(outside), len(told) / 100, outside)

    def check_windows(self, windows, names):
        """All hosts number their windows by one time: each reports every window, and none is apart by what its clock
        is shifted; ranks do not start at one moment on a busy machine."""
        numbers = {name: sorted({m['window'] for m in windows if m['host'] == name}) for name in names}
        for name, seen in numbers.items():
            self.assertEqual(list(range(seen[0], seen[-1] + 1)), seen, name)
        for ends in ([seen[0] for seen in numbers.values()], [seen[-1] for seen in numbers.values()]):
            self.assertLess(max(ends) - min(ends), min(map(abs, SHIFTS.values())) / 2, numbers)

    def check_messages(self, recorded, windows, truth):
        """Every message between hosts is told at both ends, by times that agree within the stated errors, and joined."""
        places = {m['rank']: host for host, members in recorded.members().items() for m in members}
        between = sum(n for (a, b), (n, _) in truth.sent.items() if places[a] != places[b])
        ends = {}
        for m in windows:
            for half in m['halves']:
                begin = m['window'] * m['length_ns'] + half['begin_ns']
                time = begin + half['length_ns'] if half['receive'] else begin
                ends.setdefault(half['key'], {})[half['receive']] = half, time, m['clock_error_ns']
        both = [end for end in ends.values() if len(end) == 2]
        self.assertGreaterEqual(len(both), 0.999 * between)
        early = [(r[1] - s[1]) / 1e3 for s, r in ((end[0], end[1]) for end in both) if r[1] + s[2] + r[2] < s[1]]
        self.assertFalse(early, 'received before they were sent')
        for end in both:
            for column in ('source', 'destination', 'bytes'):
                self.assertEqual(end[0][0][column], end[1][0][column], end)
        judged = sum(row['messages'] for row in recorded.latencies('inter-node'))
        print(f'{between} messages between hosts, {len(both)} joined, {judged} of them not below the uncertainty')
        self.assertLessEqual(judged, len(both))
        self.assertGreaterEqual(judged, 0.9 * between)

    def test_open_mpi_across_hosts_whose_monotonic_clocks_differ(self):
        with lab.Lab() as place, bed.Bed(place, 4, clocks=SHIFTS) as hosts:
            steps = os.path.join(place.dir, 'steps')
            os.mkdir(steps)
            job = place.holter('run', '--window', '500ms', '--', *hosts.openmpi(), '-n', 8, lab.program('steps', 'openmpi'), steps, 2000, 20000)
            lab.wait_for(lambda: not job.alive() or self.reported(place) >= 4 * (WINDOWS + UNKNOWN), 'enough windows')
            self.assertTrue(job.alive(), job)
            with open(os.path.join(steps, 'end'), 'w', encoding='utf-8'):
                pass
            finished = job.finish()
            self.assertEqual(0, finished.status, finished)
            recorded = place.recording()
            truth, windows = place.truth(), recorded.windows()
            checks.recording_tells_the_truth(self, recorded.sums(), truth)
            self.check_windows(windows, hosts.names)
            self.check_errors(windows)
            self.check_messages(recorded, windows, truth)

    @staticmethod
    def reported(place):
        """Windows that the daemon of `holter run` has taken in."""
        status = place.status()
        return status['daemon']['messages'] if status else 0


if __name__ == '__main__':
    lab.main(network=True)
