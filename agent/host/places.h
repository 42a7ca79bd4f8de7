/* Cores and NUMA nodes of this node: to which ones a rank's processors belong.
 * They come from hwloc, which is asked for cores, processors and NUMA nodes only, without its
 * default probing of every single processor, which takes ten times as long. Memory: 8 bytes a
 * processor. */
#ifndef HOLTER_AGENT_HOST_PLACES_H
#define HOLTER_AGENT_HOST_PLACES_H

#include <stdint.h>

#define PLACES_MAXIMUM 65536u /**< processors */

struct places;

/** @param synthetic  a machine that replaces this one, hwloc's "numa:2 core:4 pu:2"; NULL: this one
 *  @return 0, -ENOMEM, or -ENODEV: hwloc cannot read the machine */
int places_create(struct places **out, const char *synthetic);

/** NULL is fine. */
void places_destroy(struct places *places);

/** Finds the core and the NUMA node of the processors in a cpu list ("0-3,8").
 *  @param places  NULL: nothing is known
 *  @param core    1 + number of the one core that all of them belong to, as hwloc counts cores
 *  (logical index); 0: they belong to several, or it is not known
 *  @param numa    1 + number of their NUMA node; where several cover the same processors, of the
 * first */
void places_find(const struct places *places, const char *cpu_list, uint64_t *core, uint64_t *numa);

#endif
