/* holterd --replay: a recording, served as if its job were live.
 *
 * Processes, each of one thread but for the first and for a recorder:
 *   server   has the sockets of ZeroMQ, and passes on what comes and goes (relay.h)
 *   index    feeds the recording from begin to end, and forks states (replay_index.h)
 *   state    sleeps, and forks workers that go on from there
 *   worker   feeds on to where it is wanted, and serves from there (replay_worker.h)
 *
 * A seek is a worker of the last state before the target, which takes over from the one before: so
 * it costs what lies between that state and the target, and nothing is ever undone. Each process
 * ends when the server has gone. */
#ifndef HOLTER_DAEMON_REPLAY_REPLAY_H
#define HOLTER_DAEMON_REPLAY_REPLAY_H

#include "daemon/alert/rules.h"
#include "daemon/daemon_options.h"

/** Serve until stopped. @param rules  taken over @return exit status */
int replay_serve(struct options *options, struct rules *rules);

#endif
