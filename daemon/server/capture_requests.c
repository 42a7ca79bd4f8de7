/* Which captures agents are asked for, and who waits for them. */
#include "daemon/server/capture_requests.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/job/job_captures.h"
#include "holter/error.h"
#include "holter/plain_text.h"
#include "proto/command_option.h"
#include "proto/log.h"
#include "proto/rank_spans.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_TOPIC "capture"
#define EVENTS_MAXIMUM 65536u /* see WIRE_CAPTURE_ASK */
#define LIST_CAPACITY 4096u   /* likewise */
#define DONE_CAPACITY 64u
#define NAMED_MAXIMUM 8u /* agents that did not answer and are named */

/* Identifies an alert. Numbers alone do not: a later job of the same id counts from 1 again. */
struct captures_alert_key {
    uint64_t id, since_ns; /* id 0: none */
};

/* The captures of a job. */
struct captures_track {
    char job[65];
    uint64_t asked_id;                             /* newest number of a capture */
    uint64_t paused_ns;                            /* no captures for alerts before */
    struct captures_alert_key done[DONE_CAPACITY]; /* the newest alerts that were captured */
    size_t done_count;
    struct { /* alert to be captured next */
        struct captures_alert_key alert;
        enum severity severity;
        char ranks[257], reason[257];
    } pending;
};

/* An operator who waits. */
struct captures_waiting {
    struct peer_id peer;
    uint64_t request, id, until_ns;
    char job[65];
    uint64_t *instances; /* owned: agents that have not answered */
    size_t count, answered;
};

struct captures {
    struct captures_options options;
    struct captures_track *tracks; /* owned */
    size_t track_count, track_capacity;
    struct captures_waiting waiting[CAPTURES_WAITING_MAXIMUM];
    size_t waiting_count;
};

int captures_create(struct captures **out, const struct captures_options *options)
{
    struct captures *c = calloc(1, sizeof(*c));
    if (c == NULL)
        return -ENOMEM;
    c->options = *options;
    *out = c;
    return 0;
}

void captures_destroy(struct captures *c)
{
    if (c == NULL)
        return;
    for (size_t i = 0; i < c->waiting_count; i++)
        free(c->waiting[i].instances);
    free(c->tracks);
    free(c);
}

/* @return NULL without memory */
static struct captures_track *captures_get_track(struct captures *c, const char *job)
{
    size_t remaining = 0;
    for (size_t i = 0; i < c->track_count; i++) {
        if (strcmp(c->tracks[i].job, job) == 0)
            return &c->tracks[i];
    }
    /* A further job: tracks of forgotten jobs are dropped. */
    for (size_t i = 0; i < c->track_count; i++) {
        if (jobs_find(c->options.jobs, c->tracks[i].job) != NULL)
            c->tracks[remaining++] = c->tracks[i];
    }
    c->track_count = remaining;
    if (ARRAY_FIT(c->tracks, c->track_capacity, remaining + 1) != 0)
        return NULL;
    c->tracks[remaining] = (struct captures_track){.asked_id = 0};
    snprintf(c->tracks[remaining].job, sizeof(c->tracks[remaining].job), "%s", job);
    c->track_count++;
    return &c->tracks[remaining];
}

/* ---- asking -------------------------------------------------------------- */

struct captures_question {
    const char *ranks;
    uint64_t events, alert, now_ns;
    const char *reason;
    uint64_t until_ns; /* only calls that ended by then; 0: all */
};

/* @param instances  set to the agents that were asked; owned by the caller
 *  @return the number of the capture, or a negative error */
static int64_t captures_ask_agents(struct captures *c, struct captures_track *track,
                                   const struct job *job, const struct captures_question *question,
                                   uint64_t **instances, size_t *count)
{
    uint64_t ranks, newest = job_captures_newest(job);
    int64_t agents = job_capture_agents(job, question->ranks, instances, &ranks);
    if (agents <= 0) {
        if (agents == 0)
            free(*instances);
        return agents == 0 ? -HOLTER_EEMPTY : agents;
    }
    uint64_t share = CAPTURES_RECORDS / ranks;
    share = share == 0 ? 1 : share;
    track->asked_id = (newest > track->asked_id ? newest : track->asked_id) + 1;
    struct wire_capture_ask message = {
        .job = track->job,
        .id = track->asked_id,
        .asked_ns = question->until_ns != 0 ? question->until_ns : question->now_ns,
        .events = question->events < share ? question->events : share,
        .ranks = question->ranks,
        .reason = question->reason,
        .alert = question->alert,
        .nodes = (uint64_t)agents,
        .until_ns = question->until_ns,
    };
    log_info("job %s: capture %" PRIu64 ", %" PRIu64 " ranks on %" PRId64 " nodes: %s", track->job,
             message.id, ranks, agents, question->reason);
    c->options.ask(c->options.user, *instances, (size_t)agents, &message);
    *count = (size_t)agents;
    return (int64_t)message.id;
}

