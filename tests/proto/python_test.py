"""The Python package: recordings in SQL, messages of the wire, and the stream of a daemon.

usage: python_test.py SOURCE BUILD
Runs in Debian's Python, where that has what the package needs: pyzmq, msgpack, and extensions of sqlite3.
"""
import contextlib
import os
import pathlib
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

SOURCE, BUILD = (os.path.abspath(path) for path in (sys.argv.pop(1), sys.argv.pop(1)))
os.environ.setdefault('HOLTER_BUILD', BUILD)
sys.path[:0] = [os.path.join(BUILD, 'proto', 'python'), os.path.join(SOURCE, 'tests', 'system')]

try:
    import msgpack
    import zmq
    sqlite3.Connection.enable_load_extension
except (ImportError, AttributeError):
    DEBIAN = '/usr/bin/python3'
    check = 'import msgpack, sqlite3, zmq; sqlite3.Connection.enable_load_extension'
    if os.environ.get('HOLTER_PYTHON_TEST') or subprocess.run([DEBIAN, '-c', check], check=False,
                                                              stderr=subprocess.DEVNULL).returncode != 0:
        print('python3-zmq, python3-msgpack or extensions of sqlite3 are not there')
        sys.exit(77)
    os.execve(DEBIAN, [DEBIAN, __file__, SOURCE, BUILD, *sys.argv[1:]], {**os.environ, 'HOLTER_PYTHON_TEST': '1'})

import lab
import recording as independent

import holter
from holter import tables, wire

RECORDING = os.path.join(SOURCE, 'docs', 'slow-link.hrec')
EXTENSION = os.path.join(BUILD, 'daemon', 'storage', 'sql', 'holter_sql.so')
SANITIZED = os.environ.get('HOLTER_SANITIZE', 'none') != 'none'


class Tables(unittest.TestCase):
    def test_types_fields_and_columns_are_those_of_the_list(self):
        self.assertEqual({number: name for number, (name, _) in independent.MESSAGES.items()},
                         {number: name for number, (name, _) in tables.TYPES.items()})
        for number, (name, fields) in independent.MESSAGES.items():
            for key, (field, table) in fields.items():
                kind = tables.TYPES[number][1][key]
                self.assertEqual((field, table), (kind[0], kind[1][1] if isinstance(kind[1], tuple) else None), name)
        self.assertEqual({table: columns for table, columns in independent.ROWS.items() if table in tables.ROWS},
                         {table: [name for name, _ in columns] for table, columns in tables.ROWS.items()})

    def test_a_message_has_all_its_fields(self):
        encoded = wire.encode('hello', {'protocol': 1, 'role': 'viewer', 'version': 'x', 'host': 'h', 'pid': 5})
        self.assertEqual(('hello', {'protocol': 1, 'role': 'viewer', 'version': 'x', 'host': 'h', 'pid': 5,
                                    'instance': 0, 'session': ''}), wire.decode(encoded))
        name, window = wire.decode(msgpack.packb([7, {4: 3, 10: [[1, 2]], 63: 'new'}]))
        self.assertEqual(('window', 3, []), (name, window['window'], window['pairs']))
        self.assertEqual((1, 2, 0), tuple(window['ranks'][0][c] for c in ('rank', 'events', 'sent')))

    def test_what_is_no_message_is_refused(self):
        for data in (b'', b'\xc1', b'\x93', msgpack.packb(7), msgpack.packb([7]), msgpack.packb([99, {}]),
                     msgpack.packb([7, 5]), msgpack.packb([7, {10: 5}]), msgpack.packb([7, {10: [5]}]),
                     msgpack.packb([[], {}])):
            with self.assertRaises(ValueError):
                wire.decode(data)


