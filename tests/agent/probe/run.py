#!/usr/bin/env python3
"""run.py openmpi|mpich PROBE YIELDING RANKS PROGRAM [ARGUMENT...]: runs an MPI program under a probe and
returns its status; ranks of MPICH give their cores away by the library YIELDING. Fails as well when anything
is left in /dev/shm or the probe said something."""

import os
import subprocess
import sys

mpi, probe, yielding, ranks, program = *sys.argv[1:5], sys.argv[5:]
session = f"7e57{os.getpid():x}"
environment = dict(os.environ, HOLTER_SESSION=session, OMPI_MCA_mpi_yield_when_idle="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_btl_vader_single_copy_mechanism="none")
environment.pop("LD_PRELOAD", None)
if mpi == "openmpi":
    command = ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none", "-x", "HOLTER_SESSION",
               "-x", f"LD_PRELOAD={probe}"]
    if os.getuid() == 0:
        command.insert(1, "--allow-run-as-root")
else:
    command = ["mpirun.mpich", "-genv", "LD_PRELOAD", f"{yielding}:{probe}"]
run = subprocess.run(command + ["-n", ranks] + program, env=environment, timeout=120,
                     stderr=subprocess.PIPE, text=True)
sys.stderr.write(run.stderr)
left = [name for name in os.listdir("/dev/shm") if f".{session}." in name]
for name in left:
    os.unlink("/dev/shm/" + name)
if left:
    print("left in /dev/shm:", *left)
said = [line for line in run.stderr.splitlines() if line.startswith("holter:")]
sys.exit(run.returncode or bool(left) or bool(said))
