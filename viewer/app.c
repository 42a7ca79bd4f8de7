/* The program of the viewer: connects, feeds the model, lays out scenes and shows them until the
 * user quits. */
#include "viewer/app.h"
#include "viewer/app_state.h"

#include "viewer/draw/canvas.h"
#include "viewer/draw/painter.h"
#include "viewer/draw/type.h"
#include "viewer/draw/window.h"
#include "viewer/first_run.h"
#include "viewer/link/connection.h"
#include "viewer/picture_caption.h"
#include "viewer/save_mapping.h"
#include "viewer/ui/ui_address.h"
#include "viewer/ui/ui_input.h"
#include "viewer/ui/ui_question.h"
#include "viewer/views/frame/frame.h"
#include "viewer/views/views.h"

#include "daemon/analysis/network/mapping_text.h"
#include "holter/clock.h"
#include "holter/error.h"
#include "holter/plain_text.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOG_TOPIC "view"
#include "proto/log.h"

enum {
    HISTORY_BUDGET = 512 << 20, /* bytes of details kept of ranks, pairs and calls */
    FRAME_MS = 16,
    LOOK_MS = 50,             /* to look again whether messages came, while nothing changes */
    MAPPING_BYTES = 64 << 20, /* longest file of a mapping */
};

uint64_t app_now_ms(void)
{
    return clock_mono_ns() / 1000000;
}

/* A whole file as text, of at most MAPPING_BYTES. */
static int app_read_text(const char *path, char **out)
{
    FILE *file = fopen(path, "r");
    size_t capacity = 0;
    if (!file)
        return -errno;
    ssize_t got = getdelim(out, &capacity, 0, file);
    if (got < 0 && !ferror(file)) { /* an empty file */
        free(*out);
        *out = strdup("");
    }
    int error = ferror(file) ? -EIO : !*out ? -ENOMEM : got >= MAPPING_BYTES ? -HOLTER_ELIMIT : 0;
    fclose(file);
    return error;
}

/* Reads a plain mapping into the nodes of ranks; TOPOLOGY_NONE for those that it leaves out. */
static int app_read_mapping(const char *path, uint32_t **out, uint32_t *count, char *why,
                            size_t capacity)
{
    struct mapping_seat *seats = NULL;
    struct mapping_reader reader = {.nodes = TOPOLOGY_MAX_VERTICES};
    char *text = NULL;
    size_t length = 0;
    int error = app_read_text(path, &text);
    if (!error) {
        reader.text = text;
        reader.length = strlen(text);
        error = mapping_read(&seats, &length, &reader);
    }
    free(text);
    if (reader.why[0])
        snprintf(why, capacity, "line %u: %s", reader.line, reader.why);
    uint64_t ranks = length ? seats[length - 1].rank + 1 : 0;
    if (!error && (ranks == 0 || ranks > MODEL_RANKS)) {
        snprintf(why, capacity, ranks ? "too many ranks are mapped" : "no rank is mapped");
        error = -HOLTER_EUSAGE;
    }
    *count = (uint32_t)ranks;
    *out = error ? NULL : malloc(ranks * sizeof **out);
    for (uint64_t rank = 0; *out && rank < ranks; rank++)
        (*out)[rank] = TOPOLOGY_NONE;
    for (size_t i = 0; *out && i < length; i++)
        (*out)[seats[i].rank] = seats[i].vertex;
    free(seats);
    return error ? error : *out ? 0 : -ENOMEM;
}

/* The mappings of the command line, each a panel of view torus. */
static int read_mappings(struct app *a)
{
    const struct options *o = a->options;
    int error = 0;
    for (int i = 0; i < o->mapping_count && !error; i++) {
        const char *path = o->mappings[i];
        char why[250] = "";
        uint32_t *seats, count;
        error = app_read_mapping(path, &seats, &count, why, sizeof why);
        if (!error)
            error = torus_add_mapping(&a->ui.torus, text_base_name(path), seats, count);
        if (error)
            log_error("%s: %s", path, why[0] ? why : holter_strerror(error));
    }
    return error;
}

/* The layouts of the command line, for view landscape. */
static int read_layout(struct app *a)
{
    const char *path = a->options->layout;
    struct formula_fault fault = {0};
    struct formulas *formulas = NULL;
    char *text = NULL;
    int error = path ? app_read_text(path, &text) : 0;
    if (!path)
        return 0;
    if (!error)
        error = formulas_parse(&formulas, text, strlen(text), &fault);
    free(text);
    if (fault.line)
        log_error("%s:%u:%u: %s", path, fault.line, fault.column, fault.text);
    else if (error)
        log_error("%s: %s", path, holter_strerror(error));
    else
        landscape_give(&a->ui.landscape, formulas, text_base_name(path));
    return error;
}

