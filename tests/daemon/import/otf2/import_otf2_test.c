#include "daemon/import/otf2/import_otf2.h"

#include "daemon/analysis/dependencies/dependencies.h"
#include "daemon/import/traffic.h"
#include "holter/call.h"
#include "holter/error.h"
#include "tests/daemon/import/otf2/otf2_history.h"
#include "tests/daemon/import/trace/recorded_sums.h"
#include "tests/data_file.h"
#include "tests/directory.h"
#include "tests/reported_faults.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#define RANKS 10u /* of the recorded trace */

/* OTF2_PRINT_SUMS, OTF2_PRINT_MATCHES, OTF2_GOLDEN: paths, from meson.build. */

struct bed {
    char directory[DIRECTORY_ROOM], archive[128], recording[64];
    struct reported_faults reported;
    struct import_otf2_counts counts;
    struct recorded_sums sums;
    const char *hosts; /* NULL: those of the archive */
    uint32_t per_node;
};

static void begin(struct bed *bed)
{
    *bed = (struct bed){.directory = ""};
    assert_int_equal(directory_make(bed->directory), 0);
    snprintf(bed->recording, sizeof(bed->recording), "%s/t.hrec", bed->directory);
}

static void end(struct bed *bed)
{
    directory_remove(bed->directory);
}

static int import_with(struct bed *bed, unsigned threads)
{
    struct trace_wishes wishes = {.threads = threads,
                                  .hosts = bed->hosts,
                                  .per_node = bed->per_node,
                                  .fault = report_fault,
                                  .user = &bed->reported};
    remove(bed->recording);
    bed->reported.text[0] = '\0';
    int code = import_otf2(bed->recording, bed->archive, &wishes, &bed->counts);
    if (code == 0)
        recorded_sums_read(&bed->sums, bed->recording);
    return code;
}

static void import_all(struct bed *bed)
{
    if (import_with(bed, 1) != 0)
        fail_msg("%s", bed->reported.text);
}

/* ---- the recorded trace ---------------------------------------------------- */

static void unpack(struct bed *bed)
{
    char folder[80], name[64], path[128];
    begin(bed);
    data_file_unpack("otf2/traces.def", bed->directory, path, sizeof(path));
    data_file_unpack("otf2/traces.otf2", bed->directory, bed->archive, sizeof(bed->archive));
    snprintf(folder, sizeof(folder), "%s/traces", bed->directory);
    assert_int_equal(mkdir(folder, 0700), 0);
    for (unsigned i = 0; i < RANKS; i++) {
        snprintf(name, sizeof(name), "otf2/traces/%u.def", i);
        data_file_unpack(name, folder, path, sizeof(path));
        snprintf(name, sizeof(name), "otf2/traces/%u.evt", i);
        data_file_unpack(name, folder, path, sizeof(path));
    }
}

static void compare_line(const struct bed *bed, const char *line, struct recorded_sums *rest)
{
    uint64_t a, b, messages, bytes, count;
    char name[64];
    if (sscanf(line, "pair %lu %lu %lu %lu", &a, &b, &messages, &bytes) == 4) {
        assert_int_equal(bed->sums.pairs[a][b], messages);
        assert_int_equal(bed->sums.pair_size[a][b], bytes);
        rest->pair_messages -= messages;
        rest->sent -= messages;
        rest->sent_bytes -= bytes;
    } else if (sscanf(line, "received %lu %lu %lu", &a, &messages, &bytes) == 3) {
        assert_int_equal(bed->sums.rank_received[a], messages);
        assert_int_equal(bed->sums.rank_received_bytes[a], bytes);
        rest->received -= messages;
        rest->received_bytes -= bytes;
    } else if (sscanf(line, "call %lu %63s %lu", &a, name, &count) == 3) {
        uint16_t call = call_by_name(name);
        assert_true(call != 0 || call_is_local(name));
        rest->call[call] -= call == 0 ? 0 : count;
        rest->calls -= call == 0 ? 0 : count;
    } else {
        uint64_t sent, received;
        assert_int_equal(
            sscanf(line, "collective %lu %63s %lu %lu %lu", &a, name, &count, &sent, &received), 5);
        char spelt[80] = "MPI_";
        spelt[4] = name[0];
        for (size_t i = 1; name[i] != '\0'; i++)
            spelt[4 + i] = (char)(name[i] == '_' ? '_' : name[i] + ('a' - 'A'));
        rest->call_bytes[call_by_name(spelt)] -= sent;
        rest->call_bytes_in[call_by_name(spelt)] -= received;
    }
}

