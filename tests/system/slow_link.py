"""./demo slow-link: LAMMPS on eight ranks of four hosts, one of whose links becomes slow while it runs. Shows the
alert, its evidence, a picture of the viewer, and that all is well again afterwards. The hosts are namespaces of this
machine; where those are not permitted, LAMMPS runs right here and one of its ranks is slowed.

Arguments: the directory for recording and picture; a file to write the daemon's endpoint to when it serves."""
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import unittest

import bed
import lab
import stream

WINDOW = '500ms'
STEADY = 60   # windows before the link is slowed: what calm is, is learnt from them
LOOK = 8      # windows between the alert and the picture
TOO_LONG = 120  # windows after which waiting for an alert is given up
NAME = 'holter-demo-slow-link'
# LAMMPS steps on until the file says otherwise; rank 0 reads it for all
LOOP = '''
label again
run 100 post no
variable state file {state}
if "${{state}} == end" then quit
variable state delete
jump SELF again
'''


def say(text=''):
    print(text, flush=True)


class SlowLink:
    """On hosts of our own."""
    host, microseconds = 'node3', 2000

    def __init__(self, hosts):
        self.hosts = hosts
        self.what = f'the link of {self.host}: every packet to and from it takes {self.microseconds / 1000:g} ms more'
        self.place_text = 'eight ranks on four hosts (namespaces of this machine, joined by a bridge)'

    def launcher(self):
        return [*self.hosts.openmpi(), '-n', 8]

    def slow(self, _):
        self.hosts.delay(self.host, self.microseconds)

    def restore(self):
        self.hosts.delay(self.host, 0)


class SlowRank:
    """On this host: one rank is stopped most of the time."""
    rank, stopped_s, running_s = 2, 0.02, 0.01

    def __init__(self):
        self.what = f'rank {self.rank}: it is stopped two thirds of the time'
        self.place_text = 'four ranks on this machine'
        self.end, self.thread = threading.Event(), None

    @staticmethod
    def launcher():
        return lab.mpirun('openmpi', 4)

    def _pid(self, place):
        for pid in place.pids('lmp'):
            with open(f'/proc/{pid}/environ', 'rb') as f:
                if f'OMPI_COMM_WORLD_RANK={self.rank}'.encode() in f.read().split(b'\0'):
                    return pid
        raise AssertionError(f'rank {self.rank} is not to be found')

    def _stop_and_go(self, pid):
        try:
            while not self.end.is_set():
                os.kill(pid, signal.SIGSTOP)
                self.end.wait(self.stopped_s)
                os.kill(pid, signal.SIGCONT)
                self.end.wait(self.running_s)
        except ProcessLookupError:
            pass

    def slow(self, place):
        self.thread = threading.Thread(target=self._stop_and_go, args=(self._pid(place),), daemon=True)
        self.thread.start()

    def restore(self):
        self.end.set()
        if self.thread:
            self.thread.join()


