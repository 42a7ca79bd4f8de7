"""Messages that go one way only between two hosts, whose clocks no answer compares: times and their errors."""
import os
import statistics
import unittest

import bed
import lab
import stream

WINDOW = '500ms'
STEADY = 36    # windows before the link is made slower
EARLY = 8      # windows in which the clocks may not be known yet
PERIOD = 2000  # microseconds between two messages
DELAY = 150    # microseconds
SOON = 10      # windows within which growth is found
RULES = '''
rules:
  - name: latency-growth
    kind: latency
    for: 500ms
    clear-for: 2500ms
'''


class Oneway(unittest.TestCase):
    def check_times(self, job, control):
        """Mean times of windows are those of the receiver's own stamps, within the error that is stated."""
        with open(os.path.join(control, 'flights'), encoding='utf-8') as f:
            flights = [tuple(map(int, line.split())) for line in f]
        pairs = []
        for row in job.place.recording().latencies('inter-node')[EARLY:]:
            begin, end = job.starts.get(row['window']), job.starts.get(row['window'] + 1)
            true = [ns for at, ns in flights if begin and end and begin <= at < end]
            if not true:
                continue
            self.assertGreaterEqual(row['messages'], 0.9 * len(true), 'messages left out of the mean')
            pairs.append((row['transfer_ns'] / row['messages'], statistics.mean(true), row['error_ns'] / row['messages']))
        self.assertGreater(len(pairs), STEADY / 2)
        print(f'true mean {statistics.median(p[1] for p in pairs) / 1e3:.1f} us, '
              f'shown {statistics.median(p[0] for p in pairs) / 1e3:.1f} us '
              f'within {statistics.median(p[2] for p in pairs) / 1e3:.1f} us')
        wrong = [p for p in pairs if abs(p[0] - p[1]) > p[2] + 2000]
        self.assertLessEqual(len(wrong), len(pairs) / 20, wrong)

    def test_times_are_within_their_error_and_growth_is_found(self):
        with lab.Lab() as place, bed.Bed(place, 2, delayed=['node2']) as hosts:
            control, rules = os.path.join(place.dir, 'control'), os.path.join(place.dir, 'rules.yaml')
            os.mkdir(control)
            with open(rules, 'w', encoding='utf-8') as f:
                f.write(RULES)
            run = place.holter('run', '--window', WINDOW, '--rules', rules, '--', *hosts.openmpi(), '-n', 2,
                               lab.program('oneway', 'openmpi'), control, PERIOD)
            lab.wait_for(lambda: not run.alive() or place.ranks_seen() == 2, 'all ranks')
            job = stream.Stream(place)
            job.wait_windows(STEADY)
            self.assertEqual({}, job.of_kind('latency'), 'an alert although nothing is slow')
            hosts.delay('node2', DELAY)
            seen = len(job.read().windows)
            job.wait(lambda s: s.of_kind('latency') or len(s.windows) > seen + SOON, 'an alert')
            with open(os.path.join(control, 'end'), 'w', encoding='utf-8'):
                pass
            finished = run.finish()
            self.assertEqual(0, finished.status, finished)
            job.tap.finish()
            self.check_times(job.read(), control)
            alerts = job.of_kind('latency')
            self.assertEqual(1, len(alerts), alerts)
            alert = next(iter(alerts.values()))[-1]
            print(alert['title'])
            self.assertIn(alert['culprit'], ('node', 'node-pair', 'inter-node'), alert)
            self.assertGreater(alert['error_ns'], 0, alert)
            place.check_clean()


if __name__ == '__main__':
    lab.main(network=True)
