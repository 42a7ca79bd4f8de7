/* Title, time and scale of a saved picture. */
#include "viewer/picture_caption.h"

#include "viewer/layout/format.h"

#include <stdio.h>

char *picture_caption(const struct ui *ui, const struct model *model, const char *view, char *out,
                      size_t capacity)
{
    int64_t begin, end;
    if (!model->series.count || model_is_timeless(model)) {
        snprintf(out, capacity, "%s, scale %.4g", view, ui->scale);
        return out;
    }
    ui_visible(ui, model, &begin, &end);
    snprintf(out, capacity, "%s, %s to %s, scale %.4g", view, format_date(begin).text,
             format_clock(end, 0).text, ui->scale);
    return out;
}
