#include "agent/node/windows.h"

#include "agent/node/self.h"
#include "agent/node/tick_clock_read.h"
#include "holter/clock.h"
#include "holter/error.h"
#include "proto/log.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOG_TOPIC "windows"

#define ANNOUNCE_AFTER_NS                                                                          \
    UINT64_C(50000000)      /* ranks of a job appear together: one message for them */
#define BACKLOG_MOST 600    /* windows before a rank was known that are told apart */
#define READING_NS 10000000 /* between the first two readings of the clocks */

/* Records of a rank, or a death, that went with a dropped message. */
struct window_loss {
    char job[64];
    uint64_t rank;
    uint64_t records;
    int is_death;
    struct wire_death_row death;
};

static struct drain_clocks clocks_until(const struct windows *windows, uint64_t end_ns,
                                        uint64_t now_ns)
{
    return (struct drain_clocks){&windows->tsc, &windows->plain, end_ns, now_ns};
}

static void start_ticks(struct windows *windows)
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
    start_ticks(windows);
    windows->call_cost_ns = self_call_cost();
    const struct journal_state *state = journal_state(journal);
    if (state->window != 0) {
        windows->window = state->window;
        windows->length_ns = state->window_ns;
        windows->clock = state->clock;
        windows->events = state->events;
        windows->lost = state->lost;
        windows->dropped = state->dropped;
        windows->counts = state->counts;
        windows->sampled = state->sampled;
        windows->passed_over = state->passed_over;
        windows->uplink_bytes_before = state->uplink_bytes;
        windows->cpu_before_ns = state->cpu_ns;
        windows->resuming = 1;
        census->resumed_flags = WINDOW_RESUMED;
    } else {
        daemon_clock_init(&windows->clock, clock_mono_ns(), clock_real_ns());
    }
    windows->length_wanted_ns = windows->length_ns;
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

/* ---- the journal -------------------------------------------------------------------------------
 */

static void note_loss(struct windows *windows, const struct window_loss *loss)
{
    if (windows->loss_count == windows->loss_room) {
        uint32_t room = windows->loss_room == 0 ? 64 : 2 * windows->loss_room;
        struct window_loss *losses = realloc(windows->losses, room * sizeof *losses);
        if (losses == NULL)
            return;
        windows->losses = losses;
        windows->loss_room = room;
    }
    windows->losses[windows->loss_count++] = *loss;
}

/* No room in the journal: what the oldest message held is lost, and that is counted. */
static void on_dropped(void *user, const struct journal_message *dropped)
{
    struct windows *windows = user;
    struct wire_message message;
    if (dropped->type == WIRE_TYPE_RANKS) {
        windows->tell_again = 1;
        return;
    }
    log_warn("no room for what the daemon does not take: message %llu is dropped",
             (unsigned long long)dropped->seq);
    if (dropped->type != WIRE_TYPE_WINDOW)
        return;
    windows->dropped++;
    if (wire_decode(&message, &windows->arena, dropped->bytes, dropped->length, NULL) != 0 ||
        message.type != WIRE_TYPE_WINDOW)
        return;
    const struct wire_window *window = &message.window;
    struct window_loss loss = {0};
    memcpy(loss.job, window->job, strnlen(window->job, sizeof loss.job - 1));
    for (uint64_t i = 0; i < window->ranks_count; i++) {
        loss.rank = window->ranks[i].rank;
        loss.records = window->ranks[i].events + window->ranks[i].lost;
        note_loss(windows, &loss);
    }
    loss.is_death = 1;
    for (uint64_t i = 0; i < window->deaths_count; i++) {
        loss.death = window->deaths[i];
        note_loss(windows, &loss);
    }
}

/* After the windows are encoded, so that the losses go with the next one. */
static void count_losses(struct windows *windows)
{
    for (uint32_t i = 0; i < windows->loss_count; i++) {
        const struct window_loss *loss = &windows->losses[i];
        struct job *job = windows->census->jobs;
        while (job != NULL && strcmp(job->id, loss->job) != 0)
            job = job->next;
        if (!loss->is_death)
            windows->lost += loss->records;
        if (job == NULL)
            continue;
        job->flags |= WINDOW_GAP;
        if (loss->is_death)
            job_add_death(job, &loss->death);
        else
            job_count_lost(job, loss->rank, loss->records);
    }
    windows->loss_count = 0;
}

