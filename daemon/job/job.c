/* One job: its parts are created, advanced in time, and queried here. */
#include "daemon/job/job_accept.h"
#include "daemon/job/job_publish.h"
#include "daemon/job/job_state.h"
#include "daemon/job/phases/picture.h"
#include "daemon/topology/shared_network.h"
#include "holter/error.h"
#include "holter/plain_text.h"
#include "proto/rank_spans.h"
#include "version.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The job and the places of its ranks are published at intervals of at least this length, plus a
 * little for each rank: agents of a large job connect one by one, and places are published in full.
 */
#define CHANGES_NS UINT64_C(100000000)
#define CHANGES_RANK_NS UINT64_C(20000)

/* Of the bytes of a job's state. To be raised when what they mean changes though no structure has
 * another size. */
#define STATE_VERSION HOLTER_VERSION " 17"

#define WINDOWS_OF_SILENCE 3u /* plus the grace: then contact to a node counts as lost */
#define LEAST_SILENCE_NS UINT64_C(2000000000)

/* ---- life ---------------------------------------------------------------- */

int job_id_valid(const char *id)
{
    size_t length = strnlen(id, 65);
    if (length == 0 || length > 64 || id[0] == '.')
        return 0;
    while (text_is_id_byte(*id))
        id++;
    return *id == '\0';
}

/* The hosts of ranks, as many as fit. */
static void job_list_hosts(const struct job *job, const char *ranks, char *out, size_t capacity)
{
    uint64_t first, last;
    uint32_t before = KEY_NONE;
    while (rank_spans_next(&ranks, &first, &last) == 1) {
        for (; first <= last && first < job->info.world; first++) {
            const uint32_t node = job_places_find_node(&job->places, first);
            if (node != KEY_NONE && node != before)
                job_alerts_list_host(job->nodes.list[node]->host, out, capacity);
            before = node;
        }
    }
}

/* The watch for hangs knows no nodes. */
static void job_publish_report(void *user, const struct alert_report *report)
{
    struct job *job = user;
    struct alert_report complete = *report;
    struct alert_evidence evidence = *report->evidence;
    if (strcmp(report->kind, "hang") == 0)
        job_list_hosts(job, evidence.ranks, evidence.nodes, sizeof(evidence.nodes));
    complete.evidence = &evidence;
    job_alerts_publish(&job->alerts, &job->stream, alerts_report(&job->alerts.list, &complete));
}

static struct job_network_options job_network_options(const struct job *job)
{
    return (struct job_network_options){job->info.id, job->options.network, job->options.window_ns};
}

static struct job_growth_options job_growth_options(struct job *job)
{
    return (struct job_growth_options){.rules = job->options.rules,
                                       .network = job->network,
                                       .latency = job->latency,
                                       .window_ns = job->options.window_ns,
                                       .user = job,
                                       .on_report = job_publish_report};
}

static struct job_hang_options job_hang_options(struct job *job)
{
    return (struct job_hang_options){.rules = job->options.rules,
                                     .window_ns = job->options.window_ns,
                                     .user = job,
                                     .on_report = job_publish_report};
}

static int job_create_analyses(struct job *job)
{
    const struct job_options *options = &job->options;
    const struct job_network_options network = job_network_options(job);
    int code = job_sums_init(&job->sums);
    code = code != 0 ? code : job_latency_create(&job->latency, options->window_ns);
    code = code != 0 ? code : waits_create(&job->waits);
    code = code != 0 ? code : job_network_create(&job->network, &network);
    if (code == 0)
        code =
            job_phases_create(&job->phases, options->window_ns, options->modelled, options->beside);
    if (code != 0 || options->rules == NULL)
        return code;
    const struct job_growth_options growth = job_growth_options(job);
    const struct job_hang_options hang = job_hang_options(job);
    code = job_growth_create(&job->growth, &growth);
    return code != 0 ? code : job_hang_create(&job->hang, &hang);
}