/* The golden figures come from what otf2-print writes, by otf2_print_sums.py. */
static void a_recorded_trace_has_all_that_otf2_print_shows(void **state)
{
    struct bed bed;
    char line[256];
    (void)state;
    unpack(&bed);
    import_all(&bed);
    assert_string_equal(bed.reported.text, "");
    FILE *golden = fopen(OTF2_GOLDEN, "re");
    assert_non_null(golden);
    struct recorded_sums rest = bed.sums;
    uint64_t collectives = 0, count;
    while (fgets(line, sizeof(line), golden) != NULL) {
        compare_line(&bed, line, &rest);
        if (sscanf(line, "collective %*u %*s %lu", &count) == 1)
            collectives += count;
    }
    fclose(golden);
    assert_int_equal(rest.pair_messages + rest.sent + rest.sent_bytes, 0);
    assert_int_equal(rest.received + rest.received_bytes, 0);
    for (unsigned call = 0; call < RECORDED_CALLS; call++)
        assert_int_equal(rest.call[call], 0);
    assert_int_equal(rest.calls, 0);
    assert_int_equal(rest.call_bytes[CALL_Allreduce] + rest.call_bytes[CALL_Gather], 0);
    assert_int_equal(rest.call_bytes_in[CALL_Allreduce] + rest.call_bytes_in[CALL_Scatter], 0);
    assert_int_equal(bed.counts.collectives, collectives);
    assert_int_equal(bed.counts.sends, bed.counts.counts.sent);
    assert_int_equal(bed.counts.events, 22180);
    assert_int_equal(bed.counts.hosts, RANKS);
    assert_int_equal(bed.sums.finals, RANKS);
    assert_int_equal(bed.counts.counts.rejected + bed.counts.counts.unmatched, 0);
    assert_int_equal(bed.counts.other_count, 0);
    assert_int_equal(bed.sums.lost, 0);
    end(&bed);
}

static void the_golden_figures_are_those_that_otf2_print_gives_now(void **state)
{
    struct bed bed;
    char command[512];
    (void)state;
    if (system("command -v otf2-print >/dev/null 2>&1") != 0)
        skip();
    unpack(&bed);
    snprintf(command, sizeof(command), "python3 '%s' '%s' | cmp - '%s'", OTF2_PRINT_SUMS,
             bed.archive, OTF2_GOLDEN);
    assert_int_equal(system(command), 0);
    end(&bed);
}

static void any_number_of_threads_gives_the_same_recording(void **state)
{
    struct bed bed;
    (void)state;
    unpack(&bed);
    import_all(&bed);
    uint64_t digest = bed.sums.digest;
    for (unsigned threads = 2; threads < 8; threads += 3) {
        assert_int_equal(import_with(&bed, threads), 0);
        assert_true(bed.sums.digest == digest);
    }
    end(&bed);
}

/* The digest has the command, and so the archive's path. */
static void a_link_to_the_anchor_alone_stands_for_the_archive(void **state)
{
    struct bed bed;
    char link[128];
    (void)state;
    unpack(&bed);
    import_all(&bed);
    struct recorded_sums direct = bed.sums;
    snprintf(link, sizeof(link), "%s/other", bed.directory);
    assert_int_equal(mkdir(link, 0700), 0);
    snprintf(link, sizeof(link), "%s/other/mine.otf2", bed.directory);
    assert_int_equal(symlink(bed.archive, link), 0);
    snprintf(bed.archive, sizeof(bed.archive), "%s", link);
    import_all(&bed);
    assert_string_equal(bed.reported.text, "");
    assert_int_equal(bed.sums.sent, direct.sent);
    assert_int_equal(bed.sums.received_bytes, direct.received_bytes);
    assert_memory_equal(bed.sums.call, direct.call, sizeof(direct.call));
    end(&bed);
}

static void put_pipe(const struct bed *bed, const char *name, char path[128])
{
    snprintf(path, 128, "%s/%s", bed->directory, name);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
}

