/* The parent's side of reading an archive in child processes: starting, asking, supervising and
 * stopping them. See otf2_process.h. */
#include "daemon/import/otf2/otf2_process.h"

#include "daemon/import/otf2/otf2_shared.h"
#include "holter/clock.h"
#include "holter/error.h"
#include "holter/plain_text.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ARENA_BYTES ((size_t)1 << 36) /* address space; pages are allocated when they are used */
#define ARENA_LEAST ((size_t)1 << 28)
#define STOP_TIMEOUT_MS 1000u /* time for the child to end, milliseconds */
#define CHECK_INTERVAL_S 1    /* seconds between checks that the child lives */
/* A reader process that does not answer for this time is killed. */
#define READER_TIMEOUT_NS UINT64_C(120000000000)

struct otf2_process {
    struct otf2_shared *shared;
    pid_t child;
    char *anchor, *source,
        *folder; /* owned: path as given; resolved path; folder of its files, without a slash */
    pthread_mutex_t lock; /* protects the members below, and the reporting of faults */
    pthread_cond_t given_back;
    unsigned free[OTF2_SLOTS], free_count;
    int gone;
    file_fault *tell;
    void *user;
};

/* ---- telling --------------------------------------------------------------- */

static void otf2_process_report_fault(struct otf2_process *p, const char *file, const char *what)
{
    struct faults faults = {file, p->tell, p->user, 0};
    pthread_mutex_lock(&p->lock);
    fault_at(&faults, 0, "%s", what);
    pthread_mutex_unlock(&p->lock);
}

/* @return the archive's file of definitions, in `path` */
static const char *otf2_process_definitions_path(const struct otf2_process *p, char path[4096])
{
    snprintf(path, 4096, "%s.def", p->folder);
    return path;
}

/* Report a fault of the archive with the name of the file that it is in. */
static void otf2_process_report_archive_fault(struct otf2_process *p, const char *what)
{
    char path[4096];
    int broken = p->shared != NULL && p->shared->definitions_broken;
    otf2_process_report_fault(p, broken ? otf2_process_definitions_path(p, path) : p->anchor, what);
}

static int otf2_process_refuse(struct otf2_process *p, int code, const char *what)
{
    otf2_process_report_archive_fault(p, what);
    otf2_process_stop(p);
    return code;
}

/* ---- finding ---------------------------------------------------------------- */

/* A symbolic link to the anchor file is resolved: the archive's other files are beside its target.
 */
static int otf2_process_find_files(struct otf2_process *p, const char *anchor)
{
    char definitions[4096];
    p->anchor = strdup(anchor);
    p->source = strdup(anchor);
    if (p->anchor == NULL || p->source == NULL)
        return -ENOMEM;
    for (int is_link = 0;; is_link = 1) {
        p->folder = strdup(p->source);
        if (p->folder == NULL)
            return -ENOMEM;
        if (text_ends(p->source, ".otf2"))
            p->folder[strlen(p->folder) - strlen(".otf2")] = '\0';
        char *end = is_link || access(otf2_process_definitions_path(p, definitions), F_OK) == 0
                        ? NULL
                        : realpath(anchor, NULL);
        if (end == NULL)
            return 0;
        free(p->source);
        free(p->folder);
        p->source = end;
    }
}

