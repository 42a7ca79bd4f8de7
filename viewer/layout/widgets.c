/* Titles, bars, buttons, legends, tooltips and table headers. */
#include "viewer/layout/widgets.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

int box_has(struct box box, double x, double y)
{
    return x >= box.x && x < box.x + box.w && y >= box.y && y < box.y + box.h;
}

int box_is_free(struct box box, struct box within, const struct box *taken, uint32_t count)
{
    if (box.x < within.x + 2 || box.y < within.y + 2 || box.x + box.w > within.x + within.w - 2 ||
        box.y + box.h > within.y + within.h - 2)
        return 0;
    for (uint32_t i = 0; i < count; i++)
        if (box.x < taken[i].x + taken[i].w && taken[i].x < box.x + box.w &&
            box.y < taken[i].y + taken[i].h && taken[i].y < box.y + box.h)
            return 0;
    return 1;
}

struct box box_inset(struct box box, double dx, double dy)
{
    return (struct box){box.x + dx, box.y + dy, box.w - 2 * dx, box.h - 2 * dy};
}

double widget_title(const struct brush *b, double x, double y, double w, const char *title,
                    const char *what)
{
    double used = scene_text(b->scene, x, y, w, TEXT_TITLE, 0, b->theme->text, title);
    if (what && *what && w - used > 60) {
        used += 8;
        used += scene_text(b->scene, x + used, y + 2, w - used, TEXT_SMALL, TEXT_CLAUSES,
                           b->theme->second, what);
    }
    return x + used;
}

void widget_bar(const struct brush *b, struct box box, double share, color_t color)
{
    if (box.w <= 0)
        return;
    double radius = fmin(box.h / 2, 3);
    scene_rect(b->scene, box, radius, b->theme->line);
    double w = box.w * (share < 0 ? 0 : share > 1 ? 1 : share);
    if (w >= 1)
        scene_rect(b->scene, (struct box){box.x, box.y, w, box.h}, fmin(radius, w / 2), color);
}

void widget_stack(const struct brush *b, struct box box, const double *shares, int count,
                  const color_t *colors)
{
    if (box.w <= 0)
        return;
    scene_rect(b->scene, box, fmin(box.h / 2, 3), b->theme->line);
    double x = box.x, end = box.x + box.w;
    for (int i = 0; i < count; i++) {
        double w = fmin(shares[i] * box.w, end - x);
        if (w >= 0.25)
            scene_rect(b->scene, (struct box){x, box.y, w, box.h}, 0, colors[i]);
        x += w > 0 ? w : 0;
    }
}

/* Whether a box is inside the panel that is open, from left to right. */
static int widget_fits(const struct scene *scene, struct box box)
{
    const struct scene_panel *panel = &scene->panels[scene->panel_count - 1];
    return !scene->panel_count ||
           (box.x >= panel->box.x && box.x + box.w <= panel->box.x + panel->box.w + 0.5);
}

double widget_button(const struct brush *b, double x, double y, const char *label, int active,
                     uint64_t command, uint64_t argument)
{
    double w = scene_width(b->scene, TEXT_SMALL, 0, label) + 20;
    struct box box = {x, y, w, 24};
    int hover = box_has(box, b->mouse_x, b->mouse_y);
    if (!widget_fits(b->scene, box))
        return 0;
    if (active || hover)
        scene_rect(b->scene, box, 5, b->theme->raised);
    color_t color = active ? b->theme->text : hover ? b->theme->text : b->theme->second;
    scene_text(b->scene, x, y + 4, w, TEXT_SMALL, TEXT_CENTRE, color, label);
    scene_hit(b->scene, box, HIT_BUTTON, command, argument);
    return w;
}

double widget_choice(const struct brush *b, double right, double y, const char *const *labels,
                     int count, int active, uint64_t command)
{
    double total = 4;
    for (int i = 0; i < count; i++)
        total += scene_width(b->scene, TEXT_SMALL, 0, labels[i]) + 18;
    double x = right - total;
    if (!widget_fits(b->scene, (struct box){x, y, total, 24}))
        return 0;
    scene_outline(b->scene, (struct box){x, y, total, 24}, 6, 1, b->theme->line);
    x += 2;
    for (int i = 0; i < count; i++) {
        double w = scene_width(b->scene, TEXT_SMALL, 0, labels[i]) + 18;
        struct box box = {x, y + 2, w, 20};
        int hover = box_has(box, b->mouse_x, b->mouse_y);
        if (i == active)
            scene_rect(b->scene, box, 4, b->theme->line);
        color_t color = i == active || hover ? b->theme->text : b->theme->second;
        scene_text(b->scene, x, y + 4, w, TEXT_SMALL, TEXT_CENTRE, color, labels[i]);
        scene_hit(b->scene, (struct box){x, y, w, 24}, HIT_BUTTON, command, (uint64_t)i);
        x += w;
    }
    return total;
}

