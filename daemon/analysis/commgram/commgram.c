/* The CommGram picture of a span: phases are added in order, then bars and ribbons are made. */
#include "daemon/analysis/commgram/commgram.h"

#include "daemon/analysis/commgram/commgram_bars.h"
#include "daemon/analysis/commgram/commgram_curve.h"
#include "daemon/analysis/commgram/commgram_graph.h"
#include "daemon/analysis/commgram/commgram_ribbons.h"
#include "daemon/analysis/tables/arena.h"
#include "daemon/analysis/tables/array.h"
#include "daemon/analysis/tables/saturate.h"
#include "holter/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(CURVE_ABSENT == COMMGRAM_ABSENT && COMMGRAM_SILENT == COMMGRAM_ABSENT,
               "identities and labels of ranks that are absent are the same number");

/* Data of a phase besides its column. */
struct act {
    struct wire_bar_row *own; /* owned; its drawn communities by label: identity and sums */
    uint32_t own_count;
    uint64_t pattern;             /* in the curve: number of the pattern's first phase */
    size_t ribbons, ribbon_count; /* index and number in all ribbons; from and to are identities
                                     until the ribbons are placed */
};

struct commgram {
    struct commgram_params params;
    struct arena memory; /* of arrays by rank or phase */
    bool *only;          /* by rank: its messages are shown; NULL: all are */
    struct commgram_graph graph;
    struct curve *curve; /* owned; of the communities that are found: heights */
    struct curve *drawn; /* owned; of those that are drawn: identities */
    uint32_t *found;     /* of each rank in the last phase: what is found */
    uint32_t *labels;    /* likewise: what is drawn */
    uint32_t *identity;  /* [phase][rank], or COMMGRAM_ABSENT */
    uint32_t *seated;    /* scratch, by rank */
    struct wire_column_row *columns;
    struct act *acts;         /* by phase */
    uint32_t count;           /* phases */
    struct phase_edge *edges; /* owned; shown edges of the last phase */
    size_t edge_count, edge_capacity;
    struct wire_ribbon_row *ribbons; /* owned */
    size_t ribbon_count, ribbon_capacity;
    struct commgram_bars bars;
    enum {
        ADDING,
        SETTLING,
        FINISHED, /* or failed */
    } stage;
    /* While finishing: phases whose ribbons are placed, how many ribbons these have, and the bars
     * of the previous and the next column, in turn. */
    uint32_t placed;
    size_t placed_ribbons;
    struct commgram_names names[2];
};

/* ---- creating ------------------------------------------------------------------- */

static bool commgram_are_valid(const struct commgram_params *p)
{
    return p->ranks >= 1 && p->ranks <= COMMGRAM_MAXIMUM_RANKS && p->phases >= 1 &&
           p->phases <= COMMGRAM_MAXIMUM_PHASES && p->phases <= COMMGRAM_MAXIMUM_CELLS / p->ranks;
}

static int commgram_keep_selected(struct commgram *c)
{
    const struct commgram_params *p = &c->params;
    if (p->only_count == 0)
        return 0;
    ARENA_TAKE(&c->memory, c->only, p->ranks);
    if (c->only == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < p->only_count; i++)
        if (p->only[i] < p->ranks)
            c->only[p->only[i]] = true;
    return 0;
}

int commgram_create(struct commgram **out, const struct commgram_params *params)
{
    if (!commgram_are_valid(params))
        return -HOLTER_ERANGE;
    struct commgram *c = calloc(1, sizeof(*c));
    if (c == NULL)
        return -ENOMEM;
    struct curve_params curve = CURVE_DEFAULTS;
    curve.most_ranks = params->ranks;
    c->params = *params;
    ARENA_TAKE(&c->memory, c->found, params->ranks);
    ARENA_TAKE(&c->memory, c->labels, params->ranks);
    ARENA_TAKE(&c->memory, c->seated, params->ranks);
    ARENA_TAKE(&c->memory, c->identity, (size_t)params->phases * params->ranks);
    ARENA_TAKE(&c->memory, c->columns, params->phases);
    ARENA_TAKE(&c->memory, c->acts, params->phases);
    if (commgram_graph_init(&c->graph, params) != 0 || curve_create(&c->curve, &curve) != 0 ||
        curve_create(&c->drawn, &curve) != 0 || commgram_keep_selected(c) != 0 ||
        c->memory.failed) {
        commgram_destroy(c);
        return -ENOMEM;
    }
    c->params.only = NULL;
    *out = c;
    return 0;
}

