/* Phases of one job: bursts of a window are clustered, closed phases analysed, open ones listed. */
#include "daemon/job/phases/job_phases.h"

#include "daemon/analysis/phases/phase_pauses.h"
#include "daemon/analysis/tables/array.h"
#include "daemon/analysis/tables/saturate.h"
#include "daemon/job/phases/collective_table.h"
#include "holter/error.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PATTERN_EDGES (1u << 20) /* kept of all patterns together */
#define FINE_PHASES 1024u        /* of which those that a cut asks for are joined */
#define END_PHASES 256u          /* analysed when the job ends */
#define SHORT_PAUSE_NS 125000000 /* shorter ones end no phase of windows longer than this */
#define LONG_PHASE_NS INT64_C(10000000000) /* length of one without a pause, 16 to 64 windows */
#define BATCH_PHASES 8u                    /* whose graphs are held at one time */

__extension__ typedef unsigned __int128 wide;

struct job_phases {
    uint64_t window_ns;
    bool modelled, beside;
    struct phases *phases;       /* made with the first burst, as all these */
    struct phase_graphs *graphs; /* all who sent to whom */
    struct job_phase_rows *rows;
    struct phase_batch *batch; /* closed phases whose communities are computed */
    struct collective_table *collectives;
    struct burst_pool pool;
    uint32_t ranks;         /* one more than the highest seen */
    int64_t from_ns, to_ns; /* span of the bursts' times */
    uint64_t next;          /* id of the next closed phase to be listed */
    bool open;              /* something is */
    bool changed;           /* since changes were listed */
    uint32_t left_at_end;   /* phases that may still be analysed when the job ends */
    uint64_t window;        /* newest closed */
    uint64_t owed;          /* edges analysed beyond JOB_PHASES_EDGES: later windows analyse less */
    struct phase_graph graph;
    struct phase_graph patterns[JOB_PHASES_PATTERNS]; /* first phase of each, in order */
    double heights[JOB_PHASES_PATTERNS];              /* of these */
    uint32_t pattern_count;
    size_t pattern_edges;
    /* buffers */
    const uint32_t *numbers; /* of the collectives of the current message */
};

/* ---- life ---------------------------------------------------------------------- */

int job_phases_create(struct job_phases **out, uint64_t window_ns, int modelled, int beside)
{
    struct job_phases *p = calloc(1, sizeof(*p));
    if (p == NULL)
        return -ENOMEM;
    p->window_ns = window_ns;
    p->modelled = modelled != 0;
    p->beside = beside != 0;
    p->left_at_end = END_PHASES;
    p->next = 1;
    *out = p;
    return 0;
}

void job_phases_destroy(struct job_phases *p)
{
    if (p == NULL)
        return;
    phases_destroy(p->phases);
    phase_graphs_destroy(p->graphs);
    phase_batch_destroy(p->batch);
    job_phase_rows_destroy(p->rows);
    collective_table_destroy(p->collectives);
    burst_pool_finish(&p->pool);
    phase_graph_finish(&p->graph);
    for (uint32_t i = 0; i < p->pattern_count; i++)
        phase_graph_finish(&p->patterns[i]);
    free(p);
}

/* Bounds of the pause that ends a phase, and what it is at first; length of a phase without any.
 * Windows of recordings are as short as a hundredth of them. */
static void job_phases_set_pauses(struct phases_params *phases, int64_t window_ns)
{
    int64_t eighth = window_ns / JOB_PHASES_A_WINDOW, quarter = window_ns / 4;
    int64_t minimum = window_ns + quarter < SHORT_PAUSE_NS ? window_ns + quarter : SHORT_PAUSE_NS;
    phases->gap_minimum_ns = minimum > eighth ? minimum : eighth;
    phases->gap_start_ns = quarter > minimum ? quarter : minimum;
    phases->gap_maximum_ns = 10 * window_ns;
    int64_t length = 16 * window_ns > LONG_PHASE_NS ? 16 * window_ns : LONG_PHASE_NS;
    phases->length_ns = 64 * window_ns < length ? 64 * window_ns : length;
}

