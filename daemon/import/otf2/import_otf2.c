/* Import of an OTF2 archive: starts its reader process, describes the job to trace_import(), and
 * imports again where the archive's own clock properties turn out to be wrong. */
#include "daemon/import/otf2/import_otf2.h"

#include "daemon/import/import_file.h"
#include "daemon/import/otf2/otf2_process.h"
#include "daemon/import/trace/trace_places.h"
#include "daemon/import/trace/trace_pool.h"
#include "daemon/storage/recording.h"
#include "holter/error.h"
#include "holter/plain_text.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Limit of a plausible length: more windows of a second, the longest that is chosen, than any
 * recording has. */
#define MAX_PLAUSIBLE_NS (UINT64_C(1000000000) << 20)

static unsigned import_otf2_threads_of(const struct trace_wishes *wishes)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return wishes->threads != 0 ? wishes->threads : processors > 0 ? (unsigned)processors : 1;
}

/* The job is named after the archive, or after its folder when the archive has no name of its own.
 */
static void import_otf2_name_job(char out[IMPORT_JOB_NAME], const char *anchor)
{
    const char *end = anchor + strlen(anchor), *slash = strrchr(anchor, '/');
    const char *begin = text_base_name(anchor);
    if (text_ends(begin, ".otf2"))
        end -= strlen(".otf2");
    if (slash != NULL && slash > anchor && end - begin == 6 && strncmp(begin, "traces", 6) == 0) {
        end = slash; /* Score-P gives all archives the same name, each in a folder of its own */
        for (begin = slash; begin > anchor && begin[-1] != '/';)
            begin--;
    }
    import_job_name(out, begin, (size_t)(end - begin), "otf2");
}

static void import_otf2_sum_reports(const struct otf2_process *process,
                                    struct import_otf2_counts *out)
{
    const struct otf2_job *job = otf2_process_job(process);
    const struct otf2_report *reports = otf2_process_reports(process);
    uint64_t others[OTF2_KINDS] = {0};
    for (uint32_t i = 0; i < job->stream_count; i++) {
        const struct otf2_totals *t = &reports[i].totals;
        out->events += t->events;
        out->sends += t->sends;
        out->send_bytes += t->send_bytes;
        out->receives += t->receives;
        out->receive_bytes += t->receive_bytes;
        out->collectives += t->collectives;
        out->nameless += t->nameless;
        out->unbalanced += t->unbalanced;
        out->undefined += reports[i].undefined;
        out->forced += reports[i].forced;
        for (unsigned k = 0; k < OTF2_KINDS; k++)
            others[k] += reports[i].other[k];
    }
    for (unsigned k = 0; k < OTF2_KINDS && out->other_count < OTF2_MAX_OTHERS; k++)
        if (others[k] > 0) {
            out->others[out->other_count].name = otf2_kind_name(k);
            out->others[out->other_count++].count = others[k];
        }
}

/* Count records before the stated begin. A clock that is wrong in one place causes a few, which may
 * be far off; a stated begin that is too late causes many, which are off by the length of the trace
 * at most. */
static void import_otf2_sum_early(const struct otf2_process *process,
                                  struct import_otf2_counts *out)
{
    const struct otf2_job *job = otf2_process_job(process);
    const struct otf2_report *reports = otf2_process_reports(process);
    uint64_t first = job->offset;
    for (uint32_t i = 0; i < job->stream_count; i++) {
        out->early += reports[i].early;
        if (reports[i].early > 0 && reports[i].earliest < first)
            first = reports[i].earliest;
    }
    struct otf2_job from_there = *job;
    from_there.offset = first;
    uint64_t by_ns = otf2_job_ns(&from_there, job->offset);
    if (out->early == 0 || (out->early < out->events / 2 && by_ns > job->length_ns))
        return;
    out->zero = first;
    out->early_ns = by_ns == 0 ? 1 : by_ns;
}

