/* Finds the programs and probes of Holter. */
#include "agent/terminal/paths.h"

#include "agent/terminal/terminal.h"
#include "holter/error.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int paths_self(char *out, size_t capacity)
{
    ssize_t n = readlink("/proc/self/exe", out, capacity);
    if (n < 0)
        return -errno;
    if ((size_t)n == capacity)
        return -HOLTER_ERANGE;
    out[n] = '\0';
    return 0;
}

static int own_directory(char *out, size_t capacity)
{
    int rc = paths_self(out, capacity);
    if (rc < 0)
        return rc;
    char *slash = strrchr(out, '/');
    if (slash == NULL)
        return -ENOENT;
    *slash = '\0';
    return 0;
}

/** Find the first directory that contains a file of this name with this access(2).
 *  @param places  ended by NULL */
static int paths_find_in(char *out, size_t capacity, const char *directory,
                         const char *const *places, const char *name, int mode)
{
    for (; *places != NULL; places++) {
        int n = snprintf(out, capacity, "%s%s/%s", directory, *places, name);
        if (n < 0 || (size_t)n >= capacity)
            return -HOLTER_ERANGE;
        if (access(out, mode) == 0)
            return 0;
    }
    return -ENOENT;
}

int paths_program_from(char *out, size_t capacity, const char *directory, const char *program)
{
    static const char *const places[] = {
        "", "/../agent", "/../daemon", "/../viewer", "/../lib/holter", "/../../bin", NULL};
    return paths_find_in(out, capacity, directory, places, program, X_OK);
}

int paths_program(char *out, size_t capacity, const char *program)
{
    char directory[PATH_MAX];
    int rc = own_directory(directory, sizeof directory);
    return rc < 0 ? rc : paths_program_from(out, capacity, directory, program);
}

int paths_holterd(char *out, size_t capacity, const char *command)
{
    int rc = paths_program(out, capacity, "holterd");
    if (rc < 0)
        terminal_print("%s: holterd is not installed beside holter: %s", command,
                       holter_strerror(rc));
    return rc;
}

int paths_holter(char *out, size_t capacity)
{
    char found[PATH_MAX];
    if (paths_program(found, sizeof found, "holter") < 0)
        return paths_self(out, capacity);
    char *path = realpath(found, NULL);
    int n = snprintf(out, capacity, "%s", path == NULL ? found : path);
    free(path);
    return n < 0 || (size_t)n >= capacity ? -HOLTER_ERANGE : 0;
}

int paths_probe_from(char *out, size_t capacity, const char *directory, const char *libdir,
                     enum mpi_flavour flavour)
{
    static const char *const places[] = {"", "/probe", "/../lib/holter", NULL};
    static const char *const own[] = {"", NULL};
    const char *name = flavour == MPI_FLAVOUR_OPENMPI ? "libholter-openmpi.so"
                       : flavour == MPI_FLAVOUR_MPICH ? "libholter-mpich.so"
                                                      : NULL;
    if (name == NULL)
        return -ENOENT;
    if (libdir != NULL && libdir[0] != '\0')
        return paths_find_in(out, capacity, libdir, own, name, R_OK);
    return paths_find_in(out, capacity, directory, places, name, R_OK);
}

int paths_probe(char *out, size_t capacity, enum mpi_flavour flavour)
{
    char directory[PATH_MAX];
    int rc = own_directory(directory, sizeof directory);
    return rc < 0 ? rc
                  : paths_probe_from(out, capacity, directory, getenv("HOLTER_LIBDIR"), flavour);
}

static int paths_runnable(const char *path)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return -errno;
    return S_ISREG(st.st_mode) && access(path, X_OK) == 0 ? 0 : -EACCES;
}

int paths_search(char *out, size_t capacity, const char *program, const char *path)
{
    if (strchr(program, '/') != NULL) {
        int n = snprintf(out, capacity, "%s", program);
        return n < 0 || (size_t)n >= capacity ? -HOLTER_ERANGE : paths_runnable(out);
    }
    if (program[0] == '\0')
        return -ENOENT;
    int denied = 0;
    for (const char *p = path == NULL ? "/bin:/usr/bin" : path;; p++) {
        size_t length = strcspn(p, ":");
        int n = length == 0 ? snprintf(out, capacity, "./%s", program)
                            : snprintf(out, capacity, "%.*s/%s", (int)length, p, program);
        if (n > 0 && (size_t)n < capacity) {
            int rc = paths_runnable(out);
            if (rc == 0)
                return 0;
            denied |= rc == -EACCES;
        }
        p += length;
        if (*p == '\0')
            return denied ? -EACCES : -ENOENT;
    }
}

void paths_remove_flat(const char *directory)
{
    DIR *d = opendir(directory);
    for (struct dirent *entry; d != NULL && (entry = readdir(d)) != NULL;)
        unlinkat(dirfd(d), entry->d_name, 0); /* "." and ".." and directories refuse */
    if (d != NULL)
        closedir(d);
    rmdir(directory);
}
