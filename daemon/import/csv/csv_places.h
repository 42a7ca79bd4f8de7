/* Hosts of the ranks of a table of messages. */
#ifndef HOLTER_IMPORT_CSV_PLACES_H
#define HOLTER_IMPORT_CSV_PLACES_H

#include "daemon/import/csv/csv_job.h"
#include "daemon/import/trace/trace_places.h"

/** Keep where a message says its ranks are. @param why  set on failure
 *  @return 0, or -HOLTER_EUSAGE when a rank is elsewhere already */
int csv_places_note(struct csv_job *job, const struct csv_message *message, char why[CSV_WHY]);

/** Where all ranks are: as the table says; else on the hosts that were asked for, in blocks; else
 * on those of the network, or all on one. @param out  finish it @param why  set on failure @return
 * 0, -ENOMEM or -HOLTER_EUSAGE */
int csv_places_find(struct trace_places *out, const struct csv_job *job,
                    const struct trace_wishes *wishes, char why[CSV_WHY]);

#endif
