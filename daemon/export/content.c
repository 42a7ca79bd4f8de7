/* Sums the messages of a recording: see content.h. */
#include "daemon/export/content.h"

#include "daemon/analysis/matching/join.h"
#include "daemon/analysis/tables/array.h"
#include "daemon/analysis/tables/key_table.h"
#include "daemon/analysis/tables/saturate.h"
#include "daemon/storage/recorded_hosts.h"
#include "daemon/storage/recording.h"
#include "daemon/storage/recording_file.h"
#include "holter/error.h"
#include "holter/order.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST_RANKS (UINT64_C(1) << 24)
#define OPEN_WINDOWS 64u       /* behind the newest one, at most */
#define JOIN_HALVES (1u << 21) /* ends kept at one time: 130 MB at most */

struct reading {
    struct content *content;
    struct join *join;             /* of messages between nodes; NULL: they are not timed */
    uint64_t lag;                  /* windows that are open behind the newest one */
    uint64_t open;                 /* windows below it are closed */
    int code;                      /* why a matched message could not be added; 0 */
    struct key_table pairs, calls; /* numbers are positions in the arrays of content */
    struct recorded_hosts hosts;
    size_t pair_capacity, call_capacity, rank_capacity;
    const struct content_options *options;
};

/* ---- ranks and hosts ------------------------------------------------------------ */

static int content_fit_ranks(struct reading *r, uint64_t count)
{
    struct content *c = r->content;
    if (count > MOST_RANKS)
        return -HOLTER_ELIMIT;
    if (count <= c->rank_count)
        return 0;
    if (ARRAY_FIT(c->ranks, r->rank_capacity, count) != 0)
        return -ENOMEM;
    for (; c->rank_count < count; c->rank_count++)
        c->ranks[c->rank_count] =
            (struct content_rank){.host = UINT32_MAX, .sums = {.rank = c->rank_count}};
    return 0;
}

static int content_add_ranks(struct reading *r, uint64_t instance, const struct wire_ranks *ranks)
{
    const int64_t host = recorded_hosts_of_ranks(&r->hosts, instance, ranks);
    int code = host < 0 ? (int)host : content_fit_ranks(r, ranks->world);
    for (uint64_t i = 0; code == 0 && i < ranks->members_count; i++) {
        code = content_fit_ranks(r, saturated_sum(ranks->members[i].rank, 1));
        if (code == 0)
            r->content->ranks[ranks->members[i].rank].host = (uint32_t)host;
    }
    return code;
}

static int content_add_rank_row(struct reading *r, uint64_t window, const struct wire_rank_row *row)
{
    int code = content_fit_ranks(r, saturated_sum(row->rank, 1));
    if (code != 0)
        return code;
    struct content_rank *rank = &r->content->ranks[row->rank];
    recorded_rank_add(&rank->sums, row);
    rank->windows += rank->windows == 0 || window != rank->newest;
    rank->newest = window;
    return 0;
}

/* ---- pairs and calls ------------------------------------------------------------- */

/* @return NULL: no memory */
static struct content_pair *content_pair_of(struct reading *r, uint64_t source, int64_t destination)
{
    struct content *c = r->content;
    const struct key key = {source, (uint64_t)destination};
    uint32_t number = KEY_TABLE_EXTEND(&r->pairs, key, KEY_NONE, c->pairs, r->pair_capacity);
    if (number == KEY_NONE)
        return NULL;
    c->pairs[number].source = source;
    c->pairs[number].destination = destination;
    return &c->pairs[number];
}

static int content_add_pair(struct reading *r, const struct wire_pair_row *row)
{
    struct content_pair *pair = content_pair_of(r, row->source, row->destination);
    if (pair == NULL)
        return -ENOMEM;
    pair->messages = saturated_sum(pair->messages, row->messages);
    pair->bytes = saturated_sum(pair->bytes, row->bytes);
    return 0;
}

static int content_add_transfer(struct reading *r, const struct wire_transfer_row *row)
{
    int64_t destination = row->destination > INT64_MAX ? -1 : (int64_t)row->destination;
    struct content_pair *pair = content_pair_of(r, row->source, destination);
    if (pair == NULL)
        return -ENOMEM;
    pair->matched = saturated_sum(pair->matched, row->messages);
    pair->transfer_ns = saturated_sum(pair->transfer_ns, row->transfer_ns);
    return 0;
}

/* ---- messages between nodes ------------------------------------------------------ */

static int content_open_join(struct reading *r)
{
    const struct join_params params = {join_wait(r->content->window_ns), JOIN_HALVES};
    r->lag = params.windows < OPEN_WINDOWS ? params.windows : OPEN_WINDOWS;
    return join_create(&r->join, &params);
}

static void content_add_joined(void *user, const struct joined *message)
{
    struct reading *r = user;
    if (r->code != 0 || message->error_ns == UINT64_MAX)
        return;
    struct content_pair *pair = content_pair_of(r, message->source, message->destination);
    if (pair == NULL) {
        r->code = -ENOMEM;
        return;
    }
    pair->matched = saturated_sum(pair->matched, 1);
    pair->transfer_ns = saturated_sum(pair->transfer_ns, message->transfer_ns);
    pair->error_ns = saturated_sum(pair->error_ns, message->error_ns);
}

/* Close the windows before this one, each by itself as the daemon does: the clocks of hosts are
 * aligned again with each. Of those before it, at most lag + 1 have ends. */
