/* Jobs on tori for tests and pictures of view "torus". */
#ifndef HOLTER_TESTS_VIEWER_TORUS_FIXTURE_H
#define HOLTER_TESTS_VIEWER_TORUS_FIXTURE_H

#include "tests/viewer/synthetic_network.h"
#include "viewer/model/model.h"

/** A job on a network after some windows. @param hopbytes  text of a hopbyte file, or NULL: a halo
 * exchange */
struct model *torus_job(const char *form, uint32_t per_node, const char *hopbytes, int windows,
                        struct synthetic_network *net);

/** The counters of Blue Gene/P as measured loads, one window a code region, on torus:8,8,8.
 *  @param links    text of bgpc_links.yaml
 *  @param regions  set: how many windows there are; sums: packets of each, room for 16 */
struct model *torus_counters(const char *links, int *regions, uint64_t *sums);

#endif
