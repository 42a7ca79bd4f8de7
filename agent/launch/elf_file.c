/* Reads the headers of an ELF file; every offset is checked against the file's length. */
#include "agent/launch/elf_file.h"

#include "holter/error.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_SEGMENTS 256u             /* that a damaged or hostile file can make us read */
#define MAX_NAMES (UINT64_C(1) << 28) /* bytes of names of symbols */
#define SYMBOLS 1024u                 /* that are read at once */

#if __BYTE_ORDER == __LITTLE_ENDIAN
#define NATIVE_DATA ELFDATA2LSB
#else
#define NATIVE_DATA ELFDATA2MSB
#endif

struct reader {
    int fd;
    Elf64_Phdr segments[MAX_SEGMENTS];
    unsigned segment_count;
};

static int elf_file_read_at(int fd, void *out, size_t length, uint64_t offset)
{
    if (offset > INT64_MAX - length)
        return -HOLTER_ECORRUPT;
    ssize_t got = pread(fd, out, length, (off_t)offset);
    if (got < 0)
        return -errno;
    return (size_t)got == length ? 0 : -HOLTER_ECORRUPT;
}

/** Fill the file's identity and read its program headers. Holter is for 64-bit machines: of a
 * 32-bit file nothing else is read. */
static int elf_file_read_header(struct reader *r, struct elf_file *out)
{
    unsigned char ident[EI_NIDENT];
    Elf64_Ehdr header;
    if (elf_file_read_at(r->fd, ident, sizeof ident, 0) < 0 ||
        memcmp(ident, ELFMAG, SELFMAG) != 0 || ident[EI_DATA] != NATIVE_DATA)
        return -ENOEXEC;
    out->class_ = ident[EI_CLASS];
    if (ident[EI_CLASS] == ELFCLASS32)
        return 0;
    if (ident[EI_CLASS] != ELFCLASS64 || elf_file_read_at(r->fd, &header, sizeof header, 0) < 0 ||
        header.e_phnum > MAX_SEGMENTS ||
        (header.e_phnum != 0 && header.e_phentsize != sizeof r->segments[0]))
        return -HOLTER_ECORRUPT;
    out->machine = header.e_machine;
    r->segment_count = header.e_phnum;
    return elf_file_read_at(r->fd, r->segments, r->segment_count * sizeof r->segments[0],
                            header.e_phoff);
}

static int elf_file_read_interpreter(struct reader *r, const Elf64_Phdr *segment,
                                     struct elf_file *out)
{
    if (segment->p_filesz == 0 || segment->p_filesz > sizeof out->interpreter)
        return -HOLTER_ECORRUPT;
    int rc = elf_file_read_at(r->fd, out->interpreter, segment->p_filesz, segment->p_offset);
    out->interpreter[segment->p_filesz - 1] = '\0';
    return rc;
}

int elf_file_read(struct elf_file *out, const char *path)
{
    struct reader r = {.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)};
    if (r.fd < 0)
        return -errno;
    struct elf_file file = {0};
    int rc = elf_file_read_header(&r, &file);
    for (unsigned i = 0; rc == 0 && i < r.segment_count; i++)
        if (r.segments[i].p_type == PT_INTERP)
            rc = elf_file_read_interpreter(&r, &r.segments[i], &file);
    close(r.fd);
    if (rc == 0)
        *out = file;
    return rc;
}

/* ---- symbols ------------------------------------------------------------- */

/* @return 0 and the names of a table of symbols, which end with NUL; free them */
static int elf_file_read_names(int fd, const Elf64_Shdr *section, char **out)
{
    if (section->sh_type != SHT_STRTAB || section->sh_size > MAX_NAMES)
        return -HOLTER_ECORRUPT;
    char *names = malloc(section->sh_size + 1);
    if (names == NULL)
        return -ENOMEM;
    int rc = elf_file_read_at(fd, names, section->sh_size, section->sh_offset);
    names[section->sh_size] = '\0';
    if (rc == 0)
        *out = names;
    else
        free(names);
    return rc;
}

static int elf_file_is_defined(const Elf64_Sym *symbols, size_t count, const char *names,
                               uint64_t size, const char *symbol)
{
    for (size_t i = 0; i < count; i++)
        if (symbols[i].st_shndx != SHN_UNDEF && symbols[i].st_name < size &&
            strcmp(names + symbols[i].st_name, symbol) == 0)
            return 1;
    return 0;
}

/* @param names  of the symbols in this section */
static int elf_file_search_symbols(int fd, const Elf64_Shdr *section, const char *names,
                                   uint64_t size, const char *symbol)
{
    Elf64_Sym symbols[SYMBOLS];
    const uint64_t all = section->sh_size / sizeof *symbols;
    for (uint64_t i = 0; i < all; i += SYMBOLS) {
        const size_t count = all - i < SYMBOLS ? (size_t)(all - i) : SYMBOLS;
        if (elf_file_read_at(fd, symbols, count * sizeof *symbols,
                             section->sh_offset + i * sizeof *symbols) != 0)
            return 0;
        if (elf_file_is_defined(symbols, count, names, size, symbol))
            return 1;
    }
    return 0;
}

static int elf_file_section(int fd, const Elf64_Ehdr *header, uint64_t number, Elf64_Shdr *out)
{
    if (number >= header->e_shnum || header->e_shentsize != sizeof *out)
        return -HOLTER_ECORRUPT;
    return elf_file_read_at(fd, out, sizeof *out, header->e_shoff + number * sizeof *out);
}

static int elf_file_search(int fd, const Elf64_Ehdr *header, const char *symbol)
{
    int found = 0;
    for (unsigned i = 0; !found && i < header->e_shnum; i++) {
        Elf64_Shdr table, strings;
        char *names = NULL;
        if (elf_file_section(fd, header, i, &table) != 0 || table.sh_type != SHT_SYMTAB ||
            elf_file_section(fd, header, table.sh_link, &strings) != 0 ||
            elf_file_read_names(fd, &strings, &names) != 0)
            continue;
        found = elf_file_search_symbols(fd, &table, names, strings.sh_size, symbol);
        free(names);
    }
    return found;
}

int elf_file_defines(const char *path, const char *symbol)
{
    Elf64_Ehdr header;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return 0;
    int found = elf_file_read_at(fd, &header, sizeof header, 0) == 0 &&
                memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
                header.e_ident[EI_DATA] == NATIVE_DATA && header.e_ident[EI_CLASS] == ELFCLASS64 &&
                elf_file_search(fd, &header, symbol);
    close(fd);
    return found;
}