/* ---- alerts -------------------------------------------------------------- */

static int captures_rule_wants(const struct captures *c, const struct wire_alert *alert)
{
    for (size_t i = 0; alert->rule != NULL && i < c->options.rules->count; i++) {
        if (strcmp(c->options.rules->list[i].name, alert->rule) == 0)
            return c->options.rules->list[i].capture;
    }
    return 0;
}

static int captures_is_alert(const struct captures_alert_key *key, const struct wire_alert *alert)
{
    return key->id == alert->id && key->since_ns == alert->since_ns;
}

static int captures_is_done(const struct captures_track *track, const struct wire_alert *alert)
{
    for (size_t i = 0; i < track->done_count && i < DONE_CAPACITY; i++) {
        if (captures_is_alert(&track->done[i], alert))
            return 1;
    }
    return 0;
}

void captures_alert(struct captures *c, const struct wire_alert *alert)
{
    struct captures_track *track = captures_get_track(c, alert->job);
    if (track == NULL)
        return;
    if (strcmp(alert->state, "firing") != 0) {
        if (captures_is_alert(&track->pending.alert, alert))
            track->pending.alert.id = 0;
        return;
    }
    enum severity severity = severity_parse(alert->severity);
    const struct job *job = jobs_find(c->options.jobs, alert->job);
    /* An update of a captured alert; by a daemon that had the job before, too. */
    int known = captures_is_done(track, alert) || (job != NULL && job_has_captured(job, alert->id));
    if (known || captures_is_alert(&track->pending.alert, alert) ||
        !captures_rule_wants(c, alert) ||
        (track->pending.alert.id != 0 && track->pending.severity >= severity))
        return;
    track->pending.alert = (struct captures_alert_key){alert->id, alert->since_ns};
    track->pending.severity = severity;
    if (alert->ranks != NULL && alert->ranks[0] != '\0')
        snprintf(track->pending.ranks, sizeof(track->pending.ranks), "%s", alert->ranks);
    else if (alert->rank >= 0)
        snprintf(track->pending.ranks, sizeof(track->pending.ranks), "%" PRId64, alert->rank);
    else
        track->pending.ranks[0] = '\0';
    snprintf(track->pending.reason, sizeof(track->pending.reason), "alert %" PRIu64 ": %.200s",
             alert->id, alert->title);
}

static void captures_start_for_alert(struct captures *c, struct captures_track *track,
                                     uint64_t now_ns)
{
    char ranks[LIST_CAPACITY] = "";
    uint64_t *instances = NULL;
    size_t count;
    struct job *job = jobs_find(c->options.jobs, track->job);
    struct captures_alert_key alert = track->pending.alert;
    track->pending.alert.id = 0;
    track->done[track->done_count++ % DONE_CAPACITY] = alert;
    /* An alert about no ranks is about the whole job. */
    if (job == NULL || job_state(job) != JOB_RUNNING ||
        (track->pending.ranks[0] != '\0' &&
         job_capture_partners(job, track->pending.ranks, CAPTURES_RANKS, ranks, sizeof(ranks)) !=
             0))
        return;
    struct captures_question question = {ranks,  CAPTURES_EVENTS,       alert.id,
                                         now_ns, track->pending.reason, 0};
    if (captures_ask_agents(c, track, job, &question, &instances, &count) < 0)
        return;
    track->paused_ns = now_ns + CAPTURES_PAUSE_NS;
    free(instances);
}

/* ---- requests ------------------------------------------------------------ */

struct captures_argument {
    char ranks[LIST_CAPACITY];
    uint64_t events, until_ns;
};

static int captures_set_ranks(void *user, const struct command_option *option, const char *value)
{
    struct captures_argument *wishes = user;
    (void)option;
    return snprintf(wishes->ranks, sizeof(wishes->ranks), "%s", value) >= (int)LIST_CAPACITY ||
                   rank_spans_check(wishes->ranks, UINT64_MAX) != 0
               ? -1
               : 0;
}

static int captures_parse_argument(struct captures_argument *wishes, const char *argument,
                                   char *why, size_t capacity)
{
    const struct command_option words[] = {
        {"ranks", .set = captures_set_ranks, .expected = "a list of ranks such as 3,8-11"},
        {"events", .number = &wishes->events, .least = 1, .most = EVENTS_MAXIMUM,
         .expected = "a number from 1 to 65536"},
        {"until", .number = &wishes->until_ns, .least = 1, .expected = "nanoseconds since 1970"},
        {0},
    };
    *wishes = (struct captures_argument){.events = CAPTURES_EVENTS};
    return command_words_read("capture", words, wishes, argument, why, capacity);
}

