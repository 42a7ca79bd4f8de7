/* Tables of ranks, pairs and calls, by window. */
#include "viewer/model/model_tables.h"

#include "daemon/analysis/sums/window_sum.h"
#include "daemon/analysis/tables/array.h"

#include "holter/error.h"
#include "holter/order.h"
#include "holter/waiting.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Working memory for one message: rows gathered by item before they go into a history. */
struct model_scratch {
    uint64_t *values; /* columns figures for each item, all zero between messages */
    uint32_t values_capacity;
    uint8_t *touched; /* by item; all zero between messages */
    uint32_t touched_capacity;
    uint32_t *items;
    uint64_t *packed;
    uint32_t items_capacity, packed_capacity; /* elements, each of its own array */
};

void tables_finish(struct model *m)
{
    if (!m->scratch)
        return;
    free(m->scratch->values);
    free(m->scratch->touched);
    free(m->scratch->items);
    free(m->scratch->packed);
    array_release(&m->scratch);
}

static int need_scratch(struct model *m, size_t items, unsigned columns)
{
    if (!m->scratch && !(m->scratch = calloc(1, sizeof *m->scratch)))
        return -ENOMEM;
    struct model_scratch *s = m->scratch;
    int error = ARRAY_FIT_ZERO(s->values, s->values_capacity, (uint64_t)items * columns);
    return error ? error : array_fit_zero(&s->touched, 1, &s->touched_capacity, items);
}

/* Move what was gathered into scratch->packed, in ascending order of items, and leave the scratch
 * zeroed.
 * @param count  set: items that were touched @return 0 or -ENOMEM */
static int model_tables_pack(struct model *m, unsigned columns, uint32_t items, uint32_t *count)
{
    struct model_scratch *s = m->scratch;
    uint32_t n = 0;
    for (uint32_t i = 0; i < items; i++)
        n += s->touched[i];
    int error = ARRAY_FIT_ZERO(s->items, s->items_capacity, n);
    if (!error)
        error = ARRAY_FIT_ZERO(s->packed, s->packed_capacity, (uint64_t)n * columns);
    n = 0;
    for (uint32_t i = 0; i < items; i++) {
        if (!s->touched[i])
            continue;
        uint64_t *row = s->values + (size_t)i * columns;
        if (!error) {
            s->items[n] = i;
            memcpy(s->packed + (size_t)n * columns, row, columns * sizeof *row);
            n++;
        }
        memset(row, 0, columns * sizeof *row);
        s->touched[i] = 0;
    }
    *count = n;
    return error;
}

/* Move what was gathered into a history, unless it is there. */
static int model_tables_flush(struct model *m, struct history *history, uint64_t window,
                              uint32_t items)
{
    uint32_t count;
    int error = model_tables_pack(m, history->columns, items, &count);
    if (error || count == 0)
        return error;
    /* A replay passes a window whose state it has published before. */
    if (!rewind_enters(m, window) || (m->playback.known && history_whole(history, window)))
        return 0;
    return history_put(history, window, m->scratch->items, m->scratch->packed, count);
}

int tables_need_rank(struct model *m, uint32_t rank)
{
    if (rank < m->rank_count)
        return 0;
    uint32_t count = rank + 1;
    if (m->world >= count && m->world <= MODEL_RANKS)
        count = (uint32_t)m->world;
    else if (count < MODEL_RANKS / 2)
        count += count / 2;
    const size_t row = RANK_COLUMNS * sizeof *m->rank_sums;
    if (ARRAY_RESIZE(m->ranks, count) != 0 || array_resize(&m->rank_sums, count * row) != 0)
        return -ENOMEM;
    memset(m->rank_sums + (size_t)m->rank_count * RANK_COLUMNS, 0, (count - m->rank_count) * row);
    while (m->rank_count < count)
        m->ranks[m->rank_count++] = (struct model_rank){.node = UINT32_MAX, .in_call_peer = -1};
    return 0;
}

static void table_restart(struct model_table *t)
{
    if (t->sums)
        memset(t->sums, 0, (size_t)t->capacity * t->columns * sizeof *t->sums);
}

