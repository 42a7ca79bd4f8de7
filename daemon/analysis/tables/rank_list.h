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

/** Such a list while it is written, run by run. */
struct rank_runs {
    char *out;
    size_t capacity, length; /**< of what is written */
    const char *more;        /**< what a list that does not fit ends with */
    uint64_t first, last;    /**< the run that is open */
    int is_open, is_cut;
};

/** @param capacity  of out; space for `more` at least */
void rank_runs_begin(struct rank_runs *runs, char *out, size_t capacity, const char *more);
/** Add ranks, ascending. */
void rank_runs_add(struct rank_runs *runs, uint64_t first, uint64_t last);
/** Add the ranks of a row of a job: one, or those of a group of which `rank` is the first.
 *  @param group  ranks in a group; 0 and 1: there are none @param world  ranks of the job; 0: not
 *  known */
void rank_runs_add_row(struct rank_runs *runs, uint64_t rank, uint64_t group, uint64_t world);
/** @return 1, or 0: they did not fit */
int rank_runs_end(struct rank_runs *runs);

/** Read such a list, "3,8-11", whose spans may repeat and come in any order.
 *  @param most  ranks are below it @param out  owned: ranks, ascending, each once
 *  @return 0, -EINVAL: it is no list of such ranks, or -ENOMEM */
int rank_list_parse(uint32_t **out, size_t *count, const char *text, uint32_t most);

#endif
