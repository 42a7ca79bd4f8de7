/* All jobs of the daemon: finds or adds the job of a message, has it accepted, recorded and
 * acknowledged, and passes on what jobs publish. */
#include "daemon/job/jobs.h"

#include "daemon/analysis/clocks/daemon_clock.h"
#include "daemon/job/job_accept.h"
#include "daemon/storage/commit_acks.h"
#include "daemon/storage/recording_network.h"
#include "holter/clock.h"
#include "holter/error.h"
#include "holter/plain_text.h"
#include "proto/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_TOPIC "jobs"
#define MAXIMUM_ENDED_JOBS 64u /* ended jobs that viewers can still ask for */

struct entry {
    struct job *job;
    uint64_t number;       /* see jobs_number() */
    enum job_state state;  /* at the last check */
    int replayed;          /* its time is that of its messages */
    int streamed;          /* its messages come from a fleet's stream */
    int resuming;          /* those that a daemon before this one had are read again */
    uint64_t watermark_ns; /* of a streamed job; UINT64_MAX: that of the daemon */
    uint64_t advancing_ns; /* of a streamed job: see jobs_collect_advancing_ns() */
};

struct jobs {
    struct jobs_options options;
    struct recorder *recorder;       /* NULL: nothing is recorded */
    int replays;                     /* a job is replayed */
    int muted;                       /* a job is resumed: nobody is notified again */
    struct entry list[JOBS_MAXIMUM]; /* by age */
    size_t count;
    uint64_t added; /* jobs, since the start */
    struct jobs_counts counts;
    uint64_t now_ns;         /* of the newest call */
    struct commit_acks kept; /* the highest number of each agent that is recorded */
    char recorder_error[256];
    int *stopped; /* see jobs_options and jobs_replay_record(); may be NULL */
};

/* ---- what is recorded ---------------------------------------------------- */

uint64_t jobs_last_recorded(const struct jobs *jobs, uint64_t instance)
{
    return commit_acks_find(&jobs->kept, instance);
}

static void jobs_on_recorded(void *user, uint64_t instance, uint64_t seq)
{
    struct jobs *jobs = user;
    commit_acks_keep(&jobs->kept, instance, seq);
    jobs->options.kept(jobs->options.user, instance, seq);
}

static void jobs_on_recording_stopped(void *user, const char *id, const char *why)
{
    struct jobs *jobs = user;
    struct job *job = jobs_find(jobs, id);
    snprintf(jobs->recorder_error, sizeof(jobs->recorder_error), "%.64s: %.180s", id, why);
    if (job != NULL)
        job_recording_stopped(job, why, jobs->now_ns);
    if (jobs->stopped != NULL)
        *jobs->stopped = 1;
}

static void jobs_on_recording_moved(void *user, const char *id, const char *path)
{
    struct jobs *jobs = user;
    struct job *job = jobs_find(jobs, id);
    /* What a replay publishes does not depend on how fast its recording is written. */
    if (job != NULL && !jobs->replays)
        job_set_recording(job, path);
}

/* ---- what jobs publish --------------------------------------------------- */

static int jobs_type_is_recorded(enum wire_type type)
{
    return type == WIRE_TYPE_JOB || type == WIRE_TYPE_PLACES || type == WIRE_TYPE_TOTALS ||
           type == WIRE_TYPE_ALERT || type == WIRE_TYPE_LATENCIES || type == WIRE_TYPE_REGIONS ||
           type == WIRE_TYPE_LATENESS || type == WIRE_TYPE_PHASES || type == WIRE_TYPE_CURVE ||
           type == WIRE_TYPE_TOPOLOGY || type == WIRE_TYPE_LINKS || type == WIRE_TYPE_CAPTURE;
}

static int jobs_want(void *user, const char *job, enum wire_type type)
{
    const struct jobs *jobs = user;
    int kept =
        type == WIRE_TYPE_ALERT ||
        ((jobs->recorder != NULL || jobs->options.table != NULL) && jobs_type_is_recorded(type));
    const struct jobs_publisher *publisher = &jobs->options.publisher;
    return kept || publisher->wants(publisher->user, job, type);
}

