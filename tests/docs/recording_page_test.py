"""docs/recording.md is true: its commands work on a real recording, and each column has its place in the section of its table.

usage: recording_page_test.py SOURCE
"""
import contextlib
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.path.abspath(sys.argv.pop(1))
RECORDING = os.path.join(SOURCE, 'docs/slow-link.hrec')
ELSEWHERE = {'totals'}  # these columns are those of a topic, and SPEC.md has them


def page():
    with open(os.path.join(SOURCE, 'docs/recording.md'), encoding='utf-8') as file:
        return file.read()


def examples():
    """Each command of the section, with the name of the recording in it."""
    section = page().partition('## Examples\n')[2].partition('\n## ')[0]
    lines = [line[4:] for line in section.splitlines() if line.startswith('    ')]
    return re.findall(r'^sqlite3 [^"]*"[^"]*"', '\n'.join(lines), re.M)


class RecordingPage(unittest.TestCase):
    def test_each_column_stands_in_the_section_of_its_table(self):
        sections = dict(re.findall(r'^## (.+?)\n(.*?)(?=^## |\Z)', page(), re.M | re.S))
        with contextlib.closing(sqlite3.connect(f'file:{RECORDING}?mode=ro&immutable=1', uri=True)) as db:
            for table, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                text = ' '.join(body for title, body in sections.items() if table in title.split(', ') or f'`{table}` has' in body)
                self.assertTrue(text, f'{table} has no section')
                for _, column, *_ in db.execute(f'PRAGMA table_info({table})') if table not in ELSEWHERE else ():
                    self.assertRegex(text, rf'\b{column}\b', f'{table}.{column}')

    @unittest.skipUnless(shutil.which('sqlite3'), 'sqlite3 is not installed')
    def test_each_example_works(self):
        self.assertGreater(len(examples()), 8)
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(RECORDING, os.path.join(folder, 'holter-melt.0.hrec'))
            for command in examples():
                done = subprocess.run(['sh', '-c', command], cwd=folder, capture_output=True, text=True, check=False)
                self.assertEqual((0, ''), (done.returncode, done.stderr), command)
                if 'capture_events' in command:
                    self.assertIn('MPI_Waitany', done.stdout)
                    self.assertNotIn('-', done.stdout, 'a call cannot have lasted for less than no time')


if __name__ == '__main__':
    unittest.main()