/* Created with the first burst: a job whose agents send none has no use for them. */
static int job_phases_create_parts(struct job_phases *p)
{
    struct phases_params phases = PHASES_DEFAULTS;
    struct phase_graphs_params graphs = PHASE_GRAPHS_DEFAULTS;
    phases.closed = JOB_PHASE_ROWS_RETAINED;
    job_phases_set_pauses(&phases, (int64_t)p->window_ns);
    graphs.window_ns = (int64_t)p->window_ns;
    int code = p->phases != NULL ? 0 : phases_create(&p->phases, &phases);
    if (code == 0 && p->graphs == NULL)
        code = phase_graphs_create(&p->graphs, &graphs);
    if (code == 0 && p->rows == NULL)
        code = job_phase_rows_create(&p->rows);
    if (code == 0 && p->batch == NULL)
        code = phase_batch_create(&p->batch);
    return code;
}

/* ---- adding messages ------------------------------------------------------------- */

int job_phases_prepare(struct job_phases *p, struct burst_rows *rows,
                       const struct wire_window *window, uint64_t nodes, uint64_t world)
{
    struct burst_rows_size size = {nodes, world, p->window_ns};
    if (window->bursts_count == 0 && window->comm_members_count == 0)
        return 0;
    int code = p->collectives != NULL ? 0 : collective_table_create(&p->collectives);
    code = code != 0 ? code : collective_table_add(p->collectives, window, &p->numbers);
    code = code != 0 ? code : job_phases_create_parts(p);
    code = code != 0 ? code : burst_rows_reserve(rows, &p->pool, &size, window);
    return code != 0 ? code : burst_rows_check_overflow(rows, window);
}

void job_phases_add(struct job_phases *p, struct burst_rows *rows, const struct wire_window *window)
{
    if (window->bursts_count > 0)
        burst_rows_add(rows, window, p->numbers);
}

/* ---- a window's bursts -------------------------------------------------------------- */

/* The sum of times of messages whose mean is that of a burst of calls, as near as a set takes it.
 */
static void job_phases_set_times(struct burst_sums *b, uint64_t mean_ns)
{
    if (b->messages == 1)
        b->first_ns = b->last_ns = mean_ns;
    wide sum = (wide)mean_ns * b->messages;
    if (b->messages > 1) { /* one is at the first time, one at the last, the others between */
        wide ends = (wide)b->first_ns + b->last_ns, between = b->messages - 2;
        wide least = ends + between * b->first_ns, most = ends + between * b->last_ns;
        sum = sum < least ? least : sum > most ? most : sum;
    }
    b->time_sum_high = (uint64_t)(sum >> 64);
    b->time_sum_low = (uint64_t)sum;
}

/* Nodes begin a step at nearly the same time: what they send then is one burst. */
static void job_phases_reduce_bursts(const struct job_phases *p, struct bursts *bursts)
{
    bursts_join_near(bursts, p->window_ns / JOB_PHASES_RESOLUTION);
    bursts_reduce(bursts, JOB_PHASES_BURSTS);
}

/* Keep the messages of a burst for the analysis of the network. @return 0 or -ENOMEM */
static int job_phases_keep_modelled(struct burst_rows *rows, const struct collective_messages *made)
{
    rows->modelled_others = saturated_sum(rows->modelled_others, made->others.bytes);
    if (made->count == 0)
        return 0;
    if (ARRAY_FIT(rows->modelled, rows->modelled_capacity, rows->modelled_count + made->count) != 0)
        return -ENOMEM;
    memcpy(&rows->modelled[rows->modelled_count], made->pairs, made->count * sizeof(*made->pairs));
    rows->modelled_count += made->count;
    return 0;
}

/* Add the messages that model calls of collectives. */
static int job_phases_add_modelled(struct job_phases *p, struct burst_rows *rows, uint64_t world)
{
    struct bursts *calls = rows->calls.bursts;
    struct burst_sums burst;
    struct collective_messages made;
    int code = 0;
    job_phases_reduce_bursts(p, calls);
    collective_table_begin_window(p->collectives);
    for (uint32_t i = 0; code == 0 && i < bursts_count(calls); i++) {
        code = bursts_read(calls, i, &burst);
        if (code == 0)
            code = collective_table_expand(p->collectives, world, &burst, rows->messages.bursts,
                                           &made);
        if (code != 0 || made.messages == 0)
            continue;
        code = job_phases_keep_modelled(rows, &made);
        struct burst_sums modelled = {.first_ns = burst.first_ns,
                                      .last_ns = burst.last_ns,
                                      .messages = made.messages,
                                      .bytes = made.bytes,
                                      .others = made.others,
                                      .pairs = made.pairs,
                                      .pair_count = made.count};
        job_phases_set_times(&modelled, burst.time_ns);
        /* More than 2^64 messages in a window are not real. */
        bursts_add(rows->messages.bursts, &modelled);
    }
    return code;
}

