/* Loads by classes of links: by dimension and direction of a Cartesian network, by tier of a
 * dragonfly or fat tree, else by the kinds of the vertices at both ends; and a sentence about them.
 */
#ifndef HOLTER_VIEWER_VIEWS_COMMON_LINK_CLASSES_H
#define HOLTER_VIEWER_VIEWS_COMMON_LINK_CLASSES_H

#include "viewer/model/flows.h"

#define LINK_ALIKE 0.01 /**< loads that differ by at most this share count as equal */
#define LINK_CLASSES (3u * TOPOLOGY_DIMENSIONS)

struct link_class {
    char name[40];        /**< "E+", "E-", "group" (all to all), "node to switch" */
    uint32_t group;       /**< classes of one group differ by direction only */
    uint32_t links, used; /**< used: with load */
    double bytes;         /**< of all of them */
};

struct link_classes {
    struct link_class classes[LINK_CLASSES];
    uint32_t count;
    uint32_t top; /**< links with the largest load, within LINK_ALIKE; 0: none is loaded */
};

/** Class of a link: number in `classes`; LINK_CLASSES: it has none. */
uint32_t link_class_of(const struct topology *topology, uint32_t link);

/** Sets name and group of the class of a link that has one. Both directions between two kinds of
 * vertices are one group. */
void link_class_name(struct link_class *out, const struct topology *topology, uint32_t link);

enum { LINK_ENDS = VERTEX_PROCESS + 1 }; /* kinds of vertices */

/** "4 nodes, 1 switch, 8 processes". @param counts  by enum topology_vertex */
void link_ends_text(const uint32_t counts[LINK_ENDS], char *out, size_t capacity);

/** Sums up loads. @param loads  bytes by link, topology_links() of them */
void link_classes_sum(struct link_classes *out, const struct topology *topology,
                      const uint64_t *loads);

/** A sentence: "E carries 2.0x as much as C; A+ unused; 8,192 links share the top load of 9 MiB".
 *  @param flows  whose loads were summed up @return out; "": no link is loaded */
char *link_classes_text(const struct link_classes *classes, const struct network *network,
                        const struct flows *flows, char *out, size_t capacity);

#endif
