/* Windows: the turn of the agent's loop, which drains and closes what is due, and the clocks that
 * it goes by. */
#include "agent/node/windows.h"

#include "agent/host/self.h"
#include "agent/node/tick_clock_read.h"
#include "agent/node/windows_stages.h"
#include "holter/clock.h"
#include "holter/error.h"
#include "proto/log.h"

#include <errno.h>
#include <stdlib.h>

#define LOG_TOPIC "windows"

/* The ranks of a job appear within this time, and are announced in one message. */
#define ANNOUNCE_AFTER_NS UINT64_C(50000000)
#define READING_NS 10000000 /* between the first two readings of the clocks */
/* The longest time between two turns: while ranks come, and when there is nothing to do but to
 * sample their processes. */
#define TURN_NS UINT64_C(100000000)
#define QUIET_TURN_NS UINT64_C(250000000)

static void windows_start_ticks(struct windows *windows)
{
    struct tick_anchor first = tick_clock_read();
    struct timespec pause = {.tv_nsec = READING_NS};
    nanosleep(&pause, NULL);
    if (tick_clock_init(&windows->tsc, first, tick_clock_read()) != 0)
        tick_clock_init_ns(&windows->tsc); /* no TSC: no rank will use it either */
    tick_clock_init_ns(&windows->plain);
}

int windows_init(struct windows *windows, struct census *census, struct journal *journal,
                 const char *host)
{
    *windows = (struct windows){
        .census = census,
        .journal = journal,
        .host = host,
        .length_ns = WINDOWS_LENGTH_NS,
        .budget = WINDOWS_BUDGET,
        .batch = malloc(RANK_BATCH * sizeof(struct event)),
    };
    if (windows->batch == NULL)
        return -ENOMEM;
    windows_start_ticks(windows);
    windows->call_cost_ns = self_call_cost();
    const struct journal_state *state = journal_state(journal);
    if (state->window != 0) {
        windows->window = state->window;
        windows->length_ns = state->window_ns;
        windows->clock = state->clock;
        windows->tsc = state->tsc;
        windows->totals = state->totals;
        windows->resuming = 1;
        census->resumed_flags = WINDOW_RESUMED;
    } else {
        daemon_clock_init(&windows->clock, clock_mono_ns(), clock_real_ns());
    }
    windows->next_length_ns = windows->length_ns;
    windows->jumps = windows->clock.jumps;
    return 0;
}

void windows_finish(struct windows *windows)
{
    free(windows->batch);
    free(windows->losses);
    wire_buffer_finish(&windows->buffer);
    wire_arena_finish(&windows->arena);
}

static int windows_announce_due(struct windows *windows, uint64_t now_ns)
{
    int due = 0;
    if (windows->ranks_dropped) {
        windows->ranks_dropped = 0;
        windows_announce_all(windows);
        return 1;
    }
    for (struct node_job *job = windows->census->jobs; job != NULL; job = job->next) {
        if (job->unannounced_since_ns == 0 ||
            now_ns - job->unannounced_since_ns < ANNOUNCE_AFTER_NS)
            continue;
        windows_announce_ranks(windows, job, 0);
        due = 1;
    }
    if (due)
        windows_commit(windows);
    return due;
}

/* With no job there is no window to close: the next one that matters is the one that is now. */
static void windows_follow_time(struct windows *windows, uint64_t now_ns)
{
    uint64_t end = (windows->window + 1) * windows->length_ns;
    if (daemon_clock_at(&windows->clock, now_ns) >= end)
        windows_open_next(windows, end, now_ns);
    windows_follow_clock(windows, now_ns);
}

/* Counts of interfaces are reported from the moment when a job was first seen. */
static void windows_begin_counters(struct windows *windows, uint64_t now_ns)
{
    for (struct node_job *job = windows->census->jobs; job != NULL; job = job->next)
        if (windows->counters != NULL && job->counters_reported.at_ns == 0) {
            counters_read(windows->counters, now_ns);
            counters_mark(windows->counters, &job->counters_reported);
        }
}

static int windows_collect_ranks(struct windows *windows, uint64_t now_ns)
{
    int closed = 0;
    if (windows->census->jobs == NULL && !windows->resuming)
        windows_follow_time(windows, now_ns);
    windows->resuming = 0;
    census_update_residents(windows->census, now_ns);
    windows->census->resumed_flags = 0; /* further jobs begin under this worker */
    if (windows->census->newcomers == 0)
        return 0;
    windows_begin_counters(windows, now_ns);
    for (struct node_job *job = windows->census->jobs; job != NULL; job = job->next)
        closed |= windows_close_backlog(windows, job, now_ns);
    windows->census->newcomers = 0;
    if (closed)
        windows_commit(windows);
    return closed;
}

/* Daemon time turned out to be later than thought, and the open window to be over, or much earlier:
 * it ends now. */
