/* Network and links as text. */
#include "agent/cli/text/text.h"

#include "proto/utf8.h"
#include "tests/proto/wire_random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct out {
    FILE *file;
    char *text;
    size_t length;
};

static void open_out(struct out *out)
{
    *out = (struct out){0};
    out->file = open_memstream(&out->text, &out->length);
    assert_non_null(out->file);
}

static void assert_printed(struct out *out, const char *wanted)
{
    fclose(out->file);
    assert_string_equal(out->text, wanted);
    free(out->text);
}

/* host1 - switch - host2 */
static struct wire_message star(void)
{
    static const struct wire_vertex_row vertices[] = {{"host1", 0}, {"host2", 0}, {"leaf", 1}};
    static const struct wire_edge_row edges[] = {{.from = 0, .to = 2, .interface = "eth0"},
                                                 {.from = 2, .to = 0, .interface = "eth0"},
                                                 {.from = 1, .to = 2, .interface = "eth0"},
                                                 {.from = 2, .to = 1, .interface = "eth0"}};
    static const struct wire_seat_row seats[] = {{0, 0}, {1, 1}, {2, WIRE_ANY}};
    return (struct wire_message){.type = WIRE_TYPE_TOPOLOGY,
                                 .topology = {.job = "job.1",
                                              .name = "a star",
                                              .kind = 4,
                                              .source = "/etc/star.yaml",
                                              .vertices = vertices,
                                              .vertices_count = 3,
                                              .edges = edges,
                                              .edges_count = 4,
                                              .seats = seats,
                                              .seats_count = 3,
                                              .fault = ""}};
}

static struct wire_message torus(const struct wire_dimension_row dimensions[3])
{
    return (struct wire_message){.type = WIRE_TYPE_TOPOLOGY,
                                 .topology = {.job = "job.1",
                                              .name = "torus",
                                              .kind = 0,
                                              .source = "torus:4,3,2",
                                              .dimensions = dimensions,
                                              .dimensions_count = 3,
                                              .fault = ""}};
}

static struct wire_message places(void)
{
    static const struct wire_host_row hosts[] = {{.name = "host1"}, {.name = "host2"}};
    return (struct wire_message){.type = WIRE_TYPE_PLACES,
                                 .places = {.job = "job.1", .hosts = hosts, .hosts_count = 2}};
}

/* ---- the network ------------------------------------------------------------------------------
 */

static void a_graph_is_described_by_its_size_and_source(void **state)
{
    (void)state;
    struct wire_message message = star();
    struct out out;
    open_out(&out);
    tap_topology(out.file, &message.topology);
    assert_printed(&out,
                   "network job.1         a star, from /etc/star.yaml, 2 ranks and 1 without a "
                   "place in it\n"
                   "  3 places, 4 links\n");
}

static void a_regular_network_is_described_by_its_dimensions(void **state)
{
    (void)state;
    const struct wire_dimension_row dimensions[] = {
        {.name = "A", .size = 4}, {.name = "B", .size = 3}, {.name = "C", .size = 2}};
    struct wire_message message = torus(dimensions);
    struct out out;
    open_out(&out);
    tap_topology(out.file, &message.topology);
    assert_printed(&out, "network job.1         torus, from torus:4,3,2, 0 ranks\n"
                         "  A 4, B 3, C 2\n");
}

static void a_file_that_cannot_be_used_is_reported_with_the_reason(void **state)
{
    (void)state;
    struct wire_message message = star();
    message.topology.source = "";
    message.topology.fault = "line 7: no vertex \"host9\"";
    message.topology.vertices_count = message.topology.edges_count = 0;
    struct out out;
    open_out(&out);
    tap_topology(out.file, &message.topology);
    assert_printed(&out,
                   "network job.1         a star, as the agents see it, 2 ranks and 1 without a "
                   "place in it\n"
                   "  fault: line 7: no vertex \"host9\"\n");
}

