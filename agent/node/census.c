/* The ranks on the node, by stage, from the first sight of a segment to its removal. */
#include "agent/node/census.h"
#include "agent/node/rank_drain.h"
#include "daemon/analysis/tables/array.h"

#include "agent/host/process_meter.h"
#include "agent/node/rank_activity.h"
#include "agent/node/rank_match.h"
#include "holter/clock.h"
#include "holter/error.h"
#include "proto/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LOG_TOPIC "census"

#define CENSUS_MAXIMUM_TURNS (SEGMENT_FIRST_CAPACITY / RANK_TURN)
/* An ended rank of whose rings nothing more could be read for this time is not waited for: a record
 * is at most a second later than now. */
#define UNREADABLE_NS UINT64_C(5000000000)

enum stage {
    SEEN,   /* its segment was seen */
    MAPPED, /* MPI_Init has not returned */
    JOINED,
    REPORTED, /* its end is reported in the open window */
};

struct resident {
    struct census *census;
    char name[80];
    int32_t pid;
    enum stage stage;
    int is_of_other_host;
    int complained; /* the reason why it cannot be mapped was logged */
    int ended;
    uint64_t ended_ns;    /* CLOCK_MONOTONIC: when that was noticed */
    uint64_t unread_ns;   /* since when nothing more of its rings was read; 0: not noted yet */
    uint64_t unread_from; /* up to where they were read then */
    int newcomer;         /* joined in the last update */
    int index;            /* of the rank in its job's sums, saved while it is moved to others */
    struct rank *rank;    /* owned; NULL while SEEN */
    struct node_job *job; /* NULL before JOINED */
    struct process_watch *watch;
    struct process_meter *meter; /* owned; NULL: nothing is known of the process */
};

static void census_mark_ended(struct resident *resident)
{
    resident->ended = 1;
    resident->ended_ns = clock_mono_ns();
}

static void census_on_process_end(void *user)
{
    struct resident *resident = user;
    census_mark_ended(resident);
    resident->census->wake(resident->census->user);
}

static void census_resident_destroy(struct resident *resident)
{
    process_watch_close(resident->watch);
    process_meter_close(resident->meter);
    rank_destroy(resident->rank);
    free(resident);
}

int census_add_segment(struct census *census, const char *name, int32_t pid)
{
    for (uint32_t i = 0; i < census->count; i++)
        if (strcmp(census->residents[i]->name, name) == 0)
            return 0;
    if (!segment_is_own(name))
        return 0;
    struct resident *resident = calloc(1, sizeof *resident);
    if (resident == NULL || ARRAY_FIT_AT(census->residents, census->capacity, census->count) != 0) {
        free(resident);
        return -ENOMEM;
    }
    *resident = (struct resident){.census = census, .pid = pid, .stage = SEEN};
    memcpy(resident->name, name, strnlen(name, sizeof resident->name - 1));
    census->residents[census->count++] = resident;
    return 1;
}

/* Removes a rank from the list; its segment's name is removed when nobody will use it again. */
static void census_remove_rank(struct census *census, uint32_t number, int unlink_segment)
{
    struct resident *resident = census->residents[number];
    if (unlink_segment)
        shm_unlink(resident->name);
    census->residents[number] = census->residents[--census->count];
    census_resident_destroy(resident);
}

static void census_map_segment(struct census *census, struct resident *resident)
{
    int rc = rank_open(&resident->rank, resident->name, census->session, census->reader);
    if (rc == 0) {
        resident->stage = MAPPED;
        rc = process_watch_open(&resident->watch, census->loop, resident->pid,
                                resident->rank->pid_start, census_on_process_end, resident);
        if (rc != 0)
            census_mark_ended(resident);
        return;
    }
    resident->is_of_other_host = rc == -EREMOTE;
    resident->ended = rc == -ENOENT || process_start_time(resident->pid) == 0;
    if (rc != -HOLTER_EEMPTY && rc != -ENOENT && rc != -EREMOTE && !resident->complained) {
        log_warn("segment %s cannot be used: %s", resident->name, holter_strerror(rc));
        resident->complained = 1;
    }
}

