/* The children's side of reading an archive in separate processes: the reader of events and its
 * supervisor. See otf2_process.h. */
#include "daemon/import/otf2/otf2_shared.h"

#include "holter/error.h"
#include "holter/file_limit.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define RESTARTS_MOST 1000u
#define ENDED 0   /* exit statuses of a reader */
#define CRASHED 3 /* it crashed, and has recorded at which slot */

/* ---- the reader ------------------------------------------------------------ */

struct worker {
    struct otf2_source *source;
    struct otf2_slot *slot;
};

/* The slot that this thread works on: read by the crash handler. */
static _Thread_local struct otf2_slot *at_work;

static void otf2_shared_on_crash(int signal_number)
{
    if (at_work != NULL)
        atomic_store(&at_work->crashed, signal_number);
    _exit(CRASHED);
}

static void *otf2_shared_answer(void *user)
{
    struct worker *w = user;
    struct otf2_slot *slot = w->slot;
    at_work = slot;
    for (;;) {
        int asked = OTF2_ASKED;
        while (sem_wait(&slot->asked) != 0)
            continue;
        if (!atomic_compare_exchange_strong(&slot->state, &asked, OTF2_WORKING))
            continue;
        slot->count = otf2_source_next(w->source, slot->stream, slot->until, slot->events,
                                       &slot->reading, slot->fault);
        atomic_store(&slot->state, OTF2_ANSWERED);
        sem_post(&slot->answered);
    }
    return NULL;
}

static void otf2_shared_catch_crashes(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
    struct sigaction action = {.sa_handler = otf2_shared_on_crash};
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        sigaction(signals[i], &action, NULL);
}

static void otf2_shared_run_reader(struct otf2_shared *shared, const char *anchor,
                                   const struct otf2_defs *defs)
{
    struct otf2_source *source;
    struct worker workers[OTF2_SLOTS];
    char fault[OTF2_FAULT_BYTES];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (otf2_source_open(&source, anchor, fault) != 0 ||
        otf2_source_begin(source, &shared->job, defs, shared->reports, fault) != 0) {
        memcpy(shared->fault, fault, sizeof(fault));
        _exit(ENDED);
    }
    for (unsigned i = 0; i < shared->slot_count; i++) {
        pthread_t thread;
        workers[i] = (struct worker){source, &shared->slots[i]};
        if (i + 1 == shared->slot_count)
            otf2_shared_answer(&workers[i]);
        else if (pthread_create(&thread, NULL, otf2_shared_answer, &workers[i]) != 0)
            _exit(ENDED);
    }
    _exit(ENDED);
}

/* ---- the watcher ----------------------------------------------------------- */

/* Every location is a file, and every open file needs a descriptor. */
static void otf2_shared_raise_limits(void)
{
    const struct rlimit no_core = {0, 0};
    file_limit_raise();
    setrlimit(RLIMIT_CORE, &no_core);
}

static int otf2_shared_read_definitions(struct otf2_shared *shared, const char *anchor,
                                        struct otf2_defs *defs)
{
    struct otf2_source *source = NULL;
    int code = otf2_source_open(&source, anchor, shared->fault);
    if (code == 0) {
        otf2_defs_init(defs);
        code = otf2_source_definitions(source, defs, &shared->job, shared->fault);
        shared->definitions_broken = shared->fault[0] != '\0';
    }
    if (code == 0)
        code = otf2_defs_job(defs, &shared->arena, &shared->job);
    if (code == 0) {
        shared->reports =
            otf2_arena_allocate(&shared->arena, shared->job.stream_count, sizeof(*shared->reports));
        code = shared->reports == NULL ? -ENOMEM : 0;
    }
    otf2_source_close(source);
    return code;
}

static void otf2_shared_fail_crashed(struct otf2_slot *slot, int signal_number)
{
    slot->count = -HOLTER_ECORRUPT;
    otf2_source_crashed(slot->fault, signal_number);
    atomic_store(&slot->crashed, 0);
    atomic_store(&slot->state, OTF2_ANSWERED);
    sem_post(&slot->answered);
}

static void otf2_shared_repeat_request(struct otf2_slot *slot)
{
    atomic_store(&slot->state, OTF2_ASKED);
    sem_post(&slot->asked);
}

/* Fail a request: the stream ends with what was read. The crash may have happened in another stream
 * of the same rank. */
static void otf2_shared_fail_slot(struct otf2_shared *shared, struct otf2_slot *slot,
                                  int signal_number)
{
    uint32_t reading = slot->reading < shared->job.stream_count ? slot->reading : slot->stream;
    shared->reports[reading].crashed = signal_number > 0 ? signal_number : -1;
    if (reading == slot->stream)
        otf2_shared_fail_crashed(slot, signal_number);
    else
        otf2_shared_repeat_request(slot);
}

/* The reader is gone: fail the request on which it crashed, and post the others again; if that
 * request is unknown, fail all that were in work. @param all  there will be no other reader */
static void otf2_shared_answer_waiting(struct otf2_shared *shared, int all)
{
    int known = 0;
    for (unsigned i = 0; i < shared->slot_count; i++)
        known |= atomic_load(&shared->slots[i].crashed) != 0;
    for (unsigned i = 0; i < shared->slot_count; i++) {
        struct otf2_slot *slot = &shared->slots[i];
        int state = atomic_load(&slot->state), crashed = atomic_load(&slot->crashed);
        if (all && (state == OTF2_WORKING || state == OTF2_ASKED)) {
            otf2_shared_fail_crashed(slot, crashed);
        } else if (state == OTF2_WORKING && (crashed != 0 || !known)) {
            otf2_shared_fail_slot(shared, slot, crashed);
        } else if (state == OTF2_WORKING) {
            otf2_shared_repeat_request(slot);
        } else if (state == OTF2_ASKED) {
            sem_post(&slot->asked); /* the first semaphore post may have been consumed by the dead
                                       reader */
        } else if (state == OTF2_ANSWERED) {
            sem_post(&slot->answered);
        }
        atomic_store(&slot->crashed, 0);
    }
}

void otf2_shared_child(struct otf2_shared *shared, const char *anchor, pid_t parent)
{
    struct otf2_defs defs;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    otf2_shared_catch_crashes(); /* installed here so that the handlers of the calling program are
                        not used, in the readers either */
    otf2_shared_raise_limits();
    atomic_store(&shared->code, otf2_shared_read_definitions(shared, anchor, &defs));
    sem_post(&shared->ready);
    if (atomic_load(&shared->code) != 0)
        _exit(0);
    for (unsigned restarts = 0; restarts < RESTARTS_MOST && !atomic_load(&shared->ends);
         restarts++) {
        int status = 0;
        pid_t reader = fork();
        if (reader < 0)
            break;
        /* stored by both parent and child: the child may answer before the parent continues */
        atomic_store(&shared->reader, (int)(reader == 0 ? getpid() : reader));
        if (reader == 0)
            otf2_shared_run_reader(shared, anchor, &defs);
        while (waitpid(reader, &status, 0) < 0 && errno == EINTR)
            continue;
        atomic_store(&shared->reader, 0);
        if ((WIFEXITED(status) && WEXITSTATUS(status) == ENDED) || atomic_load(&shared->ends))
            break;
        otf2_shared_answer_waiting(shared, 0);
    }
    while (!atomic_load(
        &shared->ends)) { /* requests after the last reader are answered with failure */
        otf2_shared_answer_waiting(shared, 1);
        usleep(20000);
    }
    _exit(0);
}
