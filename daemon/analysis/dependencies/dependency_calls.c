/* From records to ends of messages. */
#include "daemon/analysis/dependencies/dependency_calls.h"

#include "daemon/analysis/tables/array.h"
#include "holter/call.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Times further from zero than this cannot be: their differences fit. */
#define FAR_NS (INT64_MAX / 4)

void dependency_calls_finish(struct dependency_calls *calls)
{
    free(calls->ends);
    free(calls->threads);
    free(calls->hosts);
    free(calls->sources);
    key_table_finish(&calls->keys);
    *calls = (struct dependency_calls){0};
}

static int64_t dependency_calls_clamp(int64_t ns)
{
    return ns < -FAR_NS ? -FAR_NS : ns > FAR_NS ? FAR_NS : ns;
}

uint32_t dependency_calls_host(struct dependency_calls *calls, const char *name, uint64_t error_ns)
{
    struct dependency_host host = {.error_ns = error_ns};
    snprintf(host.name, sizeof host.name, "%s", name ? name : "");
    for (size_t i = calls->host_count; i-- > 0;) {
        if (strcmp(calls->hosts[i].name, host.name) != 0)
            continue;
        if (error_ns > calls->hosts[i].error_ns)
            calls->hosts[i].error_ns = error_ns;
        return (uint32_t)i;
    }
    if (ARRAY_FIT(calls->hosts, calls->host_capacity, calls->host_count + 1) != 0)
        return DEPENDENCY_NONE;
    calls->hosts[calls->host_count] = host;
    return (uint32_t)calls->host_count++;
}

uint32_t dependency_calls_thread(struct dependency_calls *calls, uint64_t rank, uint64_t thread,
                                 uint32_t host, int64_t read_ns)
{
    const struct key key = {rank, thread};
    uint32_t known = key_table_find(&calls->keys, key);
    if (rank >= DEPENDENCY_RANKS || host >= calls->host_count)
        return DEPENDENCY_NONE;
    if (known == KEY_NONE) {
        if (calls->thread_count >= DEPENDENCY_THREADS ||
            ARRAY_FIT(calls->threads, calls->thread_capacity, calls->thread_count + 1) != 0 ||
            key_table_reserve(&calls->keys, 1) != 0)
            return DEPENDENCY_NONE;
        known = key_table_add(&calls->keys, key);
        calls->threads[calls->thread_count++] = (struct dependency_thread){.rank = rank,
                                                                           .thread = thread,
                                                                           .host = host,
                                                                           .read_ns = read_ns,
                                                                           .order_ns = INT64_MIN};
    }
    return known;
}

/* Records of the thread are missing before this one, or a send that counted as a message was
 * cancelled: which messages those before it belong to is not known, so that the thread begins
 * again. */
static void dependency_calls_restart(struct dependency_calls *calls, struct dependency_thread *t,
                                     const struct dependency_record *record)
{
    calls->gaps += t->ends;
    t->ends = 0;
    t->first_end = calls->count;
    t->first_ns = dependency_calls_clamp(record->end_ns);
    t->complete = 0;
}

static int dependency_calls_is_end(const struct dependency_record *r)
{
    if (r->flags & (EVENT_FAILED | EVENT_CANCELLED) || r->peer == PEER_NULL)
        return 0;
    return (r->flags & (EVENT_SEND | EVENT_POST)) == (EVENT_SEND | EVENT_POST) ||
           (!r->running && (r->flags & (EVENT_RECV | EVENT_DONE)) == (EVENT_RECV | EVENT_DONE));
}

/* It has no known rank where it needs one. @param started  the collective that it enters, or 0 */
static int dependency_calls_is_unknown(const struct dependency_record *r, int collective,
                                       uint32_t started)
{
    int has_peer = r->peer >= 0 && r->peer < DEPENDENCY_RANKS;
    enum call_flow flow = call_flow_of(started);
    if (collective)
        return r->comm == 0 || (call_flow_has_root(flow) && !has_peer) ||
               (flow == CALL_FLOW_PREFIX && (r->comm_rank == 0 || r->comm_rank > DEPENDENCY_RANKS));
    return !has_peer || r->comm == 0 || r->tag < 0 || r->tag > INT32_MAX;
}