class Show:
    program = 'LAMMPS melt'

    def __init__(self, place, slowing, directory, endpoint_file):
        self.place, self.slowing, self.directory, self.endpoint_file = place, slowing, directory, endpoint_file
        self.state = os.path.join(place.dir, 'state')

    def result(self, extension):
        return os.path.join(self.directory, f'{NAME}.{extension}')

    def set_state(self, word):
        with open(self.state + '.new', 'w', encoding='utf-8') as f:
            f.write(word + '\n')
        os.rename(self.state + '.new', self.state)

    def start(self):
        with open(lab.MELT, encoding='utf-8') as f:
            text = re.sub(r'^thermo\s.*', 'thermo 100', f.read(), flags=re.M)
        path = os.path.join(self.place.dir, 'in.melt')
        with open(path, 'w', encoding='utf-8') as f:
            f.write(re.sub(r'^run\s.*', '', text, flags=re.M) + LOOP.format(state=self.state))
        self.set_state('go')
        return self.launch('lmp', '-in', path, '-log', 'none')

    def launch(self, *program):
        if os.path.exists(self.result('hrec')):
            os.unlink(self.result('hrec'))
        job = self.place.holter('run', '--window', WINDOW, '-o', self.result('hrec'), '--',
                                *self.slowing.launcher(), *program, env={'OMP_NUM_THREADS': '1'})
        lab.wait_for(lambda: not job.alive() or self.place.ranks_seen() > 0, 'the job', 60)
        if not job.alive():
            raise AssertionError(job)
        self.endpoint = 'ipc://' + glob.glob(os.path.join(self.place.run_dir, '*', 'holterd.sock'))[0]
        with open(self.endpoint_file + '.new', 'w', encoding='utf-8') as f:
            f.write(self.endpoint)
        os.rename(self.endpoint_file + '.new', self.endpoint_file)
        return job

    def wait_for_alert(self, live):
        seen = len(live.read().windows)
        live.wait(lambda s: s.of_kind('latency') or len(s.windows) > seen + TOO_LONG, 'an alert')
        alerts = live.of_kind('latency')
        if not alerts:
            raise AssertionError(f'no alert within {TOO_LONG} windows')
        say(f'   alert after {len(live.windows) - seen} windows')
        return min(alerts)

    def picture(self):
        viewer = os.path.join(lab.BUILD, 'viewer', 'holter-view')
        finished = self.place.run(viewer, '--connect', self.endpoint, '--snapshot', self.place.dir + '/p.png', '--size',
                                  '1600x900', '--after', 1)
        if finished.status != 0:
            raise AssertionError(finished)
        shutil.move(self.place.dir + '/p.png', self.result('png'))

    @staticmethod
    def evidence(alert):
        say()
        say(f'   {alert["title"]}')
        if alert['text']:
            say(f'   {alert["text"]}')
        say(f'     ranks {alert["ranks"]}   nodes {alert["nodes"]}   {alert["locality"]}   sizes {alert["sizes"]}')
        say(f'     the clocks are uncertain by {alert["error_ns"] / 1000:.0f} µs')
        for cause in alert['causes']:
            say(f'     {100 * cause["share"]:3.0f} %  {cause["name"]}: {cause["text"]}')
        if alert['advice']:
            say(f'     advice: {alert["advice"]}')
        say()

    def run(self):
        say(f'== {self.program}, {self.slowing.place_text}')
        job = self.start()
        live = stream.Stream(self.place)
        say(f'== steady for {STEADY} windows of {WINDOW}')
        live.wait_windows(STEADY)
        early = live.of_kind('latency')
        say(f'== now slower: {self.slowing.what}')
        self.slowing.slow(self.place)
        alert = self.wait_for_alert(live) if not early else min(early)
        live.wait_windows(LOOK)
        newest = live.alerts[alert][-1]
        self.picture()
        self.evidence(newest)
        say('== as fast as before again')
        self.slowing.restore()
        restored = len(live.windows)
        live.wait(lambda s: s.alerts[alert][-1]['state'] == 'resolved' or len(s.windows) > restored + TOO_LONG / 2,
                  'the end of the alert')
        if live.alerts[alert][-1]['state'] == 'resolved':
            say(f'   alert resolved after {len(live.windows) - restored} windows')
        else:
            say('   latency is not back yet: has this machine other things to do?')
        self.set_state('end')
        finished = job.finish()
        live.tap.finish()
        say(finished.err.strip())
        if finished.status != 0:
            raise AssertionError(finished)
        return live.read().of_kind('latency')


def main():
    directory, endpoint_file = map(os.path.abspath, sys.argv[1:3])
    lab.isolate(network=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # through all the clean-up there is
    with lab.Lab() as place:
        try:
            with bed.Bed(place, 4, delayed=[SlowLink.host]) as hosts:
                alerts = Show(place, SlowLink(hosts), directory, endpoint_file).run()
                place.check_clean()
        except unittest.SkipTest as why:
            say(f'== {why}: one rank of a job on this machine is slowed in place of a link')
            alerts = Show(place, SlowRank(), directory, endpoint_file).run()
    say(f'== {len(alerts)} latency alert{"s" if len(alerts) != 1 else ""} in all')


if __name__ == '__main__':
    main()
