/* The listening socket of the page of metrics. */
#ifndef HOLTER_DAEMON_METRICS_METRICS_LISTEN_H
#define HOLTER_DAEMON_METRICS_METRICS_LISTEN_H

#include <stddef.h>

#define METRICS_URL 512u

/** Listen on HOST:PORT; an IPv6 address stands in brackets.
 *  @param url  set to the address of the page; capacity METRICS_URL
 *  @param why  set on failure: a sentence for people
 *  @return a descriptor, or a negative error */
int metrics_listen(const char *address, char *url, char *why, size_t capacity);

#endif
