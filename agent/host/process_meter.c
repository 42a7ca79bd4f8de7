/* What the kernel counts for the main thread of a rank's process, proc(5). */
#include "agent/host/process_meter.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Fields of /proc/<pid>/task/<tid>/stat, counted from 1 as in proc(5). */
enum stat_field {
    STAT_STATE = 3,
    STAT_MINOR = 10,
    STAT_MAJOR = 12,
    STAT_USER = 14,
    STAT_SYSTEM = 15,
    STAT_PROCESSOR = 39,
    STAT_BLOCK = 42,
    STAT_FIELDS
};

#define BUSY 95 /* percent of the time on a core: what is left is no sign of anything */

enum meter_file { METER_STAT, METER_SCHEDSTAT, METER_STATUS, METER_FILES };

/* Counts since the begin of the process. */
struct meter_counts {
    uint64_t user_ns, system_ns, queued_ns, voluntary, involuntary, minor, major, block_ns;
    uint64_t steal_ns;
};

struct process_meter {
    const char *root;
    int files[METER_FILES]; /* -1: cannot be read */
    uint64_t begin_ns;      /* of what is counted; 0: it has not begun */
    struct meter_counts begin;
    uint64_t samples, runnable, stopped, blocked;
    uint64_t clocks, clock_sum; /* samples of the clock, and their sum in kHz */
    uint64_t clock_khz;         /* the newest that is known; 0: none */
    int has_no_clock;
    int is_busy; /* it was on a core all the time before the last row */
    char state;  /* at the last row; 0: it is gone */
};

/* Read a file from its begin. @return bytes; the text is terminated */
static size_t meter_read(int file, char *out, size_t capacity)
{
    ssize_t n = file < 0 ? 0 : pread(file, out, capacity - 1, 0);
    out[n > 0 ? n : 0] = '\0';
    return n > 0 ? (size_t)n : 0;
}

/* Read a small file by its name. */
static size_t meter_read_path(const char *path, char *out, size_t capacity)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    size_t n = meter_read(file, out, capacity);
    if (file >= 0)
        close(file);
    return n;
}

static uint64_t meter_ticks_ns(uint64_t ticks)
{
    static long rate;
    if (rate == 0)
        rate = sysconf(_SC_CLK_TCK);
    return ticks * (UINT64_C(1000000000) / (uint64_t)(rate > 0 ? rate : 100));
}

/* ---- life ---------------------------------------------------------------- */

int process_meter_open(struct process_meter **out, const char *root, int32_t pid)
{
    static const char *const names[METER_FILES] = {"stat", "schedstat", "status"};
    struct process_meter *meter = calloc(1, sizeof(*meter));
    if (meter == NULL)
        return -ENOMEM;
    meter->root = root;
    for (int f = 0; f < METER_FILES; f++) {
        char path[512];
        snprintf(path, sizeof(path), "%s/proc/%" PRId32 "/task/%" PRId32 "/%s", root, pid, pid,
                 names[f]);
        meter->files[f] = open(path, O_RDONLY | O_CLOEXEC);
    }
    if (meter->files[METER_STAT] < 0) {
        process_meter_close(meter);
        return -ENOENT;
    }
    *out = meter;
    return 0;
}

void process_meter_close(struct process_meter *meter)
{
    for (int f = 0; meter != NULL && f < METER_FILES; f++) {
        if (meter->files[f] >= 0)
            close(meter->files[f]);
    }
    free(meter);
}

/* ---- reading ------------------------------------------------------------- */

/* @param fields  receives all fields; without `all` the state, and the processor of one that runs
 *                and whose clock may be known. The state is its letter. @return 0: it is gone */
