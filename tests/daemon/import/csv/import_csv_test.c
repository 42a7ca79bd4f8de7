#include "daemon/import/csv/import_csv.h"

#include "daemon/import/traffic.h"
#include "holter/call.h"
#include "holter/error.h"
#include "tests/daemon/import/trace/recorded_sums.h"
#include "tests/directory.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#define ROWS 4000u
#define RANKS 9u

struct desk {
    char directory[DIRECTORY_ROOM], table[64], recording[64], told[30000];
    unsigned faults;
    struct trace_wishes wishes;
    struct import_csv_counts counts;
    struct recorded_sums sums;
};

static void fault(void *user, const char *text)
{
    struct desk *d = user;
    size_t used = strlen(d->told);
    d->faults++;
    snprintf(d->told + used, sizeof(d->told) - used, "%s\n", text);
}

static struct desk *set_up(void)
{
    struct desk *d = calloc(1, sizeof(*d));
    assert_non_null(d);
    assert_int_equal(directory_make(d->directory), 0);
    snprintf(d->table, sizeof(d->table), "%s/messages.csv", d->directory);
    snprintf(d->recording, sizeof(d->recording), "%s/messages.hrec", d->directory);
    d->wishes =
        (struct trace_wishes){.window_ns = 1000000, .threads = 1, .fault = fault, .user = d};
    return d;
}

static void finish(struct desk *d)
{
    assert_int_equal(directory_remove(d->directory), 0);
    free(d);
}

static void write_table(struct desk *d, const char *text)
{
    FILE *out = fopen(d->table, "w");
    assert_non_null(out);
    assert_int_equal(fputs(text, out) < 0, 0);
    assert_int_equal(fclose(out), 0);
}

static const char three_messages[] = "source,destination,bytes,send_begin,receive_end\n"
                                     "0,1,10,0.001,0.0011\n"
                                     "1,0,20,0.002,0.0023\n"
                                     "0,1,30,0.003,0.0031\n";

static int import(struct desk *d)
{
    d->told[0] = '\0';
    d->faults = 0;
    remove(d->recording);
    int code = import_csv(d->recording, d->table, &d->wishes, &d->counts);
    if (code == 0)
        recorded_sums_read(&d->sums, d->recording);
    return code;
}

static int import_text(struct desk *d, const char *text)
{
    write_table(d, text);
    return import(d);
}

static void import_well(struct desk *d, const char *text)
{
    if (import_text(d, text) != 0 || d->faults > 0)
        fail_msg("%s", d->told);
}

/* ---- pipes ----------------------------------------------------------------- */

/* In a process of its own, piece by piece. */
static pid_t write_pieces(int fd, const char *path)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    fd = path != NULL ? open(path, O_WRONLY) : fd;
    for (const char *at = three_messages; *at != '\0';) {
        ssize_t put = write(fd, at, strlen(at) < 7 ? strlen(at) : 7);
        if (put <= 0)
            _exit(1);
        at += put;
    }
    _exit(0);
}

static void await_writer(pid_t pid)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void a_table_can_come_through_a_pipe(void **state)
{
    struct desk *d = set_up();
    (void)state;
    import_well(d, three_messages);
    struct recorded_sums of_file = d->sums;
    remove(d->table);
    assert_int_equal(mkfifo(d->table, 0600), 0);
    pid_t writer = write_pieces(-1, d->table);
    assert_int_equal(import(d), 0);
    await_writer(writer);
    assert_int_equal(d->sums.digest, of_file.digest);
    assert_int_equal(d->counts.rows, 3);
    finish(d);
}

