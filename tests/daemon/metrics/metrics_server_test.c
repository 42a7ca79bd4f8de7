/* The page of metrics over HTTP: what is answered, and what hostile clients cost the loop. */
#include "daemon/metrics/metrics_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define CLIENTS 64

struct bed {
    uv_loop_t loop;
    uv_async_t stop;
    struct metrics_server *server;
    uint16_t port;
    unsigned made;                   /* pages */
    void (*client)(struct bed *bed); /* in a thread of its own, while the loop runs */
};

static char *make_page(void *user, enum metrics_format format, size_t *length)
{
    struct bed *bed = user;
    char text[64];
    bed->made++;
    *length = (size_t)snprintf(text, sizeof(text), "%s page\n",
                               format == METRICS_OPENMETRICS ? "open" : "plain");
    return strdup(text);
}

static void on_stop(uv_async_t *stop)
{
    struct bed *bed = stop->data;
    metrics_server_destroy(bed->server);
    uv_close((uv_handle_t *)stop, NULL);
}

static void *run_client(void *user)
{
    struct bed *bed = user;
    bed->client(bed);
    uv_async_send(&bed->stop);
    return NULL;
}

static void serve(struct bed *bed, void (*client)(struct bed *bed))
{
    const struct metrics_server_options options = {NULL, "127.0.0.1:0", bed, make_page};
    char why[300];
    pthread_t thread;
    *bed = (struct bed){.client = client};
    assert_int_equal(uv_loop_init(&bed->loop), 0);
    uv_async_init(&bed->loop, &bed->stop, on_stop);
    bed->stop.data = bed;
    if (metrics_server_create(&bed->server, &bed->loop, &options, why, sizeof(why)) != 0)
        fail_msg("%s", why);
    const char *url = metrics_server_url(bed->server);
    assert_int_equal(sscanf(url, "http://127.0.0.1:%hu/metrics", &bed->port), 1);
    assert_int_equal(pthread_create(&thread, NULL, run_client, bed), 0);
    uv_run(&bed->loop, UV_RUN_DEFAULT);
    pthread_join(thread, NULL);
    assert_int_equal(uv_loop_close(&bed->loop), 0);
}

/* ---- clients --------------------------------------------------------------- */

static int connect_to(const struct bed *bed)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(bed->port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
        abort();
    return fd;
}

/* Send a request and read the answer to its end. */
static void ask(const struct bed *bed, const char *request, char *out, size_t capacity)
{
    int fd = connect_to(bed);
    size_t used = 0;
    ssize_t n = write(fd, request, strlen(request));
    while (n > 0 && used < capacity - 1 && (n = read(fd, out + used, capacity - 1 - used)) > 0)
        used += (size_t)n;
    out[used] = '\0';
    close(fd);
}

static char answers[4][2048];

static void ask_all(struct bed *bed)
{
    static const char *const requests[] = {
        "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /metrics?a=b HTTP/1.1\r\nHost: x\r\nAccept: application/openmetrics-text\r\n\r\n",
        "POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\n\r\nmuch",
        "GET /../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n",
    };
    for (unsigned i = 0; i < 4; i++)
        ask(bed, requests[i], answers[i], sizeof(answers[i]));
}

static void the_page_is_all_that_is_served(void **state)
{
    struct bed bed;
    (void)state;
    serve(&bed, ask_all);
    assert_non_null(strstr(answers[0], "HTTP/1.1 200 OK\r\n"));
    assert_non_null(strstr(answers[0], "Content-Type: text/plain; version=0.0.4"));
    assert_non_null(strstr(answers[0], "\r\n\r\nplain page\n"));
    assert_non_null(strstr(answers[1], "Content-Type: application/openmetrics-text"));
    assert_non_null(strstr(answers[1], "\r\n\r\nopen page\n"));
    assert_non_null(strstr(answers[2], "HTTP/1.1 405 "));
    assert_non_null(strstr(answers[2], "Allow: GET, HEAD\r\n"));
    assert_non_null(strstr(answers[3], "HTTP/1.1 404 "));
}

static void ask_for_the_head(struct bed *bed)
{
    ask(bed, "HEAD /metrics HTTP/1.1\r\nHost: x\r\n\r\n", answers[0], sizeof(answers[0]));
}

static void a_head_has_the_length_and_no_page(void **state)
{
    struct bed bed;
    (void)state;
    serve(&bed, ask_for_the_head);
    assert_non_null(strstr(answers[0], "HTTP/1.1 200 OK\r\n"));
    assert_non_null(strstr(answers[0], "Content-Length: 11\r\n"));
    assert_string_equal(strstr(answers[0], "\r\n\r\n"), "\r\n\r\n");
}

/* Requests that never end, garbage, and readers that do not read: all at once. Then the end of the
 * daemon, while they are connected. */
static void be_hostile(struct bed *bed)
{
    static const char *const begins[] = {"", "GET /metr",
                                         "GET /metrics HTTP/1.1\r\nX: ", "\x16\x03\x01\xff\xff"};
    int fds[CLIENTS];
    for (unsigned i = 0; i < CLIENTS; i++) {
        const char *begin = begins[i % 4];
        fds[i] = connect_to(bed);
        ssize_t sent = send(fds[i], begin, strlen(begin), MSG_NOSIGNAL);
        (void)sent;
    }
    uv_async_send(&bed->stop);
    for (unsigned i = 0; i < CLIENTS; i++)
        close(fds[i]);
}

static void clients_that_send_nothing_whole_cost_the_loop_no_page(void **state)
{
    struct bed bed;
    (void)state;
    serve(&bed, be_hostile);
    assert_int_equal(bed.made, 0);
}

static void ask_many_times(struct bed *bed)
{
    for (unsigned i = 0; i < 200; i++)
        ask(bed, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", answers[0], sizeof(answers[0]));
}

/* How many pages are made depends on how long the requests take: fewer than requests in any case,
 * unless each took longer than the interval. */
static void pages_are_made_at_a_bounded_rate(void **state)
{
    struct bed bed;
    (void)state;
    const uint64_t begun = uv_hrtime();
    serve(&bed, ask_many_times);
    assert_in_range(bed.made, 1, 1 + (uv_hrtime() - begun) / METRICS_INTERVAL_NS);
}

static void wrong_addresses_are_named(void **state)
{
    static const char *const wrong[] = {"",         "9464",    ":9464",       "127.0.0.1",
                                        "::1:9464", "[::1]",   "127.0.0.1:x", "127.0.0.1:70000",
                                        "[::1:1",   "a b:12x", "127.0.0.1:"};
    char why[300];
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_true(metrics_server_check(wrong[i], why, sizeof(why)) < 0);
        assert_non_null(strstr(why, "HOST:PORT is expected"));
    }
    assert_int_equal(metrics_server_check("127.0.0.1:0", why, sizeof(why)), 0);
}

static void an_address_that_is_taken_is_named(void **state)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof(address);
    char text[32], why[300];
    (void)state;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, length), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
    snprintf(text, sizeof(text), "127.0.0.1:%u", ntohs(address.sin_port));
    assert_int_equal(metrics_server_check(text, why, sizeof(why)), -EADDRINUSE);
    assert_non_null(strstr(why, text));
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_is_all_that_is_served),
        cmocka_unit_test(a_head_has_the_length_and_no_page),
        cmocka_unit_test(clients_that_send_nothing_whole_cost_the_loop_no_page),
        cmocka_unit_test(pages_are_made_at_a_bounded_rate),
        cmocka_unit_test(wrong_addresses_are_named),
        cmocka_unit_test(an_address_that_is_taken_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