void commgram_destroy(struct commgram *c)
{
    if (c == NULL)
        return;
    for (uint32_t i = 0; c->acts != NULL && i < c->params.phases; i++)
        free(c->acts[i].own);
    commgram_graph_finish(&c->graph);
    curve_destroy(c->curve);
    curve_destroy(c->drawn);
    commgram_bars_finish(&c->bars);
    commgram_names_finish(&c->names[0]);
    commgram_names_finish(&c->names[1]);
    arena_finish(&c->memory);
    free(c->edges);
    free(c->ribbons);
    free(c);
}

/* ---- one phase ------------------------------------------------------------------ */

static bool commgram_is_shown(const struct commgram *c, const struct phase_edge *e)
{
    return c->only == NULL || c->only[e->source] || c->only[e->destination];
}

/* Cuts the graph that was read into the communities that are drawn, and names these. */
static int name_ranks(struct commgram *c, const struct commgram_parts *found, uint32_t *drawn,
                      uint32_t *identity)
{
    struct curve_point unused;
    const uint32_t communities = c->params.communities != 0 ? c->params.communities : found->count;
    int rc = commgram_graph_cut(&c->graph, found, communities, c->labels, drawn);
    const struct curve_phase phase = {.labels = c->labels, .ranks = c->params.ranks};
    return rc != 0 ? rc : curve_append(c->drawn, &phase, &unused, identity);
}

int commgram_anchor(struct commgram *c, const struct phase_edge *edges, size_t count, double height)
{
    struct commgram_parts found = {.labels = c->found};
    const struct curve_phase phase = {.labels = c->found, .ranks = c->params.ranks};
    uint32_t drawn;
    if (c->stage != ADDING || c->count > 0)
        return -HOLTER_EUSAGE;
    int rc = commgram_graph_read(&c->graph, edges, count, &found);
    rc = rc == 0 ? curve_append_at(c->curve, &phase, height) : rc;
    return rc == 0 ? name_ranks(c, &found, &drawn, c->seated) : rc;
}

static uint32_t *identities_of(const struct commgram *c, uint32_t phase)
{
    return c->identity + (size_t)phase * c->params.ranks;
}

/* Makes the ribbons of the last phase, to where their destinations are in the next phase, if any.
 */
static int add_ribbons(struct commgram *c, uint32_t phase)
{
    struct wire_column_row *column = &c->columns[phase];
    const uint32_t *here = identities_of(c, phase);
    const uint32_t *next = phase + 1 < c->count ? identities_of(c, phase + 1) : here;
    size_t count = c->edge_count;
    if (ARRAY_FIT(c->ribbons, c->ribbon_capacity, c->ribbon_count + count) != 0)
        return -ENOMEM;
    struct wire_ribbon_row *rows = c->ribbons + c->ribbon_count, rest = {0};
    for (size_t i = 0; i < count; i++) {
        const struct phase_edge *e = &c->edges[i];
        uint32_t to = next[e->destination];
        to = to == COMMGRAM_ABSENT ? here[e->destination] : to;
        rows[i] = (struct wire_ribbon_row){phase,       here[e->source], to, 0, e->modelled != 0,
                                           e->messages, e->bytes};
    }
    if (commgram_ribbons_join(rows, &count) != 0 ||
        commgram_ribbons_limit(rows, &count, COMMGRAM_MAXIMUM_RIBBONS / c->params.phases, &rest) !=
            0)
        return -ENOMEM;
    c->acts[phase].ribbons = c->ribbon_count;
    c->acts[phase].ribbon_count = count;
    c->ribbon_count += count;
    column->folded = saturated_sum(column->folded, rest.messages);
    column->folded_bytes = saturated_sum(column->folded_bytes, rest.bytes);
    for (size_t i = 0; i < count; i++) {
        column->messages = saturated_sum(column->messages, rows[i].messages);
        column->bytes = saturated_sum(column->bytes, rows[i].bytes);
        column->modelled = saturated_sum(column->modelled, rows[i].modelled ? rows[i].messages : 0);
        column->modelled_bytes =
            saturated_sum(column->modelled_bytes, rows[i].modelled ? rows[i].bytes : 0);
    }
    return 0;
}