static int meter_read_stat(const struct process_meter *meter, uint64_t fields[STAT_FIELDS], int all)
{
    char text[1024];
    memset(fields, 0, STAT_FIELDS * sizeof(*fields));
    if (meter_read(meter->files[METER_STAT], text, sizeof(text)) == 0)
        return 0;
    char *at = strrchr(text, ')'); /* the name may hold anything */
    if (at == NULL || at[1] != ' ' || at[2] == '\0')
        return 0;
    fields[STAT_STATE] = (unsigned char)at[2];
    at += 3;
    const int has_clock = fields[STAT_STATE] == 'R' && !meter->has_no_clock;
    const int last = all ? STAT_FIELDS - 1 : has_clock ? STAT_PROCESSOR : STAT_STATE;
    for (int f = STAT_STATE + 1; f <= last; f++)
        fields[f] = strtoull(at, &at, 10);
    return 1;
}

static void meter_sample_clock(struct process_meter *meter, uint64_t processor)
{
    char path[512], text[32];
    if (meter->has_no_clock)
        return;
    snprintf(path, sizeof(path),
             "%s/sys/devices/system/cpu/cpu%" PRIu64 "/cpufreq/scaling_cur_freq", meter->root,
             processor);
    meter->has_no_clock = meter_read_path(path, text, sizeof(text)) == 0;
    const uint64_t khz = strtoull(text, NULL, 10);
    if (khz == 0 || khz > UINT32_MAX)
        return;
    meter->clock_sum += khz;
    meter->clocks++;
}

static void meter_note_state(struct process_meter *meter, const uint64_t fields[STAT_FIELDS])
{
    const int state = (int)fields[STAT_STATE];
    meter->samples++;
    meter->runnable += state == 'R';
    meter->stopped += state == 'T' || state == 't';
    meter->blocked += state == 'D';
    if (state == 'R')
        meter_sample_clock(meter, fields[STAT_PROCESSOR]);
}

void process_meter_sample(struct process_meter *meter)
{
    uint64_t fields[STAT_FIELDS];
    if (meter != NULL && !meter->is_busy && meter_read_stat(meter, fields, 0))
        meter_note_state(meter, fields);
}

/* @param label  begins with the end of the line before @return 1: its line is complete */
static int meter_find(const char *text, const char *label, uint64_t *out)
{
    const char *at = strstr(text, label);
    if (at == NULL || strchr(at + 1, '\n') == NULL)
        return 0;
    *out = strtoull(at + strlen(label), NULL, 10);
    return 1;
}

/* They are the last lines of the status, behind lists of groups and cores of any length. */
static void meter_read_switches(int file, struct meter_counts *out)
{
    char text[4096];
    size_t kept = 0;
    off_t offset = 0;
    ssize_t n;
    while (file >= 0 && (n = pread(file, text + kept, sizeof(text) - 1 - kept, offset)) > 0) {
        offset += n;
        kept += (size_t)n;
        text[kept] = '\0';
        meter_find(text, "\nvoluntary_ctxt_switches:", &out->voluntary);
        if (meter_find(text, "\nnonvoluntary_ctxt_switches:", &out->involuntary))
            return;
        const char *last = strrchr(text, '\n');
        kept = last == NULL ? 0 : strlen(last);
        if (kept == sizeof(text) - 1) /* a long line, of which the rest is not wanted, too */
            kept = 0;
        memmove(text, last == NULL ? text : last, kept);
    }
}

static void meter_count(const struct process_meter *meter, const uint64_t fields[STAT_FIELDS],
                        struct meter_counts *out)
{
    char text[128], *at = text;
    *out = (struct meter_counts){
        .user_ns = meter_ticks_ns(fields[STAT_USER]),
        .system_ns = meter_ticks_ns(fields[STAT_SYSTEM]),
        .minor = fields[STAT_MINOR],
        .major = fields[STAT_MAJOR],
        .block_ns = meter_ticks_ns(fields[STAT_BLOCK]),
    };
    if (meter_read(meter->files[METER_SCHEDSTAT], text, sizeof(text)) > 0) {
        (void)strtoull(at, &at, 10); /* time on a core */
        out->queued_ns = strtoull(at, NULL, 10);
    }
    meter_read_switches(meter->files[METER_STATUS], out);
}

