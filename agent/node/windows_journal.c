/* Windows, the stage `journal`: messages are appended and committed with the state that belongs to
 * them; what a full journal drops is counted; windows that were numbered by a guess are numbered
 * again. */
#include "agent/node/windows_stages.h"

#include "daemon/analysis/tables/array.h"
#include "holter/clock.h"
#include "holter/error.h"
#include "proto/log.h"

#include <string.h>

#define LOG_TOPIC "windows"

/* Records of a rank, or a death, that went with a dropped message. */
struct window_loss {
    char job[64];
    uint64_t rank;
    uint64_t records;
    uint64_t lost; /* of these, those that were lost before: they are in the node's totals */
    int is_death;
    struct wire_death_row death;
};

static void windows_note_loss(struct windows *windows, const struct window_loss *loss)
{
    if (ARRAY_FIT_AT(windows->losses, windows->loss_capacity, windows->loss_count) == 0)
        windows->losses[windows->loss_count++] = *loss;
}

/* What a message held is lost, and that is counted. */
static void windows_note_dropped(struct windows *windows, const struct journal_message *dropped)
{
    struct wire_message message;
    if (dropped->type != WIRE_TYPE_WINDOW)
        return;
    windows->totals.dropped++;
    if (wire_decode(&message, &windows->arena, dropped->bytes, dropped->length, NULL) != 0 ||
        message.type != WIRE_TYPE_WINDOW)
        return;
    const struct wire_window *window = &message.window;
    struct window_loss loss = {0};
    windows->totals.sampled -= window->halves_count;
    windows->totals.passed_over += window->halves_count;
    memcpy(loss.job, window->job, strnlen(window->job, sizeof loss.job - 1));
    for (uint64_t i = 0; i < window->ranks_count; i++) {
        loss.rank = window->ranks[i].rank;
        loss.lost = window->ranks[i].lost;
        loss.records = window->ranks[i].events + loss.lost;
        windows_note_loss(windows, &loss);
    }
    loss.is_death = 1;
    for (uint64_t i = 0; i < window->deaths_count; i++) {
        loss.death = window->deaths[i];
        windows_note_loss(windows, &loss);
    }
}

/* No room in the journal: the oldest message is lost. */
static void windows_on_dropped(void *user, const struct journal_message *dropped)
{
    struct windows *windows = user;
    if (dropped->type == WIRE_TYPE_RANKS) {
        windows->ranks_dropped = 1;
        return;
    }
    log_warn("the journal is full and the daemon does not acknowledge: message %llu is dropped",
             (unsigned long long)dropped->seq);
    windows_note_dropped(windows, dropped);
}

void windows_drop_refused(struct windows *windows, uint64_t seq)
{
    struct journal_message refused;
    if (journal_drop(windows->journal, seq, &refused))
        windows_note_dropped(windows, &refused);
}

/* Records that go with the next window are added to the totals when that is closed. */
static void windows_count_loss(struct windows *windows, struct node_job *job,
                               const struct window_loss *loss)
{
    windows->totals.lost -= loss->lost;
    if (job == NULL || !node_job_count_lost(job, loss->rank, loss->records))
        windows->totals.lost += loss->records;
}

/* After the windows are encoded, so that the losses go with the next one. */
static void windows_count_losses(struct windows *windows)
{
    for (uint32_t i = 0; i < windows->loss_count; i++) {
        const struct window_loss *loss = &windows->losses[i];
        struct node_job *job = census_find_job(windows->census, loss->job);
        if (job != NULL)
            job->flags |= WINDOW_GAP;
        if (!loss->is_death)
            windows_count_loss(windows, job, loss);
        else if (job != NULL)
            node_job_add_death(job, &loss->death);
    }
    windows->loss_count = 0;
}

int windows_append(struct windows *windows, enum wire_type type, const void *bytes, size_t length)
{
    return journal_append(windows->journal, type, bytes, length, windows_on_dropped, windows);
}

int windows_append_window(void *user, uint64_t seq, const void *bytes, size_t length)
{
    (void)seq; /* the journal counts the same numbers */
    return windows_append(user, WIRE_TYPE_WINDOW, bytes, length);
}

void windows_announce_ranks(struct windows *windows, struct node_job *job, int all)
{
    int rc = node_job_announce(job, windows->host, journal_next_seq(windows->journal), all,
                               &windows->buffer);
    if (rc == 0)
        rc =
            windows_append(windows, WIRE_TYPE_RANKS, windows->buffer.bytes, windows->buffer.length);
    if (rc == 0)
        job->last_seq = journal_next_seq(windows->journal) - 1;
    else
        log_error("ranks of job %s cannot be announced: %s", job->id, holter_strerror(rc));
}