struct node_job *census_find_job(const struct census *census, const char *id)
{
    for (struct node_job *job = census->jobs; job != NULL; job = job->next)
        if (strcmp(job->id, id) == 0)
            return job;
    return NULL;
}

/* ---- uncovered calls: files are read in a thread of their own, because rings do not wait ---- */

struct search {
    uv_work_t work;
    struct census *census;
    char job[64];
    int32_t pid;
    struct uncovered found;
};

static void census_run_search(uv_work_t *work)
{
    struct search *search = work->data;
    uncovered_find(&search->found, search->pid);
}

static void census_on_search_end(uv_work_t *work, int status)
{
    struct search *search = work->data;
    (void)status;
    struct node_job *job = census_find_job(search->census, search->job);
    if (job != NULL) {
        node_job_set_uncovered(job, &search->found, clock_mono_ns());
        search->census->wake(search->census->user);
    } else {
        uncovered_finish(&search->found);
    }
    free(search);
}

static void census_search_uncovered(struct census *census, struct node_job *job, int32_t pid)
{
    struct search *one = calloc(1, sizeof *one);
    if (one == NULL)
        return; /* tried again with the next rank */
    *one = (struct search){.work.data = one, .census = census, .pid = pid};
    memcpy(one->job, job->id, sizeof one->job);
    if (uv_queue_work(census->loop, &one->work, census_run_search, census_on_search_end) == 0)
        job->uncovered_search = SEARCH_RUNS;
    else
        free(one);
}

/* ---- ranks --------------------------------------------------------------- */

static void census_join_job(struct census *census, struct resident *resident, uint64_t now_ns)
{
    struct node_job *job = census_find_job(census, resident->rank->job);
    if (job == NULL) {
        if (node_job_create(&job, resident->rank, census->journal) != 0)
            return; /* tried again at the next update */
        job->flags = census->resumed_flags;
        job->next = census->jobs;
        census->jobs = job;
    } else if (node_job_is_before(job, resident->rank)) {
        job->followed = 1;
        return; /* tried again when that job has ended */
    }
    int rc = node_job_add_rank(job, resident->rank, census->places, now_ns);
    if (rc != 0) {
        log_error("rank %d of job %s cannot be added: %s", (int)resident->rank->world_rank, job->id,
                  holter_strerror(rc));
        return;
    }
    if (job->uncovered_search == SEARCH_NOT_BEGUN)
        census_search_uncovered(census, job, resident->pid);
    resident->job = job;
    resident->stage = JOINED;
    resident->newcomer = 1;
    if (process_meter_open(&resident->meter, "", resident->pid) != 0)
        resident->meter = NULL;
    census->joined++;
    census->newcomers++;
    log_info("rank %d of job %s is process %d", (int)resident->rank->world_rank, job->id,
             (int)resident->pid);
}

void census_update_residents(struct census *census, uint64_t now_ns)
{
    for (uint32_t i = census->count; i-- > 0;) {
        struct resident *resident = census->residents[i];
        resident->newcomer = 0;
        if (resident->stage == SEEN)
            census_map_segment(census, resident);
        if (resident->is_of_other_host) { /* its agent reads it, and removes it in the end */
            census_remove_rank(census, i, 0);
            continue;
        }
        if (resident->watch != NULL)
            process_watch_check(resident->watch);
        if (resident->stage == MAPPED && rank_is_initialised(resident->rank))
            census_join_job(census, resident, now_ns);
        if (resident->stage < JOINED && resident->ended) {
            if (resident->stage == MAPPED)
                log_info("process %d ended before MPI_Init returned", (int)resident->pid);
            census->uninitialised += resident->stage == MAPPED;
            census_remove_rank(census, i, 1);
        }
    }
}