static void jobs_put_table(struct jobs *jobs, const char *job, enum wire_type type,
                           const void *message)
{
    if (jobs->recorder != NULL)
        recorder_queue_result(jobs->recorder, job, type, message);
    if (jobs->options.table != NULL)
        jobs->options.table(jobs->options.user, type, message);
}

/* Tables keep a few of the links only. */
static void jobs_put_links(struct jobs *jobs, const char *job, const struct wire_links *message)
{
    struct wire_links kept;
    struct wire_link_row *rows;
    if (network_tables_select_links(message, &kept, &rows) == 0)
        jobs_put_table(jobs, job, WIRE_TYPE_LINKS, &kept);
    free(rows);
}

static void jobs_put_tables(struct jobs *jobs, const char *job, enum wire_type type,
                            const void *message)
{
    if (jobs->recorder == NULL && jobs->options.table == NULL)
        return;
    if (type == WIRE_TYPE_LINKS)
        jobs_put_links(jobs, job, message);
    else if (jobs_type_is_recorded(type))
        jobs_put_table(jobs, job, type, message);
}

static void jobs_queue_alert(struct jobs *jobs, const char *id, const struct wire_alert *alert)
{
    struct alert_labels labels;
    const struct job *job = jobs_find(jobs, id);
    if (jobs->options.sinks == NULL || job == NULL || jobs->muted)
        return;
    job_labels(job, alert, &labels);
    sinks_queue(jobs->options.sinks, alert, &labels);
}

static void jobs_publish(void *user, const char *job, enum wire_type type, const void *message)
{
    struct jobs *jobs = user;
    const struct jobs_publisher *publisher = &jobs->options.publisher;
    publisher->publish(publisher->user, job, type, message);
    if (type == WIRE_TYPE_ALERT)
        jobs_queue_alert(jobs, job, message);
    if (jobs->options.alert != NULL && type == WIRE_TYPE_ALERT && !jobs->muted)
        jobs->options.alert(jobs->options.user, message);
    jobs_put_tables(jobs, job, type, message);
}

static void jobs_send_criteria(void *user, const uint64_t *instances, size_t count,
                               const struct wire_criteria *message)
{
    const struct jobs *jobs = user;
    if (jobs->options.notify_agents != NULL && !jobs->muted)
        jobs->options.notify_agents(jobs->options.user, instances, count, message);
}

/* ---- finding ----------------------------------------------------------- */

struct job *jobs_at(const struct jobs *jobs, size_t index)
{
    return index < jobs->count ? jobs->list[index].job : NULL;
}

static const struct entry *jobs_find_entry(const struct jobs *jobs, const char *id)
{
    for (size_t i = jobs->count; i-- > 0;) {
        if (strcmp(job_id(jobs->list[i].job), id) == 0)
            return &jobs->list[i];
    }
    return NULL;
}

static struct job *jobs_find_id(const struct jobs *jobs, const char *id)
{
    const struct entry *entry = jobs_find_entry(jobs, id);
    return entry == NULL ? NULL : entry->job;
}

struct job *jobs_find_newest(const struct jobs *jobs, const char *user)
{
    struct job *newest = NULL;
    for (size_t i = jobs->count; i-- > 0;) {
        struct job *job = jobs->list[i].job;
        if (user[0] != '\0' && strcmp(job_user(job), user) != 0)
            continue;
        if (job_state(job) == JOB_RUNNING)
            return job;
        newest = newest == NULL ? job : newest;
    }
    return newest;
}

struct job *jobs_find(const struct jobs *jobs, const char *id)
{
    return id != NULL && id[0] != '\0' ? jobs_find_id(jobs, id) : jobs_find_newest(jobs, "");
}

static void jobs_add_counts(struct jobs_counts *counts, const struct job *job)
{
    struct job_matches matches;
    job_matches(job, &matches);
    counts->late += job_late_messages(job);
    counts->windows += job_count_closed(job);
    counts->matches.matched += matches.matched;
    counts->matches.unmatched += matches.unmatched;
    counts->matches.rejected += matches.rejected;
}

