/* The job of an OTF2 archive, made from its definitions: ranks, hosts, streams, communicators. */
#include "daemon/import/otf2/otf2_defs_rows.h"

#include "daemon/analysis/tables/name_table.h"
#include "holter/error.h"
#include "holter/order.h"
#include "holter/segment.h"
#include "proto/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEEPEST_TREE 64u
#define FIRST_COMM_ID 3u

void *otf2_arena_allocate(struct otf2_arena *arena, size_t count, size_t each)
{
    size_t bytes, used = (arena->used + 15) & ~(size_t)15;
    if (__builtin_mul_overflow(count, each, &bytes) || used > arena->size ||
        arena->size - used < bytes)
        return NULL;
    arena->used = used + bytes;
    return arena->base + used; /* fresh pages from the kernel are zero */
}

/* Make a text valid for the wire: whole UTF-8, without control characters. */
static void otf2_defs_job_clean(char *out, size_t capacity, const char *text)
{
    size_t length = strlen(text), kept = utf8_cut(text, length, capacity - 1);
    memcpy(out, text, kept);
    out[kept] = '\0';
    size_t sound = utf8_prefix(out, kept);
    for (size_t i = 0; i < kept; i++)
        if ((unsigned char)out[i] < ' ' || out[i] == 0x7f ||
            (sound < kept && (unsigned char)out[i] > 0x7f))
            out[i] = '?';
}

static struct location *otf2_defs_job_locations(const struct otf2_defs *defs)
{
    return defs->locations.rows;
}

/* ---- ranks ----------------------------------------------------------------- */

/* The group of the locations that represent ranks: those of MPI, else of another paradigm. */
static const struct group *otf2_job_rank_group(const struct otf2_defs *defs)
{
    const struct group *groups = defs->groups.rows, *found = NULL;
    for (uint32_t i = 0; i < defs->groups.index.count; i++) {
        if (groups[i].type != OTF2_GROUP_TYPE_COMM_LOCATIONS || groups[i].count == 0)
            continue;
        if (groups[i].paradigm == OTF2_PARADIGM_MPI)
            return &groups[i];
        found = found == NULL ? &groups[i] : found;
    }
    return found;
}

/* Is each member a distinct location? TAU writes lists with other or undefined locations. */
static int otf2_job_has_distinct_members(const struct otf2_defs *defs, const struct group *group)
{
    int sound = 1;
    for (uint32_t i = 0; sound && i < group->count; i++) {
        struct location *location =
            (struct location *)otf2_row(&defs->locations, defs->members[group->first + i]);
        sound = location != NULL && location->rank < 0;
        if (sound)
            location->rank = (int32_t)i;
    }
    for (uint32_t i = 0; i < defs->locations.index.count; i++)
        otf2_defs_job_locations(defs)[i].rank = -1;
    return sound;
}

static uint32_t otf2_job_count_processes(const struct otf2_defs *defs)
{
    const struct process *processes = defs->processes.rows;
    uint32_t count = 0;
    for (uint32_t i = 0; i < defs->processes.index.count; i++)
        count += processes[i].is_process != 0;
    return count;
}

/* Number the ranks. @return their number */
static uint32_t otf2_job_number_ranks(struct otf2_defs *defs, int *by_process)
{
    const struct group *group = otf2_job_rank_group(defs);
    struct process *processes = defs->processes.rows;
    uint32_t ranks = 0;
    *by_process = group != NULL && group->count == otf2_job_count_processes(defs) &&
                  !otf2_job_has_distinct_members(defs, group);
    for (uint32_t i = 0; group != NULL && !*by_process && i < group->count; i++) {
        struct location *location =
            (struct location *)otf2_row(&defs->locations, defs->members[group->first + i]);
        struct process *process =
            location == NULL ? NULL
                             : (struct process *)otf2_row(&defs->processes, location->process);
        if (location != NULL)
            location->rank = (int32_t)i;
        if (process != NULL && process->rank < 0)
            process->rank = (int32_t)i;
    }
    if (group != NULL && !*by_process)
        return group->count;
    for (uint32_t i = 0; i < defs->processes.index.count; i++)
        if (processes[i].is_process)
            processes[i].rank = (int32_t)ranks++;
    return ranks;
}