static void a_table_can_come_from_standard_input(void **state)
{
    struct desk *d = set_up();
    int ends[2], before = dup(STDIN_FILENO);
    (void)state;
    import_well(d, three_messages);
    struct recorded_sums of_file = d->sums;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    pid_t writer = write_pieces(ends[1], NULL);
    close(ends[1]);
    snprintf(d->table, sizeof(d->table), "-");
    assert_int_equal(import(d), 0);
    await_writer(writer);
    assert_string_equal(d->told, "");
    assert_int_equal(d->sums.pair_messages, of_file.pair_messages);
    assert_int_equal(d->sums.pair_size[1][0], of_file.pair_size[1][0]);
    assert_int_equal(d->sums.sent_bytes, 60);
    assert_true(import(d) < 0); /* it has been read */
    assert_non_null(strstr(d->told, "standard input: "));
    dup2(before, STDIN_FILENO);
    close(before);
    finish(d);
}

/* ---- what is known by hand ------------------------------------------------- */

static void a_table_gives_its_messages_calls_and_latencies(void **state)
{
    struct desk *d = set_up();
    (void)state;
    import_well(
        d, "# by hand\n"
           "send_begin,send_end,source,destination,bytes,receive_begin,receive_end,call,region\n"
           "0.001,0.0011,0,1,100,0.0005,0.002,MPI_Isend,\n"    /* the sender came 0.5 ms late */
           "0.003,0.0031,0,1,200,0.0035,0.004,MPI_Send,halo\n" /* the receiver 0.5 ms */
           "0.005,,1,2,50,,0.00525,,\n");
    assert_int_equal(d->counts.rows, 3);
    assert_int_equal(d->counts.ranks, 3);
    assert_int_equal(d->counts.hosts, 1);
    assert_int_equal(d->sums.sent, 3);
    assert_int_equal(d->sums.sent_bytes, 350);
    assert_int_equal(d->sums.received, 3);
    assert_int_equal(d->sums.received_bytes, 350);
    assert_int_equal(d->sums.pairs[0][1], 2);
    assert_int_equal(d->sums.pair_size[0][1], 300);
    assert_int_equal(d->sums.pairs[1][2], 1);
    assert_int_equal(d->sums.matched, 3);
    assert_int_equal(d->sums.unmatched + d->sums.rejected + d->sums.lost, 0);
    assert_int_equal(d->sums.call[CALL_Isend], 1);
    assert_int_equal(d->sums.call_ns[CALL_Isend], 100000);
    assert_int_equal(d->sums.call[CALL_Send], 2);
    assert_int_equal(d->sums.call[CALL_Recv], 3);
    assert_int_equal(d->sums.call_ns[CALL_Recv], 1500000 + 500000);
    assert_int_equal(d->sums.transfers, 3);
    assert_int_equal(d->sums.transfer_ns, 1000000 + 1000000 + 250000);
    assert_int_equal(d->sums.late_sender_ns, 500000);
    assert_string_equal(d->sums.region, "halo");
    assert_int_equal(d->sums.region_sent, 1);
    assert_int_equal(d->sums.window_ns, 1000000);
    finish(d);
}

static void without_receive_times_nothing_is_made_up(void **state)
{
    struct desk *d = set_up();
    (void)state;
    import_well(d, "source;destination;bytes;send_begin_ns;communicator\n1;0;10;1000000;rows\n"
                   "0;1;5;1500000;\n");
    assert_int_equal(d->counts.one_sided, 2);
    assert_int_equal(d->sums.sent, 2);
    assert_int_equal(d->sums.received, 0);
    assert_int_equal(d->sums.matched + d->sums.unmatched + d->sums.transfers, 0);
    assert_int_equal(d->sums.pairs[1][0], 1);
    assert_string_equal(d->sums.comm, "rows");
    finish(d);
}

/* Three messages of one pair and tag, received in the reverse order of their sends. */
static void messages_may_overtake_each_other(void **state)
{
    struct desk *d = set_up();
    (void)state;
    import_well(d, "source,destination,bytes,send_begin,receive_end\n0,1,1,0.001,0.009\n"
                   "0,1,1,0.002,0.008\n0,1,3,0.003,0.007\n");
    assert_int_equal(d->sums.matched, 3);
    assert_int_equal(d->sums.transfer_ns, 8000000 + 6000000 + 4000000);
    finish(d);
}