static int dependency_calls_append(struct dependency_calls *calls, uint32_t thread,
                                   const struct dependency_record *r, int receive, int collective,
                                   uint32_t started)
{
    struct dependency_thread *t = &calls->threads[thread];
    if (dependency_calls_is_unknown(r, collective, started)) {
        calls->unknown++;
        return 0;
    }
    if (calls->count >= DEPENDENCY_ENDS) {
        calls->left_out++;
        return 0;
    }
    int error = ARRAY_FIT(calls->ends, calls->capacity, calls->count + 1);
    if (error != 0)
        return error;
    t->ends++;
    struct dependency_end *end = &calls->ends[calls->count++];
    *end = (struct dependency_end){
        .comm = r->comm,
        .bytes = r->bytes,
        .begin_ns = dependency_calls_clamp(r->begin_ns),
        .end_ns = dependency_calls_clamp(r->end_ns < r->begin_ns ? r->begin_ns : r->end_ns),
        .posted_ns = dependency_calls_clamp(receive ? r->posted_ns : r->begin_ns),
        .thread = thread,
        .rank = (uint32_t)t->rank,
        .peer = r->peer < 0 ? DEPENDENCY_NONE : (uint32_t)r->peer,
        .comm_rank = (uint32_t)r->comm_rank,
        .tag = (int32_t)r->tag,
        .request = r->request,
        .call = (uint16_t)r->call,
        .started = (uint16_t)started,
        .receive = (uint8_t)receive,
        .collective = (uint8_t)collective,
        .open = !receive && (r->running || call_is_exchange(r->call)),
    };
    int64_t at = receive ? end->end_ns : end->begin_ns;
    t->order_ns = end->order_ns = at > t->order_ns ? at : t->order_ns;
    return 0;
}

/* A blocking call has both ends; an immediate one, and the start of a persistent one, enters, and
 * leaves too where it was complete at once; and a call that completes a request, of whatever kind,
 * may be what leaves. */
static int dependency_calls_add_collective(struct dependency_calls *calls, uint32_t thread,
                                           const struct dependency_record *record)
{
    struct dependency_record leave = *record;
    uint32_t named = record->flags & EVENT_PERSISTENT ? record->started : record->call;
    uint32_t started = call_flow_of(named) == CALL_FLOW_NONE ? 0 : named;
    int is_done = (record->flags & EVENT_DONE) != 0, error = 0;
    if (record->flags & EVENT_PERSISTENT && !(record->flags & EVENT_POST))
        started = 0; /* the request is made or completed */
    if (started != 0) {
        error = dependency_calls_append(calls, thread, record, 0, 1, started);
        is_done = is_done || !(record->flags & EVENT_POST);
        leave.posted_ns = record->begin_ns;
    } else if (record->request == 0 || record->comm == 0) {
        return 0;
    }
    return error != 0 || record->running || !is_done
               ? error
               : dependency_calls_append(calls, thread, &leave, 1, 1, started);
}

int dependency_calls_add(struct dependency_calls *calls, uint32_t thread,
                         const struct dependency_record *record)
{
    if (thread >= calls->thread_count)
        return 0;
    struct dependency_thread *t = &calls->threads[thread];
    if (record->number < t->next)
        return 0;
    int cancels =
        (record->flags & (EVENT_SEND | EVENT_CANCELLED)) == (EVENT_SEND | EVENT_CANCELLED);
    if (!t->begun || record->number > t->next || cancels) {
        int complete = !t->begun && record->number == 0 && !cancels;
        dependency_calls_restart(calls, t, record);
        t->begun = 1;
        t->complete = (uint8_t)complete;
    }
    t->next = record->number + (record->number != UINT64_MAX);
    calls->records++;
    if (record->running && !record->quiet && record->begin_ns < t->read_ns)
        t->read_ns = record->begin_ns;
    if (dependency_calls_is_end(record))
        return dependency_calls_append(calls, thread, record, (record->flags & EVENT_RECV) != 0, 0,
                                       0);
    if (record->comm_size == 1 ||
        record->flags & (EVENT_SEND | EVENT_RECV | EVENT_FAILED | EVENT_INTER))
        return 0;
    return dependency_calls_add_collective(calls, thread, record);
}