uint64_t census_newcomers_begin(const struct census *census, const struct node_job *job)
{
    uint64_t begin = UINT64_MAX;
    for (uint32_t i = 0; i < census->count; i++) {
        const struct resident *resident = census->residents[i];
        if (!resident->newcomer || resident->job != job)
            continue;
        uint64_t one = rank_drain_begin_ns(resident->rank, journal_state(census->journal));
        begin = one < begin ? one : begin;
    }
    return begin;
}

int census_move_newcomers(struct census *census, const struct node_job *job, struct event_sum *sum)
{
    int rc = 0;
    for (uint32_t i = 0; i < census->count; i++) {
        struct resident *resident = census->residents[i];
        if (!resident->newcomer || resident->job != job)
            continue;
        resident->index = resident->rank->index;
        int moved = rank_join(resident->rank, sum);
        rc = rc == 0 ? moved : rc;
    }
    return rc;
}

void census_drain_newcomers(struct census *census, const struct node_job *job,
                            const struct drain_clocks *clocks, struct event *batch)
{
    for (uint32_t i = 0; i < census->count; i++) {
        struct resident *resident = census->residents[i];
        if (!resident->newcomer || resident->job != job)
            continue;
        rank_drain(resident->rank, clocks, journal_state(census->journal), batch);
        rank_end_window(resident->rank, clocks, 0);
    }
    match_settle(job->match, clocks->end_ns < clocks->now_ns ? clocks->end_ns : clocks->now_ns);
}

void census_return_newcomers(struct census *census, const struct node_job *job)
{
    for (uint32_t i = 0; i < census->count; i++) {
        struct resident *resident = census->residents[i];
        if (!resident->newcomer || resident->job != job)
            continue;
        rank_store_positions(resident->rank);
        rank_return_to_sum(resident->rank, job->sum, resident->index);
    }
}

/* One turn of each rank. What it posted and completed is matched before the next turn, so that the
 * matcher's memory is that of some thousand messages, which fits a core's cache, however much the
 * rings hold. @return records taken */
static uint64_t census_drain_turn(struct census *census, const struct drain_clocks *clocks,
                                  struct event *batch)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < census->count; i++)
        if (census->residents[i]->stage == JOINED)
            total += rank_drain_turn(census->residents[i]->rank, clocks,
                                     journal_state(census->journal), batch);
    for (struct node_job *job = census->jobs; total > 0 && job != NULL; job = job->next)
        match_settle_again(job->match);
    return total;
}

uint64_t census_drain(struct census *census, const struct drain_clocks *clocks, struct event *batch)
{
    uint64_t total = 0, more = 1;
    /* Bounded: fast writers must not keep the agent here. */
    for (unsigned turn = 0; turn < CENSUS_MAXIMUM_TURNS && more > 0; turn++)
        total += more = census_drain_turn(census, clocks, batch);
    for (uint32_t i = 0; i < census->count; i++) {
        if (census->residents[i]->stage == JOINED)
            total += rank_drain(census->residents[i]->rank, clocks, journal_state(census->journal),
                                batch);
    }
    uint64_t until_ns = clocks->end_ns < clocks->now_ns ? clocks->end_ns : clocks->now_ns;
    for (struct node_job *job = census->jobs; job != NULL; job = job->next) {
        event_sum_sort_bursts(job->sum);
        match_settle(job->match, until_ns);
    }
    return total;
}

static void census_add_death(struct node_job *job, const struct wire_death_row *death)
{
    job->died = job->has_died ? job->died : death->rank;
    job->has_died = 1;
    node_job_add_death(job, death);
}

/* When a rank exits with a status that is not 0 after MPI_Finalize, the launcher kills those that
 * are still in it. That is not a death in MPI_Finalize: the launcher ended them. */
