"""A fleet on servers that ask who comes: TLS, NKeys, passwords, credentials, and subjects that a user may not touch."""
import json
import os
import re
import unittest

import checks
import lab
import nats_keys
from fleet import Fleet

PAGE = os.path.join(lab.SOURCE, 'docs', 'fleet.md')


class Keys(unittest.TestCase):
    def setUp(self):
        self.place = lab.Lab()
        self.place.__enter__()
        self.addCleanup(self.place.close)
        self.keys = os.path.join(self.place.dir, 'keys')

    def folder(self, name):
        return os.path.join(self.keys, name)

    def make_documented_server(self):
        """The server of the example in docs/fleet.md, and a directory of keys for each of its users."""
        with open(PAGE, encoding='utf-8') as f:
            text = re.search('```conf\n(.*?)```', f.read(), re.DOTALL).group(1)
        certificate, key = nats_keys.make_certificate(self.keys, 'server')
        replaced = {'/var/lib/nats': os.path.join(self.place.dir, 'store'), '/etc/nats/server.pem': certificate,
                    '/etc/nats/server-key.pem': key, 'PASSWORD': 'secret'}
        for account in ('PHYSICS', 'CHEMISTRY'):
            user = nats_keys.NKey(self.keys, account)
            user.write(self.folder(account))
            nats_keys.write(self.folder(account), 'server.name', 'holter\n')
            replaced['U' + account] = user.public
        nats_keys.write(self.folder('people'), 'password', 'people:secret\n')
        for name in ('PHYSICS', 'CHEMISTRY', 'people'):
            with open(certificate, encoding='utf-8') as f:
                nats_keys.write(self.folder(name), 'ca.pem', f.read())
        for old, new in replaced.items():
            self.assertIn(old, text)
            text = text.replace(old, new)
        return Fleet(self.place, configuration=text)

    def holterd(self, fleet, *arguments):
        """A daemon that cannot start. @return what it printed"""
        told = self.place.run(os.path.join(lab.BUILD, 'daemon', 'holterd'), '--listen', fleet.endpoint('x'), '--no-record', '--fleet',
                              fleet.url, *arguments)
        self.assertEqual(1, told.status, told)
        return told.err

    def ask(self, fleet, folder):
        """As a client with the keys of a folder, None: without any."""
        env = {'HOLTER_FLEET_KEYS': folder} if folder else {}
        return self.place.holter('status', '-f', 'json', '-c', fleet.url, env=env).finish()

    def finish(self, fleet):
        fleet.close()
        self.place.__exit__(None, None, None)

    def check_job(self, fleet, job):
        recorded = fleet.recording(fleet.wait_ended(job), job)
        checks.recording_tells_the_truth(self, recorded.sums(), fleet.truth(job))
        checks.nothing_lost(self, recorded.sums())

    def test_the_documented_server_lets_daemons_and_people_do_their_own_only(self):
        fleet = self.make_documented_server()
        for name in 'ab':
            fleet.start_daemon(name, '--fleet-keys', self.folder('PHYSICS'))
        fleet.start_job('one', '1')
        lab.wait_for(lambda: (fleet.state('one') or {}).get('start_ns'), 'a window')
        found = self.ask(fleet, self.folder('people'))
        self.assertEqual(0, found.status, found)
        self.assertEqual(1, len(json.loads(found.out)['jobs']))
        stranger = self.ask(fleet, self.folder('CHEMISTRY'))
        self.assertEqual(1, stranger.status, stranger)
        self.assertNotIn('one', stranger.out)
        first = fleet.holder('one')
        fleet.kill(first)
        lab.wait_for(lambda: fleet.holder('one') not in (None, first), 'another worker')
        self.assertEqual(0, fleet.end_job('one').status)
        self.check_job(fleet, 'one')
        for name, running in fleet.daemons.items():
            self.assertNotIn('ermissions', running.err(), name)
        self.finish(fleet)

    def test_a_daemon_that_cannot_connect_again_says_what_is_wrong_with_the_certificate(self):
        fleet = self.make_documented_server()
        fleet.start_daemon('a', '--fleet-keys', self.folder('PHYSICS'))
        fleet.start_job('one', '1')
        lab.wait_for(lambda: (fleet.state('one') or {}).get('start_ns'), 'a window')
        os.rename(os.path.join(self.keys, 'server.pem'), os.path.join(self.keys, 'first.pem'))
        os.rename(os.path.join(self.keys, 'server-key.pem'), os.path.join(self.keys, 'first-key.pem'))
        nats_keys.make_certificate(self.keys, 'server')
        self.restart_server(fleet)
        lab.wait_for(lambda: re.search('do not store, trying again: .*: no connection: SSL Error: .*certificate', fleet.daemons['a'].err()),
                     'the reason')
        os.rename(os.path.join(self.keys, 'first.pem'), os.path.join(self.keys, 'server.pem'))
        os.rename(os.path.join(self.keys, 'first-key.pem'), os.path.join(self.keys, 'server-key.pem'))
        self.restart_server(fleet)
        lab.wait_for(lambda: 'the servers store again' in fleet.daemons['a'].err(), 'the end of it')
        self.assertEqual(0, fleet.end_job('one').status)
        self.check_job(fleet, 'one')
        self.finish(fleet)

    def restart_server(self, fleet):
        fleet.servers[0].kill()
        fleet.servers[0].process.wait()
        fleet.start_server(0)

    def test_keys_that_are_wrong_or_missing_are_named_with_their_server_and_the_job_runs_on(self):
        fleet = self.make_documented_server()
        right, server = self.folder('PHYSICS'), fleet.url
        nats_keys.NKey(self.keys, 'other').write(self.folder('other'))
        certificate, _ = nats_keys.make_certificate(self.keys, 'unknown')
        with open(os.path.join(right, 'ca.pem'), encoding='utf-8') as authority, open(certificate, encoding='utf-8') as unknown:
            nats_keys.write(self.folder('other'), 'ca.pem', authority.read())
            nats_keys.write(self.folder('unknown'), 'ca.pem', unknown.read())
            authority.seek(0)
            nats_keys.write(self.folder('name'), 'ca.pem', authority.read())
        nats_keys.write(self.folder('name'), 'server.name', 'nats.example.org\n')
        nats_keys.write(self.folder('half'), 'nkey.seed', 'SU\n')
        nats_keys.write(self.folder('line'), 'password', 'people\n')
        nats_keys.write(self.folder('empty'), 'password', '')
        nats_keys.write(self.folder('pem'), 'ca.pem', 'no certificate\n')
        os.makedirs(self.folder('nothing'))
        for name, words in (('other', ('Authorization', 'nkey.seed')), ('unknown', ('certificate', 'ca.pem')),
                            ('name', ('nats.example.org', 'server.name')),
                            ('half', ('half/nkey.pub: No such file',)), ('line', ('line/password: USER:PASSWORD is expected',)),
                            ('empty', ('empty/password: a line is expected',)), ('pem', ('pem/ca.pem',)),
                            ('nothing', ('certificate', 'without a file of', 'nothing')), ('missing', ('missing: No such file',))):
            for said in (self.holterd(fleet, '--fleet-keys', self.folder(name)), self.ask(fleet, self.folder(name)).err):
                for word in (server, *words):
                    self.assertIn(word, said, name)
        said = self.holterd(fleet)
        self.assertIn('without a directory of keys', said)
        people = self.holterd(fleet, '--fleet-keys', self.folder('people'))
        self.assertIn('ermissions', people)
        # A job that began without a daemon is reported once there is one.
        fleet.daemons['a'] = None
        fleet.start_job('one', '1')
        del fleet.daemons['a']
        lab.wait_for(lambda: os.listdir(os.path.join(fleet.folder('one'), 'truth')) or self.place.pids('holter-agent'), 'the job')
        fleet.start_daemon('a', '--fleet-keys', right)
        lab.wait_for(lambda: (fleet.state('one') or {}).get('start_ns'), 'a window')
        self.assertEqual(0, fleet.end_job('one').status)
        self.check_job(fleet, 'one')
        self.finish(fleet)

    def test_credentials_of_a_file_let_a_daemon_in(self):
        settings = nats_keys.make_credentials(self.keys, self.folder('site'))
        fleet = Fleet(self.place, configuration=f'listen: 0.0.0.0:4222\nmax_payload: 32MB\n{settings}'
                      f'jetstream {{ store_dir: "{self.place.dir}/store" }}\n')
        said = self.holterd(fleet)
        self.assertIn('Authorization', said)
        fleet.start_daemon('a', '--fleet-keys', self.folder('site'))
        fleet.start_job('one', '1')
        lab.wait_for(lambda: (fleet.state('one') or {}).get('start_ns'), 'a window')
        self.assertEqual(0, fleet.end_job('one').status)
        self.check_job(fleet, 'one')
        self.finish(fleet)

    def test_a_daemon_that_servers_refuse_ends_with_an_error_and_the_next_one_goes_on(self):
        nats_keys.write(self.folder('site'), 'password', 'site:right\n')
        settings = (f'listen: 0.0.0.0:4222\nmax_payload: 32MB\njetstream {{ store_dir: "{self.place.dir}/store" }}\n'
                    'accounts { SITE { jetstream: enabled, users: [ { user: site, password: right } ] } }\n')
        fleet = Fleet(self.place, configuration=settings)
        fleet.start_daemon('a', '--fleet-keys', self.folder('site'))
        fleet.start_job('one', '1')
        lab.wait_for(lambda: (fleet.state('one') or {}).get('start_ns'), 'a window')
        refused = fleet.daemons['a']
        for password in ('wrong', 'right'):
            fleet.servers[0].kill()
            fleet.servers[0].process.wait()
            fleet.configuration = settings.replace('right', password)
            fleet.start_server(0)
            said = refused.finish()
            self.assertEqual(1, said.status, said)
            self.assertIn(f'{fleet.url}: the servers refuse this daemon', said.err)
            self.assertIn('site/password', said.err)
        fleet.start_daemon('a', '--fleet-keys', self.folder('site'))
        lab.wait_for(lambda: fleet.has_new_window('one'), 'a new window')
        self.assertEqual(0, fleet.end_job('one').status)
        self.check_job(fleet, 'one')
        self.finish(fleet)


if __name__ == '__main__':
    lab.main()
