/* The connection to the daemon: receives the published stream, and sends requests. */
#include "viewer/link/connection.h"

#include "viewer/link/finder.h"
#include "viewer/link/held_state.h"
#include "viewer/link/ssh.h"

#include "holter/clock.h"
#include "holter/error.h"
#include "holter/session.h"
#include "proto/client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    ASK_EVERY_MS = 2000, /* interval of requests for the daemon's cost and its list of jobs */
    PICTURE_MS = 500,    /* minimum interval between two requests for CommGram pictures */
    AGAIN_MS = 3000,     /* interval before a failed request is repeated */
    REFRESH_MS = 5000,   /* minimum interval between requests for the whole state */
    HELD_MS = 10000,     /* maximum wait for the rest of a state after a seek */
    TURN_MS = 1500,      /* maximum interruption of the connection that is attributed to a seek */
};

/* Names of the requests. */
static const char *const operations[SUGGESTIONS] = {"remap", "reroute"};

struct connection {
    struct client *client;
    struct finder finder;
    const char *key_dir; /* borrowed; NULL: as found for the endpoint */
    char job[128];       /* that is followed; "": the newest */
    struct ssh_tunnel *tunnel;
    char endpoint[600]; /* as shown to the user */
    char tunnel_error[600];
    uint64_t asked_ms, refreshed_ms;
    uint64_t missed;       /* missed frames that were compensated by the last state */
    int64_t open_question; /* id of the open status request; 0: none */
    int64_t open_picture;  /* id of the open request for a picture; 0: none */
    uint64_t picture_ms;   /* when it was sent */
    int64_t open_suggestion[SUGGESTIONS]; /* ids of the open requests for suggestions; 0: none */
    int64_t open_capture;                 /* id of the open request for a capture; 0: none */
    int64_t open_replay;                  /* id of the open request to the replay; 0: none */
    char replay_asked[64];                /* argument of that request */
    int replay_again; /* another run took over before that request was answered: repeat it */
    int chosen;       /* the user named a job */
    int ended;        /* an ended job is followed because none runs */

    uint64_t instance; /* of the run whose data the model holds, or will hold when the held state is
                          released */
    int replays;       /* that run replays a recording */
    int holding;       /* the state of another run of a replay is being received */
    uint64_t held_ms;  /* since when */
    uint64_t run_missed,
        held_missed; /* frames missed when the shown run began, and when the other one began */
    struct held_state held;
    uint64_t broken_ms,
        now_ms; /* since when there is no connection, 0: there is one; newest known time */
};

/* Requests that are open are not answered any more. */
static void connection_forget_requests(struct connection *c)
{
    c->open_question = c->open_picture = c->open_capture = c->open_replay = 0;
    for (int k = 0; k < SUGGESTIONS; k++)
        c->open_suggestion[k] = 0;
}

int connection_open(struct connection **out, const struct connection_options *o, char *why,
                    size_t capacity)
{
    struct connection *c = calloc(1, sizeof *c);
    char found[256], keys[512] = "";
    if (!c)
        return -ENOMEM;
    c->finder.fd = o->finder;
    c->key_dir = o->key_dir;
    struct client_options options = {.key_dir = o->key_dir,
                                     .role = ROLE_VIEWER,
                                     .endpoint = o->endpoint,
                                     .in_fleet = o->finder > 0};
    int error = 0;
    if (o->ssh_host) {
        error = ssh_open(&c->tunnel, o->ssh_host, o->endpoint, why, capacity);
        if (!error) {
            options.endpoint = ssh_front(c->tunnel);
            options.stream = ssh_stream(c->tunnel);
            snprintf(c->endpoint, sizeof c->endpoint, "%s%s%s through ssh",
                     o->endpoint ? o->endpoint : "", o->endpoint ? " on " : "", o->ssh_host);
        }
    } else if (!o->endpoint) {
        error = session_find_daemon(found, sizeof found);
        options.endpoint = found;
        if (error)
            snprintf(why, capacity, "no run directory: %s", holter_strerror(error));
    }
    if (!error && !o->key_dir && session_find_keys(keys, sizeof keys, options.endpoint) == 0 &&
        keys[0])
        options.key_dir = keys;
    if (!error) {
        if (!c->endpoint[0])
            snprintf(c->endpoint, sizeof c->endpoint, "%s", options.endpoint);
        error = client_create(&c->client, &options);
        if (error)
            snprintf(why, capacity, "%s: %s",
                     options.key_dir && error != -HOLTER_EUSAGE ? options.key_dir
                                                                : options.endpoint,
                     holter_strerror(error));
    }
    c->chosen = o->job && o->job[0];
    snprintf(c->job, sizeof c->job, "%s", c->chosen ? o->job : "");
    if (!error && (error = client_follow(c->client, o->job, NULL)) < 0)
        snprintf(why, capacity, "job %s: %s", o->job ? o->job : "", holter_strerror(error));
    if (error) {
        connection_close(c);
        return error;
    }
    *out = c;
    return 0;
}

