/* Copies rows to the clipboard: of a list page by page, as the scene shows them. */
#include "viewer/app_state.h"

#include "viewer/draw/window.h"
#include "viewer/layout/scene_table.h"

#include <stdlib.h>
#include <string.h>

enum { COPY_ROWS = 10000 }; /* most that are copied of a list */

/* All rows of a list, by scrolling through it. @return how many it has */
static size_t copy_read_list(struct app *a, struct scene_table *table, enum ui_list list)
{
    const double scroll = a->ui.list.scroll[list];
    size_t all = 0, added = 1;
    a->ui.list.scroll[list] = 0;
    while (added && table->count < COPY_ROWS) {
        app_compose(a);
        const struct scene_hit *area = ui_list_area(&a->scene, list);
        added = area ? scene_table_add_list(table, &a->scene, area) : 0;
        all = area ? (size_t)area->x1 : 0;
        a->ui.list.scroll[list] = (double)table->count;
    }
    a->ui.list.scroll[list] = scroll;
    return all > table->count ? all : table->count;
}

static int copy_panel_is(const struct scene_panel *panel, const char *prefix)
{
    return !strncmp(panel->name, prefix, strlen(prefix));
}

/* The texts of the right column, of the evidence of an alert, or of all panels of the view: those
 * after its ground up to what the frame adds. */
static void copy_read_panels(const struct scene *s, struct scene_table *table, const char *prefix)
{
    int inside = 0;
    for (size_t p = 0; p < s->panel_count; p++) {
        const struct scene_panel *panel = &s->panels[p];
        inside = copy_panel_is(panel, "view.") ||
                 (inside && !copy_panel_is(panel, "transport") && !copy_panel_is(panel, "context"));
        if (prefix ? copy_panel_is(panel, prefix) : inside)
            scene_table_add_panel(table, s, p);
    }
}

/* The panel of lines under the mouse. @return the begin of its name, or NULL */
static const char *copy_find_panel(const struct scene *s, const struct ui_mouse_state *mouse)
{
    static const char *const names[] = {"context", "alerts.evidence"};
    for (size_t p = 0; p < s->panel_count; p++)
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (copy_panel_is(&s->panels[p], names[i]) &&
                box_has(s->panels[p].box, mouse->x, mouse->y))
                return names[i];
    return NULL;
}

void app_copy_rows(struct app *a)
{
    const struct ui_mouse_state mouse = a->ui.mouse;
    const char *panel = copy_find_panel(&a->scene, &mouse);
    const struct scene_hit *area = panel ? NULL : ui_list_in_sight(&a->ui, &a->scene);
    struct scene_table table = {0};
    size_t all = 0;
    a->ui.mouse.x = a->ui.mouse.y = -1; /* no tooltip among the texts */
    if (area)
        all = copy_read_list(a, &table, (enum ui_list)area->a);
    if (!table.count) {
        app_compose(a);
        if (!panel && a->ui.selection.kind != SELECT_NONE)
            panel = "context";
        copy_read_panels(&a->scene, &table, panel);
        if (!table.count) /* the column is folded away */
            copy_read_panels(&a->scene, &table, NULL);
        all = table.count;
    }
    a->ui.mouse = mouse;
    scene_table_reduce(&table);
    char *text = scene_table_print(&table, a->ui.copy_is_csv ? TABLE_CSV : TABLE_TEXT);
    if (!text || !window_copy(text))
        app_notify(a, text ? "the clipboard cannot be used" : "nothing copied: out of memory");
    else
        app_notify(a, "copied as %s: %zu of %zu %s", a->ui.copy_is_csv ? "csv" : "text",
                   table.count, all, table.lines ? "lines" : "rows");
    free(text);
    scene_table_finish(&table);
}
