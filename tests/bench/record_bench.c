/* What it costs to record: the messages of a recording are kept in another one, with a commit for
 * each half second of their arrival as the daemon's recorder makes it, and the processor time of
 * that is told.
 *
 *   record_bench [--raw] FILE [OUT]
 *
 * OUT is written over; without it a file in the temporary directory is made and removed. Messages
 * are decoded and cut as the daemon does it, where it has them decoded anyway: cutting is told
 * apart. With --raw they are taken apart from their bytes, as of those that are copied from another
 * recording. */
#include "daemon/storage/block/block.h"
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

struct cost {
    uint64_t cut_ns, record_ns;
    size_t cut; /* messages */
};

/* @return slices for block_source, or NULL */
static void *cut(struct block_slices *slices, struct wire_arena *arena, const void *bytes,
                 size_t length, struct cost *cost)
{
    struct wire_message message;
    void *out = NULL;
    if (wire_decode(&message, arena, bytes, length, NULL) != 0)
        return NULL;
    uint64_t begun = clock_process_cpu_ns();
    if (block_slice(slices, &message) == 0)
        out = block_slices_take(slices, &length);
    cost->cut_ns += clock_process_cpu_ns() - begun;
    cost->cut += out != NULL;
    return out;
}

static void stay(void *owner)
{
    (void)owner; /* all messages stay where they are */
}

static void record(const struct stream *s, const char *path, int raw, struct cost *cost)
{
    struct recording *recording;
    struct block_slices slices = {0};
    struct wire_arena arena = {0};
    char why[256];
    uint64_t committed = 0, commits = 0;
    if (recording_open(&recording, path, why, sizeof(why)) != 0)
        fail(path, why);
    for (size_t i = 0; i < s->count; i++) {
        const struct message *m = &s->messages[i];
        void *one = raw ? NULL : cut(&slices, &arena, s->bytes + m->at, m->length, cost);
        uint64_t begun = clock_process_cpu_ns();
        const struct block_source source = {
            .bytes = s->bytes + m->at, .length = m->length, .slices = one, .release = stay};
        int code = recording_message_source(recording, &m->head, &source);
        if (code == 0 && m->head.received_ns >= committed + COMMIT_NS) {
            code = recording_commit(recording);
            committed = m->head.received_ns;
            commits++;
        }
        cost->record_ns += clock_process_cpu_ns() - begun;
        if (code != 0)
            fail(path, holter_strerror(code));
    }
    uint64_t begun = clock_process_cpu_ns();
    if (recording_close(recording) != 0)
        fail(path, "cannot be closed");
    cost->record_ns += clock_process_cpu_ns() - begun;
    block_slices_finish(&slices);
    wire_arena_finish(&arena);
    printf("%zu messages, %zu cut, %" PRIu64 " commits\n", s->count, cost->cut, commits);
}

int main(int argc, char **argv)
{
    struct stream s = {0};
    const struct recording_reader reader = {.user = &s, .alert = pass_over, .message = take};
    char made[] = "/tmp/holter-record-XXXXXX";
    struct stat status;
    struct cost cost = {0};
    int raw = argc > 1 && strcmp(argv[1], "--raw") == 0;
    argc -= raw;
    argv += raw;
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: record_bench [--raw] FILE [OUT]\n");
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
    record(&s, path, raw, &cost);
    double mb = (double)s.length * 1e-6;
    if (stat(path, &status) != 0)
        fail(path, "it is gone");
    printf("%.2f MB of messages in a file of %.2f MB: %.2f to 1; %.2f ms of processor time a MB, "
           "and %.2f to cut\n",
           mb, (double)status.st_size * 1e-6, mb * 1e6 / (double)status.st_size,
           (double)cost.record_ns * 1e-6 / mb, (double)cost.cut_ns * 1e-6 / mb);
    if (argc < 3)
        unlink(path);
    free(s.messages);
    free(s.bytes);
    return 0;
}