/* A burst of the whole job. */
static int job_phases_add_burst(struct job_phases *p, const struct burst_sums *b)
{
    struct burst burst = {(int64_t)b->time_ns, (int64_t)b->first_ns, (int64_t)b->last_ns,
                          b->messages, b->bytes};
    if (b->last_ns > PHASES_TIME_MAXIMUM)
        return 0; /* a clock beyond 2043 */
    struct phase_burst graph = {.time_ns = burst.time_ns,
                                .first_ns = burst.first_ns,
                                .last_ns = burst.last_ns,
                                .pairs = b->pairs,
                                .count = b->pair_count,
                                .other_messages = b->others.messages,
                                .other_bytes = b->others.bytes};
    if (phase_graphs_add(p->graphs, &graph) == -ENOMEM || phases_add(p->phases, &burst) == -ENOMEM)
        return -ENOMEM;
    if (phases_late(p->phases) != 0)
        job_phase_rows_add_late(p->rows, phases_late(p->phases), b);
    struct phase_graphs_counts counts;
    phase_graphs_count(p->graphs, &counts);
    p->ranks = counts.ranks > p->ranks ? (uint32_t)counts.ranks : p->ranks;
    bool first = p->from_ns == 0 && p->to_ns == 0;
    p->from_ns = first || burst.time_ns < p->from_ns ? burst.time_ns : p->from_ns;
    p->to_ns = first || burst.time_ns > p->to_ns ? burst.time_ns : p->to_ns;
    p->open = p->changed = true;
    p->left_at_end = END_PHASES;
    return 0;
}

static int job_phases_add_bursts(struct job_phases *p, struct burst_rows *rows, uint64_t world)
{
    int code = 0;
    if (p->modelled && rows->calls.bursts != NULL && bursts_count(rows->calls.bursts) > 0) {
        struct burst_rows_size size = {0, world, p->window_ns};
        code = burst_rows_reserve_messages(rows, &p->pool, &size);
        code = code != 0 ? code : job_phases_add_modelled(p, rows, world);
    }
    struct bursts *all = rows->messages.bursts;
    if (all == NULL)
        return code;
    job_phases_reduce_bursts(p, all);
    for (uint32_t i = 0; i < bursts_count(all); i++) {
        struct burst_sums burst;
        int failed = bursts_gather(all, i, &burst);
        failed = failed != 0 ? failed : job_phases_add_burst(p, &burst);
        code = code != 0 ? code : failed;
    }
    return code;
}

/* ---- closed phases ------------------------------------------------------------------- */

struct effort {
    uint32_t phases;
    uint64_t edges;
    uint64_t owed;
};

static struct effort effort_for_window(const struct job_phases *p)
{
    uint64_t paid = p->owed < JOB_PHASES_EDGES ? p->owed : JOB_PHASES_EDGES;
    return (struct effort){JOB_PHASES_A_WINDOW, JOB_PHASES_EDGES - paid, p->owed - paid};
}

static bool effort_is_left(const struct effort *e)
{
    return e->phases > 0 && e->edges > 0;
}

static void effort_spend(struct effort *e, const struct phase_graph *graph)
{
    uint64_t paid = graph->count < e->edges ? graph->count : e->edges;
    e->phases--;
    e->edges -= paid;
    e->owed += graph->count - paid;
}

/* Keep the patterns that give the colours of all pictures. Without space the colour of a
 * pattern is computed for each picture. */
static void job_phases_keep_pattern(struct job_phases *p, struct phase_graph *graph, double height)
{
    if (p->pattern_count == JOB_PHASES_PATTERNS || graph->count == 0 ||
        graph->count > PATTERN_EDGES - p->pattern_edges)
        return;
    p->pattern_edges += graph->count;
    p->patterns[p->pattern_count] = *graph;
    *graph = (struct phase_graph){0};
    p->heights[p->pattern_count++] = height;
}

