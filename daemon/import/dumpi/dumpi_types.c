/* Sizes of datatypes, predefined and derived ones: see dumpi_types.h. */
#include "daemon/import/dumpi/dumpi_types.h"

#include "daemon/analysis/tables/array.h"

#include <errno.h>
#include <stdlib.h>

#define UNKNOWN UINT64_MAX

/* Sizes of predefined types by handle, for files without a table (before 0.6.6, or truncated):
 * those of 64-bit machines. */
static const uint8_t predefined_sizes[DUMPI_TYPES_NAMED] = {
    0, 0, 1, 1, 1, 1, 4, 2, 2, 4, 4, 8, 8, 4, 8, 16, 8, 8, 8, 1, 0, 0, 8, 12, 12, 6, 8, 20};

/* @return count, or 0 if it is negative */
static uint64_t dumpi_types_natural(int64_t count)
{
    return count > 0 ? (uint64_t)count : 0;
}

static int dumpi_types_reserve(struct dumpi_types *types, uint32_t need)
{
    if (need <= types->capacity)
        return 0;
    uint32_t capacity = need < 64 ? 64 : need + need / 2;
    if (ARRAY_RESIZE(types->sizes, capacity) != 0)
        return -ENOMEM;
    while (types->capacity < capacity)
        types->sizes[types->capacity++] = UNKNOWN;
    return 0;
}

int dumpi_types_init(struct dumpi_types *types, const struct dumpi_file *file)
{
    *types = (struct dumpi_types){0};
    if (dumpi_types_reserve(types, file->type_count > DUMPI_TYPES_NAMED ? file->type_count
                                                                        : DUMPI_TYPES_NAMED) != 0)
        return -ENOMEM;
    for (uint32_t i = 0; i < DUMPI_TYPES_NAMED; i++)
        types->sizes[i] = predefined_sizes[i];
    for (uint32_t i = 0; i < file->type_count; i++)
        if (file->type_sizes[i] > 0)
            types->sizes[i] = (uint64_t)file->type_sizes[i];
    return 0;
}

void dumpi_types_finish(struct dumpi_types *types)
{
    free(types->sizes);
    *types = (struct dumpi_types){0};
}

uint64_t dumpi_type_size(const struct dumpi_types *types, int64_t type)
{
    uint32_t handle = (uint16_t)type;
    return handle < types->capacity && types->sizes[handle] != UNKNOWN ? types->sizes[handle] : 0;
}

uint64_t dumpi_type_bytes(const struct dumpi_types *types, int64_t count, int64_t type)
{
    return dumpi_bytes_product(dumpi_types_natural(count), dumpi_type_size(types, type));
}

/* ---- derived types ----------------------------------------------------------- */

/* Kinds of distribution, as DUMPI numbers them; all others are MPI_DISTRIBUTE_NONE. */
enum { BLOCK = 1, CYCLIC = 2 };

/* Number of elements along one dimension that a process holds (MPI 2.2, section 4.1.4,
 * MPI_TYPE_CREATE_DARRAY). */
static uint64_t dumpi_types_distributed(int64_t size, int64_t processes, int64_t process,
                                        int32_t kind, int64_t argument)
{
    if (size <= 0 || processes <= 0)
        return 0;
    if (kind != BLOCK && kind != CYCLIC)
        return (uint64_t)size;
    int64_t block = argument > 0    ? argument
                    : kind == BLOCK ? (size + processes - 1) / processes
                                    : 1;
    if (kind == BLOCK) {
        int64_t left = size - block * process;
        return dumpi_types_natural(left < block ? left : block);
    }
    int64_t round = block * processes, rest = size % round - block * process;
    rest = rest < 0 ? 0 : rest < block ? rest : block;
    return (uint64_t)(size / round * block + rest);
}

