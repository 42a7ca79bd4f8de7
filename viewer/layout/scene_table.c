/* Tables out of scenes: which texts form a row and a column, and how they are printed. */
#include "viewer/layout/scene_table.h"

#include "daemon/analysis/tables/array.h"
#include "proto/utf8.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD_BAND = 32 }; /* the titles of columns are at most so far above their list */

/* ---- rows and cells ---- */

static struct scene_table_row *table_append_row(struct scene_table *t, uint32_t number)
{
    if (ARRAY_FIT(t->rows, t->capacity, t->count + 1) != 0) {
        t->failed = 1;
        return NULL;
    }
    t->rows[t->count] = (struct scene_table_row){.number = number};
    return &t->rows[t->count++];
}

/* A copy of a text without spaces that do not break a line. @return NULL: no memory */
static char *table_copy_text(const char *text)
{
    char *copy = strdup(text);
    for (char *gap; copy && (gap = strstr(copy, "\xc2\xa0"));) {
        *gap = ' ';
        memmove(gap + 1, gap + 2, strlen(gap + 2) + 1);
    }
    return copy;
}

/* Append a text to a cell, after a space where it has one already. A text that begins as the cell
 * does, whose first lines stand there, takes its place.
 * @param is_whole  it is the whole of a text that was shortened */
static void table_add_cell(struct scene_table *t, struct scene_table_row *row, int column,
                           const char *text, int is_whole)
{
    char **cell = &row->cells[column], *more = table_copy_text(text);
    const size_t used = *cell ? strlen(*cell) : 0;
    if (more && used && !(is_whole && strncmp(more, *cell, used) == 0)) {
        char *joined = malloc(used + strlen(more) + 2);
        if (joined)
            sprintf(joined, "%s %s", *cell, more);
        free(more);
        more = joined;
    }
    if (!more) {
        t->failed = 1;
        return;
    }
    free(*cell);
    *cell = more;
    if (column >= t->columns)
        t->columns = column + 1;
}

static void table_free_cells(struct scene_table_row *row)
{
    for (int c = 0; c < SCENE_TABLE_COLUMNS; c++)
        free(row->cells[c]);
}

/* Whether a text is the label of a button. */
static int scene_item_is_label(const struct scene *s, const struct scene_item *item)
{
    double x = item->box.x + item->box.w / 2, y = item->box.y + item->box.h / 2;
    const struct scene_hit *hit = scene_hit_at(s, x, y);
    return hit && hit->kind == HIT_BUTTON;
}

/* ---- lists ---- */

/* Title of a column, without the arrow that shows the order. */
static void table_set_title(struct scene_table *t, int column, const char *text)
{
    char title[80];
    snprintf(title, sizeof title, "%s", text);
    char *arrow = strstr(title, " \xe2\x86");
    if (arrow)
        *arrow = 0;
    if (!t->head.cells[column] && title[0])
        table_add_cell(t, &t->head, column, title, 0);
}

/* Whether a text is beside or in a list, between two heights. */
static int scene_item_is_in(const struct scene_item *item, struct box list, double top,
                            double bottom)
{
    double x = item->box.x + item->box.w / 2, y = item->box.y + item->box.h / 2;
    return item->kind == SCENE_TEXT && item->count && x > list.x && x < list.x + list.w &&
           y > top && y < bottom;
}

/* @param left  receives the left edge of each column; INFINITY: it is not shown */
static void table_add_titles(struct scene_table *t, const struct scene *s, struct box list,
                             double *left)
{
    for (int c = 0; c < SCENE_TABLE_COLUMNS; c++)
        left[c] = INFINITY;
    for (size_t i = 0; i < s->item_count; i++) {
        const struct scene_item *item = &s->items[i];
        if (!item->cell || !scene_item_is_in(item, list, list.y - HEAD_BAND, list.y))
            continue;
        left[item->cell - 1] = item->slot.x;
        table_set_title(t, item->cell - 1, scene_whole_text(s, item));
    }
}