static int32_t otf2_job_rank_of_process(const struct otf2_defs *defs, uint32_t ref)
{
    const struct process *process = otf2_row(&defs->processes, ref);
    if (process != NULL && process->rank < 0)
        process = otf2_row(&defs->processes, process->creator);
    return process == NULL ? -1 : process->rank;
}

static int otf2_defs_job_make_streams(struct otf2_defs *defs, struct otf2_arena *arena,
                                      struct otf2_job *out)
{
    uint32_t all = defs->locations.index.count;
    uint32_t *rank_of = otf2_arena_allocate(arena, all, sizeof(*rank_of));
    uint32_t *thread_of = otf2_arena_allocate(arena, all, sizeof(*thread_of));
    uint32_t *threads_of = otf2_arena_allocate(arena, out->ranks, sizeof(*threads_of));
    uint32_t *cpu_threads_of = otf2_arena_allocate(arena, out->ranks, sizeof(*cpu_threads_of));
    uint32_t *streams = otf2_arena_allocate(arena, all, sizeof(*streams));
    uint32_t *first_of = otf2_arena_allocate(arena, out->ranks, sizeof(*first_of));
    uint64_t *ids = otf2_arena_allocate(arena, all, sizeof(*ids));
    uint64_t *events_of = otf2_arena_allocate(arena, all, sizeof(*events_of));
    if (rank_of == NULL || thread_of == NULL || threads_of == NULL || cpu_threads_of == NULL ||
        streams == NULL || first_of == NULL || ids == NULL || events_of == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < all; i++) {
        struct location *location = &otf2_defs_job_locations(defs)[i];
        if (location->rank < 0)
            location->rank = otf2_job_rank_of_process(defs, location->process);
        if (location->rank < 0 || (uint32_t)location->rank >= out->ranks) {
            out->left_out++;
            continue;
        }
        uint32_t stream = out->stream_count++;
        rank_of[stream] = (uint32_t)location->rank;
        thread_of[stream] = threads_of[location->rank]++;
        cpu_threads_of[location->rank] += (uint32_t)location->is_thread;
        ids[stream] = defs->locations.index.keys[i].hi;
        events_of[stream] = location->events;
        if (__builtin_add_overflow(out->events, location->events, &out->events))
            out->events = 0;
    }
    for (uint32_t r = 0, at = 0; r < out->ranks; at += threads_of[r++])
        first_of[r] = at;
    for (uint32_t s = 0; s < out->stream_count; s++)
        streams[first_of[rank_of[s]] + thread_of[s]] = s;
    out->streams = streams;
    out->first_of = first_of;
    out->rank_of = rank_of;
    out->thread_of = thread_of;
    out->threads_of = threads_of;
    out->cpu_threads_of = cpu_threads_of;
    out->locations = ids;
    out->events_of = events_of;
    return 0;
}

/* ---- hosts ----------------------------------------------------------------- */

static int otf2_job_is_host(const struct otf2_defs *defs, const struct tree_node *node)
{
    const char *class_name = otf2_text(defs, node->class_name);
    return node->shares_memory || strcmp(class_name, "node") == 0 ||
           strcmp(class_name, "host") == 0;
}

/* The node of the system tree above a process that is a host; else the one right above the process.
 * @return its number; UINT32_MAX: none */
static uint32_t otf2_job_host_above(const struct otf2_defs *defs, uint32_t ref)
{
    uint32_t nearest = key_table_find(&defs->nodes.index, (struct key){ref, 0}), at = nearest;
    const struct tree_node *nodes = defs->nodes.rows;
    for (unsigned depth = 0; at != KEY_NONE && depth < DEEPEST_TREE; depth++) {
        if (otf2_job_is_host(defs, &nodes[at]))
            return at;
        at = key_table_find(&defs->nodes.index, (struct key){nodes[at].parent, 0});
    }
    return nearest;
}

