#include "tests/daemon/import/dumpi/dumpi_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
// clang-format off
#include <cmocka.h>
// clang-format on

/* ---- names of values ------------------------------------------------------------- */

struct names {
    const char *type; /* in front of the field */
    const char *const *list;
    unsigned count;
    const char *other; /* above the list */
};

#define NAMES(list) list, sizeof(list) / sizeof((list)[0])

static const char *const types[] = {"MPI_DATATYPE_ERROR",
                                    "MPI_DATATYPE_NULL",
                                    "MPI_CHAR",
                                    "MPI_SIGNED_CHAR",
                                    "MPI_UNSIGNED_CHAR",
                                    "MPI_BYTE",
                                    "MPI_WCHAR",
                                    "MPI_SHORT",
                                    "MPI_UNSIGNED_SHORT",
                                    "MPI_INT",
                                    "MPI_UNSIGNED",
                                    "MPI_LONG",
                                    "MPI_UNSIGNED_LONG",
                                    "MPI_FLOAT",
                                    "MPI_DOUBLE",
                                    "MPI_LONG_DOUBLE",
                                    "MPI_LONG_LONG_INT",
                                    "MPI_UNSIGNED_LONG_LONG",
                                    "MPI_LONG_LONG",
                                    "MPI_PACKED",
                                    "MPI_LB",
                                    "MPI_UB",
                                    "MPI_FLOAT_INT",
                                    "MPI_DOUBLE_INT",
                                    "MPI_LONG_INT",
                                    "MPI_SHORT_INT",
                                    "MPI_2INT",
                                    "MPI_LONG_DOUBLE_INT"};
static const char *const operations[] = {"MPI_OP_ERROR", "MPI_MAX",     "MPI_MIN",    "MPI_SUM",
                                         "MPI_PROD",     "MPI_LAND",    "MPI_BAND",   "MPI_LOR",
                                         "MPI_BOR",      "MPI_LXOR",    "MPI_BXOR",   "MPI_MINLOC",
                                         "MPI_MAXLOC",   "MPI_REPLACE", "MPI_OP_NULL"};
static const char *const comms[] = {"MPI_COMM_ERROR", "MPI_COMM_NULL", "MPI_COMM_WORLD",
                                    "MPI_COMM_SELF"};
static const char *const groups[] = {"MPI_GROUP_ERROR", "MPI_GROUP_NULL", "MPI_GROUP_EMPTY"};

static const struct names names_of[] = {
    [DUMPI_KIND_TYPE] = {"MPI_Datatype", NAMES(types), "user-defined-datatype"},
    [DUMPI_KIND_OP] = {"MPI_Op", NAMES(operations), "user-defined-op"},
    [DUMPI_KIND_COMM] = {"MPI_Comm", NAMES(comms), "user-defined-comm"},
    [DUMPI_KIND_GROUP] = {"MPI_Group", NAMES(groups), "user-defined-group"},
};

static const char *name_of(unsigned kind, int64_t value)
{
    const struct names *names = &names_of[kind];
    return value >= 0 && value < names->count ? names->list[value] : names->other;
}

/* ---- fields ----------------------------------------------------------------------- */

static void print_statuses(FILE *out, const struct dumpi_stream *stream, unsigned n)
{
    const struct dumpi_status *all = dumpi_statuses(stream, n);
    int64_t count = dumpi_value(stream, n);
    for (int64_t i = 0; i < count; i++)
        fprintf(out, "%s{bytes=%d, cancelled=%d, source=%d, tag=%d, error=%d}", i == 0 ? "[" : ", ",
                all[i].bytes, all[i].cancelled, all[i].source, all[i].tag, all[i].error);
    fputs(count > 0 ? "]\n" : "<IGNORED>\n", out);
}

static void print_numbers(FILE *out, const int32_t *numbers, int64_t count)
{
    fputc('[', out);
    for (int64_t i = 0; i < count; i++)
        fprintf(out, "%s%d", i == 0 ? "" : ", ", numbers[i]);
    fputs("]\n", out);
}

static void print_strings(FILE *out, const char *text, int64_t count)
{
    fputc('[', out);
    for (int64_t i = 0; i < count; i++, text += strlen(text) + 1)
        fprintf(out, "%s\"%s\"", i == 0 ? "" : ", ", text);
    fputs("]\n", out);
}

static void print_array(FILE *out, const struct dumpi_stream *stream,
                        const struct dumpi_field *field, unsigned n)
{
    int64_t count = dumpi_value(stream, n);
    const char *type = field->kind == DUMPI_KIND_REQUESTS ? "MPI_Request"
                       : field->kind == DUMPI_KIND_TYPES  ? "MPI_Datatype"
                                                          : "int";
    switch (field->kind) {
    case DUMPI_KIND_STATUSES:
        fprintf(out, "MPI_Status %s[%d]=", field->name, (int)count);
        print_statuses(out, stream, n);
        break;
    case DUMPI_KIND_ARGV:
        fprintf(out, "string %s[%d]=", field->name, (int)count);
        print_strings(out, dumpi_text(stream, n), count);
        break;
    case DUMPI_KIND_STRING:
        fprintf(out, "string %s=\"%s\"\n", field->name, dumpi_text(stream, n));
        break;
    case DUMPI_KIND_SKIP_BEFORE_0_6_2:
        break;
    default:
        fprintf(out, "%s %s[%d]=", type, field->name, (int)count);
        print_numbers(out, dumpi_words(stream, n), count);
        break;
    }
}

