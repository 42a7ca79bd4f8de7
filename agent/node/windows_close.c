/* Windows, the stage `close`: the sums and matches of each job become window messages, which are
 * encoded (node_job) and appended to the journal (windows_journal). */
#include "agent/node/windows_stages.h"

#include "agent/host/process_meter.h"
#include "agent/host/self.h"
#include "holter/clock.h"
#include "holter/error.h"
#include "proto/log.h"

#include <unistd.h>

#define LOG_TOPIC "windows"

#define BACKLOG_MAXIMUM 600 /* windows from before a rank was known that are sent one by one */

struct drain_clocks windows_clocks_until(const struct windows *windows, uint64_t end_ns,
                                         uint64_t now_ns)
{
    return (struct drain_clocks){&windows->tsc, &windows->plain, end_ns, now_ns};
}

/* Daemon time less the node's real time: both are read at one moment, as nearly as can be had. */
static int64_t windows_offset_to_real(const struct daemon_clock *clock)
{
    int64_t offset = 0;
    uint64_t shortest = UINT64_MAX;
    for (int i = 0; i < 4; i++) {
        uint64_t before = clock_mono_ns(), real = clock_real_ns(), after = clock_mono_ns();
        if (after - before >= shortest)
            continue;
        shortest = after - before;
        offset = (int64_t)(daemon_clock_best(clock, before + shortest / 2) - real);
    }
    return offset;
}

static struct wire_node_row windows_node_row(const struct windows *windows, uint64_t now_ns)
{
    const struct node_totals totals = windows_totals(windows);
    const struct daemon_clock *clock = &windows->clock;
    uint64_t error = daemon_clock_error(clock, now_ns);
    return (struct wire_node_row){
        .host = windows->host,
        .agent_pid = (uint64_t)getpid(),
        .connected = (uint64_t)windows->connected,
        .ranks = windows->census->joined,
        .events = totals.events,
        .lost = totals.lost,
        .windows_dropped = totals.dropped,
        .uplink_bytes = totals.uplink_bytes,
        .cpu_ns = totals.cpu_ns,
        .rss_bytes = self_resident() + journal_resident(windows->journal),
        .clock_offset_ns = windows_offset_to_real(clock),
        .clock_error_ns = error == UINT64_MAX ? 0 : error,
        .restarts = journal_restarts(windows->journal),
        .call_cost_ns = windows->call_cost_ns,
        .up_ns = now_ns - journal_start_ns(windows->journal),
        .matched = totals.matches.matched,
        .unmatched = totals.matches.unmatched,
        .rejected = totals.matches.rejected,
        .sampled = totals.sampled,
        .passed_over = totals.passed_over,
        .shm_bytes = census_shared_bytes(windows->census),
    };
}

static uint32_t windows_count_jobs(const struct windows *windows)
{
    uint32_t count = 0;
    for (const struct node_job *job = windows->census->jobs; job != NULL; job = job->next)
        count++;
    return count;
}

/* Ends of messages are handed on up to MATCH_REMOTE_AFTER_NS after the window of their calls, by a
 * drain that may be a window later. */
static uint64_t windows_error_of_halves(const struct windows *windows, uint64_t now_ns)
{
    uint64_t reach = 2 * windows->length_ns + MATCH_REMOTE_AFTER_NS;
    return daemon_clock_error_between(&windows->clock, now_ns > reach ? now_ns - reach : 0, now_ns);
}

static uint64_t windows_daemon_time(const void *user, uint64_t mono_ns)
{
    return daemon_clock_best(user, mono_ns);
}

/* What the window matched. Ends of messages between nodes that do not fit it are moved from sampled
 * to passed over after the window is encoded, and the next window reports them. */
static void windows_count_matches(struct windows *windows, struct node_job *job)
{
    struct match_counts counts = node_job_match_counts(job);
    windows->totals.matches.matched += counts.matched;
    windows->totals.matches.unmatched += counts.unmatched;
    windows->totals.matches.rejected += counts.rejected;
    windows->totals.sampled += transfer_sum_sampled(job->transfers);
    windows->totals.passed_over += transfer_sum_passed_over(job->transfers);
}

static void windows_read_counters(struct windows *windows, uint64_t now_ns)
{
    if (windows->counters != NULL)
        counters_read(windows->counters, now_ns);
}

/* Encode what the job's sums hold as the window of that number. */
static void windows_close_job(struct windows *windows, struct node_job *job, uint64_t number,
                              uint64_t flags, const struct counters *counters, uint64_t now_ns)
{
    if (job->unannounced_since_ns != 0)
        windows_announce_ranks(windows, job, 0);
    uint64_t lost, events = event_sum_total(job->sum, &lost);
    windows->totals.events += events;
    windows->totals.lost += lost;
    windows_count_matches(windows, job);
    struct wire_node_row row = windows_node_row(windows, now_ns);
    struct wire_window window = {
        .host = windows->host,
        .window = number,
        .length_ns = windows->length_ns,
        .flags = flags,
        .node = &row,
        .node_count = 1,
        .clock_error_ns = windows_error_of_halves(windows, now_ns),
    };
    census_report_presence(windows->census, job,
                           daemon_clock_mono(&windows->clock, number * windows->length_ns),
                           daemon_clock_mono(&windows->clock, (number + 1) * windows->length_ns));
    struct transfer_clock clock = {windows_daemon_time, &windows->clock,
                                   number * windows->length_ns};
    uint64_t ends = transfer_sum_sampled(job->transfers);
    if (!windows->clock.known || windows->clock.jumps != windows->jumps)
        window.flags |= WINDOW_CLOCK;
    double share =
        (double)windows->budget * ((double)windows->length_ns / 1e9) / windows_count_jobs(windows);
    const uint64_t first = journal_next_seq(windows->journal);
    struct window_output output = {
        .budget = (size_t)share,
        .longest = JOURNAL_BYTES / 2,
        .next_seq = first,
        .emit = windows_append_window,
        .user = windows,
    };
    int rc = node_job_close_window(job, &window, &clock, counters, &output);
    if (journal_next_seq(windows->journal) != first)
        job->last_seq = journal_next_seq(windows->journal) - 1;
    windows->totals.sampled -= ends - window.halves_count;
    windows->totals.passed_over += ends - window.halves_count;
    if (rc < 0) {
        log_error("window %llu of job %s is lost: %s", (unsigned long long)number, job->id,
                  holter_strerror(rc));
        job->flags |= WINDOW_GAP;
        windows->totals.lost -= lost; /* they are counted again, with what is lost now */
        event_sum_discard(job->sum);
    }
}

