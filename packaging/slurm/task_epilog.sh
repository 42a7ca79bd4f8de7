#!/bin/sh
# TaskEpilog of slurm.conf, or of a user: srun --task-epilog. Where Slurm tracks processes by control groups, it kills
# all that a step has started as soon as its last task has ended: also the agent, before it has sent the last windows.
# Waits until the agents of this node have reported the ends of the user's ranks, at most 4 seconds, and not while
# another rank of theirs runs.
tries=80
while [ $tries -gt 0 ]; do
    pending=
    for folder in "${HOLTER_RUN_DIR:-/nowhere}" "${XDG_RUNTIME_DIR:-/nowhere}/holter" "/tmp/holter-$(id -u)"; do
        for ranks in "$folder"/*/"$(uname -n)"/ranks; do
            [ -d "$ranks" ] || continue
            for rank in "$ranks"/[0-9]*; do
                ! kill -0 "${rank##*/}" 2>/dev/null || continue 2
            done
            pending=1
        done
    done
    [ -n "$pending" ] || exit 0
    sleep 0.05
    tries=$((tries - 1))
done
exit 0
