/* The CommGram as the daemon tells it (001): phases of the job, the curve over them, and the
 * picture of a span of time that was asked for.
 *
 * Rows of phases and points replace those of the same number; what is provisional is gone when it
 * is not told again. At most COMMGRAM_PHASES of each are kept, the oldest go first. A picture comes
 * in parts: it takes the place of the one before when it is complete, which stays meanwhile. */
#ifndef HOLTER_VIEWER_MODEL_MODEL_COMMGRAM_H
#define HOLTER_VIEWER_MODEL_MODEL_COMMGRAM_H

#include "holter/wire.h"

#include <stddef.h>
#include <stdint.h>

#define COMMGRAM_PHASES (1u << 18) /**< most phases, and most points, that are kept */
#define COMMGRAM_ROWS (1u << 22)   /**< most bars, members or ribbons of one picture */
#define COMMGRAM_NONE UINT32_MAX
#define COMMGRAM_LIST 2048 /**< room for a list of ranks in a question */

/** Rows in order of their number, which is their first column; the second tells whether they are
 * provisional. */
struct commgram_rows {
    void *rows; /**< owned */
    uint32_t count, room;
    uint32_t size;        /**< bytes of a row */
    uint32_t provisional; /**< the first of these, or count */
    uint64_t forgotten;   /**< rows that were dropped to stay within bounds */
    uint8_t more;         /**< a message with more rows follows */
};

/** What is asked for. */
struct commgram_request {
    uint64_t from_ns, to_ns; /**< daemon time */
    uint64_t phases, communities;
    int modelled;              /**< 1: with what stands for collectives */
    char ranks[COMMGRAM_LIST]; /**< "3,8-11": only messages from or to these; "": all */
};

/** A picture of K columns has bars in K + 1 columns: messages of phase k go from bars of column k
 * to bars of column k + 1. */
struct commgram_picture {
    struct commgram_request asked; /**< the question that it answers */
    uint64_t from_ns, to_ns;
    uint64_t resolved;                  /**< parts that the span is kept in; 0: not reported */
    struct wire_column_row *columns;    /**< owned */
    struct wire_bar_row *bars;          /**< owned; by column, from the top */
    struct wire_bar_ranks_row *members; /**< owned; by bar, in order of rank */
    struct wire_ribbon_row *ribbons;    /**< owned; from and to are places in bars */
    uint32_t column_count, bar_count, member_count, ribbon_count;
    uint32_t column_room, bar_room, member_room, ribbon_room;
    uint32_t *first_bar;    /**< owned; bars of column k: from [k] to [k + 1] - 1, k up to K */
    uint32_t *first_member; /**< owned; likewise of bar i */
    uint64_t ignored;       /**< rows that made no sense, or were too many */
    uint64_t version;       /**< number of the picture; 0: there is none */
};

/** Zero-initialised is not ready: see commgram_init(). */
struct commgram {
    struct commgram_rows phases, points; /**< struct wire_phase_row, struct wire_curve_point_row */
    uint64_t gap_ns;                     /**< gap that ends a phase; 0: not known */
    int modelled;                        /**< collectives take part */
    struct commgram_picture now;         /**< the last complete one */
    struct commgram_picture next;        /**< what has come of the next */
    struct commgram_request wanted;      /**< question that is under way */
    int waiting;                         /**< there is one */
    int error;                           /**< of the last question; 0: it was answered */
    char error_text[256];
    uint64_t version;  /**< raised when phases, points or the picture changed */
    uint64_t pictures; /**< complete pictures so far */
};

void commgram_init(struct commgram *commgram);

/** Forget everything; it stays usable. */
void commgram_clear(struct commgram *commgram);

/** @param snapshot  1: part of a current state, which replaces what was there
 *  @return 0 or -ENOMEM */
int commgram_apply_phases(struct commgram *commgram, const struct wire_phases *message,
                          int snapshot);
int commgram_apply_curve(struct commgram *commgram, const struct wire_curve *message, int snapshot);

/** A part of a picture. Parts that nobody asked for are passed over. @return 0 or -ENOMEM */
int commgram_apply_picture(struct commgram *commgram, const struct wire_commgram *message);

/** A state begins: the previous one may be incomplete. */
void commgram_restart(struct commgram *commgram);

/** A question was asked: parts of an earlier answer that are still missing are given up. */
void commgram_asked(struct commgram *commgram, const struct commgram_request *request);

/** Its reply came. With code 0 the picture should be complete.
 *  @param text  what went wrong, for people; may be NULL */
void commgram_replied(struct commgram *commgram, int code, const char *text);

int commgram_same(const struct commgram_request *a, const struct commgram_request *b);

/** The question as the wire's argument. @return out */
char *commgram_argument(const struct commgram_request *request, char *out, size_t room);

const struct wire_phase_row *commgram_phase(const struct commgram *commgram, uint32_t i);
const struct wire_curve_point_row *commgram_point(const struct commgram *commgram, uint32_t i);

/** A phase by its number; NULL: not kept. */
const struct wire_phase_row *commgram_phase_find(const struct commgram *commgram, uint64_t id);

/** First point whose phase ends at a time or later; the number of points when there is none. */
uint32_t commgram_point_at(const struct commgram *commgram, uint64_t ns);

/** Bar of a picture, by column and place from the top; COMMGRAM_NONE: there is none. */
uint32_t commgram_bar(const struct commgram_picture *picture, uint64_t column, uint64_t bar);

/** Is a rank in a bar? */
int commgram_bar_has(const struct commgram_picture *picture, uint32_t bar, uint64_t rank);

/** Ranks of a bar as text: "0-15,32-47", with an ellipsis where the room ends.
 *  @return 0, or 1 when they did not fit */
int commgram_bar_ranks(const struct commgram_picture *picture, uint32_t bar, char *out,
                       size_t room);

#endif
