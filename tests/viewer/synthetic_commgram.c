#include "tests/viewer/synthetic_commgram.h"

#include "holter/size_class.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char job[] = "48213.0";

static int is_swap(const struct synthetic_commgram *g, uint64_t phase)
{
    return g->every && phase % g->every == 0;
}

static uint64_t begin_of(const struct synthetic_commgram *g, uint64_t phase)
{
    return g->begin_ns + (phase - 1) * g->phase_ns;
}

static uint64_t end_of(const struct synthetic_commgram *g, uint64_t phase)
{
    return begin_of(g, phase) + g->phase_ns * 2 / 3;
}

/* ---- phases and curve --------------------------------------------------------------------------
 */

void synthetic_phases(const struct synthetic_commgram *g, uint64_t first, uint64_t last,
                      synthetic_sink *sink, void *user)
{
    uint64_t n = last - first + 2;
    struct wire_phase_row *phases = calloc(n, sizeof *phases);
    struct wire_curve_point_row *points = calloc(n, sizeof *points);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t id = first + i, before = id - 1;
        int swap = is_swap(g, id), same = id > 1 && swap == is_swap(g, before);
        phases[i] = (struct wire_phase_row){.id = id,
                                            .open = i + 1 == n,
                                            .begin_ns = begin_of(g, id),
                                            .end_ns = i + 1 < n ? end_of(g, id)
                                                                : begin_of(g, id) + g->phase_ns / 2,
                                            .bursts = 12,
                                            .messages = g->ranks * 60ull,
                                            .bytes = g->ranks * 60ull * (swap ? 900000 : 40000),
                                            .modelled = g->modelled ? g->ranks * 4ull : 0,
                                            .modelled_bytes = g->modelled ? g->ranks * 32ull : 0,
                                            .pairs = g->ranks * 6ull,
                                            .ranks = g->ranks,
                                            .communities = swap ? 9 : 18,
                                            .modularity = swap ? 0.41 : 0.63};
        points[i] = (struct wire_curve_point_row){.phase = id,
                                                  .provisional = i + 1 == n,
                                                  .begin_ns = phases[i].begin_ns,
                                                  .end_ns = phases[i].end_ns,
                                                  .height = swap ? -0.72 : 0.01 * (double)(id % 3),
                                                  .difference = same || id == 1 ? 0.01 : 0.72,
                                                  .returned = id > (g->every ? g->every : 1),
                                                  .resembles = swap ? g->every : 1,
                                                  .resemblance = 0.99,
                                                  .communities = phases[i].communities};
    }
    struct wire_message m = {.type = WIRE_TYPE_PHASES};
    m.phases = (struct wire_phases){.job = job,
                                    .phases = phases,
                                    .phases_count = n,
                                    .gap_ns = g->phase_ns / 4,
                                    .modelled = (uint64_t)g->modelled};
    sink(user, &m, 0);
    m = (struct wire_message){.type = WIRE_TYPE_CURVE};
    m.curve = (struct wire_curve){.job = job, .points = points, .points_count = n};
    sink(user, &m, 0);
    free(phases);
    free(points);
}

/* ---- pictures ----------------------------------------------------------------------------------
 */

struct making {
    const struct synthetic_commgram *gram;
    const struct commgram_request *request;
    uint32_t bars, width, height; /* bars of a column; sides of the grid of ranks */
    struct wire_ribbon_row *rows; /* of one column, then all */
    uint64_t count, room, column_begin;
    struct wire_column_row *columns;
    struct wire_bar_row *bar_rows;
    struct wire_bar_ranks_row *members;
};

/* Ranks that a swap brings together are the same as elsewhere; half of the identities are its own.
 */
static uint64_t bar_of(const struct making *m, uint64_t rank)
{
    return rank * m->bars / m->gram->ranks;
}

static int wanted(const struct making *m, uint64_t a, uint64_t b)
{
    const char *at = m->request->ranks;
    if (!*at)
        return 1;
    while (*at) {
        char *end;
        uint64_t low = strtoull(at, &end, 10), high = low;
        if (*end == '-')
            high = strtoull(end + 1, &end, 10);
        if ((a >= low && a <= high) || (b >= low && b <= high))
            return 1;
        at = *end ? end + 1 : end;
    }
    return 0;
}

static void send_to(struct making *m, uint64_t column, uint64_t from, uint64_t to,
                    uint64_t messages, uint64_t size, int modelled)
{
    if (to >= m->gram->ranks || !wanted(m, from, to))
        return;
    if (m->count == m->room) {
        m->room = m->room ? m->room * 2 : 4096;
        m->rows = realloc(m->rows, m->room * sizeof *m->rows);
    }
    m->rows[m->count++] = (struct wire_ribbon_row){.column = column,
                                                   .from = bar_of(m, from),
                                                   .to = bar_of(m, to),
                                                   .size_class = size_class_of(size),
                                                   .modelled = (uint64_t)modelled,
                                                   .messages = messages,
                                                   .bytes = messages * size};
}

