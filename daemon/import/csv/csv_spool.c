/* Sorting of ends of messages in a mapped file: see csv_spool.h. */
#include "daemon/import/csv/csv_spool.h"
#include "holter/order.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FIRST_ENDS 16384u

struct csv_spool {
    int fd;
    struct csv_end *ends; /* the mapped file */
    size_t count, capacity;
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

/* Blocks are allocated first: writing to a full disk would be a signal. */
static int csv_spool_grow(struct csv_spool *s)
{
    size_t capacity = s->capacity + s->capacity / 2 + FIRST_ENDS,
           bytes = capacity * sizeof(*s->ends);
    int code = posix_fallocate(s->fd, 0, (off_t)bytes);
    if (code != 0)
        return -code;
    void *map = s->ends == NULL
                    ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0)
                    : mremap(s->ends, s->capacity * sizeof(*s->ends), bytes, MREMAP_MAYMOVE);
    if (map == MAP_FAILED)
        return -errno;
    s->ends = map;
    s->capacity = capacity;
    return 0;
}

/* ---- order ----------------------------------------------------------------- */

static int csv_spool_compare(const void *left, const void *right)
{
    const struct csv_end *a = left, *b = right;
    int order = 2 * ORDER(a->rank, b->rank) + ORDER(a->at, b->at);
    if (order == 0)
        order = 64 * ORDER(a->kind, b->kind) + 32 * ORDER(a->leave, b->leave) +
                16 * ORDER(a->bytes, b->bytes) + 8 * ORDER(a->peer, b->peer) +
                4 * ORDER(a->tag, b->tag) + 2 * ORDER(a->enter, b->enter) + ORDER(a->call, b->call);
    if (order == 0)
        order = 2 * ORDER(a->communicator, b->communicator) + ORDER(a->region, b->region);
    return order;
}

/* ---- the spool ------------------------------------------------------------- */

int csv_spool_create(struct csv_spool **out, const char *folder)
{
    struct csv_spool *s = calloc(1, sizeof(*s));
    if (s == NULL)
        return -ENOMEM;
    s->fd = csv_spool_open_unnamed(folder);
    if (s->fd < 0) {
        int code = s->fd;
        free(s);
        return code;
    }
    *out = s;
    return 0;
}

void csv_spool_destroy(struct csv_spool *s)
{
    if (s == NULL)
        return;
    if (s->ends != NULL)
        munmap(s->ends, s->capacity * sizeof(*s->ends));
    close(s->fd);
    free(s->first);
    free(s);
}

int csv_spool_add(struct csv_spool *s, const struct csv_end *end)
{
    int code = s->count < s->capacity ? 0 : csv_spool_grow(s);
    if (code == 0)
        s->ends[s->count++] = *end;
    return code;
}

int csv_spool_sort(struct csv_spool *s, uint32_t ranks, const uint16_t *communicators,
                   const uint16_t *regions)
{
    s->first = calloc((size_t)ranks + 2, sizeof(*s->first));
    if (s->first == NULL)
        return -ENOMEM;
    s->ranks = ranks;
    for (size_t i = 0; i < s->count; i++) {
        s->ends[i].communicator = communicators[s->ends[i].communicator];
        s->ends[i].region = regions[s->ends[i].region];
    }
    if (s->count > 1)
        qsort(s->ends, s->count, sizeof(*s->ends), csv_spool_compare);
    for (size_t i = 0; i < s->count; i++)
        s->first[s->ends[i].rank + 1]++;
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
        memcpy(out, s->ends + s->first[rank] + position, give * sizeof(*out));
    return give;
}
