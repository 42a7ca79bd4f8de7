/* Trials of a search, in processes. */
#include "agent/cli/remap/remap_trials.h"

#include "agent/terminal/quiet_child.h"
#include "holter/clock.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SEED_STEP UINT64_C(0x9e3779b97f4a7c15) /* between the seeds of two trials */
#define LOOK_NS 50000000                       /* pause between two looks at the progress */

/* Result of one trial, in memory that its process shares with the caller's. */
struct trial {
    struct remap_found found;
    double objective;
    int code;
    atomic_int share; /* of its work, in thousandths */
    char why[200];
    uint32_t seats[];
};

struct trials_state {
    const struct remap_problem *problem;
    const struct remap_trials *options;
    char *memory; /* of all trials; shared */
    size_t size;  /* of one trial */
    pid_t *pids;  /* owned; 0: not started, -1: ended */
};

static struct trial *trials_at(const struct trials_state *s, uint64_t number)
{
    return (struct trial *)(void *)(s->memory + number * s->size);
}

/* ---- one trial ----------------------------------------------------------- */

static void trial_store(struct trial *t, struct remap *remap, uint32_t processes)
{
    remap_given(remap, &t->found.before);
    memcpy(t->seats, remap_best(remap, &t->found.after), processes * sizeof(*t->seats));
    t->found.bound = remap_bound(remap, &t->found.optimal);
    t->found.steps = remap_steps(remap);
    t->objective = remap_objective(remap, &t->found.after);
}

/* @param number  of the trial @param progress  called here too; NULL: only its share is set */
static void trial_run(const struct trials_state *s, uint64_t number,
                      void (*progress)(void *, double))
{
    struct trial *t = trials_at(s, number);
    struct remap_problem problem = *s->problem;
    struct remap *remap = NULL;
    const uint64_t begin_ns = clock_mono_ns();
    problem.seed += number * SEED_STEP;
    t->found.trial = number;
    t->code = remap_create(&remap, &problem, t->why, sizeof(t->why));
    for (double done = 0; t->code == 0 && done < 1;) {
        done = remap_step(remap);
        atomic_store(&t->share, (int)(done * 1000));
        if (progress != NULL)
            progress(s->options->user, done);
        const double seconds = (double)(clock_mono_ns() - begin_ns) * 1e-9;
        if (done >= 1 || s->options->seconds <= 0 || seconds <= s->options->seconds)
            continue;
        t->found.cut = true;
        remap_end(remap);
        break;
    }
    if (t->code == 0)
        trial_store(t, remap, problem.processes);
    remap_destroy(remap);
}

/* @return pid or -1 */
static pid_t trial_start(const struct trials_state *s, uint64_t number)
{
    const pid_t pid = bound_child_fork(SIGKILL);
    if (pid != 0)
        return pid;
    trial_run(s, number, NULL);
    _exit(0);
}

/* ---- all of them --------------------------------------------------------- */

static void trials_show(const struct trials_state *s)
{
    double sum = 0;
    for (uint64_t i = 0; i < s->options->trials; i++)
        sum += s->pids[i] < 0 ? 1 : (double)atomic_load(&trials_at(s, i)->share) / 1000;
    if (s->options->progress != NULL)
        s->options->progress(s->options->user, sum / (double)s->options->trials);
}

/* Has a trial ended? @return 1, 0, or -EIO: not as it should */
static int trials_check(struct trials_state *s, uint64_t number)
{
    int status;
    const pid_t pid = waitpid(s->pids[number], &status, WNOHANG);
    if (pid == 0)
        return 0;
    s->pids[number] = -1;
    return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 1 : -EIO;
}

/* Start trials in their order, as many as may run, until all have ended. Where a trial has proven
 * its mapping to be optimal, none after it is started: it would not be taken. */
static int trials_run_all(struct trials_state *s)
{
    const struct timespec pause = {.tv_nsec = LOOK_NS};
    uint64_t started = 0, running = 0;
    int code = 0;
    bool optimal = false;
    for (;;) {
        while (code == 0 && !optimal && started < s->options->trials &&
               running < s->options->threads) {
            s->pids[started] = trial_start(s, started);
            code = s->pids[started] < 0 ? -EAGAIN : 0;
            running += code == 0;
            started++;
        }
        if (running == 0)
            return code;
        for (uint64_t i = 0; i < started; i++) {
            const int ended = s->pids[i] > 0 ? trials_check(s, i) : 0;
            running -= ended != 0;
            code = code != 0 ? code : ended < 0 ? ended : trials_at(s, i)->code;
            optimal = optimal || (ended > 0 && trials_at(s, i)->found.optimal);
        }
        trials_show(s);
        if (running > 0)
            nanosleep(&pause, NULL);
    }
}

/* The lowest objective, then the fewest hop-bytes, then the lowest number. Trials after the first
 * one that has proven its mapping to be optimal do not count: whether they ran depends on how many
 * did in parallel. */
static const struct trial *trials_choose(const struct trials_state *s)
{
    const struct trial *best = NULL;
    for (uint64_t i = 0; i < s->options->trials; i++) {
        const struct trial *t = trials_at(s, i);
        if (s->pids[i] == 0) /* not started */
            continue;
        if (best == NULL || t->objective < best->objective ||
            (t->objective == best->objective &&
             t->found.after.hop_bytes < best->found.after.hop_bytes))
            best = t;
        if (t->found.optimal)
            break;
    }
    return best;
}

static void trials_take(const struct trials_state *s, struct remap_found *out, uint32_t *seats)
{
    const struct trial *best = trials_choose(s);
    *out = best->found;
    memcpy(seats, best->seats, s->problem->processes * sizeof(*seats));
    out->steps = 0;
    out->cut = false;
    for (uint64_t i = 0; i < s->options->trials; i++) {
        out->steps += trials_at(s, i)->found.steps;
        out->cut = out->cut || trials_at(s, i)->found.cut;
    }
}

int remap_trials_run(const struct remap_problem *problem, const struct remap_trials *options,
                     struct remap_found *out, uint32_t *seats, char *why, size_t capacity)
{
    struct trials_state s = {.problem = problem, .options = options};
    const size_t line = 64;
    s.size = sizeof(struct trial) + (size_t)problem->processes * sizeof(uint32_t);
    s.size = (s.size + line - 1) / line * line;
    s.pids = calloc(options->trials, sizeof(*s.pids));
    s.memory = mmap(NULL, s.size * options->trials, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (s.pids == NULL || s.memory == MAP_FAILED) {
        free(s.pids);
        return -ENOMEM;
    }
    int code = 0;
    if (options->trials == 1) {
        trial_run(&s, 0, options->progress);
        s.pids[0] = -1;
        code = trials_at(&s, 0)->code;
    } else {
        code = trials_run_all(&s);
    }
    if (code == 0)
        trials_take(&s, out, seats);
    for (uint64_t i = 0; code != 0 && i < options->trials; i++) {
        if (trials_at(&s, i)->why[0] != '\0')
            snprintf(why, capacity, "%s", trials_at(&s, i)->why);
    }
    munmap(s.memory, s.size * options->trials);
    free(s.pids);
    return code;
}