uint64_t jobs_number(const struct jobs *jobs, const char *id)
{
    const struct entry *entry = jobs_find_entry(jobs, id);
    return entry == NULL ? 0 : entry->number;
}

static void jobs_drop(struct jobs *jobs, size_t at)
{
    const struct jobs_publisher *publisher = &jobs->options.publisher;
    jobs_add_counts(&jobs->counts, jobs->list[at].job); /* counts of the daemon never fall */
    publisher->forget(publisher->user, job_id(jobs->list[at].job));
    sinks_forget(jobs->options.sinks, job_id(jobs->list[at].job));
    job_destroy(jobs->list[at].job);
    memmove(&jobs->list[at], &jobs->list[at + 1], (jobs->count - at - 1) * sizeof(jobs->list[0]));
    jobs->count--;
}

/* A long job that has just ended is older than those that came and went meanwhile: dropped is the
 * one that ended first. */
static void jobs_drop_ended(struct jobs *jobs)
{
    size_t ended = 0, first = 0;
    uint64_t first_ns = UINT64_MAX;
    for (size_t i = jobs->count; i-- > 0;) {
        struct wire_job_row row;
        if (job_state(jobs->list[i].job) == JOB_RUNNING)
            continue;
        job_describe(jobs->list[i].job, &row);
        ended++;
        if (row.end_ns > first_ns)
            continue;
        first = i;
        first_ns = row.end_ns;
    }
    if (ended > MAXIMUM_ENDED_JOBS || (ended > 0 && jobs->count == JOBS_MAXIMUM))
        jobs_drop(jobs, first);
}

/* ---- adding -------------------------------------------------------------- */

/* @return NULL: the recording can be continued */
static const char *jobs_why_not_continued(const struct jobs *jobs, const char *path)
{
    const uint64_t window_ns = jobs->options.job.window_ns;
    uint64_t newest = 0;
    if (recording_has_other_windows(path, window_ns))
        return "its windows have another length now";
    if (recording_find_last_window(path, &newest) == 0 &&
        newest * window_ns > jobs->now_ns + DAEMON_CLOCK_AHEAD_NS)
        return "the clock was set back";
    return NULL;
}

/* @param message  its first one
 * @param follows  it follows another job of its id, whose recording is not continued */
static void jobs_record(struct jobs *jobs, struct job *job, uint64_t instance,
                        const struct wire_message *message, int follows)
{
    char path[512];
    int exists = 0;
    int code = follows ? recording_choose_new(jobs->options.record, job_id(job), path, sizeof(path))
                       : recording_choose_path(jobs->options.record, job_id(job), instance, path,
                                               sizeof(path), &exists);
    if (code == 0 && exists && message->type == WIRE_TYPE_RANKS &&
        recording_has_other_processes(path, instance, &message->ranks)) {
        exists = 0;
        code = recording_choose_new(jobs->options.record, job_id(job), path, sizeof(path));
    }
    const char *why = code == 0 && exists ? jobs_why_not_continued(jobs, path) : NULL;
    if (why != NULL) {
        log_warn("job %s: %s: %s is not continued", job_id(job), why, path);
        exists = 0;
        code = recording_choose_new(jobs->options.record, job_id(job), path, sizeof(path));
    }
    if (code != 0) {
        job_recording_stopped(job, "the path is too long", jobs->now_ns);
        return;
    }
    job_set_recording(job, path);
    if (exists)
        job_recover(job, jobs->options.sinks, path);
    recorder_open(jobs->recorder, job_id(job), path);
}

