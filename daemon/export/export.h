/* Recordings in foreign formats. Each function writes a stream or archive from the tables and
 * messages of a recording, which is not changed. */
#ifndef HOLTER_EXPORT_EXPORT_H
#define HOLTER_EXPORT_EXPORT_H

#include "daemon/export/content.h"
#include "daemon/export/recording_rows.h"

#include <stdio.h>

/** The recording to export; all members are borrowed. */
struct export_source {
    const char *path;
    struct tables *tables;
    const struct content *content; /**< NULL where only tables are needed */
    const struct recording_progress
        *progress;                    /**< called while messages are read again; may be NULL */
    const struct recorded_span *span; /**< tables: only rows of this time; NULL: all. The content is
                                          of the same span */
    uint64_t window_ns;               /**< length of windows, where there is a span */
};

/** Tables in addition to those of tables_names[], summed from messages: "ranks", "pairs", "calls";
 * terminated by NULL. */
extern const char *const export_sums[];

/** Further tables: the graphs of dependencies of all captures, "graph_ranks", "graph_nodes",
 * "graph_edges", "graph_chain", "graph_collectives"; terminated by NULL. */
extern const char *const export_graphs[];

/** Whether a list, terminated by NULL, has a name. */
int export_names_contain(const char *const *names, const char *name);

/** Write one table as CSV (RFC 4180), with a header line. Numbers are written in full; a NULL is
 * empty.
 * @param table  of tables_names[], export_sums[], export_graphs[] or window_tables[]
 * @return 0, -HOLTER_EUSAGE for an unknown table, -ENODATA where the recording has no such table,
 * -EIO, or another negative error */
int export_csv(FILE *out, const struct export_source *source, const char *table);

/** Write tables as one object: {"holter": ..., "tables": {"job": [{...}], ...}}. A NULL is null.
 * @param table  as for export_csv(); NULL: all of tables_names[], export_sums[] and export_graphs[]
 * @return as export_csv() */
int export_json(FILE *out, const struct export_source *source, const char *table);

/** Vertices of the graph of who sends to whom, which is written in the language of Graphviz. */
enum export_graph { EXPORT_RANKS, EXPORT_HOSTS, EXPORT_REGIONS };

/** @param most  maximum number of edges, those of most bytes; the rest is counted in a comment
 * @return 0, -ENOMEM or -EIO */
int export_dot(FILE *out, const struct export_source *source, enum export_graph graph, size_t most);

/** Write what stands between the quotes of a text of Graphviz. */
void export_dot_put_text(FILE *out, const char *text);

/** Limit of ranks times windows; ranks beyond it are left out. */
#define EXPORT_PERFETTO_ROWS 2000000u

/** Write a trace in the JSON form of the Trace Event Format, for ui.perfetto.dev and
 * chrome://tracing: phases, alerts, hot links and captured calls as slices, figures of the job and
 * of its ranks as counters. Times are relative to the begin of the first window.
 * @param ranks     one track for each rank
 * @param left_out  set: ranks had to be left out
 * @return 0, -EIO or another negative error: why is set */
int export_perfetto(FILE *out, const struct export_source *source, int ranks, int *left_out,
                    char *why, size_t capacity);

/** Write a summary as an OTF2 archive: a location for each rank, with its figures in each window as
 * metrics; phases as regions on a location of their own.
 * @param directory  must not exist @return 0, -EEXIST or another negative error: why is set */
int export_otf2(const char *directory, const struct export_source *source, char *why,
                size_t capacity);

#endif
