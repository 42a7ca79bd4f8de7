"""Several daemons for many jobs, on NATS JetStream: a daemon that is killed is followed by another, and nothing is lost,
counted twice or announced twice."""
import json
import os
import random
import re
import signal
import socket
import unittest
import urllib.request

import checks
import lab
import recording

WINDOW = '200ms'


class Fleet:
    """Servers, daemons and jobs of one fleet, in a Lab."""

    def __init__(self, place, servers=1, lease='2s'):
        self.place, self.lease = place, lease
        self.ports = [lab.free_port() for _ in range(servers)]
        self.routes = [lab.free_port() for _ in range(servers)]
        self.monitors = [lab.free_port() for _ in range(servers)]
        self.servers = [None] * servers
        self.url = ','.join(f'nats://127.0.0.1:{p}' for p in self.ports)
        for number in range(servers):
            self.start_server(number)
        self.daemons = {}  # name: running
        self.jobs = {}  # name: running
        self.newest = {}  # job: the newest window that was seen

    def start_server(self, number):
        folder = os.path.join(self.place.dir, f'nats{number}')
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, 'nats.conf')
        with open(path, 'w', encoding='utf-8') as f:
            print(f'listen: 127.0.0.1:{self.ports[number]}\nserver_name: n{number}\nmax_payload: 32MB\n'
                  f'http: 127.0.0.1:{self.monitors[number]}\njetstream {{ store_dir: "{folder}" }}', file=f)
            if len(self.ports) > 1:
                routes = ', '.join(f'nats://127.0.0.1:{p}' for p in self.routes)
                print(f'cluster {{ name: c, listen: 127.0.0.1:{self.routes[number]}, routes: [{routes}] }}', file=f)
        self.servers[number] = self.place.start(lab.installed('nats-server'), '-c', path)

    def server_is_healthy(self, number):
        """It has all that the other servers have."""
        try:
            with urllib.request.urlopen(f'http://127.0.0.1:{self.monitors[number]}/healthz', timeout=5) as answer:
                return answer.status == 200
        except OSError:
            return False

    def endpoint(self, name):
        return f'ipc://{self.place.run_dir}/{name}.sock'

    def start_daemon(self, name, *arguments):
        """A daemon with recordings of its own; the servers may still be electing."""
        def serves():
            running = self.daemons.get(name)
            if running is None or not running.alive():
                if running is not None and 'without fleets' in running.err():
                    raise unittest.SkipTest('holterd was built without libnats')
                self.daemons[name] = self.place.start(
                    os.path.join(lab.BUILD, 'daemon', 'holterd'), '--listen', self.endpoint(name), '--record',
                    os.path.join(self.place.output, name), '--fleet', self.url, '--lease', self.lease, '--window', WINDOW,
                    '--alert-log', os.path.join(self.place.output, 'alerts.json'), *arguments,
                    env={'HOLTER_LOG': 'info'})
                return False
            return self.ask(name, 'status', '-v') is not None
        lab.wait_for(serves, f'daemon {name}')

    def ask(self, name, *command):
        answer = self.place.holter(*command, '-f', 'json', '-c', self.endpoint(name)).finish()
        return json.loads(answer.out) if answer.status == 0 else None

    def holder(self, job):
        """Name of the daemon that has this job, None: none has it just now."""
        for name, running in self.daemons.items():
            status = self.ask(name, 'status', '-v') if running.alive() else None
            if status and any(j['job'].startswith(job) for j in status['jobs']):
                return name
        return None

    def kill(self, name, sig=signal.SIGKILL):
        self.daemons[name].kill(sig)
        self.daemons[name].process.wait()
        for ending in ('', '.stream', '.lock', '.stream.lock'):
            path = self.endpoint(name)[len('ipc://'):] + ending
            if sig == signal.SIGKILL and os.path.exists(path):
                os.unlink(path)

    def folder(self, job):
        path = os.path.join(self.place.dir, job)
        os.makedirs(path, exist_ok=True)
        return path

    def start_job(self, job, session, program='steps', gate=None, ranks=2):
        """A job with an agent of its own, which knows all daemons. It goes on until end_job()."""
        truths = os.path.join(self.folder(job), 'truth')
        os.makedirs(truths, exist_ok=True)
        arguments = [gate] if gate else [self.folder(job), 2000, 3000]
        command = [os.path.join(lab.BUILD, 'agent', 'holter'), 'exec', lab.program(program, 'mpich'), *arguments]
        self.jobs[job] = self.place.start(*lab.mpirun('mpich', ranks, *command), env={
            'HOLTER_DAEMON': ','.join(self.endpoint(n) for n in self.daemons), 'HOLTER_SESSION': session,
            'HOLTER_JOB': job, 'TRUTH_DIR': truths})

    def end_job(self, job):
        with open(os.path.join(self.folder(job), 'end'), 'w', encoding='utf-8'):
            pass
        return self.jobs[job].finish()

    def truth(self, job):
        lines, truths = [], os.path.join(self.folder(job), 'truth')
        for name in sorted(os.listdir(truths)):
            with open(os.path.join(truths, name), encoding='utf-8') as f:
                lines += f.readlines()
        return lab.Truth(lines)

    def state(self, job):
        name = self.holder(job)
        status = self.ask(name, 'status', '-v') if name else None
        return next((j for j in status['jobs'] if j['job'].startswith(job)), None) if status else None

    def wait_ended(self, job):
        lab.wait_for(lambda: (self.state(job) or {}).get('state') == 'ended', f'the end of {job}')
        return self.holder(job)

    def recording(self, name, job):
        folder = os.path.join(self.place.output, name)
        paths = [os.path.join(folder, f) for f in os.listdir(folder) if f.startswith('holter-' + job) and f.endswith('.hrec')]
        return recording.Recording(max(paths, key=lambda path: os.stat(path).st_mtime_ns))

    def alerts(self, state=None):
        """Lines that daemons appended to their common file, of all states or one."""
        try:
            with open(os.path.join(self.place.output, 'alerts.json'), encoding='utf-8') as f:
                return [alert for alert in map(json.loads, f) if state in (None, alert['state'])]
        except FileNotFoundError:
            return []

    def publish(self, subject, text):
        """As a stranger who has a connection to the servers."""
        with socket.create_connection(('127.0.0.1', self.ports[0])) as connection, connection.makefile('rwb') as file:
            file.readline()
            file.write(b'CONNECT {"verbose":false}\r\nPUB %s %d\r\n%s\r\nPING\r\n' % (subject.encode(), len(text), text))
            file.flush()
            while not file.readline().startswith(b'PONG'):
                pass

    def has_new_window(self, job):
        """A window that began after the last call that returned true was published."""
        name = self.holder(job)
        status = self.ask(name, 'status', '-v') if name else None
        row = next((j for j in status['jobs'] if j['job'].startswith(job)), None) if status else None
        tap = self.place.holter('tap', '-f', 'json', '-c', self.endpoint(name), '--job', row['job'], '--topic', 'totals',
                                '--no-snapshot', '--count', '1', '--for', '5').finish() if row else None
        windows = [m['window'] for m in lab.stream_messages(tap.out)] if tap and tap.status == 0 else []
        if not windows or max(windows) <= self.newest.get(job, 0):
            return False
        self.newest[job] = max(windows)
        return True

    def close(self):
        for name, running in self.daemons.items():
            if running.alive():
                self.kill(name, signal.SIGTERM)
        for running in self.servers:
            running.kill()
            running.process.wait()