/* @param state  of the job, NULL: it is a new one */
static int jobs_add(struct jobs *jobs, const char *id, const struct jobs_state *state,
                    struct job **out, struct job_fault *fault)
{
    if (!job_id_valid(id)) {
        snprintf(fault->text, sizeof(fault->text),
                 "job id '%.64s' has other characters than letters, digits, - _ .", id);
        return -HOLTER_ERANGE;
    }
    jobs_drop_ended(jobs);
    if (jobs->count == JOBS_MAXIMUM) {
        snprintf(fault->text, sizeof(fault->text), "%u jobs are running already", JOBS_MAXIMUM);
        return -HOLTER_ELIMIT;
    }
    struct job_output output = {jobs, jobs_want, jobs_publish, jobs_send_criteria};
    int code = state == NULL
                   ? job_create(out, id, &jobs->options.job, &output)
                   : job_restore(out, id, &jobs->options.job, &output, state->bytes, state->length);
    if (code != 0)
        return code;
    jobs->list[jobs->count++] = (struct entry){
        .job = *out, .number = ++jobs->added, .state = JOB_RUNNING, .watermark_ns = UINT64_MAX};
    log_info("job %s begins", id);
    return 0;
}

/* Is the recording of a job named as a further part of another job's, which would go on in it, and
 * remove it in the end? */
static int jobs_is_named_as_part(const char *id)
{
    const char *dot = strrchr(id, '.');
    return dot != NULL && text_begins(dot, ".part") && dot[5] != '\0' &&
           dot[5 + strspn(dot + 5, "0123456789")] == '\0';
}

int jobs_check_id(const char *id, struct job_fault *fault)
{
    if (job_id_valid(id) && !jobs_is_named_as_part(id))
        return 0;
    snprintf(fault->text, sizeof(fault->text), "job id '%.64s' %s", id,
             job_id_valid(id) ? "ends as the name of a part of a recording"
                              : "has other characters than letters, digits, - _ .");
    return -HOLTER_ERANGE;
}

static int jobs_find_or_add(struct jobs *jobs, const struct wire_message *message,
                            uint64_t instance, struct job **out, struct job_fault *fault)
{
    const char *id = job_message_job(message);
    const struct entry *entry = jobs_find_entry(jobs, id);
    *out = entry == NULL ? NULL : entry->job;
    if (entry != NULL && (entry->streamed || message->type != WIRE_TYPE_RANKS ||
                          !job_is_followed_by(entry->job, instance, &message->ranks, 0)))
        return 0;
    const int follows = entry != NULL;
    if (follows)
        jobs_drop(jobs, (size_t)(entry - jobs->list));
    int code = jobs_check_id(id, fault);
    if (code == 0)
        code = jobs_add(jobs, id, NULL, out, fault);
    if (code == 0 && jobs->recorder != NULL)
        jobs_record(jobs, *out, instance, message, follows);
    return code;
}

/* ---- accepting ----------------------------------------------------------- */

static void jobs_record_message(struct jobs *jobs, struct job *job, const struct recorded *head,
                                zmq_msg_t *bytes)
{
    if (jobs->recorder == NULL)
        jobs_on_recorded(jobs, head->instance, head->seq);
    else if (bytes == NULL)
        recorder_queue_acknowledgement(jobs->recorder, head->instance, head->seq);
    else
        recorder_queue_message(jobs->recorder, job_id(job), head, bytes);
}

/* Is the message from an agent of the user who owns the job? Who received it has compared the user
 * whom a report on ranks names with the agent's key. Other messages name none, and follow such a
 * report; a single daemon has refused those of other users. */
static int jobs_admit(const struct jobs *jobs, const struct job *job, uint64_t instance,
                      const struct wire_message *message, struct job_fault *fault)
{
    const char *owner = jobs->options.users ? job_user(job) : "";
    if (owner[0] == '\0')
        return 0;
    if (message->type != WIRE_TYPE_RANKS) {
        if (!jobs_find_entry(jobs, job_id(job))->streamed || job_has_ranks_of(job, instance))
            return 0;
    } else {
        const char *named = message->ranks.user == NULL ? "" : message->ranks.user;
        if (named[0] == '\0' || strcmp(owner, named) == 0)
            return 0;
    }
    snprintf(fault->text, sizeof(fault->text), "the job is another user's than the agent's");
    return -HOLTER_EDENIED;
}

