/* The CommGram picture of a span of time (CommGram, sections III-D to III-H): phases side by side,
 * in each the ranks as bars of communities, between them what was sent. Each phase is a column. Its
 * graph has an edge between two ranks that exchanged messages, of weight messages + bytes; messages
 * of a rank to itself do not count.
 *
 * The communities of a phase are those of the greatest modularity, all ranks being one below a
 * floor (communities.h). The figures of a column and the curve (commgram_curve.h) are those of
 * these communities, however finely the picture is drawn.
 *
 * For drawing, these are the bars, or the ranks that communicated are cut into C communities, or
 * one per rank if there are fewer than C, by the dendrogram of communities.h; a phase that is one
 * community stays one, unless C reaches its ranks. Results depend on the graph alone, not on
 * earlier phases: the search never starts from a previous result. If the graph has more than C
 * connected parts, whole parts are combined, in the order of their lowest ranks: all are one group
 * at first, and the group with most ranks (of equals the first) is split, between parts and as near
 * to its middle as possible, until there are C. So levels are nested: C + 1 communities refine C.
 * Communities that are drawn get their identities (colours) from a curve of their own. Anchors are
 * phases before the first column that are not shown: with the first phases of the job's patterns as
 * anchors, at their heights, colours and heights stay as they are when the view moves.
 *
 * A column holds all ranks that communicate anywhere in the picture. Those that are silent in a
 * phase stay in their last community; before a rank's first phase in that of its first phase. If
 * that community has no bar of its own in the column, it gets one while there are fewer than C bars
 * (those with most silent ranks first, of equals the lower identity); the rest share one further
 * bar, COMMGRAM_SILENT. Bars are ordered by the mean of their ranks. There are K + 1 columns of
 * bars for K phases: messages of phase k go from bars of column k to bars of column k + 1, the last
 * of which repeats the one before. A ribbon is what goes from one bar to another in messages of
 * about one mean size (an octave). If each rank has a bar of its own, ribbons are pairs of ranks.
 *
 * With a list of ranks only messages from or to these are shown: ribbons, and the sums of columns
 * and bars, contain these alone. Communities are still computed from all messages. A phase has at
 * most 2^20 / K ribbons; of more, those with most bytes and messages stay and the others are
 * counted as folded. Sums of ribbons, and of what was folded, are those of edges.
 *
 * Order of calls: create, anchors, each phase in order, finish. Adding a phase costs a dendrogram
 * unless the cache has it (see commgram_cache.h). Finishing is cheap, unless there are very many
 * ribbons: it can be done in parts.
 *
 * Memory: 4 bytes for each rank and column, 130 for each bar, 32 for each run, 56 for each ribbon,
 * 80 for each edge of one phase, and that of communities and curves.
 * Pure: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_COMMGRAM_COMMGRAM_H
#define HOLTER_DAEMON_ANALYSIS_COMMGRAM_COMMGRAM_H

#include "daemon/analysis/phases/phase_graphs.h"
#include "holter/wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COMMGRAM_MAXIMUM_PHASES 1024u
#define COMMGRAM_MAXIMUM_RANKS (1u << 20)
#define COMMGRAM_MAXIMUM_CELLS (1u << 24) /**< phases times ranks */
#define COMMGRAM_MAXIMUM_EDGES (1u << 24) /**< of one phase */
#define COMMGRAM_MAXIMUM_RIBBONS (1u << 20)
#define COMMGRAM_SILENT UINT32_MAX /**< identity of the bar of silent ranks */

struct commgram_cache;

struct commgram_params {
    uint32_t ranks;       /**< of the job; 1 to COMMGRAM_MAXIMUM_RANKS */
    uint32_t phases;      /**< maximum that will be added; 1 to COMMGRAM_MAXIMUM_PHASES */
    uint32_t communities; /**< C. 0: those that are found in each phase; from `ranks` up: each rank
                             is a community */
    bool modelled;        /**< include the messages that stand for collectives */
    const uint32_t *only; /**< ranks whose messages are shown, in any order; borrowed by create() */
    size_t only_count;    /**< 0: all */
    struct commgram_cache *cache; /**< borrowed until the picture is destroyed; may be NULL */
};

/** A phase and its edges. */
struct commgram_phase {
    int64_t begin_ns, end_ns;
    bool open; /**< may still change */
    uint64_t bursts;
    uint64_t other_messages, other_bytes; /**< of pairs that are not known */
    const struct phase_edge *edges; /**< borrowed for the call; ranks beyond the job's, and rows
                                               without messages, are counted as others */
    size_t count;
};

/** Rows of the message "commgram", see holter/wire.h. */
struct commgram_picture {
    const struct wire_column_row *columns; /**< K */
    const struct wire_bar_row *bars;       /**< of K + 1 columns, by column and bar */
    const struct wire_bar_ranks_row *runs; /**< by column, bar and rank */
    const struct wire_ribbon_row *ribbons; /**< by column, from, to, modelled and size */
    size_t column_count, bar_count, run_count, ribbon_count;
    uint32_t cached; /**< phases, anchors included, whose dendrogram the cache had */
};

struct commgram;

/** @return 0, -ENOMEM, or -HOLTER_ERANGE: a parameter. Ranks of `only` beyond the job's are ignored
 */
int commgram_create(struct commgram **out, const struct commgram_params *params);
void commgram_destroy(struct commgram *commgram);

/** Adds an anchor, a phase before the first column. Allowed any number of times before the first
 * phase.
 *  @param height  of its pattern, unless an anchor before has the same
 *  @return 0; -HOLTER_EUSAGE: phases were added; -HOLTER_ELIMIT: too many edges; -ENOMEM */
int commgram_anchor(struct commgram *commgram, const struct phase_edge *edges, size_t count,
                    double height);

/** Adds the next phase.
 *  @return 0; -HOLTER_ELIMIT: more phases than the maximum, or too many edges; -HOLTER_EUSAGE:
 * finished; or -ENOMEM: the picture is lost, every further call returns -HOLTER_EUSAGE */
int commgram_add_phase(struct commgram *commgram, const struct commgram_phase *phase);

/** Does one part of the work of commgram_finish(), at most that of one column (up to about 4 ms
 * with 30,000 ribbons). Nothing can be added after that. Calling it is optional.
 *  @return 1: there are more parts; 0: there are none; -HOLTER_EUSAGE: finished; -ENOMEM */
int commgram_settle(struct commgram *commgram);

/** Makes the picture of the phases added. Nothing can be added after that.
 *  @param out  borrowed until the commgram is destroyed
 *  @return 0, -HOLTER_EUSAGE: finished already, or -ENOMEM */
int commgram_finish(struct commgram *commgram, struct commgram_picture *out);

#endif