int windows_append(struct windows *windows, enum wire_type type, const void *bytes, size_t length)
{
    return journal_append(windows->journal, type, bytes, length, on_dropped, windows);
}

static int append_window(void *user, uint64_t seq, const void *bytes, size_t length)
{
    (void)seq; /* the journal counts the same numbers */
    return windows_append(user, WIRE_TYPE_WINDOW, bytes, length);
}

static void windows_announce_ranks(struct windows *windows, struct job *job, int all)
{
    int rc =
        job_announce(job, windows->host, journal_next_seq(windows->journal), all, &windows->buffer);
    if (rc == 0)
        rc =
            windows_append(windows, WIRE_TYPE_RANKS, windows->buffer.bytes, windows->buffer.length);
    if (rc != 0)
        log_error("ranks of job %s cannot be announced: %s", job->id, holter_strerror(rc));
}

void windows_commit(struct windows *windows)
{
    struct journal_state *state = journal_prepare(windows->journal);
    state->window = windows->window;
    state->window_ns = windows->length_ns;
    state->clock = windows->clock;
    state->events = windows->events;
    state->lost = windows->lost;
    state->dropped = windows->dropped;
    state->counts = windows->counts;
    state->sampled = windows->sampled;
    state->passed_over = windows->passed_over;
    state->uplink_bytes = windows->uplink_bytes_before + windows->uplink_bytes;
    state->cpu_ns = windows->cpu_before_ns + clock_process_cpu_ns();
    census_saved(windows->census, state);
    journal_commit(windows->journal);
    count_losses(windows);
}

void windows_announce_all(struct windows *windows)
{
    for (struct job *job = windows->census->jobs; job != NULL; job = job->next)
        windows_announce_ranks(windows, job, 1);
    if (windows->census->jobs != NULL)
        windows_commit(windows);
}

/* ---- closing -----------------------------------------------------------------------------------
 */

/* Daemon time less the node's real time: both are read at one moment, as nearly as can be had. */
static int64_t offset_to_real(const struct daemon_clock *clock)
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
    const struct daemon_clock *clock = &windows->clock;
    uint64_t error = daemon_clock_error(clock, now_ns);
    return (struct wire_node_row){
        .host = windows->host,
        .agent_pid = (uint64_t)getpid(),
        .connected = (uint64_t)windows->connected,
        .ranks = windows->census->joined,
        .events = windows->events,
        .lost = windows->lost,
        .windows_dropped = windows->dropped,
        .uplink_bytes = windows->uplink_bytes_before + windows->uplink_bytes,
        .cpu_ns = windows->cpu_before_ns + clock_process_cpu_ns(),
        .rss_bytes = self_resident() + journal_resident(windows->journal),
        .clock_offset_ns = offset_to_real(clock),
        .clock_error_ns = error == UINT64_MAX ? 0 : error,
        .restarts = journal_restarts(windows->journal),
        .call_cost_ns = windows->call_cost_ns,
        .up_ns = now_ns - journal_start_ns(windows->journal),
        .matched = windows->counts.matched,
        .unmatched = windows->counts.unmatched,
        .rejected = windows->counts.rejected,
        .sampled = windows->sampled,
        .passed_over = windows->passed_over,
    };
}

static uint32_t count_jobs(const struct windows *windows)
{
    uint32_t count = 0;
    for (const struct job *job = windows->census->jobs; job != NULL; job = job->next)
        count++;
    return count;
}

/* Ends of messages are handed on up to MATCH_REMOTE_AFTER_NS after their calls. */
static uint64_t error_of_halves(const struct windows *windows, uint64_t now_ns)
{
    uint64_t reach = windows->length_ns + MATCH_REMOTE_AFTER_NS;
    return daemon_clock_error_between(&windows->clock, now_ns > reach ? now_ns - reach : 0, now_ns);
}

static uint64_t windows_daemon_time(const void *user, uint64_t mono_ns)
{
    return daemon_clock_best(user, mono_ns);
}

/* What the window matched. Ends of messages between nodes that do not fit it are moved from sampled
 * to passed over when that is known, and are told so with the next. */
