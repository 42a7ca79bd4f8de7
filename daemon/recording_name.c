#include "daemon/recording.h"
#include "daemon/recording_file.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_FILES 10000u

/* ---- names --------------------------------------------------------------- */

int recording_part_path(const char *base, unsigned number, char *out, size_t room)
{
    size_t stem = strlen(base);
    if (stem > 5 && strcmp(base + stem - 5, ".hrec") == 0)
        stem -= 5;
    int length = number < 2
                     ? snprintf(out, room, "%s", base)
                     : snprintf(out, room, "%.*s.part%u%s", (int)stem, base, number, base + stem);
    return length > 0 && (size_t)length < room ? 0 : -ENAMETOOLONG;
}

void recording_parts_find(const char *base, unsigned *first, unsigned *last)
{
    char directory[520], path[560];
    const char *slash = strrchr(base, '/');
    *first = *last = access(base, F_OK) == 0;
    snprintf(directory, sizeof(directory), "%.*s", slash == NULL ? 1 : (int)(slash - base + 1),
             slash == NULL ? "." : base);
    DIR *entries = opendir(directory);
    for (struct dirent *e; entries != NULL && (e = readdir(entries)) != NULL;) {
        const char *number = strstr(e->d_name, ".part");
        unsigned part = 0;
        if (number == NULL || sscanf(number, ".part%u", &part) != 1 || part < 2 ||
            recording_part_path(base, part, path, sizeof(path)) != 0 ||
            strcmp(path + (slash == NULL ? 0 : slash - base + 1), e->d_name) != 0)
            continue;
        *first = *first == 0 || part < *first ? part : *first;
        *last = part > *last ? part : *last;
    }
    if (entries != NULL)
        closedir(entries);
}

/* ---- as files ------------------------------------------------------------ */

#define SUFFIXES 3
static const char *const suffixes[SUFFIXES] = {"", "-wal", "-shm"};

uint64_t recording_bytes_at(const char *path)
{
    uint64_t bytes = 0;
    for (int i = 0; i < SUFFIXES - 1; i++) {
        char name[600];
        struct stat status;
        snprintf(name, sizeof(name), "%s%s", path, suffixes[i]);
        bytes += stat(name, &status) == 0 ? (uint64_t)status.st_size : 0;
    }
    return bytes;
}

int recording_remove(const char *path)
{
    int code = 0;
    for (int i = 0; i < SUFFIXES; i++) {
        char name[600];
        snprintf(name, sizeof(name), "%s%s", path, suffixes[i]);
        if (unlink(name) != 0 && i == 0)
            code = -errno;
    }
    return code;
}

/* ---- directories --------------------------------------------------------- */

static int make_directories(const char *path)
{
    char part[512];
    if (snprintf(part, sizeof(part), "%s", path) >= (int)sizeof(part))
        return -ENAMETOOLONG;
    for (char *slash = strchr(part + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            return -errno;
        *slash = '/';
    }
    return mkdir(part, 0777) != 0 && errno != EEXIST ? -errno : 0;
}

int recording_directory(const char *path)
{
    struct stat status;
    int code = make_directories(path);
    if (code != 0)
        return code;
    if (stat(path, &status) != 0)
        return -errno;
    if (!S_ISDIR(status.st_mode))
        return -ENOTDIR;
    return access(path, W_OK | X_OK) != 0 ? -errno : 0;
}

/* ---- finding ------------------------------------------------------------- */

static int may_continue(const char *path, uint64_t instance)
{
    struct recording_file file = {0};
    char text[256], why[256];
    int64_t yes = 0, known = 0;
    if (recording_file_open(&file, path, RECORDING_READ, why, sizeof(why)) != 0)
        return 0;
    snprintf(text, sizeof(text), "SELECT EXISTS(SELECT 1 FROM %s WHERE instance=%" PRId64 ")",
             recording_file_has(&file, "agent") ? "agent" : "messages", (int64_t)instance);
    int code = recording_file_number(&file, text, &known);
    code = code != 0 ? code
                     : recording_file_number(&file,
                                             "SELECT NOT EXISTS(SELECT 1 FROM job WHERE state IN"
                                             " ('ended', 'died'))",
                                             &yes);
    recording_file_close(&file);
    return code == 0 && (yes != 0 || known != 0);
}

static int path_of(const char *directory, const char *job, unsigned number, char *out, size_t room)
{
    char suffix[16] = "";
    if (number > 1)
        snprintf(suffix, sizeof(suffix), "-%u", number);
    int length = snprintf(out, room, "%s/holter-%s%s.hrec", directory, job, suffix);
    return length > 0 && (size_t)length < room ? 0 : -ENAMETOOLONG;
}

int recording_choose(const char *directory, const char *job, uint64_t instance, char *out,
                     size_t room, int *exists)
{
    unsigned number = 1, first, last, newest_part = 0;
    char path[560];
    for (; number < MOST_FILES; number++) {
        if (path_of(directory, job, number, out, room) != 0)
            return -ENAMETOOLONG;
        recording_parts_find(out, &first, &last);
        if (last == 0)
            break;
        newest_part = last;
    }
    *exists = 0;
    if (number == 1)
        return 0;
    if (path_of(directory, job, number - 1, out, room) == 0 &&
        recording_part_path(out, newest_part, path, sizeof(path)) == 0 &&
        may_continue(path, instance)) {
        *exists = 1;
        return 0;
    }
    return path_of(directory, job, number, out, room);
}

int recording_new(const char *directory, const char *job, char *out, size_t room)
{
    unsigned first, last;
    for (unsigned number = 1; number < MOST_FILES; number++) {
        if (path_of(directory, job, number, out, room) != 0)
            return -ENAMETOOLONG;
        recording_parts_find(out, &first, &last);
        if (last == 0)
            return 0;
    }
    return -EEXIST;
}