/* The column of a text: the one that it was made for, or whose title is above it. */
static int table_column_of(const struct scene_item *item, const double *left)
{
    int column = 0;
    double nearest = -INFINITY;
    for (int c = 0; c < SCENE_TABLE_COLUMNS; c++)
        if (left[c] <= item->box.x + 1 && left[c] > nearest) {
            nearest = left[c];
            column = c;
        }
    return item->cell ? item->cell - 1 : column;
}

/* Add the texts of a row; where the columns have no titles, each has one of its own. */
static void table_add_cells(struct scene_table *t, const struct scene *s, struct box list,
                            const struct scene_hit *hit, const double *left)
{
    struct scene_table_row *row = table_append_row(t, hit->row);
    int titled = t->head.cells[0] || t->head.cells[1], next = 0;
    for (size_t i = 0; row && i < s->item_count; i++) {
        const struct scene_item *item = &s->items[i];
        if (!scene_item_is_in(item, list, hit->box.y, hit->box.y + hit->box.h))
            continue;
        table_add_cell(t, row, titled ? table_column_of(item, left) : next,
                       scene_whole_text(s, item), item->whole_count > 0);
        next += next + 1 < SCENE_TABLE_COLUMNS;
    }
    if (row)
        row->selected = hit->selected;
}

size_t scene_table_add_list(struct scene_table *t, const struct scene *s,
                            const struct scene_hit *area)
{
    size_t before = t->count;
    const struct box list = area->box;
    double left[SCENE_TABLE_COLUMNS];
    table_add_titles(t, s, list, left);
    for (size_t i = 0; i < s->hit_count; i++) {
        const struct scene_hit *hit = &s->hits[i];
        if (hit->list == area->a + 1 && (!t->count || hit->row > t->rows[t->count - 1].number))
            table_add_cells(t, s, list, hit, left);
    }
    return t->count - before;
}

/* ---- panels ---- */

struct placed_text {
    double x, y;
    const struct scene_item *item;
};

static int text_compare_place(const void *left, const void *right)
{
    const struct placed_text *a = left, *b = right;
    if (a->y != b->y)
        return a->y < b->y ? -1 : 1;
    return (a->x > b->x) - (a->x < b->x);
}

void scene_table_add_panel(struct scene_table *t, const struct scene *s, size_t panel)
{
    enum { SAME_LINE = 6 }; /* texts whose middles are so close are in one line */
    struct placed_text *texts = malloc((s->item_count + 1) * sizeof *texts);
    struct scene_table_row *row = NULL;
    double line = -INFINITY;
    size_t count = 0;
    int column = 0;
    t->lines = 1;
    t->failed |= !texts;
    for (size_t i = 0; texts && i < s->item_count; i++) {
        const struct scene_item *item = &s->items[i];
        if (item->panel == panel && item->kind == SCENE_TEXT && item->count &&
            !scene_item_is_label(s, item))
            texts[count++] = (struct placed_text){item->box.x, item->box.y + item->box.h / 2, item};
    }
    if (count)
        qsort(texts, count, sizeof *texts, text_compare_place);
    for (size_t first = 0, i = 0; i < count; i++) {
        if (i == first || texts[i].y > texts[first].y + SAME_LINE)
            first = i;
        texts[i].y = texts[first].y;
    }
    if (count)
        qsort(texts, count, sizeof *texts, text_compare_place);
    for (size_t i = 0; i < count; i++) {
        if (!row || texts[i].y > line) {
            row = table_append_row(t, 0);
            line = texts[i].y;
            column = 0;
        }
        if (row)
            table_add_cell(t, row, column, scene_whole_text(s, texts[i].item),
                           texts[i].item->whole_count > 0);
        column += column + 1 < SCENE_TABLE_COLUMNS;
    }
    free(texts);
}

static int table_column_is_empty(const struct scene_table *t, int column)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->rows[i].cells[column])
            return 0;
    return 1;
}

