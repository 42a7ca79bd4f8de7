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

size_t utf8_characters(const char *text)
{
    size_t count = 0;
    for (; *text != '\0'; text++)
        count += ((uint8_t)*text & 0xc0) != 0x80;
    return count;
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
