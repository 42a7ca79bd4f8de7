/* Fills the lines of help texts. A block is a paragraph without indentation, or an indented line
 * whose description begins behind two spaces or more, with the lines below that begin where the
 * description does. */
#include "proto/help_text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct help_text {
    FILE *out;
    int columns; /* of the terminal */
    int hang;    /* where the lines of this block begin, but the first one */
    int at;      /* column; 0: at the begin of a line */
};

static int help_text_indent(const char *line)
{
    return (int)strspn(line, " ");
}

/* Where the description begins. @return 0: there is none */
static int help_text_description(const char *line, int length)
{
    for (int i = help_text_indent(line); i + 2 < length; i++)
        if (line[i] == ' ' && line[i + 1] == ' ')
            return i + help_text_indent(line + i);
    return 0;
}

static void help_text_end_block(struct help_text *h)
{
    if (h->at > 0)
        fputc('\n', h->out);
    h->at = 0;
}

/* One word, or what has spaces of its own before a description. */
static void help_text_put(struct help_text *h, const char *word, int length)
{
    bool wraps = h->at > h->hang && h->at + 1 + length > h->columns;
    if (wraps)
        fprintf(h->out, "\n%*s", h->hang, "");
    else if (h->at > h->hang)
        fputc(' ', h->out);
    h->at = (wraps ? h->hang : h->at + (h->at > h->hang)) + length;
    fwrite(word, 1, (size_t)length, h->out);
}

static void help_text_put_words(struct help_text *h, const char *text, const char *end)
{
    while (text < end) {
        text += strspn(text, " ");
        int length = (int)strcspn(text, " \n");
        if (text < end)
            help_text_put(h, text, length);
        text += length;
    }
}

/* Begin a block with a line that is none of the block before. */
static void help_text_begin_block(struct help_text *h, const char *line, int length)
{
    int indent = help_text_indent(line), begin = help_text_description(line, length);
    help_text_end_block(h);
    if (indent == 0) {
        h->hang = 0;
        help_text_put_words(h, line, line + length);
        return;
    }
    /* Behind an option that is too long for the column, the description begins one space behind. */
    int head = begin > 0 ? begin : indent;
    h->hang = begin > 0 ? begin : h->hang > indent ? h->hang : indent;
    if (h->hang > h->columns / 2)
        h->hang = indent + 2;
    fprintf(h->out, "%.*s", head, line);
    h->at = head;
    if (begin > h->hang || begin == 0) {
        int first = (int)strcspn(line + head, " \n");
        fwrite(line + head, 1, (size_t)first, h->out);
        h->at = head + first;
        head += first;
        if (h->at <= h->hang)
            h->at = h->hang + 1;
    }
    help_text_put_words(h, line + head, line + length);
}

void help_text_fill(FILE *out, const char *text, int columns)
{
    struct help_text h = {.out = out, .columns = columns};
    int written = 0; /* where the lines of the block begin in the text */
    for (const char *line = text; *line != '\0';) {
        int length = (int)strcspn(line, "\n"), indent = help_text_indent(line);
        bool usage = strncmp(line, "usage:", 6) == 0;
        if (length == 0) {
            help_text_end_block(&h);
            h.hang = 0; /* what follows is no part of the list before */
            fputc('\n', out);
        } else if (h.at > 0 && indent == written && !usage &&
                   (indent == 0 || help_text_description(line, length) == 0)) {
            help_text_put_words(&h, line, line + length);
        } else {
            help_text_begin_block(&h, line, length);
            written = indent == 0 ? 0 : help_text_description(line, length);
            written = written == 0 && indent > 0 ? h.hang > indent ? h.hang : -1 : written;
            if (usage)
                help_text_end_block(&h);
        }
        line += length + (line[length] == '\n');
    }
    help_text_end_block(&h);
}

int help_text_print(FILE *out, const char *text)
{
    struct winsize size = {.ws_col = 0};
    const char *given = getenv("COLUMNS");
    int columns = given == NULL ? 0 : atoi(given);
    if (columns <= 0 && isatty(fileno(out)) && ioctl(fileno(out), TIOCGWINSZ, &size) == 0)
        columns = size.ws_col;
    if (columns <= 0)
        return fputs(text, out) < 0 ? EOF : 0;
    columns = columns < HELP_TEXT_NARROWEST ? HELP_TEXT_NARROWEST : columns;
    help_text_fill(out, text, columns > HELP_TEXT_WIDEST ? HELP_TEXT_WIDEST : columns);
    return ferror(out) ? EOF : 0;
}
