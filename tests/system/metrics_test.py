"""Metrics of a real job, read by a real Prometheus; the dashboard, rules and routes that Holter ships, with a real
Alertmanager."""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import urllib.error
import urllib.parse
import urllib.request
import unittest

import lab

SHARE = os.path.join(lab.SOURCE, 'daemon', 'metrics', 'share')
OPENMETRICS = 'application/openmetrics-text; version=1.0.0'


def fetch(url, accept='*/*'):
    """@return the text, or None while nobody answers"""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers={'Accept': accept}), timeout=60) as answer:
            return answer.read().decode()
    except (urllib.error.URLError, ConnectionError):
        return None


def series(page, name):
    """Samples of a metric on a page: {its labels as written: value}."""
    return {m[1] or '': float(m[2]) for m in re.finditer(rf'^{name}(?:{{(.*)}})? (\S+)$', page or '', re.M)}


def dashboard_queries():
    """Every query of the dashboard, for all jobs and half a minute."""
    with open(os.path.join(SHARE, 'holter-dashboard.json'), encoding='utf-8') as f:
        board = json.load(f)
    return [target['expr'].replace('$job_id', '.*').replace('$__rate_interval', '30s')
            for panel in board['panels'] for target in panel.get('targets', [])]


class Metrics(unittest.TestCase):
    RANKS = 4

    def setUp(self):
        self.place = lab.Lab()
        self.place.__enter__()
        self.addCleanup(self.place.close)
        self.control = os.path.join(self.place.dir, 'control')
        os.mkdir(self.control)

    def clean(self):
        self.place.__exit__(None, None, None)

    def path(self, name):
        return os.path.join(self.place.dir, name)

    def launch(self):
        return lab.mpirun('openmpi', self.RANKS, lab.program('steps', 'openmpi'), self.control, 1000, 20000)

    def end(self, job):
        with open(os.path.join(self.control, 'end'), 'w', encoding='utf-8'):
            pass
        finished = job.finish()
        self.assertEqual(0, finished.status, finished)
        return finished

    def stop(self, running):
        running.kill(signal.SIGTERM)
        return running.finish()

    # -- Prometheus and Alertmanager ------------------------------------------------------------

    def shipped(self, name, *changes):
        """A copy of a file that Holter ships, with other addresses and shorter times."""
        with open(os.path.join(SHARE, name), encoding='utf-8') as f:
            text = f.read()
        for before, after in changes:
            self.assertIn(before, text)
            text = text.replace(before, after)
        with open(self.path(name), 'w', encoding='utf-8') as f:
            f.write(text)
        return self.path(name)

    def start_alertmanager(self, port):
        config = self.shipped('alertmanager.yml', ('group_wait: 5s', 'group_wait: 1h'))  # nothing is mailed
        running = self.place.start(lab.installed('prometheus-alertmanager'), f'--config.file={config}',
                                   f'--storage.path={self.path("alertmanager")}',
                                   f'--web.listen-address=127.0.0.1:{port}', '--cluster.listen-address=')
        lab.wait_for(lambda: not running.alive() or fetch(f'http://127.0.0.1:{port}/-/ready'), 'Alertmanager')
        self.assertTrue(running.alive(), str(running))
        return running

    def start_prometheus(self, port, target, alertmanager):
        shutil.copy(os.path.join(SHARE, 'holter-rules.yml'), self.place.dir)
        config = self.shipped('prometheus.yml', ('interval: 15s', 'interval: 1s'), ('127.0.0.1:9464', target),
                              ('127.0.0.1:9093', f'127.0.0.1:{alertmanager}'))
        running = self.place.start(lab.installed('prometheus'), f'--config.file={config}',
                                   f'--storage.tsdb.path={self.path("prometheus")}',
                                   f'--web.listen-address=127.0.0.1:{port}')
        lab.wait_for(lambda: not running.alive() or fetch(f'http://127.0.0.1:{port}/-/ready'), 'Prometheus')
        self.assertTrue(running.alive(), str(running))
        return running

    def ask(self, port, query):
        """Result of a query of Prometheus."""
        answer = fetch(f'http://127.0.0.1:{port}/api/v1/query?' + urllib.parse.urlencode({'query': query}))
        self.assertIsNotNone(answer, query)  # status 400 for a query with a fault
        return json.loads(answer)['data']['result']

    @staticmethod
    def received(port):
        """Alerts that Alertmanager has for firing: {name: (labels, receivers)}."""
        groups = json.loads(fetch(f'http://127.0.0.1:{port}/api/v2/alerts/groups') or '[]')
        return {a['labels']['alertname']: (a['labels'], {r['name'] for r in a['receivers']})
                for group in groups for a in group['alerts']}

    # -- tests ----------------------------------------------------------------------------------

    def test_prometheus_reads_a_job_and_what_is_shipped_works_with_it(self):
        metrics, prometheus, alertmanager = (lab.free_port() for _ in range(3))
        receiver = self.start_alertmanager(alertmanager)
        daemon = self.place.daemon('--window', '100ms', '--metrics', f'127.0.0.1:{metrics}', '--cluster', 'meteor',
                                   '--alertmanager', f'http://127.0.0.1:{alertmanager}')
        reader = self.start_prometheus(prometheus, f'127.0.0.1:{metrics}', alertmanager)
        job = self.place.holter('run', '--', *self.launch())
        lab.wait_for(lambda: self.place.ranks_seen() == self.RANKS or not job.alive(), 'the ranks to be known')
        self.assertTrue(job.alive(), str(job))
        self.check_page(f'http://127.0.0.1:{metrics}/metrics')
        up, = lab.wait_for(lambda: self.ask(prometheus, 'up{job="holter"} == 1'), 'a scrape')
        self.assertEqual(f'127.0.0.1:{metrics}', up['metric']['instance'])
        for query in dashboard_queries():
            lab.wait_for(lambda query=query: self.ask(prometheus, query) or not job.alive(), f'data of {query}')
        self.assertTrue(job.alive(), str(job))
        self.check_rules(prometheus)
        self.check_alert(prometheus, alertmanager)
        self.end(job)
        lab.wait_for(lambda: not series(fetch(f'http://127.0.0.1:{metrics}/metrics'), 'holter_job_info'),
                     'the series of the job that has ended to vanish')
        self.stop(reader)
        self.assertEqual(0, self.stop(daemon).status)
        self.stop(receiver)
        self.clean()

    def check_page(self, url):
        """Whole, well-formed for Prometheus' own tool, of one job; counters rise."""
        before = lab.wait_for(lambda: (lambda page: page if series(page, 'holter_job_mpi_ratio') else None)(
            fetch(url, OPENMETRICS)), 'a window')
        self.assertTrue(before.endswith('\n# EOF\n'))
        labels, = series(before, 'holter_job_calls_total')
        self.assertRegex(labels, r'^cluster="meteor",job_id="[\w.-]+",user="\w+"$')
        self.assertEqual({f'{labels},program="steps.openmpi"': 1}, series(before, 'holter_job_info'))
        self.assertEqual({labels: self.RANKS}, series(before, 'holter_job_ranks_watched'))
        self.assertEqual({f'{labels},node="{socket.gethostname()}"'}, set(series(before, 'holter_agent_cpu_seconds_total')))
        self.assertNotIn(self.control, before)  # a word of the command line
        after = lab.wait_for(lambda: (lambda page: page if series(page, 'holter_job_calls_total')[labels] > series(
            before, 'holter_job_calls_total')[labels] else None)(fetch(url, OPENMETRICS)), 'more calls')
        for name in re.findall(r'^# TYPE (\w+) counter$', before, re.M):
            for key, value in series(before, name + '_total').items():
                self.assertGreaterEqual(series(after, name + '_total')[key], value, name)
        checked = subprocess.run([lab.installed('promtool'), 'check', 'metrics'], input=fetch(url), text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        self.assertEqual((0, ''), (checked.returncode, checked.stdout))

    def check_rules(self, prometheus):
        rules = json.loads(fetch(f'http://127.0.0.1:{prometheus}/api/v1/rules'))['data']['groups']
        self.assertEqual({'holter-jobs', 'holter-operation'}, {group['name'] for group in rules})
        lab.wait_for(lambda: all(rule['health'] == 'ok' for group in json.loads(fetch(
            f'http://127.0.0.1:{prometheus}/api/v1/rules'))['data']['groups'] for rule in group['rules']),
                     'every rule to be evaluated')

    def check_alert(self, prometheus, alertmanager):
        """An agent that stands still: Holter's own alert and the rule of Prometheus take the same route."""
        _, agent = self.place.agents()
        os.kill(agent, signal.SIGSTOP)
        fired, = lab.wait_for(lambda: self.ask(
            prometheus, 'ALERTS{alertname="HolterAlert",kind="agent-lost",alertstate="firing"}'), 'the rule to fire')
        self.assertEqual(('meteor', 'warning'), (fired['metric']['cluster'], fired['metric']['severity']))
        routed = lab.wait_for(lambda: (lambda seen: seen if {'agent-lost', 'HolterAlert'} <= set(seen) else None)(
            self.received(alertmanager)), 'both alerts')
        os.kill(agent, signal.SIGCONT)
        own, by_rule = routed['agent-lost'], routed['HolterAlert']
        self.assertEqual({'administrators'}, own[1])
        self.assertEqual({'administrators'}, by_rule[1])
        for label in ('cluster', 'job_id', 'user', 'kind', 'severity'):
            self.assertEqual(own[0][label], by_rule[0][label], label)
        lab.wait_for(lambda: not self.ask(prometheus, 'holter_job_alerts{kind="agent-lost"} > 0'), 'its end')

    def test_shipped_files_are_right_for_the_tools_that_check_them(self):
        for command in (['promtool', 'check', 'rules', 'holter-rules.yml'], ['promtool', 'check', 'config', 'prometheus.yml'],
                        ['amtool', 'check-config', 'alertmanager.yml']):
            checked = self.place.run(lab.installed(command[0]), *command[1:], cwd=SHARE)
            self.assertEqual(0, checked.status, checked)
        for receivers, *labels in (('users', 'kind=hang', 'user=ann'), ('users', 'kind=rank-died', 'user=ann'),
                                   ('operators,users', 'kind=latency', 'culprit=node n3', 'user=ann'),
                                   ('users', 'kind=latency', 'culprit=job', 'user=ann'),
                                   ('administrators', 'kind=data-lost', 'user=ann'),
                                   ('administrators', 'alertname=HolterNotScraped')):
            routed = self.place.run(lab.installed('amtool'), 'config', 'routes', 'test', '--config.file=alertmanager.yml',
                                    *labels, cwd=SHARE)
            self.assertEqual(receivers, routed.out.strip(), routed)
        self.clean()

    def check_firing(self, rule, at, samples, firing):
        """@param samples  {series: value}, each minute @param firing  labels of what the rule reports then"""
        shutil.copy(os.path.join(SHARE, 'holter-rules.yml'), self.place.dir)
        with open(self.path('test.yml'), 'w', encoding='utf-8') as f:
            json.dump({'rule_files': ['holter-rules.yml'], 'tests': [{
                'interval': '1m',
                'input_series': [{'series': series, 'values': f'{value}x20'} for series, value in samples.items()],
                'promql_expr_test': [{'expr': f'count by (node, job_id) (ALERTS{{alertname="{rule}",alertstate="firing"}})',
                                      'eval_time': at, 'exp_samples': [{'labels': firing, 'value': 1}]}]}]}, f)
        checked = self.place.run(lab.installed('promtool'), 'test', 'rules', 'test.yml', cwd=self.place.dir)
        self.assertEqual(0, checked.status, checked)

    def test_an_agent_that_has_left_in_order_is_not_called_silent(self):
        """As those of a job that died, which stays on the page, and of nodes whose ranks have all ended before others."""
        self.check_firing('HolterAgentSilent', '8m', {
            f'{name}{{node="{node}",job_id="j"}}': value for node, ranks in (('left', 0), ('silent', 4))
            for name, value in (('holter_agent_connected', 0), ('holter_agent_ranks', ranks))},
            '{node="silent",job_id="j"}')
        self.clean()

    def test_a_job_that_died_is_not_reported_as_waiting(self):
        """Its last window stays on the page: as of a job that hung, and was ended."""
        self.check_firing('HolterMostlyWaiting', '18m', {
            f'{name}{{job_id="{job}"{more}}}': value for job, connected in (('died', 0), ('runs', 1))
            for name, more, value in (('holter_job_waiting_ratio', '', 0.9), ('holter_agent_connected', ',node="a"', 0),
                                      ('holter_agent_connected', ',node="b"', connected))},
            '{job_id="runs"}')
        self.clean()

    def test_the_alert_about_a_job_that_died_is_still_on_the_page(self):
        port = lab.free_port()
        daemon = self.place.daemon('--window', '100ms', '--metrics', f'127.0.0.1:{port}')
        self.place.holter('run', '--', *lab.mpirun('openmpi', 2, lab.program('crash', 'openmpi'), 'kill', 5)).finish()

        def states():
            status = json.loads(self.place.holter('status', '-f', 'json').finish().out)
            return [job['state'] for job in status['daemon']['jobs']]
        lab.wait_for(lambda: 'died' in states(), 'the end of the job')
        alerts = series(fetch(f'http://127.0.0.1:{port}/metrics'), 'holter_job_alerts')
        self.assertEqual([1], [count for labels, count in alerts.items() if 'rank-died' in labels and 'critical' in labels])
        self.assertEqual(0, self.stop(daemon).status)
        self.clean()

    def test_an_address_without_a_port_is_wrong_usage(self):
        refused = self.place.start(os.path.join(lab.BUILD, 'daemon', 'holterd'), '--no-record', '--metrics', 'here').finish()
        self.assertEqual((2, ''), (refused.status, refused.out), refused)
        self.assertIn('--metrics here: HOST:PORT is expected', refused.err)

    def test_holter_run_serves_metrics_and_goes_without_where_it_cannot(self):
        port = lab.free_port()
        page = f'http://127.0.0.1:{port}/metrics'
        job = self.place.holter('run', '--metrics', f'127.0.0.1:{port}', '--', *self.launch())
        lab.wait_for(lambda: self.RANKS in series(fetch(page), 'holter_job_ranks_watched').values() or not job.alive(),
                     'the ranks in the metrics')
        self.assertTrue(job.alive(), str(job))
        other = self.place.holter('run', '--no-record', '--metrics', f'127.0.0.1:{port}', '--', 'true').finish()
        self.assertEqual(0, other.status, other)
        self.assertIn(f'--metrics 127.0.0.1:{port}: ', other.err)
        self.assertIn('holter: continuing without --metrics\n', other.err)
        self.assertIn('holter: watching, ', other.err)
        self.end(job)
        self.assertIsNone(fetch(page))
        self.clean()


if __name__ == '__main__':
    lab.main()
