"""What packaging/check-cluster does inside its bare Debian: a cluster of three hosts and a head, where the daemon of the
system unit, Prometheus, Alertmanager and a mail server run. Prints one line for each step, and ends with status 1 and
the reason when one fails."""
import email
import glob
import json
import os
import pwd
import re
import shlex
import shutil
import signal
import socketserver
import subprocess
import sys
import tempfile
import threading
import time
import types
import urllib.error
import urllib.parse
import urllib.request

import bed
import lab

SHARE = '/usr/share/holter/monitoring'
UNIT = '/lib/systemd/system/holterd.service'
HEAD = f'{bed.NETWORK}.254'
DAEMON = f'tcp://{HEAD}:4710'
OPTIONS = f'--listen {DAEMON} --metrics 127.0.0.1:9464 --cluster bed --alertmanager http://127.0.0.1:9093'
STATE = '/var/lib/holter'
KEYS = '/root/.config/holter/keys'
HOSTS = 3  # of two, either could be the one whose link is slow
RANKS = 2 * HOSTS
STEADY = 40  # windows before the link is made slow: what is usual is learnt from them
DELAY = 10000  # microseconds
BEGUN = time.monotonic()


class Failure(Exception):
    """A step that fails, with its reason."""


def step(text):
    print(f'== {text} ({time.monotonic() - BEGUN:.0f} s)', flush=True)


class Mails(socketserver.StreamRequestHandler):
    """A mail server that keeps what it gets: RFC 5321, as far as Alertmanager speaks it."""
    received = []  # (recipients, text)

    @staticmethod
    def text_of(mail):
        message = email.message_from_bytes(mail)
        parts = [part.get_payload(decode=True).decode() for part in message.walk() if not part.is_multipart()]
        return '\n'.join([message['Subject'], *parts])

    def say(self, text):
        self.wfile.write(f'{text}\r\n'.encode())

    def handle(self):
        recipients = []
        self.say('220 mail.example.org')
        for line in iter(lambda: self.rfile.readline().decode().strip(), ''):
            verb = line.upper()
            if verb.startswith('RCPT TO:'):
                recipients.append(re.search('<(.*)>', line)[1])
            if verb == 'DATA':
                self.say('354 go on')
                self.received.append((recipients, self.text_of(b''.join(iter(self.rfile.readline, b'.\r\n')))))
                recipients = []
            self.say('221 bye' if verb == 'QUIT' else '250 mail.example.org')
            if verb == 'QUIT':
                return


def fetch(url):
    """@return the text; None while nobody answers, or who answers is not ready"""
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            return answer.read().decode()
    except urllib.error.HTTPError as error:
        if error.code == 503:
            return None
        raise Failure(f'{url}: {error.read().decode()}') from error
    except (urllib.error.URLError, ConnectionError):
        return None


def ask(query):
    """Result of a query of Prometheus."""
    return json.loads(fetch('http://127.0.0.1:9090/api/v1/query?' + urllib.parse.urlencode({'query': query})))['data']['result']


def value(query):
    """The one value of a query; 0: there is none."""
    result = ask(query)
    return float(result[0]['value'][1]) if result else 0


class Service:
    """A program that runs until the end, and whose output is shown when it ends before."""

    def __init__(self, name, *command, **options):
        self.name, self.log = name, tempfile.TemporaryFile()
        self.process = subprocess.Popen(command, stdout=self.log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, **options)

    def output(self):
        self.log.seek(0)
        return self.log.read().decode(errors='replace')[-3000:]

    def wait_for(self, condition, what):
        """While the program runs."""
        def ready():
            if self.process.poll() is not None:
                raise Failure(f'{self.name} has ended with status {self.process.returncode} before {what}:\n{self.output()}')
            return condition()
        return lab.wait_for(ready, what)

    def stop(self):
        """@return its exit status"""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(lab.PATIENCE)


