/* Reads the dynamic section of an ELF file; every offset is checked against the file's length. */
#include "agent/launch/elf_file.h"

#include "holter/error.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bounds on what a damaged or hostile file can make us read. */
#define MAX_SEGMENTS 256u
#define MAX_DYNAMIC (64u << 10)
#define MAX_TEXT 4096u

#if __BYTE_ORDER == __LITTLE_ENDIAN
#define NATIVE_DATA ELFDATA2LSB
#else
#define NATIVE_DATA ELFDATA2MSB
#endif

struct reader {
    int fd;
    Elf64_Phdr segments[MAX_SEGMENTS];
    unsigned segment_count;
    uint64_t text_offset; /**< of the string table in the file; 0: not found */
    uint64_t text_length;
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

/** Place in the file of a virtual address. @return 0 when no segment holds it */
static uint64_t elf_file_find_offset(const struct reader *r, uint64_t address)
{
    for (unsigned i = 0; i < r->segment_count; i++) {
        const Elf64_Phdr *s = &r->segments[i];
        if (s->p_type == PT_LOAD && address >= s->p_vaddr && address - s->p_vaddr < s->p_filesz)
            return s->p_offset + (address - s->p_vaddr);
    }
    return 0;
}

/** One text of the string table. @return owned text, or NULL (errno set) */
static char *elf_file_read_text(const struct reader *r, uint64_t index)
{
    char text[MAX_TEXT + 1];
    if (index >= r->text_length) {
        errno = EBADMSG;
        return NULL;
    }
    uint64_t capacity = r->text_length - index;
    ssize_t got = pread(r->fd, text, capacity < MAX_TEXT ? (size_t)capacity : MAX_TEXT,
                        (off_t)(r->text_offset + index));
    if (got <= 0 || memchr(text, '\0', (size_t)got) == NULL) {
        errno = EBADMSG;
        return NULL;
    }
    return strdup(text);
}

static int elf_file_replace_text(char **slot, const struct reader *r, uint64_t index)
{
    char *text = elf_file_read_text(r, index);
    if (text == NULL)
        return errno == ENOMEM ? -ENOMEM : -HOLTER_ECORRUPT;
    free(*slot);
    *slot = text;
    return 0;
}

/** Second pass, when the string table is known. */
static int elf_file_apply_entry(const struct reader *r, struct elf_file *out, int64_t tag,
                                uint64_t value)
{
    if (tag == DT_RPATH)
        return elf_file_replace_text(&out->rpath, r, value);
    if (tag == DT_RUNPATH)
        return elf_file_replace_text(&out->runpath, r, value);
    if (tag != DT_NEEDED || out->needed_count == ELF_MAX_NEEDED)
        return 0;
    int rc = elf_file_replace_text(&out->needed[out->needed_count], r, value);
    if (rc == 0)
        out->needed_count++;
    return rc;
}

static int elf_file_read_dynamic(struct reader *r, const Elf64_Phdr *dynamic, struct elf_file *out)
{
    if (dynamic->p_filesz > MAX_DYNAMIC)
        return -HOLTER_ECORRUPT;
    size_t count = (size_t)dynamic->p_filesz / sizeof(Elf64_Dyn);
    Elf64_Dyn *entries = calloc(count + 1, sizeof *entries); /* the last is DT_NULL */
    out->needed = calloc(ELF_MAX_NEEDED, sizeof *out->needed);
    int rc = entries == NULL || out->needed == NULL ? -ENOMEM : 0;
    if (rc == 0)
        rc = elf_file_read_at(r->fd, entries, count * sizeof *entries, dynamic->p_offset);
    for (const Elf64_Dyn *d = entries; rc == 0 && d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_STRTAB)
            r->text_offset = elf_file_find_offset(r, d->d_un.d_val);
        if (d->d_tag == DT_STRSZ)
            r->text_length = d->d_un.d_val;
    }
    if (rc == 0 && r->text_offset == 0)
        r->text_length = 0;
    for (const Elf64_Dyn *d = entries; rc == 0 && d->d_tag != DT_NULL; d++)
        rc = elf_file_apply_entry(r, out, d->d_tag, d->d_un.d_val);
    free(entries);
    return rc;
}

int elf_file_init(struct elf_file *out, const char *path)
{
    struct reader r = {.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)};
    if (r.fd < 0)
        return -errno;
    struct elf_file file = {0};
    int rc = elf_file_read_header(&r, &file);
    for (unsigned i = 0; rc == 0 && i < r.segment_count; i++)
        if (r.segments[i].p_type == PT_DYNAMIC && !file.dynamic) {
            file.dynamic = 1;
            rc = elf_file_read_dynamic(&r, &r.segments[i], &file);
        }
    close(r.fd);
    if (rc < 0)
        elf_file_finish(&file);
    else
        *out = file;
    return rc;
}

void elf_file_finish(struct elf_file *file)
{
    for (unsigned i = 0; i < file->needed_count; i++)
        free(file->needed[i]);
    free(file->needed);
    free(file->rpath);
    free(file->runpath);
    *file = (struct elf_file){0};
}