@unittest.skipIf(SANITIZED, 'a program without the sanitizer cannot load what was built with it')
class Recordings(unittest.TestCase):
    def test_a_question_is_answered_in_dictionaries(self):
        with holter.Recording(RECORDING, EXTENSION) as recording:
            self.assertIsNone(recording.missing)
            self.assertEqual([{'m': 44352, 'b': 98304000}],
                             recording.query('SELECT sum(messages) AS m, sum(bytes) AS b FROM window_pair'))
            wanted = sum(row['messages'] for row in recording.table('window_pair')
                         if row['source'] in (0, 1) and row['destination'] == 4 and 10.5 <= row['second'] <= 19.5)
            self.assertEqual([{'m': wanted}], recording.query(
                "SELECT sum(messages) AS m FROM window_pair WHERE source IN (?, ?) AND destination = 4 AND begin_ns"
                " BETWEEN moment('15:04:40') AND moment('15:04:49')", [0, 1]))

    def test_a_table_has_the_rows_between_two_times(self):
        with holter.Recording(RECORDING, EXTENSION) as recording:
            rows = recording.table('window_rank', '15:04:40', '15:04:41')
            self.assertEqual((16, '2026-11-26T15:04:40.000Z'), (len(rows), rows[0]['time']))
            self.assertEqual(len(recording.table('totals')), 87)
            self.assertIn('window_link', recording.tables())
            with self.assertRaisesRegex(holter.HolterError, 'there is no table x'):
                recording.table('x')
            with self.assertRaisesRegex(holter.HolterError, "'soon' is no point in time"):
                recording.table('window_rank', 'soon')

    def test_without_the_extension_the_error_says_so(self):
        with holter.Recording(RECORDING, '/nowhere/holter_sql.so') as recording:
            self.assertEqual(87, len(recording.table('totals')))
            with self.assertRaisesRegex(holter.HolterError, 'tables of windows are not there: /nowhere/holter_sql.so'):
                recording.table('window_pair')

    def test_what_is_no_recording_is_refused(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, 'a b?.hrec')
            with self.assertRaisesRegex(holter.HolterError, 'unable to open'):
                holter.Recording(path, EXTENSION)
            with contextlib.closing(sqlite3.connect(path)) as other:
                other.execute('CREATE TABLE job(a)')
            with self.assertRaisesRegex(holter.HolterError, 'no recording of schema'):
                holter.Recording(path, EXTENSION)

    def test_names_of_files_may_be_paths_and_of_any_bytes(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, os.fsdecode(b'sim\xff.hrec'))
            os.symlink(RECORDING, path)
            with holter.Recording(pathlib.Path(path), pathlib.Path(EXTENSION)) as recording:
                self.assertEqual(87, len(recording.table('totals')))

    def test_a_file_on_read_only_media_is_read_with_its_log(self):
        """As that of a daemon that was killed: with a log, or with one that was empty and is gone."""
        with tempfile.TemporaryDirectory() as directory, contextlib.ExitStack() as stack:
            path, media = os.path.join(directory, 'a.hrec'), os.path.join(directory, 'media')
            os.chmod(directory, 0o755)
            os.mkdir(media)
            shutil.copy(RECORDING, path)
            with contextlib.closing(sqlite3.connect(path)) as writer:
                writer.execute('PRAGMA journal_mode = WAL')
                shutil.copy(path, os.path.join(media, 'gone.hrec'))
                writer.execute("UPDATE job SET state = 'running'")
                writer.commit()
                for suffix in ('', '-wal'):
                    shutil.copy(path + suffix, os.path.join(media, 'killed.hrec' + suffix))
            for name in os.listdir(media):
                os.chmod(os.path.join(media, name), 0o644)
            os.chmod(media, 0o555)
            if os.geteuid() == 0:
                os.seteuid(65534)
                stack.callback(os.seteuid, 0)
                if not os.access(EXTENSION, os.R_OK, effective_ids=True):
                    self.skipTest('the build is where only root may read')
            for name, state in (('gone', 'ended'), ('killed', 'running')):
                with holter.Recording(os.path.join(media, name + '.hrec'), EXTENSION) as recording:
                    self.assertEqual([{'state': state}], recording.query('SELECT state FROM job'))
                    self.assertEqual(2226, len(recording.table('window_pair')))

    def test_an_error_behind_the_first_row_is_one_of_holter(self):
        """As of damage in the middle of a file, whatever the rows are for."""
        sql = "SELECT CASE value WHEN 2 THEN json('{') ELSE value END FROM json_each('[1, 2]')"
        with holter.Recording(RECORDING, EXTENSION) as recording, mock.patch.dict(sys.modules, pandas=mock.Mock()):
            for read in (recording.query, recording.to_pandas):
                with self.assertRaisesRegex(holter.HolterError, 'malformed JSON'):
                    read(sql)

    def test_without_pandas_a_data_frame_is_refused_with_the_reason(self):
        with holter.Recording(RECORDING, EXTENSION) as recording, mock.patch.dict(sys.modules, {'pandas': None}):
            with self.assertRaisesRegex(holter.HolterError, 'needs pandas'):
                recording.to_pandas('totals')


try:
    import pandas
except ImportError:
    pandas = None


@unittest.skipIf(pandas is None, 'python3-pandas is not installed')
@unittest.skipIf(SANITIZED, 'a sanitizer cannot be loaded into Python')
class Pandas(unittest.TestCase):
    def setUp(self):
        self.recording = holter.Recording(RECORDING, EXTENSION)
        self.addCleanup(self.recording.close)

    def equals_table(self, frame, rows):
        self.assertIsInstance(frame, pandas.DataFrame)
        self.assertEqual(list(rows[0]), list(frame.columns))
        self.assertEqual([tuple(row.values()) for row in rows],
                         [tuple(row) for row in frame.astype(object).where(frame.notna(), None).values.tolist()])

    def test_a_table_becomes_a_frame_with_its_columns_and_values(self):
        for name in ('totals', 'alert'):
            with self.subTest(table=name):
                self.equals_table(self.recording.to_pandas(name), self.recording.table(name))

    def test_a_frame_has_the_windows_of_a_time(self):
        span = {'begin': '15:04:40', 'end': '15:04:41'}
        frame = self.recording.to_pandas('window_pair', **span)
        self.equals_table(frame, self.recording.table('window_pair', **span))
        self.assertLess(0, len(frame))

    def test_sums_of_a_frame_are_those_of_sql(self):
        frame = self.recording.to_pandas('window_pair')
        by_pair = self.recording.to_pandas('SELECT source, destination, sum(bytes) AS bytes FROM window_pair '
                                           'GROUP BY source, destination ORDER BY source, destination')
        summed = frame.groupby(['source', 'destination'], as_index=False)['bytes'].sum()
        self.assertEqual(by_pair.values.tolist(), summed.values.tolist())

    def test_a_statement_takes_parameters_and_may_have_no_rows(self):
        frame = self.recording.to_pandas('SELECT 1 AS one WHERE ? > 5', (4,))
        self.assertEqual((['one'], 0), (list(frame.columns), len(frame)))


