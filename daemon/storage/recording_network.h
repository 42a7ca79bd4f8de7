/* The tables of a recording that tell of the network: topology, topology_part, seat, link,
 * link_route. docs/recording.md describes them. */
#ifndef HOLTER_DAEMON_STORAGE_RECORDING_NETWORK_H
#define HOLTER_DAEMON_STORAGE_RECORDING_NETWORK_H

#include "daemon/topology/network_parts.h"
#include "holter/wire.h"

#include <sqlite3.h>

struct network_tables;

/** Make the tables that are missing, prepare what writes them. Inside the caller's transaction.
 *  @return 0, -ENOMEM or -EIO */
int network_tables_create(struct network_tables **out, sqlite3 *db);

/** NULL is fine. */
void network_tables_destroy(struct network_tables *tables);

/** The network, in place of what was there. @return 0, -ENOMEM or -EIO */
int network_tables_topology(struct network_tables *tables, const struct wire_topology *message);

/** Links that are hot or congested, or have been in the window before, and the ranks that load
 * them.
 *  @return 0, -ENOMEM or -EIO */
int network_tables_links(struct network_tables *tables, const struct wire_links *message);

/** The rows of a message that network_tables_links() wants, and no others.
 *  @param rows  set to what the copy's links point to; free() it
 *  @return 0 or -ENOMEM */
int network_tables_wants(const struct wire_links *message, struct wire_links *out,
                         struct wire_link_row **rows);

/** Read the network back. @param out  finish it; empty when there is none
 *  @return 0, -ENOMEM, -EIO or -HOLTER_ECORRUPT */
int network_tables_read(sqlite3 *db, struct network_parts *out);

#endif
