#include "daemon/job/job_state.h"

#include "daemon/topology/network_grid.h"
#include "holter/error.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_UNCOVERED 4096u
#define CHANGES_NS                                                                                 \
    UINT64_C(100000000) /* the job and the places of its ranks are told at most so often */
#define CHANGES_PLACE_NS UINT64_C(20000) /* and so much less often for each rank */

static const struct run_sum_limits sum_limits = {
    .ranks = JOB_MOST_RANKS,
    .pairs = 1u << 26,
    .calls = 1u << 26,
    .comms = 65536,
    .regions = 4096,
};

/* ---- life ---------------------------------------------------------------- */

int job_id_valid(const char *id)
{
    size_t length = strnlen(id, 65);
    if (length == 0 || length > 64 || id[0] == '.')
        return 0;
    for (const char *c = id; *c != '\0'; c++) {
        if (!isascii((unsigned char)*c) ||
            (!isalnum((unsigned char)*c) && strchr("-_.", *c) == NULL))
            return 0;
    }
    return 1;
}

int job_create(struct job **out, const char *id, const struct job_options *options,
               const struct job_output *output)
{
    struct job *job = calloc(1, sizeof(*job));
    if (job == NULL)
        return -ENOMEM;
    snprintf(job->id, sizeof(job->id), "%s", id);
    job->options = *options;
    job->output = *output;
    job->start_ns = UINT64_MAX;
    job->told_window = UINT64_MAX;
    key_table_init(&job->instance_keys);
    key_table_init(&job->place_keys);
    rank_history_init(&job->ranks_before);
    int code = run_sum_create(&job->run, &sum_limits);
    code = code != 0 ? code : job_latency_create(&job->latency, options->window_ns);
    if (code == 0)
        code =
            job_phases_create(&job->phases, options->window_ns, options->modelled, options->beside);
    const struct job_network_options network = {job->id, options->network, options->window_ns};
    code = code != 0 ? code : job_network_create(&job->network, &network);
    if (code == 0 && options->rules != NULL) {
        struct job_watch_options watch = {options->rules, job->network, options->window_ns, job,
                                          job_tell};
        code = job_watch_create(&job->watch, &watch);
    }
    if (code != 0) {
        job_destroy(job);
        return code;
    }
    *out = job;
    return 0;
}

void job_destroy(struct job *job)
{
    if (job == NULL)
        return;
    job_windows_finish(job);
    run_sum_destroy(job->run);
    job_latency_destroy(job->latency);
    job_phases_destroy(job->phases);
    job_network_destroy(job->network);
    job_measured_finish(&job->measured);
    job_watch_destroy(job->watch);
    for (uint32_t i = 0; i < job->node_count; i++) {
        report_rows_finish(&job->nodes[i]->rows);
        free(job->nodes[i]);
    }
    for (uint32_t i = 0; i < job->place_keys.count; i++)
        free(job->places[i].placement);
    free(job->nodes);
    free(job->instances);
    free(job->places);
    free(job->uncovered);
    free(job->deaths);
    key_table_finish(&job->instance_keys);
    key_table_finish(&job->place_keys);
    alerts_finish(&job->alerts);
    job_said_finish(&job->said);
    job_captures_finish(&job->captures);
    free(job->rank_rows);
    free(job->pair_rows);
    free(job->call_rows);
    free(job->watch_rows.comms);
    free(job->watch_rows.dead);
    free(job->maps);
    sum_result_finish(&job->result);
    rank_history_finish(&job->ranks_before);
    sum_result_finish(&job->judged_ranks);
    sum_result_finish(&job->judged_pairs);
    sum_result_finish(&job->judged_calls);
    free(job);
}

int job_refuse(struct job_fault *fault, int code, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(fault->text, sizeof(fault->text), format, list);
    va_end(list);
    return code;
}

static void copy_text(char *out, size_t room, const char *text, int *changed)
{
    if (text == NULL || text[0] == '\0' || strncmp(out, text, room - 1) == 0)
        return;
    snprintf(out, room, "%s", text);
    *changed = 1;
}

