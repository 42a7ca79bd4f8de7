"""Makes the pictures of docs/commgram.md, docs/network.md and docs/torus.md, which correspond to figures of the papers.

    HOLTER_BUILD=build tests/system/figures.py [NAME...]

Those of the CommGram come from generated recordings, so that what they must show is known; those of networks from
what others recorded, in tests/data."""
import glob
import os
import shutil
import subprocess
import sys

import commgram
import lab
import small_png
import window_test

FOLDER = os.path.join(lab.SOURCE, 'docs', 'figures')
MAX_BYTES = 200_000

STAGE, STEP, PAUSE = 0.004, 0.020, 1.5  # seconds, as commgram_make has them
SIMULATION = 6 * STAGE + 5 * STEP + PAUSE
SWAP = 8 * SIMULATION  # where the first image begins
ONE = '--from=0', f'--to={6 * STAGE + 5 * STEP}'

# Recording: [(name, figure of the paper, size, options)]
FIGURES = {
    ('binary-swap', 8): [
        ('binary-swap', '3 (b)', 'small', ['--from=0', '--phases=3', '--communities=8']),
    ],
    ('binary-swap', 16): [
        *((f'phases-{n}', '4', 'small', ['--from=0', f'--phases={n}', '--communities=16']) for n in (1, 2, 3, 4)),
        *((f'communities-{n}', '5', 'small', ['--from=0', '--phases=4', f'--communities={n}']) for n in (1, 4, 8, 16)),
    ],
    ('insitu', 4320, 3): [
        ('case-study', '7', 'large', ['--from=0', '--phases=27', '--communities=18']),
        ('two-three-swap', '8', 'large', [f'--from={SWAP}', f'--to={SWAP + 12 * STAGE + 11 * STEP}', '--phases=12',
                                          '--communities=18']),
        ('first-stage', '9', 'small', [f'--from={SWAP}', f'--to={SWAP + STAGE}', '--phases=1', '--communities=4320']),
        ('first-stage-part', '9', 'small', [f'--from={SWAP}', f'--to={SWAP + STAGE}', '--phases=1',
                                            '--communities=4320', '--ranks=0-31']),
        ('simulation-24', '10 (a)', 'small', [*ONE, '--phases=1', '--communities=24']),
        ('simulation-61', '10 (b)', 'small', [*ONE, '--phases=1', '--communities=61']),
        ('simulation-community', '10 (c)', 'small', [*ONE, '--phases=1', '--communities=61', '--ranks=COMMUNITY']),
        ('simulation-rank', '10 (d)', 'small', [*ONE, '--phases=1', '--communities=4320', '--ranks=2160']),
    ],
}
REROUTED = ['--suggest', 'routes', '--apply', '--compare', 'both']

# Format, file and network of an import: [(name, figure of Fujiwara et al., options)]
NETWORKS = {
    ('hopbyte', 'MiniMD_Mira_n2048_c1_s1', 'torus:4,4,4,16,2'): [
        ('network-minimd', '7 (a)', ['--view', 'network']),
        ('links-minimd', '2 (b)', ['--view', 'links', '--suggest', 'mapping']),
    ],
    ('hopbyte', 'MiniAMR_Vesta_n128_c1_s2', 'torus:2,2,4,4,2'): [
        ('network-difference', '10', ['--view', 'network', '--select', 'link:(1,0,0,2,0)-(1,0,0,3,0)', '--suggest',
                                      'routes', '--apply', '--compare', 'difference']),
        ('reroute-miniamr', '10', ['--view', 'routes', '--select', 'link:(1,0,0,2,0)-(1,0,0,3,0)', '--suggest',
                                   'routes']),
    ],
    ('hopbyte', 'IMB-MPI1_Vesta_n32_c16', 'torus:2,2,2,2,2'): [
        ('network-imb', '2 (a)', ['--view', 'network']),
        ('reroute-imb', '5', ['--view', 'routes', '--select', 'route:(1,1,1,1,1)-(0,0,0,0,0)', *REROUTED]),
    ],
    ('hopbyte', 'MiniMD_Vesta_n64_c1_w', 'torus:2,2,4,2,2/order=C,D,E,B,A'): [
        ('routes-one', '6', ['--view', 'routes', '--select', 'route:(1,0,2,1,0)-(0,1,2,0,0)']),
    ],
    ('hopbyte', 'MiniMD_Theta_n256_c1_w', 'dragonfly:2,12,3,16,4'): [
        ('routes-theta-256', '13 (b)', ['--view', 'routes']),
        ('topology-theta-256', '13 (b)', ['--view', 'topology']),
    ],
    ('hopbyte', 'MiniMD_Theta_n128_c1_w', 'dragonfly:2,12,3,16,4'): [
        ('topology-theta-128', '13 (a)', ['--view', 'topology']),
    ],
}
# Format and files of two imports: [(name, figure, options)]
COMPARED = {
    ('route', 'IoDefault_Mira_n512_c16', 'IoOpt_Mira_n512_c16'): [
        ('routes-io', '12', ['--view', 'routes', '--compare', 'both', '--since-start']),
        ('network-two-runs', '12', ['--view', 'network', '--compare', 'difference', '--since-start']),
    ],
}
# Of Landge et al.: [(name, figure)]
TORI = [('torus-counters', '9'), ('torus-mappings', '1, 8'), ('torus-fullest', '10')]
SIZES = {'small': '1024x640', 'large': '1600x900'}


def rank_list(ranks):
    return ','.join(map(str, ranks))


def shoot(place, what, name, size, *options):
    """@param what  arguments that say what is viewed"""
    path = os.path.join(place.dir, name + '.png')
    finished = place.holter('view', *what, '--snapshot', path, '--size', SIZES[size], *options).finish(90)
    if finished.status != 0:
        raise AssertionError(str(finished))
    return keep(path, name)


