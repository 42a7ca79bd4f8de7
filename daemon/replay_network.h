/* The network of a replay: the one that it is given, else the one that was recorded. */
#ifndef HOLTER_DAEMON_REPLAY_NETWORK_H
#define HOLTER_DAEMON_REPLAY_NETWORK_H

#include "daemon/network.h"
#include "daemon/options.h"
#include "daemon/recording.h"

/** What cannot be read is logged, and the replay goes without. */
void replay_network_read(struct network *out, const struct options *options,
                         struct recording_cursor *recording);

#endif
