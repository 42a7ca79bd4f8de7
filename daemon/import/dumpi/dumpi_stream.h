/* The calls of one file, in order. */
#ifndef HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_STREAM_H
#define HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_STREAM_H

#include "daemon/import/dumpi/dumpi_file.h"

#define DUMPI_COUNTERS_MOST 255u
/** Numbers in the arrays of one record: 16 MiB. */
#define DUMPI_WORDS_MOST (1u << 22)

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
    int32_t cancelled, error;   /**< of sends all of this may be anything */
};
#define DUMPI_STATUS_WORDS 5u

/** Seconds are stored in 16 bits: they begin anew every 65,536. */
struct dumpi_time {
    int64_t start_s, stop_s;
    int32_t start_ns, stop_ns;
};

struct dumpi_argument {
    int64_t value;  /**< of arrays: how many elements */
    uint32_t first; /**< of arrays: in words, of strings in text. Elements of lists of lists are not
                       kept */
};

struct dumpi_call {
    uint64_t offset; /**< of its record in the file */
    uint32_t function;
    uint8_t mask;
    uint16_t thread;
    struct dumpi_time cpu, wall; /**< 0 when the mask has none */
    uint32_t counter_count;
    int64_t counters_in[DUMPI_COUNTERS_MOST], counters_out[DUMPI_COUNTERS_MOST];
    /** By position in the layout, conditions not counted; 0 for fields that are not there. */
    struct dumpi_argument arguments[DUMPI_ARGUMENTS];
};

/** Why a stream ended. */
enum dumpi_ending {
    DUMPI_GOES_ON,
    DUMPI_ENDED,        /**< as it should */
    DUMPI_ENDED_EARLY,  /**< the file is shorter than the call at the offset */
    DUMPI_ENDED_BROKEN, /**< what stands at the offset is no call */
    DUMPI_ENDED_UNREADABLE,
};

/** A line of a text. */
struct dumpi_line {
    char *text;
    size_t length, room;
    uint64_t number; /**< from 1 up */
    int ended;       /**< 0: the file ends in it, and the line may be cut off */
};

struct dumpi_stream {
    const struct dumpi_file *file; /**< borrowed */
    struct dumpi_reader reader;
    int32_t cpu_base_s, wall_base_s;
    uint8_t mask; /**< of the last call: that of the next one is the same, but for single bits */
    int begun;
    struct dumpi_call call;
    int32_t *words; /**< arrays of the call */
    size_t word_count, word_room;
    char *text; /**< strings of the call, each with a NUL */
    size_t text_count, text_room;
    enum dumpi_ending ending;
    uint64_t ended_at;      /**< offset; of a text: line, as all places */
    uint64_t unknown;       /**< records of functions that are not known: left out, */
    uint64_t unknown_bytes; /**< with what followed, up to the next call */
    uint32_t unknown_first; /**< number of the first of them */
    uint64_t unknown_at;
    /* of texts */
    struct dumpi_line line;
    int held;                     /**< the line begins the next call */
    uint64_t damaged, damaged_at; /**< calls that are not whole: left out; line of the first */
    uint16_t recent[64];          /**< functions by a hash of their names */
};

/** @param room  bytes read at a time, at least 4,096 @return 0 or -ENOMEM */
int dumpi_stream_init(struct dumpi_stream *stream, const struct dumpi_file *file, size_t room);
void dumpi_stream_finish(struct dumpi_stream *stream);

/** Next call, into stream->call. @return 1; 0: there is none, see ending; -ENOMEM */
int dumpi_stream_next(struct dumpi_stream *stream);

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

/** Text of a string; of strings the first, the others behind it, each behind the NUL of the one
 * before. */
static inline const char *dumpi_text(const struct dumpi_stream *stream, unsigned argument)
{
    return stream->text + stream->call.arguments[argument].first;
}

#endif
