/* Texts and paths. */
#ifndef HOLTER_PLAIN_TEXT_H
#define HOLTER_PLAIN_TEXT_H

#include <stdio.h>
#include <string.h>

/** Copy a text, cut to what fits. @param text  NULL: none, as "" */
static inline void text_copy(char *out, size_t capacity, const char *text)
{
    snprintf(out, capacity, "%s", text ? text : "");
}

static inline int text_begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/** Last component of a path. */
static inline const char *text_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

#endif
