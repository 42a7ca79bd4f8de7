/* The tables of the network in a recording (topology, topology_part, seat, link, link_route),
 * described in docs/recording.md. */
#ifndef HOLTER_DAEMON_STORAGE_RECORDING_NETWORK_H
#define HOLTER_DAEMON_STORAGE_RECORDING_NETWORK_H

#include "daemon/analysis/network/topology_parts.h"
#include "holter/wire.h"

#include <sqlite3.h>

struct network_tables;

/** Create the tables if they do not exist, and prepare the statements that write them, within the
 * caller's transaction.
 * @return 0, -ENOMEM or -EIO */
int network_tables_create(struct network_tables **out, sqlite3 *db);

/** NULL is fine. */
void network_tables_destroy(struct network_tables *tables);

/** Replace the network. @return 0, -ENOMEM or -EIO */
int network_tables_put_topology(struct network_tables *tables, const struct wire_topology *message);

/** Write the links that are hot or congested, or have been in the window before, and the ranks
 * that load them.
 * @return 0, -ENOMEM or -EIO */
int network_tables_put_links(struct network_tables *tables, const struct wire_links *message);

/** Select the rows of a message that network_tables_put_links() writes.
 * @param rows  set to the rows that the copy points to; free() it
 * @return 0 or -ENOMEM */
int network_tables_select_links(const struct wire_links *message, struct wire_links *out,
                                struct wire_link_row **rows);

/** Read the network back. @param out  finish it; empty when there is none
 *  @return 0, -ENOMEM, -EIO or -HOLTER_ECORRUPT */
int network_tables_read(sqlite3 *db, struct topology_parts *out);

#endif