/* The file is used. */
static void hosts_that_the_network_does_not_have_are_reported(void **state)
{
    (void)state;
    struct wire_message message = star();
    message.topology.fault = "host n9 is not in /etc/star.yaml";
    struct out out;
    open_out(&out);
    tap_topology(out.file, &message.topology);
    assert_printed(&out,
                   "network job.1         a star, from /etc/star.yaml, 2 ranks and 1 without a "
                   "place in it\n"
                   "  fault: host n9 is not in /etc/star.yaml\n"
                   "  3 places, 4 links\n");
}

/* ---- names ------------------------------------------------------------------------------------
 */

static void assert_vertex(const struct network_names *names, uint64_t vertex, const char *wanted)
{
    char text[80];
    assert_string_equal(network_names_vertex(names, vertex, text), wanted);
}

static void vertices_have_the_name_or_the_coordinates_of_the_network(void **state)
{
    (void)state;
    const struct wire_dimension_row dimensions[] = {
        {.name = "A", .size = 4}, {.name = "B", .size = 3}, {.name = "C", .size = 2}};
    struct network_names names = {0};
    struct wire_message message = star();
    assert_vertex(&names, 1, "#1");
    network_names_take(&names, &message);
    assert_vertex(&names, 1, "host2");
    assert_vertex(&names, 2, "leaf");
    assert_vertex(&names, 3, "#3");
    message = torus(dimensions);
    network_names_take(&names, &message);
    assert_vertex(&names, 0, "(0,0,0)");
    assert_vertex(&names, 1, "(0,0,1)");
    assert_vertex(&names, 23, "(3,2,1)");
    assert_vertex(&names, 24, "#24");
    network_names_finish(&names);
}

static void a_network_in_several_messages_has_all_their_names(void **state)
{
    (void)state;
    struct network_names names = {0};
    struct wire_message message = star();
    message.topology.more = 1;
    network_names_take(&names, &message);
    message.topology.more = 0;
    message.topology.vertices_count = 2;
    network_names_take(&names, &message);
    assert_int_equal(names.vertex_count, 5);
    assert_vertex(&names, 4, "host2");
    network_names_take(&names, &message); /* another one */
    assert_int_equal(names.vertex_count, 2);
    network_names_finish(&names);
}

/* ---- links ------------------------------------------------------------------------------------
 */

