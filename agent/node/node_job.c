/* One job on this node: its members, its announcement, and the encoding of its windows. */
#include "agent/node/node_job.h"

#include "agent/launch/process_file.h"
#include "agent/launch/rank_env.h"
#include "agent/node/rank_match.h"
#include "daemon/analysis/tables/array.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Environment of a rank: bytes after these are not read. */
#define ENVIRONMENT_BYTES ((size_t)256 << 10)

static void node_job_read_user(char *out, size_t capacity)
{
    struct passwd *entry = getpwuid(getuid());
    if (entry != NULL)
        snprintf(out, capacity, "%s", entry->pw_name);
    else
        snprintf(out, capacity, "%u", (unsigned)getuid());
}

/* Arguments are separated by NULs in /proc/<pid>/cmdline. */
static void node_job_read_command(char *out, size_t capacity, int32_t pid)
{
    size_t n = process_file(out, capacity, pid, "cmdline");
    while (n > 0 && out[n - 1] == '\0')
        n--;
    for (size_t i = 0; i < n; i++)
        out[i] = out[i] == '\0' ? ' ' : out[i];
    out[n] = '\0';
}

/* Looks up a variable in a process' environment: "NAME=value" texts, each ended by NUL. */
static const char *node_job_variable(void *user, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = user; *at != '\0'; at += strlen(at) + 1)
        if (strncmp(at, name, length) == 0 && at[length] == '=')
            return at + length + 1;
    return NULL;
}

/* What a rank's environment says of its launcher. */
static void node_job_read_launcher(struct node_job *job, int32_t pid)
{
    char *environment = calloc(1, ENVIRONMENT_BYTES);
    enum launcher launcher = LAUNCHER_NONE;
    job->local_size = -1;
    if (environment != NULL &&
        process_file(environment, ENVIRONMENT_BYTES - 1, pid, "environ") > 0) {
        const struct rank_env_source source = {.variable = node_job_variable, .user = environment};
        launcher = rank_env_launcher(&source);
        job->local_size = rank_env_local_size(&source);
    }
    free(environment);
    job->launcher = launcher == LAUNCHER_NONE ? "" : launcher_name(launcher);
}

static int node_job_create_match(struct node_job *job)
{
    struct match_sink sink = {transfer_sum_message, transfer_sum_half, job->transfers};
    return match_create(&job->match, job->world, &sink);
}

/* Continue the matcher of the worker before this one. @return 0 or -ENOMEM */
static int node_job_restore_matching(struct node_job *job, struct journal *journal)
{
    struct state_bytes state = {.reads = 1};
    state.bytes = journal_take_matching(journal, job->id, &state.length);
    if (state.bytes == NULL)
        return 0;
    match_copy_state(&state, job->match);
    if (state.code != 0) {
        match_destroy(job->match);
        return node_job_create_match(job);
    }
    job->counted = match_counts(job->match);
    return 0;
}

int node_job_create(struct node_job **out, struct rank *first, struct journal *journal)
{
    struct node_job *job = calloc(1, sizeof *job);
    if (job == NULL || event_sum_create(&job->sum, NODE_JOB_MAXIMUM_PAIRS) != 0 ||
        transfer_sum_create(&job->transfers, NODE_JOB_MAXIMUM_PAIRS) != 0) {
        node_job_destroy(job);
        return -ENOMEM;
    }
    const struct segment *segment = first->segment;
    memcpy(job->id, first->job, sizeof job->id);
    job->world = (uint64_t)first->world_size;
    if (node_job_create_match(job) != 0 || node_job_restore_matching(job, journal) != 0) {
        node_job_destroy(job);
        return -ENOMEM;
    }
    rank_copy_text(job->app, sizeof job->app, segment->app, sizeof segment->app);
    rank_copy_text(job->mpi, sizeof job->mpi, segment->mpi, sizeof segment->mpi);
    rank_copy_text(job->probe, sizeof job->probe, segment->probe, sizeof segment->probe);
    rank_copy_text(job->session, sizeof job->session, segment->session, sizeof segment->session);
    node_job_read_user(job->user, sizeof job->user);
    node_job_read_launcher(job, first->pid);
    job->command_rank = UINT64_MAX;
    job->registered = 1; /* until the registrations are read */
    *out = job;
    return 0;
}