static int ribbon_order(const void *a, const void *b)
{
    const struct wire_ribbon_row *x = a, *y = b;
    const uint64_t keys[][2] = {{x->column, y->column},
                                {x->from, y->from},
                                {x->to, y->to},
                                {x->modelled, y->modelled},
                                {x->size_class, y->size_class}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

/* Messages between the same bars, of one size, become one ribbon. */
static void merge(struct making *m)
{
    uint64_t kept = m->column_begin;
    if (m->count > kept)
        qsort(m->rows + kept, m->count - kept, sizeof *m->rows, ribbon_order);
    for (uint64_t i = m->column_begin; i < m->count; i++) {
        if (kept > m->column_begin && ribbon_order(&m->rows[kept - 1], &m->rows[i]) == 0) {
            m->rows[kept - 1].messages += m->rows[i].messages;
            m->rows[kept - 1].bytes += m->rows[i].bytes;
        } else {
            m->rows[kept++] = m->rows[i];
        }
    }
    m->column_begin = m->count = kept;
}

static void halo(struct making *m, uint64_t column, uint64_t rank)
{
    uint64_t w = m->width, h = m->height, layer = w * h;
    const uint64_t to[] = {rank + 1, rank - 1, rank + w, rank - w, rank + layer, rank - layer};
    for (size_t i = 0; i < sizeof to / sizeof *to; i++)
        send_to(m, column, rank, to[i], 20, i < 4 ? 16384 : 40000 + rank % 7 * 1000, 0);
}

/* Those stages of a swap that begin between two shares of its time. */
static void swap_image(struct making *m, uint64_t column, uint64_t rank, double from, double to)
{
    uint64_t stages = 0;
    while (UINT64_C(1) << stages < m->gram->ranks)
        stages++;
    for (uint64_t stage = 0; stage < stages; stage++) {
        double at = (double)stage / (double)stages;
        if (at >= from && at < to)
            send_to(m, column, rank, rank ^ (UINT64_C(1) << (stages - 1 - stage)), 1,
                    UINT64_C(4194304) >> stage, 0);
    }
}

/* Recursive doubling. */
static void allreduce(struct making *m, uint64_t column, uint64_t rank)
{
    for (uint64_t bit = 1; bit < m->gram->ranks; bit *= 2)
        send_to(m, column, rank, rank ^ bit, 40, 64, 1);
}

static void make_bars(struct making *m, uint64_t columns)
{
    for (uint64_t k = 0; k <= columns; k++) {
        for (uint32_t i = 0; i < m->bars; i++) {
            uint64_t first = ((uint64_t)i * m->gram->ranks + m->bars - 1) / m->bars,
                     end = ((uint64_t)(i + 1) * m->gram->ranks + m->bars - 1) / m->bars;
            m->bar_rows[k * m->bars + i] = (struct wire_bar_row){
                .column = k, .bar = i, .community = i + 1, .ranks = end - first};
            m->members[k * m->bars + i] = (struct wire_bar_ranks_row){
                .column = k, .bar = i, .rank = first, .count = end - first};
        }
    }
    for (uint64_t i = 0; i < m->count; i++) {
        const struct wire_ribbon_row *r = &m->rows[i];
        struct wire_bar_row *from = &m->bar_rows[r->column * m->bars + r->from],
                            *to = &m->bar_rows[r->column * m->bars + r->to];
        from->sent += r->messages;
        from->sent_bytes += r->bytes;
        to->received += r->messages;
        to->received_bytes += r->bytes;
    }
}

/* Messages of a column: of a whole phase, or of a part of one. */
static void make_column(struct making *m, uint64_t column, uint64_t phase, uint64_t part,
                        uint64_t parts)
{
    const struct synthetic_commgram *g = m->gram;
    uint64_t first = m->count, length = g->phase_ns * 2 / 3, each = length / parts;
    double from = (double)part / (double)parts, to = (double)(part + 1) / (double)parts;
    if (m->request->to_ns < begin_of(g, phase) + length) /* only its beginning is asked for */
        to = fmin(to, (double)(m->request->to_ns - begin_of(g, phase)) / (double)length);
    for (uint64_t rank = 0; rank < g->ranks; rank++) {
        if (is_swap(g, phase))
            swap_image(m, column, rank, from, to);
        else
            halo(m, column, rank);
        if (g->modelled && m->request->modelled)
            allreduce(m, column, rank);
    }
    merge(m);
    struct wire_column_row *c = &m->columns[column];
    *c = (struct wire_column_row){.begin_ns = begin_of(g, phase) + part * each,
                                  .end_ns = begin_of(g, phase) + (part + 1) * each - each / 8,
                                  .bursts = 9,
                                  .folded = g->folded,
                                  .folded_bytes = g->folded * 700,
                                  .ranks = g->ranks,
                                  .communities = is_swap(g, phase) ? 9 : 18,
                                  .modularity = is_swap(g, phase) ? 0.41 : 0.63,
                                  .height = is_swap(g, phase) ? -0.7 : 0,
                                  .bars = m->bars};
    for (uint64_t k = 0; k < column && !c->returned; k++) {
        c->returned = m->columns[k].height == c->height;
        c->resembles = c->returned ? k + 1 : 0;
        c->resemblance = c->returned ? 0.99 : 0;
    }
    if (column > 0)
        c->difference = fabs(c->height - c[-1].height);
    for (uint64_t i = first; i < m->count; i++) {
        c->messages += m->rows[i].messages;
        c->bytes += m->rows[i].bytes;
        c->modelled += m->rows[i].modelled ? m->rows[i].messages : 0;
        c->modelled_bytes += m->rows[i].modelled ? m->rows[i].bytes : 0;
    }
}

/* In parts of rows, each kind after the other, as a daemon may send it. */
static void send_parts(const struct making *m, uint64_t columns, synthetic_sink *sink, void *user)
{
    uint64_t bars = (columns + 1) * m->bars,
             most = m->gram->part_rows ? m->gram->part_rows : 1u << 20;
    uint64_t longest = m->count > bars ? m->count : bars;
    for (uint64_t at = 0; at == 0 || at < longest; at += most) {
        struct wire_message message = {.type = WIRE_TYPE_COMMGRAM};
        struct wire_commgram *c = &message.commgram;
        *c = (struct wire_commgram){.job = job,
                                    .from_ns = m->request->from_ns,
                                    .to_ns = m->request->to_ns,
                                    .phases = m->request->phases,
                                    .communities = m->request->communities,
                                    .resolved = m->gram->resolved,
                                    .more = at + most < longest};
        c->columns = m->columns;
        c->columns_count = at ? 0 : columns;
        c->bars = m->bar_rows + (at < bars ? at : 0);
        c->bars_count = at >= bars ? 0 : bars - at < most ? bars - at : most;
        c->members = m->members + (at < bars ? at : 0);
        c->members_count = c->bars_count;
        c->ribbons = m->rows + (at < m->count ? at : 0);
        c->ribbons_count = at >= m->count ? 0 : m->count - at < most ? m->count - at : most;
        sink(user, &message, 0);
    }
}

uint64_t synthetic_picture(const struct synthetic_commgram *g, const struct commgram_request *q,
                           synthetic_sink *sink, void *user)
{
    struct making m = {.gram = g, .request = q};
    uint64_t first = q->from_ns > g->begin_ns ? (q->from_ns - g->begin_ns) / g->phase_ns + 1 : 1;
    if (first > 1 || q->from_ns > g->begin_ns)
        first += end_of(g, first) <= q->from_ns;
    uint64_t last = q->to_ns > g->begin_ns ? (q->to_ns - g->begin_ns - 1) / g->phase_ns + 1 : 0;
    uint64_t most = g->resolved && g->resolved < q->phases ? g->resolved : q->phases;
    uint64_t phases = last >= first ? last - first + 1 : 0, parts = 1;
    if (phases > most)
        first += phases - most,
            phases = most; /* a real daemon merges; figures are all that counts */
    while (phases && phases * (parts + 1) <= most && phases < 3)
        parts++;
    uint64_t columns = phases * parts;
    const uint64_t communities = q->communities ? q->communities : 18;
    m.bars = (uint32_t)(communities < g->ranks ? communities : g->ranks);
    m.width = (uint32_t)fmax(floor(cbrt(g->ranks)), 1);
    m.height = m.width;
    m.columns = calloc(columns + 1, sizeof *m.columns);
    m.bar_rows = calloc((columns + 1) * m.bars + 1, sizeof *m.bar_rows);
    m.members = calloc((columns + 1) * m.bars + 1, sizeof *m.members);
    for (uint64_t k = 0; k < columns; k++)
        make_column(&m, k, first + k / parts, k % parts, parts);
    if (columns)
        make_bars(&m, columns);
    send_parts(&m, columns, sink, user);
    uint64_t ribbons = m.count;
    free(m.rows);
    free(m.columns);
    free(m.bar_rows);
    free(m.members);
    return ribbons;
}
