/* Paints one view to a PNG file without a display, for option --snapshot. */
#include "viewer/app.h"
#include "viewer/app_state.h"

#include "holter/error.h"
#include "holter/plain_text.h"
#include "proto/client.h"
#include "proto/quantity.h"

#include <errno.h>
#include <math.h>
#include <poll.h>

#define LOG_TOPIC "view"
#include "proto/log.h"

enum {
    SILENCE_MS = 60000,  /* longest wait for data, while none arrives */
    PROGRESS_MS = 10000, /* between two reports about a search that runs */
    ANSWER_MS = 30000,   /* longest wait for a picture of the CommGram */
    LOOK_MS = 5,         /* to look again whether messages came */
};

/* Take in the messages that came; where there are none, wait a little. */
static void app_snapshot_wait(struct app *a)
{
    if (connection_pump(a->connection, a->model, app_now_ms(), APP_PUMP_MS) == 0)
        poll(NULL, 0, LOOK_MS);
    app_note_connection(a);
    app_other_pump(a);
}

/* Seconds of the job that have been seen, by its own windows. */
static double data_seconds(const struct model *m)
{
    int64_t begin, end;
    ui_whole_time(m, &begin, &end);
    return (double)(end - begin) / 1e9;
}

/* Whether nothing will change: the job has ended, or its replay has, or is paused. */
static int app_snapshot_is_still(const struct model *m)
{
    const struct playback *p = &m->playback;
    return p->known ? p->state == PLAYBACK_PAUSED || p->state == PLAYBACK_ENDED : model_ended(m);
}

/* Whether the model has the data for the picture: as much of the job as was requested, or all of
 * it. */
static int app_snapshot_complete(const struct app *a, uint64_t start_ms)
{
    double waited = (double)(app_now_ms() - start_ms) / 1e3;
    int still = app_snapshot_is_still(a->model);
    if (a->options->view == VIEW_JOBS && !a->options->play)
        return a->model->jobs_known && waited >= (still ? 1 : a->options->after);
    if (!a->model->job[0] || !a->model->jobs_known || !connection_is_current(a->connection))
        return 0;
    if (!app_other_is_complete(a))
        return 0;
    if (still)
        return waited >= 1; /* the last windows and sums arrive together with the end */
    return data_seconds(a->model) > 0 && waited >= a->options->after;
}

/* What grows while a recording is played, of both runs; reports of a daemon on itself do not count.
 */
static uint64_t app_snapshot_progress(const struct app *a)
{
    const struct model *const models[] = {a->model, a->other_model};
    uint64_t sum = 0;
    for (int i = 0; i < 2; i++)
        if (models[i])
            sum += models[i]->series.first + models[i]->series.count + models[i]->details_version +
                   models[i]->playback.version;
    return sum;
}

/* @return 0, or a negative error, which is logged: the job has nothing of the span of time */
static int app_snapshot_check_span(const struct app *a)
{
    const struct options *o = a->options;
    int64_t begin, end;
    ui_whole_time(a->model, &begin, &end);
    const int64_t from = isnan(o->from) ? begin : ui_time_of(a->model, o->from),
                  to = isnan(o->to) ? end : ui_time_of(a->model, o->to);
    if (end <= begin || (from < to && from < end && to > begin))
        return 0;
    log_error("the job, %s long, has nothing between --from and --to",
              quantity_duration((double)(end - begin)).text);
    return -HOLTER_ERANGE;
}

/* Waits for the picture of the CommGram that the command line requests. */
static int await_picture(struct app *a, const volatile sig_atomic_t *stop)
{
    struct commgram_request wish;
    uint64_t start_ms = app_now_ms();
    int due;
    if (a->ui.view != VIEW_COMMGRAM || !ui_commgram_request(&a->ui, a->model, &wish))
        return 0;
    while ((due = connection_picture(a->connection, a->model, &wish, app_now_ms())) == 1) {
        app_snapshot_wait(a);
        if (*stop)
            return -EINTR;
        if (app_now_ms() - start_ms > ANSWER_MS) {
            log_error("no CommGram: %s", holter_strerror(-HOLTER_ETIMEOUT));
            return -HOLTER_ETIMEOUT;
        }
    }
    if (due < 0)
        log_error("no CommGram: %s", a->model->commgram.error_text);
    return due;
}

