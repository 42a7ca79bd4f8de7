#include "daemon/server/answers.h"

#include "holter/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A copy of a request; its texts lie behind it. */
struct asked {
    struct wire_request request;
    struct asked *next;
    char texts[];
};

/* The work for one peer. */
struct work {
    uint8_t peer[PEER_ID_BYTES];
    size_t peer_length;
    struct front *front;
    struct picture *picture; /* owned; NULL: done, the queue is being answered */
    uint64_t id;             /* of its request */
    char job[65];
    struct job *of; /* only compared: it may be gone */
    struct asked *queue, **end;
    size_t queued;
    struct work *next;
};

struct answers {
    uv_idle_t idle;
    const struct jobs *jobs;
    struct work *list; /* the one whose turn it is comes first */
    void *user;
    void (*answer)(void *user, struct front *front, struct peer *peer,
                   const struct wire_request *request);
};

static void on_idle(uv_idle_t *idle);

int answers_create(struct answers **out, uv_loop_t *loop, const struct jobs *jobs, void *user,
                   void (*answer)(void *user, struct front *front, struct peer *peer,
                                  const struct wire_request *request))
{
    struct answers *a = calloc(1, sizeof(*a));
    if (a == NULL)
        return -ENOMEM;
    int code = uv_idle_init(loop, &a->idle);
    if (code != 0) {
        free(a);
        return code;
    }
    a->idle.data = a;
    a->jobs = jobs;
    a->user = user;
    a->answer = answer;
    *out = a;
    return 0;
}

static void work_destroy(struct work *w)
{
    picture_destroy(w->picture);
    while (w->queue != NULL) {
        struct asked *gone = w->queue;
        w->queue = gone->next;
        free(gone);
    }
    free(w);
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void answers_destroy(struct answers *a)
{
    if (a == NULL)
        return;
    while (a->list != NULL) {
        struct work *gone = a->list;
        a->list = gone->next;
        work_destroy(gone);
    }
    uv_close((uv_handle_t *)&a->idle, on_closed);
}

static struct work *work_of(const struct answers *a, const struct peer *peer)
{
    struct work *w = a->list;
    while (w != NULL &&
           (w->peer_length != peer->id_length || memcmp(w->peer, peer->id, peer->id_length) != 0))
        w = w->next;
    return w;
}

int answers_wait(const struct answers *a, const struct peer *peer)
{
    const struct work *w = work_of(a, peer);
    return w != NULL && w->picture != NULL;
}

static struct work *add_work(struct answers *a, struct front *front, const struct peer *peer)
{
    struct work *w = calloc(1, sizeof(*w)), **end = &a->list;
    if (w == NULL)
        return NULL;
    w->front = front;
    memcpy(w->peer, peer->id, peer->id_length);
    w->peer_length = peer->id_length;
    w->end = &w->queue;
    while (*end != NULL)
        end = &(*end)->next;
    *end = w;
    return w;
}

int answers_make(struct answers *a, struct front *front, const struct peer *peer, uint64_t id,
                 struct job *job, struct picture *picture)
{
    struct work *w = work_of(a, peer);
    w = w != NULL ? w : add_work(a, front, peer);
    if (w == NULL) {
        picture_destroy(picture);
        return -ENOMEM;
    }
    w->picture = picture;
    w->id = id;
    w->of = job;
    snprintf(w->job, sizeof(w->job), "%s", job_id(job));
    uv_idle_start(&a->idle, on_idle);
    return 0;
}

static const char *copy(char **at, const char *text)
{
    const char *from = text == NULL ? "" : text, *copied = *at;
    size_t length = strlen(from) + 1;
    memcpy(*at, from, length);
    *at += length;
    return copied;
}

static size_t room_of(const char *text)
{
    return text == NULL ? 1 : strlen(text) + 1;
}

int answers_queue(struct answers *a, const struct peer *peer, const struct wire_request *request)
{
    struct work *w = work_of(a, peer);
    if (w == NULL || w->queued == ANSWERS_QUEUED)
        return -HOLTER_EFULL;
    struct asked *asked = malloc(sizeof(*asked) + room_of(request->op) + room_of(request->job) +
                                 room_of(request->topic) + room_of(request->argument));
    if (asked == NULL)
        return -ENOMEM;
    char *at = asked->texts;
    asked->request = (struct wire_request){.id = request->id,
                                           .op = copy(&at, request->op),
                                           .job = copy(&at, request->job),
                                           .topic = copy(&at, request->topic),
                                           .argument = copy(&at, request->argument)};
    asked->next = NULL;
    *w->end = asked;
    w->end = &asked->next;
    w->queued++;
    return 0;
}

/* ---- turns ----------------------------------------------------------------------- */

struct telling {
    struct front *front;
    struct peer *peer;
};

static int tell(void *user, const struct wire_commgram *message)
{
    const struct telling *t = user;
    return front_send(t->front, t->peer, WIRE_TYPE_COMMGRAM, message);
}

/* @return 1: there is more to do for the picture */
static int step(struct answers *a, struct work *w, struct peer *peer)
{
    struct telling telling = {w->front, peer};
    struct job *job = jobs_find(a->jobs, w->job);
    int code =
        job == NULL || job != w->of ? -HOLTER_ENOJOB : picture_step(w->picture, job_phases(job));
    if (code == 1)
        return 1;
    if (code == 0)
        code = picture_tell(w->picture, tell, &telling);
    struct wire_reply reply = {
        .id = w->id, .code = code, .text = code == 0 ? "" : holter_strerror(code)};
    front_send(w->front, peer, WIRE_TYPE_REPLY, &reply);
    picture_destroy(w->picture);
    w->picture = NULL;
    return 0;
}

/* What was asked meanwhile, up to the next picture. */
static void answer_queued(struct answers *a, struct work *w, struct peer *peer)
{
    while (w->picture == NULL && w->queue != NULL) {
        struct asked *asked = w->queue;
        w->queue = asked->next;
        w->end = w->queue == NULL ? &w->queue : w->end;
        w->queued--;
        a->answer(a->user, w->front, peer, &asked->request);
        free(asked);
    }
}

static void on_idle(uv_idle_t *idle)
{
    struct answers *a = idle->data;
    struct work *w = a->list;
    struct peer *peer = w == NULL ? NULL : front_peer(w->front, w->peer, w->peer_length);
    if (peer != NULL && !step(a, w, peer))
        answer_queued(a, w, peer);
    if (w != NULL) {
        a->list = w->next;
        w->next = NULL;
    }
    if (w != NULL && (peer == NULL || w->picture == NULL)) {
        work_destroy(w);
    } else if (w != NULL) { /* the others' turn */
        struct work **end = &a->list;
        while (*end != NULL)
            end = &(*end)->next;
        *end = w;
    }
    if (a->list == NULL)
        uv_idle_stop(&a->idle);
}
