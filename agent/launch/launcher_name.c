/* Names of launchers, apart from launcher.c so that the agent need not link MPI detection. */
#include "agent/launch/launcher.h"

const char *launcher_name(enum launcher launcher)
{
    switch (launcher) {
    case LAUNCHER_OPENMPI:
        return "mpirun of Open MPI";
    case LAUNCHER_HYDRA:
        return "mpiexec of MPICH";
    case LAUNCHER_SRUN:
        return "srun of Slurm";
    case LAUNCHER_NONE:
        break;
    }
    return "no launcher";
}