int captures_request(struct captures *c, const struct peer *peer,
                     const struct wire_request *request, uint64_t now_ns, char *why,
                     size_t capacity)
{
    struct captures_argument wishes;
    uint64_t *instances = NULL;
    size_t count = 0;
    struct job *job = jobs_find(c->options.jobs, request->job);
    int code = captures_parse_argument(&wishes, request->argument, why, capacity);
    if (code != 0)
        return code;
    snprintf(why, capacity, "no such job");
    if (job == NULL)
        return -HOLTER_ENOJOB;
    snprintf(why, capacity,
             "job %s does not run any more: what was captured of it is in its recording",
             job_id(job));
    if (job_state(job) != JOB_RUNNING)
        return -HOLTER_EEMPTY;
    snprintf(why, capacity, "one capture at a time: the one before has not been answered");
    for (size_t i = 0; i < c->waiting_count; i++) {
        if (peer_has_id(peer, &c->waiting[i].peer))
            return -HOLTER_EFULL;
    }
    snprintf(why, capacity, "%u others wait for a capture: ask again when one is there",
             CAPTURES_WAITING_MAXIMUM);
    if (c->waiting_count == CAPTURES_WAITING_MAXIMUM)
        return -HOLTER_EFULL;
    snprintf(why, capacity, "no memory");
    struct captures_track *track = captures_get_track(c, job_id(job));
    if (track == NULL)
        return -ENOMEM;
    uint64_t until_ns = wishes.until_ns < now_ns ? wishes.until_ns : 0;
    struct captures_question question = {wishes.ranks, wishes.events,       0,
                                         now_ns,       "asked for by hand", until_ns};
    int64_t id = captures_ask_agents(c, track, job, &question, &instances, &count);
    if (id == -HOLTER_EEMPTY)
        snprintf(why, capacity, "no such rank of job %s is there now", job_id(job));
    if (id < 0)
        return (int)id;
    struct captures_waiting *w = &c->waiting[c->waiting_count++];
    *w = (struct captures_waiting){.peer = peer->id,
                                   .request = request->id,
                                   .id = (uint64_t)id,
                                   .until_ns = now_ns + CAPTURES_TIMEOUT_NS,
                                   .instances = instances,
                                   .count = count};
    snprintf(w->job, sizeof(w->job), "%s", track->job);
    return 0;
}

/* ---- answers ------------------------------------------------------------- */

static void captures_finish_waiting(struct captures *c, size_t at)
{
    struct captures_waiting *w = &c->waiting[at];
    char text[1024] = "";
    if (w->count > 0) {
        const struct job *job = jobs_find(c->options.jobs, w->job);
        text_append(text, sizeof(text), "no answer from");
        for (size_t i = 0; job != NULL && i < w->count && i < NAMED_MAXIMUM; i++)
            text_append(text, sizeof(text), "%s %s", i == 0 ? "" : ",",
                        job_host(job, w->instances[i]));
        if (w->count > NAMED_MAXIMUM || job == NULL)
            text_append(text, sizeof(text), "%s %zu agents", job == NULL ? "" : " and others,",
                        w->count);
    }
    struct wire_reply reply = {
        .id = w->request, .code = w->answered == 0 ? -HOLTER_ETIMEOUT : 0, .text = text};
    c->options.send(c->options.user, &w->peer, WIRE_TYPE_REPLY, &reply);
    free(w->instances);
    memmove(w, w + 1, (c->waiting_count - at - 1) * sizeof(*w));
    c->waiting_count--;
}

static void captures_note_answer(struct captures_waiting *w, uint64_t instance)
{
    for (size_t i = 0; i < w->count; i++) {
        if (w->instances[i] != instance)
            continue;
        w->instances[i] = w->instances[--w->count];
        w->answered++;
        return;
    }
}

void captures_captured(struct captures *c, uint64_t instance, const struct wire_captured *captured,
                       uint64_t id)
{
    struct wire_captured numbered = *captured;
    numbered.id = id;
    for (size_t i = 0; i < c->waiting_count; i++) {
        struct captures_waiting *w = &c->waiting[i];
        if (w->id != captured->id || strcmp(w->job, captured->job) != 0)
            continue;
        int code = c->options.send(c->options.user, &w->peer, WIRE_TYPE_CAPTURED, &numbered);
        if (!captured->more)
            captures_note_answer(w, instance);
        if (w->count == 0 || code != 0)
            captures_finish_waiting(c, i);
        return;
    }
}

void captures_tick(struct captures *c, uint64_t now_ns)
{
    for (size_t i = c->waiting_count; i-- > 0;) {
        if (now_ns >= c->waiting[i].until_ns)
            captures_finish_waiting(c, i);
    }
    for (size_t i = 0; i < c->track_count; i++) {
        struct captures_track *track = &c->tracks[i];
        if (track->pending.alert.id != 0 && now_ns >= track->paused_ns)
            captures_start_for_alert(c, track, now_ns);
    }
}
