/* Cores, sockets and NUMA nodes of this node: to which ones a rank's processors belong.
 * They come from hwloc, which is asked for these only, without its default probing of every single
 * processor, which takes ten times as long. Memory: 12 bytes a processor. */
#ifndef HOLTER_AGENT_HOST_PLACES_H
#define HOLTER_AGENT_HOST_PLACES_H

#include <stdint.h>

#define PLACES_MAXIMUM 65536u /**< processors */

struct places;

/** Numbers that count from 1, as hwloc counts (logical index); 0: several, or not known. */
struct place {
    uint32_t core, socket;
    uint32_t numa; /**< where several cover the same processors, the first */
};

/** @param synthetic  a machine that replaces this one, hwloc's "numa:2 core:4 pu:2"; NULL: this one
 *  @return 0, -ENOMEM, or -ENODEV: hwloc cannot read the machine */
int places_create(struct places **out, const char *synthetic);

/** NULL is fine. */
void places_destroy(struct places *places);

/** The core, socket and NUMA node that all processors of a cpu list ("0-3,8") belong to.
 *  @param places  NULL: nothing is known */
struct place places_find(const struct places *places, const char *cpu_list);

#endif
