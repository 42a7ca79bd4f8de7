/* Reads symbol tables to find MPI functions that the application uses and Holter does not cover. */
#include "agent/host/uncovered.h"

#include "holter/call.h"
#include "holter/error.h"
#include "holter/mpi_library.h"
#include "holter/plain_text.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_BYTES 64u     /* longest name that the wire allows */
#define MAXIMUM_ROWS 4096u /* most rows that the wire allows */
#define MAXIMUM_SYMBOLS (1u << 22)
#define MAXIMUM_STRINGS (256u << 20)
#define MAXIMUM_FILES 512u

struct symbols {
    Elf64_Sym *table; /* owned */
    char *strings;    /* owned, ended by a NUL that is not in the file */
    size_t count;
    size_t string_bytes;
};

static void uncovered_finish_symbols(struct symbols *symbols)
{
    free(symbols->table);
    free(symbols->strings);
}

static void *uncovered_read_at(int fd, uint64_t offset, uint64_t length, uint64_t file_length)
{
    if (offset > file_length || length > file_length - offset)
        return NULL;
    char *bytes = malloc(length + 1);
    if (bytes == NULL)
        return NULL;
    bytes[length] = '\0';
    uint64_t done = 0;
    while (done < length) {
        ssize_t n = pread(fd, bytes + done, length - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            free(bytes);
            return NULL;
        }
        done += (uint64_t)n;
    }
    return bytes;
}

static int uncovered_read_tables(struct symbols *out, int fd, uint64_t length,
                                 const Elf64_Shdr *sections, size_t section_count)
{
    for (size_t i = 0; i < section_count; i++) {
        const Elf64_Shdr *section = &sections[i];
        if (section->sh_type != SHT_DYNSYM || section->sh_link >= section_count)
            continue;
        const Elf64_Shdr *strings = &sections[section->sh_link];
        if (section->sh_size / sizeof(Elf64_Sym) > MAXIMUM_SYMBOLS ||
            strings->sh_size > MAXIMUM_STRINGS)
            return -HOLTER_ELIMIT;
        out->count = section->sh_size / sizeof(Elf64_Sym);
        out->string_bytes = strings->sh_size;
        out->table =
            uncovered_read_at(fd, section->sh_offset, out->count * sizeof(Elf64_Sym), length);
        out->strings = uncovered_read_at(fd, strings->sh_offset, strings->sh_size, length);
        if (out->table != NULL && out->strings != NULL)
            return 0;
        uncovered_finish_symbols(out);
        return -HOLTER_ECORRUPT;
    }
    return -HOLTER_EMISSING;
}

static int uncovered_read_symbols(struct symbols *out, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    if (fd < 0)
        return -errno;
    int rc = -HOLTER_ECORRUPT;
    Elf64_Shdr *sections = NULL;
    Elf64_Ehdr *header = NULL;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
        header = uncovered_read_at(fd, 0, sizeof *header, (uint64_t)status.st_size);
    if (header != NULL && memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
        header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_shentsize == sizeof *sections)
        sections =
            uncovered_read_at(fd, header->e_shoff, (uint64_t)header->e_shnum * sizeof *sections,
                              (uint64_t)status.st_size);
    if (sections != NULL)
        rc = uncovered_read_tables(out, fd, (uint64_t)status.st_size, sections, header->e_shnum);
    free(sections);
    free(header);
    close(fd);
    return rc;
}

/* Name of a symbol whose name is MPI's, defined or imported as requested; NULL: another symbol. */
static const char *uncovered_is_mpi_symbol(const struct symbols *symbols, size_t i, int defined)
{
    const Elf64_Sym *symbol = &symbols->table[i];
    if (symbol->st_name >= symbols->string_bytes || (symbol->st_shndx != SHN_UNDEF) != defined)
        return NULL;
    unsigned type = ELF64_ST_TYPE(symbol->st_info);
    if (defined && type != STT_FUNC && type != STT_GNU_IFUNC)
        return NULL;
    const char *name = symbols->strings + symbol->st_name;
    return strncmp(name, "MPI_", 4) == 0 && name[4] >= 'A' && name[4] <= 'Z' ? name : NULL;
}

static int uncovered_compare_by_name(const void *left, const void *right)
{
    return strcmp(((const struct wire_uncovered_row *)left)->name,
                  ((const struct wire_uncovered_row *)right)->name);
}

