/* The address of what is seen, and opening one. */
#include "viewer/ui/ui_address.h"

#include "holter/error.h"

#include <math.h>
#include <string.h>

static const double nanoseconds = 1e9;

/* A daemon time in seconds since the job's start, which addresses use. */
static double address_seconds(const struct model *m, int64_t ns)
{
    int64_t begin, end;
    ui_whole_time(m, &begin, &end);
    double seconds = (double)(ns - (m->start_ns ? (int64_t)m->start_ns : begin)) / nanoseconds;
    return round(fmax(seconds, 0) * 1000) / 1000;
}

void ui_address(const struct ui *ui, const struct model *m, struct address *out)
{
    struct selection selection = ui->selection;
    const struct alert *alert = ui->alert_picked ? alerts_find(&m->alerts, ui->alert) : NULL;
    *out = (struct address){.view = ui->jobs_first ? VIEW_JOBS : ui->view,
                            .from = NAN,
                            .to = NAN,
                            .since_start = ui->time.range == RANGE_START};
    if (alert) {
        struct selection culprit = ui_alert_selection(m, alert);
        out->alert_given = 1;
        out->alert = ui->alert;
        if (culprit.kind == selection.kind && culprit.a == selection.a && culprit.b == selection.b)
            selection.kind = SELECT_NONE; /* it comes with the alert */
    }
    ui_select_text(m, &selection, out->select, sizeof out->select);
    if (ui->time.follow || !series_newest(&m->series))
        return;
    int64_t begin, end;
    ui_visible(ui, m, &begin, &end);
    out->from = address_seconds(m, begin);
    out->to = address_seconds(m, end);
}

int ui_open_address(struct ui *ui, const struct model *m, const struct address *a)
{
    struct selection found = {0};
    int error = 0;
    if (a->alert_given && !alerts_find(&m->alerts, a->alert))
        return -HOLTER_EMISSING;
    if (a->select[0])
        error = ui_select_find(m, a->select, &found);
    if (error)
        return error;
    const struct ui_time_choice time = ui->time;
    if (a->alert_given)
        ui_pick_alert(ui, m, a->alert);
    if (!isnan(a->from) || !isnan(a->to)) /* that time was asked for, not that of the onset */
        ui->time = time;
    if (a->select[0])
        ui_select(ui, found);
    return 0;
}
