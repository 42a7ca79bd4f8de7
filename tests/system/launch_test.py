"""How programs are brought under watch: launchers, job scripts, terminals, many runs at a time."""
import os
import pty
import re
import resource
import select
import signal
import stat
import subprocess
import sys
import unittest

import lab

ROUNDS, BYTES = 500, 8


class Launch(unittest.TestCase):
    def setUp(self):
        self.place = lab.Lab()
        self.addCleanup(self.place.close)

    def clean(self):
        self.place.check_clean()

    def script(self, name, *lines):
        path = os.path.join(self.place.dir, name)
        with open(path, 'w', encoding='utf-8') as f:
            f.write('\n'.join(['#!/bin/sh', *lines, '']))
        os.chmod(path, stat.S_IRWXU)
        return path

    def pingpong(self, mpi):
        return f'{lab.program("pingpong", mpi)} {ROUNDS} {BYTES}'

    def sent(self):
        """Messages of each recording, by the number of ranks that sent."""
        sums = [lab.recording.Recording(path).sums() for path in self.place.recordings()]
        return sorted((len(s.ranks), sum(s.sent.values())) for s in sums)

    def test_job_script_with_several_launches(self):
        job = self.script('job', f'mpirun.openmpi -n 2 {self.pingpong("openmpi")}',
                          f'mpirun.mpich -n 4 {self.pingpong("mpich")}',
                          f'mpirun.openmpi -n 3 {self.pingpong("openmpi")}', 'exit 5')
        finished = self.place.watched(job)
        self.assertEqual(5, finished.status, finished)
        self.assertEqual([(2, 2 * ROUNDS), (3, 2 * ROUNDS), (4, 4 * ROUNDS)], self.sent(), finished)
        self.clean()

    def test_launches_of_a_script_that_have_the_same_port_are_jobs_of_their_own(self):
        job = self.script('job', 'export MPIEXEC_PORT_RANGE=20000:24000',
                          *(f'mpirun.mpich -n {ranks} {self.pingpong("mpich")}' for ranks in (2, 2, 4)))
        finished = self.place.watched(job)
        self.assertEqual(0, finished.status, finished)
        self.assertEqual([(2, 2 * ROUNDS), (2, 2 * ROUNDS), (4, 4 * ROUNDS)], self.sent(), finished)
        self.assertEqual(3, finished.err.count(', nothing lost; recorded in '), finished)
        self.clean()

    def test_job_script_where_a_path_has_a_space(self):
        spaced = os.path.join(self.place.dir, 'a b')
        os.mkdir(spaced, 0o700)
        job = self.script('job', f'mpirun -n 2 {self.pingpong("openmpi")}')
        finished = self.place.watched(job, env={'HOLTER_RUN_DIR': spaced})
        self.assertEqual(0, finished.status, finished)
        self.assertEqual([(2, 2 * ROUNDS)], self.sent(), finished)
        self.assertEqual([], os.listdir(spaced))
        self.clean()

    def test_a_launcher_that_a_script_calls_by_the_path_that_it_found_finds_its_parts(self):
        """MPICH's proxy and Open MPI's orted, which stand beside the launcher. Open MPI has a link where a path has a space."""
        job = self.script('job', f'"$(which mpirun.mpich)" -n 2 {self.pingpong("mpich")}')
        finished = self.place.watched(job)
        self.assertEqual(0, finished.status, finished)
        self.assertEqual([(2, 2 * ROUNDS)], self.sent(), finished)
        spaced = os.path.join(self.place.dir, 'a b')
        os.mkdir(spaced, 0o700)
        show = self.script('show', 'echo "shown: $*" >&2', 'exit 1')
        job = self.script('job', f'"$(which mpirun)" --mca plm_rsh_agent {show} -H elsewhere.invalid -n 1 true')
        finished = self.place.watched(job, env={'HOLTER_RUN_DIR': spaced})
        if 'shown: ' in finished.err:  # mpirun is that of Open MPI
            remote, = re.findall(r'(\S+)/orted ', finished.err)
            self.assertTrue(os.path.exists(os.path.join(remote, 'orted')), finished)
        self.clean()

    def test_a_script_finds_the_libraries_of_open_mpi_beside_its_launcher(self):
        job = self.script('job', 'root=$(dirname $(dirname $(which mpirun)))', 'ls -d $root/lib')
        bare = self.place.run(job)
        if bare.status != 0:
            self.skipTest('no libraries stand beside mpirun')
        finished = self.place.watched(job)
        self.assertEqual((0, bare.out), (finished.status, finished.out), finished)
        self.clean()

    def test_several_programs_on_one_line(self):
        for mpi in ('openmpi', 'mpich'):
            with self.subTest(mpi=mpi):
                words = self.pingpong(mpi).split()
                finished = self.place.watched(*lab.mpirun(mpi, 1, *words), ':', '-n', '3', *words)
                self.assertEqual(0, finished.status, finished)
                self.assertEqual([(4, 4 * ROUNDS)], self.sent(), finished)
                for path in self.place.recordings():
                    os.unlink(path)
        self.clean()

    def test_program_behind_a_script_and_another_program(self):
        wrapper = self.script('wrapper', 'true', 'exec env A=b "$@"')
        for mpi in ('openmpi', 'mpich'):
            with self.subTest(mpi=mpi):
                finished = self.place.watched(*lab.mpirun(mpi, 2, wrapper, *self.pingpong(mpi).split()))
                self.assertEqual(0, finished.status, finished)
                self.assertEqual([(2, 2 * ROUNDS)], self.sent(), finished)
                for path in self.place.recordings():
                    os.unlink(path)
        self.clean()

    def test_program_behind_one_that_is_linked_statically(self):
        source, tool = (os.path.join(self.place.dir, name) for name in ('tool.c', 'tool'))
        with open(source, 'w', encoding='utf-8') as f:
            f.write('#include <unistd.h>\nint main(int n, char **words) { return execv(words[n > 1], words + 1); }\n')
        if subprocess.run(['cc', '-static', '-o', tool, source], check=False, stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest('no static C library is installed')
        for mpi in ('openmpi', 'mpich'):
            with self.subTest(mpi=mpi):
                finished = self.place.watched(*lab.mpirun(mpi, 2, tool, *self.pingpong(mpi).split()))
                self.assertEqual(0, finished.status, finished)
                self.assertIn('is statically linked, so no probe can be loaded into it; only what it starts is watched\n',
                              finished.err)
                self.assertEqual([(2, 2 * ROUNDS)], self.sent(), finished)
                for path in self.place.recordings():
                    os.unlink(path)
        self.clean()

    def test_program_that_only_open_mpi_finds_in_the_working_directory(self):
        os.symlink(lab.program('pingpong', 'openmpi'), os.path.join(self.place.output, 'sim'))
        command = lab.mpirun('openmpi', 2, 'sim', str(ROUNDS), str(BYTES))
        finished = self.place.watched(*command)
        self.assertEqual(0, finished.status, finished)
        self.assertEqual([(2, 2 * ROUNDS)], self.sent(), finished)
        self.clean()

    def test_program_that_only_open_mpi_finds_in_the_directory_of_its_option(self):
        elsewhere = os.path.join(self.place.dir, 'elsewhere')
        os.mkdir(elsewhere)
        os.symlink(lab.program('pingpong', 'openmpi'), os.path.join(elsewhere, 'sim'))
        launcher, *words = lab.mpirun('openmpi', 2, 'sim', str(ROUNDS), str(BYTES))
        finished = self.place.watched(launcher, '--path', elsewhere, *words)
        self.assertEqual(0, finished.status, finished)
        self.assertEqual([(2, 2 * ROUNDS)], self.sent(), finished)
        self.clean()

    def test_open_mpi_in_a_container_without_holter_starts_its_program(self):
        folder = os.path.join(self.place.dir, 'programs')
        os.mkdir(folder)
        hide = f'mount -t tmpfs none {lab.BUILD}/agent && exec "$@"'
        runtime = self.script('programs/apptainer', f"exec unshare --mount sh -c '{hide}' sh \"$@\"")
        if self.place.run(runtime, 'true').status != 0:
            self.skipTest('only root may mount here')
        command = ['apptainer', *lab.mpirun('openmpi', 2, *self.pingpong('openmpi').split())]
        path = {'PATH': f'{folder}:{self.place.env["PATH"]}'}
        for launched in (command, [self.script('job', ' '.join(command))]):
            with self.subTest(command=launched):
                finished = self.place.watched(*launched, env=path)
                self.assertEqual(0, finished.status, finished)
                self.assertNotIn('fork agent', finished.err)
                self.assertIn('no program that initialised MPI was seen', finished.err)
                self.assertIn((1, 'MPI_Finalize'), self.place.truth().calls, finished)
                self.place.forget_truth()
        self.clean()

    def test_a_job_that_is_only_submitted_gets_no_session(self):
        submit = self.script('sbatch', 'echo "${HOLTER_DAEMON-none} ${OMPI_MCA_orte_fork_agent-none}"', 'exit 3')
        finished = self.place.watched(submit, 'job.sh')
        self.assertEqual((3, 'none none\n'), (finished.status, finished.out), finished)
        self.assertIn('holter: sbatch only submits a job: use `holter run` in its script\n', finished.err)
        self.assertNotIn('none', self.place.watched(submit, '--wait', 'job.sh').out)
        self.clean()

    def test_the_task_epilog_of_slurm_waits_until_the_agent_has_sent_all(self):
        epilog = os.path.join(lab.SOURCE, 'packaging', 'slurm', 'task_epilog.sh')
        holter = os.path.join(lab.BUILD, 'agent', 'holter')
        rank = f'{holter} exec {lab.program("collectives", "openmpi")} 1'
        left = 'find $HOLTER_RUN_DIR -name ranks | wc -l'
        self.place.daemon()
        finished = self.place.run(self.script('task', rank, epilog, left))
        self.assertEqual((0, '0'), (finished.status, finished.out.split()[-1]), finished)
        finished = self.place.run(self.script('tasks', f'{holter} exec sleep 60 & {rank}', epilog, left, 'kill $!'),
                                  env={'PMI_RANK': '0'})  # the job goes on: there is nothing to wait for
        self.assertEqual('1', finished.out.split()[-1], finished)

    def broken_library(self):
        """A directory for LD_LIBRARY_PATH in which a library that Holter needs is another one, and MPI's are right."""
        directory = os.path.join(self.place.dir, 'libraries')
        os.mkdir(directory)
        subprocess.run(['cc', '-shared', '-x', 'c', '/dev/null', '-Wl,-soname,libzmq.so.5', '-o',
                        os.path.join(directory, 'libzmq.so.5')], check=True)
        return f'{directory}:{self.place.env.get("LD_LIBRARY_PATH", "")}'

    def test_a_command_runs_where_libraries_of_holter_cannot_be_loaded(self):
        env = {'LD_LIBRARY_PATH': self.broken_library()}
        for words in (['--'], []):
            finished = self.place.holter('run', *words, 'sh', '-c', 'echo done; exit 7', env=env).finish()
            self.assertEqual((7, 'done\n'), (finished.status, finished.out), finished)
            self.assertIn('run: holter-cli cannot be started: ', finished.err)
            self.assertIn('; sh runs unwatched\n', finished.err)
        for option in ('--strict', '--dry-run'):
            refused = self.place.holter('run', option, '--', 'echo', 'done', env=env).finish()
            self.assertEqual((2, ''), (refused.status, refused.out), refused)

    def test_it_is_said_that_libraries_of_the_agent_cannot_be_loaded(self):
        job = self.script('job', f'export LD_LIBRARY_PATH={self.broken_library()}',
                          ' '.join(lab.mpirun('openmpi', 2, *self.pingpong('openmpi').split())))
        finished = self.place.watched(job)
        self.assertEqual(0, finished.status, finished)
        self.assertIn('cannot start holter-agent: ', finished.err)
        self.clean()

    def test_program_without_a_launcher(self):
        finished = self.place.watched(lab.program('collectives', 'openmpi'), '1')
        self.assertEqual(0, finished.status, finished)
        self.assertEqual(1, len(self.place.recordings()), finished)
        self.clean()

    def spawned_ranks_are_a_job_of_their_own(self, mpi, *wrapper):
        """wrapper: what the program puts before the one that it spawns."""
        spawn = lab.program('spawn', mpi)
        bare = self.place.run(*lab.mpirun(mpi, 3, spawn, spawn, 'child'))
        if bare.status != 0:
            self.skipTest(f'MPI_Comm_spawn of {mpi} does not work here: {bare.err[-500:]}')
        finished = self.place.watched(*lab.mpirun(mpi, 3, spawn, *wrapper, spawn, 'child'))
        self.assertEqual(0, finished.status, finished)
        worlds = {}
        for path in self.place.recordings():
            sums = lab.recording.Recording(path).sums()
            self.assertEqual(0, sums.total('lost') + sums.total('untracked'))
            worlds[len(sums.ranks)] = sums
        self.assertEqual({2, 3}, set(worlds), finished)
        # -1: a rank of another world
        self.assertEqual({(0, 1): 5, (1, 2): 5, (2, 0): 5, (0, -1): 1}, worlds[3].sent)
        self.assertEqual({(0, 1): 7, (1, 0): 7, (0, -1): 1}, worlds[2].sent)
        for ranks, sums in worlds.items():
            self.assertEqual([1] * ranks, [sums.calls[rank, 'MPI_Finalize'] for rank in range(ranks)])
        self.clean()

    def test_ranks_spawned_by_open_mpi_are_a_job_of_their_own(self):
        self.spawned_ranks_are_a_job_of_their_own('openmpi')

    def test_ranks_spawned_by_mpich_are_a_job_of_their_own(self):
        self.spawned_ranks_are_a_job_of_their_own('mpich', os.path.join(lab.BUILD, 'agent', 'holter'), 'exec')

    def test_a_launcher_of_another_mpi_is_told(self):
        names = {'openmpi': ('mpirun of Open MPI', 'Open MPI'), 'mpich': ('mpiexec of MPICH', 'MPICH')}
        for launcher, mpi in (('openmpi', 'mpich'), ('mpich', 'openmpi')):
            with self.subTest(launcher=launcher, mpi=mpi):
                program = [lab.program('collectives', mpi), '1']
                # Ends by itself, unless the two do not get on with each other at all. All are rank 0, and would write one
                # file of truth.
                limited = ['env', '-u', 'TRUTH_DIR', 'timeout', '60']
                def run(*watching):
                    for _ in range(3):
                        finished = self.place.run(*limited, *watching, *lab.mpirun(launcher, 3, *program))
                        # Each process of Open MPI starts a daemon of its own; at the same time, these sometimes fail.
                        if 'Unable to start a daemon' not in finished.err:
                            break
                    return finished
                bare = run()
                if bare.status == 124:
                    self.skipTest(f'{mpi} hangs below {launcher}')
                finished = run(os.path.join(lab.BUILD, 'agent', 'holter'), 'run', '--no-record', '--')
                self.assertEqual(bare.status, finished.status, finished)
                self.assertIn(f': 3 processes, each alone: {names[launcher][0]} started a program of {names[mpi][1]}\n',
                              finished.err)
                self.assertEqual(1, finished.err.count('each alone'), finished)
            with self.subTest(launcher=launcher):
                finished = self.place.watched(*lab.mpirun(launcher, 3, lab.program('collectives', launcher), '1'))
                self.assertNotIn('each alone', finished.err)
        self.clean()

    def test_wrapper_in_the_line_as_well(self):
        holter = os.path.join(lab.BUILD, 'agent', 'holter')
        finished = self.place.watched(*lab.mpirun('openmpi', 2, holter, 'exec', *self.pingpong('openmpi').split()))
        self.assertEqual(0, finished.status, finished)
        self.assertEqual([(2, 2 * ROUNDS)], self.sent(), finished)
        self.clean()

    def test_runs_at_the_same_time_do_not_mix(self):
        runs = []
        for ranks in (2, 4):  # two mpirun of Open MPI that make the same directory at the same moment fail
            own = os.path.join(self.place.dir, f'openmpi{ranks}')
            os.mkdir(own)
            runs.append(self.place.holter('run', '-o', f'{ranks}.hrec', '--',
                                          *lab.mpirun('openmpi', ranks, *self.pingpong('openmpi').split()),
                                          env={'OMPI_MCA_orte_tmpdir_base': own}))
        for run in runs:
            finished = run.finish()
            self.assertEqual(0, finished.status, finished)
        self.assertEqual([(2, 2 * ROUNDS), (4, 4 * ROUNDS)], self.sent())
        self.assertEqual(['2.hrec', '4.hrec'], [os.path.basename(p) for p in self.place.recordings()])
        self.clean()

    def test_a_directory_for_recordings_is_made(self):
        directory = os.path.join(self.place.dir, 'new', 'ones')
        command = lab.mpirun('openmpi', 2, *self.pingpong('openmpi').split())
        self.place.holter('run', '--dry-run', '--record', directory, '--', *command).finish()
        self.assertFalse(os.path.exists(directory))
        finished = self.place.holter('run', '--record', directory, '--', *command).finish()
        self.assertEqual(0, finished.status, finished)
        made, = os.listdir(directory)
        sums = lab.recording.Recording(os.path.join(directory, made)).sums()
        self.assertEqual(2 * ROUNDS, sum(sums.sent.values()))
        finished = self.place.holter('run', '--record', os.path.join(directory, made), '--', *command).finish()
        self.assertEqual(0, finished.status, finished)
        self.assertIn(f'{made}: Not a directory; nothing is recorded', finished.err)
        self.clean()

    def test_a_device_is_not_replaced_by_a_recording(self):
        null = os.path.join(self.place.output, 'null')
        os.symlink('/dev/null', null)
        finished = self.place.holter('run', '-o', null, '--', lab.program('collectives', 'openmpi'), '1').finish()
        self.assertEqual(0, finished.status, finished)
        self.assertIn('--output: a recording is written into a file, not to standard output, a device or a directory',
                      finished.err)
        self.assertEqual('/dev/null', os.readlink(null))
        self.clean()

    def test_a_daemon_that_is_there_keeps_what_it_has_of_its_own(self):
        daemon = self.place.daemon()
        command = lab.mpirun('openmpi', 2, *self.pingpong('openmpi').split())
        given = ['--output', 'mine.hrec', '--window', '200ms', '--listen', 'tcp://127.0.0.1:1', '--rules', 'none.yaml',
                 '--cluster', 'ours']
        for name, more, env in (('HOLTER_DAEMON', [], {}),
                                ('--daemon', ['--daemon', self.place.env['HOLTER_DAEMON']], {'HOLTER_DAEMON': ''})):
            with self.subTest(name=name):
                finished = self.place.holter('run', *more, *given, '--', *command, env=env).finish()
                self.assertEqual(0, finished.status, finished)
                for option in given[::2]:
                    self.assertIn(f'continuing without it: {option}: {name} names a daemon that has its own\n', finished.err)
                strict = self.place.holter('run', '--strict', *more, '--no-record', '--', *command, env=env).finish()
                self.assertEqual(2, strict.status, strict)
        self.assertEqual(2, len(self.place.recordings()))
        for path in self.place.recordings():
            self.assertTrue(os.path.basename(path).startswith('holter-'), path)
        daemon.kill(signal.SIGTERM)
        daemon.finish()
        self.clean()

    def test_jobs_that_are_reported_to_a_fleet_are_asked_of_the_fleet(self):
        finished = self.place.watched('true', env={'HOLTER_DAEMON': 'tcp://127.0.0.1:9,tcp://127.0.0.1:19'})
        self.assertEqual(0, finished.status, finished)
        self.assertIn('a fleet has the jobs: see how they went with holter status -c nats://SERVERS\n', finished.err)
        self.clean()

    def test_steps_of_one_job_of_the_scheduler_at_a_shared_daemon_are_told_of_once(self):
        daemon = self.place.daemon()
        command = lab.mpirun('openmpi', 2, *self.pingpong('openmpi').split())
        told = []
        for words in (command, command, ['true']):
            finished = self.place.holter('run', '--', *words, env={'HOLTER_JOB': '777'}).finish()
            self.assertEqual(0, finished.status, finished)
            told.append(re.findall(r'^holter: job (777\.\S+) ', finished.err, re.MULTILINE))
        self.assertEqual([1, 1, 0], [len(jobs) for jobs in told], told)
        self.assertNotEqual(told[0], told[1])
        daemon.kill(signal.SIGTERM)
        daemon.finish()
        self.clean()

    def start_that_stops(self, *lines):
        """(a running `holter run`, the process id of its script, which has stopped)"""
        started = os.path.join(self.place.dir, 'started')
        run = self.place.holter('run', '--no-record', '--', self.script('stops', f'echo $$ > {started}', *lines))
        lab.wait_for(lambda: os.path.exists(started) and os.path.getsize(started), 'the script')
        with open(started, encoding='utf-8') as f:
            return run, int(f.read())

    @staticmethod
    def await_state(pid, state):
        def is_in_it():
            with open(f'/proc/{pid}/stat', encoding='utf-8') as f:
                return f.read().rsplit(')', 1)[1].split()[0] in state
        lab.wait_for(is_in_it, f'process {pid} in state {state}')

    def test_a_launcher_that_is_stopped_and_continued_alone_is_waited_for(self):
        run, script = self.start_that_stops('kill -STOP $$', 'exit 7')
        self.await_state(script, 'T')
        os.kill(script, signal.SIGCONT)
        self.assertEqual(7, run.finish().status)
        self.clean()

    def test_a_job_that_is_stopped_as_a_whole_goes_on_when_it_is_continued_one_after_the_other(self):
        gate = os.path.join(self.place.dir, 'gate')
        os.mkfifo(gate)
        run, script = self.start_that_stops(f'read line < {gate}', 'exit 7')
        os.kill(run.pid, signal.SIGSTOP)
        self.await_state(run.pid, 'T')
        os.kill(script, signal.SIGSTOP)
        self.await_state(script, 'T')
        os.kill(run.pid, signal.SIGCONT)
        os.kill(script, signal.SIGCONT)
        with open(gate, 'w', encoding='utf-8'):
            pass
        self.assertEqual(7, run.finish().status)
        self.clean()

    def test_a_launcher_that_the_terminal_stops_stops_holter_run(self):
        run, script = self.start_that_stops("trap 'kill -STOP $$; exit 7' TSTP", 'while :; do sleep 0.01; done')
        os.kill(run.pid, signal.SIGTSTP)
        self.await_state(run.pid, 'T')
        self.await_state(script, 'T')
        os.kill(run.pid, signal.SIGCONT)
        self.assertEqual(7, run.finish().status)
        self.clean()

    def test_ranks_that_end_in_mpi_init_are_told_from_programs_that_are_not_seen(self):
        gate = os.path.join(self.place.dir, 'gate')
        os.mkfifo(gate)
        rank = self.script('rank', f'[ $OMPI_COMM_WORLD_RANK = 0 ] && exec {self.pingpong("openmpi")}',
                           f'read line < {gate}', 'exit 3')
        run = self.place.holter('run', '--', *lab.mpirun('openmpi', 2, rank))
        lab.wait_for(lambda: any(name.startswith('holter.') for name in os.listdir('/dev/shm')), 'rank 0 in MPI_Init')
        with open(gate, 'w', encoding='utf-8'):
            pass
        finished = run.finish()
        self.assertEqual(3, finished.status, finished)
        self.assertIn('holter: no job was seen: its processes ended before MPI_Init had returned, or ', finished.err)
        self.clean()

    def test_a_program_that_asks_the_mpi_library_itself_for_its_functions_is_said_to_be_unwatched(self):
        for mpi, library in ('openmpi', 'libmpi.so.40'), ('mpich', 'libmpich.so.12'):
            with self.subTest(mpi):
                program = f'import ctypes; mpi = ctypes.CDLL("{library}"); mpi.MPI_Init(None, None); mpi.MPI_Finalize()'
                finished = self.place.watched(*lab.mpirun(mpi, 2, sys.executable, '-c', program))
                self.assertEqual(0, finished.status, finished)
                self.assertEqual(1, finished.err.count(f'/{library} was opened at run time'), finished)
                self.assertNotIn('no program that initialised MPI was seen', finished.err)
                self.clean()

    def test_preload_is_for_the_application_only(self):
        for mpi in ('openmpi', 'mpich'):
            with self.subTest(mpi=mpi):
                finished = self.place.watched(*lab.mpirun(mpi, 1, lab.program('fork', mpi)))
                self.assertEqual(0, finished.status, finished)
                self.assertIn('libc', finished.out)  # the memory map of a program that the rank has started
                self.assertNotIn('libholter', finished.out)
        self.clean()

    def test_dry_run_does_nothing(self):
        marker = os.path.join(self.place.dir, 'marker')
        finished = self.place.holter('run', '--dry-run', '--', *lab.mpirun('openmpi', 1, 'touch', marker)).finish()
        self.assertEqual(0, finished.status, finished)
        self.assertIn('holterd --session', finished.out)
        self.assertFalse(os.path.exists(marker))
        self.assertEqual([], os.listdir(self.place.run_dir))
        self.clean()

    def test_dry_run_refuses_a_fault(self):
        for option, value in (('--topology', 'nowhere'), ('--output', '/nowhere/x.hrec'), ('--window', '1ms')):
            finished = self.place.holter('run', '--dry-run', option, value, '--', 'true').finish()
            self.assertEqual((2, ''), (finished.status, finished.out), finished)
        self.clean()

    def test_faults_of_the_network_are_reported_and_the_job_is_watched(self):
        network = os.path.join(self.place.dir, 'network')
        with open(network, 'w', encoding='utf-8') as out:
            out.write('kind: torus\ndimensions: [4, 0]\n')
        finished = self.place.holter('run', '--topology', network, '--',
                                     *lab.mpirun('openmpi', 2, *self.pingpong('openmpi').split())).finish()
        self.assertEqual(0, finished.status, finished)
        self.assertIn(f'holter: run: {network}:2: size: ', finished.err)
        self.assertIn(f'holter: continuing without the network of {network}', finished.err)
        self.assertEqual([(2, 2 * ROUNDS)], self.sent(), finished)
        self.clean()

    def test_wrong_usage(self):
        for words in (['run'], ['run', '--strict', '--no-such-option', 'true'], ['exec'], ['nonsense'], []):
            with self.subTest(words=words):
                finished = self.place.holter(*words).finish()
                self.assertEqual(2, finished.status, finished)
                self.assertEqual(1, finished.err.count('\n'), finished)
        self.assertEqual(127, self.place.holter('exec', '/nonexistent/sim').finish().status)
        self.assertEqual(127, self.place.holter('run', '/nonexistent/sim').finish().status)
        self.clean()

    def test_the_command_that_was_meant_is_named(self):
        finished = self.place.holter('recodr').finish()
        self.assertEqual('holter: there is no command "recodr"; did you mean `holter record`?\n', finished.err)
        self.assertEqual(finished.err, self.place.holter('help', 'recodr').finish().err)

    def test_help_shows_a_command(self):
        for pages in ('/nonexistent', os.path.join(lab.BUILD, 'docs', 'man')):
            finished = self.place.holter('help', 'cut', env={'MANPATH': pages}).finish()
            self.assertEqual(0, finished.status, finished)
            self.assertIn('--output', finished.out.replace('\N{HYPHEN}', '-'))
            self.assertIn('holter cut', finished.out)

    def at_a_terminal(self, ready, *command):
        """Run at a terminal of its own and press Ctrl-C when it is ready. @return (status, what it showed)"""
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.place.output)
            os.execvpe(command[0], command, self.place.env)
        shown = []
        try:
            lab.wait_for(ready, 'the ranks')
            os.write(terminal, b'\x03')
            lab.wait_for(lambda: _read(terminal, shown) is None, 'the end')
            return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), b''.join(shown).decode(errors='replace')
        except BaseException:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            raise
        finally:
            os.close(terminal)

    def spinning(self, name):
        """Two ranks are there, and the first waits in its barrier: it has burnt half a second in user mode."""
        ranks = self.place.pids(name)
        if len(ranks) < 2:
            return False
        ticks = 0
        for pid in ranks:
            with open(f'/proc/{pid}/stat', encoding='utf-8') as f:
                ticks += sum(map(int, f.read().rpartition(')')[2].split()[11:13]))
        return ticks > os.sysconf('SC_CLK_TCK') / 2

    def status_of(self, command, prepare=None, **more):
        return subprocess.run([os.path.join(lab.BUILD, 'agent', 'holter'), *command, '--', 'sh', '-c', 'exit 7'],
                              env=self.place.env, preexec_fn=prepare, timeout=lab.PATIENCE, check=False,
                              **more).returncode

    def test_messages_that_nobody_reads_change_no_status(self):
        for command in (['run', '--no-record'], ['exec']):
            reader, writer = os.pipe()
            os.close(reader)
            self.assertEqual(7, self.status_of(command, stdout=writer, stderr=writer), command)
            os.close(writer)
        self.clean()

    def test_a_limit_on_the_size_of_files_changes_no_status(self):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        for command in (['run', '--no-record'], ['exec']):
            with open(os.path.join(self.place.dir, 'messages'), 'wb') as messages:
                self.assertEqual(7, self.status_of(command, limit, stdout=messages, stderr=messages), command)

    def test_interrupt_from_the_terminal(self):
        holter = os.path.join(lab.BUILD, 'agent', 'holter')
        for mpi in ('openmpi', 'mpich'):
            with self.subTest(mpi=mpi):
                never = os.path.join(self.place.dir, 'never')
                command = lab.mpirun(mpi, 2, lab.program('hang', mpi), never)
                # Hydra itself returns 0 or 2, as its processes end before or after it looks, and more often the one or
                # the other by the load of the machine: both kinds of runs are repeated until they have one in common
                watched, bare = set(), set()
                for _ in range(1 if mpi == 'openmpi' else 30):
                    status, shown = self.at_a_terminal(lambda: self.place.ranks_seen() == 2, holter, 'run', '--', *command)
                    self.assertIn('holter: job ', shown)
                    watched.add(status)
                    bare.add(self.at_a_terminal(lambda: self.spinning(f'hang.{mpi}'), *command)[0])
                    if watched & bare:
                        break
                self.assertTrue(watched & bare, (watched, bare, shown))
        self.clean()


def _read(terminal, shown):
    """Take what is there. @return None at the end, else 0"""
    if select.select([terminal], [], [], 0)[0]:
        try:
            got = os.read(terminal, 65536)
        except OSError:  # the last process at the terminal has gone
            return None
        if not got:
            return None
        shown.append(got)
    return 0


if __name__ == '__main__':
    sys.exit(lab.main())
