/* Counts of network interfaces: readings, their growth, and what each job has not reported yet. */
#include "agent/host/counters.h"

#include "proto/log.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define LOG_TOPIC "counters"

struct counters {
    const char *root;
    int own;
    uint64_t first_ns;    /* first reading; 0: none yet */
    uint64_t now_ns;      /* last reading */
    uint32_t until_look;  /* readings until the interfaces are listed again */
    uint32_t last_serial; /* highest serial that was assigned */
    uint32_t count;
    struct interface table[MAXIMUM_INTERFACES];
};

int counters_create(struct counters **out, const char *root, int own)
{
    struct counters *counters = calloc(1, sizeof *counters);
    if (counters == NULL)
        return -ENOMEM;
    counters->root = root;
    counters->own = own;
    *out = counters;
    return 0;
}

void counters_destroy(struct counters *counters)
{
    if (counters == NULL)
        return;
    for (uint32_t i = 0; i < counters->count; i++)
        interface_close(&counters->table[i]);
    free(counters);
}

static void counters_sample(struct counters *counters)
{
    uint32_t before = counters->count;
    counters->count = interfaces_look(counters->root, counters->own, counters->table, before);
    counters->until_look = COUNTERS_LOOK_EVERY;
    if (counters->count == 0 && (before > 0 || counters->now_ns == counters->first_ns))
        log_info("no network interface of this node is found in %s", counters->root);
    for (uint32_t i = 0; i < counters->count; i++) {
        struct interface *interface = &counters->table[i];
        if (interface->serial != 0)
            continue;
        interface->serial = ++counters->last_serial;
        log_debug("interface %s", interface->name);
    }
}

/* How much a count has grown since its last reading. A 32-bit count that was in its last quarter
 * and is in its first has wrapped, except those of InfiniBand, which stop at their maximum. */
static uint64_t counters_growth(const struct interface *interface, uint64_t last, uint64_t now)
{
    const uint64_t quarter = UINT64_C(1) << 30, whole = UINT64_C(1) << 32;
    if (now >= last)
        return now - last;
    if (interface->medium == COUNTER_INFINIBAND)
        return 0;
    return last < whole && last >= whole - quarter && now < quarter ? now + whole - last : 0;
}

static int counters_is_stuck(const struct interface *interface, const struct interface_file *file)
{
    return interface->medium == COUNTER_INFINIBAND && file->quantity != INTERFACE_DROPPED &&
           file->last == UINT32_MAX;
}

static void counters_close_file(struct interface *interface, struct interface_file *file)
{
    close(file->fd);
    *file = interface->files[--interface->file_count];
}

/* @return 0 when the interface can no longer be read */
static int counters_read_interface(struct interface *interface, uint64_t now_ns)
{
    interface->stuck = 0;
    for (uint32_t i = 0; i < interface->file_count;) {
        struct interface_file *file = &interface->files[i];
        uint64_t count;
        if (interface_count(file->fd, &count) != 0) {
            if (file->quantity != INTERFACE_DROPPED)
                return 0;
            counters_close_file(interface, file);
            continue;
        }
        if (file->known)
            interface->sums[file->quantity] +=
                counters_growth(interface, file->last, count) * interface->factor;
        file->known = 1;
        file->last = count;
        interface->stuck |= counters_is_stuck(interface, file);
        i++;
    }
    interface->begin_ns = interface->begin_ns == 0 ? now_ns : interface->begin_ns;
    return 1;
}

void counters_read(struct counters *counters, uint64_t now_ns)
{
    if (now_ns == counters->now_ns)
        return;
    counters->now_ns = now_ns;
    counters->first_ns = counters->first_ns == 0 ? now_ns : counters->first_ns;
    if (counters->until_look == 0)
        counters_sample(counters);
    counters->until_look--;
    for (uint32_t i = 0; i < counters->count;) {
        struct interface *interface = &counters->table[i];
        if (counters_read_interface(interface, now_ns)) {
            i++;
            continue;
        }
        log_debug("interface %s cannot be read any more", interface->name);
        interface_close(interface);
        *interface = counters->table[--counters->count];
        counters->until_look = 0;
    }
}

void counters_mark(const struct counters *counters, struct counters_mark *mark)
{
    mark->at_ns = counters->now_ns;
    mark->count = counters->count;
    for (uint32_t i = 0; i < counters->count; i++) {
        mark->of[i].serial = counters->table[i].serial;
        for (int q = 0; q < INTERFACE_QUANTITIES; q++)
            mark->of[i].sums[q] = counters->table[i].sums[q];
    }
}

/* Sums of an interface at the mark; an interface that appeared later had counted nothing. */
static const uint64_t *counters_find_sums(const struct counters_mark *mark, uint32_t serial)
{
    static const uint64_t nothing[INTERFACE_QUANTITIES];
    for (uint32_t i = 0; i < mark->count; i++)
        if (mark->of[i].serial == serial)
            return mark->of[i].sums;
    return nothing;
}

uint64_t counters_since(const struct counters *counters, const struct counters_mark *mark,
                        struct wire_counter_row *rows)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < counters->count; i++) {
        const struct interface *interface = &counters->table[i];
        uint64_t from = interface->begin_ns > mark->at_ns ? interface->begin_ns : mark->at_ns;
        if (interface->stuck || from >= counters->now_ns)
            continue;
        const uint64_t *before = counters_find_sums(mark, interface->serial),
                       *now = interface->sums;
        rows[count++] = (struct wire_counter_row){
            .name = interface->name,
            .medium = interface->medium,
            .unit = interface->unit,
            .sent = now[INTERFACE_SENT] - before[INTERFACE_SENT],
            .received = now[INTERFACE_RECEIVED] - before[INTERFACE_RECEIVED],
            .dropped = now[INTERFACE_DROPPED] - before[INTERFACE_DROPPED],
            .speed = interface->speed,
            .length_ns = counters->now_ns - from,
        };
    }
    return count;
}