/* Daemon time was set back, as that of a daemon that was started after the clock of its machine
 * was: the open window would not end before that time has come again. */
int windows_are_ahead(const struct windows *windows, uint64_t now_ns)
{
    return windows->window * windows->length_ns >
           daemon_clock_at(&windows->clock, now_ns) + DAEMON_CLOCK_AHEAD_NS;
}

void windows_follow_clock(struct windows *windows, uint64_t now_ns)
{
    uint64_t current = daemon_clock_at(&windows->clock, now_ns) / windows->length_ns;
    if (current > windows->window || windows_are_ahead(windows, now_ns))
        windows->window = current;
}

/* Number of the window after this one, whose end is given in daemon time. */
void windows_open_next(struct windows *windows, uint64_t end_daemon_ns, uint64_t now_ns)
{
    windows->window++;
    if (windows->next_length_ns != windows->length_ns) {
        windows->length_ns = windows->next_length_ns;
        windows->window = end_daemon_ns / windows->length_ns;
    }
    if (windows->clock.jumps != windows->jumps) {
        windows_follow_clock(windows, now_ns);
        windows->jumps = windows->clock.jumps;
    }
}

uint64_t windows_end_of_open(const struct windows *windows)
{
    return daemon_clock_mono(&windows->clock, (windows->window + 1) * windows->length_ns);
}

void windows_close_all(struct windows *windows, uint64_t end_ns, uint64_t now_ns, int must_drain)
{
    struct drain_clocks clocks = windows_clocks_until(windows, end_ns, now_ns);
    struct core_times cores;
    core_times_read(&cores, "");
    if (drain_budget_is_due(&windows->drains, now_ns))
        drain_budget_observe(&windows->drains, cores.idle_ns, now_ns);
    windows_drain(windows, &clocks, must_drain);
    windows_read_counters(windows, now_ns);
    for (struct node_job *job = windows->census->jobs; job != NULL; job = job->next) {
        census_end_window(windows->census, job, windows->length_ns, &clocks, cores.steal_ns);
        windows_close_job(windows, job, windows->window, 0, windows->counters, now_ns);
        census_store_positions(windows->census, job);
    }
    windows_open_next(windows, (windows->window + 1) * windows->length_ns, now_ns);
    windows_commit(windows);
    windows->totals.lost += census_release_committed(windows->census, NULL, now_ns);
}

/* Jobs that have nobody left on the node: their last window need not wait for its end. */
int windows_close_final(struct windows *windows, uint64_t now_ns)
{
    int closed = 0;
    for (struct node_job *job = windows->census->jobs, *next; job != NULL; job = next) {
        next = job->next;
        if (job->living > 0 || (job->registered && !job->followed) ||
            job->uncovered_search == SEARCH_RUNS)
            continue;
        windows_read_counters(windows, now_ns);
        match_all_added(job->match);
        match_settle(job->match, now_ns);
        windows_close_job(windows, job, windows->window, WINDOW_FINAL, windows->counters, now_ns);
        census_store_positions(windows->census, job);
        windows_commit(windows);
        windows->totals.lost += census_release_committed(windows->census, job, now_ns);
        log_info("job %s has ended on this node", job->id);
        census_remove_job(windows->census, job);
        closed = 1;
    }
    return closed;
}

/* Ranks of a job that have just been joined: send the windows that were over by then. */
int windows_close_backlog(struct windows *windows, struct node_job *job, uint64_t now_ns)
{
    uint64_t begin_ns = census_newcomers_begin(windows->census, job);
    if (begin_ns >= now_ns)
        return 0;
    uint64_t number = daemon_clock_at(&windows->clock, begin_ns) / windows->length_ns;
    if (number + BACKLOG_MAXIMUM < windows->window)
        number = windows->window - BACKLOG_MAXIMUM;
    struct event_sum *sum, *of_open_window = job->sum;
    if (number >= windows->window || event_sum_create(&sum, NODE_JOB_MAXIMUM_PAIRS) != 0)
        return 0;
    if (census_move_newcomers(windows->census, job, sum) == 0) {
        job->sum = sum;
        for (; number < windows->window; number++) {
            uint64_t end_ns = daemon_clock_mono(&windows->clock, (number + 1) * windows->length_ns);
            struct drain_clocks clocks = windows_clocks_until(windows, end_ns, now_ns);
            census_drain_newcomers(windows->census, job, &clocks, windows->batch);
            windows_close_job(windows, job, number, 0, NULL, now_ns);
        }
        job->sum = of_open_window;
    }
    census_return_newcomers(windows->census, job);
    event_sum_destroy(sum);
    return 1;
}
