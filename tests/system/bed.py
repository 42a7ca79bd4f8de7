"""Several hosts on one machine: each with own network, host name, processes, mounts and /dev/shm, joined by a
bridge. Links can be slowed or lose frames, and clocks can differ. Everything lives in the test's own namespaces, so it
is gone when the test is."""
import os
import stat
import subprocess
import unittest

import lab

NETWORK = '10.77.0'
LINE = '10.78.0'  # addresses of hosts on a line, which are on none of their interfaces


class Bed:
    """Use with `with`. Hosts are called node1, node2, ...; the test itself is the head, at .254.

    delayed: hosts whose link runs through delay_link, so that delay() can slow it and loss() make it lose frames.
    line: adjacent hosts are also joined by a link of their own, from `right` of the one to `left` of the next.
    Messages of MPI take these, through the hosts between; the launcher and Holter keep to the bridge.
    clocks: {host: seconds that its CLOCK_MONOTONIC is ahead of the head's}; negative ones only as far as the
    machine has been up."""

    def __init__(self, place, hosts, delayed=(), clocks=None, line=False):
        if os.environ.get('HOLTER_LAB_ISOLATED') != 'network':
            raise unittest.SkipTest('network namespaces are not permitted here')
        self.place, self.count = place, hosts
        self.dir = os.path.join(place.dir, 'bed')
        self.names = [f'node{i}' for i in range(1, hosts + 1)]
        self.delayed, self.clocks, self.line = delayed, clocks or {}, line
        self.inits, self.links = [], {}

    def __enter__(self):
        try:
            self._make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in [*self.links.values(), *self.inits]:
            process.kill()
            process.wait()
            process.stdout.close()
            if process.stdin:
                process.stdin.close()
        subprocess.run(['umount', '/etc/hosts'], check=False)
        # a host's end of a pair would go some time after the host
        for device in [f'bed{i}' for i, name in enumerate(self.names, 1) if name not in self.links] + ['bed']:
            subprocess.run(['ip', 'link', 'del', device], stderr=subprocess.DEVNULL, check=False)

    def _make(self):
        os.mkdir(self.dir)
        hosts = os.path.join(self.dir, 'hosts')
        with open(hosts, 'w', encoding='utf-8') as f:
            f.write('127.0.0.1 localhost\n' + f'{NETWORK}.254 head\n')
            f.writelines(f'{NETWORK}.{i} {name}\n' for i, name in enumerate(self.names, 1))
        self._ip('link', 'set', 'lo', 'up')
        self._ip('link', 'add', 'bed', 'type', 'bridge')
        self._ip('addr', 'add', f'{NETWORK}.254/24', 'dev', 'bed')
        self._ip('link', 'set', 'bed', 'up')
        subprocess.run(['mount', '--bind', hosts, '/etc/hosts'], check=True)
        subprocess.run(['hostname', 'head'], check=True)
        for i, name in enumerate(self.names, 1):
            self._host(i, name)
        if self.line:
            self._join_line()
        self._remote_shell()

    @staticmethod
    def _ip(*words):
        subprocess.run(['ip', *words], check=True)

    def _host(self, i, name):
        # the shell stays as the host's process 1 and collects orphans
        # /sys shows the interfaces of the network in which it was mounted
        script = (f'hostname {name} && mount -t tmpfs -o mode=1777 tmpfs /dev/shm && '
                  '{ mount -t sysfs sysfs /sys || :; } && echo ready; sleep infinity & wait')
        clock = ['--time', '--monotonic', str(self.clocks[name])] if name in self.clocks else []
        init = subprocess.Popen(['unshare', '--net', '--uts', '--mount', '--ipc', '--pid', *clock, '--fork',
                                 '--kill-child', '--mount-proc', 'sh', '-c', script], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE)
        self.inits.append(init)
        if init.stdout.readline() != b'ready\n':
            raise unittest.SkipTest('host namespaces are not permitted here')
        with open(f'/proc/{init.pid}/task/{init.pid}/children', encoding='utf-8') as f:
            pid = f.read().split()[0]
        with open(os.path.join(self.dir, name), 'w', encoding='utf-8') as f:
            f.write(pid)
        if name in self.delayed:
            self._delay_link(i, name, pid)
        else:
            self._ip('link', 'add', f'bed{i}', 'type', 'veth', 'peer', 'name', 'eth0', 'netns', pid)
        self._ip('link', 'set', f'bed{i}', 'master', 'bed', 'up')
        for words in (['link', 'set', 'lo', 'up'], ['link', 'set', 'eth0', 'up'],
                      ['addr', 'add', f'{NETWORK}.{i}/24', 'dev', 'eth0']):
            subprocess.run(['nsenter', '-t', pid, '-n', 'ip', *words], check=True)

    def _join_line(self):
        """Links of two addresses each, and a way to every host. Forwarding goes through the kernel of each host."""
        for i, name in enumerate(self.names, 1):
            self.inside(name, 'ip', 'link', 'add', 'own', 'type', 'bridge')
            self.inside(name, 'ip', 'link', 'set', 'own', 'up')
            self.inside(name, 'ip', 'addr', 'add', f'{LINE}.{i}/32', 'dev', 'own')
            self.inside(name, 'sh', '-c', 'echo 1 > /proc/sys/net/ipv4/ip_forward')
        for i, (name, following) in enumerate(zip(self.names, self.names[1:]), 1):
            self._ip('link', 'add', 'right', 'netns', self.pid(name), 'type', 'veth', 'peer', 'name', 'left', 'netns',
                     self.pid(following))
            for host, device, end in ((name, 'right', 1), (following, 'left', 2)):
                self.inside(host, 'ip', 'addr', 'add', f'10.79.{i}.{end}/30', 'dev', device)
                self.inside(host, 'ip', 'link', 'set', device, 'up')
        for i, name in enumerate(self.names, 1):
            for other in range(1, self.count + 1):
                gate = (f'10.79.{i}.2', 'right') if other > i else (f'10.79.{i - 1}.1', 'left')
                if other != i:
                    self.inside(name, 'ip', 'route', 'add', f'{LINE}.{other}/32', 'via', gate[0], 'dev', gate[1],
                                'src', f'{LINE}.{i}')

    def pid(self, name):
        """Process 1 of a host."""
        with open(os.path.join(self.dir, name), encoding='utf-8') as f:
            return f.read()

    def inside(self, name, *command):
        """Do something in the network of a host, now. @return what it printed"""
        return subprocess.run(['nsenter', '-t', self.pid(name), *self._spaces(), *command], check=True,
                              stdout=subprocess.PIPE, text=True).stdout

    def _delay_link(self, i, name, pid):
        if not os.access('/dev/net/tun', os.R_OK | os.W_OK):
            raise unittest.SkipTest('TAP devices are not permitted here')
        program = os.path.join(lab.BUILD, 'tests', 'system', 'delay_link')
        link = subprocess.Popen([program, f'near{i}', f'bed{i}'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.links[name] = link
        if link.stdout.readline() != b'ready\n':
            raise unittest.SkipTest('TAP devices are not permitted here')
        self._ip('link', 'set', f'near{i}', 'netns', pid, 'name', 'eth0')

    def set_link(self, name, state):
        """Cut a host off (down), or join it again (up)."""
        self._ip('link', 'set', f'bed{self.names.index(name) + 1}', state)

    def delay(self, name, microseconds):
        """From now on every frame to and from a host of `delayed` takes so much longer; 0: as at first."""
        self._set_link(name, b'delay %d\n' % microseconds)

    def loss(self, name, share):
        """From now on so large a share of the frames to and from a host of `delayed` is lost, drawn from a fixed seed;
        0: as at first. A large frame, as segmentation offload makes them, is lost as a whole."""
        self._set_link(name, b'loss %d\n' % round(share * 1000000))

    def _set_link(self, name, line):
        link = self.links[name]
        link.stdin.write(line)
        link.stdin.flush()
        if link.stdout.readline() != line:
            raise AssertionError(f'the link of {name} cannot be changed')

    def bandwidth(self, name, megabits):
        """From now on a host sends and is sent at most so much a second; None: as at first."""
        i = self.names.index(name) + 1
        inside = ['nsenter', '-t', self.pid(name), '-n']
        for prefix, device in (([], f'bed{i}'), (inside, 'eth0')):
            words = ['tbf', 'rate', f'{megabits}mbit', 'burst', '32kb', 'limit', '1mb'] if megabits else []
            subprocess.run([*prefix, 'tc', 'qdisc', 'replace' if megabits else 'del', 'dev', device, 'root', *words],
                           check=True)

    def line_bandwidth(self, megabits):
        """From now on each link of the line carries at most so much a second, each way."""
        for i, name in enumerate(self.names):
            for device in ['left'] * (i > 0) + ['right'] * (i + 1 < self.count):
                self.inside(name, 'tc', 'qdisc', 'replace', 'dev', device, 'root', 'tbf', 'rate', f'{megabits}mbit',
                            'burst', '128kb', 'limit', '2mb')

    def _remote_shell(self):
        """A program that launchers use in place of ssh: <it> [options] host command..."""
        self.remote_shell = os.path.join(self.dir, 'rsh')
        with open(self.remote_shell, 'w', encoding='utf-8') as f:
            f.write(f'''#!/bin/sh
while :; do
    case $1 in
    -l | -p | -o) shift 2 ;;
    -*) shift ;;
    *) break ;;
    esac
done
host=$1
shift
exec nsenter -t "$(cat {self.dir}/"$host")" {' '.join(self._spaces())} -w"$PWD" -- /bin/sh -c "$*"
''')
        os.chmod(self.remote_shell, stat.S_IRWXU)

    def on(self, name, *command, **more):
        """Start a command on a host."""
        return self.place.start('nsenter', '-t', self.pid(name), *self._spaces(), '--', *command, **more)

    def _spaces(self):
        """Namespaces of a host and its root directory, words of nsenter."""
        return ['-n', '-u', '-m', '-r', '-i', '-p', *(['-T'] if self.clocks else [])]

    def shared_memory(self):
        """What of Holter is in the hosts' shared memory."""
        return {name: found for name in self.names
                if (found := self.on(name, 'sh', '-c', 'ls /dev/shm | grep ^holter').finish().out)}

    def openmpi(self, slots=8, placing=('--map-by', 'node')):
        """Words of mpirun for these hosts.

        placing: those that say which rank goes where."""
        network = LINE if self.line else NETWORK
        hostfile = os.path.join(self.dir, 'hostfile')
        with open(hostfile, 'w', encoding='utf-8') as f:
            f.writelines(f'{name} slots={slots}\n' for name in self.names)
        return [lab.installed('mpirun.openmpi'), '--mca', 'plm_rsh_agent', self.remote_shell, '--mca', 'pml', 'ob1',
                '--mca', 'btl', 'tcp,self', '--mca', 'btl_tcp_if_include', f'{network}.0/24', '--mca',
                'oob_tcp_if_include', f'{NETWORK}.0/24', '--mca', 'mpi_yield_when_idle', '1', '--hostfile', hostfile,
                *placing]

    def mpich(self, per_host=1):
        hostfile = os.path.join(self.dir, 'hosts.mpich')
        with open(hostfile, 'w', encoding='utf-8') as f:
            f.writelines(f'{name}\n' for name in self.names)
        return [lab.installed('mpiexec.hydra'), '-iface', 'bed', '-launcher', 'ssh', '-launcher-exec',
                self.remote_shell, '-f', hostfile, '-ppn', str(per_host)]
