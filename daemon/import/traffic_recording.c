/* Pairs and places from a recording: sums over all its windows. */
#include "daemon/import/traffic_sums.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/storage/recorded_hosts.h"
#include "daemon/storage/recording.h"
#include "holter/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reading {
    struct pair_sums sums;
    struct pairs *pairs;
    struct recorded_hosts hosts;
    struct pair_place *places; /* with numbers of these hosts */
    size_t place_room;
    uint64_t world;
    uint64_t refused; /* messages that cannot be decoded */
};

static int traffic_recording_grow_places(struct reading *r, uint64_t ranks)
{
    size_t capacity = r->place_room == 0 ? 64 : r->place_room;
    if (ranks > REMAP_MOST_PROCESSES)
        return -HOLTER_ELIMIT;
    while (capacity < ranks)
        capacity *= 2;
    if (capacity == r->place_room)
        return 0;
    if (ARRAY_RESIZE(r->places, capacity) != 0)
        return -ENOMEM;
    while (r->place_room < capacity)
        r->places[r->place_room++] = (struct pair_place){.host = UINT32_MAX};
    return 0;
}

static int traffic_recording_add_ranks(struct reading *r, uint64_t instance,
                                       const struct wire_ranks *ranks)
{
    int64_t host = recorded_hosts_of_ranks(&r->hosts, instance, ranks);
    if (host < 0)
        return (int)host;
    char why[128];
    if (network_grid_check(ranks, why, sizeof(why)) == 0 &&
        network_grid_update(&r->pairs->grid, ranks) < 0)
        return -ENOMEM;
    r->world = ranks->world > r->world ? ranks->world : r->world;
    for (uint64_t i = 0; i < ranks->members_count; i++) {
        const struct wire_member_row *member = &ranks->members[i];
        if (member->rank >= REMAP_MOST_PROCESSES)
            return -HOLTER_ELIMIT;
        int code = traffic_recording_grow_places(r, member->rank + 1);
        if (code != 0)
            return code;
        r->places[member->rank] = (struct pair_place){(uint32_t)host, member->core, member->numa};
    }
    return 0;
}

static int traffic_recording_add_window(struct reading *r, const struct wire_window *window)
{
    int code = 0;
    for (uint64_t i = 0; code == 0 && i < window->pairs_count; i++) {
        const struct wire_pair_row *row = &window->pairs[i];
        if (row->messages == 0)
            continue;
        if (row->destination < 0 || row->destination >= (int64_t)REMAP_MOST_PROCESSES ||
            row->source >= REMAP_MOST_PROCESSES) {
            r->pairs->left_out += row->messages;
            continue;
        }
        struct pair_sum sum = {row->source, (uint64_t)row->destination, row->bytes, row->messages};
        uint64_t above = sum.from > sum.to ? sum.from : sum.to;
        r->world = above >= r->world ? above + 1 : r->world;
        code = pair_sums_add(&r->sums, &sum);
    }
    return code;
}

static int traffic_recording_add_message(void *user, const struct recorded *head,
                                         const struct wire_message *message, size_t length)
{
    struct reading *r = user;
    (void)length;
    r->refused += message == NULL;
    if (message != NULL && message->type == WIRE_TYPE_RANKS)
        return traffic_recording_add_ranks(r, head->instance, &message->ranks);
    if (message != NULL && message->type == WIRE_TYPE_WINDOW)
        return traffic_recording_add_window(r, &message->window);
    return 0;
}

/* Sort the hosts by their lowest rank, and set the places of the processes. */
static int traffic_recording_order_hosts(struct reading *r)
{
    struct pairs *p = r->pairs;
    const uint32_t count = r->hosts.count;
    uint32_t *position = calloc((size_t)count + 1, sizeof(*position)), next = 0;
    p->hosts = calloc((size_t)count + 1, sizeof(*p->hosts));
    p->places = calloc((size_t)p->processes + 1, sizeof(*p->places));
    if (position == NULL || p->hosts == NULL || p->places == NULL) {
        free(position);
        return -ENOMEM;
    }
    memset(position, 0xff, count * sizeof(*position));
    for (uint32_t i = 0; i < p->processes; i++) {
        p->places[i] = i < r->place_room ? r->places[i] : (struct pair_place){.host = UINT32_MAX};
        uint32_t host = p->places[i].host;
        if (host == UINT32_MAX)
            continue;
        if (position[host] == UINT32_MAX) {
            snprintf(p->hosts[next].name, sizeof(p->hosts[next].name), "%s", r->hosts.names[host]);
            position[host] = next++;
        }
        p->places[i].host = position[host];
    }
    p->host_count = next;
    free(position);
    return 0;
}

int pairs_of_recording(struct pairs *out, const char *path, struct faults *faults)
{
    struct recording_cursor *cursor;
    struct reading r = {.pairs = out};
    char why[400];
    int code = recording_cursor_open(&cursor, path, why, sizeof(why));
    if (code != 0) {
        fault_at(faults, 0, "%s", recording_error_without_path(why, path));
        return code;
    }
    snprintf(out->job, sizeof(out->job), "%s", recording_cursor_job(cursor));
    out->source = PAIRS_RECORDING;
    code = recording_scan(cursor, NULL, traffic_recording_add_message, &r);
    recording_cursor_close(cursor);
    if (code == 0 && r.world > REMAP_MOST_PROCESSES)
        code = -HOLTER_ELIMIT;
    code = code != 0 ? code : pair_sums_result(&r.sums, (uint32_t)r.world, out);
    code = code != 0 ? code : traffic_recording_order_hosts(&r);
    pair_sums_finish(&r.sums);
    free(r.places);
    recorded_hosts_finish(&r.hosts);
    if (code == 0 && r.refused > 0)
        fault_at(faults, 0, "messages of agents that cannot be decoded are left out: %" PRIu64,
                 r.refused);
    if (code != 0) {
        fault_at(faults, 0, "%s", recording_scan_error(code));
        pairs_finish(out);
    }
    return code;
}
