/* A job on a network and a window that shows it. */
#include "tests/viewer/network_bed.h"

#include "tests/data_file.h"

#include "viewer/ui/ui_input.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

void network_bed_begin(struct network_bed *b, const struct network_job *job)
{
    *b = (struct network_bed){.model = NULL};
    assert_int_equal(model_create(&b->model, 256u << 20), 0);
    synthetic_network_init(&b->net, job->form, job->per_node);
    b->net.measured = job->measured;
    if (job->file) {
        size_t length;
        char *text = data_file(job->file, &length);
        synthetic_network_read(&b->net, text, 1e-3);
        free(text);
    }
    synthetic_network_begin(&b->net, desk_apply, b->model);
    for (int i = 0; i < job->windows; i++)
        synthetic_network_window(&b->net, desk_apply, b->model);
}

void network_bed_open(struct network_bed *b, enum view_id view, const struct network_job *job)
{
    network_bed_begin(b, job);
    desk_open(&b->desk, 1600, 900, 1, THEME_DARK, view);
    desk_layout(&b->desk, b->model);
}

void network_bed_close(struct network_bed *b)
{
    desk_close(&b->desk);
    synthetic_network_finish(&b->net);
    model_destroy(b->model);
}

int network_bed_input(struct network_bed *b, struct input in)
{
    int effects = ui_input(&b->desk.ui, b->model, &b->desk.scene, &in);
    desk_layout(&b->desk, b->model);
    if (ui_settle(&b->desk.ui, b->model, &b->desk.scene))
        desk_layout(&b->desk, b->model);
    return effects;
}

int network_bed_type(struct network_bed *b, const char *text)
{
    struct input in = {.kind = INPUT_TEXT};
    snprintf(in.text, sizeof in.text, "%s", text);
    return network_bed_input(b, in);
}

const struct scene_hit *network_bed_button(const struct network_bed *b, enum ui_command command,
                                           uint64_t argument)
{
    const struct scene *s = &b->desk.scene;
    for (size_t i = 0; i < s->hit_count; i++)
        if (s->hits[i].kind == HIT_BUTTON && s->hits[i].a == command && s->hits[i].b == argument)
            return &s->hits[i];
    fail_msg("no button for command %d", (int)command);
    return NULL;
}
