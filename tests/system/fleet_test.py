"""Several daemons for many jobs, on NATS JetStream: a daemon that is killed is followed by another, and nothing is lost,
counted twice or announced twice."""
import json
import os
import signal
import unittest

import checks
import lab
import recording

LEASE = '1s'
WINDOW = '200ms'


class Fleet:
    """Servers, daemons and jobs of one fleet, in a Lab."""

    def __init__(self, place, servers=1):
        self.place = place
        self.ports = [lab.free_port() for _ in range(servers)]
        self.routes = [lab.free_port() for _ in range(servers)]
        self.servers = [None] * servers
        self.url = ','.join(f'nats://127.0.0.1:{p}' for p in self.ports)
        for number in range(servers):
            self.start_server(number)
        self.daemons = {}  # name: running
        self.jobs = {}  # name: running

    def start_server(self, number):
        folder = os.path.join(self.place.dir, f'nats{number}')
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, 'nats.conf')
        with open(path, 'w', encoding='utf-8') as f:
            print(f'listen: 127.0.0.1:{self.ports[number]}\nserver_name: n{number}\nmax_payload: 32MB\n'
                  f'jetstream {{ store_dir: "{folder}" }}', file=f)
            if len(self.ports) > 1:
                routes = ', '.join(f'nats://127.0.0.1:{p}' for p in self.routes)
                print(f'cluster {{ name: c, listen: 127.0.0.1:{self.routes[number]}, routes: [{routes}] }}', file=f)
        self.servers[number] = self.place.start(lab.installed('nats-server'), '-c', path)

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
                    os.path.join(self.place.output, name), '--fleet', self.url, '--lease', LEASE, '--window', WINDOW,
                    '--alert-log', os.path.join(self.place.output, 'alerts.json'), *arguments,
                    env={'HOLTER_LOG': 'info'})
                return False
            return self.ask(name, 'status') is not None
        lab.wait_for(serves, f'daemon {name}')

    def ask(self, name, *command):
        answer = self.place.holter(*command, '-f', 'json', '-c', self.endpoint(name)).finish()
        return json.loads(answer.out) if answer.status == 0 else None

    def holder(self, job):
        """Name of the daemon that has this job, None: none has it just now."""
        for name, running in self.daemons.items():
            status = self.ask(name, 'status') if running.alive() else None
            if status and any(j['job'].startswith(job) for j in status['jobs']):
                return name
        return None

    def kill(self, name, sig=signal.SIGKILL):
        self.daemons[name].kill(sig)
        self.daemons[name].process.wait()
        for ending in ('', '.stream'):
            path = self.endpoint(name)[len('ipc://'):] + ending
            if sig == signal.SIGKILL and os.path.exists(path):
                os.unlink(path)

    def folder(self, job):
        path = os.path.join(self.place.dir, job)
        os.makedirs(path, exist_ok=True)
        return path

    def start_job(self, job, session, program='steps', arguments=(2000, 3000), ranks=2):
        """A job with an agent of its own, which knows all daemons. It goes on until end_job()."""
        truths = os.path.join(self.folder(job), 'truth')
        os.makedirs(truths, exist_ok=True)
        command = [os.path.join(lab.BUILD, 'agent', 'holter'), 'exec', lab.program(program, 'mpich'), self.folder(job),
                   *arguments]
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
        status = self.ask(name, 'status') if name else None
        return next((j for j in status['jobs'] if j['job'].startswith(job)), None) if status else None

    def wait_ended(self, job):
        lab.wait_for(lambda: (self.state(job) or {}).get('state') == 'ended', f'the end of {job}')
        return self.holder(job)

    def recording(self, name, job):
        folder = os.path.join(self.place.output, name)
        path = next(os.path.join(folder, f) for f in sorted(os.listdir(folder), reverse=True)
                    if f.startswith(job) and f.endswith('.hrec'))
        return recording.Recording(path)

    def alerts(self):
        try:
            with open(os.path.join(self.place.output, 'alerts.json'), encoding='utf-8') as f:
                return [json.loads(line) for line in f]
        except FileNotFoundError:
            return []

    def close(self):
        for name, running in self.daemons.items():
            if running.alive():
                self.kill(name, signal.SIGTERM)
        for running in self.servers:
            running.kill()
            running.process.wait()


class FleetTest(unittest.TestCase):
    def setUp(self):
        self.place = lab.Lab()
        self.place.__enter__()
        self.addCleanup(self.place.close)

    def check_job(self, fleet, name, job):
        """The whole job is in the recording of the daemon that had it last."""
        recorded = fleet.recording(name, job)
        sums = recorded.sums()
        checks.recording_tells_the_truth(self, sums, fleet.truth(job))
        checks.nothing_lost(self, sums)
        checks.totals_agree(self, recorded.totals(), sums)

    def test_a_daemon_that_is_killed_is_followed_by_another_and_every_call_counts_once(self):
        fleet = Fleet(self.place)
        for name in 'ab':
            fleet.start_daemon(name)
        for job, session in (('one', '1'), ('two', '2')):
            fleet.start_job(job, session)
        first = lab.wait_for(lambda: fleet.holder('one'), 'a worker')
        lab.wait_for(lambda: fleet.holder('two'), 'a worker')
        lab.wait_for(lambda: fleet.state('one')['start_ns'], 'a window')
        fleet.kill(first)
        lab.wait_for(lambda: fleet.holder('one') not in (None, first), 'another worker')
        lab.wait_for(lambda: fleet.holder('two') not in (None, first), 'another worker')
        for job in ('one', 'two'):
            self.assertEqual(0, fleet.end_job(job).status)
        for job in ('one', 'two'):
            self.check_job(fleet, fleet.wait_ended(job), job)
        fleet.close()
        self.place.__exit__(None, None, None)


if __name__ == '__main__':
    lab.main()
