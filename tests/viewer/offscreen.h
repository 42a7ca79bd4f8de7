/* The viewer painted into memory: what galleries and benches of it need. They end with a message
 * where fonts or memory are missing. */
#ifndef HOLTER_TESTS_VIEWER_OFFSCREEN_H
#define HOLTER_TESTS_VIEWER_OFFSCREEN_H

#include "viewer/draw/painter.h"
#include "viewer/draw/type.h"
#include "viewer/views/frame/frame.h"
#include "viewer/views/views.h"

struct offscreen {
    struct model *model; /* borrowed */
    struct ui ui;
    struct theme theme;
    struct range range;
    struct pictures pictures;
    struct scene scene;
    struct painter painter;
    struct type *type;
    uint64_t apply_ns; /* processor time of offscreen_apply() */
};

void offscreen_open(struct offscreen *screen, struct model *model, double w, double h, double scale,
                    enum theme_kind theme);
void offscreen_close(struct offscreen *screen);

/* Sinks of synthetic jobs: into the model of a screen, and into a model. */
void offscreen_apply(void *screen, const struct wire_message *message, int snapshot);
void offscreen_apply_model(void *model, const struct wire_message *message, int snapshot);

/* Sum up the visible time. */
void offscreen_update(struct offscreen *screen);

/* Lay out a scene of it, once or until all pictures are complete: at least twice, because what the
 * mouse is over comes from the scene before. */
void offscreen_lay_out(struct offscreen *screen);
void offscreen_complete(struct offscreen *screen);

/* Sum up, lay out and paint a frame. */
void offscreen_frame(struct offscreen *screen);

/* Paint the scene into DIRECTORY/NAME.png. @return 0 or 1 */
int offscreen_save(struct offscreen *screen, const char *directory, const char *name);

/* Processor time of this program, so that a busy machine does not count. */
uint64_t offscreen_cpu_ns(void);

#endif