static void row_drop_cell(struct scene_table_row *row, int column)
{
    free(row->cells[column]);
    for (; column + 1 < SCENE_TABLE_COLUMNS; column++)
        row->cells[column] = row->cells[column + 1];
    row->cells[column] = NULL;
}

void scene_table_reduce(struct scene_table *t)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->count; i++)
        if (t->rows[i].selected) {
            struct scene_table_row row = t->rows[i];
            t->rows[i] = t->rows[kept];
            t->rows[kept++] = row;
        }
    for (size_t i = kept; kept && i < t->count; i++)
        table_free_cells(&t->rows[i]);
    t->count = kept ? kept : t->count;
    for (int c = t->columns; c-- > 0;) {
        if (!table_column_is_empty(t, c))
            continue;
        row_drop_cell(&t->head, c);
        for (size_t i = 0; i < t->count; i++)
            row_drop_cell(&t->rows[i], c);
        t->columns--;
    }
}

void scene_table_finish(struct scene_table *t)
{
    for (size_t i = 0; i < t->count; i++)
        table_free_cells(&t->rows[i]);
    table_free_cells(&t->head);
    free(t->rows);
    *t = (struct scene_table){0};
}

/* ---- figures ---- */

/* A figure in its base unit: 12698 and "B" of "12.4 KiB". */
struct figure {
    double value;
    const char *unit; /* "" for counts */
    int below;        /* "<0.1 %": less than the value */
};

static double figure_prefix(const char **unit)
{
    static const char decimal[] = "kMGTPE", binary[] = "KMGTPE";
    char after = **unit ? (*unit)[1] : 0;
    const int bytes = after == 'i' && (*unit)[2] == 'B';
    const char *prefixes = bytes ? binary : decimal;
    const char *found = **unit ? strchr(prefixes, **unit) : NULL;
    if (!found || (after && after != '/' && !bytes))
        return 1;
    *unit += 1 + bytes;
    return pow(bytes ? 1024 : 1000, (double)(found - prefixes) + 1);
}

/* Seconds in a unit of time; 0: it is none. */
static double figure_seconds(const char *unit, size_t bytes)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"ns", 1e-9}, {"\xc2\xb5s", 1e-6}, {"ms", 1e-3},
                 {"s", 1},     {"min", 60},         {"h", 3600}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strlen(units[i].unit) == bytes && !strncmp(unit, units[i].unit, bytes))
            return units[i].seconds;
    return 0;
}

/* "1,204": digits in groups, a decimal point. @return what follows; NULL: no number */
static const char *figure_number(const char *text, double *value)
{
    char plain[40];
    size_t bytes = strspn(text, "0123456789,."), n = 0;
    for (size_t i = 0; i < bytes && n + 1 < sizeof plain; i++)
        if (text[i] != ',')
            plain[n++] = text[i];
    plain[n] = 0;
    char *end = plain;
    *value = strtod(plain, &end);
    return n && !*end ? text + bytes : NULL;
}

/* @return 0: the text is no figure */
static int figure_read(struct figure *out, const char *text)
{
    static const char *const units[] = {"", "B", "B/s", "/s", "%", "x", "calls", "links", "ranks"};
    double value, seconds;
    *out = (struct figure){.unit = "s", .below = *text == '<'};
    text += out->below ? 1 : !strncmp(text, "\xc2\xb1", 2) ? 2 : 0;
    double sign = *text == '-' ? -1 : 1;
    text += *text == '-' || *text == '+';
    while ((text = figure_number(text, &value))) {
        text += *text == ' ';
        size_t bytes = strcspn(text, " ");
        if (!(seconds = figure_seconds(text, bytes)))
            break;
        out->value += sign * value * seconds;
        text += bytes;
        if (!*text)
            return 1;
        text += *text == ' ';
    }
    if (!text || out->value != 0)
        return 0;
    out->value = sign * value * figure_prefix(&text);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcmp(text, units[i])) {
            out->unit = units[i];
            return 1;
        }
    return 0;
}

