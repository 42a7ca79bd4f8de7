"""Faults of hosts that no delay imitates: a link that loses packets, a rank that receives late, traffic of another
job. The first alert names them, soon, and says since when."""
import os
import time
import unittest

import bed
import lab
import latency_test

WINDOW_NS = 500000000
SOON = 10  # windows within which an alert fires: 5 s
LOSS = 0.05  # of the frames, each way
MEGABITS = 100  # of links over which another job sends
BULK = 4000000  # bytes of its messages
RESULTS = 200000  # bytes of a message: it is sent once the receiver is ready
STEP = 20000  # microseconds
LATE = 5  # the consumer that receives late


def touch(path):
    with open(path, 'w', encoding='utf-8'):
        pass


class Faults(unittest.TestCase):
    maxDiff = None

    def first_alert(self, job, begun_ns):
        """The first alert about a fault that began at a time: it fires within SOON windows, and its onset is the window
        in which that was, or the one before or after."""
        seen = len(job.stream.read().windows)
        job.stream.wait(lambda s: s.of_kind('latency') or len(s.windows) >= seen + 4 * SOON, 'an alert')
        alerts = job.stream.of_kind('latency')
        self.assertTrue(alerts, 'no alert')
        number = min(alerts, key=lambda i: job.stream.before[i])
        first = next(m for m in alerts[number] if m['state'] == 'firing')
        windows = job.stream.windows_to_fire(number, begun_ns)
        apart = first['onset_ns'] // WINDOW_NS - begun_ns // WINDOW_NS
        print(f'{first["title"]}: after {windows} windows, onset {apart:+d}; '
              f'{", ".join(c["name"] for c in first["causes"])}', flush=True)
        self.assertLessEqual(windows, SOON, first)
        self.assertLessEqual(abs(apart), 1, first)
        return first

    def check_node(self, first, host):
        self.assertEqual(('node', host, 'network'),
                         (first['culprit'], first['culprits'], first['causes'][0]['name']), first)
        self.assertIn(f'{host}: messages take ', first['title'])

    def test_a_link_that_loses_packets_is_named_as_the_network_of_its_node(self):
        with lab.Lab() as place, bed.Bed(place, 4, delayed=['node3']) as hosts:
            job = latency_test.Job(self, place, hosts)
            begun_ns = time.time_ns()
            hosts.loss('node3', LOSS)
            first = self.first_alert(job, begun_ns)
            hosts.loss('node3', 0)
            job.finish()
            self.check_node(first, 'node3')

    def test_a_rank_that_receives_late_is_named_with_the_reason(self):
        with lab.Lab() as place, bed.Bed(place, 4) as hosts:
            job = latency_test.Job(self, place, hosts, program=('consumers', RESULTS, STEP))
            begun_ns = time.time_ns()
            job.file(f'slow.{LATE}')
            first = self.first_alert(job, begun_ns)
            job.finish()
            self.assertEqual(('rank', str(LATE)), (first['culprit'], first['culprits']), first)
            self.assertIn(first['causes'][0]['name'], (latency_test.LONGER, 'late-receiver'), first)
            self.assertIn(f'rank {LATE} ', first['title'])
            self.assertIn(': others wait ', first['title'])

    def traffic(self, limited, *pairs):
        """The first alert once another job, which is there from the begin, sends over links of a given bandwidth.
        @param pairs  of its ranks, one on each host"""
        with lab.Lab() as place, bed.Bed(place, 4) as hosts:
            for name in limited:
                hosts.bandwidth(name, MEGABITS)
            other = os.path.join(place.dir, 'other')
            os.mkdir(other)
            hold, end = (os.path.join(other, name) for name in ('hold', 'end'))
            touch(hold)
            bulk = place.start(*hosts.openmpi(), '-n', 4, lab.program('bulk', 'openmpi'), other, BULK, 0, *pairs)
            job = latency_test.Job(self, place, hosts)
            begun_ns = time.time_ns()
            os.unlink(hold)
            first = self.first_alert(job, begun_ns)
            touch(end)
            self.assertEqual(0, bulk.finish().status, bulk)
            job.finish()
            return first

    def test_traffic_of_another_job_over_the_link_of_a_node_is_named_as_its_network(self):
        first = self.traffic(['node3'], '0-2', '0-2')
        self.check_node(first, 'node3')
        self.assertIn('traffic of others', first['advice'])

    def test_traffic_of_another_job_over_all_links_is_named_as_background(self):
        first = self.traffic(['node1', 'node2', 'node3', 'node4'],
                             *(f'{a}-{b}' for a in range(4) for b in range(4) if a != b))
        self.assertEqual(('inter-node', 'background'), (first['culprit'], first['causes'][0]['name']), first)
        self.assertIn('between nodes: messages take ', first['title'])


if __name__ == '__main__':
    lab.main(network=True)
