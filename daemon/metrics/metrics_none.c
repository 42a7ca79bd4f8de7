/* In place of metrics_server.c where libmicrohttpd was not found or is disabled. */
#include "daemon/metrics/metrics_server.h"

#include "holter/error.h"

#include <stdio.h>

int metrics_server_check(const char *address, char *why, size_t capacity)
{
    snprintf(why, capacity,
             "--metrics %.200s: this holterd was built without metrics (libmicrohttpd)", address);
    return -HOLTER_EUSAGE;
}

int metrics_server_create(struct metrics_server **out, uv_loop_t *loop,
                          const struct metrics_server_options *options, char *why, size_t capacity)
{
    (void)loop;
    *out = NULL;
    return metrics_server_check(options->address, why, capacity);
}

const char *metrics_server_url(const struct metrics_server *server)
{
    (void)server;
    return "";
}

void metrics_server_destroy(struct metrics_server *server)
{
    (void)server;
}
