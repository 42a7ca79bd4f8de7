/* The page of metrics over HTTP, with libmicrohttpd. */
#include "daemon/metrics/metrics_server.h"

#include "daemon/metrics/metrics_listen.h"
#include "holter/clock.h"
#include "holter/condition.h"

#include <errno.h>
#include <microhttpd.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)
#define PATIENCE_NS (2 * SECOND)     /* of a request, for a page that the loop makes */
#define SILENCE_S 5u                 /* a connection on which nothing moves is closed */
#define CONNECTION_BYTES (16u << 10) /* memory for the head of a request */

/* The newest page of one format. */
struct page {
    struct MHD_Response *response; /* NULL: none was made */
    uint64_t made_ns;              /* CLOCK_MONOTONIC */
    uint64_t lasts_ns;             /* so long it is sent again */
    int asked;                     /* the loop is to make another */
};

struct metrics_server {
    struct metrics_server_options options;
    char url[METRICS_URL];
    struct MHD_Daemon *http;
    uv_async_t wake; /* the loop makes what was asked for */
    pthread_mutex_t mutex;
    pthread_cond_t made;
    struct page pages[METRICS_FORMATS]; /* guarded by the mutex, and so is leaving */
    int leaving;
};

/* ---- in the loop ----------------------------------------------------------- */

static struct MHD_Response *metrics_make_response(const struct metrics_server *server,
                                                  enum metrics_format format)
{
    size_t length;
    char *text = server->options.make_page(server->options.user, format, &length);
    if (text == NULL)
        return NULL;
    struct MHD_Response *response =
        MHD_create_response_from_buffer(length, text, MHD_RESPMEM_MUST_FREE);
    if (response == NULL) {
        free(text);
        return NULL;
    }
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
                            metrics_format_content_type(format));
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    return response;
}

/* The page is made without the mutex, as requests wait with it. */
static void metrics_on_wake(uv_async_t *wake)
{
    struct metrics_server *server = wake->data;
    for (unsigned format = 0; format < METRICS_FORMATS; format++) {
        struct page *page = &server->pages[format];
        pthread_mutex_lock(&server->mutex);
        const int asked = page->asked;
        page->asked = 0;
        pthread_mutex_unlock(&server->mutex);
        if (!asked)
            continue;
        const uint64_t begun = clock_mono_ns();
        struct MHD_Response *response = metrics_make_response(server, (enum metrics_format)format);
        const uint64_t now = clock_mono_ns(), lasts = (now - begun) * METRICS_REST;
        pthread_mutex_lock(&server->mutex);
        struct MHD_Response *before = page->response;
        page->response = response;
        page->made_ns = now;
        page->lasts_ns = lasts > METRICS_INTERVAL_NS ? lasts : METRICS_INTERVAL_NS;
        pthread_cond_broadcast(&server->made);
        pthread_mutex_unlock(&server->mutex);
        if (before != NULL)
            MHD_destroy_response(before);
    }
}

/* ---- in the thread of the connections -------------------------------------- */

static enum MHD_Result metrics_refuse(struct MHD_Connection *connection, unsigned status,
                                      const char *text)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(
        strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT);
    if (response == NULL)
        return MHD_NO;
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain");
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    if (status == MHD_HTTP_UNAUTHORIZED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static int metrics_is_young(const struct page *page, uint64_t now_ns)
{
    return page->made_ns != 0 && page->made_ns + page->lasts_ns >= now_ns;
}

/* Wait until the page is young enough. With the mutex held. @return whether it is */
static int metrics_await_page(struct metrics_server *server, struct page *page)
{
    const uint64_t begun = clock_mono_ns(), end = begun + PATIENCE_NS;
    int code = 0;
    while (!server->leaving && code == 0 && !metrics_is_young(page, begun)) {
        if (!page->asked) {
            page->asked = 1;
            uv_async_send(&server->wake);
        }
        code = condition_wait(&server->made, &server->mutex, end);
    }
    return page->response != NULL && metrics_is_young(page, begun);
}

static enum MHD_Result metrics_send_page(struct metrics_server *server,
                                         struct MHD_Connection *connection)
{
    const char *accept =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
    struct page *page = &server->pages[metrics_format_choose(accept)];
    enum MHD_Result result = MHD_NO;
    pthread_mutex_lock(&server->mutex);
    const int is_there = metrics_await_page(server, page);
    if (is_there)
        result = MHD_queue_response(connection, MHD_HTTP_OK, page->response);
    pthread_mutex_unlock(&server->mutex);
    return is_there ? result
                    : metrics_refuse(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
                                     "the daemon is busy, try again\n");
}

/* Whether a text is the expected one, in a time that does not depend on where they differ. */
static int metrics_equals_secret(const char *given, const char *expected)
{
    size_t length = strlen(expected);
    unsigned char difference = 0;
    if (strlen(given) != length)
        return 0;
    for (size_t i = 0; i < length; i++)
        difference |= (unsigned char)(given[i] ^ expected[i]);
    return difference == 0;
}

static int metrics_admits(const struct metrics_server *server, struct MHD_Connection *connection)
{
    static const char scheme[] = "Bearer ";
    if (server->options.token == NULL)
        return 1;
    const char *given =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION);
    return given != NULL && strncmp(given, scheme, strlen(scheme)) == 0 &&
           metrics_equals_secret(given + strlen(scheme), server->options.token);
}

