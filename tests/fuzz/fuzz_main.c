/* Runs a fuzz target without libFuzzer.
 *
 *   fuzz_X [--rounds N] [--seed S]   all seeds, then N changed ones; status 0, or it aborts
 *   fuzz_X --seconds T [--seed S]    all seeds, then changed ones for that long, and says how many
 *   fuzz_X FILE...                   these inputs, e.g. one that libFuzzer found
 *   fuzz_X --corpus DIR              write the seeds as files, for libFuzzer to begin from
 *
 * The input that was running when a target aborts is written to fuzz-crash in the working
 * directory. */
#include "tests/fuzz/fuzz.h"
#include "tests/proto/wire_random.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CHANGED_BYTES (2 * FUZZ_BYTES)

/* The running input, for the handler of signals. */
static const uint8_t *running;
static size_t running_length;

static void on_crash(int number)
{
    int fd = open("fuzz-crash", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd >= 0 && write(fd, running, running_length) >= 0)
        close(fd);
    signal(number, SIG_DFL);
    raise(number);
}

static void run(const uint8_t *data, size_t length)
{
    /* Of exact length, so that a read behind it is one behind the memory. */
    uint8_t *copy = malloc(length ? length : 1);
    if (!copy)
        return;
    memcpy(copy, data, length);
    running = copy;
    running_length = length;
    LLVMFuzzerTestOneInput(copy, length);
    free(copy);
}

/* Insert or remove bytes in the middle. */
static size_t resize(uint8_t *data, size_t length, uint64_t *random)
{
    size_t at = random_below(random, length + 1), count = 1 + random_below(random, 16);
    if (random_next(random) & 1) {
        if (length + count > CHANGED_BYTES)
            return length;
        memmove(data + at + count, data + at, length - at);
        for (size_t i = 0; i < count; i++)
            data[at + i] = (uint8_t)random_next(random);
        return length + count;
    }
    if (count > length - at)
        count = length - at;
    memmove(data + at, data + at + count, length - at - count);
    return length - count;
}

/* Change the input in one of the ways that find bugs in readers. */
static size_t change(uint8_t *data, size_t length, uint64_t *random)
{
    static const uint8_t telling[] = {0x00, 0x01, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0,
                                      0xbf, 0xc0, 0xc1, 0xc4, 0xc6, 0xc9, 0xcb, 0xcf,
                                      0xd3, 0xd9, 0xdb, 0xdc, 0xdd, 0xdf, 0xff};
    if (length == 0)
        return resize(data, length, random);
    size_t at = random_below(random, length);
    switch (random_below(random, 6)) {
    case 0:
        data[at] ^= (uint8_t)(1u << random_below(random, 8));
        return length;
    case 1:
        data[at] = telling[random_below(random, sizeof telling)];
        return length;
    case 2: {
        uint64_t number =
            random_next(random) & 1 ? UINT64_MAX : random_next(random) >> random_below(random, 64);
        memcpy(data + at, &number, length - at < 8 ? length - at : 8);
        return length;
    }
    case 3:
        return at; /* cut off */
    case 4: {
        size_t from = random_below(random, length), count = 1 + random_below(random, 64);
        if (count > length - at)
            count = length - at;
        if (count > length - from)
            count = length - from;
        memmove(data + at, data + from, count);
        return length;
    }
    default:
        return resize(data, length, random);
    }
}

static time_t seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

/* @param rounds  0: until `end`, of CLOCK_MONOTONIC, s @return how many were run */
static unsigned long long run_changed(unsigned long long rounds, time_t end, uint64_t random)
{
    uint8_t *data = malloc(CHANGED_BYTES);
    unsigned seeds = 0;
    unsigned long long count = 0;
    if (!data)
        return 0;
    for (; fuzz_seed(seeds, data) != SIZE_MAX; seeds++)
        run(data, fuzz_seed(seeds, data));
    for (; seeds > 0 && (rounds ? count < rounds : seconds() < end); count++) {
        size_t length = fuzz_seed((unsigned)random_below(&random, seeds), data);
        for (uint64_t changes = 1 + random_below(&random, 8); changes > 0; changes--)
            length = change(data, length, &random);
        run(data, length);
    }
    free(data);
    return count;
}

static int run_file(const char *path)
{
    static uint8_t data[1 << 24];
    FILE *in = fopen(path, "rb");
    if (!in) {
        perror(path);
        return 1;
    }
    run(data, fread(data, 1, sizeof data, in));
    fclose(in);
    return 0;
}

static int write_corpus(const char *directory)
{
    static uint8_t data[FUZZ_BYTES];
    size_t length;
    for (unsigned i = 0; (length = fuzz_seed(i, data)) != SIZE_MAX; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/seed-%03u", directory, i);
        FILE *out = fopen(path, "wb");
        int failed = !out || fwrite(data, 1, length, out) != length;
        if ((out && fclose(out)) || failed) {
            perror(path);
            return 1;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    unsigned long long rounds = 20000, seed = 1, length = 0;
    int status = 0, files = 0;
    signal(SIGABRT, on_crash);
    signal(SIGSEGV, on_crash);
    signal(SIGBUS, on_crash);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--corpus") == 0 && i + 1 < argc)
            return write_corpus(argv[i + 1]);
        if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) {
            rounds = strtoull(argv[++i], NULL, 10);
        } else if (strcmp(argv[i], "--seconds") == 0 && i + 1 < argc) {
            length = strtoull(argv[++i], NULL, 10);
        } else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc) {
            seed = strtoull(argv[++i], NULL, 10);
        } else {
            status |= run_file(argv[i]);
            files++;
        }
    }
    if (!files) { /* xorshift stands still at 0 */
        unsigned long long count =
            run_changed(length ? 0 : rounds, seconds() + (time_t)length, seed ? seed : 1);
        if (length)
            printf("%llu inputs in %llu s\n", count, length);
    }
    return status;
}
