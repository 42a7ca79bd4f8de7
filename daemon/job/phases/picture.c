/* A picture of the CommGram, made in steps of one phase, and sent in parts. */
#include "daemon/job/phases/picture.h"

#include "daemon/analysis/commgram/commgram.h"
#include "daemon/job/phases/job_phases.h"
#include "proto/wire_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct picture {
    char job[65];
    struct picture_ask ask;
    int64_t from_ns, to_ns;
    struct commgram *commgram; /* NULL: there is nothing to be shown */
    struct commgram_picture made;
    struct phase_graph graph;
    struct job_phases_cut cut; /* its phases are owned */
    size_t next;
    uint32_t anchors; /* patterns of the job that were put before the first phase */
};

static uint32_t picture_count_ranks(const struct picture_source *source)
{
    uint32_t seen = job_phases_ranks(source->phases);
    uint64_t ranks = source->ranks > seen ? source->ranks : seen;
    return ranks > COMMGRAM_MAXIMUM_RANKS ? COMMGRAM_MAXIMUM_RANKS : (uint32_t)ranks;
}

static int picture_cut_phases(struct picture *p, struct job_phases *phases, uint32_t ranks)
{
    uint64_t maximum =
        p->ask.phases < PICTURE_MAXIMUM_PHASES ? p->ask.phases : PICTURE_MAXIMUM_PHASES;
    maximum = maximum < COMMGRAM_MAXIMUM_CELLS / ranks ? maximum : COMMGRAM_MAXIMUM_CELLS / ranks;
    p->cut.phases = malloc(maximum * sizeof(*p->cut.phases));
    return p->cut.phases == NULL ? -ENOMEM
                                 : job_phases_cut(phases, p->from_ns, p->to_ns, maximum, &p->cut);
}

static int picture_begin(struct picture *p, const struct picture_source *source,
                         struct commgram_cache *cache)
{
    struct job_phases *phases = source->phases;
    int64_t from, to;
    uint32_t ranks = picture_count_ranks(source);
    int any = job_phases_span(phases, &from, &to) && ranks > 0;
    p->from_ns = p->ask.from_ns == INT64_MIN ? from : p->ask.from_ns;
    p->to_ns = p->ask.to_ns == INT64_MAX ? to : p->ask.to_ns;
    p->to_ns = p->to_ns < p->from_ns ? p->from_ns : p->to_ns;
    int code = any ? picture_cut_phases(p, phases, ranks) : 0;
    if (code != 0 || p->cut.count == 0)
        return code;
    struct commgram_params params = {
        .ranks = ranks,
        .phases = (uint32_t)p->cut.count,
        .communities = p->ask.communities < ranks ? (uint32_t)p->ask.communities : ranks,
        .modelled = p->ask.modelled && job_phases_modelled(phases),
        .only = p->ask.only,
        .only_count = p->ask.only_count,
        .cache = cache,
    };
    return commgram_create(&p->commgram, &params);
}

int picture_create(struct picture **out, const struct picture_source *source,
                   struct picture_ask *ask, struct commgram_cache *cache)
{
    struct picture *p = calloc(1, sizeof(*p));
    if (p == NULL) {
        picture_ask_finish(ask);
        return -ENOMEM;
    }
    p->ask = *ask;
    *ask = (struct picture_ask){0};
    for (size_t i = 0; i < p->ask.only_count; i++) /* a group has the number of its first rank */
        p->ask.only[i] = p->ask.only[i] >> source->group_shift << source->group_shift;
    snprintf(p->job, sizeof(p->job), "%s", source->job);
    int code = picture_begin(p, source, cache);
    if (code != 0) {
        picture_destroy(p);
        return code;
    }
    *out = p;
    return 0;
}

void picture_destroy(struct picture *p)
{
    if (p == NULL)
        return;
    commgram_destroy(p->commgram);
    phase_graph_finish(&p->graph);
    picture_ask_finish(&p->ask);
    free(p->cut.phases);
    free(p);
}

/* What is left when all phases are there, a column at a time. */
static int picture_finish_layout(struct picture *p)
{
    int more = p->commgram == NULL ? 0 : commgram_settle(p->commgram);
    if (more != 0 || p->commgram == NULL)
        return more;
    return commgram_finish(p->commgram, &p->made);
}

int picture_step(struct picture *p, struct job_phases *phases)
{
    if (p->next == p->cut.count)
        return picture_finish_layout(p);
    /* The patterns of the job, in their order, give colours and heights, whatever the span. */
    size_t edges;
    double height;
    const struct phase_edge *pattern =
        p->next > 0 ? NULL : job_phases_pattern(phases, p->anchors, &edges, &height);
    if (pattern != NULL) {
        p->anchors++;
        int failed = commgram_anchor(p->commgram, pattern, edges, height);
        return failed != 0 ? failed : 1;
    }
    const struct phase *phase = &p->cut.phases[p->next];
    /* Up to the next phase: the times of what was merged since lie anywhere between. */
    int64_t end = p->next + 1 < p->cut.count ? phase[1].begin_ns - 1 : p->to_ns;
    int code = job_phases_graph(phases, phase->begin_ns, end, &p->graph);
    const struct commgram_phase column = {
        .begin_ns = phase->begin_ns,
        .end_ns = phase->end_ns,
        .open = phase->end_ns >= job_phases_open_ns(phases),
        .bursts = phase->bursts,
        .other_messages = p->graph.other_messages,
        .other_bytes = p->graph.other_bytes,
        .edges = p->graph.edges,
        .count = p->graph.count,
    };
    code = code != 0 ? code : commgram_add_phase(p->commgram, &column);
    p->next++;
    return code != 0 ? code : 1;
}

/* ---- sending --------------------------------------------------------------------- */

int picture_send(const struct picture *p,
                 int (*send)(void *user, const struct wire_commgram *message), void *user)
{
    const struct commgram_picture *m = &p->made;
    struct wire_commgram message = {.job = p->job,
                                    .from_ns = (uint64_t)p->from_ns,
                                    .to_ns = (uint64_t)p->to_ns,
                                    .phases = p->ask.phases,
                                    .communities = p->ask.communities,
                                    .resolved = p->cut.resolved,
                                    .columns = m->columns,
                                    .columns_count = m->column_count,
                                    .bars = m->bars,
                                    .bars_count = m->bar_count,
                                    .members = m->runs,
                                    .members_count = m->run_count,
                                    .ribbons = m->ribbons,
                                    .ribbons_count = m->ribbon_count};
    struct wire_parts parts = wire_parts_of(WIRE_TYPE_COMMGRAM, &message, "columns");
    int code = 0;
    while (code == 0 && wire_parts_next(&parts))
        code = send(user, &message);
    return code;
}
