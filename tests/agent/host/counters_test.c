/* Counts of network interfaces, from trees of files like those of /sys, and from /sys itself. */
#include "agent/host/counters.h"

#include "tests/directory.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000000)

struct bed {
    char root[DIRECTORY_ROOM];
    struct counters *counters;
    struct counters_mark mark;
    struct wire_counter_row rows[MAXIMUM_INTERFACES];
    uint64_t count, now_ns;
};

/* ---- the tree -------------------------------------------------------------------------------- */

static void make_parents(char *path)
{
    for (char *at = strchr(path + 1, '/'); at != NULL; at = strchr(at + 1, '/')) {
        *at = '\0';
        mkdir(path, 0700);
        *at = '/';
    }
}

static void path_of(const struct bed *bed, char path[512], const char *format, va_list values)
{
    char tail[400];
    vsnprintf(tail, sizeof tail, format, values);
    snprintf(path, 512, "%s/%s", bed->root, tail);
}

/* A file of the tree; what it had before is overwritten in place, as the kernel does. */
static void put(const struct bed *bed, const char *text, const char *format, ...)
{
    char path[512];
    va_list values;
    va_start(values, format);
    path_of(bed, path, format, values);
    va_end(values);
    make_parents(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static void put_count(const struct bed *bed, uint64_t count, const char *path)
{
    char text[32];
    snprintf(text, sizeof text, "%llu\n", (unsigned long long)count);
    put(bed, text, "%s", path);
}

static void take_away(const struct bed *bed, const char *path)
{
    char whole[512];
    snprintf(whole, sizeof whole, "%s/%s", bed->root, path);
    assert_int_equal(directory_remove(whole), 0);
}

static void put_net_counts(const struct bed *bed, const char *name, uint64_t sent,
                           uint64_t received, uint64_t dropped)
{
    char path[200];
    const struct {
        const char *name;
        uint64_t count;
    } files[] = {{"tx_bytes", sent},      {"rx_bytes", received}, {"tx_dropped", dropped},
                 {"rx_dropped", dropped}, {"tx_errors", dropped}, {"rx_errors", dropped}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "class/net/%s/statistics/%s", name, files[i].name);
        put_count(bed, files[i].count, path);
    }
}

static void put_net(const struct bed *bed, const char *name, int is_card)
{
    put(bed, "1\n", "class/net/%s/type", name);
    put(bed, "0x1003\n", "class/net/%s/flags", name);
    put(bed, "up\n", "class/net/%s/operstate", name);
    put(bed, "10000\n", "class/net/%s/speed", name);
    if (is_card)
        put(bed, "", "class/net/%s/device/driver", name);
    put_net_counts(bed, name, 1000, 2000, 0);
}

static void put_port_counts(const struct bed *bed, const char *port, uint64_t sent,
                            uint64_t received, uint64_t dropped)
{
    char path[200];
    const struct {
        const char *name;
        uint64_t count;
    } files[] = {{"port_xmit_data", sent},
                 {"port_rcv_data", received},
                 {"port_xmit_discards", dropped},
                 {"port_rcv_errors", dropped}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "class/infiniband/%s/counters/%s", port, files[i].name);
        put_count(bed, files[i].count, path);
    }
}

static void put_port(const struct bed *bed, const char *port)
{
    put(bed, "4: ACTIVE\n", "class/infiniband/%s/state", port);
    put(bed, "100 Gb/sec (4X EDR)\n", "class/infiniband/%s/rate", port);
    put_port_counts(bed, port, 1000, 2000, 0);
}

static int set_up(void **state)
{
    struct bed *bed = calloc(1, sizeof *bed);
    if (bed == NULL || directory_make(bed->root) != 0 ||
        counters_create(&bed->counters, bed->root, 0) != 0)
        return -1;
    bed->now_ns = 100 * SECOND;
    *state = bed;
    return 0;
}

static int tear_down(void **state)
{
    struct bed *bed = *state;
    counters_destroy(bed->counters);
    directory_remove(bed->root);
    free(bed);
    return 0;
}

