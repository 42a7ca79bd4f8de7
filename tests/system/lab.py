"""A bench for runs of real MPI programs under Holter.

A Lab is one place to work in: own run directory, own output directory, own environment. It starts programs,
reads what they and Holter left, and checks at its end that nothing is left over: no process, no shared memory,
no socket. All waiting is for conditions, with a limit.
"""
import contextlib
import ctypes
import functools
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import recording

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get('HOLTER_BUILD', os.path.join(SOURCE, 'build'))
YIELDING = os.path.join(BUILD, 'tests', 'libyield.so')  # preloaded into programs of MPICH: see programs/yield.c
OTHERS = 0.1  # of a core: with more that others take, the cores were not quiet
PATIENCE = 300  # seconds until a condition that must come is given up: only a failing test waits that long
MELT = '/usr/share/lammps/examples/melt/in.melt'  # of LAMMPS


def program(name, mpi):
    """Path of a test program built for an MPI; skips the test when that MPI is not there."""
    path = os.path.join(BUILD, 'tests', 'system', f'{name}.{mpi}')
    if not os.path.exists(path):
        raise unittest.SkipTest(f'{name} is not built for {mpi}: that MPI is not installed')
    return path


def installed(name):
    """Path of a program of the machine; skips the test when it is missing."""
    path = shutil.which(name)
    if not path:
        raise unittest.SkipTest(f'{name} is not installed')
    return path


def mpirun(mpi, ranks, *command):
    return [installed(f'mpirun.{mpi}'), '-n', str(ranks), *map(str, command)]


@contextlib.contextmanager
def timers_together():
    """Programs started meanwhile sleep up to 50 ms too long: MPI_Init of hundreds of ranks that poll and sleep on two
    cores takes a third of the time. Together with nice(1), which leaves the launcher a core to start them on."""
    set_timer_slack = 29  # PR_SET_TIMERSLACK, prctl(2); 0: as it was
    prctl = ctypes.CDLL(None).prctl
    prctl(set_timer_slack, ctypes.c_ulong(50000000))
    try:
        yield
    finally:
        prctl(set_timer_slack, ctypes.c_ulong(0))


def wait_for(condition, what, seconds=PATIENCE):
    """Poll until the condition holds; its value is returned."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f'waited {seconds} s in vain for {what}')
        time.sleep(0.02)


class Others(threading.Thread):
    """How much of the cores others take, from now on: /proc/stat is of the whole machine, while the processes in /proc are
    those of the test, in a namespace of their own. Looks at them twice a second, since of those that are killed with
    their namespace nobody gets the times."""

    def __init__(self):
        super().__init__(daemon=True)
        self.ended = threading.Event()
        self.ticks = {}  # (process, its start): ticks of the clock that it has used
        self.look()
        self.begun, self.busy, self.own = time.monotonic(), self.busy_ticks(), sum(self.ticks.values())
        self.start()

    def look(self):
        for pid in filter(str.isdigit, os.listdir('/proc')):
            with contextlib.suppress(OSError), open(f'/proc/{pid}/stat', encoding='utf-8', errors='replace') as f:
                fields = f.read().rpartition(')')[2].split()
                self.ticks[pid, fields[19]] = int(fields[11]) + int(fields[12])

    @staticmethod
    def busy_ticks():
        """Of all cores, also those taken away by the host of a virtual machine. What the kernel does in interrupts is
        for those who are watched as well, and does not count."""
        with open('/proc/stat', encoding='ascii') as f:
            user, nice, system, _, _, _, _, steal = map(int, f.readline().split()[1:9])
        return user + nice + system + steal

    def run(self):
        while not self.ended.wait(0.5):
            self.look()

    def end(self):
        """@return seconds that others took, and seconds in which they could"""
        self.ended.set()
        self.join()
        taken = self.busy_ticks() - self.busy - (sum(self.ticks.values()) - self.own)
        return taken / os.sysconf('SC_CLK_TCK'), time.monotonic() - self.begun


def on_quiet_cores(test):
    """A test of what is found in times: where others take the cores, what it finds may be them. Then it is tried again,
    and skipped after the third time; it fails at once where the cores were its own."""
    @functools.wraps(test)
    def attempt(self):
        for _ in range(3):
            others = Others()
            try:
                test(self)
                return
            except AssertionError as error:
                failure = error
            finally:
                taken, passed = others.end()
            reason = f'others took {taken:.1f} s of the cores in {passed:.1f} s: {failure}'
            print(reason, file=sys.stderr)
            if taken < OTHERS * passed:
                raise failure
        self.skipTest(reason)
    return attempt


def free_port():
    """A TCP port of the loopback network that is free, and the next one, too; none of those that clients are given."""
    while True:
        port = random.randrange(20000, 32000)
        with socket.socket() as first, socket.socket() as second:
            try:
                first.bind(('127.0.0.1', port))
                second.bind(('127.0.0.1', port + 1))
                return port
            except OSError:
                continue


def isolate(network=False):
    """Run this script again in own mount and process namespaces with an own /dev/shm: what a test leaves behind
    is seen exactly, and cannot outlive it. Where that is not permitted the tests run without.

    network: in an own, empty network with an own host name, too."""
    if os.environ.get('HOLTER_LAB_ISOLATED'):
        return
    unshare = ['unshare', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc']
    if network:
        unshare += ['--net', '--uts', '--ipc']
    if os.geteuid() != 0:
        unshare.append('--map-root-user')
    prepare = 'mount -t tmpfs -o mode=1777 tmpfs /dev/shm' + (' && ip link set lo up' if network else '')
    if subprocess.run([*unshare, 'sh', '-c', prepare], stdout=subprocess.DEVNULL,
                      stderr=subprocess.DEVNULL, check=False).returncode != 0:
        return
    os.environ['HOLTER_LAB_ISOLATED'] = 'network' if network else 'yes'
    # the shell stays as process 1 and collects orphans
    os.execvp(unshare[0], [*unshare, 'sh', '-c', f'{prepare} && "$@"; exit $?', 'sh', sys.executable, *sys.argv])


def main(network=False):
    """Entry of every test script. Exits with 77, meson's sign for skipped, when all tests were skipped."""
    isolate(network)
    result = unittest.main(module='__main__', exit=False, verbosity=2).result
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if result.testsRun > 0 and len(result.skipped) == result.testsRun else 0)