static void windows_count_matches(struct windows *windows, struct job *job)
{
    struct match_counts counts = job_match_counts(job);
    windows->counts.matched += counts.matched;
    windows->counts.unmatched += counts.unmatched;
    windows->counts.rejected += counts.rejected;
    windows->sampled += transfer_sum_sampled(job->transfers);
    windows->passed_over += transfer_sum_passed_over(job->transfers);
}

static void read_counters(struct windows *windows, uint64_t now_ns)
{
    if (windows->counters != NULL)
        counters_read(windows->counters, now_ns);
}

/* Counts of interfaces are told from when a job was first seen. */
static void begin_counters(struct windows *windows, uint64_t now_ns)
{
    for (struct job *job = windows->census->jobs; job != NULL; job = job->next)
        if (windows->counters != NULL && job->told.at_ns == 0) {
            counters_read(windows->counters, now_ns);
            counters_mark(windows->counters, &job->told);
        }
}

/* Encode what the job's sums hold as the window of that number. */
static void close_job(struct windows *windows, struct job *job, uint64_t number, uint64_t flags,
                      const struct counters *counters, uint64_t now_ns)
{
    if (job->unannounced_since_ns != 0)
        windows_announce_ranks(windows, job, 0);
    uint64_t lost, events = event_sum_total(job->sum, &lost);
    windows->events += events;
    windows->lost += lost;
    windows_count_matches(windows, job);
    struct wire_node_row row = windows_node_row(windows, now_ns);
    struct wire_window window = {
        .host = windows->host,
        .window = number,
        .length_ns = windows->length_ns,
        .flags = flags,
        .node = &row,
        .node_count = 1,
        .clock_error_ns = error_of_halves(windows, now_ns),
    };
    struct transfer_clock clock = {windows_daemon_time, &windows->clock,
                                   number * windows->length_ns};
    uint64_t ends = transfer_sum_sampled(job->transfers);
    if (!windows->clock.known || windows->clock.jumps != windows->jumps)
        window.flags |= WINDOW_CLOCK;
    double share =
        (double)windows->budget * ((double)windows->length_ns / 1e9) / count_jobs(windows);
    struct window_limits limits = {
        .budget = (size_t)share,
        .longest = JOURNAL_BYTES / 2,
    };
    uint64_t seq = journal_next_seq(windows->journal);
    int rc =
        job_close_window(job, &window, &clock, counters, &limits, &seq, append_window, windows);
    windows->sampled -= ends - window.halves_count;
    windows->passed_over += ends - window.halves_count;
    if (rc < 0) {
        log_error("window %llu of job %s is lost: %s", (unsigned long long)number, job->id,
                  holter_strerror(rc));
        job->flags |= WINDOW_GAP;
        event_sum_discard(job->sum);
    }
}

/* Number of the window after this one, whose end is given in daemon time. */
static void next_window(struct windows *windows, uint64_t end_daemon_ns, uint64_t now_ns)
{
    windows->window++;
    if (windows->length_wanted_ns != windows->length_ns) {
        windows->length_ns = windows->length_wanted_ns;
        windows->window = end_daemon_ns / windows->length_ns;
    }
    if (windows->clock.jumps != windows->jumps) {
        uint64_t current = daemon_clock_at(&windows->clock, now_ns) / windows->length_ns;
        windows->window = current > windows->window ? current : windows->window;
        windows->jumps = windows->clock.jumps;
    }
}

static uint64_t end_of_window(const struct windows *windows)
{
    return daemon_clock_mono(&windows->clock, (windows->window + 1) * windows->length_ns);
}

/* With no job there is no window to close: the next one that matters is the one that is now. */
static void follow_time(struct windows *windows, uint64_t now_ns)
{
    uint64_t end = (windows->window + 1) * windows->length_ns;
    uint64_t daemon_ns = daemon_clock_at(&windows->clock, now_ns);
    if (daemon_ns >= end)
        next_window(windows, end, now_ns);
    uint64_t current = daemon_ns / windows->length_ns;
    windows->window = current > windows->window ? current : windows->window;
}

