/* Rows of phases and points of the curve, closed ones in order, and open ones. */
#include "daemon/job/phases/job_phase_rows.h"

#include "daemon/analysis/commgram/commgram_curve.h"
#include "daemon/analysis/tables/array.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* What is known of one phase. */
struct phase_record {
    struct wire_phase_row phase;
    struct wire_curve_point_row point; /* of phase 0: none */
};

struct open_phase {
    struct phase phase;
    struct phase_record record;
    bool known; /* communities and curve are */
};

struct job_phase_rows {
    struct phase_labels *finder; /* of open phases */
    struct curve *curve;
    uint32_t *labels; /* buffer */
    size_t label_capacity;
    struct phase_record *kept; /* ring by id */
    size_t retained_capacity;
    uint64_t closed,
        unpublished_from;  /* ids: the newest, and the first that was not listed as a change */
    uint64_t before_first; /* phases of the job before those with ids: added to what is listed */
    struct open_phase open[JOB_PHASE_ROWS_OPEN], before[JOB_PHASE_ROWS_OPEN];
    size_t open_count, before_count;
    struct wire_phase_row *phases; /* buffers for messages */
    struct wire_curve_point_row *points;
    size_t phase_capacity, point_capacity;
};

int job_phase_rows_create(struct job_phase_rows **out)
{
    struct curve_params curve = CURVE_DEFAULTS;
    struct job_phase_rows *r = calloc(1, sizeof(*r));
    if (r == NULL)
        return -ENOMEM;
    curve.most_ranks = PHASE_LABELS_RANKS;
    r->unpublished_from = 1;
    int code = phase_labels_create(&r->finder);
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
    phase_labels_destroy(r->finder);
    curve_destroy(r->curve);
    free(r->labels);
    free(r->kept);
    free(r->phases);
    free(r->points);
    free(r);
}

/* ---- rows -------------------------------------------------------------------------- */

static struct wire_phase_row phase_rows_make_row(const struct phase *p, uint64_t id, int open)
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

static void phase_rows_set_figures(struct wire_phase_row *row, const struct phase_figures *f)
{
    row->messages = f->messages;
    row->bytes = f->bytes;
    row->modelled = f->modelled;
    row->modelled_bytes = f->modelled_bytes;
    row->pairs = f->pairs;
    row->ranks = f->ranks;
    row->communities = f->communities;
    row->modularity = f->modularity;
    row->folded = f->folded;
}

