"""Completions of shells: every command and every option that a help text offers is completed, and shells can load them.
usage: completion_test.py SOURCE HOLTER HOLTERD HOLTER_AGENT HOLTER_VIEW"""
import os
import re
import shutil
import subprocess
import sys
import unittest


def output(*words):
    return subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=True).stdout


def commands():
    return [line.split("\t")[0] for line in output(HOLTER, "--list-options").splitlines()]


def programs():
    return [[HOLTER, command] for command in commands()] + [[program] for program in OTHERS]


def offered(words):
    """Options that begin a line of the help text; elsewhere they are only mentioned."""
    heads = re.findall(r"^\s+(-.*?)(?:\s{2,}|$)", output(*words, "--help"), re.MULTILINE)
    return {option for head in heads for option in re.findall(r"--[a-z][a-z-]*", head)}


def complete_bash(words, word=""):
    """What bash makes of these words and the one that is being typed."""
    line = [*words, word]
    script = ('. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _holter "$1"; printf "%s\\n" "${COMPREPLY[@]}"')
    return set(output("bash", "--norc", "-c", script, "bash", FILES["bash"], *line).split())


class Completions(unittest.TestCase):
    def test_options_that_programs_list_are_those_of_their_help(self):
        for words in programs():
            listed = {line.split()[0] for line in output(*words, "--list-options").splitlines()}
            with self.subTest(program=words):
                self.assertEqual(set(), offered(words) - listed)

    def test_commands_that_are_listed_are_those_of_the_help(self):
        block = next(b for b in output(HOLTER, "--help").split("\n\n") if re.search("^  exec ", b, re.MULTILINE))
        self.assertEqual([line.split()[0] for line in block.splitlines()], commands())

    def test_help_and_version_of_every_program_have_short_names(self):
        for program in (HOLTER, *OTHERS):
            for option, short in (("--help", "-h"), ("--version", "-V")):
                with self.subTest(program=program, option=option):
                    self.assertEqual(output(program, option), output(program, short))

    def test_bash_completes_every_command_option_and_word(self):
        self.assertLessEqual({*commands(), "--help", "--version"}, complete_bash([HOLTER]))
        for words in programs():
            with self.subTest(program=words):
                self.assertLessEqual(offered(words), complete_bash(words, "-"))
        self.assertEqual({"text", "json"}, complete_bash([HOLTER, "status", "--format"]))
        self.assertEqual({"json"}, complete_bash([HOLTER, "status", "-f"], "j"))

    def test_bash_completes_help_and_what_there_is_help_for(self):
        self.assertIn("help", complete_bash([HOLTER]))
        self.assertEqual(set(commands()), complete_bash([HOLTER, "help"]))
        self.assertEqual({"remap"}, complete_bash([HOLTER, "help"], "rem"))

    def test_bash_leaves_values_that_may_be_files_and_the_watched_command_alone(self):
        self.assertEqual(set(), complete_bash([HOLTER, "run", "--output"]))
        self.assertEqual(set(), complete_bash([HOLTER, "run", "--", "./sim"], "--"))

    def test_bash_loads_it_for_all_programs(self):
        subprocess.run(["bash", "-n", FILES["bash"]], check=True)
        shown = output("bash", "--norc", "-c", '. "$1"; complete -p', "bash", FILES["bash"])
        for program in ("holter", "holterd", "holter-agent", "holter-view"):
            self.assertIn(f"complete -o default -F _holter {program}\n", shown)

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh_can_read_it(self):
        subprocess.run(["zsh", "-n", FILES["zsh"]], check=True)

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish_completes_every_command_and_option(self):
        path = os.path.dirname(HOLTER) + ":" + os.environ["PATH"]

        def complete(line):
            shown = subprocess.run(["fish", "--no-config", "-c", 'source $argv[1]; complete -C $argv[2]', FILES["fish"], line],
                                   capture_output=True, text=True, env=os.environ | {"PATH": path}, check=True).stdout
            return {entry.split("\t")[0] for entry in shown.splitlines()}
        self.assertLessEqual(set(commands()), complete("holter "))
        for command in commands():
            with self.subTest(command=command):
                self.assertLessEqual(offered([HOLTER, command]), complete(f"holter {command} --"))
        self.assertEqual({"text", "json"}, complete("holter status --format ") & {"text", "json"})


if __name__ == "__main__":
    SOURCE, HOLTER, *OTHERS = sys.argv[1:]
    FOLDER = os.path.join(SOURCE, "packaging", "completions")
    FILES = {"bash": FOLDER + "/holter.bash", "zsh": FOLDER + "/_holter", "fish": FOLDER + "/holter.fish"}
    unittest.main(argv=sys.argv[:1])