/* A window ends: the counters that are reported of it. */
static void next(struct bed *bed)
{
    bed->now_ns += SECOND;
    counters_read(bed->counters, bed->now_ns);
    bed->count = counters_since(bed->counters, &bed->mark, bed->rows);
    counters_mark(bed->counters, &bed->mark);
}

/* So many windows, until directories are looked at again. */
static void next_look(struct bed *bed)
{
    for (unsigned i = 0; i < COUNTERS_LOOK_EVERY; i++)
        next(bed);
}

static const struct wire_counter_row *row_of(const struct bed *bed, const char *name)
{
    for (uint64_t i = 0; i < bed->count; i++)
        if (strcmp(bed->rows[i].name, name) == 0)
            return &bed->rows[i];
    return NULL;
}

static void assert_row(const struct bed *bed, const char *name, uint64_t sent, uint64_t received,
                       uint64_t dropped)
{
    const struct wire_counter_row *row = row_of(bed, name);
    if (row == NULL)
        fail_msg("no row of %s", name);
    assert_int_equal(row->sent, sent);
    assert_int_equal(row->received, received);
    assert_int_equal(row->dropped, dropped);
}

/* ---- each medium ----------------------------------------------------------------------------- */

static void bytes_of_ethernet_are_reported_from_reading_to_reading(void **state)
{
    struct bed *bed = *state;
    put_net(bed, "eth0", 1);
    next(bed);
    assert_int_equal(bed->count, 0); /* nothing to compare with yet */
    put_net_counts(bed, "eth0", 5000, 2500, 3);
    next(bed);
    assert_int_equal(bed->count, 1);
    assert_row(bed, "eth0", 4000, 500, 12);
    assert_int_equal(bed->rows[0].medium, COUNTER_ETHERNET);
    assert_int_equal(bed->rows[0].unit, 0);
    assert_int_equal(bed->rows[0].speed, UINT64_C(1250000000));
    assert_int_equal(bed->rows[0].length_ns, SECOND);
    next(bed);
    assert_row(bed, "eth0", 0, 0, 0);
}

static void words_of_infiniband_are_reported_as_bytes(void **state)
{
    struct bed *bed = *state;
    put_port(bed, "mlx5_0/ports/1");
    put_port(bed, "mlx5_0/ports/2");
    put(bed, "1: DOWN\n", "class/infiniband/mlx5_0/ports/2/state");
    next(bed);
    put_port_counts(bed, "mlx5_0/ports/1", 1010, 2001, 4);
    next(bed);
    assert_int_equal(bed->count, 1);
    assert_row(bed, "mlx5_0/1", 40, 4, 32);
    assert_int_equal(bed->rows[0].medium, COUNTER_INFINIBAND);
    assert_int_equal(bed->rows[0].speed, UINT64_C(12500000000));
}

static void wide_counts_of_old_infiniband_drivers_go_before_narrow_ones(void **state)
{
    struct bed *bed = *state;
    put_port(bed, "mlx4_0/ports/1");
    put(bed, "4294967290\n", "class/infiniband/mlx4_0/ports/1/counters_ext/port_xmit_data_64");
    put(bed, "70\n", "class/infiniband/mlx4_0/ports/1/counters_ext/port_rcv_data_64");
    next(bed);
    put(bed, "4294967300\n", "class/infiniband/mlx4_0/ports/1/counters_ext/port_xmit_data_64");
    put(bed, "75\n", "class/infiniband/mlx4_0/ports/1/counters_ext/port_rcv_data_64");
    put_port_counts(bed, "mlx4_0/ports/1", UINT32_MAX, UINT32_MAX, 0);
    next(bed);
    assert_row(bed, "mlx4_0/1", 40, 20, 0);
}