/* Nobody would ever write to them. */
static void pipes_in_place_of_files_are_not_waited_for(void **state)
{
    struct bed bed;
    char path[128];
    (void)state;
    unpack(&bed);
    put_pipe(&bed, "traces/3.evt", path);
    put_pipe(&bed, "traces/4.def", path);
    import_all(&bed);
    assert_int_equal(bed.counts.counts.failed_streams, 2);
    assert_non_null(strstr(bed.reported.text, "traces/3.evt: "));
    assert_non_null(strstr(bed.reported.text, "it is no regular file"));
    assert_non_null(strstr(bed.reported.text, "its definitions, 4.def, are not whole"));
    assert_true(bed.sums.sent > 0);
    put_pipe(&bed, "traces.def", path);
    assert_int_equal(import_with(&bed, 1), -HOLTER_ECORRUPT);
    assert_non_null(strstr(bed.reported.text, "traces.def: it is no regular file"));
    end(&bed);
}

static void compare_places(struct bed *bed, uint32_t hosts, uint32_t per_node)
{
    struct pairs pairs;
    assert_int_equal(pairs_read(&pairs, bed->recording, report_fault, &bed->reported), 0);
    assert_int_equal(bed->counts.hosts, hosts);
    assert_int_equal(pairs.host_count, hosts);
    assert_int_equal(pairs.processes, RANKS);
    for (uint32_t r = 0; r < RANKS; r++)
        assert_int_equal(pairs.places[r].host, r / per_node);
    assert_string_equal(pairs.hosts[0].name, "node7");
    assert_string_equal(pairs.hosts[1].name, "node8");
    pairs_finish(&pairs);
}

static void hosts_that_are_asked_for_take_the_place_of_those_of_the_archive(void **state)
{
    struct bed bed;
    (void)state;
    unpack(&bed);
    import_all(&bed);
    struct recorded_sums own = bed.sums;
    bed.hosts = "node[7-8]";
    import_all(&bed);
    compare_places(&bed, 2, RANKS / 2);
    assert_memory_equal(own.pairs, bed.sums.pairs, sizeof(own.pairs));
    assert_memory_equal(own.pair_size, bed.sums.pair_size, sizeof(own.pair_size));
    bed.hosts = "node[7-9],spare";
    bed.per_node = RANKS / 2 - 1;
    import_all(&bed);
    compare_places(&bed, 3, RANKS / 2 - 1);
    end(&bed);
}

static void impossible_hosts_are_reported(void **state)
{
    static const struct {
        const char *hosts, *reported;
        uint32_t per_node;
    } cases[] = {{"a,b,a", "traces.otf2: hosts: host a is there twice", 0},
                 {",", "there are no hosts in the list", 0},
                 {"a,b", "ranks, 1 on each, do not fit on 2 hosts", 1},
                 {"a[3-", "hosts: ", 0}};
    struct bed bed;
    (void)state;
    unpack(&bed);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        bed.hosts = cases[i].hosts;
        bed.per_node = cases[i].per_node;
        assert_int_equal(import_with(&bed, 1), -HOLTER_EUSAGE);
        assert_non_null(strstr(bed.reported.text, cases[i].reported));
        assert_int_equal(access(bed.recording, F_OK), -1);
    }
    end(&bed);
}

/* ---- histories that are made up -------------------------------------------- */

static struct history make(struct bed *bed, const struct history_plan *plan)
{
    struct history history;
    char folder[80];
    begin(bed);
    snprintf(folder, sizeof(folder), "%s/archive", bed->directory);
    history_write(&history, plan, folder);
    snprintf(bed->archive, sizeof(bed->archive), "%s/history.otf2", folder);
    return history;
}

static uint64_t others(const struct bed *bed, const char *name)
{
    for (uint32_t i = 0; i < bed->counts.other_count; i++)
        if (strcmp(bed->counts.others[i].name, name) == 0)
            return bed->counts.others[i].count;
    return 0;
}

