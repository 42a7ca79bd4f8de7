/* The calls of one DUMPI file, decoded in order. */
#ifndef HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_STREAM_H
#define HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_STREAM_H

#include "daemon/import/dumpi/dumpi_file.h"

/** Maximum of numbers in the arrays of one record: 16 MiB. */
#define DUMPI_MAX_WORDS (1u << 22)

enum {
    DUMPI_HAS_STATUSES = 0x03,
    DUMPI_HAS_CPU_TIME = 0x04,
    DUMPI_HAS_WALL_TIME = 0x08,
    DUMPI_HAS_THREAD = 0x40,
    DUMPI_HAS_COUNTERS = 0x80,
    DUMPI_HAS_UNKNOWN = 0x30, /**< bits that no file sets */
};

struct dumpi_status {
    int32_t bytes, source, tag; /**< tag: DUMPI_ANY_TAG in files older than 0.6.3 */
    int32_t cancelled, error;   /**< undefined for sends */
};
#define DUMPI_STATUS_WORDS 5u

/** Seconds are stored in 16 bits: they restart from 0 every 65,536 seconds. */
struct dumpi_time {
    int64_t start_s, stop_s;
    int32_t start_ns, stop_ns;
};

struct dumpi_argument {
    int64_t value;  /**< of arrays: number of elements */
    uint32_t first; /**< of arrays: index in words, of strings in text. Elements of lists of lists
                       are not stored */
};

struct dumpi_call {
    uint64_t offset; /**< of its record in the file */
    uint32_t function;
    uint8_t mask;
    uint16_t thread;
    struct dumpi_time cpu, wall; /**< 0 when the mask has none */
    /** By position in the layout, not counting conditions; 0 for missing fields. */
    struct dumpi_argument arguments[DUMPI_ARGUMENTS];
};

/** Why a stream ended. */
enum dumpi_ending {
    DUMPI_GOES_ON,
    DUMPI_ENDED,        /**< at the end of the file */
    DUMPI_ENDED_EARLY,  /**< the file is truncated in the call at the offset */
    DUMPI_ENDED_BROKEN, /**< the bytes at the offset are not a call */
    DUMPI_ENDED_UNREADABLE,
};

/** A line of a text. */
struct dumpi_line {
    char *text;
    size_t length, capacity;
    uint64_t number; /**< from 1 */
    int ended;       /**< 0: the file ends in it, and the line may be truncated */
};

/* How the calls of a file ended, and what is left out. */
struct dumpi_outcome {
    enum dumpi_ending ending;
    uint64_t ended_at;      /**< offset; of a text: line number */
    uint64_t unknown;       /**< records of unknown functions: left out, */
    uint64_t unknown_bytes; /**< with what followed, up to the next call */
    uint32_t unknown_first; /**< function number of the first of them */
    uint64_t unknown_at;
    uint64_t damaged, damaged_at; /**< of a text: incomplete calls, which are left out; line of the
                                     first */
};

struct dumpi_stream {
    const struct dumpi_file *file; /**< borrowed */
    struct dumpi_reader reader;
    int32_t cpu_base_s, wall_base_s;
    int begun;
    struct dumpi_call call;
    int32_t *words; /**< arrays of the call */
    size_t word_count, word_capacity;
    char *text; /**< strings of the call, each with a NUL */
    size_t text_count, text_room;
    struct dumpi_outcome outcome;
    /* Text files only. */
    struct dumpi_line line;
    int held; /**< the line is the first one of the next call */
};

/** @param capacity  bytes read at a time, at least 4,096 @return 0 or -ENOMEM */
int dumpi_stream_init(struct dumpi_stream *stream, const struct dumpi_file *file, size_t capacity);
void dumpi_stream_finish(struct dumpi_stream *stream);

/** Decode the next call into stream->call. @return 1; 0: there is none, see ending; -ENOMEM */
int dumpi_stream_next(struct dumpi_stream *stream);

/** Add elements to the arrays of the call. @return their memory; NULL: the reader has an error */
int32_t *dumpi_stream_add_words(struct dumpi_stream *stream, size_t count);

/** Add a string to those of the call. @return memory of that length, ended by NUL; NULL:
 * the reader has an error */
char *dumpi_stream_add_text(struct dumpi_stream *stream, size_t length);

/** Elements of an array. */
static inline const int32_t *dumpi_words(const struct dumpi_stream *stream, unsigned argument)
{
    return stream->words + stream->call.arguments[argument].first;
}

static inline const struct dumpi_status *dumpi_statuses(const struct dumpi_stream *stream,
                                                        unsigned argument)
{
    return (const struct dumpi_status *)(const void *)dumpi_words(stream, argument);
}

static inline int64_t dumpi_value(const struct dumpi_stream *stream, unsigned argument)
{
    return stream->call.arguments[argument].value;
}

/** Text of a string; of several strings the first, each of the others following the NUL of the
 * previous one. */
static inline const char *dumpi_text(const struct dumpi_stream *stream, unsigned argument)
{
    return stream->text + stream->call.arguments[argument].first;
}

#endif