void tables_keep_details(struct model *m)
{
    for (uint32_t i = 0; i < m->rank_count; i++)
        m->ranks[i] = (struct model_rank){.node = UINT32_MAX, .in_call_peer = -1};
    if (m->rank_sums)
        memset(m->rank_sums, 0, (size_t)m->rank_count * RANK_COLUMNS * sizeof *m->rank_sums);
    table_restart(&m->pairs);
    table_restart(&m->node_pairs);
    table_restart(&m->calls);
    table_restart(&m->callers);
    table_restart(&m->waits);
    m->ranks_more = m->pairs_more = m->calls_more = m->callers_more = 0;
}

static void rank_figures(uint64_t *to, const struct wire_rank_row *row, uint64_t watched_ns)
{
    const uint64_t class_ns[MODEL_CLASSES] = {row->send_ns, row->recv_ns,       row->wait_ns,
                                              row->poll_ns, row->collective_ns, row->one_sided_ns,
                                              row->io_ns,   row->other_ns};
    for (int c = 0; c < MODEL_CLASSES; c++)
        to[RANK_CLASS_NS + c] += class_ns[c];
    to[RANK_SENT] += row->sent;
    to[RANK_SENT_BYTES] += row->sent_bytes;
    to[RANK_RECEIVED] += row->received;
    to[RANK_RECEIVED_BYTES] += row->received_bytes;
    to[RANK_CALLS] += row->calls;
    to[RANK_LOST] += row->lost;
    to[RANK_UNTRACKED] += row->untracked;
    to[RANK_TIME_NS] +=
        (uint64_t)ranks_time_ns(row->ranks > 1 ? row->ranks : 1, watched_ns, row->absent_ns);
    to[RANK_SEND_WAIT_NS] += row->send_wait_ns;
    to[RANK_CROSSING] += row->crossing;
    to[RANK_CROSSING_BYTES] += row->crossing_bytes;
}

/* One more than the highest rank that is taken in. */
static uint32_t model_tables_ranks_in(const struct wire_rank_row *rows, uint64_t rows_count)
{
    uint32_t count = 0;
    for (uint64_t i = 0; i < rows_count; i++)
        if (rows[i].rank < MODEL_RANKS && rows[i].rank >= count)
            count = (uint32_t)rows[i].rank + 1;
    return count;
}

/* Number of a key in a table whose sums have room for it, or KEY_NONE. */
static uint32_t table_number(struct model *m, struct model_table *t, struct key key)
{
    uint32_t number = key_table_number_after(&t->keys, key, t->last);
    if (number == KEY_NONE || array_fit_zero(&t->sums, t->columns * sizeof *t->sums, &t->capacity,
                                             (uint64_t)number + 1) != 0)
        return KEY_NONE;
    t->last = number;
    return need_scratch(m, t->capacity, t->columns) < 0 ? KEY_NONE : number;
}

/* Add the figures of a row of a message to those of its key; those of a window are gathered for the
 * history, too. @return 0 or -ENOMEM */
static int table_add(struct model *m, struct model_table *t, struct key key,
                     const uint64_t *figures, int snapshot)
{
    const uint32_t n = table_number(m, t, key);
    if (n == KEY_NONE)
        return -ENOMEM;
    uint64_t *sums = t->sums + (size_t)n * t->columns,
             *values = m->scratch->values + (size_t)n * t->columns;
    for (unsigned c = 0; c < t->columns; c++) {
        const int is_maximum = t->history.max_columns >> c & 1;
        sums[c] = is_maximum ? order_maximum(sums[c], figures[c]) : sums[c] + figures[c];
        if (!snapshot)
            values[c] = is_maximum ? order_maximum(values[c], figures[c]) : values[c] + figures[c];
    }
    if (!snapshot)
        m->scratch->touched[n] = 1;
    return 0;
}

