/* Disjoint sets as trees: the parent of each member, that of a root is itself. */
#ifndef HOLTER_DAEMON_ANALYSIS_TABLES_DISJOINT_SETS_H
#define HOLTER_DAEMON_ANALYSIS_TABLES_DISJOINT_SETS_H

#include <stdint.h>

/** The root of a member's set. Halves the path to it. */
static inline uint32_t disjoint_find_root(uint32_t *parent, uint32_t member)
{
    while (parent[member] != member) {
        parent[member] = parent[parent[member]];
        member = parent[member];
    }
    return member;
}

#endif