/* Node of the tree by rank; UINT32_MAX: unknown. */
static uint32_t *otf2_job_nodes_of_ranks(const struct otf2_defs *defs, uint32_t ranks)
{
    uint32_t *node_of = malloc(((size_t)ranks + 1) * sizeof(*node_of));
    if (node_of == NULL)
        return NULL;
    memset(node_of, 0xff, ranks * sizeof(*node_of));
    for (uint32_t i = 0; i < defs->locations.index.count; i++) {
        const struct location *location = &otf2_defs_job_locations(defs)[i];
        const struct process *process = otf2_row(&defs->processes, location->process);
        if (location->rank >= 0 && (uint32_t)location->rank < ranks && process != NULL &&
            node_of[location->rank] == UINT32_MAX)
            node_of[location->rank] = otf2_job_host_above(defs, process->node);
    }
    return node_of;
}

static void otf2_defs_job_name_host(const struct otf2_defs *defs, uint32_t node,
                                    char out[NAME_TABLE_BYTES])
{
    const struct tree_node *nodes = defs->nodes.rows;
    if (node == UINT32_MAX) {
        snprintf(out, NAME_TABLE_BYTES, "unknown");
        return;
    }
    otf2_defs_job_clean(out, NAME_TABLE_BYTES, otf2_text(defs, nodes[node].name));
    if (out[0] == '\0')
        snprintf(out, NAME_TABLE_BYTES, "node%u", (unsigned)defs->nodes.index.keys[node].hi);
}

/* Add a host; two hosts with the same name are distinguished by their numbers. */
static int otf2_defs_job_add_host(const struct otf2_defs *defs, struct name_table *names,
                                  uint32_t node)
{
    char name[NAME_TABLE_BYTES], unique[NAME_TABLE_BYTES];
    uint32_t known = names->count, found;
    otf2_defs_job_name_host(defs, node, name);
    memcpy(unique, name, sizeof(unique));
    for (uint32_t n = known; (found = name_table_number(names, unique, NAME_TABLE_NONE)) < known;
         n++)
        snprintf(unique, sizeof(unique), "%.50s#%" PRIu32, name, n);
    return found == NAME_TABLE_NONE ? -ENOMEM : 0;
}

static int otf2_defs_job_make_hosts(const struct otf2_defs *defs, struct otf2_arena *arena,
                                    struct otf2_job *out)
{
    uint32_t *node_of = otf2_job_nodes_of_ranks(defs, out->ranks);
    uint32_t *host_of = otf2_arena_allocate(arena, out->ranks, sizeof(*host_of));
    struct key_table nodes = {0};
    struct name_table names = {.count = 0};
    int code = node_of == NULL || host_of == NULL ? -ENOMEM : 0;
    for (uint32_t r = 0; code == 0 && r < out->ranks; r++) {
        uint32_t known = nodes.count;
        host_of[r] = key_table_add(&nodes, (struct key){node_of[r], 0});
        if (host_of[r] == KEY_NONE)
            code = -ENOMEM;
        else if (host_of[r] == known)
            code = otf2_defs_job_add_host(defs, &names, node_of[r]);
    }
    char(*hosts)[NAME_TABLE_BYTES] = otf2_arena_allocate(arena, names.count, sizeof(*hosts));
    if (code == 0 && hosts != NULL)
        memcpy(hosts, names.names, names.count * sizeof(*hosts));
    out->host_count = nodes.count;
    out->host_of = host_of;
    out->hosts = (const char(*)[NAME_TABLE_BYTES])hosts;
    key_table_finish(&nodes);
    name_table_finish(&names);
    free(node_of);
    return hosts == NULL ? -ENOMEM : code;
}

/* ---- communicators --------------------------------------------------------- */

static int32_t otf2_job_rank_of_member(const struct otf2_defs *defs, const struct group *group,
                                       uint64_t member, uint32_t ranks)
{
    if (group->type == OTF2_GROUP_TYPE_COMM_GROUP && !group->global)
        return member < ranks ? (int32_t)member : PEER_UNKNOWN;
    const struct location *location = otf2_row(&defs->locations, member);
    return location != NULL && location->rank >= 0 ? location->rank : PEER_UNKNOWN;
}

struct by_rank {
    int32_t rank;
    uint32_t position;
};

ORDER_FUNCTION(otf2_defs_job_compare_ranks, struct by_rank,
               2 * ORDER(a->rank, b->rank) + ORDER(a->position, b->position))

