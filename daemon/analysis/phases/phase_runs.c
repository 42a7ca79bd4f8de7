#include "daemon/analysis/phases/phase_runs.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PLACES 512u
#define TOGETHER 4u /* places that a piece may have: those of one group, the latest first */
#define GROUPS (PLACES / TOGETHER) /* a power of two */

static size_t heap_of(const struct phase_run *run)
{
    return run->span_count * sizeof(*run->spans) + run->block_count * sizeof(*run->blocks);
}

static void phase_runs_release(struct phase_runs *runs, struct phase_run *run)
{
    runs->heap -= heap_of(run);
    free(run->spans);
    free(run->blocks);
    *run = (struct phase_run){.piece = {NULL, 0, 0}};
}

void phase_runs_finish(struct phase_runs *runs)
{
    for (size_t i = 0; runs->of != NULL && i < PLACES; i++)
        phase_runs_release(runs, &runs->of[i]);
    free(runs->of);
    *runs = (struct phase_runs){0};
}

size_t phase_runs_bytes(const struct phase_runs *runs)
{
    return runs->heap + (runs->of == NULL ? 0 : PLACES * sizeof(*runs->of));
}

/* The first place of a piece's group. */
static struct phase_run *phase_runs_group_of(const struct phase_runs *runs,
                                             const struct burst_piece *piece)
{
    uint64_t mixed = ((uint64_t)(uintptr_t)piece->rows / sizeof(*piece->rows) * 31 + piece->count) *
                     UINT64_C(0x9E3779B97F4A7C15);
    return &runs->of[(mixed >> 32 & (GROUPS - 1)) * TOGETHER];
}

/* @return the place in a group that has these rows; TOGETHER: none has */
static uint32_t place_in(const struct phase_run *group, const struct burst_piece *piece)
{
    uint32_t i = 0;
    while (i < TOGETHER &&
           (group[i].piece.rows != piece->rows || group[i].piece.count != piece->count))
        i++;
    return i;
}

const struct phase_run *phase_runs_find(const struct phase_runs *runs,
                                        const struct phase_store *store,
                                        const struct burst_piece *piece)
{
    if (runs->of == NULL || piece->stays == 0)
        return NULL;
    const struct phase_run *group = phase_runs_group_of(runs, piece);
    uint32_t at = place_in(group, piece);
    if (at == TOGETHER || group[at].piece.stays != piece->stays)
        return NULL;
    const struct phase_run *run = &group[at];
    for (uint32_t i = 0; i < run->block_count; i++)
        if (phase_store_number(store, run->blocks[i].place) != run->blocks[i].number)
            return NULL;
    return run;
}

/* @return whether all blocks have numbers */
static bool note_blocks(struct phase_run *run, const struct phase_pool *pool,
                        const struct phase_list *list)
{
    uint32_t block = list->first;
    for (uint32_t i = 0; i < run->block_count; i++) {
        const struct phase_link *link = &pool->links[block];
        run->blocks[i] = (struct phase_run_block){phase_store_number(&pool->store, link->place),
                                                  link->place, link->rows, link->least, link->most};
        if (run->blocks[i].number == 0)
            return false;
        block = link->after;
    }
    return true;
}

void phase_runs_keep(struct phase_runs *runs, const struct phase_pool *pool,
                     const struct phase_run *run, const struct phase_list *list)
{
    if (runs->of == NULL)
        runs->of = calloc(PLACES, sizeof(*runs->of));
    if (runs->of == NULL)
        return;
    struct phase_run *group = phase_runs_group_of(runs, &run->piece), fresh = *run;
    uint32_t at = place_in(group, &run->piece);
    at = at < TOGETHER ? at : TOGETHER - 1;
    phase_runs_release(runs, &group[at]);
    for (; at > 0; at--)
        group[at] = group[at - 1];
    group[0] = (struct phase_run){.piece = {NULL, 0, 0}};
    fresh.block_count = list->blocks;
    fresh.spans = malloc(fresh.span_count * sizeof(*fresh.spans));
    fresh.blocks = malloc(fresh.block_count * sizeof(*fresh.blocks));
    if (fresh.spans == NULL || fresh.blocks == NULL || !note_blocks(&fresh, pool, list)) {
        free(fresh.spans);
        free(fresh.blocks);
        return;
    }
    memcpy(fresh.spans, run->spans, fresh.span_count * sizeof(*fresh.spans));
    group[0] = fresh;
    runs->heap += heap_of(&fresh);
}

void phase_run_list(const struct phase_run *run, struct phase_pool *pool, struct phase_list *list)
{
    for (uint32_t i = 0; i < run->block_count; i++) {
        const struct phase_run_block *b = &run->blocks[i];
        phase_list_reuse(pool, list, b->place, b->rows, b->least, b->most);
    }
    pool->links[list->first].end = list->last;
    list->high = run->high;
}
