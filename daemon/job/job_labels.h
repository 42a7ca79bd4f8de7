/* The labels by which an alert of a job is routed. */
#ifndef HOLTER_DAEMON_JOB_JOB_LABELS_H
#define HOLTER_DAEMON_JOB_JOB_LABELS_H

#include "daemon/alert/alert_labels.h"
#include "daemon/job/job.h"

/** @param out  all is set; texts are cut to what fits, at whole characters */
void job_labels(const struct job *job, const struct wire_alert *alert, struct alert_labels *out);

#endif
