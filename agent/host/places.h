/* Cores and NUMA nodes of this node: to which ones a rank's processors belong.
 *
 * They come from hwloc; only cores, processors and NUMA nodes are asked for, without the probing of
 * processors one by one that it does by default, which takes ten times as long. What is kept are 8
 * bytes a processor.
 */
#ifndef HOLTER_AGENT_HOST_PLACES_H
#define HOLTER_AGENT_HOST_PLACES_H

#include <stdint.h>

#define PLACES_MAXIMUM 65536u /**< processors */

struct places;

/** @param synthetic  a machine to take in place of this one, hwloc's "numa:2 core:4 pu:2"; NULL:
 * this
 *  @return 0, -ENOMEM, or -ENODEV: hwloc cannot tell */
int places_create(struct places **out, const char *synthetic);

/** NULL is fine. */
void places_destroy(struct places *places);

/** Where the processors of a cpu list ("0-3,8") are.
 *  @param places  NULL: nothing is known
 *  @param core    1 + number of the one core that all of them belong to, as hwloc counts cores
 * (logical index); 0: they belong to several, or it is not known
 *  @param numa    the same of NUMA nodes. Of those over the same processors the first is meant */
void places_find(const struct places *places, const char *cpu_list, uint64_t *core, uint64_t *numa);

#endif
