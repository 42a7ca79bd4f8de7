#include "daemon/job_phase_rows.h"

#include "daemon/analysis/array.h"
#include "daemon/analysis/communities.h"
#include "daemon/analysis/curve.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* What is known of one phase. */
struct told {
    struct wire_phase_row phase;
    struct wire_curve_point_row point; /* of phase 0: none */
};

struct open_phase {
    struct phase phase;
    struct told told;
    bool known; /* communities and curve are */
};

struct job_phase_rows {
    struct communities *communities, *open_communities;
    struct curve *curve;
    uint32_t *labels;
    size_t label_room;
    struct communities_edge *edges;
    size_t edge_room;
    struct told *kept; /* ring by id */
    size_t kept_room;
    uint64_t closed, news_from; /* ids: the newest, and the first that was not told as news */
    struct open_phase open[JOB_PHASE_ROWS_OPEN], before[JOB_PHASE_ROWS_OPEN];
    size_t open_count, before_count;
    struct wire_phase_row *phases; /* room for messages */
    struct wire_curve_point_row *points;
    size_t phase_room, point_room;
};

int job_phase_rows_create(struct job_phase_rows **out)
{
    struct communities_params communities = COMMUNITIES_DEFAULTS;
    struct curve_params curve = CURVE_DEFAULTS;
    struct job_phase_rows *r = calloc(1, sizeof(*r));
    if (r == NULL)
        return -ENOMEM;
    communities.most_vertices = curve.most_ranks = JOB_PHASE_ROWS_RANKS;
    r->news_from = 1;
    int code = communities_create(&r->communities, &communities);
    code = code != 0 ? code : communities_create(&r->open_communities, &communities);
    code = code != 0 ? code : curve_create(&r->curve, &curve);
    if (code != 0) {
        job_phase_rows_destroy(r);
        return code;
    }
    *out = r;
    return 0;
}

void job_phase_rows_destroy(struct job_phase_rows *r)
{
    if (r == NULL)
        return;
    communities_destroy(r->communities);
    communities_destroy(r->open_communities);
    curve_destroy(r->curve);
    free(r->labels);
    free(r->edges);
    free(r->kept);
    free(r->phases);
    free(r->points);
    free(r);
}

/* ---- from a graph to communities --------------------------------------------------- */

static void count_edge(struct wire_phase_row *row, const struct phase_edge *e)
{
    uint64_t *messages = e->modelled ? &row->modelled : &row->messages;
    uint64_t *bytes = e->modelled ? &row->modelled_bytes : &row->bytes;
    *messages += e->messages;
    *bytes += e->bytes;
}

/* Sums of a graph; edges of pairs, and which ranks are there, for the communities.
 * @return edges */
static size_t count_graph(struct job_phase_rows *r, const struct phase_graph *graph, uint32_t ranks,
                          struct wire_phase_row *row)
{
    size_t count = 0;
    const struct phase_edge *before = NULL;
    for (uint32_t i = 0; i < ranks; i++)
        r->labels[i] = CURVE_ABSENT;
    row->messages = row->bytes = row->modelled = row->modelled_bytes = row->pairs = 0;
    for (size_t i = 0; i < graph->count; i++) {
        const struct phase_edge *e = &graph->edges[i];
        bool same =
            before != NULL && before->source == e->source && before->destination == e->destination;
        before = e;
        count_edge(row, e);
        row->pairs += !same;
        if (e->source >= ranks || e->destination >= ranks)
            continue;
        r->labels[e->source] = r->labels[e->destination] = 0;
        if (e->source == e->destination)
            continue;
        double weight = (double)e->messages + (double)e->bytes;
        if (same)
            r->edges[count - 1].weight += weight;
        else
            r->edges[count++] = (struct communities_edge){e->source, e->destination, weight};
    }
    return count;
}

