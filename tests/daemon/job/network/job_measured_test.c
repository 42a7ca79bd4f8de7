/* Measured loads of past windows, for those who come late. */
#include "daemon/job/network/job_measured.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static int keep(struct job_measured *m, uint64_t window, uint32_t links, uint64_t amount)
{
    struct wire_link_row *rows = calloc(links + 1, sizeof *rows);
    struct wire_links message = {.window = window, .links = rows, .links_count = links + 1};
    for (uint32_t i = 0; i < links; i++) /* not in their order */
        rows[i] = (struct wire_link_row){
            .link = links - 1 - i, .from = 1, .to = 2, .unit = 1, .measured = amount};
    rows[links] = (struct wire_link_row){.link = links, .measured = UINT64_MAX};
    int error = job_measured_add(m, &message);
    free(rows);
    return error;
}

static void windows_are_reported_one_by_one(void **state)
{
    (void)state;
    struct job_measured m = {0};
    struct wire_links out;
    assert_int_equal(job_measured_message(&m, 0, &out), 0);
    for (uint64_t w = 10; w < 20; w++)
        assert_int_equal(keep(&m, w, 5, w), 0);
    assert_int_equal(keep(&m, 19, 5, 1), 0); /* known already */
    for (size_t i = 0; i < 10; i++) {
        assert_int_equal(job_measured_message(&m, i, &out), 1);
        assert_true(out.window == 10 + i && out.links_count == 5);
        assert_true(out.links[4].link == 4 && out.links[4].measured == 10 + i &&
                    out.links[4].to == 2 && out.links[4].unit == 1);
    }
    assert_int_equal(job_measured_message(&m, 10, &out), 0);
    job_measured_finish(&m);
}

static void what_was_not_measured_takes_no_capacity(void **state)
{
    (void)state;
    struct job_measured m = {0};
    assert_int_equal(keep(&m, 1, 0, 0), 0);
    assert_int_equal(m.count, 0);
    job_measured_finish(&m);
}

static void old_windows_become_one_and_sums_stay(void **state)
{
    (void)state;
    struct job_measured m = {0};
    struct wire_links out;
    const uint32_t links = JOB_MEASURED_ROWS / 4;
    for (uint64_t w = 1; w <= 9; w++)
        assert_int_equal(keep(&m, w, links, w), 0);
    assert_true(m.rows <= JOB_MEASURED_ROWS && m.count == 4);
    uint64_t sum = 0;
    for (size_t i = 0; job_measured_message(&m, i, &out); i++) {
        assert_int_equal(out.links_count, links);
        sum += out.links[7].measured;
    }
    assert_int_equal(sum, 45);
    assert_int_equal(m.windows[0].window, 6);
    job_measured_finish(&m);
}

static void another_network_starts_from_scratch(void **state)
{
    (void)state;
    struct job_measured m = {0};
    struct wire_links out;
    job_measured_set_network(&m, 1);
    assert_int_equal(keep(&m, 5, 4, 1), 0);
    job_measured_set_network(&m, 1);
    assert_int_equal(keep(&m, 6, 4, 1), 0);
    assert_int_equal(m.count, 2);
    job_measured_set_network(&m, 2);
    assert_int_equal(job_measured_message(&m, 0, &out), 0);
    assert_int_equal(keep(&m, 7, 1, 1), 0);
    assert_true(m.count == 1 && m.rows == 1);
    job_measured_finish(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_are_reported_one_by_one),
        cmocka_unit_test(what_was_not_measured_takes_no_capacity),
        cmocka_unit_test(old_windows_become_one_and_sums_stay),
        cmocka_unit_test(another_network_starts_from_scratch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
