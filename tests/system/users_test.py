"""Users of one standing daemon whose keys are their own: nobody sees jobs, hosts or commands of others; an operator sees
all. What is asked: status, top, tap, view, every request, the published stream itself, and the metrics.

Runs in Debian's Python, where that has what the Python package needs."""
import json
import os
import signal
import sys
import unittest
import urllib.error
import urllib.request

try:
    import msgpack  # pylint: disable=unused-import
    import zmq
except ImportError:
    if os.environ.get('HOLTER_PYTHON_TEST') or not os.path.exists('/usr/bin/python3'):
        print('python3-zmq or python3-msgpack is not there')
        sys.exit(77)
    os.execve('/usr/bin/python3', ['/usr/bin/python3', *sys.argv], {**os.environ, 'HOLTER_PYTHON_TEST': '1'})

import lab
import recording
from fleet import Fleet

sys.path.insert(0, os.path.join(lab.BUILD, 'proto', 'python'))
import holter  # pylint: disable=wrong-import-position
from holter.stream import Stream, _keys  # pylint: disable=wrong-import-position

ANN, BOB = 4321, 4322
HOLTER = os.path.join(lab.BUILD, 'agent', 'holter')
TOPICS = 'job,totals,ranks,places'


class Users(unittest.TestCase):
    def setUp(self):
        if os.geteuid() != 0:
            self.skipTest('only root can be two users')
        self.place = lab.Lab()
        self.place.__enter__()
        self.addCleanup(self.place.__exit__, None, None, None)
        os.chmod(self.place.dir, 0o777)
        self.keys = os.path.join(self.place.dir, 'keys')
        port = lab.free_port()
        self.endpoint, self.metrics = f'tcp://127.0.0.1:{port}', f'127.0.0.1:{lab.free_port()}'

    def keys_of(self, uid):
        """A user whose number has no name is called by the number."""
        path = os.path.join(self.place.home(uid), 'keys')
        if not os.path.isdir(path):
            made = self.place.holter('keys', '--user', uid, '-o', path, self.keys).finish()
            self.assertEqual(0, made.status, made)
            self.assertEqual({'agent.key', 'viewer.key', 'server.pub'}, set(os.listdir(path)))
            for name in (path, *(os.path.join(path, name) for name in os.listdir(path))):
                os.chown(name, uid, uid)
        return path

    def asked(self, uid, *words):
        """A command of holter with the keys of a user, or with all keys."""
        keys = ('--connect', self.endpoint, '--keys', self.keys_of(uid) if uid else self.keys)
        command = (HOLTER, words[0], *keys, *words[1:])
        return (self.place.start_as(uid, *command) if uid else self.place.start(*command)).finish()

    def start_daemon(self, *arguments):
        self.assertEqual(0, self.place.holter('keys', self.keys).finish().status)
        for uid in (ANN, BOB):
            self.keys_of(uid)
        self.daemon = self.place.start(os.path.join(lab.BUILD, 'daemon', 'holterd'), '--listen', self.endpoint, '--keys',
                                       self.keys, '--no-record', '--window', '100ms', '--metrics', self.metrics, *arguments)
        lab.wait_for(lambda: not self.daemon.alive() or self.asked(0, 'status').status == 0, 'the daemon')
        if 'without fleets' in self.daemon.err():
            self.skipTest('holterd was built without libnats')
        self.assertTrue(self.daemon.alive(), self.daemon)

    def start_job(self, uid, job=None, endpoint=None):
        control = os.path.join(self.place.home(uid), f'secret-of-{uid}')
        os.makedirs(control, exist_ok=True)
        os.chmod(control, 0o777)
        more, env = (('--job', job), {'HOLTER_LAUNCH': '1'}) if job else ((), {})  # the second part of the job's id
        return self.place.start_as(uid, *lab.mpirun('mpich', 2, HOLTER, 'exec', '--daemon', endpoint or self.endpoint, '--keys',
                                                    self.keys_of(uid), *more, '--', lab.program('steps', 'mpich'),
                                                    control, 100, 20000), env=env)

    def end(self, *jobs):
        for uid in (ANN, BOB):
            control = os.path.join(self.place.home(uid), f'secret-of-{uid}')
            os.makedirs(control, exist_ok=True)
            with open(os.path.join(control, 'end'), 'w', encoding='utf-8'):
                pass
        for job in jobs:
            finished = job.finish()
            self.assertEqual(0, finished.status, finished)
        self.daemon.kill(signal.SIGTERM)
        self.daemon.finish()

    def jobs_of(self, uid):
        """{user of the job: its id} as status shows them."""
        return {job['user']: job['job'] for job in json.loads(self.asked(uid, 'status', '-f', 'json').out)['jobs']}

    def start_both(self):
        self.start_daemon()
        jobs = [self.start_job(uid) for uid in (ANN, BOB)]
        lab.wait_for(lambda: len(self.jobs_of(0)) == 2 or not all(job.alive() for job in jobs), 'both jobs')
        self.ids = self.jobs_of(0)
        self.assertEqual({str(ANN), str(BOB)}, set(self.ids))
        return jobs

    def shows_own_only(self, uid, other, text):
        self.assertIn(self.ids[str(uid)], text)
        for secret in (self.ids[str(other)], f'secret-of-{other}', f'home-of-{other}'):
            self.assertNotIn(secret, text)

    def shown_by_commands(self, uid):
        """What the commands print that follow a job without being told which."""
        for words in (('status', '-f', 'json'), ('status',), ('top', '--once'),
                      ('tap', '--count', 20, '-f', 'json', '--topic', TOPICS)):
            finished = self.asked(uid, *words)
            self.assertEqual(0, finished.status, finished)
            yield finished.out
        scene = os.path.join(self.place.home(uid), 'scene.txt')
        viewed = self.place.start_as(uid, os.path.join(lab.BUILD, 'viewer', 'holter-view'), '--connect', self.endpoint, '--keys',
                                     self.keys_of(uid), '--snapshot', scene, '--size', '1600x900', '--after', 1).finish()
        self.assertEqual(0, viewed.status, viewed)
        with open(scene, encoding='utf-8') as f:
            yield f.read()

    def test_a_user_sees_own_jobs_and_an_operator_all(self):
        jobs = self.start_both()
        for uid, other in ((ANN, BOB), (BOB, ANN)):
            self.assertEqual({str(uid): self.ids[str(uid)]}, self.jobs_of(uid))
            for text in self.shown_by_commands(uid):
                self.shows_own_only(uid, other, text)
        for uid in (ANN, BOB):
            tapped = self.asked(0, 'tap', '--count', 5, '-f', 'json', '--job', self.ids[str(uid)])
            self.assertIn(self.ids[str(uid)], tapped.out)
        self.end(*jobs)

    def test_a_request_about_the_job_of_another_user_is_about_none(self):
        jobs = self.start_both()
        theirs = self.ids[str(BOB)]
        with Stream(self.endpoint, ['job'], keys=self.keys_of(ANN)) as own:
            self.assertEqual([self.ids[str(ANN)]], [fields['job'] for name, fields in own.request('jobs') if name == 'job'])
            for op in ('snapshot', 'commgram', 'remap', 'reroute'):
                for job in (theirs, 'no-such-job'):
                    with self.assertRaisesRegex(holter.HolterError, 'no such job'):
                        own.request(op, job=job)
            for op in ('capture', 'stop'):
                with self.assertRaisesRegex(holter.HolterError, 'only operators'):
                    own.request(op, job=theirs)
            (_, status), = own.request('status')
            self.assertEqual(['', ''], [status['rejected_last'], status['sink_error']])
        with Stream(self.endpoint, ['job'], keys=self.keys) as all_jobs:
            self.assertLess(0, len(all_jobs.request('snapshot', job=theirs)))
        self.end(*jobs)

    def test_a_request_that_names_no_job_is_about_the_newest_one_of_the_user(self):
        """A job of another user that began later is not in its way."""
        jobs = self.start_both()
        for uid in (ANN, BOB):
            with Stream(self.endpoint, ['job'], keys=self.keys_of(uid)) as own:
                answers = own.request('snapshot', topic='job')
            self.assertEqual([self.ids[str(uid)]], [fields['job'] for name, fields in answers if name == 'job'])
        self.end(*jobs)

    def test_the_stream_carries_nothing_of_another_user_whatever_is_subscribed_to(self):
        jobs = self.start_both()
        theirs = self.ids[str(BOB)]
        context = zmq.Context()
        self.addCleanup(context.destroy, linger=0)
        spy = context.socket(zmq.SUB)
        self.addCleanup(spy.close, 0)
        spy.curve_publickey, spy.curve_secretkey, spy.curve_serverkey = _keys(self.keys_of(ANN))
        head, port = self.endpoint.rsplit(':', 1)
        spy.connect(f'{head}:{int(port) + 1}')
        for topic in ('', 'totals/', f'totals/{theirs}', f'~{BOB}/', f'~{BOB}/totals/{theirs}', 'sync/', f'sync/1/{theirs}',
                      f'~{ANN}/', f'~{ANN}/sync/1/{theirs}'):
            spy.subscribe(topic)
        with Stream(self.endpoint, ['totals'], keys=self.keys) as all_jobs:  # frames of both are published meanwhile
            seen = [all_jobs.receive(lab.PATIENCE).job for _ in range(20)]
        self.assertEqual(set(self.ids.values()), set(seen))
        topics = set()
        for _ in range(30):
            self.assertTrue(spy.poll(1000 * lab.PATIENCE))
            topics.add(spy.recv_multipart()[0].decode())
        self.assertEqual({f'~{ANN}'}, {topic.split('/')[0] for topic in topics}, topics)
        self.assertFalse([topic for topic in topics if topic.endswith(theirs) and '/sync/' not in topic], topics)
        with Stream(self.endpoint, ['totals'], keys=self.keys_of(ANN)) as own:
            self.assertEqual({self.ids[str(ANN)]}, {own.receive(lab.PATIENCE).job for _ in range(5)})
        self.end(*jobs)

    def test_a_job_is_not_reported_with_the_keys_of_another_user(self):
        """Who reports a rank into a job, or a job in another user's name, would see it."""
        self.start_daemon()
        first = self.start_job(BOB, job='shared')
        lab.wait_for(lambda: self.jobs_of(BOB) or not first.alive(), 'the job')
        job, = self.jobs_of(BOB).values()
        intruder = self.start_job(ANN, job='shared')
        own = self.start_job(ANN)
        lab.wait_for(lambda: self.jobs_of(ANN) or not own.alive(), "the job with the user's keys")
        self.assertNotIn(job, self.jobs_of(ANN).values())
        self.assertEqual(str(BOB), {j: user for user, j in self.jobs_of(0).items()}[job])
        self.end(first, own, intruder)

    def reuse_id(self, *arguments):
        self.start_daemon(*arguments)
        first = self.start_job(BOB, job='shared')
        lab.wait_for(lambda: self.jobs_of(BOB) or not first.alive(), 'the job')
        with open(os.path.join(self.place.home(BOB), f'secret-of-{BOB}', 'end'), 'w', encoding='utf-8'):
            pass
        self.assertEqual(0, first.finish().status)

        def ended():
            job, = json.loads(self.asked(0, 'status', '-f', 'json').out)['jobs']
            return job['job'] if job['state'] == 'ended' else None
        job = lab.wait_for(ended, 'the end of the job')
        second = self.start_job(ANN, job='shared')
        lab.wait_for(lambda: self.jobs_of(ANN) or not second.alive(), 'the next job')
        self.assertEqual({str(ANN): job}, self.jobs_of(0))
        self.assertEqual({}, self.jobs_of(BOB))
        self.end(second)

    def test_the_id_of_a_job_that_has_ended_is_free_for_another_user(self):
        self.reuse_id()

    def test_in_a_fleet_the_id_of_a_job_that_has_ended_is_free_for_another_user(self):
        fleet = Fleet(self.place)
        self.addCleanup(fleet.close)
        self.reuse_id('--fleet', fleet.url)

    def test_in_a_fleet_the_gateway_of_another_user_is_no_way_into_a_job(self):
        """That gateway does not hold the job, and does not know whose it is."""
        fleet = Fleet(self.place)
        self.addCleanup(fleet.close)
        self.start_daemon('--fleet', fleet.url)
        first = self.start_job(BOB, job='shared')
        lab.wait_for(lambda: self.jobs_of(BOB) or not first.alive(), 'the job')

        def agents():
            job, = json.loads(self.asked(BOB, 'status', '-f', 'json').out)['jobs']
            return [node['agent_pid'] for message in job['agents'] for node in message['nodes']]
        own = lab.wait_for(agents, 'its agent')
        other = f'tcp://127.0.0.1:{lab.free_port()}'
        gateway = self.place.start(os.path.join(lab.BUILD, 'daemon', 'holterd'), '--listen', other, '--keys', self.keys, '--no-record',
                                   '--window', '100ms', '--fleet', fleet.url)
        intruder = self.start_job(ANN, job='shared', endpoint=other)
        lab.wait_for(lambda: self.daemon.err().count('rejected a message of the servers') > 3 or agents() != own, 'the intruder')
        self.assertEqual(own, agents())
        self.assertEqual({str(BOB)}, set(self.jobs_of(0)))
        self.assertEqual({}, self.jobs_of(ANN))
        exported = self.place.start(os.path.join(lab.BUILD, 'daemon', 'holterd'), '--fleet', fleet.url, '--keys', self.keys,
                                    '--export', *self.jobs_of(BOB).values(), '--record', self.place.output).finish()
        recorded = recording.Recording(exported.out.strip())
        self.assertEqual([str(BOB)], [row['user'] for row in recorded.rows('job', 'rowid')], exported)
        self.assertEqual(1, len({instance for instance, *_ in recorded.numbered_messages()}))
        gateway.kill(signal.SIGTERM)
        self.end(first, intruder)

    def fetch_metrics(self, token=None):
        request = urllib.request.Request(f'http://{self.metrics}/metrics',
                                         headers={'Authorization': f'Bearer {token}'} if token else {})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def test_metrics_are_for_who_has_the_token(self):
        jobs = self.start_both()
        with open(os.path.join(self.keys, 'metrics.token'), encoding='ascii') as f:
            token = f.read().strip()
        for wrong in (None, 'x', token[:-1], token + 'x', ''):
            status, text = self.fetch_metrics(wrong)
            self.assertEqual(401, status)
            for job in self.ids.values():
                self.assertNotIn(job, text)
        status, text = self.fetch_metrics(token)
        self.assertEqual(200, status)
        for job in self.ids.values():
            self.assertIn(f'job_id="{job}"', text)
        self.end(*jobs)

    def test_a_key_whose_file_is_removed_is_not_admitted_any_more(self):
        self.start_daemon()
        self.assertEqual(0, self.asked(ANN, 'status', '--timeout', 2).status)
        users = os.path.join(self.keys, 'users')
        for name in os.listdir(users):
            with open(os.path.join(users, name), encoding='utf-8') as f:
                user = f.read().split()[1]
            if user == str(ANN):
                os.unlink(os.path.join(users, name))
        self.assertEqual(1, self.asked(ANN, 'status', '--timeout', 2).status)
        self.assertEqual(0, self.asked(BOB, 'status', '--timeout', 2).status)
        self.end()


if __name__ == '__main__':
    lab.main()