/* For whom ranks waited: as many keys as there are such pairs. */
static int tables_apply_waits(struct model *m, const struct wire_rank_window *w, int snapshot)
{
    struct model_table *t = &m->waits;
    for (uint64_t i = 0; i < w->ranks_count; i++) {
        const struct wire_rank_row *row = &w->ranks[i];
        if (row->awaited == 0 || row->rank >= MODEL_RANKS || row->awaited > MODEL_RANKS ||
            t->keys.count >= MODEL_PAIRS)
            continue;
        if (table_add(m, t, (struct key){row->rank, row->awaited - 1}, &row->awaited_ns, snapshot) <
            0)
            return -ENOMEM;
    }
    return snapshot || !t->keys.count
               ? 0
               : model_tables_flush(m, &t->history, w->window, t->keys.count);
}

int tables_apply_ranks(struct model *m, const struct wire_rank_window *w, int snapshot)
{
    uint64_t windows = w->windows > 1 ? w->windows : 1;
    uint32_t count = model_tables_ranks_in(w->ranks, w->ranks_count);
    if (count && (tables_need_rank(m, count - 1) < 0 || need_scratch(m, count, RANK_COLUMNS) < 0))
        return -ENOMEM;
    if (snapshot && !m->ranks_more && m->rank_sums)
        memset(m->rank_sums, 0, (size_t)m->rank_count * RANK_COLUMNS * sizeof *m->rank_sums);
    if (snapshot && !m->ranks_more) {
        table_restart(&m->waits);
        m->untracked = 0;
    }
    m->ranks_more = snapshot && w->more;
    for (uint64_t i = 0; i < w->ranks_count; i++) {
        const struct wire_rank_row *row = &w->ranks[i];
        if (row->rank >= MODEL_RANKS) {
            m->ignored++;
            continue;
        }
        struct model_rank *rank = &m->ranks[row->rank];
        if (w->window >= rank->newest) {
            rank->newest = w->window;
            rank->in_call = (uint16_t)row->in_call;
            rank->in_call_ns = row->in_call_ns;
            rank->in_call_peer = row->in_call_peer;
        }
        uint64_t *sums = m->rank_sums + row->rank * RANK_COLUMNS;
        rank_figures(sums, row, windows * w->length_ns);
        m->untracked += row->untracked;
        if (!snapshot) {
            uint64_t *figures = m->scratch->values + row->rank * RANK_COLUMNS;
            rank_figures(figures, row, w->length_ns);
            m->scratch->touched[row->rank] = 1;
        }
    }
    m->details_version++;
    int error = snapshot || !count ? 0 : model_tables_flush(m, &m->rank_history, w->window, count);
    int waits = tables_apply_waits(m, w, snapshot);
    return error ? error : waits;
}

/* Ranks that are one row, under the first of them: fewer at the end of the job. */
static uint64_t ranks_in_row(const struct model *m, uint64_t rank)
{
    const uint64_t left = m->world > rank ? m->world - rank : m->group;
    return m->group < left ? m->group : left;
}

int tables_apply_history(struct model *m, const struct wire_history *w)
{
    uint32_t count = model_tables_ranks_in(w->ranks, w->ranks_count), packed;
    if (w->last < w->first)
        return -HOLTER_ERANGE;
    if (!count)
        return 0;
    if (tables_need_rank(m, count - 1) < 0 || need_scratch(m, count, RANK_COLUMNS) < 0)
        return -ENOMEM;
    for (uint64_t i = 0; i < w->ranks_count; i++) {
        const struct wire_rank_row *row = &w->ranks[i];
        if (row->rank >= MODEL_RANKS) {
            m->ignored++;
            continue;
        }
        uint64_t *figures = m->scratch->values + row->rank * RANK_COLUMNS;
        rank_figures(figures, row,
                     (w->last - w->first + 1) * w->length_ns * ranks_in_row(m, row->rank));
        m->scratch->touched[row->rank] = 1;
    }
    int error = model_tables_pack(m, RANK_COLUMNS, count, &packed);
    if (!error)
        error = history_put_span(&m->rank_history, w->first, w->last, m->scratch->items,
                                 m->scratch->packed, packed);
    m->details_version++;
    return error < 0 ? error : 0; /* what is known already is known better */
}