int app_start(struct app *a, const struct options *o)
{
    const double scale = scene_fitting_scale(o->scale, o->w, o->h);
    char why[700] = "";
    *a = (struct app){.options = o};
    int error = model_create(&a->model, HISTORY_BUDGET);
    if (error) {
        log_error("%s", holter_strerror(error));
        return error;
    }
    ui_init(&a->ui, (int)(o->w / scale), (int)(o->h / scale), scale, o->theme);
    a->ui.view = o->view >= 0                 ? (enum view_id)o->view
                 : o->layout || o->shape >= 0 ? VIEW_LANDSCAPE
                                              : VIEW_OVERVIEW;
    a->ui.room_last[place_names[a->ui.view].room] = a->ui.view;
    a->ui.time.range = o->since_start ? RANGE_START : RANGE_SPAN;
    a->ui.commgram.phases = o->phases ? o->phases : a->ui.commgram.phases;
    a->ui.commgram.communities = o->communities ? o->communities : a->ui.commgram.communities;
    a->ui.network.objective = (enum remap_objective)o->objective;
    a->ui.commgram.unmodelled = o->no_collectives;
    memcpy(a->ui.commgram.opened, o->ranks, sizeof a->ui.commgram.opened);
    theme_init(&a->theme, o->theme);
    error = read_mappings(a);
    if (!error)
        error = read_layout(a);
    a->ui.dependencies.steps = o->arrange;
    if (o->shape >= 0)
        a->ui.landscape.shape = (enum landscape_shape)o->shape;
    if (error)
        return error;
    error = type_create(&a->type, scale, why, sizeof why);
    if (!error) {
        const struct connection_options c = {o->endpoint, o->ssh_host, o->key_dir, o->job,
                                             (int)o->finder};
        error = connection_open(&a->connection, &c, why, sizeof why);
    }
    if (!error)
        return app_other_open(a);
    log_error("%s", why[0] ? why : holter_strerror(error));
    return error;
}

void app_finish(struct app *a)
{
    connection_close(a->connection);
    app_other_close(a);
    painter_finish(&a->painter);
    type_destroy(a->type);
    scene_finish(&a->scene);
    pictures_finish(&a->pictures);
    range_finish(&a->range);
    ui_finish(&a->ui);
    model_destroy(a->model);
}

void app_note_connection(struct app *a)
{
    struct ui_connection *c = &a->ui.connection;
    c->state = connection_state(a->connection);
    c->missed = connection_missed(a->connection);
    snprintf(c->endpoint, sizeof c->endpoint, "%s", connection_endpoint(a->connection));
    snprintf(c->error, sizeof c->error, "%s", connection_error(a->connection));
}

/* Bring the sums up to the visible time. With very many pairs that takes longer than a frame: then
 * the last ones stay in sight while one pans, and at most a fifth of the time goes into new ones.
 */
static void app_sum_up(struct app *a)
{
    uint64_t first = 0, last = 0, start = app_now_ms();
    ui_windows(&a->ui, a->model, &first, &last);
    const struct range *r = &a->range;
    int usable = r->valid && !strcmp(r->job, a->model->job) &&
                 r->ranks.count <= a->model->rank_count &&
                 r->pairs.count <= a->model->pairs.keys.count &&
                 r->calls.count <= a->model->calls.keys.count;
    a->sums_old =
        usable && a->sums_cost_ms > FRAME_MS / 2 && start < a->sums_ms + 4 * a->sums_cost_ms;
    if (a->sums_old || range_update(&a->range, a->model, a->ui.time.range, first, last) == 0)
        return;
    a->sums_ms = app_now_ms();
    a->sums_cost_ms = a->sums_ms - start;
}

/* The span of time of the command line, once there is a job to which it belongs. */
void app_set_span(struct app *a)
{
    const struct options *o = a->options;
    int64_t begin, end;
    ui_whole_time(a->model, &begin, &end);
    if (a->span_set || end <= begin)
        return;
    a->span_set = 1;
    if (isnan(o->from) && isnan(o->to))
        return;
    if (!isnan(o->from))
        begin = ui_time_of(a->model, o->from);
    if (!isnan(o->to))
        end = ui_time_of(a->model, o->to);
    ui_show_span(&a->ui, a->model, begin, end);
}

/* Ask for the picture of the CommGram that is to be seen. */
static void want_picture(struct app *a)
{
    struct commgram_request wish;
    if (a->ui.view == VIEW_COMMGRAM && !a->ui.jobs_first &&
        ui_commgram_request(&a->ui, a->model, &wish))
        connection_picture(a->connection, a->model, &wish, app_now_ms());
}

