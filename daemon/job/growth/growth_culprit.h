/* Culprits by the attribution, as findings, and what findings of the scopes have to do with them:
 * shared by growth_losses.c (the first culprit), growth_second.c and growth_gradual.c. */
#ifndef HOLTER_DAEMON_JOB_GROWTH_GROWTH_CULPRIT_H
#define HOLTER_DAEMON_JOB_GROWTH_GROWTH_CULPRIT_H

#include "daemon/job/growth/growth_state.h"

/* Measured by the bench of faults: see growth_losses.c. */
#define CULPRIT_DELAY                                                                              \
    0.25                /**< of the time in which the job did the same work before: a cause costs  \
                             so much */
#define CULPRIT_ALL 0.9 /**< of what is lost: nothing else is slow by itself */
#define CULPRIT_TOGETHER 2u /**< windows: findings that follow from it begin so close to it */
#define CULPRIT_WINDOWS 3u  /**< slow ones, one after the other: the job is slow */
#define CULPRIT_STRETCH 4u  /**< times as many windows where iterations take about one or more */
#define CULPRIT_NOISE 1.5   /**< times what spans of windows differ by in the mean */

/* ---- causes ---------------------------------------------------------------- */

/** The first cause of what is lost since a window, as a finding.
 * @param least  of the time in which the job did the same work before, so much is put down to it,
 *               where it is not the network
 * @return 0: none accounts for most of it, or that names no place */
int culprit_find_first(struct job_growth *g, uint64_t since, double least,
                       struct scope_finding *out);

/** Of the causes that culprit_find_first() found: the first one that costs much by itself and that
 * is the culprit of a finding.
 * @param other  that is another one
 * @return NULL: there is none */
const struct attribution_cause *culprit_find_among(const struct job_growth *g,
                                                   const struct scope_finding *f, int other,
                                                   struct scope_finding *out);

/* ---- findings ---------------------------------------------------------------- */

/** Has a finding a member of the kind, the number and the direction of a scope?
 * @param any  whatever the direction is */
int finding_has_member(const struct scope_finding *f, const struct scope *scope, int any);

/** Are both about messages in flight, or both about ranks that are late? */
int finding_is_alike(const struct scope_finding *a, const struct scope_finding *b);

/** Is it about messages of several nodes, or of all? */
int finding_is_of_several(const struct scope_finding *f);

/** Does a finding of the scopes name the culprit? Of ranks that are about as late the attribution
 * names those that hold up the others; messages of a node that computes longer may have begun to
 * take longer before; messages within nodes do with those between them; and where several nodes are
 * slow, so are most messages between nodes. */
int finding_names(const struct scope_finding *f, const struct scope_finding *culprit);

/** Does it name the culprit together with others? */
int finding_includes(const struct scope_finding *f, const struct scope_finding *culprit);

/** Is it about messages of the culprit: pairs or ranks of its nodes, a link, or all? */
int finding_is_part(const struct job_growth *g, const struct scope_finding *f,
                    const struct scope_finding *culprit);

/** Does it follow from the culprit: does it begin with it, or is it about ranks or all messages
 * while nothing but the culprit costs time? What begins with it may still be a fault of its own
 * between two nodes or on a link.
 * @param alone  nearly all that was lost was put down to the culprit once: then what began with it
 *               is no fault of its own, also when others cost time later */
int finding_follows(const struct scope_finding *f, const struct scope_finding *culprit, int alone);

/** Is it announced: with an alert, or soon, since typical messages take longer? */
int finding_is_announced(const struct job_growth *g, const struct scope_finding *f);

/** Are all its members of a node? Links and localities may be. */
int finding_is_of_node(const struct job_growth *g, const struct scope_finding *f, uint32_t node);

/** A finding is about the culprit from now on. */
void finding_take_culprit(struct scope_finding *f, const struct scope_finding *culprit);

/** The figures of a finding that goes on. */
void finding_set_figures(struct scope_finding *f, const struct scope_finding *now);

/* ---- culprits ---------------------------------------------------------------- */

/** Times as many windows as usual show the culprit: where iterations take about a window or more,
 * they take several times as many now, and not every window has one. */
uint32_t culprit_stretch(const struct job_growth *g, const struct closed_window *window);

/** Windows, one after the other, in which a culprit is not found any more, until it is none. */
uint32_t culprit_over_windows(const struct job_growth *g, const struct closed_window *window);

/** A culprit that no finding of the scopes names is a finding of its own.
 * @param named   becomes 1
 * @param shared  finding of the scopes that named it before; 0: none
 * @return NULL: that has ended, and with it this one */
struct scope_finding *culprit_add_finding(struct job_growth *g, struct scope_finding *finding,
                                          int *named, uint64_t shared);

/** A job that does nothing at all hangs, which is another alert. */
int growth_job_stands_still(const struct job_growth *g);

/** Are messages of another size than when the job is not slow: does it do another work? */
int growth_has_other_work(const struct growth_losses *s, const struct closed_window *window);

void growth_find_second(struct job_growth *g, const struct closed_window *window);
void growth_find_gradual(struct job_growth *g, const struct closed_window *window);

#endif
