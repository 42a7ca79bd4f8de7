/* Where the ranks of a job run. */
#ifndef HOLTER_DAEMON_JOB_JOB_PLACES_H
#define HOLTER_DAEMON_JOB_JOB_PLACES_H

#include "daemon/analysis/tables/key_table.h"
#include "daemon/analysis/tables/state_bytes.h"
#include "holter/wire.h"

struct job_place {
    uint32_t rank;
    uint32_t node; /**< number in the job; KEY_NONE: not known */
    uint64_t pid;
    uint64_t core, socket, numa; /**< see wire_member_row */
    char *placement;             /**< owned; NULL: "" */
};

/** Zero-initialised: none. */
struct job_places {
    struct key_table keys;  /**< hi: rank */
    struct job_place *list; /**< owned; by number of the key */
    size_t capacity;
    int changed; /**< since they were published */
};

void job_places_finish(struct job_places *places);

/** Number of the node that a rank runs on; KEY_NONE: not known. */
uint32_t job_places_find_node(const struct job_places *places, uint64_t rank);

/** The place of a rank; borrowed until the next one is added. @return NULL: not known */
const struct job_place *job_places_find(const struct job_places *places, uint64_t rank);

/** The place of a rank, which may be new. @return NULL without memory */
struct job_place *job_places_add(struct job_places *places, uint64_t rank);

/** @return whether it is another place than before */
int job_places_update(struct job_places *places, struct job_place *place, uint32_t node,
                      const struct wire_member_row *member);

/** See state_bytes.h. */
void job_places_copy_state(struct state_bytes *b, struct job_places *places);

#endif
