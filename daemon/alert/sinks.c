/* The life of sinks, and delivery in their threads. */
#include "daemon/alert/sinks.h"

#include "daemon/analysis/tables/array.h"

#include "daemon/alert/sink_state.h"
#include "holter/clock.h"
#include "holter/condition.h"
#include "holter/plain_text.h"
#include "proto/json.h"
#include "proto/log.h"

#include <errno.h>
#include <libgen.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOG_TOPIC "sinks"
#define SECOND UINT64_C(1000000000)

int sink_time_left(const struct sink_delivery *delivery)
{
    uint64_t now = clock_mono_ns(), leave = atomic_load(delivery->leave_ns);
    uint64_t end = delivery->end_ns < leave ? delivery->end_ns : leave;
    uint64_t left = end > now ? (end - now + 999999) / 1000000 : 0;
    return left > 1000000 ? 1000000 : (int)left;
}

/* ---- reports ------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void sink_report(struct sink *s, const char *format,
                                                              ...)
{
    char text[400], what[300];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    snprintf(text, sizeof(text), "%s: %s", s->name, what);
    if (s->sinks->options.report != NULL)
        s->sinks->options.report(s->sinks->options.user, text);
    else
        log_warn("%s", text);
}

static void sink_note_failure(struct sink *s, const char *why)
{
    const struct sinks_options *o = &s->sinks->options;
    uint64_t pause = o->retry_ns;
    for (unsigned i = 0; i < s->failures && pause < o->maximum_retry_ns; i++)
        pause *= 2;
    s->failures++;
    s->counts.failed++;
    s->retry_ns = clock_mono_ns() + (pause < o->maximum_retry_ns ? pause : o->maximum_retry_ns);
    snprintf(s->error, sizeof(s->error), "%s", why);
    if (!s->reported)
        sink_report(s, "fails: %s; it is tried again, and alerts wait", why);
    s->reported = 1;
}

static void sink_note_success(struct sink *s)
{
    s->counts.delivered++;
    s->failures = 0;
    s->retry_ns = 0;
    s->error[0] = '\0';
    s->hangs = 0;
    if (s->reported)
        sink_report(s, "works again");
    s->reported = 0;
}

/* ---- queueing ------------------------------------------------------------ */

static int sink_copy_encoded(struct wire_buffer *to, const struct wire_buffer *from)
{
    if (array_fit(&to->bytes, 1, &to->capacity, from->length) != 0)
        return -ENOMEM;
    memcpy(to->bytes, from->bytes, from->length);
    to->length = from->length;
    return 0;
}

static void sink_drop_alert(struct sink *s)
{
    s->counts.dropped++;
    if (!s->overflows)
        sink_report(s, "more than %zu alerts wait; some are not delivered", s->waiting);
    s->overflows = 1;
}

/* One state of an alert for all sinks. */
struct sink_state {
    const struct wire_alert *alert;
    const struct alert_labels *labels;
    struct wire_buffer encoded;
    enum sink_stage stage;
    int restored; /* an earlier daemon has delivered it */
};

static void sink_queue_state(struct sink *s, const struct sink_state *state)
{
    const struct wire_alert *alert = state->alert;
    pthread_mutex_lock(&s->mutex);
    struct sink_item *item = sink_find(s, alert->job, alert->id);
    int is_known = item != NULL && (item->delivered != STAGE_NONE || item->queued || item->busy);
    if (!is_known && severity_parse(alert->severity) < s->rule.severity) {
        pthread_mutex_unlock(&s->mutex);
        return;
    }
    if (!is_known) {
        sink_count_waiting(s);
        item = s->waiting >= s->sinks->options.maximum_waiting ? NULL
                                                               : sink_add(s, alert, state->labels);
    }
    if (item == NULL || sink_copy_encoded(&item->alert, &state->encoded) != 0) {
        sink_drop_alert(s);
        if (item != NULL && !is_known)
            sink_drop_item(s, item);
        pthread_mutex_unlock(&s->mutex);
        return;
    }
    item->stage = state->stage;
    item->forgotten = 0;
    item->version++;
    if (state->restored) {
        item->delivered = state->stage;
        item->version_delivered = item->version;
    }
    if (!item->busy) /* else after the delivery in progress */
        sink_schedule(s, item);
    pthread_mutex_unlock(&s->mutex);
}

static void sinks_queue_alert(struct sinks *sinks, const struct wire_alert *alert,
                              const struct alert_labels *labels, int restored)
{
    struct sink_state state = {.alert = alert, .labels = labels, .restored = restored};
    const enum sink_stage stage = strcmp(alert->state, "firing") == 0     ? STAGE_FIRING
                                  : strcmp(alert->state, "resolved") == 0 ? STAGE_RESOLVED
                                                                          : STAGE_NONE;
    if (stage == STAGE_NONE || (stage == STAGE_RESOLVED && alert->fired_ns == 0) ||
        sinks->count == 0 || wire_encode(&state.encoded, WIRE_TYPE_ALERT, alert) != 0)
        return;
    state.stage = stage;
    for (size_t i = 0; i < sinks->count; i++)
        sink_queue_state(sinks->list[i], &state);
    wire_buffer_finish(&state.encoded);
}

