"""Keys of a daemon that others can reach: who has none sees nothing, and each role may do what it is for."""
import glob
import json
import os
import shutil
import signal
import sys
import unittest

import lab


class Keys(unittest.TestCase):
    def setUp(self):
        self.place = lab.Lab()
        self.place.__enter__()
        self.addCleanup(self.place.__exit__, None, None, None)
        self.keys = os.path.join(self.place.dir, 'keys')
        self.endpoint = f'tcp://127.0.0.1:{lab.free_port()}'
        self.place.env['HOLTER_DAEMON'] = self.endpoint

    def made(self, *arguments):
        finished = self.place.holter('keys', *arguments).finish()
        self.assertEqual(0, finished.status, finished)

    def started(self, *arguments):
        return self.place.start(os.path.join(lab.BUILD, 'daemon', 'holterd'), '--listen', self.endpoint, '--no-record', *arguments)

    def asked(self, command, keys):
        return self.place.holter(command, '--keys', keys, '--timeout', 2).finish()

    def test_a_fault_names_its_directory(self):
        absent, new, foreign = (os.path.join(self.place.dir, name) for name in ('absent', 'new', 'foreign'))
        self.made(self.keys)
        os.mkdir(foreign)
        open(os.path.join(foreign, 'agent.key'), 'w').close()
        for words, fault in ((('--for', 'viewer', '-o', new, absent), f'{absent}: No such file or directory'),
                             (('--user', 'ann', '-o', new, absent), f'{absent}: No such file or directory'),
                             (('--for', 'viewer', '-o', foreign, self.keys), f'{foreign}: File exists'),
                             ((foreign,), f'{foreign}: it holds other files, or only some of the keys')):
            finished = self.place.holter('keys', *words).finish()
            self.assertEqual((1, f'holter: keys: {fault}\n'), (finished.status, finished.err))
        os.chmod(self.keys, 0o755)
        for words in (('status', '--keys'), ('keys', '--for', 'viewer', '-o', new)):
            self.assertIn(f'{self.keys}: it must belong to this user, without access for others\n',
                          self.place.holter(*words, self.keys).finish().err)

    def test_a_program_whose_keys_cannot_be_used_runs_unwatched_and_says_why(self):
        absent, exposed, other, half = (os.path.join(self.place.dir, name) for name in ('absent', 'exposed', 'other', 'half'))
        self.made(exposed)
        os.chmod(os.path.join(exposed, 'agent.key'), 0o644)
        os.mkdir(other, 0o755)
        self.made(half)
        os.unlink(os.path.join(half, 'server.pub'))
        program = lab.program('collectives', 'openmpi')
        for words, why in ((['--keys', absent], f'{absent}: No such file or directory'),
                           (['--keys', exposed], f'{exposed}/agent.key: it must belong to this user, without access for others'),
                           (['--keys', half], f'{half}/server.pub: No such file or directory'),
                           (['--keys', other], f'{other}: it must belong to this user, without access for others'),
                           (['--daemon', 'tcp://192.0.2.1:4710'], 'tcp://192.0.2.1:4710: keys are needed, see --keys')):
            finished = self.place.holter('exec', *words, program, '1').finish()
            self.assertEqual(0, finished.status, finished)
            self.assertIn(f'holter: {why}; {program} runs unwatched\n', finished.err)
            self.assertEqual(2, self.place.holter('exec', '--strict', *words, program, '1').finish().status)
        self.place.check_clean()

    def test_a_program_whose_keys_the_daemon_does_not_accept_runs_unwatched_and_says_why(self):
        other, agent = (os.path.join(self.place.dir, name) for name in ('other', 'agent'))
        self.made(self.keys)
        self.made(other)
        shutil.copytree(self.keys, agent)
        shutil.copy(os.path.join(other, 'agent.key'), agent)
        daemon = self.started('--keys', self.keys)
        lab.wait_for(lambda: not daemon.alive() or self.asked('status', self.keys).status == 0, 'the daemon')
        for keys, why in ((other, f'ends the connection, as one with other keys than those in {other}, or with none'),
                          (agent, f'does not know the key in {agent}')):
            gate = os.path.join(self.place.dir, 'gate')
            job = self.place.start(*lab.mpirun('openmpi', 2, os.path.join(lab.BUILD, 'agent', 'holter'), 'exec', '--keys', keys,
                                               lab.program('hang', 'openmpi'), gate, 1))
            lab.wait_for(lambda job=job: f'holter: the daemon at {self.endpoint} ' in job.err() or not job.alive(), 'the reason')
            with open(gate, 'w', encoding='utf-8'):
                pass
            finished = job.finish()
            os.unlink(gate)
            self.assertEqual(0, finished.status, finished)
            self.assertEqual(1, finished.err.count(f'holter: the daemon at {self.endpoint} {why}; ranks on '), finished)
        daemon.kill()
        daemon.finish()
        self.place.check_clean()

    def test_each_role_may_do_what_it_is_for(self):
        self.made(self.keys)
        daemon = self.started('--keys', self.keys)
        lab.wait_for(lambda: not daemon.alive() or self.asked('status', self.keys).status == 0, 'the daemon')
        copies = {role: os.path.join(self.place.dir, role) for role in ('viewer', 'operator', 'agent')}
        for role, copy in copies.items():
            self.made('--for', role, '-o', copy, self.keys)
            self.assertEqual({f'{role}.key', 'server.pub'}, set(os.listdir(copy)))
            self.assertEqual(0o700, os.stat(copy).st_mode & 0o777)
        self.assertEqual(0, self.asked('status', copies['viewer']).status)
        self.assertIn('job', self.asked('capture', copies['operator']).err)  # there is none
        self.assertRegex(self.asked('capture', copies['viewer']).err, 'operator.key|No such file')
        self.assertNotEqual(0, self.asked('status', copies['agent']).status)
        daemon.kill()
        daemon.finish()

    def test_a_run_with_the_keys_of_an_agent_says_where_it_reports_and_what_it_cannot_ask(self):
        self.made(self.keys)
        daemon = self.started('--keys', self.keys)
        lab.wait_for(lambda: not daemon.alive() or self.asked('status', self.keys).status == 0, 'the daemon')
        agent = os.path.join(self.place.dir, 'agent')
        self.made('--for', 'agent', '-o', agent, self.keys)
        finished = self.place.holter('run', '--keys', agent, '--', 'sh', '-c', 'exit 3').finish()
        self.assertEqual(3, finished.status, finished)
        self.assertIn(f', reporting to {self.endpoint}; see it with: holter view\n', finished.err)
        self.assertIn(f'holter: how the jobs went is not known: {agent} has no key of a viewer\n', finished.err)
        daemon.kill()
        daemon.finish()

    def test_who_has_no_keys_sees_nothing(self):
        self.made(self.keys)
        daemon = self.started('--keys', self.keys)
        lab.wait_for(lambda: not daemon.alive() or self.asked('status', self.keys).status == 0, 'the daemon')
        other = os.path.join(self.place.dir, 'other')
        self.made(other)
        self.assertEqual((1, ''), self.outcome('status', '--timeout', 2))
        self.assertEqual((1, ''), self.outcome('status', '--timeout', 2, '--keys', other))
        for words, how in (((), ' without keys'), (('--keys', other), f' with the keys in {other}')):
            self.assertIn(f'no daemon answers at {self.endpoint}{how} (waited 2 s)',
                          self.place.holter('status', '--timeout', 2, *words).finish().err)
        daemon.kill()
        daemon.finish()

    def outcome(self, *arguments):
        finished = self.place.holter(*arguments).finish()
        return finished.status, finished.out

    def test_a_directory_in_tmp_that_somebody_else_has_made_locks_nobody_out(self):
        taken = f'/tmp/holter-{os.geteuid()}'
        os.makedirs(taken, mode=0o700, exist_ok=True)
        theirs, home = os.path.join(self.place.dir, 'theirs'), os.path.join(self.place.dir, 'home')
        for made in (theirs, home):
            os.mkdir(made)
        env = {'HOLTER_DAEMON': '', 'HOLTER_RUN_DIR': '', 'XDG_RUNTIME_DIR': '', 'HOME': home}
        within = ['unshare', '--mount', 'sh', '-c', f'chown 4321 {theirs} && mount --bind {theirs} {taken} && exec "$@"', 'sh']
        if self.place.run(*within, 'true').status != 0:
            self.skipTest('only root may mount here')
        finished = self.place.run(*within, os.path.join(lab.BUILD, 'agent', 'holter'), 'run', '--no-record', '--', 'true', env=env)
        self.assertEqual(0, finished.status, finished)
        self.assertIn('holter: watching, ', finished.err)
        self.assertEqual(['.holter'], os.listdir(home))

    def test_the_loopback_network_without_keys_has_to_be_permitted(self):
        refused = self.started().finish()
        self.assertEqual(2, refused.status, refused)
        self.assertIn('every user of this machine can reach it', refused.err)
        daemon = self.started('--no-keys')
        lab.wait_for(lambda: not daemon.alive() or self.place.status(), 'the daemon')
        self.assertTrue(daemon.alive())
        daemon.kill()
        daemon.finish()


