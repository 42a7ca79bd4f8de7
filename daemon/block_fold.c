#include "daemon/block_fold.h"

#include "daemon/block_form.h"

#include <string.h>

static struct block_common fold(const uint64_t *restrict values, const uint64_t *restrict likely,
                                size_t count, uint64_t *restrict out)
{
    struct block_common c = {0, 0};
    uint64_t first = count == 0 ? 0 : block_fold(values[0] - likely[0]);
    for (size_t i = 0; i < count; i++) {
        uint64_t number = block_fold(values[i] - likely[i]);
        out[i] = number;
        c.all |= number;
        c.differ |= number ^ first;
    }
    return c;
}

static struct block_common fold_rest(const uint64_t *restrict values,
                                     const uint64_t *restrict likely, const uint64_t *restrict less,
                                     size_t count, uint64_t *restrict out)
{
    struct block_common c = {0, 0};
    uint64_t first = count == 0 ? 0 : block_fold(values[0] - (likely[0] - less[0]));
    for (size_t i = 0; i < count; i++) {
        uint64_t number = block_fold(values[i] - (likely[i] - less[i]));
        out[i] = number;
        c.all |= number;
        c.differ |= number ^ first;
    }
    return c;
}

static struct block_common fold_plain(const uint64_t *restrict values, size_t count,
                                      uint64_t *restrict out)
{
    struct block_common c = {0, 0};
    uint64_t first = count == 0 ? 0 : block_fold(values[0]);
    for (size_t i = 0; i < count; i++) {
        uint64_t number = block_fold(values[i]);
        out[i] = number;
        c.all |= number;
        c.differ |= number ^ first;
    }
    return c;
}

static struct block_common look(const uint64_t *values, size_t count)
{
    struct block_common c = {0, 0};
    uint64_t first = count == 0 ? 0 : values[0];
    for (size_t i = 0; i < count; i++) {
        c.all |= values[i];
        c.differ |= values[i] ^ first;
    }
    return c;
}

static void narrow(const uint64_t *restrict numbers, size_t count, uint8_t *restrict out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (uint8_t)numbers[i];
}

static void shrink(const uint64_t *restrict numbers, size_t count, unsigned width,
                   void *restrict out)
{
    uint16_t *two = out;
    uint32_t *four = out;
    if (width == 1)
        narrow(numbers, count, out);
    for (size_t i = 0; width == 2 && i < count; i++)
        two[i] = (uint16_t)numbers[i];
    for (size_t i = 0; width == 4 && i < count; i++)
        four[i] = (uint32_t)numbers[i];
    if (width == 8)
        memcpy(out, numbers, 8 * count);
}

static void grow(const void *restrict in, size_t count, unsigned width, uint64_t *restrict out)
{
    const uint8_t *one = in;
    const uint16_t *two = in;
    const uint32_t *four = in;
    uint64_t same;
    if (width == 0) {
        memcpy(&same, in, sizeof(same));
        for (size_t i = 0; i < count; i++)
            out[i] = same;
    }
    for (size_t i = 0; width == 1 && i < count; i++)
        out[i] = one[i];
    for (size_t i = 0; width == 2 && i < count; i++)
        out[i] = two[i];
    for (size_t i = 0; width == 4 && i < count; i++)
        out[i] = four[i];
    if (width == 8)
        memcpy(out, in, 8 * count);
}

#ifdef BLOCK_FOLD_AVX2
const struct block_loops block_loops_avx2 = {fold,   fold_rest, fold_plain, look,
                                             narrow, shrink,    grow};
#else
const struct block_loops *block_loops(void)
{
    static const struct block_loops any = {fold, fold_rest, fold_plain, look, narrow, shrink, grow};
#ifdef __x86_64__
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2"))
        return &block_loops_avx2;
#endif
    return &any;
}
#endif
