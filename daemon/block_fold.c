#include "daemon/block_fold.h"

#include "daemon/block_form.h"

#include <endian.h>
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

/* ---- writing ------------------------------------------------------------- */

/* Of one byte or two, without a guess of which. */
static uint8_t *put_two(const uint64_t *restrict numbers, size_t count, uint8_t *restrict out)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t n = numbers[i], more = n >= 128;
        out[0] = (uint8_t)((n & 127) | more << 7);
        out[1] = (uint8_t)(n >> 7);
        out += 1 + more;
    }
    return out;
}

/* block_put() of a number below 2^56: eight bytes at once, as how many count nobody can foretell. */
static inline uint8_t *put_eight(uint8_t *out, uint64_t n)
{
    unsigned more = (63u - (unsigned)__builtin_clzll(n | 1)) * 37 >> 8; /* by 7 */
    n = (n & UINT64_C(0x000000000fffffff)) | (n & UINT64_C(0x00fffffff0000000)) << 4;
    n = (n & UINT64_C(0x00003fff00003fff)) | (n & UINT64_C(0x0fffc0000fffc000)) << 2;
    n = (n & UINT64_C(0x007f007f007f007f)) | (n & UINT64_C(0x3f803f803f803f80)) << 1;
    n = htole64(n | (UINT64_C(0x8080808080808080) & ((UINT64_C(1) << 8 * more) - 1)));
    memcpy(out, &n, sizeof(n));
    return out + 1 + more;
}

static uint8_t *put_bytes(const uint64_t *restrict numbers, size_t count, uint64_t all,
                          uint8_t *restrict out)
{
    size_t i = 0;
    if (all < 128) {
        narrow(numbers, count, out);
        return out + count;
    }
    if (all < UINT64_C(1) << 14)
        return put_two(numbers, count, out);
    for (; i + 8 <= count && all < UINT64_C(1) << 56; i += 8) {
        const uint64_t *n = numbers + i;
        if ((n[0] | n[1] | n[2] | n[3] | n[4] | n[5] | n[6] | n[7]) < 128) { /* as most are */
            narrow(n, 8, out);
            out += 8;
            continue;
        }
        for (size_t b = 0; b < 8; b++)
            out = put_eight(out, n[b]);
    }
    for (; i < count; i++)
        out = block_put(out, numbers[i]);
    return out;
}

static void put_split(const uint64_t *restrict numbers, size_t count, uint8_t *restrict classes,
                      struct block_bits *b)
{
    uint64_t waiting = b->waiting, word;
    unsigned filled = b->filled;
    uint8_t *bits = b->at;
    for (size_t i = 0; i < count; i++) {
        unsigned more = block_noise_bits(numbers[i]);
        classes[i] = (uint8_t)block_class(numbers[i]);
        waiting |= (numbers[i] & ((UINT64_C(1) << more) - 1)) << filled;
        filled += more;
        word = htole64(waiting);
        memcpy(bits, &word, sizeof(word));
        bits += filled / 8;
        waiting >>=
            filled & ~7u; /* 56 at most: a number has 54 bits left at most, and 7 were there */
        filled %= 8;
    }
    *b = (struct block_bits){bits, waiting, filled};
}

#ifdef BLOCK_FOLD_AVX2
const struct block_loops block_loops_avx2 = {fold, fold_rest, fold_plain, look,
                                             grow, put_bytes, put_split};
#else
#ifdef __x86_64__
#include <cpuid.h>

static int has_avx2(void)
{
    const unsigned lzcnt = 1u << 5; /* CPUID.80000001H:ECX, LZCNT or ABM */
    unsigned a, b, c, d;
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
           __get_cpuid(0x80000001, &a, &b, &c, &d) && (c & lzcnt) != 0;
}
#endif

const struct block_loops *block_loops(void)
{
    static const struct block_loops any = {fold, fold_rest, fold_plain, look,
                                           grow, put_bytes, put_split};
#ifdef __x86_64__
    if (has_avx2())
        return &block_loops_avx2;
#endif
    return &any;
}
#endif