static int import_otf2_import_job(const char *path, const char *anchor,
                                  struct otf2_process *process, const struct trace_wishes *wishes,
                                  const struct trace_places *places, uint64_t length_ns,
                                  struct import_otf2_counts *out)
{
    const struct otf2_job *job = otf2_process_job(process);
    char name[IMPORT_JOB_NAME], command[1024], mpi[128];
    import_otf2_name_job(name, anchor);
    snprintf(command, sizeof(command), "holter import --format otf2 %.900s", anchor);
    snprintf(mpi, sizeof(mpi), "OTF2%s%.100s", job->creator[0] != '\0' ? ", " : "", job->creator);
    struct trace_job described = {.name = name,
                                  .app = name,
                                  .command = command,
                                  .mpi = mpi,
                                  .ranks = job->ranks,
                                  .stream_count = job->stream_count,
                                  .rank_of = job->rank_of,
                                  .threads_of = job->cpu_threads_of,
                                  .host_of = job->host_of,
                                  .hosts = job->hosts,
                                  .host_count = job->host_count,
                                  .record_bytes = TRACE_RECORD_BYTES,
                                  .begin_ns = job->begin_ns,
                                  .window_ns = wishes->window_ns,
                                  .length_ns = length_ns != 0 ? length_ns : job->length_ns,
                                  .length_is_claim = length_ns == 0};
    if (places->host_count > 0) {
        described.host_of = places->host_of;
        described.hosts = (const char(*)[65])places->hosts;
        described.host_count = places->host_count;
    }
    struct trace_reader reader = {.user = process,
                                  .next = otf2_process_next,
                                  .comm = otf2_process_comm,
                                  .region = otf2_process_region,
                                  .progress = otf2_process_progress};
    out->ranks = job->ranks;
    out->hosts = described.host_count;
    out->streams = job->stream_count;
    out->left_out = job->left_out;
    out->by_process = job->by_process;
    out->definitions_broken = otf2_process_definitions_broken(process);
    int code = trace_import(path, &described, &reader, wishes, &out->counts);
    out->window_ns = out->counts.window_ns;
    import_otf2_sum_reports(process, out);
    import_otf2_sum_early(process, out);
    return code;
}

/* Corrections of the archive's clock properties, derived from its records. */
struct clock_corrections {
    uint64_t length_ns; /* 0: as the archive states */
    uint64_t zero;      /* ticks */
    int zero_is_known;
};

/* ---- length ---------------------------------------------------------------- */

struct measuring {
    struct otf2_process *process;
    _Atomic uint64_t last_ns;
};

/* Measure the streams of a rank, one after the other. */
static void import_otf2_measure_rank(void *user, uint32_t rank)
{
    struct measuring *m = user;
    struct event events[TRACE_BATCH];
    uint64_t last = 0;
    const struct otf2_job *job = otf2_process_job(m->process);
    for (uint32_t i = 0; i < job->threads_of[rank]; i++) {
        uint32_t stream = job->streams[job->first_of[rank] + i];
        int count = 1;
        while (count > 0) {
            count = otf2_process_next(m->process, stream, UINT64_MAX, events);
            for (int k = 0; k < count; k++)
                last = events[k].kind != 0 && events[k].t_exit > last ? events[k].t_exit : last;
        }
    }
    uint64_t known = atomic_load(&m->last_ns);
    while (last > known && !atomic_compare_exchange_weak(&m->last_ns, &known, last))
        continue;
}

/* Faults are reported later, when the archive is read for the import. */
static void import_otf2_ignore_fault(void *user, const char *text)
{
    (void)user, (void)text;
}

/* Measure the length of a trace by reading it once. Writers that do not know the length state none,
 * or an implausible one, but the length determines the windows. @return 0: it is not needed, or
 * cannot be measured */
static uint64_t import_otf2_measure_length(const char *anchor, const struct trace_wishes *wishes,
                                           const struct otf2_job *job,
                                           const struct clock_corrections *clock_corrections)
{
    unsigned threads = import_otf2_threads_of(wishes);
    struct measuring m = {.last_ns = 0};
    struct trace_pool *pool;
    if (wishes->window_ns != 0 || (job->length_ns != 0 && job->length_ns < MAX_PLAUSIBLE_NS))
        return 0;
    if (otf2_process_start(&m.process, anchor, threads, import_otf2_ignore_fault, NULL) != 0)
        return 0;
    if (clock_corrections->zero_is_known)
        otf2_process_set_zero(m.process, clock_corrections->zero);
    if (trace_pool_create(&pool, threads) == 0) {
        trace_pool_run(pool, import_otf2_measure_rank, &m, job->ranks);
        trace_pool_destroy(pool);
    }
    otf2_process_stop(m.process);
    uint64_t last = atomic_load(&m.last_ns);
    return last < MAX_PLAUSIBLE_NS ? last : 0;
}

/* ---- all of it ------------------------------------------------------------- */

/* The name of a symbolic link does not matter: its target must be an archive. */
static int import_otf2_links_to_archive(const char *path)
{
    char *end = realpath(path, NULL);
    int leads = end != NULL && text_ends(end, ".otf2");
    free(end);
    return leads;
}

/* Check what libotf2 would report in its own words, or not at all. @return 0, or a negative error,
 * reported */
