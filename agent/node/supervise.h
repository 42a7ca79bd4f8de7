/* A worker process that is started again when it crashes or is killed. */
#ifndef HOLTER_AGENT_NODE_SUPERVISE_H
#define HOLTER_AGENT_NODE_SUPERVISE_H

/** Fork a worker and wait for it. SIGTERM, SIGINT and SIGHUP are passed on to it (SIGHUP as
 *  SIGTERM).
 *  @param work       runs in the worker; its result (0 to 2) is the worker's exit status
 *  @param restarted  called here before a worker is started again
 *  @return exit status of the last worker, or 1 when it crashed too often */
int supervise_worker(int (*work)(void *user), void (*restarted)(void *user), void *user);

#endif
