/* What an alert is routed by, beside its kind and severity: texts that are short, and that stay the
 * same while the alert lasts. */
#ifndef HOLTER_DAEMON_ALERT_ALERT_LABELS_H
#define HOLTER_DAEMON_ALERT_ALERT_LABELS_H

/** Each "" where it is not known. */
struct alert_labels {
    char user[65];    /**< who runs the job */
    char job[65];     /**< name of the program, without its folder */
    char host[65];    /**< the one host that the alert is about */
    char culprit[97]; /**< what explains it: "node n3", "rank 5", "link n3 to n4", "job" */
};

#endif
