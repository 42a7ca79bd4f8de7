/* Endpoints: where a daemon listens. People give the front (ROUTER); the published stream (XPUB)
 * is derived from it: the next TCP port, or the ipc path with ".stream" appended. */
#ifndef HOLTER_PROTO_ENDPOINT_H
#define HOLTER_PROTO_ENDPOINT_H

#include <stddef.h>

/** Check an endpoint, tcp://HOST:PORT (IPv6 in brackets, HOST may be * or 0.0.0.0 to listen) or
 *  ipc:///PATH.
 *  @param why  room for a sentence that names the fault; may be NULL
 *  @return 0 or -HOLTER_EUSAGE */
int endpoint_check(const char *endpoint, char *why, size_t capacity);

/** One of several endpoints that stand in a list, separated by commas: those of a fleet's daemons.
 *  @return 0, or -HOLTER_ERANGE: the list is not that long, or out has not enough room */
int endpoint_of_list(const char *list, size_t index, char *out, size_t capacity);
/** Number of endpoints in a list. */
size_t endpoint_list_count(const char *list);
/** As endpoint_check(), of each endpoint of a list. */
int endpoint_list_check(const char *list, char *why, size_t capacity);

/** Endpoint of the stream that belongs to a front. @return 0 or -HOLTER_ERANGE */
int endpoint_stream(char *out, size_t capacity, const char *front);

/** Is it ipc, to which the file system admits this user alone? */
int endpoint_is_private(const char *endpoint);

/** Can this machine alone reach it: ipc, or an address of the loopback network? */
int endpoint_is_local(const char *endpoint);

/** Of the endpoints of a daemon, the first that other machines reach; else the first. */
const char *endpoint_for_others(const char *const *endpoints, size_t count);

#endif