void sinks_queue(struct sinks *sinks, const struct wire_alert *alert,
                 const struct alert_labels *labels)
{
    sinks_queue_alert(sinks, alert, labels, 0);
}

void sinks_restore(struct sinks *sinks, const struct wire_alert *alert,
                   const struct alert_labels *labels)
{
    if (strcmp(alert->state, "firing") == 0)
        sinks_queue_alert(sinks, alert, labels, 1);
}

static int sink_has_undelivered_of(const struct sink *s, const char *job)
{
    for (size_t i = 0; i < SINK_BUCKETS; i++)
        for (const struct sink_item *item = s->buckets[i]; item != NULL; item = item->in_bucket)
            if (item->stage != item->delivered && strcmp(item->job, job) == 0)
                return 1;
    return 0;
}

int sinks_have_undelivered(struct sinks *sinks, const char *job)
{
    int found = 0;
    for (size_t i = 0; i < sinks->count && !found; i++) {
        pthread_mutex_lock(&sinks->list[i]->mutex);
        found = sink_has_undelivered_of(sinks->list[i], job);
        pthread_mutex_unlock(&sinks->list[i]->mutex);
    }
    return found;
}

void sinks_forget(struct sinks *sinks, const char *job)
{
    for (size_t i = 0; sinks != NULL && i < sinks->count; i++) {
        struct sink *s = sinks->list[i];
        pthread_mutex_lock(&s->mutex);
        sink_forget_job(s, job);
        pthread_mutex_unlock(&s->mutex);
    }
}

/* ---- delivery: the threads ----------------------------------------------- */

static char *sink_format_json(const struct sink_delivery *delivery, size_t *length)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, length);
    if (out == NULL)
        return NULL;
    fputs("{\"topic\":\"alerts\",", out);
    json_fields(out, delivery->message);
    fputc(',', out);
    sink_put_labels(out, delivery);
    sink_put_generator(out, delivery);
    fputs("}\n", out);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* Deliver one encoded alert. @return 0, or negative with why */
static int sink_send(struct sink_worker *w, const struct sink_item *known,
                     const struct wire_buffer *alert, char *why, size_t capacity)
{
    struct sink *s = w->sink;
    struct wire_message message;
    struct wire_arena arena = {0};
    struct sink_delivery delivery = {.message = &message,
                                     .severity = severity_name(known->severity),
                                     .region = known->region,
                                     .labels = &known->labels,
                                     .cluster = s->sinks->options.cluster,
                                     .external_url = s->sinks->options.external_url,
                                     .terminal = s->sinks->options.terminal,
                                     .end_ns = UINT64_MAX,
                                     .leave_ns = &s->sinks->leave_ns};
    int code = wire_decode(&message, &arena, alert->bytes, alert->length, NULL);
    char *json = code == 0 ? sink_format_json(&delivery, &delivery.json_length) : NULL;
    snprintf(why, capacity, "no memory");
    if (json != NULL) {
        delivery.json = json;
        if (s->rule.timeout_ns != 0)
            delivery.end_ns = clock_mono_ns() + s->rule.timeout_ns;
        code = s->type->send(w->state, &s->rule, &delivery, why, capacity);
    } else {
        code = -ENOMEM;
    }
    free(json);
    wire_arena_finish(&arena);
    return code;
}

/* @param until  set to when to look again, if nothing is due; UINT64_MAX: when woken
 * @return the next item that is due; a sink that fails is tried with one delivery at a time */
static struct sink_item *sink_next_due(struct sink *s, uint64_t *until)
{
    uint64_t now = clock_mono_ns();
    *until = UINT64_MAX;
    if (s->failures > 0 && !s->leaving) {
        for (unsigned i = 0; i < s->type->workers; i++) {
            if (s->workers[i].since_ns != 0)
                return NULL;
        }
    }
    for (struct sink_item *item = s->first; item != NULL; item = item->after) {
        if (s->leaving) {
            if (!item->tried_last && sink_has_undelivered(s, item))
                return item;
            continue;
        }
        uint64_t due = item->due_ns > s->retry_ns ? item->due_ns : s->retry_ns;
        if (due <= now)
            return item;
        *until = due < *until ? due : *until;
    }
    return NULL;
}