static int content_join_before(struct reading *r, uint64_t window)
{
    const uint64_t with_ends = r->open + r->lag + 1;
    const uint64_t each = window < with_ends ? window : with_ends;
    int code = 0;
    for (; code == 0 && r->open < each; r->open++)
        code = join_close(r->join, r->open, content_add_joined, r);
    if (code == 0 && r->open < window)
        code = join_close(r->join, window - 1, content_add_joined, r);
    r->open = window;
    return code != 0 ? code : r->code;
}

/* Ends that contradict themselves are left out. */
static int content_add_halves(struct reading *r, uint64_t instance,
                              const struct wire_window *window)
{
    const int64_t host = recorded_hosts_of_window(&r->hosts, instance, window);
    if (host < 0)
        return (int)host;
    int code = 0;
    if (window->window > r->open + r->lag)
        code = content_join_before(r, window->window - r->lag);
    code = code != 0 ? code : join_add_window(r->join, window, (uint32_t)host, window->window);
    return code == -HOLTER_ERANGE ? 0 : code;
}

static int content_add_call(struct reading *r, const struct wire_call_row *row)
{
    struct content *c = r->content;
    const struct key key = {row->rank, row->call};
    uint32_t number = KEY_TABLE_EXTEND(&r->calls, key, KEY_NONE, c->calls, r->call_capacity);
    if (number == KEY_NONE)
        return -ENOMEM;
    c->calls[number].rank = row->rank;
    c->calls[number].call = (uint16_t)row->call;
    recorded_calls_add(&c->calls[number].sums, row);
    return 0;
}

static int content_add_window(struct reading *r, uint64_t instance,
                              const struct wire_window *window)
{
    struct content *c = r->content;
    int code = 0;
    c->first_window = window->window < c->first_window ? window->window : c->first_window;
    c->last_window = window->window > c->last_window ? window->window : c->last_window;
    for (uint64_t i = 0; code == 0 && i < window->ranks_count; i++)
        code = content_add_rank_row(r, window->window, &window->ranks[i]);
    for (uint64_t i = 0; code == 0 && i < window->pairs_count; i++)
        code = content_add_pair(r, &window->pairs[i]);
    for (uint64_t i = 0; code == 0 && i < window->transfers_count; i++)
        code = content_add_transfer(r, &window->transfers[i]);
    for (uint64_t i = 0; code == 0 && i < window->calls_count; i++)
        code = content_add_call(r, &window->calls[i]);
    if (code == 0 && r->join != NULL)
        code = content_add_halves(r, instance, window);
    const struct content_options *o = r->options;
    return code != 0 || o->window == NULL ? code : o->window(o->user, window);
}

static int content_is_in_span(const struct reading *r, const struct wire_window *window)
{
    const struct recorded_span *span = r->options->span;
    uint64_t window_ns = r->content->window_ns;
    return span == NULL || window_ns == 0 ||
           (window->window >= span->from_ns / window_ns &&
            window->window <= (span->to_ns - 1) / window_ns);
}

/* ---- the whole ------------------------------------------------------------------- */

static int content_add_message(void *user, const struct recorded *head,
                               const struct wire_message *message, size_t length)
{
    struct reading *r = user;
    (void)length;
    r->content->messages++;
    r->content->refused += message == NULL;
    if (message != NULL && message->type == WIRE_TYPE_RANKS)
        return content_add_ranks(r, head->instance, &message->ranks);
    if (message != NULL && message->type == WIRE_TYPE_WINDOW &&
        content_is_in_span(r, &message->window))
        return content_add_window(r, head->instance, &message->window);
    return 0;
}

ORDER_FUNCTION(content_compare_by_pair, struct content_pair,
               2 * ORDER(a->source, b->source) + ORDER(a->destination, b->destination))

ORDER_FUNCTION(content_compare_by_call, struct content_call,
               2 * ORDER(a->rank, b->rank) + ORDER(a->call, b->call))

int content_read(struct content *out, const char *path, const struct content_options *options,
                 char *why, size_t capacity)
{
    struct reading reading = {.content = out, .options = options};
    struct recording_cursor *cursor;
    *out = (struct content){.first_window = UINT64_MAX};
    int code = recording_cursor_open(&cursor, path, why, capacity);
    if (code != 0)
        return code;
    snprintf(out->job, sizeof(out->job), "%s", recording_cursor_job(cursor));
    out->window_ns = recording_cursor_window_ns(cursor);
    code = recording_file_hold(recording_cursor_file(cursor));
    if (code == 0 && options->window == NULL)
        code = content_open_join(&reading);
    code =
        code != 0 ? code : recording_scan(cursor, options->progress, content_add_message, &reading);
    if (code == 0 && reading.join != NULL)
        code = content_join_before(&reading, reading.open + reading.lag + 1);
    join_destroy(reading.join);
    recording_cursor_close(cursor);
    out->pair_count = reading.pairs.count;
    out->call_count = reading.calls.count;
    key_table_finish(&reading.pairs);
    key_table_finish(&reading.calls);
    out->hosts = reading.hosts.names;
    out->host_count = reading.hosts.count;
    reading.hosts.names = NULL;
    recorded_hosts_finish(&reading.hosts);
    if (code < 0) /* damage is met behind the last message, all else in it */
        snprintf(why, capacity, "%s: message %" PRIu64 ": %s", path,
                 out->messages + (code == -HOLTER_ECORRUPT), recording_scan_error(code));
    if (out->pair_count > 0)
        qsort(out->pairs, out->pair_count, sizeof(*out->pairs), content_compare_by_pair);
    if (out->call_count > 0)
        qsort(out->calls, out->call_count, sizeof(*out->calls), content_compare_by_call);
    return code;
}

void content_finish(struct content *c)
{
    free(c->pairs);
    free(c->calls);
    free(c->ranks);
    free(c->hosts);
    *c = (struct content){0};
}