void widget_scrollbar(const struct brush *b, struct box track, double first, double shown,
                      double all)
{
    if (all <= shown || all <= 0)
        return;
    double h = fmax(track.h * shown / all, 18);
    double y = track.y + (track.h - h) * (first / (all - shown));
    scene_rect(b->scene, (struct box){track.x, y, track.w, h}, track.w / 2, b->theme->line);
}

double widget_map_legend(const struct brush *b, double right, double y, const char *low,
                         const char *high)
{
    const double bar = 120, gap = 8;
    double wh = scene_width(b->scene, TEXT_AXIS, 0, high),
           wl = scene_width(b->scene, TEXT_AXIS, 0, low);
    scene_text(b->scene, right - wh, y, wh + 1, TEXT_AXIS, 0, b->theme->second, high);
    double x = right - wh - gap - bar;
    scene_image(b->scene, (struct box){x, y + 3, bar, 8}, &b->theme->map_image);
    scene_text(b->scene, x - gap - wl, y, wl + 1, TEXT_AXIS, 0, b->theme->second, low);
    return wh + wl + bar + 2 * gap;
}

double widget_latency_legend(const struct brush *b, double right, double y)
{
    static const char *const ticks[THEME_LATENCY_PARTS + 1] = {"\xc2\xbcx", "1x", "4x", "16x",
                                                               "64x"};
    const double part = 32, gap = 5;
    double x = right;
    for (int i = THEME_LATENCY_PARTS; i >= 0; i--) {
        double w = scene_width(b->scene, TEXT_AXIS, 0, ticks[i]);
        x -= w;
        scene_text(b->scene, x, y, w + 1, TEXT_AXIS, 0, b->theme->second, ticks[i]);
        if (i == 0)
            break;
        x -= gap + part;
        scene_image(b->scene, (struct box){x, y + 3, part, 8}, &b->theme->latency_parts[i - 1]);
        x -= gap;
    }
    return right - x;
}

void tooltip_add(struct tooltip *tip, color_t color, const char *format, ...)
{
    if (tip->count == (int)(sizeof tip->lines / sizeof *tip->lines))
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(tip->lines[tip->count], sizeof *tip->lines, format, arguments);
    va_end(arguments);
    tip->colors[tip->count++] = color;
}

void tooltip_add_text(struct tooltip *tip, color_t color, const char *text)
{
    const size_t most = 96; /* bytes of a line */
    while (*text) {
        size_t bytes = strcspn(text, "\n");
        if (bytes > most) {
            for (bytes = most; bytes > 0 && text[bytes] != ' '; bytes--)
                ;
            for (bytes = bytes ? bytes : most; ((unsigned char)text[bytes] & 0xc0) == 0x80;)
                bytes--;
        }
        tooltip_add(tip, color, "%.*s", (int)bytes, text);
        text += bytes;
        text += strspn(text, " \n");
    }
}

void widget_tooltip(const struct brush *b, const struct tooltip *tip)
{
    if (!tip->count)
        return;
    double w = 0, h = 16;
    for (int i = 0; i < tip->count; i++) {
        enum text_style style = i ? TEXT_SMALL : TEXT_SMALL_STRONG;
        w = fmax(w, scene_width(b->scene, style, 0, tip->lines[i]));
        h += text_line(style) + (i ? 2 : 4);
    }
    w = fmin(w + 24, b->scene->w - 8);
    double x = b->mouse_x + 16, y = b->mouse_y + 14;
    if (x + w > b->scene->w - 4)
        x = fmax(4, b->mouse_x - 12 - w);
    if (y + h > b->scene->h - 4)
        y = fmax(4, b->mouse_y - 10 - h);
    struct box box = {floor(x), floor(y), ceil(w), h};
    scene_panel(b->scene, box, 0, "tooltip");
    scene_overlay(b->scene);
    scene_rect(b->scene, box, 6, b->theme->raised);
    scene_outline(b->scene, box, 6, 1, color_mix(b->theme->line, b->theme->second, 0.35));
    y = box.y + 8;
    for (int i = 0; i < tip->count; i++) {
        enum text_style style = i ? TEXT_SMALL : TEXT_SMALL_STRONG;
        color_t color = tip->colors[i] ? tip->colors[i] : i ? b->theme->second : b->theme->text;
        scene_text(b->scene, box.x + 12, y, box.w - 24, style, 0, color, tip->lines[i]);
        y += text_line(style) + (i ? 2 : 4);
    }
}

enum {
    COLUMN_LEAST = 90,  /* minimum width of a column that shares the remaining width */
    COLUMN_MARGINS = 12 /* between the texts of two columns */
};

void table_need(const struct brush *b, struct table *table, int c, const char *text)
{
    double w = ceil(scene_width(b->scene, TEXT_BODY, TEXT_FIGURES, text)) + COLUMN_MARGINS + 1;
    table->columns[c].need = fmax(table->columns[c].need, w);
}