static uint32_t job_phases_count_ranks(const struct job_phases *p)
{
    return p->ranks < PHASE_LABELS_RANKS ? p->ranks : PHASE_LABELS_RANKS;
}

/* Add the phases of the batch to the rows, with their results. */
static int job_phases_finish_batch(struct job_phases *p)
{
    size_t count;
    int code = 0;
    if (!phase_batch_is_started(p->batch))
        return 0;
    struct phase_batch_item *items = phase_batch_finish(p->batch, &count);
    for (size_t i = 0; i < count; i++) {
        double height;
        int failed = job_phase_rows_close(p->rows, &items[i]);
        if (items[i].analysed && failed == 0 && job_phase_rows_is_new(p->rows, &height))
            job_phases_keep_pattern(p, &items[i].graph, height);
        code = code != 0 ? code : failed;
        p->next = items[i].phase.id + 1;
        p->changed = true;
    }
    phase_batch_clear(p->batch);
    return code;
}

/* Without memory for its graph, a phase is listed without communities and curve. */
static int job_phases_add_to_batch(struct job_phases *p, const struct phase *phase,
                                   struct effort *effort)
{
    bool analyse = effort_is_left(effort) &&
                   phase_graphs_read(p->graphs, phase->begin_ns, phase->end_ns, &p->graph) == 0;
    if (analyse)
        effort_spend(effort, &p->graph);
    return phase_batch_add(p->batch, phase, job_phases_count_ranks(p), analyse ? &p->graph : NULL);
}

/* Phases that are closed while there is effort left, and those that cannot wait longer.
 * @return how many, or -ENOMEM when there are none */
static int job_phases_fill_batch(struct job_phases *p, struct effort *effort, uint32_t may_wait)
{
    struct phases_counts counts;
    struct phase phase;
    uint32_t count = 0;
    int code = 0;
    phases_count(p->phases, &counts);
    for (uint64_t id = p->next; code == 0 && id <= counts.closed && count < BATCH_PHASES; id++) {
        int too_many = counts.closed - id + 1 > may_wait;
        if ((!effort_is_left(effort) && !too_many) || phases_closed(p->phases, id, &phase, 1) == 0)
            break;
        code = job_phases_add_to_batch(p, &phase, effort);
        count += code == 0;
    }
    return count == 0 ? code : (int)count;
}

static bool job_phases_batch_is_large(const struct job_phases *p)
{
    return phase_batch_edges(p->batch) > JOB_PHASES_AT_ONCE;
}

/* Analyse and list closed phases. A large batch is listed when the next window closes, and those
 * after it wait with it. */
static int job_phases_close_waiting(struct job_phases *p, struct effort *effort)
{
    int code = job_phases_finish_batch(p), count;
    while ((count = job_phases_fill_batch(p, effort, JOB_PHASES_WAITING)) > 0) {
        bool large = job_phases_batch_is_large(p);
        phase_batch_start(p->batch, large && p->beside);
        if (large)
            break;
        int failed = job_phases_finish_batch(p);
        code = code != 0 ? code : failed;
    }
    return code != 0 ? code : count < 0 ? count : 0;
}

/* ---- open ones ------------------------------------------------------------------------ */

/* May the phase have more edges than are analysed while the loop waits? */
static bool job_phases_may_be_large(const struct job_phases *p, const struct phase *phase)
{
    struct phase_graphs_counts counts;
    phase_graphs_count(p->graphs, &counts);
    return counts.edges > JOB_PHASES_AT_ONCE &&
           phase_graphs_rows(p->graphs, phase->begin_ns, phase->end_ns) > JOB_PHASES_AT_ONCE;
}

/* A large phase is analysed when it is closed: while it grows it would be again and again. */
static int job_phases_list_open_phase(struct job_phases *p, uint64_t id, const struct phase *phase,
                                      bool analyse, struct effort *effort)
{
    const struct phase_graph *graph = NULL;
    int code = 0;
    if (analyse && !job_phases_may_be_large(p, phase) && !job_phase_rows_has_open(p->rows, phase)) {
        code = phase_graphs_read(p->graphs, phase->begin_ns, phase->end_ns, &p->graph);
        graph = code == 0 ? &p->graph : NULL;
    }
    if (graph != NULL)
        effort_spend(effort, graph);
    int failed = job_phase_rows_add_open(p->rows, id, phase, job_phases_count_ranks(p), graph);
    return code != 0 ? code : failed;
}