static void calls_that_overlap_fill_no_time_twice(void **state)
{
    struct desk *d = set_up();
    (void)state;
    import_well(d, "source,destination,bytes,send_begin,send_end,receive_begin,receive_end\n"
                   "0,1,1,0.001,0.005,0.0005,0.006\n0,1,1,0.002,0.0055,0.0006,0.007\n");
    assert_int_equal(d->sums.call_ns[CALL_Send], 1000000 + 3500000);
    assert_int_equal(d->sums.call_ns[CALL_Recv], 5500000 + 1000000);
    assert_int_equal(d->sums.transfer_ns, 5000000 + 5000000);
    finish(d);
}

static void received_before_sent_counts_but_is_not_matched(void **state)
{
    struct desk *d = set_up();
    (void)state;
    import_well(d, "source,destination,bytes,send_begin,receive_end\n0,1,1,0.005,0.004\n"
                   "0,1,1,0.006,0.007\n");
    assert_int_equal(d->counts.backward, 1);
    assert_int_equal(d->sums.sent, 2);
    assert_int_equal(d->sums.received, 2);
    assert_int_equal(d->sums.matched, 1);
    assert_int_equal(d->sums.unmatched + d->sums.rejected, 0);
    finish(d);
}

static void dates_are_kept_to_the_nanosecond(void **state)
{
    struct desk *d = set_up();
    (void)state;
    d->wishes.window_ns = 1000;
    import_well(d, "source,destination,bytes,send_begin,receive_end\n"
                   "0,1,1,1700000000.123456789,1700000000.123456790\n");
    assert_int_equal(d->sums.first_window, UINT64_C(1700000000123456));
    assert_int_equal(d->sums.transfer_ns, 1);
    finish(d);
}

/* Times may begin anywhere, so long as they are no dates. */
static void times_that_begin_late_have_the_windows_of_others(void **state)
{
    static const char *const tables[] = {
        "source,destination,bytes,send_begin\n0,1,1,0\n0,1,2,50\n0,1,4,100\n0,1,8,500.5\n",
        "source,destination,bytes,send_begin\n0,1,1,500\n0,1,2,550\n0,1,4,600\n0,1,8,1000.5\n",
        "source,destination,bytes,send_begin\n0,1,1,90000\n0,1,2,90050\n0,1,4,90100\n"
        "0,1,8,90500.5\n"};
    struct desk *d = set_up();
    (void)state;
    d->wishes.window_ns = 0;
    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
        import_well(d, tables[i]);
        assert_int_equal(d->sums.pair_size[0][1], 15);
        assert_int_equal(d->sums.window_ns, 1000000000);
        assert_int_equal(d->counts.window_ns, 1000000000);
        assert_int_equal(d->counts.counts.lost, 0);
    }
    import_well(d, "source,destination,bytes,send_begin\n0,1,1,1\n0,1,2,2\n");
    assert_int_equal(d->sums.window_ns, 5000000);
    assert_int_equal(d->counts.window_ns, 5000000);
    finish(d);
}

/* ---- hosts ----------------------------------------------------------------- */

static void hosts_come_from_the_table(void **state)
{
    struct desk *d = set_up();
    (void)state;
    import_well(d, "source,destination,bytes,send_begin,receive_end,source_host,destination_host\n"
                   "0,1,1,0.001,0.002,n10,n9\n2,0,1,0.001,0.002,n9,n10\n2,1,1,0.001,0.002,,\n");
    assert_int_equal(d->counts.hosts, 2);
    assert_int_equal(d->sums.matched, 1);
    assert_int_equal(d->sums.halves, 4);
    assert_int_equal(import_text(d, "source,destination,bytes,send_begin,source_host\n"
                                    "0,1,1,0.001,a\n0,1,1,0.002,b\n"),
                     0);
    assert_int_equal(d->counts.bad, 1);
    assert_non_null(
        strstr(d->told, "messages.csv:3: rank 0 is on host 'b', and was on 'a' before"));
    d->wishes.per_node = 2;
    assert_int_equal(import(d), -HOLTER_EUSAGE);
    assert_non_null(strstr(d->told, "the table tells the hosts itself"));
    finish(d);
}

