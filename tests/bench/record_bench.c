/* What recording costs: the messages of a recording are written into another one, with a commit for
 * each half second of their arrival as the daemon's recorder makes it, and the processor time of
 * that is printed.
 *
 *   record_bench FILE [OUT]
 *
 * OUT is overwritten; without it a file in the temporary directory is made and removed. */
#include "daemon/storage/recording.h"
#include "holter/clock.h"
#include "holter/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COMMIT_NS UINT64_C(500000000)

struct message {
    struct recorded head;
    size_t at, length;
};

struct stream {
    struct message *messages; /* owned */
    uint8_t *bytes;           /* owned */
    size_t count, room, length, bytes_room;
};

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "record_bench: %s: %s\n", what, why);
    exit(EXIT_FAILURE);
}

static int take(void *user, const struct recorded *head, const void *bytes, size_t length)
{
    struct stream *s = user;
    if (s->count == s->room) {
        s->room = s->room == 0 ? 1024 : 2 * s->room;
        s->messages = realloc(s->messages, s->room * sizeof(*s->messages));
    }
    while (s->length + length > s->bytes_room) {
        s->bytes_room = s->bytes_room == 0 ? 1 << 20 : 2 * s->bytes_room;
        s->bytes = realloc(s->bytes, s->bytes_room);
    }
    if (s->messages == NULL || s->bytes == NULL)
        return -1;
    s->messages[s->count++] = (struct message){*head, s->length, length};
    memcpy(s->bytes + s->length, bytes, length);
    s->length += length;
    return 0;
}

static int pass_over(void *user, const struct wire_alert *alert)
{
    (void)user;
    (void)alert;
    return 0;
}

static uint64_t record(const struct stream *s, const char *path)
{
    struct recording *recording;
    char why[256];
    uint64_t committed = 0, commits = 0, spent = 0;
    if (recording_open(&recording, path, why, sizeof(why)) != 0)
        fail(path, why);
    for (size_t i = 0; i < s->count; i++) {
        const struct message *m = &s->messages[i];
        uint64_t begun = clock_process_cpu_ns();
        int code = recording_write_message(recording, &m->head, s->bytes + m->at, m->length);
        if (code == 0 && m->head.received_ns >= committed + COMMIT_NS) {
            code = recording_commit(recording);
            committed = m->head.received_ns;
            commits++;
        }
        spent += clock_process_cpu_ns() - begun;
        if (code != 0)
            fail(path, holter_strerror(code));
    }
    uint64_t begun = clock_process_cpu_ns();
    if (recording_close(recording) != 0)
        fail(path, "cannot be closed");
    spent += clock_process_cpu_ns() - begun;
    printf("%zu messages, %" PRIu64 " commits\n", s->count, commits);
    return spent;
}

int main(int argc, char **argv)
{
    struct stream s = {0};
    const struct recording_reader reader = {.user = &s, .alert = pass_over, .message = take};
    char made[] = "/tmp/holter-record-XXXXXX";
    struct stat status;
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: record_bench FILE [OUT]\n");
        return 2;
    }
    int code = recording_read(argv[1], &reader);
    if (code != 0)
        fail(argv[1], holter_strerror(code));
    int file = argc == 3 ? -1 : mkstemp(made);
    const char *path = argc == 3 ? argv[2] : made;
    if (file >= 0)
        close(file);
    unlink(path);
    uint64_t spent = record(&s, path);
    double mb = (double)s.length * 1e-6;
    if (stat(path, &status) != 0)
        fail(path, "it is gone");
    printf("%.2f MB of messages in a file of %.2f MB: %.2f to 1; %.2f ms of processor time a MB\n",
           mb, (double)status.st_size * 1e-6, mb * 1e6 / (double)status.st_size,
           (double)spent * 1e-6 / mb);
    if (argc < 3)
        unlink(path);
    free(s.messages);
    free(s.bytes);
    return 0;
}
