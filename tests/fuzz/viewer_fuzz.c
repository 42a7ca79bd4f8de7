/* Any inputs of mouse and keyboard, with messages between them: each input is a job, then steps of
 * a few bytes. After each step the window is laid out; now and then it is painted. */
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_source.h"
#include "tests/proto/wire_random.h"
#include "tests/viewer/synthetic.h"
#include "tests/viewer/synthetic_commgram.h"
#include "tests/viewer/synthetic_network.h"

#include "proto/client.h"
#include "viewer/draw/painter.h"
#include "viewer/draw/type.h"
#include "viewer/ui/ui_input.h"
#include "viewer/views/frame/frame.h"
#include "viewer/views/views.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 160
#define LONGEST_LAYOUT 10000 /* layouts in a row that leave something to do */
#define SEEDS 24u
#define SEED_BYTES 300u

/* 0 to 1 */
static double share(struct source *s)
{
    return byte(s) / 255.0;
}

/* A viewer without a display, and the job that it shows. */
struct window {
    struct source source;
    struct model *model;
    struct synthetic_network net; /**< its job, with or without a network */
    int has_network;
    struct synthetic_commgram gram;
    uint64_t phases; /**< sent */
    uint64_t captures;
    struct ui ui;
    struct theme theme;
    struct range range;
    struct pictures pictures;
    struct scene scene;
    struct painter painter;
    struct other_run other; /**< that it is compared with; without a model: with none */
    uint64_t now_ms;
};

static const struct synthetic_latency latency = {
    .regions = 4, .slow = 3, .onset = 8, .recovery = 30, .rate = 0.2, .most = 2.4};

static void apply(void *user, const struct wire_message *message, int snapshot)
{
    struct window *w = user;
    FUZZ_HOLDS(model_apply(w->model, message, snapshot) == 0);
}

/* ---- text ------------------------------------------------------------------------------------ */

static double plain_width(void *user, enum text_style style, int flags, const char *text,
                          size_t bytes)
{
    (void)user;
    (void)flags;
    (void)text;
    return (double)bytes * text_size(style) * 0.56;
}

/* The fonts of this machine, loaded once. NULL: there are none. */
static struct type *fonts(double scale)
{
    static struct type *type;
    char why[200];
    if (type != NULL)
        type_rescale(type, scale);
    else if (type_create(&type, scale, why, sizeof why) != 0)
        type = NULL;
    return type;
}

/* ---- messages -------------------------------------------------------------------------------- */

static void pass_window(struct window *w)
{
    struct synthetic *job = &w->net.job;
    if (w->has_network)
        synthetic_network_window(&w->net, apply, w);
    else
        synthetic_window(job, apply, w);
    synthetic_latencies(job, &latency, apply, w);
    synthetic_lateness(job, &latency, apply, w);
    const uint64_t ends = (job->window - SYNTHETIC_FIRST) * SYNTHETIC_SECOND / w->gram.phase_ns;
    if (ends > w->phases + 1) {
        synthetic_phases(&w->gram, w->phases + 1, ends - 1, apply, w);
        w->phases = ends - 1;
    }
}

static void begin_job(struct window *w)
{
    static const char *const forms[] = {"torus:4,4", "fattree:4,1/1,1", "torus:2,2,2,2",
                                        "dragonfly:groups=5,routers=4,nodes=2,global=1"};
    const uint32_t ranks[] = {1, 2, 16, 64, 96};
    const uint8_t kind = byte(&w->source);
    w->has_network = kind & 1;
    if (w->has_network)
        synthetic_network_init(&w->net, forms[kind / 2 % 4], 1 + kind / 8 % 3);
    else
        synthetic_init(&w->net.job, ranks[kind / 2 % 5], 8, kind & 16 ? 26 : 6, 1);
    w->net.measured = kind & 32;
    w->gram = (struct synthetic_commgram){
        .ranks = w->net.job.ranks,
        .every = kind & 64 ? 4 : 0,
        .begin_ns = SYNTHETIC_FIRST * SYNTHETIC_SECOND,
        .phase_ns = 3 * SYNTHETIC_SECOND,
        .modelled = kind & 128,
    };
    if (kind % 7 == 0)
        return; /* a window that has had no message yet */
    if (w->has_network)
        synthetic_network_begin(&w->net, apply, w);
    else
        synthetic_begin(&w->net.job, apply, w);
    synthetic_regions(&w->net.job, &latency, apply, w);
    for (int i = byte(&w->source) % 24; i > 0; i--)
        pass_window(w);
}