static uint64_t dumpi_types_darray_size(const struct dumpi_types *types,
                                        const struct dumpi_stream *s)
{
    int64_t rank = dumpi_value(s, 1), dimensions = dumpi_value(s, 3);
    uint64_t elements = 1;
    for (unsigned i = 4; i <= 6; i++)
        dimensions = dumpi_value(s, i) < dimensions ? dumpi_value(s, i) : dimensions;
    const int32_t *sizes = dumpi_words(s, 3), *kinds = dumpi_words(s, 4),
                  *arguments = dumpi_words(s, 5), *processes = dumpi_words(s, 6);
    for (int64_t i = dimensions; i-- > 0;) { /* ranks are in row-major order */
        int64_t along = processes[i] > 0 ? processes[i] : 1;
        int64_t place = rank >= 0 ? rank % along : 0;
        rank = rank >= 0 ? rank / along : 0;
        elements = dumpi_bytes_product(
            elements, dumpi_types_distributed(sizes[i], along, place, kinds[i], arguments[i]));
    }
    return dumpi_bytes_product(elements, dumpi_type_size(types, dumpi_value(s, 8)));
}

static uint64_t dumpi_types_sum_array(const struct dumpi_stream *s, unsigned array)
{
    uint64_t sum = 0;
    for (int64_t i = 0; i < dumpi_value(s, array); i++)
        sum = dumpi_bytes_sum(sum, dumpi_types_natural(dumpi_words(s, array)[i]));
    return sum;
}

static uint64_t dumpi_types_product_of(const struct dumpi_stream *s, unsigned array)
{
    uint64_t product = 1;
    for (int64_t i = 0; i < dumpi_value(s, array); i++)
        product = dumpi_bytes_product(product, dumpi_types_natural(dumpi_words(s, array)[i]));
    return product;
}

static uint64_t dumpi_types_struct_size(const struct dumpi_types *types,
                                        const struct dumpi_stream *s)
{
    int64_t count = dumpi_value(s, 1) < dumpi_value(s, 3) ? dumpi_value(s, 1) : dumpi_value(s, 3);
    uint64_t size = 0;
    for (int64_t i = 0; i < count; i++)
        size = dumpi_bytes_sum(size,
                               dumpi_type_bytes(types, dumpi_words(s, 1)[i], dumpi_words(s, 3)[i]));
    return size;
}

int dumpi_types_update(struct dumpi_types *types, const struct dumpi_stream *s)
{
    unsigned at = 4; /* index of the argument that is the new type */
    uint64_t size;
    switch (s->call.function) {
    case DUMPI_Type_contiguous:
        at = 2;
        size = dumpi_type_bytes(types, dumpi_value(s, 0), dumpi_value(s, 1));
        break;
    case DUMPI_Type_vector:
    case DUMPI_Type_hvector:
    case DUMPI_Type_create_hvector:
    case DUMPI_Type_create_indexed_block:
        size = dumpi_bytes_product(dumpi_types_natural(dumpi_value(s, 0)),
                                   dumpi_type_bytes(types, dumpi_value(s, 1), dumpi_value(s, 3)));
        break;
    case DUMPI_Type_indexed:
    case DUMPI_Type_hindexed:
    case DUMPI_Type_create_hindexed:
        size = dumpi_bytes_product(dumpi_types_sum_array(s, 1),
                                   dumpi_type_size(types, dumpi_value(s, 3)));
        break;
    case DUMPI_Type_struct:
    case DUMPI_Type_create_struct:
        size = dumpi_types_struct_size(types, s);
        break;
    case DUMPI_Type_create_subarray:
        at = 6;
        size = dumpi_bytes_product(dumpi_types_product_of(s, 2),
                                   dumpi_type_size(types, dumpi_value(s, 5)));
        break;
    case DUMPI_Type_create_darray:
        at = 9;
        size = dumpi_types_darray_size(types, s);
        break;
    case DUMPI_Type_create_resized:
    case DUMPI_Type_dup:
        at = s->call.function == DUMPI_Type_dup ? 1 : 3;
        size = dumpi_type_size(types, dumpi_value(s, 0));
        break;
    case DUMPI_Type_match_size:
    case DUMPI_Type_size:
        at = s->call.function == DUMPI_Type_size ? 0 : 2;
        size = dumpi_types_natural(dumpi_value(s, 1));
        break;
    default:
        return 0;
    }
    uint32_t handle = (uint16_t)dumpi_value(s, at);
    if (handle <= DUMPI_TYPE_NULL)
        return 0;
    if (dumpi_types_reserve(types, handle + 1) != 0)
        return -ENOMEM;
    types->sizes[handle] = size;
    return 0;
}