int jobs_ingest(struct jobs *jobs, uint64_t instance, const struct wire_message *message,
                zmq_msg_t *bytes, uint64_t now_ns, struct job_fault *fault)
{
    int is_window = message->type == WIRE_TYPE_WINDOW;
    struct recorded head = {
        .type = message->type, .instance = instance, .received_ns = now_ns, .time_ns = now_ns};
    uint64_t capture = 0;
    head.seq = job_message_seq(message);
    jobs->now_ns = now_ns;
    snprintf(fault->text, sizeof(fault->text), "no memory");
    struct job *job;
    int code = jobs_find_or_add(jobs, message, instance, &job, fault);
    code = code != 0 ? code : jobs_admit(jobs, job, instance, message, fault);
    if (code != 0)
        return code;
    if (job_has_accepted(job, instance, head.seq)) {
        jobs->counts.duplicates++;
        jobs_record_message(jobs, job, &head, NULL);
        return 0;
    }
    code = job_accept(job, &head, message, &capture, fault);
    if (code != 0)
        return code;
    if (message->type == WIRE_TYPE_CAPTURED && jobs->options.captured != NULL && !jobs->muted)
        jobs->options.captured(jobs->options.user, instance, &message->captured, capture);
    if (is_window) {
        jobs->counts.messages++;
        jobs->counts.bytes += zmq_msg_size(bytes);
        head.window = message->window.window;
        head.time_ns = message->window.window * message->window.length_ns;
    } else if (message->type == WIRE_TYPE_RANKS) {
        job_keep_rank_message(job, &head, zmq_msg_data(bytes), zmq_msg_size(bytes));
    }
    job_publish_message(job, &head, zmq_msg_data(bytes), zmq_msg_size(bytes));
    jobs_record_message(jobs, job, &head, bytes);
    return 0;
}

uint64_t jobs_share_missing(uint64_t missing, uint64_t count, uint64_t number)
{
    const uint64_t share = missing / count + (number >= count - missing % count);
    return share == 0 && missing > 0 ? 1 : share;
}

void jobs_release_agent(struct jobs *jobs, uint64_t instance, uint64_t seq)
{
    uint64_t last = 0, expecting = 0, number = 0;
    for (size_t i = 0; i < jobs->count; i++) {
        const uint64_t of_job = job_last_accepted(jobs->list[i].job, instance);
        last = of_job > last ? of_job : last;
        expecting += (uint64_t)job_expects_agent(jobs->list[i].job, instance);
    }
    const uint64_t missing = seq > last ? seq - last : 0;
    for (size_t i = 0; i < jobs->count; i++)
        if (job_expects_agent(jobs->list[i].job, instance))
            job_release_agent(jobs->list[i].job, instance,
                              jobs_share_missing(missing, expecting, number++));
}

void jobs_release_agent_of(struct jobs *jobs, const char *id, uint64_t instance, uint64_t seq)
{
    struct job *job = jobs_find_id(jobs, id);
    const uint64_t last = job == NULL ? 0 : job_last_accepted(job, instance);
    if (job != NULL)
        job_release_agent(job, instance, seq > last ? seq - last : 0);
}

void jobs_advance(struct jobs *jobs, uint64_t watermark_ns, uint64_t now_ns)
{
    jobs->now_ns = now_ns;
    for (size_t i = 0; i < jobs->count; i++) {
        struct entry *entry = &jobs->list[i];
        if (entry->replayed || entry->resuming)
            continue;
        const uint64_t begun = entry->streamed ? clock_mono_ns() : 0;
        job_advance(entry->job,
                    watermark_ns < entry->watermark_ns ? watermark_ns : entry->watermark_ns,
                    now_ns);
        entry->advancing_ns += entry->streamed ? clock_mono_ns() - begun : 0;
        enum job_state state = job_state(entry->job);
        if (state == entry->state)
            continue;
        struct wire_job_row row;
        job_describe(entry->job, &row);
        log_info("job %s: %s", row.job, row.state);
        if (state != JOB_RUNNING && jobs->recorder != NULL)
            recorder_close(jobs->recorder, row.job);
        entry->state = state;
    }
}

