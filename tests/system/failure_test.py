"""What can go wrong, goes wrong: the job must not notice, and nothing may be left behind."""
import collections
import contextlib
import functools
import itertools
import json
import os
import random
import re
import resource
import shutil
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import time
import unittest

import checks
import lab
import recording
from fleet import Fleet


TEXT = 'one line\nanother\n' * 1000


def without_holter(text):
    """Output of a job without Holter's own lines, and without numbers: launchers name processes."""
    lines = [line for line in text.splitlines() if not line.startswith('holter')]
    return re.sub(r'0x[0-9a-f]+|\d+', 'N', '\n'.join(lines))


class Failure(unittest.TestCase):
    def setUp(self):
        self.place = lab.Lab()
        self.place.__enter__()
        self.addCleanup(self.place.close)

    def clean(self):
        """At the end of each test: nothing runs, nothing is left."""
        self.place.__exit__(None, None, None)

    def same_both_ways(self, command, stdin=os.devnull, streams=True, watched=None):
        """Run a command bare and watched, until the watched one says what a bare one said: launchers lose the last words
        of a rank that dies, some times in a hundred on a busy machine, and bare as well; of what MPI_Abort has to say
        mpirun sometimes reads the message wrong, on a busy machine every other time; and of two ranks that end by a
        signal, MPICH's tells once in a while how it ended the other. @return the watched run
        """
        def run(how):
            self.place.forget_truth()
            for path in self.place.recordings():
                os.unlink(path)
            with open(stdin, 'rb') as f:
                return how(*command, stdin=f)

        def said(of):
            return of.status, [without_holter(text) for text in (of.out, of.err)] if streams else None

        said_bare = []
        for again in range(9, -1, -1):
            bare, finished = run(self.place.run), run(watched or self.place.watched)
            said_bare.append(said(bare))
            if said(finished) in said_bare:
                break
            self.assertTrue(again, f'{bare}\n--- with Holter:\n{finished}')
        return finished

    def until_watched(self, running, ranks):
        """Wait until the daemon of the lab knows all ranks of a job that runs."""
        lab.wait_for(lambda: self.place.ranks_seen() == ranks or not running.alive(), 'the ranks to be known')
        self.assertTrue(running.alive(), str(running))


class Ranks(Failure):
    """Ranks that end in other ways than through MPI_Finalize."""

    def crash(self, mpi, how, code=0, streams=True):
        command = lab.mpirun(mpi, 3, lab.program('crash', mpi), how, 200, code)
        finished = self.same_both_ways(command, streams=streams)
        self.assertNotEqual(0, finished.status)
        dead, truth = 2, self.place.truth()
        recorded = self.place.recording()
        sums = recorded.sums()
        checks.nothing_lost(self, sums)
        got = {k: (n, sums.sent_bytes[k]) for k, n in sums.sent.items() if k[0] == dead}
        checks.same(self, lab.differences('messages of the dead rank', truth.sent, got))
        deaths = [d for d in recorded.deaths() if d['rank'] == dead]
        self.assertEqual(1, len(deaths), 'the dead rank is not reported once')
        self.clean()
        return deaths[0]

    def test_rank_killed_under_open_mpi(self):
        death = self.crash('openmpi', 'kill')
        self.assertEqual(('MPI_Sendrecv', 0), (recording.CALLS[death['call']], death['in_call']))

    def test_rank_killed_under_mpich(self):
        self.crash('mpich', 'kill')

    def test_rank_killed_inside_a_call(self):
        death = self.crash('openmpi', 'kill-in-call')
        self.assertEqual(('MPI_Recv', 1, 0), (recording.CALLS[death['call']], death['in_call'], death['peer']))

    def test_segmentation_fault_under_open_mpi(self):
        self.crash('openmpi', 'segv', streams=False)  # the back-trace has addresses

    def test_segmentation_fault_under_mpich(self):
        self.crash('mpich', 'segv', streams=False)

    def test_mpi_abort_under_open_mpi(self):
        death = self.crash('openmpi', 'abort', 7)
        self.assertEqual((1, 7), (death['aborted'], death['abort_code']))

    def test_mpi_abort_under_mpich(self):
        death = self.crash('mpich', 'abort', 7)
        self.assertEqual((1, 7), (death['aborted'], death['abort_code']))

    def test_mpi_abort_in_a_handler_of_errors_under_open_mpi(self):
        death = self.crash('openmpi', 'abort-in-handler', 7)
        self.assertEqual((1, 7), (death['aborted'], death['abort_code']))

    def test_mpi_abort_in_a_handler_of_errors_under_mpich(self):
        death = self.crash('mpich', 'abort-in-handler', 7)
        self.assertEqual((1, 7), (death['aborted'], death['abort_code']))

    def test_exit_without_finalize_under_open_mpi(self):
        self.crash('openmpi', 'exit', 5)

    def test_exit_without_finalize_under_mpich(self):
        self.crash('mpich', 'exit', 5)

    def test_status_after_finalize_is_no_death(self):
        """Nor is the end of those that the launcher kills in MPI_Finalize because of it."""
        for _ in range(5):
            finished = self.place.watched(*lab.mpirun('openmpi', 12, lab.program('status', 'openmpi'), 3))
            self.assertNotEqual(0, finished.status, finished)
            self.assertNotIn('died', finished.err)
            recorded = self.place.recording()
            self.assertEqual([], list(recorded.deaths()), finished)
            os.unlink(self.place.recordings()[0])
        self.clean()

    def test_status_and_streams_are_the_applications(self):
        text = os.path.join(self.place.dir, 'text')
        with open(text, 'w', encoding='utf-8') as f:
            f.write(TEXT)
        for mpi in ('openmpi', 'mpich'):
            for code in (0, 3, -15):
                with self.subTest(mpi=mpi, code=code):
                    finished = self.same_both_ways(lab.mpirun(mpi, 2, lab.program('status', mpi), code), stdin=text)
                    self.assertTrue(finished.out.startswith(TEXT), finished.out)
        self.clean()

    def test_program_that_never_calls_mpi(self):
        for mpi in ('openmpi', 'mpich'):
            for code in (0, 9):
                with self.subTest(mpi=mpi, code=code):
                    # how often Open MPI complains of the code is a matter of chance
                    self.same_both_ways(lab.mpirun(mpi, 2, lab.program('nompi', mpi), code), streams=code == 0)
        self.clean()

    def test_program_without_mpi(self):
        self.same_both_ways(lab.mpirun('openmpi', 2, '/bin/echo', 'hello'))
        self.clean()

    def test_program_that_does_not_exist(self):
        command = lab.mpirun('openmpi', 2, '/nonexistent/program')
        finished = self.place.watched(*command)
        self.assertNotEqual(0, finished.status)
        self.assertIn('/nonexistent/program', finished.err)
        self.clean()

    def test_interrupt_reaches_the_job(self):
        never = os.path.join(self.place.dir, 'never')
        command = lab.mpirun('openmpi', 2, lab.program('hang', 'openmpi'), never)
        bare = self.place.start(*command)
        lab.wait_for(lambda: len(self.place.pids('hang.openmpi')) == 2, 'the ranks')
        bare.kill(signal.SIGTERM)
        running = self.place.holter('run', '--', *command)
        bare = bare.finish()
        lab.wait_for(lambda: len(self.place.pids('hang.openmpi')) == 2 and self.place.shared_memory(), 'the ranks')
        running.kill(signal.SIGTERM)
        watched = running.finish()
        self.assertEqual(bare.status, watched.status, f'{bare}\n--- with Holter:\n{watched}')
        self.clean()


