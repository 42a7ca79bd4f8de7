#include "daemon/server/capture_requests.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/job/job_captures.h"
#include "holter/error.h"
#include "proto/log.h"
#include "proto/rank_spans.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_TOPIC "capture"
#define MOST_EVENTS 65536u /* see WIRE_CAPTURE_ASK */
#define MOST_LIST 4096u    /* likewise */
#define DONE 64u
#define NAMED 8u /* agents that did not answer, told one by one */

/* What is known of a job besides what it knows itself. */
struct track {
    char job[65];
    uint64_t asked_id;   /* newest number that was given */
    uint64_t paused_ns;  /* nothing is captured for alerts until then */
    uint64_t done[DONE]; /* alerts that were captured, the newest ones */
    size_t done_count;
    struct { /* the alert that is to be captured next; id 0: none */
        uint64_t id;
        enum severity severity;
        char ranks[257], reason[257];
    } wanted;
};

/* A person who waits. */
struct waiting {
    uint8_t peer[PEER_ID_BYTES];
    size_t peer_length;
    uint64_t request, id, until_ns;
    char job[65];
    uint64_t *instances; /* owned: who has not told all */
    size_t count, answered;
};

struct captures {
    struct captures_options options;
    struct track *tracks; /* owned */
    size_t track_count, track_room;
    struct waiting waiting[CAPTURES_WAITING];
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
static struct track *track_of(struct captures *c, const char *job)
{
    size_t kept = 0;
    for (size_t i = 0; i < c->track_count; i++) {
        if (strcmp(c->tracks[i].job, job) == 0)
            return &c->tracks[i];
    }
    /* A further job: those that are forgotten make room. */
    for (size_t i = 0; i < c->track_count; i++) {
        if (jobs_find(c->options.jobs, c->tracks[i].job) != NULL)
            c->tracks[kept++] = c->tracks[i];
    }
    c->track_count = kept;
    if (array_fit(&c->tracks, sizeof(*c->tracks), &c->track_room, kept + 1) != 0)
        return NULL;
    c->tracks[kept] = (struct track){.asked_id = 0};
    snprintf(c->tracks[kept].job, sizeof(c->tracks[kept].job), "%s", job);
    c->track_count++;
    return &c->tracks[kept];
}

/* ---- asking -------------------------------------------------------------- */

struct question {
    const char *ranks;
    uint64_t events, alert, now_ns;
    const char *reason;
};

/* @param instances  set to the agents that were asked; owned by the caller
 *  @return the number of the capture, or a negative error */
static int64_t ask(struct captures *c, struct track *track, const struct job *job,
                   const struct question *question, uint64_t **instances, size_t *count)
{
    uint64_t ranks, newest = job_newest_capture(job);
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
        .asked_ns = question->now_ns,
        .events = question->events < share ? question->events : share,
        .ranks = question->ranks,
        .reason = question->reason,
        .alert = question->alert,
        .nodes = (uint64_t)agents,
    };
    log_info("job %s: capture %" PRIu64 ", %" PRIu64 " ranks on %" PRId64 " nodes: %s", track->job,
             message.id, ranks, agents, question->reason);
    c->options.ask(c->options.user, *instances, (size_t)agents, &message);
    *count = (size_t)agents;
    return (int64_t)message.id;
}

/* ---- alerts -------------------------------------------------------------- */

static int is_wanted(const struct captures *c, const struct wire_alert *alert)
{
    for (size_t i = 0; alert->rule != NULL && i < c->options.rules->count; i++) {
        if (strcmp(c->options.rules->list[i].name, alert->rule) == 0)
            return c->options.rules->list[i].capture;
    }
    return 0;
}

static int is_done(const struct track *track, uint64_t alert)
{
    for (size_t i = 0; i < track->done_count && i < DONE; i++) {
        if (track->done[i] == alert)
            return 1;
    }
    return 0;
}