static void octets_of_slingshot_stand_before_a_time_stamp(void **state)
{
    struct bed *bed = *state;
    put(bed, "1000@1690000000.000000001\n", "class/cxi/cxi0/device/telemetry/hni_sts_tx_ok_octets");
    put(bed, "7@1690000000.000000001", "class/cxi/cxi0/device/telemetry/hni_sts_rx_ok_octets");
    put(bed, "1@1690000000.0\n", "class/cxi/cxi0/device/telemetry/hni_discard_cntr_0");
    put(bed, "1@1690000000.0\n", "class/cxi/cxi0/device/telemetry/hni_discard_cntr_7");
    put(bed, "ck400G\n", "class/cxi/cxi0/device/port/0/link/speed");
    next(bed);
    put(bed, "1500@1690000001.000000001\n", "class/cxi/cxi0/device/telemetry/hni_sts_tx_ok_octets");
    put(bed, "10@1690000001.5", "class/cxi/cxi0/device/telemetry/hni_sts_rx_ok_octets");
    put(bed, "3@1690000001.0\n", "class/cxi/cxi0/device/telemetry/hni_discard_cntr_0");
    put(bed, "4@1690000001.0\n", "class/cxi/cxi0/device/telemetry/hni_discard_cntr_7");
    next(bed);
    assert_row(bed, "cxi0", 500, 3, 5);
    assert_int_equal(bed->rows[0].medium, COUNTER_SLINGSHOT);
    assert_int_equal(bed->rows[0].unit, 0);
    assert_int_equal(bed->rows[0].speed, UINT64_C(50000000000));
}

static void slingshot_without_octets_is_reported_in_packets(void **state)
{
    struct bed *bed = *state;
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned class = 0; class < 8; class ++) {
            char text[64];
            snprintf(text, sizeof text, "%u@16900000%02u.5\n", 10 + round * (class + 1), round);
            put(bed, text, "class/cxi/cxi1/device/telemetry/hni_pkts_sent_by_tc_%u", class);
            snprintf(text, sizeof text, "%u@16900000%02u.5\n", 10 + round, round);
            put(bed, text, "class/cxi/cxi1/device/telemetry/hni_pkts_recv_by_tc_%u", class);
        }
        next(bed);
    }
    assert_row(bed, "cxi1", 36, 8, 0);
    assert_int_equal(bed->rows[0].unit, 1);
    assert_int_equal(bed->rows[0].speed, 0);
}

static void only_interfaces_that_carry_bytes_of_their_own_are_watched(void **state)
{
    struct bed *bed = *state;
    put_net(bed, "lo", 0);
    put(bed, "772\n", "class/net/lo/type");
    put_net(bed, "eth0", 1);
    put_net(bed, "eth1", 1);
    put(bed, "down\n", "class/net/eth1/operstate");
    put_net(bed, "eth2", 1);
    put(bed, "0x1002\n", "class/net/eth2/flags");
    put_net(bed, "veth7", 0);
    put_net(bed, "veth8", 0); /* of a container here */
    put(bed, "", "class/net/veth8/master/name");
    put_net(bed, "br0", 0);
    put(bed, "", "class/net/br0/bridge/name");
    put_net(bed, "bond0", 0);
    put(bed, "", "class/net/bond0/lower_eth0/name");
    put_net(bed, "eth0.5", 0);
    put(bed, "", "class/net/eth0.5/lower_eth0/name");
    put_net(bed, "tap0", 0);
    put(bed, "0x1002\n", "class/net/tap0/tun_flags");
    put_net(bed, "wg0", 0);
    put(bed, "65534\n", "class/net/wg0/type");
    next(bed);
    next(bed);
    assert_int_equal(bed->count, 2);
    assert_non_null(row_of(bed, "eth0"));
    assert_non_null(row_of(bed, "veth7"));
    assert_int_equal(row_of(bed, "veth7")->speed, 0); /* its speed is made up */
}

static void where_nothing_else_is_other_interfaces_are_watched(void **state)
{
    struct bed *bed = *state;
    put_net(bed, "tap0", 0);
    put(bed, "0x1002\n", "class/net/tap0/tun_flags");
    put(bed, "unknown\n", "class/net/tap0/operstate");
    next(bed);
    next(bed);
    assert_int_equal(bed->count, 1);
    assert_non_null(row_of(bed, "tap0"));
}

