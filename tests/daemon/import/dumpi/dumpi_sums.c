#include "tests/daemon/import/dumpi/dumpi_sums.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#define REQUESTS 4096

/* The call that is being read: its lines. */
struct call {
    char name[64];
    const char *begin, *end;
};

struct counting {
    struct dumpi_sums *sums;
    int rank, ranks;
    struct {
        int receives;
        uint64_t bytes;
    } requests[REQUESTS];
};

/* Find a word in a part of the text: strstr(3) would, with the address sanitizer, measure the whole
 * text each time. */
static const char *find_within(const char *begin, const char *end, const char *word)
{
    return memmem(begin, (size_t)(end - begin), word, strlen(word));
}

/* The text behind "type name=" of an argument. NULL: there is none */
static const char *argument(const struct call *call, const char *name)
{
    char key[80];
    snprintf(key, sizeof key, " %s", name);
    size_t length = strlen(key);
    for (const char *at = call->begin; at < call->end; at = strchr(at, '\n') + 1) {
        const char *equals = strchr(at, '=');
        if (equals == NULL)
            break;
        const char *found = find_within(at, equals, key);
        if (found != NULL && (found[length] == '=' || found[length] == '['))
            return equals + 1;
    }
    return NULL;
}

static long number(const struct call *call, const char *name)
{
    const char *at = argument(call, name);
    assert_non_null(at);
    return strtol(at, NULL, 10);
}

static uint64_t type_size(const struct call *call, const char *name)
{
    static const struct {
        const char *name;
        uint64_t bytes;
    } sizes[] = {{"(MPI_INT)", 4},  {"(MPI_DOUBLE)", 8},    {"(MPI_FLOAT)", 4}, {"(MPI_CHAR)", 1},
                 {"(MPI_BYTE)", 1}, {"(MPI_LONG_LONG)", 8}, {"(MPI_LONG)", 8}};
    const char *at = argument(call, name);
    assert_non_null(at);
    at = strchr(at, '(');
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (strncmp(at, sizes[i].name, strlen(sizes[i].name)) == 0)
            return sizes[i].bytes;
    fail_msg("size of %.30s", at);
    return 0;
}

static uint64_t payload(const struct call *call)
{
    return (uint64_t)number(call, "count") * type_size(call, "datatype");
}

/* The n-th "{bytes=" of a status argument, else what was posted. */
static uint64_t status_bytes(const struct call *call, const char *name, int n, uint64_t posted)
{
    const char *at = argument(call, name);
    if (at == NULL || *at == '<')
        return posted;
    for (int i = 0; i <= n; i++) {
        at = find_within(at, call->end, "{bytes=");
        assert_non_null(at);
        at += 7;
    }
    return strtoull(at, NULL, 10);
}

static void completed(struct counting *c, const struct call *call, long request, const char *status,
                      int n)
{
    assert_in_range(request, 2, REQUESTS - 1);
    if (!c->requests[request].receives)
        return;
    c->requests[request].receives = 0;
    c->sums->received++;
    c->sums->received_bytes += status_bytes(call, status, n, c->requests[request].bytes);
}

static void posted(struct counting *c, const struct call *call, int receives)
{
    long request = strtol(argument(call, "request") + 1, NULL, 10);
    assert_in_range(request, 2, REQUESTS - 1);
    c->requests[request].receives = receives;
    c->requests[request].bytes = payload(call);
}

static int is_message(struct counting *c, const struct call *call)
{
    if (strcmp(call->name, "MPI_Send") == 0 || strcmp(call->name, "MPI_Isend") == 0) {
        c->sums->sent++;
        c->sums->sent_bytes += payload(call);
        if (call->name[4] == 'I')
            posted(c, call, 0);
    } else if (strcmp(call->name, "MPI_Irecv") == 0) {
        posted(c, call, 1);
    } else if (strcmp(call->name, "MPI_Recv") == 0) {
        c->sums->received++;
        c->sums->received_bytes += status_bytes(call, "status", 0, payload(call));
    } else if (strcmp(call->name, "MPI_Wait") == 0) {
        completed(c, call, strtol(argument(call, "request") + 1, NULL, 10), "status", 0);
    } else if (strcmp(call->name, "MPI_Waitall") == 0) {
        const char *at = argument(call, "requests") + 1;
        for (int i = 0; i < number(call, "count"); i++) {
            char *next;
            completed(c, call, strtol(at, &next, 10), "statuses", i);
            at = next + 1;
        }
    } else {
        return 0;
    }
    return 1;
}

static void collective(struct counting *c, const struct call *call)
{
    uint64_t give = 0, get = 0, ranks = (uint64_t)c->ranks;
    const char *name = call->name + 4;
    if (strcmp(name, "Bcast") == 0) {
        *(number(call, "root") == c->rank ? &give : &get) = payload(call);
    } else if (strcmp(name, "Reduce") == 0) {
        give = payload(call);
        get = number(call, "root") == c->rank ? give : 0;
    } else if (strcmp(name, "Allreduce") == 0) {
        give = get = payload(call);
    } else if (strcmp(name, "Allgather") == 0) {
        give = (uint64_t)number(call, "sendcount") * type_size(call, "sendtype");
        get = (uint64_t)number(call, "recvcount") * type_size(call, "recvtype") * ranks;
    } else if (strcmp(name, "Alltoall") == 0) {
        give = (uint64_t)number(call, "sendcount") * type_size(call, "sendtype") * ranks;
        get = (uint64_t)number(call, "recvcount") * type_size(call, "recvtype") * ranks;
    } else if (strcmp(name, "Barrier") != 0) {
        return;
    }
    c->sums->collectives++;
    c->sums->given += give;
    c->sums->got += get;
}

void dumpi_sums_of_text(struct dumpi_sums *out, const char *text, int rank, int ranks)
{
    static struct counting c;
    c = (struct counting){.sums = out, .rank = rank, .ranks = ranks};
    *out = (struct dumpi_sums){0};
    struct call call = {.begin = NULL};
    while (*text != '\0') {
        const char *end = strchr(text, '\n') + 1;
        const char *enters = find_within(text, end, " entering at walltime"),
                   *returns = find_within(text, end, " returning at walltime");
        if (enters != NULL) {
            snprintf(call.name, sizeof call.name, "%.*s", (int)(enters - text), text);
            call.begin = end;
        } else if (returns != NULL) {
            call.end = text;
            if (!is_message(&c, &call))
                collective(&c, &call);
        }
        text = end;
    }
}
