/* Lists of ranks as people write them: "0-3,8". */
#ifndef HOLTER_PROTO_RANK_SPANS_H
#define HOLTER_PROTO_RANK_SPANS_H

#include <stdint.h>

/** Read the next span of a list. A list that was cut, and ends with "...", ends there.
 *  @param at     where to read; moved past the span and its comma
 *  @param first  and last: set on success, first <= last
 *  @return 1, 0 at the end, or -HOLTER_EUSAGE if the text is not a list of ranks */
int rank_spans_next(const char **at, uint64_t *first, uint64_t *last);

/** Is it a list of ranks below `world`, in any order? An empty text is not a list.
 *  @return 0 or -HOLTER_EUSAGE */
int rank_spans_check(const char *text, uint64_t world);

/** Is the rank in the list? Ranks after a syntax error are not. */
int rank_spans_have(const char *text, uint64_t rank);

/** @return "ranks", or of a list of one "rank" */
const char *rank_spans_noun(const char *text);

#endif
