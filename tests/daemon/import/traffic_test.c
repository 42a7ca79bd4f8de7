#include "daemon/import/import.h"
#include "daemon/import/traffic.h"
#include "daemon/storage/recording.h"
#include "holter/error.h"
#include "holter/wire.h"
#include "tests/data_file.h"
#include "tests/directory.h"
#include "tests/reported_faults.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

static struct pairs read_text(const char *text)
{
    struct pairs pairs;
    struct reported_faults reported = {""};
    if (pairs_parse(&pairs, "f", text, strlen(text), report_fault, &reported) != 0)
        fail_msg("%s", reported.text);
    return pairs;
}

static void assert_fault(const char *text, const char *fault)
{
    struct pairs pairs;
    struct reported_faults reported = {""};
    assert_int_equal(pairs_parse(&pairs, "f", text, strlen(text), report_fault, &reported),
                     -HOLTER_EUSAGE);
    assert_string_equal(reported.text, fault);
    assert_null(pairs.edges);
}

static struct topology_file network(const char *given)
{
    struct topology_file file = {.topology = NULL};
    struct reported_faults reported = {""};
    if (topology_file_given(&file, given, report_fault, &reported) != 0)
        fail_msg("%s", reported.text);
    return file;
}

/* ---- hop-byte and route files ----------------------------------------------------- */

static void lines_of_one_pair_are_summed(void **state)
{
    (void)state;
    struct pairs pairs = read_text("# source destination bytes hops\n"
                                   "1 0 8.5e+01 1\n0 1 7\n\n1 0 15\t2\r\n1 1 3\n");
    assert_int_equal(pairs.source, PAIRS_HOP_BYTES);
    assert_int_equal(pairs.processes, 2);
    assert_int_equal(pairs.edge_count, 3);
    assert_int_equal(pairs.edges[0].from, 0);
    assert_int_equal(pairs.edges[0].bytes, 7);
    assert_int_equal(pairs.edges[1].bytes, 100);
    assert_int_equal(pairs.edges[1].messages, 2);
    pairs_finish(&pairs);
}

static void ranks_without_messages_are_processes_too(void **state)
{
    (void)state;
    struct pairs ranks = read_text("0 1 1\n1 3 1\n3 4 1\n");
    assert_int_equal(ranks.processes, 5);
    assert_int_equal(ranks.ids[2], 2);
    pairs_finish(&ranks);
}

static void numbers_of_nodes_stand_for_themselves(void **state)
{
    (void)state;
    struct pairs nodes = read_text("762 1280 1\n764 762 1\n");
    assert_int_equal(nodes.processes, 3);
    assert_int_equal(nodes.ids[0], 762);
    assert_int_equal(nodes.ids[1], 764);
    assert_int_equal(nodes.ids[2], 1280);
    assert_int_equal(nodes.edges[0].to, 2);
    pairs_finish(&nodes);
}

static void routes_count_as_a_byte_each(void **state)
{
    (void)state;
    struct pairs pairs = read_text("Hop 2: [3-0] 1 (0 1) -> 0 (0 0)\n"
                                   "Hop 1: [3-0] 3 (1 1) -> 1 (0 1)\n"
                                   "Hop 1: [1-0] 1 (0 1) -> 0 (0 0)\n"
                                   "Hop 2: [3-1] 2 (1 0) -> 0 (0 0)\n"
                                   "Hop 3: [3-1] 0 (0 0) -> 1 (0 1)\n");
    assert_int_equal(pairs.source, PAIRS_ROUTES);
    assert_int_equal(pairs.edge_count, 3);
    assert_int_equal(pairs.edges[2].to, 1);
    assert_int_equal(pairs.edges[2].bytes, 1);
    assert_int_equal(pairs.edges[2].messages, 1);
    assert_int_equal(pairs.edges[1].from, 3);
    assert_int_equal(pairs.edges[1].bytes, 1);
    pairs_finish(&pairs);
}