/* ---- the recorder ---------------------------------------------------------- */

static int jobs_start_recorder(struct jobs *jobs, uv_loop_t *loop, const char *directory, char *why,
                               size_t capacity)
{
    struct recorder_events events = {jobs, jobs_on_recorded, jobs_on_recording_stopped,
                                     jobs_on_recording_moved};
    struct recorder_options recording = {.most_bytes = jobs->options.most_bytes};
    int code = recording_make_directory(directory);
    if (code == 0)
        code = recorder_create(&jobs->recorder, loop, &recording, &events);
    if (code != 0)
        snprintf(why, capacity, "cannot record in %s: %s", directory, holter_strerror(code));
    return code;
}

/* ---- replay ------------------------------------------------------------------ */

int jobs_replay_begin(struct jobs *jobs, const char *id, const char *path, struct job_fault *fault)
{
    struct job *job;
    int code = jobs_add(jobs, id, NULL, &job, fault);
    if (code != 0)
        return code;
    jobs->list[jobs->count - 1].replayed = 1;
    jobs->replays = 1;
    job_set_recording(job, path);
    return 0;
}

static struct entry *jobs_find_replayed(struct jobs *jobs)
{
    size_t at = 0;
    while (at + 1 < jobs->count && !jobs->list[at].replayed)
        at++;
    return &jobs->list[at];
}

struct job *jobs_replayed(struct jobs *jobs)
{
    return jobs_find_replayed(jobs)->job;
}

int jobs_replay_record(struct jobs *jobs, uv_loop_t *loop, const char *directory, int *stopped,
                       char *why, size_t capacity)
{
    char path[512];
    const char *id = job_id(jobs_replayed(jobs));
    int code = jobs_start_recorder(jobs, loop, directory, why, capacity);
    if (code == 0 && (code = recording_choose_new(directory, id, path, sizeof(path))) != 0)
        snprintf(why, capacity, "cannot record in %s: %s", directory, holter_strerror(code));
    if (code != 0)
        return code;
    jobs->options.record = directory;
    jobs->stopped = stopped;
    recorder_open(jobs->recorder, id, path);
    log_info("recording the replay in %s", path);
    return 0;
}

static void jobs_record_copy(struct jobs *jobs, const struct job *job, const struct recorded *head,
                             const void *bytes, size_t length)
{
    zmq_msg_t copy;
    if (jobs->recorder == NULL)
        return;
    if (zmq_msg_init_size(&copy, length) != 0) {
        recorder_mark_lost(jobs->recorder, job_id(job));
        return;
    }
    memcpy(zmq_msg_data(&copy), bytes, length);
    recorder_queue_message(jobs->recorder, job_id(job), head, &copy);
    zmq_msg_close(&copy);
}

int jobs_replay_is_recorded(const struct jobs *jobs)
{
    return jobs->recorder != NULL;
}

int jobs_replay_ingest(struct jobs *jobs, const struct recorded *head,
                       const struct wire_message *message, const void *bytes, size_t length,
                       struct job_fault *fault)
{
    struct job *job = jobs_replayed(jobs);
    uint64_t now = head->received_ns;
    int is_window = message->type == WIRE_TYPE_WINDOW;
    uint64_t seq = job_message_seq(message), capture;
    if (jobs->now_ns != 0)          /* before the first message no agent counts as silent */
        job_advance(job, now, now); /* windows that were due before this message */
    jobs->now_ns = now;
    if (seq != 0 && job_has_accepted(job, head->instance, seq)) {
        jobs->counts.duplicates++;
        return 0;
    }
    int code = job_accept(job, head, message, &capture, fault);
    if (code == 0)
        jobs_record_copy(jobs, job, head, bytes, length);
    job_advance(job, now, now);
    jobs->counts.messages += (uint64_t)(is_window && code == 0);
    jobs->counts.bytes += is_window && code == 0 ? length : 0;
    return code;
}

