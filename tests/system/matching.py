"""Was every message matched with the right partner? What a stress program says of each of its messages
(programs/truth.h, "trace") against what Holter's matching made of them (programs/match_replay.c)."""
import bisect
import collections

Call = collections.namedtuple('Call', 'enter exit enter_ns exit_ns')
Pair = collections.namedtuple('Pair', 'source destination bytes sent_ns looked_ns received_ns')


class Replay:
    """What match_replay printed."""

    def __init__(self, text):
        self.calls = collections.defaultdict(list)  # (rank, ring): calls, in order
        self.messages, self.halves, self.counts = [], [], []
        for line in text.splitlines():
            what, *numbers = line.split()
            numbers = tuple(map(int, numbers))
            if what == 'call':
                self.calls[numbers[:2]].append(Call(*numbers[2:]))
            else:
                {'message': self.messages, 'half': self.halves, 'counts': self.counts}[what].append(numbers)


class Trace:
    """What the ranks say of their messages: who sent which when, who received it when."""

    def __init__(self, place):
        self.sends, self.receives = collections.defaultdict(list), collections.defaultdict(list)
        for line in place.truth_lines():
            word, what, *numbers = line.split()[:9] if line.startswith('trace') else ('', '')
            if word != 'trace':
                continue
            rank, thread, begin, end, peer, size, serial = map(int, numbers)
            if what == 'send':
                self.sends[rank, peer, serial].append((rank, thread, begin, end, size))
            else:
                self.receives[peer, rank, serial].append((rank, thread, begin, end, size))
        if {k: len(v) for k, v in self.sends.items()} != {k: len(v) for k, v in self.receives.items()}:
            raise AssertionError('the program did not receive what it sent')

    def pairs(self, replay):
        """Every message with the times at which the probe saw it. The call that the program speaks of is the one
        in that thread's ring that lies between the program's two time stamps."""
        find = _Calls(replay, [span for ends in (self.sends, self.receives) for spans in ends.values()
                               for span in spans])
        pairs = []
        for (source, destination, _), sent in self.sends.items():
            for send, receive in zip(sent, self.receives[source, destination, _]):
                posted, completed = find(send), find(receive)
                pairs.append(Pair(source, destination, send[4], posted.enter_ns, completed.enter_ns,
                                  completed.exit_ns))
        return pairs


class _Calls:
    def __init__(self, replay, spans):
        self.calls = replay.calls
        self.starts = {key: [c.enter for c in calls] for key, calls in replay.calls.items()}
        threads = collections.defaultdict(set)
        for rank, thread, begin, end, _ in spans:
            threads[rank, thread].add((begin, end))
        # a thread's ring is the one that has one call in each of the thread's spans, and that no other thread has
        # at the time
        life = {thread: (min(own)[0], max(end for _, end in own)) for thread, own in threads.items()}
        rings = {(rank, thread): {ring for r, ring in self.calls if r == rank and
                                  all(len(self._inside(rank, ring, *span)) == 1 for span in own)}
                 for (rank, thread), own in threads.items()}
        for _ in threads:
            for one, mine in rings.items():
                for other, its in rings.items():
                    if (one != other and one[0] == other[0] and len(mine) == 1 and len(its) > 1 and
                            life[one][0] < life[other][1] and life[other][0] < life[one][1]):
                        its -= mine
        unknown = {thread: its for thread, its in rings.items() if len(its) != 1}
        if unknown:
            raise AssertionError(f'threads and the rings that may be theirs: {unknown}')
        self.ring = {thread: min(its) for thread, its in rings.items()}

    def _inside(self, rank, ring, begin, end):
        first = bisect.bisect_left(self.starts[rank, ring], begin)
        inside = []
        for call in self.calls[rank, ring][first:]:
            if call.enter > end:
                break
            if call.exit <= end:
                inside.append(call)
        return inside

    def __call__(self, span):
        rank, thread, begin, end, _ = span
        call, = self._inside(rank, self.ring[rank, thread], begin, end)
        return call


def times(pair):
    """What a matched message is said to have taken, see wire.h, transfer."""
    return (pair.source, pair.destination, pair.bytes, pair.received_ns - pair.sent_ns,
            max(0, pair.sent_ns - pair.looked_ns), max(0, pair.looked_ns - pair.sent_ns))


def within_nodes(pairs, replay, per_node):
    """(matches that are wrong, messages that were not matched) of those that stay on a node."""
    wanted = collections.Counter(times(p) for p in pairs if p.source // per_node == p.destination // per_node)
    got = collections.Counter(replay.messages)
    return sorted((got - wanted).elements()), sorted((wanted - got).elements())


def between_nodes(pairs, replay, per_node):
    """The same of those that go to another node, joined by the keys of their halves."""
    wanted = collections.Counter(p for p in pairs if p.source // per_node != p.destination // per_node)
    ends = collections.defaultdict(lambda: ([], []))
    for key, receive, *half in replay.halves:
        ends[key][receive].append(half)
    got = collections.Counter()
    wrong = []
    for key, (sends, receives) in ends.items():
        if len(sends) > 1 or len(receives) > 1:
            wrong.append((key, sends, receives))
        elif sends and receives:
            source, destination, size, sent_ns, _ = sends[0]
            if sends[0][:3] != receives[0][:3]:
                wrong.append((key, sends, receives))
            else:
                got[Pair(source, destination, size, sent_ns, *receives[0][3:])] += 1
    return wrong + sorted((got - wanted).elements()), sorted((wanted - got).elements())
