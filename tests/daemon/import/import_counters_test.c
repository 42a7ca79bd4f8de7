#include "daemon/import/counter_table.h"
#include "daemon/import/import.h"
#include "daemon/storage/recording.h"
#include "holter/error.h"
#include "tests/data_file.h"
#include "tests/directory.h"
#include "tests/reported_faults.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
// clang-format off
#include <cmocka.h>
// clang-format on

/* ---- the counters of Blue Gene/P ------------------------------------------------- */

#define REGIONS 16u

/* Packets by code region, as the table of links has them: region -2 is at 0. */
static void sum_table(uint64_t sums[REGIONS])
{
    size_t length;
    char *text = data_file("bgp-counters/bgpc_links.yaml", &length), *at = strstr(text, "\n...\n");
    long long row[9];
    assert_non_null(at);
    memset(sums, 0, REGIONS * sizeof(*sums));
    for (at += 5; sscanf(at, "%lld %lld %lld %lld %lld %lld %lld %lld %lld", &row[0], &row[1],
                         &row[2], &row[3], &row[4], &row[5], &row[6], &row[7], &row[8]) == 9;) {
        sums[row[7] + 2] += (uint64_t)row[8];
        at = strchr(at, '\n');
        if (at == NULL)
            break;
        at++;
    }
    free(text);
}

struct seen {
    uint64_t sent[64], received[64]; /* by window */
    uint64_t first, hosts, ranks;
    uint64_t ports; /* counters of the first window */
    char command[1024];
};

static int see(void *user, const struct recorded *head, const void *bytes, size_t length)
{
    struct seen *seen = user;
    struct wire_arena arena = {0};
    struct wire_message m;
    assert_int_equal(wire_decode(&m, &arena, bytes, length, NULL), 0);
    if (m.type == WIRE_TYPE_RANKS) {
        seen->hosts++;
        seen->ranks += m.ranks.members_count;
        snprintf(seen->command, sizeof(seen->command), "%s", m.ranks.command);
    } else if (m.type == WIRE_TYPE_WINDOW) {
        seen->first = seen->first == 0 ? head->window : seen->first;
        for (uint64_t i = 0; i < m.window.counters_count; i++) {
            const struct wire_counter_row *row = &m.window.counters[i];
            assert_int_equal(row->unit, 1);
            seen->sent[head->window - seen->first] += row->sent;
            seen->received[head->window - seen->first] += row->received;
            seen->ports += head->window == seen->first;
        }
    }
    wire_arena_finish(&arena);
    return 0;
}

static void unpack(const char *directory, const char *name)
{
    char from[100], path[400];
    snprintf(from, sizeof(from), "bgp-counters/%s", name);
    data_file_unpack(from, directory, path, sizeof(path));
}

static void packets_of_each_code_region_are_those_of_the_table(void **state)
{
    (void)state;
    char directory[DIRECTORY_ROOM], source[300], path[300], *at;
    struct reported_faults reported = {""};
    struct import_counts counts;
    static struct seen seen;
    uint64_t wanted[REGIONS], sums[REGIONS] = {0};
    assert_int_equal(directory_make(directory), 0);
    unpack(directory, "bgpc_meta.yaml");
    unpack(directory, "bgpc_links.yaml");
    unpack(directory, "bgpc_nodes.yaml");
    unpack(directory, "bgpc_map.yaml");
    snprintf(source, sizeof(source), "%s/bgpc_meta.yaml", directory);
    snprintf(path, sizeof(path), "%s/a.hrec", directory);
    if (import_counters(path, source, &counts, report_fault, &reported) != 0)
        fail_msg("%s", reported.text);
    assert_int_equal(counts.nodes, 512);
    assert_int_equal(counts.ranks, 512);
    assert_int_equal(counts.packets, 32321586);
    struct recording_reader reader = {.user = &seen, .message = see};
    assert_int_equal(recording_read(path, &reader), 0);
    assert_int_equal(seen.hosts, 512);
    assert_int_equal(seen.ranks, 512);
    assert_int_equal(seen.ports, 512 * 6);
    at = strstr(seen.command, "code regions ");
    assert_non_null(at);
    at += strlen("code regions ");
    for (uint32_t w = 0; w < counts.windows; w++) {
        long region = strtol(at, &at, 10);
        assert_in_range(region + 2, 0, REGIONS - 1);
        assert_int_equal(seen.sent[w], seen.received[w]);
        sums[region + 2] += seen.sent[w];
    }
    assert_string_equal(at, "");
    sum_table(wanted);
    assert_memory_equal(sums, wanted, sizeof(sums));
    directory_remove(directory);
}

/* ---- what is wrong ------------------------------------------------------------------ */