/* Ranks may name a communicator differently: the name is chosen as in the daemon's sums. */
static void model_tables_merge_comm(struct model_comm *comm, const struct wire_comm_row *row)
{
    comm->size = order_maximum(comm->size, row->size);
    comm->remote_size = order_maximum(comm->remote_size, row->remote_size);
    if (row->name && run_sum_is_better_name(row->name, comm->name))
        snprintf(comm->name, sizeof comm->name, "%s", row->name);
}

static uint32_t comm_number(struct model *m, const struct wire_comm_row *row)
{
    for (uint32_t i = 0; i < m->comm_count; i++) {
        if (m->comms[i].id != row->id)
            continue;
        model_tables_merge_comm(&m->comms[i], row);
        return i;
    }
    if (ARRAY_RESIZE(m->comms, m->comm_count + 1) != 0)
        return 0;
    struct model_comm *comm = &m->comms[m->comm_count];
    *comm = (struct model_comm){.id = row->id};
    model_tables_merge_comm(comm, row);
    return m->comm_count++;
}

static uint32_t region_number(struct model *m, const char *name)
{
    const char *text = name ? name : "";
    for (uint32_t i = 0; i < m->region_count; i++)
        if (!strcmp(m->regions[i].name, text))
            return i;
    if (ARRAY_RESIZE(m->regions, m->region_count + 1) != 0)
        return 0;
    snprintf(m->regions[m->region_count].name, sizeof m->regions->name, "%s", text);
    return m->region_count++;
}

/* The model's numbers of the communicators and regions that a message names by position: first of
 * the communicators, then of the regions. Out of range stands for "none", number 0. */
struct named_rows {
    const struct wire_comm_row *comms;
    const struct wire_region_row *regions;
    uint64_t comm_count, region_count;
    uint32_t *number; /* owned */
};

static int number_rows(struct model *m, struct named_rows *n)
{
    static const struct wire_comm_row no_comm = {.name = ""};
    n->number = calloc(n->comm_count + n->region_count + 1, sizeof *n->number);
    if (!n->number)
        return -ENOMEM;
    comm_number(m, &no_comm);
    region_number(m, "");
    for (uint64_t i = 0; i < n->comm_count; i++)
        n->number[i] = comm_number(m, &n->comms[i]);
    for (uint64_t i = 0; i < n->region_count; i++)
        n->number[n->comm_count + i] = region_number(m, n->regions[i].name);
    return 0;
}

static uint32_t model_tables_comm_of(const struct named_rows *n, uint64_t position)
{
    return position < n->comm_count ? n->number[position] : 0;
}

static uint32_t model_tables_region_of(const struct named_rows *n, uint64_t position)
{
    return position < n->region_count ? n->number[n->comm_count + position] : 0;
}

/* End a message about pairs or calls. @return the error given, or one of its own */
static int model_tables_end(struct model *m, struct model_table *t, uint64_t window, int snapshot,
                            int error)
{
    m->details_version++;
    int put = 0;
    if (!snapshot && t->keys.count)
        put = model_tables_flush(m, &t->history, window, t->keys.count);
    return error ? error : put;
}

/* Sums by communicator and region, since the start. */
static int add_contexts(struct model *m, const struct wire_pair_window *w)
{
    struct named_rows named = {w->comms, w->regions, w->comms_count, w->regions_count, NULL};
    int error = number_rows(m, &named);
    for (uint64_t i = 0; i < w->pairs_count && !error; i++) {
        const struct wire_pair_row *row = &w->pairs[i];
        if (row->source >= MODEL_RANKS || row->destination < 0 ||
            row->destination >= (int64_t)MODEL_RANKS)
            continue;
        const struct context at = {(uint32_t)row->source, (uint32_t)row->destination,
                                   model_tables_comm_of(&named, row->comm),
                                   model_tables_region_of(&named, row->region)};
        error = contexts_add(&m->contexts, &at, row->messages, row->bytes);
    }
    free(named.number);
    return error;
}

