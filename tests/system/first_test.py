"""The job comes first: whatever is wrong with what Holter was given, the job runs, with its own status and output.

The options are those of the programs' tables, the variables those that the sources read and those that the manual pages
name, so that a new one is tried as well."""
import glob
import os
import re
import subprocess
import sys
import unittest

import lab

STATUS = 7
INPUT = 'what the job reads\n'
BAD = ['', '-', '-1', 'no such thing', '/proc/nonexistent/there', 'tcp://nowhere.invalid:0']
HOLTER = os.path.join(lab.BUILD, 'agent', 'holter')
ENDING = {'--help', '-h'}  # asks for no job


def options(command):
    """[(option, whether it takes a value)] of the table by which a command reads its options."""
    listed = subprocess.run([HOLTER, command, '--list-options'], check=True, capture_output=True, text=True).stdout
    return [(word, values != 'none') for line in listed.splitlines() for *words, values in [line.split()]
            for word in dict.fromkeys(words) if word not in ENDING]


def variables():
    """Names of environment variables that the sources read or mention as texts, those of other software included, and
    Holter's own in the manual pages. Not those that decide how any program is started, or how MPI finds its launcher: the
    job fails without Holter as well."""
    found = set()
    for path in glob.glob(os.path.join(lab.SOURCE, 'docs', 'man', '*')):
        with open(path, encoding='utf-8') as f:
            found |= set(re.findall('HOLTER_[A-Z_]*[A-Z]', f.read()))
    for room in ('agent', 'daemon', 'proto', 'viewer'):
        for path in glob.glob(os.path.join(lab.SOURCE, room, '**', '*.[ch]'), recursive=True):
            with open(path, encoding='utf-8') as f:
                text = f.read()
            found |= set(re.findall(r'"((?:HOLTER|SLURM|PBS|LSB|FLUX|PJM|OAR|XDG)_[A-Z_]+)=?"', text))
            found |= set(re.findall(r'(?:getenv\(|rank_env_var\(s, )"([A-Za-z_]+)"', text))
    return sorted(name for name in found if not re.match('HOLTER_$|PATH$|LD_|PMI|HYDI_|OMPI_MCA_', name))


