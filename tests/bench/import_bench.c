/* How fast an OTF2 archive becomes a recording, on one core: event records by processor time of all
 * processes that take part.
 *
 *   bench_import [ROUNDS]  messages and collectives of 16 ranks on 4 hosts; at last of four threads
 * each, which complete what the others have posted */
#include "daemon/import/otf2/import_otf2.h"
#include "tests/daemon/import/otf2/otf2_history.h"
#include "tests/directory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static double seconds(const struct timeval *time)
{
    return (double)time->tv_sec + (double)time->tv_usec * 1e-6;
}

static double processor(int who)
{
    struct rusage usage;
    getrusage(who, &usage);
    return seconds(&usage.ru_utime) + seconds(&usage.ru_stime);
}

static void on_fault(void *user, const char *text)
{
    (void)user;
    fprintf(stderr, "%s\n", text);
}

static int measure(const char *name, const struct history_plan *plan)
{
    char folder[DIRECTORY_ROOM], archive[64], anchor[80], recording[64];
    struct history history;
    struct import_otf2_counts counts;
    struct trace_wishes wishes = {.threads = 1, .fault = on_fault};
    if (directory_make(folder) != 0)
        return 1;
    snprintf(archive, sizeof(archive), "%s/archive", folder);
    snprintf(anchor, sizeof(anchor), "%s/history.otf2", archive);
    snprintf(recording, sizeof(recording), "%s/t.hrec", folder);
    history_write(&history, plan, archive);
    double self = processor(RUSAGE_SELF), children = processor(RUSAGE_CHILDREN);
    int code = import_otf2(recording, anchor, &wishes, &counts);
    self = processor(RUSAGE_SELF) - self;
    children = processor(RUSAGE_CHILDREN) - children;
    directory_remove(folder);
    if (code != 0 || counts.events != history.events || counts.counts.sent != history.sends)
        return 1;
    printf("%-8s %9" PRIu64 " events, %7" PRIu64 " messages, %4" PRIu64
           " windows: %.2f s, %.2f s of them libotf2's process: %.2f million events a second\n",
           name, counts.events, history.sends, counts.counts.windows, self + children, children,
           (double)counts.events / (self + children) * 1e-6);
    return 0;
}

int main(int argc, char **argv)
{
    uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 600000;
    struct history_plan plan = {.seed = 1,
                                .rounds = rounds,
                                .ranks = 16,
                                .per_host = 4,
                                .threads = 1,
                                .resolution = 1000000000};
    int failed = measure("mixed", &plan);
    plan.plain = 1;
    failed |= measure("blocking", &plan);
    plan.plain = 0;
    plan.threads = 4;
    return failed | measure("threads", &plan);
}