VICTIM, OTHER = 4321, 4322
EVERYBODY = 0o777


def session_of(endpoint):
    """Key of the session of a daemon that was started by hand, which anybody can compute (session_key_of)."""
    number = 0xcbf29ce484222325
    for byte in endpoint.encode():
        number = (number ^ byte) * 0x100000001b3 % 2 ** 64
    return f'{number:016x}'


class Users(unittest.TestCase):
    """Two users of one machine: what one of them has is not open to the other."""

    def setUp(self):
        if os.geteuid() != 0:
            self.skipTest('only root can be two users')
        self.place = lab.Lab()
        self.addCleanup(self.place.close)
        os.chmod(self.place.dir, EVERYBODY)
        self.socket = os.path.join(self.place.home(VICTIM), 'run', 'holterd.sock')
        self.endpoint = f'ipc://{self.socket}'
        self.go = os.path.join(self.place.dir, 'go')

    def run_as(self, uid, *command, **more):
        return self.place.start_as(uid, *command, **more).finish()

    def holter_as(self, uid, *arguments, **more):
        return self.run_as(uid, os.path.join(lab.BUILD, 'agent', 'holter'), *arguments, **more)

    def seen_by(self, uid, *arguments, timeout=30):
        """What a user sees of the victim's daemon, or None."""
        finished = self.holter_as(uid, 'status', '-f', 'json', '--connect', self.endpoint, '--timeout', timeout, *arguments)
        return json.loads(finished.out) if finished.status == 0 else None

    def standing(self, *arguments):
        """The victim's daemon, started by hand."""
        daemon = self.place.start_as(VICTIM, os.path.join(lab.BUILD, 'daemon', 'holterd'), '--no-record', *arguments)
        lab.wait_for(lambda: not daemon.alive() or self.seen_by(VICTIM), 'the daemon')
        self.assertTrue(daemon.alive(), daemon)
        return daemon

    def job(self, uid=VICTIM, endpoint=None):
        """Two ranks that wait for a file, or whatever another user makes of it."""
        rank = [os.path.join(lab.BUILD, 'agent', 'holter'), 'exec', '--daemon', endpoint or self.endpoint,
                lab.program('hang', 'mpich'), self.go]
        return self.place.start_as(uid, *lab.mpirun('mpich', 2, *rank))

    def ranks(self):
        return sum(j['seen'] for j in self.seen_by(VICTIM)['jobs'])

    def end(self, *jobs):
        with open(self.go, 'w', encoding='utf-8'):
            pass
        for job in jobs:
            job.finish()

    def test_the_other_reads_nothing_takes_no_capture_and_puts_no_job_in(self):
        daemon = self.standing()
        job = self.job()
        lab.wait_for(lambda: self.ranks() == 2, 'the ranks')
        for command in (['status'], ['tap', '--count', '1'], ['capture'], ['top', '--once'], ['record', '-o', 'x.hrec']):
            finished = self.holter_as(OTHER, *command, '--connect', self.endpoint, '--timeout', 1)
            self.assertEqual(1, finished.status, finished)
            self.assertEqual('', finished.out, finished)
        theirs = self.job(OTHER)
        self.end(job, theirs)
        jobs = self.seen_by(VICTIM)['jobs']
        self.assertEqual([2], [j['seen'] for j in jobs], jobs)
        daemon.kill(signal.SIGTERM)
        daemon.finish()

    def test_the_session_of_a_run_is_closed_to_the_other(self):
        run = self.place.start_as(VICTIM, os.path.join(lab.BUILD, 'agent', 'holter'), 'run', '--no-record', '--',
                                  lab.program('hang', 'mpich'), self.go)
        run_dir = os.path.join(self.place.home(VICTIM), 'run')
        sockets = lab.wait_for(lambda: glob.glob(os.path.join(run_dir, '*', 'holterd.sock')), 'the session')
        for path in (run_dir, *glob.glob(os.path.join(run_dir, '*'))):
            self.assertEqual(0o700, os.stat(path).st_mode & 0o777, path)
        finished = self.holter_as(OTHER, 'status', '--connect', f'ipc://{sockets[0]}', '--timeout', 1)
        self.assertEqual((1, ''), (finished.status, finished.out), finished)
        self.end(run)

    def test_names_that_the_other_has_taken_leave_no_rank_unwatched(self):
        """He knows the key of a daemon that was started by hand, and which numbers processes will get."""
        if not os.path.exists('/proc/sys/kernel/ns_last_pid'):
            self.skipTest('the kernel does not say which number the last process got')
        daemon = self.standing()
        session = session_of(self.endpoint)
        make = ('import os, sys\nfor pid in range(int(sys.argv[2]), int(sys.argv[2]) + 3000):\n'
                '    name = f"/dev/shm/{sys.argv[1]}.{pid}"\n'
                '    os.mkfifo(name) if pid % 2 else os.close(os.open(name, os.O_CREAT | os.O_RDWR))\n'
                '    os.chmod(name, 0o666)\n')
        with open('/proc/sys/kernel/ns_last_pid', encoding='ascii') as f:
            last = int(f.read())
        made = self.run_as(OTHER, sys.executable, '-c', make, f'holter.{VICTIM}.{session}', last + 1)
        self.assertEqual(0, made.status, made)
        self.addCleanup(lambda: [os.unlink(p) for p in glob.glob(f'/dev/shm/holter.{VICTIM}.{session}.*')])
        job = self.job()
        lab.wait_for(lambda: not job.alive() or self.ranks() == 2, 'the ranks')
        self.assertTrue(job.alive(), job)
        own = [p for p in glob.glob(f'/dev/shm/holter.{VICTIM}.{session}.*') if os.stat(p).st_uid == VICTIM]
        self.assertEqual(2, len(own))
        self.assertTrue(all(p.count('.') == 4 for p in own), own)
        self.end(job)
        lab.wait_for(lambda: not self.place.pids('holter-agent'), 'the end of the agent')
        daemon.kill(signal.SIGTERM)
        daemon.finish()

    def test_what_the_other_has_made_in_place_of_the_run_directory_locks_nobody_out(self):
        """In /tmp, where the name that a user would take is known."""
        taken, home = f'/tmp/holter-{VICTIM}', self.place.home(VICTIM)
        kinds = {'directory': (['mkdir', '-m', '777', taken], os.rmdir), 'file': (['touch', taken], os.unlink),
                 'link to a directory of the victim': (['ln', '-s', home, taken], os.unlink),
                 'link to nowhere': (['ln', '-s', os.path.join(home, 'planted'), taken], os.unlink)}
        for kind, (command, remove) in kinds.items():
            with self.subTest(kind):
                self.assertEqual(0, self.run_as(OTHER, *command).status)
                try:
                    finished = self.holter_as(VICTIM, 'run', '--no-record', '--', 'true', env={'HOLTER_RUN_DIR': ''})
                    self.assertEqual(0, finished.status, finished)
                    self.assertIn('holter: watching, ', finished.err)
                    self.assertFalse(os.path.lexists(os.path.join(home, 'planted')))
                    without = self.holter_as(VICTIM, 'run', '--no-record', '--', 'true', env={'HOLTER_RUN_DIR': '', 'HOME': ''})
                    self.assertEqual(0, without.status, without)
                    self.assertIn(f'{taken} belongs to the user with number {OTHER}', without.err)
                finally:
                    remove(taken)  # fails where something was put into it

    def planted(self, name, home):
        """Each way in which the other user can take a name in a directory where all may write: what it leads to."""
        precious, new, own = (os.path.join(home, 'precious'), os.path.join(home, 'planted'), f'{name}.theirs')
        for kind, *command in (('link to a file of the victim', 'ln', '-s', precious, name),
                               ('link to nowhere', 'ln', '-s', new, name),
                               ('link to a file of the other', 'ln', '-s', own, name),
                               ('file', 'sh', '-c', 'touch "$0" && chmod 666 "$0"', name),
                               ('pipe', 'sh', '-c', 'mkfifo "$0" && chmod 666 "$0"', name)):
            with open(precious, 'w', encoding='utf-8') as f:
                f.write('precious')
            self.assertEqual(0, self.run_as(OTHER, 'sh', '-c', 'touch "$0" && chmod 666 "$0"', own).status)
            self.assertEqual(0, self.run_as(OTHER, *command).status)
            yield name
            with open(precious, encoding='utf-8') as f:
                self.assertEqual('precious', f.read(), kind)
            self.assertFalse(os.path.lexists(new), kind)
            for theirs in (own, name):
                if os.path.isfile(theirs) and not os.path.islink(theirs):
                    self.assertEqual(0, os.path.getsize(theirs), kind)
            self.assertEqual(OTHER, os.lstat(name).st_uid)
            for left in (own, name):
                os.unlink(left)

    def shared_directory(self):
        """As /tmp; where the kernel protects links there, Holter has nothing left to do."""
        path = os.path.join(self.place.dir, 'shared')
        os.mkdir(path)
        os.chmod(path, 0o1777)
        home = self.place.home(VICTIM)
        os.chmod(home, 0o700)
        return path, home

    def recorded(self, path):
        run = self.holter_as(VICTIM, 'run', '-o', path, '--', lab.program('status', 'mpich'), '0')
        self.assertEqual(0, run.status, run)
        return run

    def test_a_recording_whose_name_the_other_has_taken_has_another_name(self):
        shared, home = self.shared_directory()
        recording = os.path.join(shared, 'x.hrec')
        for _ in self.planted(recording, home):
            run = self.recorded(recording)
            self.assertIn('recorded in ', run.err)
            made, = glob.glob(os.path.join(shared, 'holter-*.hrec'))
            self.assertIn(f'recorded in {made}', run.err)
            self.assertEqual((VICTIM, 0), (os.stat(made).st_uid, os.stat(made).st_mode & 0o022))
            os.unlink(made)

    def test_outputs_in_a_shared_directory_are_not_written_to_files_of_the_other(self):
        shared, home = self.shared_directory()
        recording, output = os.path.join(home, 'x.hrec'), os.path.join(shared, 'output')
        self.recorded(recording)
        cases = [(output, command) for command in (['report', '-o', output, recording], ['graph', '-o', output, recording],
                                                   ['export', '--format', 'json', '-o', output, recording])]
        cases += [(output + suffix, ['cut', '-o', output, recording]) for suffix in ('', '-wal', '-shm', '-journal', '.lock')]
        for taken, command in cases:
            for _ in self.planted(taken, home):
                finished = self.holter_as(VICTIM, *command)
                self.assertEqual(1, finished.status, finished)
                self.assertRegex(finished.err, f'{taken}(: there is such a file| belongs to the user with number {OTHER})')

    def test_no_secret_is_readable_while_a_job_is_watched(self):
        """In arguments and variables of processes, in files, sockets and shared memory."""
        home = self.place.home(VICTIM)
        keys = os.path.join(home, 'keys')
        self.endpoint = f'tcp://127.0.0.1:{lab.free_port()}'
        self.assertEqual(0, self.holter_as(VICTIM, 'keys', keys).status)
        secrets = set()
        for path in glob.glob(os.path.join(keys, '**'), recursive=True):
            if os.path.isfile(path):
                with open(path, encoding='utf-8') as f:
                    secrets |= {word for word in f.read().split() if len(word) >= 32}
        self.assertLessEqual(4, len(secrets))
        daemon = self.place.start_as(VICTIM, os.path.join(lab.BUILD, 'daemon', 'holterd'), '--no-record', '--listen',
                                     self.endpoint, '--keys', keys)
        lab.wait_for(lambda: not daemon.alive() or self.seen_by(VICTIM, '--keys', keys), 'the daemon')
        job = self.place.start_as(VICTIM, *lab.mpirun('mpich', 2, os.path.join(lab.BUILD, 'agent', 'holter'), 'exec', '--daemon',
                                                      self.endpoint, '--keys', keys, lab.program('hang', 'mpich'), self.go))
        lab.wait_for(lambda: not job.alive() or sum(j['seen'] for j in self.seen_by(VICTIM, '--keys', keys)['jobs']) == 2,
                     'the ranks')
        # Prints each file of the victim that the other user can read, with what is in it.
        look = ('import glob, os, sys\nfor path in glob.glob("/proc/[0-9]*/*") + glob.glob("/dev/shm/*") + [os.path.join(d, n)'
                ' for d, _, names in os.walk(sys.argv[1]) for n in names]:\n'
                '    try:\n'
                '        if os.stat(path).st_uid != int(sys.argv[2]) or path.endswith("kmsg"): continue\n'
                '        data = open(path, "rb").read(1 << 20)\n'
                '    except OSError: continue\n'
                '    print(path, data.decode("latin1"), sep="\\0")\n')
        seen = self.run_as(OTHER, sys.executable, '-c', look, home, str(VICTIM))
        own = self.run_as(VICTIM, sys.executable, '-c', look, home, str(VICTIM))
        self.end(job)
        daemon.kill(signal.SIGTERM)
        daemon.finish()
        for finished in (seen, own):
            self.assertEqual(0, finished.status, finished.err)
        self.assertTrue(any(secret in own.out for secret in secrets))  # the search finds what can be read
        self.assertIn('/cmdline\0', seen.out)
        self.assertEqual([], [secret for secret in secrets if secret in seen.out])
        self.assertNotIn('/environ\0', seen.out)
        self.assertNotIn(f'/dev/shm/holter.{VICTIM}.', seen.out)
        self.assertIn(f'/dev/shm/holter.{VICTIM}.', own.out)

    def test_a_viewer_reads_and_does_not_control(self):
        keys = os.path.join(self.place.home(VICTIM), 'keys')
        copy = os.path.join(self.place.home(VICTIM), 'viewer')
        self.endpoint = f'tcp://127.0.0.1:{lab.free_port()}'
        self.assertEqual(0, self.holter_as(VICTIM, 'keys', keys).status)
        self.assertEqual(0, self.holter_as(VICTIM, 'keys', '--for', 'viewer', '-o', copy, keys).status)
        third = os.path.join(self.place.home(OTHER), 'keys')
        shutil.copytree(copy, third)
        for path in (third, *(os.path.join(third, name) for name in os.listdir(third))):
            os.chown(path, OTHER, OTHER)
        daemon = self.place.start_as(VICTIM, os.path.join(lab.BUILD, 'daemon', 'holterd'), '--no-record', '--listen', self.endpoint,
                                     '--keys', keys)
        lab.wait_for(lambda: not daemon.alive() or self.seen_by(VICTIM, '--keys', keys), 'the daemon')
        job = self.place.start_as(VICTIM, *lab.mpirun('mpich', 2, os.path.join(lab.BUILD, 'agent', 'holter'), 'exec', '--daemon',
                                                      self.endpoint, '--keys', keys, lab.program('hang', 'mpich'), self.go))
        lab.wait_for(lambda: not job.alive() or sum(j['seen'] for j in self.seen_by(OTHER, '--keys', third)['jobs']) == 2,
                     'the ranks, by the eyes of the viewer')
        finished = self.holter_as(OTHER, 'capture', '--connect', self.endpoint, '--keys', third, '--timeout', 1)
        self.assertEqual('', finished.out, finished)
        self.assertRegex(finished.err, 'operator.key|No such file')
        shutil.copy(os.path.join(third, 'viewer.key'), os.path.join(third, 'operator.key'))
        os.chown(os.path.join(third, 'operator.key'), OTHER, OTHER)
        finished = self.holter_as(OTHER, 'capture', '--connect', self.endpoint, '--keys', third, '--timeout', 1)
        self.assertEqual((1, ''), (finished.status, finished.out), finished)
        self.assertIn('refused: the key does not give that role', finished.err)
        # With no keys, or those of a viewer, a job of his own does not arrive.
        theirs = [self.place.start_as(OTHER, os.path.join(lab.BUILD, 'agent', 'holter'), 'exec', '--daemon', self.endpoint, *more,
                                      lab.program('status', 'mpich'), '0') for more in ([], ['--keys', third])]
        for one in theirs:
            self.assertEqual(0, one.finish().status, one)
        self.assertIsNone(self.seen_by(OTHER, timeout=2))
        self.end(job)
        jobs = self.seen_by(VICTIM, '--keys', keys)['jobs']
        self.assertEqual([2], [j['seen'] for j in jobs], jobs)
        daemon.kill(signal.SIGTERM)
        daemon.finish()


if __name__ == '__main__':
    lab.main()
