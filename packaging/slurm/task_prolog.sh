#!/bin/sh
# TaskProlog of slurm.conf: tells the tasks of every job which daemon the site has, so that users only write
#   srun holter exec ./sim
# Slurm puts lines "export NAME=value" from standard output into the task's environment. /etc/holter/site sets two shell
# variables: HOLTER_DAEMON=tcp://monitor:4710 and HOLTER_KEYS='~/.config/holter/keys', the agent's keys of the user.
# Whatever is missing, tasks run as without Holter.
[ -z "${HOLTER_DAEMON:-}" ] || exit 0 # the user has a daemon of his own
site=${HOLTER_SITE:-/etc/holter/site}
[ -r "$site" ] || exit 0
(. "$site") >/dev/null 2>&1 || exit 0 # a fault in it must not end the task
. "$site"
case ${HOLTER_KEYS:-} in
    '~/'*) HOLTER_KEYS=${HOME:-}/${HOLTER_KEYS#'~/'} ;;
esac
if [ -n "${HOLTER_DAEMON:-}" ] && [ -r "${HOLTER_KEYS:-}/agent.key" ]; then
    echo "export HOLTER_DAEMON=$HOLTER_DAEMON"
    echo "export HOLTER_KEYS=$HOLTER_KEYS"
fi
exit 0
