/* Reads memory figures from the texts of proc(5) and of a control group (version 2). */
#include "daemon/replay/replay_memory.h"

#include "holter/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Find a line "Name:   123 kB". */
static int replay_memory_kilobytes(const char *text, const char *name, uint64_t *bytes)
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

/* Bytes that the control group has left. @return 0, or -ENOENT: it has no limit */
static int replay_memory_group_left(uint64_t *left, const struct replay_memory_texts *texts)
{
    char *end_limit, *end_current;
    if (texts->group_limit == NULL || texts->group_current == NULL)
        return -ENOENT;
    uint64_t limit = strtoull(texts->group_limit, &end_limit, 10),
             used = strtoull(texts->group_current, &end_current, 10);
    if (end_limit == texts->group_limit || end_current == texts->group_current)
        return -ENOENT;
    /* Cached pages of files are reclaimed before anything else. */
    const char *cache =
        texts->group_stat == NULL ? NULL : strstr(texts->group_stat, "inactive_file ");
    uint64_t cached = cache == NULL ? 0 : strtoull(cache + strlen("inactive_file "), NULL, 10);
    used -= cached < used ? cached : used;
    *left = limit > used ? limit - used : 0;
    return 0;
}

int replay_memory_parse(uint64_t *available, const struct replay_memory_texts *texts)
{
    uint64_t machine, group;
    if (replay_memory_kilobytes(texts->meminfo, "MemAvailable:", &machine) != 0)
        return -HOLTER_EMALFORMED;
    int limited = replay_memory_group_left(&group, texts) == 0 && group < machine;
    *available = limited ? group : machine;
    return 0;
}

static int replay_memory_read_text(const char *path, char *out, size_t capacity)
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return -errno;
    size_t length = fread(out, 1, capacity - 1, file);
    fclose(file);
    out[length] = '\0';
    return 0;
}

/* Read a file of the control group (version 2) of this process, whose directory the line
 * "0::/path" of /proc/self/cgroup names. */
static int replay_memory_read_group(const char *name, char *out, size_t capacity)
{
    char text[4096], path[512];
    if (replay_memory_read_text("/proc/self/cgroup", text, sizeof(text)) != 0)
        return -ENOENT;
    char *at = strstr(text, "0::/");
    if (at == NULL || (at != text && at[-1] != '\n'))
        return -ENOENT;
    at[strcspn(at, "\n")] = '\0';
    if (snprintf(path, sizeof(path), "/sys/fs/cgroup%s/%s", at + 3, name) >= (int)sizeof(path))
        return -ENAMETOOLONG;
    return replay_memory_read_text(path, out, capacity);
}

int replay_memory_available(uint64_t *available)
{
    char meminfo[8192], limit[64], current[64], stat[8192];
    struct replay_memory_texts texts = {.meminfo = meminfo};
    int code = replay_memory_read_text("/proc/meminfo", meminfo, sizeof(meminfo));
    if (code != 0)
        return code;
    if (replay_memory_read_group("memory.max", limit, sizeof(limit)) == 0 &&
        replay_memory_read_group("memory.current", current, sizeof(current)) == 0 &&
        replay_memory_read_group("memory.stat", stat, sizeof(stat)) == 0) {
        texts.group_limit = limit;
        texts.group_current = current;
        texts.group_stat = stat;
    }
    return replay_memory_parse(available, &texts);
}

uint64_t replay_memory_of_process(int64_t process)
{
    char path[64], text[4096];
    uint64_t bytes = 0;
    snprintf(path, sizeof(path), "/proc/%" PRId64 "/smaps_rollup", process);
    if (replay_memory_read_text(path, text, sizeof(text)) != 0 ||
        replay_memory_kilobytes(text, "Pss:", &bytes) != 0)
        return 0;
    return bytes;
}
