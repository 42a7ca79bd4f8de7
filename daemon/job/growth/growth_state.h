/* The inside of job_growth: shared by job_growth.c (episodes), growth_text.c (what an alert says)
 * and growth_evidence.c (its fields). */
#ifndef HOLTER_DAEMON_JOB_GROWTH_GROWTH_STATE_H
#define HOLTER_DAEMON_JOB_GROWTH_GROWTH_STATE_H

#include "daemon/analysis/attribution/attribution.h"
#include "daemon/analysis/scopes/scopes.h"
#include "daemon/analysis/scopes/work_progress.h"
#include "daemon/job/growth/growth_join.h"
#include "daemon/job/growth/job_growth.h"

#include <stdint.h>

#define GROWTH_EPISODES (4 * SCOPE_FINDINGS)

/** An episode of a latency rule. */
struct growth_episode {
    const struct rule *rule;      /**< NULL: the place is free */
    struct scope_finding finding; /**< as it was in the newest window in which it had messages */
    struct scope named[SCOPE_MEMBERS]; /**< members by attribution, of an uncertain finding */
    uint32_t named_count;              /**< 0: those of the finding */
    enum alert_state state;
    uint64_t since_ns, good_since_ns; /**< good_since_ns 0: it is not good now */
    uint64_t updated;                 /**< number of the window in which it was reported last */
    double reported_ratio;
    uint32_t reported_members;
    struct scope reported_first; /**< the first of them */
    double lost_ns;              /**< time that the job has lost since the onset */
    char title[ALERT_TITLE + 1], text[1025];
    struct alert_evidence evidence;
};

#define GROWTH_LOSS_ID (UINT64_C(1) << 32) /* findings by the attribution: from this number on */

/** The culprit of what the job loses; see growth_losses.c. Zero-initialised is empty. */
struct growth_losses {
    struct scope_finding finding; /**< id 0: there is none */
    uint64_t onset;               /**< first of the slow windows */
    double lost;                  /**< in that one, by its length */
    double messages, bytes;       /**< sent in a window when the job is not slow */
    uint64_t count;               /**< findings so far */
    uint32_t slow;                /**< windows, one after the other */
    uint32_t same;      /**< windows in which the finding was the same before it has an id */
    uint32_t good;      /**< windows in which the finding was not seen */
    int alone;          /**< nearly all that was lost was put down to it once */
    uint32_t more;      /**< windows, one after the other, in which others were culprits, too */
    uint64_t announced; /**< onset with which the culprit was announced, when it was gradual or the
                             second one; or 0 */
    int named;          /**< it is announced by itself: no finding of the scopes had it */
    uint64_t shared; /**< number of the finding of the scopes that it ends with; 0: it is its own */
};

/** Another culprit: see growth_second.c and growth_gradual.c. Zero-initialised is empty. */
struct growth_culprit {
    struct scope_finding finding; /**< id 0: there is none */
    uint64_t onset;               /**< gradual: first window in which less was done; second: with
                                       which it is announced, once `shared` is set */
    uint32_t slow;                /**< gradual: windows, one after the other */
    uint32_t same;   /**< windows in which the finding was the same before it has an id */
    uint32_t good;   /**< windows in which the finding was not seen */
    int named;       /**< second: it is announced by itself: no finding of the scopes had it */
    uint64_t shared; /**< second: the finding of the scopes that it ends with; 0: it is its own */
};

struct job_growth {
    struct job_growth_options options;
    struct growth_join join;
    /* By windows as they are judged: joined ones, if any are. */
    struct scopes *scopes;
    struct growth_losses losses;
    struct growth_culprit second;  /**< of another cause that costs much by itself */
    struct growth_culprit gradual; /**< of what is lost so gradually that no window alone shows it;
                                        nothing of it decides what growth_losses finds */
    struct scope_finding findings[SCOPE_FINDINGS + 3]; /**< of all four, in the window */
    size_t finding_count;
    struct attribution *attribution;
    struct progress progress;
    uint64_t routes; /**< networks made when the routes were set */
    struct growth_episode episodes[GROWTH_EPISODES];
    uint32_t ranks;   /**< above the last one that has a place */
    uint32_t nodes;   /**< above the last one that has a rank */
    uint32_t numbers; /**< above the last one that stands for ranks: see growth_by_node() */
    struct attribution_result result;
};

/** Time between the begins of two windows as they are judged. */
static inline uint64_t growth_window_ns(const struct job_growth *g)
{
    return g->options.window_ns * growth_join_span(&g->join);
}

/** In jobs by groups of ranks the numbers of nodes stand for ranks: in scopes, in the attribution,
 * and in the rows of messages. */
static inline int growth_by_node(const struct job_growth *g)
{
    return job_latency_groups(g->options.latency) != 0;
}

/** The scope of what stands for ranks. */
static inline struct scope growth_scope_of_rank(const struct job_growth *g, uint32_t number)
{
    return growth_by_node(g) ? (struct scope){SCOPE_NODE, SCOPE_ALL, number, 0}
                             : (struct scope){SCOPE_RANK, SCOPE_BOTH, number, 0};
}

/** Judge the findings of the scopes by the culprit of what the job loses, which may be added. */
void growth_find_losses(struct job_growth *g, const struct closed_window *window);

/** Does a finding have an alert that fires? @param finding  its id */
int growth_fires(const struct job_growth *g, uint64_t finding);

/** Name the members of an uncertain finding. */
void growth_name_ranks(struct job_growth *g, struct growth_episode *e);

/** Fill the evidence, the title and the text of an episode. */
void growth_describe(struct job_growth *g, struct growth_episode *e,
                     const struct closed_window *window);

/** Does a rank belong to a scope? @param rank  number that stands for it */
int growth_scope_has_rank(const struct job_growth *g, const struct scope *scope, uint32_t rank);

/** Text that is cut where it no longer fits. */
struct growth_text {
    char *out;
    size_t capacity, length;
};

void growth_append(struct growth_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Rewrite the title and the text of an episode that is over: what it was at worst. */
void growth_write_end(const struct job_growth *g, struct growth_episode *e, uint64_t now_ns);

/** Write the title and the text, from the evidence. */
void growth_write_title(const struct job_growth *g, struct growth_episode *e);
void growth_write_text(struct growth_episode *e);

/** Names of the scopes of a finding: "n3, n7 and 2 more", as many as fit. */
void growth_list_scopes(const struct job_growth *g, const struct scope *scopes, uint32_t count,
                        char *out, size_t capacity);

/** Members of a finding that have names: none for messages within or between nodes as a whole. */
static inline uint32_t growth_named(const struct scope_finding *f)
{
    return f->members[0].kind > SCOPE_INTER ? f->member_count : 0;
}

#endif
