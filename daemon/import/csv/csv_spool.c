/* External merge sort of ends of messages: see csv_spool.h. */
#include "daemon/import/csv/csv_spool.h"

#include "holter/error.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct csv_spool {
    struct csv_spool_options options;
    char folder[PATH_MAX];
    struct csv_end *ends;     /* owned; the run that is being filled, or, sorted, all of one run */
    struct csv_end *all_ends; /* all ends, sorted: `ends`, or a mapped file */
    size_t count, run;
    uint64_t all;
    int runs_fd; /* sorted runs one after the other; -1: not open */
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

/* Map the file of all ends. Blocks are allocated first: writing to a full disk would be a signal.
 */
static int csv_spool_map(struct csv_end **out, int fd, uint64_t ends, int protection)
{
    size_t bytes = ends * sizeof(**out);
    int code = protection == PROT_READ ? 0 : posix_fallocate(fd, 0, (off_t)bytes);
    void *mapped = code != 0 ? MAP_FAILED : mmap(NULL, bytes, protection, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED)
        return code != 0 ? -code : -errno;
    *out = mapped;
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
    s->runs_fd = -1;
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
    if (s->all_ends != NULL && s->all_ends != s->ends)
        munmap(s->all_ends, s->all * sizeof(*s->all_ends));
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
    const struct csv_end *next, *end;
};

struct merge {
    struct csv_spool *spool;
    struct run *heap; /* the one with the smallest end first */
    uint32_t count;
};

/* Runs are in the order of the input: of equal ends, that of the earlier run comes first. */
static int csv_spool_is_before(const struct merge *m, uint32_t a, uint32_t b)
{
    const struct run *one = &m->heap[a], *other = &m->heap[b];
    int order = csv_spool_compare(one->next, other->next, &m->spool->options);
    return order < 0 || (order == 0 && one->next < other->next);
}

static void csv_spool_sink(struct merge *m, uint32_t at)
{
    for (uint32_t child; (child = 2 * at + 1) < m->count; at = child) {
        child += child + 1 < m->count && csv_spool_is_before(m, child + 1, child);
        if (!csv_spool_is_before(m, child, at))
            return;
        struct run swapped = m->heap[at];
        m->heap[at] = m->heap[child];
        m->heap[child] = swapped;
    }
}

static int csv_spool_merge_all(struct csv_spool *s, const struct csv_end *runs)
{
    struct merge m = {.spool = s, .heap = calloc(s->runs, sizeof(*m.heap)), .count = s->runs};
    if (m.heap == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < s->runs; i++) {
        const struct csv_end *begin = runs + i * (uint64_t)s->run;
        m.heap[i] = (struct run){begin, i + 1 == s->runs ? runs + s->all : begin + s->run};
    }
    for (uint32_t i = m.count; i-- > 0;)
        csv_spool_sink(&m, i);
    for (uint64_t out = 0; m.count > 0; out++) {
        s->all_ends[out] = *m.heap[0].next++;
        if (m.heap[0].next == m.heap[0].end)
            m.heap[0] = m.heap[--m.count];
        csv_spool_sink(&m, 0);
    }
    free(m.heap);
    return 0;
}

static int csv_spool_merge_runs(struct csv_spool *s)
{
    struct csv_end *runs = NULL;
    int code = csv_spool_write_run(s), fd = -1;
    free(s->ends);
    s->ends = NULL;
    if (code == 0)
        code = csv_spool_map(&runs, s->runs_fd, s->all, PROT_READ);
    if (code == 0)
        fd = csv_spool_open_unnamed(s->folder);
    if (code == 0)
        code = fd < 0 ? fd : csv_spool_map(&s->all_ends, fd, s->all, PROT_READ | PROT_WRITE);
    if (code == 0)
        code = csv_spool_merge_all(s, runs);
    if (runs != NULL)
        munmap(runs, s->all * sizeof(*runs));
    if (fd >= 0)
        close(fd);
    close(s->runs_fd);
    s->runs_fd = -1;
    return code;
}

int csv_spool_sort(struct csv_spool *s, uint32_t ranks)
{
    s->first = calloc((size_t)ranks + 2, sizeof(*s->first));
    if (s->first == NULL)
        return -ENOMEM;
    s->ranks = ranks;
    if (s->runs > 0) {
        int code = csv_spool_merge_runs(s);
        if (code != 0)
            return code;
    } else {
        qsort_r(s->ends, s->count, sizeof(*s->ends), csv_spool_compare, &s->options);
        s->all_ends = s->ends;
    }
    for (uint64_t i = 0; i < s->all; i++)
        s->first[s->all_ends[i].rank + 1]++;
    for (uint32_t r = 0; r < ranks; r++)
        s->first[r + 1] += s->first[r];
    return 0;
}

uint32_t csv_spool_read(const struct csv_spool *s, uint32_t rank, uint64_t position,
                        struct csv_end *out, uint32_t most)
{
    uint64_t count = rank < s->ranks ? s->first[rank + 1] - s->first[rank] : 0;
    uint64_t left = position < count ? count - position : 0;
    uint32_t give = left < most ? (uint32_t)left : most;
    if (give > 0)
        memcpy(out, s->all_ends + s->first[rank] + position, give * sizeof(*out));
    return give;
}