/* Without analyses. */
static struct job *job_create_parts(const char *id, const struct job_options *options,
                                    const struct job_output *output)
{
    struct job *job = calloc(1, sizeof(*job));
    if (job == NULL)
        return NULL;
    job->options = *options;
    job_info_init(&job->info, id);
    job->stream = (struct job_stream){.job = job->info.id, .output = *output};
    job->alerts.rules = options->rules;
    job_windows_init(&job->windows, options->window_ns, options->grace_ns);
    rank_history_init(&job->rank_history);
    job_lateness_init(&job->lateness);
    return job;
}

int job_create(struct job **out, const char *id, const struct job_options *options,
               const struct job_output *output)
{
    struct job *job = job_create_parts(id, options, output);
    int code = job == NULL ? -ENOMEM : job_create_analyses(job);
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
    job_windows_finish(&job->windows);
    job_growth_destroy(job->growth);
    job_hang_destroy(job->hang);
    job_phases_destroy(job->phases);
    job_network_destroy(job->network);
    waits_destroy(job->waits);
    job_latency_destroy(job->latency);
    rank_history_finish(&job->rank_history);
    job_lateness_finish(&job->lateness);
    job_sums_finish(&job->sums);
    rank_groups_finish(&job->groups);
    job_totals_finish(&job->totals);
    job_unwatched_finish(&job->unwatched);
    job_alerts_finish(&job->alerts);
    job_captures_finish(&job->captures);
    job_rank_messages_finish(&job->rank_messages);
    job_places_finish(&job->places);
    job_nodes_finish(&job->nodes);
    job_info_finish(&job->info);
    free(job);
}

/* ---- as time goes by ----------------------------------------------------- */

/* How long agents may be silent: where windows are short, at least as long as one may have to wait
 * for a core of a busy node. */
static uint64_t job_silence_bound(const struct job *job)
{
    uint64_t windows_ns = WINDOWS_OF_SILENCE * job->options.window_ns + job->options.grace_ns;
    return windows_ns > LEAST_SILENCE_NS ? windows_ns : LEAST_SILENCE_NS;
}

/* The job has ended when its last phases are published: large ones are analysed by a thread.
 * @param wait  for that thread */
static void job_end(struct job *job, int wait)
{
    if (job_phases_end(job->phases, wait) == 1) /* without memory the last phases stay open */
        return;
    job_alerts_check_deaths(&job->alerts, &job->stream, UINT64_MAX, job->info.end_ns);
    job_alerts_check_unwatched(&job->alerts, &job->stream, &job->places, job->info.world,
                               job->info.end_ns, 1);
    job_info_set_state(&job->info, job->alerts.announced_deaths > 0 ? JOB_DIED : JOB_ENDED);
    if (job->growth != NULL)
        job_growth_end(job->growth, job->info.end_ns);
    job_hang_end(job->hang, job->info.end_ns);
    job_alerts_end_losses(&job->alerts, &job->stream, job->info.end_ns);
    job_publish_phase_changes(&job->stream, job->phases);
}

/* The recording ends, and whether the job did is not known. */
static void job_cut_short(struct job *job)
{
    job_phases_end(job->phases, 1);
    job_alerts_check_deaths(&job->alerts, &job->stream, UINT64_MAX, job->info.end_ns);
    if (job->info.state == JOB_RUNNING)
        job_info_set_state(&job->info, JOB_CUT_SHORT);
    job_publish_phase_changes(&job->stream, job->phases);
}

static void job_check_end(struct job *job, uint64_t watermark_ns)
{
    if (job->info.state != JOB_RUNNING || job->windows.count > 0 || job->nodes.active > 0)
        return;
    if (job->nodes.last_message_ns == 0) /* a job of a fleet, before its first message */
        job->nodes.last_message_ns = watermark_ns;
    uint64_t silent =
        watermark_ns > job->nodes.last_message_ns ? watermark_ns - job->nodes.last_message_ns : 0;
    if (!job_nodes_all_final(&job->nodes)) {
        if (silent > job->options.lost_ns || job_nodes_all_left(&job->nodes))
            job_info_set_state(&job->info, JOB_LOST);
        return;
    }
    /* Ranks that were not reported yet are waited for, for a bounded time. */
    if (job->places.keys.count >= job->info.world || silent >= job_silence_bound(job))
        job_end(job, 0);
}