/* Stores the shown edges of a phase: in the sums of its bars, and as a copy for the ribbons. */
static void commgram_store_edges(struct commgram *c, const struct commgram_phase *phase,
                                 struct wire_column_row *column, struct wire_bar_row *own)
{
    c->edge_count = 0;
    for (size_t i = 0; i < phase->count; i++) {
        struct phase_edge e = phase->edges[i];
        e.modelled = e.modelled != 0;
        if (e.modelled != 0 && !c->params.modelled)
            continue;
        if (!commgram_graph_has(&c->graph, &e)) {
            column->folded = saturated_sum(column->folded, e.messages);
            column->folded_bytes = saturated_sum(column->folded_bytes, e.bytes);
            continue;
        }
        if (!commgram_is_shown(c, &e))
            continue;
        struct wire_bar_row *from = &own[c->labels[e.source]];
        struct wire_bar_row *to = &own[c->labels[e.destination]];
        from->sent = saturated_sum(from->sent, e.messages);
        from->sent_bytes = saturated_sum(from->sent_bytes, e.bytes);
        to->received = saturated_sum(to->received, e.messages);
        to->received_bytes = saturated_sum(to->received_bytes, e.bytes);
        c->edges[c->edge_count++] = e;
    }
}

static struct wire_column_row commgram_column_of(const struct commgram_phase *phase)
{
    return (struct wire_column_row){.begin_ns = (uint64_t)phase->begin_ns,
                                    .end_ns = (uint64_t)phase->end_ns,
                                    .open = phase->open,
                                    .bursts = phase->bursts,
                                    .folded = phase->other_messages,
                                    .folded_bytes = phase->other_bytes};
}

/* Puts a phase on the curve. What it resembles is said by columns, if any has that pattern. */
static int commgram_add_point(struct commgram *c, const struct commgram_parts *found,
                              struct wire_column_row *column)
{
    const struct curve_phase phase = {.labels = found->labels, .ranks = c->params.ranks};
    struct curve_point point;
    int rc = curve_append(c->curve, &phase, &point, NULL);
    if (rc != 0)
        return rc;
    column->ranks = c->graph.active_count;
    column->communities = found->count;
    column->modularity = found->modularity;
    column->height = point.height;
    column->difference = c->count > 0 ? point.difference : 0;
    for (uint32_t i = 0; i < c->count && column->resembles == 0; i++)
        if (c->acts[i].pattern == point.resembles)
            column->resembles = i + 1;
    column->returned = point.returned && column->resembles > 0;
    column->resemblance = column->resembles > 0 ? point.resemblance : 0;
    c->acts[c->count].pattern = point.returned ? point.resembles : point.phase;
    return 0;
}

static int add_phase(struct commgram *c, const struct commgram_phase *phase)
{
    struct wire_column_row column = commgram_column_of(phase);
    struct commgram_parts found = {.labels = c->found};
    uint32_t *identity = identities_of(c, c->count), drawn;
    int rc = commgram_graph_read(&c->graph, phase->edges, phase->count, &found);
    rc = rc == 0 ? commgram_add_point(c, &found, &column) : rc;
    rc = rc == 0 ? name_ranks(c, &found, &drawn, identity) : rc;
    if (rc != 0)
        return rc;
    struct wire_bar_row *own = calloc((size_t)drawn + 1, sizeof(*own));
    if (own == NULL)
        return -ENOMEM;
    c->acts[c->count].own = own;
    c->acts[c->count].own_count = drawn;
    for (uint32_t r = 0; r < c->params.ranks; r++)
        if (c->labels[r] != COMMGRAM_ABSENT)
            own[c->labels[r]].community = identity[r];
    c->count++;
    if (c->count > 1 && add_ribbons(c, c->count - 2) != 0)
        return -ENOMEM;
    if (ARRAY_FIT(c->edges, c->edge_capacity, phase->count) != 0)
        return -ENOMEM;
    commgram_store_edges(c, phase, &column, own);
    c->columns[c->count - 1] = column;
    return 0;
}

int commgram_add_phase(struct commgram *c, const struct commgram_phase *phase)
{
    if (c->stage != ADDING)
        return -HOLTER_EUSAGE;
    if (c->count == c->params.phases || phase->count > COMMGRAM_MAXIMUM_EDGES)
        return -HOLTER_ELIMIT;
    int rc = add_phase(c, phase);
    c->stage = rc == 0 ? ADDING : FINISHED;
    return rc;
}

/* ---- the picture ---------------------------------------------------------------- */