/* ---- agents and nodes ---------------------------------------------------- */

const char *job_host(const struct job *job, uint64_t instance)
{
    uint32_t at = key_table_find(&job->instance_keys, (struct key){.hi = instance});
    if (at == KEY_NONE || job->instances[at].node == KEY_NONE)
        return "?";
    return job->nodes[job->instances[at].node]->host;
}

int job_has(const struct job *job, uint64_t instance, uint64_t seq)
{
    uint32_t at = key_table_find(&job->instance_keys, (struct key){.hi = instance});
    return at != KEY_NONE && seq <= job->instances[at].last_seq;
}

struct job_instance *job_instance_of(struct job *job, uint64_t instance)
{
    struct key key = {.hi = instance};
    uint32_t at = key_table_find(&job->instance_keys, key);
    if (at != KEY_NONE)
        return &job->instances[at];
    if (key_table_reserve(&job->instance_keys, 1) != 0)
        return NULL;
    uint32_t room = job->instance_keys.room;
    if (room > job->instance_room) {
        struct job_instance *instances = realloc(job->instances, room * sizeof(*instances));
        if (instances == NULL)
            return NULL;
        job->instances = instances;
        job->instance_room = room;
    }
    at = key_table_add_hashed(&job->instance_keys, key);
    job->instances[at] = (struct job_instance){.instance = instance, .node = KEY_NONE};
    return &job->instances[at];
}

static struct job_node *add_node(struct job *job, const char *host)
{
    if (job->node_count == job->node_room) {
        uint32_t room = job->node_room == 0 ? 8 : 2 * job->node_room;
        struct job_node **nodes = realloc(job->nodes, room * sizeof(struct job_node *));
        if (nodes == NULL)
            return NULL;
        job->nodes = nodes;
        job->node_room = room;
    }
    struct job_node *node = calloc(1, sizeof(*node));
    if (node == NULL)
        return NULL;
    snprintf(node->host, sizeof(node->host), "%s", host);
    node->first_window = UINT64_MAX;
    node->row.host = node->host;
    job->nodes[job->node_count++] = node;
    job->active++;
    return node;
}

struct job_node *job_node_of(struct job *job, uint64_t instance, const char *host, uint32_t place)
{
    struct job_instance *agent = job_instance_of(job, instance);
    if (agent == NULL)
        return NULL;
    if (agent->node != KEY_NONE)
        return job->nodes[agent->node];
    struct job_node *node = NULL;
    if (place != KEY_NONE && strcmp(job->nodes[job->places[place].node]->host, host) == 0) {
        agent->node = job->places[place].node;
        node = job->nodes[agent->node];
    } else {
        node = add_node(job, host);
        if (node == NULL)
            return NULL;
        agent->node = job->node_count - 1;
    }
    node->instance = instance;
    job->job_changed = 1;
    return node;
}

void job_node_heard(struct job *job, struct job_node *node, uint64_t now_ns)
{
    node->heard_ns = now_ns;
    job->heard_ns = now_ns;
    if (node->lost_contact) {
        node->lost_contact = 0;
        job->active += !node->final;
        job_alert(job, alerts_resolve(&job->alerts, "agent-lost", node->host, now_ns));
    }
}

void job_bye(struct job *job, uint64_t instance)
{
    uint32_t at = key_table_find(&job->instance_keys, (struct key){.hi = instance});
    if (at == KEY_NONE || job->instances[at].node == KEY_NONE)
        return;
    struct job_node *node = job->nodes[job->instances[at].node];
    if (node->instance != instance || node->final)
        return;
    node->final = 1;
    job->active -= !node->lost_contact;
}

/* ---- ranks --------------------------------------------------------------- */