/* Labels of the ranks that communicate, at the greatest modularity. */
static int label(struct job_phase_rows *r, struct communities *communities, uint32_t ranks,
                 size_t edges, struct wire_phase_row *row)
{
    uint32_t absent = 0;
    bool *present = malloc(ranks * sizeof(*present));
    if (present == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < ranks; i++) {
        present[i] = r->labels[i] != CURVE_ABSENT;
        absent += !present[i];
    }
    int code = communities_update(communities, ranks, r->edges, edges);
    uint32_t best = code != 0 ? 0 : communities_best(communities);
    code = code != 0 ? code : communities_cut(communities, ranks - best, r->labels);
    if (code == 0) {
        row->ranks = ranks - absent;
        row->communities = ranks - best - absent;
        row->modularity = communities_modularity(communities, best);
    }
    for (uint32_t i = 0; i < ranks; i++) {
        if (code != 0 || !present[i])
            r->labels[i] = CURVE_ABSENT;
    }
    free(present);
    return code;
}

/* @return 0: labels are those of the phase; else they are not known */
static int analyse(struct job_phase_rows *r, struct communities *communities, uint32_t ranks,
                   const struct phase_graph *graph, struct wire_phase_row *row)
{
    if (array_fit(&r->labels, sizeof(*r->labels), &r->label_room, ranks + 1) != 0 ||
        array_fit(&r->edges, sizeof(*r->edges), &r->edge_room, graph->count + 1) != 0)
        return -ENOMEM;
    size_t edges = count_graph(r, graph, ranks, row);
    row->folded = graph->other_messages;
    return ranks == 0 ? -EINVAL : label(r, communities, ranks, edges, row);
}

/* ---- rows -------------------------------------------------------------------------- */

static struct wire_phase_row phase_row(const struct phase *p, uint64_t id, int open)
{
    return (struct wire_phase_row){
        .id = id,
        .open = (uint64_t)open,
        .begin_ns = (uint64_t)p->begin_ns,
        .end_ns = (uint64_t)p->end_ns,
        .bursts = p->bursts,
        .messages = p->messages,
        .bytes = p->bytes,
        .modularity = NAN,
    };
}

static struct wire_curve_point_row point_row(const struct wire_phase_row *phase,
                                             const struct curve_point *p)
{
    return (struct wire_curve_point_row){
        .phase = phase->id,
        .provisional = phase->open,
        .begin_ns = phase->begin_ns,
        .end_ns = phase->end_ns,
        .height = p->height,
        .difference = p->difference,
        .returned = p->returned,
        .resembles = p->resembles == CURVE_NO_PHASE ? 0 : p->resembles + 1,
        .resemblance = p->resemblance,
        .communities = phase->communities,
    };
}

/* The curve counts its phases by what it is given, so it gets each: one of which nothing is known as
 * a phase without ranks, whose point is not told. */
static int append(struct job_phase_rows *r, uint32_t ranks, bool known, struct told *told)
{
    struct curve_point point;
    if (!known && array_fit(&r->labels, sizeof(*r->labels), &r->label_room, ranks + 1) != 0)
        return -ENOMEM;
    for (uint32_t i = 0; !known && i < ranks; i++)
        r->labels[i] = CURVE_ABSENT;
    const struct curve_phase phase = {.labels = r->labels, .ranks = ranks};
    int code = curve_append(r->curve, &phase, &point, NULL);
    if (code == 0 && known)
        told->point = point_row(&told->phase, &point);
    return code;
}

int job_phase_rows_close(struct job_phase_rows *r, const struct phase *phase, uint32_t ranks,
                         const struct phase_graph *graph)
{
    struct told told = {.phase = phase_row(phase, phase->id, 0)};
    ranks = ranks > JOB_PHASE_ROWS_RANKS ? JOB_PHASE_ROWS_RANKS : ranks;
    bool known = graph != NULL && analyse(r, r->communities, ranks, graph, &told.phase) == 0;
    int code = append(r, ranks, known, &told);
    size_t need = phase->id < JOB_PHASE_ROWS_KEPT ? phase->id : JOB_PHASE_ROWS_KEPT;
    if (array_fit(&r->kept, sizeof(*r->kept), &r->kept_room, need) != 0)
        return -ENOMEM;
    r->kept[(phase->id - 1) % JOB_PHASE_ROWS_KEPT] = told;
    r->closed = phase->id;
    return code;
}

int job_phase_rows_is_new(const struct job_phase_rows *r)
{
    const struct told *told =
        r->closed == 0 ? NULL : &r->kept[(r->closed - 1) % JOB_PHASE_ROWS_KEPT];
    return told != NULL && told->point.phase != 0 && !told->point.returned;
}

/* ---- open ones ----------------------------------------------------------------------- */