static int otf2_job_sort_group(struct otf2_arena *arena, struct otf2_group *group,
                               const int32_t *world)
{
    struct by_rank *order = malloc(((size_t)group->size + 1) * sizeof(*order));
    uint32_t *by_rank = otf2_arena_allocate(arena, group->size, sizeof(*by_rank));
    if (order == NULL || by_rank == NULL) {
        free(order);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < group->size; i++)
        order[i] = (struct by_rank){world[i], i};
    qsort(order, group->size, sizeof(*order), otf2_defs_job_compare_ranks);
    for (uint32_t i = 0; i < group->size; i++)
        by_rank[i] = order[i].position;
    free(order);
    group->world = world;
    group->by_rank = by_rank;
    return 0;
}

static int otf2_job_make_group(const struct otf2_defs *defs, struct otf2_arena *arena,
                               struct group *group, uint32_t ranks)
{
    int same = 1;
    if (group->is_made)
        return 0;
    int32_t *world = otf2_arena_allocate(arena, group->count, sizeof(*world));
    if (world == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < group->count; i++) {
        world[i] = otf2_job_rank_of_member(defs, group, defs->members[group->first + i], ranks);
        same &= world[i] == (int32_t)i;
    }
    group->made = (struct otf2_group){.size = group->count};
    group->is_made = 1;
    if (same) {
        arena->used -= group->count * sizeof(*world);
        memset(world, 0, group->count * sizeof(*world));
        return 0;
    }
    return otf2_job_sort_group(arena, &group->made, world);
}

/* @return NULL: it is undefined */
static struct group *otf2_defs_job_group_of(const struct otf2_defs *defs, uint32_t ref)
{
    return (struct group *)otf2_row(&defs->groups, ref);
}

static int otf2_job_make_comm(const struct otf2_defs *defs, struct otf2_arena *arena, uint32_t slot,
                              uint32_t ranks, struct otf2_comm *out)
{
    const struct comm *comm = &((const struct comm *)defs->comms.rows)[slot];
    struct group *group = otf2_defs_job_group_of(defs, comm->group),
                 *remote = otf2_defs_job_group_of(defs, comm->remote);
    uint32_t parent = otf2_defs_comm(defs, comm->parent);
    out->known.id = FIRST_COMM_ID + slot;
    out->known.parent = parent == KEY_NONE ? 0 : FIRST_COMM_ID + parent;
    otf2_defs_job_clean(out->known.name, sizeof(out->known.name), otf2_text(defs, comm->name));
    if (group == NULL)
        return 0;
    out->self = group->type == OTF2_GROUP_TYPE_COMM_SELF;
    out->known.size = 1;
    if (out->self)
        return 0;
    int code = otf2_job_make_group(defs, arena, group, ranks);
    out->group = group->made;
    out->known.size = group->count;
    if (code == 0 && remote != NULL) {
        code = otf2_job_make_group(defs, arena, remote, ranks);
        out->remote = remote->made;
        out->known.remote_size = remote->count;
    }
    return code;
}

/* Assign ids: MPI_COMM_WORLD is 1 and MPI_COMM_SELF 2, as in probes. */
static void otf2_job_number_comms(struct otf2_comm *comms, uint32_t count, uint32_t ranks)
{
    uint32_t world = UINT32_MAX, self = UINT32_MAX;
    for (uint32_t i = count; i-- > 0;) {
        if (strcmp(comms[i].known.name, "MPI_COMM_WORLD") == 0)
            world = i;
        if (comms[i].self && strcmp(comms[i].known.name, "MPI_COMM_SELF") == 0)
            self = i;
    }
    for (uint32_t i = 0; world == UINT32_MAX && i < count; i++)
        if (!comms[i].self && comms[i].group.world == NULL && comms[i].group.size == ranks &&
            comms[i].remote.size == 0)
            world = i;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t parent = comms[i].known.parent;
        comms[i].known.id = i == world ? 1 : i == self ? 2 : comms[i].known.id;
        if (parent != 0 && parent - FIRST_COMM_ID == world)
            comms[i].known.parent = 1;
        else if (parent != 0 && parent - FIRST_COMM_ID == self)
            comms[i].known.parent = 2;
    }
}

