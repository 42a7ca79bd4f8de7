/* Registrations of processes as files, and whether the processes live. */
#include "agent/launch/registration.h"

#include "holter/error.h"
#include "holter/segment.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Written beside and renamed, so that a reader never sees half a line. */
int registration_write(const char *directory, int32_t pid, const char *word)
{
    char path[PATH_MAX], fresh[PATH_MAX];
    snprintf(path, sizeof path, "%s/%d", directory, (int)pid);
    snprintf(fresh, sizeof fresh, "%s/.%d", directory, (int)pid);
    int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return -errno;
    int rc = 0;
    if (dprintf(fd, "%llu %.64s\n", (unsigned long long)process_start_time(pid), word) < 0)
        rc = -errno;
    close(fd);
    if (rc == 0 && rename(fresh, path) != 0)
        rc = -errno;
    if (rc != 0)
        unlink(fresh);
    return rc;
}

static int registration_read(int dir_fd, const char *name, struct registration *out)
{
    char *end, text[128];
    long pid = strtol(name, &end, 10);
    if (end == name || *end != '\0' || pid <= 0 || pid > INT32_MAX)
        return -HOLTER_EMALFORMED;
    int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return -errno;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    unsigned long long start = strtoull(text, &end, 10);
    memset(out, 0, sizeof *out);
    out->pid = (int32_t)pid;
    out->alive = start != 0 && process_start_time((int32_t)pid) == start;
    end += strspn(end, " ");
    snprintf(out->word, sizeof out->word, "%.*s", (int)strcspn(end, "\n"), end);
    return 0;
}

int registration_each(const char *directory,
                      void (*each)(void *user, const struct registration *registration), void *user)
{
    DIR *d = opendir(directory);
    if (d == NULL)
        return -errno;
    int count = 0;
    for (struct dirent *entry; (entry = readdir(d)) != NULL;) {
        struct registration registration;
        if (registration_read(dirfd(d), entry->d_name, &registration) != 0)
            continue;
        count++;
        each(user, &registration);
    }
    closedir(d);
    return count;
}

void registration_remove(const char *directory, int32_t pid)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%d", directory, (int)pid);
    unlink(path);
}
