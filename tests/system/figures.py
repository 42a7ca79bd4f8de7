"""Makes the pictures of docs/commgram.md, which correspond to figures of the CommGram paper.

    HOLTER_BUILD=build tests/system/figures.py [NAME...]

They come from generated recordings, so that what they must show is known."""
import os
import shutil
import sys

import commgram
import lab
import small_png

FOLDER = os.path.join(lab.SOURCE, 'docs', 'figures')
MOST_BYTES = 200_000

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
SIZES = {'small': '1024x640', 'large': '1600x900'}


def rank_list(ranks):
    return ','.join(map(str, ranks))


def draw(place, replay, name, size, options):
    if '--ranks=COMMUNITY' in options:  # that of rank 2160
        shown = [o for o in options if not o.startswith('--ranks')]
        groups = replay.picture(*shown).groups(0)
        mine = next(g for g in groups if 2160 in g)
        options = [*shown, f'--ranks={rank_list(mine)}']
    path = os.path.join(place.dir, name + '.png')
    finished = place.holter('view', '--job', replay.job, '--snapshot', path, '--view', 'commgram', '--size',
                            SIZES[size], *options).finish(60)
    if finished.status != 0:
        raise AssertionError(str(finished))
    small_png.shrink(path)
    bytes_ = os.path.getsize(path)
    if bytes_ > MOST_BYTES:
        raise AssertionError(f'{name}.png has {bytes_} bytes')
    shutil.copy(path, FOLDER)
    return bytes_


def main(names):
    os.makedirs(FOLDER, exist_ok=True)
    known = {f[0] for figures in FIGURES.values() for f in figures}
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


if __name__ == '__main__':
    main(sys.argv[1:])
