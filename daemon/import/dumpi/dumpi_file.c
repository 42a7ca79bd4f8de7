/* Header, footer and tables of a DUMPI file: see dumpi_file.h. */
#include "daemon/import/dumpi/dumpi_file.h"

#include "daemon/import/dumpi/dumpi_ascii.h"
#include "holter/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Entries of 8 bytes at the end of the file: the magic number and at most 7 positions. */
#define INDEX_ENTRIES 8u
#define FOOTER_MAGIC UINT64_C(0xf007fee7)
#define MAX_CALL_NUMBERS 4096u /* maximum function number that a footer counts */

static const uint8_t magic[8] = {0xff, 0xaa, 0xdd, 'D', 'U', 'M', 'P', 'I'};

int dumpi_since(struct dumpi_version version, unsigned a, unsigned b, unsigned c)
{
    unsigned want[3] = {a, b, c};
    for (unsigned i = 0; i < 3; i++)
        if (version.part[i] != want[i])
            return version.part[i] > want[i];
    return 1;
}

int dumpi_is_file(const uint8_t *begin, size_t length)
{
    return length >= sizeof magic && memcmp(begin, magic, sizeof magic) == 0;
}

/* Places of the parts that are read, as listed in the index; 0: missing. The index also lists the
 * body and the names of addresses, performance counters and keyvals. */
struct places {
    uint64_t sizes, header, footer;
};

/* A file that is being opened, and its fault. */
struct opening {
    struct dumpi_file *file;
    struct dumpi_reader reader;
    struct places places;
    char *why;
    size_t capacity;
};

/* ---- strings and arrays --------------------------------------------------- */

static char *dumpi_file_get_string(struct dumpi_reader *reader)
{
    uint32_t length = dumpi_get16(reader);
    if (length > dumpi_left(reader))
        length = 0;
    char *text = malloc((size_t)length + 1);
    if (text == NULL)
        return NULL;
    dumpi_get_bytes(reader, text, length);
    text[length] = '\0';
    return text;
}

static int32_t *dumpi_file_get_numbers(struct dumpi_reader *reader, uint32_t count)
{
    int32_t *numbers = malloc(sizeof *numbers * ((size_t)count + 1));
    for (uint32_t i = 0; numbers != NULL && i < count; i++)
        numbers[i] = (int32_t)dumpi_get32(reader);
    return numbers;
}

/* Read the count of 4-byte numbers, limited to what the rest of the file can hold. */
static uint32_t dumpi_file_get_count(struct dumpi_reader *reader, uint32_t most)
{
    uint32_t count = dumpi_get32(reader);
    if (count > most || count * UINT64_C(4) > dumpi_left(reader)) {
        if (reader->error == 0)
            reader->error = -HOLTER_EMALFORMED;
        return 0;
    }
    return count;
}

/* ---- index ---------------------------------------------------------------- */

/* The index has been extended at its front: its magic number gives the number of entries. */
static int dumpi_file_find_index(struct opening *o)
{
    uint64_t entries[INDEX_ENTRIES] = {0}, bytes = o->file->bytes, first = 0;
    for (unsigned count = INDEX_ENTRIES; count >= 5 && first == 0; count--) {
        uint8_t begin[sizeof magic];
        if (bytes < DUMPI_BODY + 8 * (uint64_t)count)
            continue;
        dumpi_seek(&o->reader, bytes - 8 * (uint64_t)count, bytes);
        dumpi_get_bytes(&o->reader, begin, sizeof begin);
        if (!dumpi_is_file(begin, sizeof begin))
            continue;
        first = INDEX_ENTRIES - count + 1;
        for (uint64_t i = first; i < INDEX_ENTRIES; i++)
            entries[i] = dumpi_get64(&o->reader);
    }
    for (unsigned i = 1; i < INDEX_ENTRIES; i++)
        if (entries[i] >= bytes || entries[i] < DUMPI_BODY)
            entries[i] = 0;
    o->places = (struct places){.sizes = entries[1], .header = entries[4], .footer = entries[6]};
    return first != 0 && o->places.header > DUMPI_BODY + 8;
}

static int dumpi_file_seek_part(struct opening *o, uint64_t place)
{
    dumpi_seek(&o->reader, place, o->file->bytes);
    return place != 0;
}

/* ---- parts ---------------------------------------------------------------- */

static void dumpi_file_read_mesh(struct opening *o)
{
    struct dumpi_file *file = o->file;
    uint32_t count = dumpi_file_get_count(&o->reader, 16);
    for (uint32_t i = 0; i < count; i++)
        file->mesh_place[i] = (int32_t)dumpi_get32(&o->reader);
    if (count > 0 && dumpi_since(file->version, 0, 5, 0)) {
        uint32_t sizes = dumpi_file_get_count(&o->reader, 16);
        for (uint32_t i = 0; i < sizes; i++)
            file->mesh_size[i] = (int32_t)dumpi_get32(&o->reader);
    }
    if (o->reader.error == 0)
        file->mesh_dimensions = count;
}