static void routes_may_follow_a_comment(void **state)
{
    (void)state;
    struct pairs pairs = read_text("# routes of a run\n\n\tHop 1: [1-0] 1 (0 1) -> 0 (0 0)\n");
    assert_int_equal(pairs.source, PAIRS_ROUTES);
    assert_int_equal(pairs.edge_count, 1);
    assert_int_equal(pairs.edges[0].bytes, 1);
    pairs_finish(&pairs);
    pairs = read_text("# Hop bytes\n1 0 15\n");
    assert_int_equal(pairs.source, PAIRS_HOP_BYTES);
    pairs_finish(&pairs);
}

static void bytes_are_exact_below_2_to_63(void **state)
{
    (void)state;
    struct pairs pairs = read_text("0 1 9007199254740993\n1 0 4611686018427387905\n1 2 2.5\n");
    assert_int_equal(pairs.edges[0].bytes, (UINT64_C(1) << 53) + 1);
    assert_int_equal(pairs.edges[1].bytes, (UINT64_C(1) << 62) + 1);
    assert_int_equal(pairs.edges[2].bytes, 3);
    pairs_finish(&pairs);
    assert_fault("0 1 9223372036854775807.5\n", "f:1: the third word is no number of bytes\n");
}

static void hop_counts_of_another_network_are_reported(void **state)
{
    (void)state;
    struct pairs pairs = read_text("0 1 10 1\n\n0 2 10 2\n0 3 10\n0 3 1 1\n1 3 1 7");
    uint32_t seats[] = {0, 1, 2, 3};
    const struct pair_hops *first = NULL;
    struct topology_file line = network("mesh:4"), ring = network("torus:4");
    assert_int_equal(pairs.hop_count, 4);
    assert_int_equal(pairs_compare_hops(&pairs, line.topology, seats, &first), 2);
    assert_int_equal(first->line, 5);
    assert_int_equal(pairs_compare_hops(&pairs, ring.topology, seats, &first), 1);
    assert_int_equal(first->line, 6);
    assert_int_equal(first->hops, 7);
    topology_file_finish(&line);
    topology_file_finish(&ring);
    pairs_finish(&pairs);
}

static void faults_are_reported_with_their_line(void **state)
{
    (void)state;
    assert_fault("", "f: no pair stands in it\n");
    assert_fault("0 1 2\nx 1 2\n0 1\n",
                 "f:2: the line does not begin with two numbers, source and destination\n"
                 "f:3: the third word is no number of bytes\n");
    assert_fault("0 1 -2\n0 1 nan\n0 1 0x10\n0 1 1e30\n",
                 "f:1: the third word is no number of bytes\n"
                 "f:2: the third word is no number of bytes\n"
                 "f:3: the third word is no number of bytes\n"
                 "f:4: the third word is no number of bytes\n");
    assert_fault("0 1 2 x\n0 1 2 3 4\n", "f:1: the fourth word is no number of hops\n"
                                         "f:2: more than four words\n");
    assert_fault("0 1 9e18\n0 2 2e17\n0 3 5e17\n3 3 1\n",
                 "f:3: with this line there are 2^63 bytes or more, too many for a sum\n");
    assert_fault("99999999999 1 2\n", "f:1: a rank or node beyond 32 bits\n");
    assert_fault("Hop 1: [3-0] 3 (1 1) -> 1 (0 1)\n0 1 2\n",
                 "f:2: a hop begins with \"Hop\" and its number, from 1 up\n");
    assert_fault(
        "Hop 1: [3-0] 3 (1 1) -> 1 (0 1)\nHop 1: [2516-257Hop 1: [1-0] 1 (0 1) -> 0 (0 0)\n",
        "f:2: [SOURCE-DESTINATION] is missing\n");
}

static void seats_follow_from_ranks_a_node(void **state)
{
    (void)state;
    char why[300];
    uint32_t *seats;
    struct topology_file t = network("mesh:2,2");
    struct pairs pairs = read_text("0 7 1\n1 2 1\n3 4 1\n5 6 1\n");
    assert_int_equal(pairs_seats(&seats, &pairs, &t, 0, why, sizeof(why)), 0);
    assert_int_equal(seats[1], 0);
    assert_int_equal(seats[7], 3);
    free(seats);
    assert_int_equal(pairs_seats(&seats, &pairs, &t, 4, why, sizeof(why)), 0);
    assert_int_equal(seats[7], 1);
    free(seats);
    assert_int_equal(pairs_seats(&seats, &pairs, &t, 1, why, sizeof(why)), -HOLTER_EUSAGE);
    assert_string_equal(why, "7 is on node 7 with 1 ranks a node, but the network has 4 nodes");
    pairs_finish(&pairs);
    topology_file_finish(&t);
}