static void job_publish_changes(struct job *job, uint64_t now_ns)
{
    if (job->stream.silent || (!job->info.changed && !job->places.changed))
        return;
    /* The message on the job lists the hosts that have no place in its network. */
    job->info.changed |= job->places.changed && job_network_has_changed(job->network);
    if (job->info.changed)
        job_publish_info(&job->stream, &job->info, job->places.keys.count, job->options.window_ns,
                         job->network);
    if (job->places.changed) {
        job_publish_places(&job->stream, &job->nodes, &job->places);
        job_publish_topology_changes(&job->stream, job->network);
    }
    job->info.changed = job->places.changed = 0;
    job->changes_due_ns = now_ns + CHANGES_NS + CHANGES_RANK_NS * job->places.keys.count;
}

static int job_raises_alert(const void *user, const struct alert *alert)
{
    const struct job *job = user;
    return strcmp(alert->kind, "hang") == 0 ? job_hang_raises(job->hang, alert)
                                            : job_growth_raises(job->growth, alert);
}

/* When the windows that a daemon before this one has published are closed here too, the alerts that
 * it raised are known to the analyses, or are none by the rules of this daemon. */
static void job_compare_alerts(struct job *job, uint64_t now_ns)
{
    const struct job_windows *windows = &job->windows;
    if (!job->alerts.restored || job->stream.silent || job->growth == NULL ||
        (windows->count > 0 && windows->recorded != UINT64_MAX &&
         windows->next <= windows->recorded))
        return;
    job->alerts.restored = 0;
    job_alerts_end_orphans(&job->alerts, &job->stream, now_ns, job_raises_alert, job);
}

/* Agents connect one after the other: what they have to tell comes when they have reached this
 * daemon, and none is silent, nor a window overdue, before. */
static void job_wait_for_agents(struct job *job, uint64_t watermark_ns, uint64_t now_ns)
{
    job->recovered = 0;
    job_alerts_publish_unrecorded(&job->alerts, &job->stream);
    job->windows.held_ns = watermark_ns + job_silence_bound(job);
    job->alerts.silence_due_ns = now_ns + job_silence_bound(job);
}

void job_advance(struct job *job, uint64_t watermark_ns, uint64_t now_ns)
{
    if (job->recovered)
        job_wait_for_agents(job, watermark_ns, now_ns);
    if (now_ns >= job->changes_due_ns)
        job_publish_changes(job, now_ns);
    job_close_due(job, watermark_ns, now_ns);
    job_compare_alerts(job, now_ns);
    if (job->info.state != JOB_RUNNING)
        return;
    if (!job->stream.silent) {
        job_alerts_check_losses(&job->alerts, &job->stream, now_ns);
        const struct job_silence silence = {job_silence_bound(job), job->options.window_ns,
                                            watermark_ns};
        job_alerts_check_silence(&job->alerts, &job->stream, &job->nodes, &silence, now_ns);
        job_check_end(job, watermark_ns);
    }
    if (job->info.state != JOB_RUNNING)
        job_publish_changes(job, now_ns);
}

static void job_publish_open(struct job *job, uint64_t now_ns)
{
    job_close_all(job, now_ns);
    job_captures_publish_due(&job->captures, &job->stream, UINT64_MAX);
}

void job_flush(struct job *job, uint64_t now_ns)
{
    job_publish_open(job, now_ns);
    if (job->info.state == JOB_RUNNING && !job->stream.silent && job_nodes_all_final(&job->nodes))
        job_end(job, 1);
    job_publish_changes(job, now_ns);
}

void job_finish(struct job *job, uint64_t now_ns)
{
    job_publish_open(job, now_ns);
    if (job->info.state == JOB_RUNNING || job->info.state == JOB_LOST) {
        if (job_nodes_all_final(&job->nodes))
            job_end(job, 1);
        else
            job_cut_short(job);
    }
    job_publish_changes(job, now_ns);
}

