/* External merge sort of ends of messages: see csv_spool.h. */
#include "daemon/import/csv/csv_spool.h"

#include "holter/error.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK 1024u /* ends of a run that are in memory while runs are merged */

struct csv_spool {
    struct csv_spool_options options;
    char folder[PATH_MAX];
    struct csv_end *ends; /* owned; the run that is being filled, or all ends */
    size_t count, run;
    uint64_t all;
    int runs_fd, fd; /* sorted runs one after the other; the merged result; -1: not open */
    uint32_t runs;
    uint64_t *first; /* owned; by rank: its first end, and after the last rank the total; set when
                        sorted */
    uint32_t ranks;
};

/* ---- files ----------------------------------------------------------------- */

static int csv_spool_open_unnamed(const char *folder)
{
    char path[PATH_MAX + 32];
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
    snprintf(path, sizeof(path), "%s/.holter-import-XXXXXX", folder);
    fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0)
        return -errno;
    unlink(path);
    return fd;
}

static int csv_spool_write_all(int fd, const void *bytes, size_t length)
{
    const char *at = bytes;
    while (length > 0) {
        ssize_t n = write(fd, at, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -EIO;
        at += n;
        length -= (size_t)n;
    }
    return 0;
}

static int csv_spool_read_all(int fd, void *bytes, size_t length, uint64_t offset)
{
    char *at = bytes;
    while (length > 0) {
        ssize_t n = pread(fd, at, length, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -EIO;
        at += n;
        offset += (uint64_t)n;
        length -= (size_t)n;
    }
    return 0;
}

/* ---- order ----------------------------------------------------------------- */

#define ORDER(a, b)                                                                                \
    if ((a) != (b))                                                                                \
    return (a) < (b) ? -1 : 1

static int csv_spool_compare_rest(const struct csv_end *a, const struct csv_end *b,
                                  const struct csv_spool_options *o)
{
    ORDER(a->leave, b->leave);
    ORDER(a->bytes, b->bytes);
    ORDER(a->peer, b->peer);
    ORDER(a->tag, b->tag);
    ORDER(a->enter, b->enter);
    ORDER(a->call, b->call);
    int order = a->communicator == b->communicator
                    ? 0
                    : o->communicators(o->user, a->communicator, b->communicator);
    return order != 0 || a->region == b->region ? order : o->regions(o->user, a->region, b->region);
}

static int csv_spool_compare(const void *left, const void *right, void *user)
{
    const struct csv_end *a = left, *b = right;
    ORDER(a->rank, b->rank);
    ORDER(a->at, b->at);
    ORDER(a->kind, b->kind);
    return csv_spool_compare_rest(a, b, user);
}

/* ---- runs ------------------------------------------------------------------ */

int csv_spool_create(struct csv_spool **out, const struct csv_spool_options *options)
{
    struct csv_spool *s = calloc(1, sizeof(*s));
    if (s == NULL)
        return -ENOMEM;
    s->options = *options;
    s->run = options->run == 0 ? CSV_SPOOL_RUN : options->run;
    s->runs_fd = s->fd = -1;
    snprintf(s->folder, sizeof(s->folder), "%s", options->folder);
    s->ends = malloc(s->run * sizeof(*s->ends));
    if (s->ends == NULL) {
        free(s);
        return -ENOMEM;
    }
    *out = s;
    return 0;
}

void csv_spool_destroy(struct csv_spool *s)
{
    if (s == NULL)
        return;
    if (s->runs_fd >= 0)
        close(s->runs_fd);
    if (s->fd >= 0)
        close(s->fd);
    free(s->ends);
    free(s->first);
    free(s);
}

static int csv_spool_write_run(struct csv_spool *s)
{
    int code = 0;
    if (s->runs_fd < 0)
        s->runs_fd = code = csv_spool_open_unnamed(s->folder);
    if (code < 0)
        return code;
    qsort_r(s->ends, s->count, sizeof(*s->ends), csv_spool_compare, &s->options);
    code = csv_spool_write_all(s->runs_fd, s->ends, s->count * sizeof(*s->ends));
    s->runs += code == 0;
    s->count = 0;
    return code;
}

int csv_spool_add(struct csv_spool *s, const struct csv_end *end)
{
    int code = s->count < s->run ? 0
               : s->runs + 1 == CSV_SPOOL_RUNS
                   ? -HOLTER_ELIMIT /* the last run is the one in memory */
                   : csv_spool_write_run(s);
    if (code != 0)
        return code;
    s->ends[s->count++] = *end;
    s->all++;
    return 0;
}

/* ---- merging --------------------------------------------------------------- */

struct run {
    struct csv_end *ends; /* owned; CHUNK of them */
    uint64_t next, end;   /* range of the run in the file that is not read yet, in ends */
    size_t at, count;
};

struct merge {
    struct csv_spool *spool;
    struct run *runs;
    uint32_t *heap; /* runs, the one with the smallest end first */
    uint32_t heap_count;
    struct csv_end *out; /* CHUNK */
    size_t out_count;
};

/* @return 0, 1 at the end of the run, or a negative error */
static int csv_spool_refill(struct merge *m, struct run *run)
{
    uint64_t left = run->end - run->next;
    run->at = 0;
    run->count = left < CHUNK ? (size_t)left : CHUNK;
    if (left == 0)
        return 1;
    int code = csv_spool_read_all(m->spool->runs_fd, run->ends, run->count * sizeof(*run->ends),
                                  run->next * sizeof(*run->ends));
    run->next += run->count;
    return code;
}

static int csv_spool_is_before(const struct merge *m, uint32_t a, uint32_t b)
{
    const struct run *one = &m->runs[a], *other = &m->runs[b];
    int order = csv_spool_compare(&one->ends[one->at], &other->ends[other->at], &m->spool->options);
    return order < 0 || (order == 0 && a < b);
}

static void csv_spool_sink(struct merge *m, uint32_t at)
{
    for (uint32_t child; (child = 2 * at + 1) < m->heap_count; at = child) {
        child +=
            child + 1 < m->heap_count && csv_spool_is_before(m, m->heap[child + 1], m->heap[child]);
        if (!csv_spool_is_before(m, m->heap[child], m->heap[at]))
            return;
        uint32_t swapped = m->heap[at];
        m->heap[at] = m->heap[child];
        m->heap[child] = swapped;
    }
}

static int csv_spool_begin_merge(struct merge *m)
{
    struct csv_spool *s = m->spool;
    m->runs = calloc(s->runs, sizeof(*m->runs));
    m->heap = calloc(s->runs, sizeof(*m->heap));
    m->out = malloc(CHUNK * sizeof(*m->out));
    if (m->runs == NULL || m->heap == NULL || m->out == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < s->runs; i++) {
        struct run *run = &m->runs[i];
        run->next = i * (uint64_t)s->run;
        run->end = i + 1 == s->runs ? s->all : run->next + s->run;
        run->ends = malloc(CHUNK * sizeof(*run->ends));
        int code = run->ends == NULL ? -ENOMEM : csv_spool_refill(m, run);
        if (code != 0)
            return code < 0 ? code : -EIO;
        m->heap[m->heap_count++] = i;
    }
    for (uint32_t i = m->heap_count; i-- > 0;)
        csv_spool_sink(m, i);
    return 0;
}

static void csv_spool_end_merge(struct merge *m)
{
    for (uint32_t i = 0; m->runs != NULL && i < m->spool->runs; i++)
        free(m->runs[i].ends);
    free(m->runs);
    free(m->heap);
    free(m->out);
}

static int csv_spool_write_end(struct merge *m)
{
    int code = csv_spool_write_all(m->spool->fd, m->out, m->out_count * sizeof(*m->out));
    m->out_count = 0;
    return code;
}

static int csv_spool_merge_all(struct merge *m)
{
    while (m->heap_count > 0) {
        struct run *run = &m->runs[m->heap[0]];
        m->out[m->out_count++] = run->ends[run->at++];
        m->spool->first[m->out[m->out_count - 1].rank + 1]++;
        int code = m->out_count == CHUNK ? csv_spool_write_end(m) : 0;
        if (code == 0 && run->at == run->count)
            code = csv_spool_refill(m, run);
        if (code < 0)
            return code;
        if (code == 1)
            m->heap[0] = m->heap[--m->heap_count];
        csv_spool_sink(m, 0);
    }
    return csv_spool_write_end(m);
}

static int csv_spool_merge_runs(struct csv_spool *s)
{
    struct merge merge = {.spool = s};
    int code = csv_spool_write_run(s);
    free(s->ends);
    s->ends = NULL;
    if (code == 0) {
        s->fd = csv_spool_open_unnamed(s->folder);
        code = s->fd < 0 ? s->fd : csv_spool_begin_merge(&merge);
    }
    code = code == 0 ? csv_spool_merge_all(&merge) : code;
    csv_spool_end_merge(&merge);
    close(s->runs_fd);
    s->runs_fd = -1;
    return code;
}

int csv_spool_sort(struct csv_spool *s, uint32_t ranks)
{
    int code = 0;
    s->first = calloc((size_t)ranks + 2, sizeof(*s->first));
    if (s->first == NULL)
        return -ENOMEM;
    s->ranks = ranks;
    if (s->runs > 0) {
        code = csv_spool_merge_runs(s);
    } else {
        qsort_r(s->ends, s->count, sizeof(*s->ends), csv_spool_compare, &s->options);
        for (size_t i = 0; i < s->count; i++)
            s->first[s->ends[i].rank + 1]++;
    }
    for (uint32_t r = 0; r < ranks; r++)
        s->first[r + 1] += s->first[r];
    return code;
}

uint64_t csv_spool_count(const struct csv_spool *s, uint32_t rank)
{
    return rank < s->ranks ? s->first[rank + 1] - s->first[rank] : 0;
}

int csv_spool_read(const struct csv_spool *s, uint32_t rank, uint64_t position, struct csv_end *out,
                   uint32_t most)
{
    uint64_t count = csv_spool_count(s, rank), left = position < count ? count - position : 0;
    uint32_t give = left < most ? (uint32_t)left : most;
    uint64_t from = give == 0 ? 0 : s->first[rank] + position;
    if (s->ends != NULL && give > 0)
        memcpy(out, s->ends + from, give * sizeof(*out));
    int code = s->ends != NULL || give == 0
                   ? 0
                   : csv_spool_read_all(s->fd, out, give * sizeof(*out), from * sizeof(*out));
    return code != 0 ? code : (int)give;
}
