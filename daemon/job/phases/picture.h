/* A picture of the CommGram for one client, made in steps of one phase each, so that the loop is
 * never held for long: a cut of the span into phases, for each its graph and communities, then
 * columns, bars and ribbons (daemon/analysis/commgram/commgram.h). */
#ifndef HOLTER_DAEMON_JOB_PHASES_PICTURE_H
#define HOLTER_DAEMON_JOB_PHASES_PICTURE_H

#include "daemon/job/phases/job_phases.h"
#include "daemon/job/phases/picture_ask.h"

#define PICTURE_MAXIMUM_PHASES 256u

struct commgram_cache;
struct picture;

/** Of which job. */
struct picture_source {
    const char *job;           /**< id; copied */
    uint64_t ranks;            /**< of the job, as far as known */
    struct job_phases *phases; /**< borrowed for the call */
    unsigned group_shift;      /**< a group has 1 << group_shift ranks */
};

/** Begin one.
 *  @param ask    taken over, whatever is returned
 *  @param cache  borrowed until the picture is destroyed
 *  @return 0, -ENOMEM or -HOLTER_ELIMIT */
int picture_create(struct picture **out, const struct picture_source *source,
                   struct picture_ask *ask, struct commgram_cache *cache);

/** NULL is fine. */
void picture_destroy(struct picture *picture);

/** Add the next phase.
 *  @param phases  of the same job
 *  @return 1: go on; 0: the picture is done; or -ENOMEM, -HOLTER_ELIMIT */
int picture_step(struct picture *picture, struct job_phases *phases);

/** Send a picture that is done, in parts of at most WIRE_PART_ROWS rows.
 *  @param send  called for each part; nonzero ends the sending, and is returned */
int picture_send(const struct picture *picture,
                 int (*send)(void *user, const struct wire_commgram *message), void *user);

#endif
