/* Writes cells into lines of a page, with their widths in columns. */
#include "agent/cli/top/top_pen.h"

#include "proto/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int top_pen_line(struct top_pen *pen)
{
    int most = pen->view->rows < TOP_MOST_ROWS ? pen->view->rows : TOP_MOST_ROWS;
    pen->line = pen->page->count < most ? &pen->page->lines[pen->page->count++] : NULL;
    pen->length = 0;
    if (pen->line == NULL)
        return 0;
    pen->line->columns = pen->line->span_count = 0;
    pen->line->text[0] = '\0';
    return 1;
}

int top_pen_left(const struct top_pen *pen)
{
    int columns = pen->view->columns < TOP_MOST_COLUMNS ? pen->view->columns : TOP_MOST_COLUMNS;
    return pen->line == NULL || pen->line->columns >= columns ? 0 : columns - pen->line->columns;
}

/* Bytes of the character that begins here. The texts are valid UTF-8, checked by wire_decode(). */
static int character_bytes(const char *at)
{
    unsigned char lead = (unsigned char)*at;
    int bytes = lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    for (int i = 1; i < bytes; i++)
        if (((unsigned char)at[i] & 0xc0) != 0x80)
            return i;
    return bytes;
}

static const char *in_ascii(const char *at, int bytes)
{
    static const struct {
        const char *from, *to;
    } known[] = {{"µ", "u"}, {"…", "~"}, {"±", "+"}, {"×", "x"}, {"–", "-"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].from) == (size_t)bytes && memcmp(known[i].from, at, (size_t)bytes) == 0)
            return known[i].to;
    return "?";
}

/* Columns of the first bytes of a text. Without UTF-8 each character is shown by one letter. */
static int top_pen_columns(const struct top_pen *pen, const char *text, size_t bytes)
{
    size_t columns = 0;
    if (pen->view->utf8)
        return (int)utf8_columns(text, bytes);
    for (size_t at = 0; at < bytes; at += (size_t)character_bytes(text + at))
        columns++;
    return (int)columns;
}

static int top_pen_character_columns(const struct top_pen *pen, const char *at)
{
    return top_pen_columns(pen, at, (size_t)character_bytes(at));
}

static void put_character(struct top_pen *pen, const char *at)
{
    int bytes = character_bytes(at), columns = top_pen_character_columns(pen, at);
    struct top_line *line = pen->line;
    if (top_pen_left(pen) < columns)
        return;
    if (utf8_control(at, (size_t)bytes) > 0) {
        at = "?";
        bytes = 1;
    } else if (bytes > 1 && !pen->view->utf8) {
        at = in_ascii(at, bytes);
        bytes = 1;
    }
    memcpy(line->text + pen->length, at, (size_t)bytes);
    pen->length += (size_t)bytes;
    line->text[pen->length] = '\0';
    line->columns += columns;
}

static void put_spaces(struct top_pen *pen, int count)
{
    for (; count > 0; count--)
        put_character(pen, " ");
}

static void top_pen_put_cut(struct top_pen *pen, const char *text, int columns, int room)
{
    bool cut = columns > room;
    int left = cut ? room - 1 : columns;
    for (; *text && top_pen_character_columns(pen, text) <= left; text += character_bytes(text)) {
        left -= top_pen_character_columns(pen, text);
        put_character(pen, text);
    }
    if (cut && room > 0)
        put_character(pen, "…");
    put_spaces(pen, left);
}

static void top_pen_add_span(struct top_line *line, int from, enum top_style style)
{
    struct top_span *last = line->span_count > 0 ? &line->spans[line->span_count - 1] : NULL;
    if (style == TOP_PLAIN || from == line->columns)
        return;
    if (last != NULL && last->to == from && last->style == style)
        last->to = line->columns;
    else if (line->span_count < TOP_SPANS)
        line->spans[line->span_count++] =
            (struct top_span){.from = from, .to = line->columns, .style = style};
}

void top_pen_put(struct top_pen *pen, enum top_style style, int width, const char *text)
{
    int columns = top_pen_columns(pen, text, strlen(text)), left = top_pen_left(pen);
    if (left == 0)
        return;
    int from = pen->line->columns, room = width > 0 ? width : width < 0 ? -width : columns;
    int pad = room - columns;
    room = room < left ? room : left;
    put_spaces(pen, width < 0 ? pad : 0);
    top_pen_put_cut(pen, text, columns, room);
    put_spaces(pen, width > 0 ? pad : 0);
    top_pen_add_span(pen->line, from, style);
}

void top_pen_format(struct top_pen *pen, enum top_style style, int width, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    top_pen_put(pen, style, width, text);
}

/* Bytes of the text's beginning that fit, up to a space where there is one; of a text that is not
 * empty one character at least. */
static size_t top_pen_count_fitting(const struct top_pen *pen, const char *text, int room)
{
    size_t at = 0, space = 0;
    while (text[at] && top_pen_character_columns(pen, text + at) <= room) {
        if (text[at] == ' ')
            space = at;
        room -= top_pen_character_columns(pen, text + at);
        at += (size_t)character_bytes(text + at);
    }
    if (at == 0)
        return (size_t)character_bytes(text);
    return text[at] == '\0' || text[at] == ' ' || space == 0 ? at : space;
}

int top_pen_wrap(struct top_pen *pen, int column, const char *text)
{
    int width = pen->view->columns - column;
    char part[TOP_MOST_COLUMNS * 4 + 1];
    width = width < 1 ? 1 : width < TOP_MOST_COLUMNS ? width : TOP_MOST_COLUMNS;
    for (bool first = true; *text; first = false) {
        size_t bytes = top_pen_count_fitting(pen, text, width);
        if (!first && !top_pen_line(pen))
            return 0;
        if (pen->line != NULL && pen->line->columns < column)
            put_spaces(pen, column - pen->line->columns);
        memcpy(part, text, bytes);
        part[bytes] = '\0';
        top_pen_put(pen, TOP_PLAIN, 0, part);
        text += bytes;
        while (*text == ' ')
            text++;
    }
    return 1;
}