static void compare(const struct bed *bed, const struct history *h, const struct history_plan *plan)
{
    assert_string_equal(bed->reported.text, "");
    for (uint32_t a = 0; a < plan->ranks; a++) {
        for (uint32_t b = 0; b < plan->ranks; b++) {
            assert_int_equal(bed->sums.pairs[a][b], h->pairs[a][b]);
            assert_int_equal(bed->sums.pair_size[a][b], h->bytes[a][b]);
        }
        assert_int_equal(bed->sums.rank_received[a], h->received[a]);
        assert_int_equal(bed->sums.rank_received_bytes[a], h->received_bytes[a]);
        assert_int_equal(bed->sums.threads[a], plan->threads);
    }
    assert_int_equal(bed->sums.sent, h->sends);
    assert_int_equal(bed->counts.collectives, h->collectives);
    assert_int_equal(bed->counts.events, h->events);
    assert_int_equal(others(bed, "ThreadFork"), h->forks);
    assert_int_equal(others(bed, "RmaPut"), h->puts);
    assert_int_equal(others(bed, "Metric"), h->metrics);
    assert_int_equal(bed->counts.counts.lost + bed->counts.unbalanced + bed->counts.undefined, 0);
    assert_int_equal(bed->counts.hosts, (plan->ranks + plan->per_host - 1) / plan->per_host);
    if (plan->threads == 1 && h->in_solver > 0)
        assert_string_equal(bed->sums.region, "solver");
    if (plan->threads == 1)
        assert_int_equal(bed->sums.region_sent, h->in_solver);
}

static const struct history_plan usual = {.seed = 1,
                                          .rounds = 3000,
                                          .ranks = 8,
                                          .per_host = 4,
                                          .threads = 1,
                                          .resolution = 1000000000,
                                          .offset = 12345};

static void any_history_is_imported_exactly(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct bed bed;
        struct history_plan plan = usual;
        plan.seed = seed;
        plan.ranks = 2 + (uint32_t)seed;
        plan.per_host = 1 + (uint32_t)(seed % 4);
        struct history history = make(&bed, &plan);
        assert_int_equal(import_with(&bed, 1 + (unsigned)seed % 3), 0);
        compare(&bed, &history, &plan);
        assert_int_equal(bed.counts.counts.matched, history.within_hosts);
        assert_int_equal(bed.counts.counts.halves, 2 * (history.sends - history.within_hosts));
        assert_int_equal(bed.counts.counts.rejected + bed.counts.counts.unmatched, 0);
        end(&bed);
    }
}

/* Blocking ones, and those that are started by one call and completed by another. */
static void every_collective_of_a_history_is_one_of_all_ranks_in_the_graph(void **state)
{
    (void)state;
    struct bed bed;
    struct trace_messages messages;
    struct dependencies d;
    struct history_plan plan = usual;
    uint64_t members = 0, started = 0, left = 0;
    plan.rounds = 1000;
    struct history history = make(&bed, &plan);
    assert_int_equal(import_otf2_dependencies(bed.archive, report_fault, &bed.reported, &messages),
                     0);
    assert_int_equal(dependencies_make(&d, &messages.calls, NULL), 0);
    assert_int_equal(d.counts.rejected, 0);
    for (uint32_t i = 0; i < d.collective_count; i++) {
        const struct dependency_collective *c = &d.collectives[i];
        assert_int_equal(c->count, plan.ranks);
        members += c->count;
        started += c->call == CALL_Iallreduce ? c->count : 0;
        for (uint32_t k = c->first; c->call == CALL_Iallreduce && k < c->first + c->count; k++)
            left += d.members[k].leave != DEPENDENCY_NONE;
    }
    assert_int_equal(members, history.collectives);
    assert_true(started > 0 && left == started);
    dependencies_finish(&d);
    dependency_calls_finish(&messages.calls);
    end(&bed);
}

static void records_without_calls_around_them_count_all_the_same(void **state)
{
    struct bed bed;
    struct history_plan plan = usual;
    (void)state;
    plan.no_calls = 1;
    struct history history = make(&bed, &plan);
    import_all(&bed);
    compare(&bed, &history, &plan);
    assert_int_equal(bed.counts.counts.rejected + bed.counts.counts.unmatched, 0);
    assert_int_equal(bed.counts.counts.matched, history.within_hosts);
    end(&bed);
}

static void archives_of_other_kinds_are_read(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 4; kind++) {
        struct bed bed;
        struct history_plan plan = usual;
        plan.no_definitions = kind == 0;
        plan.late = kind == 1;
        plan.resolution = kind == 2 ? 1 : kind == 3 ? UINT64_C(1) << 42 : plan.resolution;
        plan.offset = kind == 3 ? UINT64_C(1) << 62 : plan.offset;
        plan.date = kind == 1 ? UINT64_C(1600000000000000000) : 0;
        plan.rounds = kind == 2 ? 10 : 1000;
        struct history history = make(&bed, &plan);
        import_all(&bed);
        compare(&bed, &history, &plan);
        assert_int_equal(bed.counts.counts.matched, history.within_hosts);
        uint64_t begin_ns = bed.sums.first_window * bed.sums.window_ns;
        if (kind == 1)
            assert_true(begin_ns >= plan.date && begin_ns < plan.date + 1000000000);
        end(&bed);
    }
}