/* Facts and choices to a scene. */
void app_compose(struct app *a)
{
    app_sum_up(a);
    app_other_sum_up(a);
    ui_update_flows(&a->ui, a->model, &a->range);
    torus_update(&a->ui, a->model, &a->range);
    theme_init(&a->theme, a->ui.theme);
    type_rescale(a->type, a->ui.scale);
    frame_scene(&a->scene, a->model, &a->range, &a->ui, &a->theme, &a->pictures,
                type_measure(a->type));
    if (!ui_settle(&a->ui, a->model, &a->scene))
        return;
    ui_update_flows(&a->ui, a->model, &a->range);
    frame_scene(&a->scene, a->model, &a->range, &a->ui, &a->theme, &a->pictures,
                type_measure(a->type));
}

/* Compose until nothing is left to do. */
static void app_compose_fully(struct app *a)
{
    do
        app_compose(a);
    while (a->pictures.busy);
}

void app_notify(struct app *a, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(a->ui.overlay.notice, sizeof a->ui.overlay.notice, format, arguments);
    va_end(arguments);
    a->ui.overlay.notice_until_ms = app_now_ms() + 5000;
}

/* ---- pictures ------------------------------------------------------------ */

static int write_scene(FILE *file, const void *scene)
{
    scene_dump(scene, file);
    return 0;
}

int app_save(struct app *a, const char *path)
{
    if (text_ends(path, ".txt"))
        return picture_write(path, write_scene, &a->scene);
    int error = painter_paint(&a->painter, &a->scene, a->type);
    return error ? error : png_write(&a->painter.canvas, path);
}

void app_caption(struct app *a)
{
    char caption[120];
    app_notify(
        a, "%s",
        picture_caption(&a->ui, a->model, place_names[a->ui.view].label, caption, sizeof caption));
}

/* Compose a page: A4 across at 200 dots an inch, light as paper, without the mouse. */
static void app_compose_page(struct app *a)
{
    a->ui.scale = 1.46;
    a->ui.w = 2339 / a->ui.scale;
    a->ui.h = 1654 / a->ui.scale;
    a->ui.theme = THEME_LIGHT;
    a->ui.mouse.x = a->ui.mouse.y = -1;
    app_caption(a);
    app_compose_fully(a);
}

/* Keys of KEYS_PICTURE: a file in the chosen directory, named after job and time. */
static void save_picture(struct app *a)
{
    const struct ui *ui = &a->ui;
    const enum theme_kind theme = ui->theme;
    const struct ui_mouse_state mouse = ui->mouse;
    const double w = ui->w, h = ui->h, scale = ui->scale;
    char path[1024], clock[32];
    time_t seconds = time(NULL);
    struct tm parts;
    strftime(clock, sizeof clock, "%Y%m%d-%H%M%S", localtime_r(&seconds, &parts));
    snprintf(path, sizeof path, "%s/holter-%s-%s%s", a->options->save_in,
             a->model->job[0] ? a->model->job : "view", clock,
             ui->picture == PICTURE_TEXT   ? ".txt"
             : ui->picture == PICTURE_PAGE ? "-page.png"
                                           : ".png");
    if (ui->picture == PICTURE_PAGE) {
        app_compose_page(a);
    } else {
        if (ui->picture == PICTURE_SEEN)
            app_caption(a);
        app_compose_fully(a);
    }
    int error = app_save(a, path);
    a->ui.theme = theme;
    a->ui.mouse = mouse;
    a->ui.w = w;
    a->ui.h = h;
    a->ui.scale = scale;
    const char *shown = strncmp(path, "./", 2) != 0 ? path : path + 2;
    if (error)
        app_notify(a, "%.100s: not saved: %.50s", shown, holter_strerror(error));
    else
        app_notify(a, "%s saved as %.130s", ui->picture == PICTURE_PAGE ? "page" : "picture",
                   shown);
}

/* Key "Y": the address of what is seen goes to the clipboard. */
static void app_copy_address(struct app *a)
{
    char text[ADDRESS_TEXT];
    struct address address;
    ui_address(&a->ui, a->model, &address);
    if (window_copy(address_print(&address, text, sizeof text)))
        app_notify(a, "copied: %.140s", text);
    else
        app_notify(a, "the clipboard cannot be used");
}

/* ---- better mappings and routes ------------------------------------------ */

