/* Finds libraries as ld.so(8) does: RPATH, LD_LIBRARY_PATH, RUNPATH, the cache, the defaults. */
#include "agent/launch/library_search.h"

#include "holter/error.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_CACHE_BYTES (64u << 20)

/* The cache as glibc's ldconfig(8) writes it: a header, then entries of 24 bytes, then the texts.
 * All offsets count from the header. Older ldconfig put the table of libc5 before it. */
#define CACHE_MAGIC "glibc-ld.so.cache1.1"
#define CACHE_HEADER 48u
#define CACHE_ENTRY 24u
#define CACHE_ELF_LIBC6 3u

struct library_search {
    char *library_path;
    char *cache; /**< whole file, NUL-terminated; NULL: none */
    size_t cache_bytes;
    size_t cache_start; /**< of the header that CACHE_MAGIC begins */
    uint32_t cache_entries;
};

/* Multiarch first, as Debian's linker has it; then the two classic places. */
static const char default_path[] =
#ifdef HOLTER_MULTIARCH
    "/lib/" HOLTER_MULTIARCH ":/usr/lib/" HOLTER_MULTIARCH ":"
#endif
    "/lib64:/usr/lib64:/lib:/usr/lib";

static char *library_search_read_file(const char *path, size_t *length)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    struct stat st;
    char *bytes = NULL;
    size_t got = 0;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
        (uint64_t)st.st_size <= MAX_CACHE_BYTES)
        bytes = malloc((size_t)st.st_size + 1);
    while (bytes != NULL && got < (size_t)st.st_size) {
        ssize_t n = read(fd, bytes + got, (size_t)st.st_size - got);
        if (n <= 0)
            break;
        got += (size_t)n;
    }
    close(fd);
    if (bytes != NULL)
        bytes[got] = '\0';
    *length = got;
    return bytes;
}