void connection_close(struct connection *c)
{
    if (!c)
        return;
    client_destroy(c->client);
    ssh_close(c->tunnel);
    held_state_finish(&c->held);
    if (c->finder.fd > 0)
        close(c->finder.fd);
    free(c);
}

/* Another daemon has the job: its client takes the place of the one that is away. */
static void connection_move(struct connection *c, const char *endpoint)
{
    char keys[512] = "";
    struct client *client = NULL;
    struct client_options options = {
        .key_dir = c->key_dir, .role = ROLE_VIEWER, .endpoint = endpoint, .in_fleet = 1};
    if (!c->key_dir && session_find_keys(keys, sizeof keys, endpoint) == 0 && keys[0])
        options.key_dir = keys;
    if (client_create(&client, &options) != 0)
        return; /* the next answer is tried again */
    client_follow(client, c->job[0] ? c->job : NULL, NULL);
    client_destroy(c->client);
    c->client = client;
    connection_forget_requests(c);
    snprintf(c->endpoint, sizeof c->endpoint, "%s", endpoint);
}

static void connection_look_for_daemon(struct connection *c, uint64_t now_ms)
{
    char endpoint[FINDER_ENDPOINT_BYTES];
    const enum client_state state = client_state(c->client);
    if ((state == CLIENT_LOST || state == CLIENT_DIALLING || client_lacks_job(c->client)) &&
        finder_ask(&c->finder, c->job, now_ms, endpoint) && strcmp(endpoint, c->endpoint) != 0)
        connection_move(c, endpoint);
}

static void ask_status(struct connection *c, uint64_t now_ms)
{
    if (client_state(c->client) != CLIENT_CONNECTED)
        return;
    if (c->open_question || (c->asked_ms && now_ms - c->asked_ms < ASK_EVERY_MS))
        return;
    int64_t id = client_ask(c->client, "status", NULL, NULL, NULL);
    c->open_question = id > 0 ? id : 0;
    c->asked_ms = now_ms;
}

/* Requests the daemon's complete sums, because the sums since the start lack the missed frames. */
static void connection_recover_missed(struct connection *c, uint64_t now_ms)
{
    uint64_t missed = client_missed(c->client);
    if (missed == c->missed || !client_is_current(c->client) ||
        (c->refreshed_ms && now_ms - c->refreshed_ms < REFRESH_MS))
        return;
    c->missed = missed;
    c->refreshed_ms = now_ms;
    client_refresh(c->client);
}

/* If no job runs, as after the end of a replay, the job that ended last is shown until another
 * begins. */
static void follow_newest(struct connection *c, const struct model *model)
{
    const struct model_job_row *newest = NULL;
    int running = 0;
    if (c->chosen || !model->jobs_known)
        return;
    for (uint32_t i = 0; i < model->job_count; i++) {
        const struct model_job_row *job = &model->jobs[i];
        if (job->daemon[0])
            continue;
        running |= !strcmp(job->state, "running");
        newest = !newest || job->end_ns >= newest->end_ns ? job : newest;
    }
    if (running && c->ended) {
        c->ended = 0;
        client_follow(c->client, NULL, NULL);
    } else if (!running && newest && !model->job[0] && !c->ended) {
        c->ended = client_follow(c->client, newest->job, NULL) == 0;
    }
}

/* Whether a message answers a request that was cancelled. */
static int is_late(const struct connection *c, const struct client_message *m)
{
    switch (m->message->type) {
    case WIRE_TYPE_COMMGRAM:
        return (int64_t)m->id != c->open_picture;
    case WIRE_TYPE_MAPPING:
        return (int64_t)m->id != c->open_suggestion[SUGGEST_MAPPING];
    case WIRE_TYPE_ROUTES:
        return (int64_t)m->id != c->open_suggestion[SUGGEST_ROUTES];
    default:
        return 0;
    }
}

