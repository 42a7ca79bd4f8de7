"""Of real recordings the rows of all windows add up to the sums and totals that are exported.

usage: window_sums_test.py SOURCE HOLTER
"""
import collections
import contextlib
import csv
import glob
import io
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

SOURCE, HOLTER = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
RANK_FIGURES = ('events lost calls polls sent sent_bytes received received_bytes send_ns recv_ns wait_ns poll_ns '
                'collective_ns one_sided_ns io_ns other_ns untracked tallied').split()
TOTALS = ('events lost calls polls sent sent_bytes received received_bytes send_ns recv_ns wait_ns poll_ns '
          'collective_ns one_sided_ns io_ns other_ns').split()


def holter(*arguments):
    done = subprocess.run([HOLTER, *arguments], text=True, capture_output=True, timeout=300, check=False)
    if done.returncode != 0:
        raise AssertionError(f'{arguments}: {done.stderr}')
    return done.stdout


def export(recording, table, *arguments):
    return list(csv.DictReader(io.StringIO(holter('export', '-f', 'csv', '--table', table, *arguments, recording),
                                           newline='')))


def asked(recording, sql):
    return list(csv.DictReader(io.StringIO(holter('sql', '-f', 'csv', recording, sql), newline='')))


def summed(rows, keys, figures):
    sums = collections.defaultdict(collections.Counter)
    for row in rows:
        sums[tuple(row[key] for key in keys)].update({f: int(row[f]) for f in figures})
    return {key: {f: figure[f] for f in figures} for key, figure in sums.items()}


class Sums(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix='holter-sums-')
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.recordings = [os.path.join(SOURCE, 'docs/slow-link.hrec')]
        if shutil.which('zstd'):
            cls.recordings += [cls.imported('dumpi/minife-8', '*.meta'), cls.imported('otf2', '*.otf2')]

    @classmethod
    def imported(cls, data, pattern):
        folder = os.path.join(SOURCE, 'tests/data', data)
        target = os.path.join(cls.folder, data.replace('/', '-'))
        for packed in glob.glob(os.path.join(folder, '**', '*.zst'), recursive=True):
            path = os.path.join(target, os.path.relpath(packed, folder))[:-len('.zst')]
            os.makedirs(os.path.dirname(path), exist_ok=True)
            subprocess.run(['zstd', '-dqf', packed, '-o', path], check=True)
        recording = target + '.hrec'
        subprocess.run([HOLTER, 'import', '-o', recording, glob.glob(os.path.join(target, pattern))[0]],
                       capture_output=True, timeout=300, check=False)
        return recording

    def test_pairs_add_up(self):
        for recording in self.recordings:
            with self.subTest(recording=os.path.basename(recording)):
                figures = ('messages', 'bytes')
                keys = ('source', 'destination')
                windows = summed(export(recording, 'window_pair'), keys, figures)
                self.assertEqual(summed(export(recording, 'pairs'), keys, figures), windows)
                self.assertNotEqual({}, windows)

    def test_ranks_add_up(self):
        for recording in self.recordings:
            with self.subTest(recording=os.path.basename(recording)):
                windows = summed(export(recording, 'window_rank'), ('rank',), RANK_FIGURES)
                sums = summed(export(recording, 'ranks'), ('rank',), RANK_FIGURES)
                self.assertEqual({rank: row for rank, row in sums.items() if rank in windows}, windows)
                self.assertTrue(all(not any(row.values()) for rank, row in sums.items() if rank not in windows))

    def test_calls_add_up(self):
        for recording in self.recordings:
            with self.subTest(recording=os.path.basename(recording)):
                keys, figures = ('rank', 'call'), ('calls', 'bytes', 'bytes_in', 'time_ns')
                windows = export(recording, 'window_call')
                self.assertEqual(summed(export(recording, 'calls'), keys, figures), summed(windows, keys, figures))
                longest = asked(recording, 'SELECT rank, call, max(longest_ns) AS longest_ns FROM window_call GROUP BY 1, 2')
                self.assertEqual({(r['rank'], r['call']): r['longest_ns'] for r in export(recording, 'calls')},
                                 {(r['rank'], r['call']): r['longest_ns'] for r in longest})

    def test_ranks_of_a_window_add_up_to_its_totals(self):
        for recording in self.recordings:
            with self.subTest(recording=os.path.basename(recording)):
                windows = summed(export(recording, 'window_rank'), ('window',), TOTALS)
                totals = summed(export(recording, 'totals'), ('window',), TOTALS)
                self.assertEqual({w: row for w, row in totals.items() if w in windows},
                                 {w: row for w, row in windows.items() if w in totals})

    def test_parts_of_the_time_add_up_to_the_whole(self):
        for recording in self.recordings:
            with self.subTest(recording=os.path.basename(recording)):
                keys, figures = ('source', 'destination'), ('messages', 'bytes')
                middle, begin = asked(recording, 'SELECT max(begin_ns) AS ns FROM window_pair UNION ALL'
                                                 ' SELECT min(begin_ns) FROM window_rank')
                if middle == begin:
                    continue
                for table in ('pairs', 'window_pair'):
                    parts = collections.defaultdict(collections.Counter)
                    for span in (('--to', middle['ns']), ('--from', middle['ns'])):
                        for key, row in summed(export(recording, table, *span), keys, figures).items():
                            parts[key].update(row)
                    self.assertEqual(summed(export(recording, 'pairs'), keys, figures),
                                     {key: {f: row[f] for f in figures} for key, row in parts.items()})

    def test_a_time_with_one_end_has_windows_that_were_not_published_yet(self):
        """As of a running job: the newest windows still wait for late agents. `holter cut` has them, too."""
        running = os.path.join(self.folder, 'running.hrec')
        shutil.copy(self.recordings[0], running)
        with contextlib.closing(sqlite3.connect(running)) as db, db:
            db.execute('DELETE FROM totals WHERE window < (SELECT min(window) + 3 FROM totals)'
                       ' OR window > (SELECT max(window) - 8 FROM totals)')
        middle, = (row['ns'] for row in asked(running, 'SELECT start_ns AS ns FROM totals ORDER BY 1 LIMIT 1 OFFSET 30'))
        for table, keys in (('pairs', ('source', 'destination')), ('window_rank', ('rank',))):
            figures = ('messages', 'bytes') if table == 'pairs' else RANK_FIGURES
            parts = collections.defaultdict(collections.Counter)
            for span in (('--to', middle), ('--from', middle)):
                for key, row in summed(export(running, table, *span), keys, figures).items():
                    parts[key].update(row)
            self.assertEqual(summed(export(self.recordings[0], table), keys, figures),
                             {key: {f: row[f] for f in figures} for key, row in parts.items()})

    def test_links_of_hosts_carry_the_pairs_between_hosts(self):
        recording = self.recordings[0]
        between = asked(recording, """
            SELECT sum(bytes) AS bytes FROM window_pair
            JOIN places AS a ON a.rank = source JOIN places AS b ON b.rank = destination WHERE a.node <> b.node""")
        for end in ('source', 'destination'):
            links = asked(recording, f"SELECT sum(bytes) AS bytes FROM window_link WHERE {end} = 'network'")
            self.assertEqual(between, links)


if __name__ == '__main__':
    unittest.main()
