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

/** A program header or dynamic entry, widened to 64 bits. */
struct part {
    uint64_t type, offset, address, length;
};

struct reader {
    int fd;
    int wide; /**< 64-bit file */
    struct part segments[MAX_SEGMENTS];
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

/** Fill the file's identity and find its program headers. */
static int elf_file_read_header(struct reader *r, struct elf_file *out, uint64_t *table,
                                unsigned *entry_bytes)
{
    unsigned char ident[EI_NIDENT];
    if (elf_file_read_at(r->fd, ident, sizeof ident, 0) < 0 ||
        memcmp(ident, ELFMAG, SELFMAG) != 0 || ident[EI_DATA] != NATIVE_DATA)
        return -ENOEXEC;
    out->class_ = ident[EI_CLASS];
    r->wide = ident[EI_CLASS] == ELFCLASS64;
    if (r->wide) {
        Elf64_Ehdr header;
        if (elf_file_read_at(r->fd, &header, sizeof header, 0) < 0)
            return -HOLTER_ECORRUPT;
        out->machine = header.e_machine;
        *table = header.e_phoff;
        r->segment_count = header.e_phnum;
        *entry_bytes = header.e_phentsize;
        return header.e_phnum == 0 || header.e_phentsize == sizeof(Elf64_Phdr) ? 0
                                                                               : -HOLTER_ECORRUPT;
    }
    Elf32_Ehdr header;
    if (ident[EI_CLASS] != ELFCLASS32 || elf_file_read_at(r->fd, &header, sizeof header, 0) < 0)
        return -HOLTER_ECORRUPT;
    out->machine = header.e_machine;
    *table = header.e_phoff;
    r->segment_count = header.e_phnum;
    *entry_bytes = header.e_phentsize;
    return header.e_phnum == 0 || header.e_phentsize == sizeof(Elf32_Phdr) ? 0 : -HOLTER_ECORRUPT;
}

static int elf_file_read_segments(struct reader *r, uint64_t table, unsigned entry_bytes)
{
    if (r->segment_count > MAX_SEGMENTS)
        return -HOLTER_ECORRUPT;
    for (unsigned i = 0; i < r->segment_count; i++) {
        uint64_t at = table + (uint64_t)i * entry_bytes;
        struct part *part = &r->segments[i];
        int rc;
        if (r->wide) {
            Elf64_Phdr h;
            rc = elf_file_read_at(r->fd, &h, sizeof h, at);
            if (rc == 0)
                *part = (struct part){h.p_type, h.p_offset, h.p_vaddr, h.p_filesz};
        } else {
            Elf32_Phdr h;
            rc = elf_file_read_at(r->fd, &h, sizeof h, at);
            if (rc == 0)
                *part = (struct part){h.p_type, h.p_offset, h.p_vaddr, h.p_filesz};
        }
        if (rc < 0)
            return rc;
    }
    return 0;
}

/** Place in the file of a virtual address. @return 0 when no segment holds it */
static uint64_t elf_file_find_offset(const struct reader *r, uint64_t address)
{
    for (unsigned i = 0; i < r->segment_count; i++) {
        const struct part *s = &r->segments[i];
        if (s->type == PT_LOAD && address >= s->address && address - s->address < s->length)
            return s->offset + (address - s->address);
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

static void elf_file_get_dynamic_entry(const struct reader *r, const void *entries, size_t i,
                                       int64_t *tag, uint64_t *value)
{
    if (r->wide) {
        const Elf64_Dyn *d = (const Elf64_Dyn *)entries + i;
        *tag = d->d_tag;
        *value = d->d_un.d_val;
    } else {
        const Elf32_Dyn *d = (const Elf32_Dyn *)entries + i;
        *tag = d->d_tag;
        *value = d->d_un.d_val;
    }
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

static int elf_file_read_dynamic(struct reader *r, const struct part *dynamic, struct elf_file *out)
{
    size_t entry = r->wide ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn);
    if (dynamic->length > MAX_DYNAMIC)
        return -HOLTER_ECORRUPT;
    size_t count = (size_t)dynamic->length / entry;
    void *entries = calloc(count + 1, entry);
    out->needed = calloc(ELF_MAX_NEEDED, sizeof *out->needed);
    int rc = entries == NULL || out->needed == NULL ? -ENOMEM : 0;
    if (rc == 0)
        rc = elf_file_read_at(r->fd, entries, count * entry, dynamic->offset);
    int64_t tag = DT_NULL;
    uint64_t value = 0;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        elf_file_get_dynamic_entry(r, entries, i, &tag, &value);
        if (tag == DT_NULL)
            break;
        if (tag == DT_STRTAB)
            r->text_offset = elf_file_find_offset(r, value);
        if (tag == DT_STRSZ)
            r->text_length = value;
    }
    if (rc == 0 && r->text_offset == 0)
        r->text_length = 0;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        elf_file_get_dynamic_entry(r, entries, i, &tag, &value);
        if (tag == DT_NULL)
            break;
        rc = elf_file_apply_entry(r, out, tag, value);
    }
    free(entries);
    return rc;
}

int elf_file_init(struct elf_file *out, const char *path)
{
    struct reader r = {.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)};
    if (r.fd < 0)
        return -errno;
    struct elf_file file = {0};
    uint64_t table = 0;
    unsigned entry_bytes = 0;
    int rc = elf_file_read_header(&r, &file, &table, &entry_bytes);
    if (rc == 0)
        rc = elf_file_read_segments(&r, table, entry_bytes);
    for (unsigned i = 0; rc == 0 && i < r.segment_count; i++)
        if (r.segments[i].type == PT_DYNAMIC && !file.dynamic) {
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
