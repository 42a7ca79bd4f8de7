#include "daemon/job/job_captures.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/analysis/tables/rank_list.h"
#include "daemon/job/job_state.h"
#include "holter/error.h"
#include "proto/capture_request.h"
#include "proto/log.h"
#include "proto/rank_spans.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_TOPIC "jobs"
#define MOST_AHEAD (1u << 20)        /* numbers of captures that were never told */
#define MOST_PAIRS ((size_t)1 << 18) /* partners are looked for among so many pairs at most */

void job_captures_finish(struct job_captures *c)
{
    for (size_t i = 0; i < c->count; i++)
        free(c->list[i].bytes);
    free(c->list);
    wire_buffer_finish(&c->buffer);
    wire_arena_finish(&c->arena);
    *c = (struct job_captures){0};
}

uint64_t job_newest_capture(const struct job *job)
{
    return job->captures.newest_id;
}

/* ---- taking in ----------------------------------------------------------- */

static int check_event(const struct wire_captured *m, uint64_t i, struct job_fault *fault)
{
    const struct wire_capture_event_row *e = &m->events[i];
    if (e->thread >= m->threads_count)
        return job_refuse(fault, -HOLTER_ERANGE,
                          "captured.events[%" PRIu64 "].thread is %" PRIu64 " of %" PRIu64, i,
                          e->thread, m->threads_count);
    if (e->comm != 0 && e->comm >= m->comms_count)
        return job_refuse(fault, -HOLTER_ERANGE,
                          "captured.events[%" PRIu64 "].comm is %" PRIu64 " of %" PRIu64, i,
                          e->comm, m->comms_count);
    if (e->region != 0 && e->region >= m->regions_count)
        return job_refuse(fault, -HOLTER_ERANGE,
                          "captured.events[%" PRIu64 "].region is %" PRIu64 " of %" PRIu64, i,
                          e->region, m->regions_count);
    if (e->kind == 0)
        return job_refuse(fault, -HOLTER_ERANGE, "captured.events[%" PRIu64 "].kind is 0", i);
    return 0;
}

static int check(const struct job *job, const struct wire_captured *m, struct job_fault *fault)
{
    int code = 0;
    if (m->id > job->captures.newest_id && m->id - job->captures.newest_id > MOST_AHEAD)
        return job_refuse(fault, -HOLTER_ERANGE, "captured.id is %" PRIu64, m->id);
    for (uint64_t i = 0; i < m->threads_count; i++) {
        if (m->threads[i].rank >= JOB_MOST_RANKS)
            return job_refuse(fault, -HOLTER_ERANGE,
                              "captured.threads[%" PRIu64 "].rank is %" PRIu64, i,
                              m->threads[i].rank);
    }
    for (uint64_t i = 0; code == 0 && i < m->events_count; i++)
        code = check_event(m, i, fault);
    return code;
}

static int is_of(const struct job_capture *known, const struct wire_captured *m)
{
    return known->asked_id == m->id && known->asked_ns == m->asked_ns &&
           (m->id != 0 || strcmp(known->host, m->host) == 0);
}

/* The number of a capture that is new. */
static uint64_t number_of(const struct job_captures *c, const struct wire_captured *m)
{
    for (size_t i = 0; i < c->known_count; i++) {
        if (c->known[i].id == m->id)
            return c->newest_id + 1;
    }
    return m->id == 0 ? c->newest_id + 1 : m->id;
}

static struct job_capture *known_of(struct job_captures *c, const struct wire_captured *m)
{
    struct job_capture *oldest = &c->known[0];
    for (size_t i = 0; i < c->known_count; i++) {
        if (is_of(&c->known[i], m))
            return &c->known[i];
        oldest = c->known[i].id < oldest->id ? &c->known[i] : oldest;
    }
    struct job_capture fresh = {.id = number_of(c, m), .asked_id = m->id, .asked_ns = m->asked_ns};
    if (m->id == 0)
        snprintf(fresh.host, sizeof(fresh.host), "%s", m->host);
    if (c->known_count < JOB_CAPTURES)
        oldest = &c->known[c->known_count++];
    *oldest = fresh;
    return oldest;
}

