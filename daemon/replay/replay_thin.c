#include "daemon/replay/replay_thin.h"

#include "holter/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int replay_thin_gives_up(size_t at, size_t count)
{
    return at % 2 == 1 && at + 1 < count;
}

/* A line "Name:   123 kB". */
static int kilobytes(const char *text, const char *name, uint64_t *bytes)
{
    const char *at = strstr(text, name);
    if (at == NULL || (at != text && at[-1] != '\n'))
        return -HOLTER_EMALFORMED;
    char *end;
    unsigned long long value = strtoull(at + strlen(name), &end, 10);
    if (strncmp(end, " kB", 3) != 0 || value > UINT64_MAX / 1024)
        return -HOLTER_EMALFORMED;
    *bytes = (uint64_t)value * 1024;
    return 0;
}

int replay_memory_parse(struct replay_memory *out, const char *meminfo, const char *most,
                        const char *current, const char *stat)
{
    struct replay_memory m;
    if (kilobytes(meminfo, "MemTotal:", &m.total) != 0 ||
        kilobytes(meminfo, "MemAvailable:", &m.available) != 0)
        return -HOLTER_EMALFORMED;
    char *end_most = NULL, *end_current = NULL;
    uint64_t limit = most == NULL ? 0 : strtoull(most, &end_most, 10),
             used = current == NULL ? 0 : strtoull(current, &end_current, 10);
    const char *cache = stat == NULL ? NULL : strstr(stat, "inactive_file ");
    uint64_t given_back = cache == NULL ? 0 : strtoull(cache + strlen("inactive_file "), NULL, 10);
    used -= given_back < used ? given_back : used; /* read from files: given up before all else */
    int limited = most != NULL && current != NULL && end_most != most && end_current != current;
    if (limited && limit < m.total) {
        uint64_t left = limit > used ? limit - used : 0;
        m.total = limit;
        m.available = left < m.available ? left : m.available;
    }
    *out = m;
    return 0;
}

static int read_text(const char *path, char *out, size_t room)
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return -errno;
    size_t length = fread(out, 1, room - 1, file);
    fclose(file);
    out[length] = '\0';
    return 0;
}

/* The directory of this process's control group, version 2: the line "0::/path". */
static int group_file(const char *name, char *out, size_t room)
{
    char text[4096], path[512];
    if (read_text("/proc/self/cgroup", text, sizeof(text)) != 0)
        return -ENOENT;
    char *at = strstr(text, "0::/");
    if (at == NULL || (at != text && at[-1] != '\n'))
        return -ENOENT;
    at[strcspn(at, "\n")] = '\0';
    if (snprintf(path, sizeof(path), "/sys/fs/cgroup%s/%s", at + 3, name) >= (int)sizeof(path))
        return -ENAMETOOLONG;
    return read_text(path, out, room);
}

int replay_memory_read(struct replay_memory *out)
{
    char meminfo[8192], most[64], current[64], stat[8192];
    int code = read_text("/proc/meminfo", meminfo, sizeof(meminfo));
    int limited = group_file("memory.max", most, sizeof(most)) == 0 &&
                  group_file("memory.current", current, sizeof(current)) == 0 &&
                  group_file("memory.stat", stat, sizeof(stat)) == 0;
    return code != 0 ? code
                     : replay_memory_parse(out, meminfo, limited ? most : NULL,
                                           limited ? current : NULL, limited ? stat : NULL);
}

uint64_t replay_memory_of(int64_t process)
{
    char path[64], text[4096];
    uint64_t bytes = 0;
    snprintf(path, sizeof(path), "/proc/%" PRId64 "/smaps_rollup", process);
    return read_text(path, text, sizeof(text)) == 0 && kilobytes(text, "Pss:", &bytes) == 0 ? bytes
                                                                                            : 0;
}

int replay_memory_short(const struct replay_memory *memory)
{
    return memory->available < memory->total / REPLAY_MEMORY_SHARE;
}