int job_expects_agent(const struct job *job, uint64_t instance)
{
    return job_nodes_expect_agent(&job->nodes, instance) != NULL;
}

void job_release_agent(struct job *job, uint64_t instance, uint64_t missing)
{
    const struct job_losses losses = {.windows =
                                          job_nodes_release_agent(&job->nodes, instance, missing)};
    job_alerts_add_losses(&job->alerts, losses);
}

void job_add_lost(struct job *job, uint64_t windows)
{
    job_nodes_add_lost(&job->nodes, windows);
    job_alerts_add_losses(&job->alerts, (struct job_losses){.windows = windows});
}

uint64_t job_count_reported(const struct job *job, uint64_t window)
{
    const struct wire_totals *totals = job_totals_find(&job->totals, window);
    return totals == NULL ? 0 : totals->agents;
}

/* ---- recordings ---------------------------------------------------------- */

/* Agents that were silent when the daemon before this one ended count as silent until a message of
 * them comes. */
static void job_restore_silence(struct job *job)
{
    for (uint32_t i = 0; i < job->nodes.count; i++) {
        struct job_node *node = job->nodes.list[i];
        if (!node->final && !node->lost_contact &&
            alerts_find_firing(&job->alerts.list, "agent-lost", node->host) != NULL)
            job_nodes_mark_lost(&job->nodes, node);
    }
}

/* While messages are read again no agent counts as silent, so that none comes back: the alerts
 * about those that reported after they had been raised end now. */
static void job_end_silence(struct job *job)
{
    for (uint32_t i = 0; i < job->nodes.count; i++) {
        const struct job_node *node = job->nodes.list[i];
        const struct alert *alert = alerts_find_firing(&job->alerts.list, "agent-lost", node->host);
        if (alert != NULL && !node->lost_contact &&
            node->last_message_ns + job_silence_bound(job) >= alert->fired_ns)
            job_alerts_resolve_silence(&job->alerts, &job->stream, node->host,
                                       node->last_message_ns);
    }
}

void job_set_recovering(struct job *job, int on)
{
    job->stream.silent = on;
    if (on)
        return;
    job_phases_mark_published(job->phases, job->recorded_phase);
    job_network_set_published(job->network, 0);
    job_alerts_mark_losses(&job->alerts);
    job->alerts.restored = job->recovered = 1;
    job_restore_silence(job);
}

void job_end_resuming(struct job *job)
{
    job->alerts.restored = 1;
    job_end_silence(job);
    job_restore_silence(job);
}

void job_mark_published(struct job *job, uint64_t window)
{
    job->windows.recorded = window;
}

void job_mark_phases_published(struct job *job, uint64_t phase)
{
    job->recorded_phase = phase;
}

void job_set_matches(struct job *job, const struct recorded_matches *matches)
{
    job->totals.recorded = *matches;
}

void job_restore_alert(struct job *job, const struct wire_alert *alert)
{
    alerts_restore(&job->alerts.list, alert);
    job->alerts.recorded = job->alerts.list.count;
}

int job_find_alert(const struct job *job, uint64_t id, struct wire_alert *out)
{
    const struct alerts *alerts = &job->alerts.list;
    return id >= 1 && id <= alerts->count &&
           job_alerts_message(&job->alerts, job->info.id, alerts->list[id - 1], out);
}

void job_set_recording(struct job *job, const char *path)
{
    job_info_set_recording(&job->info, path);
}

void job_recording_stopped(struct job *job, const char *why, uint64_t now_ns)
{
    char title[129];
    if (!job_alerts_have_rule(&job->alerts, "recording-stopped"))
        return;
    snprintf(title, sizeof(title), "recording has stopped: %.90s", why);
    job_alerts_publish(
        &job->alerts, &job->stream,
        alerts_raise(&job->alerts.list, "recording-stopped", NULL, -1, now_ns, title, why));
}

void job_keep_rank_message(struct job *job, const struct recorded *head, const void *bytes,
                           size_t length)
{
    job_rank_messages_add(&job->rank_messages, job->info.id, head, bytes, length);
}