/* Handles the reply to a request. */
static void connection_handle_reply(struct connection *c, struct model *model,
                                    const struct wire_reply *reply)
{
    int64_t id = (int64_t)reply->id;
    if (id == c->open_question)
        c->open_question = 0;
    if (c->open_picture && id == c->open_picture) {
        c->open_picture = 0;
        /* Not answered because another run of a replay took over: request it again. */
        if (reply->code == -HOLTER_EUNREACHABLE && c->replays)
            c->picture_ms = 0;
        else
            commgram_replied(&model->commgram, (int)reply->code, reply->text);
        model->version++;
    }
    if (c->open_replay && id == c->open_replay) {
        c->open_replay = 0;
        /* a completed seek breaks the connection */
        c->replay_again = reply->code == -HOLTER_EUNREACHABLE;
        playback_replied(&model->playback, c->replay_again ? 0 : (int)reply->code, reply->text);
        model->version++;
    }
    if (c->open_capture && id == c->open_capture) {
        c->open_capture = 0;
        captures_replied(&model->captures, (int)reply->code, reply->text);
        model->version++;
    }
    for (int k = 0; k < SUGGESTIONS; k++) {
        if (!c->open_suggestion[k] || id != c->open_suggestion[k])
            continue;
        c->open_suggestion[k] = 0;
        network_replied(&model->network, (enum suggestion_kind)k, (int)reply->code, reply->text);
        model->version++;
    }
}

/* Detects another run of the daemon, or of its replay: during a replay the shown state stays until
 * the new one is complete. */
static void connection_notice_run(struct connection *c, struct model *model)
{
    uint64_t instance = client_instance(c->client);
    if (!instance || instance == c->instance)
        return;
    held_state_clear(&c->held);
    c->replays = client_replays(c->client);
    if (!c->replays && model->playback.known)
        playback_clear(&model->playback);
    c->holding = c->instance && model->playback.known && model->job[0];
    c->held_ms = c->now_ms;
    c->held_missed = client_missed(c->client);
    c->run_missed = c->holding ? c->run_missed : c->held_missed;
    c->instance = instance;
}

static void connection_release(struct connection *c, struct model *model)
{
    held_state_release(&c->held, model, c->run_missed != c->held_missed);
    c->run_missed = c->held_missed;
    c->holding = 0;
}

/* Messages about the job are held back together with a state; the position of the replay and
 * messages that do not concern a job are not. What could not be stored is counted in the model and
 * shown in the status bar. */
static void connection_apply_message(struct connection *c, struct model *model,
                                     const struct client_message *m)
{
    enum wire_type type = m->message->type;
    int answer = m->id != 0;
    if (c->holding && wire_topic(type) && type != WIRE_TYPE_REPLAY && !answer) {
        if (held_state_add(&c->held, m->message, m->snapshot) == 0)
            return;
        connection_release(c, model);
    }
    model_apply(model, m->message, m->snapshot && !answer);
}

static void release_when_due(struct connection *c, struct model *model)
{
    if (c->holding &&
        (client_is_current(c->client) || (c->held.length && c->now_ms > c->held_ms + HELD_MS)))
        connection_release(c, model);
}

static int ask_replay(struct connection *c, const struct model *model)
{
    int64_t id = client_ask(c->client, "replay", model->job, NULL, c->replay_asked);
    if (id <= 0)
        return id < 0 ? (int)id : -HOLTER_EINTERNAL;
    c->open_replay = id;
    return 0;
}

/* Repeats a request that the previous run of the replay did not answer. */
static void ask_replay_again(struct connection *c, const struct model *model)
{
    if (!c->replay_again || c->holding || client_state(c->client) != CLIENT_CONNECTED)
        return;
    c->replay_again = 0;
    if (c->replays)
        ask_replay(c, model);
}

int connection_pump(struct connection *c, struct model *model, uint64_t now_ms, uint64_t budget_ms)
{
    struct client_message m;
    int applied = 0;
    uint64_t end = clock_mono_ns() + budget_ms * 1000000;
    c->now_ms = now_ms;
    while (client_next(c->client, 0, &m) == 1) {
        connection_notice_run(c, model);
        if (is_late(c, &m))
            continue;
        if (m.message->type == WIRE_TYPE_REPLY)
            connection_handle_reply(c, model, &m.message->reply);
        connection_apply_message(c, model, &m);
        applied++;
        if (clock_mono_ns() >= end)
            break;
    }
    connection_notice_run(c, model);
    release_when_due(c, model);
    ask_replay_again(c, model);
    if (client_state(c->client) == CLIENT_CONNECTED)
        c->broken_ms = 0;
    else if (!c->broken_ms)
        c->broken_ms = now_ms;
    connection_look_for_daemon(c, now_ms);
    follow_newest(c, model);
    connection_recover_missed(c, now_ms);
    ask_status(c, now_ms);
    if (c->tunnel && !c->tunnel_error[0])
        ssh_ended(c->tunnel, c->tunnel_error, sizeof c->tunnel_error);
    return applied;
}

