/* Checks, cuts and prints UTF-8. */
#include "proto/utf8.h"

#include <stdint.h>
#include <string.h>

/* RFC 3629 section 4: length of the character that starts here, 0 when there is none. */
static size_t utf8_character(const uint8_t *at, size_t capacity)
{
    if (at[0] < 0x80)
        return at[0] != 0;
    size_t length = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
    if (at[0] < 0xc2 || at[0] > 0xf4 || capacity < length)
        return 0;
    /* The second byte rules out overlong forms, surrogates and what lies above U+10FFFF. */
    uint8_t low = at[0] == 0xe0 ? 0xa0 : at[0] == 0xf0 ? 0x90 : 0x80;
    uint8_t high = at[0] == 0xed ? 0x9f : at[0] == 0xf4 ? 0x8f : 0xbf;
    if (at[1] < low || at[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    }
    return length;
}

size_t utf8_prefix(const char *text, size_t length)
{
    const uint8_t *bytes = (const uint8_t *)text;
    size_t at = 0;
    while (at < length) {
        size_t step = utf8_character(bytes + at, length - at);
        if (step == 0)
            break;
        at += step;
    }
    return at;
}

/* The blocks that are wide, or nearly all of which are. */
static int utf8_is_wide(const uint8_t *c, size_t length)
{
    static const uint32_t wide[][2] = {{0x1100, 0x115f},   {0x2e80, 0xa4cf},   {0xa960, 0xa97f},
                                       {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},
                                       {0xff01, 0xff60},   {0xffe0, 0xffe6},   {0x1f300, 0x1f64f},
                                       {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
    uint32_t code = 0;
    if (length > 3 && c[0] >= 0xf0)
        code = (c[0] & 7u) << 18 | (c[1] & 63u) << 12 | (c[2] & 63u) << 6 | (c[3] & 63u);
    else if (length > 2 && c[0] >= 0xe0)
        code = (c[0] & 15u) << 12 | (c[1] & 63u) << 6 | (c[2] & 63u);
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (code >= wide[i][0] && code <= wide[i][1])
            return 1;
    return 0;
}

size_t utf8_columns(const char *text, size_t length)
{
    const uint8_t *bytes = (const uint8_t *)text;
    size_t columns = 0;
    for (size_t i = 0; i < length; i++)
        if ((bytes[i] & 0xc0) != 0x80)
            columns += utf8_is_wide(bytes + i, length - i) ? 2 : 1;
    return columns;
}

size_t utf8_control(const char *text, size_t length)
{
    const uint8_t *c = (const uint8_t *)text;
    if (length > 0 && (c[0] < 0x20 || c[0] == 0x7f))
        return 1;
    if (length > 1 && c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0)
        return 2;
    return length > 2 && c[0] == 0xe2 &&
                   ((c[1] == 0x80 && c[2] >= 0x8b && c[2] <= 0x8f) ||
                    (c[1] == 0x80 && c[2] >= 0xa8 && c[2] <= 0xae) ||
                    (c[1] == 0x81 && c[2] >= 0xa0 && c[2] <= 0xaf))
               ? 3
               : 0;
}

size_t utf8_cut(const char *text, size_t length, size_t limit)
{
    if (length <= limit)
        return length;
    size_t cut = limit;
    while (cut > 0 && limit - cut < 3 && ((uint8_t)text[cut] & 0xc0) == 0x80)
        cut--;
    /* Four continuation bytes in a row belong to no character: nothing is gained by cutting
     * before them. */
    return ((uint8_t)text[cut] & 0xc0) == 0x80 ? limit : cut;
}

void utf8_print_plain(FILE *out, const char *text)
{
    for (size_t left = strlen(text), read; left > 0; text += read, left -= read) {
        const size_t valid = utf8_prefix(text, left);
        for (size_t at = 0; at < valid;) {
            const size_t control = utf8_control(text + at, valid - at);
            fputc(control > 0 ? '?' : text[at], out);
            at += control > 0 ? control : 1;
        }
        if (valid < left)
            fputc('?', out);
        read = valid < left ? valid + 1 : valid;
    }
}

void utf8_print_csv(FILE *out, const char *text)
{
    const char *quote = text[strcspn(text, ",\"\r\n")] ? "\"" : "";
    size_t left = strlen(text);
    fputs(quote, out);
    while (left > 0) {
        size_t valid = utf8_prefix(text, left);
        for (size_t i = 0; i < valid; i++)
            fprintf(out, text[i] == '"' ? "\"\"" : "%c", text[i]);
        if (valid == 0) {
            fputs("\xef\xbf\xbd", out);
            valid = 1;
        }
        text += valid;
        left -= valid;
    }
    fputs(quote, out);
}
