"""docs/exactness.md is true: each command of it works as it stands there, and prints the words that the page sends to."""
import os
import re
import unittest

import lab

PAGE = os.path.join(lab.SOURCE, 'docs', 'exactness.md')
SPAN = re.compile(r'`([^`]+)`(?: \(([^)]*)\))?')
# Printed only where there is something of the kind, which tests of failures bring about.
SELDOM = ('cut short at', 'running when the recording ends', 'left out', 'summed')


def page_commands():
    """[(command, words that its output has)] of the page, `R` for the recording."""
    with open(PAGE, encoding='utf-8') as f:
        text = f.read()
    blocks = re.compile(r'^```sh\n(.*?)^```$', re.M | re.S)
    found = [(line.split('#')[0].strip(), set(re.findall(r'`([^`]+)`', line.split('#')[1])))
             for block in blocks.findall(text) for line in block.splitlines()]
    for span, note in SPAN.findall(blocks.sub('', text)):
        if span.startswith(('holter ', 'sqlite3 ')):
            words = re.findall(r'`([^`]+)`', note)
            found.append((span, {part for word in words for part in word.split(' to ')}))
    return [(command, words) for command, words in found if not command.startswith('holter run')]


class Exactness(unittest.TestCase):
    def setUp(self):
        self.place = lab.Lab()
        self.addCleanup(self.place.close)
        self.place.env['PATH'] = f"{os.path.join(lab.BUILD, 'agent')}:{os.environ['PATH']}"
        with open(os.path.join(lab.BUILD, 'agent', 'holter-cli'), 'rb') as f:
            self.program = f.read()

    def try_each(self, commands, recording=''):
        for command, words in commands:
            with self.subTest(command=command):
                if command.startswith('sqlite3'):
                    lab.installed('sqlite3')
                done = self.place.run('sh', '-c', re.sub(r'\bR\b', recording, command))
                while 'too soon after the capture before' in done.err:
                    done = self.place.run('sh', '-c', command)
                self.assertEqual(0, done.status, done)
                if not command.startswith('holter graph'):  # says how many pairs of ends contradict each other
                    self.assertEqual('', done.err, done)
                for word in words:
                    if word not in SELDOM:
                        self.assertIn(word, done.out, done)
                    else:
                        self.assertIn(word.encode(), self.program)

    def test_each_command_of_the_page_prints_what_the_page_says(self):
        control = os.path.join(self.place.dir, 'control')
        os.mkdir(control)
        run = self.place.holter('run', '--window', '100ms', '--', *lab.mpirun(
            'openmpi', 4, lab.program('steps', 'openmpi'), control, 1000, 2000))
        lab.wait_for(lambda: 'MPI_' in (self.place.holter('top', '--once').finish().out) or not run.alive(), 'calls of ranks')
        commands = page_commands()
        of_files = [c for c in commands if re.search(r'\bR\b|\.hrec', c[0])]
        live = [c for c in commands if c not in of_files]
        self.assertGreater(len(of_files), 20)
        self.assertGreater(len(live), 8)
        self.try_each(live)
        with open(os.path.join(control, 'end'), 'w', encoding='utf-8'):
            pass
        finished = run.finish()
        self.assertEqual(0, finished.status, finished)
        path, = self.place.recordings()
        self.try_each(of_files, os.path.basename(path))
        self.place.__exit__(None, None, None)


if __name__ == '__main__':
    lab.main()
