/* Recognises the format of a file or folder from its contents: see import_format.h. */
#include "daemon/import/import_format.h"

#include "holter/error.h"
#include "holter/plain_text.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOOKED_AT 4096u

static const char *const names[IMPORT_FORMATS] = {
    [IMPORT_HOPBYTE] = "hopbyte", [IMPORT_ROUTE] = "route", [IMPORT_COUNTERS] = "counters",
    [IMPORT_OTF2] = "otf2",       [IMPORT_DUMPI] = "dumpi", [IMPORT_CSV] = "csv",
};

const char *import_format_name(enum import_format format)
{
    return format < IMPORT_FORMATS ? names[format] : NULL;
}

enum import_format import_format_by_name(const char *name)
{
    for (unsigned f = 0; f < IMPORT_FORMATS; f++)
        if (names[f] != NULL && strcmp(names[f], name) == 0)
            return (enum import_format)f;
    return IMPORT_UNKNOWN;
}

/* ---- folders --------------------------------------------------------------- */

/* Length of the part of a name before "-0000.bin". @return 0: this is not the name of a rank's file
 */
static size_t import_format_prefix_of(const char *name)
{
    size_t length = strlen(name);
    if (!text_ends(name, ".bin"))
        return 0;
    for (length -= 4; length > 0 && isdigit((unsigned char)name[length - 1]);)
        length--;
    return length > 1 && name[length - 1] == '-' && name[length] != '.' ? length - 1 : 0;
}

/* Find the traces of a folder by the files of their first ranks: a DUMPI trace may have lost its
 * .meta file.
 * @return number of traces; 2 stands for several */
static unsigned import_format_find_traces(const char *path, char *source, size_t capacity)
{
    char first[256] = "";
    unsigned found = 0;
    DIR *folder = opendir(path);
    const struct dirent *entry;
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        const char *name = entry->d_name;
        size_t length = import_format_prefix_of(name);
        if (length == 0)
            continue;
        int same = import_format_prefix_of(first) == length && strncmp(first, name, length) == 0;
        found = found == 0 || (found == 1 && same) ? 1 : 2;
        if (first[0] == '\0' || strcmp(name, first) < 0)
            snprintf(first, sizeof first, "%s", name);
    }
    if (folder != NULL)
        closedir(folder);
    if (found == 1)
        snprintf(source, capacity, "%s/%s", path, first);
    return found;
}

/* Find the only file of a folder that represents a whole trace. */
static int import_format_find_file(const char *path, enum import_format wanted, char *source,
                                   size_t capacity, char *why, size_t why_capacity)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    unsigned found = 0;
    if (folder == NULL) {
        snprintf(why, why_capacity, "%s: %s", path, holter_strerror(-errno));
        return -1;
    }
    while ((entry = readdir(folder)) != NULL)
        if ((wanted != IMPORT_DUMPI && text_ends(entry->d_name, ".otf2")) ||
            (wanted != IMPORT_OTF2 && text_ends(entry->d_name, ".meta"))) {
            found++;
            snprintf(source, capacity, "%s/%s", path, entry->d_name);
        }
    closedir(folder);
    if (found == 0 && wanted != IMPORT_OTF2)
        found = import_format_find_traces(path, source, capacity);
    if (found != 1)
        snprintf(why, why_capacity,
                 found == 0
                     ? "%s: there is no trace in this folder: no file .otf2, none .meta, none "
                       "-0000.bin"
                     : "%s: there are several traces in this folder; name the file",
                 path);
    return found == 1 ? 0 : -1;
}

/* ---- files ----------------------------------------------------------------- */

static int import_format_has_line(const char *text, const char *begin)
{
    size_t length = strlen(begin);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, begin, length) == 0)
            return 1;
    }
    return 0;
}

char import_declared_separator(const char *line, size_t length)
{
    while (length > 0 && (line[length - 1] == '\r' || line[length - 1] == ' '))
        length--;
    if (length == 7 && line[0] == '"' && line[6] == '"')
        line++, length -= 2;
    return length == 5 && strncasecmp(line, "sep=", 4) == 0 ? line[4] : '\0';
}

/* The first line that is neither empty nor a comment nor a declaration of the separator. */
static const char *import_format_first_line(const char *text)
{
    while (*text != '\0') {
        size_t length = strcspn(text, "\r\n"), blanks = strspn(text, " \t");
        if (blanks < length && text[blanks] != '#' &&
            import_declared_separator(text + blanks, length - blanks) == '\0')
            return text + blanks;
        text += length + (text[length] != '\0');
    }
    return text;
}

/* Is this the header of a table of messages, whichever of its columns comes first? Missing columns
 * and unsupported separators are reported by its reader. */
static int import_format_is_table(const char *line)
{
    static const char *const columns[] = {"source", "destination"};
    size_t length = strcspn(line, "\r\n");
    for (size_t c = 0; c < sizeof(columns) / sizeof(columns[0]); c++) {
        const char *found = strcasestr(line, columns[c]);
        if (found == NULL || (size_t)(found - line) >= length)
            return 0;
    }
    return 1;
}