static void links_are_described_by_their_ends(void **state)
{
    (void)state;
    const struct wire_link_row links[] = {
        {.link = 3,
         .from = 2,
         .to = 1,
         .state = LINK_HOT,
         .messages = 12,
         .bytes = 1536,
         .average = 1024,
         .peak = 2048,
         .share = 0.75,
         .latency = 1.5,
         .measured = 3072,
         .ratio = 2,
         .collective_messages = 3,
         .collective_bytes = 7168},
        {.link = 0,
         .from = 0,
         .to = 2,
         .state = 9,
         .average = NAN,
         .share = NAN,
         .latency = INFINITY,
         .measured = WIRE_ANY,
         .ratio = NAN},
        {.link = 1, .from = 2, .to = 77, .share = 1e300, .measured = 5, .unit = 1, .ratio = -1}};
    const struct wire_link_route_row routes[] = {
        {.link = 3, .source = 0, .destination = 1, .messages = 1, .bytes = 512, .length = 2}};
    const struct wire_interface_row interfaces[] = {{.node = 1,
                                                     .name = "eth0",
                                                     .sent = 1024,
                                                     .received = 10,
                                                     .speed = 1024,
                                                     .link_out = 2,
                                                     .link_in = 3},
                                                    {.node = 9,
                                                     .name = "hsn\033[1m",
                                                     .unit = 1,
                                                     .sent = 7,
                                                     .dropped = 4,
                                                     .link_out = WIRE_ANY,
                                                     .link_in = WIRE_ANY}};
    const struct wire_links message = {.job = "job.1",
                                       .window = 41,
                                       .links = links,
                                       .links_count = 3,
                                       .routes = routes,
                                       .routes_count = 1,
                                       .interfaces = interfaces,
                                       .interfaces_count = 2,
                                       .hot = 1,
                                       .idle = 2,
                                       .bytes = 1536,
                                       .unplaced = 100,
                                       .left_out = 1};
    struct network_names names = {0};
    struct wire_message earlier = star();
    network_names_take(&names, &earlier);
    earlier = places();
    network_names_take(&names, &earlier);
    struct out out;
    open_out(&out);
    tap_links(out.file, &message, &names);
    assert_printed(
        &out,
        "links   job.1         window 41  congested 0  hot 1  busy 0  idle 2  crossed by 1.50 KiB, "
        "and 100 B not known where\n"
        "     link  from               to                state       messages      bytes    "
        "average "
        "      peak  share  latency   measured  ratio  collectives\n"
        "        3  leaf             > host2             hot               12   1.50 KiB   1.00 "
        "KiB "
        "  2.00 KiB   0.75    1.50x   3.00 KiB   2.00     7.00 KiB\n"
        "        0  host1            > leaf              ?                  0        0 B        0 "
        "B "
        "       0 B      -        -          -      -          0 B\n"
        "        1  leaf             > #77               idle               0        0 B        0 "
        "B "
        "       0 B      -    0.00x          5  -1.00          0 B\n"
        "        3  rank 0 to 1: 1 message, 512 B over 2 links\n"
        "  node              interface               sent   received    dropped        per s  out "
        "by    in by\n"
        "  host2             eth0                1.00 KiB       10 B          0     1.00 KiB       "
        "2        3\n"
        "  9                 hsn?[1m                    7          0          4            -       "
        "-        -\n"
        "  and 1 link more that are not idle\n");
    network_names_finish(&names);
}

static void whatever_is_published_gives_names_that_can_be_printed(void **state)
{
    (void)state;
    struct network_names names = {0};
    uint64_t seed = 11;
    for (int round = 0; round < 600; round++) {
        const struct wire_table *table = wire_table(round % 3 == 0   ? WIRE_TYPE_TOPOLOGY
                                                    : round % 3 == 1 ? WIRE_TYPE_PLACES
                                                                     : WIRE_TYPE_LINKS);
        void *fields = random_message(table, &seed, 5);
        struct wire_message message = {.type = table->type};
        memcpy(&message.hello, fields, table->size);
        network_names_take(&names, &message);
        struct out out;
        open_out(&out);
        if (table->type == WIRE_TYPE_LINKS)
            tap_links(out.file, &message.links, &names);
        for (uint64_t vertex = 0; vertex < 8; vertex++) {
            char text[80];
            assert_true(strlen(network_names_vertex(&names, vertex, text)) < sizeof text);
            network_names_vertex(&names, UINT64_MAX - vertex, text);
        }
        fclose(out.file);
        assert_int_equal(utf8_prefix(out.text, out.length), out.length);
        for (size_t i = 0; i < out.length; i++)
            assert_true((unsigned char)out.text[i] >= 0x20 || out.text[i] == '\n');
        free(out.text);
        random_message_free(table, fields);
    }
    network_names_finish(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_graph_is_described_by_its_size_and_source),
        cmocka_unit_test(a_regular_network_is_described_by_its_dimensions),
        cmocka_unit_test(a_file_that_cannot_be_used_is_reported_with_the_reason),
        cmocka_unit_test(hosts_that_the_network_does_not_have_are_reported),
        cmocka_unit_test(vertices_have_the_name_or_the_coordinates_of_the_network),
        cmocka_unit_test(a_network_in_several_messages_has_all_their_names),
        cmocka_unit_test(links_are_described_by_their_ends),
        cmocka_unit_test(whatever_is_published_gives_names_that_can_be_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