class Finished:
    """A command that has ended."""

    def __init__(self, command, status, out, err):
        self.command, self.status, self.out, self.err = command, status, out, err

    def __str__(self):
        return f'{" ".join(self.command)}\nstatus {self.status}\n{self.out[-3000:]}\n{self.err[-3000:]}'


class Running:
    """A command under way. Its output goes to files, so that it never waits for us."""

    def __init__(self, lab, command, env, stdin, cwd):
        self.command = list(map(str, command))
        self.out_file = tempfile.TemporaryFile(dir=lab.dir)
        self.err_file = tempfile.TemporaryFile(dir=lab.dir)
        self.process = subprocess.Popen(self.command, stdin=stdin, stdout=self.out_file, stderr=self.err_file,
                                        env=env, cwd=cwd, start_new_session=True)
        self.pid = self.process.pid

    def alive(self):
        return self.process.poll() is None

    @staticmethod
    def _text(file):
        return os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0).decode(errors='replace')

    def out(self):
        return self._text(self.out_file)

    def err(self):
        return self._text(self.err_file)

    def kill(self, sig=signal.SIGKILL):
        if self.alive():
            self.process.send_signal(sig)

    def finish(self, seconds=PATIENCE):
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            self.process.wait()
            raise AssertionError(f'not ended after {seconds} s: {self}') from None
        return Finished(self.command, status, self.out(), self.err())

    def close(self):
        self.kill()
        self.process.wait()
        self.out_file.close()
        self.err_file.close()

    def __str__(self):
        return f'{" ".join(self.command)}\n{self.out()[-3000:]}\n{self.err()[-3000:]}'