/* Is it a pipe? Opening it would block until there is a writer. */
static int otf2_process_is_pipe(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

/* ---- starting and stopping ------------------------------------------------- */

static int otf2_process_create_shared(struct otf2_process *p, unsigned threads)
{
    size_t bytes = ARENA_BYTES;
    void *map = MAP_FAILED;
    while (map == MAP_FAILED && bytes >= ARENA_LEAST) {
        map = mmap(NULL, sizeof(struct otf2_shared) + bytes, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        bytes = map == MAP_FAILED ? bytes / 2 : bytes;
    }
    if (map == MAP_FAILED)
        return -ENOMEM;
    struct otf2_shared *s = p->shared = map;
    s->arena = (struct otf2_arena){(unsigned char *)(s + 1), 0, bytes};
    s->slot_count = threads == 0 ? 1 : threads < OTF2_SLOTS ? threads : OTF2_SLOTS;
    sem_init(&s->ready, 1, 0);
    for (unsigned i = 0; i < s->slot_count; i++) {
        sem_init(&s->slots[i].asked, 1, 0);
        sem_init(&s->slots[i].answered, 1, 0);
        p->free[p->free_count++] = i;
    }
    return 0;
}

/* @return 0: it was posted, -HOLTER_ECORRUPT: the child is gone, -ETIMEDOUT: not within
 * CHECK_INTERVAL_S */
static int otf2_process_wait_for(struct otf2_process *p, sem_t *semaphore)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += CHECK_INTERVAL_S;
    int failed = sem_timedwait(semaphore, &until) != 0;
    if (!failed || errno == EINTR)
        return failed ? -ETIMEDOUT : 0;
    pthread_mutex_lock(&p->lock);
    if (!p->gone && waitpid(p->child, NULL, WNOHANG) != 0)
        p->gone = 1;
    int gone = p->gone;
    pthread_mutex_unlock(&p->lock);
    return gone ? -HOLTER_ECORRUPT : -ETIMEDOUT;
}

static int otf2_process_wait_for_definitions(struct otf2_process *p)
{
    int code;
    uint64_t begun = clock_mono_ns();
    do
        code = otf2_process_wait_for(p, &p->shared->ready);
    while (code == -ETIMEDOUT && clock_mono_ns() - begun < READER_TIMEOUT_NS);
    if (code == -ETIMEDOUT)
        return otf2_process_refuse(p, -HOLTER_ECORRUPT,
                                   "libotf2 does not come to an end with its definitions");
    if (code != 0)
        return otf2_process_refuse(p, code, "libotf2 crashed on its definitions");
    code = atomic_load(&p->shared->code);
    const char *said = p->shared->fault;
    if (code == -HOLTER_EEMPTY)
        return otf2_process_refuse(p, code,
                                   said[0] != '\0' ? said : "there are no ranks of MPI in it");
    if (code != 0)
        return otf2_process_refuse(p, code, said[0] != '\0' ? said : holter_strerror(code));
    if (said[0] != '\0') {
        char text[OTF2_FAULT_BYTES + 64];
        snprintf(text, sizeof(text), "definitions are not whole, what there is is used: %s", said);
        otf2_process_report_archive_fault(p, text);
    }
    return 0;
}

int otf2_process_definitions_broken(const struct otf2_process *p)
{
    return p->shared->definitions_broken;
}

int otf2_process_start(struct otf2_process **out, const char *anchor, unsigned threads,
                       file_fault *tell, void *user)
{
    struct otf2_process *p = calloc(1, sizeof(*p));
    if (p == NULL)
        return -ENOMEM;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->given_back, NULL);
    p->tell = tell;
    p->user = user;
    if (otf2_process_find_files(p, anchor) != 0 || otf2_process_create_shared(p, threads) != 0)
        return otf2_process_refuse(p, -ENOMEM, holter_strerror(-ENOMEM));
    char definitions[4096];
    p->shared->definitions_broken =
        otf2_process_is_pipe(otf2_process_definitions_path(p, definitions));
    if (p->shared->definitions_broken || otf2_process_is_pipe(p->source))
        return otf2_process_refuse(p, -HOLTER_ECORRUPT, "it is no regular file");
    pid_t self = getpid();
    p->child = fork();
    if (p->child < 0)
        return otf2_process_refuse(p, -errno, "no process can be made to read it");
    if (p->child == 0)
        otf2_shared_child(p->shared, p->source, self);
    int code = otf2_process_wait_for_definitions(p);
    if (code == 0)
        *out = p;
    return code;
}

static void otf2_process_kill_reader(const struct otf2_process *p)
{
    pid_t reader = (pid_t)atomic_load(&p->shared->reader);
    if (reader > 0) /* kill(0) would signal this process' whole group */
        kill(reader, SIGKILL);
}

