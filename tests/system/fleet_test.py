"""Several daemons for many jobs, on NATS JetStream: a daemon that is killed is followed by another, and nothing is lost,
counted twice or announced twice."""
import concurrent.futures
import csv
import json
import os
import random
import re
import shutil
import signal
import socket
import sys
import time
import unittest

import bed
import checks
import lab
import recording
from fleet import Fleet


def announced_payload(port):
    """Bytes of the longest message that a server accepts, as it tells each client at once."""
    with socket.create_connection(('127.0.0.1', port)) as client, client.makefile('rb') as lines:
        return json.loads(lines.readline().partition(b' ')[2])['max_payload']


class Fleets(unittest.TestCase):
    def setUp(self):
        self.place = lab.Lab()
        self.place.__enter__()
        self.addCleanup(self.place.close)

    def start(self, names='ab', servers=1, arguments=()):
        fleet = Fleet(self.place, servers)
        for name in names:
            fleet.start_daemon(name, *arguments)
        return fleet

    def finish(self, fleet):
        fleet.close()
        self.place.__exit__(None, None, None)

    def check_job(self, fleet, job):
        """The whole job is in the recording of the daemon that had it last: each message once, as the program counted."""
        recorded = fleet.recording(fleet.wait_ended(job), job)
        sums = recorded.sums()
        checks.recording_tells_the_truth(self, sums, fleet.truth(job))
        checks.nothing_lost(self, sums)
        checks.totals_agree(self, recorded.totals(), sums)

    def test_a_daemon_that_is_killed_is_followed_by_another_and_every_call_counts_once(self):
        fleet = self.start()
        for job, session in (('one', '1'), ('two', '2')):
            fleet.start_job(job, session)
        for job in ('one', 'two'):
            lab.wait_for(lambda job=job: (fleet.state(job) or {}).get('start_ns'), 'a window')
        first = fleet.holder('one')
        fleet.kill(first)
        for job in ('one', 'two'):
            lab.wait_for(lambda job=job: fleet.holder(job) not in (None, first), 'another worker')
            self.assertEqual(0, fleet.end_job(job).status)
        for job in ('one', 'two'):
            self.check_job(fleet, job)
        self.finish(fleet)

    def test_daemons_whose_machines_differ_by_a_minute_have_one_clock(self):
        fleet = Fleet(self.place)
        fleet.start_daemon('a')
        fleet.start_daemon('b', env=fleet.ahead(60))
        fleet.start_job('one', '1')
        lab.wait_for(lambda: (fleet.state('one') or {}).get('start_ns'), 'a window')
        fleet.kill('a')
        lab.wait_for(lambda: fleet.has_new_window('one'), 'a window of the other daemon')
        self.assertEqual(0, fleet.end_job('one').status)
        ended_ns = time.time_ns()
        self.check_job(fleet, 'one')
        windows = sorted(fleet.joined_totals('one'))
        self.assertLess(abs(windows[-1] * 200_000_000 - ended_ns), 30e9, 'not in the time of the daemon that was killed')
        self.assertLess(windows[-1] - windows[0], 150, 'windows were left out')
        self.finish(fleet)

    def test_a_daemon_that_ends_in_order_hands_its_jobs_over(self):
        fleet = self.start(arguments=('--metrics', '127.0.0.1:0'))
        fleet.start_job('one', '1')
        lab.wait_for(lambda: (fleet.state('one') or {}).get('start_ns'), 'a window')
        first = fleet.holder('one')
        fleet.kill(first, signal.SIGTERM)
        self.assertEqual(0, fleet.daemons[first].process.returncode)
        lab.wait_for(lambda: fleet.holder('one') not in (None, first), 'another worker')
        self.assertEqual(1, fleet.kept('jobs'))
        self.assertEqual(0, fleet.end_job('one').status)
        self.check_job(fleet, 'one')
        lab.wait_for(lambda: fleet.kept('jobs') == 0, 'the end of the job in the list, without a mark for it')
        second, = fleet.daemons.keys() - {first}
        lab.wait_for(lambda: fleet.metrics(second)['unstored_bytes'] == 0, 'all of it in the servers')
        metrics = fleet.metrics(second)
        self.assertEqual((1, 1, 0, 0), tuple(metrics[name] for name in ('jobs', 'jobs_taken_total', 'jobs_lost_total', 'rejected_total')))
        self.assertGreater(metrics['messages_stored_total'], 0)
        self.assertGreater(metrics['envelopes_read_total'], 0)
        self.finish(fleet)

    def stop_past_the_lease(self, fleet, job):
        """Of two daemons, stop the job's until the other one has it, and let it find out. @return their names"""
        first = fleet.holder(job)
        second, = fleet.daemons.keys() - {first}
        fleet.daemons[first].kill(signal.SIGSTOP)
        lab.wait_for(lambda: fleet.holds(second, job), 'another worker')
        fleet.daemons[first].kill(signal.SIGCONT)
        lab.wait_for(lambda: not fleet.holds(first, job), 'the end of the first worker\'s')
        return first, second

    def test_a_worker_that_was_stopped_and_wakes_up_leaves_the_job_to_the_other(self):
        fleet = self.start()
        fleet.start_job('one', '1')
        lab.wait_for(lambda: (fleet.state('one') or {}).get('start_ns'), 'a window')
        first, second = self.stop_past_the_lease(fleet, 'one')
        self.assertTrue(fleet.holds(second, 'one'))
        self.assertEqual(0, fleet.end_job('one').status)
        self.check_job(fleet, 'one')
        self.finish(fleet)

    def test_a_worker_that_wakes_up_closes_no_window_that_agents_have_reported_in_part(self):
        fleet = self.start('ab', arguments=('--window', '500ms', '--grace', '1s'))
        end = os.path.join(self.place.dir, 'end')
        load = fleet.start_load(','.join(map(fleet.endpoint, 'ab')), '--agents', 20, '--windows', 1000, '--window-ms', 500,
                                '--spread-ms', 480, '--until', end)
        lab.wait_for(lambda: fleet.has_new_window('load'), 'a window')
        first, second = self.stop_past_the_lease(fleet, 'load')
        with open(end, 'w', encoding='utf-8'):
            pass
        self.assertEqual(0, load.finish().status)
        fleet.recording(second, 'load')
        totals = fleet.recording(first, 'load', 'running').totals_by_window()
        self.assertTrue(totals)
        self.assertEqual([], [row for row in totals.values() if row['agents_missing']])
        self.finish(fleet)

    def start_hang(self, names, *arguments):
        """Daemons, and a job that hangs until there is a file. @return the daemons, the file"""
        rules, gate = (os.path.join(self.place.dir, name) for name in ('rules.yaml', 'gate'))
        with open(rules, 'w', encoding='utf-8') as f:
            f.write('rules:\n  - name: hang\n    kind: hang\n    for: 1s\n    stopped-for: 1s\n')
        fleet = self.start(names, arguments=('--rules', rules, *arguments))
        fleet.start_job('one', '1', 'hang', gate)
        lab.wait_for(lambda: fleet.alerts('firing'), 'the alert')
        return fleet, gate

    def end_hang(self, fleet, gate):
        """Let it go on to its end: the alert about it fired and was resolved once."""
        with open(gate, 'w', encoding='utf-8'):
            pass
        self.assertEqual(0, fleet.jobs['one'].finish().status)
        self.check_job(fleet, 'one')
        lab.wait_for(lambda: fleet.alerts('resolved'), 'the end of the alert')
        lab.wait_for(lambda: fleet.stored('holter.default.*.state') == {}, 'the end of the state of a job that has ended')
        fleet.close()
        self.assertEqual((1, 1), (len(fleet.alerts('firing')), len(fleet.alerts('resolved'))), fleet.alerts())

    def test_an_alert_is_announced_once_although_another_daemon_goes_on(self):
        fleet, gate = self.start_hang('ab')
        first = fleet.holder('one')
        fleet.kill(first)
        second = lab.wait_for(lambda: fleet.holder('one') if fleet.holder('one') != first else None, 'another worker')
        lab.wait_for(lambda: 'goes on' in fleet.daemons[second].err(), 'the job to go on')
        self.end_hang(fleet, gate)
        self.place.__exit__(None, None, None)

    def kill_after(self, fleet, job, windows, without_states=False):
        """Kill the job's daemon after so many further windows. @return the name and the log of the one that goes on"""
        first = fleet.holder(job)
        tap = self.place.holter('tap', '-c', fleet.endpoint(first), '--topic', 'totals', '--no-snapshot', '--count', str(windows))
        self.assertEqual(0, tap.finish().status)
        fleet.kill(first)
        if without_states:
            fleet.publish('$JS.API.STREAM.PURGE.holter_default', b'{"filter":"holter.default.*.state"}')
        name = lab.wait_for(lambda: fleet.holder(job), 'another worker')
        lab.wait_for(lambda: 'goes on' in fleet.daemons[name].err(), 'the job to go on')
        return name, fleet.daemons[name].err()

    def same_rows(self, table, key, some, every):
        """What a daemon wrote that went on with a job is what it had written had it read the job from its begin."""
        rows = {tuple(row[k] for k in key): row for row in every.rows(table, key[0])}
        mine = some.rows(table, key[0])
        last = mine[-1][key[0]] - 5  # it was killed while it wrote
        mine = [row for row in mine if row[key[0]] <= last]
        self.assertGreater(len(mine), 10)
        for row in mine:
            self.assertEqual(rows[tuple(row[k] for k in key)], row)

    def test_a_take_over_reads_what_came_after_the_state_that_was_stored(self):
        fleet, gate = self.start_hang('abc', '--checkpoint', '1s')
        second, log = self.kill_after(fleet, 'one', 40)
        saved = int(re.search(r'its state after message (\d+) is taken over', log)[1])
        newest, read = map(int, re.search(r'goes on after message (\d+), (\d+) messages read', log).groups())
        self.assertGreater(saved, newest // 2)
        self.assertLessEqual(read, newest - saved)
        self.assertEqual(1, len(fleet.stored('holter.default.*.state')))
        third, log = self.kill_after(fleet, 'one', 40, without_states=True)
        self.assertNotIn('is taken over', log)
        self.end_hang(fleet, gate)
        rest, whole = fleet.recording(second, 'one', 'running'), fleet.recording(third, 'one')  # one was killed
        self.same_rows('totals', ('window',), rest, whole)
        self.same_rows('latency', ('window', 'scope', 'id'), rest, whole)
        self.assertEqual([row['id'] for row in whole.alerts()], [row['id'] for row in rest.alerts()])
        messages = whole.messages()
        self.assertGreater(len(messages), len(rest.messages()))
        for message in rest.messages():
            self.assertIn(message, messages)
        self.place.__exit__(None, None, None)

    def test_a_job_of_two_workers_is_exported_into_one_recording(self):
        fleet = self.start('ab', arguments=('--checkpoint', '1s'))
        fleet.start_job('one', '1')
        lab.wait_for(lambda: (fleet.state('one') or {}).get('start_ns'), 'a window')
        _, log = self.kill_after(fleet, 'one', 25)
        self.assertIn('is taken over', log)
        job = fleet.state('one')['job']
        running = fleet.export(job)
        self.assertEqual(0, running.status, running)
        self.assertEqual(0, fleet.end_job('one').status)
        last = fleet.recording(fleet.wait_ended('one'), 'one')
        exported = fleet.export(job)
        self.assertEqual((0, ''), (exported.status, exported.err), exported)
        whole = recording.Recording(exported.out.strip())
        sums = whole.sums()
        checks.recording_tells_the_truth(self, sums, fleet.truth('one'))
        checks.totals_agree(self, whole.totals(), sums)
        self.assertEqual('ended', whole.state())
        self.assertGreater(len(whole.messages()), len(last.messages()))
        for part in (recording.Recording(running.out.strip()), last):
            for message in part.messages():
                self.assertIn(message, whole.messages())
        unknown = fleet.export('three')
        self.assertEqual((1, ''), (unknown.status, unknown.out), unknown)
        self.assertIn('--export three: the servers have no messages of such a job', unknown.err)
        self.finish(fleet)

    def test_a_job_under_the_id_of_one_that_has_ended_is_another_job(self):
        """As after a requeue; also for the daemon that takes it over, and for the export."""
        fleet = self.start()
        self.place.env['HOLTER_LAUNCH'] = '1'  # the second part of its id
        fleet.start_job('one', '1')
        lab.wait_for(lambda: (fleet.state('one') or {}).get('start_ns'), 'a window')
        self.assertEqual(0, fleet.end_job('one').status)
        self.check_job(fleet, 'one')
        shutil.rmtree(fleet.folder('one'))
        fleet.start_job('one', '2')
        lab.wait_for(lambda: (fleet.state('one') or {}).get('state') == 'running', 'the next job')
        lab.wait_for(lambda: fleet.has_new_window('one'), 'a window')
        first = fleet.holder('one')
        fleet.kill(first)
        lab.wait_for(lambda: fleet.holder('one') not in (None, first), 'another worker')
        self.assertEqual(0, fleet.end_job('one').status)
        self.check_job(fleet, 'one')
        exported = fleet.export(fleet.state('one')['job'])
        self.assertEqual((0, ''), (exported.status, exported.err), exported)
        checks.recording_tells_the_truth(self, recording.Recording(exported.out.strip()).sums(), fleet.truth('one'))
        self.finish(fleet)

    def test_an_export_that_cannot_be_written_fails(self):
        fleet = self.start('a')
        fleet.start_job('one', '1')
        lab.wait_for(lambda: (fleet.state('one') or {}).get('start_ns'), 'a window')
        self.assertEqual(0, fleet.end_job('one').status)
        fleet.wait_ended('one')
        command = ['--fleet', fleet.url, '--export', fleet.state('one')['job'], '--record', os.path.join(self.place.output, 'exported')]
        for shell, why in (('ulimit -f 16; exec "$@"', 'recording of job one'), ('exec "$@" > /dev/full', 'standard output: ')):
            with self.subTest(shell):
                exported = self.place.start('bash', '-c', shell, 'bash', os.path.join(lab.BUILD, 'daemon', 'holterd'), *command).finish()
                self.assertEqual(1, exported.status, exported)
                self.assertIn(why, exported.err)
        self.finish(fleet)

    def test_the_end_of_a_job_whose_phases_take_long_to_analyse_is_exported(self):
        fleet = self.start('a', arguments=('--window', '500ms'))
        load = fleet.start_load(fleet.endpoint('a'), '--agents', 64, '--ranks', 16, '--windows', 8, '--window-ms', 500)
        fleet.wait_ended('load.0')
        self.assertEqual(0, load.finish().status)
        last = fleet.recording('a', 'load')
        self.assertNotEqual([], last.phases())

        def is_exported_as_closed():
            """Which windows were closed before late messages came is stored a moment after the end of the job is known."""
            exported = fleet.export('load.0')
            self.assertEqual((0, ''), (exported.status, exported.err), exported)
            whole = recording.Recording(exported.out.strip())
            self.assertEqual('ended', whole.state())
            return last.phases() == whole.phases()
        lab.wait_for(is_exported_as_closed, 'an export with the phases of the worker')
        self.finish(fleet)

    def test_a_daemon_whose_servers_do_not_answer_goes_on_with_what_it_has(self):
        fleet = self.start('a')
        fleet.start_job('one', '1')
        lab.wait_for(lambda: (fleet.state('one') or {}).get('start_ns'), 'a window')
        fleet.servers[0].kill(signal.SIGSTOP)
        expired = time.monotonic() + 4  # twice a lease
        lab.wait_for(lambda: time.monotonic() > expired, 'the end of the lease')
        fleet.servers[0].kill(signal.SIGCONT)
        lab.wait_for(lambda: 'held again' in fleet.daemons['a'].err(), 'the lease')
        newest = fleet.newest_window('one')
        lab.wait_for(lambda: fleet.newest_window('one') > newest, 'a window')
        self.assertEqual(0, fleet.end_job('one').status)
        self.check_job(fleet, 'one')
        self.assertEqual(1, fleet.daemons['a'].err().count('goes on after message'))
        self.finish(fleet)

    def test_what_servers_without_room_do_not_store_is_named_and_stored_when_they_have_some(self):
        settings = (f'listen: 0.0.0.0:4222\nmax_payload: 32MB\njetstream {{ store_dir: "{self.place.dir}/store", '
                    'max_file_store: %s }\n')
        fleet = Fleet(self.place, configuration=settings % '100KB')
        fleet.start_daemon('a')
        fleet.start_job('one', '1')
        lab.wait_for(lambda: 'the servers do not store' in fleet.daemons['a'].err(), 'the limit')
        self.assertRegex(fleet.daemons['a'].err(), 'do not store, trying again: .*:[0-9]+: stream holter_default: .*(resource|storage)')
        fleet.servers[0].kill(signal.SIGTERM)
        fleet.servers[0].process.wait()
        fleet.configuration = settings % '1GB'
        fleet.start_server(0)
        lab.wait_for(lambda: 'the servers store again' in fleet.daemons['a'].err(), 'the end of it')
        self.assertEqual(0, fleet.end_job('one').status)
        self.check_job(fleet, 'one')
        self.finish(fleet)

    def test_a_stream_of_short_messages_gets_no_longer_ones(self):
        fleet = Fleet(self.place)
        kinds = [f'holter.default.*.{kind}' for kind in ('in', 'out', 'state')]
        fleet.publish('$JS.API.STREAM.CREATE.holter_default', json.dumps(
            {'name': 'holter_default', 'subjects': kinds, 'retention': 'limits', 'storage': 'file', 'max_msg_size': 8000}).encode(), 'answer')
        fleet.start_daemon('a', '--checkpoint', '1s')
        self.assertIn('accept messages of 7488 bytes', fleet.daemons['a'].err())
        fleet.start_job('one', '1')
        lab.wait_for(lambda: fleet.stored('holter.default.*.state'), 'a state')
        self.assertEqual(0, fleet.end_job('one').status)
        self.check_job(fleet, 'one')
        self.assertNotIn('do not store', fleet.daemons['a'].err())
        self.finish(fleet)

    def test_messages_longer_than_a_limit_that_was_lowered_are_lost_and_those_after_it_was_raised_are_not(self):
        def limit_messages(size):
            fleet.publish('$JS.API.STREAM.UPDATE.holter_default', json.dumps(
                {'name': 'holter_default', 'subjects': [f'holter.default.*.{kind}' for kind in ('in', 'out', 'state')],
                 'retention': 'limits', 'storage': 'file', 'num_replicas': 1, 'max_msg_size': size}).encode(), 'answer')

        fleet = self.start('a')
        fleet.start_job('one', '1')
        lab.wait_for(lambda: fleet.newest_window('one'), 'a published window')
        limit_messages(700)
        lab.wait_for(lambda: re.search(r"a message of \d+ bytes: the fleet's servers accept 188, see", fleet.daemons['a'].err()), 'a refusal')
        limit_messages(-1)
        fleet.has_new_window('one')
        lab.wait_for(lambda: fleet.has_new_window('one'), 'a window')
        lab.wait_for(lambda: any('did not reach the daemon' in alert['text'] for alert in fleet.alerts()), 'the alert')
        self.assertEqual(0, fleet.end_job('one').status)
        self.assertNotIn('do not store', fleet.daemons['a'].err())
        fleet.close()

    def test_a_daemon_whose_servers_accept_shorter_messages_than_before_names_them_and_is_started_again(self):
        settings = f'listen: 0.0.0.0:4222\nmax_payload: %s\njetstream {{ store_dir: "{self.place.dir}/store" }}\n'
        fleet = Fleet(self.place, configuration=settings % '32MB')
        fleet.start_daemon('a')
        fleet.start_job('one', '1')
        lab.wait_for(lambda: (fleet.state('one') or {}).get('start_ns'), 'a window')
        for size in ('600', '32MB'):
            with open(os.path.join(self.place.dir, 'nats0', 'nats.conf'), 'w', encoding='utf-8') as f:
                f.write((settings % size).replace('0.0.0.0:4222', f'127.0.0.1:{fleet.ports[0]}'))
            fleet.servers[0].kill(signal.SIGHUP)
            if size == '600':
                ended = fleet.daemons['a'].finish()
        lab.wait_for(lambda: announced_payload(fleet.ports[0]) > 600, 'the reload')
        self.assertEqual(1, ended.status, ended)
        self.assertRegex(ended.err, fr'{fleet.url}: Maximum Payload Violation')
        fleet.start_daemon('a')
        lab.wait_for(lambda: fleet.has_new_window('one'), 'a window')
        self.assertEqual(0, fleet.end_job('one').status)
        self.check_job(fleet, 'one')
        self.finish(fleet)

    def test_a_stream_that_was_deleted_is_named_and_daemons_that_start_again_go_on_with_the_job(self):
        fleet = self.start('a')
        fleet.start_job('one', '1')
        lab.wait_for(lambda: (fleet.state('one') or {}).get('start_ns'), 'a window')
        fleet.publish('$JS.API.STREAM.DELETE.holter_default', b'', 'answer')
        lab.wait_for(lambda: re.search('do not store, trying again: .*: stream holter_default: .*it was deleted',
                                       fleet.daemons['a'].err()), 'the warning')
        fleet.kill('a', signal.SIGTERM)
        fleet.start_daemon('a')
        begun = fleet.newest_window('one')
        lab.wait_for(lambda: fleet.newest_window('one') > max(begun, 1), 'further windows')
        self.assertEqual(0, fleet.end_job('one').status)
        recorded = fleet.recording(fleet.wait_ended('one'), 'one')
        checks.totals_agree(self, recorded.totals(), recorded.sums())
        fleet.close()

    def test_a_daemon_reads_a_stream_that_another_one_has_made_anew_from_its_begin(self):
        """As on a server whose store was lost: the numbers of messages begin again."""
        fleet = self.start('a')
        fleet.start_job('one', '1')
        lab.wait_for(lambda: fleet.newest_window('one'), 'a window')
        first = fleet.newest_window('one')
        lab.wait_for(lambda: fleet.newest_window('one') > first + 15, 'windows')
        fleet.servers[0].kill()
        fleet.servers[0].process.wait()
        shutil.rmtree(os.path.join(self.place.dir, 'nats0'))
        fleet.start_server(0)
        lab.wait_for(lambda: 'was deleted' in fleet.daemons['a'].err(), 'the warning')
        fleet.start_daemon('b')
        lab.wait_for(lambda: 'the stream holter_default was created again' in fleet.daemons['a'].err(), 'the other stream')
        lab.wait_for(lambda: fleet.holder('one'), 'a worker')
        self.assertEqual(0, fleet.end_job('one').status)
        fleet.recording(fleet.wait_ended('one'), 'one')
        sums = fleet.joined_sums('one')
        checks.recording_tells_the_truth(self, sums, fleet.truth('one'))
        checks.nothing_lost(self, sums)
        self.finish(fleet)

    def test_a_take_over_says_that_the_stream_has_lost_messages_that_were_not_read(self):
        """As by its limits."""
        fleet = self.start()
        fleet.start_job('one', '1')
        lab.wait_for(lambda: fleet.newest_window('one'), 'a published window')
        first = fleet.holder('one')
        fleet.kill(first)
        fleet.publish('$JS.API.STREAM.PURGE.holter_default', b'{"filter":"holter.default.*.in"}')
        second, = fleet.daemons.keys() - {first}
        lab.wait_for(lambda: re.search(r'job one\.\S+: messages that were not read are not stored any more', fleet.daemons[second].err()),
                     'the warning')
        lab.wait_for(lambda: any('did not reach the daemon' in alert['text'] for alert in fleet.alerts()), 'the alert')
        self.assertEqual(0, fleet.end_job('one').status)
        fleet.close()

    def test_a_bucket_that_was_deleted_is_named_and_daemons_that_start_again_take_jobs(self):
        fleet = self.start()
        for kind in ('jobs', 'leases'):
            fleet.publish(f'$JS.API.STREAM.DELETE.KV_holter_default_{kind}', b'', 'answer')
            for name in 'ab':
                lab.wait_for(lambda name=name, kind=kind: f'the bucket holter_default_{kind} was deleted' in fleet.daemons[name].err(),
                             'a warning')
                fleet.kill(name, signal.SIGTERM)
            for name in 'ab':
                fleet.start_daemon(name)
        fleet.start_job('one', '1')
        lab.wait_for(lambda: (fleet.state('one') or {}).get('start_ns'), 'a window')
        self.assertEqual(0, fleet.end_job('one').status)
        self.check_job(fleet, 'one')
        self.finish(fleet)

    def test_a_bucket_whose_limits_keep_a_job_from_being_held_is_named(self):
        fleet = Fleet(self.place)
        fleet.publish('$JS.API.STREAM.CREATE.KV_holter_default_leases', json.dumps(
            {'name': 'KV_holter_default_leases', 'subjects': ['$KV.holter_default_leases.>'], 'retention': 'limits', 'storage': 'file',
             'max_msgs_per_subject': 1, 'max_msgs': 1, 'discard': 'new', 'allow_direct': True, 'max_age': 2000000000,
             'duplicate_window': 2000000000}).encode(), 'answer')
        fleet.start_daemon('a')
        for job, session in (('one', '1'), ('two', '2')):
            fleet.start_job(job, session)
        lab.wait_for(lambda: re.search('the bucket holter_default_leases takes no further job', fleet.daemons['a'].err()), 'the warning')
        first = lab.wait_for(lambda: 'one' if fleet.state('one') else 'two' if fleet.state('two') else None, 'a job')
        self.assertEqual(0, fleet.end_job(first).status)
        self.assertEqual(0, fleet.end_job('one' if first == 'two' else 'two').status)
        fleet.close()

    def test_a_state_of_a_daemon_with_other_options_is_not_used(self):
        fleet = Fleet(self.place)
        fleet.start_daemon('a', '--checkpoint', '1s')
        fleet.start_daemon('b', '--checkpoint', '1s', '--topology', 'torus:4,4')
        fleet.start_job('one', '1')
        lab.wait_for(lambda: (fleet.state('one') or {}).get('start_ns'), 'a window')
        _, log = self.kill_after(fleet, 'one', 25)
        self.assertIn('its state cannot be used, it is read from its first message', log)
        self.assertEqual(0, fleet.end_job('one').status)
        self.check_job(fleet, 'one')
        self.finish(fleet)

    def test_daemons_with_a_longer_lease_than_the_fleet_was_made_with_keep_their_jobs(self):
        fleet = self.start('a')
        fleet.kill('a', signal.SIGTERM)
        fleet.lease = '12s'
        for name in 'ab':
            fleet.start_daemon(name)
            self.assertIn('leases of this fleet last 2 s, not 12 s', fleet.daemons[name].err())
        fleet.start_job('one', '1')
        first = lab.wait_for(lambda: fleet.newest_window('one'), 'a window')
        lab.wait_for(lambda: fleet.newest_window('one') > first + 30, 'windows of several leases')
        self.assertEqual(0, fleet.end_job('one').status)
        for daemon in fleet.daemons.values():
            self.assertNotIn('another daemon holds it', daemon.err())
        self.check_job(fleet, 'one')
        self.finish(fleet)

    def test_a_daemon_with_less_to_do_takes_jobs_of_the_gateway_of_all_agents(self):
        fleet = self.start('a')
        agents = dict(fleet.daemons)  # all agents know this daemon only
        fleet.start_daemon('b')
        both, fleet.daemons = fleet.daemons, agents
        jobs = [f'job{number}' for number in range(4)]
        for number, job in enumerate(jobs):
            fleet.start_job(job, str(number))
        fleet.daemons = both
        holders = [lab.wait_for(lambda job=job: fleet.holder(job), 'a worker') for job in jobs]
        self.assertIn('b', holders)
        for name in 'ab':  # each lists all of them, with the endpoint of the daemon where it is another one
            listed = lab.wait_for(lambda name=name: fleet.listed(name) if len(fleet.listed(name)) == len(jobs) else None, 'the list')
            self.assertEqual(listed, {job: '' if holder == name else fleet.endpoint(holder) for job, holder in zip(jobs, holders)})
        elsewhere = fleet.state(jobs[holders.index('b')])['job']
        status = self.place.holter('status', '-c', fleet.endpoint('a'), '-j', elsewhere).finish()
        self.assertEqual((1, f'holter: status: job "{elsewhere}" is at {fleet.endpoint("b")}\n'), (status.status, status.err))
        for job in jobs:
            lab.wait_for(lambda job=job: (fleet.state(job) or {}).get('start_ns'), 'a window')
            self.assertEqual(0, fleet.end_job(job).status)
            self.check_job(fleet, job)
        self.finish(fleet)

    def test_clients_find_the_daemon_of_a_job_and_the_one_after_it(self):
        fleet = self.start()
        for job, session in (('one', '1'), ('two', '2')):
            fleet.start_job(job, session)
            lab.wait_for(lambda job=job: (fleet.state(job) or {}).get('start_ns'), 'a window')
        names = {job: fleet.state(job)['job'] for job in fleet.jobs}
        any_job = self.place.holter('status', '-c', fleet.url).finish()
        self.assertEqual(1, any_job.status, any_job)
        self.assertTrue(all(name in any_job.err for name in names.values()), any_job)
        other = self.place.holter('status', '-c', f'{fleet.url}/other', env={'HOLTER_FLEET_KEYS': ''}).finish()
        self.assertEqual(1, other.status, other)
        self.assertIn(': no daemon has joined a fleet "other" there; without a directory of keys\n', other.err)
        dead = self.place.holter('status', '-c', 'nats://127.0.0.1:1', env={'HOLTER_FLEET_KEYS': ''}).finish()
        self.assertEqual((1, 'holter: status: nats://127.0.0.1:1: connecting: No server available for connection; without a directory '
                          'of keys\n'), (dead.status, dead.err))
        none = self.place.holter('status', '-c', f'{fleet.url}/default/three').finish()
        self.assertEqual(1, none.status, none)
        self.assertIn('no daemon of the fleet holds job three', none.err)
        for words in (['status', '-f', 'json'], ['tap', '--topic', 'job', '--count', '1', '-f', 'json'], ['top', '--once']):
            named = self.place.holter(*words, '-c', fleet.url, '-j', names['two']).finish()
            self.assertEqual(0, named.status, named)
            self.assertIn(names['two'], named.out)
        picture = os.path.join(self.place.output, 'named.txt')
        viewed = self.place.holter('view', '-c', fleet.url, f"--job={names['two']}", '--snapshot', picture).finish()
        self.assertEqual(0, viewed.status, viewed)
        with open(picture, encoding='utf-8') as f:
            self.assertIn(names['two'], f.read())
        address = f"{fleet.url}/default/{names['one']}"
        status = self.place.holter('status', '-c', address, '-f', 'json').finish()
        self.assertEqual([names['one']], [j['job'] for j in json.loads(status.out)['jobs']])
        tap = self.place.tap('-c', address, '--topic', 'totals,job', '--until-end')
        lab.wait_for(lambda: '"totals"' in tap.out(), 'totals')
        first, picture = fleet.holder('one'), os.path.join(self.place.output, 'view.txt')
        clients = fleet.ask(first, 'status', '-v')['daemon']['clients']
        view = self.place.holter('view', '-c', address, '--snapshot', picture, '--after', '8')
        lab.wait_for(lambda: fleet.ask(first, 'status', '-v')['daemon']['clients'] > clients, 'the viewer')
        fleet.kill(first)
        viewed = view.finish()
        self.assertEqual(0, viewed.status, viewed)
        self.assertTrue(os.path.getsize(picture))
        lab.wait_for(lambda: fleet.holder('one'), 'a worker')
        for words, env in ((['-c' + address], {}), ([], {'HOLTER_DAEMON': address})):
            with self.subTest(words):
                viewed = self.place.holter('view', *words, '--snapshot', picture, env=env).finish()
                self.assertEqual(0, viewed.status, viewed)
        for words, env in (([], {'HOLTER_DAEMON': address}), (['-c', address], {})):
            self.assertEqual(0, self.place.holter('view', *words, '--help', env=env).finish().status)
        for job in fleet.jobs:
            lab.wait_for(lambda job=job: fleet.holder(job), 'a worker')
            self.assertEqual(0, fleet.end_job(job).status)
        told = tap.finish()
        self.assertEqual(0, told.status, told)
        fleet.wait_ended('one')
        last = {m['window']: m for m in lab.stream_messages(told.out) if m['topic'] == 'totals'}
        truth = fleet.truth('one')
        self.assertEqual(sum(v[0] for v in truth.sent.values()), sum(m['sent'] for m in last.values()))
        self.finish(fleet)

    def test_a_client_that_gives_up_names_the_daemon_and_what_the_fleet_lacks(self):
        fleet = self.start('a')
        fleet.start_job('one', '1')
        lab.wait_for(lambda: (fleet.state('one') or {}).get('start_ns'), 'a window')
        tap = self.place.tap('-c', fleet.url, '--topic', 'totals', '--timeout', '2')
        lab.wait_for(lambda: '"totals"' in tap.out(), 'totals')
        fleet.servers[0].kill()
        fleet.servers[0].process.wait()
        fleet.kill('a')
        ended = tap.finish()
        self.assertEqual(1, ended.status, ended)
        self.assertRegex(ended.err, f'{fleet.endpoint("a")}.*; {fleet.url}: connecting: No server available')
        self.assertEqual(0, fleet.end_job('one').status)
        fleet.close()

    def test_clients_of_a_daemon_that_loses_the_job_and_goes_on_follow_the_job(self):
        fleet = self.start('a')
        end = os.path.join(self.place.dir, 'end')
        load = fleet.start_load(fleet.endpoint('a'), '--agents', 2, '--windows', 2000, '--window-ms', 200, '--until', end)
        lab.wait_for(lambda: (fleet.state('load.0') or {}).get('start_ns'), 'a window')
        fleet.start_daemon('b')
        tap = self.place.tap('-c', f'{fleet.url}/default/load.0', '--topic', 'totals,job', '--until-end')
        lab.wait_for(lambda: '"totals"' in tap.out(), 'totals')
        fleet.publish('holter.default.load=0.out', b'as another daemon would')
        lab.wait_for(lambda: 'another daemon holds it' in fleet.daemons['a'].err(), 'the end of the lease')
        lab.wait_for(lambda: fleet.holder('load.0'), 'a worker')
        with open(end, 'w', encoding='utf-8'):
            pass
        self.assertEqual(0, load.finish().status)
        told = tap.finish()
        self.assertEqual(0, told.status, told)
        self.finish(fleet)

    def test_clients_that_name_no_job_find_the_one_that_runs_and_stay_with_it(self):
        fleet = self.start()
        fleet.start_job('ended', '1')
        lab.wait_for(lambda: (fleet.state('ended') or {}).get('start_ns'), 'a window')
        self.assertEqual(0, fleet.end_job('ended').status)
        fleet.wait_ended('ended')
        lab.wait_for(lambda: fleet.kept('jobs') == 0, 'the end of the job in the bucket')
        fleet.start_job('one', '2')
        lab.wait_for(lambda: (fleet.state('one') or {}).get('start_ns'), 'a window')
        status = self.place.holter('status', '-c', fleet.url).finish()
        self.assertEqual(0, status.status, status)
        path = os.path.join(self.place.output, 'one.hrec')
        clients = [self.place.tap('-c', fleet.url, '--topic', 'totals,job', '--until-end'),
                   self.place.holter('record', '-c', fleet.url, '-o', path)]
        lab.wait_for(lambda: '"totals"' in clients[0].out() and os.path.exists(path), 'a window')
        fleet.start_job('two', '3')
        lab.wait_for(lambda: (fleet.state('two') or {}).get('start_ns'), 'a window')
        first = fleet.holder('one')
        fleet.kill(first)
        lab.wait_for(lambda: fleet.holder('one') not in (None, first), 'another worker')
        for job in ('one', 'two'):
            lab.wait_for(lambda job=job: fleet.holder(job), 'a worker')
            self.assertEqual(0, fleet.end_job(job).status)
        for client in clients:
            ended = client.finish()
            self.assertEqual(0, ended.status, ended)
        self.assertEqual({'one'}, {m['job'].partition('.')[0] for m in lab.stream_messages(clients[0].out())})
        self.finish(fleet)

    def test_clients_that_wait_for_a_job_wait_for_one_of_a_fleet(self):
        fleet = self.start(['a daemon'])  # with a space in its endpoint
        path = os.path.join(self.place.output, 'one.hrec')
        clients = [self.place.tap('-c', fleet.url, '--topic', 'job', '--until-end'),
                   self.place.holter('record', '-c', fleet.url, '-o', path)]
        page = self.place.holter('top', '-c', fleet.url, '--once', '--timeout', lab.PATIENCE)
        view = self.place.holter('view', '-c', fleet.url)
        for client in (*clients, page, view):
            lab.wait_for(lambda client=client: 'no job is held by a daemon of the fleet; waiting' in client.err(), 'a client that waits')
        none = self.place.tap('-c', fleet.url, '--for', '0.1').finish()
        self.assertEqual(1, none.status, none)
        view.kill(signal.SIGTERM)
        fleet.start_job('one', '1')
        self.assertIn('one.', page.finish().out)
        lab.wait_for(lambda: (fleet.state('one') or {}).get('start_ns') and clients[0].out() and os.path.exists(path), 'a window')
        self.assertEqual(0, fleet.end_job('one').status)
        for client in clients:
            ended = client.finish()
            self.assertEqual(0, ended.status, ended)
        self.finish(fleet)

    def test_commands_take_the_job_of_the_address_and_not_the_newest_one(self):
        fleet = self.start('a')
        for job, session in (('one', '1'), ('two', '2')):
            fleet.start_job(job, session)
            lab.wait_for(lambda job=job: (fleet.state(job) or {}).get('start_ns'), 'a window')
        one = fleet.state('one')['job']
        address = f'{fleet.url}/default/{one}'
        record = self.place.holter('record', '-c', address, '-o', os.path.join(self.place.output, 'one.hrec'))
        lab.wait_for(lambda: 'recording job' in record.err(), 'a job')
        for words in (['capture'], ['graph', '--live'], ['commgram']):
            with self.subTest(words):
                def answer(words=words):  # an agent captures only so often
                    return re.findall(r'"job":"([^"]+)"', self.place.holter(*words, '-c', address, '-f', 'json').finish().out)
                self.assertEqual({one}, set(lab.wait_for(answer, 'an answer')))
        for job in fleet.jobs:
            self.assertEqual(0, fleet.end_job(job).status)
        self.assertIn(f'recording job {one} ', record.finish().err)
        self.finish(fleet)

    def test_in_buckets_of_other_tools_which_deny_deletions_a_job_that_has_ended_is_not_taken_over(self):
        fleet = Fleet(self.place)
        for kind in ('leases', 'jobs'):
            name, subjects = f'KV_holter_default_{kind}', f'$KV.holter_default_{kind}.>'
            fleet.publish(f'$JS.API.STREAM.CREATE.{name}', json.dumps({
                'name': name, 'subjects': [subjects], 'max_msgs_per_subject': 1, 'deny_delete': True, 'allow_rollup_hdrs': True,
                'retention': 'limits', 'storage': 'file', 'discard': 'new', 'num_replicas': 1,
                'max_age': 3 * 10 ** 9 if kind == 'leases' else 0}).encode(), 'answer')
        fleet.start_daemon('a')
        fleet.start_job('one', '1')
        lab.wait_for(lambda: (fleet.state('one') or {}).get('start_ns'), 'a window')
        self.assertEqual(0, fleet.end_job('one').status)
        fleet.wait_ended('one')
        newest = json.dumps({'last_by_subj': '$KV.holter_default_jobs.>'}).encode()
        lab.wait_for(lambda: b'"hdrs"' in fleet.publish('$JS.API.STREAM.MSG.GET.KV_holter_default_jobs', newest, 'answer'),
                     'the mark of a value that was deleted')
        fleet.kill('a')
        lab.wait_for(lambda: fleet.kept('leases') == 0, 'the end of its lease')
        self.place.env['HOLTER_LOG'] = 'info'
        fleet.start_daemon('b')
        fleet.start_job('two', '1')
        lab.wait_for(lambda: (fleet.state('two') or {}).get('start_ns'), 'a window')
        self.assertEqual(['two'], re.findall(r'job (\w+)\.\S+ held by this daemon', fleet.daemons['b'].err()))
        self.assertEqual(0, fleet.end_job('two').status)
        self.check_job(fleet, 'two')
        self.finish(fleet)

    def test_what_others_write_into_the_stream_is_rejected_and_counted(self):
        fleet = self.start('a')
        fleet.start_job('one', '1')
        lab.wait_for(lambda: (fleet.state('one') or {}).get('start_ns'), 'a window')
        job = fleet.state('one')['job'].replace('.', '=')
        entry = bytes(16) + (3).to_bytes(4, 'little') + b'abc'
        for text in (b'', b'hello', b'HLTRFLT1', b'HLTRFLT1' + bytes(8) + b'x', b'HLTRFLT1' + bytes(8) + entry,
                     b'HLTRFLT1' + bytes(24) + b'\xff' * 4):
            fleet.publish(f'holter.default.{job}.in', text)
            fleet.publish('holter.default.agents', text)
        rejected = 'rejected a message of the servers'
        lab.wait_for(lambda: fleet.daemons['a'].err().count(rejected) >= 8, 'the rejections')
        self.assertEqual(0, fleet.end_job('one').status)
        self.check_job(fleet, 'one')
        self.finish(fleet)


class Equality(unittest.TestCase):
    """The same frames, sent to a single daemon and to a fleet in which one daemon is the gateway of all agents but one, and
    another the worker."""
    ARGUMENTS = ('--window', '500ms', '--grace', '20s')  # windows close when all agents have reported
    CLOCKS = {'published_ns', 'published_ns_text', 'arrival'}  # when a daemon published a window, and received a message
    PLACES = {'recording'}  # a path

    def differing(self, path, one, other, found):
        """Adds the paths of values that differ, except for those that name a time or a place of the daemon's own."""
        if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
            for key in one.keys() - self.CLOCKS - self.PLACES:
                self.differing(f'{path}.{key}', one[key], other[key], found)
        elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
            for number, pair in enumerate(zip(one, other)):
                self.differing(f'{path}[{number}]', *pair, found)
        elif one != other:
            found.append(f'{path}: {str(one)[:100]} | {str(other)[:100]}')
        return found

    def exported(self, recorded):
        """Nodes by name: their numbers are by the order in which agents happened to come, which two daemons need not share."""
        told = self.place.holter('export', '-f', 'json', recorded.path).finish()
        self.assertEqual(0, told.status, told)
        content = json.loads(told.out)
        numbers = {row['node']: row['host'] for row in content['tables']['nodes']}
        content['tables']['nodes'] = sorted(numbers.values())
        for row in content['tables']['places']:
            row['node'] = numbers[row['node']]
        content['tables']['places'].sort(key=lambda row: row['rank'])
        return content

    @staticmethod
    def by_window(tap, last):
        windows = {}
        for message in lab.stream_messages(tap.finish().out):
            if message.get('window'):
                for node in message['nodes'] if message['topic'] == 'nodes' and message['window'] < last else ():
                    node.pop('events', None)  # as far as its agent had come when the daemon published: later is more
                windows.setdefault(message['window'], []).append({k: v for k, v in message.items() if k != 'frame'})
        return windows

    def test_a_fleet_publishes_and_records_what_a_single_daemon_does(self):
        with lab.Lab() as self.place:
            fleet = Fleet(self.place)
            single = self.place.daemon(*self.ARGUMENTS)
            endpoint = self.place.env['HOLTER_DAEMON']
            for name in 'ab':
                fleet.start_daemon(name, *self.ARGUMENTS)
            begin = int(time.time() / 0.5) + 8
            load = [fleet.start_load(to, '--agents', 20, '--windows', 12, '--window-ms', 500, '--spread-ms', 50, '--begin', begin)
                    for to in (endpoint, fleet.endpoint('a') + ',' + fleet.endpoint('b'))]
            holder = lab.wait_for(lambda: fleet.holder('load'), 'the worker')
            taps = [self.place.tap('-c', to, '--until-end', '--no-snapshot') for to in (endpoint, fleet.endpoint(holder))]
            for running in load:
                finished = running.finish()
                self.assertEqual(0, finished.status, finished)
            one, other = (self.by_window(tap, begin + 11) for tap in taps)
            both = one.keys() & other.keys()
            self.assertIn(begin + 11, both)
            for window in both:
                self.assertEqual([], self.differing(str(window), one[window], other[window], []))
            fleet.wait_ended('load')
            single.kill(signal.SIGTERM)
            single.finish()
            own = recording.Recording(os.path.join(self.place.output, 'holter-load.0.hrec'))
            whole = self.exported(own)
            self.assertEqual([], self.differing('', whole, self.exported(fleet.recording(holder, 'load')), []))
            exported = fleet.export('load.0')
            self.assertEqual(0, exported.status, exported)
            self.assertEqual([], self.differing('', whole, self.exported(recording.Recording(exported.out.strip())), []))
            fleet.close()


class Load(unittest.TestCase):
    def test_simulated_agents_that_may_not_open_enough_files_end_with_the_limit(self):
        with lab.Lab() as place:
            load = place.start('prlimit', '--nofile=64:64', os.path.join(lab.BUILD, 'tests', 'bench', 'daemon_load'), '--agents', 100,
                               '--workers', 2, '--connect', f'ipc://{place.dir}/none').finish()
            self.assertEqual((1, ''), (load.status, load.out), load)
            self.assertIn('50 agents of a process need 132 open files, and its limit is 64 (ulimit -n)', load.err)


class Nodes(unittest.TestCase):
    def test_messages_between_nodes_at_daemons_whose_machines_differ_by_a_minute_have_their_times(self):
        """The agent of one node is connected to one daemon, that of the other to the other."""
        with lab.Lab() as place, bed.Bed(place, 2) as hosts:
            fleet = Fleet(place)
            fleet.start_daemon('a')
            fleet.start_daemon('b', env=fleet.ahead(60))
            a, b = fleet.endpoint('a'), fleet.endpoint('b')
            steps = f'{lab.BUILD}/agent/holter exec {lab.program("steps", "openmpi")} {fleet.folder("one")} 2000 3000'
            near = f'case $(hostname) in node1) near={a} ;; *) near={b} ;; esac; HOLTER_DAEMON=$near exec {steps}'
            fleet.jobs['one'] = place.start(*hosts.openmpi(), '-n', 2, '/bin/sh', '-c', near,
                                            env=fleet.job_environment('one', '1'))
            lab.wait_for(lambda: fleet.has_new_window('one'), 'a window')
            self.assertEqual([1, 1], [fleet.ask(name, 'status', '-v')['daemon']['agents'] for name in 'ab'])
            first = fleet.newest['one']
            lab.wait_for(lambda: fleet.newest_window('one') > first + 15, 'windows')
            self.assertEqual(0, fleet.end_job('one').status)
            Fleets.check_job(self, fleet, 'one')
            recorded = fleet.recording(fleet.wait_ended('one'), 'one')
            windows = recorded.window_numbers()
            self.assertLess(max(windows) - min(windows), 300, 'windows of two clocks')
            table = place.holter('export', '-f', 'csv', '--table', 'pairs', recorded.path).finish().out
            mean = {}
            unmatched = recorded.matched()[-1][1]  # none, but where a daemon had no time for many windows
            for row in csv.DictReader(table.splitlines()):
                matched, time_ns, error_ns = (int(row[key]) for key in ('matched', 'transfer_ns', 'error_ns'))
                if row['source'] != row['destination']:
                    self.assertLessEqual(int(row['messages']) - matched, max(recorded.passed_over(), unmatched), row)
                    mean[row['source']] = (time_ns / matched, error_ns / matched)
            self.assertEqual({'0', '1'}, set(mean))
            for time_ns, error_ns in mean.values():
                self.assertLess(0, error_ns)
                self.assertLess(error_ns, 1e9)  # a minute is no error
                self.assertLess(-error_ns, time_ns)
            (there, error_there), (back, error_back) = mean.values()
            self.assertLess(abs(there - back) / 2, error_there + error_back + 1e6)  # which a difference of clocks would be
            fleet.close()


class Partition(unittest.TestCase):
    OUTAGE = 100  # windows of 200 ms

    def test_a_node_that_is_cut_off_for_20_s_reports_all_of_them_afterwards(self):
        with lab.Lab() as place, bed.Bed(place, 1) as hosts:
            fleet = Fleet(place)
            keys = os.path.join(place.dir, 'keys')
            self.assertEqual(0, place.holter('keys', keys).finish().status)
            place.env['HOLTER_KEYS'] = keys
            endpoints = {name: f'tcp://{bed.NETWORK}.254:{lab.free_port()}' for name in 'ab'}
            for name, endpoint in endpoints.items():
                fleet.start_daemon(name, '--listen', endpoint, '--keys', keys)
            command = fleet.job_command('one')
            environment = fleet.job_environment('one', '1') | {'HOLTER_DAEMON': ','.join(endpoints.values())}
            fleet.jobs['one'] = hosts.on('node1', *command, env=environment)
            lab.wait_for(lambda: fleet.has_new_window('one'), 'a window')
            hosts.set_link('node1', 'down')
            down = time.time_ns() // 200000000
            lab.wait_for(lambda: time.time_ns() // 200000000 > down + self.OUTAGE, 'the end of the outage')
            self.assertLess(fleet.newest_window('one'), down + self.OUTAGE // 2)
            hosts.set_link('node1', 'up')
            lab.wait_for(lambda: fleet.newest_window('one') > down + self.OUTAGE, 'the windows of the outage')
            self.assertEqual(0, fleet.end_job('one').status)
            holder = fleet.wait_ended('one')
            Fleets.check_job(self, fleet, 'one')
            windows = fleet.recording(holder, 'one').window_numbers()
            self.assertEqual([], [w for w in range(down, down + self.OUTAGE) if w not in windows])
            fleet.close()


class Long(unittest.TestCase):
    """Three servers, three daemons, simulated agents, LAMMPS, an MPI program, and in each round a job that hangs for a while."""
    ROUNDS = int(os.environ.get('HOLTER_TEST_ROUNDS', '20'))
    AGENTS = os.environ.get('HOLTER_TEST_AGENTS', '400')
    WINDOW_MS = int(os.environ.get('HOLTER_TEST_WINDOW_MS', '1000'))  # for many agents on a busy machine

    def start_fleet(self):
        rules = os.path.join(self.place.dir, 'rules.yaml')
        with open(rules, 'w', encoding='utf-8') as f:
            f.write('rules:\n  - name: hang\n    kind: hang\n    for: 1s\n    stopped-for: 1s\n')
        fleet = Fleet(self.place, servers=3, lease='4s')
        for number in range(3):
            lab.wait_for(lambda number=number: fleet.server_is_healthy(number), 'a server')
        for name in 'abc':
            fleet.start_daemon(name, '--window', f'{self.WINDOW_MS}ms', '--rules', rules)
        self.end = os.path.join(self.place.dir, 'end')
        self.load = fleet.start_load(','.join(map(fleet.endpoint, 'abca')), '--agents', self.AGENTS, '--ranks', 2, '--windows', 1000000,
                                     '--window-ms', self.WINDOW_MS, '--spread-ms', 100, '--no-bursts', '--until', self.end)
        fleet.start_job('one', '1')
        self.start_lammps(fleet)
        for job in ('load', 'one', 'lammps'):
            lab.wait_for(lambda job=job: (fleet.state(job) or {}).get('start_ns'), 'a window')
        return fleet

    def start_lammps(self, fleet):
        """It goes on until fleet.end_job(); Open MPI counts its messages."""
        if not os.path.exists(lab.MELT):
            self.skipTest('lammps-examples is not installed')
        path = os.path.join(fleet.folder('lammps'), 'in.melt')
        with open(path, 'w', encoding='utf-8') as f:
            f.write(f'include {lab.MELT}\nthermo 1000\nlabel again\nrun 200 post no\n'
                    f'variable over equal is_file({fleet.folder("lammps")}/end)\nif "${{over}} == 0" then "jump SELF again"\n')
        launcher, *ranks = lab.mpirun('openmpi', 2, os.path.join(lab.BUILD, 'agent', 'holter'), 'exec',
                                      lab.installed('lmp'), '-in', path, '-log', 'none')
        fleet.jobs['lammps'] = self.place.start(
            launcher, *lab.openmpi_monitoring(os.path.join(self.place.dir, 'pml')), *ranks,
            env=fleet.job_environment('lammps', '2') | {'OMP_NUM_THREADS': '1'})

    def victim(self, fleet, number, job):
        """In turn each server, the workers of the jobs and a daemon that is gateway only, then by chance."""
        victims = [0, 1, 2, fleet.holder('load'), fleet.holder('one'), fleet.holder(job)]
        gateways = [name for name in 'abc' if name not in victims]
        victims += gateways or [self.chance.choice('abc')]
        return victims[number] if number < len(victims) else self.chance.choice(victims)

    def kill(self, fleet, victim):
        if isinstance(victim, int):
            fleet.servers[victim].kill()
            fleet.servers[victim].process.wait()
        else:
            fleet.kill(victim)

    def restart(self, fleet, victim):
        if isinstance(victim, int):
            fleet.start_server(victim)
            lab.wait_for(lambda: fleet.server_is_healthy(victim), 'a server that has caught up')
            lab.wait_for(lambda: fleet.first_numbers() == [1] * 3, 'the messages of before on a server that was killed')
        else:
            fleet.start_daemon(victim, *fleet.daemons[victim].arguments)

    def new_windows_after(self, fleet, killed, jobs):
        """@return for each job how many seconds after the kill a new window of it was seen"""
        def seen(job):
            lab.wait_for(lambda: fleet.has_new_window(job) or not self.load.alive(), 'a new window')
            return round(time.monotonic() - killed, 1)

        with concurrent.futures.ThreadPoolExecutor(len(jobs)) as pool:  # each of them waits for a window
            later = dict(zip(jobs, pool.map(seen, jobs)))
        self.assertTrue(self.load.alive(), self.load)
        return later

    def round(self, fleet, number):
        """One kill while a job begins to hang, and its end. @return the job"""
        job, gate = f'hang{number:02}', os.path.join(self.place.dir, f'gate{number}')
        fleet.start_job(job, str(10 + number), 'hang', gate)
        lab.wait_for(lambda: (fleet.state(job) or {}).get('start_ns'), 'a window')
        victim = None
        while victim is None:
            victim = self.victim(fleet, number, job)
        killed = time.monotonic()
        self.kill(fleet, victim)
        later = self.new_windows_after(fleet, killed, ('load', 'one', 'lammps', job))
        lab.wait_for(lambda: any(a['job'].startswith(job + '.') for a in fleet.alerts('firing')), 'the alert')
        self.restart(fleet, victim)
        with open(gate, 'w', encoding='utf-8'):
            pass
        self.assertEqual(0, fleet.jobs[job].finish().status)
        lab.wait_for(lambda: any(a['job'].startswith(job + '.') for a in fleet.alerts('resolved')), 'the end of the alert')
        self.check_job(fleet, job)
        print(f'killed {victim}: new windows seen after {later} s', file=sys.stderr, flush=True)
        return job

    def check_job(self, fleet, job):
        """The recordings of all workers together are the whole job, as the program counted."""
        fleet.recording(fleet.wait_ended(job), job)
        sums, totals = fleet.joined_sums(job), fleet.joined_totals(job).values()
        checks.recording_tells_the_truth(self, sums, fleet.truth(job))
        checks.nothing_lost(self, sums)
        checks.totals_agree(self, {column: sum(row[column] for row in totals) for column in next(iter(totals))}, sums)

    def check_lammps(self, fleet):
        """What its recordings hold is what Open MPI counted."""
        self.assertEqual(0, fleet.end_job('lammps').status)
        fleet.recording(fleet.wait_ended('lammps'), 'lammps')
        sums = fleet.joined_sums('lammps')
        checks.nothing_lost(self, sums)
        checks.same(self, lab.differences('messages and bytes of pair', lab.openmpi_pairs(self.place.dir, 'pml'), checks.pairs_of(sums)))

    def check_load(self, fleet):
        """Each message of the simulated agents is counted once in the totals of the windows, of which none is missing."""
        with open(self.end, 'w', encoding='utf-8'):
            pass
        load = self.load.finish()
        self.assertEqual(0, load.status, load)
        begin, sent = map(json.loads, load.out.splitlines())
        fleet.recording(fleet.wait_ended('load'), 'load')
        windows = sent['messages'] // int(self.AGENTS)
        totals = fleet.joined_totals('load')
        self.assertEqual(list(range(begin['begin'], begin['begin'] + windows)), sorted(totals))
        self.assertEqual(sent['sent'], sum(row['sent'] for row in totals.values()))
        self.assertEqual({0}, {row['agents_missing'] for row in totals.values()})
        print(f'{sent}, {windows} windows', file=sys.stderr, flush=True)

    def test_servers_gateways_and_workers_die_in_turn_and_at_random(self):
        with lab.Lab() as self.place:
            self.chance = random.Random(7)
            fleet = self.start_fleet()
            hung = [self.round(fleet, number) for number in range(self.ROUNDS)]
            self.assertEqual(0, fleet.end_job('one').status)
            self.check_lammps(fleet)
            self.check_load(fleet)
            self.check_job(fleet, 'one')
            fleet.close()
            for state in ('firing', 'resolved'):
                self.assertEqual(sorted(hung), sorted(a['job'].partition('.')[0] for a in fleet.alerts(state)), state)


if __name__ == '__main__':
    lab.main(network=True)
