"""docs/sql.md is true: its commands print what it shows, and its columns are those of the tables.

usage: sql_page_test.py SOURCE HOLTER EXTENSION [--write]
--write puts what the commands print into the page.
"""
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

SOURCE, HOLTER, EXTENSION = map(os.path.abspath, sys.argv[1:4])
PACKAGE = os.path.join(os.path.dirname(HOLTER), '..', 'proto', 'python')
PAGE = os.path.join(SOURCE, 'docs/sql.md')
RECORDING = 'docs/slow-link.hrec'
TABLES = ('window_pair', 'window_rank', 'window_call', 'window_link', 'window_latency')
BLOCK = re.compile(r'^```\n\$ (.*?)^```$', re.M | re.S)


def run(command):
    """The output of a command of the page, in the root of the sources."""
    with_path = os.path.dirname(HOLTER) + ':/usr/bin:/bin:' + os.environ.get('PATH', '')
    done = subprocess.run(['sh', '-c', command], cwd=SOURCE, text=True, capture_output=True, timeout=120,
                          stdin=subprocess.DEVNULL, check=False,
                          env={**os.environ, 'PATH': with_path, 'HOLTER_SQL': EXTENSION.removesuffix('.so'),
                               'PYTHONPATH': PACKAGE, 'TZ': 'Asia/Kathmandu'})
    if done.returncode != 0:
        raise AssertionError(f'{command}\n{done.stderr}')
    return done.stdout.replace('\r\n', '\n')


def parts(block):
    """A block of the page as (command, what it shows): a command ends with the line that closes its quotes."""
    lines = block.splitlines(keepends=True)
    end = next(i for i in range(1, len(lines) + 1) if ''.join(lines[:i]).count('"') % 2 == 0)
    return ''.join(lines[:end]).rstrip('\n'), ''.join(lines[end:])


def can_be_run(command):
    if not command.startswith('holter') and os.environ.get('HOLTER_SANITIZE', 'none') != 'none':
        return False  # a program without the sanitizer cannot load what was built with it
    if command.startswith('sqlite3') and not shutil.which('sqlite3'):
        return False
    if command.startswith('python3'):
        check = 'import sqlite3; sqlite3.Connection.enable_load_extension'
        return subprocess.run(['/usr/bin/python3', '-c', check], capture_output=True, check=False).returncode == 0
    return True


def page():
    with open(PAGE, encoding='utf-8') as file:
        return file.read()


def write():
    def shown(match):
        command, _ = parts(match[1])
        return f'```\n$ {command}\n{run(command)}```'
    text = BLOCK.sub(shown, page())
    with open(PAGE, 'w', encoding='utf-8') as file:
        file.write(text)


def rows(*arguments):
    done = subprocess.run([HOLTER, *arguments], cwd=SOURCE, text=True, capture_output=True, timeout=120, check=True)
    return list(csv.reader(io.StringIO(done.stdout, newline='')))


def export(form, table, *arguments):
    done = subprocess.run([HOLTER, 'export', '-f', form, '--table', table, *arguments, RECORDING], cwd=SOURCE, text=True,
                          capture_output=True, timeout=120, check=True)
    return done.stdout


def exported_rows(table, *arguments):
    """Rows of an export as JSON, without the texts of large integers, which must be those of the integers."""
    found = json.loads(export('json', table, *arguments))['tables']
    for row in found[table]:
        for name, value in list(row.items()):
            if type(value) is int and abs(value) > 2**53:
                text = row.pop(name + '_text')
                if text != str(value):
                    raise AssertionError(f'{name}: {text} is not the text of {value}')
    return found


def described(heading):
    """[(column, type)] of the table below a heading."""
    text = re.split(rf'^##+ {heading}$', page(), flags=re.M)[1]
    text = re.split(r'^#', text, flags=re.M)[0]
    return re.findall(r'^\| (\w+) \| (INTEGER|REAL|TEXT) \|', text, re.M)


class Page(unittest.TestCase):
    def test_each_command_prints_what_the_page_shows(self):
        blocks = BLOCK.findall(page())
        self.assertGreaterEqual(len(blocks), 6)
        for block in blocks:
            command, shown = parts(block)
            with self.subTest(command=command):
                if not can_be_run(command):
                    self.skipTest('sqlite3 or extensions of it are not there')
                self.assertNotEqual('', shown)
                self.assertEqual(shown, run(command))

    def test_columns_and_types_of_tables_are_those_of_the_page(self):
        for table in TABLES:
            actual = [(row[1], row[2]) for row in
                      rows('sql', '-f', 'csv', '--no-header', RECORDING, f'PRAGMA table_info({table})')]
            self.assertEqual(described('Columns') + described(table), actual, table)

    def test_exports_have_the_columns_of_the_page(self):
        for table in TABLES:
            columns = [name for name, _ in described('Columns') + described(table)]
            lines = list(csv.reader(io.StringIO(export('csv', table), newline='')))
            self.assertEqual(columns, lines[0], table)
            self.assertTrue(all(len(line) == len(columns) for line in lines), table)
            exported = exported_rows(table)
            self.assertEqual([table], list(exported))
            self.assertEqual(len(lines) - 1, len(exported[table]))
            self.assertTrue(all(list(row) == columns for row in exported[table]), table)

    def test_sums_have_the_columns_of_the_page(self):
        for table, columns in re.findall(r'^\| (ranks|pairs|calls) \| ([\w ]+) \|$', page(), re.M):
            self.assertEqual(columns.split(), export('csv', table).splitlines()[0].split(','))

    def test_values_have_the_stated_types(self):
        kinds = {'INTEGER': int, 'REAL': (int, float), 'TEXT': str}
        for table in TABLES:
            types = dict(described('Columns') + described(table))
            for row in exported_rows(table, '--from', '10s', '--to', '12s')[table]:
                for column, value in row.items():
                    self.assertTrue(value is None or isinstance(value, kinds[types[column]]), (table, column, value))

    def test_an_export_of_a_span_is_the_part_of_the_whole_in_it(self):
        for table in TABLES:
            whole = exported_rows(table)[table]
            part = exported_rows(table, '--from', '15:04:40', '--to', '15:04:42')[table]
            expected = [row for row in whole if '2026-11-26T15:04:40' <= row['time'] < '2026-11-26T15:04:42']
            self.assertEqual(expected, part, table)
            self.assertNotEqual([], part, table)


if __name__ == '__main__':
    if sys.argv[4:] == ['--write']:
        write()
    else:
        unittest.main(argv=sys.argv[:1] + sys.argv[4:])
