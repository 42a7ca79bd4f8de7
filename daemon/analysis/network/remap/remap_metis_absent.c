/* What stands for remap_metis.c in a build without METIS: remap_create() refuses to search, so that
 * nothing is ever split. */
#include "daemon/analysis/network/remap/remap_metis.h"

#include "holter/error.h"

int remap_split(const struct remap_split *split, uint32_t *part, uint32_t *index)
{
    (void)split;
    (void)part;
    (void)index;
    return -HOLTER_EINTERNAL;
}

uint64_t remap_split_work(const struct remap_split *split)
{
    (void)split;
    return 0;
}
