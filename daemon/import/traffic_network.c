/* The network of a recording: the one that it contains, else the tree of the hosts and cores that
 * agents reported; or the grid of its processes. */
#include "daemon/analysis/tables/arena.h"
#include "daemon/import/traffic.h"
#include "daemon/storage/recording.h"
#include "daemon/topology/network_tree.h"
#include "holter/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The network of a recording: the tree of what agents reported, the recorded one, or the grid of
 * its processes. */
enum { NETWORK_IS_DERIVED, NETWORK_IS_RECORDED, NETWORK_IS_GRID };

/* Read the recorded network. @return NETWORK_IS_*, or a negative error */
static int traffic_network_recorded(struct topology_file *out, const char *path, char *why,
                                    size_t capacity)
{
    struct recording_cursor *cursor;
    struct topology_parts parts = {.more = 0};
    int code = recording_cursor_open(&cursor, path, why, capacity);
    if (code != 0)
        return code;
    code = recording_cursor_network(cursor, &parts);
    recording_cursor_close(cursor);
    if (code != 0)
        snprintf(why, capacity, "the network in it cannot be read");
    if (code == 0 && strcmp(parts.source, NETWORK_GRID) == 0) {
        code = NETWORK_IS_GRID;
    } else if (code == 0 && topology_parts_has(&parts) && parts.source[0] != '\0') {
        code = topology_create(&out->topology, &parts.spec, why, capacity);
        code = code != 0 ? code : topology_file_index(out);
        code = code != 0 ? code : NETWORK_IS_RECORDED;
    }
    topology_parts_finish(&parts);
    return code;
}

/* @return 0 (not known) for numbers that are out of range */
static uint32_t traffic_network_small(uint64_t number)
{
    return number < UINT32_MAX ? (uint32_t)number : 0;
}

static int traffic_network_report_no_host(const struct pairs *pairs, uint32_t process, char *why,
                                          size_t capacity)
{
    snprintf(why, capacity, "the recording does not contain the host of rank %" PRIu64,
             pairs->ids[process]);
    return -HOLTER_EUSAGE;
}

static int traffic_network_make_tree(struct topology_file *out, uint32_t *seats,
                                     const struct pairs *pairs, char *why, size_t capacity)
{
    struct topology_spec spec = {.name = ""};
    struct arena memory = {.newest = NULL};
    struct tree_host *hosts;
    struct tree_rank *ranks;
    ARENA_TAKE(&memory, hosts, pairs->host_count);
    ARENA_TAKE(&memory, ranks, pairs->processes);
    int code = memory.failed ? -ENOMEM : 0;
    for (uint32_t h = 0; code == 0 && h < pairs->host_count; h++)
        hosts[h] = (struct tree_host){.name = pairs->hosts[h].name, .lowest = TOPOLOGY_NONE};
    for (uint32_t i = pairs->processes; code == 0 && i-- > 0;) {
        const struct pair_place *place = &pairs->places[i];
        if (place->host >= pairs->host_count) {
            code = traffic_network_report_no_host(pairs, i, why, capacity);
            break;
        }
        hosts[place->host].lowest = i;
        ranks[i] = (struct tree_rank){.rank = (uint32_t)pairs->ids[i] & INT32_MAX,
                                      .host = place->host,
                                      .core = traffic_network_small(place->core),
                                      .numa = traffic_network_small(place->numa)};
    }
    code =
        code != 0 ? code : network_tree(&spec, hosts, pairs->host_count, ranks, pairs->processes);
    code = code != 0 ? code : network_tree_topology(&out->topology, &spec, why, capacity);
    topology_spec_finish(&spec);
    for (uint32_t i = 0; code == 0 && i < pairs->processes; i++)
        seats[i] = ranks[i].vertex;
    arena_finish(&memory);
    return code != 0 ? code : topology_file_index(out);
}

/* ---- the grid of processes ----------------------------------------------- */

static int traffic_network_seats_in_grid(uint32_t *seats, const struct pairs *pairs, char *why,
                                         size_t capacity)
{
    for (uint32_t i = 0; i < pairs->processes; i++) {
        seats[i] = network_grid_node(&pairs->grid, pairs->ids[i]);
        if (seats[i] == TOPOLOGY_NONE) {
            snprintf(why, capacity,
                     "rank %" PRIu64 " is not in the process grid, which has %" PRIu32
                     " of %" PRIu32 " ranks",
                     pairs->ids[i], pairs->grid.ranks, pairs->processes);
            return -HOLTER_EUSAGE;
        }
        if (pairs->places[i].host >= pairs->host_count)
            return traffic_network_report_no_host(pairs, i, why, capacity);
    }
    return 0;
}

int pairs_grid(struct topology_file *out, uint32_t **seats, const struct pairs *pairs, char *why,
               size_t capacity)
{
    struct topology_file file = {.format = TOPOLOGY_FORMAT_GRID};
    struct topology_spec spec;
    uint32_t *found = calloc((size_t)pairs->processes + 1, sizeof(*found));
    snprintf(why, capacity, "no memory");
    if (found == NULL)
        return -ENOMEM;
    if (pairs->grid.ranks == 0) {
        snprintf(why, capacity, "it has no Cartesian communicator (MPI_Cart_create)");
        free(found);
        return -HOLTER_EUSAGE;
    }
    network_grid_spec(&pairs->grid, &spec);
    int code = topology_create(&file.topology, &spec, why, capacity);
    topology_spec_finish(&spec);
    code = code != 0 ? code : topology_file_index(&file);
    if (code == 0 && seats != NULL)
        code = traffic_network_seats_in_grid(found, pairs, why, capacity);
    if (code == 0) {
        *out = file;
        if (seats != NULL)
            *seats = found;
    } else {
        topology_file_finish(&file);
    }
    if (code != 0 || seats == NULL)
        free(found);
    return code;
}

/* ---- recorded or derived ------------------------------------------------- */

int pairs_network(struct topology_file *out, uint32_t **seats, const struct pairs *pairs,
                  const char *path, char *why, size_t capacity)
{
    struct topology_file file = {.format = TOPOLOGY_FORMAT_SHORT};
    uint32_t *found = NULL;
    snprintf(why, capacity, "no memory");
    int code = traffic_network_recorded(&file, path, why, capacity);
    if (code == NETWORK_IS_GRID)
        return pairs_grid(out, seats, pairs, why, capacity);
    if (code == NETWORK_IS_RECORDED) {
        code = pairs_seats(&found, pairs, &file, 0, why, capacity);
    } else if (code == NETWORK_IS_DERIVED) {
        found = calloc((size_t)pairs->processes + 1, sizeof(*found));
        code =
            found == NULL ? -ENOMEM : traffic_network_make_tree(&file, found, pairs, why, capacity);
    }
    if (code != 0) {
        free(found);
        topology_file_finish(&file);
        return code;
    }
    *out = file;
    *seats = found;
    return 0;
}