void jobs_replay_end(struct jobs *jobs, uint64_t now_ns)
{
    struct entry *entry = jobs_find_replayed(jobs);
    job_finish(entry->job, now_ns);
    entry->state = job_state(entry->job);
    if (jobs->recorder != NULL)
        recorder_close(jobs->recorder, job_id(entry->job));
}

size_t jobs_replay_backlog(const struct jobs *jobs)
{
    return jobs->recorder == NULL ? 0 : recorder_queued_bytes(jobs->recorder);
}

/* ---- jobs of a fleet ---------------------------------------------------------- */

static struct entry *jobs_find_streamed(struct jobs *jobs, const char *id)
{
    for (size_t i = 0; i < jobs->count; i++) {
        if (jobs->list[i].streamed && strcmp(job_id(jobs->list[i].job), id) == 0)
            return &jobs->list[i];
    }
    return NULL;
}

/* All messages come again, so that the recording is a new one. One that begins with the state of
 * the job has the messages about its ranks from before, as every part of a recording does. */
static void jobs_record_streamed(struct jobs *jobs, struct job *job)
{
    char path[512];
    int code = recording_choose_new(jobs->options.record, job_id(job), path, sizeof(path));
    if (code != 0) {
        job_recording_stopped(job, holter_strerror(code), jobs->now_ns);
        return;
    }
    job_set_recording(job, path);
    recorder_open(jobs->recorder, job_id(job), path);
    struct recorded head;
    const void *bytes;
    size_t length;
    for (size_t i = 0; job_rank_message(job, i, &head, &bytes, &length); i++)
        jobs_record_copy(jobs, job, &head, bytes, length);
}

int jobs_save(const struct jobs *jobs, const char *id, struct state_bytes *out)
{
    struct job *job = jobs_find(jobs, id);
    return job == NULL ? -HOLTER_ENOJOB : job_save(job, out);
}

int jobs_resume_begin(struct jobs *jobs, const char *id, const struct jobs_state *state,
                      struct job_fault *fault)
{
    struct job *job;
    if (jobs_find(jobs, id) != NULL) {
        snprintf(fault->text, sizeof(fault->text), "job %.64s is here already", id);
        return -EEXIST;
    }
    int code = jobs_add(jobs, id, state, &job, fault);
    if (code != 0)
        return code;
    struct entry *entry = &jobs->list[jobs->count - 1];
    entry->streamed = entry->resuming = 1;
    if (jobs->recorder != NULL)
        jobs_record_streamed(jobs, job);
    return 0;
}

void jobs_resume_alert(struct jobs *jobs, const struct wire_alert *alert)
{
    struct entry *entry = jobs_find_streamed(jobs, alert->job);
    struct wire_alert restored = *alert;
    if (entry == NULL)
        return;
    restored.updates = 0; /* its messages come again, and are counted again */
    job_restore_alert(entry->job, &restored);
}

int jobs_resume_ingest(struct jobs *jobs, uint64_t instance, const struct wire_message *message,
                       zmq_msg_t *bytes, uint64_t received_ns, struct job_fault *fault)
{
    const struct entry *entry = jobs_find_streamed(jobs, job_message_job(message));
    if (entry == NULL) {
        snprintf(fault->text, sizeof(fault->text), "a message of another job");
        return -HOLTER_ENOJOB;
    }
    jobs->muted = entry->resuming;
    int code = jobs_ingest(jobs, instance, message, bytes, received_ns, fault);
    jobs->muted = 0;
    return code;
}

void jobs_resume_close(struct jobs *jobs, const struct wire_totals *totals)
{
    const struct entry *entry = jobs_find_streamed(jobs, totals->job);
    if (entry == NULL || !entry->resuming)
        return;
    jobs->muted = 1;
    jobs->now_ns = totals->published_ns;
    job_close_again(entry->job, totals->window, totals->late != 0, totals->published_ns);
    jobs->muted = 0;
}

