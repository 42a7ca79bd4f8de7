"""Messages that go one way only between two hosts, whose clocks no answer compares: times and their errors."""
import csv
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
DELAY = 60     # microseconds
SLACK = 2000   # nanoseconds: stamps are taken beside those of the probe
SOON = 10      # windows within which growth is found
RULES = '''
rules:
  - name: latency-growth
    kind: latency
    for: 500ms
    clear-for: 2500ms
'''


def read_flights(control):
    """[(when a message was complete, its time in flight)], nanoseconds, by the receiver's own stamps."""
    with open(os.path.join(control, 'flights'), encoding='utf-8') as f:
        return [tuple(map(int, line.split())) for line in f]


class Oneway(unittest.TestCase):
    def check_figures(self, what, figures):
        """Nineteen of twenty figures are right within the error that they state. figures: (shown, true, error)"""
        self.assertGreater(len(figures), STEADY / 2, what)
        shown, true, error = (statistics.median(column) / 1e3 for column in zip(*figures))
        print(f'{what}: true mean {true:.1f} us, shown {shown:.1f} us within {error:.1f} us')
        wrong = [f for f in figures if not abs(f[0] - f[1]) <= f[2] + SLACK]
        self.assertLessEqual(len(wrong), len(figures) / 20, (what, wrong))
        self.assertGreater(error, 0, what)

    def check_times(self, job, flights):
        """Mean times of windows are the true ones, of both ranks as well."""
        series, ranks = [], {0: [], 1: []}
        for row in job.place.recording().latencies('inter-node')[EARLY:]:
            window = row['window']
            begin, end = job.starts.get(window), job.starts.get(window + 1)
            true = [ns for at, ns in flights if begin and end and begin <= at < end]
            if not true:
                continue
            self.assertGreaterEqual(row['messages'], 0.9 * len(true), 'messages left out of the mean')
            true = statistics.mean(true)
            series.append((row['transfer_ns'] / row['messages'], true, row['error_ns'] / row['messages']))
            between = [c for c in job.criteria.get(window, []) if c['locality'] == 1]
            for rank in job.rank_latencies.get(window, []):
                normal = max(between, key=lambda c: c['messages'])['reference_ns']
                ranks[rank['rank']].append((rank['reference'] * normal, true, rank['error'] * normal))
        self.check_figures('windows', series)
        for rank, figures in ranks.items():
            self.check_figures(f'rank {rank}', figures)

    def check_pair(self, place, flights):
        """The pair has the true mean time over the whole run, within the error that is stated."""
        finished = place.holter('export', '-f', 'csv', '--table', 'pairs', place.recording().path).finish()
        pairs = {(row['source'], row['destination']): {k: int(v) for k, v in row.items()}
                 for row in csv.DictReader(finished.out.splitlines())}
        pair = pairs['0', '1']
        self.assertGreaterEqual(pair['matched'], 0.9 * len(flights), 'messages left out of the mean')
        shown, error = pair['transfer_ns'] / pair['matched'], pair['error_ns'] / pair['matched']
        true = statistics.mean(ns for _, ns in flights)
        print(f'pair: true mean {true / 1e3:.1f} us, shown {shown / 1e3:.1f} us within {error / 1e3:.1f} us')
        self.assertLessEqual(abs(shown - true), error + SLACK)
        self.assertGreater(error, 0)

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
            flights = read_flights(control)
            self.check_times(job.read(), flights)
            self.check_pair(place, flights)
            alerts = job.of_kind('latency')
            self.assertEqual(1, len(alerts), alerts)
            alert = next(iter(alerts.values()))[-1]
            print(alert['title'])
            self.assertIn(alert['culprit'], ('node', 'node-pair', 'inter-node'), alert)
            self.assertGreater(alert['error_ns'], 0, alert)
            place.check_clean()


if __name__ == '__main__':
    lab.main(network=True)