/* Counts that went back (a file that could not be read) have not grown. */
static uint64_t meter_growth(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0;
}

int process_meter_take(struct process_meter *meter, uint64_t now_ns, uint64_t steal_ns,
                       struct wire_process_row *row)
{
    uint64_t fields[STAT_FIELDS];
    struct meter_counts now;
    if (meter == NULL)
        return 0;
    const int is_there = meter_read_stat(meter, fields, 1);
    meter->state = (char)fields[STAT_STATE];
    if (!is_there || now_ns <= meter->begin_ns)
        return 0;
    meter_note_state(meter, fields);
    meter_count(meter, fields, &now);
    now.steal_ns = steal_ns;
    if (meter->clocks > 0)
        meter->clock_khz = meter->clock_sum / meter->clocks;
    const int has_begun = meter->begin_ns != 0;
    const struct meter_counts *begin = &meter->begin;
    if (has_begun)
        *row = (struct wire_process_row){
            .rank = row->rank,
            .length_ns = now_ns - meter->begin_ns,
            .user_ns = meter_growth(now.user_ns, begin->user_ns),
            .system_ns = meter_growth(now.system_ns, begin->system_ns),
            .queued_ns = meter_growth(now.queued_ns, begin->queued_ns),
            .voluntary = meter_growth(now.voluntary, begin->voluntary),
            .involuntary = meter_growth(now.involuntary, begin->involuntary),
            .minor_faults = meter_growth(now.minor, begin->minor),
            .major_faults = meter_growth(now.major, begin->major),
            .samples = meter->samples,
            .runnable = meter->runnable,
            .stopped = meter->stopped,
            .blocked = meter->blocked,
            .block_ns = meter_growth(now.block_ns, begin->block_ns),
            .clock_khz = meter->clock_khz,
            .steal_ns = meter_growth(now.steal_ns, begin->steal_ns),
        };
    meter->is_busy = has_begun && row->user_ns + row->system_ns >= row->length_ns / 100 * BUSY;
    meter->begin = now;
    meter->begin_ns = now_ns;
    meter->samples = meter->runnable = meter->stopped = meter->blocked = meter->clocks =
        meter->clock_sum = 0;
    return has_begun;
}

char process_meter_state(const struct process_meter *meter)
{
    return meter == NULL ? 0 : meter->state;
}

/* ---- the node ------------------------------------------------------------ */

/* The figures of a line of /proc/stat: of all cores, or of one. @return figure number `place` */
static uint64_t core_times_figure(const char *line, int place)
{
    char *at = (char *)line + strcspn(line, " ");
    uint64_t ticks = 0;
    for (int i = 0; i < place; i++)
        ticks = strtoull(at, &at, 10);
    return meter_ticks_ns(ticks);
}

void core_times_read(struct core_times *times, const char *root)
{
    enum { IDLE = 4, IOWAIT = 5, STEAL = 8 };
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    char path[512], line[512];
    cpu_set_t own;
    *times = (struct core_times){0};
    snprintf(path, sizeof(path), "%s/proc/stat", root);
    FILE *in = fopen(path, "re");
    if (in == NULL || sched_getaffinity(0, sizeof own, &own) != 0)
        CPU_ZERO(&own);
    while (in != NULL && fgets(line, sizeof(line), in) != NULL && strncmp(line, "cpu", 3) == 0) {
        unsigned long core = line[3] == ' ' ? CPU_SETSIZE : strtoul(line + 3, NULL, 10);
        if (line[3] == ' ')
            times->steal_ns = core_times_figure(line, STEAL) / (uint64_t)(cores > 0 ? cores : 1);
        else if (core < CPU_SETSIZE && CPU_ISSET(core, &own))
            times->idle_ns += core_times_figure(line, IDLE) + core_times_figure(line, IOWAIT);
    }
    if (in != NULL)
        fclose(in);
}