/* A search runs as long as it needs on a busy machine: the daemon bounds its processor time and
 * always answers. Reports it, and gives up only when the data that the request needs are missing.
 * @param idle_ms      since when no search runs
 * @param reported_ms  time of the last report
 * @return 0 or a negative error, which is logged */
static int await_search(const struct app *a, uint64_t *idle_ms, uint64_t *reported_ms)
{
    const struct network *n = &a->model->network;
    const struct suggestion *s = &n->suggestions[SUGGEST_MAPPING];
    uint64_t now_ms = app_now_ms();
    int searches = s->waiting || n->suggestions[SUGGEST_ROUTES].waiting;
    if (searches)
        *idle_ms = now_ms;
    if (now_ms - *idle_ms > SILENCE_MS) {
        log_error("no suggestion: %s",
                  n->topology ? "no loads of links are known" : "no network is known");
        return -HOLTER_ETIMEOUT;
    }
    if (searches && now_ms - *reported_ms > PROGRESS_MS) {
        if (s->waiting)
            log_warn("still searching for a better mapping, %.0f %% done", 100 * s->progress);
        else
            log_warn("still searching for better routes");
        *reported_ms = now_ms;
    }
    return 0;
}

/* What is to be selected, and the suggestions of the command line. */
static int await_suggestions(struct app *a, const volatile sig_atomic_t *stop)
{
    uint64_t idle_ms = app_now_ms(), reported_ms = idle_ms;
    int error = app_select_given(a);
    if (error) {
        log_error("%s %s: there is none such", a->options->at ? "--at" : "--select",
                  a->options->at ? a->options->at : a->options->select);
        return error;
    }
    for (int waiting = a->options->suggest != 0; waiting;) {
        ui_follow_data(&a->ui, a->model, app_now_ms());
        app_suggest_given(a);
        waiting = a->suggested != a->options->suggest;
        for (int k = 0; k < SUGGESTIONS; k++) {
            const struct suggestion *s = &a->model->network.suggestions[k];
            waiting |= s->waiting;
            if (s->error)
                log_error("no suggestion: %s", s->error_text);
            error = s->error ? s->error : error;
        }
        error = *stop ? -EINTR : error;
        if (!error && waiting)
            error = await_search(a, &idle_ms, &reported_ms);
        if (error)
            return error;
        app_snapshot_wait(a);
    }
    return 0;
}

int app_snapshot(const struct options *o, const volatile sig_atomic_t *stop)
{
    struct app a;
    int error = app_start(&a, o);
    uint64_t start_ms = app_now_ms();
    uint64_t news_ms = start_ms, facts = 0, longest_ms = (uint64_t)(o->after * 1000) + SILENCE_MS;
    while (!error && !app_snapshot_complete(&a, start_ms)) {
        app_snapshot_wait(&a);
        const uint64_t progress = app_snapshot_progress(&a);
        if (o->play && progress != facts)
            news_ms = app_now_ms(); /* a long recording is played as long as it needs */
        facts = progress;
        if (*stop)
            error = -EINTR;
        else if (a.ui.connection.state == CLIENT_REFUSED)
            error = -HOLTER_EDENIED;
        else if (app_now_ms() - news_ms > longest_ms)
            error = a.model->job[0] || a.ui.connection.state != CLIENT_CONNECTED ? -HOLTER_ETIMEOUT
                                                                                 : -HOLTER_ENOJOB;
        if (error && !*stop) /* who stops it needs no message */
            log_error("%s: %s%s%s", a.ui.connection.endpoint, holter_strerror(error),
                      a.ui.connection.error[0] ? ": " : "", a.ui.connection.error);
    }
    error = error ? error : app_snapshot_check_span(&a);
    if (!error) {
        app_set_span(&a);
        error = await_suggestions(&a, stop);
        error = error ? error : await_picture(&a, stop);
    }
    if (!error) {
        ui_follow_data(&a.ui, a.model, app_now_ms());
        ui_tick(&a.ui, app_now_ms() + 1000);
        if (!text_ends(o->snapshot, ".txt"))
            app_caption(&a);
        do
            app_compose(&a);
        while (a.pictures.busy);
        error = app_save(&a, o->snapshot);
        if (error)
            log_error("%s: %s", o->snapshot, holter_strerror(error));
    }
    app_finish(&a);
    return error ? 1 : 0;
}
