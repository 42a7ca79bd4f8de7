/* What contact.c (pairs and edges) and contact_weights.c (what pairs weigh) share. */
#ifndef HOLTER_DAEMON_ANALYSIS_REGIONS_CONTACT_STATE_H
#define HOLTER_DAEMON_ANALYSIS_REGIONS_CONTACT_STATE_H

#include "daemon/analysis/regions/contact.h"

/* What is left of a single message after three horizons. */
#define FORGOTTEN 0.05

#define BLOCK 64u /* pairs that are gone through together */

typedef double two_numbers __attribute__((vector_size(16)));
typedef uint64_t two_words __attribute__((vector_size(16)));
typedef int64_t two_flags __attribute__((vector_size(16)));

/* By two bits. */
static const two_flags contact_lanes[4] = {{0, 0}, {-1, 0}, {0, -1}, {-1, -1}};

struct vertex {
    bool active; /* it communicated in the window that is closed */
    bool paired; /* some pair is remembered */
};

/* Weights of a block, or what they are not beyond while some windows wait. */
struct range {
    double least, most;            /* of all */
    double least_edge, most_other; /* of edges, INFINITY: none; of others, 0: none */
    uint32_t waiting; /* windows without messages by which weights have not faded yet: nobody needs
                         to look at them */
};

struct contact {
    struct contact_params params;
    /* Of pairs, in whole blocks: behind the last pair all is zero. */
    uint64_t *keys;    /* owned; a << 32 | b */
    double *weights;   /* owned; messages a window, fading */
    uint32_t *windows; /* owned; with messages, up to `steady` */
    uint64_t
        *messages; /* owned; of the open window, as soon as any is told; else of the last one */
    uint64_t *known, *edge; /* owned; bits, a word a block: windows are `steady`; it is one */
    bool *busy;             /* owned; by block: some messages are not 0 */
    struct range *ranges;   /* owned; by block */
    uint32_t count, room;
    uint32_t *index;         /* owned; open addressing: position + 1, 0: empty */
    uint32_t mask;           /* places less one; 0: no index yet */
    struct vertex *vertices; /* owned */
    double *heaviest;        /* owned; by vertex: largest weight of its pairs, as last sought */
    double least_heaviest;   /* at most the least of what these are now, of vertices with pairs */
    uint32_t vertex_room;
    uint32_t paired; /* vertices with pairs */
    /* Pairs that each vertex with pairs is one of, unless vertices came since: where all of them
     * have messages no vertex is silent. */
    uint32_t *cover; /* owned */
    size_t cover_room;
    uint32_t cover_count, covered; /* covered: vertices */
    struct contact_edge *edges;    /* owned */
    size_t edge_room;
    uint32_t heard; /* pairs with messages */
    bool told;      /* messages of the open window */
    bool again;     /* that it has those of the last one, and no others */
    bool settled;   /* the last window changed nothing */
    bool left_out;  /* messages of a pair that there was no room for */
    /* Of each row of ranks the position of its pair: the next window's rows mostly are of the same.
     */
    uint32_t *rows; /* owned */
    size_t row_count, row_room;
};

static inline uint32_t pairs_of_block(const struct contact *c, uint32_t from)
{
    return c->count - from < BLOCK ? c->count - from : BLOCK;
}

/** Have a window's messages among the weights of all pairs, and find their ranges.
 *  @param all  none of the vertices with pairs is silent
 *  @return whether nothing of what is remembered changes */
bool contact_weigh(struct contact *contact, bool all);

/** Find the range of a block whose pairs are others now, or other ones of them edges; no window
 * waits. */
void contact_find_range(struct contact *contact, uint32_t from);

/** Find the heaviest pair of each vertex. No window waits any more. */
void contact_find_heaviest(struct contact *contact);

#endif
