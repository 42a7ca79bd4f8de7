/* For clients: the daemon of a fleet that holds a job. */
#ifndef HOLTER_DAEMON_FLEET_FLEET_FIND_H
#define HOLTER_DAEMON_FLEET_FLEET_FIND_H

#include <stddef.h>

/** Is this the address of a fleet, "nats://HOST:PORT,HOST:PORT,...", in place of an endpoint? It
 * may begin with tls://, and each of the servers may have its scheme. */
int fleet_is_address(const char *text);

/** What follows the servers, "/CLUSTER/JOB" or "/CLUSTER"; borrowed. @return NULL: nothing */
const char *fleet_address_path(const char *address);

/** The job that an address of a fleet names; borrowed. @return NULL: none */
const char *fleet_address_job(const char *address);

/** Write the address with another job, or with one. @return 0, or -HOLTER_ERANGE: it is too long */
int fleet_address_set_job(const char *address, const char *job, char *out, size_t capacity);

/** Ask the fleet's servers where a job is. What they ask for is read from the directory in
 * HOLTER_FLEET_KEYS.
 *  @param address  nats://HOST:PORT,...[/CLUSTER[/JOB]]; without a job there must be one only
 *  @param out      endpoint of the daemon that holds it
 *  @param why      set on failure: a sentence that names the jobs when there are several
 *  @return 0, -HOLTER_EUSAGE, -HOLTER_ENOJOB: nobody holds it now, -EEXIST: there are several,
 *  -HOLTER_EUNREACHABLE or -ENOMEM */
int fleet_find(const char *address, char *out, size_t capacity, char *why, size_t why_capacity);

#endif