static double column_least(const struct column *column)
{
    return column->w > 0 ? column->w : COLUMN_LEAST;
}

/* Highest priority of omission (struct column, drop) that still fits, with names as long as they
 * are, but none of more than half of the table. */
static int widget_highest_drop(const struct table *table, double w)
{
    int keep = 0;
    for (int i = 0; i < table->count; i++)
        if (table->columns[i].drop > keep && table->columns[i].drop < COLUMN_OMITTED)
            keep = table->columns[i].drop;
    for (; keep > 0; keep--) {
        double need = 0;
        for (int i = 0; i < table->count; i++)
            if (table->columns[i].drop <= keep)
                need += fmax(column_least(&table->columns[i]), fmin(table->columns[i].need, w / 2));
        if (need <= w)
            break;
    }
    return keep;
}

/* What the columns together want beyond their minimum, what they can get of it, how many share
 * what nobody needs, and which share of their width the others get: 1 unless all is too narrow. */
struct spare {
    double wanted, w, shrunk;
    int flexible;
};

static struct spare widget_spare(const struct table *table, int keep, double w)
{
    struct spare spare = {.w = w};
    double fixed = 0;
    for (int i = 0; i < table->count; i++) {
        const struct column *column = &table->columns[i];
        if (column->drop > keep)
            continue;
        spare.w -= column_least(column);
        spare.wanted += fmax(column->need - column_least(column), 0);
        spare.flexible += column->w <= 0;
        fixed += column->w;
    }
    spare.shrunk = fmin(w / fmax(fixed, 1), 1);
    return spare;
}

static double column_width(const struct column *column, const struct spare *spare)
{
    double least = column_least(column), wanted = fmax(column->need - least, 0);
    if (spare->w < 0) /* not even the minimum fits */
        return column->w > 0 ? least * spare->shrunk : fmax(least + spare->w / spare->flexible, 0);
    if (spare->wanted >= spare->w)
        return least + (spare->wanted > 0 ? wanted * spare->w / spare->wanted : 0);
    double left = spare->flexible ? (spare->w - spare->wanted) / spare->flexible : 0;
    return least + wanted + (column->w <= 0 ? left : 0);
}

struct box column_box(const struct table *table, int c, double x, double w)
{
    int keep = widget_highest_drop(table, w);
    struct spare spare = widget_spare(table, keep, w);
    if (table->columns[c].drop > keep)
        return (struct box){x, 0, 0, 0};
    for (int i = 0; i < c; i++)
        if (table->columns[i].drop <= keep)
            x += column_width(&table->columns[i], &spare);
    double text = column_width(&table->columns[c], &spare) - COLUMN_MARGINS;
    return (struct box){x + COLUMN_MARGINS / 2.0, 0, fmax(text, 0), 0};
}

void widget_cell(const struct brush *b, const struct table *table, struct box row, int c,
                 color_t color, const char *text)
{
    struct box box = column_box(table, c, row.x, row.w);
    const int flags = table->columns[c].flags;
    b->scene->cell = (uint8_t)(c + 1);
    if (box.w > 0)
        scene_text(b->scene, box.x, row.y + floor((row.h + 1 - text_line(TEXT_BODY)) / 2), box.w,
                   TEXT_BODY, flags | TEXT_FIGURES | (flags & TEXT_CLAUSES ? 0 : TEXT_MIDDLE),
                   color, text);
    b->scene->cell = 0;
}

void widget_table_head(const struct brush *b, const struct table *table, struct box box, int sorted,
                       int descending)
{
    const struct column *columns = table->columns;
    for (int c = 0; c < table->count; c++) {
        struct box cell = column_box(table, c, box.x, box.w);
        if (cell.w <= 0)
            continue;
        struct box area = {cell.x - 6, box.y, cell.w + 12, box.h};
        int hover = columns[c].sortable && box_has(area, b->mouse_x, b->mouse_y);
        char title[64];
        snprintf(title, sizeof title, "%s%s", columns[c].title,
                 c != sorted  ? ""
                 : descending ? " \xe2\x86\x93"
                              : " \xe2\x86\x91");
        color_t color = c == sorted || hover ? b->theme->text : b->theme->second;
        b->scene->cell = (uint8_t)(c + 1);
        scene_text(b->scene, cell.x, box.y + (box.h - 14) / 2, cell.w, TEXT_AXIS_STRONG,
                   columns[c].flags & TEXT_RIGHT, color, title);
        b->scene->cell = 0;
        if (columns[c].sortable)
            scene_hit(b->scene, area, HIT_SORT, table->list, (uint64_t)c);
    }
    scene_rect(b->scene, (struct box){box.x, box.y + box.h - 1, box.w, 1}, 0, b->theme->line);
}