/* With the mutex held. */
static void sink_deliver_item(struct sink_worker *w, struct sink_item *item)
{
    struct sink *s = w->sink;
    char why[224];
    struct wire_buffer alert = item->alert;
    enum sink_stage stage = item->stage;
    uint64_t version = item->version;
    item->alert = (struct wire_buffer){0};
    sink_dequeue(s, item);
    item->busy = 1;
    item->tried_last = s->leaving;
    w->since_ns = clock_mono_ns();
    pthread_mutex_unlock(&s->mutex);
    int code = sink_send(w, item, &alert, why, sizeof(why));
    pthread_mutex_lock(&s->mutex);
    w->since_ns = 0;
    item->busy = 0;
    if (code == 0) {
        item->delivered = stage;
        item->version_delivered = version;
        item->delivered_ns = clock_mono_ns();
        sink_note_success(s);
    } else {
        sink_note_failure(s, why);
    }
    if (item->alert.length == 0) { /* no newer state: this one may be delivered again */
        wire_buffer_finish(&item->alert);
        item->alert = alert;
    } else {
        wire_buffer_finish(&alert);
    }
    if (s->first == NULL)
        s->overflows = 0;
    sink_schedule(s, item);
    if (code == 0)
        pthread_cond_broadcast(&s->wake); /* other workers may try again, too */
}

static void *sink_worker_run(void *user)
{
    struct sink_worker *w = user;
    struct sink *s = w->sink;
    pthread_mutex_lock(&s->mutex);
    for (;;) {
        uint64_t until;
        struct sink_item *item = sink_next_due(s, &until);
        if (item != NULL)
            sink_deliver_item(w, item);
        else if (s->leaving)
            break;
        else
            condition_wait(&s->wake, &s->mutex, until);
    }
    s->running--;
    pthread_cond_signal(&s->ended);
    pthread_mutex_unlock(&s->mutex);
    return NULL;
}

/* ---- life ---------------------------------------------------------------- */

static const struct sink_operations *const sinks_operations[SINK_KINDS] = {
    [SINK_TERMINAL] = &sink_terminal,         [SINK_FILE] = &sink_file,
    [SINK_COMMAND] = &sink_command,           [SINK_SYSLOG] = &sink_syslog,
    [SINK_ALERTMANAGER] = &sink_alertmanager,
};

/* Only after its workers have ended. */
static void sink_free(struct sink *s)
{
    for (size_t i = 0; i < SINK_BUCKETS; i++) {
        while (s->buckets[i] != NULL)
            sink_drop_item(s, s->buckets[i]);
    }
    for (unsigned i = 0; i < s->type->workers; i++) {
        if (s->type->destroy != NULL)
            s->type->destroy(s->workers[i].state);
    }
    pthread_cond_destroy(&s->wake);
    pthread_cond_destroy(&s->ended);
    pthread_mutex_destroy(&s->mutex);
    free(s->rule.target);
    free(s);
}

static int sink_start_worker(struct sink *s, struct sink_worker *w)
{
    sigset_t all, before;
    int code = s->type->create == NULL ? 0 : s->type->create(&w->state, &s->rule);
    if (code != 0)
        return code;
    w->sink = s;
    sigfillset(&all); /* signals are the loop's */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_mutex_lock(&s->mutex);
    code = -pthread_create(&w->thread, NULL, sink_worker_run, w);
    w->started = code == 0;
    s->running += (unsigned)w->started;
    pthread_mutex_unlock(&s->mutex);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}

/* A folder that is missing is reported before there is an alert; it may be made until then. */
static void sink_check_folder(struct sink *s)
{
    char *path = strdup(s->rule.target);
    if (path != NULL && access(dirname(path), F_OK) != 0)
        sink_report(s, "its folder cannot be found: %s", strerror(errno));
    free(path);
}

static int sinks_add_sink(struct sinks *sinks, const struct sink_rule *rule)
{
    struct sink *s = calloc(1, sizeof(*s));
    if (s == NULL)
        return -ENOMEM;
    pthread_mutex_init(&s->mutex, NULL);
    condition_init(&s->wake);
    condition_init(&s->ended);
    s->sinks = sinks;
    s->type = sinks_operations[rule->kind];
    s->rule = *rule;
    s->rule.target = rule->target == NULL ? NULL : strdup(rule->target);
    snprintf(s->name, sizeof(s->name), "%s%s%.60s", s->type->name, rule->target == NULL ? "" : " ",
             rule->target == NULL ? "" : rule->target);
    sinks->list[sinks->count++] = s;
    if (rule->target != NULL && s->rule.target == NULL)
        return -ENOMEM;
    if (rule->kind == SINK_FILE)
        sink_check_folder(s);
    int code = 0;
    for (unsigned i = 0; code == 0 && i < s->type->workers; i++)
        code = sink_start_worker(s, &s->workers[i]);
    return code;
}