/* Writers may set the length to anything; readers of events do not look at it. */
static void a_length_that_is_wrong_costs_no_record(void **state)
{
    static const uint64_t lengths[] = {20000, 1, UINT64_MAX / 2, UINT64_MAX};
    (void)state;
    for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
        struct history_plan plan = usual;
        struct bed bed;
        plan.resolution = 1000000;
        plan.length = lengths[i];
        struct history history = make(&bed, &plan);
        assert_true(history.last_ns > UINT64_C(1000000000));
        assert_int_equal(import_with(&bed, 2), 0);
        assert_int_equal(bed.reported.text[0] != '\0', i < 2);
        if (i < 2)
            assert_non_null(strstr(bed.reported.text, "it is read once more"));
        bed.reported.text[0] = '\0';
        compare(&bed, &history, &plan);
        assert_in_range(bed.counts.counts.windows, 10, 100000);
        end(&bed);
    }
}

/* Records of a rank's threads are in the order of each; what one posts, another may complete.
 * Messages of one pair and tag have many sizes: were one matched out of its place, both ends would
 * be rejected. */
static void what_one_thread_posts_another_may_complete(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 6; kind++) {
        struct bed bed;
        struct history_plan plan = usual;
        plan.seed = 1 + kind;
        plan.rounds = kind < 5 ? 3000 : 40000;
        plan.threads = 2 + kind % 3;
        plan.waiter = kind % 2 == 1;
        plan.no_calls = kind == 3;
        struct history history = make(&bed, &plan);
        import_all(&bed);
        compare(&bed, &history, &plan);
        assert_int_equal(bed.counts.streams, plan.ranks * plan.threads);
        assert_int_equal(bed.counts.forced, 0);
        assert_int_equal(bed.counts.counts.matched, history.within_hosts);
        assert_int_equal(bed.counts.counts.halves, 2 * (history.sends - history.within_hosts));
        assert_int_equal(bed.counts.counts.rejected + bed.counts.counts.unmatched, 0);
        uint64_t digest = bed.sums.digest;
        assert_int_equal(import_with(&bed, 3), 0);
        assert_true(bed.sums.digest == digest);
        end(&bed);
    }
}

static void threads_are_matched_as_otf2_print_shows_them(void **state)
{
    struct bed bed;
    struct history_plan plan = usual;
    char command[512];
    uint64_t messages, ticks;
    (void)state;
    if (system("command -v otf2-print >/dev/null 2>&1") != 0)
        skip();
    plan.threads = 4;
    make(&bed, &plan);
    import_all(&bed);
    snprintf(command, sizeof(command), "python3 '%s' '%.127s' %u %u", OTF2_PRINT_MATCHES,
             bed.archive, (unsigned)plan.ranks, (unsigned)plan.per_host);
    FILE *shown = popen(command, "re");
    assert_non_null(shown);
    assert_int_equal(fscanf(shown, "%lu %lu", &messages, &ticks), 2);
    assert_int_equal(pclose(shown), 0);
    assert_int_equal(bed.sums.transfers, messages);
    assert_int_equal(bed.sums.transfer_ns, ticks);
    end(&bed);
}

/* ---- broken archives ------------------------------------------------------- */

static void cut(const struct bed *bed, const char *file, long keep)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", bed->directory, file);
    assert_int_equal(truncate(path, keep), 0);
}

static void a_file_that_is_cut_off_gives_what_is_whole(void **state)
{
    struct bed bed;
    (void)state;
    unpack(&bed);
    import_all(&bed);
    uint64_t whole = bed.sums.sent, of_third = bed.sums.rank_events[3];
    cut(&bed, "traces/3.evt", 16384);
    assert_int_equal(import_with(&bed, 2), 0);
    assert_int_equal(bed.counts.counts.failed_streams, 1);
    assert_non_null(strstr(bed.reported.text, "traces/3.evt: after event "));
    assert_non_null(strstr(bed.reported.text, "byte "));
    assert_true(bed.sums.sent < whole);
    assert_true(bed.sums.rank_events[3] > 0 && bed.sums.rank_events[3] < of_third);
    assert_true(bed.sums.rank_events[2] > 400);
    end(&bed);
}

