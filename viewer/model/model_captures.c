/* Captures: single events of ranks over a short span, as the daemon sent them. */
#include "viewer/model/model_captures.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/analysis/tables/saturate.h"

#include "holter/bisect.h"
#include "holter/error.h"
#include "holter/event.h"
#include "holter/order.h"
#include "holter/plain_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bounds of a moment of daemon time, and of how long before or after it something was: their sums
 * fit. */
static const int64_t last_ns = INT64_MAX / 2; /* in 2116 */
static const int64_t far_ns = INT64_MAX / 8;  /* 36 years */

/* Time from the end of a rank to the alert that reports it, and to the capture of its agent. */
static const int64_t near_ns = 5000000000;

static void capture_finish(struct capture *c)
{
    for (uint32_t i = 0; i < c->thread_count; i++)
        free(c->threads[i].calls);
    free(c->threads);
    free(c->names);
    dependency_calls_finish(&c->messages);
}

void captures_finish(struct captures *captures)
{
    for (uint32_t i = 0; i < captures->count; i++)
        capture_finish(&captures->items[i]);
    free(captures->items);
    *captures = (struct captures){0};
}

static void model_captures_discard_oldest(struct captures *captures)
{
    struct capture *oldest = &captures->items[--captures->count];
    captures->calls -= oldest->calls;
    captures->dropped++;
    capture_finish(oldest);
}

/* The capture of a message, a new one when it is the first. @return NULL: without memory, or it is
 * older than all that there is room for */
static struct capture *model_captures_capture_of(struct captures *captures,
                                                 const struct wire_capture *m)
{
    uint32_t at = 0;
    while (at < captures->count && captures->items[at].id > m->id)
        at++;
    if (at < captures->count && captures->items[at].id == m->id)
        return &captures->items[at];
    if (at == CAPTURES)
        return NULL;
    if (!captures->items && !(captures->items = calloc(CAPTURES, sizeof *captures->items)))
        return NULL;
    struct capture_name *names = calloc(1, sizeof *names);
    if (!names)
        return NULL;
    if (captures->count == CAPTURES)
        model_captures_discard_oldest(captures);
    struct capture *c = &captures->items[at];
    memmove(c + 1, c, (captures->count - at) * sizeof *c);
    captures->count++;
    *c = (struct capture){.id = m->id, .names = names, .name_count = 1};
    return c;
}

/* ---- threads ------------------------------------------------------------- */

ORDER_FUNCTION(compare_threads, struct capture_thread,
               2 * ORDER(a->rank, b->rank) + ORDER(a->thread, b->thread))

/* Position of a rank's thread in a capture, found by binary search. @return its position, or that
 * of the thread after it */
static uint32_t model_captures_place_of(const struct capture *c, uint32_t count,
                                        const struct capture_thread *key)
{
    return BISECT(i, 0, count, compare_threads(&c->threads[i], key) < 0);
}

static int has_thread(const struct capture *c, uint32_t count, uint32_t place,
                      const struct capture_thread *key)
{
    return place < count && compare_threads(&c->threads[place], key) == 0;
}

/* Two rising rows, one behind the other, become one. @param spare  room for the second */
static void model_captures_merge(struct capture_thread *rows, uint32_t first, uint32_t count,
                                 struct capture_thread *spare)
{
    uint32_t left = first, right = count - first;
    memcpy(spare, rows + first, right * sizeof *spare);
    for (uint32_t to = count; right > 0; to--)
        rows[to - 1] = left > 0 && compare_threads(&rows[left - 1], &spare[right - 1]) > 0
                           ? rows[--left]
                           : spare[--right];
}

/* Enter those that were not known yet: behind the others, in order, then in their places. */
static int add_threads(struct capture *c, const struct wire_capture *m)
{
    uint32_t known = c->thread_count, count = known;
    uint64_t capacity =
        CAPTURES_THREADS - known < m->threads_count ? CAPTURES_THREADS - known : m->threads_count;
    int error = ARRAY_FIT_ZERO(c->threads, c->thread_capacity, known + capacity);
    for (uint64_t i = 0; !error && i < m->threads_count && count < CAPTURES_THREADS; i++) {
        const struct capture_thread fresh = {.rank = m->threads[i].rank,
                                             .thread = m->threads[i].thread};
        if (!has_thread(c, known, model_captures_place_of(c, known, &fresh), &fresh))
            c->threads[count++] = fresh;
    }
    if (error || count == known)
        return error;
    qsort(c->threads + known, count - known, sizeof *c->threads, compare_threads);
    uint32_t kept = known;
    for (uint32_t i = known; i < count; i++)
        if (kept == known || compare_threads(&c->threads[kept - 1], &c->threads[i]) != 0)
            c->threads[kept++] = c->threads[i];
    struct capture_thread *spare = malloc((kept - known) * sizeof *spare);
    if (!spare)
        return -ENOMEM; /* those that were known are in their places */
    model_captures_merge(c->threads, known, kept, spare);
    free(spare);
    c->thread_count = kept;
    c->ranks = 0;
    for (uint32_t i = 0; i < kept; i++)
        c->ranks += i == 0 || c->threads[i].rank != c->threads[i - 1].rank;
    return 0;
}

