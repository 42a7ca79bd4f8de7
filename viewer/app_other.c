/* The second run of a comparison: its connection, model and figures. */
#include "viewer/app_state.h"

#include "holter/error.h"

#define LOG_TOPIC "view"
#include "proto/log.h"

enum { HISTORY_BUDGET = 256 << 20 }; /* bytes of details kept of ranks, pairs and calls */

int app_other_open(struct app *a)
{
    const struct options *o = a->options;
    const struct connection_options c = {.endpoint = o->against, .key_dir = o->key_dir};
    char why[700] = "";
    if (!o->against)
        return 0;
    int error = model_create(&a->other_model, HISTORY_BUDGET);
    if (!error)
        error = connection_open(&a->other_connection, &c, why, sizeof why);
    if (error) {
        log_error("%s", why[0] ? why : holter_strerror(error));
        return error;
    }
    a->other = (struct other_run){.model = a->other_model,
                                  .names = {o->names[0] ? o->names[0] : "the followed run",
                                            o->names[1] ? o->names[1] : o->against}};
    a->ui.network.other = &a->other;
    a->ui.network.compare = (enum network_compare)o->compare;
    return 0;
}

/* Details of windows are only known of those that pass while this viewer is connected: a replay
 * that waits at its begin is played, once. */
static void app_other_play(struct connection *connection, const struct model *m, int *played)
{
    const struct playback *p = &m->playback;
    if (*played || !p->known || !connection_replay_ready(connection) ||
        !connection_is_current(connection))
        return;
    if (p->state != PLAYBACK_PAUSED || p->position_ns > p->begin_ns) {
        *played = 1;
        return;
    }
    *played = connection_replay(connection, m, "play") == 0;
}

int app_other_pump(struct app *a)
{
    if (a->options->play)
        app_other_play(a->connection, a->model, &a->played[0]);
    if (!a->other_connection)
        return 0;
    uint64_t facts = a->other_model->version;
    connection_pump(a->other_connection, a->other_model, app_now_ms(), APP_PUMP_MS);
    app_other_play(a->other_connection, a->other_model, &a->played[1]);
    return facts != a->other_model->version;
}

void app_other_sum_up(struct app *a)
{
    uint64_t first = 0, last = 0;
    if (!a->other_connection)
        return;
    ui_windows(&a->ui, a->model, &first, &last);
    other_run_update(&a->other, a->model, a->range.kind, first, last);
}

/* Whether a run is known up to its end, or to that of its recording. */
static int app_other_is_whole(const struct connection *connection, const struct model *m)
{
    return m->job[0] && (model_ended(m) || m->playback.state == PLAYBACK_ENDED) &&
           connection_is_current(connection);
}

int app_other_is_complete(const struct app *a)
{
    return (!a->options->play || (a->played[0] && app_other_is_whole(a->connection, a->model))) &&
           (!a->other_connection ||
            (a->played[1] && app_other_is_whole(a->other_connection, a->other_model)));
}

void app_other_close(struct app *a)
{
    connection_close(a->other_connection);
    other_run_finish(&a->other);
    model_destroy(a->other_model);
}