class Lab:
    """Use with `with`: at the end nothing may be left."""

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix='hl.', dir='/tmp')
        self.run_dir, self.output, self.truths = (os.path.join(self.dir, d) for d in ('r', 'o', 't'))
        for d in (self.run_dir, self.output, self.truths):
            os.mkdir(d, 0o700)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(('HOLTER_', 'OMPI_', 'SLURM_'))}
        self.env |= {
            'HOLTER_RUN_DIR': self.run_dir, 'TRUTH_DIR': self.truths, 'LC_ALL': 'C.UTF-8',
            'OMPI_ALLOW_RUN_AS_ROOT': '1', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1',
            'OMPI_MCA_rmaps_base_oversubscribe': '1', 'OMPI_MCA_mpi_yield_when_idle': '1',
            # Open MPI names its directories by processes' numbers, and those of another test's processes are the same.
            'OMPI_MCA_orte_tmpdir_base': self.dir,
        }
        self.started = []
        self.shm_before = self.shared_memory()

    # -- starting ------------------------------------------------------------------------------

    def start(self, *command, env=None, stdin=subprocess.DEVNULL, cwd=None):
        running = Running(self, command, self.env | (env or {}), stdin, cwd or self.output)
        self.started.append(running)
        return running

    def home(self, uid):
        """A home directory of a user of that number, in which the run directory is."""
        path = os.path.join(self.dir, f'home-of-{uid}')
        if not os.path.isdir(path):
            os.mkdir(path, 0o755)
            os.chown(path, uid, uid)
        return path

    def start_as(self, uid, *command, env=None):
        """Start a command as a user of that number; needs root, and a directory of the place that is open to all."""
        home = self.home(uid)
        truths = tempfile.mkdtemp(dir=home)  # jobs must not write to the same files
        os.chown(truths, uid, uid)
        own = {'HOME': home, 'HOLTER_RUN_DIR': os.path.join(home, 'run'), 'XDG_RUNTIME_DIR': '', 'TRUTH_DIR': truths}
        return self.start('setpriv', f'--reuid={uid}', f'--regid={uid}', '--clear-groups', *command, env=own | (env or {}), cwd=home)

    def run(self, *command, seconds=PATIENCE, **more):
        return self.start(*command, **more).finish(seconds)

    def holter(self, *arguments, **more):
        """Start `holter arguments`."""
        return self.start(os.path.join(BUILD, 'agent', 'holter'), *arguments, **more)

    def daemon(self, *arguments, **more):
        """Start a holterd that records to the output directory; wait until it serves."""
        socket_path = os.path.join(self.run_dir, 'holterd.sock')
        endpoint = f'ipc://{socket_path}'
        running = self.start(os.path.join(BUILD, 'daemon', 'holterd'), '--listen', endpoint, '--record', self.output,
                             *arguments, **more)
        self.env['HOLTER_DAEMON'] = endpoint
        wait_for(lambda: not running.alive() or self.status(), 'the daemon')
        if not running.alive():
            raise AssertionError(str(running.finish()))
        return running

    def tap(self, *arguments, **more):
        return self.holter('tap', '-f', 'json', '--timeout', PATIENCE, *arguments, **more)

    def watched(self, *command, seconds=PATIENCE, **more):
        """`holter run -- command`, to its end."""
        return self.holter('run', '--', *command, **more).finish(seconds)

    def status(self):
        """What `holter status` says, or None while no daemon answers."""
        answer = self.holter('status', '-f', 'json').finish()
        return json.loads(answer.out) if answer.status == 0 else None

    def ranks_seen(self):
        """Ranks of running jobs that agents have reported to the daemon."""
        status = self.status()
        return sum(j['seen'] for j in status['jobs'] if j['state'] == 'running') if status else 0

    # -- looking -------------------------------------------------------------------------------

    def shared_memory(self):
        return {n for n in os.listdir('/dev/shm') if n.startswith('holter.')}

    def processes(self):
        """Processes that carry a run directory of this lab in their environment, as {pid: command line}."""
        mark = f'HOLTER_RUN_DIR={self.dir}/'.encode()
        found = {}
        for pid in filter(str.isdigit, os.listdir('/proc')):
            try:
                with open(f'/proc/{pid}/environ', 'rb') as f:
                    if not any(variable.startswith(mark) for variable in f.read().split(b'\0')):
                        continue
                with open(f'/proc/{pid}/cmdline', 'rb') as f:
                    found[int(pid)] = f.read().replace(b'\0', b' ').decode(errors='replace').strip()
            except OSError:
                continue
        return found

    def pids(self, name):
        """Processes of this lab whose program is called so, oldest first."""
        return sorted(p for p, line in self.processes().items() if line and os.path.basename(line.split()[0]) == name)

    def agents(self):
        """(supervisor, working child), once there are both: a child that died is gone for a moment."""
        def both():
            pids = self.pids('holter-agent')
            try:
                with open(f'/proc/{pids[-1]}/stat', encoding='utf-8') as f:
                    parent = int(f.read().rsplit(')', 1)[1].split()[1])
            except (IndexError, OSError):
                return None
            return len(pids) == 2 and (pids if parent == pids[0] else pids[::-1])

        return wait_for(both, 'an agent and its supervisor')

    def recordings(self):
        return sorted(os.path.join(d, f) for d, _, files in os.walk(self.output) for f in files
                      if f.endswith('.hrec'))

    def recording(self):
        """The one recording that the run left."""
        found = self.recordings()
        if len(found) != 1:
            raise AssertionError(f'{len(found)} recordings in place of one: {found}')
        return recording.Recording(found[0])

    def truth_lines(self):
        lines = []
        for name in sorted(os.listdir(self.truths)):
            with open(os.path.join(self.truths, name), encoding='utf-8') as f:
                lines += f.readlines()
        return lines

    def truth(self):
        return Truth(self.truth_lines())

    def forget_truth(self):
        for name in os.listdir(self.truths):
            os.unlink(os.path.join(self.truths, name))

    # -- the end -------------------------------------------------------------------------------

    def leftovers(self):
        sockets = [os.path.join(d, f) for d, _, files in os.walk(self.run_dir) for f in files]
        return {'processes': self.processes(), 'shared memory': self.shared_memory() - self.shm_before,
                'files in the run directory': sockets}

    def check_clean(self):
        """Nothing of Holter is left: agents may take some seconds to deliver what they hold."""
        try:
            wait_for(lambda: not any(self.leftovers().values()), 'a clean place')
        except AssertionError:
            left = {k: v for k, v in self.leftovers().items() if v}
            raise AssertionError(f'left behind after {PATIENCE} s: {left}') from None

    def close(self):
        for running in self.started:
            running.close()
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for name in self.shared_memory() - self.shm_before:
            if os.environ.get('HOLTER_LAB_ISOLATED'):
                with contextlib.suppress(FileNotFoundError):  # an agent that is ending removes it, too
                    os.unlink(f'/dev/shm/{name}')
        shutil.rmtree(self.dir, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        try:
            if kind is None:
                for running in self.started:
                    if running.alive():
                        raise AssertionError(f'still running at the end: {running}')
                self.check_clean()
        finally:
            self.close()


class Truth:
    """What the ranks of a test program say that they did."""

    def __init__(self, lines):
        self.calls, self.polls, self.sent, self.received, self.regions = {}, {}, {}, {}, {}
        for line in lines:
            word = line.split()
            if word[:1] != ['truth']:
                continue
            if word[1] == 'calls':
                self.calls[int(word[2]), word[3]] = tuple(map(int, word[4:7]))
            elif word[1] == 'polls':
                self.polls[int(word[2]), word[3]] = int(word[4])
            elif word[1] == 'sent':
                self.sent[int(word[2]), int(word[3])] = tuple(map(int, word[4:6]))
            elif word[1] == 'received':
                self.received[int(word[2])] = tuple(map(int, word[3:5]))
            elif word[1] == 'region':
                self.regions[int(word[2]), word[3]] = tuple(map(int, word[4:6]))
        if not self.received:
            raise AssertionError('the program wrote no truth')


def stream_messages(text):
    """Messages that `holter tap -f json` printed."""
    return [json.loads(line) for line in text.splitlines() if line]


def openmpi_monitoring(path):
    """Arguments of mpirun: each process writes what it has sent to a file whose path begins so."""
    # Open MPI 4.1 takes its own messages of a linear MPI_Alltoallv for the application's: 2 is pairwise
    return ['--mca', 'coll_tuned_use_dynamic_rules', '1', '--mca', 'coll_tuned_alltoallv_algorithm', '2',
            '--mca', 'pml_monitoring_enable', '2', '--mca', 'pml_monitoring_enable_output', '3', '--mca', 'pml_monitoring_filename', path]


def openmpi_pairs(directory, prefix):
    """Open MPI's own count of point-to-point messages of the application: {(source, destination): (messages,
    bytes)}. With pml_monitoring_enable 2 lines "E" are messages with the application's tags, lines "I" those that
    Open MPI sends for itself, collectives among them."""
    line = re.compile(r'E\t(\d+)\t(\d+)\t(\d+) bytes\t(\d+) msgs sent')
    pairs = {}
    for name in os.listdir(directory):
        if not name.startswith(prefix):
            continue
        with open(os.path.join(directory, name), encoding='utf-8') as f:
            for source, destination, size, messages in line.findall(f.read()):
                pairs[int(source), int(destination)] = (int(messages), int(size))
    return pairs


def differences(what, wanted, got):
    """Lines that name where two dictionaries differ."""
    keys = sorted(k for k in wanted.keys() | got.keys() if wanted.get(k) != got.get(k))
    return [f'{what} {k}: {got.get(k)} in place of {wanted.get(k)}' for k in keys[:10]] + (
        [f'{what}: {len(keys) - 10} more'] if len(keys) > 10 else [])