static void ask_suggestion(struct app *a, enum suggestion_kind kind)
{
    struct suggestion *answer = &a->model->network.suggestions[kind];
    const char *objective =
        kind == SUGGEST_MAPPING ? ui_objective_name(a->ui.network.objective) : "";
    char why[160] = "";
    if (answer->waiting)
        return; /* one search at a time; it can be given up */
    struct ui_question *q = malloc(sizeof *q);
    int error = q ? ui_question_make(q, &a->ui, a->model, kind, why, sizeof why) : -ENOMEM;
    if (error) {
        app_notify(a, "%s", why[0] ? why : holter_strerror(error));
    } else {
        connection_suggest(a->connection, a->model, kind, objective, &q->request);
        snprintf(answer->subject, sizeof answer->subject, "%s", q->subject);
        answer->base = what_if_state(&a->ui.network.what_if);
    }
    if (q)
        ui_question_finish(q);
    free(q);
}

int app_select_given(struct app *a)
{
    const struct options *o = a->options;
    struct address wanted = o->address;
    wanted.from = o->from;
    wanted.to = o->to;
    if (o->select)
        snprintf(wanted.select, sizeof wanted.select, "%s", o->select);
    int error = a->selected ? 0 : ui_open_address(&a->ui, a->model, &wanted);
    a->selected = !error;
    return error;
}

void app_suggest_given(struct app *a)
{
    const struct network *n = &a->model->network;
    int wanted = a->options->suggest & ~a->suggested;
    /* The second is asked for when the first is shown: it builds on that. */
    if (a->options->apply && (a->suggested & ~a->applied))
        wanted = 0;
    else if (a->options->apply && wanted & 1)
        wanted = 1;
    if (wanted && a->selected && n->topology && n->rows_known &&
        connection_is_current(a->connection)) {
        app_compose(a); /* routes of the selection are asked for by name */
        for (int k = 0; k < SUGGESTIONS; k++)
            if (wanted & 1 << k)
                ask_suggestion(a, (enum suggestion_kind)k);
        a->suggested |= wanted;
    }
    for (int k = 0; k < SUGGESTIONS; k++) {
        if (!a->options->apply || !(a->suggested & ~a->applied & 1 << k) ||
            !n->suggestions[k].ready)
            continue;
        a->applied |= 1 << k; /* once: it is the user's then */
        app_compose_fully(a); /* nodes keep the places that they have in reality */
        ui_network_show(&a->ui, a->model, (enum suggestion_kind)k);
        if (a->applied == a->options->suggest)
            a->ui.network.compare = (enum network_compare)a->options->compare;
    }
}

static void keep_mapping(struct app *a)
{
    static const struct what_if none;
    const struct what_if *shown =
        a->ui.network.saved == SAVED_ANSWER ? &none : &a->ui.network.what_if;
    char path[300], text[400] = "";
    int error =
        save_mapping(a->model, shown, a->options->save_in, path, sizeof path, text, sizeof text);
    app_notify(a, "%s%.150s", error ? "no file: " : "", text);
}

static void read_back(struct app *a)
{
    char argument[COMMGRAM_LIST];
    connection_capture(a->connection, a->model,
                       ui_capture_argument(&a->ui, a->model, argument, sizeof argument));
}

/* Shows why the last capture that was requested was not made. */
static void report_refused_capture(struct app *a)
{
    char *refused = a->model->captures.refused;
    if (refused[0])
        app_notify(a, "no capture: %.150s", refused);
    refused[0] = 0;
}

static void do_suggestions(struct app *a, int effects)
{
    if (effects & UI_REMAP)
        ask_suggestion(a, SUGGEST_MAPPING);
    if (effects & UI_REROUTE)
        ask_suggestion(a, SUGGEST_ROUTES);
    if (effects & UI_DISCARD) {
        connection_give_up(a->connection, a->ui.network.discarded);
        suggestion_clear(&a->model->network.suggestions[a->ui.network.discarded]);
    }
    if (effects & UI_MAPPING)
        keep_mapping(a);
}

/* Ask for what the user wants of a replay, one thing after the other. */
static void control_replay(struct app *a)
{
    struct transport *t = &a->ui.transport;
    struct playback *p = &a->model->playback;
    char argument[64];
    if (p->refused[0]) {
        app_notify(a, "%.150s", p->refused);
        p->refused[0] = 0;
    }
    if (connection_replay_ready(a->connection)) {
        if (transport_next(t, p, app_now_ms(), argument, sizeof argument))
            connection_replay(a->connection, a->model, argument);
        else
            transport_settle(t);
    }
}

/* ---- the window ---------------------------------------------------------- */

/* Take all inputs that are there; wait for the first for at most timeout_ms. @return enum ui_effect
 */