static void close_all(struct windows *windows, uint64_t end_ns, uint64_t now_ns)
{
    struct drain_clocks clocks = clocks_until(windows, end_ns, now_ns);
    census_drain(windows->census, &clocks, windows->batch);
    read_counters(windows, now_ns);
    for (struct job *job = windows->census->jobs; job != NULL; job = job->next) {
        census_end_window(windows->census, job, windows->length_ns, &clocks);
        close_job(windows, job, windows->window, 0, windows->counters, now_ns);
        census_save(windows->census, job);
    }
    next_window(windows, (windows->window + 1) * windows->length_ns, now_ns);
    windows_commit(windows);
    census_committed(windows->census, NULL, now_ns);
}

/* Jobs that have nobody left on the node: their last window need not wait for its end. */
static int close_final(struct windows *windows, uint64_t now_ns)
{
    int closed = 0;
    for (struct job *job = windows->census->jobs, *next; job != NULL; job = next) {
        next = job->next;
        if (job->living > 0 || job->registered || job->uncovered_search == SEARCH_RUNS)
            continue;
        read_counters(windows, now_ns);
        close_job(windows, job, windows->window, WINDOW_FINAL, windows->counters, now_ns);
        census_save(windows->census, job);
        windows_commit(windows);
        census_committed(windows->census, job, now_ns);
        log_info("job %s has ended on this node", job->id);
        census_remove_job(windows->census, job);
        closed = 1;
    }
    return closed;
}

