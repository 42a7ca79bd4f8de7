"""A fleet for tests: NATS servers, daemons and jobs, in a Lab."""
import contextlib
import glob
import json
import os
import re
import signal
import socket
import unittest
import urllib.request

import lab
import recording

WINDOW = '200ms'


class Fleet:
    """Servers, daemons and jobs of one fleet, in a Lab."""

    def __init__(self, place, servers=1, lease='2s', configuration=None, address='127.0.0.1'):
        """configuration: of the only server, in place of the usual one, with the address 0.0.0.0:4222."""
        self.place, self.lease, self.configuration, self.address = place, lease, configuration, address
        self.ports = [lab.free_port() for _ in range(servers)]
        self.routes = [lab.free_port() for _ in range(servers)]
        self.monitors = [lab.free_port() for _ in range(servers)]
        self.servers = [None] * servers
        self.url = ','.join(f'nats://{address}:{p}' for p in self.ports)
        for number in range(servers):
            self.start_server(number)
        self.daemons = {}  # name: running
        self.jobs = {}  # name: running
        self.newest = {}  # job: the newest window that was seen

    def start_server(self, number):
        folder = os.path.join(self.place.dir, f'nats{number}')
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, 'nats.conf')
        text = self.configuration or (
            f'listen: {self.address}:{self.ports[number]}\nserver_name: n{number}\nmax_payload: 32MB\n'
            f'http: 127.0.0.1:{self.monitors[number]}\njetstream {{ store_dir: "{folder}" }}\n')
        if len(self.ports) > 1:
            routes = ', '.join(f'nats://127.0.0.1:{p}' for p in self.routes)
            text += f'cluster {{ name: c, listen: 127.0.0.1:{self.routes[number]}, routes: [{routes}] }}\n'
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text.replace('0.0.0.0:4222', f'127.0.0.1:{self.ports[number]}'))
        self.servers[number] = self.place.start(lab.installed('nats-server'), '-c', path)

        def listens():
            if not self.servers[number].alive():
                raise AssertionError(str(self.servers[number]))
            with contextlib.suppress(OSError), socket.create_connection((self.address, self.ports[number])):
                return True
        lab.wait_for(listens, 'a server')

    def server_is_healthy(self, number):
        """It has all that the other servers have."""
        try:
            with urllib.request.urlopen(f'http://127.0.0.1:{self.monitors[number]}/healthz', timeout=5) as answer:
                return answer.status == 200
        except OSError:
            return False

    def stream_states(self, stream):
        """What each server says of a stream."""
        states = []
        for monitor in self.monitors:
            with urllib.request.urlopen(f'http://127.0.0.1:{monitor}/jsz?streams=1', timeout=5) as answer:
                streams = [s for account in json.load(answer)['account_details'] for s in account['stream_detail']]
            states += [s['state'] for s in streams if s['name'] == stream]
        return states

    def first_numbers(self):
        """Of the stream of the fleet, the number of the first message on each server."""
        return [state['first_seq'] for state in self.stream_states('holter_default')]

    def kept(self, bucket):
        """How many values a bucket has, those that are marked as deleted among them."""
        return max(state['messages'] for state in self.stream_states(f'KV_holter_default_{bucket}'))

    def endpoint(self, name):
        return f'ipc://{self.place.run_dir}/{name}.sock'

    @staticmethod
    def ahead(seconds):
        """Environment of a daemon on a machine whose CLOCK_REALTIME is ahead."""
        found = glob.glob('/usr/lib/*/faketime/libfaketime.so.1')
        if not found:
            raise unittest.SkipTest('faketime is not installed')
        return {'LD_PRELOAD': found[0], 'FAKETIME': f'+{seconds}s', 'FAKETIME_DONT_FAKE_MONOTONIC': '1'}

    def start_daemon(self, name, *arguments, env=None):
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
                    env={'HOLTER_LOG': 'info'} | (env or {}))
                return False
            self.daemons[name].arguments = arguments
            return self.ask(name, 'status', '-v') is not None
        lab.wait_for(serves, f'daemon {name}')

    def ask(self, name, *command):
        answer = self.place.holter(*command, '-f', 'json', '-c', self.endpoint(name)).finish()
        return json.loads(answer.out) if answer.status == 0 else None

    def holder(self, job):
        """Name of the daemon that has this job, None: none has it just now."""
        return next((name for name, running in self.daemons.items() if running.alive() and self.holds(name, job)), None)

    def holds(self, name, job):
        status = self.ask(name, 'status', '-v')
        return bool(status) and any(j['job'].startswith(job) for j in status['jobs'])

    def listed(self, name):
        """{job: endpoint of another daemon that has it, or ''}, as a daemon lists them."""
        status = self.ask(name, 'status', '-v')
        return {j['job'].partition('.')[0]: j['daemon'] for j in status['daemon']['jobs']} if status else {}

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
        self.jobs[job] = self.place.start(*self.job_command(job, program, gate, ranks), env=self.job_environment(job, session))

    def job_command(self, job, program='steps', gate=None, ranks=2):
        arguments = [gate] if gate else [self.folder(job), 2000, 3000]
        return lab.mpirun('mpich', ranks, os.path.join(lab.BUILD, 'agent', 'holter'), 'exec', lab.program(program, 'mpich'), *arguments)

    def job_environment(self, job, session):
        truths = os.path.join(self.folder(job), 'truth')
        os.makedirs(truths, exist_ok=True)
        return {'HOLTER_DAEMON': ','.join(self.endpoint(n) for n in self.daemons), 'HOLTER_SESSION': session,
                'HOLTER_JOB': job, 'TRUTH_DIR': truths}

    def start_load(self, endpoints, *arguments):
        """Agents of job load.0, simulated by tests/bench/daemon_load."""
        return self.place.start(os.path.join(lab.BUILD, 'tests', 'bench', 'daemon_load'), '--workers', '1', *arguments,
                                '--connect', endpoints)

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

    def recording(self, name, job, state='ended'):
        """The newest one, in a state: it is written by a thread that may be behind."""
        folder = os.path.join(self.place.output, name)

        def complete():
            paths = [os.path.join(folder, f) for f in os.listdir(folder) if f.startswith('holter-' + job) and f.endswith('.hrec')]
            found = recording.Recording(max(paths, key=lambda path: os.stat(path).st_mtime_ns)) if paths else None
            return found if found and found.begun() and found.state() == state else None
        return lab.wait_for(complete, 'a recording')

    def metrics(self, name):
        """{figure: value} of a daemon that was started with --metrics 127.0.0.1:0, as a gateway and a worker."""
        url = re.search(r'metrics on (\S+)', self.daemons[name].err())[1]
        with urllib.request.urlopen(url, timeout=60) as answer:
            page = answer.read().decode()
        return {m[1]: float(m[2]) for m in re.finditer(r'^holter_fleet_(\w+) (\S+)$', page, re.M)}

    def export(self, job, *arguments):
        """The command that records a job as a whole, when it has ended."""
        return self.place.start(os.path.join(lab.BUILD, 'daemon', 'holterd'), '--fleet', self.url, '--export', job, '--record',
                                os.path.join(self.place.output, 'exported'), *arguments).finish()

    def parts(self, job):
        """Recordings of a job by all its workers, oldest first."""
        paths = [os.path.join(folder, f) for folder, _, files in os.walk(self.place.output) for f in files
                 if f.startswith(f'holter-{job}.') and f.endswith('.hrec')]
        found = [recording.Recording(path) for path in sorted(paths, key=lambda path: os.stat(path).st_mtime_ns)]
        return [part for part in found if part.begun()]

    def joined_sums(self, job):
        """Of the windows in all recordings of a job, each message once."""
        messages = {(instance, seq): message for part in self.parts(job)
                    for instance, seq, name, message in part.numbered_messages() if name == 'window'}
        sums = recording.Sums()
        for message in messages.values():
            sums.add(message)
        return sums

    def joined_totals(self, job):
        """{window: {column: value}}, of each window as the last of the workers published it."""
        windows = {}
        for part in self.parts(job):
            windows |= part.totals_by_window()
        return windows

    def alerts(self, state=None):
        """Lines that daemons appended to their common file, of all states or one."""
        try:
            with open(os.path.join(self.place.output, 'alerts.json'), encoding='utf-8') as f:
                return [alert for alert in map(json.loads, f) if state in (None, alert['state'])]
        except FileNotFoundError:
            return []

    def publish(self, subject, text, answer='none'):
        """As a stranger who has a connection to the servers. @return what was answered to the subject `answer`, if anything"""
        with socket.create_connection(('127.0.0.1', self.ports[0])) as connection, connection.makefile('rwb') as file:
            file.readline()
            file.write(b'CONNECT {"verbose":false}\r\nSUB %s 1\r\n' % answer.encode())
            file.write(b'PUB %s %s %d\r\n%s\r\n' % (subject.encode(), answer.encode(), len(text), text))
            file.write(b'PING\r\n')
            file.flush()
            while not (line := file.readline()).startswith(b'MSG' if answer != 'none' else b'PONG'):
                pass
            return file.read(int(line.split()[-1])) if answer != 'none' else None

    def stored(self, subjects):
        """{subject: messages} in the stream of the fleet."""
        answer = self.publish('$JS.API.STREAM.INFO.holter_default', json.dumps({'subjects_filter': subjects}).encode(), 'answer')
        return json.loads(answer)['state'].get('subjects', {})

    def newest_window(self, job):
        """Number of the newest window that was published, 0: none is known now."""
        name = self.holder(job)
        status = self.ask(name, 'status', '-v') if name else None
        row = next((j for j in status['jobs'] if j['job'].startswith(job)), None) if status else None
        tap = self.place.holter('tap', '-f', 'json', '-c', self.endpoint(name), '--job', row['job'], '--topic', 'totals',
                                '--no-snapshot', '--count', '1', '--for', '5').finish() if row else None
        windows = [m['window'] for m in lab.stream_messages(tap.out)] if tap and tap.status == 0 else []
        return max(windows, default=0)

    def has_new_window(self, job):
        """A window that began after the last call that returned true was published."""
        newest = self.newest_window(job)
        is_new = newest > self.newest.get(job, 0)
        if is_new:
            self.newest[job] = newest
        return is_new

    def close(self):
        for name, running in self.daemons.items():
            if running.alive():
                self.kill(name, signal.SIGTERM)
        for running in self.servers:
            running.kill()
            running.process.wait()