class Cluster:
    def __init__(self, hosts, directory):
        self.hosts, self.control = hosts, os.path.join(directory, 'control')
        os.mkdir(self.control)
        self.monitoring = os.path.join(directory, 'monitoring')
        shutil.copytree(SHARE, self.monitoring)
        self.services = []

    def serve(self, name, *command, **options):
        self.services.append(Service(name, *command, **options))
        return self.services[-1]

    # -- the daemon -----------------------------------------------------------------------------

    @staticmethod
    def as_holter(*command, **options):
        """What systemd does for the unit, but for the restrictions: the user and its directories."""
        entry = pwd.getpwnam('holter')
        return {'args': list(command), 'user': entry.pw_uid, 'group': entry.pw_gid, 'extra_groups': [], 'cwd': STATE,
                'env': {'PATH': os.environ['PATH'], 'HOLTER_RUN_DIR': '/run/holter', 'HOME': STATE}, **options}

    @staticmethod
    def unit_command(key):
        """A command of the installed unit, with the options of /etc/default/holterd in place."""
        with open(UNIT, encoding='utf-8') as f:
            command, = re.findall(rf'^{key}=(.*)$', f.read(), re.M)
        with open('/etc/default/holterd', encoding='utf-8') as f:
            options, = re.findall('^HOLTERD_OPTIONS="(.*)"$', f.read(), re.M)
        return [word for part in shlex.split(command.replace('%S', '/var/lib'))
                for word in (shlex.split(options) if part == '$HOLTERD_OPTIONS' else [part])]

    def start_daemon(self):
        with open('/etc/default/holterd', 'w', encoding='utf-8') as f:
            f.write(f'HOLTERD_OPTIONS="{OPTIONS}"\n')
        subprocess.run(['systemd-sysusers'], check=True)
        for directory in (STATE, '/run/holter'):
            os.makedirs(directory, mode=0o700, exist_ok=True)
            shutil.chown(directory, 'holter', 'holter')
        subprocess.run(**self.as_holter(*self.unit_command('ExecStartPre')), check=True)
        daemon = self.as_holter(*self.unit_command('ExecStart'))
        self.daemon = self.serve('holterd', *daemon.pop('args'), **daemon)
        self.daemon.wait_for(lambda: fetch('http://127.0.0.1:9464/metrics'), 'the metrics are served')

    def make_keys(self):
        """Those of an agent, for the user of the job, who is root here: only root may enter the hosts."""
        subprocess.run(**self.as_holter('holter', 'keys', '--for', 'agent', '-o', f'{STATE}/agent', f'{STATE}/keys'), check=True,
                       stdout=subprocess.DEVNULL)
        os.makedirs(os.path.dirname(KEYS), mode=0o700)
        shutil.move(f'{STATE}/agent', KEYS)
        for path in (KEYS, *(os.path.join(KEYS, name) for name in os.listdir(KEYS))):
            shutil.chown(path, 'root', 'root')

    # -- Prometheus, Alertmanager, mail ---------------------------------------------------------

    def change(self, name, before, after):
        """Change a shipped file as its administrator would."""
        path = os.path.join(self.monitoring, name)
        with open(path, encoding='utf-8') as f:
            text = f.read()
        if before not in text:
            raise Failure(f'{name} has no {before}')
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text.replace(before, after))

    def start_monitoring(self):
        """With the shipped files. Their mail.example.org is this host, whose mail server has no TLS."""
        socketserver.ThreadingTCPServer.allow_reuse_address = True
        threading.Thread(target=socketserver.ThreadingTCPServer(('127.0.0.1', 25), Mails).serve_forever, daemon=True).start()
        with open('/etc/hosts', 'a', encoding='utf-8') as f:
            f.write('127.0.0.1 mail.example.org\n')
        self.change('alertmanager.yml', 'route:\n  receiver', 'global:\n  smtp_require_tls: false\nroute:\n  receiver')
        self.change('prometheus.yml', 'interval: 15s', 'interval: 1s')
        alertmanager = self.serve('alertmanager', 'prometheus-alertmanager', '--config.file=alertmanager.yml',
                                  '--storage.path=alertmanager', '--web.listen-address=127.0.0.1:9093',
                                  '--cluster.listen-address=', cwd=self.monitoring)
        alertmanager.wait_for(lambda: fetch('http://127.0.0.1:9093/-/ready'), 'it is ready')
        prometheus = self.serve('prometheus', 'prometheus', '--config.file=prometheus.yml', '--storage.tsdb.path=prometheus',
                                '--web.listen-address=127.0.0.1:9090', cwd=self.monitoring)
        prometheus.wait_for(lambda: fetch('http://127.0.0.1:9090/-/ready'), 'it is ready')

    # -- the job --------------------------------------------------------------------------------

    def start_job(self):
        env = {'PATH': os.environ['PATH'], 'HOME': '/root', 'HOLTER_DAEMON': DAEMON, 'HOLTER_KEYS': KEYS,
               'OMPI_ALLOW_RUN_AS_ROOT': '1', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1'}
        self.job = Service('the job', *self.hosts.openmpi(), '-n', str(RANKS), '-x', 'HOLTER_DAEMON', '-x', 'HOLTER_KEYS',
                           'holter', 'exec', 'steps', self.control, '1000', '4000', env=env, cwd=self.control)
        self.job.wait_for(lambda: value('sum(holter_job_ranks_watched)') == RANKS, 'all ranks are watched')
        nodes = {row['metric']['node'] for row in ask('holter_agent_connected == 1')}
        if nodes != set(self.hosts.names):
            raise Failure(f'agents on {nodes}, not on {self.hosts.names}')

    def check_dashboard(self):
        """Every query of every panel, for all jobs."""
        with open(os.path.join(SHARE, 'holter-dashboard.json'), encoding='utf-8') as f:
            queries = [target['expr'].replace('$job_id', '.*').replace('$__rate_interval', '30s')
                       for panel in json.load(f)['panels'] for target in panel.get('targets', [])]
        for query in queries:
            self.job.wait_for(lambda query=query: ask(query), f'data of {query}')
        return len(queries)

    def mail_to(self, recipient, *words):
        """A mail to somebody in which all these words are."""
        return next((text for recipients, text in Mails.received
                     if recipient in recipients and all(word in text for word in words)), None)

    def check_alert(self):
        """A link that is slow: found by Holter, routed by Alertmanager to operators and the user, and over afterwards."""
        fired = value('sum(holter_job_alerts_fired_total)')
        if fired:
            raise Failure(f'{fired:.0f} alerts although nothing is slow')
        self.hosts.delay('node2', DELAY)
        for recipient in ('hpc-operators@example.org', 'root@example.org'):
            self.job.wait_for(lambda r=recipient: self.mail_to(r, 'kind = latency', 'FIRING', 'culprit = node node2'), f'the mail to {recipient}')
        firing = 'sum(holter_job_alerts{kind="latency"})'
        self.job.wait_for(lambda: value(firing) > 0, 'the alert in the metrics')
        self.hosts.delay('node2', 0)
        self.job.wait_for(lambda: value(firing) == 0, 'the end of the alert')
        if self.mail_to('hpc-admins@example.org', 'kind = latency'):
            raise Failure('the administrators were mailed, too')

    def end_job(self):
        with open(os.path.join(self.control, 'end'), 'w', encoding='utf-8'):
            pass
        if self.job.process.wait(lab.PATIENCE) != 0:
            raise Failure(f'the job has ended with status {self.job.process.returncode}:\n{self.job.output()}')
        recordings = f'{STATE}/recordings'

        def ended():
            return all(re.search(rf'^{key} *{word}', self.info(recordings), re.M)
                       for key, word in (('state', 'ended'), ('ranks', f'{RANKS} of {RANKS}')))
        self.daemon.wait_for(ended, 'the recording has ended')

    def info(self, recordings):
        paths = glob.glob(os.path.join(recordings, '*.hrec'))
        return subprocess.run(**self.as_holter('holter', 'info', *paths), check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True).stdout

    def run(self):
        step("the unit's own commands: " + ' '.join(self.unit_words()))
        self.start_daemon()
        step('keys of an agent')
        self.make_keys()
        step('Prometheus and Alertmanager with the shipped files, and a mail server')
        self.start_monitoring()
        step('a job across three hosts, scraped by Prometheus')
        self.start_job()
        step(f'{self.check_dashboard()} queries of the dashboard return data')
        self.job.wait_for(lambda: value('sum(holter_job_windows_total)') >= STEADY, f'{STEADY} windows')
        step(f'{STEADY} windows without an alert; now the link of node2 is slow')
        self.check_alert()
        step('the alert was mailed to operators and user, and is over')
        self.end_job()
        step('the job has ended, and is recorded')
        if self.daemon.stop() != 0:
            raise Failure(f'holterd: status {self.daemon.process.returncode}:\n{self.daemon.output()}')

    @staticmethod
    def unit_words():
        with open(UNIT, encoding='utf-8') as f:
            return re.findall('^ExecStart(?:Pre)?=(.*)$', f.read(), re.M)


def main():
    # The container's mounts are its own: they end with it.
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)
        with bed.Bed(types.SimpleNamespace(dir=directory), HOSTS, delayed=['node2']) as hosts:
            cluster = Cluster(hosts, directory)
            try:
                cluster.run()
            except (Failure, AssertionError, subprocess.CalledProcessError) as failure:
                print(f'FAILED: {failure}', flush=True)
                for service in cluster.services:
                    print(f'-- {service.name}:\n{service.output()}', flush=True)
                sys.exit(1)
            finally:
                for service in cluster.services:
                    service.process.kill()


if __name__ == '__main__':
    main()
