/* Scrolling, sorting and the cursor of lists. */
#include "viewer/ui/ui.h"

#include <math.h>

void ui_sort_list(struct ui *ui, uint64_t list, uint64_t column)
{
    if (list >= UI_LISTS)
        return;
    ui->list.descending[list] = ui->list.sort[list] == (int)column ? !ui->list.descending[list] : 1;
    ui->list.sort[list] = (int)column;
    ui->list.scroll[list] = 0;
    ui->list.cursor_alone = 0;
}

void ui_scroll_list(struct ui *ui, const struct scene_hit *hit, double rows)
{
    double shown = hit->y1 - hit->y0, all = hit->x1;
    double last = fmax(all - floor(shown), 0);
    ui->list.scroll[hit->a] = fmin(fmax(ui->list.scroll[hit->a] + rows, 0), last);
}

const struct scene_hit *ui_list_area(const struct scene *scene, enum ui_list list)
{
    for (size_t i = scene->hit_count; i-- > 0;)
        if (scene->hits[i].kind == HIT_LIST && scene->hits[i].a == list)
            return &scene->hits[i];
    return NULL;
}

/* @return the list of the view, or -1 */
static int view_list(const struct ui *ui)
{
    static const struct {
        enum view_id view;
        int list;
    } lists[] = {
        {VIEW_LIVE, LIST_SERIES},         {VIEW_ALERTS, LIST_ALERTS},
        {VIEW_PAIRS, LIST_PAIRS},         {VIEW_RANKS, LIST_RANKS},
        {VIEW_CALLS, LIST_CALLS},         {VIEW_NODES, LIST_NODES},
        {VIEW_JOBS, LIST_JOBS},           {VIEW_LINKS, LIST_LINKS},
        {VIEW_CAPTURES, LIST_CAPTURE},    {VIEW_DEPENDENCIES, LIST_DEPENDENCY},
        {VIEW_LANDSCAPE, LIST_LANDSCAPE},
    };
    if (ui->overlay.searching)
        return LIST_FOUND;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (lists[i].view == ui->view)
            return lists[i].list;
    return -1;
}

const struct scene_hit *ui_list_in_sight(const struct ui *ui, const struct scene *scene)
{
    int list = ui->jobs_first ? LIST_JOBS : view_list(ui);
    const struct scene_hit *area = scene_hit_under(scene, ui->mouse.x, ui->mouse.y, HIT_LIST);
    if (!area && list >= 0)
        area = ui_list_area(scene, (enum ui_list)list);
    for (list = 0; !area && list < UI_LISTS; list++)
        area = ui_list_area(scene, (enum ui_list)list);
    return area;
}

int ui_step_list(struct ui *ui, const struct scene *scene, double rows)
{
    int list = ui->jobs_first ? LIST_JOBS : view_list(ui);
    const struct scene_hit *area = list < 0 ? NULL : ui_list_area(scene, (enum ui_list)list);
    if (!area || area->x1 < 1)
        return 0;
    double shown = fmax(floor(area->y1 - area->y0), 1);
    double at = fmin(fmax(ui->list.cursor[list] + rows, 0), area->x1 - 1);
    if (!ui->list.cursor_moved && ui->selection.kind == SELECT_NONE && list != LIST_JOBS &&
        list != LIST_FOUND && ui->list.cursor_alone != list + 1)
        at = fmin(fmax(ui->list.scroll[list], 0),
                  area->x1 - 1); /* first key: the first visible row */
    ui->list.cursor[list] = (uint32_t)at;
    if (at < ui->list.scroll[list])
        ui->list.scroll[list] = at;
    if (at > ui->list.scroll[list] + shown - 1)
        ui->list.scroll[list] = at - shown + 1;
    ui->list.cursor_moved = list + 1;
    return UI_CHANGED;
}