/* Ranks get the identity of their first phase in the phases before it. */
static void seat_first(struct commgram *c)
{
    memset(c->seated, 0xff, c->params.ranks * sizeof(*c->seated));
    for (uint32_t phase = c->count; phase-- > 0;) {
        const uint32_t *identity = identities_of(c, phase);
        for (uint32_t r = 0; r < c->params.ranks; r++)
            c->seated[r] = identity[r] != COMMGRAM_ABSENT ? identity[r] : c->seated[r];
    }
}

/* Of a column, without the bar of silent ranks. */
static uint32_t commgram_maximum_bars(const struct commgram *c)
{
    uint32_t maximum = c->params.communities;
    for (uint32_t phase = 0; c->params.communities == 0 && phase < c->count; phase++)
        maximum = c->acts[phase].own_count > maximum ? c->acts[phase].own_count : maximum;
    return maximum;
}

static int commgram_add_bars(struct commgram *c, uint32_t column, struct commgram_names *names)
{
    uint32_t phase = column < c->count ? column : column - 1;
    const uint32_t *identity = identities_of(c, phase);
    for (uint32_t r = 0; r < c->params.ranks; r++)
        c->seated[r] = identity[r] != COMMGRAM_ABSENT ? identity[r] : c->seated[r];
    const struct commgram_seats seats = {.column = column,
                                         .own = c->acts[phase].own,
                                         .own_count = c->acts[phase].own_count,
                                         .identity = c->seated,
                                         .ranks = c->params.ranks,
                                         .communities = commgram_maximum_bars(c)};
    size_t before = c->bars.bar_count;
    int rc = commgram_bars_add(&c->bars, &seats, names);
    if (rc == 0 && column < c->count)
        c->columns[column].bars = (uint32_t)(c->bars.bar_count - before);
    return rc;
}

/* Replaces identities by bars; ribbons whose identities share a bar are joined. */
static int commgram_place_ribbons(struct commgram *c, uint32_t phase,
                                  const struct commgram_names *from,
                                  const struct commgram_names *to)
{
    size_t count = c->acts[phase].ribbon_count;
    if (count == 0) /* ribbons may be NULL */
        return 0;
    struct wire_ribbon_row *rows = c->ribbons + c->acts[phase].ribbons;
    for (size_t i = 0; i < count; i++) {
        rows[i].from = commgram_names_find(from, rows[i].from);
        rows[i].to = commgram_names_find(to, rows[i].to);
    }
    if (commgram_ribbons_join(rows, &count) != 0)
        return -ENOMEM;
    memmove(c->ribbons + c->placed_ribbons, rows, count * sizeof(*rows));
    c->placed_ribbons += count;
    return 0;
}

static int begin_settling(struct commgram *c)
{
    if (c->count == 0)
        return 0;
    seat_first(c);
    int rc = add_ribbons(c, c->count - 1);
    return rc != 0 ? rc : commgram_add_bars(c, 0, &c->names[0]);
}

static int settle_phase(struct commgram *c)
{
    uint32_t phase = c->placed++;
    struct commgram_names *from = &c->names[phase % 2], *to = &c->names[(phase + 1) % 2];
    int rc = commgram_add_bars(c, phase + 1, to);
    return rc != 0 ? rc : commgram_place_ribbons(c, phase, from, to);
}

int commgram_settle(struct commgram *c)
{
    int rc = 0;
    if (c->stage == FINISHED)
        return -HOLTER_EUSAGE;
    if (c->stage == ADDING) {
        c->stage = SETTLING;
        rc = begin_settling(c);
    } else if (c->placed < c->count) {
        rc = settle_phase(c);
    }
    if (rc != 0)
        c->stage = FINISHED;
    return rc != 0 ? rc : c->placed < c->count;
}

int commgram_finish(struct commgram *c, struct commgram_picture *out)
{
    int rc = 1;
    while (rc > 0)
        rc = commgram_settle(c);
    if (rc != 0)
        return rc;
    c->stage = FINISHED;
    *out = (struct commgram_picture){.columns = c->columns,
                                     .bars = c->bars.bars,
                                     .runs = c->bars.runs,
                                     .ribbons = c->ribbons,
                                     .column_count = c->count,
                                     .bar_count = c->bars.bar_count,
                                     .run_count = c->bars.run_count,
                                     .ribbon_count = c->placed_ribbons,
                                     .cached = c->graph.cached};
    return 0;
}