static void no_more_interfaces_are_watched_than_the_maximum(void **state)
{
    struct bed *bed = *state;
    char name[16];
    for (unsigned i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "veth%02u", i);
        put_net(bed, name, 0);
    }
    put_net(bed, "zcard", 1);
    put_port(bed, "mlx5_0/ports/1");
    next(bed);
    next(bed);
    assert_int_equal(bed->count, MAXIMUM_INTERFACES);
    assert_non_null(row_of(bed, "zcard"));
    assert_non_null(row_of(bed, "mlx5_0/1"));
    assert_non_null(row_of(bed, "veth00"));
    assert_null(row_of(bed, "veth99"));
    next_look(bed);
    assert_int_equal(bed->count, MAXIMUM_INTERFACES);
}

static void of_a_node_without_any_nothing_is_reported(void **state)
{
    struct bed *bed = *state;
    next(bed);
    next(bed);
    assert_int_equal(bed->count, 0);
    struct counters *none;
    assert_int_equal(counters_create(&none, "/nowhere/at/all", 0), 0);
    counters_read(none, SECOND);
    counters_destroy(none);
    counters_destroy(NULL);
}

/* ---- what happens to counts ------------------------------------------------------------------ */

static void counts_that_go_round_go_on(void **state)
{
    struct bed *bed = *state;
    put_net(bed, "eth0", 1);
    put_net_counts(bed, "eth0", UINT32_MAX - 99, UINT64_C(1) << 40, 0);
    next(bed);
    put_net_counts(bed, "eth0", 100, (UINT64_C(1) << 40) + 5, 0);
    next(bed);
    assert_row(bed, "eth0", 200, 5, 0);
}

static void counts_that_are_set_back_restart(void **state)
{
    struct bed *bed = *state;
    put_net(bed, "eth0", 1);
    put_net_counts(bed, "eth0", 5000, UINT64_C(1) << 40, 50);
    next(bed);
    put_net_counts(bed, "eth0", 10, 20, 5);
    next(bed);
    assert_row(bed, "eth0", 0, 0, 0);
    put_net_counts(bed, "eth0", 15, 30, 6);
    next(bed);
    assert_row(bed, "eth0", 5, 10, 4);
}

static void a_count_at_its_maximum_is_ignored(void **state)
{
    struct bed *bed = *state;
    put_port(bed, "mlx4_0/ports/1");
    next(bed);
    put_port_counts(bed, "mlx4_0/ports/1", UINT32_MAX, 2010, 0);
    next(bed);
    assert_int_equal(bed->count, 0);
    put_port_counts(bed, "mlx4_0/ports/1", UINT32_MAX, 2020, 0);
    next(bed);
    assert_int_equal(bed->count, 0);
    put_port_counts(bed, "mlx4_0/ports/1", 3, 4, 0); /* somebody cleared them */
    next(bed);
    assert_row(bed, "mlx4_0/1", 0, 0, 0);
    put_port_counts(bed, "mlx4_0/ports/1", 5, 5, 0);
    next(bed);
    assert_row(bed, "mlx4_0/1", 8, 4, 0);
}

static void an_interface_that_comes_back_is_a_new_one(void **state)
{
    struct bed *bed = *state;
    put_net(bed, "eth0", 1);
    put_net(bed, "eth1", 1);
    next(bed);
    next(bed);
    assert_int_equal(bed->count, 2);
    put(bed, "gone\n", "class/net/eth0/statistics/tx_bytes"); /* as a read that fails */
    take_away(bed, "class/net/eth0");
    next(bed);
    next_look(bed);
    assert_int_equal(bed->count, 1);
    assert_non_null(row_of(bed, "eth1"));
    put_net(bed, "eth0", 1);
    put_net_counts(bed, "eth0", 900000, 900000, 0);
    next_look(bed);
    put_net_counts(bed, "eth0", 900001, 900002, 0);
    next(bed);
    assert_row(bed, "eth0", 1, 2, 0);
    assert_int_equal(bed->count, 2);
}