/* Called with the head of a request. It is answered at once, whereupon libmicrohttpd closes the
 * connection: no body is read, and a reader holds none of the few connections between two pages. */
static enum MHD_Result metrics_on_request(void *user, struct MHD_Connection *connection,
                                          const char *url, const char *method, const char *version,
                                          const char *body, size_t *body_bytes, void **request)
{
    (void)version;
    (void)body;
    (void)body_bytes;
    (void)request;
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return metrics_refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD\n");
    if (strcmp(url, "/metrics") != 0)
        return metrics_refuse(connection, MHD_HTTP_NOT_FOUND, "see /metrics\n");
    if (!metrics_admits(user, connection))
        return metrics_refuse(connection, MHD_HTTP_UNAUTHORIZED,
                              "a token is needed, see holterd(1), --metrics\n");
    return metrics_send_page(user, connection);
}

/* ---- life ------------------------------------------------------------------ */

int metrics_server_check(const char *address, char *why, size_t capacity)
{
    char url[METRICS_URL];
    const int fd = metrics_listen(address, url, why, capacity);
    if (fd < 0)
        return fd;
    close(fd);
    return 0;
}

const char *metrics_server_url(const struct metrics_server *server)
{
    return server->url;
}

/* @param fd  taken over, whatever is returned */
static int metrics_start_thread(struct metrics_server *server, int fd)
{
    sigset_t all, before;
    sigfillset(&all); /* signals are the loop's */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    server->http = MHD_start_daemon(
        MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL, metrics_on_request, server,
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, METRICS_CONNECTIONS,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, METRICS_CONNECTIONS / 2, MHD_OPTION_CONNECTION_TIMEOUT,
        SILENCE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES, MHD_OPTION_END);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (server->http != NULL)
        return 0;
    close(fd);
    return -ENOMEM;
}

static void metrics_on_closed(uv_handle_t *handle)
{
    struct metrics_server *server = handle->data;
    for (unsigned format = 0; format < METRICS_FORMATS; format++) {
        if (server->pages[format].response != NULL)
            MHD_destroy_response(server->pages[format].response);
    }
    pthread_cond_destroy(&server->made);
    pthread_mutex_destroy(&server->mutex);
    free(server);
}

int metrics_server_create(struct metrics_server **out, uv_loop_t *loop,
                          const struct metrics_server_options *options, char *why, size_t capacity)
{
    struct metrics_server *server = calloc(1, sizeof(*server));
    snprintf(why, capacity, "--metrics: no memory");
    if (server == NULL)
        return -ENOMEM;
    server->options = *options;
    int code = uv_async_init(loop, &server->wake, metrics_on_wake);
    if (code != 0) {
        free(server);
        return code;
    }
    server->wake.data = server;
    pthread_mutex_init(&server->mutex, NULL);
    condition_init(&server->made);
    const int fd = metrics_listen(options->address, server->url, why, capacity);
    code = fd < 0 ? fd : metrics_start_thread(server, fd);
    if (code != 0) {
        metrics_server_destroy(server);
        return code;
    }
    *out = server;
    return 0;
}

void metrics_server_destroy(struct metrics_server *server)
{
    if (server == NULL)
        return;
    pthread_mutex_lock(&server->mutex);
    server->leaving = 1;
    pthread_cond_broadcast(&server->made);
    pthread_mutex_unlock(&server->mutex);
    if (server->http != NULL)
        MHD_stop_daemon(server->http);
    uv_close((uv_handle_t *)&server->wake, metrics_on_closed);
}