static int cell_is_empty(const char *cell)
{
    return !cell || !*cell || !strcmp(cell, "\xe2\x80\x93");
}

/* The unit that the figures of a column have in common. @return NULL: they are no figures */
static const char *table_unit(const struct scene_table *t, int column)
{
    const char *unit = NULL;
    for (size_t i = 0; i < t->count; i++) {
        const char *cell = t->rows[i].cells[column];
        struct figure f;
        if (cell_is_empty(cell))
            continue;
        if (!figure_read(&f, cell) || (unit && *unit && *f.unit && strcmp(unit, f.unit) != 0))
            return NULL;
        if (!unit || !*unit)
            unit = f.unit;
    }
    return unit;
}

/* ---- printing ---- */

static void table_print_csv(const struct scene_table *t, FILE *out)
{
    const char *units[SCENE_TABLE_COLUMNS] = {NULL};
    for (int c = 0; c < t->columns; c++) {
        char title[120];
        const char *given = t->head.cells[c];
        units[c] = t->lines ? NULL : table_unit(t, c);
        snprintf(title, sizeof title, given ? "%s" : c ? "value" : "what", given ? given : "");
        if (units[c] && *units[c])
            snprintf(title + strlen(title), sizeof title - strlen(title), " (%s)", units[c]);
        fputs(c ? "," : "", out);
        utf8_print_csv(out, title);
    }
    fputs("\r\n", out);
    for (size_t i = 0; i < t->count; i++) {
        for (int c = 0; c < t->columns; c++) {
            const char *cell = t->rows[i].cells[c];
            struct figure f;
            fputs(c ? "," : "", out);
            if (units[c] && !cell_is_empty(cell) && figure_read(&f, cell))
                fprintf(out, "%s%.10g", f.below ? "<" : "", f.value);
            else if (cell && !(units[c] && cell_is_empty(cell)))
                utf8_print_csv(out, cell);
        }
        fputs("\r\n", out);
    }
}

/* @param cell  NULL: it is empty */
static int table_letters(const char *cell)
{
    return cell ? (int)utf8_columns(cell, strlen(cell)) : 0;
}

static void table_print_row(const struct scene_table *t, const struct scene_table_row *row,
                            const int *widths, const char *const *units, FILE *out)
{
    int gap = 0; /* spaces before the next text, so that no line ends with any */
    for (int c = 0; c < t->columns; c++) {
        const char *cell = row->cells[c] ? row->cells[c] : "";
        int pad = t->lines ? 0 : widths[c] - table_letters(cell);
        if (*cell)
            fprintf(out, "%*s", gap + (units[c] ? pad : 0), "");
        utf8_print_plain(out, cell);
        gap = *cell ? 2 + (units[c] ? 0 : pad) : gap + pad + (widths[c] ? 2 : 0);
    }
    fputc('\n', out);
}

static void table_print_text(const struct scene_table *t, FILE *out)
{
    const char *units[SCENE_TABLE_COLUMNS] = {NULL};
    int widths[SCENE_TABLE_COLUMNS] = {0};
    for (int c = 0; c < t->columns; c++) {
        units[c] = t->lines ? NULL : table_unit(t, c);
        widths[c] = table_letters(t->head.cells[c]);
        for (size_t i = 0; i < t->count; i++) {
            int letters = table_letters(t->rows[i].cells[c]);
            widths[c] = letters > widths[c] ? letters : widths[c];
        }
    }
    if (!t->lines)
        table_print_row(t, &t->head, widths, units, out);
    for (size_t i = 0; i < t->count; i++)
        table_print_row(t, &t->rows[i], widths, units, out);
}

char *scene_table_print(const struct scene_table *t, enum scene_table_form form)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = t->failed ? NULL : open_memstream(&text, &bytes);
    if (!out)
        return NULL;
    if (form == TABLE_CSV)
        table_print_csv(t, out);
    else
        table_print_text(t, out);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}