def keep(path, name):
    """@return size of the picture, which becomes one of the figures"""
    small_png.shrink(path)
    bytes_ = os.path.getsize(path)
    if bytes_ > MAX_BYTES:
        raise AssertionError(f'{name}.png has {bytes_} bytes')
    shutil.copy(path, os.path.join(FOLDER, name + '.png'))
    return bytes_


def draw(place, replay, name, size, options):
    if '--ranks=COMMUNITY' in options:  # that of rank 2160
        shown = [o for o in options if not o.startswith('--ranks')]
        groups = replay.picture(*shown).groups(0)
        mine = next(g for g in groups if 2160 in g)
        options = [*shown, f'--ranks={rank_list(mine)}']
    return shoot(place, ['--job', replay.job], name, size, '--view', 'commgram', *options)


def unpacked(place, *path):
    """@return path of a file of tests/data that is no longer packed"""
    target = os.path.join(place.dir, path[-1])
    subprocess.run(['zstd', '-dqf', os.path.join(lab.SOURCE, 'tests', 'data', *path) + '.zst', '-o', target], check=True)
    return target


def recording(place, kind, source, name, *options):
    """@return path of the recording as which a file was imported"""
    path = os.path.join(place.dir, name + '.hrec')
    if os.path.exists(path):
        return path
    finished = place.holter('import', '--format', kind, *options, '-o', path, source).finish(60)
    if finished.status != 0:
        raise AssertionError(str(finished))
    return path


def imported(place, kind, name, network):
    """@return path of a recording of what others recorded"""
    source = unpacked(place, 'par-comm-data', kind, f'{name}_{kind}.txt')
    return recording(place, kind, source, name, *(['--topology', network] if network else []))


def fullest(place, job):
    """Drag the lower end of the legend in a window, and zoom into the rings. @return size of the picture"""
    window = window_test.Window(place, place.dir, ['--job', job, '--view', 'torus', '--since-start'],
                                '^packets measured$')
    scene = window.scene()
    x, y, w, h = scene.area('scale')
    window.tool('mousemove', round(x + 4), round(y + h / 2), 'mousedown', 1)
    window.tool('mousemove', round(x + w / 2), round(y + h / 2), 'mousemove', round(x + w * 0.7), round(y + h / 2))
    window.tool('mouseup', 1)
    x, y, w, h = scene.area('torus')
    window.tool('mousemove', round(x + w * 0.5), round(y + h * 0.7), 'click', '--repeat', 4, 4)
    window.tool('mousemove', 800, 20, 'key', 's')
    picture = lab.wait_for(lambda: glob.glob(os.path.join(place.dir, 'holter-*.png')), 'the picture')[0]
    window.close()  # after which it is whole
    return keep(picture, 'torus-fullest')


def draw_torus(place, name):
    """Counters of a Blue Gene/P, or pF3D's messages under several mappings."""
    options = []
    if name != 'torus-mappings':
        for part in ('links', 'map', 'nodes', 'meta'):
            source = unpacked(place, 'bgp-counters', f'bgpc_{part}.yaml')
        path = recording(place, 'counters', source, 'bgpc')
        if name == 'torus-fullest':
            with commgram.Replay(place, path) as replay:
                return fullest(place, replay.job)
    else:
        subprocess.run([os.path.join(lab.BUILD, 'tests', 'daemon', 'analysis', 'pf3d_write'), place.dir], check=True)
        path = recording(place, 'hopbyte', os.path.join(place.dir, 'xy.hopbyte'), 'pf3d', '--topology', 'torus:8,8,8',
                         '--ranks-per-node', 4)
        for mapping in ('XYZT', 'tile', 'tiltZ', 'tiltZY'):
            options += ['--mapping', os.path.join(place.dir, mapping + '.map')]
    return shoot(place, [path], name, 'large', '--view', 'torus', '--since-start', *options)


def main(names):
    os.makedirs(FOLDER, exist_ok=True)
    known = {f[0] for figures in [*FIGURES.values(), *NETWORKS.values(), *COMPARED.values(), TORI] for f in figures}
    for name in set(names) - known:
        sys.exit(f'{name}: there are {", ".join(sorted(known))}')
    with lab.Lab() as place:
        for pattern, figures in FIGURES.items():
            wanted = [f for f in figures if not names or f[0] in names]
            if not wanted:
                continue
            path = os.path.join(place.dir, 'figures.hrec')
            with commgram.Replay(place, commgram.make(path, *pattern)) as replay:
                for name, figure, size, options in wanted:
                    print(f'{name}.png: figure {figure}, {draw(place, replay, name, size, options)} bytes')
        for source, figures in NETWORKS.items():
            wanted = [f for f in figures if not names or f[0] in names]
            if not wanted:
                continue
            with commgram.Replay(place, imported(place, *source)) as replay:
                for name, figure, options in wanted:
                    size = shoot(place, ['--job', replay.job], name, 'large', *options)
                    print(f'{name}.png: figure {figure}, {size} bytes')
        for (kind, *files), figures in COMPARED.items():
            wanted = [f for f in figures if not names or f[0] in names]
            recordings = [imported(place, kind, name, None) for name in files if wanted]
            for name, figure, options in wanted:
                print(f'{name}.png: figure {figure}, {shoot(place, recordings, name, "large", *options)} bytes')
        for name, figure in TORI:
            if not names or name in names:
                print(f'{name}.png: figure {figure}, {draw_torus(place, name)} bytes')


if __name__ == '__main__':
    main(sys.argv[1:])
