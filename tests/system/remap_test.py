"""The commands about networks on recordings of others: topology, remap, reroute and import."""
import json
import os
import re
import resource
import signal
import sqlite3
import subprocess
import unittest

import commgram
import lab

DATA = os.path.join(lab.SOURCE, 'tests', 'data')

# Topology, hop-byte file, reduction of hop-bytes that a strong optimiser reaches in a second, and whether that is
# the bound. STEPS take about two seconds on one core.
STEPS = 4000
REDUCTIONS = [
    ('torus:4,4,4,16,2', 'MiniMD_Mira_n2048_c1_s1', 72.28, True),
    ('torus:4,4,4,8m,2', 'MiniMD_Mira_n1024_c1_w', 44.06, True),
    ('torus:4,4,4,4,2', 'MiniMD_Vesta_n512_c1_w', 36.88, True),
    ('torus:4,2,4,4,2', 'MiniMD_Vesta_n256_c1_w', 25.73, True),
    ('torus:4,4,4,4,2', 'MiniAMR_Vesta_n512_c1_s2', 33.4, False),
    ('torus:4,2,4,4,2', 'MiniAMR_Vesta_n256_c1_s2', 37.7, False),
    ('torus:4,4,4,8m,2', 'MiniAMR_Mira_n1024_c1_s1', 50.5, False),
    ('torus:4,4,4,16,2', 'MiniAMR_Mira_n2048_c1_s1', 59.3, False),
]
ROW = re.compile(r'^(\S+)\s+(\d+)\s+(\d+)\s+(\S+)(?: %)?\s+(\S+)( +optimal)?$', re.MULTILINE)