class First(unittest.TestCase):
    VALUES = 1  # of BAD, tried with each option and variable, in turn
    TOGETHER = 6

    def setUp(self):
        self.turn = 0
        self.place = lab.Lab()
        self.addCleanup(self.place.close)
        self.input = os.path.join(self.place.dir, 'input')
        with open(self.input, 'w', encoding='utf-8') as f:
            f.write(INPUT)
        del self.place.env['TRUTH_DIR']  # ranks of several jobs cannot share it: they print what they count
        self.job = [lab.program('status', 'mpich'), str(STATUS)]

    def bad(self):
        first = self.turn = self.turn + self.VALUES
        return [BAD[(first + i) % len(BAD)] for i in range(self.VALUES)]

    def start(self, *words, env=None):
        with open(self.input, encoding='utf-8') as f:
            return self.place.holter(*words, stdin=f, env=env)

    def finish(self, *words):
        return self.start(*words).finish()

    def runs(self, finished):
        self.assertEqual(STATUS, finished.status, finished)
        self.assertTrue(finished.out.startswith(INPUT + 'truth calls 0 MPI_Init 1'), finished)
        self.assertIn('to standard error\n', finished.err, finished)

    def all_run(self, jobs):
        """Some at the same time: most of the time they wait for daemons that are not there.

        jobs: [(words, environment variables)]"""
        for first in range(0, len(jobs), self.TOGETHER):
            some = jobs[first:first + self.TOGETHER]
            for what, running in [(job, self.start(*job[0], env=job[1])) for job in some]:
                with self.subTest(what=what):
                    self.runs(running.finish())
                    running.close()

    def every_option(self, command):
        found = options(command)
        self.assertTrue(any(value for _, value in found) and any(not value for _, value in found), found)
        words = []
        for option, value in found:
            words += [[option, bad] for bad in self.bad() if value]
            words += [[f'{option}={bad}'] for bad in self.bad() if option.startswith('--')]
        self.all_run([([command, *w, '--', *self.job], {}) for w in words])
        self.place.check_clean()

    def every_variable(self, command):
        found = variables()
        self.assertLessEqual({'HOLTER_DAEMON', 'HOME', 'XDG_RUNTIME_DIR', 'SLURM_NNODES', 'SLURM_STEP_ID', 'PBS_NODEFILE'}, set(found))
        self.all_run([([command, *self.job], {variable: bad}) for variable in found for bad in self.bad()])

    def test_run_with_a_bad_value_of_each_option(self):
        self.every_option('run')

    def test_exec_with_a_bad_value_of_each_option(self):
        self.every_option('exec')

    def test_run_with_a_bad_value_of_each_variable(self):
        self.every_variable('run')

    def test_exec_with_a_bad_value_of_each_variable(self):
        self.every_variable('exec')

    def test_an_unknown_option_and_its_value_are_left_out_with_one_line(self):
        for command in ('run', 'exec'):
            for words in (['--no-such-option'], ['--no-such-option=3'], ['--no-such-option', '3'], ['-Z'], ['-vZ', '3'],
                          ['--no-such-option', '3', '--']):
                with self.subTest(command=command, words=words):
                    finished = self.finish(command, *words, *self.job)
                    self.runs(finished)
                    self.assertEqual(1, len(re.findall('unknown option', finished.err)), finished)

    def test_a_program_where_a_duration_was_forgotten_is_run(self):
        for words in (['--window'], ['--verbose', '--window'], ['--no-such-option', '--window']):
            with self.subTest(words=words):
                finished = self.finish('run', *words, *self.job)
                self.runs(finished)
                self.assertIn(f"--window needs a duration, as 1s: '{self.job[0]}' is the program to run", finished.err)
                self.assertEqual(1, finished.err.count('--window'), finished)
        refused = self.finish('run', '--strict', '--window', *self.job)
        self.assertEqual((2, ''), (refused.status, refused.out), refused)

    def test_the_option_that_was_meant_is_named(self):
        finished = self.finish('run', '--recodr', 'there', *self.job)
        self.runs(finished)
        self.assertIn("unknown option '--recodr'; did you mean '--record'?\n", finished.err)

    def test_options_that_exclude_each_other_are_left_out(self):
        for words in (['--no-record', '--output', 'x.hrec', '--max-size', '1G'], ['--output', '-'],
                      ['--output', 'x.hrec', '--record', 'y'],
                      ['--daemon', 'ipc:///nonexistent/socket', '--record', 'y', '--syslog', '--rules', 'z']):
            with self.subTest(words=words):
                finished = self.finish('run', *words, '--', *self.job)
                self.runs(finished)
                self.assertIn('continuing without it: --', finished.err)

    def test_keys_for_another_daemon_leave_the_job_watched(self):
        of_daemon, of_user = (os.path.join(self.place.dir, name) for name in ('keys', 'user'))
        self.assertEqual(0, self.finish('keys', of_daemon).status)
        self.assertEqual(0, self.finish('keys', '--user', 'ann', '-o', of_user, of_daemon).status)
        for keys in (of_user, '/nonexistent'):
            for words, env, name in ((['run', '--keys', keys], {}, '--keys'), (['run'], {'HOLTER_KEYS': keys}, 'HOLTER_KEYS')):
                with self.subTest(keys=keys, name=name):
                    finished = self.start(*words, '--no-record', '--', *self.job, env=env).finish()
                    self.runs(finished)
                    self.assertIn(f'continuing without {name}: {keys}/server.key: No such file or directory\n', finished.err)
                    self.assertNotIn('runs unwatched', finished.err)
                    self.assertIn('1 rank on 1 node', finished.err)
        self.place.check_clean()

    def test_only_a_strict_run_refuses(self):
        for words in (['run', '--no-such-option'], ['run', '--window', 'no'], ['run', '--output', '-'],
                      ['run', '--keys', '/nonexistent'], ['run', '--topology', 'no such'], ['exec', '--no-such-option'],
                      ['exec', '--session', 'no key']):
            with self.subTest(words=words):
                command, *rest = words
                for strict in ([command, '--strict', *rest], [command, *rest, '--strict']):
                    finished = self.finish(*strict, '--', *self.job)
                    self.assertEqual((2, ''), (finished.status, finished.out), finished)
                self.runs(self.finish(*words, '--', *self.job))
        self.runs(self.finish('run', '--strict', '--no-record', '--', *self.job))


class AllValues(First):
    VALUES = len(BAD)


if __name__ == '__main__':
    sys.exit(lab.main())