void captures_alert(struct captures *c, const struct wire_alert *alert)
{
    struct track *track = track_of(c, alert->job);
    if (track == NULL)
        return;
    if (strcmp(alert->state, "firing") != 0) {
        track->wanted.id = alert->id == track->wanted.id ? 0 : track->wanted.id;
        return;
    }
    enum severity severity = severity_of(alert->severity);
    int known = is_done(track, alert->id); /* updates of what was captured */
    if (known || alert->id == track->wanted.id || !is_wanted(c, alert) ||
        (track->wanted.id != 0 && track->wanted.severity >= severity))
        return;
    track->wanted.id = alert->id;
    track->wanted.severity = severity;
    if (alert->ranks != NULL && alert->ranks[0] != '\0')
        snprintf(track->wanted.ranks, sizeof(track->wanted.ranks), "%s", alert->ranks);
    else if (alert->rank >= 0)
        snprintf(track->wanted.ranks, sizeof(track->wanted.ranks), "%" PRId64, alert->rank);
    else
        track->wanted.ranks[0] = '\0';
    snprintf(track->wanted.reason, sizeof(track->wanted.reason), "alert %" PRIu64 ": %.200s",
             alert->id, alert->title);
}

static void ask_for_alert(struct captures *c, struct track *track, uint64_t now_ns)
{
    char ranks[MOST_LIST] = "";
    uint64_t *instances = NULL;
    size_t count;
    struct job *job = jobs_find(c->options.jobs, track->job);
    uint64_t alert = track->wanted.id;
    track->wanted.id = 0;
    track->done[track->done_count++ % DONE] = alert;
    /* One that is about no ranks (the whole job) is about all. */
    if (job == NULL || job_state(job) != JOB_RUNNING ||
        (track->wanted.ranks[0] != '\0' &&
         job_capture_partners(job, track->wanted.ranks, CAPTURES_RANKS, ranks, sizeof(ranks)) != 0))
        return;
    struct question question = {ranks, CAPTURES_EVENTS, alert, now_ns, track->wanted.reason};
    if (ask(c, track, job, &question, &instances, &count) < 0)
        return;
    track->paused_ns = now_ns + CAPTURES_PAUSE_NS;
    free(instances);
}

/* ---- persons ------------------------------------------------------------- */

struct wishes {
    char ranks[MOST_LIST];
    uint64_t events;
};

static int read_wish(struct wishes *wishes, const char *word, char *why, size_t room)
{
    char *end = NULL;
    if (strncmp(word, "ranks=", 6) == 0) {
        snprintf(wishes->ranks, sizeof(wishes->ranks), "%s", word + 6);
        if (rank_spans_check(wishes->ranks, UINT64_MAX) == 0)
            return 0;
        snprintf(why, room, "capture: '%.60s': a list of ranks is wanted, such as 3,8-11", word);
        return -HOLTER_EUSAGE;
    }
    if (strncmp(word, "events=", 7) == 0) {
        errno = 0;
        wishes->events = strtoull(word + 7, &end, 10);
        if (word[7] >= '0' && word[7] <= '9' && *end == '\0' && errno == 0 && wishes->events > 0 &&
            wishes->events <= MOST_EVENTS)
            return 0;
        snprintf(why, room, "capture: '%.60s': a number from 1 to %u is wanted", word, MOST_EVENTS);
        return -HOLTER_EUSAGE;
    }
    snprintf(why, room, "capture: '%.60s': ranks= or events= is wanted", word);
    return -HOLTER_EUSAGE;
}

static int read_wishes(struct wishes *wishes, const char *argument, char *why, size_t room)
{
    char text[MOST_LIST + 64], *rest;
    int code = 0;
    *wishes = (struct wishes){.events = CAPTURES_EVENTS};
    snprintf(text, sizeof(text), "%s", argument == NULL ? "" : argument);
    for (char *word = strtok_r(text, " ", &rest); code == 0 && word != NULL;
         word = strtok_r(NULL, " ", &rest))
        code = read_wish(wishes, word, why, room);
    return code;
}