static int import_otf2_check_anchor(const char *anchor, struct faults *faults)
{
    int code = access(anchor, R_OK) == 0 ? 0 : -errno;
    if (code != 0) {
        fault_at(faults, 0, "%s", holter_strerror(code));
    } else if (!text_ends(anchor, ".otf2") && !import_otf2_links_to_archive(anchor)) {
        fault_at(faults, 0,
                 "the file of an archive has to be called NAME.otf2, beside its folder NAME");
        code = -HOLTER_EUSAGE;
    }
    return code;
}

static int import_otf2_import_once(const char *path, const char *anchor,
                                   const struct trace_wishes *wishes,
                                   const struct clock_corrections *clock_corrections,
                                   struct import_otf2_counts *out)
{
    struct faults faults = {anchor, wishes->fault, wishes->user, 0};
    struct trace_places places = {.host_count = 0};
    struct otf2_process *process;
    char why[256];
    *out = (struct import_otf2_counts){.ranks = 0};
    int code = import_otf2_check_anchor(anchor, &faults);
    if (code == 0)
        code = otf2_process_start(&process, anchor, import_otf2_threads_of(wishes), wishes->fault,
                                  wishes->user);
    if (code != 0)
        return code;
    if (clock_corrections->zero_is_known)
        otf2_process_set_zero(process, clock_corrections->zero);
    if (wishes->hosts != NULL &&
        (code = trace_places_list(&places, wishes->hosts, otf2_process_job(process)->ranks,
                                  wishes->per_node, why, sizeof(why))) != 0)
        fault_at(&faults, 0, "hosts: %s", why);
    else
        code = import_otf2_import_job(path, anchor, process, wishes, &places,
                                      clock_corrections->length_ns != 0
                                          ? clock_corrections->length_ns
                                          : import_otf2_measure_length(anchor, wishes,
                                                                       otf2_process_job(process),
                                                                       clock_corrections),
                                      out);
    trace_places_finish(&places);
    otf2_process_stop(process);
    return code;
}

/* Compare the archive's statements with its records. @return must the archive be imported again
 * with corrections? */
static int import_otf2_describe(struct clock_corrections *clock_corrections,
                                const struct import_otf2_counts *counts, struct faults *faults)
{
    if (counts->early_ns != 0 && !clock_corrections->zero_is_known) {
        fault_at(faults, 0,
                 "its clock properties have a wrong begin: there are records %.9f s before it; it "
                 "is read once more",
                 (double)counts->early_ns * 1e-9);
        *clock_corrections = (struct clock_corrections){.zero = counts->zero, .zero_is_known = 1};
        return 1;
    }
    if (counts->counts.beyond_ns == 0 || clock_corrections->length_ns != 0)
        return 0;
    clock_corrections->length_ns = counts->counts.beyond_ns;
    fault_at(faults, 0,
             "its clock properties have a wrong length: there are records at %.9f s; it is read "
             "once more",
             (double)clock_corrections->length_ns * 1e-9);
    return 1;
}

int import_otf2(const char *path, const char *anchor, const struct trace_wishes *wishes,
                struct import_otf2_counts *out)
{
    struct faults faults = {anchor, wishes->fault, wishes->user, 0};
    struct clock_corrections clock_corrections = {.length_ns = 0};
    int code = import_otf2_import_once(path, anchor, wishes, &clock_corrections, out);
    while (code == 0 && import_otf2_describe(&clock_corrections, out, &faults)) {
        code = recording_remove(path);
        if (code == 0)
            code = import_otf2_import_once(path, anchor, wishes, &clock_corrections, out);
    }
    if (code == 0 && out->counts.records == 0)
        fault_at(&faults, 0, "there are no records of MPI in it");
    return code;
}

/* ---- messages only --------------------------------------------------------- */

int import_otf2_dependencies(const char *anchor, file_fault *fault, void *user,
                             struct trace_messages *out)
{
    struct faults faults = {anchor, fault, user, 0};
    struct otf2_process *process;
    *out = (struct trace_messages){.failed_streams = 0};
    int code = import_otf2_check_anchor(anchor, &faults);
    if (code == 0)
        code = otf2_process_start(&process, anchor, 1, fault, user);
    if (code != 0)
        return code;
    const struct otf2_job *job = otf2_process_job(process);
    const struct trace_job described = {.ranks = job->ranks,
                                        .stream_count = job->stream_count,
                                        .rank_of = job->rank_of,
                                        .host_of = job->host_of,
                                        .hosts = job->hosts,
                                        .host_count = job->host_count,
                                        .begin_ns = job->begin_ns};
    const struct trace_reader reader = {
        .user = process, .next = otf2_process_next, .comm = otf2_process_comm};
    code = trace_dependencies(&described, &reader, out);
    otf2_process_stop(process);
    return code;
}
