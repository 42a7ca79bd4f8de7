/* The CommGram (Wu, Zeng, Yu, Kenny) as the daemon computes it: phases of the job, the curve over
 * them, and the picture of a span of time that was requested.
 * Rows of phases and points replace those of the same number; provisional rows that are not
 * repeated are dropped. At most COMMGRAM_PHASES of each are stored, the oldest are dropped first. A
 * picture arrives in parts; the previous one stays until it is complete. */
#ifndef HOLTER_VIEWER_MODEL_MODEL_COMMGRAM_H
#define HOLTER_VIEWER_MODEL_MODEL_COMMGRAM_H

#include "holter/wire.h"

#include <stddef.h>
#include <stdint.h>

#define COMMGRAM_PHASES (1u << 18) /**< maximum of phases, and of points, stored */
#define COMMGRAM_ROWS (1u << 22)   /**< maximum of bars, of members and of ribbons of a picture */
#define COMMGRAM_NONE UINT32_MAX
#define COMMGRAM_LIST 2048 /**< capacity of a request for a list of ranks */

/** Rows in order of their number, which is their first column; the second column is 1 for
 * provisional rows. */
struct commgram_rows {
    void *rows; /**< owned */
    uint32_t count, capacity;
    uint32_t size;        /**< bytes of a row */
    uint32_t provisional; /**< index of the first provisional row, or count */
    uint64_t dropped;     /**< rows that were dropped to stay within bounds */
    uint8_t more;         /**< a message with more rows follows */
};

/** The parameters of a picture. */
struct commgram_request {
    uint64_t from_ns, to_ns;      /**< daemon time */
    uint64_t phases, communities; /**< communities 0: those that are found in each phase */
    int modelled;                 /**< 1: include messages that stand for collectives */
    char ranks[COMMGRAM_LIST];    /**< "3,8-11": only messages from or to these; "": all */
};

/** A picture of K columns has bars in K + 1 columns: messages of phase k go from bars of column k
 * to bars of column k + 1. */
struct commgram_picture {
    struct commgram_request asked; /**< the request that it answers */
    uint64_t resolved; /**< number of parts in which the daemon stores the span; 0: not reported */
    struct wire_column_row *columns;    /**< owned */
    struct wire_bar_row *bars;          /**< owned; by column, from the top */
    struct wire_bar_ranks_row *members; /**< owned; by bar, in order of rank */
    struct wire_ribbon_row *ribbons;    /**< owned; from and to are indices in bars */
    uint32_t column_count, bar_count, member_count, ribbon_count;
    uint32_t column_capacity, bar_capacity, member_capacity, ribbon_capacity;
    uint32_t *first_bar;    /**< owned; bars of column k: from [k] to [k + 1] - 1, k up to K */
    uint32_t *first_member; /**< owned; likewise of bar i */
    uint64_t ignored;       /**< rows that were invalid or too many */
    uint64_t version;       /**< number of the picture; 0: there is none */
};

/** Zero-initialised is not ready: see commgram_init(). */
struct commgram {
    struct commgram_rows phases, points; /**< struct wire_phase_row, struct wire_curve_point_row */
    struct commgram_picture now;         /**< the last complete one */
    struct commgram_picture next;        /**< received parts of the next one */
    struct commgram_request wanted;      /**< request that is open */
    int waiting;                         /**< a request is open */
    int error;                           /**< of the last request; 0: it was answered */
    char error_text[256];
    uint64_t version;  /**< incremented when phases, points or the picture changed */
    uint64_t pictures; /**< complete pictures so far */
};

void commgram_init(struct commgram *commgram);

/** Drops everything; it stays usable. */
void commgram_clear(struct commgram *commgram);

/** @param snapshot  1: part of a current state, which replaces the previous one
 *  @return 0 or -ENOMEM */
int commgram_apply_phases(struct commgram *commgram, const struct wire_phases *message,
                          int snapshot);
int commgram_apply_curve(struct commgram *commgram, const struct wire_curve *message, int snapshot);

/** Adds a part of a picture. Parts that were not requested are ignored. @return 0 or -ENOMEM */
int commgram_apply_picture(struct commgram *commgram, const struct wire_commgram *message);

/** A state begins: the previous one may be incomplete. */
void commgram_restart(struct commgram *commgram);

/** Notes an open request: missing parts of an earlier answer are not waited for any more. */
void commgram_asked(struct commgram *commgram, const struct commgram_request *request);

/** Handles the reply to the request. With code 0 the picture should be complete.
 *  @param text  error text for display; may be NULL */
void commgram_replied(struct commgram *commgram, int code, const char *text);

int commgram_same(const struct commgram_request *a, const struct commgram_request *b);

/** The request as the wire's argument. @return out */
char *commgram_argument(const struct commgram_request *request, char *out, size_t capacity);

const struct wire_phase_row *commgram_phase(const struct commgram *commgram, uint32_t i);
const struct wire_curve_point_row *commgram_point(const struct commgram *commgram, uint32_t i);

/** A phase by its number; NULL: not stored. */
const struct wire_phase_row *commgram_phase_find(const struct commgram *commgram, uint64_t id);

/** First point whose phase ends at a time or later; the number of points when there is none. */
uint32_t commgram_point_at(const struct commgram *commgram, uint64_t ns);

/** Bar of a picture, by column and place from the top; COMMGRAM_NONE: there is none. */
uint32_t commgram_bar(const struct commgram_picture *picture, uint64_t column, uint64_t bar);

/** Whether a rank is in a bar. */
int commgram_bar_has(const struct commgram_picture *picture, uint32_t bar, uint64_t rank);

/** Ranks of a bar as text: "0-15,32-47", truncated with an ellipsis. See rank_runs_add_row().
 *  @return 0, or 1 when they did not fit */
int commgram_bar_ranks(const struct commgram_picture *picture, uint32_t bar, uint64_t group,
                       uint64_t world, char *out, size_t capacity);

#endif
