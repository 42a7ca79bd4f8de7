/* Answers the requests of clients: a table of operations. */
#include "daemon/server/control.h"

#include "daemon/analysis/commgram/commgram_cache.h"
#include "daemon/job/phases/picture.h"
#include "daemon/server/answers.h"
#include "daemon/server/publish.h"
#include "daemon/server/searches.h"
#include "holter/clock.h"
#include "holter/error.h"
#include "holter/plain_text.h"
#include "proto/host.h"
#include "proto/log.h"
#include "version.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOG_TOPIC "control"
#define STATUS_JOBS 1024u
#define CACHE_BYTES ((size_t)64 << 20) /* of dendrograms: 1,900 phases of 4,320 ranks */
#define CACHE_PHASES 2048u

struct control {
    struct control_options options;
    struct answers *answers;
    struct searches *searches;
    struct commgram_cache *cache;
    uint64_t started_ns;
    char host[HOST_NAME_CAPACITY];
};

static void control_answer(void *user, struct front *front, struct peer *peer,
                           const struct wire_request *request);

int control_create(struct control **out, uv_loop_t *loop, const struct control_options *options)
{
    struct control *c = calloc(1, sizeof(*c));
    if (c == NULL)
        return -ENOMEM;
    c->options = *options;
    c->started_ns = timeline_now(options->timeline);
    host_name(c->host);
    int code = commgram_cache_create(&c->cache, CACHE_BYTES, CACHE_PHASES);
    if (code == 0)
        code = answers_create(&c->answers, loop, options->jobs, c, control_answer);
    if (code == 0)
        code = searches_create(&c->searches, loop);
    if (code != 0) {
        control_destroy(c);
        return code;
    }
    *out = c;
    return 0;
}

void control_destroy(struct control *c)
{
    if (c == NULL)
        return;
    searches_destroy(c->searches);
    answers_destroy(c->answers);
    commgram_cache_destroy(c->cache);
    free(c);
}

static void control_reply(struct front *front, struct peer *peer, uint64_t id, int code,
                          const char *text, uint64_t frame)
{
    struct wire_reply message = {.id = id, .code = code, .text = text, .frame = frame};
    front_send(front, peer, WIRE_TYPE_REPLY, &message);
}

/* Clients whose key belongs to a user see the jobs of this user only. */
static int control_shows(const struct peer *peer, const struct job *job)
{
    return peer->user[0] == '\0' || strcmp(job_user(job), peer->user) == 0;
}

/* @return NULL also for a job that the client may not see: it does not learn that there is one */
static struct job *control_find_job(const struct control *c, const struct peer *peer,
                                    const char *id)
{
    if (id == NULL || id[0] == '\0')
        return jobs_find_newest(c->options.jobs, peer->user);
    struct job *job = jobs_find(c->options.jobs, id);
    return job != NULL && control_shows(peer, job) ? job : NULL;
}

/* ---- status -------------------------------------------------------------- */

static uint64_t control_resident_bytes(void)
{
    unsigned long size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL)
        return 0;
    if (fscanf(file, "%lu %lu", &size, &resident) != 2)
        resident = 0;
    fclose(file);
    return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void control_answer_status(struct control *c, struct front *front, struct peer *peer,
                                  const struct wire_request *request)
{
    const struct jobs *jobs = c->options.jobs;
    struct wire_job_row *rows = malloc(STATUS_JOBS * sizeof(*rows));
    size_t count = 0;
    struct job *job;
    for (size_t i = 0; rows != NULL && count < STATUS_JOBS && (job = jobs_at(jobs, i)) != NULL;
         i++) {
        if (control_shows(peer, job))
            job_describe(job, &rows[count++]);
    }
    if (rows != NULL && c->options.other_jobs != NULL && peer->user[0] == '\0')
        count = c->options.other_jobs(c->options.user, rows, count, STATUS_JOBS);
    struct front_counts front_counts;
    struct jobs_counts jobs_counts;
    char sink_error[257] = "";
    if (c->options.sinks != NULL)
        sinks_error(c->options.sinks, sink_error, sizeof(sink_error));
    front_count(front, &front_counts);
    jobs_count(jobs, &jobs_counts);
    struct wire_status status = {
        .version = HOLTER_VERSION,
        .pid = c->options.pid != 0 ? c->options.pid : (uint64_t)getpid(),
        .host = c->host,
        .started_ns = c->started_ns,
        .now_ns = timeline_now(c->options.timeline),
        .window_ns = c->options.options->window_ns,
        .agents = front_counts.agents,
        .clients = front_counts.clients,
        .messages = jobs_counts.messages,
        .bytes = jobs_counts.bytes,
        .duplicates = jobs_counts.duplicates,
        .late = jobs_counts.late,
        .rejected = front_counts.rejected,
        .rejected_last = front_counts.rejected_last,
        .published = publisher_frames(c->options.publisher),
        .cpu_ns = clock_process_cpu_ns(),
        .rss_bytes = control_resident_bytes(),
        .recorded_bytes = jobs_recorded_bytes(jobs),
        .recorder_error = jobs_recorder_error(jobs),
        .matched = jobs_counts.matches.matched,
        .unmatched = jobs_counts.matches.unmatched,
        .match_rejected = jobs_counts.matches.rejected,
        .jobs = rows,
        .jobs_count = count,
        .rules = c->options.options->rules,
        .sink_error = sink_error,
        .topology = c->options.network->source,
        .topology_fault = c->options.network->fault,
    };
    if (peer->user[0] != '\0') /* they name hosts, jobs and files of others */
        status.rejected_last = status.recorder_error = status.sink_error = "";
    front_send(front, peer, WIRE_TYPE_STATUS, &status);
    free(rows);
    control_reply(front, peer, request->id, 0, "", 0);
}