static int add_pairs(struct model *m, struct model_table *t, const struct wire_pair_row *rows,
                     uint64_t count, int snapshot)
{
    for (uint64_t i = 0; i < count; i++) {
        const struct wire_pair_row *row = &rows[i];
        uint64_t destination = row->destination == -1 ? PAIR_OTHERS : (uint64_t)row->destination;
        if (row->source >= MODEL_RANKS ||
            (destination >= MODEL_RANKS && destination != PAIR_OTHERS) ||
            t->keys.count >= MODEL_PAIRS) {
            m->ignored++;
            continue;
        }
        const uint64_t figures[PAIR_COLUMNS] = {
            [PAIR_MESSAGES] = row->messages, [PAIR_BYTES] = row->bytes};
        if (table_add(m, t, (struct key){row->source, destination}, figures, snapshot) < 0)
            return -ENOMEM;
    }
    return 0;
}

int tables_apply_pairs(struct model *m, const struct wire_pair_window *w, int snapshot)
{
    if (snapshot && !m->pairs_more) {
        table_restart(&m->pairs);
        table_restart(&m->node_pairs);
        contexts_restart(&m->contexts);
    }
    m->pairs_more = snapshot && w->more;
    m->folded = w->folded;
    int error = add_pairs(m, &m->pairs, w->pairs, w->pairs_count, snapshot);
    if (!error)
        error = model_tables_end(m, &m->pairs, w->window, snapshot, add_contexts(m, w));
    if (!error)
        error = add_pairs(m, &m->node_pairs, w->node_pairs, w->node_pairs_count, snapshot);
    return error ? error : model_tables_end(m, &m->node_pairs, w->window, snapshot, 0);
}

int tables_apply_calls(struct model *m, const struct wire_call_window *w, int snapshot)
{
    struct model_table *t = &m->calls;
    struct named_rows named = {w->comms, w->regions, w->comms_count, w->regions_count, NULL};
    if (number_rows(m, &named) < 0)
        return -ENOMEM;
    if (snapshot && !m->calls_more)
        table_restart(t);
    m->calls_more = snapshot && w->more;
    int error = 0;
    for (uint64_t i = 0; i < w->calls_count && !error; i++) {
        const struct wire_call_row *row = &w->calls[i];
        uint32_t comm = model_tables_comm_of(&named, row->comm),
                 region = model_tables_region_of(&named, row->region);
        const uint64_t figures[CALLS_COLUMNS] = {
            [CALLS_COUNT] = row->calls,           [CALLS_BYTES] = row->bytes,
            [CALLS_BYTES_IN] = row->bytes_in,     [CALLS_TIME_NS] = row->time_ns,
            [CALLS_LONGEST_NS] = row->longest_ns, [CALLS_RANKS] = row->rank};
        error = table_add(m, t, (struct key){row->call, (uint64_t)comm << 32 | region}, figures,
                          snapshot);
    }
    free(named.number);
    return model_tables_end(m, t, w->window, snapshot, error);
}

/* Adds a row; communicators are summed. @return 0 or -ENOMEM */
static int add_caller(struct model *m, const struct wire_call_row *row, uint32_t region,
                      int snapshot)
{
    struct model_table *t = &m->callers;
    if (row->rank >= MODEL_RANKS || t->keys.count >= MODEL_PAIRS) {
        m->ignored++;
        return 0;
    }
    const uint64_t figures[CALLER_COLUMNS] = {[CALLER_COUNT] = row->calls,
                                              [CALLER_BYTES] = row->bytes,
                                              [CALLER_BYTES_IN] = row->bytes_in,
                                              [CALLER_TIME_NS] = row->time_ns};
    return table_add(m, t, (struct key){row->rank, row->call << 32 | region}, figures, snapshot);
}

int tables_apply_callers(struct model *m, const struct wire_caller_window *w, int snapshot)
{
    struct model_table *t = &m->callers;
    struct named_rows named = {w->comms, w->regions, w->comms_count, w->regions_count, NULL};
    if (number_rows(m, &named) < 0)
        return -ENOMEM;
    if (snapshot && !m->callers_more)
        table_restart(t);
    m->callers_more = snapshot && w->more;
    m->callers_left_out = w->left_out;
    int error = 0;
    for (uint64_t i = 0; i < w->calls_count && !error; i++)
        error = add_caller(m, &w->calls[i], model_tables_region_of(&named, w->calls[i].region),
                           snapshot);
    free(named.number);
    return model_tables_end(m, t, w->window, snapshot, error);
}