/* The table calls a host "unknown" itself. */
static void ranks_without_a_host_are_on_none_of_the_others(void **state)
{
    struct desk *d = set_up();
    struct pairs pairs;
    (void)state;
    import_well(d, "source,destination,bytes,send_begin,source_host\n"
                   "0,1,1,0.001,unknown\n2,1,1,0.001,n1\n1,3,1,0.001,\n");
    assert_int_equal(d->counts.hosts, 3);
    assert_int_equal(pairs_read(&pairs, d->recording, fault, d), 0);
    assert_int_equal(pairs.host_count, 3);
    assert_string_equal(pairs.hosts[0].name, "unknown");
    assert_string_equal(pairs.hosts[1].name, "unknown#2");
    assert_int_equal(pairs.places[1].host, pairs.places[3].host);
    pairs_finish(&pairs);
    finish(d);
}

static void hosts_come_in_blocks(void **state)
{
    static const char text[] = "source,destination,bytes,send_begin,receive_end\n"
                               "0,1,1,0.001,0.002\n2,3,1,0.001,0.002\n3,4,1,0.001,0.002\n";
    struct desk *d = set_up();
    (void)state;
    d->wishes.per_node = 2;
    import_well(d, text);
    assert_int_equal(d->counts.hosts, 3);
    assert_int_equal(d->sums.matched, 2);
    d->wishes.per_node = 0;
    d->wishes.hosts = "node[1-3]";
    import_well(d, text);
    assert_int_equal(d->counts.hosts, 3);
    d->wishes.hosts = "node[1-2]";
    d->wishes.per_node = 2;
    assert_int_equal(import(d), -HOLTER_EUSAGE);
    assert_non_null(
        strstr(d->told, "messages.csv: hosts: 5 ranks, 2 on each, do not fit on 2 hosts\n"));
    d->wishes.hosts = "a,a";
    assert_int_equal(import(d), -HOLTER_EUSAGE);
    assert_non_null(strstr(d->told, "messages.csv: hosts: host a is there twice\n"));
    finish(d);
}

/* ---- any table ------------------------------------------------------------- */

static uint64_t below(uint64_t *random, uint64_t limit)
{
    *random ^= *random << 13, *random ^= *random >> 7, *random ^= *random << 17;
    return *random % limit;
}

struct reference {
    uint64_t sent, bytes, received, received_bytes, transfer_ns, matched;
    uint64_t pairs[RANKS][RANKS];
};

/* A row into text, and into the sums that it must give. */
static void some_row(char *out, size_t capacity, uint64_t *random, struct reference *sums)
{
    uint64_t s = below(random, RANKS), r = below(random, RANKS), bytes = below(random, 100000);
    uint64_t begin = below(random, 200000000), leave = begin + below(random, 5000000);
    uint64_t end = begin + below(random, 9000000),
             post = end - below(random, 1 + (end < 9000000 ? end : 9000000));
    int received = below(random, 10) > 0;
    sums->sent++;
    sums->bytes += bytes;
    sums->pairs[s][r]++;
    sums->received += (uint64_t)received;
    sums->received_bytes += received ? bytes : 0;
    sums->transfer_ns += received ? end - begin : 0;
    char ends[64] = ",";
    if (received)
        snprintf(ends, sizeof(ends), "%d.%09d,%d.%09d", (int)(post / 1000000000),
                 (int)(post % 1000000000), (int)(end / 1000000000), (int)(end % 1000000000));
    snprintf(out, capacity, "%d,%d,%d,%d,%d,%s,%d,%s,%s\n", (int)s, (int)r, (int)bytes, (int)begin,
             (int)leave, ends, (int)below(random, 3), below(random, 2) ? "" : "cart",
             below(random, 3) ? "" : "solver");
}

static void write_rows(struct desk *d, char (*rows)[128], const uint32_t *order)
{
    FILE *out = fopen(d->table, "w");
    assert_non_null(out);
    fputs("source,destination,bytes,send_begin_ns,send_end_ns,receive_begin,receive_end,tag,"
          "communicator,region\n",
          out);
    for (uint32_t i = 0; i < ROWS; i++)
        fputs(rows[order[i]], out);
    assert_int_equal(fclose(out), 0);
}

