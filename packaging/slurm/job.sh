#!/bin/sh
#SBATCH --nodes=2
#SBATCH --ntasks=8
#SBATCH --time=00:30:00
# An example of a job script. `holter run` needs nothing of the site: it starts a daemon for this job, makes its keys,
# and leaves holter-JOBID.hrec in the folder of the job. Where the task prolog of the site names a daemon, the job is
# reported to that one, which records it.
exec holter run -- srun --mpi=pmix "$@"
# With a daemon of the site (TaskProlog):
#   srun --mpi=pmix holter exec "$@"
