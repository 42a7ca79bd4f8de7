/* Any bytes as the files of an OTF2 archive: an import ends, says what is wrong in words, leaves no
 * process behind, and what it made is a recording. libotf2 may crash meanwhile, Holter may not. */
#include "daemon/import/otf2/import_otf2.h"
#include "daemon/storage/recording.h"
#include "tests/daemon/import/otf2/otf2_history.h"
#include "tests/directory.h"
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* An input is files one after the other: number of the name, length in two bytes, bytes. */
static const char *const names[] = {
    "history.otf2",           "history.def",           "history/0.evt", "history/0.def",
    "history/1.evt",          "history/1.def",         "history/2.evt", "history/2.def",
    "history/4294967296.evt", "history/4294967297.evt"};
#define NAMES (sizeof(names) / sizeof(names[0]))

static int told_faults;

static void on_fault(void *user, const char *text)
{
    (void)user;
    told_faults++;
    FUZZ_HOLDS(text[0] != '\0' && strchr(text, '\n') == NULL);
}

static int take(void *user, const struct recorded *head, const void *bytes, size_t length)
{
    struct wire_message message;
    (void)head;
    FUZZ_HOLDS(wire_decode(&message, user, bytes, length, NULL) == 0);
    return 0;
}

static int no_alert(void *user, const struct wire_alert *alert)
{
    (void)user, (void)alert;
    return 0;
}

static void write_files(const char *folder, const uint8_t *data, size_t size)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/history", folder);
    FUZZ_HOLDS(mkdir(path, 0700) == 0);
    while (size >= 3) {
        size_t length = (size_t)data[1] << 8 | data[2];
        length = length < size - 3 ? length : size - 3;
        snprintf(path, sizeof(path), "%s/%s", folder, names[data[0] % NAMES]);
        FILE *file = fopen(path, "wbe");
        FUZZ_HOLDS(file != NULL && fwrite(data + 3, 1, length, file) == length);
        FUZZ_HOLDS(fclose(file) == 0);
        data += 3 + length;
        size -= 3 + length;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char folder[DIRECTORY_ROOM], anchor[64], recording[64];
    struct import_otf2_counts counts;
    struct trace_wishes wishes = {.threads = 1 + (unsigned)(size % 3), .fault = on_fault};
    FUZZ_HOLDS(directory_make(folder) == 0);
    write_files(folder, data, size);
    snprintf(anchor, sizeof(anchor), "%s/history.otf2", folder);
    snprintf(recording, sizeof(recording), "%s/t.hrec", folder);
    told_faults = 0;
    int code = import_otf2(recording, anchor, &wishes, &counts);
    FUZZ_HOLDS(code <= 0);
    FUZZ_HOLDS(code == 0 || told_faults > 0);
    FUZZ_HOLDS(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
    if (code == 0) {
        struct wire_arena arena = {0};
        struct recording_reader reader = {&arena, no_alert, take};
        FUZZ_HOLDS(recording_read(recording, &reader) == 0);
        FUZZ_HOLDS(counts.counts.failed_streams <= counts.streams);
        FUZZ_HOLDS((counts.counts.failed_streams == 0) || told_faults > 0);
        wire_arena_finish(&arena);
    }
    directory_remove(folder);
    return 0;
}

static size_t pack(const char *folder, uint8_t *out)
{
    size_t used = 0;
    for (size_t i = 0; i < NAMES; i++) {
        char path[128];
        snprintf(path, sizeof(path), "%s/archive/%s", folder, names[i]);
        FILE *file = fopen(path, "rbe");
        if (file == NULL)
            continue;
        size_t length = fread(out + used + 3, 1, FUZZ_BYTES - used - 3, file);
        fclose(file);
        out[used] = (uint8_t)i;
        out[used + 1] = (uint8_t)(length >> 8);
        out[used + 2] = (uint8_t)length;
        used += 3 + length;
    }
    return used;
}

size_t fuzz_seed(unsigned number, uint8_t *out)
{
    char folder[DIRECTORY_ROOM], archive[64];
    struct history history;
    struct history_plan plan = {.seed = number + 1,
                                .rounds = number == 3   ? 400
                                          : number == 4 ? 100
                                                        : 12,
                                .ranks = number == 1 || number == 4 ? 2 : 3,
                                .per_host = 2,
                                .threads = number == 4 ? 2 : 1,
                                .resolution = number == 2 ? 1000 : 1000000000,
                                .no_calls = number == 2};
    if (number > 4)
        return SIZE_MAX;
    FUZZ_HOLDS(directory_make(folder) == 0);
    snprintf(archive, sizeof(archive), "%s/archive", folder);
    history_write(&history, &plan, archive);
    size_t size = pack(folder, out);
    directory_remove(folder);
    return size;
}