static struct wire_curve_point_row phase_rows_make_point(const struct wire_phase_row *phase,
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

/* The curve numbers its phases in the order of their addition, so it gets every phase: one without
 * communities as a phase without ranks, whose point is not published. */
static int phase_rows_append(struct job_phase_rows *r, const struct phase_batch_item *item,
                             struct phase_record *record)
{
    struct curve_point point;
    const uint32_t *labels = item->labels;
    if (item->code != 0) {
        if (ARRAY_FIT(r->labels, r->label_capacity, (size_t)item->ranks + 1) != 0)
            return -ENOMEM;
        for (uint32_t i = 0; i < item->ranks; i++)
            r->labels[i] = CURVE_ABSENT;
        labels = r->labels;
    }
    const struct curve_phase phase = {.labels = labels, .ranks = item->ranks};
    int code = curve_append(r->curve, &phase, &point, NULL);
    if (code == 0 && item->code == 0)
        record->point = phase_rows_make_point(&record->phase, &point);
    return code;
}

int job_phase_rows_close(struct job_phase_rows *r, const struct phase_batch_item *item)
{
    uint64_t id = item->phase.id;
    struct phase_record record = {.phase = phase_rows_make_row(&item->phase, id, 0)};
    if (item->analysed && item->code != -ENOMEM)
        phase_rows_set_figures(&record.phase, &item->figures);
    int code = phase_rows_append(r, item, &record);
    size_t need = id < JOB_PHASE_ROWS_RETAINED ? id : JOB_PHASE_ROWS_RETAINED;
    if (ARRAY_FIT(r->kept, r->retained_capacity, need) != 0)
        return -ENOMEM;
    r->kept[(id - 1) % JOB_PHASE_ROWS_RETAINED] = record;
    r->closed = id;
    return code;
}

void job_phase_rows_add_late(struct job_phase_rows *r, uint64_t id, const struct burst_sums *burst)
{
    if (id > r->closed || r->closed - id >= JOB_PHASE_ROWS_RETAINED)
        return;
    struct wire_phase_row *row = &r->kept[(id - 1) % JOB_PHASE_ROWS_RETAINED].phase;
    for (size_t i = 0; i < burst->pair_count; i++) {
        const struct burst_pair *pair = &burst->pairs[i];
        *(pair->modelled ? &row->modelled : &row->messages) += pair->messages;
        *(pair->modelled ? &row->modelled_bytes : &row->bytes) += pair->bytes;
    }
    row->folded += burst->others.messages;
    row->bursts++;
    r->unpublished_from = id < r->unpublished_from ? id : r->unpublished_from;
}

int job_phase_rows_is_new(const struct job_phase_rows *r, double *height)
{
    const struct phase_record *record =
        r->closed == 0 ? NULL : &r->kept[(r->closed - 1) % JOB_PHASE_ROWS_RETAINED];
    if (record == NULL || record->point.phase == 0 || record->point.returned)
        return 0;
    *height = record->point.height;
    return 1;
}

/* ---- open ones ----------------------------------------------------------------------- */

static bool phase_rows_equal(const struct phase *a, const struct phase *b)
{
    return a->begin_ns == b->begin_ns && a->end_ns == b->end_ns && a->bursts == b->bursts &&
           a->messages == b->messages && a->bytes == b->bytes;
}

static const struct open_phase *phase_rows_find_before(const struct job_phase_rows *r,
                                                       const struct phase *phase)
{
    for (size_t i = 0; i < r->before_count; i++) {
        if (r->before[i].known && phase_rows_equal(&r->before[i].phase, phase))
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

int job_phase_rows_has_open(const struct job_phase_rows *r, const struct phase *phase)
{
    return phase_rows_find_before(r, phase) != NULL;
}

static int phase_rows_analyse(struct job_phase_rows *r, uint32_t ranks,
                              const struct phase_graph *graph, struct open_phase *open)
{
    struct curve_point point;
    struct phase_figures figures;
    if (ARRAY_FIT(r->labels, r->label_capacity, (size_t)ranks + 1) != 0)
        return -ENOMEM;
    int code = phase_labels_find(r->finder, ranks, graph, r->labels, &figures);
    if (code != -ENOMEM)
        phase_rows_set_figures(&open->record.phase, &figures);
    open->known = code == 0;
    const struct curve_phase labelled = {.labels = r->labels, .ranks = ranks};
    if (code == 0 && curve_provisional(r->curve, &labelled, &point, NULL) == 0)
        open->record.point = phase_rows_make_point(&open->record.phase, &point);
    return code;
}

int job_phase_rows_add_open(struct job_phase_rows *r, uint64_t id, const struct phase *phase,
                            uint32_t ranks, const struct phase_graph *graph)
{
    if (r->open_count == JOB_PHASE_ROWS_OPEN)
        return -ENOMEM;
    struct open_phase *open = &r->open[r->open_count++];
    const struct open_phase *before = phase_rows_find_before(r, phase);
    int code = 0;
    *open = (struct open_phase){.phase = *phase,
                                .record = {.phase = phase_rows_make_row(phase, id, 1)}};
    if (before != NULL) {
        open->record = before->record;
        open->record.phase.id = id;
        open->record.point.phase = before->record.point.phase == 0 ? 0 : id;
        open->known = true;
    } else if (graph != NULL) {
        code = phase_rows_analyse(r, ranks, graph, open);
    }
    return code;
}

/* ---- listing ------------------------------------------------------------------------- */

static void phase_rows_put(struct job_phase_rows *r, struct job_phase_list *out,
                           const struct phase_record *record)
{
    struct wire_phase_row *phase = &r->phases[out->phase_count++];
    *phase = record->phase;
    phase->id += r->before_first;
    if (record->point.phase == 0)
        return;
    struct wire_curve_point_row *point = &r->points[out->point_count++];
    *point = record->point;
    point->phase += r->before_first;
    point->resembles += point->resembles == 0 ? 0 : r->before_first;
}

static int phase_rows_list(struct job_phase_rows *r, uint64_t from, struct job_phase_list *out)
{
    uint64_t oldest =
        r->closed > JOB_PHASE_ROWS_RETAINED ? r->closed - JOB_PHASE_ROWS_RETAINED + 1 : 1;
    from = from < oldest ? oldest : from;
    size_t maximum = (size_t)(r->closed + 1 - from) + r->open_count;
    if (ARRAY_FIT(r->phases, r->phase_capacity, maximum + 1) != 0 ||
        ARRAY_FIT(r->points, r->point_capacity, maximum + 1) != 0)
        return -ENOMEM;
    *out = (struct job_phase_list){.phases = r->phases, .points = r->points};
    for (uint64_t id = from; id <= r->closed; id++)
        phase_rows_put(r, out, &r->kept[(id - 1) % JOB_PHASE_ROWS_RETAINED]);
    for (size_t i = 0; i < r->open_count; i++)
        phase_rows_put(r, out, &r->open[i].record);
    return 0;
}

int job_phase_rows_list_changes(struct job_phase_rows *r, struct job_phase_list *out)
{
    int code = phase_rows_list(r, r->unpublished_from, out);
    if (code == 0)
        r->unpublished_from = r->closed + 1;
    return code;
}

void job_phase_rows_mark_published(struct job_phase_rows *r, uint64_t published)
{
    r->before_first = published > r->closed ? published - r->closed : 0;
    r->unpublished_from = published - r->before_first + 1;
}

int job_phase_rows_list_all(struct job_phase_rows *r, struct job_phase_list *out)
{
    return phase_rows_list(r, 1, out);
}

/* ---- state --------------------------------------------------------------------------- */

void job_phase_rows_copy_state(struct state_bytes *b, struct job_phase_rows **out)
{
    if (!STATE_OBJECT(b, *out))
        return;
    struct job_phase_rows *r = *out;
    const size_t most = JOB_PHASE_ROWS_RETAINED;
    phase_labels_copy_state(b, &r->finder);
    curve_copy_state(b, &r->curve);
    STATE_NO_ARRAY(b, r->labels, r->label_capacity);
    STATE_ARRAY(b, r->kept, r->closed < most ? r->closed : most, r->retained_capacity);
    STATE_NO_ARRAY(b, r->phases, r->phase_capacity);
    STATE_NO_ARRAY(b, r->points, r->point_capacity);
}
