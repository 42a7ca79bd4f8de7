/* The CommGram curve (CommGram, section III-H): one height for each phase, which moves as far as
 * the communities of ranks change. The difference of two phases is 1 - matched / all: of all
 * assignments of communities of the one to communities of the other (Hungarian method, see
 * assignment.h) the one with the most ranks that stay together is used. It is 0 if
 * they are equal up to the names of communities. A rank that is absent from one phase only
 * counts in `all`, but is not matched; one absent from both does not count. Two phases without
 * ranks are equal. The difference is a metric. Phases that are the same except for noise
 * belong to one pattern, which is represented by the first of them. Let d be the difference of a
 * phase to the pattern of the phase before:
 * - the pattern with the smallest difference to the phase, if at most `tolerance`, returns: the
 * phase gets exactly its height (among equals the pattern seen last). This rule has priority,
 * because +d or -d need not lead back to it: after A, B and C, d is that of A and C, which is
 * unrelated to A's height;
 * - else the phase is a new pattern. Its height is that of the pattern before +d or -d, whichever
 * is nearer to the height of the most similar pattern. Where that is the pattern before, both are
 * as near, and the sign is chosen for which the distance from the height of the second most similar
 *   pattern is nearer to the difference from it: a pattern that drifts does not turn back. If this
 *   does not decide either, the sign is minus: so the first change is a drop (CommGram, Fig. 7).
 * The first height is 0. The paper gives no sign, and heights only by its figures: both rules are
 * ours. Slow drift is not hidden by the tolerance, since phases are compared with the first of a
 * pattern. A maximum number of patterns is stored; beyond it the one seen least recently is
 * dropped, and would be new if it returned. Communities have identities that last: those of a phase
 * inherit the identities of the communities assigned to them, of the phase before, or of the
 * pattern if another one returns. Communities without an assigned one get new numbers (modulo
 * 2^32). Results do not depend on the labels of communities, and equal phases give equal curves.
 * Pure: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_COMMGRAM_COMMGRAM_CURVE_H
#define HOLTER_DAEMON_ANALYSIS_COMMGRAM_COMMGRAM_CURVE_H

#include "daemon/analysis/tables/state_bytes.h"
#include <stdbool.h>
#include <stdint.h>

#define CURVE_ABSENT UINT32_MAX   /**< label and identity of a rank that is absent */
#define CURVE_NO_PHASE UINT64_MAX /**< no phase's number */

/** Memory: 12 bytes for each rank of a stored pattern, and at most 230 for each rank of the largest
 *  phase: up to 4.3 MB for 4,320 ranks and 64 patterns, 65 MB for 65,536. Time: for a pattern that
 *  returns unchanged, that of reading it; else up to one assignment for each stored pattern
 *  (milliseconds for 4,320 ranks, about a second for 65,536 ranks at random). */
struct curve_params {
    uint32_t most_ranks;    /**< of a phase; 1 to 2^20 */
    uint32_t most_patterns; /**< stored; 2 to 256 */
    double tolerance; /**< difference up to which two phases are the same pattern; 0 to below 1 */
};

/** 0.05: when 2 % of the ranks change community at random in each phase, two phases of the same
 *  pattern differ by nearly 4 %. */
#define CURVE_DEFAULTS                                                                             \
    ((struct curve_params){.most_ranks = 65536, .most_patterns = 64, .tolerance = 0.05})

/** A phase: the community of each rank. Borrowed for the call. */
struct curve_phase {
    const uint32_t *labels; /**< of each rank: any number but CURVE_ABSENT, or CURVE_ABSENT */
    uint32_t ranks;         /**< may differ from phase to phase: ranks beyond are absent */
};

struct curve_point {
    uint64_t phase;     /**< number of the phase, from 0 */
    double height;      /**< 0 for the first phase; each is at most 1 from the one before */
    double difference;  /**< to the phase before, 0 to 1; 0 for the first */
    bool returned;      /**< the pattern is an earlier one, possibly that of the phase before: then
                           the resemblance is at least 1 - tolerance */
    uint64_t resembles; /**< first phase of the pattern that returned, or of the most similar one;
                             CURVE_NO_PHASE: none shares a rank with the phase */
    double resemblance; /**< to that phase: 1 - the difference, 1 if they are equal; 0: none */
    uint32_t communities; /**< of the phase */
};

struct curve;

/** @return 0, -ENOMEM, or -HOLTER_ERANGE: a parameter is outside its range */
int curve_create(struct curve **out, const struct curve_params *params);
void curve_destroy(struct curve *curve);

/** Adds a phase that has ended. Its point is final.
 *  @param identities  capacity for `ranks` numbers, or NULL; set to the identity of each rank's
 *  community or CURVE_ABSENT
 *  @return 0; or -ENOMEM, or -HOLTER_ELIMIT: more ranks than the maximum. After an error nothing
 * has changed */
int curve_append(struct curve *curve, const struct curve_phase *phase, struct curve_point *point,
                 uint32_t *identities);

/** As curve_append(), for a phase whose height is known already, from a curve over more phases: if
 *  its pattern is new it gets that height. */
int curve_append_at(struct curve *curve, const struct curve_phase *phase, double height);

/** Computes the point of the open phase as if it ended now, without adding it. curve_append() of
 * the same phase gives the same point. */
int curve_provisional(struct curve *curve, const struct curve_phase *phase,
                      struct curve_point *point, uint32_t *identities);

/** See state_bytes.h. */
void curve_copy_state(struct state_bytes *b, struct curve **curve);

#endif