static int uncovered_list_library(struct uncovered *out, const struct symbols *symbols)
{
    struct uncovered list = {.rows = calloc(MAXIMUM_ROWS, sizeof *list.rows),
                             .names = calloc(MAXIMUM_ROWS, NAME_BYTES)};
    if (list.rows == NULL || list.names == NULL) {
        uncovered_finish(&list);
        return -ENOMEM;
    }
    for (size_t i = 0; i < symbols->count && list.count < MAXIMUM_ROWS; i++) {
        const char *name = uncovered_is_mpi_symbol(symbols, i, 1);
        if (name == NULL || strlen(name) >= NAME_BYTES || call_by_name(name) != 0 ||
            call_is_local(name))
            continue;
        char *copy = list.names + list.count * NAME_BYTES;
        memcpy(copy, name, strlen(name));
        list.rows[list.count++].name = copy;
    }
    qsort(list.rows, list.count, sizeof *list.rows, uncovered_compare_by_name);
    *out = list;
    return 0;
}

static void uncovered_mark_used(struct uncovered *list, const struct symbols *symbols)
{
    for (size_t i = 0; i < symbols->count; i++) {
        struct wire_uncovered_row wanted = {.name = uncovered_is_mpi_symbol(symbols, i, 0)};
        struct wire_uncovered_row *row =
            wanted.name == NULL ? NULL
                                : bsearch(&wanted, list->rows, list->count, sizeof *list->rows,
                                          uncovered_compare_by_name);
        if (row != NULL)
            row->used = 1;
    }
}

int uncovered_in(struct uncovered *out, const char *library, const char *const users[],
                 uint64_t user_count)
{
    struct symbols symbols;
    int rc = uncovered_read_symbols(&symbols, library);
    if (rc != 0)
        return rc;
    rc = uncovered_list_library(out, &symbols);
    uncovered_finish_symbols(&symbols);
    for (uint64_t i = 0; rc == 0 && i < user_count; i++) {
        if (uncovered_read_symbols(&symbols, users[i]) != 0)
            continue;
        uncovered_mark_used(out, &symbols);
        uncovered_finish_symbols(&symbols);
    }
    return rc;
}

void uncovered_finish(struct uncovered *uncovered)
{
    free(uncovered->rows);
    free(uncovered->names);
    *uncovered = (struct uncovered){0};
}

/* Whether the application's own code is in this file: MPI and Holter call MPI functions themselves.
 */
static int uncovered_is_own_binary(const char *base)
{
    return !text_begins(base, "libmpi") && !text_begins(base, "libholter-") &&
           !text_begins(base, "libopen-") && !text_begins(base, "mca_") &&
           !text_begins(base, "libpmpi") && !text_begins(base, "libc.so") &&
           !text_begins(base, "ld-linux");
}

struct mapped_files {
    char *library;
    char *users[MAXIMUM_FILES];
    uint64_t user_count;
};

static int uncovered_is_known_user(const struct mapped_files *files, const char *whole)
{
    for (uint64_t i = 0; i < files->user_count; i++)
        if (strcmp(files->users[i], whole) == 0)
            return 1;
    return 0;
}

static void uncovered_add_file(struct mapped_files *files, int32_t pid, const char *path)
{
    const char *base = strrchr(path, '/') + 1;
    int library = mpi_library_is_name(base);
    if (library ? files->library != NULL
                : files->user_count == MAXIMUM_FILES || !uncovered_is_own_binary(base))
        return;
    char *whole; /* under the root directory of the process, which may not be the agent's */
    if (asprintf(&whole, "/proc/%d/root%s", (int)pid, path) < 0)
        return;
    if (library)
        files->library = whole;
    else if (uncovered_is_known_user(files, whole))
        free(whole);
    else
        files->users[files->user_count++] = whole;
}

int uncovered_find(struct uncovered *out, int32_t pid)
{
    char maps[32], *line = NULL;
    size_t capacity = 0;
    struct mapped_files files = {0};
    snprintf(maps, sizeof maps, "/proc/%d/maps", (int)pid);
    FILE *file = fopen(maps, "re");
    if (file == NULL)
        return -errno;
    /* Fields: address perms offset dev inode path, proc(5); only executable mappings of files
     * count. */
    while (getline(&line, &capacity, file) > 0) {
        char perms[8] = "";
        int path_at = 0;
        if (sscanf(line, "%*s %7s %*s %*s %*s %n", perms, &path_at) < 1 || path_at == 0 ||
            strchr(perms, 'x') == NULL || line[path_at] != '/')
            continue;
        line[strcspn(line, "\n")] = '\0';
        uncovered_add_file(&files, pid, line + path_at);
    }
    free(line);
    fclose(file);
    int rc =
        files.library == NULL
            ? -HOLTER_ENOMPI
            : uncovered_in(out, files.library, (const char *const *)files.users, files.user_count);
    free(files.library);
    for (uint64_t i = 0; i < files.user_count; i++)
        free(files.users[i]);
    return rc;
}
