#include "daemon/import/import.h"

#include "daemon/network_message.h"
#include "daemon/recording.h"
#include "holter/error.h"
#include "holter/size_class.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define BEGIN_NS UINT64_C(1700000000000000000)
#define ARRIVAL_NS UINT64_C(5000000) /* of a window's messages, behind its end */

struct import {
    const struct import_job *job;
    struct recording *recording;
    struct wire_buffer buffer;
    uint64_t *seq;              /* by host */
    uint32_t *ranks, *first;    /* ranks by host: ranks[first[h]] .. ranks[first[h + 1] - 1] */
    struct wire_rank_row *sums; /* by rank */
    uint64_t begin_ns, window;  /* of the job; windows so far */
    const char *error;
};

/* ---- ranks by host --------------------------------------------------------- */

static int group_ranks(struct import *m)
{
    const struct import_job *job = m->job;
    m->seq = calloc((size_t)job->host_count + 1, sizeof(*m->seq));
    m->first = calloc((size_t)job->host_count + 2, sizeof(*m->first));
    m->ranks = calloc((size_t)job->ranks + 1, sizeof(*m->ranks));
    m->sums = calloc((size_t)job->ranks + 1, sizeof(*m->sums));
    if (m->seq == NULL || m->first == NULL || m->ranks == NULL || m->sums == NULL)
        return -ENOMEM;
    for (uint32_t r = 0; r < job->ranks; r++)
        m->first[job->host_of[r] + 2]++;
    for (uint32_t h = 0; h < job->host_count; h++)
        m->first[h + 2] += m->first[h + 1];
    for (uint32_t r = 0; r < job->ranks; r++)
        m->ranks[m->first[job->host_of[r] + 1]++] = r;
    return 0;
}

/* ---- messages -------------------------------------------------------------- */

static int keep(struct import *m, uint32_t host, enum wire_type type, const void *message,
                uint64_t window, uint64_t received_ns)
{
    struct recorded head = {.type = type,
                            .instance = (uint64_t)host + 1,
                            .seq = m->seq[host],
                            .window = window,
                            .time_ns = window > 0 ? window * m->job->window_ns : received_ns,
                            .received_ns = received_ns};
    int code = wire_encode(&m->buffer, type, message);
    if (code == 0)
        code = recording_message(m->recording, &head, m->buffer.bytes, m->buffer.length);
    if (code != 0)
        m->error = code == -EIO ? recording_error(m->recording) : holter_strerror(code);
    return code;
}