static int windows_jumped_from_open(const struct windows *windows, uint64_t now_ns)
{
    return windows->census->jobs != NULL && windows->clock.jumps != windows->jumps &&
           (windows_end_of_open(windows) <= now_ns || windows_are_ahead(windows, now_ns));
}

void windows_drain(struct windows *windows, const struct drain_clocks *clocks, int must)
{
    uint64_t begin_ns = clock_process_cpu_ns();
    if (!must && drain_budget_next(&windows->drains, clocks->now_ns) > clocks->now_ns)
        return;
    census_drain(windows->census, clocks, windows->batch);
    windows->drained_ns = clocks->now_ns;
    windows->drain_asked = 0;
    drain_budget_spend(&windows->drains, clock_process_cpu_ns() - begin_ns, clocks->now_ns);
}

void windows_ask_drain(struct windows *windows)
{
    windows->drain_asked = 1;
}

/* A drain within the open window, of which nothing is read otherwise until it ends. */
static void windows_drain_if_due(struct windows *windows, const struct drain_clocks *clocks)
{
    const int must = census_has_ended(windows->census);
    if (must || windows->drain_asked || clocks->now_ns - windows->drained_ns >= DRAIN_MAXIMUM_NS)
        windows_drain(windows, clocks, must);
}

int windows_process(struct windows *windows, uint64_t now_ns)
{
    int committed = windows_collect_ranks(windows, now_ns);
    if (windows_jumped_from_open(windows, now_ns)) {
        windows_close_all(windows, now_ns, now_ns, 0);
        committed = 1;
    }
    while (windows->census->jobs != NULL && windows_end_of_open(windows) <= now_ns) {
        windows_close_all(windows, windows_end_of_open(windows), now_ns, 0);
        committed = 1;
    }
    struct drain_clocks clocks =
        windows_clocks_until(windows, windows_end_of_open(windows), now_ns);
    windows_drain_if_due(windows, &clocks);
    census_sample_processes(windows->census, now_ns);
    census_report_ended(windows->census, &clocks, &windows->clock);
    committed |= windows_capture_deaths(windows, now_ns);
    committed |= windows_close_final(windows, now_ns);
    return windows_announce_due(windows, now_ns) | committed;
}

void windows_close_now(struct windows *windows, uint64_t now_ns)
{
    if (windows->census->jobs != NULL)
        windows_close_all(windows, now_ns, now_ns, 1);
}

static int windows_is_quiet(const struct windows *windows)
{
    for (const struct node_job *job = windows->census->jobs; job != NULL; job = job->next)
        if (job->unannounced_since_ns != 0 || job->living == 0)
            return 0;
    return windows->census->jobs != NULL && !census_is_joining(windows->census);
}

uint64_t windows_next_due(const struct windows *windows, uint64_t now_ns)
{
    uint64_t due = now_ns + (windows_is_quiet(windows) ? QUIET_TURN_NS : TURN_NS);
    uint64_t allowed = drain_budget_next(&windows->drains, now_ns);
    uint64_t end = windows_end_of_open(windows);
    due = windows->drain_asked && allowed < due ? allowed : due;
    return windows->census->jobs != NULL && end < due ? end : due;
}

/* ---- clocks -------------------------------------------------------------- */

void windows_observe_ticks(struct windows *windows)
{
    tick_clock_observe(&windows->tsc, tick_clock_read());
}

void windows_observe_daemon(struct windows *windows, const struct wire_clock_answer *answer,
                            uint64_t t4_mono)
{
    int first = !windows->clock.known;
    uint64_t guess = daemon_clock_at(&windows->clock, t4_mono);
    if (daemon_clock_observe(&windows->clock, answer->t1_ns, answer->t2_ns, answer->t3_ns,
                             t4_mono) != 0) {
        log_warn("stamps of the daemon's clock contradict each other");
        return;
    }
    windows->clock.source_error_ns = answer->error_ns;
    if (!first)
        return;
    uint64_t daemon_ns = daemon_clock_at(&windows->clock, t4_mono);
    windows->length_ns = windows->next_length_ns;
    windows->window = daemon_ns / windows->length_ns;
    int rc = windows_renumber(windows, (int64_t)(daemon_ns - guess));
    if (rc != 0)
        log_error("windows from before the first contact are lost: %s", holter_strerror(rc));
}

void windows_criteria(struct windows *windows, const struct wire_criteria *criteria)
{
    struct node_job *job = census_find_job(windows->census, criteria->job);
    if (job == NULL)
        return;
    transfer_sum_criteria(job->transfers, criteria);
    job->burst_rows = criteria->burst_rows != 0 ? criteria->burst_rows : BURST_GATHER_ROWS;
}

void windows_welcome(struct windows *windows, uint64_t length_ns, uint64_t budget)
{
    windows->next_length_ns = length_ns;
    windows->budget = budget;
}
