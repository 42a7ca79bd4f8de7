/* The inside of a job: its parts, each owned by the file that its header is named after. Only the
 * files that hand the parts to each other include this: job.c, job_accept.c, job_merge.c,
 * job_close.c, job_snapshot.c, job_capture_targets.c. */
#ifndef HOLTER_DAEMON_JOB_JOB_STATE_H
#define HOLTER_DAEMON_JOB_JOB_STATE_H

#include "daemon/analysis/groups/rank_groups.h"
#include "daemon/analysis/waits/waits.h"
#include "daemon/job/growth/job_growth.h"
#include "daemon/job/hang/job_hang.h"
#include "daemon/job/job_alerts.h"
#include "daemon/job/job_captures.h"
#include "daemon/job/job_info.h"
#include "daemon/job/job_nodes.h"
#include "daemon/job/job_places.h"
#include "daemon/job/job_rank_messages.h"
#include "daemon/job/job_stream.h"
#include "daemon/job/job_sums.h"
#include "daemon/job/job_totals.h"
#include "daemon/job/job_unwatched.h"
#include "daemon/job/job_windows.h"
#include "daemon/job/latency/job_latency.h"
#include "daemon/job/network/job_network.h"
#include "daemon/job/phases/job_phases.h"
#include "daemon/job/rank_history.h"

struct job {
    struct job_options options;
    struct job_stream stream; /**< where its messages go */

    struct job_info info;
    struct job_nodes nodes;
    struct job_places places;
    struct job_windows windows;
    struct job_rank_messages rank_messages;
    struct job_captures captures;
    struct job_alerts alerts;
    unsigned group_shift;      /**< 2 to this ranks are a row of the sums: see rank_groups.h */
    struct rank_groups groups; /**< of the message that is merged */
    uint64_t changes_due_ns;   /**< when info and places may be published again */
    uint64_t recorded_phase;   /**< highest id of a phase in a recording that is continued */
    int recovered; /**< its recording was read, and agents have to reach this daemon first */

    /* The analyses, in the order of the list in job_close.c. */
    struct job_unwatched unwatched;
    struct job_totals totals;
    struct job_sums sums;
    struct rank_history rank_history;
    struct job_latency *latency;
    struct waits *waits;
    struct job_lateness lateness;
    struct job_network *network;
    struct job_phases *phases;
    struct job_growth *growth; /**< NULL: there are no rules */
    struct job_hang *hang;     /**< NULL: there is no rule of hangs */
};

#endif