static void an_interface_that_cannot_be_read_is_looked_for_at_once(void **state)
{
    struct bed *bed = *state;
    put_net(bed, "eth0", 1);
    next(bed);
    next(bed);
    put(bed, "?\n", "class/net/eth0/statistics/rx_bytes");
    next(bed);
    assert_int_equal(bed->count, 0);
    put_net_counts(bed, "eth0", 50, 60, 0);
    next(bed);
    put_net_counts(bed, "eth0", 51, 62, 0);
    next(bed);
    assert_row(bed, "eth0", 1, 2, 0);
}

static void interfaces_that_come_are_found(void **state)
{
    struct bed *bed = *state;
    next(bed);
    put_net(bed, "eth0", 1);
    next_look(bed);
    put_net_counts(bed, "eth0", 1007, 2000, 0);
    next(bed);
    assert_row(bed, "eth0", 7, 0, 0);
}

/* Drops are reported as long as they can be read; bytes are reported without them, too. */
static void an_interface_whose_drops_cannot_be_read_is_counted_all_the_same(void **state)
{
    struct bed *bed = *state;
    put_net(bed, "eth0", 1);
    next(bed);
    put(bed, "?", "class/net/eth0/statistics/tx_errors");
    put(bed, "9", "class/net/eth0/statistics/tx_dropped");
    put(bed, "1001", "class/net/eth0/statistics/tx_bytes");
    next(bed);
    assert_row(bed, "eth0", 1, 0, 9);
}

static void each_job_gets_what_was_counted_since_its_own_report(void **state)
{
    struct bed *bed = *state;
    struct counters_mark other;
    put_net(bed, "eth0", 1);
    next(bed);
    counters_mark(bed->counters, &other);
    for (uint64_t i = 1; i <= 3; i++) {
        put_net_counts(bed, "eth0", 1000 + 10 * i, 2000, 0);
        next(bed);
        assert_row(bed, "eth0", 10, 0, 0);
    }
    bed->count = counters_since(bed->counters, &other, bed->rows);
    assert_row(bed, "eth0", 30, 0, 0);
    assert_int_equal(bed->rows[0].length_ns, 3 * SECOND);
    bed->count = counters_since(bed->counters, &bed->mark, bed->rows);
    assert_int_equal(bed->count, 0); /* no time has passed */
}

static void what_is_no_count_is_no_interface(void **state)
{
    static const char *const texts[] = {
        "",
        "\n",
        "-1\n",
        "+1\n",
        " 1\n",
        "nan\n",
        "0x10\n",
        "1.5\n",
        "18446744073709551616\n",
        "99999999999999999999999999999999999999999999999999999999999999999999999999999999\n",
        "1;2",
    };
    struct bed *bed = *state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        put_net(bed, "eth0", 1);
        put(bed, texts[i], "class/net/eth0/statistics/tx_bytes");
        next(bed);
        next(bed);
        assert_int_equal(bed->count, 0);
    }
}

static void files_that_are_none_are_not_waited_for(void **state)
{
    struct bed *bed = *state;
    char path[512];
    put_net(bed, "eth0", 1);
    take_away(bed, "class/net/eth0/statistics/tx_bytes");
    snprintf(path, sizeof path, "%s/class/net/eth0/statistics/tx_bytes", bed->root);
    assert_int_equal(mkfifo(path, 0600), 0);
    put_net(bed, "eth1", 1);
    take_away(bed, "class/net/eth1/statistics/tx_bytes");
    put(bed, "", "class/net/eth1/statistics/tx_bytes/deep");
    put(bed, "", "class/net/eth2"); /* no directory, as bonding_masters is none */
    put_net(bed, "eth3", 1);
    next(bed);
    next(bed);
    assert_int_equal(bed->count, 1);
    assert_non_null(row_of(bed, "eth3"));
}

