"""The published stream of a daemon. Needs pyzmq and msgpack. proto/SPEC.md describes what is spoken."""
import collections
import os
import secrets
import socket
import struct

import zmq

from .recording import HolterError
from .tables import PROTOCOL, TOPICS, VERSION
from .wire import decode, encode

Message = collections.namedtuple('Message', 'topic job frame name fields')


def _keys(directory):
    """Public and secret key of a viewer, and the public key of the server, from a directory of keys."""
    def lines(name):
        with open(os.path.join(directory, name), encoding='ascii') as file:
            return file.read().split()
    try:
        public, secret = lines('viewer.key')[:2]
        return public.encode(), secret.encode(), lines('server.pub')[0].encode()
    except (OSError, ValueError, IndexError) as error:
        raise HolterError(f'{directory}: no keys of a viewer: {error}') from error


def _stream_endpoint(front):
    if front.startswith('ipc://'):
        return front + '.stream'
    head, _, port = front.rpartition(':')
    return f'{head}:{int(port) + 1}'


class Stream:
    """Messages of a daemon from now on: iterate over it.

    endpoint  'tcp://HOST:PORT' or 'ipc:///PATH'; by default the variable HOLTER_DAEMON
    topics    'totals', 'ranks', 'pairs', 'calls', 'alerts', ...; see TOPICS
    job       job id; '' for all jobs
    keys      directory of keys of a viewer; by default the variable HOLTER_KEYS; None: without
    timeout   seconds to wait for an answer of the daemon

    `lost` counts frames that were published and did not arrive; a slow reader delays nobody.
    """

    def __init__(self, endpoint=None, topics=('totals',), job='', keys=None, timeout=5.0):
        endpoint = endpoint or os.environ.get('HOLTER_DAEMON')
        keys = keys or os.environ.get('HOLTER_KEYS')
        unknown = sorted(set(topics) - set(TOPICS))
        if endpoint is None:
            raise HolterError('which daemon? Give an endpoint, or set HOLTER_DAEMON')
        if ',tcp://' in endpoint or ',ipc://' in endpoint:
            raise HolterError(f'{endpoint}: several endpoints are for agents: give one of them')
        if unknown:
            raise HolterError(f'there is no topic {unknown[0]}')
        self.topics, self.job, self.endpoint, self.timeout = tuple(topics), job, endpoint, timeout
        self.keys = _keys(keys) if keys else None
        self.lost = 0
        self._counts = {}  # (topic, job): count of its newest frame
        self._requests = 0
        self._context = zmq.Context()
        try:
            self._front = self._socket(zmq.DEALER, endpoint)
            self.welcome = self._greet()
            self._stream = self._socket(zmq.SUB, self.welcome['stream'] or _stream_endpoint(endpoint))
            self._subscribe()
        except BaseException:
            self.close()
            raise

    def _socket(self, kind, endpoint):
        made = self._context.socket(kind)
        made.linger = 0
        made.ipv6 = True
        if self.keys:
            made.curve_publickey, made.curve_secretkey, made.curve_serverkey = self.keys
        try:
            made.connect(endpoint)
        except zmq.ZMQError as error:
            raise HolterError(f'{endpoint}: no endpoint of a daemon: {error}') from error
        return made

    def _receive(self, receiver):
        if not receiver.poll(1000 * self.timeout):
            raise HolterError(f'{self.endpoint}: no answer within {self.timeout} s')
        return receiver.recv_multipart()

    def _answer(self):
        """The next message of the daemon: its name and its fields. A refusal that a hello ends is one, any other an error."""
        name, message = decode(self._receive(self._front)[-1])
        if name == 'refused' and message['text'] != 'say hello first':
            raise HolterError(f'{self.endpoint}: {message["text"]}')
        return name, message

    def _greet(self):
        self._front.send(encode('hello', {'protocol': PROTOCOL, 'role': 'viewer', 'version': VERSION,
                                          'host': socket.gethostname()[:64], 'pid': os.getpid()}))
        while True:
            name, message = self._answer()
            if name == 'welcome':
                return message

    def _subscribe(self):
        """Subscribe, and wait until it is in force."""
        self._prefix = self.welcome['prefix']  # of all topics, if the key belongs to a user
        for topic in self.topics:
            self._stream.subscribe(f'{self._prefix}{topic}/{self.job}')
        sync = f'{self._prefix}sync/{secrets.token_hex(8)}'
        self._stream.subscribe(sync)
        while self._receive(self._stream)[0] != sync.encode():
            pass  # frames of topics that were subscribed to before
        self._stream.unsubscribe(sync)

    def request(self, op, **fields):
        """Ask the daemon, as 'status', 'jobs' or 'snapshot' of proto/SPEC.md: [(name, fields)] of the answers."""
        self.welcome = self._greet()  # it has forgotten a client that was silent, and another run knows none
        self._ask(op, fields)
        answers = []
        while True:
            name, message = self._answer()
            if name == 'refused' or (name == 'welcome' and message['instance'] != self.welcome['instance']):
                self.welcome = self._greet()  # of another run, which has not executed the request
                self._ask(op, fields)
                answers = []
            elif name == 'welcome':
                continue
            elif name != 'reply':
                answers.append((name, message))
            elif message['id'] == self._requests:
                if message['code'] != 0:
                    raise HolterError(f'{self.endpoint}: {message["text"] or message["code"]}')
                return answers

    def _ask(self, op, fields):
        self._requests += 1
        self._front.send(encode('request', {'id': self._requests, 'op': op, 'instance': self.welcome['instance'], **fields}))

    def receive(self, timeout=None):
        """The next message; None when there is none within a time in seconds (default: wait for ever)."""
        while self._stream.poll(None if timeout is None else 1000 * timeout):
            topic, head, body = self._stream.recv_multipart()
            topic, _, job = topic.decode().removeprefix(self._prefix).partition('/')
            if topic not in self.topics or (self.job and job != self.job):
                continue
            frame, count, instance = struct.unpack('>QQQ', head[:24])
            run, before = self._counts.get((topic, job), (instance, count - 1))
            if run == instance and count > before:
                self.lost += count - before - 1
            self._counts[topic, job] = (instance, count)
            return Message(topic, job, frame, *decode(body))
        return None

    def __iter__(self):
        while True:
            yield self.receive()

    def close(self):
        self._context.destroy(linger=0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
