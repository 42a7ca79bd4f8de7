/* Files of tests/data, unpacked. */
#ifndef HOLTER_TESTS_DATA_FILE_H
#define HOLTER_TESTS_DATA_FILE_H

#include <stddef.h>

/** Unpack tests/data/<name>.zst, "par-comm-data/route/X_route.txt".
 *  @param length  set, without the NUL that follows the text
 *  @return memory for free(); fails the test when the file is not there or broken */
char *data_file(const char *name, size_t *length);

/** Unpack it into a file of a directory. @param path  set to its path; fails the test */
void data_file_unpack(const char *name, const char *directory, char *path, size_t capacity);

#endif
