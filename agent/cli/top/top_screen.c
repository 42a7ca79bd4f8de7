/* Draws pages and reads keys by ncurses. */
#include "agent/cli/top/top_screen.h"

#include "proto/utf8.h"

#include <errno.h>
#include <langinfo.h>
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>

#define ESCAPE 27

struct top_screen {
    SCREEN *terminal;
    bool coloured;
};

enum { GREEN = 1, YELLOW, RED, CYAN };

int top_screen_create(struct top_screen **out)
{
    struct top_screen *screen = calloc(1, sizeof *screen);
    if (screen == NULL)
        return -ENOMEM;
    /* Not initscr(), which ends the process when it fails. */
    screen->terminal = newterm(NULL, stdout, stdin);
    if (screen->terminal == NULL) {
        free(screen);
        return -ENOTTY;
    }
    set_term(screen->terminal);
    cbreak();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(25);
    curs_set(0);
    const char *plain = getenv("NO_COLOR"); /* no-color.org: set and not empty */
    screen->coloured = (plain == NULL || *plain == '\0') && has_colors() && start_color() == OK;
    if (screen->coloured) {
        short background = use_default_colors() == OK ? -1 : COLOR_BLACK;
        init_pair(GREEN, COLOR_GREEN, background);
        init_pair(YELLOW, COLOR_YELLOW, background);
        init_pair(RED, COLOR_RED, background);
        init_pair(CYAN, COLOR_CYAN, background);
    }
    *out = screen;
    return 0;
}

void top_screen_destroy(struct top_screen *screen)
{
    if (screen == NULL)
        return;
    endwin();
    delscreen(screen->terminal);
    free(screen);
}

void top_screen_size(int *rows, int *columns)
{
    getmaxyx(stdscr, *rows, *columns);
}

static short top_screen_pair_of(const struct top_screen *screen, enum top_style style)
{
    static const short pairs[] = {
        [TOP_TITLE] = CYAN, [TOP_GOOD] = GREEN, [TOP_WARNING] = YELLOW, [TOP_BAD] = RED};
    return screen->coloured ? pairs[style] : 0;
}

/* Without colours the urgent is bold, titles are underlined. */
static attr_t attributes_of(const struct top_screen *screen, enum top_style style)
{
    switch (style) {
    case TOP_DIM:
        return A_DIM;
    case TOP_BOLD:
    case TOP_BAD:
        return A_BOLD;
    case TOP_TITLE:
        return screen->coloured ? A_BOLD : A_UNDERLINE;
    case TOP_CHOSEN:
        return A_REVERSE;
    case TOP_WARNING:
        return screen->coloured ? A_NORMAL : A_BOLD;
    default:
        return A_NORMAL;
    }
}

/* Bytes of so many columns. */
static size_t top_screen_bytes_of(const char *text, int columns)
{
    size_t at = 0;
    while (columns > 0 && text[at]) {
        const size_t begin = at;
        do
            at++;
        while (((unsigned char)text[at] & 0xc0) == 0x80);
        columns -= (int)utf8_columns(text + begin, at - begin);
    }
    return at;
}

static void draw_line(const struct top_screen *screen, int row, const struct top_line *line)
{
    const char *text = line->text;
    int column = 0;
    move(row, 0);
    for (int i = 0; i <= line->span_count; i++) {
        const struct top_span *span = i < line->span_count ? &line->spans[i] : NULL;
        int plain = (span != NULL ? span->from : line->columns) - column;
        size_t bytes = top_screen_bytes_of(text, plain);
        attrset(A_NORMAL);
        addnstr(text, (int)bytes);
        text += bytes;
        if (span == NULL)
            break;
        bytes = top_screen_bytes_of(text, span->to - span->from);
        attr_set(attributes_of(screen, span->style), top_screen_pair_of(screen, span->style), NULL);
        addnstr(text, (int)bytes);
        text += bytes;
        column = span->to;
    }
    attrset(A_NORMAL);
}

void top_screen_draw(struct top_screen *screen, const struct top_page *page)
{
    int rows, columns;
    top_screen_size(&rows, &columns);
    erase();
    for (int i = 0; i < page->count && i < rows; i++)
        draw_line(screen, i, &page->lines[i]);
    refresh();
}

enum top_key top_screen_key(void)
{
    static const struct {
        int key;
        enum top_key means;
    } keys[] = {
        {ERR, TOP_KEY_NONE},
        {'q', TOP_KEY_QUIT},
        {'Q', TOP_KEY_QUIT},
        {KEY_UP, TOP_KEY_UP},
        {'k', TOP_KEY_UP},
        {KEY_DOWN, TOP_KEY_DOWN},
        {'j', TOP_KEY_DOWN},
        {KEY_ENTER, TOP_KEY_ENTER},
        {'\r', TOP_KEY_ENTER},
        {'\n', TOP_KEY_ENTER},
        {ESCAPE, TOP_KEY_ENTER},
        {'p', TOP_KEY_PAUSE},
        {' ', TOP_KEY_PAUSE},
        {'s', TOP_KEY_SORT},
        {'?', TOP_KEY_HELP},
        {'h', TOP_KEY_HELP},
        {KEY_RESIZE, TOP_KEY_RESIZED},
    };
    const int key = getch();
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i].key == key)
            return keys[i].means;
    return TOP_KEY_OTHER;
}

bool top_screen_utf8(void)
{
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}