/* ---- captures ------------------------------------------------------------ */

/* Sends of MPI_Sendrecv, which is a receive by its class, are known from its entry on; those of the
 * classes that are not listed may not be. */
static int dependency_calls_is_quiet(const struct wire_capture_event_row *e)
{
    switch (call_class_of((uint16_t)e->call)) {
    case CALL_RECV:
    case CALL_WAIT:
    case CALL_POLL:
    case CALL_COLLECTIVE:
    case CALL_ONE_SIDED:
    case CALL_IO:
        return 1;
    default:
        return 0;
    }
}

static struct dependency_record dependency_calls_record_of(const struct wire_capture *m,
                                                           const struct wire_capture_event_row *e)
{
    int64_t zero = m->at_ns > (uint64_t)FAR_NS ? FAR_NS : (int64_t)m->at_ns;
    int64_t begin = dependency_calls_clamp(e->begin_ns);
    int64_t posted = e->posted_ns == 0 ? begin : dependency_calls_clamp(e->posted_ns);
    int is_call = e->kind == EVENT_CALL || e->kind == EVENT_PART;
    int64_t length = e->length_ns > (uint64_t)FAR_NS ? FAR_NS : (int64_t)e->length_ns;
    return (struct dependency_record){
        .number = e->number,
        .comm = e->comm < m->comms_count ? m->comms[e->comm].id : 0,
        .comm_size = e->comm < m->comms_count ? m->comms[e->comm].size : 0,
        .bytes = e->bytes,
        .begin_ns = zero + begin,
        .end_ns = zero + begin + length,
        .posted_ns = zero + posted,
        .comm_rank = e->comm_rank,
        .peer = e->peer,
        .tag = e->tag,
        .request = (uint32_t)e->request,
        .started = (uint32_t)e->started,
        .flags = is_call ? (uint32_t)e->flags : 0,
        .call = is_call ? (uint32_t)e->call : 0,
        .running = e->running != 0,
        .quiet = dependency_calls_is_quiet(e),
    };
}

int dependency_calls_add_capture(struct dependency_calls *calls, const struct wire_capture *m)
{
    int error = 0;
    int64_t read_ns = m->at_ns > (uint64_t)FAR_NS ? FAR_NS : (int64_t)m->at_ns;
    uint32_t host = dependency_calls_host(calls, m->host, m->clock_error_ns);
    uint32_t *places = malloc((m->threads_count + 1) * sizeof *places);
    if (places == NULL || host == DEPENDENCY_NONE) {
        free(places);
        return -ENOMEM;
    }
    for (uint64_t i = 0; i < m->threads_count; i++) {
        const struct wire_capture_thread_row *t = &m->threads[i];
        places[i] = dependency_calls_thread(calls, t->rank, t->thread, host, read_ns);
        if (places[i] != DEPENDENCY_NONE)
            calls->threads[places[i]].records = t->records;
    }
    uint64_t sources =
        m->sources_count < DEPENDENCY_ENDS - calls->source_count ? m->sources_count : 0;
    error = ARRAY_FIT(calls->sources, calls->source_capacity, calls->source_count + sources);
    for (uint64_t i = 0; error == 0 && i < sources; i++)
        calls->sources[calls->source_count++] = m->sources[i];
    for (uint64_t i = 0; error == 0 && i < m->events_count; i++) {
        const struct wire_capture_event_row *e = &m->events[i];
        const struct dependency_record record = dependency_calls_record_of(m, e);
        uint32_t place = e->thread < m->threads_count ? places[e->thread] : DEPENDENCY_NONE;
        if (place == DEPENDENCY_NONE)
            calls->left_out++;
        else
            error = dependency_calls_add(calls, place, &record);
    }
    free(places);
    return error;
}