class Fleets(unittest.TestCase):
    def setUp(self):
        self.place = lab.Lab()
        self.place.__enter__()
        self.addCleanup(self.place.close)

    def start(self, names='ab', servers=1, arguments=()):
        fleet = Fleet(self.place, servers)
        for name in names:
            fleet.start_daemon(name, *arguments)
        return fleet

    def finish(self, fleet):
        fleet.close()
        self.place.__exit__(None, None, None)

    def check_job(self, fleet, job):
        """The whole job is in the recording of the daemon that had it last: each message once, as the program counted."""
        recorded = fleet.recording(fleet.wait_ended(job), job)
        sums = recorded.sums()
        checks.recording_tells_the_truth(self, sums, fleet.truth(job))
        checks.nothing_lost(self, sums)
        checks.totals_agree(self, recorded.totals(), sums)

    def test_a_daemon_that_is_killed_is_followed_by_another_and_every_call_counts_once(self):
        fleet = self.start()
        for job, session in (('one', '1'), ('two', '2')):
            fleet.start_job(job, session)
        for job in ('one', 'two'):
            lab.wait_for(lambda job=job: (fleet.state(job) or {}).get('start_ns'), 'a window')
        first = fleet.holder('one')
        fleet.kill(first)
        for job in ('one', 'two'):
            lab.wait_for(lambda job=job: fleet.holder(job) not in (None, first), 'another worker')
            self.assertEqual(0, fleet.end_job(job).status)
        for job in ('one', 'two'):
            self.check_job(fleet, job)
        self.finish(fleet)

    def test_a_daemon_that_ends_in_order_hands_its_jobs_over(self):
        fleet = self.start()
        fleet.start_job('one', '1')
        lab.wait_for(lambda: (fleet.state('one') or {}).get('start_ns'), 'a window')
        first = fleet.holder('one')
        fleet.kill(first, signal.SIGTERM)
        self.assertEqual(0, fleet.daemons[first].process.returncode)
        lab.wait_for(lambda: fleet.holder('one') not in (None, first), 'another worker')
        self.assertEqual(0, fleet.end_job('one').status)
        self.check_job(fleet, 'one')
        self.finish(fleet)

    def test_an_alert_is_announced_once_although_another_daemon_goes_on(self):
        rules = os.path.join(self.place.dir, 'rules.yaml')
        with open(rules, 'w', encoding='utf-8') as f:
            f.write('rules:\n  - name: hang\n    kind: hang\n    for: 1s\n    stopped-for: 1s\n')
        fleet = self.start(arguments=('--rules', rules))
        gate = os.path.join(self.place.dir, 'gate')
        fleet.start_job('one', '1', 'hang', gate)
        lab.wait_for(lambda: fleet.alerts('firing'), 'the alert')
        first = fleet.holder('one')
        fleet.kill(first)
        second = lab.wait_for(lambda: fleet.holder('one') if fleet.holder('one') != first else None, 'another worker')
        lab.wait_for(lambda: 'goes on' in fleet.daemons[second].err(), 'the job to go on')
        with open(gate, 'w', encoding='utf-8'):
            pass
        self.assertEqual(0, fleet.jobs['one'].finish().status)
        self.check_job(fleet, 'one')
        lab.wait_for(lambda: fleet.alerts('resolved'), 'the end of the alert')
        fleet.close()
        self.assertEqual((1, 1), (len(fleet.alerts('firing')), len(fleet.alerts('resolved'))), fleet.alerts())
        self.place.__exit__(None, None, None)

    def kill_after(self, fleet, job, windows, without_states=False):
        """Kill the job's daemon after so many further windows. @return the name and the log of the one that goes on"""
        first = fleet.holder(job)
        tap = self.place.holter('tap', '-c', fleet.endpoint(first), '--topic', 'totals', '--no-snapshot', '--count', str(windows))
        self.assertEqual(0, tap.finish().status)
        fleet.kill(first)
        if without_states:
            fleet.publish('$JS.API.STREAM.PURGE.holter_default', b'{"filter":"holter.default.*.state"}')
        name = lab.wait_for(lambda: fleet.holder(job), 'another worker')
        lab.wait_for(lambda: 'goes on' in fleet.daemons[name].err(), 'the job to go on')
        return name, fleet.daemons[name].err()

    def same_rows(self, table, key, some, every):
        """What a daemon wrote that went on with a job is what it had written had it read the job from its begin."""
        rows = {tuple(row[k] for k in key): row for row in every._rows(table, key[0])}
        mine = [row for row in some._rows(table, key[0])]
        last = max(row[key[0]] for row in mine) - 5  # it was killed while it wrote
        mine = [row for row in mine if row[key[0]] <= last]
        self.assertGreater(len(mine), 10)
        for row in mine:
            self.assertEqual(rows[tuple(row[k] for k in key)], row)

    def test_a_take_over_reads_what_came_after_the_state_that_was_stored(self):
        rules = os.path.join(self.place.dir, 'rules.yaml')
        with open(rules, 'w', encoding='utf-8') as f:
            f.write('rules:\n  - name: hang\n    kind: hang\n    for: 1s\n    stopped-for: 1s\n')
        fleet = self.start('abc', arguments=('--rules', rules, '--checkpoint', '1s'))
        gate = os.path.join(self.place.dir, 'gate')
        fleet.start_job('one', '1', 'hang', gate)
        lab.wait_for(lambda: fleet.alerts('firing'), 'the alert')
        second, log = self.kill_after(fleet, 'one', 40)
        saved = int(re.search(r'its state after message (\d+) is taken over', log)[1])
        newest, read = map(int, re.search(r'goes on after message (\d+), (\d+) messages read', log).groups())
        self.assertGreater(saved, newest // 2)
        self.assertLessEqual(read, newest - saved)
        third, log = self.kill_after(fleet, 'one', 40, without_states=True)
        self.assertNotIn('is taken over', log)
        with open(gate, 'w', encoding='utf-8'):
            pass
        self.assertEqual(0, fleet.jobs['one'].finish().status)
        self.check_job(fleet, 'one')
        lab.wait_for(lambda: fleet.alerts('resolved'), 'the end of the alert')
        fleet.close()
        self.assertEqual((1, 1), (len(fleet.alerts('firing')), len(fleet.alerts('resolved'))), fleet.alerts())
        rest, whole = fleet.recording(second, 'one'), fleet.recording(third, 'one')
        self.same_rows('totals', ('window',), rest, whole)
        self.same_rows('latency', ('window', 'scope', 'id'), rest, whole)
        self.place.__exit__(None, None, None)

    def test_clients_find_the_daemon_of_a_job_and_the_one_after_it(self):
        fleet = self.start()
        for job, session in (('one', '1'), ('two', '2')):
            fleet.start_job(job, session)
            lab.wait_for(lambda job=job: (fleet.state(job) or {}).get('start_ns'), 'a window')
        names = {job: fleet.state(job)['job'] for job in fleet.jobs}
        any_job = self.place.holter('status', '-c', fleet.url).finish()
        self.assertEqual(1, any_job.status, any_job)
        self.assertTrue(all(name in any_job.err for name in names.values()), any_job)
        none = self.place.holter('status', '-c', f'{fleet.url}/default/three').finish()
        self.assertEqual(1, none.status, none)
        self.assertIn('no daemon of the fleet holds job three', none.err)
        address = f"{fleet.url}/default/{names['one']}"
        status = self.place.holter('status', '-c', address, '-f', 'json').finish()
        self.assertEqual([names['one']], [j['job'] for j in json.loads(status.out)['jobs']])
        tap = self.place.tap('-c', address, '--topic', 'totals,job', '--until-end')
        lab.wait_for(lambda: '"totals"' in tap.out(), 'totals')
        fleet.kill(fleet.holder('one'))
        for job in fleet.jobs:
            lab.wait_for(lambda job=job: fleet.holder(job), 'a worker')
            self.assertEqual(0, fleet.end_job(job).status)
        told = tap.finish()
        self.assertEqual(0, told.status, told)
        fleet.wait_ended('one')
        last = {m['window']: m for m in lab.stream_messages(told.out) if m['topic'] == 'totals'}
        truth = fleet.truth('one')
        self.assertEqual(sum(v[0] for v in truth.sent.values()), sum(m['sent'] for m in last.values()))
        self.finish(fleet)

    def test_what_others_write_into_the_stream_is_rejected_and_counted(self):
        fleet = self.start('a')
        fleet.start_job('one', '1')
        lab.wait_for(lambda: (fleet.state('one') or {}).get('start_ns'), 'a window')
        job = fleet.state('one')['job'].replace('.', '=')
        entry = bytes(16) + (3).to_bytes(4, 'little') + b'abc'
        for text in (b'', b'hello', b'HLTRFLT1', b'HLTRFLT1' + bytes(8) + b'x', b'HLTRFLT1' + bytes(8) + entry,
                     b'HLTRFLT1' + bytes(24) + b'\xff' * 4):
            fleet.publish(f'holter.default.{job}.in', text)
            fleet.publish('holter.default.agents', text)
        rejected = 'rejected a message of the servers'
        lab.wait_for(lambda: fleet.daemons['a'].err().count(rejected) >= 8, 'the rejections')
        self.assertEqual(0, fleet.end_job('one').status)
        self.check_job(fleet, 'one')
        self.finish(fleet)


class Long(unittest.TestCase):
    def test_servers_gateways_and_workers_die_at_random(self):
        """Three servers, of which one may be dead, and three daemons, of which one is."""
        with lab.Lab() as place:
            chance = random.Random(7)
            fleet = Fleet(place, servers=3, lease='4s')
            for number in range(3):
                lab.wait_for(lambda number=number: fleet.server_is_healthy(number), 'a server')
            for name in 'abc':
                fleet.start_daemon(name)
            for job, session in (('one', '1'), ('two', '2'), ('three', '3')):
                fleet.start_job(job, session)
            for job in fleet.jobs:
                lab.wait_for(lambda job=job: (fleet.state(job) or {}).get('start_ns'), 'a window')
            for _ in range(4):
                server, name = chance.randrange(3), chance.choice('abc')
                fleet.servers[server].kill()
                fleet.servers[server].process.wait()
                fleet.kill(name)
                for job in fleet.jobs:
                    lab.wait_for(lambda job=job: fleet.has_new_window(job), 'a new window')
                fleet.start_server(server)
                fleet.start_daemon(name)
                lab.wait_for(lambda server=server: fleet.server_is_healthy(server), 'a server that has caught up')
            for job in fleet.jobs:
                self.assertEqual(0, fleet.end_job(job).status)
            test = Fleets()
            for job in fleet.jobs:
                test.check_job(fleet, job)
            fleet.close()


if __name__ == '__main__':
    lab.main()