static void print_field(FILE *out, const struct dumpi_stream *stream,
                        const struct dumpi_field *field, unsigned n)
{
    int64_t value = dumpi_value(stream, n);
    switch (field->kind) {
    case DUMPI_KIND_INT:
    case DUMPI_KIND_DEST:
    case DUMPI_KIND_SOURCE:
    case DUMPI_KIND_TAG:
        fprintf(out, "int %s=%d%s\n", field->name, (int)value,
                field->kind == DUMPI_KIND_SOURCE && value == DUMPI_ANY_SOURCE ? " (MPI_ANY_SOURCE)"
                : field->kind == DUMPI_KIND_TAG && value == DUMPI_ANY_TAG     ? " (MPI_ANY_TAG)"
                                                                              : "");
        break;
    case DUMPI_KIND_REQUEST:
        fprintf(out, "MPI_Request %s=[%d]\n", field->name, (int)value);
        break;
    case DUMPI_KIND_STATUS:
        fprintf(out, "MPI_Status %s=", field->name);
        print_statuses(out, stream, n);
        break;
    case DUMPI_KIND_TYPE:
    case DUMPI_KIND_OP:
    case DUMPI_KIND_COMM:
    case DUMPI_KIND_GROUP:
        fprintf(out, "%s %s=%d (%s)\n", names_of[field->kind].type, field->name, (int)value,
                name_of(field->kind, value));
        break;
    default:
        print_array(out, stream, field, n);
        break;
    }
}

static void print_call(FILE *out, const struct dumpi_stream *stream)
{
    const struct dumpi_call *call = &stream->call;
    const struct dumpi_layout *layout = dumpi_layout(call->function);
    fprintf(out, "%s entering at walltime %d.%09d, cputime %d.%09d seconds in thread %d.\n",
            layout->name, (int)call->wall.start_s, call->wall.start_ns, (int)call->cpu.start_s,
            call->cpu.start_ns, call->thread);
    unsigned n = 0;
    for (const struct dumpi_field *field = layout->fields; field->kind != DUMPI_KIND_NONE; field++)
        if (field->kind != DUMPI_KIND_IF_EQUAL)
            print_field(out, stream, field, n++);
    fprintf(out, "%s returning at walltime %d.%09d, cputime %d.%09d seconds in thread %d.\n",
            layout->name, (int)call->wall.stop_s, call->wall.stop_ns, (int)call->cpu.stop_s,
            call->cpu.stop_ns, call->thread);
}

/* ---- files ------------------------------------------------------------------------ */

unsigned dumpi_text_calls(FILE *out, const struct dumpi_file *file)
{
    struct dumpi_stream stream;
    unsigned count = 0;
    assert_int_equal(dumpi_stream_init(&stream, file, 4096), 0);
    for (; dumpi_stream_next(&stream) == 1; count++)
        print_call(out, &stream);
    assert_int_equal(stream.outcome.ending, DUMPI_ENDED);
    assert_int_equal(stream.outcome.unknown, 0);
    dumpi_stream_finish(&stream);
    return count;
}

static void print_header(FILE *out, const struct dumpi_file *file)
{
    const uint8_t *version = file->version.part;
    time_t start = (time_t)file->start_s;
    fprintf(out, "version=%d.%d.%d\nstarttime=%shostname=%s\nusername=%s\nmeshdim=%u\n", version[0],
            version[1], version[2], ctime(&start), file->host, file->user, file->mesh_dimensions);
    fputs("meshsize=", out);
    print_numbers(out, file->mesh_size, file->mesh_dimensions);
    fputs("meshcrd=", out);
    print_numbers(out, file->mesh_place, file->mesh_dimensions);
}

void dumpi_text_all(FILE *out, const struct dumpi_file *file)
{
    print_header(out, file);
    dumpi_text_calls(out, file);
    fputs("Total keyvals: 0\n", out);
    for (uint32_t i = 0; i < file->call_count; i++)
        fprintf(out, "%s called %u times and ignored %u times\n",
                i < DUMPI_FUNCTIONS ? dumpi_layout(i)->name : "MPI_ALL_FUNCTIONS", file->calls[i],
                file->calls_left_out[i]);
    fputs("Performance counters: 0\n", out);
    for (uint32_t i = 0; i < file->type_count; i++)
        fprintf(out, "Datatype %u (%s) has size %d\n", i, name_of(DUMPI_KIND_TYPE, i),
                file->type_sizes[i]);
}
