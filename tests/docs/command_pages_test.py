"""What help texts and pages say of the same thing is the same, and is what the programs do.

usage: command_pages_test.py SOURCE HOLTER
"""
import glob
import os
import re
import subprocess
import sys
import unittest


def page(name):
    with open(os.path.join(SOURCE, 'docs/man', name), encoding='utf-8') as file:
        return file.read().replace('\\-', '-')


def text_of(*words):
    return subprocess.run([HOLTER, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=True,
                          env={key: value for key, value in os.environ.items() if key != 'COLUMNS'}).stdout


def commands():
    return {line.split('\t')[0] for line in text_of('--list-options').splitlines()}


class CommandPages(unittest.TestCase):
    def test_the_page_of_holter_lists_every_command_as_its_help_does(self):
        listed = re.findall(r'^\.BR holter-([a-z-]+) \(1\)\n(.*)$', page('holter.1').partition('.SH OPTIONS')[0], re.M)
        self.assertEqual(commands(), {command for command, _ in listed})
        shown = re.findall(r'^  (?!holter )([a-z-]+) +(.*)$', text_of('--help'), re.M)
        self.assertEqual(sorted(shown), sorted(listed))

    def test_formats_of_exports_have_the_same_names_everywhere(self):
        formats = set(re.findall(r'^  (?:-f, --format|            )  ?([a-z0-9-]+)  ', text_of('export', '--help'), re.M))
        self.assertIn('perfetto', formats)
        with open(os.path.join(SOURCE, 'README.md'), encoding='utf-8') as file:
            readme = re.search(r'holter export: (.*)$', file.read(), re.M).group(1)
        line = re.search(r'^  export +write a recording as (.*)$', text_of('--help'), re.M).group(1)
        for words in (readme, line):
            self.assertEqual(formats, set(re.split(r', | or ', words)))

    def test_examples_in_help_texts_stand_on_lines_of_their_own(self):
        for command in commands():
            text = text_of(command, '--help')
            self.assertNotIn('\n\n\n', text, command)
            for line in text.splitlines():
                if './sim' in line:
                    self.assertRegex(line, r'^  (holter|mpirun) .* \./sim input$', command)

    def test_tap_and_its_page_list_every_topic(self):
        with open(os.path.join(SOURCE, 'include/holter/wire.h'), encoding='utf-8') as file:
            topics = set(re.findall(r'"topic ([a-z]+)"', file.read())) - {'recorded'}
        shown = re.search(r'separated by commas: (.*?);', text_of('tap', '--help'), re.S).group(1)
        described = re.search(r'separated by commas: (.*?)\.$', page('holter-tap.1'), re.S | re.M).group(1)
        for text in (shown, described):
            self.assertEqual(topics, set(re.split(r',\s+', text)))

    def test_every_command_that_connects_to_daemons_names_fleets_in_help_and_page(self):
        for command in commands():
            text = text_of(command, '--help')
            if '--connect ENDPOINT' in text and command != 'replay':
                self.assertIn('nats://', text, command)
                self.assertIn('nats://', page(f'holter-{command}.1'), command)

    def test_the_specification_has_every_flag_of_windows(self):
        with open(os.path.join(SOURCE, 'include/holter/wire.h'), encoding='utf-8') as file:
            flags = re.findall(r'^    ((?:WINDOW|DEGRADED)_[A-Z]+) =\s+(\d+),', file.read(), re.M)
        self.assertIn(('WINDOW_GAP', '2'), flags)
        with open(os.path.join(SOURCE, 'proto/SPEC.md'), encoding='utf-8') as file:
            rows = file.read()
        for name, value in flags:
            self.assertIn(f'| {value} `{name}` |', rows)

    def test_every_page_of_a_program_has_its_exit_status(self):
        for name in os.listdir(os.path.join(SOURCE, 'docs/man')):
            if name.endswith('.1'):
                self.assertIn('\n.SH EXIT STATUS\n', page(name), name)

    def test_variables_that_programs_read_stand_in_a_page(self):
        pages = ''.join(page(name) for name in os.listdir(os.path.join(SOURCE, 'docs/man')))
        between_programs = {'HOLTER_JOB_ID', 'HOLTER_NOTE'}  # include/holter/session.h
        read = set()
        for folder in ('agent', 'daemon', 'proto', 'viewer'):
            for path in glob.glob(os.path.join(SOURCE, folder, '**/*.c'), recursive=True):
                with open(path, encoding='utf-8') as file:
                    read.update(re.findall(r'getenv\("(HOLTER_[A-Z_]+)"\)', file.read()))
        self.assertLess(8, len(read))
        for name in read - between_programs:
            self.assertIn(name, pages)

    def test_the_page_of_the_viewer_names_every_place(self):
        with open(os.path.join(SOURCE, 'viewer/places/place.c'), encoding='utf-8') as file:
            places = re.findall(r'\[VIEW_[A-Z_]+\] = \{ROOM_[A-Z]+, "([^"]+)"', file.read())
        self.assertLess(15, len(places))
        paragraph = re.search(r'^Places are grouped.*?^The rail', page('holter-view.1'), re.S | re.M).group(0).lower()
        for place in places:
            self.assertRegex(paragraph, rf'\b{place.lower()}\b')

    def test_a_replay_that_a_command_follows_ends_by_itself(self):
        shown = [os.path.join(SOURCE, 'README.md'), *glob.glob(os.path.join(SOURCE, 'docs/*.md')),
                 *glob.glob(os.path.join(SOURCE, 'docs/man/*'))]
        for path in shown:
            with open(path, encoding='utf-8') as file:
                for line in file.read().replace('\\-', '-').splitlines():
                    if re.search(r'\bholter replay .*[^&]&& ', line):
                        self.assertIn('--quit-at-end', line, path)

    def test_options_in_commands_on_pages_exist(self):
        listed = {command: {line.split()[0] for line in text_of(command, '--list-options').splitlines()} for command in commands()}
        shown = 0
        for path in [os.path.join(SOURCE, 'README.md'), *glob.glob(os.path.join(SOURCE, 'docs/*.md'))]:
            with open(path, encoding='utf-8') as file:
                text = file.read().replace('\\\n', ' ')
            for command, words in re.findall(r'\bholter ([a-z-]+) ([^|;&`#\n]*)', text):
                for option in re.findall(r'(?<!\S)--[a-z][a-z-]*', re.split('(?:^| )-- ', words)[0]) if command in listed else ():
                    shown += 1
                    self.assertIn(option, listed[command], path)
        self.assertLess(50, shown)

    def test_the_page_of_the_daemon_names_every_variable_that_is_a_default(self):
        with open(os.path.join(SOURCE, 'daemon/daemon_options.c'), encoding='utf-8') as file:
            variables = set(re.findall(r'"(HOLTER_[A-Z_]+)"', file.read()))
        self.assertIn('HOLTER_RULES', variables)
        options = page('holterd.1').partition('.SH OPTIONS')[2].partition('.SH ')[0]
        self.assertEqual([], sorted(variable for variable in variables if variable not in options))

    def test_ratios_of_alerts_are_shown_as_alerts_print_them(self):
        with open(os.path.join(SOURCE, 'docs/alerts.md'), encoding='utf-8') as file:
            shown = re.findall(r'([\d.]+)x as long', file.read())  # quantity_ratio()
        self.assertLess(3, len(shown))
        self.assertEqual([], [ratio for ratio in shown if float(ratio) >= 9.95 and '.' in ratio])

    def test_the_specification_has_every_word_of_requests(self):
        code = ''
        for name in ('daemon/job/phases/picture_ask.c', 'daemon/server/network_ask.c', 'daemon/server/capture_requests.c'):
            with open(os.path.join(SOURCE, name), encoding='utf-8') as file:
                code += file.read()
        with open(os.path.join(SOURCE, 'proto/SPEC.md'), encoding='utf-8') as file:
            rows = dict(re.findall(r'^\| `(\w+)` \| (.*) \|$', file.read().partition('| `op` | words |')[2], re.M)[:4])
        tables = re.findall(r'words\[\] = \{\n(.*?)\{0\},.*?command_words_read\("(\w+)"', code, re.S)
        self.assertEqual({'commgram', 'remap', 'reroute', 'capture'}, {op for _, op in tables})
        for words, op in tables:
            for word in re.findall(r'^ *\{"(\w+)",', words, re.M):
                self.assertIn(f'`{word}`', rows[op], op)


if __name__ == '__main__':
    SOURCE, HOLTER = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
    unittest.main()
