/* Placement of the ranks of a table of messages on hosts. */
#ifndef HOLTER_IMPORT_CSV_PLACES_H
#define HOLTER_IMPORT_CSV_PLACES_H

#include "daemon/import/csv/csv_job.h"
#include "daemon/import/trace/trace_places.h"

/** Store the hosts that a message names for its ranks. @param why  set on failure
 * @return 0, or -HOLTER_EUSAGE when a rank was on another host before */
int csv_places_note(struct csv_job *job, const struct csv_message *message, char why[CSV_WHY]);

/** Place all ranks: on the hosts of the table; else on the requested hosts, in blocks; else on
 * those of the network, or all on one host. @param out  finish it @param why  set on failure
 * @return 0, -ENOMEM or -HOLTER_EUSAGE */
int csv_places_find(struct trace_places *out, const struct csv_job *job,
                    const struct trace_wishes *wishes, char why[CSV_WHY]);

#endif
