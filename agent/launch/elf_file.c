/* Reads the headers of an ELF file; every offset is checked against the file's length. */
#include "agent/launch/elf_file.h"

#include "holter/error.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define MAX_SEGMENTS 256u /* that a damaged or hostile file can make us read */

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
