#include "tests/daemon/import/dumpi/dumpi_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

static const uint8_t magic[8] = {0xff, 0xaa, 0xdd, 'D', 'U', 'M', 'P', 'I'};

void dumpi_writer_bytes(struct dumpi_writer *w, const void *bytes, size_t length)
{
    if (w->length + length > w->room) {
        w->room = 2 * (w->length + length);
        w->bytes = realloc(w->bytes, w->room);
        assert_non_null(w->bytes);
    }
    if (length > 0)
        memcpy(w->bytes + w->length, bytes, length);
    w->length += length;
}

void dumpi_writer_number(struct dumpi_writer *w, uint64_t value, unsigned bytes)
{
    for (unsigned i = bytes; i-- > 0;) {
        uint8_t byte = (uint8_t)(value >> (8 * i));
        dumpi_writer_bytes(w, &byte, 1);
    }
}

#define PUT(value, bytes) dumpi_writer_number(w, (uint64_t)(value), bytes)

void dumpi_writer_begin(struct dumpi_writer *w, uint32_t base_s)
{
    *w = (struct dumpi_writer){.version = {13, 0, 0},
                               .mask = DUMPI_HAS_STATUSES | DUMPI_HAS_CPU_TIME |
                                       DUMPI_HAS_WALL_TIME | DUMPI_HAS_THREAD,
                               .call_ns = 2000,
                               .host = "node",
                               .start_s = 1700000000,
                               .mesh_place = -1};
    dumpi_writer_bytes(w, magic, sizeof magic);
    PUT(base_s, 4);
    PUT(base_s, 4);
}

static void put_time(struct dumpi_writer *w, uint64_t ns)
{
    PUT(ns / 1000000000, 2);
    PUT(ns % 1000000000, 4);
}

static void put_head(struct dumpi_writer *w, uint32_t function)
{
    PUT(function, 2);
    PUT(w->mask, 1);
    if (w->mask & DUMPI_HAS_THREAD)
        PUT(w->thread, 2);
    for (unsigned clock = 0; clock < 2; clock++) {
        if (!(w->mask & (clock == 0 ? DUMPI_HAS_CPU_TIME : DUMPI_HAS_WALL_TIME)))
            continue;
        put_time(w, w->now_ns);
        put_time(w, w->now_ns + w->call_ns);
    }
    if (w->mask & DUMPI_HAS_COUNTERS)
        PUT(w->counters, 1);
    for (uint32_t i = 0; w->mask & DUMPI_HAS_COUNTERS && i < 2 * w->counters; i++)
        PUT(UINT64_C(0x0102030405060708) + i, 8);
    w->now_ns += w->call_ns + 1000;
}

static void put_text(struct dumpi_writer *w, const char *text)
{
    PUT(strlen(text), 4);
    dumpi_writer_bytes(w, text, strlen(text));
}

static void put_statuses(struct dumpi_writer *w, int count, const struct dumpi_status *all)
{
    struct dumpi_version version = {{w->version[0], w->version[1], w->version[2]}};
    if (!(w->mask & DUMPI_HAS_STATUSES))
        return;
    PUT(count, 4);
    for (int i = 0; i < count; i++) {
        PUT((uint32_t)all[i].bytes, 4);
        PUT((uint32_t)all[i].source, 4);
        PUT(all[i].cancelled, 1);
        PUT(all[i].error, 1);
        if (dumpi_since(version, 0, 6, 3))
            PUT((uint32_t)all[i].tag, 4);
    }
}

static unsigned width_of(unsigned kind)
{
    return kind <= DUMPI_KIND_WHENCE                              ? 1
           : kind <= DUMPI_KIND_TYPE_AT_ROOT_OR_ALL               ? 2
           : kind <= DUMPI_KIND_INT_OR_NOTHING                    ? 4
           : kind == DUMPI_KIND_INT64                             ? 8
           : kind == DUMPI_KIND_TYPES || kind == DUMPI_KIND_INFOS ? 2
           : kind == DUMPI_KIND_DISTRIBUTIONS                     ? 1
                                                                  : 4;
}

