"""A job under Slurm, one slurmd on each of four hosts: `holter run -- srun ...` watches it like any other."""
import os
import signal
import unittest

import bed
import checks
import lab


class Cluster:
    """Slurm on the hosts of a bed. Authentication is off: the network is the test's own."""

    def __init__(self, place, hosts):
        for name in ('slurmctld', 'slurmd', 'srun', 'sinfo'):
            lab.installed(name)
        self.place, self.hosts = place, hosts
        self.dir = os.path.join(place.dir, 'slurm')

    def configuration(self, folder):
        with open(os.path.join(folder, 'slurm.conf'), 'w', encoding='utf-8') as f:
            f.write(f'''ClusterName=bed
SlurmctldHost=head({bed.NETWORK}.254)
AuthType=auth/none
CredType=cred/none
SlurmUser=root
SlurmdUser=root
StateSaveLocation={self.dir}/state
SlurmdSpoolDir={self.dir}/spool.%n
SlurmctldPidFile={self.dir}/slurmctld.pid
SlurmdPidFile={self.dir}/slurmd.%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
SwitchType=switch/none
MpiDefault=pmix
SlurmdParameters=config_overrides
ReturnToService=2
''')
            for i, name in enumerate(self.hosts.names, 1):
                f.write(f'NodeName={name} NodeAddr={bed.NETWORK}.{i} CPUs=8 State=UNKNOWN\n')
            f.write('PartitionName=all Nodes=ALL Default=YES State=UP MaxTime=INFINITE\n')
        with open(os.path.join(folder, 'mpi.conf'), 'w', encoding='utf-8') as f:
            f.write(f'PMIxCliTmpDirBase={folder}/pmix\n')  # the hosts share /tmp
        with open(os.path.join(folder, 'cgroup.conf'), 'w', encoding='utf-8') as f:
            f.write('CgroupPlugin=cgroup/v1\n')  # none is used; slurmd must not look for one, as the hosts have none

    def start(self):
        for folder in (self.dir, f'{self.dir}/state'):
            os.mkdir(folder)
        for name in ['head', *self.hosts.names]:
            os.makedirs(f'{self.dir}/{name}/pmix')
            self.configuration(f'{self.dir}/{name}')
        self.place.env['SLURM_CONF'] = f'{self.dir}/head/slurm.conf'
        self.controller = self.place.start('slurmctld', '-D', '-f', self.place.env['SLURM_CONF'])
        self.nodes = [self.hosts.on(name, 'slurmd', '-D', '-N', name, '-f', f'{self.dir}/{name}/slurm.conf')
                      for name in self.hosts.names]
        lab.wait_for(self.idle, 'all nodes to be idle')

    def idle(self):
        states = self.place.run('sinfo', '-h', '-N', '-o', '%t').out.split()
        return states == ['idle'] * len(self.hosts.names)

    def stop(self):
        for pid in self.place.pids('slurmd') + self.place.pids('slurmctld'):
            os.kill(pid, signal.SIGTERM)
        for running in [*self.nodes, self.controller]:
            running.finish()


class Slurm(unittest.TestCase):
    def test_job_across_four_hosts(self):
        for name in ('slurmctld', 'slurmd', 'srun'):
            lab.installed(name)
        with lab.Lab() as place, bed.Bed(place, 4) as hosts:
            cluster = Cluster(place, hosts)
            cluster.start()
            env = {'OMPI_MCA_pml': 'ob1', 'OMPI_MCA_btl': 'tcp,self',
                   'OMPI_MCA_btl_tcp_if_include': f'{bed.NETWORK}.0/24'}
            job = place.holter('run', '--', 'srun', '-N', 4, '-n', 8, '--mpi=pmix', lab.program('halo', 'openmpi'), 20,
                               1000, env=env).finish(120)
            self.assertEqual(0, job.status, job)
            recorded = place.recording()
            checks.recording_tells_the_truth(self, recorded.sums(), place.truth())
            members = recorded.members()
            self.assertEqual(set(hosts.names), set(members))
            self.assertEqual(set(range(8)), {m['rank'] for rows in members.values() for m in rows})
            lab.wait_for(lambda: not hosts.shared_memory(), 'clean shared memory on all hosts')
            cluster.stop()
            place.check_clean()


if __name__ == '__main__':
    lab.main(network=True)