static int census_was_killed_in_finalize(const struct census *census, const struct node_job *job,
                                         const struct wire_death_row *death)
{
    int finalized = job->has_finalized;
    for (uint32_t i = 0; i < census->count && !finalized; i++) {
        const struct resident *other = census->residents[i];
        finalized = other->job == job && other->ended && rank_has_finalized(other->rank);
    }
    return finalized && death->in_call && death->call == CALL_Finalize;
}

int census_is_joining(const struct census *census)
{
    for (uint32_t i = 0; i < census->count; i++)
        if (census->residents[i]->stage < JOINED)
            return 1;
    return 0;
}

int census_has_ended(const struct census *census)
{
    for (uint32_t i = 0; i < census->count; i++)
        if (census->residents[i]->stage == JOINED && census->residents[i]->ended)
            return 1;
    return 0;
}

/* Are all records of an ended rank in the sums, as far as they can be read? */
static int census_is_read(struct resident *resident, uint64_t now_ns)
{
    if (rank_is_drained(resident->rank))
        return 1;
    const uint64_t position = rank_position(resident->rank);
    if (resident->unread_ns == 0 || position != resident->unread_from) {
        resident->unread_ns = now_ns;
        resident->unread_from = position;
    }
    return now_ns - resident->unread_ns >= UNREADABLE_NS;
}

uint32_t census_report_ended(struct census *census, const struct drain_clocks *clocks,
                             const struct daemon_clock *clock)
{
    uint32_t told = 0;
    for (uint32_t i = 0; i < census->count; i++) {
        struct resident *resident = census->residents[i];
        if (resident->stage != JOINED || !resident->ended ||
            !census_is_read(resident, clocks->now_ns))
            continue;
        /* A call during which the rank died lasted until now, not until the window's end. */
        struct drain_clocks end = *clocks;
        end.end_ns = clocks->now_ns < clocks->end_ns ? clocks->now_ns : clocks->end_ns;
        struct wire_death_row death;
        rank_end_window(resident->rank, &end, 1);
        node_job_collect_carts(resident->job, resident->rank, clocks->now_ns);
        if (!rank_describe_death(resident->rank, clocks, clock, &death))
            resident->job->has_finalized = 1;
        else if (!census_was_killed_in_finalize(census, resident->job, &death)) {
            death.ended_ns =
                daemon_clock_best(clock, rank_end_ns(resident->rank, resident->ended_ns));
            census_add_death(resident->job, &death);
        }
        rank_match_stop(resident->rank);
        resident->stage = REPORTED;
        resident->job->living--;
        census->joined--;
        told++;
    }
    return told;
}

void census_sample_processes(struct census *census, uint64_t now_ns)
{
    if (now_ns - census->sampled_ns < PROCESS_SAMPLE_NS)
        return;
    census->sampled_ns = now_ns;
    for (uint32_t i = 0; i < census->count; i++) {
        if (census->residents[i]->stage == JOINED)
            process_meter_sample(census->residents[i]->meter);
    }
}

static void census_report_process(struct resident *resident, uint64_t now_ns, uint64_t steal_ns)
{
    struct wire_process_row row = {.rank = (uint64_t)resident->rank->world_rank};
    if (process_meter_take(resident->meter, now_ns, steal_ns, &row))
        node_job_add_process(resident->job, &row);
}

void census_end_window(struct census *census, struct node_job *job, uint64_t window_ns,
                       const struct drain_clocks *clocks, uint64_t steal_ns)
{
    census->sampled_ns = clocks->now_ns; /* the rows of processes are samples, too */
    for (uint32_t i = 0; i < census->count; i++) {
        struct rank *rank = census->residents[i]->rank;
        if (census->residents[i]->stage != JOINED || census->residents[i]->job != job)
            continue;
        rank_end_window(rank, clocks, 0);
        rank_report_pending(rank, clocks, job->transfers);
        census_report_process(census->residents[i], clocks->now_ns, steal_ns);
        rank_report_state(rank, process_meter_state(census->residents[i]->meter), window_ns);
        node_job_collect_carts(job, rank, clocks->now_ns);
    }
}