static void definitions_of_a_location_that_are_cut_off_are_reported(void **state)
{
    struct bed bed;
    (void)state;
    unpack(&bed);
    import_all(&bed);
    uint64_t whole = bed.sums.sent;
    cut(&bed, "traces/3.def", 20);
    assert_int_equal(import_with(&bed, 2), 0);
    assert_int_equal(bed.counts.counts.failed_streams, 1);
    assert_non_null(strstr(bed.reported.text, "its definitions, 3.def, are not whole"));
    assert_int_equal(bed.sums.sent, whole);
    end(&bed);
}

static void a_file_that_is_missing_is_reported(void **state)
{
    struct bed bed;
    char path[256];
    (void)state;
    unpack(&bed);
    snprintf(path, sizeof(path), "%s/traces/5.evt", bed.directory);
    assert_int_equal(remove(path), 0);
    assert_int_equal(import_with(&bed, 1), 0);
    assert_int_equal(bed.counts.counts.failed_streams, 1);
    assert_non_null(strstr(bed.reported.text, "traces/5.evt: "));
    assert_int_equal(bed.sums.rank_events[5], 0);
    assert_true(bed.sums.rank_events[4] > 0);
    end(&bed);
}

/* What the files do not contain any more cannot be imported: the status is not success. */
static void definitions_that_are_cut_off_are_reported(void **state)
{
    struct bed bed;
    (void)state;
    unpack(&bed);
    import_all(&bed);
    assert_false(bed.counts.definitions_broken);
    assert_int_equal(unlink(bed.recording), 0);
    struct stat status;
    char path[256];
    snprintf(path, sizeof(path), "%s/traces.def", bed.directory);
    assert_int_equal(stat(path, &status), 0);
    cut(&bed, "traces.def", (long)status.st_size - 1000);
    assert_int_equal(import_with(&bed, 1), 0);
    assert_true(bed.counts.definitions_broken);
    assert_non_null(strstr(bed.reported.text, "traces.def: definitions are not whole"));
    assert_non_null(strstr(bed.reported.text, ", before byte "));
    end(&bed);
}

static void definitions_that_are_not_there_are_reported(void **state)
{
    struct bed bed;
    (void)state;
    unpack(&bed);
    cut(&bed, "traces.def", 0);
    assert_true(import_with(&bed, 1) < 0);
    assert_non_null(strstr(bed.reported.text, "traces.def: "));
    assert_int_equal(access(bed.recording, F_OK), -1);
    cut(&bed, "traces.otf2", 20);
    assert_true(import_with(&bed, 1) < 0);
    cut(&bed, "traces.otf2", 0);
    assert_true(import_with(&bed, 1) < 0);
    snprintf(bed.archive, sizeof(bed.archive), "%s/none.otf2", bed.directory);
    assert_true(import_with(&bed, 1) < 0);
    assert_non_null(strstr(bed.reported.text, "none.otf2: "));
    end(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_length_that_is_wrong_costs_no_record),
        cmocka_unit_test(a_recorded_trace_has_all_that_otf2_print_shows),
        cmocka_unit_test(the_golden_figures_are_those_that_otf2_print_gives_now),
        cmocka_unit_test(any_number_of_threads_gives_the_same_recording),
        cmocka_unit_test(a_link_to_the_anchor_alone_stands_for_the_archive),
        cmocka_unit_test(pipes_in_place_of_files_are_not_waited_for),
        cmocka_unit_test(hosts_that_are_asked_for_take_the_place_of_those_of_the_archive),
        cmocka_unit_test(impossible_hosts_are_reported),
        cmocka_unit_test(any_history_is_imported_exactly),
        cmocka_unit_test(every_collective_of_a_history_is_one_of_all_ranks_in_the_graph),
        cmocka_unit_test(records_without_calls_around_them_count_all_the_same),
        cmocka_unit_test(archives_of_other_kinds_are_read),
        cmocka_unit_test(what_one_thread_posts_another_may_complete),
        cmocka_unit_test(threads_are_matched_as_otf2_print_shows_them),
        cmocka_unit_test(a_file_that_is_cut_off_gives_what_is_whole),
        cmocka_unit_test(definitions_of_a_location_that_are_cut_off_are_reported),
        cmocka_unit_test(a_file_that_is_missing_is_reported),
        cmocka_unit_test(definitions_that_are_cut_off_are_reported),
        cmocka_unit_test(definitions_that_are_not_there_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