/* Is this the output of dumpi2ascii: "MPI_Init entering at walltime 3.000000001, ..."? */
static int import_format_is_dumpi_ascii(const char *text)
{
    const char *entering = strstr(text, " entering at ");
    while (entering != NULL && entering > text && entering[-1] != '\n' &&
           !isspace((unsigned char)entering[-1]))
        entering--;
    return entering != NULL && strncmp(entering, "MPI", 3) == 0;
}

static enum import_format import_format_of_text(const char *text)
{
    const char *line = import_format_first_line(text);
    if (import_format_has_line(text, "numprocs=") || import_format_has_line(text, "fileprefix=") ||
        import_format_is_dumpi_ascii(text))
        return IMPORT_DUMPI;
    if (import_format_has_line(text, "hardware:"))
        return IMPORT_COUNTERS;
    if (strncmp(line, "Hop ", 4) == 0 || strstr(text, "Hop 1:") != NULL)
        return IMPORT_ROUTE;
    if (import_format_is_table(line))
        return IMPORT_CSV;
    size_t plain = strspn(line, "0123456789 \t.eE+-");
    if (isdigit((unsigned char)line[0]) && strchr("\r\n", line[plain]) != NULL)
        return IMPORT_HOPBYTE;
    return IMPORT_UNKNOWN;
}

const char *import_packed_as(const char *bytes, size_t length)
{
    static const struct {
        const char *begin, *what;
        size_t length;
    } kinds[] = {{"\x1f\x8b", "is compressed (gzip): unpack it first", 2},
                 {"BZh", "is compressed (bzip2): unpack it first", 3},
                 {"\xfd"
                  "7zXZ",
                  "is compressed (xz): unpack it first", 5},
                 {"\x28\xb5\x2f\xfd", "is compressed (zstd): unpack it first", 4},
                 {"PK\x03\x04", "is an archive (zip): unpack it first", 4},
                 {"\xff\xfe", "is text in UTF-16: UTF-8 is expected", 2},
                 {"\xfe\xff", "is text in UTF-16: UTF-8 is expected", 2}};
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
        if (length >= kinds[k].length && memcmp(bytes, kinds[k].begin, kinds[k].length) == 0)
            return kinds[k].what;
    if (length >= 262 && memcmp(bytes + 257, "ustar", 5) == 0)
        return "is an archive (tar): unpack it first";
    return NULL;
}

static enum import_format import_format_of_bytes(char *bytes, size_t length)
{
    if (length >= 16 && memcmp(bytes, "SQLite format 3", 16) == 0)
        return IMPORT_RECORDING;
    if (length >= 6 && memcmp(bytes + 2, "OTF2", 4) == 0)
        return IMPORT_OTF2;
    if (length >= 8 && memcmp(bytes,
                              "\xff\xaa\xdd"
                              "DUMPI",
                              8) == 0)
        return IMPORT_DUMPI;
    bytes[length] = '\0';
    if (length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) /* byte order mark */
        bytes += 3, length -= 3;
    return memchr(bytes, '\0', length) == NULL ? import_format_of_text(bytes) : IMPORT_UNKNOWN;
}

enum import_format import_format_find(const char *path, enum import_format wanted, char *source,
                                      size_t source_capacity, char *why, size_t capacity)
{
    char bytes[LOOKED_AT + 1];
    struct stat status;
    size_t length = 0;
    snprintf(source, source_capacity, "%s", path);
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode) &&
        import_format_find_file(path, wanted, source, source_capacity, why, capacity) != 0)
        return IMPORT_UNKNOWN;
    int fd = open(source, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t got = fd < 0 ? -1 : 1;
    while (got > 0 && length < LOOKED_AT) {
        got = read(fd, bytes + length, LOOKED_AT - length);
        length += got > 0 ? (size_t)got : 0;
    }
    if (got < 0)
        snprintf(why, capacity, "%s: %s", source, holter_strerror(-errno));
    if (fd >= 0)
        close(fd);
    if (got < 0)
        return IMPORT_UNKNOWN;
    const char *packed = import_packed_as(bytes, length);
    if (packed != NULL) {
        snprintf(why, capacity, "%s %s", source, packed);
        return IMPORT_PACKED;
    }
    enum import_format format = import_format_of_bytes(bytes, length);
    if (format == IMPORT_UNKNOWN && text_ends(source, ".otf2"))
        format = IMPORT_OTF2; /* libotf2 reports what is wrong with it */
    if (format == IMPORT_UNKNOWN && text_ends(source, ".meta"))
        format = IMPORT_DUMPI; /* the files beside it may still be usable */
    if (format == IMPORT_UNKNOWN)
        snprintf(why, capacity, "%s: its format cannot be recognised from %s", source,
                 length == 0 ? "an empty file" : "its beginning");
    return format;
}
