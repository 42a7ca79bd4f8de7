#include "tests/data_file.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h> /* cmocka.h wants these first */

#include <cmocka.h>
#include <zstd.h>

static char *whole_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rbe");
    if (file == NULL)
        fail_msg("%s is missing", path);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long size = ftell(file);
    assert_true(size > 0);
    rewind(file);
    char *bytes = malloc((size_t)size);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, (size_t)size, file), size);
    fclose(file);
    *length = (size_t)size;
    return bytes;
}

char *data_file(const char *name, size_t *length)
{
    char path[512];
    size_t packed;
    snprintf(path, sizeof(path), TESTS_DATA "/%s.zst", name);
    char *bytes = whole_file(path, &packed);
    unsigned long long size = ZSTD_getFrameContentSize(bytes, packed);
    assert_true(size < (64u << 20)); /* also rejects the numbers that stand for errors */
    char *text = malloc((size_t)size + 1);
    assert_non_null(text);
    assert_int_equal(ZSTD_decompress(text, (size_t)size, bytes, packed), size);
    text[size] = '\0';
    free(bytes);
    *length = (size_t)size;
    return text;
}

void data_file_unpack(const char *name, const char *directory, char *path, size_t capacity)
{
    size_t length;
    char *text = data_file(name, &length);
    const char *base = strrchr(name, '/');
    snprintf(path, capacity, "%s/%s", directory, base != NULL ? base + 1 : name);
    FILE *file = fopen(path, "wbe");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    free(text);
}
