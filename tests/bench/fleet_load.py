#!/usr/bin/env python3
"""What a fleet costs: processor time of gateway, worker and NATS server for each window of an agent, their memory, and bytes.

usage: fleet_load.py BUILD [AGENTS[xRANKS[xGATEWAYS]]...]      default: 500x8 2000x8 5000x8 200x32

One nats-server and two or more daemons on this machine: all agents but one (daemon_load, bursts on) are connected to the gateways,
the first one to the worker, which holds the job and records it. Of several gateways the sum of their processor time is printed, and
the memory of the largest. A process must be allowed two files for each of its agents (ulimit -n). Windows are as long as two cores
need: a second for each 500 messages of 8 ranks. Processor time is that of all threads from the second window to the end of the job;
it does not depend on who else uses the cores, as wall-clock time does. The delay is the longest, in milliseconds, from the last
report of a window to its publication. Fails when a message of ranks was not counted once, or an agent not acknowledged.
"""
import csv
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

WINDOWS = 8
AGENTS_OF_PROCESS = 5000  # of the load, beyond 4 processes
TICK = os.sysconf('SC_CLK_TCK')


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


def cpu_us(process):
    with open(f'/proc/{process.pid}/stat', encoding='ascii') as f:
        fields = f.read().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) * 1e6 / TICK


def memory_mib(process, field):
    with open(f'/proc/{process.pid}/status', encoding='ascii') as f:
        return next(int(line.split()[1]) for line in f if line.startswith(field)) / 1024


def stored_bytes(folder):
    return sum(os.stat(os.path.join(d, f)).st_blocks * 512 for d, _, names in os.walk(folder) for f in names)


class Run:
    """One fleet and its load, in a temporary folder."""

    def __init__(self, build, folder, agents, ranks=8, gateways=1):
        self.build, self.folder, self.agents, self.ranks = build, folder, agents, ranks
        self.gateways = [f'gateway{number}' for number in range(gateways)]
        self.window_s = max(1, round(agents * ranks / 4000))
        self.server = f'nats://127.0.0.1:{free_port()}'
        self.processes = {}

    def start(self, name, *command):
        with open(os.path.join(self.folder, name + '.log'), 'wb') as log:
            self.processes[name] = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE if name == 'load' else log, stderr=log)
        return self.processes[name]

    def start_daemon(self, name):
        self.start(name, os.path.join(self.build, 'daemon', 'holterd'), '--listen', self.endpoint(name), '--fleet', self.server,
                   '--window', f'{self.window_s}s', '--grace', f'{self.window_s}s', '--lease', '20s',
                   '--record', os.path.join(self.folder, 'recording-' + name))
        while self.status(name) is None:
            if self.processes[name].poll() is not None:
                raise SystemExit(f'fleet_load: {name} ended: see {self.folder}')

    def cpu_us(self, names):
        return sum(cpu_us(self.processes[name]) for name in names)

    def endpoint(self, name):
        return f'ipc://{self.folder}/{name}'

    def status(self, name):
        told = subprocess.run([os.path.join(self.build, 'agent', 'holter'), 'status', '-f', 'json', '-c', self.endpoint(name)],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        return json.loads(told.stdout)['jobs'] if told.returncode == 0 else None

    def wait_for(self, condition):
        while not condition():
            if any(p.poll() not in (None, 0) for p in self.processes.values()):
                raise SystemExit(f'fleet_load: a process ended: see {self.folder}')
            time.sleep(0.2)

    def measure(self):
        configuration = os.path.join(self.folder, 'nats.conf')
        store = os.path.join(self.folder, 'store')
        with open(configuration, 'w', encoding='utf-8') as f:
            f.write(f'listen: {self.server[len("nats://"):]}\nmax_payload: 32MB\njetstream {{ store_dir: "{store}" }}\n')
        self.start('server', shutil.which('nats-server') or '/usr/sbin/nats-server', '-c', configuration)
        time.sleep(1)
        self.start_daemon('worker')
        load = self.start('load', os.path.join(self.build, 'tests', 'bench', 'daemon_load'), '--agents', self.agents, '--ranks', self.ranks,
                          '--windows', WINDOWS, '--window-ms', self.window_s * 1000, '--workers', 4 + self.agents // AGENTS_OF_PROCESS,
                          '--connect', ','.join(map(self.endpoint, ['worker', *self.gateways])))
        self.wait_for(lambda: self.status('worker'))
        for name in self.gateways:
            self.start_daemon(name)
        begin = json.loads(load.stdout.readline())['begin']
        time.sleep(max(0, (begin + 2) * self.window_s - time.time()))
        parts = {'gateway': self.gateways, 'worker': ['worker'], 'server': ['server']}
        before = {name: self.cpu_us(parts[name]) for name in parts}
        sent = json.loads(load.stdout.readline())
        self.wait_for(lambda: any(job['state'] == 'ended' for job in self.status('worker') or []))
        each = {name: (self.cpu_us(parts[name]) - before[name]) / (self.agents * (WINDOWS - 1)) for name in parts}
        peak = {name: max(memory_mib(self.processes[n], 'VmHWM') for n in parts[name]) for name in parts}
        for name in (*self.gateways, 'worker'):
            self.processes[name].terminate()
            self.processes[name].wait()
        recorded = os.path.join(self.folder, 'recording-worker', 'holter-load.0.hrec')
        info = subprocess.run([os.path.join(self.build, 'agent', 'holter'), 'export', '-f', 'csv', '--table', 'totals', recorded],
                              stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
        totals = list(csv.DictReader(info))
        counted = sum(int(row['sent']) for row in totals)
        last = self.window_s * 0.5  # seconds after the end of a window until the last agent reports it
        delay_ms = max((int(r['published_ns']) - int(r['start_ns']) - int(r['length_ns'])) * 1e-6 for r in totals[1:-1]) - last * 1000
        messages = sent['messages']
        row = (self.agents, self.ranks, self.window_s, *(each[n] for n in parts), *(peak[n] for n in parts),
               sent['bytes'] / messages / 1024, stored_bytes(store) / messages / 1024, os.path.getsize(recorded) / messages / 1024,
               delay_ms, sent['sent'] - counted, sent['unacknowledged'])
        print('%6d %5d %6d %9.0f %9.0f %9.0f %9.0f %9.0f %9.0f %8.1f %8.1f %8.2f %6d %9d %6d' % row, flush=True)
        return sent['sent'] == counted and sent['unacknowledged'] == 0

    def close(self):
        for process in self.processes.values():
            process.kill()
            process.wait()


def main():
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    print('                      us for each agent and window          memory at most, MiB       KiB for each agent and window')
    print('agents ranks window   gateway    worker    server   gateway    worker    server     sent   stored recorded  delay uncounted unacked')
    exact = True
    for case in sys.argv[2:] or ['500x8', '2000x8', '5000x8', '200x32']:
        numbers = map(int, case.split('x'))
        with tempfile.TemporaryDirectory(prefix='holter-fleet-') as folder:
            run = Run(sys.argv[1], folder, *numbers)
            try:
                exact = run.measure() and exact
            finally:
                run.close()
    return 0 if exact else 1


if __name__ == '__main__':
    sys.exit(main())
