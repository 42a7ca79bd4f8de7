/* Text files and the reports of their faults: see file_text.h. */
#include "daemon/topology/file_text.h"

#include "holter/error.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void fault_at(struct faults *f, unsigned line, const char *format, ...)
{
    char why[500], text[800];
    if (f->count++ > FILE_FAULTS)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof(why), format, args);
    va_end(args);
    if (f->count > FILE_FAULTS)
        snprintf(text, sizeof(text), "%.200s: and more", f->name);
    else if (line == 0)
        snprintf(text, sizeof(text), "%.200s: %s", f->name, why);
    else
        snprintf(text, sizeof(text), "%.200s:%u: %s", f->name, line, why);
    for (char *c = text; *c != '\0'; c++)
        *c = (unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c;
    f->tell(f->user, text);
}

/* ---- reading ------------------------------------------------------------- */

static int file_text_read_all(int fd, char **out, size_t *length, size_t most)
{
    size_t capacity = 1u << 16, used = 0;
    char *text = malloc(capacity + 1);
    while (text != NULL && used <= most) {
        if (used == capacity) {
            char *more = realloc(text, (capacity *= 2) + 1);
            if (more == NULL)
                break;
            text = more;
        }
        ssize_t n = read(fd, text + used, capacity - used);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            int code = n < 0 ? -errno : 0;
            text[used] = '\0';
            *out = text;
            *length = used;
            if (code != 0)
                free(text);
            return code;
        }
        used += (size_t)n;
    }
    free(text);
    return used > most ? -HOLTER_ELIMIT : -ENOMEM;
}

/* Editors of some systems write a byte order mark at the beginning of a text. */
static void file_text_drop_mark(char *text, size_t *length)
{
    if (*length < 3 || memcmp(text, "\xef\xbb\xbf", 3) != 0)
        return;
    *length -= 3;
    memmove(text, text + 3, *length + 1);
}

int file_text(char **out, size_t *length, const char *path, size_t most, struct faults *faults)
{
    struct stat status;
    /* opening a pipe without a writer would block */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), code = 0;
    if (fd < 0 || fstat(fd, &status) != 0 || fcntl(fd, F_SETFL, 0) != 0)
        code = -errno;
    else if (S_ISDIR(status.st_mode))
        code = -EISDIR;
    code = code != 0 ? code : file_text_read_all(fd, out, length, most);
    if (fd >= 0)
        close(fd);
    if (code == 0)
        file_text_drop_mark(*out, length);
    if (code == -HOLTER_ELIMIT)
        fault_at(faults, 0, "longer than %zu %s", most >> (most >> 20 != 0 ? 20 : 10),
                 most >> 20 != 0 ? "MiB" : "KiB");
    else if (code != 0)
        fault_at(faults, 0, "%s", holter_strerror(code));
    return code;
}

/* ---- lines and words ----------------------------------------------------- */

struct lines lines_of(const char *text, size_t length)
{
    return (struct lines){text, text + length, 0};
}

int lines_next(struct lines *lines, const char **begin, const char **end)
{
    if (lines->at == lines->end)
        return 0;
    const char *stop = memchr(lines->at, '\n', (size_t)(lines->end - lines->at));
    *begin = lines->at;
    *end = stop == NULL ? lines->end : stop;
    lines->at = stop == NULL ? lines->end : stop + 1;
    lines->number++;
    return 1;
}

static int file_text_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

int word_next(const char **at, const char *end, const char **word, size_t *length)
{
    const char *c = *at;
    while (c < end && file_text_is_blank(*c))
        c++;
    *word = c;
    while (c < end && !file_text_is_blank(*c))
        c++;
    *length = (size_t)(c - *word);
    *at = c;
    return *length > 0;
}

int word_whole(const char **at, const char *end, uint64_t *out)
{
    const char *word;
    size_t length;
    uint64_t value = 0;
    if (!word_next(at, end, &word, &length) || length > 18)
        return 0;
    for (size_t i = 0; i < length; i++) {
        if (word[i] < '0' || word[i] > '9')
            return 0;
        value = value * 10 + (uint64_t)(word[i] - '0');
    }
    *out = value;
    return 1;
}

int word_amount(const char **at, const char *end, uint64_t *out)
{
    const char *word;
    size_t length;
    char text[64], *stop;
    if (!word_next(at, end, &word, &length) || length >= sizeof(text))
        return 0;
    memcpy(text, word, length);
    text[length] = '\0';
    if (strspn(text, "0123456789.eE+-") < length) /* neither hexadecimal nor infinity */
        return 0;
    /* its 64 bits of mantissa hold every whole number below 2^63 */
    const long double value = strtold(text, &stop), whole = roundl(value);
    if (*stop != '\0' || !(value >= 0) || whole >= 0x1p63L)
        return 0;
    *out = (uint64_t)whole;
    return 1;
}
