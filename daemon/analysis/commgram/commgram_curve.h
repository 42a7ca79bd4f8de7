/* The CommGram curve (CommGram, section H): one height for each phase, which moves as far as the
 * communities of ranks change.
 *
 * The difference of two phases is 1 - matched / all: of all assignments of communities of the one
 * to communities of the other (Hungarian method, see assignment.h) the one that keeps the largest
 * weight of ranks together is taken. It is 0 if they are the same up to what communities are
 * called. A rank weighs 1, or, if `weighted`, its share of its phase's bytes, the larger of the two
 * phases'. A rank that is absent from one phase only counts among all, but is not matched; one
 * absent from both does not count. Two phases without ranks are the same. Unweighted the difference
 * is a metric.
 *
 * Phases that are the same but for noise stand for one pattern, which is what the first of them
 * was. Let d be the difference of a phase to the pattern of the phase before:
 * - the pattern that the phase differs from least, if by at most `tolerance`, returns: its height
 * is taken, exactly (among equals the one that was there last). This comes first, because +d or -d
 *   need not lead back to it: after A, B and C, d is that of A and C, which A's height knows
 * nothing of;
 * - else the phase is a pattern of its own. Its height is that of the pattern before +d or -d,
 *   whichever is nearer to the height of the most similar pattern. Where that is the pattern before
 *   both are as near, and the one is taken whose distance from the height of the next similar is
 *   nearer to the difference from it: a pattern that drifts does not turn back. -d if there still
 * is no choice: so the first change is a drop (CommGram, Fig. 7). The first height is 0. The paper
 * gives no sign, and no heights but by figure: both rules are ours. Slow drift is not lost in the
 * tolerance, since phases are compared with the pattern's first.
 *
 * Patterns are remembered up to a number; the one that was not there for longest is forgotten, and
 * would be new if it returned.
 *
 * Communities have identities that last: those of a phase take over the identities of the
 * communities assigned to them, of the phase before, or of the pattern if another one returns.
 * Those that are assigned none get numbers never given before (modulo 2^32).
 *
 * Nothing depends on what communities are called, and the same phases give the same curve.
 *
 * Pure: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_COMMGRAM_COMMGRAM_CURVE_H
#define HOLTER_DAEMON_ANALYSIS_COMMGRAM_COMMGRAM_CURVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CURVE_ABSENT UINT32_MAX   /**< label and identity of a rank that is absent */
#define CURVE_NO_PHASE UINT64_MAX /**< no phase's number */

/** Memory: 12 bytes for each rank of a pattern remembered, and at most 230 for each rank of the
 *  largest phase: up to 4.3 MB for 4,320 ranks and 64 patterns, 65 MB for 65,536. Time: of a
 * pattern that is there again unchanged, that of reading it; else up to one assignment for each
 * that is remembered (milliseconds for 4,320 ranks, about a second for 65,536 at random). */
struct curve_params {
    uint32_t most_ranks;    /**< of a phase; 1 to 2^20 */
    uint32_t most_patterns; /**< remembered; 2 to 256 */
    double tolerance; /**< difference up to which two phases are the same pattern; 0 to below 1 */
    bool weighted;    /**< by bytes */
};

/** 0.05: when 2 % of the ranks change community at random in each phase, two phases of the same
 *  pattern differ by nearly 4 %. */
#define CURVE_DEFAULTS                                                                             \
    ((struct curve_params){                                                                        \
        .most_ranks = 65536, .most_patterns = 64, .tolerance = 0.05, .weighted = false})

/** A phase: which community each rank is in. Borrowed for the call. */
struct curve_phase {
    const uint32_t *labels;  /**< of each rank: any number but CURVE_ABSENT, or CURVE_ABSENT */
    const uint64_t *weights; /**< bytes of each rank; not read and may be NULL unless weighted. All
                                0: as if equal */
    uint32_t ranks;          /**< may differ from phase to phase: ranks beyond are absent */
};

struct curve_point {
    uint64_t phase;       /**< number of the phase, from 0 */
    double height;        /**< 0 for the first phase; each is at most 1 from the one before */
    double difference;    /**< to the phase before, 0 to 1; 0 for the first */
    bool returned;        /**< the pattern is an earlier one, maybe that of the phase before */
    uint64_t resembles;   /**< first phase of the pattern that returned, or of the most similar one
                               other than that of the phase before; CURVE_NO_PHASE: there is none */
    double resemblance;   /**< difference to that phase, 0 to below 1; 1 if there is none */
    uint32_t communities; /**< of the phase */
};

struct curve;

/** @return 0, -ENOMEM, or -HOLTER_ERANGE: a parameter is outside its range */
int curve_create(struct curve **out, const struct curve_params *params);
void curve_destroy(struct curve *curve);

/** The point of a phase that has ended. It is final.
 *  @param identities  room for `ranks` numbers, or NULL; set to the identity of each rank's
 * community or CURVE_ABSENT
 *  @return 0; or -ENOMEM, -HOLTER_ELIMIT: more than most_ranks, or -HOLTER_EMISSING: weights are,
 * of a weighted curve. After an error nothing has changed */
int curve_append(struct curve *curve, const struct curve_phase *phase, struct curve_point *point,
                 uint32_t *identities);

/** The same, as if the phase ended now, without adding it: for the phase that is open. What
 *  curve_append() then says of the same phase is the same. */
int curve_provisional(struct curve *curve, const struct curve_phase *phase,
                      struct curve_point *point, uint32_t *identities);

/** Bytes on the heap. */
size_t curve_bytes(const struct curve *curve);

#endif
