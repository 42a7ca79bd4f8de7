/* What app.c (the program and its window) and app_snapshot.c (pictures without a display) share. */
#ifndef HOLTER_VIEWER_APP_STATE_H
#define HOLTER_VIEWER_APP_STATE_H

#include "viewer/draw/painter.h"
#include "viewer/draw/type.h"
#include "viewer/link/connection.h"
#include "viewer/ui/ui_input.h"
#include "viewer/view_options.h"
#include "viewer/views/views.h"

#include <stdint.h>

/** Messages are read for at most this time before other work is looked after. */
#define APP_PUMP_MS 12

struct app {
    const struct options *options;
    struct model *model;
    struct range range;
    struct ui ui;
    struct theme theme;
    struct pictures pictures;
    struct scene scene;
    struct painter painter;
    struct type *type;
    struct connection *connection;
    uint64_t sums_ms, sums_cost_ms; /* when the sums were last computed, and how long it took */
    int sums_old;                   /* they lag behind the visible time */
    int selected;                   /* what was to be selected is */
    int suggested;                  /* bits 1 << enum suggestion_kind: it was asked for */
    int applied;                    /* likewise: it was shown */
    int span_set;                   /* the span that was asked for is in sight */
    struct connection *other_connection; /* of the second run; NULL: there is none */
    struct model *other_model;           /* likewise */
    struct other_run other;
    int played[2]; /* the replay of the followed run, of the other one, does not wait for a start */
};

uint64_t app_now_ms(void);

/** @return 0 or a negative error, which is logged; app_finish() it in any case */
int app_start(struct app *app, const struct options *options);
void app_finish(struct app *app);

/** Show how the connection is. */
void app_note_connection(struct app *app);

/** Bring the span that the command line asks for into sight. */
void app_set_span(struct app *app);

/** Make the scene of what is known and chosen. */
void app_compose(struct app *app);

/** Show title, time and scale of a picture in its status line. */
void app_caption(struct app *app);

/** Save the scene, as a picture or as text by the name's end. @return 0 or a negative error */
int app_save(struct app *app, const char *path);

/** A line for the user, for five seconds. */
void app_notify(struct app *app, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Copy the selected rows of the list in sight, or all of them, to the clipboard; where no list is,
 *  the right column about the selection, or the texts of the view. */
void app_copy_rows(struct app *app);

/** What the command line selects, once it is there. @return 0, or why it is not */
int app_select_given(struct app *app);

/** The second run of a comparison, where the command line names one.
 *  @return app_other_open(): 0 or a negative error, which is logged; app_other_pump(): 1 when there
 *  are news of it */
int app_other_open(struct app *app);
int app_other_pump(struct app *app);
void app_other_close(struct app *app);

/** Bring its figures up to the visible time. Call after those of the followed run. */
void app_other_sum_up(struct app *app);

/** What was to be played (--play, a second run) is known as a whole. */
int app_other_is_complete(const struct app *app);

/** Ask for what the command line wants to be suggested, once it can be; and show it when it has
 * come. */
void app_suggest_given(struct app *app);

#endif