void jobs_resume_end(struct jobs *jobs, const char *id, uint64_t lost)
{
    struct entry *entry = jobs_find_streamed(jobs, id);
    if (entry == NULL || !entry->resuming)
        return;
    /* The recording and the clients have all alerts as they are now. */
    const struct job_output output = {jobs, jobs_want, jobs_publish, NULL};
    jobs->muted = 1;
    job_snapshot(entry->job, WIRE_TYPE_ALERT, &output);
    jobs->muted = 0;
    entry->resuming = 0;
    job_end_resuming(entry->job);
    job_add_lost(entry->job, lost);
}

int jobs_resume_is_followed(struct jobs *jobs, uint64_t instance, const struct wire_ranks *ranks,
                            uint64_t received_ns)
{
    const struct entry *entry = jobs_find_streamed(jobs, ranks->job);
    return entry != NULL && job_is_followed_by(entry->job, instance, ranks, received_ns);
}

int jobs_resume_follow(struct jobs *jobs, const char *id, struct job_fault *fault)
{
    struct entry *entry = jobs_find_streamed(jobs, id);
    if (entry != NULL && job_state(entry->job) == JOB_RUNNING)
        job_finish(entry->job, jobs->now_ns);
    jobs_abandon(jobs, id);
    return jobs_resume_begin(jobs, id, NULL, fault);
}

void jobs_set_watermark(struct jobs *jobs, const char *id, uint64_t watermark_ns)
{
    struct entry *entry = jobs_find_streamed(jobs, id);
    if (entry != NULL)
        entry->watermark_ns = watermark_ns;
}

uint64_t jobs_collect_advancing_ns(struct jobs *jobs, const char *id)
{
    struct entry *entry = jobs_find_streamed(jobs, id);
    const uint64_t ns = entry == NULL ? 0 : entry->advancing_ns;
    if (entry != NULL)
        entry->advancing_ns = 0;
    return ns;
}

void jobs_abandon(struct jobs *jobs, const char *id)
{
    struct entry *entry = jobs_find_streamed(jobs, id);
    if (entry == NULL)
        return;
    if (jobs->recorder != NULL)
        recorder_close(jobs->recorder, id);
    jobs_drop(jobs, (size_t)(entry - jobs->list));
}

/* ---- life and small questions -------------------------------------------- */

int jobs_create(struct jobs **out, uv_loop_t *loop, const struct jobs_options *options, char *why,
                size_t capacity)
{
    struct jobs *jobs = calloc(1, sizeof(*jobs));
    if (jobs == NULL)
        return -ENOMEM;
    jobs->options = *options;
    jobs->stopped = options->record_stopped;
    int code = options->record == NULL
                   ? 0
                   : jobs_start_recorder(jobs, loop, options->record, why, capacity);
    if (code != 0) {
        free(jobs);
        return code;
    }
    *out = jobs;
    return 0;
}

void jobs_destroy(struct jobs *jobs, uint64_t now_ns)
{
    if (jobs == NULL)
        return;
    jobs->now_ns = now_ns;
    for (size_t i = 0; i < jobs->count; i++) {
        if (!jobs->list[i].replayed && !jobs->list[i].streamed)
            job_flush(jobs->list[i].job, now_ns);
    }
    recorder_destroy(jobs->recorder);
    for (size_t i = 0; i < jobs->count; i++)
        job_destroy(jobs->list[i].job);
    commit_acks_clear(&jobs->kept);
    free(jobs);
}

int jobs_idle(const struct jobs *jobs)
{
    for (size_t i = 0; i < jobs->count; i++) {
        if (job_state(jobs->list[i].job) == JOB_RUNNING)
            return 0;
    }
    return 1;
}

void jobs_count(const struct jobs *jobs, struct jobs_counts *out)
{
    *out = jobs->counts;
    for (size_t i = 0; i < jobs->count; i++)
        jobs_add_counts(out, jobs->list[i].job);
}

uint64_t jobs_recorded_bytes(const struct jobs *jobs)
{
    return recorder_file_bytes(jobs->recorder);
}

const char *jobs_recorder_error(const struct jobs *jobs)
{
    return jobs->recorder_error;
}
