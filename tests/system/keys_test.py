"""Keys of a daemon that others can reach: who has none sees nothing, and each role may do what it is for."""
import os
import unittest

import lab


class Keys(unittest.TestCase):
    def setUp(self):
        self.place = lab.Lab()
        self.place.__enter__()
        self.addCleanup(self.place.__exit__, None, None, None)
        self.keys = os.path.join(self.place.dir, 'keys')
        self.endpoint = f'tcp://127.0.0.1:{lab.free_port()}'
        self.place.env['HOLTER_DAEMON'] = self.endpoint

    def made(self, *arguments):
        finished = self.place.holter('keys', *arguments).finish()
        self.assertEqual(0, finished.status, finished)

    def started(self, *arguments):
        return self.place.start(os.path.join(lab.BUILD, 'daemon', 'holterd'), '--listen', self.endpoint, '--no-record', *arguments)

    def asked(self, command, keys):
        return self.place.holter(command, '--keys', keys, '--timeout', 2).finish()

    def test_each_role_may_do_what_it_is_for(self):
        self.made(self.keys)
        daemon = self.started('--keys', self.keys)
        lab.wait_for(lambda: not daemon.alive() or self.asked('status', self.keys).status == 0, 'the daemon')
        copies = {role: os.path.join(self.place.dir, role) for role in ('viewer', 'operator', 'agent')}
        for role, copy in copies.items():
            self.made('--for', role, '-o', copy, self.keys)
            self.assertEqual({f'{role}.key', 'server.pub'}, set(os.listdir(copy)))
            self.assertEqual(0o700, os.stat(copy).st_mode & 0o777)
        self.assertEqual(0, self.asked('status', copies['viewer']).status)
        self.assertIn('job', self.asked('capture', copies['operator']).err)  # there is none
        self.assertRegex(self.asked('capture', copies['viewer']).err, 'operator.key|No such file')
        self.assertNotEqual(0, self.asked('status', copies['agent']).status)
        daemon.kill()
        daemon.finish()

    def test_who_has_no_keys_sees_nothing(self):
        self.made(self.keys)
        daemon = self.started('--keys', self.keys)
        lab.wait_for(lambda: not daemon.alive() or self.asked('status', self.keys).status == 0, 'the daemon')
        other = os.path.join(self.place.dir, 'other')
        self.made(other)
        self.assertEqual((1, ''), self.outcome('status', '--timeout', 2))
        self.assertEqual((1, ''), self.outcome('status', '--timeout', 2, '--keys', other))
        daemon.kill()
        daemon.finish()

    def outcome(self, *arguments):
        finished = self.place.holter(*arguments).finish()
        return finished.status, finished.out

    def test_a_directory_in_tmp_that_somebody_else_has_made_locks_nobody_out(self):
        taken = f'/tmp/holter-{os.geteuid()}'
        os.makedirs(taken, mode=0o700, exist_ok=True)
        theirs, home = os.path.join(self.place.dir, 'theirs'), os.path.join(self.place.dir, 'home')
        for made in (theirs, home):
            os.mkdir(made)
        env = {'HOLTER_DAEMON': '', 'HOLTER_RUN_DIR': '', 'XDG_RUNTIME_DIR': '', 'HOME': home}
        within = ['unshare', '--mount', 'sh', '-c', f'chown 4321 {theirs} && mount --bind {theirs} {taken} && exec "$@"', 'sh']
        if self.place.run(*within, 'true').status != 0:
            self.skipTest('only root may mount here')
        finished = self.place.run(*within, os.path.join(lab.BUILD, 'agent', 'holter'), 'run', '--no-record', '--', 'true', env=env)
        self.assertEqual(0, finished.status, finished)
        self.assertIn('holter: watching, ', finished.err)
        self.assertEqual(['.holter'], os.listdir(home))

    def test_the_loopback_network_without_keys_has_to_be_permitted(self):
        refused = self.started().finish()
        self.assertEqual(2, refused.status, refused)
        self.assertIn('every user of this machine can reach it', refused.err)
        daemon = self.started('--no-keys')
        lab.wait_for(lambda: not daemon.alive() or self.place.status(), 'the daemon')
        self.assertTrue(daemon.alive())
        daemon.kill()
        daemon.finish()


if __name__ == '__main__':
    lab.main()
