/* The graphs of dependencies of a recording's captures as tables: one row for each rank, node,
 * edge, or event of the critical chain. Internal to the room: export_csv() and export_json() write
 * them. */
#ifndef HOLTER_DAEMON_EXPORT_EXPORT_GRAPH_H
#define HOLTER_DAEMON_EXPORT_EXPORT_GRAPH_H

#include "daemon/export/export.h"
#include "daemon/export/row_writer.h"

/** Write a table of export_graphs[].
 *  @return 0, -ENOMEM, -EIO or what the reading of the recording returned */
int export_graph_put(struct row_writer *writer, const struct export_source *source,
                     const char *table);

#endif