int connection_picture(struct connection *c, struct model *model,
                       const struct commgram_request *wish, uint64_t now_ms)
{
    struct commgram *g = &model->commgram;
    char argument[COMMGRAM_LIST + 256];
    int same = commgram_same(&g->wanted, wish);
    if (!c->open_picture && !g->waiting && same) {
        if (g->error && now_ms - c->picture_ms < AGAIN_MS)
            return g->error;
        if (!g->error && g->now.version)
            return 0;
    }
    if (c->open_picture || client_state(c->client) != CLIENT_CONNECTED ||
        (c->picture_ms && now_ms - c->picture_ms < PICTURE_MS))
        return 1;
    int64_t id = client_ask(c->client, "commgram", model->job, NULL,
                            commgram_argument(wish, argument, sizeof argument));
    if (id > 0) {
        commgram_asked(g, wish);
        c->open_picture = id;
        c->picture_ms = now_ms;
    }
    return 1;
}

int connection_suggest(struct connection *c, struct model *model, enum suggestion_kind kind,
                       const char *objective, const struct wire_request *question)
{
    struct wire_request request = *question;
    request.op = operations[kind];
    request.job = model->job;
    int64_t id = client_state(c->client) == CLIENT_CONNECTED ? client_ask_rows(c->client, &request)
                                                             : -HOLTER_EUNREACHABLE;
    network_asked(&model->network, kind, objective);
    model->version++;
    c->open_suggestion[kind] = id > 0 ? id : 0;
    if (id > 0)
        return 0;
    int error = id < 0 ? (int)id : -HOLTER_EINTERNAL;
    network_replied(&model->network, kind, error, NULL);
    return error;
}

int connection_capture(struct connection *c, struct model *model, const char *argument)
{
    if (c->open_capture)
        return 0;
    int64_t id = client_state(c->client) == CLIENT_CONNECTED
                     ? client_ask(c->client, "capture", model->job, NULL, argument)
                     : -HOLTER_EUNREACHABLE;
    model->captures.waiting = id > 0;
    model->version++;
    c->open_capture = id > 0 ? id : 0;
    if (id > 0)
        return 0;
    int error = id < 0 ? (int)id : -HOLTER_EINTERNAL;
    captures_replied(&model->captures, error, NULL);
    return error;
}

void connection_give_up(struct connection *c, enum suggestion_kind kind)
{
    if (c->open_suggestion[kind] && client_state(c->client) == CLIENT_CONNECTED)
        client_ask(c->client, "cancel", NULL, NULL, operations[kind]);
    c->open_suggestion[kind] = 0;
}

int connection_replay(struct connection *c, const struct model *model, const char *argument)
{
    if (!connection_replay_ready(c))
        return 1;
    snprintf(c->replay_asked, sizeof c->replay_asked, "%s", argument);
    return ask_replay(c, model);
}

int connection_replay_ready(const struct connection *c)
{
    return !c->open_replay && !c->replay_again && !c->holding &&
           client_state(c->client) == CLIENT_CONNECTED;
}

int connection_follow(struct connection *c, const char *job, const char *daemon)
{
    c->open_picture = 0;
    c->open_capture = 0;
    c->holding = 0;
    held_state_clear(&c->held);
    for (int k = 0; k < SUGGESTIONS; k++)
        connection_give_up(c, (enum suggestion_kind)k);
    c->chosen = 1;
    snprintf(c->job, sizeof c->job, "%s", job ? job : "");
    if (daemon[0] && !c->tunnel)
        connection_move(c, daemon);
    return client_follow(c->client, job, NULL);
}

int connection_is_current(const struct connection *c)
{
    return client_is_current(c->client) && !c->holding;
}

/* Whether an interruption is due to a seek: each seek starts a new run of the replay, to which the
 * client reconnects. As long as that is short, the daemon is not reported as lost. */
static int connection_turns(const struct connection *c)
{
    enum client_state state = client_state(c->client);
    return c->replays && c->instance && (state == CLIENT_LOST || state == CLIENT_DIALLING) &&
           (!c->broken_ms || c->now_ms < c->broken_ms + TURN_MS);
}

int connection_state(const struct connection *c)
{
    return c->tunnel_error[0]    ? CLIENT_LOST
           : connection_turns(c) ? CLIENT_CONNECTED
                                 : (int)client_state(c->client);
}

const char *connection_endpoint(const struct connection *c)
{
    return c->endpoint;
}

const char *connection_error(const struct connection *c)
{
    return c->tunnel_error[0] ? c->tunnel_error : client_error(c->client);
}

uint64_t connection_missed(const struct connection *c)
{
    return client_missed(c->client);
}