static int set_place(struct job *job, uint32_t node, const struct wire_member_row *member)
{
    struct key key = {.hi = member->rank};
    if (key_table_reserve(&job->place_keys, 1) != 0)
        return -ENOMEM;
    if (job->place_keys.room > job->place_room) {
        struct job_place *places = realloc(job->places, job->place_keys.room * sizeof(*places));
        if (places == NULL)
            return -ENOMEM;
        job->places = places;
        job->place_room = job->place_keys.room;
    }
    uint32_t known = job->place_keys.count;
    uint32_t at = key_table_add_hashed(&job->place_keys, key);
    struct job_place *place = &job->places[at];
    if (at == known)
        *place = (struct job_place){.rank = (uint32_t)member->rank, .node = KEY_NONE};
    if (job_network_place(job->network, place->rank, node, job->nodes[node]->host, member->core,
                          member->numa) != 0)
        return -ENOMEM;
    const char *placement = member->placement == NULL ? "" : member->placement;
    if (place->node == node && place->pid == member->pid && place->placement != NULL &&
        strcmp(place->placement, placement) == 0)
        return 0;
    char *copy = strdup(placement); /* without memory the place is known, but not its cores */
    free(place->placement);
    place->placement = copy;
    place->node = node;
    place->pid = member->pid;
    job->places_changed = 1;
    int code = job_latency_place(job->latency, place->rank, node);
    if (code == 0 && job->watch != NULL)
        code = job_watch_place(job->watch, place->rank, node, job->nodes[node]->host);
    return code;
}

static int compare_uncovered(const void *a, const void *b)
{
    return strcmp(((const struct job_uncovered *)a)->name, ((const struct job_uncovered *)b)->name);
}

static void add_uncovered(struct job *job, const struct wire_ranks *m)
{
    for (uint64_t i = 0; i < m->uncovered_count; i++) {
        struct job_uncovered row = {.used = m->uncovered[i].used};
        snprintf(row.name, sizeof(row.name), "%s", m->uncovered[i].name);
        struct job_uncovered *known = job->uncovered == NULL
                                          ? NULL
                                          : bsearch(&row, job->uncovered, job->uncovered_count,
                                                    sizeof(row), compare_uncovered);
        if (known != NULL) {
            job->job_changed |= row.used > known->used;
            known->used |= row.used;
            continue;
        }
        if (job->uncovered_count == MOST_UNCOVERED)
            return;
        struct job_uncovered *grown =
            realloc(job->uncovered, (job->uncovered_count + 1) * sizeof(*grown));
        if (grown == NULL)
            return;
        job->uncovered = grown;
        size_t at = job->uncovered_count++;
        for (; at > 0 && compare_uncovered(&grown[at - 1], &row) > 0; at--)
            grown[at] = grown[at - 1];
        grown[at] = row;
        job->job_changed = 1;
    }
}

static int check_ranks(const struct job *job, const struct wire_ranks *m, struct job_fault *fault)
{
    if (m->world == 0 || m->world > JOB_MOST_RANKS)
        return job_refuse(fault, -HOLTER_ERANGE, "ranks.world is %" PRIu64 ", allowed are 1 to %u",
                          m->world, JOB_MOST_RANKS);
    if (job->world != 0 && m->world != job->world)
        return job_refuse(fault, -HOLTER_ERANGE, "ranks.world is %" PRIu64 ", the job has %" PRIu64,
                          m->world, job->world);
    for (uint64_t i = 0; i < m->members_count; i++) {
        if (m->members[i].rank >= m->world)
            return job_refuse(fault, -HOLTER_ERANGE,
                              "ranks.members[%" PRIu64 "].rank is %" PRIu64 " of %" PRIu64, i,
                              m->members[i].rank, m->world);
    }
    char why[128];
    if (network_grid_check(m, why, sizeof(why)) != 0)
        return job_refuse(fault, -HOLTER_ERANGE, "ranks.%s", why);
    if (job->node_count >= JOB_MOST_NODES)
        return job_refuse(fault, -HOLTER_ELIMIT, "the job has %u nodes already", job->node_count);
    return 0;
}

