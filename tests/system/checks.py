"""Comparisons of what Holter says with what is true."""
import lab
import recording

# Calls that a test program makes for itself and does not count, and that move no data: only these may be in a
# recording without being in the truth.
UNCOUNTED = {'MPI_Pcontrol', 'MPI_Abort'}


def same(test, *differences):
    lines = [line for part in differences for line in part]
    test.assertFalse(lines, '\n' + '\n'.join(lines))


def _drop_zeros(counter):
    return {k: v for k, v in counter.items() if v}


def recording_tells_the_truth(test, sums, truth, volumes=True):
    """Sums over a recording's windows against the program's own counts: every pair, rank and call.

    volumes: the program counts the bytes of collectives and of starts, too."""
    pairs = {k: (v, sums.sent_bytes[k]) for k, v in sums.sent.items()}
    received = {r: (row['received'], row['received_bytes']) for r, row in sums.ranks.items()}
    sent = {r: (row['sent'], row['sent_bytes']) for r, row in sums.ranks.items()}
    sent_truth = {r: tuple(sum(v[i] for (source, _), v in truth.sent.items() if source == r) for i in (0, 1))
                  for r in truth.received}
    regions = {k: (v, sums.region_bytes[k]) for k, v in sums.region_sent.items()}
    calls = {k: n for k, n in sums.calls.items() if k[1] not in UNCOUNTED}
    true_calls = {k: v[0] for k, v in truth.calls.items()}
    polls = {k: n for k, n in sums.polls.items() if n}
    all_polls = {r: row['polls'] for r, row in sums.ranks.items()}
    true_polls = {r: sum(n for k, n in truth.polls.items() if k[0] == r) for r in truth.received}
    all_calls = {r: row['calls'] - sum(n for k, n in sums.calls.items() if k[0] == r and k[1] in UNCOUNTED)
                 for r, row in sums.ranks.items()}
    true_all = {r: sum(n for k, n in true_calls.items() if k[0] == r) for r in truth.received}
    moved = {k: (sums.given[k], sums.got[k]) for k in calls if volumes and _is_volume(k)}
    true_moved = {k: v[1:] for k, v in truth.calls.items() if volumes and _is_volume(k)}
    same(test,
         lab.differences('messages and bytes of pair', truth.sent, pairs),
         lab.differences('messages and bytes sent by rank', sent_truth, sent),
         lab.differences('messages and bytes received by rank', truth.received, received),
         lab.differences('messages and bytes of rank and region', truth.regions, regions),
         lab.differences('calls', true_calls, calls),
         lab.differences('polls that found nothing', truth.polls, polls),
         lab.differences('polls that found nothing of rank', true_polls, all_polls),
         lab.differences('all calls of rank', true_all, all_calls),
         lab.differences('bytes given and got', true_moved, moved))


def _is_volume(key):
    return recording.CLASSES[key[1]] in ('collective', 'one-sided', 'io') or key[1] in ('MPI_Start', 'MPI_Startall')


def pairs_of(sums):
    """{(source, destination): (messages, bytes)}"""
    return {k: (n, sums.sent_bytes[k]) for k, n in sums.sent.items()}


def nothing_lost(test, sums):
    test.assertEqual(0, sums.total('lost'), 'events were lost')
    test.assertEqual(0, sums.total('untracked'), 'requests were not tracked')
    test.assertGreater(sums.total('events'), 0)


def all_is_matched(test, recorded, sums):
    """Every message of a job on one node, and nothing else; rows and histogram hold them all."""
    test.assertEqual({'matched': sums.total('received'), 'unmatched': 0, 'rejected': 0}, recorded.matching())
    test.assertEqual((sums.total('received'), 0), recorded.matched()[-1])
    windows = recorded.windows()
    for rows in ('transfers', 'latencies'):
        test.assertEqual(sums.total('received'),
                         sum(row['messages'] for window in windows for row in window[rows]), rows)


def totals_agree(test, totals, sums):
    """The published totals of all windows, as the recording keeps them, against its window messages."""
    figures = ('events', 'lost', 'calls', 'polls', 'sent', 'sent_bytes', 'received', 'received_bytes')
    same(test, lab.differences('total', {f: sums.total(f) for f in figures}, {f: totals[f] for f in figures}))


def streams_agree(test, what, one, other):
    """Two sums of the same job: rank by rank, pair by pair; calls summed over ranks."""
    def ranks(sums):
        return {r: _drop_zeros(row) for r, row in sums.ranks.items()}

    def by_call(counter):
        total = {}
        for (_, call), n in counter.items():
            total[call] = total.get(call, 0) + n
        return total

    same(test,
         lab.differences(f'{what}: rank', ranks(one), ranks(other)),
         lab.differences(f'{what}: messages of pair', dict(one.sent), dict(other.sent)),
         lab.differences(f'{what}: bytes of pair', dict(one.sent_bytes), dict(other.sent_bytes)),
         lab.differences(f'{what}: calls', by_call(one.calls), by_call(other.calls)))