static const char meta[] = "key: A\n"
                           "hardware: {\n"
                           " network: torus,\n"
                           " coords: [x, y],\n"
                           " coords_table: nodes,\n"
                           " dim: {x: 4, y: 2},\n"
                           " source_coords: {x: sx, y: sy},\n"
                           " destination_coords: {x: tx, y: ty},\n"
                           " link_coords_table: links\n"
                           "}\n";
static const char nodes[] = "key: A\n---\n- [nodeid, int32]\n- [x, int32]\n- [y, int32]\n...\n"
                            "0 0 0\n1 1 0\n";
static const char head[] = "key: A\n---\n- [sx, int32]\n- [sy, int32]\n- [tx, int32]\n"
                           "- [ty, int32]\n- [code_region, int32]\n- [packets, int64]\n...\n";

static void write_text(const char *directory, const char *name, const char *begin, const char *rest)
{
    char path[400];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_true(fputs(begin, file) >= 0 && fputs(rest, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* Import with these tables. @param reported  set @return what was imported; nothing when it was
 * refused
 */
static struct import_counts import_table(const char *about, const char *node_rows,
                                         const char *columns, const char *link_rows,
                                         struct reported_faults *reported)
{
    char directory[DIRECTORY_ROOM], source[300], path[300];
    struct import_counts counts = {0};
    assert_int_equal(directory_make(directory), 0);
    write_text(directory, "meta", about, "");
    write_text(directory, "nodes", nodes, node_rows);
    write_text(directory, "links", columns, link_rows);
    write_text(directory, "ranks", "- [mpirank, int32]\n- [nodeid, int32]\n...\n", "");
    snprintf(source, sizeof(source), "%s/meta", directory);
    snprintf(path, sizeof(path), "%s/a.hrec", directory);
    reported->text[0] = '\0';
    int code = import_counters(path, source, &counts, report_fault, reported);
    assert_int_equal(code == 0 && counts.wrong_rows == 0, reported->text[0] == '\0');
    assert_int_equal(access(path, F_OK), code == 0 ? 0 : -1);
    directory_remove(directory);
    return counts;
}

static struct import_counts import(const char *about, const char *node_rows, const char *link_rows,
                                   struct reported_faults *reported)
{
    return import_table(about, node_rows, head, link_rows, reported);
}

static void assert_ends(const struct reported_faults *reported, const char *end)
{
    size_t length = strlen(reported->text), wanted = strlen(end);
    if (length < wanted || strcmp(reported->text + length - wanted, end) != 0)
        fail_msg("reported is\n%swanted is\n%s", reported->text, end);
}

static void faults_of_tables_are_reported_with_their_line(void **state)
{
    (void)state;
    struct reported_faults reported;
    import(meta, "", "0 0 1 0 1 5\n0 0 0 1 1 6\n", &reported);
    assert_string_equal(reported.text, "");
    import(meta, "", "0 0 1 0 1\n", &reported);
    assert_ends(&reported, "links:10: column packets: a whole number is expected\n");
    import(meta, "", "0 0 1 0 1 5 6\n", &reported);
    assert_ends(&reported, "links:10: more numbers than the 6 columns\n");
    import(meta, "", "0 0 1 0 1 5\n4 0 0 0 1 5\n", &reported);
    assert_ends(&reported, "links:11: sx: coordinate 4 of dimension x, whose size is 4\n");
    import(meta, "", "0 0 2 0 1 5\n", &reported);
    assert_ends(&reported, "links:10: no link leads from (0,0) to (2,0)\n");
    import(meta, "", "0 0 1 0 1 -5\n", &reported);
    assert_ends(&reported, "links:10: packets: -5 of them\n");
    import(meta, "2 0 7\n", "", &reported);
    assert_ends(&reported, "nodes:9: y: coordinate 7 of dimension y, whose size is 2\n");
    import(meta, "0 3 1\n", "", &reported);
    assert_ends(&reported, "nodes: node 0 stands there with two places\n");
}

static void rows_that_are_whole_are_imported(void **state)
{
    (void)state;
    struct reported_faults reported;
    struct import_counts counts = import(meta, "2 0 x\n",
                                         "0 0 1 0 1 5\n0 0 1 0\n\n4 0 0 0 1 50\n0 0 2 0 1 50\n"
                                         "0 0 1 0 1 -5\n0 0 1 0 2 7\n1 0 0 0 2 1",
                                         &reported);
    assert_int_equal(counts.rows, 3);
    assert_int_equal(counts.wrong_rows, 5);
    assert_int_equal(counts.packets, 13);
    assert_int_equal(counts.windows, 2);
    assert_non_null(strstr(reported.text, "nodes:9: column y: a whole number is expected\n"));
    assert_non_null(
        strstr(reported.text, "links:11: column code_region: a whole number is expected\n"));
    assert_non_null(strstr(reported.text, "links:13: sx: coordinate 4"));
    assert_non_null(strstr(reported.text, "links:14: no link leads"));
    assert_non_null(strstr(reported.text, "links:15: packets: -5 of them"));
}

static void packets_that_no_rank_is_beside_are_not_counted_as_recorded(void **state)
{
    (void)state;
    struct reported_faults reported;
    /* ranks are on (0,0) and (1,0) */
    struct import_counts counts =
        import(meta, "", "0 0 1 0 1 5\n1 0 2 0 1 6\n2 0 1 0 1 7\n2 0 3 0 1 50\n", &reported);
    assert_string_equal(reported.text, "");
    assert_int_equal(counts.rows, 4);
    assert_int_equal(counts.packets, 18);
    assert_int_equal(counts.unseen, 50);
}

/* There are two wires between two nodes along a dimension of size 2. */
static void wires_between_the_same_nodes_are_counted_in_the_same_visit(void **state)
{
    (void)state;
    static const char columns[] =
        "key: A\n---\n- [linkid, int32]\n- [sx, int32]\n- [sy, int32]\n- [tx, int32]\n"
        "- [ty, int32]\n- [code_region, int32]\n- [packets, int64]\n...\n";
    struct reported_faults reported;
    struct import_counts counts =
        import_table(meta, "", columns,
                     "0 0 0 0 1 1 5\n1 0 0 0 1 1 6\n0 0 0 0 1 1 7\n1 0 0 0 1 1 8\n", &reported);
    assert_string_equal(reported.text, "");
    assert_int_equal(counts.packets, 26);
    assert_int_equal(counts.windows, 2); /* the region comes twice */
}

static void faults_of_the_first_file_are_reported_with_their_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *fault;
    } cases[] = {
        {"key: A\n", "f: `hardware` is missing: this does not describe counters\n"},
        {"---\nkey: A\n---\nhardware: {network: mesh}\n",
         "f:4: network: only a torus is known\nf:4: coords: is missing\n"},
        {"hardware: {network: torus, coords: [x], coords_table: ../n, link_coords_table: l,\n"
         " dim: {x: 3}, source_coords: {x: s}, destination_coords: {x: t}}\n",
         "f:1: coords_table: is missing, too long, or leads to another folder\n"},
        {"a: [\n", "f:2: not YAML: did not find expected node content\n"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct reported_faults reported = {""};
        struct faults faults = {"f", report_fault, &reported, 0};
        struct counter_meta about;
        assert_int_equal(counter_meta_parse(&about, cases[i].text, strlen(cases[i].text), &faults),
                         -HOLTER_EUSAGE);
        assert_string_equal(reported.text, cases[i].fault);
    }
}

static void file_that_is_no_table_is_reported(void **state)
{
    (void)state;
    struct reported_faults reported = {""};
    struct faults faults = {"f", report_fault, &reported, 0};
    struct counter_table table;
    assert_int_equal(counter_table_parse(&table, "1 2 3\n", 6, &faults), -HOLTER_EUSAGE);
    assert_string_equal(reported.text,
                        "f:1: no columns are declared: this is not a table of counters\n");
    reported.text[0] = '\0';
    faults.count = 0;
    static const char unended[] = "---\n- [rank, int32]\n0\n1\n";
    assert_int_equal(counter_table_parse(&table, unended, sizeof(unended) - 1, &faults),
                     -HOLTER_EUSAGE);
    assert_string_equal(reported.text, "f:4: the line ... behind the columns is missing\n");
}

static void tables_without_rows_are_reported(void **state)
{
    (void)state;
    struct reported_faults reported;
    static const char with_ranks[] = "---\nfiletype: projection\ntype: file\nfilename: ranks\n"
                                     "subdomain:\n- { type: NODE }\n- { type: RANK }\n";
    char about[600];
    import(meta, "", "", &reported);
    assert_ends(&reported, "links: there are no rows in it\n");
    snprintf(about, sizeof(about), "%s%s", meta, with_ranks);
    import(about, "", "0 0 1 0 1 5\n", &reported);
    assert_ends(&reported, "ranks: there are no rows in it\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets_of_each_code_region_are_those_of_the_table),
        cmocka_unit_test(packets_that_no_rank_is_beside_are_not_counted_as_recorded),
        cmocka_unit_test(wires_between_the_same_nodes_are_counted_in_the_same_visit),
        cmocka_unit_test(faults_of_tables_are_reported_with_their_line),
        cmocka_unit_test(rows_that_are_whole_are_imported),
        cmocka_unit_test(faults_of_the_first_file_are_reported_with_their_line),
        cmocka_unit_test(file_that_is_no_table_is_reported),
        cmocka_unit_test(tables_without_rows_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
