/* Asks the dynamic linker which libraries a program needs, to find out which MPI it carries. */
#include "agent/launch/detect_mpi.h"

#include "agent/launch/elf_file.h"
#include "agent/terminal/quiet_child.h"
#include "holter/mpi_library.h"
#include "holter/plain_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Open MPI's libraries stand on its portability layer, libopen-pal, in every version since 1.3;
 * MPICH and what has its ABI (Intel MPI, MVAPICH2, Cray MPI) never do. Both call themselves
 * libmpi.so.12 in some version, so the number decides nothing. */
static int detect_mpi_is_open_mpi_name(const char *soname)
{
    return text_begins(soname, "libopen-pal") || text_begins(soname, "libopen-rte");
}

/* ---- the libraries of a program ------------------------------------------ */

/* Called for each library that is needed, in the order in which they are loaded, with the place
 * where it was found, "" when it was not. */
typedef void visitor(void *user, const char *soname, const char *path);

/* "libm.so.6 => /lib/libm.so.6 (0x7f...)", "libx.so => not found", "/lib64/ld.so (0x7f...)" */
static void detect_mpi_visit_line(char *line, visitor *visit, void *user)
{
    line += strspn(line, "\t ");
    char *arrow = strstr(line, " => "), *path = arrow == NULL ? line : arrow + 4,
         *address = strstr(path, " (0x");
    if (address != NULL)
        *address = '\0';
    if (arrow != NULL)
        *arrow = '\0';
    visit(user, text_base_name(line), address != NULL && path[0] == '/' ? path : "");
}

/* The child: the dynamic linker lists the libraries of the program, and runs nothing of it. */
static void detect_mpi_exec_linker(const char *linker, const char *path, const char *library_path,
                                   int output)
{
    char local[PATH_MAX + 2];
    snprintf(local, sizeof local, "%s%s", strchr(path, '/') == NULL ? "./" : "", path);
    dup2(output, STDOUT_FILENO);
    unsetenv("LD_PRELOAD");
    unsetenv("LD_AUDIT");
    if (library_path == NULL)
        unsetenv("LD_LIBRARY_PATH");
    else
        setenv("LD_LIBRARY_PATH", library_path, 1);
    execl(linker, linker, "--list", local, (char *)NULL);
    _exit(127);
}

/* @return 0 or -errno; a program that the linker cannot load has no libraries */
static int detect_mpi_walk_libraries(const char *linker, const char *path, const char *library_path,
                                     visitor *visit, void *user)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -errno;
    /* Where standard streams are closed, the pipe has their numbers, which the child changes. */
    int output = fcntl(ends[1], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(ends[1]);
    pid_t child = output < 0 ? -1 : quiet_child_fork(QUIET_INPUT | QUIET_ERRORS);
    if (child == 0)
        detect_mpi_exec_linker(linker, path, library_path, output);
    int rc = child < 0 ? -errno : 0;
    close(output);
    FILE *list = fdopen(ends[0], "r");
    if (list == NULL) {
        rc = -errno;
        close(ends[0]);
    }
    char *line = NULL;
    size_t capacity = 0;
    while (list != NULL && getline(&line, &capacity, list) > 0)
        detect_mpi_visit_line(line, visit, user);
    free(line);
    if (list != NULL)
        fclose(list);
    quiet_child_wait(child);
    return rc;
}

/* ---- findings ------------------------------------------------------------ */

static void detect_mpi_visit_library(void *user, const char *soname, const char *path)
{
    struct mpi_finding *out = user;
    if (text_begins(soname, "libasan.so") && strlen(path) < sizeof out->sanitizer)
        strcpy(out->sanitizer, path);
    if (detect_mpi_is_open_mpi_name(soname))
        out->flavour = MPI_FLAVOUR_OPENMPI;
    if (!mpi_library_is_name(soname) || path[0] == '\0' || out->library[0] != '\0')
        return;
    if (out->flavour == MPI_FLAVOUR_NONE)
        out->flavour = MPI_FLAVOUR_MPICH;
    snprintf(out->library, sizeof out->library, "%s", path);
}

static enum program_kind detect_mpi_kind_of(const struct elf_file *elf)
{
    struct elf_file self;
    if (elf_file_read(&self, "/proc/self/exe") < 0 || self.class_ != elf->class_ ||
        self.machine != elf->machine)
        return PROGRAM_ALIEN;
    return elf->interpreter[0] == '\0' ? PROGRAM_STATIC : PROGRAM_ELF;
}

int detect_mpi(const char *path, const char *library_path, struct mpi_finding *out)
{
    struct mpi_finding finding = {.kind = PROGRAM_SCRIPT};
    struct elf_file elf;
    int rc = elf_file_read(&elf, path);
    if (rc == 0)
        finding.kind = detect_mpi_kind_of(&elf);
    if (finding.kind == PROGRAM_ELF)
        rc = detect_mpi_walk_libraries(elf.interpreter, path, library_path,
                                       detect_mpi_visit_library, &finding);
    if (finding.library[0] == '\0')
        finding.flavour = MPI_FLAVOUR_NONE;
    /* what its own calls resolve to; symbols that were removed leave no trace of it */
    finding.linked_in = finding.kind == PROGRAM_ELF && finding.library[0] == '\0' &&
                        elf_file_defines(path, "PMPI_Init");
    if (rc == -ENOEXEC)
        rc = 0;
    if (rc == 0)
        *out = finding;
    return rc;
}

struct wanted {
    const char *prefix;
    int found;
};

static void detect_mpi_visit_prefix(void *user, const char *soname, const char *path)
{
    struct wanted *wanted = user;
    (void)path;
    wanted->found |= text_begins(soname, wanted->prefix);
}

int detect_mpi_program_links(const char *path, const char *library_path, const char *prefix)
{
    struct wanted wanted = {.prefix = prefix};
    struct elf_file elf;
    if (elf_file_read(&elf, path) == 0 && detect_mpi_kind_of(&elf) == PROGRAM_ELF)
        (void)detect_mpi_walk_libraries(elf.interpreter, path, library_path,
                                        detect_mpi_visit_prefix, &wanted);
    return wanted.found;
}