static void put_array(struct dumpi_writer *w, unsigned kind, va_list *arguments)
{
    struct dumpi_version version = {{w->version[0], w->version[1], w->version[2]}};
    int count = va_arg(*arguments, int);
    const int32_t *all = va_arg(*arguments, const int32_t *);
    if ((kind == DUMPI_KIND_INTS_SINCE_0_6_8 && !dumpi_since(version, 0, 6, 8)) ||
        (kind == DUMPI_KIND_INTS_SINCE_0_6_9 && !dumpi_since(version, 0, 6, 9))) {
        PUT((uint32_t)all[0], 4);
        return;
    }
    PUT(kind == DUMPI_KIND_INT_LISTS ? count / 3 : count, 4);
    for (int i = 0; i < count; i++) {
        if (kind == DUMPI_KIND_INT_LISTS && i % 3 == 0)
            PUT(3, 4);
        PUT((uint32_t)all[i], width_of(kind));
    }
}

/* @return its value, of a number */
static long long put_field(struct dumpi_writer *w, unsigned kind, long long first,
                           va_list *arguments)
{
    struct dumpi_version version = {{w->version[0], w->version[1], w->version[2]}};
    long long value = 0;
    switch (kind) {
    case DUMPI_KIND_STATUS:
    case DUMPI_KIND_STATUSES: {
        int count = va_arg(*arguments, int);
        put_statuses(w, count, va_arg(*arguments, const struct dumpi_status *));
        break;
    }
    case DUMPI_KIND_STRING:
        put_text(w, va_arg(*arguments, const char *));
        break;
    case DUMPI_KIND_ARGV: {
        const char *const *list = va_arg(*arguments, const char *const *);
        for (long long i = 0; i < first; i++)
            put_text(w, list[i]);
        break;
    }
    case DUMPI_KIND_SKIP_BEFORE_0_6_2:
        if (!dumpi_since(version, 0, 6, 2))
            PUT(first, 4);
        break;
    default:
        if (kind > DUMPI_KIND_INT64) {
            put_array(w, kind, arguments);
            break;
        }
        value = va_arg(*arguments, long long);
        PUT(value, width_of(kind));
        break;
    }
    return value;
}

void dumpi_writer_call(struct dumpi_writer *w, uint32_t function, ...)
{
    long long values[DUMPI_ARGUMENTS] = {0};
    unsigned n = 0;
    int there = 1;
    va_list arguments;
    va_start(arguments, function);
    put_head(w, function);
    for (const struct dumpi_field *field = dumpi_layout(function)->fields;
         field->kind != DUMPI_KIND_NONE; field++) {
        if (field->kind == DUMPI_KIND_IF_EQUAL) {
            there = values[field->a] == values[field->b];
            continue;
        }
        if (field->kind == DUMPI_KIND_TYPE_AT_ROOT_OR_ALL)
            there = w->gatherv_type || values[0] == values[4];
        if (there)
            values[n] = put_field(w, field->kind, values[0], &arguments);
        n++;
        there = 1;
    }
    va_end(arguments);
}

void dumpi_writer_end(struct dumpi_writer *w, const int32_t *sizes, uint32_t types)
{
    size_t length = strlen(w->host);
    PUT(DUMPI_END, 2);
    size_t header = w->length;
    dumpi_writer_bytes(w, w->version, 3);
    PUT(w->start_s, 8);
    PUT(length, 2);
    dumpi_writer_bytes(w, w->host, length);
    PUT(4, 2);
    dumpi_writer_bytes(w, "user", 4);
    for (unsigned i = 0; i < 2; i++) {
        PUT(w->mesh_place >= 0, 4);
        if (w->mesh_place >= 0)
            PUT(i == 0 ? w->mesh_place : 8, 4);
    }
    size_t footer = w->off_calls > 0 ? w->length : 0;
    if (w->off_calls > 0) {
        PUT(0xf007fee7, 8);
        for (uint32_t i = 0; i < 2 * (DUMPI_END - 2); i++)
            PUT(i == DUMPI_END - 2 + w->off_function || i == 2 * (DUMPI_END - 2) - 1 ? w->off_calls
                                                                                     : 0,
                4);
    }
    size_t table = w->length;
    PUT(types, 4);
    for (uint32_t i = 0; i < types; i++)
        PUT(sizes[i], 4);
    dumpi_writer_bytes(w, magic, sizeof magic);
    size_t places[] = {types > 0 ? table : 0, 0, 0, header, 8, footer, 0};
    for (unsigned i = types > 0 ? 0 : 1; i < 7; i++) /* without sizes: the index of older files */
        PUT(places[i], 8);
}

void dumpi_writer_save(struct dumpi_writer *w, const char *path, size_t cut)
{
    FILE *file = fopen(path, "wbe");
    assert_non_null(file);
    size_t length = w->length > cut ? w->length - cut : 0;
    assert_int_equal(fwrite(w->bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    free(w->bytes);
    *w = (struct dumpi_writer){0};
}