static void answer_commgram(struct window *w)
{
    struct commgram_request request;
    if (ui_commgram_request(&w->ui, w->model, &request))
        synthetic_picture(&w->gram, &request, apply, w);
}

static void send_replay(struct window *w)
{
    static const char *const states[] = {"playing", "seeking", "indexing", "end"};
    const uint8_t kind = byte(&w->source);
    const struct synthetic_replay replay = {
        .state = states[kind % 4],
        .position = share(&w->source),
        .indexed = share(&w->source),
        .target = kind & 4 ? share(&w->source) : 0,
        .known = kind & 8 ? 0.1 : 0,
        .speed = kind & 16 ? 10 : 1,
        .paused = kind & 32,
        .looping = kind & 64,
        .marked = kind & 128,
        .run = 1,
        .change = 1 + kind % 3,
        .fault = kind == 255 ? "the recording is damaged" : NULL,
    };
    synthetic_replay(&replay, kind & 1, apply, w);
}

static void send_capture(struct window *w)
{
    const uint8_t kind = byte(&w->source);
    const struct synthetic_capture capture = {
        .id = ++w->captures,
        .alert = kind & 1 ? 7 : 0,
        .calls = 1 + kind / 8,
        .fault = kind & 2 ? "a node did not answer" : NULL,
        .messages = kind & 4,
    };
    synthetic_capture(&w->net.job, &capture, 0, apply, w);
}

static void send_message(struct window *w)
{
    static const char *const states[] = {"pending", "firing", "resolved"};
    struct synthetic *job = &w->net.job;
    const uint8_t kind = byte(&w->source), number = byte(&w->source);
    const uint32_t rank = number % job->ranks;
    const int has_data = job->window > SYNTHETIC_FIRST;
    switch (kind % 10) {
    case 0:
        synthetic_skip(job, number % 8);
        break;
    case 1:
        if (has_data)
            synthetic_growth(job, &latency, 7, states[number % 3], apply, w);
        break;
    case 2:
        if (has_data)
            synthetic_late_rank(job, 8, rank, apply, w);
        break;
    case 3:
        if (has_data)
            synthetic_hang(job, 9, rank, apply, w);
        break;
    case 4:
        if (has_data)
            synthetic_death(job, rank, apply, w);
        break;
    case 5:
        send_capture(w);
        break;
    case 6:
        send_replay(w);
        break;
    case 7:
        answer_commgram(w);
        break;
    case 8:
        if (w->has_network)
            synthetic_network_mapping(&w->net, number & 1 ? 1 : 0.5, apply, w);
        break;
    default:
        if (w->has_network)
            synthetic_network_routes(&w->net, apply, w);
    }
}

/* A number of a random message: mostly one that the job may have. */
static uint64_t likely_number(const struct window *w, const char *name, uint64_t number,
                              uint64_t *random)
{
    const struct synthetic *job = &w->net.job;
    const uint64_t now_ns = job->window * SYNTHETIC_SECOND;
    const size_t length = strlen(name);
    if (random_below(random, 8) == 0)
        return number;
    if (strcmp(name, "window") == 0)
        return job->window + random_below(random, 3) - 2;
    if (length > 3 && strcmp(name + length - 3, "_ns") == 0)
        return now_ns - random_below(random, 20 * SYNTHETIC_SECOND);
    return random_below(random, job->ranks + 2);
}

static void set_likely(const struct window *w, const char *name, uint64_t limit, void *slot,
                       uint64_t *random)
{
    uint64_t number;
    memcpy(&number, slot, sizeof number);
    number = likely_number(w, name, number, random);
    number = number < limit ? number : limit;
    memcpy(slot, &number, sizeof number);
}

static void make_likely(const struct window *w, const struct wire_table *table, uint8_t *message,
                        uint64_t *random)
{
    for (size_t f = 0; f < table->count; f++) {
        const struct wire_field *field = &table->fields[f];
        if (field->kind == WIRE_KIND_U64)
            set_likely(w, field->name, field->limit, message + field->offset, random);
        if (field->kind != WIRE_KIND_ROWS)
            continue;
        const struct wire_rows *rows = field->rows();
        uint8_t *memory;
        uint64_t count;
        memcpy(&memory, message + field->offset, sizeof memory);
        memcpy(&count, message + field->offset + sizeof memory, sizeof count);
        for (uint64_t r = 0; r < count; r++)
            for (size_t c = 0; c < rows->count; c++)
                if (rows->columns[c].kind == WIRE_KIND_U64)
                    set_likely(w, rows->columns[c].name, rows->columns[c].limit,
                               memory + r * rows->size + rows->columns[c].offset, random);
    }
}