static int tell_ranks(struct import *m, uint32_t host)
{
    uint32_t first = m->first[host], count = m->first[host + 1] - first;
    struct wire_member_row *members = calloc((size_t)count + 1, sizeof(*members));
    if (members == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        members[i].rank = m->ranks[first + i];
    struct wire_ranks ranks = {.seq = ++m->seq[host],
                               .job = m->job->name,
                               .world = m->job->ranks,
                               .app = m->job->app,
                               .mpi = m->job->mpi,
                               .command = m->job->command,
                               .host = m->job->hosts[host],
                               .members = members,
                               .members_count = count};
    int code = keep(m, host, WIRE_TYPE_RANKS, &ranks, 0, m->begin_ns);
    free(members);
    return code;
}

/* Messages of a window in the rows of the ranks at both ends. */
static void sum_ranks(struct import *m, const struct import_window *window)
{
    memset(m->sums, 0, m->job->ranks * sizeof(*m->sums));
    for (uint32_t r = 0; r < m->job->ranks; r++) {
        m->sums[r].rank = r;
        m->sums[r].threads = 1;
    }
    for (size_t i = 0; i < window->pair_count; i++) {
        const struct remap_edge *pair = &window->pairs[i];
        struct wire_rank_row *from = &m->sums[pair->from], *to = &m->sums[pair->to];
        from->sent += pair->messages;
        from->sent_bytes += pair->bytes;
        to->received += pair->messages;
        to->received_bytes += pair->bytes;
        from->calls = from->events = from->sent + from->received;
        to->calls = to->events = to->sent + to->received;
    }
}

struct rows {
    struct wire_rank_row *ranks; /* of the host */
    struct wire_pair_row *pairs;
    struct wire_counter_row *counters;
    size_t pair_count, counter_count;
};

static size_t first_pair(const struct import_window *window, uint32_t from)
{
    size_t low = 0, high = window->pair_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (window->pairs[middle].from < from)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void add_pairs(struct rows *rows, const struct import_window *window, uint32_t from)
{
    for (size_t i = first_pair(window, from);
         i < window->pair_count && window->pairs[i].from == from; i++) {
        const struct remap_edge *pair = &window->pairs[i];
        rows->pairs[rows->pair_count++] =
            (struct wire_pair_row){.source = from,
                                   .destination = pair->to,
                                   .size_class = size_class_of(pair->bytes / pair->messages),
                                   .messages = pair->messages,
                                   .bytes = pair->bytes};
    }
}

static int send_window(struct import *m, uint32_t host, const struct import_window *window,
                       const struct rows *rows)
{
    struct wire_comm_row comm = {.id = 1, .size = m->job->ranks, .name = "MPI_COMM_WORLD"};
    struct wire_region_row region = {""};
    uint32_t count = m->first[host + 1] - m->first[host];
    uint64_t number = m->begin_ns / m->job->window_ns + m->window;
    struct wire_node_row node = {.host = m->job->hosts[host],
                                 .agent_pid = 1,
                                 .connected = 1,
                                 .ranks = count,
                                 .up_ns = (m->window + 1) * m->job->window_ns};
    struct wire_window message = {.seq = ++m->seq[host],
                                  .job = m->job->name,
                                  .host = m->job->hosts[host],
                                  .window = number,
                                  .length_ns = m->job->window_ns,
                                  .flags = window->last ? WINDOW_FINAL : 0,
                                  .comms = &comm,
                                  .comms_count = 1,
                                  .regions = &region,
                                  .regions_count = 1,
                                  .ranks = rows->ranks,
                                  .ranks_count = count,
                                  .pairs = rows->pairs,
                                  .pairs_count = rows->pair_count,
                                  .counters = rows->counters,
                                  .counters_count = rows->counter_count,
                                  .node = &node,
                                  .node_count = 1};
    return keep(m, host, WIRE_TYPE_WINDOW, &message, number,
                (number + 1) * m->job->window_ns + ARRIVAL_NS);
}

static int tell_window(struct import *m, uint32_t host, const struct import_window *window,
                       struct rows *rows, size_t *counter)
{
    rows->pair_count = rows->counter_count = 0;
    for (uint32_t i = m->first[host]; i < m->first[host + 1]; i++) {
        rows->ranks[i - m->first[host]] = m->sums[m->ranks[i]];
        add_pairs(rows, window, m->ranks[i]);
    }
    while (*counter < window->counter_count && window->counters[*counter].host < host)
        ++*counter;
    while (*counter < window->counter_count && window->counters[*counter].host == host)
        rows->counters[rows->counter_count++] = window->counters[(*counter)++].row;
    return m->first[host + 1] > m->first[host] ? send_window(m, host, window, rows) : 0;
}

int import_window(struct import *m, const struct import_window *window)
{
    struct rows rows = {.ranks = calloc((size_t)m->job->ranks + 1, sizeof(*rows.ranks)),
                        .pairs = calloc(window->pair_count + 1, sizeof(*rows.pairs)),
                        .counters = calloc(window->counter_count + 1, sizeof(*rows.counters))};
    int code = rows.ranks == NULL || rows.pairs == NULL || rows.counters == NULL ? -ENOMEM : 0;
    size_t counter = 0;
    sum_ranks(m, window);
    for (uint32_t h = 0; code == 0 && h < m->job->host_count; h++)
        code = tell_window(m, h, window, &rows, &counter);
    free(rows.ranks);
    free(rows.pairs);
    free(rows.counters);
    m->window++;
    if (code == -ENOMEM)
        m->error = "no memory";
    return code;
}

/* ---- begin and end --------------------------------------------------------- */

struct keeping {
    struct import *import;
    int code;
};

static void keep_network(void *user, const struct wire_topology *message)
{
    struct keeping *k = user;
    if (k->code == 0)
        k->code = recording_table(k->import->recording, WIRE_TYPE_TOPOLOGY, message);
}

static int tell_network(struct import *m)
{
    struct keeping keeping = {m, 0};
    struct wire_seat_row none = {0};
    if (m->job->network == NULL)
        return 0;
    struct network_telling telling = {.job = m->job->name,
                                      .source = m->job->network_source,
                                      .fault = "",
                                      .spec = topology_spec(m->job->network),
                                      .seats = &none};
    network_message(&telling, keep_network, &keeping);
    return keeping.code;
}

static int tell_job(struct import *m, const char *state)
{
    const struct import_job *job = m->job;
    struct wire_job row = {.job = job->name,
                           .state = state,
                           .app = job->app,
                           .command = job->command,
                           .mpi = job->mpi,
                           .world = job->ranks,
                           .seen = job->ranks,
                           .start_ns = m->begin_ns,
                           .end_ns = m->begin_ns + m->window * job->window_ns,
                           .window_ns = job->window_ns};
    return recording_table(m->recording, WIRE_TYPE_JOB, &row);
}

int import_create(struct import **out, const char *path, const struct import_job *job, char *why,
                  size_t room)
{
    struct stat status;
    struct import *m = calloc(1, sizeof(*m));
    snprintf(why, room, "no memory");
    if (m == NULL)
        return -ENOMEM;
    m->job = job;
    m->begin_ns = BEGIN_NS / job->window_ns * job->window_ns;
    m->error = "";
    int code = group_ranks(m);
    if (code == 0 && stat(path, &status) == 0 && status.st_size > 0) {
        snprintf(why, room, "%s", holter_strerror(-EEXIST));
        code = -EEXIST;
    }
    code = code != 0 ? code : recording_open(&m->recording, path, why, room);
    if (code == 0) {
        code = tell_network(m);
        for (uint32_t h = 0; code == 0 && h < job->host_count; h++)
            code = m->first[h + 1] > m->first[h] ? tell_ranks(m, h) : 0;
        if (code != 0)
            snprintf(why, room, "%s", m->error[0] != '\0' ? m->error : holter_strerror(code));
    }
    if (code != 0) {
        import_close(m);
        return code;
    }
    *out = m;
    return 0;
}

int import_close(struct import *m)
{
    int code = 0;
    if (m == NULL)
        return 0;
    if (m->recording != NULL) {
        code = tell_job(m, "ended");
        int closed = recording_close(m->recording);
        code = code != 0 ? code : closed;
    }
    wire_buffer_finish(&m->buffer);
    free(m->seq);
    free(m->first);
    free(m->ranks);
    free(m->sums);
    free(m);
    return code;
}

const char *import_error(const struct import *m)
{
    return m->error;
}
