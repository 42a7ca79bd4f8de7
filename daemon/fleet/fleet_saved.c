/* States of jobs in the stream: stored in pieces, compressed, by the thread that publishes
 * journals, and read by the thread of fleet_past.c. A state counts once the job's journal says that
 * it is stored: the journal is refused where another daemon has gone on with the job, so that no
 * state is taken for one that belongs to it but does not. */
#include "daemon/fleet/fleet_envelope.h"
#include "daemon/fleet/fleet_link_state.h"
#include "holter/clock.h"
#include "holter/error.h"
#include "holter/wire.h"
#include "proto/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define LOG_TOPIC "fleet"
#define LEVEL (-1)                      /* of the compression: faster than 1, a tenth more bytes */
#define PIECE_BYTES ((size_t)1 << 20)   /* at most */
#define STATE_BYTES (UINT64_C(1) << 34) /* of a state; more is no state */

/* ---- storing -------------------------------------------------------------------- */

/* With a sum over all bytes, which is checked where it is decompressed. @return bytes, or 0 */
static size_t saved_compress(const struct link_publication *state, uint8_t **out)
{
    const size_t capacity = ZSTD_compressBound(state->length);
    ZSTD_CCtx *context = ZSTD_createCCtx();
    size_t length = 0;
    *out = context == NULL ? NULL : malloc(capacity);
    if (*out != NULL) {
        ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, LEVEL);
        ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
        length = ZSTD_compress2(context, *out, capacity, state->bytes, state->length);
        length = ZSTD_isError(length) ? 0 : length;
    }
    ZSTD_freeCCtx(context);
    return length;
}

/* @return bytes, or 0 */
static size_t saved_pack(struct fleet_link *link, const struct link_publication *state,
                         uint8_t **out)
{
    const uint64_t begun = clock_thread_cpu_ns();
    const size_t length = saved_compress(state, out);
    const uint64_t packing_ns = clock_thread_cpu_ns() - begun;
    pthread_mutex_lock(&link->mutex);
    struct link_job *job = link_find_job(link, state->job);
    if (job != NULL)
        job->packing_ns = packing_ns;
    pthread_mutex_unlock(&link->mutex);
    return length;
}

/* An envelope of one entry. @return 0 or a negative error */
static int saved_publish(struct fleet_link *link, const struct link_publication *state,
                         enum fleet_subject subject, const struct fleet_entry *entry, uint64_t *seq)
{
    struct fleet_envelope envelope = {0};
    int code = fleet_envelope_add(&envelope, entry);
    if (code != 0)
        return code;
    struct link_publication message = *state;
    fleet_envelope_set_position(&envelope, state->position);
    message.subject = subject;
    message.position = entry->time_ns + (subject == FLEET_OUT); /* of its id */
    message.bytes = envelope.bytes;
    message.length = envelope.length;
    code = subject == FLEET_STATE ? link_try(link, &message, seq)
                                  : link_publish_until_stored(link, &message, seq);
    fleet_envelope_finish(&envelope);
    return code;
}

int link_publish_saved(struct fleet_link *link, const struct link_publication *state)
{
    const size_t maximum = fleet_link_maximum(link), head = FLEET_HEAD_BYTES + FLEET_ENTRY_BYTES;
    const size_t limit = maximum > head ? maximum - head : 1;
    const size_t most = limit < PIECE_BYTES ? limit : PIECE_BYTES;
    uint8_t *bytes;
    uint64_t first = 0, seq = 0;
    const size_t length = saved_pack(link, state, &bytes);
    int code = length == 0 ? -ENOMEM : 0;
    for (size_t at = 0; code == 0 && at < length; at += most) {
        const struct fleet_entry piece = {link->run, at, bytes + at,
                                          length - at < most ? length - at : most};
        code = saved_publish(link, state, FLEET_STATE, &piece, &seq);
        first = at == 0 ? seq : first;
        code = code == 0 && seq == 0 ? -ESTALE : code; /* not this daemon's job any more */
    }
    free(bytes);
    if (code != 0 && code != -ESTALE)
        log_warn("job %s: its state was not stored: %s", state->job, holter_strerror(code));
    if (code != 0)
        return 0;
    const struct fleet_entry note = {link->run, length, (const uint8_t *)"", 0};
    code = saved_publish(link, state, FLEET_OUT, &note, &seq);
    if (code == 0 && seq != 0)
        fleet_nats_delete(link->nats, FLEET_STATE, state->job, first);
    log_debug("job %s: its state after message %" PRIu64 " is stored, %zu bytes, %zu compressed",
              state->job, state->position, state->length, length);
    return code;
}

/* ---- reading -------------------------------------------------------------------- */

void link_note_saved(struct link_saved *saved, const void *bytes, size_t length)
{
    struct fleet_reader reader;
    struct fleet_entry entry;
    int code = fleet_reader_init(&reader, bytes, length);
    while (code == 0 && fleet_reader_next(&reader, &entry) == 1)
        if (entry.instance == FLEET_FOLLOWED)
            *saved = (struct link_saved){0};
        else if (entry.instance != 0)
            *saved = (struct link_saved){entry.instance, entry.time_ns, reader.position};
}

struct saved_reading {
    struct link_job *job;
    uint8_t *bytes;
    size_t at;
};

/* Pieces of other states are left out. */
static int saved_on_piece(void *user, uint64_t seq, const void *bytes, size_t length)
{
    struct saved_reading *reading = user;
    const struct link_saved *saved = &reading->job->saved;
    struct fleet_reader reader;
    struct fleet_entry entry;
    (void)seq;
    if (fleet_reader_init(&reader, bytes, length) == 0 && reader.position == saved->position &&
        fleet_reader_next(&reader, &entry) == 1 && entry.instance == saved->instance &&
        entry.time_ns == reading->at && entry.length <= saved->length - reading->at) {
        memcpy(reading->bytes + reading->at, entry.bytes, entry.length);
        reading->at += entry.length;
    }
    return fleet_link_holds(reading->job->link, reading->job->id) ? 0 : -EAGAIN;
}

static uint8_t *saved_decompress(const struct saved_reading *reading, size_t *length)
{
    const unsigned long long bytes = ZSTD_getFrameContentSize(reading->bytes, reading->at);
    uint8_t *out = bytes == 0 || bytes > STATE_BYTES ? NULL : malloc(bytes);
    *length = out == NULL ? 0 : ZSTD_decompress(out, bytes, reading->bytes, reading->at);
    if (out == NULL || *length == bytes)
        return out;
    free(out);
    return NULL;
}

int link_read_saved(struct link_job *job, uint8_t **bytes, size_t *length)
{
    struct saved_reading reading = {.job = job};
    uint64_t last = 0;
    *bytes = NULL;
    if (job->saved.instance == 0 || job->saved.length == 0 || job->saved.length > STATE_BYTES)
        return 0;
    int code = fleet_nats_last(job->link->nats, FLEET_STATE, job->id, &last);
    reading.bytes = code == 0 && last > 0 ? malloc(job->saved.length) : NULL;
    if (reading.bytes != NULL)
        code = fleet_nats_read(job->link->nats, FLEET_STATE, job->id, 1, last, saved_on_piece,
                               &reading);
    if (code == 0 && reading.bytes != NULL && reading.at == job->saved.length)
        *bytes = saved_decompress(&reading, length);
    free(reading.bytes);
    if (code == 0 && *bytes == NULL)
        log_warn("job %s: its state is not there or is damaged: it is read from its first message",
                 job->id);
    return code;
}