class Files(unittest.TestCase):
    def setUp(self):
        self.place = lab.Lab()
        self.place.__enter__()
        self.addCleanup(self.place.close)

    def path(self, name):
        return os.path.join(self.place.dir, name)

    def unpack(self, name):
        path = self.path(os.path.basename(name))
        with open(path, 'wb') as out:
            subprocess.run(['zstd', '-dqc', os.path.join(DATA, name + '.zst')], stdout=out, check=True)
        return path

    def hop_bytes(self, name):
        return self.unpack(f'par-comm-data/hopbyte/{name}_hopbyte.txt')

    def routes(self, name):
        return self.unpack(f'par-comm-data/route/{name}_route.txt')

    def write(self, name, text):
        with open(self.path(name), 'w', encoding='utf-8') as out:
            out.write(text)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), encoding='utf-8') as file:
            return file.read()

    def holter(self, *arguments, status=0):
        finished = self.place.holter(*map(str, arguments)).finish()
        self.assertEqual(status, finished.status, str(finished))
        return finished

    def table(self, *arguments):
        """Rows of the table of `holter remap`: before, after, bound or None, whether proven optimal."""
        out = self.holter('remap', *arguments).out
        return {name: (int(before), int(after), None if bound == '-' else int(bound), bool(optimal))
                for name, before, after, _, bound, optimal in ROW.findall(out)}

    # ---- remap

    def test_known_reductions_are_reached(self):
        for topology, name, reduction, optimal in REDUCTIONS:
            with self.subTest(name):
                before, after, bound, proven = self.table(
                    self.hop_bytes(name), '--topology', topology, '--steps', STEPS)['hop-bytes']
                self.assertGreaterEqual(round(100 * (before - after) / before, 2), reduction)
                self.assertEqual(optimal, proven)
                self.assertGreaterEqual(after, bound)

    def test_same_seed_and_steps_same_mapping(self):
        source = self.hop_bytes('MiniAMR_Vesta_n64_c1_s2')
        texts = []
        for seed in (1, 1, 2):
            self.table(source, '--topology', 'torus:2,2,4,2,2', '--seed', seed, '--steps', 300, '-o', self.path('m'))
            texts.append(self.read('m'))
        self.assertEqual(texts[0], texts[1])
        rows = [line.split() for line in texts[2].splitlines()]
        self.assertEqual([str(rank) for rank in range(64)], [rank for rank, _ in rows])
        self.assertEqual(list(range(64)), sorted(int(node) for _, node in rows))

    def test_result_of_a_timed_search_is_repeated_by_its_steps(self):
        source = self.hop_bytes('MiniAMR_Vesta_n128_c1_s2')
        network = ('--topology', 'torus:2,2,4,4,2')
        timed = self.holter('remap', source, *network, '--time', 0.3, '-o', self.path('timed')).out
        self.assertRegex(timed, r'\nwork: \d+ (of \d+ )?steps')
        repeat = re.search(r'--steps (\d+) repeats it', timed)
        if repeat:  # else it was cut off, on a machine that is suddenly slower
            self.holter('remap', source, *network, '--steps', repeat.group(1), '-o', self.path('again'))
            self.assertEqual(self.read('timed'), self.read('again'))
        self.holter('remap', source, *network, '--steps', 0, status=2)

    def test_trials_find_the_same_however_many_run_at_a_time(self):
        source = self.hop_bytes('MiniAMR_Vesta_n128_c1_s2')
        work = ('--topology', 'torus:2,2,4,4,2', '--steps', 150)
        found, mappings = [], []
        for threads in (1, 2, 5):
            rows = self.table(source, *work, '--trials', 4, '--threads', threads, '-o', self.path('m'))
            found.append(rows)
            mappings.append(self.read('m'))
        self.assertEqual(found[0], found[1])
        self.assertEqual([mappings[0]] * 3, mappings)
        alone = self.table(source, *work, '-o', self.path('m'))
        self.assertLessEqual(found[0]['hop-bytes'][1], alone['hop-bytes'][1])
        many = self.table(source, *work, '--threads', 3, '-o', self.path('many'))  # one trial: as one thread
        self.assertEqual((alone, self.read('m')), (many, self.read('many')))
        self.holter('remap', source, *work, '--threads', 0, status=2)

    def test_a_timed_search_uses_all_threads_and_says_how_to_repeat_it(self):
        source = self.hop_bytes('MiniAMR_Vesta_n128_c1_s2')
        network = ('--topology', 'torus:2,2,4,4,2')
        timed = self.holter('remap', source, *network, '--time', 0.4, '--threads', 2, '-o', self.path('timed')).out
        self.assertRegex(timed, r'\nwork: \d+ (of \d+ )?steps in 2 trials, the best is [12]')
        repeat = re.search(r'--steps (\d+) --trials 2 repeats it', timed)
        if repeat:  # else it was cut off, on a machine that is suddenly slower
            self.holter('remap', source, *network, '--steps', repeat.group(1), '--trials', 2, '-o', self.path('again'))
            self.assertEqual(self.read('timed'), self.read('again'))

    def test_the_network_of_a_hop_byte_file_is_inferred_from_its_hops(self):
        source = self.hop_bytes('MiniMD_Vesta_n256_c1_w')
        given = self.table(source, '--topology', 'torus:4,2,4,4,2', '--steps', 300)
        inferred = self.table(source, '--steps', 300)
        self.assertEqual(given['hop-bytes'], inferred['hop-bytes'])
        plain = self.write('plain', '0 1 5\n1 0 5\n')
        self.assertIn('--topology is expected', self.holter('remap', plain, status=2).err)

    def test_mapping_is_never_worse_and_can_be_given(self):
        source = self.hop_bytes('MiniAMR_Vesta_n64_c1_s2')
        network = ('--topology', 'torus:2,2,4,2,2')
        first = self.table(source, *network, '--time', 0.5, '-o', self.path('m'))
        for objective, measure in (('hop-bytes', 'hop-bytes'), ('max-link', 'max-link'),
                                   ('inter-node', 'inter-node-bytes')):
            again = self.table(source, *network, '--time', 0.2, '--given', self.path('m'), '--objective', objective)
            self.assertEqual(first['hop-bytes'][1], again['hop-bytes'][0])
            self.assertLessEqual(again[measure][1], again[measure][0])

    def test_bytes_of_routes_above_2_to_the_53_are_texts_as_well(self):
        pairs = self.write('pairs.txt', '0 1 9007199254740994\n1 0 5\n')
        out = self.holter('reroute', pairs, '--topology', 'torus:4', '-f', 'json').out
        route, *_, totals = map(json.loads, out.splitlines())
        self.assertEqual('9007199254740994', route['bytes_text'])
        self.assertEqual('9007199254740994', totals['max_link_text'])

    def test_a_bound_of_nothing_is_a_bound(self):
        pairs = self.write('pairs.txt', '0 1 5\n1 0 5\n')
        rows = self.table(pairs, '--topology', 'torus:2', '--ranks-per-node', 2, '--objective', 'inter-node')
        self.assertEqual((0, 0, 0, True), rows['inter-node-bytes'])
        self.assertIsNone(rows['hop-bytes'][2])

    def test_number_of_threads_does_not_matter_where_several_trials_find_an_optimum(self):
        """Mappings whose fullest link carries equally little differ in hop-bytes."""
        others = [rank for rank in range(25) if rank not in (0, 7, 11, 13, 18)]
        lines = [f'0 {rank} 40000\n{rank} 0 40000\n' for rank in (7, 11, 13, 18)]
        lines += [f'{rank} {others[(i + distance) % len(others)]} {1 + i * 37 % 59}\n'
                  for i, rank in enumerate(others) for distance in (1, 3)]
        pairs = self.write('pairs.txt', ''.join(lines))
        for seed in (1, 2):
            mappings = []
            for threads in (1, 4):
                found = self.table(pairs, '--topology', 'torus:5,5', '--objective', 'max-link', '--steps', 300, '--seed',
                                   seed, '--trials', 4, '--threads', threads, '-o', self.path('m'))
                self.assertTrue(found['max-link'][3])
                mappings.append(self.read('m'))
            self.assertEqual(mappings[0], mappings[1])

    def test_a_given_mapping_onto_a_switch_is_refused(self):
        pairs = self.write('pairs.txt', '0 1 100\n1 2 50\n')
        given = self.write('map', '0 20\n1 0\n2 1\n')
        for words in (['remap', '--objective', 'inter-node'], ['remap'], ['reroute']):
            for topology in ('fattree:k=4', 'dragonfly:groups=5,routers=2,nodes=2,global=2'):
                with self.subTest(words=words, topology=topology):
                    refused = self.holter(*words, '--topology', topology, '--given', given, pairs, status=1)
                    self.assertRegex(refused.err, f'{words[0]}: .*map: rank 0 is on 20, .* the switch ')

    def test_only_selected_ranks_move(self):
        self.table(self.hop_bytes('MiniAMR_Vesta_n64_c1_s2'), '--topology', 'torus:2,2,4,2,2', '--ranks', '3,8-10',
                   '-o', self.path('m'))
        moved = {int(rank) for rank, node in map(str.split, self.read('m').splitlines()) if rank != node}
        self.assertLessEqual(moved, {3, 8, 9, 10})

    def test_nodes_of_a_dragonfly_keep_their_numbers(self):
        self.table(self.hop_bytes('MiniMD_Theta_n32_c1_w'), '--topology', 'dragonfly:2,12,3,16,4', '-o', self.path('m'))
        ranks, nodes = zip(*(map(int, line.split()) for line in self.read('m').splitlines()))
        self.assertEqual(32, len(ranks))
        self.assertEqual(sorted(ranks), sorted(nodes))
        self.holter('remap', self.path('MiniMD_Theta_n32_c1_w_hopbyte.txt'), '--topology', 'dragonfly:2,12,3,16,4',
                    '--time', 0, '--format', 'mpich', '-o', self.path('m'))
        self.assertEqual([f'{rank},' for rank in range(31)] + ['31'], self.read('m').splitlines())

    def test_formats_of_launchers(self):
        source = self.hop_bytes('MiniMD_Vesta_n128_c16_w')
        lines = {}
        for name in ('plain', 'openmpi', 'mpich', 'bgq'):
            self.holter('remap', source, '--topology', 'torus:2,2,4,4,2', '--time', 0, '--format', name, '-o',
                        self.path('m'))
            lines[name] = self.read('m').splitlines()
        self.assertEqual('17 1', lines['plain'][17])
        self.assertEqual('rank 17=+n1 slot=1', lines['openmpi'][17])
        self.assertEqual(','.join(map(str, range(16, 32))) + ',', lines['mpich'][1])
        self.assertEqual('0 0 0 0 1 1', lines['bgq'][17])
        finished = self.holter('remap', source, '--topology', 'torus:2,2,4,4,2', '--format', 'slurm', status=1)
        self.assertIn('host name of node 0 is not known', finished.err)

    def test_wrong_usage_and_wrong_input(self):
        source = self.write('pairs', '0 1 5\n1 0 x\n')
        for status, arguments in ((2, ()), (2, (source,)), (2, (source, '--objective', 'length')),
                                  (2, (source, '--time', '-1')), (1, (source, '--topology', 'mesh:2')),
                                  (1, (self.path('none'), '--topology', 'mesh:2'))):
            with self.subTest(arguments):
                self.write('pairs', '0 1 5\n1 0 5\n' if status == 2 else '0 1 5\n1 0 x\n')
                self.holter('remap', *arguments, status=status)
        self.write('pairs', '0 1 5\n1 0 x\n')
        self.assertIn('pairs:2: the third word', self.holter('remap', source, '--topology', 'mesh:2', status=1).err)

    def test_empty_items_of_lists_are_refused(self):
        source = self.write('pairs', '0 1 5\n1 0 5\n')
        for command, option, text, item in (('remap', 'ranks', '0,,1', 2), ('remap', 'ranks', '', 1),
                                            ('remap', 'ranks', '0,', 2), ('reroute', 'routes', ',0-1', 1)):
            with self.subTest(command=command, text=text):
                finished = self.holter(command, source, '--topology', 'mesh:2', f'--{option}', text, status=2)
                self.assertIn(f"--{option}: item {item} of '{text}' is empty", finished.err)

    def test_output_is_checked_before_the_work(self):
        source = self.write('pairs', '0 1 5\n1 0 5\n')
        network = self.write('network', 'network: mesh:2\n')
        for command in ('remap', 'reroute'):
            for output, why in ((source, 'would be overwritten'), (network, 'would be overwritten'),
                                (self.place.dir, 'Is a directory'), (self.path('none/m'), 'No such file')):
                with self.subTest(command=command, output=output):
                    finished = self.holter(command, source, '--topology', network, '-o', output, status=1)
                    self.assertIn(why, finished.err)
                    self.assertEqual('', finished.out)
        self.assertEqual('0 1 5\n1 0 5\n', self.read('pairs'))

    # ---- reroute

    def test_what_cannot_be_printed_is_an_error(self):
        pairs = self.write('pairs.txt', '0 1 100\n1 2 50\n')
        on = ['--topology', 'torus:4', pairs]
        for words in (['reroute', *on], ['reroute', '-f', 'json', *on], ['remap', '--steps', '10', *on], ['topology', 'torus:4'],
                      ['import', '--no-results', '--format', 'hopbyte', '-o', self.path('a.hrec'), *on],
                      ['keys', self.path('keys')], ['run', '--dry-run', '--', 'true'], ['status', '--help'], ['--version']):
            with self.subTest(words), open('/dev/full', 'w', encoding='utf-8') as full:
                done = subprocess.run([os.path.join(lab.BUILD, 'agent', 'holter'), *words], stdout=full, stderr=subprocess.PIPE,
                                      text=True, check=False)
                self.assertEqual(1, done.returncode)
                self.assertEqual(f'holter: {words[0]}: standard output: No space left on device\n', done.stderr)

    def test_a_mapping_that_is_refined_in_place_survives_a_full_disk(self):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))

        pairs, given = self.write('pairs.txt', '0 1 100\n1 2 50\n'), self.write('map', '0 2\n1 0\n2 1\n')
        for words in (['remap', '--steps', '10', '--given', given], ['reroute']):
            with self.subTest(words):
                words = [*words, '--topology', 'torus:4', '-o', given, pairs]
                done = subprocess.run([os.path.join(lab.BUILD, 'agent', 'holter'), *words], stdout=subprocess.DEVNULL,
                                      stderr=subprocess.PIPE, text=True, check=False, preexec_fn=limit)
                self.assertEqual((1, f'holter: {words[0]}: {given}: File too large\n'), (done.returncode, done.stderr))
                self.assertEqual('0 2\n1 0\n2 1\n', self.read('map'))

    def test_optimised_input_and_output_loads_links_less(self):
        """000, section 7.3."""
        figures = {}
        for name in ('IoDefault', 'IoOpt'):
            out = self.holter('reroute', self.routes(f'{name}_Mira_n512_c16'), '--top', 1000, '-f', 'json').out
            figures[name] = json.loads(out.splitlines()[-1])
        self.assertLess(figures['IoOpt']['max_link'], figures['IoDefault']['max_link'])
        self.assertLess(figures['IoOpt']['length'], figures['IoDefault']['length'])
        for figure in figures.values():
            self.assertLessEqual(figure['max_link_after'], figure['max_link'])
            self.assertEqual(figure['length'], figure['length_after'])

    def test_better_routes_can_be_used_again(self):
        source = self.hop_bytes('MiniMD_Mira_n2048_c1_s1')
        self.holter('reroute', source, '--topology', 'torus:4,4,4,16,2', '--top', 73, '-o', self.path('routes'))
        first = self.paths('routes')[0]
        out = json.loads(self.holter('topology', self.path('routes'), '--route', first[0], first[-1], '-f', 'json').out)
        self.assertEqual(first, out['route'])

    def shape(self, text):
        return {key: value for key, value in json.loads(text.splitlines()[0]).items()
                if key not in ('from', 'routes', 'diameter')}

    def paths(self, name):
        lines = self.read(name).partition('routes:\n')[2].splitlines()
        return [re.findall(r"'([^']*)'", line) for line in lines]

    def test_network_with_better_routes_is_the_same_network(self):
        pairs = self.write('pairs', ''.join(f'{i} {(i * 5 + 3) % 16} {100 + i}\n' for i in range(16)))
        file = ("name: it's mine\nkind: torus\ndimensions:\n- {name: up down, size: 4}\n- {name: B, size: 4, wrap: no}\n"
                'order: [B, up down]\ntie: minus\ncapacity: 10 Gbit/s\nnodes: n[01-16]\n'
                'routes:\n- [n01, n02, n06, n05]\n- [n16, n15]\n')
        for network in (self.write('net.yaml', file), 'torus:4,4/tie=plus/capacity=1e9', 'mesh:4,4', 'dragonfly:2,2,4',
                        'dragonfly:groups=5,routers=2,nodes=2,global=2', 'fattree:4,4/1,4', 'hypercube:4'):
            with self.subTest(network):
                self.holter('reroute', pairs, '--topology', network, '--delta', 2, '-o', self.path('out'))
                before, after = (self.holter('topology', path, '-f', 'json').out for path in (network, self.path('out')))
                self.assertEqual(self.shape(before), self.shape(after))
                paths = self.paths('out')
                for path in paths:
                    found = self.holter('topology', self.path('out'), '--route', path[0], path[-1], '-f', 'json').out
                    self.assertEqual(path, json.loads(found)['route'])
                if network.endswith('yaml'):
                    self.assertIn(['n16', 'n15'], paths)

    def test_routes_alone_say_that_they_are(self):
        network = self.write('net.yaml', 'kind: graph\nnodes: h[1-4]\nlinks: [[h1, h2], [h2, h3], [h3, h4], [h4, h1]]\n')
        self.holter('reroute', self.write('pairs', '0 2 9\n0 1 5\n'), '--topology', network, '-o', self.path('out'))
        self.assertRegex(self.read('out').splitlines()[0], "^# Only routes, no network: paste them")
        with open(network, 'a', encoding='utf-8') as out:
            out.write(self.read('out'))
        self.holter('topology', network)

    # Two ways from s1 to s2, of which routes use the shorter one unless they are given.
    RING = ('kind: graph\nnodes: n[0-3].cluster\nswitches: s[1-3]\nlinks:\n- [n0.cluster, s1]\n- [n1.cluster, s1]\n'
            '- [n2.cluster, s2]\n- [n3.cluster, s2]\n- [s1, s2]\n- [s1, s3]\n- [s3, s2]\n')

    def test_routes_alone_have_the_names_of_the_network(self):
        network = self.write('net.yaml', self.RING)
        self.holter('import', self.write('pairs', '0 2 1000\n1 3 500\n2 0 1\n3 0 1\n'), '-o', self.path('job.hrec'))
        out = self.holter('reroute', self.path('job.hrec'), '--topology', network, '--delta', 2, '-o', self.path('out')).out
        self.assertIn('n0 -> s1 -> s3 -> s2 -> n2', out)
        self.assertEqual([['n0.cluster', 's1', 's3', 's2', 'n2.cluster']], self.paths('out'))
        self.write('new.yaml', self.RING + self.read('out'))
        again = self.holter('reroute', self.path('job.hrec'), '--topology', self.path('new.yaml'))
        self.assertRegex(again.out, 'max-link +1000 +1000')

    def test_routes_alone_keep_those_that_were_given(self):
        given = ['n3.cluster', 's2', 's3', 's1', 'n1.cluster']
        network = self.write('net.yaml', self.RING + f"routes:\n- [{', '.join(given)}]\n")
        pairs = self.write('pairs', '0 2 1000\n1 3 500\n3 1 700\n2 0 1\n')
        self.holter('reroute', pairs, '--topology', network, '--delta', 2, '-o', self.path('out'))
        self.assertEqual([['n0.cluster', 's1', 's3', 's2', 'n2.cluster'], given], self.paths('out'))

    def test_routes_of_a_file_that_the_network_does_not_have_are_reported(self):
        source, same = self.routes('IoDefault_Mira_n512_c16'), 'torus:4,4,4,4,2'
        self.assertEqual('', self.holter('reroute', source, '--topology', same, '--top', 1).err)
        other = self.holter('reroute', source, '--topology', same + '/order=E,D,C,B,A', '--top', 1).err
        self.assertRegex(other, r'[1-9]\d* of \d+ routes go another way in the network given')
        larger = self.holter('reroute', source, '--topology', 'torus:8,8,8,2', '--top', 1).err
        self.assertIn('on 512 nodes, the network given has 1024: only their ends are used', larger)

    def test_routes_are_chosen_by_rank_or_link(self):
        source = self.write('pairs', '0 2 9\n0 1 5\n3 2 7\n')
        network = ('--topology', 'torus:2,2/order=A,B', '-f', 'json')
        by_rank = self.holter('reroute', source, *network, '--routes', '0-2').out.splitlines()
        self.assertEqual((9, ['(0,0)', '(1,0)']), (json.loads(by_rank[0])['bytes'], json.loads(by_rank[0])['path']))
        by_link = self.holter('reroute', source, *network, '--link', '(0,0)-(0,1)').out.splitlines()
        self.assertEqual([5], [json.loads(line)['bytes'] for line in by_link[:-1]])
        self.holter('reroute', source, *network, '--link', '(0,0)-(1,1)', status=1)
        self.holter('reroute', source, *network, '--routes', '1-3', status=1)
        self.holter('reroute', source, *network, '--routes', '0-2', '--top', 3, status=2)

    def test_bytes_beyond_what_can_be_added_up_are_refused(self):
        source = self.write('pairs', ''.join(f'0 {to} {2**63 - 1024}\n' for to in (1, 2)))
        finished = self.holter('reroute', source, '--topology', 'mesh:3', status=1)
        self.assertRegex(finished.err, r'\A.*pairs:2: with this line there are 2\^63 bytes or more, too many for a sum\n\Z')

    # ---- topology

    def test_topology_reports_faults_with_their_line(self):
        good = self.write('good', 'kind: torus\ndimensions: {x: 2, y: 2}\nnodes: n[1-4]\n')
        self.assertIn('4 named', self.holter('topology', good).out)
        bad = self.write('bad', 'kind: torus\ndimensions: {x: 2, y: 2}\nnodes:\n- {hosts: a, at: [0, 0, 0]}\n')
        self.assertIn('bad:4: at: 3 coordinates', self.holter('topology', bad, status=1).err)
        self.holter('topology', status=2)

    def test_names_of_a_network_reach_the_terminal_without_control_characters(self):
        pairs = self.write('pairs', '0 2 9\n0 1 5\n1 3 7\n')
        network = self.write('net', 'name: "n\\e[2J"\nkind: torus\ndimensions: [{name: "d\\e[2J", size: 4}]\n')
        for words in (['topology', network, '--route', 0, 2], ['remap', pairs, '--topology', network, '--steps', 1],
                      ['reroute', pairs, '--topology', network, '--delta', 2]):
            with self.subTest(words[0]):
                out = self.holter(*words).out
                self.assertNotIn('\x1b', out)
                self.assertEqual(words[0] != 'reroute', 'n?[2J' in out, out)

    # ---- import

    def test_text_of_other_systems_is_read(self):
        network = self.write('network', '\ufeffkind: torus\r\ndimensions: [4, 2]\r\n')
        self.assertIn('A 4, torus', self.holter('topology', network).out)
        source = self.write('pairs', '\ufeff0 1 5 1\r\n1 2 5 2')
        self.assertIn('hop-bytes', self.table(source, '--topology', network))

    def test_counters_replay_as_measured_loads(self):
        for name in ('meta', 'links', 'nodes', 'map'):
            self.unpack(f'bgp-counters/bgpc_{name}.yaml')
        recording = self.path('bgpc.hrec')
        out = self.holter('import', '--format', 'counters', self.path('bgpc_meta.yaml'), '-o', recording).out
        self.assertIn('512 ranks, 32321586 packets in 17 windows', out)
        with commgram.Replay(self.place, recording) as replay:
            messages = list(lab.stream_messages(replay.topics('topology,links')))
        topology = next(m for m in messages if m['topic'] == 'topology')
        self.assertEqual(['x', 'y', 'z'], [d['name'] for d in topology['dimensions']])
        links = next(m for m in messages if m['topic'] == 'links')
        self.assertEqual(8 * 8 * 8 * 6, len(links['links']))

    def test_imported_pairs_are_remapped_like_the_file(self):
        source = self.hop_bytes('MiniMD_Vesta_n64_c1_w')
        network = 'torus:2,2,4,2,2'
        recording = self.path('a.hrec')
        self.holter('import', '--format', 'hopbyte', source, '--topology', network, '-o', recording)
        self.assertEqual(self.table(source, '--topology', network, '--steps', STEPS),
                         self.table(recording, '--steps', STEPS))
        self.holter('import', '--format', 'hopbyte', source, '-o', recording, status=1)
        finished = self.holter('import', '--format', 'hopbyte', source, '--topology', network, '-o', '-', status=2)
        self.assertIn("'-' is not a file", finished.err)
        self.holter('import', '--format', 'route', source, '-o', self.path('b.hrec'), status=1)

    def test_a_node_that_sends_a_single_message_is_part_of_the_results(self):
        recording = self.path('single.hrec')
        self.holter('import', '--format', 'hopbyte', self.write('single', '0 1 100\n'), '--topology', 'mesh:2', '-o',
                    recording)
        with sqlite3.connect(recording) as db:
            self.assertEqual([(1, 100)], db.execute('SELECT total(sent), total(sent_bytes) FROM totals').fetchall())

    def network_of(self, recording):
        """The dimensions of the network in a recording, as its replay publishes them."""
        with commgram.Replay(self.place, recording) as replay:
            topology = next(m for m in lab.stream_messages(replay.topics('topology')) if m['topic'] == 'topology')
        return [d['size'] for d in topology['dimensions']]

    def test_network_is_inferred_from_hops_and_routes_also_of_damaged_files(self):
        for kind, source, cut in (('hopbyte', self.hop_bytes('MiniAMR_Vesta_n64_c1_s2'), '25 3'),
                                  ('route', self.routes('MiniAMR_Vesta_n64_c1_s2'), 'Hop 1: [2516-257Hop 1: [12-0] 12')):
            recording = self.path(f'{kind}.hrec')
            with self.subTest(kind):
                out = self.holter('import', source, '-o', recording, '--no-results').out
                self.assertIn('64 nodes', out)
                with open(source, encoding='utf-8') as file:
                    lines = file.read().splitlines()
                garbled = self.write('garbled', '\n'.join(lines[:50] + [cut] + lines[50:]) + '\n')
                os.unlink(recording)
                finished = self.holter('import', garbled, '-o', recording, '--no-results', status=1)
                self.assertIn('garbled:51: ', finished.err)
                self.assertIn('64 ranks', finished.out)
                self.assertIn('left out     1 lines that are wrong', finished.out)
                self.assertEqual([2, 2, 4, 2, 2], self.network_of(recording))

    def test_lines_with_other_hops_than_the_inferred_network_are_counted_and_the_first_is_named(self):
        with open(self.hop_bytes('MiniAMR_Vesta_n64_c1_s2'), encoding='utf-8') as file:
            lines = file.read().splitlines()

        def with_wrong_hops(part):
            """One line in so many has a hop too much, from the seventh on."""
            return self.write(f'part{part}', ''.join(
                f'{line[:-1]}{int(line[-1]) + 1}\n' if i % part == 6 else f'{line}\n' for i, line in enumerate(lines)))

        recording = self.path('a.hrec')
        few = self.holter('import', with_wrong_hops(50), '-o', recording, '--no-results', status=1)
        self.assertRegex(few.err, r'part50:7: \d+ hops from \d+ to \d+ are not those of the network; '
                                  r'19 of 948 lines differ')
        self.assertEqual([2, 2, 4, 2, 2], self.network_of(recording))
        os.unlink(recording)
        many = self.holter('import', with_wrong_hops(15), '-o', recording, '--no-results')
        self.assertIn('part15:7: 63 of 948 lines, this one first, contradict the network that fits best, of 64 nodes; '
                      'at most one in 20 may', many.err)
        self.assertNotIn('inferred', many.out)

    def test_hops_and_routes_that_are_not_those_of_the_network_are_an_error(self):
        name, recording = 'MiniAMR_Vesta_n64_c1_s2', self.path('a.hrec')
        for kind, source in (('hopbyte', self.hop_bytes(name)), ('route', self.routes(name))):
            with self.subTest(kind):
                finished = self.holter('import', source, '--topology', 'torus:8,8', '-o', recording, status=1)
                self.assertRegex(finished.err, rf'_{kind}.txt:\d+: \d+ hops from \d+ to \d+ are not those of the network; '
                                               r'\d+ of 948 lines differ')
                self.assertFalse(os.path.exists(recording))
                self.holter('import', source, '--topology', 'torus:2,2,4,2,2', '-o', recording, '--no-results')
                os.unlink(recording)


if __name__ == '__main__':
    lab.main()