static bool is_same(const struct phase *a, const struct phase *b)
{
    return a->begin_ns == b->begin_ns && a->end_ns == b->end_ns && a->bursts == b->bursts &&
           a->messages == b->messages && a->bytes == b->bytes;
}

static const struct open_phase *find_before(const struct job_phase_rows *r,
                                            const struct phase *phase)
{
    for (size_t i = 0; i < r->before_count; i++) {
        if (r->before[i].known && is_same(&r->before[i].phase, phase))
            return &r->before[i];
    }
    return NULL;
}

void job_phase_rows_begin_open(struct job_phase_rows *r)
{
    memcpy(r->before, r->open, r->open_count * sizeof(r->open[0]));
    r->before_count = r->open_count;
    r->open_count = 0;
}

int job_phase_rows_knows(const struct job_phase_rows *r, const struct phase *phase)
{
    return find_before(r, phase) != NULL;
}

int job_phase_rows_add_open(struct job_phase_rows *r, uint64_t id, const struct phase *phase,
                            uint32_t ranks, const struct phase_graph *graph)
{
    if (r->open_count == JOB_PHASE_ROWS_OPEN)
        return -ENOMEM;
    struct open_phase *open = &r->open[r->open_count++];
    const struct open_phase *before = find_before(r, phase);
    struct curve_point point;
    int code = 0;
    ranks = ranks > JOB_PHASE_ROWS_RANKS ? JOB_PHASE_ROWS_RANKS : ranks;
    *open = (struct open_phase){.phase = *phase, .told = {.phase = phase_row(phase, id, 1)}};
    if (before != NULL) {
        open->told = before->told;
        open->told.phase.id = id;
        open->told.point.phase = before->told.point.phase == 0 ? 0 : id;
        open->known = true;
    } else if (graph != NULL) {
        code = analyse(r, r->open_communities, ranks, graph, &open->told.phase);
        open->known = code == 0;
        const struct curve_phase labelled = {.labels = r->labels, .ranks = ranks};
        if (code == 0 && curve_provisional(r->curve, &labelled, &point, NULL) == 0)
            open->told.point = point_row(&open->told.phase, &point);
    }
    return code;
}

/* ---- telling ------------------------------------------------------------------------- */

static void put(struct job_phase_rows *r, struct job_phase_list *out, const struct told *told)
{
    r->phases[out->phase_count++] = told->phase;
    if (told->point.phase != 0)
        r->points[out->point_count++] = told->point;
}

static int list(struct job_phase_rows *r, uint64_t from, struct job_phase_list *out)
{
    uint64_t oldest = r->closed > JOB_PHASE_ROWS_KEPT ? r->closed - JOB_PHASE_ROWS_KEPT + 1 : 1;
    from = from < oldest ? oldest : from;
    size_t most = (size_t)(r->closed + 1 - from) + r->open_count;
    if (array_fit(&r->phases, sizeof(*r->phases), &r->phase_room, most + 1) != 0 ||
        array_fit(&r->points, sizeof(*r->points), &r->point_room, most + 1) != 0)
        return -ENOMEM;
    *out = (struct job_phase_list){.phases = r->phases, .points = r->points};
    for (uint64_t id = from; id <= r->closed; id++)
        put(r, out, &r->kept[(id - 1) % JOB_PHASE_ROWS_KEPT]);
    for (size_t i = 0; i < r->open_count; i++)
        put(r, out, &r->open[i].told);
    return 0;
}

int job_phase_rows_news(struct job_phase_rows *r, struct job_phase_list *out)
{
    int code = list(r, r->news_from, out);
    if (code == 0)
        r->news_from = r->closed + 1;
    return code;
}

void job_phase_rows_again(struct job_phase_rows *r)
{
    r->news_from = 1;
}

int job_phase_rows_all(struct job_phase_rows *r, struct job_phase_list *out)
{
    return list(r, 1, out);
}

size_t job_phase_rows_bytes(const struct job_phase_rows *r)
{
    return sizeof(*r) + communities_bytes(r->communities) + communities_bytes(r->open_communities) +
           curve_bytes(r->curve) + r->label_room * sizeof(*r->labels) +
           r->edge_room * sizeof(*r->edges) + r->kept_room * sizeof(*r->kept) +
           r->phase_room * sizeof(*r->phases) + r->point_room * sizeof(*r->points);
}