static void random_tables_have_the_sums_of_their_rows(void **state)
{
    static char rows[ROWS][128];
    static uint32_t order[ROWS];
    struct desk *d = set_up();
    struct reference sums = {0};
    uint64_t random = 20261122;
    (void)state;
    d->wishes.window_ns = 10000000;
    for (uint32_t i = 0; i < ROWS; i++) {
        order[i] = i;
        some_row(rows[i], sizeof(rows[i]), &random, &sums);
    }
    write_rows(d, rows, order);
    if (import(d) != 0 || d->faults > 0)
        fail_msg("%s", d->told);
    assert_int_equal(d->sums.sent, sums.sent);
    assert_int_equal(d->sums.sent_bytes, sums.bytes);
    assert_int_equal(d->sums.received, sums.received);
    assert_int_equal(d->sums.received_bytes, sums.received_bytes);
    assert_int_equal(d->sums.matched, sums.received);
    assert_int_equal(d->sums.transfer_ns, sums.transfer_ns);
    assert_int_equal(d->sums.lost + d->sums.unmatched + d->sums.rejected, 0);
    for (uint32_t s = 0; s < RANKS; s++)
        for (uint32_t r = 0; r < RANKS; r++)
            assert_int_equal(d->sums.pairs[s][r], sums.pairs[s][r]);
    for (uint32_t call = 0; call < 256;
         call++) /* no time twice: all ranks, all the time, at most */
        assert_true(d->sums.call_ns[call] <= RANKS * UINT64_C(220000000));
    struct recorded_sums first = d->sums;
    first.capture_digest = 0; /* calls that begin together are in the order of their rows */
    for (unsigned times = 0; times < 4; times++) {
        for (uint32_t i = ROWS; i-- > 1;) {
            uint32_t at = (uint32_t)below(&random, i + 1), swapped = order[i];
            order[i] = order[at];
            order[at] = swapped;
        }
        d->wishes.threads = 1 + times / 2;
        write_rows(d, rows, order);
        assert_int_equal(import(d), 0);
        d->sums.capture_digest = 0;
        assert_memory_equal(&d->sums, &first, sizeof(first));
    }
    finish(d);
}

/* ---- what is wrong --------------------------------------------------------- */

static void a_row_whose_bytes_no_sum_can_hold_is_left_out(void **state)
{
    struct desk *d = set_up();
    (void)state;
    assert_int_equal(import_text(d, "source,destination,bytes,send_begin\n0,1,4e18,1\n0,2,4e18,1\n"
                                    "0,3,2e18,1\n0,3,1e18,1\n"),
                     0);
    assert_int_equal(d->counts.rows, 3);
    assert_int_equal(d->counts.bad, 1);
    assert_non_null(strstr(d->told, ":4: column bytes: with this row there are 2^63 or more"));
    assert_int_equal(d->sums.sent_bytes, UINT64_C(9000000000000000000));
    finish(d);
}

static void a_row_that_is_left_out_places_no_rank(void **state)
{
    struct desk *d = set_up();
    (void)state;
    assert_int_equal(import_text(d, "source,destination,bytes,send_begin,source_host,"
                                    "destination_host\n"
                                    "0,1,4.6e18,1,a,b\n"
                                    "0,1,4.6e18,1,a,b\n"
                                    "2,1,8,2,x,c\n"    /* rank 1 is on b */
                                    "3,0,4e18,3,z,a\n" /* too many bytes */
                                    "2,3,8,4,y,w\n"),
                     0);
    assert_int_equal(d->counts.rows, 3);
    assert_int_equal(d->counts.bad, 2);
    assert_non_null(strstr(d->told, ":4: rank 1 is on host 'c', and was on 'b' before"));
    assert_non_null(strstr(d->told, ":5: column bytes"));
    finish(d);
}

