"""Crowds and garbage at the daemon's ports while a job is watched: the job is counted in full all the same."""
import ctypes
import os
import random
import resource
import signal
import socket
import struct
import unittest

import checks
import lab

DEALER, SUB, SUBSCRIBE, LINGER, DONTWAIT, SNDMORE = 5, 2, 6, 17, 1, 2
VIEWERS = 1000


class Zmq:
    """As much of libzmq as the tests need."""

    def __init__(self):
        self.lib = ctypes.CDLL('libzmq.so.5')
        for name in ('zmq_ctx_new', 'zmq_socket'):
            getattr(self.lib, name).restype = ctypes.c_void_p
        self.context = ctypes.c_void_p(self.lib.zmq_ctx_new())
        self.lib.zmq_ctx_set(self.context, 2, 2 * VIEWERS + 100)  # ZMQ_MAX_SOCKETS
        self.sockets = []

    def connect(self, kind, endpoint):
        handle = ctypes.c_void_p(self.lib.zmq_socket(self.context, kind))
        if not handle.value:
            raise OSError('no ZeroMQ socket left')
        zero = ctypes.c_int(0)
        self.lib.zmq_setsockopt(handle, LINGER, ctypes.byref(zero), ctypes.c_size_t(4))
        if kind == SUB:
            self.lib.zmq_setsockopt(handle, SUBSCRIBE, b'', ctypes.c_size_t(0))
        if self.lib.zmq_connect(handle, endpoint.encode()) != 0:
            raise OSError(f'cannot connect to {endpoint}')
        self.sockets.append(handle)
        return handle

    def send(self, handle, *parts):
        for i, part in enumerate(parts):
            self.lib.zmq_send(handle, part, ctypes.c_size_t(len(part)), DONTWAIT | (SNDMORE if i + 1 < len(parts) else 0))

    def receive(self, handle):
        buffer = ctypes.create_string_buffer(1 << 16)
        n = self.lib.zmq_recv(handle, buffer, ctypes.c_size_t(len(buffer)), DONTWAIT)
        return buffer.raw[:n] if n >= 0 else None

    def close(self):
        for handle in self.sockets:
            self.lib.zmq_close(handle)
        self.lib.zmq_ctx_term(self.context)


class Hostile(unittest.TestCase):
    def setUp(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 65536), hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))

    def watched_meanwhile(self, disturb):
        """Start daemon and job, disturb(port, running job), end the job, compare. The job must be seen in full."""
        with lab.Lab() as place:
            port = lab.free_port()
            front = f'tcp://127.0.0.1:{port}'
            daemon = place.start(os.path.join(lab.BUILD, 'daemon', 'holterd'), '--no-keys', '--listen', front, '--record',
                                 place.output)
            place.env['HOLTER_DAEMON'] = front
            lab.wait_for(place.status, 'the daemon')
            gate = os.path.join(place.dir, 'gate')
            job = place.holter('run', '--', *lab.mpirun('openmpi', 3, lab.program('hang', 'openmpi'), gate))
            lab.wait_for(lambda: place.ranks_seen() == 3, 'the ranks to be known')
            try:
                disturb(place, port)
                self.assertTrue(daemon.alive(), daemon)
                lab.wait_for(place.status, 'the daemon to answer still')
            finally:
                with open(gate, 'w', encoding='utf-8'):
                    pass
            finished = job.finish()
            self.assertEqual(0, finished.status, finished)
            daemon.kill(signal.SIGTERM)
            stopped = daemon.finish()
            self.assertEqual(0, stopped.status, stopped)
            checks.recording_tells_the_truth(self, place.recording().sums(), place.truth())
            return stopped

    def test_a_thousand_viewers(self):
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft < 8 * VIEWERS:
            self.skipTest(f'only {soft} open files are permitted')

        def crowd(place, port):
            zmq = Zmq()
            try:
                streams = [zmq.connect(SUB, f'tcp://127.0.0.1:{port + 1}') for _ in range(VIEWERS)]
                lab.wait_for(lambda: all(zmq.receive(s) is not None for s in streams[::-100]), 'the stream to reach all')
                tap = place.tap('--count', 3).finish()
                self.assertEqual(0, tap.status, tap)
                self.assertTrue(tap.out)
            finally:
                zmq.close()

        self.watched_meanwhile(crowd)

    def test_garbage_on_every_port(self):
        seed = random.Random(20)
        greeting = b'\xff' + bytes(8) + b'\x7f\x03\x00NULL' + bytes(16) + b'\x00' + bytes(31)

        def raw(port, data):
            with socket.create_connection(('127.0.0.1', port), 5) as s:
                try:
                    s.sendall(data)
                    s.settimeout(0.2)
                    s.recv(4096)
                except OSError:
                    pass  # refused: what a daemon should do

        def garbage(place, port):
            for p in (port, port + 1):
                for n in (0, 1, 64, 5000, 200000):
                    raw(p, seed.randbytes(n))
                raw(p, b'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
                raw(p, greeting[:40])
                raw(p, greeting + seed.randbytes(5000))
                raw(p, greeting + b'\x04\x19\x05READY' + seed.randbytes(300))
                raw(p, greeting + b'\x02' + struct.pack('>Q', 1 << 62) + b'x')  # a frame of 4 EiB
            zmq = Zmq()
            try:
                for _ in range(20):
                    front = zmq.connect(DEALER, f'tcp://127.0.0.1:{port}')
                    stream = zmq.connect(SUB, f'tcp://127.0.0.1:{port + 1}')
                    for n in (0, 1, 2, 10, 100, 10000):
                        zmq.send(front, seed.randbytes(n))
                        zmq.send(front, seed.randbytes(n), b'', seed.randbytes(n))
                        zmq.send(stream, seed.randbytes(n))
                    zmq.send(front, b'\x92\x07' + b'\x81' * 50000)           # nested without end
                    zmq.send(front, b'\x92\x07\x81\x0a\xdd\xff\xff\xff\xff')  # 4 billion rows
                lab.wait_for(lambda: (place.status() or {'daemon': {}})['daemon'].get('rejected'),
                             'rejections to be counted')
            finally:
                zmq.close()

        self.watched_meanwhile(garbage)


if __name__ == '__main__':
    lab.main()
