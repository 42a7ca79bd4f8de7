/* The data of a report: rows of a recording's tables, as arrays. Internal to daemon/export. */
#ifndef HOLTER_EXPORT_REPORT_DATA_H
#define HOLTER_EXPORT_REPORT_DATA_H

#include "daemon/analysis/tables/key_table.h"
#include "daemon/export/export.h"

#define REPORT_CLASSES 8u /* send, recv, wait, poll, collective, one-sided, io, other */
#define REPORT_CAPTURES 20u
#define REPORT_ALERTS 200
#define REPORT_LINKS 40
#define REPORT_CAUSES 8u

struct report_window {
    int64_t start_ns, length_ns;
    double rank_ns; /* time of the ranks, summed: see RECORDING_RANK_NS */
    double sent, bytes, lost, missing;
    double class_ns[REPORT_CLASSES];
};

enum report_scope { SCOPE_JOB, SCOPE_INTRA, SCOPE_INTER, REPORT_SCOPES };

struct report_latency {
    int64_t start_ns, length_ns;
    double reference[REPORT_SCOPES]; /* NaN: no messages */
    int high;                        /* state of the job: 0 calm, 1 growth, 2 steady */
};

struct report_phase {
    int64_t id, begin_ns, end_ns, communities, resembles;
    double height, messages;
    int returned;
    unsigned pattern; /* equal for phases of the same pattern; counted from 0 in the order of their
                         first phases */
};

struct report_cause {
    char name[40], text[300];
    double share;
};

struct report_alert {
    int64_t id; /* its number in the recording, where some before it may be left out */
    int64_t since_ns, until_ns;
    char state[24], severity[24], title[300], text[1200], ranks[300], nodes[300], advice[1200],
        culprit[24], victims[300];
    double ratio, worst, progress; /* NaN: does not apply */
    double lost_ns;
    int is_hang;
    struct report_cause causes[REPORT_CAUSES];
    unsigned cause_count;
};

struct report_link {
    char name[200], ranks[60];
    double hot, congested, most_bytes, share, ratio, latency;
};

/* The last calls of ranks, as captured. */
struct report_capture {
    int64_t at_ns;
    double records, ranks;
    char reason[300], calls[300]; /* calls: counts of the calls that had not returned */
};

struct report_data {
    struct report_window *windows;
    size_t window_count, window_capacity;
    struct report_latency *latencies;
    size_t latency_count, latency_capacity;
    struct report_phase *phases;
    size_t phase_count, phase_capacity;
    struct key_table patterns; /* ids of the first phase of each pattern, which may be missing in a
                                  cut recording */
    struct report_alert *alerts; /* REPORT_ALERTS */
    size_t alert_count, alerts_all;
    struct report_link *links; /* REPORT_LINKS */
    size_t link_count;
    struct report_capture captures[REPORT_CAPTURES]; /* the first ones */
    size_t capture_count, captures_all;
    char app[400], command[1200], mpi[200], state[24];
    uint64_t rank_group;         /**< ranks in a row of the phases; 0 and 1: every rank */
    uint64_t matched, unmatched; /**< of the messages received since the job's start */
    uint64_t of_unwatched;       /**< other received ones: their senders are not watched */
    uint64_t unwatched;          /**< ranks of the job */
    int cut_short;               /**< the recording ends before the job */
    struct recording_stop stop;  /**< of the recording, not of tables that a replay has made */
    char network[300], network_fault[300];
    int64_t begin_ns, end_ns; /* of all windows */
    int timeless; /* counters: the length of their one window was made up at the import */
    int left_out; /* rows beyond REPORT_WINDOWS were left out */
};

/** @param out  finish it @return 0, -ENOMEM or -HOLTER_ECORRUPT */
int report_data_read(struct report_data *out, struct tables *tables);
void report_data_finish(struct report_data *data);

#endif