static int announce_due(struct windows *windows, uint64_t now_ns)
{
    int due = 0;
    if (windows->tell_again) {
        windows->tell_again = 0;
        windows_announce_all(windows);
        return 1;
    }
    for (struct job *job = windows->census->jobs; job != NULL; job = job->next) {
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

/* Ranks of a job that have just been joined: send the windows that were over by then. */
static int close_backlog(struct windows *windows, struct job *job, uint64_t now_ns)
{
    uint64_t begin_ns = census_newcomers_begin(windows->census, job);
    if (begin_ns >= now_ns)
        return 0;
    uint64_t number = daemon_clock_at(&windows->clock, begin_ns) / windows->length_ns;
    if (number + BACKLOG_MOST < windows->window)
        number = windows->window - BACKLOG_MOST;
    struct event_sum *sum, *of_open_window = job->sum;
    if (number >= windows->window || event_sum_create(&sum, JOB_MOST_PAIRS) != 0)
        return 0;
    if (census_move_newcomers(windows->census, job, sum) == 0) {
        job->sum = sum;
        for (; number < windows->window; number++) {
            uint64_t end_ns = daemon_clock_mono(&windows->clock, (number + 1) * windows->length_ns);
            struct drain_clocks clocks = clocks_until(windows, end_ns, now_ns);
            census_drain_newcomers(windows->census, job, &clocks, windows->batch);
            close_job(windows, job, number, 0, NULL, now_ns);
        }
        job->sum = of_open_window;
    }
    census_settle_newcomers(windows->census, job);
    event_sum_destroy(sum);
    return 1;
}

static int windows_collect_ranks(struct windows *windows, uint64_t now_ns)
{
    int closed = 0;
    if (windows->census->jobs == NULL && !windows->resuming)
        follow_time(windows, now_ns);
    windows->resuming = 0;
    census_settle(windows->census, now_ns);
    if (windows->census->newcomers == 0)
        return 0;
    begin_counters(windows, now_ns);
    for (struct job *job = windows->census->jobs; job != NULL; job = job->next)
        closed |= close_backlog(windows, job, now_ns);
    windows->census->newcomers = 0;
    if (closed)
        windows_commit(windows);
    return closed;
}

/* Daemon time turned out to be later than thought, and the open window to be over: it ends now. */
static int jumped_over_end(const struct windows *windows, uint64_t now_ns)
{
    return windows->census->jobs != NULL && windows->clock.jumps != windows->jumps &&
           end_of_window(windows) <= now_ns;
}

int windows_turn(struct windows *windows, uint64_t now_ns)
{
    int committed = windows_collect_ranks(windows, now_ns);
    if (jumped_over_end(windows, now_ns)) {
        close_all(windows, now_ns, now_ns);
        committed = 1;
    }
    while (windows->census->jobs != NULL && end_of_window(windows) <= now_ns) {
        close_all(windows, end_of_window(windows), now_ns);
        committed = 1;
    }
    struct drain_clocks clocks = clocks_until(windows, end_of_window(windows), now_ns);
    census_drain(windows->census, &clocks, windows->batch);
    census_tell_ended(windows->census, &clocks, &windows->clock);
    committed |= windows_capture_deaths(windows, now_ns);
    committed |= close_final(windows, now_ns);
    return announce_due(windows, now_ns) | committed;
}

void windows_close_now(struct windows *windows, uint64_t now_ns)
{
    if (windows->census->jobs != NULL)
        close_all(windows, now_ns, now_ns);
}

uint64_t windows_due(const struct windows *windows, uint64_t now_ns)
{
    uint64_t due = now_ns + census_wait(windows->census);
    uint64_t end = end_of_window(windows);
    return windows->census->jobs != NULL && end < due ? end : due;
}

/* ---- clocks ------------------------------------------------------------------------------------
 */

void windows_observe_ticks(struct windows *windows)
{
    tick_clock_observe(&windows->tsc, tick_clock_read());
}

/* The rows are the arena's, which is ours. */
static void shift_bursts(struct wire_window *window, int64_t shift_ns)
{
    burst_rows_shift((struct wire_burst_row *)window->bursts, window->bursts_count, shift_ns);
}

/* Windows that were closed on a guess, before any daemon was there to see them, get the numbers
 * that they would have had. */
static int windows_renumber(struct windows *windows, int64_t shift_ns)
{
    struct journal *journal = windows->journal;
    struct journal_message old;
    uint64_t last = journal_next_seq(journal) - 1;
    while (journal_read(journal, 0, &old) && old.seq <= last) {
        struct wire_message message;
        uint64_t seq = old.seq, next = journal_next_seq(journal);
        int rc = wire_decode(&message, &windows->arena, old.bytes, old.length, NULL);
        if (rc == 0 && message.type == WIRE_TYPE_WINDOW) {
            struct wire_window *window = &message.window;
            int64_t middle = (int64_t)(window->window * window->length_ns + window->length_ns / 2);
            window->window = (uint64_t)(middle + shift_ns) / windows->length_ns;
            window->length_ns = windows->length_ns;
            window->seq = next;
            /* Ends of messages were timed by the guess: nobody can join them. */
            window->keys_below = window->halves_count > 0 ? 1 : window->keys_below;
            window->degraded |= window->halves_count > 0 ? DEGRADED_SAMPLES : 0u;
            window->halves_count = 0;
            shift_bursts(window, shift_ns);
            rc = wire_encode(&windows->buffer, WIRE_TYPE_WINDOW, window);
        } else if (rc == 0 && message.type == WIRE_TYPE_RANKS) {
            message.ranks.seq = next;
            rc = wire_encode(&windows->buffer, WIRE_TYPE_RANKS, &message.ranks);
        }
        uint32_t type = old.type;
        journal_ack(journal, seq);
        if (rc == 0)
            rc = journal_append(journal, type, windows->buffer.bytes, windows->buffer.length,
                                on_dropped, windows);
        windows_commit(windows);
        if (rc != 0)
            return rc;
    }
    return 0;
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
    if (!first)
        return;
    uint64_t daemon_ns = daemon_clock_at(&windows->clock, t4_mono);
    windows->length_ns = windows->length_wanted_ns;
    windows->window = daemon_ns / windows->length_ns;
    int rc = windows_renumber(windows, (int64_t)(daemon_ns - guess));
    if (rc != 0)
        log_error("windows from before the first contact are lost: %s", holter_strerror(rc));
}

void windows_criteria(struct windows *windows, const struct wire_criteria *criteria)
{
    for (struct job *job = windows->census->jobs; job != NULL; job = job->next)
        if (strcmp(job->id, criteria->job) == 0) {
            transfer_sum_criteria(job->transfers, criteria);
            job->burst_rows = criteria->burst_rows != 0 ? criteria->burst_rows : BURST_GATHER_ROWS;
        }
}

void windows_welcome(struct windows *windows, uint64_t length_ns, uint64_t budget)
{
    windows->length_wanted_ns = length_ns;
    windows->budget = budget;
}
