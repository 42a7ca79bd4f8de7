/* Walks the libraries that a program needs, to find out which MPI it carries. */
#include "agent/launch/detect_mpi.h"

#include "agent/launch/library_search.h"
#include "holter/error.h"
#include "holter/plain_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILES 4096u /**< libraries of one program that are looked at */
#define CACHE_PATH "/etc/ld.so.cache"

/** The program and its libraries in the order in which the dynamic linker loads them: breadth
 *  first. */
struct closure {
    struct library_search *search;
    struct needing_file **files; /**< owned, as are their paths */
    unsigned count;
};

/** Open MPI's libraries stand on its portability layer, libopen-pal, in every version since 1.3;
 *  MPICH and what has its ABI (Intel MPI, MVAPICH2, Cray MPI) never do. Both call themselves
 *  libmpi.so.12 in some version, so the number decides nothing. */
static enum mpi_flavour detect_mpi_flavour_of(const char *path)
{
    struct elf_file elf;
    if (elf_file_init(&elf, path) < 0)
        return MPI_FLAVOUR_NONE;
    enum mpi_flavour flavour = MPI_FLAVOUR_MPICH;
    for (unsigned i = 0; i < elf.needed_count; i++)
        if (text_begins(elf.needed[i], "libopen-pal.so") ||
            text_begins(elf.needed[i], "libopen-rte.so"))
            flavour = MPI_FLAVOUR_OPENMPI;
    elf_file_finish(&elf);
    return flavour;
}

/** Is it the name of the library with the C calls of an MPI? */
static int detect_mpi_is_mpi_name(const char *soname)
{
    return text_begins(soname, "libmpi.so") || text_begins(soname, "libmpich.so") ||
           text_begins(soname, "libmpi_gnu") || text_begins(soname, "libmpi_intel") ||
           text_begins(soname, "libmpi_cray");
}

static int detect_mpi_add_file(struct closure *c, const struct needing_file *parent,
                               const char *path)
{
    for (unsigned i = 0; i < c->count; i++)
        if (strcmp(c->files[i]->path, path) == 0)
            return 0;
    if (c->count == MAX_FILES)
        return -HOLTER_ELIMIT;
    struct needing_file *file = calloc(1, sizeof *file);
    char *copy = strdup(path);
    int rc = file == NULL || copy == NULL ? -ENOMEM : elf_file_init(&file->elf, path);
    if (rc < 0) {
        free(file);
        free(copy);
        return rc;
    }
    file->parent = parent;
    file->path = copy;
    c->files[c->count++] = file;
    return 0;
}

static int detect_mpi_closure_init(struct closure *c, const char *path, const char *library_path)
{
    *c = (struct closure){.files = calloc(MAX_FILES, sizeof *c->files)};
    if (c->files == NULL)
        return -ENOMEM;
    int rc = library_search_create(&c->search, library_path, CACHE_PATH);
    if (rc == 0)
        rc = detect_mpi_add_file(c, NULL, path);
    return rc;
}

static void detect_mpi_closure_finish(struct closure *c)
{
    for (unsigned i = 0; i < c->count; i++) {
        elf_file_finish(&c->files[i]->elf);
        free((char *)c->files[i]->path);
        free(c->files[i]);
    }
    free(c->files);
    library_search_destroy(c->search);
}

/** Called for each library that is needed, with the place where it was found, "" when it was not.
 *  @return nonzero to end the walk */
typedef int visitor(void *user, const char *soname, const char *path);

static void detect_mpi_closure_walk(struct closure *c, visitor *visit, void *user)
{
    char path[PATH_MAX];
    for (unsigned f = 0; f < c->count; f++)
        for (unsigned i = 0; i < c->files[f]->elf.needed_count; i++) {
            const char *name = c->files[f]->elf.needed[i];
            if (library_search_find(c->search, name, c->files[f], path, sizeof path) < 0)
                path[0] = '\0';
            if (visit(user, name, path))
                return;
            if (path[0] != '\0')
                (void)detect_mpi_add_file(c, c->files[f],
                                          path); /* a library that cannot be read needs nothing */
        }
}

static int detect_mpi_visit_library(void *user, const char *soname, const char *path)
{
    struct mpi_finding *out = user;
    if (text_begins(soname, "libasan.so") && strlen(path) < sizeof out->sanitizer)
        strcpy(out->sanitizer, path);
    if (!detect_mpi_is_mpi_name(text_base_name(soname)) || path[0] == '\0')
        return 0;
    if (out->flavour == MPI_FLAVOUR_NONE) {
        out->flavour = detect_mpi_flavour_of(path);
        snprintf(out->library, sizeof out->library, "%s", path);
    }
    return 0;
}

static enum program_kind detect_mpi_kind_of(const struct elf_file *elf)
{
    struct elf_file self;
    enum program_kind kind = PROGRAM_ELF;
    if (elf_file_init(&self, "/proc/self/exe") < 0)
        return PROGRAM_ALIEN;
    if (self.class_ != elf->class_ || self.machine != elf->machine)
        kind = PROGRAM_ALIEN;
    else if (!elf->dynamic)
        kind = PROGRAM_STATIC;
    elf_file_finish(&self);
    return kind;
}

int detect_mpi(const char *path, const char *library_path, struct mpi_finding *out)
{
    struct mpi_finding finding = {.kind = PROGRAM_SCRIPT};
    struct closure closure;
    int rc = detect_mpi_closure_init(&closure, path, library_path);
    if (rc == 0) {
        finding.kind = detect_mpi_kind_of(&closure.files[0]->elf);
        if (finding.kind == PROGRAM_ELF)
            detect_mpi_closure_walk(&closure, detect_mpi_visit_library, &finding);
    }
    detect_mpi_closure_finish(&closure);
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

static int detect_mpi_visit_prefix(void *user, const char *soname, const char *path)
{
    struct wanted *wanted = user;
    (void)path;
    wanted->found = text_begins(soname, wanted->prefix);
    return wanted->found;
}

int detect_mpi_program_links(const char *path, const char *library_path, const char *prefix)
{
    struct wanted wanted = {.prefix = prefix};
    struct closure closure;
    if (detect_mpi_closure_init(&closure, path, library_path) == 0)
        detect_mpi_closure_walk(&closure, detect_mpi_visit_prefix, &wanted);
    detect_mpi_closure_finish(&closure);
    return wanted.found;
}
