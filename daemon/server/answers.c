/* Pictures under way, and the requests of their clients that wait. */
#include "daemon/server/answers.h"

#include "daemon/server/front.h"
#include "holter/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* A copy of a request. */
struct queued_request {
    struct wire_message message;
    struct wire_arena arena; /* of the message */
    struct queued_request *next;
};

/* The work for one peer. */
struct answers_work {
    struct peer_id peer;
    struct front *front;
    struct picture *picture; /* owned; NULL: finished, the queue is being answered */
    uint64_t id;             /* of its request */
    char job[65];
    uint64_t number; /* of the job, see jobs_number() */
    struct queued_request *queue, **end;
    size_t queued, queued_bytes;
    struct answers_work *next;
};

struct answers {
    uv_idle_t idle;
    const struct jobs *jobs;
    struct answers_work *list; /* the first one is served next */
    void *user;
    void (*answer)(void *user, struct front *front, struct peer *peer,
                   const struct wire_request *request);
};

static void answers_on_idle(uv_idle_t *idle);

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

static void answers_free_request(struct queued_request *request)
{
    wire_arena_finish(&request->arena);
    free(request);
}

static void answers_destroy_work(struct answers_work *w)
{
    picture_destroy(w->picture);
    while (w->queue != NULL) {
        struct queued_request *gone = w->queue;
        w->queue = gone->next;
        answers_free_request(gone);
    }
    free(w);
}

static void answers_on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void answers_destroy(struct answers *a)
{
    if (a == NULL)
        return;
    while (a->list != NULL) {
        struct answers_work *gone = a->list;
        a->list = gone->next;
        answers_destroy_work(gone);
    }
    uv_close((uv_handle_t *)&a->idle, answers_on_closed);
}

static struct answers_work *answers_find_work(const struct answers *a, const struct peer *peer)
{
    struct answers_work *w = a->list;
    while (w != NULL && !peer_has_id(peer, &w->peer))
        w = w->next;
    return w;
}

int answers_is_busy(const struct answers *a, const struct peer *peer)
{
    const struct answers_work *w = answers_find_work(a, peer);
    return w != NULL && w->picture != NULL;
}

static void answers_append_work(struct answers *a, struct answers_work *w)
{
    struct answers_work **end = &a->list;
    while (*end != NULL)
        end = &(*end)->next;
    *end = w;
}

static struct answers_work *answers_add_work(struct answers *a, struct front *front,
                                             const struct peer *peer)
{
    struct answers_work *w = calloc(1, sizeof(*w));
    if (w == NULL)
        return NULL;
    w->front = front;
    w->peer = peer->id;
    w->end = &w->queue;
    answers_append_work(a, w);
    return w;
}

int answers_start_picture(struct answers *a, struct front *front, const struct peer *peer,
                          uint64_t id, struct job *job, struct picture *picture)
{
    struct answers_work *w = answers_find_work(a, peer);
    w = w != NULL ? w : answers_add_work(a, front, peer);
    if (w == NULL) {
        picture_destroy(picture);
        return -ENOMEM;
    }
    w->picture = picture;
    w->id = id;
    snprintf(w->job, sizeof(w->job), "%s", job_id(job));
    w->number = jobs_number(a->jobs, w->job);
    uv_idle_start(&a->idle, answers_on_idle);
    return 0;
}

/* Bytes of the rows of a request: its texts are short. */
static size_t answers_rows_size(const struct wire_request *r)
{
    return r->seats_count * sizeof(*r->seats) + r->hops_count * sizeof(*r->hops) +
           r->routes_count * sizeof(*r->routes);
}

int answers_queue(struct answers *a, const struct peer *peer, const struct wire_request *request)
{
    struct answers_work *w = answers_find_work(a, peer);
    const struct wire_message message = {.type = WIRE_TYPE_REQUEST, .request = *request};
    const size_t size = answers_rows_size(request);
    if (w == NULL || w->queued == ANSWERS_QUEUE_MAXIMUM ||
        (w->queued > 0 && w->queued_bytes + size > ANSWERS_QUEUE_BYTES))
        return -HOLTER_EFULL;
    struct queued_request *asked = calloc(1, sizeof(*asked));
    if (asked == NULL)
        return -ENOMEM;
    int code = wire_copy(&asked->message, &asked->arena, &message);
    if (code != 0) {
        answers_free_request(asked);
        return code;
    }
    *w->end = asked;
    w->end = &asked->next;
    w->queued++;
    w->queued_bytes += size;
    return 0;
}

/* ---- turns ----------------------------------------------------------------------- */

struct answers_recipient {
    struct front *front;
    struct peer *peer;
};

static int answers_send_picture(void *user, const struct wire_commgram *message)
{
    const struct answers_recipient *t = user;
    return front_send(t->front, t->peer, WIRE_TYPE_COMMGRAM, message);
}

/* @return 1: there is more to do for the picture */
static int answers_step_picture(struct answers *a, struct answers_work *w, struct peer *peer)
{
    struct answers_recipient telling = {w->front, peer};
    struct job *job = jobs_find(a->jobs, w->job);
    int code = job == NULL || jobs_number(a->jobs, w->job) != w->number
                   ? -HOLTER_ENOJOB
                   : picture_step(w->picture, job_phases(job));
    if (code == 1)
        return 1;
    if (code == 0)
        code = picture_send(w->picture, answers_send_picture, &telling);
    struct wire_reply reply = {
        .id = w->id, .code = code, .text = code == 0 ? "" : holter_strerror(code)};
    front_send(w->front, peer, WIRE_TYPE_REPLY, &reply);
    picture_destroy(w->picture);
    w->picture = NULL;
    return 0;
}

/* Answer queued requests, up to the next picture. */
static void answers_answer_queue(struct answers *a, struct answers_work *w, struct peer *peer)
{
    while (w->picture == NULL && w->queue != NULL) {
        struct queued_request *asked = w->queue;
        w->queue = asked->next;
        w->end = w->queue == NULL ? &w->queue : w->end;
        w->queued--;
        w->queued_bytes -= answers_rows_size(&asked->message.request);
        a->answer(a->user, w->front, peer, &asked->message.request);
        answers_free_request(asked);
    }
}

static void answers_on_idle(uv_idle_t *idle)
{
    struct answers *a = idle->data;
    struct answers_work *w = a->list;
    struct peer *peer = w == NULL ? NULL : front_find_peer(w->front, &w->peer);
    if (peer != NULL && !answers_step_picture(a, w, peer))
        answers_answer_queue(a, w, peer);
    if (w != NULL) {
        a->list = w->next;
        w->next = NULL;
    }
    if (w != NULL && (peer == NULL || w->picture == NULL))
        answers_destroy_work(w);
    else if (w != NULL) /* the other clients go first */
        answers_append_work(a, w);
    if (a->list == NULL)
        uv_idle_stop(&a->idle);
}
