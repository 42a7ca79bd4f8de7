#include "daemon/storage/block/block_fold.h"

#include "daemon/storage/block/block_form.h"

#include <endian.h>
#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif
#include <string.h>

#define MOST_BITS 56u /* that are written at once, with 7 of a byte before them */

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

/* Seven bits in each byte, of a number below 2^56. */
static inline uint64_t spread(uint64_t n)
{
#ifdef __BMI2__
    return _pdep_u64(n, UINT64_C(0x7f7f7f7f7f7f7f7f));
#else
    n = (n & UINT64_C(0x000000000fffffff)) | (n & UINT64_C(0x00fffffff0000000)) << 4;
    n = (n & UINT64_C(0x00003fff00003fff)) | (n & UINT64_C(0x0fffc0000fffc000)) << 2;
    return (n & UINT64_C(0x007f007f007f007f)) | (n & UINT64_C(0x3f803f803f803f80)) << 1;
#endif
}

/* block_put() of a number below 2^56: eight bytes at once, as how many count nobody can foretell.
 */
static inline uint8_t *put_eight(uint8_t *out, uint64_t n)
{
    unsigned more = (63u - (unsigned)__builtin_clzll(n | 1)) * 37 >> 8; /* by 7 */
    n = htole64(spread(n) | (UINT64_C(0x8080808080808080) & ((UINT64_C(1) << 8 * more) - 1)));
    memcpy(out, &n, sizeof(n));
    return out + 1 + more;
}

/* Four numbers below 2^14, of one byte or two each, without a guess of which. */
static inline uint8_t *put_four(uint8_t *out, const uint64_t *n)
{
#ifdef __BMI2__
    const uint64_t ones = UINT64_C(0x0001000100010001);
    uint64_t all = n[0] | n[1] << 16 | n[2] << 32 | n[3] << 48;
    uint64_t high = (all & 0x3f80 * ones) << 1, more = (high + 0x7f00 * ones) >> 15 & ones;
    all = htole64(_pext_u64((all & 0x7f * ones) | high | more << 7, 0xff * ones | more * 0xff00));
    memcpy(out, &all, sizeof(all));
    return out + 4 + __builtin_popcountll(more);
#else
    for (size_t i = 0; i < 4; i++) {
        uint64_t more = n[i] >= 128;
        out[0] = (uint8_t)((n[i] & 127) | more << 7);
        out[1] = (uint8_t)(n[i] >> 7);
        out += 1 + more;
    }
    return out;
#endif
}

static uint8_t *put_bytes(const uint64_t *restrict numbers, size_t count, uint64_t all,
                          uint8_t *restrict out)
{
    size_t i = 0;
    if (all < 128) {
        narrow(numbers, count, out);
        return out + count;
    }
    for (; i + 4 <= count && all < UINT64_C(1) << 14; i += 4)
        out = put_four(out, numbers + i);
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

/* Bits behind those that are there: whole bytes of them are written. */
static inline void put_more(struct block_bits *b, uint64_t bits, unsigned count)
{
    uint64_t word = htole64(b->waiting | bits << b->filled);
    unsigned filled = b->filled + count;
    memcpy(b->at, &word, sizeof(word));
    b->at += filled / 8;
    /* 56 at most: a number has 54 bits left at most, and 7 were there */
    b->waiting = le64toh(word) >> (filled & ~7u);
    b->filled = filled % 8;
}

static inline uint64_t noise_of(uint64_t number, unsigned bits)
{
    return number & ((UINT64_C(1) << bits) - 1);
}

/* Two numbers at a time, as each waits for where the bits before it end. */
static void put_split(const uint64_t *restrict numbers, size_t count, uint8_t *restrict classes,
                      struct block_bits *out)
{
    struct block_bits b = *out;
    size_t i = 0;
    for (; i + 2 <= count; i += 2) {
        unsigned one = block_noise_bits(numbers[i]), other = block_noise_bits(numbers[i + 1]);
        uint64_t bits = noise_of(numbers[i], one), more = noise_of(numbers[i + 1], other);
        classes[i] = (uint8_t)block_class(numbers[i]);
        classes[i + 1] = (uint8_t)block_class(numbers[i + 1]);
        if (one + other <= MOST_BITS) {
            put_more(&b, bits | more << one, one + other);
        } else {
            put_more(&b, bits, one);
            put_more(&b, more, other);
        }
    }
    if (i < count) {
        classes[i] = (uint8_t)block_class(numbers[i]);
        unsigned one = block_noise_bits(numbers[i]);
        put_more(&b, noise_of(numbers[i], one), one);
    }
    *out = b;
}

#ifdef BLOCK_FOLD_AVX2
const struct block_loops block_loops_avx2 = {fold, fold_rest, fold_plain, look,
                                             grow, put_bytes, put_split};
#else
const struct block_loops block_loops_any = {fold, fold_rest, fold_plain, look,
                                            grow, put_bytes, put_split};

#ifdef __x86_64__
/* The first Zens have PEXT, and take hundreds of cycles for it. */
static int has_avx2(void)
{
    const unsigned lzcnt = 1u << 5; /* CPUID.80000001H:ECX, LZCNT or ABM */
    unsigned a, b, c, d;
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("popcnt") && !__builtin_cpu_is("amdfam17h") &&
           __get_cpuid(0x80000001, &a, &b, &c, &d) && (c & lzcnt) != 0;
}
#endif

const struct block_loops *block_loops(void)
{
#ifdef __x86_64__
    if (has_avx2())
        return &block_loops_avx2;
#endif
    return &block_loops_any;
}
#endif
