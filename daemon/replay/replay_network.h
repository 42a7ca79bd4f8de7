/* The network of a replay: the one given with --topology, else the one that was recorded. */
#ifndef HOLTER_DAEMON_REPLAY_REPLAY_NETWORK_H
#define HOLTER_DAEMON_REPLAY_REPLAY_NETWORK_H

#include "daemon/replay/replay_options.h"
#include "daemon/storage/recording.h"
#include "daemon/topology/shared_network.h"

#include <stddef.h>

/** A recorded network that cannot be read is logged, and the replay has no network.
 *  @param why  set when it fails: a network that is given has to be valid
 *  @return 0 or -HOLTER_EUSAGE */
int replay_network_read(struct network *out, const struct replay_options *options,
                        struct recording_cursor *recording, char *why, size_t capacity);

#endif