static void drop_oldest(struct job *job)
{
    struct job_captures *c = &job->captures;
    if (!c->list[0].told && !c->full) {
        log_warn("job %s: more is captured than can be kept until it is told", job->id);
        c->full = 1;
    }
    c->bytes -= c->list[0].length;
    free(c->list[0].bytes);
    memmove(c->list, c->list + 1, (c->count - 1) * sizeof(*c->list));
    c->count--;
}

static int keep(struct job *job, uint64_t window, const struct wire_capture *told)
{
    struct job_captures *c = &job->captures;
    int code = wire_encode(&c->buffer, WIRE_TYPE_CAPTURE, told);
    if (code != 0)
        return code;
    void *bytes = malloc(c->buffer.length);
    if (bytes == NULL || array_fit(&c->list, sizeof(*c->list), &c->room, c->count + 1) != 0) {
        free(bytes);
        return -ENOMEM;
    }
    memcpy(bytes, c->buffer.bytes, c->buffer.length);
    c->list[c->count++] = (struct job_capture_message){window, 0, bytes, c->buffer.length};
    c->bytes += c->buffer.length;
    while (c->bytes > JOB_CAPTURE_BYTES && c->count > 1)
        drop_oldest(job);
    return 0;
}

/* Window that the message belongs to. Agents that keep another length of windows yet, and wrong
 * ones, must not put it off. */
static uint64_t window_of(const struct job *job, const struct wire_captured *m)
{
    uint64_t latest = m->at_ns / job->options.window_ns + 1;
    return m->window < latest ? m->window : latest;
}

int job_captured(struct job *job, uint64_t instance, const struct wire_captured *m, uint64_t now_ns,
                 uint64_t *id, struct job_fault *fault)
{
    int code = check(job, m, fault);
    if (code != 0)
        return code;
    uint32_t place = m->threads_count == 0
                         ? KEY_NONE
                         : key_table_find(&job->place_keys, (struct key){.hi = m->threads[0].rank});
    struct job_node *node = job_node_of(job, instance, m->host, place);
    if (node == NULL)
        return job_refuse(fault, -ENOMEM, "no memory for a node");
    struct job_captures *c = &job->captures;
    struct job_capture *known = known_of(c, m);
    struct wire_capture told = wire_capture_from_captured(m);
    told.job = job->id;
    told.id = known->id;
    told.answered = known->answered + !m->more;
    told.records = known->records + m->events_count;
    if (keep(job, window_of(job, m), &told) != 0)
        return job_refuse(fault, -ENOMEM, "no memory for a capture");
    known->answered = told.answered;
    known->records = told.records;
    c->newest_id = known->id > c->newest_id ? known->id : c->newest_id;
    *id = known->id;
    struct job_instance *agent = job_instance_of(job, instance);
    agent->last_seq = m->seq > agent->last_seq ? m->seq : agent->last_seq;
    job_node_heard(job, node, now_ns);
    return 0;
}

/* ---- telling ------------------------------------------------------------- */

static void tell(struct job *job, const struct job_output *output,
                 const struct job_capture_message *kept)
{
    struct wire_message message;
    if (wire_decode(&message, &job->captures.arena, kept->bytes, kept->length, NULL) == 0)
        output->publish(output->user, job->id, WIRE_TYPE_CAPTURE, &message.capture);
}

void job_tell_captures(struct job *job, uint64_t window)
{
    struct job_captures *c = &job->captures;
    for (size_t i = 0; i < c->count; i++) {
        if (c->list[i].told || c->list[i].window > window)
            continue;
        c->list[i].told = 1;
        if (job_wanted(job, WIRE_TYPE_CAPTURE))
            tell(job, &job->output, &c->list[i]);
    }
}

void job_publish_captures(struct job *job, const struct job_output *output)
{
    for (size_t i = 0; i < job->captures.count; i++) {
        if (job->captures.list[i].told)
            tell(job, output, &job->captures.list[i]);
    }
}

