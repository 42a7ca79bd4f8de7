/* Which moment of one run corresponds to which of another.
 *
 * The phases of both runs (CommGram, section III-F) are sequences. Two phases are alike if their
 * messages, bytes, pairs, ranks and communities differ by no more than ALIGNMENT_TOLERANCE. Phases
 * are matched in their order, so that the matched ones have as many bytes as possible (a longest
 * common subsequence, weighted). If at least half of the bytes of either run are in matched phases,
 * the runs are aligned by phase: moments between the ends of matched phases are interpolated.
 * Otherwise a moment corresponds to the same time since the start.
 *
 * Time: O(a * b) for a and b phases, memory one byte for each of these products. Pure. */
#ifndef HOLTER_DAEMON_ANALYSIS_ALIGNMENT_ALIGNMENT_H
#define HOLTER_DAEMON_ANALYSIS_ALIGNMENT_ALIGNMENT_H

#include <stddef.h>
#include <stdint.h>

#define ALIGNMENT_NONE UINT32_MAX
#define ALIGNMENT_TOLERANCE 0.1 /**< relative, of the larger figure */
/** Maximum of a * b; larger runs are aligned by time. */
#define ALIGNMENT_PRODUCTS ((size_t)1 << 26)

/** A phase; those of a run are in the order of their begins. */
struct run_phase {
    double begin_ns, end_ns; /**< since the start of its run */
    uint64_t messages, bytes, pairs, ranks, communities;
};

struct alignment {
    int by_phase;       /**< 0: by time since the start */
    uint32_t *match;    /**< owned; by phase of the first run: that of the second, ALIGNMENT_NONE */
    uint32_t count;     /**< phases of the first run */
    uint32_t matched;   /**< of them, those with a match */
    double (*times)[2]; /**< owned; corresponding moments of both runs, not descending in either: of
                             several for one moment of the first run the last is meant */
    size_t time_count;  /**< by_phase: at least one; otherwise 0 */
};

/** Align two runs. @param out  finish it @return 0 or -ENOMEM */
int alignment_make(struct alignment *out, const struct run_phase *first, uint32_t first_count,
                   const struct run_phase *second, uint32_t second_count);

/** The moment of the second run that corresponds to one of the first; both since the start. */
double alignment_time(const struct alignment *alignment, double ns);

/** Zero-initialised is fine: such an alignment is by time. */
void alignment_finish(struct alignment *alignment);

#endif
