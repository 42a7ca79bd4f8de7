/* The verdict in windows that are too narrow for the context column: how many alerts fire, and the
 * first of them. The state of the job is in the header. */
#include "viewer/views/frame/frame.h"

#include "viewer/layout/format.h"

#include <math.h>
#include <stdio.h>

enum { VERDICT = 30 };

/* The firing alert that is listed first; NULL: none fires. */
static const struct alert *verdict_alert(const struct model *m)
{
    for (uint32_t i = 0; i < m->alerts.count; i++)
        if (m->alerts.items[i].state == ALERT_FIRING)
            return &m->alerts.items[i];
    return NULL;
}

double verdict_layout(struct stage *s, struct box box)
{
    const struct theme *t = s->brush.theme;
    struct scene *scene = s->brush.scene;
    int by_view = (s->ui->view == VIEW_ALERTS || s->ui->view == VIEW_OVERVIEW) &&
                  box.h >= VIEW_LEAST; /* the view itself shows it */
    const struct alert *a = by_view ? NULL : verdict_alert(s->model);
    uint32_t firing = alerts_count(&s->model->alerts, ALERT_FIRING);
    struct box line = {box.x + 14, box.y + 8, box.w - 28, VERDICT - 8};
    char text[64];
    if (!a || s->ui->jobs_first || line.w < 120)
        return 0;
    scene_panel(scene, line, 0, "verdict");
    scene_rect(scene, line, 4, t->bad_ground);
    scene_rect(scene, (struct box){line.x, line.y, 3, line.h}, 1.5, t->bad);
    int more = snprintf(text, sizeof text, "%s%s%s%s", isnan(a->ratio) ? "" : "now ",
                        isnan(a->ratio) ? "" : format_ratio(a->ratio).text,
                        !isnan(a->ratio) && firing > 1 ? ", " : "",
                        firing > 1 ? quantity_print("and %u more", firing - 1).text : "");
    double w = more > 0 ? scene_width(scene, TEXT_SMALL, TEXT_FIGURES, text) + 1 : 0;
    scene_text(scene, line.x + line.w - w - 10, line.y + 3, w, TEXT_SMALL, TEXT_FIGURES, t->text,
               text);
    scene_text(scene, line.x + 12, line.y + 3, line.w - w - 34, TEXT_SMALL_STRONG, TEXT_CLAUSES,
               t->bad, a->title); /* its begin names the culprit */
    scene_hit(scene, line, HIT_ALERT, a->id, 0);
    return VERDICT;
}