/* ---- jobs and snapshots -------------------------------------------------- */

/* A state that is being sent to a client. */
struct control_state {
    struct front *front;
    struct peer *peer;
    int code; /* 0, or why a part could not be sent: the others are not */
};

static int control_wants_state(void *user, const char *job, enum wire_type type)
{
    (void)user;
    (void)job;
    (void)type;
    return 1;
}

static void control_send_part(void *user, const char *job, enum wire_type type, const void *message)
{
    struct control_state *state = user;
    (void)job;
    if (state->code == 0)
        state->code = front_send(state->front, state->peer, type, message);
}

/* @return 0, or why a part could not be sent */
static int control_send_state(struct front *front, struct peer *peer, struct job *job,
                              enum wire_type type)
{
    struct control_state state = {front, peer, 0};
    job_snapshot(job, type,
                 &(struct job_output){&state, control_wants_state, control_send_part, NULL});
    return state.code;
}

static void control_answer_jobs(struct control *c, struct front *front, struct peer *peer,
                                const struct wire_request *request)
{
    struct job *job;
    int code = 0;
    for (size_t i = 0; code == 0 && (job = jobs_at(c->options.jobs, i)) != NULL; i++) {
        if (control_shows(peer, job))
            code = control_send_state(front, peer, job, WIRE_TYPE_JOB);
    }
    control_reply(front, peer, request->id, 0, "", 0);
}

/* Is the topic in the list, which is separated by commas? An empty list stands for all topics but
 * that of the messages of agents. */
static int control_topic_listed(const char *list, const char *topic)
{
    size_t length = strlen(topic);
    if (list == NULL || list[0] == '\0')
        return strcmp(topic, wire_topic(WIRE_TYPE_RECORDED)) != 0;
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, topic, length) == 0 && (at[length] == '\0' || at[length] == ','))
            return 1;
    }
    return 0;
}

static int control_send_replay(struct control *c, struct front *front, struct peer *peer)
{
    return front_send(front, peer, WIRE_TYPE_REPLAY, c->options.replay_state(c->options.user));
}

static void control_answer_snapshot(struct control *c, struct front *front, struct peer *peer,
                                    const struct wire_request *request)
{
    struct job *job = control_find_job(c, peer, request->job);
    if (job == NULL) {
        control_reply(front, peer, request->id, -HOLTER_ENOJOB, "no such job", 0);
        return;
    }
    uint64_t frame = publisher_newest_frame(c->options.publisher, job_id(job));
    enum wire_type type;
    int code = 0;
    for (size_t i = 0; code == 0 && job_snapshot_topic(i, &type); i++) {
        if (control_topic_listed(request->topic, wire_topic(type)))
            code = control_send_state(front, peer, job, type);
    }
    if (code == 0 && c->options.replay != NULL &&
        control_topic_listed(request->topic, wire_topic(WIRE_TYPE_REPLAY)))
        code = control_send_replay(c, front, peer);
    control_reply(front, peer, request->id, code, code == 0 ? "" : holter_strerror(code), frame);
}

/* ---- pictures ------------------------------------------------------------ */

static void control_answer_commgram(struct control *c, struct front *front, struct peer *peer,
                                    const struct wire_request *request)
{
    char why[256];
    struct picture_ask ask;
    struct picture *picture = NULL;
    struct job *job = control_find_job(c, peer, request->job);
    int code = picture_ask_parse(&ask, request->argument, why, sizeof(why));
    if (code == 0 && job == NULL) {
        picture_ask_finish(&ask);
        snprintf(why, sizeof(why), "no such job");
        code = -HOLTER_ENOJOB;
    } else if (code == 0) {
        struct picture_source source;
        job_picture_source(job, &source);
        code = picture_create(&picture, &source, &ask, c->cache);
        code = code != 0
                   ? code
                   : answers_start_picture(c->answers, front, peer, request->id, job, picture);
        snprintf(why, sizeof(why), "%s", holter_strerror(code));
    }
    if (code != 0)
        control_reply(front, peer, request->id, code, why, 0);
}

/* ---- searches ------------------------------------------------------------- */

