"""Graphs of dependencies of real jobs and of traces: every message is an edge, and nothing is a cycle."""
import collections
import json
import os
import re
import signal
import sqlite3
import time
import unittest

import lab
from import_test import Traces as Imports

RANKS = 4
ROUNDS = 20
COLLECTIVES = ('Scan', 'Exscan', 'Neighbor_allgather', 'Iallreduce', 'Iscan', 'Ibarrier', 'Ibcast',
               'Ineighbor_allgather')  # that a round of the program has
REPEATED = {'openmpi': (), 'mpich': ('Allreduce_init', 'Barrier_init', 'Exscan_init')}  # of MPI 4
PAUSE = 0.6  # agents capture no faster than that
CLOCK_RATE = 2e-4  # two estimates of the rate of a node's clock, each within the drift that is usual for clocks


def but_latency(graph):
    """A graph without what the job's reference, which changes with time, has a part in."""
    lists = {name: [{k: v for k, v in row.items() if k != 'latency'} for row in graph[name]]
             for name in ('lanes', 'nodes', 'edges')}
    return {**graph, **lists, 'counts': {k: v for k, v in graph['counts'].items() if k != 'referenced'}}


class Graphs(unittest.TestCase):
    maxDiff = None
    unpack = Imports.unpack

    def setUp(self):
        self.place = lab.Lab()
        self.place.__enter__()
        self.addCleanup(self.place.close)

    def path(self, name):
        return os.path.join(self.place.dir, name)

    def graph(self, *arguments):
        done = self.place.holter('graph', *arguments).finish()
        self.assertEqual((0, ''), (done.status, done.err), str(done))
        graph = json.loads(done.out)
        self.check(graph)
        return graph

    def check(self, graph):
        """Layers rise along each edge and each rank, and what is summed up is what is listed."""
        nodes, edges, counts = graph['nodes'], graph['edges'], graph['counts']
        for edge in edges:
            self.assertLess(nodes[edge['from']]['layer'], nodes[edge['to']]['layer'])
            self.assertLess(edge['send_step'], edge['receive_step'])
        for a, b in zip(nodes, nodes[1:]):
            self.assertLess((a['lane'], a['layer']), (b['lane'], b['layer']))
        self.assertEqual(counts['matched'], sum(e.get('messages', 1) for e in edges))
        self.assertEqual(counts['ends'], 2 * counts['matched'] + counts['unmatched'])
        self.assertEqual(counts['ends'], sum(n['receives'] + n['sends'] for n in nodes))
        self.assertEqual(counts['ends'], sum(l['messages'] for l in graph['lanes']))
        self.assertEqual(graph['worst_lateness_ns'], max(n['lateness_ns'] for n in nodes))
        late = [l['caused_ns'] for l in graph['late']]
        self.assertEqual(sorted(late, reverse=True), late)
        self.assertEqual(sum(l['caused_ns'] for l in graph['lanes']), sum(late))
        for a, b in zip(graph['chain'], graph['chain'][1:]):
            self.assertLess(a['step'], b['step'])
            self.assertTrue(a['rank'] == b['rank'] or (a['event'], a['peer']) == ('send', b['rank']) or
                            (a['event'], b['event']) == ('enter', 'leave'))
        for collective in graph['collectives']:
            self.assertLessEqual(collective['first_ns'], collective['last_ns'])
            for member in collective['members']:
                entered, left = nodes[member['from']], nodes[member['to'] or 0]
                self.assertEqual(member['rank'], entered['rank'])
                self.assertTrue(collective['awaited'] is None or entered['layer'] < collective['layer'] or
                                member['rank'] != collective['awaited'])
                self.assertTrue(member['to'] is None or entered['layer'] < left['layer'])

    def messages(self, graph):
        """How many there are of each sender, receiver, tag and size."""
        rank = [n['rank'] for n in graph['nodes']]
        return collections.Counter((rank[e['from']], rank[e['to']], e['tag'], e['bytes']) for e in graph['edges'])

    def order_of(self, edge):
        return edge['tag'], edge['bytes'], edge['send_step'], edge['receive_step'], edge['transfer_ns']

    def running(self):
        """By rank the call that it is in."""
        time.sleep(PAUSE)
        done = self.place.holter('capture', '-f', 'json', '--events', '1').finish()
        return {m['threads'][e['thread']]['rank']: e['call_name'] for m in map(json.loads, done.out.splitlines())
                for e in m['events'] if e['running']}

    def they_wait(self):
        return list(self.running().values()) == ['MPI_Barrier'] * (RANKS - 1)

    def start(self, mpi, program, argument, they_wait=None):
        """A job whose ranks wait for the last of them. @return daemon and job"""
        daemon = self.place.daemon()
        job = self.place.holter('run', '--', *lab.mpirun(mpi, RANKS, lab.program(program, mpi), self.path('gate'),
                                                         argument))
        lab.wait_for(lambda: self.place.ranks_seen() == RANKS or not job.alive(), 'the ranks to be known')
        lab.wait_for(they_wait or self.they_wait, 'the ranks to wait')
        time.sleep(PAUSE)
        return daemon, job

    def end(self, daemon, job):
        with open(self.path('gate'), 'w', encoding='utf-8'):
            pass
        self.assertEqual(0, job.finish().status, str(job))
        daemon.kill(signal.SIGTERM)
        self.assertEqual(0, daemon.finish().status, str(daemon))

    def a_job(self, mpi):
        daemon, job = self.start(mpi, 'last', ROUNDS)
        whole = self.graph('--live', '--events', '4096')
        time.sleep(PAUSE)
        few = self.graph('--live', '--events', '40')
        time.sleep(PAUSE)
        self.check_past(whole)
        time.sleep(PAUSE)
        some = self.graph('--live', '--ranks', '1,2', '--events', '4096')
        self.end(daemon, job)
        return whole, few, some

    def check_past(self, whole):
        """The newest records before a time are read back, although as many came later."""
        received = sorted(e['received_ns'] for e in whole['edges'])
        until = received[len(received) // 4]
        past = self.graph('--live', '--events', '40', '--to', str(until))
        # each capture has an estimate of the clock of its own, which is within the error that it states
        latest = until + 1000 + whole['clock_error_ns'] + past['clock_error_ns']
        before = self.messages({**whole, 'edges': [e for e in whole['edges'] if e['received_ns'] <= latest]})
        self.assertEqual([], [e for e in past['edges'] if e['received_ns'] > latest])
        self.assertLess(0, past['counts']['matched'])
        self.assertLessEqual(self.messages(past), before)

    def of_a_job(self, mpi):
        """The graph of a capture has the messages that the program exchanged, live and recorded."""
        whole, few, some = self.a_job(mpi)
        expected = collections.Counter()
        for rank in range(RANKS):
            with open(os.path.join(self.place.truths, f'last.{rank}'), encoding='utf-8') as f:
                for line in f:
                    words = line.split()
                    if words[0] == 'got':
                        expected[(int(words[2]), rank, int(words[3]), int(words[4]))] += 1
        self.assertEqual(3 * RANKS * ROUNDS, sum(expected.values()))
        self.assertEqual(expected, self.messages(whole))
        self.assertEqual((0, 0, 0), tuple(whole['counts'][k] for k in ('aligned', 'unmatched', 'rejected')))
        self.assertEqual(RANKS, whole['ranks'])
        # all but one are in the barrier, and have not left it
        barrier = whole['collectives'][-1]
        self.assertEqual(('MPI_Barrier', RANKS - 1), (barrier['call'], barrier['ranks']))
        self.assertEqual([None] * (RANKS - 1), [m['to'] for m in barrier['members']])
        # the newest records alone give some of these messages
        self.assertFalse(self.messages(few) - self.messages(whole))
        self.assertTrue(0 < few['counts']['aligned'] == len(few['edges']) < len(whole['edges']))
        self.assertEqual({1, 2}, {n['rank'] for n in some['nodes']})
        self.assertEqual({k: n for k, n in expected.items() if {k[0], k[1]} == {1, 2}}, dict(self.messages(some)))
        # the recording has the same
        name, = [n for n in os.listdir(self.place.output) if n.endswith('.hrec')]
        recording = os.path.join(self.place.output, name)
        again = self.graph(recording, '--capture', str(whole['capture']))
        self.assertEqual(but_latency(whole), but_latency(again))
        self.assertEqual(but_latency(some), but_latency(self.graph(recording)))
        self.assertEqual(again['counts']['matched'] > 0, again['counts']['referenced'] > 0)
        by_node = self.graph(recording, '--capture', str(whole['capture']), '--by', 'node')
        self.assertEqual((1, whole['layers']), (len(by_node['lanes']), by_node['layers']))
        self.assertEqual(again['counts'], by_node['counts'])
        # the time of the message that took least: its own, and those of the calls at that time
        short = min(whole['edges'], key=lambda edge: edge['received_ns'] - edge['sent_ns'])
        part = self.graph(recording, '--capture', str(whole['capture']), '--from', str(short['sent_ns']),
                          '--to', str(short['received_ns']))
        self.assertIn((short['sent_ns'], short['received_ns']), [(e['sent_ns'], e['received_ns']) for e in part['edges']])
        self.assertLess(len(part['edges']), len(whole['edges']))
        with sqlite3.connect(recording) as file:
            newest, = file.execute('SELECT max(id) FROM captures').fetchone()
        refused = self.place.holter('graph', recording, '--capture', str(newest + 1)).finish()
        self.assertEqual(1, refused.status, str(refused))
        self.assertIn(f'no capture {newest + 1}', refused.err)

    def test_of_a_job_openmpi(self):
        self.of_a_job('openmpi')

    def test_of_a_job_mpich(self):
        self.of_a_job('mpich')

    def aligned(self, mpi):
        """The newest records begin at another round in each rank: the pairs are those of the whole."""
        daemon, job = self.start(mpi, 'rounds', 150)
        whole = self.graph('--live', '--events', '4096')
        parts = []
        for events in (40, 101, 300):
            time.sleep(PAUSE)
            parts.append(self.graph('--live', '--events', str(events)))
        self.end(daemon, job)
        self.assertEqual((1400, 0, 0), tuple(whole['counts'][k] for k in ('matched', 'aligned', 'unmatched')))
        channels = self.channels(whole)
        for part in parts:
            self.assertEqual(part['counts']['matched'], part['counts']['aligned'])
            self.assertEqual(0, part['counts']['rejected'])
            for key, messages in self.channels(part).items():
                # ranks that wait have received all that was sent: a part has the last messages of each channel
                for found, expected in zip(reversed(messages), reversed(channels[key])):
                    for a, b in zip(found, expected):
                        self.assertLess(abs(a - b), 1000 + CLOCK_RATE * b, key)

    def channels(self, graph):
        """For each sender, receiver and tag how long before the last event of the graph its messages were sent and
        received: ranks that wait have the same last event in all captures."""
        found = collections.defaultdict(list)
        rank = [n['rank'] for n in graph['nodes']]
        for e in graph['edges']:
            found[rank[e['from']], rank[e['to']], e['tag']].append(
                (graph['end_ns'] - e['sent_ns'], graph['end_ns'] - e['received_ns']))
        return found

    def test_pairs_of_a_part_openmpi(self):
        self.aligned('openmpi')

    def test_pairs_of_a_part_mpich(self):
        self.aligned('mpich')

    def of_collectives(self, mpi):
        """Each collective that the program made is one, of all ranks, and who started it last is awaited."""
        daemon, job = self.start(mpi, 'together', ROUNDS)
        graph = self.graph('--live', '--events', '4096')
        time.sleep(PAUSE)
        part = self.graph('--live', '--events', '200')
        self.end(daemon, job)
        recording, = [n for n in os.listdir(self.place.output) if n.endswith('.hrec')]
        for row in self.exported('calls', os.path.join(self.place.output, recording)):
            if row['call'] == 'MPI_Test':
                self.assertTrue(0 < row['collective_ns'] <= row['time_ns'], row)
            else:  # the program waits for collectives, or for one of them first
                waits = row['call'] in ('MPI_Wait', 'MPI_Waitall')
                self.assertEqual(row['time_ns'] if waits else 0, row['collective_ns'], row)
        self.assertEqual((0, 0), tuple(graph['counts'][k] for k in ('rejected', 'unmatched')))
        self.assertEqual(0, part['counts']['rejected'])
        made = self.whole_collectives(graph)
        self.assertEqual({f'MPI_{name}': ROUNDS for name in COLLECTIVES + REPEATED[mpi]}, {k: len(v) for k, v in made.items()})
        layer = [n['layer'] for n in graph['nodes']]
        started = [*enumerate(made['MPI_Iallreduce']), *enumerate(made.get('MPI_Allreduce_init', []))]
        for number, c in started:
            last = number % RANKS
            self.assertEqual((last, list(range(RANKS))), (c['awaited'], [m['rank'] for m in c['members']]))
            self.assertEqual(c['last_ns'], c['members'][last]['entered_ns'])
            for member in c['members']:
                self.assertLess(layer[c['members'][last]['from']], layer[member['to']])
                self.assertLessEqual(c['last_ns'], member['left_ns'])
        for c in made['MPI_Iscan']:
            # by their order in the communicator, of which the second one came last
            self.assertEqual((RANKS - 2, list(reversed(range(RANKS)))), (c['awaited'], [m['rank'] for m in c['members']]))
            for member in c['members'][2:]:
                self.assertLess(layer[c['members'][1]['from']], layer[member['to']])
        for c in made['MPI_Neighbor_allgather'] + made['MPI_Ineighbor_allgather']:
            self.assertIsNone(c['awaited'])
        # the newest records begin anywhere: their collectives are the last ones of the whole
        newest = self.whole_collectives(part)
        self.assertEqual(set(made), set(newest))
        for call, some in newest.items():
            for found, expected in zip(reversed(some), reversed(made[call])):
                before = graph['end_ns'] - expected['first_ns']
                self.assertLess(abs(part['end_ns'] - found['first_ns'] - before), 1000 + CLOCK_RATE * before, call)

    def of_neighbours(self, mpi):
        """A rank waits for its neighbours in grids and graphs, and for no other one: a late rank delays these alone."""
        last = RANKS - 1
        they_are_delayed = {**{r: 'MPI_Barrier' for r in range(last - 1)}, last - 1: 'MPI_Neighbor_alltoall'}
        daemon, job = self.start(mpi, 'neighbours', self.path('late'), lambda: self.running() == they_are_delayed)
        with open(self.path('late'), 'w', encoding='utf-8'):
            pass
        lab.wait_for(self.they_wait, 'the ranks to wait again')
        time.sleep(PAUSE)
        graph = self.graph('--live', '--events', '4096')
        self.end(daemon, job)
        self.assertEqual(0, graph['counts']['rejected'])
        row, ring, circle = sorted((c for c in graph['collectives'] if 'eighbor' in c['call']), key=lambda c: c['first_ns'])
        for c in row, ring, circle:
            self.assertEqual((None, list(range(RANKS))), (c['awaited'], [m['rank'] for m in c['members']]))
        for r in range(RANKS):
            self.assertIn(row['members'][r]['awaited'], {r - 1, r + 1} & set(range(RANKS)))
            self.assertIn(ring['members'][r]['awaited'], {(r - 1) % RANKS, (r + 1) % RANKS})
            self.assertEqual((r - 1) % RANKS, circle['members'][r]['awaited'])
        late, delayed, *others = reversed(row['members'])
        layer = [n['layer'] for n in graph['nodes']]
        self.assertEqual((last, row['last_ns']), (delayed['awaited'], late['entered_ns']))
        self.assertLess(layer[late['from']], layer[delayed['to']])
        for m in others:
            self.assertLess(m['left_ns'], late['entered_ns'])
        self.assertEqual(last, graph['late'][0]['rank'])

    def whole_collectives(self, graph):
        """Of each call those of all ranks, which all have left."""
        made = collections.defaultdict(list)
        for c in graph['collectives']:
            if c['ranks'] == RANKS and all(m['to'] is not None for m in c['members']):
                made[c['call']].append(c)
        return made

    def test_collectives_openmpi(self):
        self.of_collectives('openmpi')

    def test_collectives_mpich(self):
        self.of_collectives('mpich')

    def test_neighbours_openmpi(self):
        self.of_neighbours('openmpi')

    def test_neighbours_mpich(self):
        self.of_neighbours('mpich')

    def test_every_message_of_a_trace_is_an_edge(self):
        for folder, messages in (('otf2', 1440), ('dumpi', None)):
            source = self.unpack(folder)
            for name in [source] if messages else [os.path.join(source, n) for n in ('minife-8', 'testbgp.meta')]:
                with self.subTest(source=name):
                    graph = self.graph(name)
                    self.assertEqual((0, 0, 0), tuple(graph['counts'][k] for k in ('aligned', 'unmatched', 'rejected')))
                    self.assertTrue(len(graph['edges']) == messages if messages else graph['edges'])
                    # the recording that is made of it keeps its last calls: of so short a trace, all
                    recording = self.path(os.path.basename(name) + '.hrec')
                    done = self.place.holter('import', '-o', recording, name).finish()
                    self.assertIn(done.status, (0, 1), str(done))
                    again = self.graph(recording)
                    self.assertEqual(self.messages(graph), self.messages(again))
                    self.assertEqual([self.order_of(e) for e in graph['edges']],
                                     [self.order_of(e) for e in again['edges']])

    def test_a_row_of_a_table_says_which_receive_belongs_to_which_send(self):
        table = self.path('messages.csv')
        with open(table, 'w', encoding='utf-8') as f:
            f.write('source,destination,bytes,tag,send_begin,send_end,receive_begin,receive_end\n'
                    '0,1,8,1,10,12,5,40\n0,1,8,1,20,22,4,30\n1,0,8,2,41,42,30,50\n')
        graph = self.graph(table)
        self.assertEqual((3, 0), (graph['counts']['matched'], graph['counts']['unmatched']))
        self.assertEqual({(10, 40), (20, 30), (41, 50)},
                         {(e['sent_ns'] // 10**9, e['received_ns'] // 10**9) for e in graph['edges']})

    def exported(self, table, recording):
        done = self.place.holter('export', '-f', 'json', '--table', table, recording).finish()
        self.assertEqual((0, ''), (done.status, done.err), str(done))
        return json.loads(done.out)['tables'][table]

    def test_exported_tables_are_the_graph(self):
        self.tables_are_the_graph(os.path.join(lab.SOURCE, 'docs', 'slow-link.hrec'))
        recording = self.path('minife.hrec')
        source = os.path.join(self.unpack('dumpi'), 'minife-8')
        self.assertEqual(0, self.place.holter('import', '-o', recording, source).finish().status)
        self.assertEqual(141, self.tables_are_the_graph(recording))

    def tables_are_the_graph(self, recording):
        """@return number of collectives"""
        graph = self.graph(recording)
        members = [{'collective': c['collective'], 'call': c['call'], 'comm': c['comm'], **m,
                    'from_node': m['from'], 'to_node': m['to'], 'awaited': int(m['rank'] == c['awaited'])}
                   for c in graph['collectives'] for m in c['members']]
        for table, rows in (('graph_ranks', 'lanes'), ('graph_nodes', 'nodes'), ('graph_edges', 'edges'),
                            ('graph_chain', 'chain'), ('graph_collectives', 'members')):
            found = [r for r in self.exported(table, recording) if r['capture'] == graph['capture']]
            expected_rows = members if rows == 'members' else graph[rows]
            self.assertEqual(len(expected_rows), len(found), table)
            for given, expected in zip(found, expected_rows):
                names = expected.keys() & given.keys()
                self.assertGreater(len(names), 6)
                self.assertEqual({k: expected[k] for k in names}, {k: given[k] for k in names})
        return len(graph['collectives'])

    def test_ranks_that_caused_lateness_are_recorded(self):
        recording = self.path('minife.hrec')
        source = os.path.join(self.unpack('dumpi'), 'minife-8')
        self.assertEqual(0, self.place.holter('import', '-o', recording, source).finish().status)
        rows = self.exported('lateness', recording)
        self.assertTrue(rows)
        for row in rows:
            self.assertIn(row['rank'], range(8))
            self.assertTrue(0 < row['caused_ns'] <= row['late_ns'], row)

    def test_each_figure_of_the_page_is_a_topic_an_export_and_a_table(self):
        recording = self.path('minife.hrec')
        source = os.path.join(self.unpack('dumpi'), 'minife-8')
        self.assertEqual(0, self.place.holter('import', '-o', recording, source).finish().status)
        with open(os.path.join(lab.SOURCE, 'docs', 'latency.md'), encoding='utf-8') as f:
            section = f.read().split('## The same figures as data')[1].split('\n## ')[0]
        rows = [line.split('|')[2:5] for line in section.splitlines() if line.startswith('|')][2:]
        topics, exports, tables = (sorted({name for row in rows for name in re.findall('`([^`]+)`', row[column])})
                                   for column in range(3))
        self.assertGreaterEqual(min(len(topics), len(exports), len(tables)), 8)
        for command in exports:
            program, *arguments = command.replace('FILE', recording).split()
            done = self.place.holter(*arguments).finish()
            self.assertEqual(('holter', 0, ''), (program, done.status, done.err), command)
            self.assertGreater(len(done.out.splitlines()), 1, command)
        for table in tables:
            done = self.place.holter('sql', '-f', 'csv', '--no-header', recording, f'SELECT count(*) FROM {table}').finish()
            self.assertEqual((0, ''), (done.status, done.err), table)
            self.assertGreater(int(done.out), 0, table)
        endpoint = self.place.env['HOLTER_DAEMON'] = f'ipc://{self.path("replay")}'
        replay = self.place.holter('replay', '-c', endpoint, recording)
        lab.wait_for(lambda: not replay.alive() or self.place.status(), 'the replay')
        tap = self.place.tap('--topic', ','.join(topics), '--until-end').finish()
        self.assertEqual((0, topics), (tap.status, sorted({m['topic'] for m in lab.stream_messages(tap.out)})), str(tap)[-2000:])
        replay.kill()
        replay.finish()

    def test_graphviz_gets_each_node_layer_and_message(self):
        source = self.unpack('otf2')
        graph = self.graph(source, '--by', 'node')
        path = self.path('graph.dot')
        done = self.place.holter('graph', source, '--by', 'node', '-f', 'dot', '-o', path).finish()
        self.assertEqual((0, ''), (done.status, done.out), str(done))
        with open(path, encoding='utf-8') as f:
            lines = f.read().splitlines()
        self.assertEqual(('digraph dependencies {', '}'), (lines[0], lines[-1]))
        self.assertEqual(len(graph['nodes']), sum(' [label=' in line for line in lines))
        self.assertFalse(any(' c0 ' in line for line in lines))
        self.assertEqual(graph['layers'], sum('rank=same' in line for line in lines))
        self.assertEqual(len(graph['edges']), sum('->' in line and 'penwidth' in line for line in lines))
        # by the reference of the job, if there is one, or else by the median
        latency = sum(edge['latency'] is not None for edge in graph['edges'])
        self.assertEqual(latency, sum(', relative latency ' in line for line in lines if 'penwidth' in line))
        done = self.place.holter('graph', source, '-f', 'dot').finish()
        members = sum(c['ranks'] for c in graph['collectives'])
        self.assertEqual(members, len(re.findall(r'n\d+ -> c\d+', done.out)))
        self.assertEqual(members, len(re.findall(r'c\d+ -> n\d+', done.out)))

    def test_wrong_usage_is_2_and_what_cannot_be_read_is_1(self):
        source = self.unpack('otf2')
        text = self.path('text')
        with open(text, 'w', encoding='utf-8') as f:
            f.write('nothing\n')
        for status, *arguments in (
                (2,), (2, '--live', '--capture', '1'), (2, source, '--events', '3'), (2, source, '--ranks', 'x'),
                (2, source, '--by', 'page'), (2, source, '-f', 'csv'), (2, source, '--from', 'now'),
                (2, source, '--from', '60%', '--to', '30%'), (2, source, '--capture', '1'), (2, text, '-o', text),
                (2, source, 'more'), (1, self.path('nothing')), (1, text), (1, source, '--ranks', '700'),
                (1, source, '-o', self.path('no/such/place'))):
            with self.subTest(arguments=arguments):
                done = self.place.holter('graph', *arguments).finish()
                self.assertEqual((status, ''), (done.status, done.out), str(done))
                self.assertTrue(done.err.startswith('holter: graph: '), done.err)


if __name__ == '__main__':
    lab.main()