int sinks_create(struct sinks **out, const struct rules *rules, const struct sinks_options *options)
{
    struct sinks *sinks = calloc(1, sizeof(*sinks));
    if (sinks == NULL)
        return -ENOMEM;
    struct sinks_options *o = &sinks->options;
    *o = *options;
    o->retry_ns = o->retry_ns == 0 ? SECOND : o->retry_ns;
    o->maximum_retry_ns = o->maximum_retry_ns == 0 ? 60 * SECOND : o->maximum_retry_ns;
    o->update_ns = o->update_ns == 0 ? 10 * SECOND : o->update_ns;
    o->hang_ns = o->hang_ns == 0 ? 15 * SECOND : o->hang_ns;
    o->leave_ns = o->leave_ns == 0 ? 4 * SECOND : o->leave_ns;
    o->maximum_waiting = o->maximum_waiting == 0 ? 1024 : o->maximum_waiting;
    atomic_init(&sinks->leave_ns, UINT64_MAX);
    int code = 0;
    for (size_t i = 0; code == 0 && i < rules->sink_count; i++)
        code = sinks_add_sink(sinks, &rules->sinks[i]);
    if (code != 0) {
        sinks_destroy(sinks);
        return code;
    }
    *out = sinks;
    return 0;
}

/* @return 1 when a thread did not return: then nothing that it uses may be freed */
static int sink_stop(struct sink *s, uint64_t until_ns)
{
    pthread_mutex_lock(&s->mutex);
    while (s->running > 0 && condition_wait(&s->ended, &s->mutex, until_ns) != ETIMEDOUT)
        ;
    int detached = s->running > 0;
    pthread_mutex_unlock(&s->mutex);
    for (unsigned i = 0; i < s->type->workers; i++) {
        if (s->workers[i].started && detached)
            pthread_detach(s->workers[i].thread);
        else if (s->workers[i].started)
            pthread_join(s->workers[i].thread, NULL);
    }
    pthread_mutex_lock(&s->mutex);
    sink_count_waiting(s);
    size_t untold = s->waiting;
    for (unsigned i = 0; i < s->type->workers; i++)
        untold += s->workers[i].since_ns != 0;
    if (untold > 0)
        sink_report(s, "%zu %s not delivered", untold, untold == 1 ? "alert was" : "alerts were");
    pthread_mutex_unlock(&s->mutex);
    return detached;
}

void sinks_destroy(struct sinks *sinks)
{
    if (sinks == NULL)
        return;
    uint64_t until = clock_mono_ns() + sinks->options.leave_ns;
    int detached = 0;
    atomic_store(&sinks->leave_ns, until);
    for (size_t i = 0; i < sinks->count; i++) {
        struct sink *s = sinks->list[i];
        pthread_mutex_lock(&s->mutex);
        s->leaving = 1;
        pthread_cond_broadcast(&s->wake);
        pthread_mutex_unlock(&s->mutex);
    }
    for (size_t i = 0; i < sinks->count; i++) {
        /* A delivery may end a second late, as libcurl checks the time each second. */
        if (sink_stop(sinks->list[i], until + SECOND + SECOND / 4))
            detached = 1;
        else
            sink_free(sinks->list[i]);
    }
    if (!detached)
        free(sinks);
}

/* ---- status ------------------------------------------------------------- */

void sinks_check(struct sinks *sinks)
{
    uint64_t now = clock_mono_ns();
    for (size_t i = 0; i < sinks->count; i++) {
        struct sink *s = sinks->list[i];
        pthread_mutex_lock(&s->mutex);
        for (unsigned k = 0; k < s->type->workers && !s->hangs; k++) {
            uint64_t since = s->workers[k].since_ns;
            if (since == 0 || now < since || now - since <= sinks->options.hang_ns)
                continue;
            s->hangs = 1;
            snprintf(s->error, sizeof(s->error), "takes nothing");
            if (!s->reported)
                sink_report(s, "hangs: it takes nothing; alerts wait");
            s->reported = 1;
        }
        pthread_mutex_unlock(&s->mutex);
    }
}

void sinks_error(struct sinks *sinks, char *out, size_t capacity)
{
    out[0] = '\0';
    for (size_t i = 0; i < sinks->count; i++) {
        struct sink *s = sinks->list[i];
        pthread_mutex_lock(&s->mutex);
        if (s->error[0] != '\0')
            text_append(out, capacity, "%s%s: %s", out[0] == '\0' ? "" : "; ", s->name, s->error);
        pthread_mutex_unlock(&s->mutex);
    }
}

void sinks_count(struct sinks *sinks, struct sinks_counts *out)
{
    *out = (struct sinks_counts){0};
    for (size_t i = 0; i < sinks->count; i++) {
        struct sink *s = sinks->list[i];
        pthread_mutex_lock(&s->mutex);
        out->delivered += s->counts.delivered;
        out->failed += s->counts.failed;
        out->dropped += s->counts.dropped;
        pthread_mutex_unlock(&s->mutex);
    }
}