/* Closed phases that wait come first: they are listed as open meanwhile. */
static int job_phases_list_open(struct job_phases *p, struct effort *effort)
{
    struct phase waiting[JOB_PHASE_ROWS_OPEN], open[JOB_PHASE_ROWS_OPEN];
    struct phases_counts counts;
    phases_count(p->phases, &counts);
    job_phase_rows_begin_open(p->rows);
    size_t held = phases_closed(p->phases, p->next, waiting, JOB_PHASE_ROWS_OPEN),
           count = phases_open(p->phases, open, JOB_PHASE_ROWS_OPEN);
    int code = 0;
    p->open = held > 0 || count > 0;
    count = count < JOB_PHASE_ROWS_OPEN ? count : JOB_PHASE_ROWS_OPEN;
    held = held + count > JOB_PHASE_ROWS_OPEN ? JOB_PHASE_ROWS_OPEN - count : held;
    for (size_t i = 0; code == 0 && i < held; i++)
        code = job_phases_list_open_phase(p, waiting[i].id, &waiting[i], false, effort);
    for (size_t i = 0; code == 0 && i < count; i++) {
        bool newest = i + 1 == count;
        code = job_phases_list_open_phase(p, counts.closed + 1 + i, &open[i],
                                          effort_is_left(effort) && (newest || effort->phases > 1),
                                          effort);
    }
    return code;
}

/* ---- closing a window ------------------------------------------------------------------- */

int job_phases_update(struct job_phases *p, const struct closed_window *closed)
{
    struct burst_rows *rows = closed->bursts;
    uint64_t window = closed->number, world = closed->world;
    int code = 0;
    if (rows->messages.bursts != NULL || rows->calls.bursts != NULL)
        code = job_phases_add_bursts(p, rows, world);
    burst_rows_release(rows, &p->pool);
    p->window = window > p->window ? window : p->window;
    p->ranks = world > p->ranks && world <= PHASE_LABELS_RANKS ? (uint32_t)world : p->ranks;
    if (closed->late || p->phases == NULL || !p->open)
        return code;
    int64_t horizon = window == 0 ? 0 : (int64_t)((window - 1) * p->window_ns);
    struct effort effort = effort_for_window(p);
    int failed = phases_close(p->phases, horizon);
    failed = failed != 0 ? failed : job_phases_close_waiting(p, &effort);
    if (failed == 0 && p->changed)
        failed = job_phases_list_open(p, &effort);
    p->owed = effort.owed;
    return code != 0 ? code : failed;
}

int job_phases_end(struct job_phases *p, int wait)
{
    struct effort effort = {p->left_at_end, UINT64_MAX, 0};
    if (p->phases == NULL || !p->open)
        return 0;
    int code = phases_close(p->phases, PHASES_TIME_MAXIMUM), count = 0;
    do {
        if (!wait && !phase_batch_is_done(p->batch))
            return 1;
        int failed = job_phases_finish_batch(p);
        code = code != 0 ? code : failed;
        count = job_phases_fill_batch(p, &effort, 0);
        p->left_at_end = effort.phases;
        if (count > 0)
            phase_batch_start(p->batch, p->beside && job_phases_batch_is_large(p));
    } while (count > 0);
    code = code != 0 ? code : count;
    return code != 0 ? code : job_phases_list_open(p, &effort);
}

/* ---- listing ----------------------------------------------------------------------------- */

int job_phases_changed(const struct job_phases *p)
{
    return p->changed;
}

static void job_phases_make_messages(const struct job_phases *p, const struct job_phase_list *list,
                                     struct wire_phases *out, struct wire_curve *curve)
{
    struct phases_counts counts = {.gap_ns = INT64_MAX};
    if (p->phases != NULL)
        phases_count(p->phases, &counts);
    *out = (struct wire_phases){
        .window = p->window,
        .phases = list->phases,
        .phases_count = list->phase_count,
        .gap_ns = counts.gap_ns == INT64_MAX ? 0 : (uint64_t)counts.gap_ns,
        .modelled = p->modelled,
    };
    *curve = (struct wire_curve){
        .window = p->window, .points = list->points, .points_count = list->point_count};
}