class Streams(unittest.TestCase):
    def setUp(self):
        self.place = lab.Lab()
        self.place.__enter__()
        self.addCleanup(self.place.close)
        self.endpoint = f'ipc://{os.path.join(self.place.run_dir, "replay.sock")}'
        self.place.env['HOLTER_DAEMON'] = self.endpoint

    def replay(self):
        daemon = self.place.holter('replay', '-c', self.endpoint, '--paused', RECORDING)
        lab.wait_for(lambda: not daemon.alive() or self.place.status(), 'the replay')
        return daemon

    def test_all_windows_arrive(self):
        self.replay()
        with holter.Stream(self.endpoint, ['totals', 'alerts'], timeout=lab.PATIENCE) as stream:
            job = stream.request('jobs')[-1][1]['job']
            self.place.holter('replay', '--timeout', lab.PATIENCE, '--ask', 'play').finish()
            sent, alerts = {}, set()
            while len(sent) < 87:
                message = stream.receive(lab.PATIENCE)
                self.assertIsNotNone(message, f'{len(sent)} windows')
                self.assertEqual(job, message.job)
                if message.name == 'totals':
                    sent[message.fields['window']] = message.fields['sent']
                else:
                    alerts.add((message.fields['id'], message.fields['kind']))
            self.assertEqual((44352, {(1, 'latency')}, 0), (sum(sent.values()), alerts, stream.lost))

    def test_a_request_that_the_daemon_refuses_is_an_error(self):
        self.replay()
        with holter.Stream(self.endpoint, timeout=lab.PATIENCE) as stream:
            self.assertEqual('status', stream.request('status')[0][0])
            with self.assertRaises(holter.HolterError):
                stream.request('nonsense')

    def test_a_run_of_the_daemon_that_has_not_seen_the_client_answers_too(self):
        """As after a seek of a replay, after a restart, and when the client has been silent for long."""
        self.replay()
        with holter.Stream(self.endpoint, timeout=lab.PATIENCE) as stream:
            before = stream.request('replay')[0][1]
            for moment in ('50%', '0%'):
                asked = self.place.holter('replay', '--timeout', lab.PATIENCE, '--ask', f'seek {moment}').finish()
                self.assertEqual(0, asked.status, asked)
                after = stream.request('replay')[0][1]
                self.assertLess(before['run'], after['run'])
                before = after
            for moment in ('50%', '0%') * 5:  # another run takes over between two requests of this client, too
                stream.request('replay', argument=f'seek {moment}')
                lab.wait_for(lambda: stream.request('replay')[0][1]['state'] == 'paused', 'the end of the seek')

    def test_keys_of_a_viewer_open_a_daemon_that_has_keys(self):
        keys, viewer = (os.path.join(self.place.dir, name) for name in ('keys', 'viewer'))
        self.place.holter('keys', keys).finish()
        self.place.holter('keys', '--for', 'viewer', '-o', viewer, keys).finish()
        self.place.env['HOLTER_KEYS'] = keys
        self.place.daemon('--keys', keys)
        endpoint = self.place.env['HOLTER_DAEMON']
        with holter.Stream(endpoint, keys=viewer, timeout=lab.PATIENCE) as stream:
            self.assertEqual('status', stream.request('status')[0][0])
        with self.assertRaisesRegex(holter.HolterError, 'no keys of a viewer'):
            holter.Stream(endpoint, keys=self.place.dir)

    def test_a_daemon_may_listen_on_an_address_of_ipv6(self):
        try:
            with socket.socket(socket.AF_INET6) as tried:
                tried.bind(('::1', 0))
        except OSError:
            self.skipTest('this host has no IPv6')
        endpoint = f'tcp://[::1]:{lab.free_port()}'
        self.place.daemon('--no-keys', '--listen', endpoint)
        with holter.Stream(endpoint, timeout=lab.PATIENCE) as stream:
            self.assertEqual('status', stream.request('status')[0][0])

    def test_no_daemon_and_no_topic_are_errors(self):
        with self.assertRaisesRegex(holter.HolterError, 'no answer within'):
            holter.Stream(self.endpoint, timeout=0.05)
        with self.assertRaisesRegex(holter.HolterError, 'there is no topic x'):
            holter.Stream(self.endpoint, ['x'])
        with self.assertRaisesRegex(holter.HolterError, 'several endpoints are for agents'):
            holter.Stream('tcp://a:4710,tcp://b:4710')
        with self.assertRaisesRegex(holter.HolterError, 'nonsense: no endpoint of a daemon'):
            holter.Stream('nonsense')


if __name__ == '__main__':
    unittest.main()
