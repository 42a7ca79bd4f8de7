"""Makes the pictures of docs/latency.md.

    HOLTER_BUILD=build tests/system/latency_figures.py [--lammps RECORDING] [NAME...]

Of the recording of a slow link that comes with Holter, as it is when its alert has fired; of MiniFE as libdumpi
recorded it; of 4,096 ranks that are made up, by the generators of the tests; and with --lammps of the recording that
`./demo slow-link` leaves, two seconds after its alert has fired."""
import argparse
import glob
import os
import shutil
import sqlite3
import subprocess

import commgram
import lab
import small_png

FOLDER = os.path.join(lab.SOURCE, 'docs', 'figures')
MOST_BYTES = 200_000
SIZE = '1280x720'
FIRED = '33.5'  # seconds of the recording

SLOW_LINK = {
    'latency-overview': ['--at', 'overview'],
    'latency-alerts': ['--at', 'latency/alerts'],
    'latency-attribution': ['--at', 'latency/attribution'],
    'latency-regions': ['--at', 'latency/regions'],
    'latency-captures': ['--at', 'latency/captures'],
    'latency-dependencies': ['--at', 'latency/graph'],
    'lateness-slow-link': ['--at', 'latency/graph', '--arrange', 'window'],
}
VIEWS = {
    'attribution': ['--at', 'latency/attribution'],
    'regions': ['--at', 'latency/regions'],
    'dependencies': ['--at', 'latency/graph'],
    'lateness': ['--at', 'latency/graph', '--arrange', 'window'],
    'criteria': ['--at', 'latency/criteria'],
    'metrics': ['--at', 'communication/metrics', '--shape', '3d'],
}
GALLERY = {'dependencies-nodes': 'dependencies-4096', 'lateness': 'lateness-4096'}


def pictures_of(suffix):
    """But for those that the gallery makes."""
    pictures = {f'{view}-{suffix}': address for view, address in VIEWS.items()}
    return {name: address for name, address in pictures.items() if name not in GALLERY.values()}


def keep(path, name):
    small_png.shrink(path)
    size = os.path.getsize(path)
    if size > MOST_BYTES:
        raise AssertionError(f'{name}.png has {size} bytes')
    shutil.copy(path, os.path.join(FOLDER, name + '.png'))
    print(f'{name}.png: {size} bytes')


def done(finished):
    if finished.status != 0:
        raise AssertionError(str(finished))


def shoot(place, pictures, *options):
    for name, address in pictures.items():
        if place.names and name not in place.names:
            continue
        path = os.path.join(place.dir, name + '.png')
        done(place.holter('view', '--snapshot', path, '--size', SIZE, *address, *options).finish(90))
        keep(path, name)


def shoot_replay(place, recording, moment, pictures):
    """The replay stands at this time."""
    endpoint = f'ipc://{os.path.join(place.run_dir, "replay.sock")}'
    place.env['HOLTER_DAEMON'] = endpoint
    replay = place.holter('replay', '--paused', recording)
    lab.wait_for(lambda: not replay.alive() or place.status(), 'the replay')
    done(place.holter('replay', '--ask', f'seek {moment}').finish(60))
    shoot(place, pictures)
    replay.kill(15)
    replay.finish()
    del place.env['HOLTER_DAEMON']


def after_alert(recording):
    """Two seconds after the alert fired, nanoseconds since 1970."""
    with sqlite3.connect(recording) as file:
        fired_ns, = file.execute("SELECT min(fired_ns) FROM alert WHERE kind = 'latency' AND fired_ns > 0").fetchone()
    return fired_ns + 2 * 10**9


def minife(place):
    """@return path of the trace"""
    trace = os.path.join(place.dir, 'minife-8')
    os.makedirs(trace)
    for packed in glob.glob(os.path.join(lab.SOURCE, 'tests', 'data', 'dumpi', 'minife-8', '*.zst')):
        path = os.path.join(trace, os.path.basename(packed)[:-len('.zst')])
        subprocess.run(['zstd', '-dqf', packed, '-o', path], check=True)
    return trace


def made_up(place):
    made = os.path.join(place.dir, 'made.hrec')
    bench = os.path.join(lab.BUILD, 'tests', 'bench', 'replay_bench')
    subprocess.run([bench, '--make', made, '--ranks', '4096', '--nodes', '64', '--windows', '120'], check=True,
                   stdout=subprocess.DEVNULL)
    with commgram.Replay(place, made) as replay:
        shoot(place, pictures_of('4096'), '--job', replay.job, '--from', '30', '--to', '90')
    gallery = os.path.join(lab.BUILD, 'tests', 'viewer', 'viewer-gallery')
    subprocess.run([gallery, place.dir, 'dependencies'], check=True, env={**os.environ, 'SDL_VIDEODRIVER': 'dummy'})
    for shot, name in GALLERY.items():
        if not place.names or name in place.names:
            keep(os.path.join(place.dir, shot + '.png'), name)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--lammps', metavar='RECORDING')
    parser.add_argument('names', metavar='NAME', nargs='*')
    arguments = parser.parse_args()
    with lab.Lab() as place:
        place.names = arguments.names
        shoot_replay(place, os.path.join(lab.SOURCE, 'docs', 'slow-link.hrec'), f'+{FIRED}s', SLOW_LINK)
        if arguments.lammps:
            shoot_replay(place, arguments.lammps, after_alert(arguments.lammps), pictures_of('lammps'))
        recording = os.path.join(place.dir, 'minife.hrec')
        done(place.holter('import', '--window', '5ms', '-o', recording, minife(place)).finish(60))
        with commgram.Replay(place, recording) as replay:
            shoot(place, pictures_of('minife'), '--job', replay.job)
        made_up(place)


if __name__ == '__main__':
    main()
