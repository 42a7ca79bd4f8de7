"""Traces of others: imported, told of, and replayed like a job that was watched."""
import contextlib
import glob
import gzip
import json
import os
import re
import sqlite3
import subprocess
import tempfile
import unittest

import commgram
import lab

DATA = os.path.join(lab.SOURCE, 'tests', 'data')


class Traces(unittest.TestCase):
    def setUp(self):
        self.place = lab.Lab()
        self.place.__enter__()
        self.addCleanup(self.place.close)
        self.recording = os.path.join(self.place.dir, 'trace.hrec')

    def unpack(self, folder):
        """A folder of tests/data with all below it. @return its path"""
        for packed in glob.glob(os.path.join(DATA, folder, '**', '*.zst'), recursive=True):
            path = os.path.join(self.place.dir, os.path.relpath(packed, DATA))[:-len('.zst')]
            os.makedirs(os.path.dirname(path), exist_ok=True)
            subprocess.run(['zstd', '-dqf', packed, '-o', path], check=True)
        return os.path.join(self.place.dir, folder)

    def holter(self, *arguments, status=0):
        finished = self.place.holter(*map(str, arguments)).finish()
        self.assertEqual(status, finished.status, str(finished))
        return finished

    def info(self):
        return json.loads(self.holter('info', '-f', 'json', self.recording).out)

    def test_an_otf2_archive_is_described_and_replayed(self):
        folder = self.unpack('otf2')
        for window in ('5ms', '200us'):
            with self.subTest(window=window):
                self.recording = os.path.join(self.place.dir, window + '.hrec')
                finished = self.holter('import', folder, '--window', window, '-o', self.recording)
                self.assertIn('10 ranks on 10 hosts', finished.out)
                self.assertIn('sent         1440 messages, 23592600 bytes', finished.out)
                self.assertIn('received     1440 messages, 23592600 bytes', finished.out)
                self.assertIn('collectives  1200 in the trace, 2280 calls', finished.out)
                self.assertEqual('', re.sub(r'holter: import(: results)?: +\d+ %\n', '', finished.err))
                info = self.info()
                self.assertEqual((10, 1440, 1440, 23592600), (info['world'], info['sent'], info['received'], info['sent_bytes']))
                self.assertEqual(1, info['hosts'].count('kn7.eth'))
                self.check_results(info)
                with commgram.Replay(self.place, self.recording) as replay:
                    picture = replay.picture('--phases', 8, '--no-collectives')
                    self.assertEqual(8, len(picture.columns))
                    latency = replay.topics('latency')
                    self.assertTrue(latency)

    def rows(self, sql, path=None):
        with contextlib.closing(sqlite3.connect(path or self.recording)) as db:
            return db.execute(sql).fetchall()

    def check_results(self, info):
        """The tables are those that a replay of the recording makes, and tell of all messages."""
        self.assertEqual([(info['sent'], info['sent_bytes'], info['received'])],
                         self.rows('SELECT sum(sent), sum(sent_bytes), sum(received) FROM totals'))
        self.assertEqual([(info['world'],)], self.rows('SELECT count(*) FROM places'))
        directory = tempfile.mkdtemp(dir=self.place.dir)
        self.holter('replay', '--record', directory, '--quit-at-end', '-c', f'ipc://{directory}/d', self.recording)
        again = glob.glob(os.path.join(directory, '*.hrec'))[0]
        for table in ('totals', 'nodes', 'places', 'latency', 'criterion', 'region', 'region_member', 'phase', 'curve',
                      'topology', 'seat', 'link', 'alert'):
            self.assertEqual(self.rows(f'SELECT * FROM {table}', again), self.rows(f'SELECT * FROM {table}'), table)

    def test_results_can_be_left_out_and_made_later(self):
        folder = self.unpack('otf2')
        self.holter('import', folder, '--no-results', '-o', self.recording)
        self.assertEqual([(0,)], self.rows('SELECT count(*) FROM totals'))
        made = subprocess.run([os.path.join(lab.BUILD, 'daemon', 'holterd'), '--replay', self.recording, '--results'], capture_output=True,
                              text=True, check=False)
        self.assertEqual((0, ''), (made.returncode, made.stderr))
        self.assertGreater(self.rows('SELECT count(*) FROM phase')[0][0], 0)
        self.check_results(self.info())

    def test_few_messages_of_a_table_of_routes_are_replayed(self):
        for messages in (1, 2, 3):
            with self.subTest(messages=messages):
                routes = os.path.join(self.place.dir, f'routes{messages}')
                with open(routes, 'w', encoding='utf-8') as out:
                    for to in range(messages):
                        out.write(f'Hop 1: [0-{to + 1}] 0 (0 0) -> {to + 1} ({to + 1} 0)\n')
                self.recording = f'{routes}.hrec'
                self.holter('import', routes, '-o', self.recording)
                self.assertEqual([(messages,)], self.rows('SELECT sum(sent) FROM totals'))

    def test_results_of_what_is_no_recording_are_refused(self):
        path = os.path.join(self.place.dir, 'text.hrec')
        with open(path, 'w') as out:
            out.write('no recording\n')
        made = subprocess.run([os.path.join(lab.BUILD, 'daemon', 'holterd'), '--replay', path, '--results'], capture_output=True, text=True,
                              check=False)
        self.assertEqual(1, made.returncode)
        self.assertIn('text.hrec', made.stderr)
        for wrong in (['--results'], ['--replay', path, '--results', '--loop']):
            made = subprocess.run([os.path.join(lab.BUILD, 'daemon', 'holterd'), *wrong], capture_output=True, text=True, check=False)
            self.assertEqual(2, made.returncode)
            self.assertIn('--results', made.stderr)

    def test_a_report_of_counters_has_neither_times_nor_rates(self):
        routes = os.path.join(self.place.dir, 'routes')
        page = os.path.join(self.place.dir, 'routes.html')
        with open(routes, 'w', encoding='utf-8') as out:
            out.write(''.join(f'Hop 1: [0-{to}] 0 (0 0) -> {to} ({to} 0)\n' for to in range(1, 9)))
        self.holter('import', routes, '-o', self.recording)
        self.holter('report', '--no-pictures', self.recording, '-o', page)
        with open(page, encoding='utf-8') as f:
            text = re.sub('<style>.*?</style>|<script>.*?</script>', '', f.read(), flags=re.DOTALL)
        self.assertIn('counters have no times', text)
        self.assertIn('Who sends to whom', text)
        for made_up in ('a second', 'Time in MPI', 'CommGram', '1.00 s', '1 s', 'began', ' or less', '1 phases', 'Well'):
            self.assertNotIn(made_up, text)

    def test_windows_are_chosen_by_the_time_of_the_calls_that_are_imported(self):
        """Half a second before MPI_Init the ranks of this trace asked whether MPI was initialised."""
        self.holter('import', '-o', self.recording, self.unpack('dumpi/minife-8'))
        self.assertTrue(100 <= self.info()['windows'] <= 250, self.info()['windows'])

    def test_what_is_whole_of_a_broken_archive_is_imported(self):
        folder = self.unpack('otf2')
        os.truncate(os.path.join(folder, 'traces', '3.evt'), 16384)
        os.remove(os.path.join(folder, 'traces', '5.evt'))
        finished = self.holter('import', folder, '-o', self.recording, status=1)
        self.assertRegex(finished.err, r'traces/3\.evt: after event \d+ at [\d.]+ s, before byte 16384: ')
        self.assertIn('traces/5.evt: ', finished.err)
        self.assertIn('broken       2 files', finished.out)
        self.assertGreater(self.info()['sent'], 1000)

    def test_an_archive_whose_definitions_are_cut_off_is_no_success(self):
        folder = self.unpack('otf2')
        path = os.path.join(folder, 'traces.def')
        os.truncate(path, os.path.getsize(path) - 1000)
        finished = self.holter('import', folder, '-o', self.recording, status=1)
        self.assertRegex(finished.err, r'traces\.def: definitions are not whole.*: after definition \d+, before byte \d+: ')
        self.assertIn('broken       definitions', finished.out)
        self.assertGreater(self.info()['sent'], 1)

    def test_a_table_of_messages_is_described_and_replayed(self):
        table = os.path.join(self.place.dir, 'messages.csv')
        with open(table, 'w') as out:
            out.write('source,destination,bytes,send_begin,receive_end\n')
            for i in range(3000):
                begin = 1700000000 * 10**9 + i * 10**6
                out.write(f'{i % 8},{(i + 1) % 8},1000,{begin // 10**9}.{begin % 10**9:09},'
                          f'{(begin + 5000) // 10**9}.{(begin + 5000) % 10**9:09}\n')
            out.write('0,1,many,1,1\n')
        finished = self.holter('import', table, '-o', self.recording, status=1)
        self.assertIn("messages.csv:3002: column bytes: 'many' is no number", finished.err)
        self.assertIn('8 ranks on 1 host', finished.out)
        self.assertIn('sent         3000 messages, 3000000 bytes', finished.out)
        self.assertIn('matched      3000 within hosts', finished.out)
        info = self.info()
        self.assertEqual((8, 3000, 3000, 3000000), (info['world'], info['sent'], info['received'], info['sent_bytes']))
        with commgram.Replay(self.place, self.recording) as replay:
            self.assertTrue(replay.topics('latency'))
        for source, name in (('-', 'standard input'), ('/dev/stdin', '/dev/stdin')):
            with self.subTest(source=source), subprocess.Popen(['cat', table], stdout=subprocess.PIPE) as cat:
                self.recording = os.path.join(self.place.dir, name[-5:] + '.hrec')
                piped = self.place.holter('import', '--format', 'csv', source, '-o', self.recording,
                                          stdin=cat.stdout).finish()
                self.assertEqual(1, piped.status, str(piped))
                self.assertIn(f"{name}:3002: column bytes: 'many' is no number", piped.err)
                self.assertEqual(finished.out.splitlines()[1:], piped.out.splitlines()[1:])
                self.assertEqual(3000, self.info()['sent'])
        for words in ([], ['--format', 'otf2']):
            self.assertIn('with --format csv', self.holter('import', '-', *words, '-o', table + '2', status=2).err)

    def test_renumbered_ranks_are_reported(self):
        for numbers, told in (('0 1 5\n1 2 5\n', False), ('5 100 7\n100 4000000000 8\n', True)):
            path = os.path.join(self.place.dir, 'pairs.txt')
            self.recording = os.path.join(self.place.dir, f'{told}.hrec')
            with open(path, 'w') as out:
                out.write(numbers)
            finished = self.holter('import', path, '-o', self.recording)
            self.assertIn('3 ranks, 2 pairs', finished.out)
            self.assertEqual(told, 'numbers, of which the last is 4000000000' in finished.out)
            self.assertEqual(3, self.info()['world'])

    def test_what_is_compressed_is_refused_as_that(self):
        for words in ([], ['--format', 'csv']):
            path = os.path.join(self.place.dir, 'messages.csv.gz')
            with gzip.open(path, 'wt') as out:
                out.write('source,destination,bytes,send_begin\n0,1,2,3\n')
            finished = self.holter('import', *words, path, '-o', self.recording, status=1)
            self.assertIn('messages.csv.gz is compressed (gzip): unpack it first', finished.err)
        with open(path, 'rb') as table:
            piped = self.place.holter('import', '--format', 'csv', '-', '-o', self.recording, stdin=table).finish()
        self.assertEqual(1, piped.status, str(piped))
        self.assertIn('standard input: is compressed (gzip): unpack it first', piped.err)
        self.assertFalse(os.path.exists(self.recording))

    def test_a_place_where_nothing_can_be_made_is_reported_before_anything_is_read(self):
        """What is wrong with the source is not even looked at."""
        table = os.path.join(self.place.dir, 'messages.csv')
        with open(table, 'w') as out:
            out.write('source,destination,bytes,send_begin\nx,y,z,0\n')
        pipe, full = (os.path.join(self.place.dir, name) for name in ('pipe', 'full'))
        os.mkfifo(pipe)
        with open(full, 'w') as out:
            out.write('something')
        for output, why in ((pipe, 'File exists'), (full, 'File exists'), ('/dev/null', 'File exists'),
                            (self.place.dir, 'File exists'), (self.recording + '/x', 'No such file or directory')):
            with self.subTest(output):
                finished = self.holter('import', table, '-o', output, status=1)
                self.assertEqual(f'holter: import: {output}: {why}\n', finished.err)
        self.assertTrue(os.path.exists(pipe) and os.path.exists('/dev/null'))

    def test_a_source_that_is_no_archive_is_reported_as_that(self):
        folder = self.unpack('otf2')
        os.rename(os.path.join(folder, 'traces.otf2'), os.path.join(folder, 'traces.anchor'))
        for source, why in (('nothing', 'No such file or directory'),
                            ('otf2/traces.anchor', 'the file of an archive has to be called NAME.otf2'),
                            ('otf2', 'the file of an archive has to be called NAME.otf2')):
            with self.subTest(source):
                path = os.path.join(self.place.dir, source)
                finished = self.holter('import', '--format', 'otf2', path, '-o', self.recording, status=1)
                self.assertTrue(finished.err.startswith(f'holter: import: {path}: {why}'), finished.err)
        self.assertFalse(os.path.exists(self.recording))

    def test_wrong_usage_is_reported(self):
        folder = self.unpack('otf2')
        for words in (['--window', '1ns'], ['--window', 'x'], ['--threads', '0'], ['--format', 'otf3'],
                      ['--ranks-per-node', '4'], []):
            output = ['-o', self.recording] if words else []
            self.assertIn('holter: import: ', self.holter('import', folder, *words, *output, status=2).err)
        self.assertFalse(os.path.exists(self.recording))
        empty = os.path.join(self.place.dir, 'empty')
        open(empty, 'w').close()
        self.assertIn('use --format', self.holter('import', empty, '-o', self.recording, status=1).err)
        self.assertNotIn('use --format', self.holter('import', empty + '2', '-o', self.recording, status=1).err)
        # The option of this command is the format of what it writes.
        told = self.holter('graph', empty, status=1).err
        self.assertEqual(f'holter: graph: {empty}: its format cannot be recognised from an empty file\n', told)
        self.holter('import', folder, '-o', self.recording)
        self.assertIn('is a recording of Holter already',
                      self.holter('import', self.recording, '-o', self.recording + '2', status=1).err)
        self.assertIn('File exists', self.holter('import', folder, '-o', self.recording, status=1).err)


if __name__ == '__main__':
    lab.main()
