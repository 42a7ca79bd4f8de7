/* Recordings in the formats of others. Each writes a stream, from what the recording's tables and
 * messages hold; nothing of the recording is changed. */
#ifndef HOLTER_EXPORT_EXPORT_H
#define HOLTER_EXPORT_EXPORT_H

#include "daemon/export/content.h"
#include "daemon/export/recording_rows.h"

#include <stdint.h>
#include <stdio.h>

/** A recording that is exported; all borrowed. */
struct export_source {
    const char *path;
    struct tables *tables;
    const struct content *content;             /**< NULL where only tables are wanted */
    const struct recording_progress *progress; /**< where messages are read again; NULL: nobody */
};

/** Tables beside those of tables_names[], summed from messages: "ranks", "pairs", "calls"; ended by
 * NULL. */
extern const char *const export_sums[];

/** One table as CSV (RFC 4180), with a line of column names. Numbers are written in full; a NULL is
 * empty.
 *  @param table  of tables_names[] or export_sums[]
 *  @return 0, -HOLTER_EUSAGE for a table that there is not, -EIO, or another negative error */
int export_csv(FILE *out, const struct export_source *source, const char *table);

/** All tables as one object: {"holter": ..., "tables": {"job": [{...}], ...}}. A NULL is null.
 *  @return 0, -EIO or another negative error */
int export_json(FILE *out, const struct export_source *source);

/** Graph of who sends to whom, in the language of Graphviz. */
enum export_graph { EXPORT_RANKS, EXPORT_HOSTS, EXPORT_REGIONS };

/** @param most  edges, those of most bytes; the rest is counted in a comment
 *  @return 0, -ENOMEM or -EIO */
int export_dot(FILE *out, const struct export_source *source, enum export_graph graph, size_t most);

#define EXPORT_PERFETTO_ROWS 2000000u /**< of ranks and windows; beyond, ranks are left out */

/** Trace in the JSON form of the Trace Event Format, which ui.perfetto.dev and chrome://tracing
 * open: phases, alerts, hot links and captured calls as slices, the job's and the ranks' figures as
 * counters. Times are relative to the begin of the first window.
 *  @param ranks     one track for each rank
 *  @param left_out  set to whether ranks had to be left out
 *  @return 0, -EIO or another negative error: why is set */
int export_perfetto(FILE *out, const struct export_source *source, int ranks, int *left_out,
                    char *why, size_t room);

/** Summary as an OTF2 archive: a location for each rank, with what it did in each window as
 * metrics; phases as regions on a location of their own.
 *  @param directory  there must be none @return 0, -EEXIST or another negative error: why is set */
int export_otf2(const char *directory, const struct export_source *source, char *why, size_t room);

#endif