static void a_row_with_a_date_among_other_times_is_named_and_left_out(void **state)
{
    struct desk *d = set_up();
    (void)state;
    assert_int_equal(import_text(d, "source,destination,bytes,send_begin,receive_end\n"
                                    "0,1,1,0.001,0.002\n"
                                    "0,1,1,1700000000.001,1700000000.002\n"
                                    "0,1,1,0.003,1700000000.002\n"
                                    "0,1,1,0.003,\n"),
                     0);
    assert_int_equal(d->counts.rows, 2);
    assert_int_equal(d->counts.bad, 2);
    assert_non_null(strstr(d->told, ":3: column send_begin: a date, where the times before are "
                                    "none\n"));
    assert_non_null(strstr(d->told, ":4: column receive_end: a date"));
    assert_int_equal(import_text(d, "source,destination,bytes,send_begin\n"
                                    "0,1,1,1700000000\n0,1,1,1\n"),
                     0);
    assert_non_null(strstr(d->told, ":3: column send_begin: no date, where the times before are "
                                    "dates\n"));
    assert_int_equal(import_text(d, "source,destination,bytes,send_begin,send_end,receive_begin,"
                                    "receive_end\n"
                                    "0,1,1,1700000000,,1700000000,1700000001\n"
                                    "0,1,1,1700000000,,0.001,1700000001\n"),
                     0);
    assert_non_null(strstr(d->told, ":3: column receive_begin: no date"));
    assert_int_equal(import_text(d, "source,destination,bytes,send_begin,send_end\n"
                                    "0,1,1,0.001,0.002\n0,1,1,0.003,1700000000\n"),
                     0);
    assert_non_null(strstr(d->told, ":3: column send_end: a date"));
    finish(d);
}

/* As a file has them whose last blocks were never written. */
static void zeros_behind_the_rows_are_a_bad_row(void **state)
{
    static const char zeros[5000];
    struct desk *d = set_up();
    (void)state;
    write_table(d, "source,destination,bytes,send_begin\n0,1,1,0.001\n");
    FILE *out = fopen(d->table, "a");
    assert_non_null(out);
    assert_int_equal(fwrite(zeros, 1, sizeof(zeros), out), sizeof(zeros));
    assert_int_equal(fclose(out), 0);
    assert_int_equal(import(d), 0);
    assert_int_equal(d->counts.rows, 1);
    assert_int_equal(d->counts.bad, 1);
    finish(d);
}

static void quotes_in_a_comment_cost_no_row(void **state)
{
    struct desk *d = set_up();
    (void)state;
    assert_int_equal(import_text(d, "source,destination,bytes,send_begin,region\n# as in,\"a\n"
                                    "0,1,1,0.001,\"a\"\n0,1,1,0.002,\"b\"\n"),
                     0);
    assert_int_equal(d->counts.bad, 0);
    assert_int_equal(d->counts.rows, 2);
    finish(d);
}

static void bad_rows_are_named_and_the_rest_is_imported(void **state)
{
    struct desk *d = set_up();
    (void)state;
    assert_int_equal(import_text(d, "source,destination,bytes,send_begin\n0,1,1,0.001\n0,x,1,2\n"
                                    "\"0,1,1,1\n0,1,1,0.002\n4000000000,1,1,1\n0,1,1"),
                     0);
    assert_int_equal(d->counts.bad, 4);
    assert_int_equal(d->counts.rows, 2);
    assert_int_equal(d->sums.sent, 2);
    assert_non_null(strstr(d->told, "messages.csv:3: column destination: 'x' is no number\n"));
    assert_non_null(strstr(d->told, "messages.csv:4: a quote is not closed\n"));
    assert_non_null(strstr(d->told, "messages.csv:6: column source: '4000000000' is too large\n"));
    assert_non_null(strstr(d->told, "messages.csv:7: 3 fields, where the header has 4\n"));
    finish(d);
}