static void control_answer_search(struct control *c, struct front *front, struct peer *peer,
                                  const struct wire_request *request)
{
    char why[256] = "no memory";
    const int reroute = strcmp(request->op, "reroute") == 0;
    struct network_ask ask;
    struct job *job = control_find_job(c, peer, request->job);
    int code = network_ask_parse(&ask, reroute, request, why, sizeof(why));
    if (code == 0 && job == NULL) {
        network_ask_finish(&ask);
        snprintf(why, sizeof(why), "no such job");
        code = -HOLTER_ENOJOB;
    } else if (code == 0) {
        code = searches_start(c->searches, front, peer, request->id, job, &ask);
        snprintf(why, sizeof(why), "%s",
                 code == -HOLTER_EFULL ? "4 searches are under way: ask again when one is done"
                                       : holter_strerror(code));
    }
    if (code != 0)
        control_reply(front, peer, request->id, code, why, 0);
}

static void control_answer_cancel(struct control *c, struct front *front, struct peer *peer,
                                  const struct wire_request *request)
{
    const char *which = request->argument != NULL ? request->argument : "";
    int reroute = strcmp(which, "reroute") == 0;
    if (!reroute && strcmp(which, "remap") != 0) {
        control_reply(front, peer, request->id, -HOLTER_EUSAGE, "remap or reroute is expected", 0);
        return;
    }
    searches_cancel(c->searches, peer, reroute,
                    "cancelled"); /* if it was answered just now, there is none */
    control_reply(front, peer, request->id, 0, "", 0);
}

/* ---- replays --------------------------------------------------------------- */

/* Viewers may control a replay, too. */
static void control_answer_replay(struct control *c, struct front *front, struct peer *peer,
                                  const struct wire_request *request)
{
    char why[400] = "this daemon replays no recording";
    int code = c->options.replay == NULL
                   ? -HOLTER_EUSAGE
                   : c->options.replay(c->options.user, request->argument, why, sizeof(why));
    if (code == 0)
        code = control_send_replay(c, front, peer);
    control_reply(front, peer, request->id, code, code == 0 ? "" : why, 0);
}

/* ---- requests of operators --------------------------------------------------------------- */

/* Without keys only the user can connect, as only local endpoints are listened on. */
static int control_is_operator(const struct control *c, const struct peer *peer)
{
    return c->options.options->keys == NULL || peer->role == ROLE_OPERATOR;
}

static void control_answer_capture(struct control *c, struct front *front, struct peer *peer,
                                   const struct wire_request *request)
{
    char why[256] = "a recording is replayed: nobody can be asked for a capture";
    int code = -HOLTER_EEMPTY;
    if (!control_is_operator(c, peer)) {
        code = -HOLTER_EDENIED;
        snprintf(why, sizeof(why), "only operators may ask for captures");
    } else if (c->options.captures != NULL) {
        code = captures_request(c->options.captures, peer, request,
                                timeline_now(c->options.timeline), why, sizeof(why));
    }
    if (code != 0)
        control_reply(front, peer, request->id, code, why, 0);
}

static void control_answer_stop(struct control *c, struct front *front, struct peer *peer,
                                const struct wire_request *request)
{
    if (!control_is_operator(c, peer)) {
        control_reply(front, peer, request->id, -HOLTER_EDENIED,
                      "only operators may stop the daemon", 0);
        return;
    }
    int when_idle = request->argument != NULL && strcmp(request->argument, "when-idle") == 0;
    log_info("stop%s asked for by %s %s", when_idle ? " when idle" : "", role_name(peer->role),
             peer->host);
    control_reply(front, peer, request->id, 0, "", 0);
    if (when_idle)
        c->options.stop_when_idle(c->options.user);
    else
        c->options.stop(c->options.user);
}

void control_request(struct control *c, struct front *front, struct peer *peer,
                     const struct wire_request *request)
{
    int code = answers_is_busy(c->answers, peer) ? answers_queue(c->answers, peer, request) : 1;
    if (code == 1)
        control_answer(c, front, peer, request);
    else if (code != 0)
        control_reply(front, peer, request->id, code, "too many questions wait behind another", 0);
}

/* ---- the table of operations ----------------------------------------------- */

/* In the order in which an unknown operation names them. */
static const struct {
    const char *name;
    void (*answer)(struct control *c, struct front *front, struct peer *peer,
                   const struct wire_request *request);
} control_operations[] = {
    {"jobs", control_answer_jobs},         {"status", control_answer_status},
    {"snapshot", control_answer_snapshot}, {"commgram", control_answer_commgram},
    {"remap", control_answer_search},      {"reroute", control_answer_search},
    {"cancel", control_answer_cancel},     {"capture", control_answer_capture},
    {"replay", control_answer_replay},     {"stop", control_answer_stop},
};

static void control_answer(void *user, struct front *front, struct peer *peer,
                           const struct wire_request *request)
{
    const size_t count = sizeof(control_operations) / sizeof(control_operations[0]);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(request->op, control_operations[i].name) != 0)
            continue;
        control_operations[i].answer(user, front, peer, request);
        return;
    }
    char text[200];
    snprintf(text, sizeof(text), "unknown operation '%.32s'", request->op);
    for (size_t i = 0; i < count; i++)
        text_append(text, sizeof(text), "%s %s", i == 0 ? ":" : ",", control_operations[i].name);
    control_reply(front, peer, request->id, -HOLTER_EUSAGE, text, 0);
}
