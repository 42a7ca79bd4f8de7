"""What `holter export` and `holter report` write of a real job: the same figures as its recording, in forms that other
readers take."""
import collections
import contextlib
import csv
import html.parser
import io
import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import unittest

import lab

METRIC = re.compile(r'METRIC +(\d+) .*?Values: (.*)')
VALUE = re.compile(r'\("(\w+)" <\d+>; UINT64; (\d+)\)')


class Page(html.parser.HTMLParser):
    """Elements of a page, and whether each that opens is closed in its turn."""

    def __init__(self, text):
        super().__init__()
        self.open, self.count, self.headings, self.images = [], collections.Counter(), [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.count[tag] += 1
        for name, value in attributes:
            if name in ('src', 'href') and not value.startswith(('data:', '#')):
                raise AssertionError(f'the page fetches {value}')
            if name.startswith('on'):
                raise AssertionError(f'an element has a script of its own: {name}')
        if tag == 'img':
            self.images.append(dict(attributes)['src'])
        elif tag not in ('meta',):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.count[tag] += 1

    def handle_endtag(self, tag):
        if self.open.pop() != tag:
            raise AssertionError(f'</{tag}> closes another element')

    def handle_data(self, data):
        if self.open and self.open[-1] == 'h2':
            self.headings.append(data)


class Exports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not os.path.exists(lab.MELT):
            raise unittest.SkipTest('lammps-examples is not installed')
        cls.place = lab.Lab()
        cls.place.__enter__()
        cls.addClassCleanup(cls.place.close)
        finished = cls.place.holter('run', '--window', '200ms', '--', *lab.mpirun(
            'openmpi', 4, lab.installed('lmp'), '-in', lab.MELT, '-log', 'none')).finish()
        if finished.status != 0:
            raise AssertionError(finished)
        cls.recording = cls.place.recording()
        cls.sums = cls.recording.sums()

    def export(self, form, *options, output='-'):
        finished = self.place.holter('export', '--format', form, '-o', output, *options, self.recording.path).finish()
        self.assertEqual(0, finished.status, finished)
        return finished.out

    def table(self, name):
        return list(csv.DictReader(io.StringIO(self.export('csv', '--table', name), newline='')))

    def test_csv_has_the_sums_of_all_messages(self):
        pairs = {(int(r['source']), int(r['destination'])): int(r['messages']) for r in self.table('pairs')}
        self.assertEqual(dict(self.sums.sent), pairs)
        calls = {(int(r['rank']), r['call']): int(r['calls']) for r in self.table('calls')}
        self.assertEqual(dict(self.sums.calls), calls)
        for row in self.table('ranks'):
            figures = self.sums.ranks[int(row['rank'])]
            for figure in ('sent', 'sent_bytes', 'received', 'received_bytes', 'send_ns', 'wait_ns', 'calls'):
                self.assertEqual(figures[figure], int(row[figure]), figure)
        totals = self.table('totals')
        self.assertEqual(self.recording.totals()['sent'], sum(int(row['sent']) for row in totals))

    def test_csv_of_all_tables_is_a_directory(self):
        where = os.path.join(self.place.dir, 'tables')
        self.export('csv', output=where)
        self.assertIn('latency.csv', os.listdir(where))
        again = self.place.holter('export', '-f', 'csv', '-o', where, self.recording.path).finish()
        self.assertEqual(1, again.status, again)

    def test_json_is_what_the_tables_say(self):
        tables = json.loads(self.export('json'))['tables']
        self.assertEqual(len(self.recording.phases()), len(tables['phase']))
        for row in tables['phase']:
            self.assertEqual(str(row['begin_ns']), row.pop('begin_ns_text'))
            self.assertEqual(str(row['end_ns']), row.pop('end_ns_text'))
        self.assertEqual(self.recording.phases(), tables['phase'])
        self.assertEqual(sum(self.sums.sent.values()), sum(row['messages'] for row in tables['pairs']))

    def test_a_trace_has_every_phase_and_every_window_of_every_rank(self):
        events = json.loads(self.export('perfetto'))['traceEvents']
        phases = [e for e in events if e['ph'] == 'X' and e['name'].startswith('phase ')]
        self.assertEqual(len(self.recording.phases()), len(phases))
        windows = sum(len(w['ranks']) for w in self.recording.windows())
        self.assertEqual(windows, sum(e['ph'] == 'C' and e['name'].endswith('% in MPI') and e['name'].startswith('rank')
                                      for e in events))
        self.assertTrue(all(e['ts'] >= 0 for e in events if 'ts' in e))

    def test_otf2_print_reads_the_figures_of_each_rank(self):
        tool = lab.installed('otf2-print')
        where = os.path.join(self.place.dir, 'archive')
        self.export('otf2-summary', output=where)
        finished = self.place.run(tool, os.path.join(where, 'traces.otf2'))
        self.assertEqual(0, finished.status, finished)
        sums = collections.defaultdict(collections.Counter)
        for line in finished.out.splitlines():
            found = METRIC.match(line)
            if found:
                sums[int(found[1])].update({name: int(value) for name, value in VALUE.findall(found[2])})
        self.assertEqual(set(self.sums.ranks), set(sums))
        for rank, figures in self.sums.ranks.items():
            for figure in ('sent', 'sent_bytes', 'received_bytes', 'wait_ns', 'collective_ns'):
                self.assertEqual(figures[figure], sums[rank][figure], (rank, figure))
        self.assertEqual(len(self.recording.phases()), finished.out.count('ENTER'))

    def test_dot_has_an_edge_for_each_pair(self):
        edges = re.findall(r'r(\d+) -> r(\d+) \[.*messages=(\d+)', self.export('dot'))
        self.assertEqual({pair: n for pair, n in self.sums.sent.items() if n},
                         {(int(a), int(b)): int(n) for a, b, n in edges})

    def test_a_report_is_one_whole_page_with_its_pictures(self):
        path = os.path.join(self.place.dir, 'report.html')
        finished = self.place.holter('report', '-o', path, self.recording.path).finish()
        self.assertEqual((0, ''), (finished.status, finished.err), finished)
        with open(path, encoding='utf-8') as f:
            page = Page(f.read())
        self.assertEqual([], page.open)
        self.assertEqual(1, page.count['script'])
        places = [[heading.startswith(word) for heading in page.headings].index(True)
                  for word in ('Alerts', 'CommGram', 'Latency', 'Time in MPI', 'Messages', 'Who sends to whom', 'Ranks',
                               'MPI calls')]
        self.assertEqual(sorted(places), places)
        with sqlite3.connect(self.recording.path) as file:  # an alert may have captured calls
            captures, = file.execute('SELECT count(*) FROM captures').fetchone()
        self.assertEqual(4 + (captures > 0), len(page.images))
        self.assertTrue(all(len(image) > 10000 for image in page.images))
        self.place.check_clean()

    def test_wrong_usage_says_so_and_writes_nothing(self):
        path = os.path.join(self.place.dir, 'nothing')
        for options in (['-f', 'xml'], ['-f', 'csv', '-o', '-'], ['-f', 'json', '--table', 'x'],
                        ['-f', 'csv', '--table', 'sqlite_master'], ['-f', 'dot', '--edges', '0'],
                        ['-f', 'json', '-o', self.recording.path], []):
            finished = self.place.holter('export', *options, self.recording.path).finish()
            self.assertEqual((2, ''), (finished.status, finished.out), options)
            self.assertIn('export:', finished.err)
        for missing in (path, self.place.dir):
            finished = self.place.holter('export', '-f', 'json', missing).finish()
            self.assertEqual(1, finished.status, finished)
            self.assertIn(missing, finished.err)
        self.recording.check()


class Outputs(unittest.TestCase):
    """What cannot be written is said, with its name and once, and nothing else is made on the way."""
    RECORDING = os.path.join(os.path.dirname(__file__), '..', '..', 'docs', 'slow-link.hrec')

    def run_it(self, *words, **more):
        return subprocess.run([os.path.join(lab.BUILD, 'agent', 'holter'), *words], stderr=subprocess.PIPE, text=True,
                              check=False, **more)

    def test_a_path_that_cannot_be_made_is_reported_once(self):
        with tempfile.TemporaryDirectory() as directory:
            missing = os.path.join(directory, 'none', 'x')
            for words in (['cut', '-o', missing], ['merge', '-o', missing], ['report', '-o', missing],
                          *(['export', '-f', form, '-o', missing]
                            for form in ('csv', 'json', 'perfetto', 'otf2-summary', 'dot'))):
                with self.subTest(words):
                    finished = self.run_it(*words, self.RECORDING, stdout=subprocess.DEVNULL)
                    self.assertEqual(f'holter: {words[0]}: {missing}: No such file or directory\n', finished.stderr)
                    self.assertEqual(1, finished.returncode)
            self.assertEqual([], os.listdir(directory))
            messages = os.path.join(directory, 'messages.csv')
            with open(messages, 'w', encoding='utf-8') as file:
                file.write('source,destination,bytes,send_begin_ns,send_end_ns,recv_begin_ns,recv_end_ns\n0,1,10,1,2,1,3\n')
            finished = self.run_it('import', '--format', 'csv', messages, '-o', missing)
            self.assertEqual((1, f'holter: import: {missing}: No such file or directory\n'),
                             (finished.returncode, finished.stderr))

    def test_a_file_is_left_alone_when_nothing_could_be_captured(self):
        with tempfile.TemporaryDirectory() as directory:
            path, absent = os.path.join(directory, 'captured'), f'ipc://{directory}/absent'
            for earlier in (None, 'an earlier capture'):
                if earlier is not None:
                    with open(path, 'w', encoding='utf-8') as file:
                        file.write(earlier)
                for words in (['capture'], ['capture', '--format', 'json'], ['graph', '--live']):
                    with self.subTest((words, earlier)):
                        finished = self.run_it(*words, '-o', path, '-c', absent, '--timeout', '0.1')
                        self.assertEqual(1, finished.returncode)
                        self.assertEqual([] if earlier is None else ['captured'], os.listdir(directory))
            with open(path, encoding='utf-8') as file:
                self.assertEqual('an earlier capture', file.read())

    def test_a_cut_has_to_lie_within(self):
        with tempfile.TemporaryDirectory() as directory:
            for words, why in ((['--from', '9h'], '9h is outside the recording'),
                               (['--to', '-9h'], '-9h is outside the recording'),
                               (['--from', '20s', '--to', '10s'], '--to is not after --from'),
                               (['--from', 'soon'], "--from: 'soon' is no point in time")):
                with self.subTest(words):
                    finished = self.run_it('cut', *words, '-o', os.path.join(directory, 'x'), self.RECORDING)
                    self.assertEqual(2, finished.returncode)
                    self.assertIn(why, finished.stderr)
            self.assertEqual([], os.listdir(directory))

    def test_a_recording_is_written_neither_to_standard_output_nor_to_a_file_without_a_name(self):
        with tempfile.TemporaryDirectory() as directory:
            for words in (['cut', '-o', '-', self.RECORDING], ['merge', '-o', '-', self.RECORDING], ['record', '-o', '-'],
                          ['import', '-o', '-', self.RECORDING]):
                with self.subTest(words):
                    finished = self.run_it(*words, cwd=directory, stdout=subprocess.PIPE)
                    self.assertEqual((2, ''), (finished.returncode, finished.stdout))
                    self.assertIn("--output: '-' is not a file", finished.stderr)
                    words[words.index('-')] = ''
                    finished = self.run_it(*words, cwd=directory, stdout=subprocess.PIPE)
                    self.assertEqual((2, ''), (finished.returncode, finished.stdout))
                    self.assertIn("--output cannot be ''", finished.stderr)
                    self.assertEqual([], os.listdir(directory))
            # the job comes first
            finished = self.run_it('run', '--no-record', '-o', '-', '--', 'true', cwd=directory, stdout=subprocess.PIPE)
            self.assertEqual((0, ''), (finished.returncode, finished.stdout))
            self.assertIn('a recording is written into a file, not to standard output', finished.stderr)

    def test_options_of_other_formats_are_refused(self):
        formats = ('csv', 'json', 'perfetto', 'otf2-summary', 'dot')
        with tempfile.TemporaryDirectory() as directory:
            output = os.path.join(directory, 'x')
            for option, own in ((['--table', 'job'], 'csv or json'), (['--of', 'hosts'], 'dot'), (['--edges', '3'], 'dot'),
                                (['--table', 'job', '--from', '1s'], 'csv or json'), (['--no-ranks'], 'perfetto')):
                for form in formats:
                    with self.subTest((option, form)):
                        finished = self.run_it('export', '-f', form, *option, '-o', output, self.RECORDING)
                        if form in own.split():
                            self.assertEqual((0, ''), (finished.returncode, finished.stderr))
                            os.remove(output)
                        else:
                            self.assertEqual((2, f'holter: export: {option[0]} is of --format {own}\n'),
                                             (finished.returncode, finished.stderr))
                        self.assertEqual([], os.listdir(directory))

    def test_a_time_is_of_tables_and_graphs_and_within_the_recording(self):
        for form, status in (('dot', 0), ('perfetto', 2)):
            finished = self.run_it('export', '-f', form, '--from', '1s', self.RECORDING, stdout=subprocess.PIPE)
            self.assertEqual(status, finished.returncode, finished.stderr)
        for span in (['--from', '1h'], ['--to', 'soon'], ['--from', '2s', '--to', '1s'], ['--from', '2s', '--to', '2s']):
            finished = self.run_it('export', '-f', 'csv', '--table', 'window_pair', *span, self.RECORDING,
                                   stdout=subprocess.PIPE)
            self.assertEqual((2, ''), (finished.returncode, finished.stdout), span)
            self.assertIn('export: ', finished.stderr)

    def test_a_full_disk_is_reported(self):
        for words in (['info'], ['diff', self.RECORDING], ['export', '-f', 'json'], ['report', '-o', '-', '--no-pictures']):
            with self.subTest(words), open('/dev/full', 'w', encoding='utf-8') as full:
                finished = self.run_it(*words, self.RECORDING, stdout=full)
                self.assertEqual(f'holter: {words[0]}: standard output: No space left on device\n', finished.stderr)
                self.assertEqual(2 if words[0] == 'diff' else 1, finished.returncode)

    def test_sql_takes_statements_from_an_argument_or_standard_input(self):
        asked, answer = 'SELECT count(*) AS windows FROM totals;\n', 'windows\n87\n'
        for words, given in (([asked], ''), ([], asked), (['-'], asked)):
            finished = self.run_it('sql', '-f', 'csv', self.RECORDING, *words, stdout=subprocess.PIPE, input=given)
            self.assertEqual((0, '', answer), (finished.returncode, finished.stderr, finished.stdout))

    def test_sql_has_a_status_for_what_is_wrong(self):
        for words, status, why in (([], 2, 'expected a recording'), ([self.RECORDING, 'a', 'b'], 2, 'expected a recording'),
                                   (['-f', 'xml', self.RECORDING, 'SELECT 1'], 2, "--format cannot be 'xml'"),
                                   ([self.RECORDING, 'SELECT\n  x'], 1, 'line 2, column 3: no such column: x'),
                                   ([self.RECORDING, 'DELETE FROM job'], 1, 'only statements that read'),
                                   (['/nowhere', 'SELECT 1'], 1, '/nowhere: No such file')):
            finished = self.run_it('sql', *words, stdout=subprocess.PIPE)
            self.assertEqual((status, ''), (finished.returncode, finished.stdout))
            self.assertIn(why, finished.stderr)
        with open('/dev/full', 'w', encoding='utf-8') as full:
            finished = self.run_it('sql', self.RECORDING, 'SELECT * FROM window_rank', stdout=full)
            self.assertEqual(1, finished.returncode)
            self.assertIn('No space left on device', finished.stderr)

    def test_a_signal_ends_a_statement(self):
        endless = 'WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n'
        holter = os.path.join(lab.BUILD, 'agent', 'holter')
        with subprocess.Popen([holter, 'sql', '-f', 'csv', self.RECORDING, endless], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as asking:
            self.assertEqual('x\n', asking.stdout.readline())
            asking.send_signal(signal.SIGINT)
            _, why = asking.communicate()
            self.assertEqual((1, 'holter: sql: interrupted\n'), (asking.returncode, why))

    def test_what_cannot_be_written_whole_leaves_nothing(self):
        """Whatever the last byte is that can be: not even a file that says nothing, or the log of one."""
        def limit(size):
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

        with tempfile.TemporaryDirectory() as directory:
            table, path = os.path.join(directory, 'messages.csv'), os.path.join(directory, 'made', 'a.hrec')
            os.mkdir(os.path.dirname(path))
            with open(table, 'w', encoding='utf-8') as file:
                file.write('source,destination,bytes,send_begin_ns,receive_end_ns\n')
                file.writelines(f'{i % 8},{i * 3 % 7},{i},{i}000000,{i}009000\n' for i in range(2000))
            pairs = os.path.join(directory, 'pairs.txt')
            with open(pairs, 'w', encoding='utf-8') as file:
                file.writelines(f'{i} {i + 1} 5\n' for i in range(9))
            for words in (['import', '--no-results', table], ['import', '--no-results', pairs], ['cut', self.RECORDING],
                          ['merge', self.RECORDING]):
                failed = 0
                for size in [*range(0, 200, 10), 2000]:
                    with self.subTest((words, size)):
                        finished = self.run_it(*words, '-o', path, stdout=subprocess.DEVNULL, preexec_fn=lambda: limit(size * 1024))
                        made = os.listdir(os.path.dirname(path))
                        if finished.returncode == 0:
                            self.assertEqual('', finished.stderr)
                            self.assertEqual(0, self.run_it('info', '--check', path, stdout=subprocess.DEVNULL).returncode)
                        else:
                            failed += 1
                            self.assertEqual(1, finished.returncode)
                            self.assertEqual([], made)
                            # a table of messages is sorted in temporary files first
                            self.assertRegex(finished.stderr,
                                             rf'^holter: (\w+: )?({path}|{table}): .*(I/O|disk|[Tt]oo large)')
                        for name in made:
                            os.remove(os.path.join(os.path.dirname(path), name))
                self.assertGreater(failed, 2)

    def test_a_table_is_written_without_a_look_at_messages(self):
        """Not even at damaged ones."""
        with tempfile.TemporaryDirectory() as directory:
            path = shutil.copy(self.RECORDING, os.path.join(directory, 'a.hrec'))
            whole = self.run_it('export', '-f', 'csv', '--table', 'totals', path, stdout=subprocess.PIPE)
            with contextlib.closing(sqlite3.connect(path)) as file, file:
                file.execute("UPDATE block SET data = x'00'")
            again = self.run_it('export', '-f', 'csv', '--table', 'totals', path, stdout=subprocess.PIPE)
            self.assertEqual((0, '', whole.stdout), (again.returncode, again.stderr, again.stdout))
            self.assertGreater(whole.stdout.count('\n'), 2)
            self.assertEqual(1, self.run_it('export', '-f', 'csv', '--table', 'pairs', path).returncode)

    def test_what_helps_with_a_damaged_block_is_named(self):
        with tempfile.TemporaryDirectory() as directory:
            path = shutil.copy(self.RECORDING, os.path.join(directory, 'a.hrec'))
            with contextlib.closing(sqlite3.connect(path)) as file, file:
                file.execute("UPDATE block SET data = x'00' WHERE first = 137")
            for command in (['export', '-f', 'csv', '--table', 'pairs', path], ['report', '-o', f'{path}.html', path],
                            ['remap', path], ['compare', self.RECORDING, path], ['graph', path]):
                with self.subTest(command=command):
                    finished = self.run_it(*command, stdout=subprocess.PIPE)
                    self.assertEqual((1, ''), (finished.returncode, finished.stdout), finished)
                    self.assertIn('the file is damaged; `holter cut` copies what can be read of it', finished.stderr)

    def test_a_table_that_an_older_recording_lacks_is_named(self):
        with tempfile.TemporaryDirectory() as directory:
            path = shutil.copy(self.RECORDING, os.path.join(directory, 'a.hrec'))
            with contextlib.closing(sqlite3.connect(path)) as file, file:
                file.execute('DROP TABLE curve')
            done = self.run_it('export', '-f', 'csv', '--table', 'curve', path)
            self.assertEqual((1, True), (done.returncode, 'the recording has no table curve' in done.stderr), done.stderr)
            whole = self.run_it('export', '-f', 'csv', '-o', os.path.join(directory, 'all'), path)
            self.assertEqual((0, ''), (whole.returncode, whole.stderr))

    def test_names_in_a_recording_are_text_in_its_report(self):
        """Wherever they are shown: no element comes of them, and no attribute."""
        evil = '\'"></title></style></script><script>x()</script><img src=x onerror=x()>'
        with tempfile.TemporaryDirectory() as directory:
            path, page = shutil.copy(self.RECORDING, directory), os.path.join(directory, 'page.html')
            with contextlib.closing(sqlite3.connect(path)) as file, file:
                for table, columns in (('job', 'app command mpi state'), ('link', 'source destination'),
                                       ('alert', 'title text ranks nodes victims advice severity culprit'),
                                       ('captures', 'reason')):
                    file.execute(f'UPDATE {table} SET ' + ', '.join(f'{column} = :evil' for column in columns.split()),
                                 {'evil': evil})
            made = self.run_it('report', '--no-pictures', '-o', page, path)
            self.assertEqual((0, ''), (made.returncode, made.stderr))
            with open(page, encoding='utf-8') as f:
                text = f.read()
            read = Page(text)
            self.assertEqual([], read.open)
            self.assertEqual((1, 0), (read.count['script'], read.count['img']))
            self.assertNotIn('<script>x', text)
            self.assertGreater(text.count('&lt;img src=x onerror=x()&gt;'), 8)

    def test_the_mapping_that_a_report_suggests_can_be_made(self):
        """By the command that it tells, of the recording that it was made of."""
        with tempfile.TemporaryDirectory() as directory:
            shutil.copy(self.RECORDING, os.path.join(directory, 'a.hrec'))
            made = self.run_it('report', '--no-pictures', '--topology', 'torus:4', '-o', 'a.html', 'a.hrec', cwd=directory)
            self.assertEqual((0, ''), (made.returncode, made.stderr))
            with open(os.path.join(directory, 'a.html'), encoding='utf-8') as f:
                page = f.read()
            fullest = re.search(r'<td>bytes on the fullest link</td><td class="n">([0-9.]+) MiB</td>'
                                r'<td class="n">([0-9.]+) MiB</td>', page)
            self.assertLess(float(fullest[2]), float(fullest[1]))
            self.assertRegex(page, r'<td>messages between nodes</td><td class="n">[0-9.]+ k</td>')
            command = re.search(r'made by <code>holter (remap a\.hrec [^<]*)</code>', page)[1].split()
            remapped = self.run_it(*command, cwd=directory, stdout=subprocess.PIPE)
            self.assertEqual((0, ''), (remapped.returncode, remapped.stderr))
            with open(os.path.join(directory, 'better.rankfile'), encoding='utf-8') as f:
                self.assertEqual(8, f.read().count('rank '))


class Interrupted(unittest.TestCase):
    """A report that is ended early leaves nothing in /tmp, whatever ended it."""
    RECORDING = os.path.join(os.path.dirname(__file__), '..', '..', 'docs', 'slow-link.hrec')
    DIRECTORY = re.compile(r'/tmp/holter-replay-\w{6}')

    def directory_of(self, place, report):
        """Where it lets a daemon replay the recording."""
        def found():
            if not report.alive():
                raise AssertionError(f'it ended too early for this test: {report}')
            with open(f'/proc/{report.pid}/task/{report.pid}/children') as file:
                children = file.read().split()
            for child in children:
                with contextlib.suppress(OSError), open(f'/proc/{child}/cmdline') as file:
                    words = file.read()
                    if 'holterd' in words and self.DIRECTORY.search(words):
                        return self.DIRECTORY.search(words).group()
            return None
        return lab.wait_for(found, 'the replay of the report')

    def test_nothing_is_left(self):
        with lab.Lab() as place:
            for end, number in ((os.killpg, signal.SIGINT), (os.kill, signal.SIGTERM), (os.kill, signal.SIGKILL)):
                with self.subTest(number.name):
                    report = place.holter('report', '-o', os.path.join(place.dir, 'report.html'), self.RECORDING)
                    directory = self.directory_of(place, report)
                    self.assertTrue(os.path.isdir(directory))
                    end(report.pid, number)
                    self.assertEqual(-number, report.finish().status)
                    lab.wait_for(lambda: not os.path.exists(directory), f'the end of {directory}')
                    self.assertFalse(os.path.exists(os.path.join(place.dir, 'report.html')))


if __name__ == '__main__':
    lab.main()