int job_phases_list_changes(struct job_phases *p, struct wire_phases *out, struct wire_curve *curve)
{
    struct job_phase_list list = {0};
    int code = p->rows == NULL ? 0 : job_phase_rows_list_changes(p->rows, &list);
    if (code == 0)
        job_phases_make_messages(p, &list, out, curve);
    p->changed = p->changed && code != 0;
    return code;
}

int job_phases_list_all(struct job_phases *p, struct wire_phases *out, struct wire_curve *curve)
{
    struct job_phase_list list = {0};
    int code = p->rows == NULL ? 0 : job_phase_rows_list_all(p->rows, &list);
    if (code == 0)
        job_phases_make_messages(p, &list, out, curve);
    return code;
}

void job_phases_mark_published(struct job_phases *p, uint64_t published)
{
    if (p->rows == NULL)
        return;
    job_phase_rows_mark_published(p->rows, published);
    p->changed = true;
}

/* ---- pictures ------------------------------------------------------------------------------ */

int job_phases_span(const struct job_phases *p, int64_t *from_ns, int64_t *to_ns)
{
    *from_ns = p->from_ns;
    *to_ns = p->to_ns;
    return p->phases != NULL && (p->from_ns != 0 || p->to_ns != 0);
}

int job_phases_cut(struct job_phases *p, int64_t from_ns, int64_t to_ns, size_t maximum,
                   struct job_phases_cut *out)
{
    size_t fine = FINE_PHASES;
    out->count = out->resolved = 0;
    if (p->phases != NULL)
        out->resolved = phase_graphs_segments(p->graphs, from_ns, to_ns);
    if (out->resolved == 0)
        return 0;
    maximum = maximum < out->resolved ? maximum : out->resolved;
    fine = fine < out->resolved ? fine : out->resolved;
    struct phase *phases = malloc(fine * sizeof(*phases));
    if (phases == NULL)
        return -ENOMEM;
    int code = phases_cut_count(p->phases, from_ns, to_ns, fine, phases, &fine);
    code = code == 0 ? phase_pauses_join(phases, &fine, maximum) : code;
    if (code == 0) {
        out->count = fine;
        memcpy(out->phases, phases, fine * sizeof(*phases));
    }
    free(phases);
    return code;
}

int job_phases_graph(struct job_phases *p, int64_t from_ns, int64_t to_ns, struct phase_graph *out)
{
    return p->graphs == NULL ? -HOLTER_EEMPTY : phase_graphs_read(p->graphs, from_ns, to_ns, out);
}

const struct phase_edge *job_phases_pattern(const struct job_phases *p, uint32_t number,
                                            size_t *count, double *height)
{
    *count = 0;
    if (number >= p->pattern_count)
        return NULL;
    *count = p->patterns[number].count;
    *height = p->heights[number];
    return p->patterns[number].edges;
}

int64_t job_phases_open_ns(const struct job_phases *p)
{
    struct phases_counts counts;
    struct phase last;
    if (p->phases == NULL || !p->open)
        return INT64_MAX;
    phases_count(p->phases, &counts);
    if (counts.closed == 0 || phases_closed(p->phases, counts.closed, &last, 1) == 0)
        return INT64_MIN;
    return last.end_ns + 1;
}

uint32_t job_phases_ranks(const struct job_phases *p)
{
    return p->ranks;
}

int job_phases_modelled(const struct job_phases *p)
{
    return p->modelled;
}

/* ---- state ---------------------------------------------------------------------------------- */

int job_phases_are_settled(const struct job_phases *p)
{
    return p->batch == NULL || phase_batch_is_done(p->batch);
}

void job_phases_copy_state(struct state_bytes *b, struct job_phases **out, int beside)
{
    if (!STATE_OBJECT(b, *out))
        return;
    struct job_phases *p = *out;
    p->beside = beside != 0;
    phases_copy_state(b, &p->phases);
    phase_graphs_copy_state(b, &p->graphs);
    job_phase_rows_copy_state(b, &p->rows);
    phase_batch_copy_state(b, &p->batch);
    collective_table_copy_state(b, &p->collectives);
    burst_pool_copy_state(b, &p->pool);
    phase_graph_copy_state(b, &p->graph);
    for (uint32_t i = 0; i < p->pattern_count; i++)
        phase_graph_copy_state(b, &p->patterns[i]);
    STATE_NO_POINTER(b, p->numbers);
}
