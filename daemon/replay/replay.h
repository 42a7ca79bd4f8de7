/* holterd --replay: a recording, served as if its job were running.
 *
 * Processes, each with one thread except the server and a worker that records:
 *   server      has the ZeroMQ sockets, and relays what clients and worker send (relay.h)
 *   index       feeds the recording from begin to end, and forks checkpoints
 *   checkpoint  sleeps at one place of the recording, and forks workers (replay_index.h)
 *   worker      feeds on to its target, and serves clients from there (replay_worker.h)
 *
 * A seek forks a worker from the last checkpoint before the target; there it takes over from the
 * worker before it. So a seek takes as long as feeding what lies between, and nothing is ever
 * undone. Each process ends when the server has ended. */
#ifndef HOLTER_DAEMON_REPLAY_REPLAY_H
#define HOLTER_DAEMON_REPLAY_REPLAY_H

#include "daemon/alert/rules.h"
#include "daemon/replay/replay_options.h"

/** Serve until stopped. @param options  window_ns and grace_ns are set
 *  @param rules    taken over @return the exit status of the program */
int replay_serve(struct replay_options *options, struct rules *rules);

#endif
