"""The bed itself: what other tests believe of slow or lossy links and of shifted clocks is so."""
import socket
import time
import unittest

import bed
import lab

# echo: the head sends bytes over TCP, a host sends them back
ECHO = '''
import socket, sys
with socket.create_server(('', 7000)) as server:
    print('ready', flush=True)
    while True:
        peer, _ = server.accept()
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with peer:
            while data := peer.recv(1 << 16):
                peer.sendall(data)
'''
PEER = '''
import socket, sys, time
host, rounds, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with socket.create_connection((host, 7000)) as s:
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for _ in range(rounds):
        t, left = time.monotonic(), size
        s.sendall(bytes(size))
        while left:
            left -= len(s.recv(left))
        print(time.monotonic() - t)
'''
# count: how many datagrams arrive, until none has for a second
COUNT = '''
import socket
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    s.bind(('', 7001))
    print('ready', flush=True)
    count = 0
    try:
        while s.recv(100):
            count += 1
            s.settimeout(1)
    except TimeoutError:
        print(count)
'''
DATAGRAMS = 2000


class Bed(unittest.TestCase):
    def round_trips(self, place, host, rounds, size):
        """Seconds of each."""
        finished = place.run('python3', '-c', PEER, host, rounds, size)
        self.assertEqual(0, finished.status, finished)
        return sorted(map(float, finished.out.split()))

    def test_a_link_is_slowed_and_restored(self):
        with lab.Lab() as place, bed.Bed(place, 2, delayed=['node2']) as hosts:
            echos = [hosts.on(name, 'python3', '-c', ECHO) for name in hosts.names]
            lab.wait_for(lambda: all(e.out() for e in echos), 'both echo servers')
            self.assertLess(self.round_trips(place, 'node2', 100, 1)[0], 0.004)
            hosts.delay('node2', 2000)
            slowed = self.round_trips(place, 'node2', 50, 1)
            self.assertGreaterEqual(slowed[0], 0.004)
            self.assertLess(slowed[0], 0.006)
            self.assertLess(self.round_trips(place, 'node1', 100, 1)[0], 0.004, 'another host is slow, too')
            hosts.delay('node2', 0)
            self.assertLess(self.round_trips(place, 'node2', 100, 1)[0], 0.004)

            hosts.bandwidth('node2', 20)
            self.assertLess(self.round_trips(place, 'node2', 100, 1)[0], 0.004)
            self.assertGreater(self.round_trips(place, 'node2', 1, 500000)[0], (500000 - 65536) * 8 / 20e6)
            hosts.bandwidth('node2', None)
            self.assertLess(self.round_trips(place, 'node2', 20, 500000)[0], 0.1)
            for echo in echos:
                echo.close()

    def arrived(self, place, hosts, name):
        """Of so many datagrams to a host."""
        count = hosts.on(name, 'python3', '-c', COUNT)
        lab.wait_for(lambda: 'ready' in count.out(), 'the counter')
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            for n in range(DATAGRAMS):
                s.sendto(b'x', (name, 7001))
                time.sleep(0.001 if n % 10 == 0 else 0)
        return int(count.finish().out.split()[1])

    def test_a_link_loses_the_share_of_frames_that_was_set(self):
        with lab.Lab() as place, bed.Bed(place, 2, delayed=['node2']) as hosts:
            self.assertEqual(DATAGRAMS, self.arrived(place, hosts, 'node2'))
            hosts.loss('node2', 0.1)
            self.assertAlmostEqual(0.9 * DATAGRAMS, self.arrived(place, hosts, 'node2'), delta=100)
            hosts.loss('node2', 0)
            self.assertEqual(DATAGRAMS, self.arrived(place, hosts, 'node2'))

    def test_hosts_have_clocks_of_their_own(self):
        shifts = {'node1': 1000, 'node2': -20}
        clock = ('python3', '-c', '"import time; print(time.monotonic())"')
        with lab.Lab() as place, bed.Bed(place, 3, clocks=shifts) as hosts:
            for name in hosts.names:
                before = time.monotonic()
                there = float(place.run(hosts.remote_shell, name, *clock).out) - shifts.get(name, 0)
                self.assertLessEqual(before, there, name)
                self.assertGreaterEqual(time.monotonic(), there, name)


if __name__ == '__main__':
    lab.main(network=True)