/* ---- calls --------------------------------------------------------------- */

/* Where the name of a communicator or region stands in the capture; 0: it has none, or there is no
 * room for it. */
static uint8_t model_captures_name_of(struct capture *c, const char *text)
{
    if (!text || !*text)
        return 0;
    for (uint32_t i = 1; i < c->name_count; i++)
        if (!strcmp(c->names[i].text, text))
            return (uint8_t)i;
    if (c->name_count > CAPTURES_NAMES)
        return 0;
    if (ARRAY_RESIZE(c->names, c->name_count + 1) != 0)
        return 0;
    snprintf(c->names[c->name_count].text, sizeof c->names->text, "%s", text);
    return (uint8_t)c->name_count++;
}

static int64_t model_captures_clamp(int64_t ns)
{
    return ns < -far_ns ? -far_ns : ns > far_ns ? far_ns : ns;
}

static int64_t model_captures_daemon_time(uint64_t ns)
{
    return ns > (uint64_t)last_ns ? last_ns : (int64_t)ns;
}

static int32_t peer_of(int64_t peer)
{
    return peer < PEER_UNKNOWN || peer > INT32_MAX ? PEER_UNKNOWN : (int32_t)peer;
}

/* Room for one more, if need be at the cost of captures before this one. @return 0, -ENOMEM,
 * -HOLTER_EFULL */
static int need_call(struct captures *captures, const struct capture *c, struct capture_thread *t)
{
    while (captures->calls >= CAPTURES_CALLS && c != &captures->items[captures->count - 1])
        model_captures_discard_oldest(captures);
    if (captures->calls >= CAPTURES_CALLS)
        return -HOLTER_EFULL;
    return ARRAY_FIT_AT(t->calls, t->capacity, t->count);
}

static void model_captures_widen(struct capture *c, const struct capture_call *call)
{
    int64_t end = call->begin_ns + (int64_t)call->length_ns;
    c->begin_ns = c->calls == 0 || call->begin_ns < c->begin_ns ? call->begin_ns : c->begin_ns;
    c->end_ns = end > c->end_ns ? end : c->end_ns;
}

static int model_captures_add_call(struct captures *captures, struct capture *c,
                                   struct capture_thread *t, const struct wire_capture *m,
                                   const struct wire_capture_event_row *e)
{
    int error = need_call(captures, c, t);
    t->skips = error != 0;
    c->left_out += t->skips;
    if (error)
        return error == -HOLTER_EFULL ? 0 : error;
    struct capture_call *call = &t->calls[t->count];
    *call = (struct capture_call){
        .begin_ns = model_captures_daemon_time(m->at_ns) + model_captures_clamp(e->begin_ns),
        .length_ns = e->length_ns > (uint64_t)far_ns ? (uint64_t)far_ns : e->length_ns,
        .bytes = e->bytes,
        .bytes_in = e->bytes_in,
        .tag = e->tag,
        .peer = peer_of(e->peer),
        .call = (uint16_t)e->call,
        .running = e->running != 0,
        .comm = e->comm < m->comms_count && m->comms[e->comm].id
                    ? model_captures_name_of(c, m->comms[e->comm].name)
                    : 0,
        .region = e->region < m->regions_count
                      ? model_captures_name_of(c, m->regions[e->region].name)
                      : 0,
    };
    model_captures_widen(c, call);
    uint64_t *time = &c->class_ns[call_class_of(call->call)];
    *time = saturated_sum(*time, call->length_ns);
    t->count++;
    c->calls++;
    captures->calls++;
    return 0;
}

/* A further message of the thread's newest call. That call may have been overwritten. */
static void model_captures_add_message(struct capture_thread *t,
                                       const struct wire_capture_event_row *e)
{
    if (t->count == 0 || t->skips)
        return;
    struct capture_call *call = &t->calls[t->count - 1];
    int32_t peer = peer_of(e->peer);
    call->messages++;
    call->bytes = saturated_sum(call->bytes, e->bytes);
    call->bytes_in = saturated_sum(call->bytes_in, e->bytes_in);
    if (call->peer < 0)
        call->peer = peer;
    else if (peer >= 0 && peer != call->peer)
        call->peers = 1;
}

/* @param fresh  set when there is one that was not received before, or may not have been */
static int add_events(struct captures *captures, struct capture *c, const struct wire_capture *m,
                      const uint32_t *places, int *fresh)
{
    int error = 0;
    for (uint64_t i = 0; !error && i < m->events_count; i++) {
        const struct wire_capture_event_row *e = &m->events[i];
        uint32_t place = e->thread < m->threads_count ? places[e->thread] : UINT32_MAX;
        struct capture_thread *t = place == UINT32_MAX ? NULL : &c->threads[place];
        if (t && e->number < t->next)
            continue; /* received before */
        *fresh = 1;
        if (!t)
            continue;
        t->next = e->number + (e->number != UINT64_MAX);
        if (e->kind == EVENT_CALL)
            error = model_captures_add_call(captures, c, t, m, e);
        else if (e->kind == EVENT_PART)
            model_captures_add_message(t, e);
    }
    return error;
}

