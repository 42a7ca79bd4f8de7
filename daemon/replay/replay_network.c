/* Reads the network of a replay. */
#include "daemon/replay/replay_network.h"

#include "daemon/topology/network_grid.h"
#include "holter/error.h"
#include "proto/log.h"

#include <stdio.h>
#include <string.h>

#define LOG_TOPIC "replay"

int replay_network_read(struct network *out, const struct replay_options *options,
                        struct recording_cursor *recording, char *why, size_t capacity)
{
    struct topology_parts parts = {.more = 0};
    network_read(out, options->topology);
    if (out->fault[0] != '\0') {
        snprintf(why, capacity, "--topology: %s", out->fault);
        return -HOLTER_EUSAGE;
    }
    if (options->topology != NULL)
        return 0;
    int code = recording_cursor_network(recording, &parts);
    if (code != 0)
        log_warn("the network in %s cannot be read: %s", options->file, holter_strerror(code));
    else if (strcmp(parts.source, NETWORK_GRID) == 0)
        network_read(out,
                     NETWORK_GRID); /* made from the reports of agents, as when it was recorded */
    else if (parts.source[0] != '\0' || parts.fault[0] != '\0')
        network_make(out, parts.source[0] == '\0' ? NULL : &parts.spec, parts.source,
                     parts.source[0] == '\0' ? parts.fault
                                             : ""); /* hosts outside it are logged again */
    topology_parts_finish(&parts);
    return 0;
}