void node_job_destroy(struct node_job *job)
{
    if (job == NULL)
        return;
    event_sum_destroy(job->sum);
    match_destroy(job->match);
    free(job->matching.bytes);
    transfer_sum_destroy(job->transfers);
    uncovered_finish(&job->uncovered);
    carts_finish(&job->carts);
    free(job->members);
    free(job->placements);
    free(job->deaths);
    free(job->processes);
    free(job);
}

static int node_job_reserve_member(struct node_job *job)
{
    const uint64_t need = (uint64_t)job->member_count + 1;
    int rc = ARRAY_FIT_ZERO(job->members, job->member_capacity, need);
    return rc != 0 ? rc : ARRAY_FIT_ZERO(job->placements, job->placement_capacity, need);
}

/* The probe truncates a list that does not fit: the rest is not known. */
static int node_job_may_be_cut(const char *cpu_list)
{
    const size_t longest = sizeof ",1023-1023" - 1;
    return strlen(cpu_list) + longest >= sizeof((struct segment *)0)->placement;
}

static void node_job_find_place(struct wire_member_row *member, const struct places *places,
                                const char *cpu_list)
{
    if (node_job_may_be_cut(cpu_list))
        return;
    const struct place place = places_find(places, cpu_list);
    member->core = place.core;
    member->socket = place.socket;
    member->numa = place.numa;
}

int node_job_add_rank(struct node_job *job, struct rank *rank, const struct places *places,
                      uint64_t now_ns)
{
    int rc = node_job_reserve_member(job);
    if (rc == 0)
        rc = rank_join(rank, job->sum);
    if (rc != 0)
        return rc;
    rank_match_start(rank, job->match);
    const struct segment *segment = rank->segment;
    uint32_t number = job->member_count++;
    rank_copy_text(job->placements[number], sizeof job->placements[number], segment->placement,
                   sizeof segment->placement);
    job->members[number] =
        (struct wire_member_row){.rank = (uint64_t)rank->world_rank, .pid = (uint64_t)rank->pid};
    node_job_find_place(&job->members[number], places, job->placements[number]);
    if (job->unannounced_since_ns == 0)
        job->unannounced_since_ns = now_ns;
    if ((uint64_t)rank->world_rank < job->command_rank) {
        job->command_rank = (uint64_t)rank->world_rank;
        node_job_read_command(job->command, sizeof job->command, rank->pid);
    }
    job->living++;
    if (job->member_count == (uint32_t)job->local_size) /* all others are on other nodes */
        match_all_added(job->match);
    return 0;
}

int node_job_is_before(const struct node_job *job, const struct rank *rank)
{
    int before = job->world != (uint64_t)rank->world_size;
    for (uint32_t i = 0; i < job->member_count && !before; i++)
        before = job->members[i].rank == (uint64_t)rank->world_rank &&
                 job->members[i].pid != (uint64_t)rank->pid;
    return before;
}

void node_job_collect_carts(struct node_job *job, struct rank *rank, uint64_t now_ns)
{
    if (rank_collect_carts(rank, &job->carts) > 0 && job->unannounced_since_ns == 0)
        job->unannounced_since_ns = now_ns;
}

void node_job_set_uncovered(struct node_job *job, const struct uncovered *found, uint64_t now_ns)
{
    uncovered_finish(&job->uncovered);
    job->uncovered = *found;
    job->uncovered_search = SEARCH_DONE;
    if (job->unannounced_since_ns == 0)
        job->unannounced_since_ns = now_ns;
}

void node_job_add_death(struct node_job *job, const struct wire_death_row *death)
{
    if (ARRAY_FIT_AT(job->deaths, job->death_capacity, job->death_count) == 0)
        job->deaths[job->death_count++] = *death;
}

void node_job_add_process(struct node_job *job, const struct wire_process_row *row)
{
    if (ARRAY_FIT_AT(job->processes, job->process_capacity, job->process_count) == 0)
        job->processes[job->process_count++] = *row;
}