static void names_that_would_steer_a_terminal_are_left_out(void **state)
{
    struct bed *bed = *state;
    put_net(bed, "eth\033[0m", 1);
    put_net(bed, "eth\xff", 1);
    put_net(bed, "a-name-of-more-than-sixty-four-bytes-that-no-interface-can-really-have", 1);
    put_port(bed, "a-device-with-a-name-so-long-that-with-its-port-it-exceeds-it/ports/11111");
    put_port(bed, "mlx5_0/ports/1");
    next(bed);
    next(bed);
    assert_int_equal(bed->count, 1);
    assert_non_null(row_of(bed, "mlx5_0/1"));
}

static void speeds_that_make_no_sense_are_not_known(void **state)
{
    static const char *const texts[] = {"",    "-1\n",  "nan Gb/sec\n", "1e300 Gb/sec\n",
                                        "G\n", "inf\n", "4294967295\n"};
    struct bed *bed = *state;
    put_net(bed, "eth0", 1);
    put_port(bed, "mlx5_0/ports/1");
    put(bed, "1", "class/cxi/cxi0/device/telemetry/hni_sts_tx_ok_octets");
    put(bed, "1", "class/cxi/cxi0/device/telemetry/hni_sts_rx_ok_octets");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        put(bed, texts[i], "class/net/eth0/speed");
        put(bed, texts[i], "class/infiniband/mlx5_0/ports/1/rate");
        put(bed, texts[i], "class/cxi/cxi0/device/port/0/link/speed");
        next_look(bed);
        next(bed);
        assert_int_equal(bed->count, 3);
        for (uint64_t k = 0; k < bed->count; k++)
            assert_int_equal(bed->rows[k].speed, 0);
    }
}

static void interfaces_of_this_machine_are_counted(void **state)
{
    struct bed *bed = *state;
    struct counters *real;
    assert_int_equal(counters_create(&real, "/sys", 1), 0);
    counters_read(real, SECOND);
    struct counters_mark mark;
    counters_mark(real, &mark);
    counters_read(real, 2 * SECOND);
    uint64_t count = counters_since(real, &mark, bed->rows);
    assert_true(count <= MAXIMUM_INTERFACES);
    for (uint64_t i = 0; i < count; i++) {
        assert_string_not_equal(bed->rows[i].name, "lo");
        assert_int_equal(bed->rows[i].length_ns, SECOND);
        assert_true(bed->rows[i].sent < UINT64_C(1) << 40);
    }
    counters_destroy(real);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(bytes_of_ethernet_are_reported_from_reading_to_reading),
        TEST(words_of_infiniband_are_reported_as_bytes),
        TEST(wide_counts_of_old_infiniband_drivers_go_before_narrow_ones),
        TEST(octets_of_slingshot_stand_before_a_time_stamp),
        TEST(slingshot_without_octets_is_reported_in_packets),
        TEST(only_interfaces_that_carry_bytes_of_their_own_are_watched),
        TEST(where_nothing_else_is_other_interfaces_are_watched),
        TEST(no_more_interfaces_are_watched_than_the_maximum),
        TEST(of_a_node_without_any_nothing_is_reported),
        TEST(counts_that_go_round_go_on),
        TEST(counts_that_are_set_back_restart),
        TEST(a_count_at_its_maximum_is_ignored),
        TEST(an_interface_that_comes_back_is_a_new_one),
        TEST(an_interface_that_cannot_be_read_is_looked_for_at_once),
        TEST(interfaces_that_come_are_found),
        TEST(an_interface_whose_drops_cannot_be_read_is_counted_all_the_same),
        TEST(each_job_gets_what_was_counted_since_its_own_report),
        TEST(what_is_no_count_is_no_interface),
        TEST(files_that_are_none_are_not_waited_for),
        TEST(names_that_would_steer_a_terminal_are_left_out),
        TEST(speeds_that_make_no_sense_are_not_known),
        TEST(interfaces_of_this_machine_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