int job_rank_message(const struct job *job, size_t number, struct recorded *head,
                     const void **bytes, size_t *length)
{
    if (number >= job->rank_messages.count)
        return 0;
    const struct job_rank_message *message = &job->rank_messages.list[number];
    *head = message->head;
    head->time_ns = head->received_ns = job->nodes.last_message_ns;
    *bytes = message->bytes;
    *length = message->length;
    return 1;
}

void job_publish_message(const struct job *job, const struct recorded *head, const void *bytes,
                         size_t length)
{
    if (job_stream_wants(&job->stream, WIRE_TYPE_RECORDED))
        job_publish_recorded(&job->stream, head, bytes, length);
}

/* ---- figures ------------------------------------------------------------- */

const char *job_id(const struct job *job)
{
    return job->info.id;
}

const char *job_recording(const struct job *job)
{
    return job->info.recording;
}

const char *job_user(const struct job *job)
{
    return job->info.user;
}

const char *job_host(const struct job *job, uint64_t instance)
{
    uint32_t node = job_nodes_find_node(&job->nodes, instance);
    return node == KEY_NONE ? "?" : job->nodes.list[node]->host;
}

int job_is_followed_by(const struct job *job, uint64_t instance, const struct wire_ranks *ranks,
                       uint64_t received_ns)
{
    const struct job_nodes *nodes = &job->nodes;
    const int is_over =
        job->info.state != JOB_RUNNING ||
        (received_ns != 0 && (job_nodes_all_left(nodes) ||
                              received_ns > nodes->last_message_ns + job->options.lost_ns));
    if (!is_over || job_has_accepted(job, instance, ranks->seq))
        return 0;
    for (uint64_t i = 0; i < ranks->members_count; i++) {
        const struct job_place *place = job_places_find(&job->places, ranks->members[i].rank);
        if (place != NULL && place->pid != ranks->members[i].pid)
            return 1;
    }
    return 0;
}

enum job_state job_state(const struct job *job)
{
    return job->info.state;
}

static uint64_t job_start_ns(const struct job *job)
{
    return job->info.start_ns == UINT64_MAX ? 0 : job->info.start_ns;
}

uint64_t job_window_ns(const struct job *job)
{
    return job->options.window_ns;
}

uint64_t job_next_window(const struct job *job)
{
    return job->windows.next;
}

uint64_t job_count_closed(const struct job *job)
{
    return job->windows.closed;
}

uint64_t job_late_messages(const struct job *job)
{
    return job->windows.late;
}

void job_matches(const struct job *job, struct job_matches *out)
{
    struct join_counts joined;
    job_latency_counts(job->latency, &joined);
    *out = (struct job_matches){joined.matched, joined.unmatched, joined.rejected};
    for (uint32_t i = 0; i < job->nodes.count; i++) {
        const struct job_node *node = job->nodes.list[i];
        out->matched += node->matched;
        out->unmatched += node->unmatched;
        out->rejected += node->rejected;
    }
}

struct job_phases *job_phases(struct job *job)
{
    return job->phases;
}

void job_picture_source(struct job *job, struct picture_source *out)
{
    *out = (struct picture_source){job->info.id, job->info.world, job->phases, job->group_shift};
}

struct job_network *job_network(struct job *job)
{
    return job->network;
}

static int job_list_pairs_of(struct sum_result *result, struct run_sum *run, size_t maximum,
                             const struct wire_pair_row **rows, size_t *count)
{
    int code = run_sum_result(run, SUM_PAIRS, maximum, result);
    *rows = result->pairs;
    *count = code == 0 ? result->pair_count : 0;
    return code;
}

int job_list_pairs(struct job *job, size_t maximum, const struct wire_pair_row **rows,
                   size_t *count)
{
    return job_list_pairs_of(&job->sums.result, job->sums.run, maximum, rows, count);
}

int job_list_node_pairs(struct job *job, size_t maximum, const struct wire_pair_row **rows,
                        size_t *count)
{
    return job_list_pairs_of(&job->sums.result, job->sums.nodes, maximum, rows, count);
}