class Holter(Failure):
    """Parts of Holter that die while a job runs. The job waits for a file that the test makes."""

    def start_job(self, mpi='openmpi', ranks=3, rounds=1, options=(), **more):
        self.gate = os.path.join(self.place.dir, 'gate')
        command = lab.mpirun(mpi, ranks, lab.program('hang', mpi), self.gate, rounds)
        running = self.place.holter('run', *options, '--', *command, **more)
        self.until_watched(running, ranks)
        return running

    def open_gate(self):
        with open(self.gate, 'w', encoding='utf-8'):
            pass

    def let_go(self, running):
        self.open_gate()
        finished = running.finish()
        self.assertEqual(0, finished.status, finished)
        return finished

    def recorded_truth(self):
        """Sums over all recordings against the truth."""
        sums = recording.Sums()
        for path in self.place.recordings():
            one = recording.Recording(path)
            if one.begun():
                one.sums(sums)
        checks.recording_tells_the_truth(self, sums, self.place.truth())
        checks.nothing_lost(self, sums)

    def something_recorded(self):
        try:
            return self.place.recordings() and self.place.recording().messages()
        except sqlite3.OperationalError:
            return None  # the daemon has not made its tables yet

    def stop_daemon(self, daemon):
        daemon.kill(signal.SIGTERM)
        self.assertEqual(0, daemon.finish().status, str(daemon))

    def test_daemon_killed_and_restarted(self):
        daemon = self.place.daemon()
        job = self.start_job()
        daemon.kill()
        daemon.finish()
        second = self.place.daemon()
        self.until_watched(job, 3)
        self.let_go(job)
        self.stop_daemon(second)
        self.recorded_truth()
        self.clean()

    def test_daemon_restarted_after_the_clock_was_set_back_goes_on(self):
        """What the agent sends again of the time before has numbers of an hour ahead, and comes late."""
        def windows_in_time():
            return [message for message in lab.stream_messages(tapped.out().rpartition('\n')[0]) if not message['late']]

        daemon = self.place.daemon(env=Fleet.ahead(3600))
        job = self.start_job()
        lab.wait_for(self.something_recorded, 'a recording')
        daemon.kill()
        daemon.finish()
        second = self.place.daemon()
        tapped = self.place.tap('--topic', 'totals', '--no-snapshot', '--until-end')
        lab.wait_for(lambda: len(windows_in_time()) > 2 or not tapped.alive(), 'windows')
        for window in windows_in_time():
            self.assertLess(abs(window['window'] * window['length_ns'] - time.time_ns()), 1800e9)  # of an hour
        self.let_go(job)
        self.assertEqual(0, tapped.finish().status)
        self.assertGreater(len(windows_in_time()), 2)
        self.stop_daemon(second)
        self.assertIn('the clock was set back', second.err())
        self.recorded_truth()
        self.clean()

    def kill_own_daemon(self, job):
        """Kill the daemon of a run, and wait until another knows its ranks."""
        daemon, = self.place.pids('holterd')
        os.kill(daemon, signal.SIGKILL)
        lab.wait_for(lambda: self.place.pids('holterd') not in ([], [daemon]) or not job.alive(), 'another daemon')
        self.until_watched(job, 3)

    def test_daemon_of_a_run_killed_is_restarted(self):
        job = self.start_job()
        lab.wait_for(self.something_recorded, 'the first messages in the recording')
        self.kill_own_daemon(job)
        self.kill_own_daemon(job)
        finished = self.let_go(job)
        self.assertIn('3 ranks on 1 node', finished.err)
        self.assertTrue(finished.err.endswith('holterd crashed and was restarted 2 times; missing: nothing\n'), finished)
        self.recorded_truth()
        self.clean()

    def test_daemon_of_an_unrecorded_run_killed_is_restarted(self):
        """What is missing is named."""
        job = self.start_job(options=['--no-record'])
        self.kill_own_daemon(job)
        finished = self.let_go(job)
        self.assertRegex(finished.err, r'\(hang.openmpi\): 3 ranks on 1 node')
        self.assertTrue(finished.err.endswith('missing: what it had counted before, as nothing is recorded\n'), finished)
        self.clean()

    def test_daemon_killed_between_two_jobs_of_a_run(self):
        """The first job has its recording, and the closing line names it."""
        gate = os.path.join(self.place.dir, 'gate')
        ring = lab.mpirun('openmpi', 2, lab.program('hang', 'openmpi'))
        script = f'{" ".join(ring)} /dev/null; until [ -e {gate} ]; do sleep 0.02; done; {" ".join(ring)} {gate}; exit 4'
        run = self.place.holter('run', '--', '/bin/sh', '-c', script)
        lab.wait_for(lambda: any(j['state'] == 'ended' for j in (self.place.status() or {'jobs': []})['jobs']), 'a job')
        lab.wait_for(lambda: not self.place.pids('holter-agent'), 'the agent to leave')
        first, = self.place.recordings()
        os.kill(self.place.pids('holterd')[0], signal.SIGKILL)
        with open(gate, 'w', encoding='utf-8'):
            pass
        finished = run.finish()
        self.assertEqual(4, finished.status, finished)
        self.assertEqual(2, len(self.place.recordings()), finished)
        self.assertTrue(finished.err.endswith(
            f'missing: the line of 1 job that ended before, recorded in {os.path.dirname(first)}\n'), finished)
        for path in self.place.recordings():
            self.assertEqual({(0, 1): 2, (1, 0): 2}, recording.Recording(path).sums().sent, path)
        self.clean()

    def test_job_that_ends_before_its_agent_has_met_the_daemon(self):
        """Its end is seen all the same."""
        gate, ended = (os.path.join(self.place.dir, name) for name in ('gate', 'ended'))
        ring = ' '.join(lab.mpirun('openmpi', 2, lab.program('hang', 'openmpi'), '/dev/null'))
        run = self.place.holter('run', '--window', '100ms', '--', '/bin/sh', '-c',
                                f'until [ -e {gate} ]; do sleep 0.02; done; {ring}; touch {ended}')
        lab.wait_for(lambda: self.place.pids('sh') or not run.alive(), 'the command')
        daemon, = self.place.pids('holterd')
        os.kill(daemon, signal.SIGSTOP)
        with open(gate, 'w', encoding='utf-8'):
            pass
        lab.wait_for(lambda: os.path.exists(ended) or not run.alive(), 'the end of the job')
        os.kill(daemon, signal.SIGCONT)
        finished = run.finish()
        self.assertEqual(0, finished.status, finished)
        self.assertRegex(finished.err, r'2 ranks on 1 node, [1-9][^,]*s, 4 messages, .* nothing lost; recorded')
        self.clean()

    def test_daemon_that_always_dies_is_given_up(self):
        job = self.start_job()
        lab.wait_for(self.something_recorded, 'the first messages in the recording')
        for _ in range(6):
            daemon, = lab.wait_for(lambda: self.place.pids('holterd'), 'a daemon')
            os.kill(daemon, signal.SIGKILL)
            lab.wait_for(lambda: daemon not in self.place.pids('holterd'), 'the end of the daemon')
        lab.wait_for(lambda: 'goes on unwatched' in job.err(), 'the run to give up')
        finished = self.let_go(job)
        self.assertTrue(finished.err.endswith('was restarted 5 times; missing: all since its last end\n'), finished)
        for path in self.place.recordings():
            recording.Recording(path).check()
        self.clean()

    def test_daemon_that_cannot_be_restarted(self):
        """Its program is gone, as after an update: the last line says so."""
        programs = os.path.join(self.place.dir, 'programs')
        os.mkdir(programs)
        for program in ('agent/holter', 'agent/holter-cli', 'daemon/holterd'):
            shutil.copy(os.path.join(lab.BUILD, program), programs)
        gate = os.path.join(self.place.dir, 'gate')
        run = self.place.start(os.path.join(programs, 'holter'), 'run', '--', '/bin/sh', '-c',
                               f'until [ -e {gate} ]; do sleep 0.02; done')
        lab.wait_for(lambda: self.place.pids('sh'), 'the job')
        daemon, = self.place.pids('holterd')
        os.unlink(os.path.join(programs, 'holterd'))
        os.kill(daemon, signal.SIGKILL)
        lab.wait_for(lambda: 'goes on unwatched' in run.err(), 'the run to give up')
        with open(gate, 'w', encoding='utf-8'):
            pass
        finished = run.finish()
        self.assertEqual(0, finished.status, finished)
        self.assertTrue(finished.err.endswith('holterd crashed and could not be restarted: No such file or directory; '
                                              'missing: all since its last end\n'), finished)
        self.clean()

    def test_daemon_without_enough_open_files_says_so(self):
        """Libraries would abort."""
        for files in (5, 12, 63):
            finished = self.place.run('bash', '-c', f'ulimit -n {files}; exec "$@"', 'bash',
                                      os.path.join(lab.BUILD, 'daemon', 'holterd'), '--listen', f'ipc://{self.place.run_dir}/few.sock')
            self.assertEqual(1, finished.status, finished)
            self.assertIn(f'the limit of open files is {files} (ulimit -n): at least 64 are needed', finished.err)

    def test_run_killed_is_swept_by_the_next(self):
        """What its job still uses stays; so does a session whose run lives, and whose job another run in it does not
        disturb."""
        living = self.start_job()
        kept, = os.listdir(self.place.run_dir)
        killed = self.place.holter('run', '--listen', f'tcp://*:{lab.free_port()}', '--', *lab.mpirun(
            'openmpi', 2, lab.program('hang', 'openmpi'), self.gate), env={'HOME': self.place.dir})
        lab.wait_for(lambda: len(self.place.shared_memory()) == 5 or not killed.alive(), 'the ranks')
        swept, = set(os.listdir(self.place.run_dir)) - {kept}
        killed.kill()
        killed.finish()
        lab.wait_for(lambda: len(self.place.pids('holterd')) == 1, 'the end of its daemon')
        self.assertEqual(0, self.place.watched('true').status)
        self.assertTrue(os.listdir(os.path.join(self.place.run_dir, swept, socket.gethostname())))
        self.assertEqual(5, len(self.place.shared_memory()))
        inner = self.place.holter('run', '--', 'true', env={
            'HOLTER_SESSION': kept, 'HOLTER_DAEMON': f'ipc://{self.place.run_dir}/{kept}/holterd.sock'})
        self.assertEqual(0, inner.finish().status)
        self.assertEqual(3, self.place.ranks_seen())
        finished = self.let_go(living)
        self.assertIn('3 ranks on 1 node', finished.err)
        lab.wait_for(lambda: not self.place.processes(), 'the end of the other job')
        self.assertEqual([swept], os.listdir(self.place.run_dir))
        self.assertTrue(os.listdir(os.path.join(self.place.dir, '.holter')))
        self.assertEqual(0, self.place.watched('true').status)
        self.assertEqual([], os.listdir(self.place.run_dir))
        self.assertFalse(os.path.exists(os.path.join(self.place.dir, '.holter')))
        self.clean()

    def the_recording_says_that_it_ends_early(self):
        self.place.recording().check()
        path, = self.place.recordings()
        self.assertRegex(self.place.holter('info', path).finish().out,
                         r'(?s)state +running when the recording ends\n.*\nlost +nothing until the recording ends\n')
        page = os.path.join(self.place.dir, 'page.html')
        self.assertEqual(0, self.place.holter('report', '--no-pictures', '-o', page, path).finish().status)
        with open(page, encoding='utf-8') as f:
            text = f.read()
        self.assertIn('running when the recording ends', text)
        self.assertIn('<b>nothing</b><span class="second">lost until the recording ends<', text)

    def test_run_killed_leaves_a_recording_that_says_that_it_ends_early(self):
        job = self.start_job()
        lab.wait_for(self.something_recorded, 'the first messages in the recording')
        job.kill()
        job.finish()
        self.open_gate()
        lab.wait_for(lambda: not self.place.processes(), 'the end of all processes')
        self.the_recording_says_that_it_ends_early()
        self.assertEqual(0, self.place.watched('true').status)
        self.clean()

    def test_daemon_killed_for_good(self):
        daemon = self.place.daemon()
        job = self.start_job()
        lab.wait_for(self.something_recorded, 'the first messages in the recording')
        daemon.kill()
        daemon.finish()
        self.let_go(job)
        self.the_recording_says_that_it_ends_early()
        self.stop_daemon(self.place.daemon())  # the next one takes over what the dead one left
        self.clean()

    def test_daemon_killed_loses_a_second_at_most(self):
        """What was published a second before the last that was, is in the recording."""
        daemon = self.place.daemon('--window', '100ms')
        live = self.place.tap('--topic', 'totals', cwd=self.place.dir)
        job = self.start_job()
        published = lambda: [m for m in lab.stream_messages(live.out()) if m.get('topic') == 'totals' and m['ranks']]

        def a_second_old(seen):
            last = max((m['published_ns'] for m in seen), default=0)
            return {m['window'] for m in seen if m['published_ns'] <= last - 10**9}

        lab.wait_for(lambda: len(a_second_old(published())) > 20, 'windows that were published a second before')
        daemon.kill()
        daemon.finish()
        seen = published()
        self.let_go(job)
        live.kill()
        wanted = a_second_old(seen)
        found = self.place.recording()
        found.check()
        windows = {w['window'] for w in found.windows()}
        lost = sorted(m['window'] for m in seen if m['window'] not in windows)
        self.assertGreater(len(wanted), 20)
        self.assertFalse(wanted - windows, f'lost: {sorted(wanted - windows)}, of {len(seen)} that were published')
        print(f'{len(seen)} windows of 100 ms were published, the last {len(lost)} of them are lost', file=sys.stderr)
        self.stop_daemon(self.place.daemon())
        self.clean()

    def test_agent_killed(self):
        daemon = self.place.daemon()
        job = self.start_job()
        supervisor, child = self.place.agents()
        os.kill(child, signal.SIGKILL)
        lab.wait_for(lambda: self.place.agents()[1] != child, 'a new agent')
        self.assertEqual(supervisor, self.place.agents()[0])
        self.until_watched(job, 3)
        self.let_go(job)
        self.stop_daemon(daemon)
        flags = [m['flags'] for m in self.place.recording().windows()]
        self.assertTrue(any(f & 8 for f in flags), f'no window says that the agent was restarted: {flags}')
        self.recorded_truth()
        self.clean()

    def test_agent_and_supervisor_killed(self):
        daemon = self.place.daemon()
        job = self.start_job()
        for pid in self.place.agents():
            os.kill(pid, signal.SIGKILL)
        self.let_go(job)
        self.stop_daemon(daemon)
        self.clean()

    def test_ring_lapped(self):
        """Nothing is missing in the sums, though the agent stands still while small rings go round."""
        daemon = self.place.daemon()
        job = self.start_job(rounds=5000, env={'HOLTER_RING': '1024'})
        _, agent = self.place.agents()
        os.kill(agent, signal.SIGSTOP)
        self.open_gate()
        lab.wait_for(lambda: not self.place.pids('hang.openmpi'), 'the ranks to end')
        os.kill(agent, signal.SIGCONT)
        finished = job.finish()
        self.assertEqual(0, finished.status, finished)
        self.stop_daemon(daemon)
        sums, truth = self.place.recording().sums(), self.place.truth()
        for rank in range(3):
            # MPI_Sendrecv makes two records, one for each way
            made = sum(n[0] * (1 + (call == 'MPI_Sendrecv')) for (of, call), n in truth.calls.items() if of == rank)
            row = sums.ranks[rank]
            self.assertEqual((made, 0), (row['events'], row['lost']))
            self.assertEqual(sum(n[0] for (of, _), n in truth.calls.items() if of == rank), row['calls'])
            self.assertGreater(row['tallied'], 0, 'no ring was lapped: the test shows nothing')
        self.assertRegex(finished.err, r'[\d,]+ records summed unread, ')
        self.clean()

    def test_viewer_killed(self):
        daemon = self.place.daemon()
        job = self.start_job()
        viewer = self.place.holter('view', env={'SDL_VIDEODRIVER': 'dummy', 'SDL_RENDER_DRIVER': 'software'})
        tap = self.place.tap()
        lab.wait_for(lambda: tap.out() and viewer.alive(), 'the stream')
        for running in (viewer, tap):
            running.kill()
            running.finish()
        self.let_go(job)
        self.stop_daemon(daemon)
        self.recorded_truth()
        self.clean()

    def test_viewer_without_a_display_says_so(self):
        finished = self.place.holter('view', env={'DISPLAY': '', 'WAYLAND_DISPLAY': ''}).finish()
        self.assertEqual(1, finished.status, finished)
        self.assertIn('no display: ', finished.err)
        self.assertIn('holter-view --snapshot FILE.png', finished.err)

    def test_clients_that_are_gone_are_not_counted(self):
        daemon = self.place.daemon()
        taps = [self.place.tap() for _ in range(5)]
        count = lambda: self.place.status()['daemon']['clients']
        lab.wait_for(lambda: count() >= 6, 'the clients')
        for tap in taps[1:]:
            tap.kill()
            tap.finish()
        lab.wait_for(lambda: taps[0].alive() and lab.wait_for(count, 'an answer') <= 3, 'the end of those that are gone', 60)
        self.assertGreaterEqual(count(), 2)
        taps[0].kill()
        taps[0].finish()
        self.stop_daemon(daemon)
        self.clean()

    def test_daemon_that_cannot_be_reached(self):
        port = lab.free_port()
        self.place.env['HOLTER_DAEMON'] = f'tcp://127.0.0.1:{port}'
        self.same_both_ways(lab.mpirun('openmpi', 2, lab.program('status', 'openmpi'), 3))
        status = self.place.holter('status', '--timeout', 1).finish()
        self.assertEqual(1, status.status)
        self.assertIn(str(port), status.err)
        self.clean()

    def test_two_daemons_on_one_port(self):
        port = lab.free_port()
        command = [os.path.join(lab.BUILD, 'daemon', 'holterd'), '--no-keys', '--listen', f'tcp://127.0.0.1:{port}',
                   '--record', self.place.output]
        first = self.place.start(*command)
        self.place.env['HOLTER_DAEMON'] = f'tcp://127.0.0.1:{port}'
        lab.wait_for(self.place.status, 'the first daemon')
        second = self.place.run(*command)
        self.assertEqual(1, second.status, second)
        self.assertIn(str(port), second.err)
        job = self.start_job()
        self.let_go(job)
        self.stop_daemon(first)
        self.recorded_truth()
        self.clean()