int node_job_count_lost(struct node_job *job, uint64_t rank, uint64_t records)
{
    return event_sum_lost_of(job->sum, rank, records);
}

int node_job_announce(struct node_job *job, const char *host, uint64_t seq, int all,
                      struct wire_buffer *buffer)
{
    uint32_t first = all ? 0 : job->announced;
    int with_uncovered = job->uncovered_search == SEARCH_DONE && (all || !job->uncovered_announced);
    for (uint32_t i = 0; i < job->member_count; i++)
        job->members[i].placement = job->placements[i]; /* the texts may have been reallocated */
    struct wire_ranks message = {
        .seq = seq,
        .job = job->id,
        .world = job->world,
        .app = job->app,
        .mpi = job->mpi,
        .host = host,
        .cores = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN),
        .members = job->members + first,
        .members_count = job->member_count - first,
        .uncovered = with_uncovered ? job->uncovered.rows : NULL,
        .uncovered_count = with_uncovered ? job->uncovered.count : 0,
        .user = job->user,
        .command = job->command,
        .probe = job->probe,
        .launcher = job->launcher,
        .session = job->session,
    };
    int rc = carts_list_rows(&job->carts, all, &message);
    if (rc == 0)
        rc = wire_encode(buffer, WIRE_TYPE_RANKS, &message);
    if (rc != 0)
        return rc;
    carts_mark_announced(&job->carts);
    job->announced = job->member_count;
    job->unannounced_since_ns = 0;
    job->uncovered_announced |= with_uncovered;
    return 0;
}

void node_job_store_matching(struct node_job *job)
{
    job->matching.code = 0;
    job->matching.length = 0;
    match_copy_state(&job->matching, job->match);
    if (job->matching.code != 0)
        job->matching.length = 0;
}

struct match_counts node_job_match_counts(struct node_job *job)
{
    struct match_counts now = match_counts(job->match), before = job->counted;
    job->counted = now;
    return (struct match_counts){now.matched - before.matched, now.unmatched - before.unmatched,
                                 now.rejected - before.rejected};
}

/* Used until the daemon announces a number. Assumes that all nodes have as many ranks as this one.
 */
static uint64_t node_job_burst_rows(const struct node_job *job)
{
    if (job->burst_rows != 0)
        return job->burst_rows;
    uint64_t members = job->member_count == 0 ? 1 : job->member_count;
    return burst_gather_share(job->world / members);
}

int node_job_close_window(struct node_job *job, struct wire_window *window,
                          const struct transfer_clock *clock, const struct counters *counters,
                          struct window_output *output)
{
    struct wire_counter_row counter_rows[MAXIMUM_INTERFACES];
    struct window_rows rows;
    struct transfer_rows transfers;
    struct window_bursts bursts = {
        .sum = job->sum,
        .clock = {clock->at, clock->user, clock->begin_ns, clock->begin_ns + window->length_ns},
        .most_rows = node_job_burst_rows(job),
    };
    int rc = event_sum_rows(job->sum, &rows);
    if (rc == 0)
        rc = transfer_sum_rows(job->transfers, clock, &transfers);
    window->job = job->id;
    window->deaths = job->deaths;
    window->deaths_count = job->death_count;
    window->processes = job->processes;
    window->processes_count = job->process_count;
    window->flags |= job->flags | (job->has_finalized ? WINDOW_FINALIZED : 0);
    window->counters = counter_rows;
    window->counters_count =
        counters == NULL ? 0 : counters_since(counters, &job->counters_reported, counter_rows);
    if (rc == 0)
        rc = window_message_encode(window, &rows, &transfers, &bursts, output);
    window->counters = NULL; /* the rows end here */
    if (rc >= 0) {
        if (counters != NULL)
            counters_mark(counters, &job->counters_reported);
        job->flags = 0;
        job->death_count = 0;
        event_sum_clear(job->sum);
    }
    job->process_count = 0;
    transfer_sum_clear(job->transfers); /* unsent ends are counted as matched already */
    return rc;
}
