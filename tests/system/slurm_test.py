"""Jobs under Slurm, one slurmd on each of four hosts, with the task prolog, the epilog and the job script that are shipped."""
import os
import signal
import unittest

import bed
import checks
import lab

SHIPPED = os.path.join(lab.SOURCE, 'packaging', 'slurm')
USER = 1  # one whose number has a name everywhere


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
TaskProlog={SHIPPED}/task_prolog.sh
Epilog={SHIPPED}/epilog.sh
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
    def setUp(self):
        self.halo = lab.program('halo', 'openmpi')
        self.place = lab.Lab()
        self.place.__enter__()
        self.addCleanup(self.place.__exit__, None, None, None)
        self.hosts = bed.Bed(self.place, 4)
        self.hosts.__enter__()
        self.addCleanup(self.hosts.__exit__)
        cluster = Cluster(self.place, self.hosts)
        cluster.start()
        self.addCleanup(cluster.stop)
        self.place.env |= {'OMPI_MCA_pml': 'ob1', 'OMPI_MCA_btl': 'tcp,self',
                           'OMPI_MCA_btl_tcp_if_include': f'{bed.NETWORK}.0/24',
                           'PATH': f'{lab.BUILD}/agent:{self.place.env["PATH"]}'}

    def recorded(self, hosts):
        """The recording of a job of eight ranks on these hosts tells the truth. @return its name"""
        recorded = self.place.recording()
        checks.recording_tells_the_truth(self, recorded.sums(), self.place.truth())
        members = recorded.members()
        self.assertEqual(set(hosts), set(members))
        self.assertEqual(set(range(8)), {m['rank'] for rows in members.values() for m in rows})
        lab.wait_for(lambda: not self.hosts.shared_memory(), 'clean shared memory on all hosts')
        return os.path.basename(self.place.recordings()[0])

    def test_job_across_four_hosts(self):
        job = self.place.holter('run', '--', 'srun', '-N', 4, '-n', 8, '--mpi=pmix', self.halo, 20, 1000).finish()
        self.assertEqual(0, job.status, job)
        self.recorded(self.hosts.names)

    def test_program_that_only_srun_finds_in_the_working_directory(self):
        os.symlink(self.halo, os.path.join(self.place.output, 'sim'))
        job = self.place.holter('run', '--', 'srun', '-N', 4, '-n', 8, '--mpi=pmix', 'sim', 20, 1000).finish()
        self.assertEqual(0, job.status, job)
        self.recorded(self.hosts.names)

    def test_job_script_whose_tasks_do_not_get_its_environment(self):
        job = os.path.join(self.place.dir, 'job')
        with open(job, 'w', encoding='utf-8') as f:
            f.write('#!/bin/sh\n'
                    f'srun -N 4 -n 8 --mpi=pmix --export=TRUTH_DIR,OMPI_MCA_pml,OMPI_MCA_btl {self.halo} 20 1000\n')
        os.chmod(job, 0o755)
        finished = self.place.run('salloc', '-N', '4', os.path.join(lab.BUILD, 'agent', 'holter'), 'run', '--', job)
        self.assertEqual(0, finished.status, finished)
        self.recorded(self.hosts.names)

    def test_the_example_of_a_job_script_leaves_a_recording_in_the_folder_of_the_job(self):
        job = self.place.run('sbatch', '--wait', '--parsable', f'{SHIPPED}/job.sh', self.halo, '20', '1000')
        number = job.out.strip()
        self.assertEqual(0, job.status, self.output(number))
        self.assertRegex(self.recorded(self.hosts.names[:2]), rf'^holter-{number}\b')

    def output(self, number):
        """What a batch job printed."""
        with open(os.path.join(self.place.output, f'slurm-{number}.out'), encoding='utf-8') as f:
            return f.read()

    def test_the_task_prolog_gives_tasks_the_daemon_and_the_keys_of_the_site(self):
        keys, of_agent, site = (os.path.join(self.place.dir, name) for name in ('keys', 'agent', 'site'))
        for words in ([keys], ['--for', 'agent', '-o', of_agent, keys]):
            made = self.place.holter('keys', *words).finish()
            self.assertEqual(0, made.status, made)
        endpoint = f'tcp://{bed.NETWORK}.254:4710'
        daemon = self.place.start(os.path.join(lab.BUILD, 'daemon', 'holterd'), '--listen', endpoint, '--keys', keys,
                                  '--record', self.place.output)
        lab.wait_for(lambda: self.place.holter('status', '-c', endpoint, '--keys', keys).finish().status == 0, 'the daemon')
        with open(site, 'w', encoding='utf-8') as f:
            f.write(f'HOLTER_DAEMON={endpoint}\nHOLTER_KEYS={of_agent}\n')
        job = self.place.run('srun', '-N', '4', '-n', '8', '--mpi=pmix', 'holter', 'exec', self.halo, '20', '1000',
                             env={'HOLTER_SITE': site})
        self.assertEqual((0, ''), (job.status, job.err), job)
        lab.wait_for(lambda: self.place.recordings() and self.place.recording().state() == 'ended', 'the end of the recording')
        self.recorded(self.hosts.names)
        daemon.kill(signal.SIGTERM)
        self.assertEqual(0, daemon.finish().status)

    def test_the_epilog_removes_memory_that_killed_ranks_left(self):
        os.chmod(self.place.dir, 0o755)
        if self.place.start_as(USER, 'true').finish().status != 0:
            self.skipTest('only root can be two users')
        for name in self.hosts.names:
            left = self.hosts.on(name, 'setpriv', f'--reuid={USER}', 'truncate', '-s', '4096', '/dev/shm/holter.1.a.1').finish()
            self.assertEqual(0, left.status, left)
        self.assertEqual(set(self.hosts.names), set(self.hosts.shared_memory()))
        job = self.place.start_as(USER, 'srun', '-N', '4', 'true').finish()
        self.assertEqual(0, job.status, job)
        lab.wait_for(lambda: not self.hosts.shared_memory(), 'clean shared memory on all hosts')


if __name__ == '__main__':
    lab.main(network=True)
