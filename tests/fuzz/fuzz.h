/* What a fuzz target is: one function that takes any bytes, and seeds to begin from.
 *
 * With clang, a target and libFuzzer make a program that searches by coverage. With any
 * compiler, a target and fuzz_main.c make one that runs the seeds and a fixed number of changed
 * ones, the same on every run. */
#ifndef HOLTER_TESTS_FUZZ_H
#define HOLTER_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#define FUZZ_BYTES 65536u /* longest seed */

/** The target. Aborts on a defect; otherwise returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** Make a seed, the same for the same number. @param out  room for FUZZ_BYTES
 *  @return its length, or SIZE_MAX when there is no seed of that number */
size_t fuzz_seed(unsigned number, uint8_t *out);

/** Abort, naming the broken rule, unless it holds. */
#define FUZZ_HOLDS(rule)                                                                           \
    do {                                                                                           \
        if (!(rule))                                                                               \
            fuzz_broken(#rule, __FILE__, __LINE__);                                                \
    } while (0)

/** Make a directory of its own, in memory where there is such a place: disks wait for each
 * recording.
 *  @return 0, or -1 with errno */
int fuzz_directory(char out[64]);

__attribute__((noreturn)) void fuzz_broken(const char *rule, const char *file, int line);

#endif