/* ---- whom to ask --------------------------------------------------------- */

int64_t job_capture_agents(const struct job *job, const char *ranks, uint64_t **instances,
                           uint64_t *wanted)
{
    uint8_t *asked = calloc(job->node_count + 1, sizeof(*asked));
    uint64_t *list = malloc((job->node_count + 1) * sizeof(*list));
    int64_t count = 0;
    if (asked == NULL || list == NULL) {
        free(asked);
        free(list);
        return -ENOMEM;
    }
    *wanted = 0;
    for (uint32_t i = 0; i < job->place_keys.count; i++) {
        const struct job_place *place = &job->places[i];
        const struct job_node *node = job->nodes[place->node];
        if (node->final || node->lost_contact ||
            (ranks[0] != '\0' && !rank_spans_have(ranks, place->rank)))
            continue;
        ++*wanted;
        if (!asked[place->node])
            list[count++] = node->instance;
        asked[place->node] = 1;
    }
    free(asked);
    *instances = list;
    return count;
}

struct partner {
    uint32_t rank;
    uint64_t bytes;
};

/* Most bytes first; ranks in their order where those are equal. */
static int compare_partners(const void *a, const void *b)
{
    const struct partner *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static int compare_by_rank(const void *a, const void *b)
{
    const struct partner *x = a, *y = b;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static int is_among(const uint32_t *ranks, size_t count, uint32_t rank)
{
    for (size_t i = 0; i < count; i++) {
        if (ranks[i] == rank)
            return 1;
    }
    return 0;
}

/* The other ends of messages of these ranks, each once. @return how many, in order of bytes */
static size_t find_partners(const uint32_t *ranks, size_t count, const struct pair_row *pairs,
                            size_t pair_count, struct partner *out)
{
    size_t found = 0, kept = 0;
    for (size_t i = 0; i < pair_count; i++) {
        const struct pair_row *p = &pairs[i];
        if (p->destination < 0)
            continue;
        int from = is_among(ranks, count, p->source),
            to = is_among(ranks, count, (uint32_t)p->destination);
        if (from != to)
            out[found++] = (struct partner){from ? (uint32_t)p->destination : p->source, p->bytes};
    }
    qsort(out, found, sizeof(*out), compare_by_rank);
    for (size_t i = 0; i < found; i++) {
        if (kept > 0 && out[kept - 1].rank == out[i].rank)
            out[kept - 1].bytes += out[i].bytes;
        else
            out[kept++] = out[i];
    }
    qsort(out, kept, sizeof(*out), compare_partners);
    return kept;
}

static size_t list_named(const struct job *job, const char *ranks, size_t most, uint32_t *out)
{
    uint64_t first, last;
    size_t count = 0;
    while (rank_spans_next(&ranks, &first, &last) == 1) {
        for (; first <= last && first < job->world && count < most; first++)
            out[count++] = (uint32_t)first;
    }
    return count;
}

int job_capture_partners(struct job *job, const char *ranks, size_t most, char *out, size_t room)
{
    const struct pair_row *pairs = NULL;
    size_t pair_count = 0;
    uint32_t *list = malloc((2 * most + 1) * sizeof(*list));
    int code = list == NULL ? -ENOMEM : 0;
    size_t count = code == 0 ? list_named(job, ranks, most, list) : 0;
    if (code == 0 && count == 0)
        code = -HOLTER_EEMPTY;
    if (code == 0 && run_sum_pair_count(job->run) <= MOST_PAIRS)
        code = job_pairs(job, MOST_PAIRS, &pairs, &pair_count);
    struct partner *found = code == 0 ? malloc((pair_count + 1) * sizeof(*found)) : NULL;
    if (code == 0 && found == NULL)
        code = -ENOMEM;
    if (code == 0) {
        size_t others = find_partners(list, count, pairs, pair_count, found);
        for (size_t i = 0; i < others && i < most; i++)
            list[count + i] = found[i].rank;
        code = rank_list(list, count + (others < most ? others : most), out, room);
    }
    free(found);
    free(list);
    return code;
}