/* ---- recorded networks --------------------------------------------------------------- */

static void network_of_recorded_routes_is_inferred(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t nodes, routes, gaps, per_node;
        const char
            *steps; /* dimensions in the order in which routes correct them; "": not reported */
    } cases[] = {
        {"route/MiniAMR_Vesta_n64_c1_s2_route.txt", 64, 948, 0, 1, "DBACE"},
        {"route/MiniMD_Vesta_n128_c16_w_route.txt", 128, 8192, 0, 16, "BACDE"},
        {"route/IoDefault_Mira_n512_c16_route.txt", 512, 504, 0, 16, "ABCDE"},
        {"route/MiniMD_Mira_n1024_c1_w_route.txt", 1024, 6144, 0, 1, ""},
        {"route/MiniMD_Mira_n2048_c1_s1_route.txt", 2048, 1630, 418, 1, ""},
        {"route/MiniAMR_Theta_n256_c1_s2_route.txt", 4608, 5203, 35, 1, ""},
        {"hopbyte/MiniMD_Vesta_n128_c16_w_hopbyte.txt", 128, 0, 0, 16, ""},
        {"hopbyte/MiniMD_Mira_n1024_c1_w_hopbyte.txt", 1024, 0, 0, 1, ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char path[200];
        size_t length;
        struct reported_faults reported = {""};
        struct topology_file file = {.topology = NULL};
        snprintf(path, sizeof(path), "par-comm-data/%s", cases[i].name);
        char *text = data_file(path, &length);
        if (topology_file_parse(&file, "f", text, length, report_fault, &reported) != 0)
            fail_msg("%s: %s", cases[i].name, reported.text);
        const struct topology_spec *spec = topology_spec(file.topology);
        assert_int_equal(topology_nodes(file.topology), cases[i].nodes);
        assert_int_equal(file.routes, cases[i].routes);
        assert_int_equal(file.gaps, cases[i].gaps);
        assert_int_equal(file.per_node, cases[i].per_node);
        assert_int_equal(file.remarks != NULL, file.gaps > 0);
        for (uint32_t d = 0; cases[i].steps[0] != '\0' && d < 5; d++)
            assert_int_equal(cases[i].steps[spec->dimensions[d].step], 'A' + d);
        topology_file_finish(&file);
        free(text);
    }
}

static void hop_counts_need_not_reach_the_last_rank(void **state)
{
    (void)state;
    char text[4000] = "";
    size_t used = 0;
    struct reported_faults reported = {""};
    struct topology_file file = {.topology = NULL};
    uint32_t at[TOPOLOGY_DIMENSIONS];
    const uint32_t size[] = {2, 2, 4, 2, 2};
    for (uint32_t node = 1; node < 40; node++) {
        uint32_t hops = 0;
        for (uint32_t d = 5, rest = node; d-- > 0; rest /= size[d]) {
            at[d] = rest % size[d];
            hops += at[d] < size[d] - at[d] ? at[d] : size[d] - at[d];
        }
        used += (size_t)snprintf(text + used, sizeof(text) - used, "0 %u 5 %u\n", 2 * node, hops);
    }
    if (topology_file_parse(&file, "f", text, used, report_fault, &reported) != 0)
        fail_msg("%s", reported.text);
    assert_int_equal(topology_nodes(file.topology), 64);
    assert_int_equal(file.per_node, 2);
    topology_file_finish(&file);
}

