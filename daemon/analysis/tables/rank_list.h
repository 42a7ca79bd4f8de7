/* Sets of ranks as people write them: "0-3,8". */
#ifndef HOLTER_DAEMON_ANALYSIS_TABLES_RANK_LIST_H
#define HOLTER_DAEMON_ANALYSIS_TABLES_RANK_LIST_H

#include <stddef.h>
#include <stdint.h>

#define RANK_LIST_FEW 64u /**< of so many no memory is needed */

/** Write a set of ranks, ascending. A list that does not fit is cut after a comma and ends with
 *  "...".
 *  @param ranks  in any order, may repeat @param capacity  of out; at least 5
 *  @return 0, or -ENOMEM where there are more than RANK_LIST_FEW; then out is "..." */
int rank_list(const uint32_t *ranks, size_t count, char *out, size_t capacity);

/** Read such a list, "3,8-11", whose spans may repeat and come in any order.
 *  @param most  ranks are below it @param out  owned: ranks, ascending, each once
 *  @return 0, -EINVAL: it is no list of such ranks, or -ENOMEM */
int rank_list_parse(uint32_t **out, size_t *count, const char *text, uint32_t most);

/** Read digits. @return the first other character, or NULL: there is no number, or it is larger */
const char *rank_list_number(const char *at, uint64_t maximum, uint64_t *out);

#endif