/* Totals up to now: those of earlier workers, and this one's. */
struct node_totals windows_totals(const struct windows *windows)
{
    struct node_totals totals = windows->totals;
    totals.uplink_bytes += windows->uplink_bytes;
    totals.cpu_ns += clock_process_cpu_ns();
    return totals;
}

void windows_commit(struct windows *windows)
{
    struct journal_state *state = journal_prepare(windows->journal);
    state->window = windows->window;
    state->window_ns = windows->length_ns;
    state->clock = windows->clock;
    state->tsc = windows->tsc;
    state->totals = windows_totals(windows);
    census_copy_positions(windows->census, state);
    journal_commit(windows->journal);
    windows_count_losses(windows);
}

void windows_announce_all(struct windows *windows)
{
    for (struct node_job *job = windows->census->jobs; job != NULL; job = job->next)
        windows_announce_ranks(windows, job, 1);
    if (windows->census->jobs != NULL)
        windows_commit(windows);
}

static void windows_shift_deaths(struct wire_death_row *deaths, uint64_t count, int64_t shift_ns)
{
    for (uint64_t i = 0; i < count; i++) {
        deaths[i].at_ns += deaths[i].at_ns != 0 ? (uint64_t)shift_ns : 0;
        deaths[i].ended_ns += (uint64_t)shift_ns;
    }
}

/* Ends of messages were timed by the guess: nobody can join them. They count as passed over, in the
 * windows after this one, too.
 * @param left_out  of all windows so far */
static void windows_leave_out_halves(struct windows *windows, struct wire_window *window,
                                     uint64_t *left_out)
{
    struct wire_node_row *row =
        window->node_count > 0 ? (struct wire_node_row *)window->node : NULL;
    if (window->halves_count > 0) {
        window->keys_below = 1;
        window->degraded |= DEGRADED_SAMPLES;
    }
    *left_out += window->halves_count;
    windows->totals.sampled -= window->halves_count;
    windows->totals.passed_over += window->halves_count;
    window->halves_count = 0;
    if (row != NULL) {
        row->sampled -= *left_out;
        row->passed_over += *left_out;
    }
}

/* Give a window the number that it would have had, and its events their times. The rows are the
 * arena's, which is ours. */
static void windows_move_window(const struct windows *windows, struct wire_window *window,
                                int64_t shift_ns)
{
    int64_t middle = (int64_t)(window->window * window->length_ns + window->length_ns / 2);
    window->window = (uint64_t)(middle + shift_ns) / windows->length_ns;
    window->length_ns = windows->length_ns;
    burst_rows_shift((struct wire_burst_row *)window->bursts, window->bursts_count, shift_ns);
    windows_shift_deaths((struct wire_death_row *)window->deaths, window->deaths_count, shift_ns);
}

/* Windows that were closed on a guess, before any daemon was there to see them, get the numbers
 * that they would have had. */
static void windows_note_newest(struct windows *windows, const char *id, uint64_t seq)
{
    for (struct node_job *job = windows->census->jobs; job != NULL; job = job->next)
        if (strcmp(job->id, id) == 0)
            job->last_seq = seq;
}

int windows_renumber(struct windows *windows, int64_t shift_ns)
{
    struct journal *journal = windows->journal;
    struct journal_message old;
    uint64_t last = journal_next_seq(journal) - 1, left_out = 0;
    for (struct node_job *job = windows->census->jobs; job != NULL; job = job->next)
        windows_shift_deaths(job->deaths, job->death_count, shift_ns);
    while (journal_read(journal, 0, &old) && old.seq <= last) {
        struct wire_message message;
        uint64_t seq = old.seq, next = journal_next_seq(journal);
        int rc = wire_decode(&message, &windows->arena, old.bytes, old.length, NULL);
        if (rc == 0 && message.type == WIRE_TYPE_WINDOW) {
            windows_move_window(windows, &message.window, shift_ns);
            windows_leave_out_halves(windows, &message.window, &left_out);
            message.window.seq = next;
            windows_note_newest(windows, message.window.job, next);
            rc = wire_encode(&windows->buffer, WIRE_TYPE_WINDOW, &message.window);
        } else if (rc == 0 && message.type == WIRE_TYPE_RANKS) {
            message.ranks.seq = next;
            windows_note_newest(windows, message.ranks.job, next);
            rc = wire_encode(&windows->buffer, WIRE_TYPE_RANKS, &message.ranks);
        }
        uint32_t type = old.type;
        journal_ack(journal, seq);
        if (rc == 0)
            rc = journal_append(journal, type, windows->buffer.bytes, windows->buffer.length,
                                windows_on_dropped, windows);
        windows_commit(windows);
        if (rc != 0)
            return rc;
    }
    return 0;
}
