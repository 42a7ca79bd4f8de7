/* Writer of imported windows: turns pairs and counters of a window into the messages that the
 * agents of the hosts would have sent. */
#include "daemon/import/import.h"

#include "daemon/analysis/tables/arena.h"
#include "holter/bisect.h"
#include "holter/size_class.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

struct import {
    const struct import_job *job;
    struct import_file *file;
    struct wire_rank_row *sums; /* rows by rank */
    uint64_t window;            /* windows written so far */
    const char *error;
};

/* Add the messages of a window to the rows of the ranks at both ends. */
static void import_sum_ranks(struct import *m, const struct import_window *window)
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
    struct wire_rank_row *ranks; /* the ranks of the host */
    struct wire_pair_row *pairs;
    struct wire_burst_pair_row *burst_pairs;
    struct wire_burst_row burst; /* all pairs */
    struct wire_counter_row *counters;
    size_t pair_count, counter_count;
};

static size_t import_first_pair(const struct import_window *window, uint32_t from)
{
    return BISECT(i, 0, window->pair_count, window->pairs[i].from < from);
}

static void import_add_pairs(struct rows *rows, const struct import_window *window, uint32_t from)
{
    for (size_t i = import_first_pair(window, from);
         i < window->pair_count && window->pairs[i].from == from; i++) {
        const struct remap_edge *pair = &window->pairs[i];
        const uint32_t size_class = size_class_of(pair->bytes / pair->messages);
        rows->burst_pairs[rows->pair_count] =
            (struct wire_burst_pair_row){from, pair->to, size_class, pair->messages, pair->bytes};
        rows->pairs[rows->pair_count++] = (struct wire_pair_row){.source = from,
                                                                 .destination = pair->to,
                                                                 .size_class = size_class,
                                                                 .messages = pair->messages,
                                                                 .bytes = pair->bytes};
        rows->burst.pairs++;
        rows->burst.messages += pair->messages;
        rows->burst.bytes += pair->bytes;
    }
}

static int import_send_window(struct import *m, uint32_t host, const struct import_window *window,
                              const struct rows *rows, uint32_t count)
{
    struct wire_comm_row comm = {.id = 1, .size = m->job->ranks, .name = "MPI_COMM_WORLD"};
    struct wire_region_row region = {""};
    uint64_t number = import_file_first_window(m->file) + m->window;
    struct wire_node_row node = {.host = m->job->hosts[host],
                                 .agent_pid = 1,
                                 .connected = 1,
                                 .ranks = count,
                                 .up_ns = (m->window + 1) * m->job->window_ns};
    struct wire_window message = {.job = m->job->name,
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
                                  .bursts = &rows->burst,
                                  .bursts_count = rows->pair_count > 0,
                                  .burst_pairs = rows->burst_pairs,
                                  .burst_pairs_count = rows->pair_count,
                                  .counters = rows->counters,
                                  .counters_count = rows->counter_count,
                                  .node = &node,
                                  .node_count = 1};
    int code = import_file_window(m->file, host, &message);
    if (code != 0)
        m->error = import_file_error(m->file);
    return code;
}

/* Nothing is known of the times of messages within the window: they are one burst as long as the
 * window, and a single message is in its middle. */
static void import_time_burst(const struct import *m, struct wire_burst_row *burst)
{
    const uint64_t length = m->job->window_ns;
    burst->first_ns = (import_file_first_window(m->file) + m->window) * length;
    burst->last_ns = burst->first_ns + length - 1;
    const wide sum = ((wide)burst->first_ns + burst->last_ns) * burst->messages / 2;
    if (burst->messages == 1)
        burst->first_ns = burst->last_ns = (uint64_t)sum;
    burst->time_sum_high = (uint64_t)(sum >> 64);
    burst->time_sum_low = (uint64_t)sum;
}

static int import_write_window(struct import *m, uint32_t host, const struct import_window *window,
                               struct rows *rows, size_t *counter)
{
    const uint32_t *ranks;
    uint32_t count = import_file_ranks(m->file, host, &ranks);
    rows->pair_count = rows->counter_count = 0;
    rows->burst = (struct wire_burst_row){0};
    for (uint32_t i = 0; i < count; i++) {
        rows->ranks[i] = m->sums[ranks[i]];
        import_add_pairs(rows, window, ranks[i]);
    }
    import_time_burst(m, &rows->burst);
    while (*counter < window->counter_count && window->counters[*counter].host < host)
        ++*counter;
    while (*counter < window->counter_count && window->counters[*counter].host == host)
        rows->counters[rows->counter_count++] = window->counters[(*counter)++].row;
    return count > 0 ? import_send_window(m, host, window, rows, count) : 0;
}

int import_window(struct import *m, const struct import_window *window)
{
    struct arena memory = {.newest = NULL};
    struct rows rows = {.pair_count = 0};
    size_t counter = 0;
    ARENA_TAKE(&memory, rows.ranks, (size_t)m->job->ranks + 1);
    ARENA_TAKE(&memory, rows.pairs, window->pair_count + 1);
    ARENA_TAKE(&memory, rows.burst_pairs, window->pair_count + 1);
    ARENA_TAKE(&memory, rows.counters, window->counter_count + 1);
    int code = memory.failed ? -ENOMEM : 0;
    import_sum_ranks(m, window);
    for (uint32_t h = 0; code == 0 && h < m->job->host_count; h++)
        code = import_write_window(m, h, window, &rows, &counter);
    arena_finish(&memory);
    m->window++;
    if (code == -ENOMEM)
        m->error = "no memory";
    return code;
}

/* ---- begin and end --------------------------------------------------------- */

static int import_close(struct import *m, int code, char *why, size_t capacity)
{
    code = import_file_close(m->file, code, m->window, why, capacity);
    free(m->sums);
    free(m);
    return code;
}

int import_create(struct import **out, const char *path, const struct import_job *job, char *why,
                  size_t capacity)
{
    struct import *m = calloc(1, sizeof(*m));
    snprintf(why, capacity, "no memory");
    if (m == NULL)
        return -ENOMEM;
    m->job = job;
    m->error = "";
    m->sums = calloc((size_t)job->ranks + 1, sizeof(*m->sums));
    int code = m->sums == NULL ? -ENOMEM : import_file_create(&m->file, path, job, why, capacity);
    if (code != 0) {
        import_close(m, code, NULL, 0);
        return code;
    }
    *out = m;
    return 0;
}

int import_finish(struct import *m, int code, struct faults *faults)
{
    char why[300];
    if (code != 0)
        fault_at(faults, 0, "%s", m->error);
    int closed = import_close(m, code, why, sizeof(why));
    if (code == 0 && closed != 0)
        fault_at(faults, 0, "%s", why);
    return closed;
}
