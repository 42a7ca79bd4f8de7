"""Latency that grows in running jobs, on real links: found, named, attributed, and over when it is over."""
import os
import re
import sqlite3
import time
import unittest

import bed
import lab
import stream

WINDOW = '500ms'
# the built-in rule is made for windows of 1 s
RULES = '''
rules:
  - name: latency-growth
    kind: latency
    for: 500ms
    clear-for: 2500ms
'''
STEADY = 36  # windows before anything is made slow
SOON = 5     # windows within which it has to be noticed
DELAY = 10000  # microseconds
MEGABITS = 1
NETWORK = 'network'
LONGER = 'computes-longer'


def rows_of(path, query):
    connection = sqlite3.connect(path)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


class Job:
    """programs/steps.c, or another program, on eight ranks of four hosts, two on each.

    program: its name, bytes and microseconds."""

    def __init__(self, test, place, hosts, *arguments, program=('steps', 1000, 4000)):
        self.test, self.place, self.hosts = test, place, hosts
        self.control = os.path.join(place.dir, 'control')
        os.mkdir(self.control)
        rules = os.path.join(place.dir, 'rules.yaml')
        with open(rules, 'w', encoding='utf-8') as f:
            f.write(RULES)
        self.run = place.holter('run', '--window', WINDOW, '--rules', rules, '--', *hosts.openmpi(), '-n', 8,
                                lab.program(program[0], 'openmpi'), self.control, *program[1:], *arguments)
        lab.wait_for(lambda: not self.run.alive() or place.ranks_seen() == 8, 'all ranks')
        test.assertTrue(self.run.alive(), self.run)
        self.stream = stream.Stream(place)
        self.stream.wait_windows(STEADY)
        test.assertEqual({}, self.stream.of_kind('latency'), 'an alert although nothing is slow')

    def file(self, name):
        with open(os.path.join(self.control, name), 'w', encoding='utf-8'):
            pass

    def ranks_on(self, host):
        return {rank for rank, name in self.stream.hosts.items() if name == host}

    def alert_within(self, windows, number):
        """The alert of the number-th episode, which has just begun, once it fires: so many windows later at most, of
        those that lie behind its begin. It does not count when they are published, or read here."""
        begun, seen = time.time_ns(), len(self.stream.read().windows)
        fired = self.stream.wait(lambda s: len(s.of_kind('latency')) >= number or
                                 len(s.windows) >= seen + 40, f'latency alert {number}')
        self.test.assertTrue(fired)
        alerts = self.stream.of_kind('latency')
        self.test.assertEqual(number, len(alerts), alerts)
        alert = max(alerts)
        self.test.assertLessEqual(self.stream.windows_to_fire(alert, begun), windows, alerts)
        return alert

    def resolved(self, alert):
        def over(s):
            return s.alerts[alert][-1]['state'] == 'resolved'
        self.stream.wait(over, f'the end of alert {alert}')

    def finish(self):
        self.file('end')
        finished = self.run.finish()
        self.test.assertEqual(0, finished.status, finished)
        self.stream.tap.finish()
        self.stream.read()
        return self.place.recording()


class Latency(unittest.TestCase):
    def check_network(self, job, alert, host):
        """Evidence: the region of the host's ranks; the network as the first cause; the host."""
        newest = job.stream.alerts[alert][-1]
        regions = {job.stream.regions[rank] for rank in job.ranks_on(host)}
        self.assertEqual(regions, {newest['region']}, newest)
        self.assertTrue(stream.ranks_of(newest['ranks']), newest)
        self.assertEqual(NETWORK, newest['causes'][0]['name'], newest)
        self.assertIn(host, newest['nodes'].split(','), newest)
        self.assertEqual(('node', host), (newest['culprit'], newest['culprits']), newest)
        self.assertGreater(newest['ratio'], 1.5, newest)

    def check_recorded(self, job, wanted):
        """Each episode is one alert, in the stream and in the recording, and all are over."""
        newest = {i: m[-1] for i, m in job.stream.of_kind('latency').items()}
        latest = {i: alert['state'] for i, alert in newest.items()}
        self.assertEqual(['resolved'] * wanted, list(latest.values()),
                         [f"{a['state']}: {a['title']}; {a['text']}" for a in newest.values()])
        rows = rows_of(job.place.recording().path, "SELECT id, state FROM alert WHERE kind = 'latency' AND fired_ns > 0")
        self.assertEqual(set(latest), {i for i, _ in rows}, rows)

    def check_slow(self, job, number, host, slow, restore):
        slow()
        alert = job.alert_within(SOON, number)
        job.stream.wait_windows(3)
        self.check_network(job, alert, host)
        restore()
        job.resolved(alert)

    @lab.on_quiet_cores
    def test_links_of_a_host_that_are_slow(self):
        with lab.Lab() as place, bed.Bed(place, 4, delayed=['node3']) as hosts:
            job = Job(self, place, hosts)
            self.check_slow(job, 1, 'node3', lambda: hosts.delay('node3', DELAY), lambda: hosts.delay('node3', 0))
            self.check_slow(job, 2, 'node3', lambda: hosts.bandwidth('node3', MEGABITS),
                            lambda: hosts.bandwidth('node3', None))
            job.finish()
            self.check_recorded(job, 2)
            place.check_clean()

    @lab.on_quiet_cores
    def test_a_rank_that_computes_three_times_as_long(self):
        with lab.Lab() as place, bed.Bed(place, 4) as hosts:
            job = Job(self, place, hosts, 'together')
            job.file('slow.5')
            alert = job.alert_within(SOON, 1)
            job.stream.wait_windows(3)
            newest = job.stream.alerts[alert][-1]
            self.assertEqual(LONGER, newest['causes'][0]['name'], newest)
            self.assertEqual({5}, stream.ranks_of(newest['ranks']), newest)
            self.assertIn('rank 5 ', newest['title'])
            self.assertEqual(('rank', '5'), (newest['culprit'], newest['culprits']), newest)
            os.unlink(os.path.join(job.control, 'slow.5'))
            job.resolved(alert)
            job.finish()
            self.check_recorded(job, 1)
            place.check_clean()

    def quiet(self, seconds):
        """LAMMPS alone, for so long: nothing to be told of."""
        with open(lab.MELT, encoding='utf-8') as f:
            text = f.read()
        with lab.Lab() as place:
            path = os.path.join(place.dir, 'in.melt')
            with open(path, 'w', encoding='utf-8') as f:
                f.write(re.sub(r'^run\s.*', f'timer timeout 0:00:{seconds} every 50\nrun 10000000', text, flags=re.M))
            finished = place.watched(*lab.mpirun('openmpi', 2, lab.installed('lmp'), '-in', path, '-log', 'none'),
                                     env={'OMP_NUM_THREADS': '1'}, seconds=seconds + lab.PATIENCE)
            self.assertEqual(0, finished.status, finished)
            self.assertEqual([], rows_of(place.recording().path, "SELECT kind, state, title FROM alert "
                                         "WHERE kind != 'latency' OR fired_ns > 0"))

    @lab.on_quiet_cores
    def test_quiet_lammps(self):
        self.quiet(15)


class Long(Latency):
    @lab.on_quiet_cores
    def test_quiet_lammps(self):
        self.quiet(300)


if __name__ == '__main__':
    lab.main(network=True)
