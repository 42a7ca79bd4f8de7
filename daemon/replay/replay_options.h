/* The options of a replay. */
#ifndef HOLTER_DAEMON_REPLAY_REPLAY_OPTIONS_H
#define HOLTER_DAEMON_REPLAY_REPLAY_OPTIONS_H

#include "daemon/server/server_options.h"

#include <stdint.h>

struct replay_options {
    struct server_options server; /**< window_ns becomes that of the recording */
    const char *file;             /**< recording; borrowed, as all texts here */
    const char *topology;         /**< network in place of the recorded one; NULL: none given */
    uint64_t grace_ns;            /**< becomes the default for the recording's windows, unless */
    int grace_given;              /**< it was given */
    double speed;                 /**< times real time; 0: as fast as it goes */
    const char *from;             /**< where it begins, see proto/moment.h; NULL: at the begin */
    int loop, paused, quit_at_end;
    uint64_t most_ranks;           /**< jobs of more ranks are kept by groups of ranks */
    int no_collectives;            /**< messages of collectives take no part in analyses */
    const char *record;            /**< directory to record the replay in; NULL: not recorded */
    uint64_t maximum_record_bytes; /**< of all parts of a recording together; 0: no limit */
};

#endif