class Kills(Failure):
    """Parts of Holter and of the job are killed at moments that nobody chose. A script is the job, and notes the status of
    its launcher, as the run may be what is killed."""
    KILLS, KILLS_OF_A_JOB, RANKS, MPI = 4, 4, 3, 'openmpi'

    def start_job(self):
        self.control = os.path.join(self.place.dir, 'control')
        self.noted = os.path.join(self.control, 'status')
        shutil.rmtree(self.control, ignore_errors=True)
        self.forget_job()  # one before that has failed
        os.mkdir(self.control)
        launcher, *words = lab.mpirun(self.MPI, self.RANKS, lab.program('steps', self.MPI), self.control, 100, 1000)
        launch = [os.path.basename(launcher), *words]  # of a path in a script only some are noticed
        return self.place.holter('run', '--window', '100ms', '--', '/bin/sh', '-c',
                                 f'{" ".join(launch)}; echo $? > {self.noted}; exit $(cat {self.noted})',
                                 env={'TRUTH_LIVE': self.control})

    def end_job(self):
        with open(os.path.join(self.control, 'end'), 'w', encoding='utf-8'):
            pass

    def victims(self, name, count=1):
        """The newest processes of that name, once there are so many; none when the job has ended."""
        lab.wait_for(lambda: len(self.place.pids(name)) >= count or os.path.exists(self.noted), name)
        found = self.place.pids(name)[-count:]
        return found if len(found) == count else []

    def let_launcher_end(self, run):
        pass

    def status_of_the_launcher(self, _finished):
        """When nothing that belongs to the job was killed."""
        return 0

    def kill(self, *pids):
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass  # it has ended by itself

    def kill_at_random(self, kill, kills_of_a_job, check):
        """kill(random): kills what it wants to. check(finished, status): of the run, and of the launcher, when all is over.
        What a recording says that it has, it has in any case."""
        for seed in range(-(-self.KILLS // kills_of_a_job)):
            with self.subTest(seed=seed):
                chance = random.Random(f'{self.id()} {seed}')
                run = self.start_job()
                for number in range(kills_of_a_job):
                    moment = time.monotonic() + chance.random() * 1.5
                    lab.wait_for(lambda: time.monotonic() > moment or not run.alive(), 'the moment')
                    if number == kills_of_a_job - 1 and chance.random() < 0.3:
                        self.end_job()
                    kill(chance)
                self.end_job()
                self.let_launcher_end(run)
                finished = run.finish()
                lab.wait_for(lambda: not self.place.processes(), 'the end of all processes')
                status = None  # the run was killed before it had started the job
                if os.path.exists(self.noted):
                    with open(self.noted, encoding='utf-8') as f:
                        status = int(f.read())
                check(finished, status)
                # Ranks whose launcher is killed may leave MPI_Finalize by exit(3), and write no truth: see check().
                if self.all_is_said_to_be_recorded() and len(os.listdir(self.place.truths)) == self.RANKS:
                    checks.recording_tells_the_truth(self, self.recorded(), self.place.truth())
                self.nothing_is_left_after_the_next_start()
        self.clean()

    def nothing_is_left_after_the_next_start(self):
        self.assertEqual(0, self.place.watched('true').status)
        self.assertEqual([], os.listdir(self.place.run_dir))
        self.assertEqual(set(), self.place.shared_memory() - self.place.shm_before)
        self.forget_job()

    def forget_job(self):
        self.place.forget_truth()
        for path in self.place.recordings():
            os.unlink(path)

    def recorded(self):
        sums = recording.Sums()
        for path in self.place.recordings():
            one = recording.Recording(path)
            one.check()
            if one.begun():
                one.sums(sums)
        return sums

    MISSING = ('cut_short', 'stopped_ns', 'records_lost', 'requests_untracked', 'windows_dropped', 'reports_missing',
               'messages_absent', 'holes_total', 'damages_total')

    def statements(self):
        """What each recording says of itself, as `holter info` has it; of those that were begun."""
        begun = [path for path in self.place.recordings() if recording.Recording(path).begun()]
        return [json.loads(self.place.holter('info', '-f', 'json', path).finish().out) for path in begun]

    def all_is_said_to_be_recorded(self):
        found = self.statements()
        return found != [] and all(info['state'] == 'ended' and info['ranks_seen'] == self.RANKS == info['world'] and
                                   not any(info[figure] for figure in self.MISSING) for info in found)

    def calls_until_the_end_are_recorded(self, finished):
        """Of ranks that were killed: all calls but those in progress."""
        sums, unseen = self.recorded(), []
        for rank in range(self.RANKS):
            begun = {}
            with contextlib.suppress(FileNotFoundError), open(os.path.join(self.control, f'live.{rank}'), 'rb') as f:
                begun = {name.rstrip(b'\0').decode(): n for name, n in struct.iter_unpack('=56sQ', f.read()) if n}
            got = {call: n for (of, call), n in sums.calls.items() if of == rank and call not in checks.UNCOUNTED}
            late = {call: (n, got.get(call, 0)) for call, n in begun.items() if n != got.get(call, 0)}
            more = set(got) - set(begun) - {'MPI_Init'}  # which the program counts when it has ended
            unseen += [(rank, late, more)] if more or len(late) > 1 or any(n - 1 != m for n, m in late.values()) else []
        self.assertEqual([], unseen, f'of a rank: call, begun, recorded: {finished}')
        for info in self.statements():
            self.assertEqual({}, {figure: info[figure] for figure in self.MISSING if info[figure]}, info)

    def ends_as_the_launcher(self, finished, status):
        self.assertEqual(2 * (self.status_of_the_launcher(finished),), (finished.status, status), finished)

    def all_is_recorded(self, finished, status):
        self.ends_as_the_launcher(finished, status)
        self.assertTrue(self.all_is_said_to_be_recorded(), self.statements())
        sums = self.recorded()
        checks.nothing_lost(self, sums)
        checks.recording_tells_the_truth(self, sums, self.place.truth())
        self.assertRegex(finished.err, 'nothing (else )?lost')  # what a killed agent had not matched stays unmatched

    def no_more_than_the_truth_is_recorded(self):
        """@return whether it is all"""
        sums, truth = self.recorded(), self.place.truth()
        more = {pair: n for pair, n in sums.sent.items() if n > truth.sent.get(pair, (0, 0))[0]}
        self.assertEqual({}, more)
        return all(sums.sent.get(pair, 0) == n for pair, (n, _) in truth.sent.items())

    def calls_until_the_last_window_are_recorded(self, finished):
        """What a recording says is missing is all that came after its last window: of each rank that it has seen, it has all
        calls until then and none after that."""
        sums, late = self.recorded(), 20_000_000  # windows are cut by the agent's estimate of the daemon's clock
        for info in self.statements():
            self.assertEqual({}, {figure: info[figure] for figure in self.MISSING if info[figure] and figure != 'cut_short'}, finished)
            # Ranks are announced before their first window.
            self.assertEqual(info['ranks_seen'] if info['windows'] else 0, len(sums.ranks), finished)
            for rank in sums.ranks:
                with open(os.path.join(self.control, f'times.{rank}'), encoding='ascii') as f:
                    called = [(name, int(begin), int(end)) for name, begin, end in map(str.split, f)]
                got = {call: n for (of, call), n in sums.calls.items() if of == rank and call not in checks.UNCOUNTED}
                there, missing = called[:sum(got.values())], called[sum(got.values()):]
                self.assertEqual(collections.Counter(name for name, _, _ in there), got, finished)
                self.assertLess(max((begin for _, begin, _ in there), default=0) - late, info['end_ns'], finished)
                self.assertGreater(min((end for _, _, end in missing), default=2**63) + late, info['end_ns'], finished)

    def test_agent_killed(self):
        self.kill_at_random(lambda chance: self.kill(*self.victims('holter-agent', 2)[-1:]), self.KILLS_OF_A_JOB,
                            self.all_is_recorded)

    def test_agent_killed_goes_on_matching(self):
        run = self.start_job()
        windows = lambda: self.place.recording().windows() if self.place.recordings() and self.place.recording().begun() else []
        lab.wait_for(lambda: len(windows()) > 5 or not run.alive(), 'windows before')
        self.kill(*self.victims('holter-agent', 2)[-1:])
        lab.wait_for(lambda: sum(w['node'][0]['restarts'] for w in windows()) > 5 or not run.alive(), 'windows after')
        self.end_job()
        self.assertEqual(0, run.finish().status)
        nodes = [w['node'][0] for w in windows()]
        resumed = next(i for i, node in enumerate(nodes) if node['restarts'] == 1)
        matched, unmatched, rejected = (nodes[-1][figure] - nodes[resumed - 1][figure] for figure in ('matched', 'unmatched', 'rejected'))
        self.assertGreater(matched, 1000)
        self.assertEqual((0, 0), (unmatched, rejected), f'{matched} matched')
        self.nothing_is_left_after_the_next_start()
        self.clean()

    def test_daemon_killed(self):
        def check(finished, status):
            self.all_is_recorded(finished, status)
            if 'crashed' in finished.err:
                self.assertTrue(finished.err.endswith('missing: nothing\n'), finished)
        self.kill_at_random(lambda chance: self.kill(*self.victims('holterd')), self.KILLS_OF_A_JOB, check)

    def test_agent_and_daemon_killed(self):
        self.kill_at_random(lambda chance: self.kill(*self.victims('holter-agent', 2)[-1:], *self.victims('holterd')),
                            self.KILLS_OF_A_JOB, self.all_is_recorded)

    def test_supervisor_killed(self):
        """The agent goes on without it."""
        self.kill_at_random(lambda chance: self.kill(*self.victims('holter-agent', 2)[:1]), 1, self.all_is_recorded)

    def test_agent_and_supervisor_killed(self):
        def check(finished, status):
            self.ends_as_the_launcher(finished, status)
            if not self.no_more_than_the_truth_is_recorded():
                self.assertRegex(finished.err, 'end not seen|some agents had not left yet|no agent has reported a job')
            self.calls_until_the_last_window_are_recorded(finished)
        self.kill_at_random(lambda chance: self.kill(*self.victims('holter-agent', 2)), 1, check)

    def test_run_killed(self):
        def check(finished, status):
            ended = self.status_of_the_launcher(finished)
            self.assertIn((finished.status, status), ((-signal.SIGKILL, ended), (-signal.SIGKILL, None), (ended, ended)), finished)
            if status is not None:
                self.calls_until_the_last_window_are_recorded(finished)
        self.kill_at_random(lambda chance: self.place.started[-1].kill(), 1, check)

    def kill_ranks(self, mpi, statuses):
        def check(finished, status):
            self.assertEqual(finished.status, status, finished)
            self.assertIn(status, statuses, finished)
            deaths = [d['pid'] for path in self.place.recordings() for d in recording.Recording(path).deaths()]
            self.assertLessEqual(len(deaths), self.RANKS)
            self.calls_until_the_end_are_recorded(finished)
        self.MPI = mpi
        self.kill_at_random(lambda chance: self.kill(*self.victims(
            f'steps.{mpi}', self.RANKS)[chance.randrange(self.RANKS):][:1]), 1, check)

    def test_rank_killed(self):
        """The status is the job's own in any case. Killed while ranks connect, a rank may also make mpiexec's process
        manager fail (255), or another rank call MPI_Abort since it cannot reach it (15, MPI_ERR_OTHER)."""
        self.kill_ranks('mpich', (0, signal.SIGKILL, 128 + signal.SIGKILL, 255, 15))

    def kill_launchers(self, mpi, statuses=(0, 128 + signal.SIGKILL)):
        def check(finished, status):
            self.assertEqual(finished.status, status, finished)
            self.assertIn(status, statuses, finished)
            self.calls_until_the_end_are_recorded(finished)
        self.MPI = mpi
        self.kill_at_random(lambda chance: self.kill(*self.victims(f'mpirun.{mpi}')), 1, check)

    def test_launcher_killed(self):
        self.kill_launchers('openmpi')


class ManyKills(Kills):
    KILLS = 100

    def let_launcher_end(self, run):
        """After some kills in a hundred, mpirun of Open MPI does not end, watched or not: PMIx_server_finalize() of PMIx 4.2 locks
        a mutex in memory that was freed (its words are pointers of the allocator)."""
        with contextlib.suppress(AssertionError):
            lab.wait_for(lambda: not run.alive(), 'the end of the run', 30)
        if run.alive() and not self.place.pids('steps.openmpi'):
            self.kill(*self.place.pids('mpirun.openmpi'))

    def status_of_the_launcher(self, finished):
        """1: mpirun of Open MPI got no core for 2 s while all ranks left MPI_Finalize, and then takes them for lost, watched
        or not: ranks wait no longer for its answer in PMIx_Finalize(). They write their truth when they have left it."""
        return int('exiting improperly' in finished.err and len(os.listdir(self.place.truths)) == self.RANKS)

    def test_agent_and_supervisor_killed_long_before_the_end(self):
        """The daemon counts the job as lost by the time it ends: its end is not seen, and nobody knows what it did then."""
        run = self.start_job()
        lab.wait_for(lambda: self.place.ranks_seen() == self.RANKS or not run.alive(), 'the ranks to be known')
        self.kill(*self.victims('holter-agent', 2))
        lab.wait_for(lambda: [j['state'] for j in (self.place.status() or {'jobs': []})['jobs']] == ['lost'], 'a lost job')
        self.end_job()
        finished = run.finish()
        self.assertEqual(0, finished.status, finished)
        self.assertFalse(self.no_more_than_the_truth_is_recorded())
        self.assertRegex(finished.err, 'end not seen, .* nothing lost until its last window')
        path, = self.place.recordings()
        self.assertRegex(self.place.holter('info', path).finish().out,
                         r'(?s)state +lost.*\nlost +nothing until its last window')
        page = self.place.holter('report', '--no-pictures', '-o', '-', path).finish().out
        self.assertIn('<b>nothing</b><span class="second">lost until the last window<', page)
        self.nothing_is_left_after_the_next_start()
        self.clean()

    def test_rank_killed_under_open_mpi(self):
        self.kill_ranks('openmpi', (0, 128 + signal.SIGKILL))

    def test_launcher_killed_under_mpich(self):
        """255: what was killed was its copy that had not become the proxy yet."""
        self.kill_launchers('mpich', (0, 128 + signal.SIGKILL, 255))


class Place(Failure):
    """Where the machine does not give what Holter needs."""

    def mount(self, path, size):
        if not os.environ.get('HOLTER_LAB_ISOLATED'):
            self.skipTest('namespaces are not permitted: cannot mount a small file system')
        subprocess.run(['mount', '-t', 'tmpfs', '-o', f'size={size},mode=1777', 'tmpfs', path], check=True)
        self.addCleanup(subprocess.run, ['umount', '--lazy', path], check=True)

    def test_no_room_in_shared_memory(self):
        self.mount('/dev/shm', '64k')
        self.place.env['OMPI_MCA_btl'] = 'tcp,self'  # Open MPI has its own use for shared memory
        finished = self.same_both_ways(lab.mpirun('openmpi', 2, lab.program('status', 'openmpi'), 3))
        self.assertRegex(finished.err, r'holter.*(/dev/shm|shared memory)')
        self.clean()

    def test_no_room_in_shared_memory_is_said_once(self):
        self.mount('/dev/shm', '64k')
        self.place.env['OMPI_MCA_btl'] = 'tcp,self'
        finished = self.place.watched(*lab.mpirun('openmpi', 8, lab.program('status', 'openmpi'), 0))
        self.assertEqual(0, finished.status, finished)
        _, *said = [line for line in finished.err.splitlines() if line.startswith('holter')]
        self.assertEqual(1, len(said), finished)
        self.assertRegex(said[0], 'cannot make /dev/shm.*: No space left on device')
        key = f'{os.getpid():x}'
        by_hand = self.place.run(*lab.mpirun('openmpi', 8, os.path.join(lab.BUILD, 'agent', 'holter'), 'exec', '--session',
                                             key, '--daemon', 'tcp://127.0.0.1:9', lab.program('status', 'openmpi'), 0))
        self.assertEqual(1, by_hand.err.count('holter: cannot make'), by_hand)
        self.clean()

    def test_room_in_shared_memory_for_some_of_the_ranks(self):
        """What the others did is missing: the last line, `holter info` and the report say so, and all else is there."""
        self.mount('/dev/shm', '640k')  # the shortest rings take 220 KiB a rank, which all have who ask at the same time
        self.place.env['OMPI_MCA_btl'] = 'tcp,self'
        finished = self.place.watched(*lab.mpirun('openmpi', 4, lab.program('halo', 'openmpi'), 20, 1000))
        self.assertEqual(0, finished.status, finished)
        self.assertEqual(1, finished.err.count('holter: cannot make'), finished)
        sums, truth = self.place.recording().sums(), self.place.truth()
        self.assertTrue(0 < len(sums.ranks) < 4, sums.ranks.keys())
        checks.same(self, lab.differences('messages of pair', {k: n for k, (n, _) in truth.sent.items() if k[0] in sums.ranks},
                                          dict(sums.sent)))
        ranks = f'{4 - len(sums.ranks)} rank' + 's' * (len(sums.ranks) < 3)
        self.assertIn(f', {ranks} not watched, ', finished.err)
        alert, = (row for row in self.place.recording().alerts() if row['kind'] == 'ranks-unwatched')
        named = [range(int(run.split('-')[0]), int(run.split('-')[-1]) + 1) for run in alert['ranks'].split(',')]
        self.assertEqual(set(range(4)) - sums.ranks.keys(), set(itertools.chain(*named)))
        self.assertIn(f"{4 - len(sums.ranks)} of 4 ranks not watched: {alert['ranks']}", finished.err)
        path, = self.place.recordings()
        info = self.place.holter('info', path).finish().out
        self.assertRegex(info, rf'ranks +{len(sums.ranks)} of 4 ')
        self.assertRegex(info, rf'lost +what {ranks} did: not watched; else nothing')
        page = os.path.join(self.place.dir, 'page.html')
        self.assertEqual(0, self.place.holter('report', '--no-pictures', '-o', page, path).finish().status)
        with open(page, encoding='utf-8') as f:
            text = f.read()
        self.assertIn(f'<b>{ranks[0]}</b><span class="second">{ranks[2:]} not watched<', text)
        self.assertNotIn('<b>nothing</b>', text)
        self.clean()

    def test_few_open_files(self):
        """The job runs in any case, and two lines say why it is not watched."""
        holter = os.path.join(lab.BUILD, 'agent', 'holter')
        for limit in range(4, 16):
            with self.subTest(limit=limit):
                finished = self.place.run('prlimit', f'--nofile={limit}', holter, 'run', '--', '/bin/sh', '-c', 'exit 7')
                self.assertEqual((7, ''), (finished.status, finished.out), finished)
                self.assertRegex(finished.err, r'\Aholter: .*files.*\(ulimit -n\): .* needed\n'
                                               r'holter: /bin/sh runs unwatched\n\Z')
        self.clean()

    def test_full_disk_for_the_recording(self):
        """Others fill it to the last byte while the job is recorded."""
        self.mount(self.place.output, '4m')

        def fill():
            lab.wait_for(lambda: self.place.recordings() and self.place.recording().begun() and len(
                self.place.recording().windows()) > 10, 'windows in the recording')
            with open(os.path.join(self.place.output, 'others'), 'wb', buffering=0) as f, \
                    contextlib.suppress(OSError):
                while f.write(b'x' * 4096):
                    pass

        self.check_stopped_recording(self.place.daemon(), 'No space left on device', fill)

    def test_file_size_limit_for_the_recording(self):
        daemon = self.place.daemon()
        resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (400000, 400000))
        self.check_stopped_recording(daemon, 'File too large')

    def check_stopped_recording(self, daemon, why, fill=lambda: None):
        """It stops with one alert, is valid and holds when and why it has stopped, and all else goes on."""
        live = self.place.tap('--until-end', cwd=self.place.dir)
        control = os.path.join(self.place.dir, 'control')
        os.mkdir(control)
        run = self.place.holter('run', '--window', '100ms', '--', *lab.mpirun('openmpi', 4, lab.program(
            'steps', 'openmpi'), control, 1000, 2000), cwd=self.place.dir)
        fill()
        lab.wait_for(lambda: 'recording-stopped' in live.out() or not run.alive(), 'the alert of the recording')
        with open(os.path.join(control, 'end'), 'w', encoding='utf-8'):
            pass
        finished = run.finish()
        self.assertEqual(0, finished.status, finished)
        stream = live.finish()
        daemon.kill(signal.SIGTERM)
        daemon.finish()
        alerts = [m for m in lab.stream_messages(stream.out) if m.get('kind') == 'recording-stopped']
        self.assertTrue(alerts, 'no alert says that the recording stopped')
        self.assertEqual({alerts[0]['id']}, {m['id'] for m in alerts}, 'more than one alert')
        self.place.recording().check()
        path, = self.place.recordings()
        self.assertRegex(self.place.holter('info', path).finish().out, rf'state +cut short at \S+Z: {why}')
        report = os.path.join(self.place.dir, 'report.html')
        self.assertEqual(0, self.place.holter('report', '-o', report, path).finish().status)
        with open(report, encoding='utf-8') as f:
            self.assertTrue(re.search(rf'cut short at [-0-9]+ [:0-9]+ UTC: {why}', f.read()))
        windows, _ = recording.tapped(stream.out)
        pairs = {k: (n, windows.sent_bytes[k]) for k, n in windows.sent.items()}
        checks.same(self, lab.differences('live: messages of pair', self.place.truth().sent, pairs))
        self.clean()

    def test_probe_of_the_wrong_mpi(self):
        for mpi, other in (('openmpi', 'mpich'), ('mpich', 'openmpi')):
            with self.subTest(mpi=mpi):
                probe = os.path.join(lab.BUILD, 'agent', 'probe', f'libholter-{other}.so')
                if not os.path.exists(probe):
                    self.skipTest(f'there is no probe for {other}')
                forced = {'LD_PRELOAD': probe, 'HOLTER_SESSION': 'abc', 'HOLTER_JOB_ID': 'forced.0'}
                self.same_both_ways(lab.mpirun(mpi, 2, lab.program('status', mpi), 3),
                                    watched=functools.partial(self.place.run, env=forced))
        self.clean()


if __name__ == '__main__':
    lab.main()