/* The field that names the job. @return its offset; SIZE_MAX: the message is of no job */
static size_t job_offset(const struct wire_table *table)
{
    for (size_t f = 0; f < table->count; f++)
        if (strcmp(table->fields[f].name, "job") == 0 && table->fields[f].kind == WIRE_KIND_STR)
            return table->fields[f].offset;
    return SIZE_MAX;
}

/* Any message of the job. */
static void send_any(struct window *w)
{
    const struct wire_table *table = wire_table(byte(&w->source) % 64u);
    uint64_t random = 1 + byte(&w->source) + 256 * (uint64_t)byte(&w->source);
    const size_t offset = table != NULL ? job_offset(table) : SIZE_MAX;
    if (offset == SIZE_MAX)
        return;
    uint8_t *made = random_message(table, &random, 24);
    make_likely(w, table, made, &random);
    struct wire_message message = {.type = table->type};
    const char *job = w->model->job[0] ? w->model->job : "1";
    memcpy(&message.hello, made, table->size);
    memcpy((uint8_t *)&message.hello + offset, &job, sizeof job);
    FUZZ_HOLDS(model_apply(w->model, &message, random & 1) >= 0);
    random_message_free(table, made);
}

/* ---- inputs ---------------------------------------------------------------------------------- */

static void enter(struct window *w, struct input input)
{
    ui_input(&w->ui, w->model, &w->scene, &input);
}

/* A point of something that reacts to the mouse, or any. */
static struct input mouse_at(struct window *w, enum input_kind kind)
{
    struct source *s = &w->source;
    const struct scene *scene = &w->scene;
    struct input input = {.kind = kind, .clicks = 1};
    const size_t number = byte(s) | (size_t)byte(s) << 8;
    if (scene->hit_count > 0 && number % 8 != 0) {
        const struct box box = scene->hits[number / 8 % scene->hit_count].box;
        input.x = box.x + box.w * share(s);
        input.y = box.y + box.h * share(s);
    } else {
        input.x = scene->w * (share(s) * 1.2 - 0.1);
        input.y = scene->h * (share(s) * 1.2 - 0.1);
    }
    return input;
}

static void click(struct window *w, unsigned modifiers)
{
    struct input input = mouse_at(w, INPUT_MOVE);
    input.shift = modifiers & 1;
    input.ctrl = modifiers >> 1 & 1;
    enter(w, input);
    input.kind = INPUT_PRESS;
    input.clicks = modifiers & 4 ? 2 : 1;
    enter(w, input);
    input.kind = INPUT_RELEASE;
    enter(w, input);
}

static void turn_wheel(struct window *w, unsigned modifiers)
{
    struct input input = mouse_at(w, INPUT_WHEEL);
    input.wheel = (modifiers & 1 ? -1 : 1) * (modifiers & 2 ? 40 : 1);
    input.ctrl = modifiers >> 2 & 1;
    enter(w, input);
}

static void press_key(struct window *w, unsigned modifiers)
{
    const uint8_t key = byte(&w->source);
    struct input input = {.kind = INPUT_KEY, .shift = modifiers & 1, .ctrl = modifiers >> 1 & 1};
    input.key = key < 128 ? key : (int)KEY_ESCAPE + key % (KEY_PRINT - KEY_ESCAPE + 1);
    enter(w, input);
}

static void type_text(struct window *w)
{
    static const char *const texts[] = {"\xc3\xa9", "rank", "node", "10", "-", "\xff", ",", ":"};
    const uint8_t key = byte(&w->source);
    struct input input = {.kind = INPUT_TEXT};
    if (key < 0xf0)
        snprintf(input.text, sizeof input.text, "%c", 32 + key % 95);
    else
        snprintf(input.text, sizeof input.text, "%s", texts[key % 8]);
    enter(w, input);
}

static void resize(struct window *w)
{
    const double width = 320 + 12.0 * byte(&w->source), height = 200 + 8.0 * byte(&w->source);
    enter(w, (struct input){.kind = INPUT_RESIZE, .x = width, .y = height});
}

