/* The file of one rank: its header, footer and tables, and a reader of its bytes.
 *
 * Every read is bounded by the file, and by the maximum size of a record. A truncated file has no
 * index: its complete calls are read, its tables are missing. */
#ifndef HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_FILE_H
#define HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_FILE_H

#include "daemon/import/dumpi/dumpi_format.h"

#include <stddef.h>
#include <stdint.h>

#define DUMPI_BODY 8u          /**< offset of the first call, after the file's magic number */
#define DUMPI_MAX_TYPES 32768u /**< sizes of datatypes in a file's table */

struct dumpi_version {
    uint8_t part[3];
};

/** @return 1 when the version is a.b.c or newer */
int dumpi_since(struct dumpi_version version, unsigned a, unsigned b, unsigned c);

/** Sequential reader of bytes. Errors are sticky: after one all reads return 0. */
struct dumpi_reader {
    const char *path; /**< borrowed */
    uint64_t end;     /**< reads stop here: the end of the body, or of the file */
    uint64_t offset;  /**< of buffer[0] in the file */
    uint8_t *buffer;
    size_t capacity, have, at;
    int error; /**< 0, -HOLTER_EMALFORMED: the end was reached, or -errno */
};

/** @param capacity  bytes of the buffer, at least 256 @return 0 or -ENOMEM */
int dumpi_reader_init(struct dumpi_reader *reader, const char *path, size_t capacity);
void dumpi_reader_finish(struct dumpi_reader *reader);

/** Continue at an offset. */
void dumpi_seek(struct dumpi_reader *reader, uint64_t offset, uint64_t end);
uint64_t dumpi_offset(const struct dumpi_reader *reader);
/** Number of bytes left. */
uint64_t dumpi_left(const struct dumpi_reader *reader);
/** Fill the buffer with up to that many bytes. @return number of bytes available */
size_t dumpi_fill(struct dumpi_reader *reader, size_t want);

/** As dumpi_read_bytes(), when they are not all in the buffer. */
const uint8_t *dumpi_read_across(struct dumpi_reader *reader, size_t count);

/** The next bytes, within the buffer. @param count  at most 256 @return NULL: there are fewer left
 */
static inline const uint8_t *dumpi_read_bytes(struct dumpi_reader *reader, size_t count)
{
    if (reader->have - reader->at < count)
        return dumpi_read_across(reader, count);
    const uint8_t *taken = reader->buffer + reader->at;
    reader->at += count;
    return taken;
}

static inline uint16_t dumpi_at16(const uint8_t *at)
{
    return (uint16_t)(at[0] << 8 | at[1]);
}

static inline uint32_t dumpi_at32(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static inline uint8_t dumpi_get8(struct dumpi_reader *reader)
{
    const uint8_t *at = dumpi_read_bytes(reader, 1);
    return at == NULL ? 0 : *at;
}

static inline uint16_t dumpi_get16(struct dumpi_reader *reader)
{
    const uint8_t *at = dumpi_read_bytes(reader, 2);
    return at == NULL ? 0 : dumpi_at16(at);
}

static inline uint32_t dumpi_get32(struct dumpi_reader *reader)
{
    const uint8_t *at = dumpi_read_bytes(reader, 4);
    return at == NULL ? 0 : dumpi_at32(at);
}

static inline uint64_t dumpi_get64(struct dumpi_reader *reader)
{
    const uint8_t *at = dumpi_read_bytes(reader, 8);
    return at == NULL ? 0 : (uint64_t)dumpi_at32(at) << 32 | dumpi_at32(at + 4);
}

void dumpi_get_bytes(struct dumpi_reader *reader, void *out, size_t count);
void dumpi_skip(struct dumpi_reader *reader, uint64_t count);

struct dumpi_file {
    char *path;
    uint64_t bytes;
    int whole; /**< the file is complete; else all members below except body_end are 0 or empty */
    int ascii; /**< output of dumpi2ascii: places are line numbers, and the header may be missing */
    int version_known;
    struct dumpi_version version;
    uint64_t start_s; /**< start of the program, seconds since 1970 */
    char *host, *user;
    uint32_t mesh_dimensions; /**< coordinates of the node in the machine's network */
    int32_t mesh_place[16], mesh_size[16];
    uint64_t body_end;   /**< offset after the last call */
    uint32_t end_number; /**< the number that marks the end in place of a function */
    int32_t *type_sizes; /**< bytes, by handle */
    uint32_t type_count; /**< 0: there is no table */
    uint32_t *calls,     /**< NULL: not counted */
        *calls_left_out; /**< number of calls of each function, and of those not recorded; by number
                          */
    uint32_t call_count; /**< length of these tables */
};

/** Is this the beginning of a DUMPI file? */
int dumpi_is_file(const uint8_t *begin, size_t length);

/** @param out   owned by the caller: dumpi_file_finish(), after a failure, too
 * @param why   set on failure, without the path; damaged tables are left out and reported there
 * with 0 as well
 * @return 0, -ENOMEM, -HOLTER_EMALFORMED (not a DUMPI file), or the error of open(2) or read(2) */
int dumpi_file_open(struct dumpi_file *out, const char *path, char *why, size_t capacity);
void dumpi_file_finish(struct dumpi_file *file);

#endif