static void note_job(struct job *job, const struct wire_ranks *m)
{
    copy_text(job->app, sizeof(job->app), m->app, &job->job_changed);
    copy_text(job->mpi, sizeof(job->mpi), m->mpi, &job->job_changed);
    copy_text(job->user, sizeof(job->user), m->user, &job->job_changed);
    copy_text(job->launcher, sizeof(job->launcher), m->launcher, &job->job_changed);
    job->job_changed |= job->world == 0;
    job->world = m->world;
    uint64_t lowest = UINT64_MAX;
    for (uint64_t i = 0; i < m->members_count; i++)
        lowest = m->members[i].rank < lowest ? m->members[i].rank : lowest;
    /* One command line for the job, the same whoever reports first: that of the lowest rank. */
    if (job->command[0] == '\0' || lowest < job->command_rank) {
        copy_text(job->command, sizeof(job->command), m->command, &job->job_changed);
        job->command_rank = lowest;
    }
    add_uncovered(job, m);
}

int job_ranks(struct job *job, uint64_t instance, const struct wire_ranks *message, uint64_t now_ns,
              struct job_fault *fault)
{
    int code = check_ranks(job, message, fault);
    if (code != 0)
        return code;
    uint32_t place = KEY_NONE;
    for (uint64_t i = 0; i < message->members_count && place == KEY_NONE; i++)
        place = key_table_find(&job->place_keys, (struct key){.hi = message->members[i].rank});
    struct job_node *node = job_node_of(job, instance, message->host, place);
    if (node == NULL)
        return job_refuse(fault, -ENOMEM, "no memory for a node");
    struct job_instance *agent = job_instance_of(job, instance);
    note_job(job, message);
    node->cores = message->cores;
    uint32_t seen = job->place_keys.count;
    for (uint64_t i = 0; i < message->members_count; i++) {
        if (set_place(job, agent->node, &message->members[i]) != 0)
            return job_refuse(fault, -ENOMEM, "no memory for the places of ranks");
    }
    if (job_network_carts(job->network, message) != 0)
        return job_refuse(fault, -ENOMEM, "no memory for the process grid");
    job->job_changed |= job->place_keys.count != seen;
    if (node->final && message->members_count > 0 && job->place_keys.count != seen) {
        node->final = 0; /* a further rank has appeared on a node that was done */
        job->active += !node->lost_contact;
    }
    job_node_heard(job, node, now_ns);
    agent->last_seq = message->seq > agent->last_seq ? message->seq : agent->last_seq;
    agent->others += !agent->reported;
    if (job->state == JOB_LOST || (job->state != JOB_RUNNING && job->place_keys.count != seen)) {
        job->state = JOB_RUNNING;
        job->job_changed = 1;
    }
    return 0;
}

/* ---- as time goes by ----------------------------------------------------- */

static int all_final(const struct job *job)
{
    for (uint32_t i = 0; i < job->node_count; i++) {
        if (!job->nodes[i]->final)
            return 0;
    }
    return job->node_count > 0;
}

/* It has ended when the last phases are told: what is looked for beside the loop goes on meanwhile.
 */
static void end(struct job *job, int wait)
{
    if (job_phases_end(job->phases, wait) == 1) /* without memory the last phases stay open */
        return;
    job->state = job->death_count > 0 ? JOB_DIED : JOB_ENDED;
    job->job_changed = 1;
    if (job->watch != NULL)
        job_watch_end(job->watch, job->end_ns);
    job_tell_phases(job);
}

static void check_end(struct job *job, uint64_t heard_ns)
{
    if (job->state != JOB_RUNNING || job->open_count > 0 || job->active > 0)
        return;
    uint64_t silent = heard_ns > job->heard_ns ? heard_ns - job->heard_ns : 0;
    if (all_final(job)) {
        /* Ranks that nobody has reported may still come, but not for ever. */
        uint64_t bound = JOB_WINDOWS_TO_LOSE_NODE * job->options.window_ns + job->options.grace_ns;
        if (job->place_keys.count < job->world && silent < bound)
            return;
        end(job, 0);
    } else if (silent > job->options.lost_ns) {
        job->state = JOB_LOST;
        job->job_changed = 1;
    }
}

