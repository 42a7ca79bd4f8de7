/* The file of one rank: its header, footer and tables, and its bytes in order.
 *
 * Every read is bounded by the file, and by what a record may hold. A file of which the end is
 * missing has no index: its calls are read as far as they are whole, its tables are not there. */
#ifndef HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_FILE_H
#define HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_FILE_H

#include "daemon/import/dumpi/dumpi_format.h"

#include <stddef.h>
#include <stdint.h>

#define DUMPI_BODY 8u             /**< where the calls begin, behind the file's magic number */
#define DUMPI_TYPES_MOST 32768u   /**< sizes of datatypes in a file's table */
#define DUMPI_STRINGS_MOST 65536u /**< keyvals, performance counters, addresses: each */

struct dumpi_version {
    uint8_t part[3];
};

/** @return 1 when the version is a.b.c or younger */
int dumpi_since(struct dumpi_version version, unsigned a, unsigned b, unsigned c);

/** Bytes in order. Errors stick: after one all reads give 0. */
struct dumpi_reader {
    const char *path; /**< borrowed */
    uint64_t end;     /**< reads stop here: of the body, or of the file */
    uint64_t offset;  /**< in the file, of buffer[0] */
    uint8_t *buffer;
    size_t room, have, at;
    int error; /**< 0, -HOLTER_EMALFORMED: the end was reached, or -errno */
};

/** @param room  bytes of the buffer, at least 256 @return 0 or -ENOMEM */
int dumpi_reader_init(struct dumpi_reader *reader, const char *path, size_t room);
void dumpi_reader_finish(struct dumpi_reader *reader);

/** Go on there. */
void dumpi_seek(struct dumpi_reader *reader, uint64_t offset, uint64_t end);
uint64_t dumpi_tell(const struct dumpi_reader *reader);
/** Bytes that are left. */
uint64_t dumpi_left(const struct dumpi_reader *reader);
/** Have bytes in the buffer, as many as there are up to that. @return how many are */
size_t dumpi_fill(struct dumpi_reader *reader, size_t want);

/** As dumpi_read_bytes(), where the buffer ends before. */
const uint8_t *dumpi_take_slowly(struct dumpi_reader *reader, size_t count);

/** The next bytes, in the buffer. @param count  at most 256 @return NULL: there are fewer left */
static inline const uint8_t *dumpi_read_bytes(struct dumpi_reader *reader, size_t count)
{
    if (reader->have - reader->at < count)
        return dumpi_take_slowly(reader, count);
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

struct dumpi_address {
    uint64_t address;
    char *name;
};

struct dumpi_file {
    char *path;
    uint64_t bytes;
    int whole; /**< its end is there; else all below but body_end is 0 or empty */
    int ascii; /**< what dumpi2ascii prints: places are lines, and there may be no header */
    int version_told;
    struct dumpi_version version;
    uint64_t start_s; /**< when the program began, seconds since 1970 */
    char *host, *user;
    uint32_t mesh_dimensions; /**< place of the node in the machine's network */
    int32_t mesh_place[16], mesh_size[16];
    uint64_t body_end;   /**< what lies behind the last call */
    uint32_t end_number; /**< that stands there in place of a function */
    int32_t *type_sizes; /**< bytes, by handle */
    uint32_t type_count; /**< 0: there is no table */
    uint32_t *calls,     /**< NULL: not told */
        *calls_left_out; /**< how often each function was called, and not recorded; by number */
    uint32_t call_count; /**< of numbers */
    char **counters;     /**< names of performance counters */
    uint32_t counter_count;
    char **keyvals; /**< key, value, key, value ... */
    uint32_t keyval_count;
    struct dumpi_address *addresses;
    uint32_t address_count;
};

/** What a reader of the calls needs, with how often functions were called; or all. */
enum dumpi_parts { DUMPI_CALLS_PARTS, DUMPI_ALL_PARTS };

/** Is this the beginning of a DUMPI file? */
int dumpi_is_file(const uint8_t *begin, size_t length);

/** @param out   owned by the caller: dumpi_file_finish(), after a failure, too
 *  @param why   set on failure, without the path; what of the tables is broken is left out and told
 * there with 0 as well
 *  @return 0, -ENOMEM, -HOLTER_EMALFORMED (it is no DUMPI file), or what open(2), read(2) say */
int dumpi_file_open(struct dumpi_file *out, const char *path, enum dumpi_parts parts, char *why,
                    size_t room);
void dumpi_file_finish(struct dumpi_file *file);

#endif
