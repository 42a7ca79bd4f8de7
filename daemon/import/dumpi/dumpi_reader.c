/* Sequential bounded reader of the bytes of a file: see dumpi_file.h. */
#include "daemon/import/dumpi/dumpi_file.h"

#include "holter/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int dumpi_reader_init(struct dumpi_reader *reader, const char *path, size_t capacity)
{
    *reader = (struct dumpi_reader){.path = path, .capacity = capacity};
    reader->buffer = malloc(capacity);
    return reader->buffer == NULL ? -ENOMEM : 0;
}

void dumpi_reader_finish(struct dumpi_reader *reader)
{
    free(reader->buffer);
    *reader = (struct dumpi_reader){0};
}

void dumpi_seek(struct dumpi_reader *reader, uint64_t offset, uint64_t end)
{
    reader->offset = offset;
    reader->end = end;
    reader->have = reader->at = 0;
    reader->error = 0;
}

uint64_t dumpi_offset(const struct dumpi_reader *reader)
{
    return reader->offset + reader->at;
}

uint64_t dumpi_left(const struct dumpi_reader *reader)
{
    uint64_t at = dumpi_offset(reader);
    return reader->error != 0 || at >= reader->end ? 0 : reader->end - at;
}

/* The file is opened for each read: a job may have more ranks than a process may have descriptors.
 */
static ssize_t dumpi_reader_read_at(const char *path, uint8_t *out, size_t count, uint64_t offset)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    size_t got = 0;
    while (got < count) {
        ssize_t n = pread(fd, out + got, count - got, (off_t)(offset + got));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && got == 0) {
            int code = -errno;
            close(fd);
            return code;
        }
        if (n <= 0)
            break;
        got += (size_t)n;
    }
    close(fd);
    return (ssize_t)got;
}

size_t dumpi_fill(struct dumpi_reader *reader, size_t want)
{
    size_t kept = reader->have - reader->at;
    if (kept >= want || reader->error != 0)
        return kept;
    memmove(reader->buffer, reader->buffer + reader->at, kept);
    reader->offset += reader->at;
    reader->at = 0;
    reader->have = kept;
    uint64_t from = reader->offset + kept;
    uint64_t left = from < reader->end ? reader->end - from : 0;
    size_t count = left < reader->capacity - kept ? (size_t)left : reader->capacity - kept;
    if (count == 0)
        return kept;
    ssize_t got = dumpi_reader_read_at(reader->path, reader->buffer + kept, count, from);
    if (got < 0)
        reader->error = (int)got;
    else
        reader->have += (size_t)got;
    return reader->have;
}

const uint8_t *dumpi_read_across(struct dumpi_reader *reader, size_t count)
{
    if (reader->error != 0)
        return NULL;
    if (dumpi_fill(reader, count) < count) {
        if (reader->error == 0)
            reader->error = -HOLTER_EMALFORMED;
        return NULL;
    }
    reader->at += count;
    return reader->buffer + reader->at - count;
}

void dumpi_get_bytes(struct dumpi_reader *reader, void *out, size_t count)
{
    uint8_t *to = out;
    while (count > 0) {
        size_t most = count < 256 ? count : 256;
        const uint8_t *from = dumpi_read_bytes(reader, most);
        if (from == NULL) {
            memset(to, 0, count);
            return;
        }
        memcpy(to, from, most);
        to += most;
        count -= most;
    }
}

void dumpi_skip(struct dumpi_reader *reader, uint64_t count)
{
    if (count > dumpi_left(reader)) {
        if (reader->error == 0)
            reader->error = -HOLTER_EMALFORMED;
        return;
    }
    uint64_t in_buffer = reader->have - reader->at;
    if (count <= in_buffer) {
        reader->at += (size_t)count;
        return;
    }
    dumpi_seek(reader, dumpi_offset(reader) + count, reader->end);
}