static void a_hundred_faults_are_reported_and_all_counted(void **state)
{
    struct desk *d = set_up();
    FILE *out = fopen(d->table, "w");
    (void)state;
    assert_non_null(out);
    fputs("source,destination,bytes,send_begin\n0,1,1,0.001\n", out);
    for (int i = 0; i < 1000; i++)
        fputs("bad\n", out);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(import(d), 0);
    assert_int_equal(d->counts.bad, 1000);
    assert_int_equal(d->faults, FILE_FAULTS + 1);
    assert_int_equal(d->sums.sent, 1);
    finish(d);
}

static void what_is_no_table_is_refused(void **state)
{
    static const char *const texts[][2] = {
        {"", "the file is empty"},
        {"# nothing\n\n", "the file is empty"},
        {"0,1,2,3\n", "there is no column source in the header"},
        {"source,destination,bytes,send_begin,\"x\n0,1,1,1,1\n",
         "the header: a quote is not closed"},
        {"source,destination,bytes,send_begin\n", "there are no messages"},
        {"source,destination,bytes,send_begin\n0,0,0,x\n", "'x' is no number"},
    };
    struct desk *d = set_up();
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_true(import_text(d, texts[i][0]) < 0);
        assert_non_null(strstr(d->told, texts[i][1]));
    }
    remove(d->table);
    assert_true(import(d) < 0);
    assert_non_null(strstr(d->told, "messages.csv: "));
    finish(d);
}

static void a_header_with_too_many_fields_is_refused_as_such(void **state)
{
    enum { FIELDS = 1025 };
    char text[64 + 2 * FIELDS] = "source,destination,bytes,send_begin";
    struct desk *d = set_up();
    (void)state;
    for (int i = 4; i < FIELDS; i++)
        strcat(text, ",");
    assert_true(import_text(d, text) < 0);
    assert_non_null(strstr(d->told, "the header: more than 1024 fields"));
    finish(d);
}

static void too_many_windows_are_refused(void **state)
{
    struct desk *d = set_up();
    (void)state;
    assert_true(import_text(d, "source,destination,bytes,send_begin\n0,1,1,0.001\n0,1,1,4e8\n") <
                0);
    assert_non_null(strstr(d->told, "windows of 1000000 ns"));
    finish(d);
}

/* The figures of what a spreadsheet wrote are those of the plain table. */
static void tables_of_spreadsheets_are_understood(void **state)
{
    static const char *const tables[] = {
        "sep=;\r\nsource;destination;bytes;send_begin;receive_end\r\n0;1;10;0,001;0,0011\r\n",
        "\xef\xbb\xbf\"sep=,\"\nsource,destination,bytes,send_begin,receive_end\n0,1,10,1e-3,0."
        "0011\n",
        "sep=\t\nsource\tdestination\tbytes\tsend_begin\treceive_end\n0\t1\t10\t0.001\t0.0011\n",
        "source,destination,bytes,send_begin,receive_end\r0,1,10,0.001,0.0011\r",
        "# of mine\r\rsource,destination,bytes,send_begin,receive_end\r0,1,10,0.001,0.0011"};
    struct desk *d = set_up();
    (void)state;
    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
        import_well(d, tables[i]);
        assert_int_equal(d->sums.pair_size[0][1], 10);
        assert_int_equal(d->sums.transfer_ns, 100000);
    }
    finish(d);
}

static void a_table_of_something_else_is_reported_as_that(void **state)
{
    static const struct {
        const char *table, *told;
        size_t length;
    } cases[] = {
        {"sep=|\nsource|destination|bytes|send_begin\n", "messages.csv:1: 'sep=|': commas, ", 0},
        {"source|destination|bytes|send_begin\n", "which is one field: commas, semicolons", 0},
        {"\x1f\x8b\x08\x00\x01", "is compressed (gzip): unpack it first", 5},
        {"\x28\xb5\x2f\xfd\x01", "is compressed (zstd): unpack it first", 5},
        {"\xff\xfes\0o\0", "is text in UTF-16: UTF-8 is expected", 6},
        {"s\0o\0u\0", "is no text, or one in UTF-16: UTF-8 is expected", 6}};
    struct desk *d = set_up();
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        FILE *out = fopen(d->table, "w");
        size_t length = cases[i].length == 0 ? strlen(cases[i].table) : cases[i].length;
        assert_non_null(out);
        assert_int_equal(fwrite(cases[i].table, 1, length, out), length);
        assert_int_equal(fclose(out), 0);
        assert_true(import(d) < 0);
        assert_int_equal(d->faults, 1);
        if (strstr(d->told, cases[i].told) == NULL)
            fail_msg("%s", d->told);
    }
    finish(d);
}

