"""./demo hot-link: LAMMPS on eight ranks of four hosts in a line, placed so that most messages cross the middle link.
Shows the hot link and the ranks that load it, asks for a better mapping, runs the job again with it, and compares.
The hosts are namespaces of this machine, their links are held to a bandwidth.

Arguments: the directory for recordings, picture and mapping; further ones are not looked at."""
import os
import re
import signal
import sys

import bed
import lab
import network_test

NAME = 'holter-demo-hot-link'
WINDOW = '500ms'
MEGABITS = 60  # of each link
CELLS = 16      # of the lattice, along each axis: 16,384 atoms
STEPS = 600
LOOK = 12       # windows before the picture, at least
LONG = 40       # windows after which waiting for a hot link is given up
TOPOLOGY = f'capacity: {MEGABITS} Mbit/s\n' + network_test.TOPOLOGY


def say(text=''):
    print(text, flush=True)


def mebibytes(count):
    return f'{count / (1 << 20):,.1f} MiB'


class Run:
    """LAMMPS once, recorded."""

    def __init__(self, place, hosts, directory, name, placing):
        self.place, self.recording = place, os.path.join(directory, f'{NAME}-{name}.hrec')
        if os.path.exists(self.recording):
            os.unlink(self.recording)
        self.network = os.path.join(place.dir, 'line.yaml')
        with open(self.network, 'w', encoding='utf-8') as f:
            f.write(TOPOLOGY)
        with open(lab.MELT, encoding='utf-8') as f:
            text = re.sub(r'block 0 10 0 10 0 10', f'block 0 {CELLS} 0 {CELLS} 0 {CELLS}', f.read())
        path = os.path.join(place.dir, 'in.melt')
        with open(path, 'w', encoding='utf-8') as f:
            f.write(re.sub(r'^run\s.*', f'run {STEPS}', re.sub(r'^thermo\s.*', 'thermo 1000', text, flags=re.M),
                           flags=re.M))
        self.job = place.holter('run', '--window', WINDOW, '--topology', self.network, '-o', self.recording, '--',
                                *hosts.openmpi(placing=placing), '-n', 8, 'lmp', '-in', path, '-log', 'none',
                                env={'OMP_NUM_THREADS': '1'})
        lab.wait_for(lambda: not self.job.alive() or place.ranks_seen() == 8, 'all ranks', 60)
        if not self.job.alive():
            raise AssertionError(self.job)
        self.links = network_test.Links(place)
        self.links.wait(lambda l: len(l.windows) > LOOK, 'its windows')

    def loads(self):
        """Bytes over each link so far."""
        sums = {}
        for window in self.links.read().windows.values():
            for link, row in window.items():
                sums[link] = sums.get(link, 0) + row['bytes']
        return sums

    def end(self):
        """@return seconds that LAMMPS's loop took, and the bytes over each link"""
        finished = self.job.finish(120)
        if finished.status != 0:
            raise AssertionError(finished)
        self.links.tap.finish()
        return float(re.search(r'^Loop time of ([\d.]+)', finished.out, re.M)[1]), self.loads()


class Show:
    def __init__(self, place, hosts, directory):
        self.place, self.hosts, self.directory = place, hosts, directory

    def path(self, name):
        return os.path.join(self.directory, f'{NAME}{name}')

    def run(self, name, placing):
        return Run(self.place, self.hosts, self.directory, name, placing)

    def tell_links(self, run):
        for (one, other), row in sorted(run.links.newest().items(), key=lambda item: -item[1]['bytes'])[:4]:
            say(f'     {one} -> {other}: {network_test.STATES[row["state"]]}, {mebibytes(row["bytes"])} in this window, '
                f'{100 * row["share"]:.0f} % of what it can carry, measured {mebibytes(row["measured"])}')

    def tell_ranks(self, run):
        routes = run.links.routes
        for route in routes[:4]:
            say(f'     ranks {route["source"]} -> {route["destination"]}: {mebibytes(route["bytes"])} over '
                f'{route["length"]} link{"s" if route["length"] > 1 else ""}')

    def tell_loads(self, before, after):
        """Both runs side by side, the most loaded link of the first one first."""
        say('     link               before        after')
        for link in sorted(before, key=before.get, reverse=True):
            share = f'{100 * (after.get(link, 0) - before[link]) / before[link]:+.0f} %' if before[link] else ''
            say(f'     {link[0]} -> {link[1]} {mebibytes(before[link]):>12} {mebibytes(after.get(link, 0)):>12} {share:>7}')

    def picture(self, name, view, *options):
        finished = self.place.holter('view', '--view', view, '--snapshot', self.place.dir + '/p.png', '--size',
                                     '1600x900', '--after', 1, *options).finish(60)
        if finished.status != 0:
            raise AssertionError(finished)
        os.replace(self.place.dir + '/p.png', self.path(name + '.png'))

    def both(self, *recordings):
        """Both runs side by side in one picture, and what differs most."""
        finished = self.place.holter('view', *recordings, '--view', 'network', '--compare', 'both', '--since-start',
                                     '--snapshot', self.place.dir + '/p.png', '--size', '1600x900').finish(120)
        if finished.status != 0:
            raise AssertionError(finished)
        os.replace(self.place.dir + '/p.png', self.path('-both.png'))
        finished = self.place.holter('compare', *recordings, '-n', 4).finish(60)
        if finished.status != 0:
            raise AssertionError(finished)
        for line in finished.out.strip().split('\n'):
            say(f'     {line}')

    def suggest(self, recording):
        mapping = self.path('.rankfile')
        finished = self.place.holter('remap', recording, '--objective', 'max-link', '--format', 'openmpi', '-o',
                                     mapping).finish(60)
        if finished.status != 0:
            raise AssertionError(finished)
        for line in finished.out.strip().split('\n'):
            say(f'     {line}')
        return mapping


def main():
    directory = os.path.abspath(sys.argv[1])
    lab.isolate(network=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with lab.Lab() as place, bed.Bed(place, 4, line=True) as hosts:
        hosts.line_bandwidth(MEGABITS)
        show = Show(place, hosts, directory)
        say(f'== LAMMPS melt, eight ranks on four hosts in a line, {MEGABITS} Mbit/s between each and the next')
        first = show.run('1', ['--map-by', 'node'])
        first.links.wait(lambda l: l.routes or len(l.windows) > LONG, 'a hot link')
        show.tell_links(first)
        say('   who loads the first of them' if first.links.routes else
            '   none of them is hot: has this machine other things to do?')
        show.tell_ranks(first)
        show.picture('', 'links')
        show.picture('-difference', 'links', '--since-start', '--suggest', 'mapping:max-link', '--apply', '--compare',
                     'difference')
        before, loads = first.end()
        say('== a better mapping, from the recording')
        mapping = show.suggest(first.recording)
        say('== once more, with that mapping')
        second = show.run('2', ['--rankfile', mapping])
        show.tell_links(second)
        after, loads_after = second.end()
        link, link_after = max(loads, key=loads.get), max(loads_after, key=loads_after.get)
        say(f'== {STEPS} steps took {before:.1f} s, now {after:.1f} s; over the most loaded link went '
            f'{mebibytes(loads[link])} ({link[0]} -> {link[1]}), now {mebibytes(loads_after[link_after])} '
            f'({link_after[0]} -> {link_after[1]})')
        show.tell_loads(loads, loads_after)
        say('== holter compare: before and after')
        show.both(first.recording, second.recording)
        place.check_clean()


if __name__ == '__main__':
    main()