void job_describe(const struct job *job, struct wire_job_row *out)
{
    const struct job_info *info = &job->info;
    *out = (struct wire_job_row){
        .job = info->id,
        .app = info->app,
        .ranks = info->world,
        .nodes = job->nodes.count,
        .start_ns = job_start_ns(job),
        .end_ns = info->state == JOB_RUNNING ? 0 : info->end_ns,
        .state = job_state_name(info->state),
        .session = info->session,
    };
}

/* ---- state --------------------------------------------------------------- */

/* What has to be the same where the state is read. */
struct job_state_head {
    char version[32];
    uint64_t window_ns, has_rules, modelled;
    uint64_t network; /* its fingerprint: loads are by number of the link */
};

static void job_copy_state(struct state_bytes *b, struct job *job)
{
    const struct job_network_options network = job_network_options(job);
    const struct job_state_head head = {
        STATE_VERSION, job->options.window_ns, job->options.rules != NULL,
        job->options.modelled != 0,
        job->options.network == NULL ? 0 : job->options.network->fingerprint};
    struct job_state_head copy = head;
    STATE_VALUE(b, copy);
    if (b->code == 0 && memcmp(&copy, &head, sizeof(copy)) != 0)
        b->code = -HOLTER_EVERSION;
    job_info_copy_state(b, &job->info);
    job_nodes_copy_state(b, &job->nodes);
    job_places_copy_state(b, &job->places);
    job_rank_messages_copy_state(b, &job->rank_messages);
    job_captures_copy_state(b, &job->captures);
    job_alerts_copy_state(b, &job->alerts);
    STATE_VALUE(b, job->group_shift);
    STATE_VALUE(b, job->changes_due_ns);
    job_unwatched_copy_state(b, &job->unwatched);
    job_totals_copy_state(b, &job->totals);
    job_sums_copy_state(b, &job->sums);
    job_windows_copy_state(b, &job->windows, job->sums.run);
    rank_history_copy_state(b, &job->rank_history);
    job_latency_copy_state(b, &job->latency);
    waits_copy_state(b, &job->waits);
    job_lateness_copy_state(b, &job->lateness);
    job_network_copy_state(b, &job->network, &network);
    job_phases_copy_state(b, &job->phases, job->options.beside);
    const struct job_growth_options growth = job_growth_options(job);
    const struct job_hang_options hang = job_hang_options(job);
    if (job->options.rules == NULL)
        return;
    job_growth_copy_state(b, &job->growth, &growth);
    job_hang_copy_state(b, &job->hang, &hang);
}

int job_save(struct job *job, struct state_bytes *out)
{
    if (!job_network_is_settled(job->network) || !job_phases_are_settled(job->phases))
        return -HOLTER_EEMPTY;
    out->reads = out->code = 0;
    out->length = 0;
    job_copy_state(out, job);
    return out->code;
}

/* Parts of a job that its code relies on. */
static int job_is_complete(const struct job *job)
{
    return job->sums.run != NULL && job->latency != NULL && job->waits != NULL &&
           job->network != NULL && job->phases != NULL &&
           (job->growth != NULL) == (job->options.rules != NULL);
}

int job_restore(struct job **out, const char *id, const struct job_options *options,
                const struct job_output *output, const void *bytes, size_t length)
{
    struct state_bytes b = {.reads = 1, .bytes = (uint8_t *)(uintptr_t)bytes, .length = length};
    struct job *job = job_create_parts(id, options, output);
    if (job == NULL)
        return -ENOMEM;
    job_copy_state(&b, job);
    if (b.code == 0 && (b.at != length || !job_is_complete(job) || strcmp(job->info.id, id) != 0))
        b.code = -HOLTER_EMALFORMED;
    if (b.code != 0) {
        job_destroy(job);
        return b.code;
    }
    /* The recording of the daemon that wrote the state lies where that one ran. */
    if (job->info.recording[0] != '\0')
        job_set_recording(job, "");
    *out = job;
    return 0;
}