/* Ranks that no row names are of MPI_COMM_WORLD, and cost nothing: no row of any window, no stream,
 * no host. */
static void a_stray_rank_costs_as_much_as_any_other(void **state)
{
    static const char header[] = "source,destination,bytes,send_begin_ns,receive_end_ns\n";
    struct desk *d = set_up();
    char text[16384];
    (void)state;
    for (uint32_t per_node = 0; per_node < 2; per_node++) {
        size_t used = (size_t)snprintf(text, sizeof(text),
                                       "%s0,1048575,10,500,900\n1048575,5,10,1500,1900\n", header);
        for (unsigned i = 0; i < 200; i++)
            used += (size_t)snprintf(text + used, sizeof(text) - used, "5,0,7,%u000000,%u000400\n",
                                     i, i);
        d->wishes.per_node = per_node;
        import_well(d, text);
        assert_int_equal(d->counts.ranks, 3);
        assert_int_equal(d->counts.world, 1048576);
        assert_int_equal(d->counts.hosts, per_node == 0 ? 1 : 3);
        assert_int_equal(d->counts.counts.windows, 200);
        assert_int_equal(d->sums.announced, 3);
        assert_int_equal(d->sums.pair_messages, 202);
        assert_int_equal(d->counts.counts.matched, per_node == 0 ? 202 : 0);
        assert_int_equal(d->counts.counts.unmatched, 0);
    }
    import_well(d,
                "source,destination,bytes,send_begin_ns\n2,5,7,500\n"); /* the others are silent */
    assert_int_equal(d->sums.announced, 6);
    finish(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_can_come_through_a_pipe),
        cmocka_unit_test(a_table_can_come_from_standard_input),
        cmocka_unit_test(a_table_gives_its_messages_calls_and_latencies),
        cmocka_unit_test(without_receive_times_nothing_is_made_up),
        cmocka_unit_test(messages_may_overtake_each_other),
        cmocka_unit_test(calls_that_overlap_fill_no_time_twice),
        cmocka_unit_test(received_before_sent_counts_but_is_not_matched),
        cmocka_unit_test(dates_are_kept_to_the_nanosecond),
        cmocka_unit_test(times_that_begin_late_have_the_windows_of_others),
        cmocka_unit_test(hosts_come_from_the_table),
        cmocka_unit_test(ranks_without_a_host_are_on_none_of_the_others),
        cmocka_unit_test(hosts_come_in_blocks),
        cmocka_unit_test(random_tables_have_the_sums_of_their_rows),
        cmocka_unit_test(a_row_whose_bytes_no_sum_can_hold_is_left_out),
        cmocka_unit_test(a_row_that_is_left_out_places_no_rank),
        cmocka_unit_test(a_row_with_a_date_among_other_times_is_named_and_left_out),
        cmocka_unit_test(zeros_behind_the_rows_are_a_bad_row),
        cmocka_unit_test(quotes_in_a_comment_cost_no_row),
        cmocka_unit_test(bad_rows_are_named_and_the_rest_is_imported),
        cmocka_unit_test(a_hundred_faults_are_reported_and_all_counted),
        cmocka_unit_test(what_is_no_table_is_refused),
        cmocka_unit_test(a_header_with_too_many_fields_is_refused_as_such),
        cmocka_unit_test(too_many_windows_are_refused),
        cmocka_unit_test(tables_of_spreadsheets_are_understood),
        cmocka_unit_test(a_table_of_something_else_is_reported_as_that),
        cmocka_unit_test(a_stray_rank_costs_as_much_as_any_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
