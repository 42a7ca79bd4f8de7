/* What is read of a rank's process, from trees of files like those of /proc and /sys. */
#include "agent/host/process_meter.h"

#include "agent/host/self.h"
#include "tests/directory.h"

#include <errno.h>
#include <grp.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000000)
#define STATE                                                                                      \
    "7 (a (rank) b) %c 1 7 7 0 -1 4194304 %d 0 %d 0 %d %d 0 0 20 0 1 0 5 6 7 8 9 "                 \
    "10 11 12 13 14 15 16 17 18 19 20 17 3 0 0 %d 0 0\n"

struct bed {
    char root[DIRECTORY_ROOM];
    struct process_meter *meter;
    struct wire_process_row row;
};

static void put(const struct bed *bed, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", bed->root, name);
    for (char *at = path + strlen(bed->root) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        mkdir(path, 0700);
        *at = '/';
    }
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void put_process(const struct bed *bed, char state, int times, long queued)
{
    char text[512];
    snprintf(text, sizeof text, STATE, state, 10 * times, 2 * times, 50 * times, 5 * times, times);
    put(bed, "proc/7/task/7/stat", text);
    snprintf(text, sizeof text, "123456 %ld 9\n", queued);
    put(bed, "proc/7/task/7/schedstat", text);
    snprintf(text, sizeof text,
             "Name:\trank\nvoluntary_ctxt_switches:\t%d\nnonvoluntary_ctxt_switches:\t%d\n",
             4 * times, 3 * times);
    put(bed, "proc/7/task/7/status", text);
}

static void put_clock(const struct bed *bed, const char *khz)
{
    put(bed, "sys/devices/system/cpu/cpu3/cpufreq/scaling_cur_freq", khz);
}

static int make_bed(void **state)
{
    static struct bed bed;
    memset(&bed, 0, sizeof bed);
    *state = &bed;
    if (directory_make(bed.root) != 0)
        return -1;
    put_process(&bed, 'R', 1, 1000);
    return process_meter_open(&bed.meter, bed.root, 7);
}

static int remove_bed(void **state)
{
    struct bed *bed = *state;
    process_meter_close(bed->meter);
    return directory_remove(bed->root);
}

static int take(struct bed *bed, uint64_t seconds, uint64_t steal_ns)
{
    bed->row = (struct wire_process_row){.rank = 5};
    return process_meter_take(bed->meter, seconds * SECOND, steal_ns, &bed->row);
}

static void counts_are_those_since_the_last_row(void **state)
{
    struct bed *bed = *state;
    const uint64_t tick = SECOND / (uint64_t)sysconf(_SC_CLK_TCK);
    assert_int_equal(take(bed, 10, 100), 0);
    put_process(bed, 'S', 3, 6000);
    assert_int_equal(take(bed, 12, 150), 1);
    assert_int_equal(bed->row.rank, 5);
    assert_int_equal(bed->row.length_ns, 2 * SECOND);
    assert_int_equal(bed->row.user_ns, 100 * tick);
    assert_int_equal(bed->row.system_ns, 10 * tick);
    assert_int_equal(bed->row.queued_ns, 5000);
    assert_int_equal(bed->row.voluntary, 8);
    assert_int_equal(bed->row.involuntary, 6);
    assert_int_equal(bed->row.minor_faults, 20);
    assert_int_equal(bed->row.major_faults, 4);
    assert_int_equal(bed->row.block_ns, 2 * tick);
    assert_int_equal(bed->row.steal_ns, 50);
    assert_int_equal(take(bed, 13, 150), 1);
    assert_int_equal(bed->row.length_ns, SECOND);
    assert_int_equal(bed->row.queued_ns, 0);
}

static void switches_are_found_behind_a_list_of_many_groups(void **state)
{
    struct bed *bed = *state;
    static char text[12000];
    assert_int_equal(process_meter_take(bed->meter, SECOND, 0, &bed->row), 0);
    for (size_t groups = 3900; groups < 4400; groups++) {
        const int used = snprintf(text, sizeof text, "Name:\trank\nGroups:\t%0*d \nSeccomp:\t0\n",
                                  (int)groups * 2, 1);
        snprintf(text + used, sizeof text - (size_t)used,
                 "voluntary_ctxt_switches:\t%zu\nnonvoluntary_ctxt_switches:\t%zu\n", 5 * groups,
                 7 * groups);
        put(bed, "proc/7/task/7/status", text);
        assert_int_equal(process_meter_take(bed->meter, groups * SECOND, 0, &bed->row), 1);
        assert_int_equal(bed->row.voluntary, groups == 3900 ? 5 * 3900 - 4 : 5);
        assert_int_equal(bed->row.involuntary, groups == 3900 ? 7 * 3900 - 3 : 7);
    }
}

static void own_memory_is_found_behind_a_list_of_many_groups(void **state)
{
    static gid_t groups[1000];
    (void)state;
    for (unsigned i = 0; i < sizeof groups / sizeof *groups; i++)
        groups[i] = 100000 + i;
    if (setgroups(sizeof groups / sizeof *groups, groups) != 0)
        skip();
    assert_true(self_resident() > 0);
    assert_int_equal(setgroups(0, NULL), 0);
}

static void states_are_counted_in_samples(void **state)
{
    static const char states[] = "RTSDtDR";
    struct bed *bed = *state;
    take(bed, 10, 0);
    for (const char *s = states; *s != '\0'; s++) {
        put_process(bed, *s, 1, 1000);
        process_meter_sample(bed->meter);
    }
    assert_int_equal(take(bed, 11, 0), 1); /* one more */
    assert_int_equal(bed->row.samples, 8);
    assert_int_equal(bed->row.runnable, 3);
    assert_int_equal(bed->row.stopped, 2);
    assert_int_equal(bed->row.blocked, 2);
}

static void
a_process_that_was_on_its_core_all_the_time_is_looked_at_with_each_row_only(void **state)
{
    struct bed *bed = *state;
    const int ticks = (int)sysconf(_SC_CLK_TCK);
    take(bed, 10, 0);
    put_process(bed, 'R', 1 + ticks / 55 + 1,
                1000); /* 55 ticks each: a second of user and system */
    assert_int_equal(take(bed, 11, 0), 1);
    assert_int_equal(process_meter_state(bed->meter), 'R');
    put_process(bed, 'T', 1 + ticks / 55 + 1, 1000);
    process_meter_sample(bed->meter);
    assert_int_equal(take(bed, 12, 0), 1);
    assert_int_equal(bed->row.samples, 1);
    assert_int_equal(bed->row.stopped, 1);
    assert_int_equal(process_meter_state(bed->meter), 'T');
    process_meter_sample(bed->meter);
    assert_int_equal(take(bed, 13, 0), 1);
    assert_int_equal(bed->row.samples, 2);
}

static void the_clock_is_that_of_the_core_where_it_ran_last(void **state)
{
    struct bed *bed = *state;
    put_clock(bed, "2000000\n");
    take(bed, 10, 0);
    process_meter_sample(bed->meter);
    put_clock(bed, "3000000\n");
    process_meter_sample(bed->meter);
    put_process(bed, 'S', 1, 1000);
    assert_int_equal(take(bed, 11, 0), 1);
    assert_int_equal(bed->row.clock_khz, 2500000);
    assert_int_equal(take(bed, 12, 0), 1);
    assert_int_equal(bed->row.clock_khz, 2500000);
}

static void without_a_clock_or_schedstat_the_rest_is_known(void **state)
{
    struct bed *bed = *state, other = *bed;
    char path[512];
    snprintf(path, sizeof path, "%s/proc/7/task/7/schedstat", bed->root);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(process_meter_open(&other.meter, bed->root, 7), 0);
    take(&other, 10, 0);
    assert_int_equal(take(&other, 11, 0), 1);
    assert_int_equal(other.row.queued_ns, 0);
    assert_int_equal(other.row.clock_khz, 0);
    assert_int_equal(other.row.samples, 1);
    process_meter_close(other.meter);
}

static void nothing_is_known_of_what_is_not_there_or_makes_no_sense(void **state)
{
    struct bed *bed = *state;
    struct process_meter *other;
    assert_int_equal(process_meter_open(&other, bed->root, 8), -ENOENT);
    assert_int_equal(process_meter_take(NULL, 5, 0, &bed->row), 0);
    process_meter_sample(NULL);
    process_meter_close(NULL);
    assert_int_equal(take(bed, 10, 0), 0);
    put(bed, "proc/7/task/7/stat", "7 (rank");
    assert_int_equal(take(bed, 11, 0), 0);
    put(bed, "proc/7/task/7/stat", "");
    assert_int_equal(take(bed, 11, 0), 0);
    put_process(bed, 'R', 1, 10); /* less than before */
    assert_int_equal(take(bed, 12, 0), 1);
    assert_int_equal(bed->row.queued_ns, 0);
    assert_int_equal(take(bed, 12, 0), 0);
}

static struct core_times read_cores(const struct bed *bed)
{
    struct core_times times;
    core_times_read(&times, bed->root);
    return times;
}

static void stolen_time_is_the_mean_of_all_cores(void **state)
{
    struct bed *bed = *state;
    const uint64_t cores = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
    char text[128];
    assert_int_equal(read_cores(bed).steal_ns, 0);
    snprintf(text, sizeof text, "cpu  1 2 3 4 5 6 7 %llu 9 10\ncpu0 1 2 3\n",
             (unsigned long long)(30 * cores));
    put(bed, "proc/stat", text);
    assert_int_equal(read_cores(bed).steal_ns, 30 * (SECOND / (uint64_t)sysconf(_SC_CLK_TCK)));
    put(bed, "proc/stat", "something else\n");
    assert_int_equal(read_cores(bed).steal_ns, 0);
}

static void idle_time_is_that_of_the_cores_of_this_process(void **state)
{
    struct bed *bed = *state;
    const uint64_t tick = SECOND / (uint64_t)sysconf(_SC_CLK_TCK);
    cpu_set_t all, first;
    char text[256];
    unsigned core = 0;
    assert_int_equal(read_cores(bed).idle_ns, 0);
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    while (!CPU_ISSET(core, &all))
        core++;
    CPU_ZERO(&first);
    CPU_SET(core, &first);
    assert_int_equal(sched_setaffinity(0, sizeof first, &first), 0);
    snprintf(text, sizeof text,
             "cpu  1 2 3 900 900 6 7 8 9 10\ncpu%u 1 2 3 40 5 6 7 8\ncpu%u 1 2 3 70 7 1\nintr 1\n",
             core, core + 1);
    put(bed, "proc/stat", text);
    assert_int_equal(read_cores(bed).idle_ns, 45 * tick);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(counts_are_those_since_the_last_row, make_bed, remove_bed),
        cmocka_unit_test_setup_teardown(switches_are_found_behind_a_list_of_many_groups, make_bed,
                                        remove_bed),
        cmocka_unit_test(own_memory_is_found_behind_a_list_of_many_groups),
        cmocka_unit_test_setup_teardown(states_are_counted_in_samples, make_bed, remove_bed),
        cmocka_unit_test_setup_teardown(
            a_process_that_was_on_its_core_all_the_time_is_looked_at_with_each_row_only, make_bed,
            remove_bed),
        cmocka_unit_test_setup_teardown(the_clock_is_that_of_the_core_where_it_ran_last, make_bed,
                                        remove_bed),
        cmocka_unit_test_setup_teardown(without_a_clock_or_schedstat_the_rest_is_known, make_bed,
                                        remove_bed),
        cmocka_unit_test_setup_teardown(nothing_is_known_of_what_is_not_there_or_makes_no_sense,
                                        make_bed, remove_bed),
        cmocka_unit_test_setup_teardown(stolen_time_is_the_mean_of_all_cores, make_bed, remove_bed),
        cmocka_unit_test_setup_teardown(idle_time_is_that_of_the_cores_of_this_process, make_bed,
                                        remove_bed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