static uint32_t library_search_read_u32(const char *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

/** Find the table in the file; leaves the cache empty when it does not hold together. */
static void library_search_index_cache(struct library_search *s)
{
    char *magic = s->cache == NULL
                      ? NULL
                      : memmem(s->cache, s->cache_bytes, CACHE_MAGIC, strlen(CACHE_MAGIC));
    if (magic == NULL || s->cache_bytes - (size_t)(magic - s->cache) < CACHE_HEADER)
        return;
    s->cache_start = (size_t)(magic - s->cache);
    uint32_t entries = library_search_read_u32(magic + 20);
    if ((s->cache_bytes - s->cache_start - CACHE_HEADER) / CACHE_ENTRY >= entries)
        s->cache_entries = entries;
}

int library_search_create(struct library_search **out, const char *library_path,
                          const char *cache_path)
{
    struct library_search *s = calloc(1, sizeof *s);
    if (s == NULL)
        return -ENOMEM;
    s->library_path = strdup(library_path == NULL ? "" : library_path);
    if (s->library_path == NULL) {
        free(s);
        return -ENOMEM;
    }
    s->cache = library_search_read_file(cache_path, &s->cache_bytes);
    library_search_index_cache(s);
    *out = s;
    return 0;
}

void library_search_destroy(struct library_search *search)
{
    if (search == NULL)
        return;
    free(search->library_path);
    free(search->cache);
    free(search);
}

/** Is there a library of the same class and machine at this path? */
static int library_search_fits(const char *path, const struct needing_file *by)
{
    struct elf_file elf;
    if (elf_file_init(&elf, path) < 0)
        return 0;
    int same = elf.class_ == by->elf.class_ && elf.machine == by->elf.machine;
    elf_file_finish(&elf);
    return same;
}

/** Replace $ORIGIN, ${ORIGIN}, $LIB and ${LIB} ("Dynamic string tokens", ld.so(8)). Other tokens
 *  stay, and the directory is then not found. @return 0 or -HOLTER_ERANGE */
static int library_search_expand(char *out, size_t capacity, const char *dir, size_t length,
                                 const struct needing_file *by)
{
    const char *slash = strrchr(by->path, '/');
    const struct {
        const char *token, *value;
        size_t value_length;
    } tokens[] = {
        {"$ORIGIN", slash == NULL ? "." : by->path, slash == NULL ? 1 : (size_t)(slash - by->path)},
        {"${ORIGIN}", slash == NULL ? "." : by->path,
         slash == NULL ? 1 : (size_t)(slash - by->path)},
        {"$LIB", "lib64", 5},
        {"${LIB}", "lib64", 5},
    };
    size_t used = 0;
    for (size_t i = 0; i < length;) {
        const char *piece = dir + i;
        size_t piece_length = 1, step = 1;
        for (size_t t = 0; *piece == '$' && t < sizeof tokens / sizeof *tokens; t++) {
            size_t n = strlen(tokens[t].token);
            if (n <= length - i && memcmp(dir + i, tokens[t].token, n) == 0) {
                piece = tokens[t].value;
                piece_length = tokens[t].value_length;
                step = n;
                break;
            }
        }
        if (used + piece_length >= capacity)
            return -HOLTER_ERANGE;
        memcpy(out + used, piece, piece_length);
        used += piece_length;
        i += step;
    }
    out[used] = '\0';
    return 0;
}

/** Look through the directories of a list separated by any of the characters. */
static int library_search_find_in_list(const char *list, const char *separators, const char *name,
                                       const struct needing_file *by, char *out, size_t capacity)
{
    while (list != NULL && *list != '\0') {
        size_t length = strcspn(list, separators);
        char dir[PATH_MAX];
        int n = -1;
        if (length == 0) /* an empty entry is the current directory */
            n = snprintf(out, capacity, "./%s", name);
        else if (library_search_expand(dir, sizeof dir, list, length, by) == 0)
            n = snprintf(out, capacity, "%s/%s", dir, name);
        if (n > 0 && (size_t)n < capacity && library_search_fits(out, by))
            return 0;
        list += length;
        list += *list != '\0';
    }
    return -ENOENT;
}

static int library_search_find_in_rpaths(const char *name, const struct needing_file *by, char *out,
                                         size_t capacity)
{
    if (by->elf.runpath != NULL) /* DT_RUNPATH switches DT_RPATH off, of the loaders as well */
        return -ENOENT;
    for (const struct needing_file *f = by; f != NULL; f = f->parent)
        if (f->elf.rpath != NULL && f->elf.runpath == NULL &&
            library_search_find_in_list(f->elf.rpath, ":", name, f, out, capacity) == 0)
            return 0;
    return -ENOENT;
}

static int library_search_find_in_cache(const struct library_search *s, const char *name,
                                        const struct needing_file *by, char *out, size_t capacity)
{
    if (s->cache_entries == 0)
        return -ENOENT;
    const char *header = s->cache + s->cache_start;
    size_t bytes = s->cache_bytes - s->cache_start;
    for (uint32_t i = 0; i < s->cache_entries; i++) {
        const char *entry = header + CACHE_HEADER + (size_t)i * CACHE_ENTRY;
        uint32_t flags = library_search_read_u32(entry), key = library_search_read_u32(entry + 4),
                 value = library_search_read_u32(entry + 8);
        if ((flags & 0xff) != CACHE_ELF_LIBC6 || key >= bytes || value >= bytes ||
            strcmp(header + key, name) != 0)
            continue;
        int n = snprintf(out, capacity, "%s", header + value);
        if (n > 0 && (size_t)n < capacity && library_search_fits(out, by))
            return 0;
    }
    return -ENOENT;
}

int library_search_find(const struct library_search *search, const char *name,
                        const struct needing_file *by, char *out, size_t capacity)
{
    if (capacity < PATH_MAX)
        return -HOLTER_ERANGE;
    if (strchr(name, '/') != NULL)
        return library_search_expand(out, capacity, name, strlen(name), by) == 0 &&
                       library_search_fits(out, by)
                   ? 0
                   : -ENOENT;
    if (library_search_find_in_rpaths(name, by, out, capacity) == 0)
        return 0;
    if (library_search_find_in_list(search->library_path, ":;", name, by, out, capacity) == 0)
        return 0;
    if (by->elf.runpath != NULL &&
        library_search_find_in_list(by->elf.runpath, ":", name, by, out, capacity) == 0)
        return 0;
    if (library_search_find_in_cache(search, name, by, out, capacity) == 0)
        return 0;
    return library_search_find_in_list(default_path, ":", name, by, out, capacity);
}