static int dumpi_file_read_header(struct opening *o)
{
    struct dumpi_file *file = o->file;
    dumpi_file_seek_part(o, o->places.header);
    dumpi_get_bytes(&o->reader, file->version.part, 3);
    file->start_s = dumpi_get64(&o->reader);
    file->host = dumpi_file_get_string(&o->reader);
    file->user = dumpi_file_get_string(&o->reader);
    if (file->host == NULL || file->user == NULL)
        return -ENOMEM;
    dumpi_file_read_mesh(o);
    if (o->reader.error != 0)
        snprintf(o->why, o->capacity, "the header at offset %llu is broken",
                 (unsigned long long)o->places.header);
    /* The end marker of the calls precedes the header: its number follows the list of functions, so
     * it depends on the version that wrote the file. */
    dumpi_seek(&o->reader, o->places.header - 2, file->bytes);
    uint32_t number = dumpi_get16(&o->reader);
    int known = number > DUMPI_END / 2 && number < MAX_CALL_NUMBERS;
    file->end_number = known ? number : DUMPI_END;
    file->body_end = o->places.header;
    return 0;
}

static int dumpi_file_read_types(struct opening *o)
{
    struct dumpi_file *file = o->file;
    if (!dumpi_file_seek_part(o, o->places.sizes))
        return 0;
    uint32_t count = dumpi_file_get_count(&o->reader, DUMPI_MAX_TYPES);
    file->type_sizes = dumpi_file_get_numbers(&o->reader, count);
    if (file->type_sizes == NULL)
        return -ENOMEM;
    if (o->reader.error == 0)
        file->type_count = count;
    else
        snprintf(o->why, o->capacity, "the sizes of datatypes at offset %llu are broken",
                 (unsigned long long)o->places.sizes);
    return 0;
}

/* Both tables have one entry more than there are functions: the total. */
static int dumpi_file_read_footer(struct opening *o)
{
    struct dumpi_file *file = o->file;
    if (!dumpi_file_seek_part(o, o->places.footer) || dumpi_get64(&o->reader) != FOOTER_MAGIC)
        return 0;
    uint32_t count = file->end_number - 2;
    if (8 * (uint64_t)count > dumpi_left(&o->reader))
        return 0;
    file->calls = (uint32_t *)dumpi_file_get_numbers(&o->reader, count);
    file->calls_left_out = (uint32_t *)dumpi_file_get_numbers(&o->reader, count);
    if (file->calls == NULL || file->calls_left_out == NULL)
        return -ENOMEM;
    file->call_count = count;
    return 0;
}

/* ---- all ------------------------------------------------------------------ */

static int dumpi_file_read_parts(struct opening *o)
{
    struct dumpi_file *file = o->file;
    dumpi_seek(&o->reader, 0, file->bytes);
    size_t have = dumpi_fill(&o->reader, DUMPI_ASCII_LOOK);
    if (o->reader.error != 0) {
        snprintf(o->why, o->capacity, "%s", holter_strerror(o->reader.error));
        return o->reader.error;
    }
    if (dumpi_is_ascii(o->reader.buffer, have))
        return dumpi_ascii_open(file, &o->reader);
    if (!dumpi_is_file(o->reader.buffer, have)) {
        snprintf(o->why, o->capacity,
                 "this is no DUMPI file: it does not begin with the magic number");
        return -HOLTER_EMALFORMED;
    }
    file->body_end = file->bytes;
    file->end_number = DUMPI_END;
    file->whole = dumpi_file_find_index(o);
    if (!file->whole) {
        snprintf(o->why, o->capacity, "its end is missing: the last %u bytes are no index",
                 8 * INDEX_ENTRIES);
        return 0;
    }
    int code = dumpi_file_read_header(o);
    if (code == 0)
        code = dumpi_file_read_types(o);
    return code != 0 ? code : dumpi_file_read_footer(o);
}

int dumpi_file_open(struct dumpi_file *out, const char *path, char *why, size_t capacity)
{
    *out = (struct dumpi_file){.version = {{1, 0, 0}}};
    why[0] = '\0';
    struct opening o = {.file = out, .why = why, .capacity = capacity};
    struct stat status;
    if (stat(path, &status) != 0) {
        int code = -errno;
        snprintf(why, capacity, "%s", holter_strerror(code));
        return code;
    }
    if (!S_ISREG(status.st_mode)) {
        snprintf(why, capacity, "not a regular file");
        return -HOLTER_EMALFORMED;
    }
    out->bytes = (uint64_t)status.st_size;
    out->path = strdup(path);
    int code = out->path == NULL ? -ENOMEM : dumpi_reader_init(&o.reader, path, 4096);
    if (code == 0)
        code = dumpi_file_read_parts(&o);
    dumpi_reader_finish(&o.reader);
    return code;
}

void dumpi_file_finish(struct dumpi_file *file)
{
    free(file->path);
    free(file->host);
    free(file->user);
    free(file->type_sizes);
    free(file->calls);
    free(file->calls_left_out);
    *file = (struct dumpi_file){0};
}