static void routes_that_lack_hops_are_reported_with_their_line(void **state)
{
    (void)state;
    static const char text[] = "Hop 1: [3-0] 3 (0 0 0 1 1 0) -> 2 (0 0 0 1 0 0)\n"
                               "Hop 2: [3-0] 2 (0 0 0 1 0 0) -> 0 (0 0 0 0 0 0)\n"
                               "Hop 2: [1-2] 0 (0 0 0 0 0 0) -> 2 (0 0 0 1 0 0)\n"
                               "Hop 1: [31-0] 31 (1 1 1 1 1 0) -> 15 (0 1 1 1 1 0)\n"
                               "Hop 1: [4-0] 4 (0 0 1 0 0 0) -> 0 (0 0 0 0 0 0)\n"
                               "Hop 1: [4-0] 4 (0 0 1 0 0 0) -> 0 (0 0 0 0 0 0)\n";
    struct topology_file file = {.topology = NULL};
    struct reported_faults reported = {""};
    assert_int_equal(topology_file_parse(&file, "f", text, strlen(text), report_fault, &reported),
                     0);
    assert_int_equal(file.routes, 1);
    assert_int_equal(file.gaps, 3);
    assert_string_equal(file.remarks, "3: route 1-2: hops before this one are missing\n"
                                      "6: route 4-0: the hop stands there twice\n"
                                      "4: route 31-0: hops after this one are missing\n");
    topology_file_finish(&file);
}

static void a_route_to_its_own_source_is_reported(void **state)
{
    (void)state;
    static const char text[] = "Hop 1: [3-2] 3 (0 0 0 1 1 0) -> 2 (0 0 0 1 0 0)\n"
                               "Hop 1: [1-1] 1 (0 0 0 0 1 0) -> 1 (0 0 0 0 1 0)\n";
    struct topology_file file = {.topology = NULL};
    struct reported_faults reported = {""};
    assert_int_equal(topology_file_parse(&file, "f", text, strlen(text), report_fault, &reported),
                     0);
    assert_int_equal(file.routes, 1);
    assert_int_equal(file.gaps, 1);
    assert_string_equal(file.remarks, "2: route 1-1: the route's source is its destination\n");
    topology_file_finish(&file);
}

