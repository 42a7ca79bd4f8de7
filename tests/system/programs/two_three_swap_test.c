#include "two_three_swap.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BYTES 1000u

/* Does what the plan says: image[r * BYTES + i] is what rank r has added up at byte i. */
static uint32_t *follow(const struct swap_plan *plan, uint32_t ranks)
{
    size_t all = (size_t)ranks * BYTES;
    uint32_t *image = malloc(all * sizeof(*image)), *before = malloc(all * sizeof(*before));
    for (uint32_t r = 0; r < ranks; r++)
        for (uint32_t i = 0; i < BYTES; i++)
            image[r * BYTES + i] = r + 1;
    for (size_t m = 0, stage = 0; stage < plan->stages; stage++) {
        memcpy(before, image, all * sizeof(*image));
        for (; m < plan->count && plan->messages[m].stage == stage; m++) {
            const struct swap_message *s = &plan->messages[m];
            for (uint64_t i = s->first; i < s->first + s->bytes; i++) {
                image[s->to * BYTES + i] += before[s->from * BYTES + i];
                image[s->from * BYTES + i] -= before[s->from * BYTES + i]; /* given away */
            }
        }
    }
    free(before);
    return image;
}

static void every_part_of_the_image_is_composed_once(void **state)
{
    (void)state;
    for (uint32_t ranks = 1; ranks <= 150; ranks++) {
        struct swap_plan plan;
        assert_int_equal(swap_plan_make(&plan, ranks, BYTES), 0);
        uint32_t *image = follow(&plan, ranks);
        for (uint32_t part = 0; part < ranks; part++)
            for (uint32_t r = 0; r < ranks; r++) {
                uint64_t i = swap_part(BYTES, part, ranks);
                for (; i < swap_part(BYTES, part + 1, ranks); i++)
                    assert_int_equal(image[r * BYTES + i],
                                     r == plan.owner[part] ? ranks * (ranks + 1) / 2 : 0);
            }
        free(image);
        swap_plan_finish(&plan);
    }
}

static void powers_of_two_are_binary_swap(void **state)
{
    (void)state;
    for (uint32_t ranks = 2, stages = 1; ranks <= 64; ranks *= 2, stages++) {
        struct swap_plan plan;
        assert_int_equal(swap_plan_make(&plan, ranks, 1 << 20), 0);
        assert_int_equal(plan.stages, stages);
        assert_int_equal(plan.count, ranks * stages);
        for (size_t m = 0; m < plan.count; m++) {
            const struct swap_message *s = &plan.messages[m];
            assert_int_equal(s->stage, m / ranks);
            assert_int_equal(s->from, m % ranks);
            assert_int_equal(s->to, s->from ^ 1u << s->stage);
            assert_int_equal(s->bytes, (1u << 20) >> (s->stage + 1));
        }
        swap_plan_finish(&plan);
    }
}

/* CommGram, section IV: 12 stages of about halving sizes. SC 2008: messages are bounded by N log N.
 */
static void as_many_stages_as_the_logarithm_each_with_about_half(void **state)
{
    static const uint32_t sizes[] = {3, 5, 7, 15, 17, 100, 1000, 4095, 4320, 6561};
    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        struct swap_plan plan;
        uint64_t bytes[32] = {0}, messages[32] = {0};
        uint32_t log2 = 31u - (uint32_t)__builtin_clz(sizes[i]);
        assert_int_equal(swap_plan_make(&plan, sizes[i], 1 << 30), 0);
        assert_int_equal(plan.stages, log2);
        for (size_t m = 0; m < plan.count; m++) {
            assert_true(plan.messages[m].stage < plan.stages);
            bytes[plan.messages[m].stage] += plan.messages[m].bytes;
            messages[plan.messages[m].stage]++;
        }
        for (uint32_t s = 0; s < plan.stages; s++) {
            assert_true(messages[s] > 0 && messages[s] <= 3ull * sizes[i]);
            if (s == 0)
                continue;
            /* Threes at one height only: that stage has less, the one before it more than half. */
            uint64_t least = sizes[i] == 4320 ? 45 : 20, most = sizes[i] == 4320 ? 55 : 60;
            assert_true(100 * bytes[s] >= least * bytes[s - 1]);
            assert_true(100 * bytes[s] <= most * bytes[s - 1]);
        }
        swap_plan_finish(&plan);
    }
}

static void sizes_out_of_range_are_refused(void **state)
{
    struct swap_plan plan;
    (void)state;
    assert_int_equal(swap_plan_make(&plan, 0, 10), -ERANGE);
    assert_int_equal(swap_plan_make(&plan, (1u << 24) + 1, 10), -ERANGE);
    assert_int_equal(swap_plan_make(&plan, 1, 10), 0);
    assert_int_equal(plan.count, 0);
    swap_plan_finish(&plan);
    assert_int_equal(swap_plan_make(&plan, 9, 0), 0);
    assert_int_equal(plan.count, 0);
    swap_plan_finish(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_part_of_the_image_is_composed_once),
        cmocka_unit_test(powers_of_two_are_binary_swap),
        cmocka_unit_test(as_many_stages_as_the_logarithm_each_with_about_half),
        cmocka_unit_test(sizes_out_of_range_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