static void step(struct window *w)
{
    const uint8_t kind = byte(&w->source);
    const unsigned modifiers = kind >> 5;
    switch (kind % 16) {
    case 0:
    case 1:
    case 2:
        click(w, modifiers);
        break;
    case 3:
        enter(w, mouse_at(w, INPUT_MOVE));
        break;
    case 4: /* the other end of a drag may be a later step */
        enter(w, mouse_at(w, INPUT_PRESS));
        break;
    case 5:
        enter(w, mouse_at(w, INPUT_RELEASE));
        break;
    case 6:
    case 7:
        turn_wheel(w, modifiers);
        break;
    case 8:
    case 9:
        press_key(w, modifiers);
        break;
    case 10:
        type_text(w);
        break;
    case 11:
        ui_go(&w->ui, byte(&w->source) % VIEWS);
        break;
    case 12:
        if (modifiers == 0)
            resize(w);
        else if (modifiers == 1)
            enter(w, (struct input){.kind = INPUT_LEAVE});
        else
            pass_window(w);
        break;
    case 13:
        send_message(w);
        break;
    default:
        send_any(w);
    }
}

/* ---- the window ------------------------------------------------------------------------------ */

static void check_scene(const struct window *w)
{
    const struct scene *scene = &w->scene;
    FUZZ_HOLDS(!scene->failed);
    for (size_t i = 0; i < scene->panel_count; i++) {
        const struct box box = scene->panels[i].box;
        FUZZ_HOLDS(isfinite(box.x + box.y + box.w + box.h));
    }
    for (size_t i = 0; i < scene->hit_count; i++) {
        const struct box box = scene->hits[i].box;
        FUZZ_HOLDS(isfinite(box.x + box.y + box.w + box.h));
    }
}

static void compose(struct window *w, struct text_measure measure)
{
    uint64_t first = 0, last = 0;
    ui_windows(&w->ui, w->model, &first, &last);
    FUZZ_HOLDS(range_update(&w->range, w->model, w->ui.time.range, first, last) >= 0);
    FUZZ_HOLDS(ui_update_flows(&w->ui, w->model, &w->range) >= 0);
    FUZZ_HOLDS(torus_update(&w->ui, w->model, &w->range) >= 0);
    if (w->other.model != NULL)
        FUZZ_HOLDS(other_run_update(&w->other, w->model, w->range.kind, first, last) >= 0);
    theme_init(&w->theme, w->ui.theme);
    frame_scene(&w->scene, w->model, &w->range, &w->ui, &w->theme, &w->pictures, measure);
}

static void show(struct window *w, int number)
{
    struct type *type = fonts(w->ui.scale);
    const struct text_measure measure =
        type != NULL ? type_measure(type) : (struct text_measure){plain_width, NULL};
    int layouts = 0;
    w->now_ms += 40;
    ui_follow_data(&w->ui, w->model, w->now_ms);
    torus_play(&w->ui, w->model, w->now_ms);
    do {
        compose(w, measure);
        if (ui_settle(&w->ui, w->model, &w->scene))
            compose(w, measure);
        check_scene(w);
    } while (w->pictures.busy && ++layouts < LONGEST_LAYOUT);
    FUZZ_HOLDS(layouts < LONGEST_LAYOUT);
    if (type != NULL && number % 8 == 0)
        FUZZ_HOLDS(painter_paint(&w->painter, &w->scene, type) == 0);
}

static void begin_model(struct window *w)
{
    FUZZ_HOLDS(model_create(&w->model, 32 << 20) == 0);
    begin_job(w);
}

static void finish_model(struct window *w)
{
    if (w->has_network)
        synthetic_network_finish(&w->net);
    else
        synthetic_finish(&w->net.job);
    model_destroy(w->model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct window w = {.source = {data, data + size}}, beside = {0};
    const int compared = byte(&w.source) % 4 == 3;
    ui_init(&w.ui, 1280, 720, 1, THEME_DARK);
    w.ui.connection.state = CLIENT_CONNECTED;
    if (compared) { /* with a run of the same job */
        beside.source = w.source;
        begin_model(&beside);
        w.other = (struct other_run){.model = beside.model, .names = {"before", "after"}};
        w.ui.network.other = &w.other;
    }
    begin_model(&w);
    for (int i = 0; i < STEPS && w.source.at < w.source.end; i++) {
        step(&w);
        show(&w, i);
    }
    painter_finish(&w.painter);
    scene_finish(&w.scene);
    pictures_finish(&w.pictures);
    range_finish(&w.range);
    ui_finish(&w.ui);
    other_run_finish(&w.other);
    if (compared)
        finish_model(&beside);
    finish_model(&w);
    return 0;
}

size_t fuzz_seed(unsigned number, uint8_t *out)
{
    uint64_t random = number + 1;
    if (number >= SEEDS)
        return SIZE_MAX;
    out[0] = (uint8_t)number; /* each fourth is compared with another run */
    out[1] = (uint8_t)number; /* each form of a job */
    for (size_t i = 2; i < SEED_BYTES; i++)
        out[i] = (uint8_t)random_next(&random);
    return SEED_BYTES;
}
