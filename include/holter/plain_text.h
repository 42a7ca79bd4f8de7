/* Texts and paths. */
#ifndef HOLTER_PLAIN_TEXT_H
#define HOLTER_PLAIN_TEXT_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/** Copy a text, cut to what fits. @param text  NULL: none, as "" */
static inline void text_copy(char *out, size_t capacity, const char *text)
{
    snprintf(out, capacity, "%s", text ? text : "");
}

/** Append what printf() writes to the text in a buffer, cut to what fits. */
__attribute__((format(printf, 3, 4))) static inline void text_append(char *out, size_t capacity,
                                                                     const char *format, ...)
{
    const size_t used = strlen(out);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(out + used, capacity - used, format, arguments);
    va_end(arguments);
}

/** Append a text as one word of a shell, quoted where it must be, cut to what fits. */
static inline void text_append_word(char *out, size_t capacity, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=.,:/@%";
    if (text[0] != '\0' && text[strspn(text, plain)] == '\0') {
        text_append(out, capacity, "%s", text);
        return;
    }
    text_append(out, capacity, "'");
    for (; *text != '\0'; text++)
        text_append(out, capacity, "%s%c%s", *text == '\'' ? "'\\" : "", *text,
                    *text == '\'' ? "'" : "");
    text_append(out, capacity, "'");
}

static inline int text_begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/** Does a text end with a suffix, and begin with something else? */
static inline int text_ends(const char *text, const char *suffix)
{
    const size_t length = strlen(text), end = strlen(suffix);
    return length > end && strcmp(text + length - end, suffix) == 0;
}

/** May a character stand in the id of a job: an ASCII letter, a digit, or one of - _ . ? */
static inline int text_is_id_byte(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '_' || c == '.';
}

/** Read digits. @return the first other character, or NULL: there is no number, or it is larger */
static inline const char *text_number(const char *at, uint64_t maximum, uint64_t *out)
{
    const char *begin = at;
    uint64_t value = 0;
    for (; *at >= '0' && *at <= '9'; at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (digit > maximum || value > (maximum - digit) / 10)
            return NULL;
        value = value * 10 + digit;
    }
    *out = value;
    return at == begin ? NULL : at;
}

/** Last component of a path. */
static inline const char *text_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

#endif
