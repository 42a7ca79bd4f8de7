#!/bin/sh
# Epilog of slurm.conf, which root runs on each node at the end of a job: removes the shared memory of the user's ranks
# that were killed together with their agent. Where he starts another job, its agent would do the same.
case ${SLURM_JOB_UID:-0} in
    0 | *[!0-9]*) exit 0 ;;
esac
find /dev/shm -maxdepth 1 -type f -name 'holter.*' -user "$SLURM_JOB_UID" -print 2>/dev/null |
    while IFS= read -r file; do
        # Not that of another job of his on this node: its processes have the memory mapped.
        cat /proc/[0-9]*/maps 2>/dev/null | grep -q " $file\$" || rm -f "$file"
    done
exit 0