static int otf2_job_make_comms(const struct otf2_defs *defs, struct otf2_arena *arena,
                               struct otf2_job *out)
{
    uint32_t count = defs->comms.index.count;
    struct otf2_comm *comms = otf2_arena_allocate(arena, count, sizeof(*comms));
    int code = comms == NULL ? -ENOMEM : 0;
    for (uint32_t i = 0; code == 0 && i < count; i++)
        code = otf2_job_make_comm(defs, arena, i, out->ranks, &comms[i]);
    if (code == 0)
        otf2_job_number_comms(comms, count, out->ranks);
    out->comms = comms;
    out->comm_count = count;
    return code;
}

/* Names of regions that are too long for a recording, such as those of templates in C++. */
struct long_names {
    struct key_table texts;  /* hashes of whole names; their numbers are positions in `first` */
    struct name_table names; /* as they are cut */
    uint32_t *first;         /* owned: the first region of each */
    size_t capacity;
};

/* Names that begin alike stay different ones where they are cut. @return 0 or -ENOMEM */
static int otf2_job_name_long_region(struct long_names *l, char (*names)[64], uint32_t region,
                                     const char *text)
{
    const uint32_t known = l->texts.count, known_names = l->names.count;
    const uint32_t number = KEY_TABLE_EXTEND(&l->texts, ((struct key){.hi = key_hash(text)}),
                                             KEY_NONE, l->first, l->capacity);
    if (number == KEY_NONE)
        return -ENOMEM;
    if (number != known) {
        memcpy(names[region], names[l->first[number]], sizeof(names[region]));
        return 0;
    }
    l->first[number] = region;
    const uint32_t name = name_table_number(&l->names, names[region], NAME_TABLE_NONE);
    if (name == NAME_TABLE_NONE)
        return -ENOMEM;
    if (name == known_names)
        return 0;
    const size_t kept = utf8_cut(names[region], strlen(names[region]), 52);
    snprintf(names[region] + kept, sizeof(names[region]) - kept, "#%" PRIu32, number + 1);
    return 0;
}

static int otf2_job_make_regions(struct otf2_defs *defs, struct otf2_arena *arena,
                                 struct otf2_job *out)
{
    otf2_defs_regions(defs);
    char(*names)[64] = otf2_arena_allocate(arena, (size_t)defs->code_regions + 1, sizeof(*names));
    struct long_names longs = {.capacity = 0};
    int code = names == NULL ? -ENOMEM : 0;
    for (uint32_t i = 1; code == 0 && i <= defs->code_regions; i++) {
        const char *text = otf2_text(defs, defs->region_names[i]);
        otf2_defs_job_clean(names[i], sizeof(names[i]), text);
        if (strlen(text) >= sizeof(names[i]))
            code = otf2_job_name_long_region(&longs, names, i, text);
    }
    key_table_finish(&longs.texts);
    name_table_finish(&longs.names);
    free(longs.first);
    out->code_regions = (const char(*)[64])names;
    out->code_region_count = defs->code_regions + 1;
    return code;
}

int otf2_defs_job(struct otf2_defs *defs, struct otf2_arena *arena, struct otf2_job *out)
{
    out->ranks = otf2_job_number_ranks(defs, &out->by_process);
    out->resolution = defs->resolution == 0 ? UINT64_C(1000000000) : defs->resolution;
    out->offset = defs->offset;
    out->begin_ns = defs->date;
    if (out->ranks == 0 || out->ranks > INT32_MAX)
        return -HOLTER_EEMPTY;
    out->length_ns = defs->length > UINT64_MAX - defs->offset
                         ? 0
                         : otf2_job_ns(out, defs->offset + defs->length);
    int code = otf2_defs_job_make_streams(defs, arena, out);
    code = code != 0 ? code : otf2_defs_job_make_hosts(defs, arena, out);
    code = code != 0 ? code : otf2_job_make_comms(defs, arena, out);
    code = code != 0 ? code : otf2_job_make_regions(defs, arena, out);
    return code != 0 ? code : out->stream_count == 0 ? -HOLTER_EEMPTY : 0;
}