/* The reader ends first, so that its CPU time is added to that of the child that waits for it. */
static void otf2_process_end_child(struct otf2_process *p)
{
    pid_t ended = 0;
    atomic_store(&p->shared->ends, 1);
    for (unsigned i = 0; i < STOP_TIMEOUT_MS && ended == 0; i++) {
        otf2_process_kill_reader(p);
        ended = waitpid(p->child, NULL, WNOHANG);
        if (ended == 0)
            usleep(1000);
    }
    if (ended == 0) {
        kill(p->child, SIGKILL); /* the reader ends with it */
        while (waitpid(p->child, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
}

void otf2_process_stop(struct otf2_process *p)
{
    if (p == NULL)
        return;
    if (p->child > 0 && !p->gone)
        otf2_process_end_child(p);
    if (p->shared != NULL)
        munmap(p->shared, sizeof(*p->shared) + p->shared->arena.size);
    pthread_cond_destroy(&p->given_back);
    pthread_mutex_destroy(&p->lock);
    free(p->anchor);
    free(p->source);
    free(p->folder);
    free(p);
}

/* ---- asking ---------------------------------------------------------------- */

static unsigned otf2_process_acquire_slot(struct otf2_process *p)
{
    pthread_mutex_lock(&p->lock);
    while (p->free_count == 0)
        pthread_cond_wait(&p->given_back, &p->lock);
    unsigned slot = p->free[--p->free_count];
    pthread_mutex_unlock(&p->lock);
    return slot;
}

static void otf2_process_release_slot(struct otf2_process *p, unsigned slot)
{
    pthread_mutex_lock(&p->lock);
    p->free[p->free_count++] = slot;
    pthread_cond_signal(&p->given_back);
    pthread_mutex_unlock(&p->lock);
}

static int otf2_process_ask(struct otf2_process *p, struct otf2_slot *slot, uint32_t stream,
                            uint64_t until)
{
    uint64_t begun = clock_mono_ns();
    slot->stream = slot->reading = stream;
    slot->until = until;
    atomic_store(&slot->state, OTF2_ASKED);
    sem_post(&slot->asked);
    while (atomic_load(&slot->state) != OTF2_ANSWERED) {
        if (otf2_process_wait_for(p, &slot->answered) == -HOLTER_ECORRUPT) {
            snprintf(slot->fault, sizeof(slot->fault), "the process that reads it is gone");
            return -HOLTER_ECORRUPT;
        }
        if (clock_mono_ns() - begun > READER_TIMEOUT_NS) {
            begun = clock_mono_ns();
            atomic_store(&slot->crashed, SIGKILL);
            otf2_process_kill_reader(p);
        }
    }
    atomic_store(&slot->state, OTF2_IDLE);
    return slot->count;
}

int otf2_process_next(void *user, uint32_t stream, uint64_t until, struct event *out)
{
    struct otf2_process *p = user;
    struct otf2_report *report = &p->shared->reports[stream];
    unsigned number = otf2_process_acquire_slot(p);
    struct otf2_slot *slot = &p->shared->slots[number];
    int count = otf2_process_ask(p, slot, stream, until);
    if (count > 0) {
        count = count < (int)TRACE_BATCH ? count : (int)TRACE_BATCH;
        memcpy(out, slot->events, (size_t)count * sizeof(*out));
        report->given += (uint64_t)count;
    } else if (count == -EAGAIN) {
        out->t_enter = slot->events[0].t_enter;
    } else if (count < 0) {
        char name[4200];
        snprintf(name, sizeof(name), "%s/%" PRIu64 ".evt", p->folder,
                 p->shared->job.locations[stream]);
        otf2_process_report_fault(p, name, slot->fault);
    }
    otf2_process_release_slot(p, number);
    return count;
}

int otf2_process_reader(const struct otf2_process *p)
{
    return atomic_load(&p->shared->reader);
}

int otf2_process_watcher(const struct otf2_process *p)
{
    return p->child;
}

void otf2_process_set_zero(struct otf2_process *p, uint64_t ticks)
{
    struct otf2_job *job = &p->shared->job;
    struct otf2_job from_there = *job;
    from_there.offset = ticks;
    uint64_t moved_ns = otf2_job_ns(&from_there, job->offset);
    job->begin_ns = job->begin_ns > moved_ns ? job->begin_ns - moved_ns : 0;
    job->offset = ticks;
    job->length_ns = 0;
}

const struct otf2_job *otf2_process_job(const struct otf2_process *p)
{
    return &p->shared->job;
}

const struct otf2_report *otf2_process_reports(const struct otf2_process *p)
{
    return p->shared->reports;
}

int otf2_process_comm(void *user, uint32_t rank, uint32_t slot, struct trace_comm *out)
{
    const struct otf2_process *p = user;
    return otf2_job_comm(&p->shared->job, rank, slot, out);
}

const char *otf2_process_region(void *user, uint32_t rank, uint32_t slot)
{
    const struct otf2_job *job = otf2_process_job(user);
    (void)rank;
    return slot < job->code_region_count ? job->code_regions[slot] : NULL;
}

void otf2_process_progress(void *user, uint64_t *read, uint64_t *all)
{
    const struct otf2_job *job = otf2_process_job(user);
    const struct otf2_report *reports = otf2_process_reports(user);
    *read = 0;
    *all = job->events;
    for (uint32_t i = 0; i < job->stream_count; i++)
        *read += reports[i].totals.events;
}