static void publish_changes(struct job *job, uint64_t now_ns)
{
    if (job->replaying || (!job->job_changed && !job->places_changed))
        return;
    /* The job tells who has no place in its network. */
    job->job_changed |= job->places_changed && job_network_changed(job->network);
    if (job->job_changed)
        job_publish_job(job, &job->output);
    if (job->places_changed) {
        job_publish_places(job, &job->output);
        job_tell_topology(job);
    }
    job->job_changed = job->places_changed = 0;
    /* Agents of a large job come one by one, and places are told in full: not for each of them. */
    job->changes_due_ns = now_ns + CHANGES_NS + CHANGES_PLACE_NS * job->place_keys.count;
}

void job_advance(struct job *job, uint64_t heard_ns, uint64_t now_ns)
{
    if (now_ns >= job->changes_due_ns)
        publish_changes(job, now_ns);
    job_windows_advance(job, heard_ns, now_ns);
    if (job->state != JOB_RUNNING)
        return;
    job_check_losses(job, now_ns);
    if (!job->replaying) {
        job_check_silence(job, heard_ns, now_ns);
        check_end(job, heard_ns);
    }
    if (job->state != JOB_RUNNING)
        publish_changes(job, now_ns);
}

void job_flush(struct job *job, uint64_t now_ns)
{
    job_windows_flush(job, now_ns);
    job_tell_captures(job, UINT64_MAX);
    if (job->state == JOB_RUNNING && !job->replaying && all_final(job))
        end(job, 1);
    publish_changes(job, now_ns);
}

void job_finish(struct job *job, uint64_t now_ns)
{
    job_windows_flush(job, now_ns);
    job_tell_captures(job, UINT64_MAX);
    if (job->state == JOB_RUNNING || job->state == JOB_LOST)
        end(job, 1);
    publish_changes(job, now_ns);
}

/* ---- small questions ----------------------------------------------------- */

void job_replaying(struct job *job, int on)
{
    job->replaying = on;
    if (!on) {
        job_phases_again(job->phases);
        job_network_told(job->network, 0);
    }
    /* Agents that were silent when the daemon before this one ended are so until they are heard. */
    for (uint32_t i = 0; !on && i < job->node_count; i++) {
        struct job_node *n = job->nodes[i];
        if (n->final || n->lost_contact || !alerts_fires(&job->alerts, "agent-lost", n->host))
            continue;
        n->lost_contact = 1;
        job->active--;
    }
}

void job_told(struct job *job, uint64_t window)
{
    job->told_window = window;
}

void job_restore_alert(struct job *job, const struct wire_alert *alert)
{
    alerts_restore(&job->alerts, alert);
}

void job_set_recording(struct job *job, const char *path)
{
    snprintf(job->recording, sizeof(job->recording), "%s", path);
    job->job_changed = 1;
}

const char *job_id(const struct job *job)
{
    return job->id;
}

struct job_phases *job_phases(struct job *job)
{
    return job->phases;
}

int job_pairs(struct job *job, size_t most, const struct pair_row **rows, size_t *count)
{
    int code = run_sum_result(job->run, SUM_PAIRS, most, &job->result);
    *rows = job->result.pairs;
    *count = code == 0 ? job->result.pair_count : 0;
    return code;
}

uint64_t job_window_ns(const struct job *job)
{
    return job->options.window_ns;
}

struct job_network *job_network(struct job *job)
{
    return job->network;
}

enum job_state job_state(const struct job *job)
{
    return job->state;
}

uint64_t job_next_window(const struct job *job)
{
    return job->next_window;
}

uint64_t job_closings(const struct job *job)
{
    return job->closings;
}

uint64_t job_late(const struct job *job)
{
    return job->late;
}

void job_matches(const struct job *job, struct job_matches *out)
{
    struct join_counts joined;
    job_latency_counts(job->latency, &joined);
    *out = (struct job_matches){joined.matched, joined.unmatched, joined.rejected};
    for (uint32_t i = 0; i < job->node_count; i++) {
        out->matched += job->nodes[i]->row.matched;
        out->unmatched += job->nodes[i]->row.unmatched;
        out->rejected += job->nodes[i]->row.rejected;
    }
}
