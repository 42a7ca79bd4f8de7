"""Alerts on their way to people: from a real job through the daemon to the terminal, files, commands and a real
Alertmanager."""
import getpass
import json
import os
import signal
import socket
import sqlite3
import subprocess
import unittest
import urllib.error
import urllib.request

import lab


class Alerts(unittest.TestCase):
    def setUp(self):
        self.place = lab.Lab()
        self.place.__enter__()
        self.addCleanup(self.place.close)
        self.gate = self.path('gate')

    def path(self, name):
        return os.path.join(self.place.dir, name)

    def read(self, name):
        with open(self.path(name), encoding='utf-8') as f:
            return f.read()

    def write(self, name, text):
        with open(self.path(name), 'w', encoding='utf-8') as f:
            f.write(text)
        return self.path(name)

    def clean(self):
        self.place.__exit__(None, None, None)

    # -- a job with an alert that comes and goes ------------------------------------------------

    def start_job(self):
        job = self.place.holter('run', '--', *lab.mpirun('openmpi', 3, lab.program('hang', 'openmpi'), self.gate))
        lab.wait_for(lambda: self.place.ranks_seen() == 3 or not job.alive(), 'the ranks to be known')
        self.assertTrue(job.alive(), str(job))
        return job

    def end_job(self, job):
        self.write('gate', '')
        self.assertEqual(0, job.finish().status, str(job))

    def agent(self):
        """The working child of the supervisor."""
        pids = self.place.pids('holter-agent')
        for pid in pids:
            with open(f'/proc/{pid}/stat', encoding='utf-8') as f:
                if int(f.read().rsplit(')', 1)[1].split()[1]) in pids:
                    return pid
        raise AssertionError(f'no agent: {self.place.processes()}')

    def stop_daemon(self, daemon):
        daemon.kill(signal.SIGTERM)
        self.assertEqual(0, daemon.finish().status, str(daemon))

    # -- Alertmanager ---------------------------------------------------------------------------

    def start_alertmanager(self, port):
        config = self.write('alertmanager.yml', 'route:\n  receiver: nobody\nreceivers:\n  - name: nobody\n')
        running = self.place.start(lab.installed('prometheus-alertmanager'), f'--config.file={config}',
                                   f'--storage.path={self.path("alertmanager")}',
                                   f'--web.listen-address=127.0.0.1:{port}', '--cluster.listen-address=')
        lab.wait_for(lambda: not running.alive() or self.active(port) is not None, 'Alertmanager')
        self.assertTrue(running.alive(), str(running))
        return running

    @staticmethod
    def active(port):
        """Alerts of agents that are lost, which Alertmanager holds for firing; None while it does not answer. On a
        slow machine there are others: the job under test hangs."""
        try:
            with urllib.request.urlopen(f'http://127.0.0.1:{port}/api/v2/alerts', timeout=60) as answer:
                return [a for a in json.load(answer) if a['labels']['kind'] == 'agent-lost']
        except (urllib.error.URLError, ConnectionError):
            return None

    def stop_alertmanager(self, running):
        running.kill(signal.SIGTERM)
        running.finish()

    # -- tests ----------------------------------------------------------------------------------

    def test_one_episode_reaches_every_sink(self):
        """An agent that stands still is an alert, and its end is when it goes on."""
        port = lab.free_port()
        alertmanager = self.start_alertmanager(port)
        rules = self.write('rules.yaml', f"""
sinks:
  - kind: file
    path: {self.path('alerts.jsonl')}
  - kind: command
    command: cat >>{self.path('command.jsonl')}
  - kind: alertmanager
    url: http://127.0.0.1:{port}
    repeat: 1s
  - kind: terminal
""")
        daemon = self.place.daemon('--window', '500ms', '--rules', rules, '--cluster', 'meteor',
                                   '--external-url', 'http://desk/d?var-job_id=%j')
        self.assertEqual(rules, self.place.status()['daemon']['rules'])
        job = self.start_job()
        tap = self.place.tap('--topic', 'alerts,totals', '--until-end')
        lab.wait_for(lambda: not tap.alive() or tap.out().count('"totals"') > 1, 'the stream')
        agent = self.agent()
        os.kill(agent, signal.SIGSTOP)
        alert, = lab.wait_for(lambda: self.active(port), 'the alert in Alertmanager')
        os.kill(agent, signal.SIGCONT)
        self.check_labels(alert)
        self.assertIn(alert['labels']['severity'], ('info', 'warning', 'critical'))
        self.assertIn('no word from the agent', alert['annotations']['summary'])
        lab.wait_for(lambda: self.active(port) == [], 'its end in Alertmanager')
        self.end_job(job)
        stream = [m for m in lab.stream_messages(tap.finish().out) if m['topic'] == 'alerts']
        self.stop_daemon(daemon)
        episode = {(m['job'], m['id']) for m in stream if m['kind'] == 'agent-lost'}
        (job_id, number), = episode
        told = [m for m in lab.stream_messages(self.read('alerts.jsonl')) if m['id'] == number]
        self.assertEqual(['firing', 'resolved'], [m['state'] for m in told])
        for message in told:  # field by field what the stream said
            self.assertEqual(alert['labels'], message.pop('labels'))
            self.assertEqual(alert['generatorURL'], message.pop('generatorURL'))
            self.assertIn(message, [{k: v for k, v in m.items() if k not in ('frame', 'snapshot')} for m in stream])
        command = [m for m in lab.stream_messages(self.read('command.jsonl')) if m['id'] == number]
        self.assertEqual(told, [{k: v for k, v in m.items() if k not in ('labels', 'generatorURL')} for m in command])
        lines = [line for line in daemon.out().splitlines() if 'no word from the agent' in line]
        self.assertEqual(2, len(lines), lines)
        self.assertRegex(lines[0], r'^holter: alert \(\w+\): ')
        self.assertRegex(lines[1], r'^holter: over after \d+ s: ')
        self.assertEqual([(job_id, 'resolved', 'agent-lost')],
                         self.recorded('SELECT job.job, alert.state, alert.kind FROM alert, job '
                                       f'WHERE alert.id = {number}'))
        self.stop_alertmanager(alertmanager)
        self.clean()

    def check_labels(self, alert):
        labels = alert['labels']
        job_id = labels['job_id']
        self.assertRegex(job_id, r'^[\w.-]+$')
        self.assertEqual({'alertname': 'agent-lost', 'cluster': 'meteor', 'user': getpass.getuser(),
                          'job': 'hang.openmpi', 'job_id': job_id, 'host': socket.gethostname(), 'kind': 'agent-lost',
                          'culprit': f'node {socket.gethostname()}', 'severity': 'warning',
                          'episode': labels['episode']}, labels)
        self.assertEqual(f'http://desk/d?var-job_id={job_id}', alert['generatorURL'])

    def recorded(self, sql):
        """Rows of the recording, which is written each half second: none before its tables are there."""
        path, = self.place.recordings()
        connection = sqlite3.connect(path)
        try:
            tables = connection.execute("SELECT name FROM sqlite_master WHERE name = 'alert'").fetchall()
            return connection.execute(sql).fetchall() if tables else []
        finally:
            connection.close()

    def test_alertmanager_that_comes_late_is_notified_late(self):
        port = lab.free_port()
        daemon = self.place.daemon('--window', '100ms', '--alertmanager', f'http://127.0.0.1:{port}')
        job = self.start_job()
        agent = self.agent()
        os.kill(agent, signal.SIGSTOP)
        error = lab.wait_for(lambda: self.place.status()['daemon']['sink_error'], 'the failure in the status')
        self.assertIn(str(port), error)
        alertmanager = self.start_alertmanager(port)
        lab.wait_for(lambda: self.active(port), 'the alert in Alertmanager')
        lab.wait_for(lambda: not self.place.status()['daemon']['sink_error'], 'the recovery in the status')
        os.kill(agent, signal.SIGCONT)
        lab.wait_for(lambda: self.active(port) == [], 'its end in Alertmanager')
        self.end_job(job)
        self.stop_daemon(daemon)
        log = daemon.err()
        self.assertEqual(1, log.count(' fails: '), log)
        self.assertEqual(1, log.count(' works again'), log)
        self.stop_alertmanager(alertmanager)
        self.clean()

    def test_a_daemon_that_takes_over_ends_the_alert_of_the_one_before(self):
        """Alertmanager knows an alert by its labels: they are the same ones, though the second daemon has them from the
        recording. An alert under other labels would last for four hours."""
        port = lab.free_port()
        alertmanager = self.start_alertmanager(port)
        rules = self.write('rules.yaml',
                           f'sinks:\n  - kind: alertmanager\n    url: http://127.0.0.1:{port}\n    repeat: 1h\n')
        options = ('--window', '100ms', '--rules', rules, '--cluster', 'meteor', '--external-url', 'http://desk/d?var-job_id=%j')
        daemon = self.place.daemon(*options)
        job = self.start_job()
        agent = self.agent()
        os.kill(agent, signal.SIGSTOP)
        alert, = lab.wait_for(lambda: self.active(port), 'the alert in Alertmanager')
        self.check_labels(alert)
        lab.wait_for(lambda: self.recorded("SELECT id FROM alert WHERE kind = 'agent-lost' AND state = 'firing'"),
                     'the alert in the recording')
        daemon.kill()
        daemon.finish()
        daemon = self.place.daemon(*options)
        os.kill(agent, signal.SIGCONT)
        lab.wait_for(lambda: self.active(port) == [], 'its end in Alertmanager')
        self.end_job(job)
        self.stop_daemon(daemon)
        self.stop_alertmanager(alertmanager)
        self.clean()

    def test_holter_run_says_it_on_the_terminal(self):
        finished = self.place.holter(
            'run', '--alert-log', self.path('alerts.jsonl'), '--on-alert', f'cat >{self.path("command.json")}', '--',
            *lab.mpirun('openmpi', 3, lab.program('crash', 'openmpi'), 'kill', 200, 0)).finish()
        self.assertNotEqual(0, finished.status)
        lines = [line for line in finished.err.splitlines() if line.startswith('holter: alert ')]
        self.assertEqual(1, len(lines), finished)
        self.assertRegex(lines[0], r'^holter: alert \(\w+\): rank \d+ on \S+ died')
        self.assertEqual('rank-died', lab.stream_messages(self.read('alerts.jsonl'))[0]['kind'])
        self.assertEqual('rank-died', json.loads(self.read('command.json'))['kind'])
        self.clean()

    def test_an_alert_about_a_dead_rank_names_its_host(self):
        log = self.path('alerts.jsonl')
        finished = self.place.holter('run', '--no-record', '--alert-log', log, '--cluster', 'meteor', '--', *lab.mpirun(
            'openmpi', 3, lab.program('crash', 'openmpi'), 'kill', 200, 0)).finish()
        self.assertIn('holter: alert (critical): ', finished.err)
        alert, = [m for m in lab.stream_messages(self.read('alerts.jsonl'))
                  if m['kind'] == 'rank-died' and m['state'] == 'firing'][:1]
        self.assertEqual(socket.gethostname(), alert['nodes'])
        self.assertEqual({'alertname': 'rank-died', 'cluster': 'meteor', 'user': getpass.getuser(), 'job': 'crash.openmpi',
                          'job_id': alert['job'], 'host': socket.gethostname(), 'kind': 'rank-died', 'culprit': 'rank 2',
                          'severity': 'critical', 'episode': '1'}, alert['labels'])
        self.assertNotIn('generatorURL', alert)
        self.clean()

    def test_command_that_hangs_does_not_keep_holter_run(self):
        finished = self.place.holter('run', '--on-alert', 'sleep 1000 & sleep 1000', '--',
                                     *lab.mpirun('openmpi', 3, lab.program('crash', 'openmpi'), 'kill', 200, 0)).finish()
        self.assertIn('; recorded in ', finished.err)  # the daemon ended in order
        self.clean()

    def test_wrong_rules_and_addresses_are_named_and_the_command_runs(self):
        wrong = self.write('wrong.yaml', 'rules:\n  - kind: latency\n    above: 2\n    colour: red\n')
        touch = ['touch', self.path('touched')]
        for arguments, env in ((['--rules', wrong], {}), ([], {'HOLTER_RULES': wrong})):
            finished = self.place.holter('run', *arguments, '--', *touch, env=env).finish()
            self.assertEqual(0, finished.status, finished)
            self.assertIn(f"{wrong}:3: above: '2' has no unit", finished.err)
            self.assertIn(f'{wrong}:4: colour: unknown key', finished.err)
            self.assertIn('holter: continuing with the built-in alert rules\n', finished.err)
            self.assertIn('holter: watching, ', finished.err)
            os.unlink(touch[1])
        finished = self.place.holter('run', '--alertmanager', 'no address', '--', *touch).finish()
        self.assertEqual(0, finished.status, finished)
        self.assertIn("--alertmanager: 'no address' is no address", finished.err)
        self.assertIn('holter: continuing without --alertmanager\n', finished.err)
        os.unlink(touch[1])
        finished = self.place.holter('run', '--dry-run', '--rules', wrong, '--', *touch).finish()
        self.assertEqual(2, finished.status, finished)
        self.assertFalse(os.path.exists(touch[1]))
        checked = self.place.holter('check-rules', wrong).finish()
        self.assertEqual(2, checked.status, checked)
        defaults = self.place.holter('check-rules', '--print-defaults').finish()
        self.assertEqual(0, defaults.status, defaults)
        for words in (['--print-defaults'], [self.write('right.yaml', defaults.out)]):
            with open('/dev/full', 'w', encoding='utf-8') as full:
                checked = subprocess.run([os.path.join(lab.BUILD, 'agent', 'holter'), 'check-rules', *words], stdout=full,
                                         stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual((1, 'holterd: main: standard output: No space left on device\n'), (checked.returncode, checked.stderr))
        right = self.write('right.yaml', defaults.out)
        self.assertEqual(0, self.place.holter('check-rules', right).finish().status)
        finished = self.place.holter('run', '--rules', right, '--', *touch, env={'HOLTER_RULES': wrong}).finish()
        self.assertEqual(0, finished.status, finished)  # the command line goes before the environment
        self.assertTrue(os.path.exists(touch[1]))
        self.clean()


if __name__ == '__main__':
    lab.main()