static void malformed_hops_are_reported_with_their_line(void **state)
{
    (void)state;
    static const struct {
        const char *line, *fault;
    } cases[] = {
        {"Hop 0: [1-0] 1 (0 1) -> 0 (0 0)",
         "f:2: a hop begins with \"Hop\" and its number, from 1 up\n"},
        {"Hop 1: 1-0 1 (0 1) -> 0 (0 0)", "f:2: [SOURCE-DESTINATION] is missing\n"},
        {"Hop 1: [1-0] 1 0 1 -> 0 (0 0)",
         "f:2: the begin of the hop and its coordinates are missing\n"},
        {"Hop 1: [1-0] 1 (0 1)", "f:2: the end of the hop is missing\n"},
        {"Hop 1: [1-0] 1 (0 1) -> 0 (0 0 0)",
         "f:2: the end of the hop has not as many coordinates as its begin\n"},
        {"Hop 1: [1-0] 1 (0 1) -> 0 (0 0) x", "f:2: unexpected text after the hop\n"},
        {"Hop 1: [1-0] 1 (0 1 2) -> 0 (0 0 0)",
         "f:2: other hops have another number of coordinates\n"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char text[300];
        struct topology_file file = {.topology = NULL};
        struct reported_faults reported = {""};
        snprintf(text, sizeof(text), "Hop 1: [1-0] 1 (0 1) -> 0 (0 0)\n%s\n", cases[i].line);
        assert_int_equal(
            topology_file_parse(&file, "f", text, strlen(text), report_fault, &reported),
            -HOLTER_EUSAGE);
        assert_string_equal(reported.text, cases[i].fault);
    }
}

/* ---- recordings ------------------------------------------------------------------------ */

static void imported_pairs_come_back_from_the_recording(void **state)
{
    (void)state;
    char directory[DIRECTORY_ROOM], source[300], path[300], why[300];
    struct reported_faults reported = {""};
    struct pairs pairs, back;
    struct topology_file t = network("torus:2,2,2,2,2"), kept;
    uint32_t *seats;
    assert_int_equal(directory_make(directory), 0);
    data_file_unpack("par-comm-data/hopbyte/MiniMD_Vesta_n32_c1_w_hopbyte.txt", directory, source,
                     sizeof(source));
    snprintf(path, sizeof(path), "%s/a.hrec", directory);
    assert_int_equal(pairs_read(&pairs, source, report_fault, &reported), 0);
    assert_int_equal(
        import_pairs(path, source, &pairs, &t, "torus:2,2,2,2,2", 0, report_fault, &reported), 0);
    assert_int_equal(pairs_read(&back, path, report_fault, &reported), 0);
    assert_int_equal(back.source, PAIRS_RECORDING);
    assert_int_equal(back.processes, pairs.processes);
    assert_int_equal(back.edge_count, pairs.edge_count);
    assert_memory_equal(back.edges, pairs.edges, pairs.edge_count * sizeof(*pairs.edges));
    assert_int_equal(back.host_count, 32);
    assert_string_equal(back.hosts[0].name, "(0,0,0,0,0)");
    assert_int_equal(pairs_network(&kept, &seats, &back, path, why, sizeof(why)), 0);
    assert_int_equal(topology_nodes(kept.topology), 32);
    assert_int_equal(topology_spec(kept.topology)->kind, TOPOLOGY_CARTESIAN);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(seats[i], i);
    assert_string_equal(reported.text, "");
    assert_int_equal(import_pairs(path, source, &pairs, &t, "", 0, report_fault, &reported),
                     -EEXIST);
    free(seats);
    topology_file_finish(&kept);
    topology_file_finish(&t);
    pairs_finish(&pairs);
    pairs_finish(&back);
    directory_remove(directory);
}

/* They take no link, but are messages as others are. */
static void what_ranks_send_to_themselves_is_imported(void **state)
{
    static const char text[] = "0 0 5\n0 1 7\n2 0 9\n2 2 6\n2 2 4\n";
    (void)state;
    char directory[DIRECTORY_ROOM], path[300];
    struct reported_faults reported = {""};
    struct pairs pairs, back;
    assert_int_equal(directory_make(directory), 0);
    snprintf(path, sizeof(path), "%s/a.hrec", directory);
    assert_int_equal(pairs_parse(&pairs, "a.txt", text, strlen(text), report_fault, &reported), 0);
    assert_int_equal(pairs.edge_count, 4);
    assert_int_equal(import_pairs(path, "my a.txt", &pairs, NULL, NULL, 0, report_fault, &reported),
                     0);
    assert_int_equal(pairs_read(&back, path, report_fault, &reported), 0);
    assert_string_equal(back.job, "mya"); /* the id of a job has no blanks */
    assert_int_equal(back.edge_count, 4);
    assert_memory_equal(back.edges, pairs.edges, 4 * sizeof(*pairs.edges));
    assert_int_equal(back.edges[3].bytes, 10);
    assert_int_equal(back.edges[3].messages, 2);
    pairs_finish(&pairs);
    pairs_finish(&back);
    directory_remove(directory);
}

static void lines_that_are_whole_are_imported(void **state)
{
    (void)state;
    char directory[DIRECTORY_ROOM], path[300];
    struct reported_faults reported = {""};
    struct pairs pairs;
    assert_int_equal(directory_make(directory), 0);
    snprintf(path, sizeof(path), "%s/a.txt", directory);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_true(fputs("0 1 5 1\n1 x 5\n1 2 7 1\n2 0", file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(pairs_read(&pairs, path, report_fault, &reported), -HOLTER_EUSAGE);
    reported.text[0] = '\0';
    assert_int_equal(pairs_read_whole(&pairs, path, report_fault, &reported), 0);
    assert_int_equal(pairs.edge_count, 2);
    assert_int_equal(pairs.hop_count, 2);
    assert_int_equal(pairs.edges[1].bytes, 7);
    assert_int_equal(pairs.wrong_lines, 2);
    assert_non_null(strstr(reported.text, "a.txt:2: "));
    assert_non_null(strstr(reported.text, "a.txt:4: "));
    pairs_finish(&pairs);
    file = fopen(path, "we");
    assert_non_null(file);
    assert_true(fputs("1 x 5\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(pairs_read_whole(&pairs, path, report_fault, &reported), -HOLTER_EUSAGE);
    directory_remove(directory);
}

/* Of a network of 2 x 2 x 4 x 2 x 2 with damaged lines: cut off, run together, with a wrong number.
 */
static void damaged_lines_leave_the_network_of_the_others(void **state)
{
    (void)state;
    const char *damaged[] = {"Hop 1: [2516-257Hop 1: [12-0] 12 (0 0 3 0 0 0) -> 0 (0 0 0 0 0 0)",
                             "Hop 2: [4-", "Hop 1: [1-0] 9 (0 0 0 0 1 0) -> 0 (0 0 0 0 0 0)"};
    const char *counts[] = {"25 3", "4 x 100 2", "7 9 100 2 11", "7 9 100 77"};
    for (int hops = 0; hops < 2; hops++) {
        struct reported_faults reported = {""};
        struct topology_file file;
        size_t length, lines = 0;
        char *text =
            (char *)data_file(hops ? "par-comm-data/hopbyte/MiniAMR_Vesta_n64_c1_s2_hopbyte.txt"
                                   : "par-comm-data/route/MiniAMR_Vesta_n64_c1_s2_route.txt",
                              &length);
        char *garbled = malloc(length + 1000), *out = garbled;
        assert_non_null(garbled);
        for (char *line = text, *end; line < text + length; line = end + 1, lines++) {
            end = memchr(line, '\n', (size_t)(text + length - line));
            assert_non_null(end);
            out += sprintf(out, "%.*s\n", (int)(end - line), line);
            if (lines % 100 == 0 && lines < (hops ? 400 : 300))
                out += sprintf(out, "%s\n", (hops ? counts : damaged)[lines / 100]);
        }
        assert_int_equal(topology_file_parse(&file, "f", garbled, (size_t)(out - garbled),
                                             report_fault, &reported),
                         0);
        assert_string_equal(reported.text, "");
        assert_int_equal(topology_nodes(file.topology), 64);
        assert_int_equal(topology_spec(file.topology)->dimension_count, 5);
        assert_int_equal(topology_spec(file.topology)->dimensions[2].size, 4);
        assert_int_equal(file.wrong_lines, hops ? 4 : 2);
        assert_non_null(strstr(file.remarks, "\n103: "));
        topology_file_finish(&file);
        free(garbled);
        free(text);
    }
}

static void without_a_network_a_recording_has_a_tree_of_hosts(void **state)
{
    (void)state;
    char directory[DIRECTORY_ROOM], path[300], why[300];
    struct reported_faults reported = {""};
    struct pairs pairs = read_text("0 1 5\n1 2 5\n2 3 5\n3 0 5\n"), back;
    struct topology_file tree;
    uint32_t *seats;
    assert_int_equal(directory_make(directory), 0);
    snprintf(path, sizeof(path), "%s/a.hrec", directory);
    assert_int_equal(import_pairs(path, "x", &pairs, NULL, "", 2, report_fault, &reported), 0);
    assert_int_equal(pairs_read(&back, path, report_fault, &reported), 0);
    assert_int_equal(back.host_count, 2);
    assert_string_equal(back.hosts[1].name, "n1");
    assert_int_equal(pairs_network(&tree, &seats, &back, path, why, sizeof(why)), 0);
    assert_int_equal(topology_distance(tree.topology, seats[0], seats[1]), 2);
    assert_int_equal(topology_distance(tree.topology, seats[0], seats[2]), 4);
    free(seats);
    topology_file_finish(&tree);
    pairs_finish(&pairs);
    pairs_finish(&back);
    directory_remove(directory);
}

static void write_message(struct recording *recording, uint64_t instance, enum wire_type type,
                          const void *message)
{
    struct wire_buffer buffer = {0};
    const struct recorded head = {.type = type, .instance = instance, .seq = 1};
    assert_int_equal(wire_encode(&buffer, type, message), 0);
    assert_int_equal(recording_write_message(recording, &head, buffer.bytes, buffer.length), 0);
    wire_buffer_finish(&buffer);
}

static void write_ranks(struct recording *recording, uint64_t instance, const char *host,
                        uint64_t first, uint64_t count)
{
    struct wire_member_row members[4];
    for (uint64_t i = 0; i < count; i++)
        members[i] = (struct wire_member_row){.rank = first + i, .placement = ""};
    const struct wire_ranks ranks = {.seq = 1,
                                     .job = "a",
                                     .world = 6,
                                     .app = "app",
                                     .mpi = "mpi",
                                     .host = host,
                                     .members = members,
                                     .members_count = count};
    write_message(recording, instance, WIRE_TYPE_RANKS, &ranks);
}

/* As in the daemon. */
static void hosts_of_one_name_stay_two(void **state)
{
    (void)state;
    char directory[DIRECTORY_ROOM], path[300], why[300];
    struct reported_faults reported = {""};
    struct recording *recording;
    struct pairs pairs;
    struct topology_file tree;
    uint32_t *seats;
    assert_int_equal(directory_make(directory), 0);
    snprintf(path, sizeof(path), "%s/a.hrec", directory);
    assert_int_equal(recording_open(&recording, path, why, sizeof(why)), 0);
    write_ranks(recording, 11, "box", 0, 2);
    write_ranks(recording, 12, "box", 2, 2);
    write_ranks(recording, 13, "box", 1, 1); /* the first one's agent after a restart */
    write_ranks(recording, 13, "box", 4, 1);
    write_ranks(recording, 14, "other", 5, 1);
    write_message(recording, 12, WIRE_TYPE_WINDOW,
                  &(struct wire_window){.seq = 1, .job = "a", .host = "box", .length_ns = 1});
    recording_close(recording);
    assert_int_equal(pairs_read(&pairs, path, report_fault, &reported), 0);
    assert_int_equal(pairs.host_count, 3);
    assert_int_equal(pairs.places[1].host, 0);
    assert_int_equal(pairs.places[3].host, 1);
    assert_int_equal(pairs.places[4].host, 0);
    assert_int_equal(pairs.places[5].host, 2);
    assert_int_equal(pairs_network(&tree, &seats, &pairs, path, why, sizeof(why)), 0);
    assert_int_equal(topology_distance(tree.topology, seats[0], seats[4]), 2);
    assert_int_equal(topology_distance(tree.topology, seats[0], seats[2]), 4);
    assert_string_equal(reported.text, "");
    free(seats);
    topology_file_finish(&tree);
    pairs_finish(&pairs);
    directory_remove(directory);
}

static void messages_that_cannot_be_decoded_are_reported(void **state)
{
    (void)state;
    char directory[DIRECTORY_ROOM], path[300], why[300];
    struct reported_faults reported = {""};
    struct recording *recording;
    struct pairs pairs;
    const struct recorded head = {.type = WIRE_TYPE_WINDOW, .instance = 11, .seq = 2};
    assert_int_equal(directory_make(directory), 0);
    snprintf(path, sizeof(path), "%s/a.hrec", directory);
    assert_int_equal(recording_open(&recording, path, why, sizeof(why)), 0);
    write_ranks(recording, 11, "box", 0, 2);
    write_message(recording, 11, WIRE_TYPE_WINDOW,
                  &(struct wire_window){.seq = 1, .job = "a", .host = "box", .length_ns = 1});
    assert_int_equal(recording_write_message(recording, &head, "\xc1", 1), 0);
    recording_close(recording);
    assert_int_equal(pairs_read(&pairs, path, report_fault, &reported), 0);
    assert_non_null(strstr(reported.text,
                           "a.hrec: messages of agents that cannot be decoded are left out: 1\n"));
    pairs_finish(&pairs);
    directory_remove(directory);
}

/* A file may place ranks in a grid that no agent has. */
static void a_rank_of_a_grid_whose_host_is_not_known_is_refused(void **state)
{
    (void)state;
    char directory[DIRECTORY_ROOM], path[300], why[300];
    struct reported_faults reported = {""};
    struct recording *recording;
    struct pairs pairs;
    struct topology_file grid;
    uint32_t *seats;
    struct wire_member_row member = {.rank = 0, .placement = ""};
    struct wire_cart_row cart = {.id = 3, .size = 2};
    struct wire_cart_member_row cart_members[] = {{.rank = 0, .position = 0},
                                                  {.rank = 1, .position = 1}};
    const struct wire_ranks ranks = {.seq = 1,
                                     .job = "a",
                                     .world = 2,
                                     .app = "app",
                                     .mpi = "mpi",
                                     .host = "box",
                                     .members = &member,
                                     .members_count = 1,
                                     .carts = &cart,
                                     .carts_count = 1,
                                     .cart_members = cart_members,
                                     .cart_members_count = 2};
    assert_int_equal(directory_make(directory), 0);
    snprintf(path, sizeof(path), "%s/a.hrec", directory);
    assert_int_equal(recording_open(&recording, path, why, sizeof(why)), 0);
    write_message(recording, 11, WIRE_TYPE_RANKS, &ranks);
    write_message(recording, 11, WIRE_TYPE_WINDOW,
                  &(struct wire_window){.seq = 1, .job = "a", .host = "box", .length_ns = 1});
    recording_close(recording);
    assert_int_equal(pairs_read(&pairs, path, report_fault, &reported), 0);
    assert_int_equal(pairs.grid.ranks, 2);
    assert_int_equal(pairs_grid(&grid, &seats, &pairs, why, sizeof(why)), -HOLTER_EUSAGE);
    assert_string_equal(why, "the recording does not contain the host of rank 1");
    pairs_finish(&pairs);
    directory_remove(directory);
}

/* As in the daemon. */
static void hosts_with_the_name_of_another_vertex_make_a_tree_without_names(void **state)
{
    (void)state;
    char directory[DIRECTORY_ROOM], path[300], why[300];
    struct reported_faults reported = {""};
    struct recording *recording;
    struct pairs pairs;
    struct topology_file tree;
    uint32_t *seats;
    assert_int_equal(directory_make(directory), 0);
    snprintf(path, sizeof(path), "%s/a.hrec", directory);
    assert_int_equal(recording_open(&recording, path, why, sizeof(why)), 0);
    write_ranks(recording, 11, "network", 0, 3); /* as the switch of the tree */
    write_ranks(recording, 12, "box", 3, 3);
    write_message(recording, 12, WIRE_TYPE_WINDOW,
                  &(struct wire_window){.seq = 1, .job = "a", .host = "box", .length_ns = 1});
    recording_close(recording);
    assert_int_equal(pairs_read(&pairs, path, report_fault, &reported), 0);
    assert_int_equal(pairs_network(&tree, &seats, &pairs, path, why, sizeof(why)), 0);
    assert_int_equal(topology_distance(tree.topology, seats[0], seats[1]), 2);
    assert_int_equal(topology_distance(tree.topology, seats[0], seats[3]), 4);
    free(seats);
    topology_file_finish(&tree);
    pairs_finish(&pairs);
    directory_remove(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_one_pair_are_summed),
        cmocka_unit_test(ranks_without_messages_are_processes_too),
        cmocka_unit_test(numbers_of_nodes_stand_for_themselves),
        cmocka_unit_test(routes_count_as_a_byte_each),
        cmocka_unit_test(routes_may_follow_a_comment),
        cmocka_unit_test(bytes_are_exact_below_2_to_63),
        cmocka_unit_test(hop_counts_of_another_network_are_reported),
        cmocka_unit_test(faults_are_reported_with_their_line),
        cmocka_unit_test(seats_follow_from_ranks_a_node),
        cmocka_unit_test(network_of_recorded_routes_is_inferred),
        cmocka_unit_test(hop_counts_need_not_reach_the_last_rank),
        cmocka_unit_test(routes_that_lack_hops_are_reported_with_their_line),
        cmocka_unit_test(a_route_to_its_own_source_is_reported),
        cmocka_unit_test(malformed_hops_are_reported_with_their_line),
        cmocka_unit_test(imported_pairs_come_back_from_the_recording),
        cmocka_unit_test(what_ranks_send_to_themselves_is_imported),
        cmocka_unit_test(lines_that_are_whole_are_imported),
        cmocka_unit_test(damaged_lines_leave_the_network_of_the_others),
        cmocka_unit_test(messages_that_cannot_be_decoded_are_reported),
        cmocka_unit_test(without_a_network_a_recording_has_a_tree_of_hosts),
        cmocka_unit_test(hosts_of_one_name_stay_two),
        cmocka_unit_test(a_rank_of_a_grid_whose_host_is_not_known_is_refused),
        cmocka_unit_test(hosts_with_the_name_of_another_vertex_make_a_tree_without_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
