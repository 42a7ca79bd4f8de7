/* The page of metrics as text: OpenMetrics 1.0, and Prometheus' text format 0.0.4, which differ in
 * the heads of metrics and the end. Pure: the text depends on the snapshot alone. */
#ifndef HOLTER_DAEMON_METRICS_METRICS_TEXT_H
#define HOLTER_DAEMON_METRICS_METRICS_TEXT_H

#include "daemon/job/job_figures.h"
#include "daemon/metrics/metrics_families.h"

#include <stddef.h>
#include <stdio.h>

enum metrics_format { METRICS_OPENMETRICS, METRICS_PROMETHEUS, METRICS_FORMATS };

struct metrics_daemon {
#define X(name, kind, unit, meaning) double name;
    METRICS_DAEMON(X)
#undef X
};

struct metrics_fleet {
#define X(name, kind, unit, meaning) double name;
    METRICS_FLEET(X)
#undef X
};

struct metrics_agent {
    char node[65];
#define X(name, kind, unit, meaning) double name;
    METRICS_AGENT(X)
#undef X
};

enum metrics_class {
#define X(field, name) METRICS_CLASS_##field,
    METRICS_CLASSES(X)
#undef X
        METRICS_CLASS_COUNT
};

struct metrics_job {
    char id[65], user[65], program[65];
#define X(name, kind, unit, meaning) double name;
    METRICS_JOB(X)
#undef X
    double mpi_seconds[METRICS_CLASS_COUNT];
    double alerts[RULE_KINDS][JOB_SEVERITIES];
    struct metrics_agent *agents; /**< owned; by name of the node, each once */
    size_t agent_count, agent_capacity;
    char node_left_out[65]; /**< the last node without figures; "": none */
};

struct metrics_snapshot {
    const char *version; /**< of Holter; borrowed */
    const char *cluster; /**< NULL: no name is known; borrowed */
    struct metrics_daemon daemon;
    const struct metrics_fleet *fleet; /**< NULL: the daemon is of none; borrowed */
    struct metrics_job *jobs;          /**< owned; each id once */
    size_t job_count;
};

/** Zero-initialised is fine. */
void metrics_snapshot_finish(struct metrics_snapshot *snapshot);

void metrics_text_write(FILE *out, const struct metrics_snapshot *snapshot,
                        enum metrics_format format);

/** The table of all metrics for docs/metrics.md, Markdown. */
void metrics_text_write_table(FILE *out);

/** The value of the header Content-Type. */
const char *metrics_format_content_type(enum metrics_format format);

/** The format for a reader. @param accept  value of the header Accept; NULL: there is none */
enum metrics_format metrics_format_choose(const char *accept);

#endif
