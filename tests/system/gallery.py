"""Makes the pictures of docs/gallery.md: what the window shows of jobs in ten situations.

    HOLTER_BUILD=build tests/system/gallery.py [NAME...]

They are of jobs that run, of docs/slow-link.hrec, which is of a job on four hosts, and of traces in tests/data. Only
jobs of thousands of ranks are made up, by the generators of the tests."""
import os
import shutil
import sys

import bed
import commgram
import import_test
import lab
import network_test
import small_png
import stream

FOLDER = os.path.join(lab.SOURCE, 'docs', 'gallery')
RECORDING = os.path.join(lab.SOURCE, 'docs', 'slow-link.hrec')
MEGABITS = 60  # of a link that is hot
CONGESTED = 3  # state of a link in topic "links"


def shoot(place, name, *options):
    path = os.path.join(place.dir, name + '.png')
    finished = place.holter('view', '--snapshot', path, '--size', '1600x900', '--after', 1, *options).finish(300)
    if finished.status != 0:
        raise AssertionError(finished)
    small_png.shrink(path)
    shutil.copy(path, FOLDER)
    print(f'{name}.png: {os.path.getsize(path)} bytes', flush=True)


def watched(place, program, ranks, windows, *arguments):
    """@return a job of a test program, and its stream, which has some windows"""
    job = place.holter('run', '--window', '500ms', '--',
                       *lab.mpirun('openmpi', ranks, lab.program(program, 'openmpi'), *arguments))
    lab.wait_for(lambda: not job.alive() or place.ranks_seen() == ranks, 'all ranks')
    live = stream.Stream(place)
    live.wait_windows(windows)
    return job, live


def touch(path):
    with open(path, 'w', encoding='utf-8'):
        pass


def late_rank():
    with lab.Lab() as place:
        job, live = watched(place, 'causes', 4, 40, place.dir)
        touch(os.path.join(place.dir, 'work.1'))
        live.wait(lambda s: s.of_kind('latency'), 'an alert')
        live.wait_windows(30)  # in which the others wait
        shoot(place, 'late-rank')
        touch(os.path.join(place.dir, 'end'))
        job.finish()
        live.tap.finish()


def hang():
    with lab.Lab() as place:
        gate = os.path.join(place.dir, 'gate')
        job, live = watched(place, 'hang', 8, 1, gate)
        live.wait(lambda s: s.of_kind('hang'), 'an alert')
        shoot(place, 'hang')
        touch(gate)
        job.finish()
        live.tap.finish()


def replayed(name, make, where='100%', *options):
    """A recording, shown at a moment of it."""
    with lab.Lab() as place:
        endpoint = place.env['HOLTER_DAEMON'] = f'ipc://{os.path.join(place.run_dir, "replay.sock")}'
        daemon = place.holter('replay', '--paused', '--from', where, '-c', endpoint, make(place))
        lab.wait_for(lambda: place.status() or not daemon.alive(), 'the replay')
        place.holter('replay', '--timeout', 300, '--ask', 'settle').finish(320)
        shoot(place, name, *options)
        daemon.kill(2)
        daemon.finish()


def generated(place):
    path = os.path.join(place.dir, 'stencil.hrec')
    place.run(os.path.join(lab.BUILD, 'tests', 'bench', 'replay_bench'), '--make', path)
    return path


def imported(place):
    test = import_test.Traces()
    test.place = place
    folder = test.unpack('dumpi/minife-8')
    path = os.path.join(place.dir, 'minife.hrec')
    meta, = (f for f in os.listdir(folder) if f.endswith('.meta'))
    place.holter('import', '--window', '5ms', '-o', path, os.path.join(folder, meta)).finish(60)
    return path


def million(place):
    return commgram.make(os.path.join(place.dir, 'halo.hrec'), 'halo', 64, 128, 128, per_node=1024, substages=2)


def recorded(_):
    return RECORDING


def hot_link():
    """Messages over a line of hosts: two of three pairs of ranks need its middle link."""
    with lab.Lab() as place, bed.Bed(place, 4, line=True) as hosts:
        hosts.line_bandwidth(MEGABITS)
        network, end = (os.path.join(place.dir, name) for name in ('line.yaml', 'end'))
        with open(network, 'w', encoding='utf-8') as f:
            f.write(f'capacity: {MEGABITS} Mbit/s\n{network_test.TOPOLOGY}')
        job = place.holter('run', '--window', '500ms', '--topology', network, '--', *hosts.openmpi(), '-n', 4,
                           lab.program('bulk', 'openmpi'), place.dir, network_test.BYTES, network_test.PAUSE,
                           *network_test.PAIRS)
        lab.wait_for(lambda: not job.alive() or place.ranks_seen() == 4, 'all ranks')
        links = network_test.Links(place)
        links.wait(lambda l: len(l.windows) > 30 and l.routes and
                   any(r['state'] == CONGESTED for r in l.newest().values()), 'a congested link')
        shoot(place, 'hot-link', '--at', 'network/links')
        touch(end)
        job.finish()
        links.tap.finish()


SITUATIONS = {
    'calm': lambda: replayed('calm', recorded, '+19s'),
    'slow-link': lambda: replayed('slow-link', recorded, '+34s'),
    'late-rank': late_rank,
    'hang': hang,
    'hot-link': hot_link,
    'phase-change': lambda: replayed('phase-change', recorded, '+24s', '--at', 'communication/commgram'),
    'ranks-4096': lambda: replayed('ranks-4096', generated, '+54s'),
    'ranks-1048576': lambda: replayed('ranks-1048576', million, '100%', '--at', 'communication/matrix'),
    'replay': lambda: replayed('replay', recorded, '+36s', '--at', 'overview/live'),
    'import': lambda: replayed('import', imported),
}


def main(names):
    os.makedirs(FOLDER, exist_ok=True)
    for name in names or SITUATIONS:
        SITUATIONS[name]()


if __name__ == '__main__':
    lab.isolate(network=True)
    main(sys.argv[1:])