static int app_handle_inputs(struct app *a, struct window *window, int timeout_ms)
{
    struct input in;
    int effects = 0, kind;
    while ((kind = window_wait(window, timeout_ms, &in)) != 0) {
        timeout_ms = 0;
        effects |= kind == 1 ? ui_input(&a->ui, a->model, &a->scene, &in) : 0;
        if (effects & UI_QUIT)
            break;
    }
    return effects;
}

/* The list of jobs comes first where a choice is to be made. */
static void offer_jobs(struct app *a)
{
    const struct model *m = a->model;
    uint32_t running = 0;
    for (uint32_t i = 0; i < m->job_count; i++)
        running += !strcmp(m->jobs[i].state, "running");
    a->ui.jobs_first = running > 1;
}

static int app_turn(struct app *a, struct window *window, int *offered)
{
    struct ui_connection before = a->ui.connection;
    uint64_t facts = a->model->version;
    connection_pump(a->connection, a->model, app_now_ms(), APP_PUMP_MS);
    app_note_connection(a);
    ui_notice_job(&a->ui, a->model);
    int news = app_other_pump(a);
    if (!*offered && a->model->jobs_known) {
        *offered = 1;
        if (!a->options->job && a->options->view < 0)
            offer_jobs(a);
    }
    if (connection_is_current(a->connection)) { /* in a part of the state they may be elsewhere */
        app_set_span(a);
        app_select_given(a);
    }
    ui_follow_data(&a->ui, a->model, app_now_ms());
    app_suggest_given(a);
    int played = torus_play(&a->ui, a->model, app_now_ms());
    want_picture(a);
    unsigned wanted = a->ui.transport.wanted;
    control_replay(a);
    report_refused_capture(a);
    a->ui.scale = window_scale(window);
    return played || news || wanted != a->ui.transport.wanted || facts != a->model->version ||
           memcmp(&before, &a->ui.connection, sizeof before) != 0;
}

static int app_show_progress(struct app *a, struct window *window)
{
    app_compose(a);
    if (painter_paint(&a->painter, &a->scene, a->type) < 0)
        return -ENOMEM;
    window_show(window, &a->painter);
    return 0;
}

static void app_do_small(struct app *a, int effects)
{
    if (effects & UI_PICTURE)
        save_picture(a);
    if (effects & UI_COPY)
        app_copy_address(a);
    if (effects & UI_COPY_ROWS)
        app_copy_rows(a);
    if (effects & UI_UNDERSTOOD)
        first_run_end();
}

static int app_loop(struct app *a, struct window *window, const volatile sig_atomic_t *stop)
{
    int offered = 0, changed = 1;
    uint64_t shown = 0;
    while (!*stop) {
        int had_notice = a->ui.overlay.notice[0] != 0;
        uint64_t now = app_now_ms(), due = shown + FRAME_MS;
        int busy = changed || a->ui.time.moving || a->sums_old || a->pictures.busy;
        int wait = !busy ? LOOK_MS : now < due ? (int)(due - now) : 0;
        int effects = app_handle_inputs(a, window, wait);
        if (effects & UI_QUIT)
            return 0;
        if (effects & UI_JOB) {
            model_forget_job(a->model);
            connection_follow(a->connection, a->ui.wanted_job, a->ui.wanted_daemon);
        }
        app_do_small(a, effects);
        do_suggestions(a, effects);
        if (effects & UI_CAPTURE)
            read_back(a);
        int news = app_turn(a, window, &offered);
        int moved = ui_tick(&a->ui, app_now_ms());
        changed |= news || moved || effects || a->sums_old || a->pictures.busy ||
                   had_notice != (a->ui.overlay.notice[0] != 0);
        if (!changed || app_now_ms() < shown + FRAME_MS)
            continue;
        if (app_show_progress(a, window) < 0)
            return -ENOMEM;
        shown = app_now_ms();
        changed = 0;
    }
    return 0;
}

int app_window(const struct options *o, const volatile sig_atomic_t *stop)
{
    struct app a;
    struct window *window = NULL;
    char why[512] = "";
    int error = app_start(&a, o);
    if (!error) {
        error = window_open(&window, o->w, o->h, o->scale, why, sizeof why);
        if (error)
            log_error("%s", why[0] ? why : holter_strerror(error));
    }
    if (!error) {
        window_size(window, &a.ui.w, &a.ui.h);
        a.ui.overlay.first_run = first_run_is();
        error = app_loop(&a, window, stop);
        if (error)
            log_error("%s", holter_strerror(error));
    }
    window_close(window);
    app_finish(&a);
    return error ? 1 : 0;
}