/* ---- messages ------------------------------------------------------------ */

static void model_captures_copy_facts(struct capture *c, const struct wire_capture *m)
{
    c->alert = m->alert;
    c->asked_ns = model_captures_daemon_time(m->asked_ns);
    c->nodes = m->nodes;
    c->answered = m->answered > c->answered ? m->answered : c->answered;
    c->error_ns = m->clock_error_ns > c->error_ns ? m->clock_error_ns : c->error_ns;
    int64_t read_ns = model_captures_daemon_time(m->at_ns);
    c->end_ns = read_ns > c->end_ns ? read_ns : c->end_ns;
    snprintf(c->reason, sizeof c->reason, "%s", m->reason ? m->reason : "");
    if (m->fault && *m->fault)
        snprintf(c->fault, sizeof c->fault, "%s: %s", m->host ? m->host : "?", m->fault);
}

/* The oldest capture that still has messages, if it is older than this one. NULL: none */
static struct capture *model_captures_older_with_messages(struct captures *captures,
                                                          const struct capture *c)
{
    for (struct capture *at = captures->items + captures->count; --at > c;)
        if (at->messages.count > 0)
            return at;
    return NULL;
}

/* Ends of messages, for the graph of dependencies; if need be at the cost of those of older
 * captures. */
static int model_captures_add_ends(struct captures *captures, struct capture *c,
                                   const struct wire_capture *m)
{
    uint64_t ends = m->events_count;
    for (uint32_t i = 0; i < captures->count; i++)
        ends += captures->items[i].messages.count;
    for (struct capture *older;
         ends > CAPTURES_MESSAGES &&
         (older = model_captures_older_with_messages(captures, c)) != NULL;) {
        ends -= older->messages.count;
        dependency_calls_finish(&older->messages);
        older->without_messages = 1;
    }
    if (ends > CAPTURES_MESSAGES ||
        c->messages.thread_count + m->threads_count > 2 * (uint64_t)CAPTURES_THREADS) {
        c->without_messages = 1;
        return 0;
    }
    return dependency_calls_add_capture(&c->messages, m);
}

int captures_apply(struct captures *captures, const struct wire_capture *m)
{
    int older = captures->count == CAPTURES && m->id < captures->items[CAPTURES - 1].id;
    struct capture *c = older ? NULL : model_captures_capture_of(captures, m);
    if (!c)
        return older ? 0 : -ENOMEM;
    model_captures_copy_facts(c, m);
    int error = add_threads(c, m), fresh = m->events_count == 0;
    uint32_t *places = malloc((m->threads_count + 1) * sizeof *places);
    if (!places)
        error = -ENOMEM;
    for (uint64_t i = 0; !error && i < m->threads_count; i++) {
        const struct capture_thread key = {.rank = m->threads[i].rank,
                                           .thread = m->threads[i].thread};
        uint32_t place = model_captures_place_of(c, c->thread_count, &key);
        places[i] = has_thread(c, c->thread_count, place, &key) ? place : UINT32_MAX;
        if (places[i] == UINT32_MAX)
            continue;
        c->threads[place].read_ns = model_captures_daemon_time(m->at_ns);
    }
    if (!error)
        error = add_events(captures, c, m, places, &fresh);
    free(places);
    /* Captures that were dropped for the calls of this one have moved nothing: it is newer. Of a
     * message that comes again, as after missed frames, the ends are known, or had no room. */
    return error || !fresh ? error : model_captures_add_ends(captures, c, m);
}

/* ---- reading ------------------------------------------------------------- */

void captures_replied(struct captures *captures, int code, const char *text)
{
    captures->waiting = 0;
    text_copy(captures->refused, sizeof captures->refused,
              !code             ? ""
              : text && text[0] ? text
                                : holter_strerror(code));
}

const struct capture *captures_find(const struct captures *captures, uint64_t id)
{
    for (uint32_t i = 0; i < captures->count; i++)
        if (captures->items[i].id == id)
            return &captures->items[i];
    return NULL;
}

int capture_has_rank(const struct capture *c, uint64_t rank)
{
    const struct capture_thread key = {.rank = rank};
    uint32_t place = model_captures_place_of(c, c->thread_count, &key);
    return place < c->thread_count && c->threads[place].rank == rank;
}

const struct capture *captures_of_alert(const struct captures *captures, const struct alert *alert)
{
    int death = !strcmp(alert->kind, "rank-died") && alert->rank >= 0;
    int64_t at = model_captures_daemon_time(alert->onset_ns);
    for (uint32_t i = 0; i < captures->count; i++) {
        const struct capture *c = &captures->items[i];
        if (c->alert == alert->id && alert->id != 0)
            return c;
        if (death && c->alert == 0 && c->asked_ns > at - near_ns && c->asked_ns < at + near_ns &&
            capture_has_rank(c, (uint64_t)alert->rank))
            return c;
    }
    return NULL;
}