void census_report_presence(const struct census *census, const struct node_job *job,
                            uint64_t begin_ns, uint64_t end_ns)
{
    for (uint32_t i = 0; i < census->count; i++) {
        const struct resident *resident = census->residents[i];
        if (resident->stage >= JOINED && resident->job == job && resident->rank->sum == job->sum)
            rank_report_presence(resident->rank, begin_ns, end_ns,
                                 resident->ended ? resident->ended_ns : UINT64_MAX);
    }
}

void census_store_positions(struct census *census, struct node_job *job)
{
    node_job_store_matching(job);
    for (uint32_t i = 0; i < census->count; i++)
        if (census->residents[i]->stage >= JOINED && census->residents[i]->job == job)
            rank_store_positions(census->residents[i]->rank);
}

void census_copy_positions(const struct census *census, struct journal_state *state)
{
    state->ring_count = 0;
    for (uint32_t i = 0; i < census->count; i++)
        if (census->residents[i]->stage >= JOINED)
            state->ring_count +=
                rank_copy_positions(census->residents[i]->rank, state->rings + state->ring_count,
                                    JOURNAL_RINGS - state->ring_count);
    for (const struct node_job *job = census->jobs; job != NULL; job = job->next)
        journal_add_matching(state, job->id, job->matching.bytes, job->matching.length);
}

static int census_compare_ranks(const void *a, const void *b)
{
    const struct rank *x = *(const struct rank *const *)a, *y = *(const struct rank *const *)b;
    return x->world_rank < y->world_rank ? -1 : x->world_rank > y->world_rank;
}

uint32_t census_ranks(const struct census *census, const struct node_job *job,
                      const struct rank **out, uint32_t capacity)
{
    uint32_t count = 0, written;
    for (uint32_t i = 0; i < census->count; i++) {
        const struct resident *resident = census->residents[i];
        if (resident->stage < JOINED || resident->job != job)
            continue;
        if (count < capacity)
            out[count] = resident->rank;
        count++;
    }
    written = count < capacity ? count : capacity;
    if (written > 0)
        qsort(out, written, sizeof *out, census_compare_ranks);
    return count;
}

/* @return records that are lost with it */
static uint64_t census_remove_announced(struct census *census, uint32_t number)
{
    struct resident *gone = census->residents[number];
    const uint64_t lost = event_sum_remove_rank(gone->job->sum, gone->rank->index);
    for (uint32_t i = 0; i < census->count; i++) {
        struct resident *other = census->residents[i];
        if (other->job == gone->job && other->rank->index > gone->rank->index)
            other->rank->index--;
    }
    census_remove_rank(census, number, 1);
    return lost;
}

uint64_t census_release_committed(struct census *census, struct node_job *job, uint64_t now_ns)
{
    uint64_t lost = 0;
    for (uint32_t i = census->count; i-- > 0;) {
        struct resident *resident = census->residents[i];
        if (resident->job == NULL || (job != NULL && resident->job != job))
            continue;
        rank_publish_positions(resident->rank, now_ns);
        if (resident->stage == REPORTED)
            lost += census_remove_announced(census, i);
    }
    return lost;
}

void census_remove_job(struct census *census, struct node_job *job)
{
    for (struct node_job **link = &census->jobs; *link != NULL; link = &(*link)->next) {
        if (*link == job) {
            *link = job->next;
            break;
        }
    }
    node_job_destroy(job);
}

uint64_t census_shared_bytes(const struct census *census)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < census->count; i++)
        bytes += census->residents[i]->stage >= JOINED
                     ? rank_shared_bytes(census->residents[i]->rank)
                     : 0;
    return bytes;
}

int census_empty(const struct census *census)
{
    return census->count == 0;
}

void census_finish(struct census *census)
{
    while (census->count > 0)
        census_remove_rank(census, census->count - 1, 0);
    while (census->jobs != NULL)
        census_remove_job(census, census->jobs);
    array_release(&census->residents);
    census->capacity = 0;
}
