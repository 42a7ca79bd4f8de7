"""`holter` where holter-cli is not installed, as on a compute node: programs run, and messages say what is missing.
usage: front_test.py HOLTER"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest


class Front(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.holter = shutil.copy(HOLTER, os.path.join(folder.name, "holter"))

    def run_holter(self, *words):
        return subprocess.run([self.holter, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)

    def test_exec_runs_a_program(self):
        self.assertEqual((3, "hello\n"), (lambda f: (f.returncode, f.stdout))(
            self.run_holter("exec", "--", "sh", "-c", "echo hello; exit 3")))

    def test_run_runs_the_job_unwatched_and_says_so_in_one_line(self):
        finished = self.run_holter("run", "--window", "1s", "--", "sh", "-c", "echo hello; exit 3")
        self.assertEqual((3, "hello\n"), (finished.returncode, finished.stdout))
        self.assertRegex(finished.stderr, r"\Aholter: run: holter-cli cannot be started: .*; sh runs unwatched\n\Z")

    def test_run_of_a_program_that_is_not_there_has_the_status_of_a_shell(self):
        self.assertEqual(127, self.run_holter("run", "--", "/nonexistent/sim").returncode)

    def test_other_commands_say_what_is_missing(self):
        finished = self.run_holter("view")
        self.assertEqual(2, finished.returncode)
        self.assertIn("holter: view: holter-cli, which has this command, cannot be started", finished.stderr)

    def test_help_and_version_are_there(self):
        self.assertIn("usage: holter exec", self.run_holter("--help").stdout)
        self.assertRegex(self.run_holter("--version").stdout, r"^holter \d")


if __name__ == "__main__":
    HOLTER = sys.argv.pop()
    unittest.main()
