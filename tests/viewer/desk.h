/* A window that is not there: layouts of a model, with the real fonts where there are any, else
 * with a plain measure. */
#ifndef HOLTER_TESTS_VIEWER_DESK_H
#define HOLTER_TESTS_VIEWER_DESK_H

#include "viewer/draw/type.h"
#include "viewer/views/frame/frame.h"
#include "viewer/views/views.h"

/* What one picture needs. */
struct desk {
    struct ui ui;
    struct theme theme;
    struct range range;
    struct pictures pictures;
    struct scene scene;
    struct type *type; /**< borrowed; NULL: no fonts on this machine */
    struct text_measure measure;
};

void desk_open(struct desk *desk, double w, double h, double scale, enum theme_kind theme,
               enum view_id view);

/** Applies a message to a model, as a sink of synthetic jobs. The test fails where it cannot. */
void desk_apply(void *model, const struct wire_message *message, int snapshot);

/** Lay out, until there is nothing left to do. */
void desk_layout(struct desk *desk, const struct model *model);
void desk_close(struct desk *desk);

/** What the scene holds is inside its panel, and no text lies upon another. */
void desk_check(const struct desk *desk, const char *what);

/** First text of a scene that holds a part; NULL: none does. */
const char *find_text(const struct scene *scene, const char *part);

#endif