int captures_request(struct captures *c, const struct peer *peer,
                     const struct wire_request *request, uint64_t now_ns, char *why, size_t room)
{
    struct wishes wishes;
    uint64_t *instances = NULL;
    size_t count = 0;
    struct job *job = jobs_find(c->options.jobs, request->job);
    int code = read_wishes(&wishes, request->argument, why, room);
    if (code != 0)
        return code;
    snprintf(why, room, "no such job");
    if (job == NULL)
        return -HOLTER_ENOJOB;
    snprintf(why, room, "job %s does not run any more: what was captured of it is in its recording",
             job_id(job));
    if (job_state(job) != JOB_RUNNING)
        return -HOLTER_EEMPTY;
    snprintf(why, room, "one capture at a time: the one before has not been answered");
    for (size_t i = 0; i < c->waiting_count; i++) {
        if (c->waiting[i].peer_length == peer->id_length &&
            memcmp(c->waiting[i].peer, peer->id, peer->id_length) == 0)
            return -HOLTER_EFULL;
    }
    snprintf(why, room, "%u others wait for a capture: ask again when one is there",
             CAPTURES_WAITING);
    if (c->waiting_count == CAPTURES_WAITING)
        return -HOLTER_EFULL;
    snprintf(why, room, "no memory");
    struct track *track = track_of(c, job_id(job));
    if (track == NULL)
        return -ENOMEM;
    struct question question = {wishes.ranks, wishes.events, 0, now_ns, "asked for by hand"};
    int64_t id = ask(c, track, job, &question, &instances, &count);
    if (id == -HOLTER_EEMPTY)
        snprintf(why, room, "no such rank of job %s is there now", job_id(job));
    if (id < 0)
        return (int)id;
    struct waiting *w = &c->waiting[c->waiting_count++];
    *w = (struct waiting){.peer_length = peer->id_length,
                          .request = request->id,
                          .id = (uint64_t)id,
                          .until_ns = now_ns + CAPTURES_PATIENCE_NS,
                          .instances = instances,
                          .count = count};
    memcpy(w->peer, peer->id, peer->id_length);
    snprintf(w->job, sizeof(w->job), "%s", track->job);
    return 0;
}

/* ---- answers ------------------------------------------------------------- */

static void finish(struct captures *c, size_t at)
{
    struct waiting *w = &c->waiting[at];
    char text[1024] = "";
    if (w->count > 0) {
        const struct job *job = jobs_find(c->options.jobs, w->job);
        size_t length = (size_t)snprintf(text, sizeof(text), "no answer from");
        for (size_t i = 0; job != NULL && i < w->count && i < NAMED; i++)
            length += (size_t)snprintf(text + length, sizeof(text) - length, "%s %s",
                                       i == 0 ? "" : ",", job_host(job, w->instances[i]));
        if (w->count > NAMED || job == NULL)
            snprintf(text + length, sizeof(text) - length, "%s %zu agents",
                     job == NULL ? "" : " and others,", w->count);
    }
    struct wire_reply reply = {
        .id = w->request, .code = w->answered == 0 ? -HOLTER_ETIMEOUT : 0, .text = text};
    c->options.send(c->options.user, w->peer, w->peer_length, WIRE_TYPE_REPLY, &reply);
    free(w->instances);
    memmove(w, w + 1, (c->waiting_count - at - 1) * sizeof(*w));
    c->waiting_count--;
}

static void has_answered(struct waiting *w, uint64_t instance)
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
        struct waiting *w = &c->waiting[i];
        if (w->id != captured->id || strcmp(w->job, captured->job) != 0)
            continue;
        int code = c->options.send(c->options.user, w->peer, w->peer_length, WIRE_TYPE_CAPTURED,
                                   &numbered);
        if (!captured->more)
            has_answered(w, instance);
        if (w->count == 0 || code != 0)
            finish(c, i);
        return;
    }
}

void captures_tick(struct captures *c, uint64_t now_ns)
{
    for (size_t i = c->waiting_count; i-- > 0;) {
        if (now_ns >= c->waiting[i].until_ns)
            finish(c, i);
    }
    for (size_t i = 0; i < c->track_count; i++) {
        struct track *track = &c->tracks[i];
        if (track->wanted.id != 0 && now_ns >= track->paused_ns)
            ask_for_alert(c, track, now_ns);
    }
}
