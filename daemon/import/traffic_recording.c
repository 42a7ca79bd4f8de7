/* Pairs and places from a recording: sums over all its windows. */
#include "daemon/import/traffic_sums.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/storage/recording.h"
#include "holter/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_HOSTS (1u << 20)

struct reading {
    struct pair_sums sums;
    struct pairs *pairs; /* hosts are in the order of their first messages at first */
    struct pair_place *places;
    size_t place_room, host_capacity;
    struct key_table agents; /* hi: instance */
    uint32_t *host_of;       /* owned: host of each agent */
    size_t agent_capacity;
    uint64_t world;
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

/* @return the index of a new host, or a negative error */
static int64_t traffic_recording_add_host(struct reading *r, const struct wire_ranks *ranks)
{
    struct pairs *p = r->pairs;
    if (p->host_count == MOST_HOSTS)
        return -HOLTER_ELIMIT;
    if (ARRAY_FIT(p->hosts, r->host_capacity, p->host_count + (size_t)1) != 0)
        return -ENOMEM;
    struct pair_host *host = &p->hosts[p->host_count];
    snprintf(host->name, sizeof(host->name), "%s", ranks->host);
    return p->host_count++;
}

/* Index of the host of an agent, added if new, as in the daemon: hosts may share a name. A new
 * agent continues for one before it if ranks of that one's host of this name are among its own.
 * @return its index, or a negative error */
static int64_t traffic_recording_host_of(struct reading *r, uint64_t instance,
                                         const struct wire_ranks *ranks)
{
    const uint32_t known = r->agents.count;
    const uint32_t agent = KEY_TABLE_EXTEND(&r->agents, ((struct key){.hi = instance}), UINT32_MAX,
                                            r->host_of, r->agent_capacity);
    uint32_t before = UINT32_MAX;
    if (agent == KEY_NONE)
        return -ENOMEM;
    if (agent != known)
        return r->host_of[agent];
    for (uint64_t i = 0; before == UINT32_MAX && i < ranks->members_count; i++) {
        if (ranks->members[i].rank < r->place_room)
            before = r->places[ranks->members[i].rank].host;
    }
    int64_t host = before != UINT32_MAX && strcmp(r->pairs->hosts[before].name, ranks->host) == 0
                       ? before
                       : traffic_recording_add_host(r, ranks);
    if (host >= 0)
        r->host_of[agent] = (uint32_t)host;
    return host;
}

static int traffic_recording_add_ranks(struct reading *r, uint64_t instance,
                                       const struct wire_ranks *ranks)
{
    int64_t host = traffic_recording_host_of(r, instance, ranks);
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
    r->pairs->refused += message == NULL;
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
    uint32_t *position = calloc((size_t)p->host_count + 1, sizeof(*position)), next = 0;
    struct pair_host *hosts = calloc((size_t)p->host_count + 1, sizeof(*hosts));
    p->places = calloc((size_t)p->processes + 1, sizeof(*p->places));
    if (position == NULL || hosts == NULL || p->places == NULL) {
        free(position);
        free(hosts);
        return -ENOMEM;
    }
    memset(position, 0xff, p->host_count * sizeof(*position));
    for (uint32_t i = 0; i < p->processes; i++) {
        p->places[i] = i < r->place_room ? r->places[i] : (struct pair_place){.host = UINT32_MAX};
        uint32_t host = p->places[i].host;
        if (host == UINT32_MAX)
            continue;
        if (position[host] == UINT32_MAX) {
            hosts[next] = p->hosts[host];
            position[host] = next++;
        }
        p->places[i].host = position[host];
    }
    free(p->hosts);
    p->hosts = hosts;
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
    free(r.host_of);
    key_table_finish(&r.agents);
    if (code != 0) {
        fault_at(faults, 0, "%s", holter_strerror(code));
        pairs_finish(out);
    }
    return code;
}
