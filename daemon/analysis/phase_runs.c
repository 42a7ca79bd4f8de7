#include "daemon/analysis/phase_runs.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PLACES 512u /* a power of two */

static size_t heap_of(const struct phase_run *run)
{
    return run->span_count * sizeof(*run->spans) + run->block_count * sizeof(*run->blocks);
}

static void forget(struct phase_runs *runs, struct phase_run *run)
{
    runs->heap -= heap_of(run);
    free(run->spans);
    free(run->blocks);
    *run = (struct phase_run){.piece = {NULL, 0, 0}};
}

void phase_runs_finish(struct phase_runs *runs)
{
    for (size_t i = 0; runs->of != NULL && i < PLACES; i++)
        forget(runs, &runs->of[i]);
    free(runs->of);
    *runs = (struct phase_runs){0};
}

size_t phase_runs_bytes(const struct phase_runs *runs)
{
    return runs->heap + (runs->of == NULL ? 0 : PLACES * sizeof(*runs->of));
}

/* The only place that a piece can have. */
static struct phase_run *place_of(const struct phase_runs *runs, const struct burst_piece *piece)
{
    uint64_t mixed = ((uint64_t)(uintptr_t)piece->rows / sizeof(*piece->rows) * 31 + piece->count) *
                     UINT64_C(0x9E3779B97F4A7C15);
    return &runs->of[mixed >> 32 & (PLACES - 1)];
}

const struct phase_run *phase_runs_find(const struct phase_runs *runs,
                                        const struct phase_store *store,
                                        const struct burst_piece *piece)
{
    if (runs->of == NULL || piece->stays == 0)
        return NULL;
    const struct phase_run *run = place_of(runs, piece);
    if (run->piece.rows != piece->rows || run->piece.count != piece->count ||
        run->piece.stays != piece->stays)
        return NULL;
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
    struct phase_run *kept = place_of(runs, &run->piece), fresh = *run;
    forget(runs, kept);
    fresh.block_count = list->blocks;
    fresh.spans = malloc(fresh.span_count * sizeof(*fresh.spans));
    fresh.blocks = malloc(fresh.block_count * sizeof(*fresh.blocks));
    if (fresh.spans == NULL || fresh.blocks == NULL || !note_blocks(&fresh, pool, list)) {
        free(fresh.spans);
        free(fresh.blocks);
        return;
    }
    memcpy(fresh.spans, run->spans, fresh.span_count * sizeof(*fresh.spans));
    *kept = fresh;
    runs->heap += heap_of(kept);
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
