/* Readers of hop-byte and route files, and placement of their processes on the vertices of a
 * network: see traffic.h. */
#include "daemon/import/traffic.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/import/traffic_sums.h"
#include "daemon/topology/network_tree.h"
#include "daemon/topology/route_file.h"
#include "holter/error.h"
#include "holter/order.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_ID (UINT64_C(1) << 32)

/* ---- hop-byte files ------------------------------------------------------ */

static int traffic_is_empty(const char *at, const char *end)
{
    const char *word;
    size_t length;
    return !word_next(&at, end, &word, &length) || *word == '#';
}

/* @param hops  UINT64_MAX: the line has no hop count @return NULL, or what is wrong */
static const char *traffic_hop_byte_line(const char *at, const char *end, struct pair_sum *out,
                                         uint64_t *hops)
{
    const char *word;
    size_t length;
    if (!word_whole(&at, end, &out->from) || !word_whole(&at, end, &out->to))
        return "the line does not begin with two numbers, source and destination";
    if (out->from >= MOST_ID || out->to >= MOST_ID)
        return "a rank or node beyond 32 bits";
    if (!word_amount(&at, end, &out->bytes))
        return "the third word is no number of bytes";
    *hops = UINT64_MAX;
    if (!traffic_is_empty(at, end) && !word_whole(&at, end, hops))
        return "the fourth word is no number of hops";
    if (word_next(&at, end, &word, &length))
        return "more than four words";
    return NULL;
}

/* ---- route files --------------------------------------------------------- */

/* "Hop 1: [12-0] ...": only the first hop counts; the number of the last is the route's length.
 * @param hops  UINT64_MAX: not the last hop @return NULL, or what is wrong with the line */
static const char *traffic_route_line(const char *at, const char *end, struct pair_sum *out,
                                      uint64_t *hops)
{
    struct route_hop hop;
    uint32_t coordinates;
    const char *wrong = route_file_line(at, end, &hop, &coordinates);
    if (wrong != NULL)
        return wrong;
    out->from = hop.source;
    out->to = hop.destination;
    out->bytes = hop.number == 1;
    *hops = hop.to == hop.destination ? hop.number : UINT64_MAX;
    return NULL;
}

/* A route whose first hop is missing counts as well. */
static void traffic_count_routes(struct pair_sums *sums)
{
    for (uint32_t i = 0; i < sums->keys.count; i++) {
        struct pair_sum *sum = &sums->list[i];
        sum->bytes = sum->messages = sum->bytes == 0 ? 1 : sum->bytes;
    }
}

/* The first line that is neither empty nor a comment determines what the file is. */
static int traffic_is_routes(const char *text, size_t length)
{
    struct lines lines = lines_of(text, length);
    const char *begin, *end, *word;
    size_t letters;
    while (lines_next(&lines, &begin, &end)) {
        if (!traffic_is_empty(begin, end))
            return word_next(&begin, end, &word, &letters) && letters == 3 &&
                   memcmp(word, "Hop", 3) == 0;
    }
    return 0;
}

/* ---- texts --------------------------------------------------------------- */

static int traffic_add_hops(struct pairs *out, size_t *capacity, const struct pair_sum *pair,
                            uint64_t hops, unsigned line)
{
    if (hops == UINT64_MAX)
        return 0;
    if (array_fit(&out->hops, sizeof(*out->hops), capacity, out->hop_count + 1) != 0)
        return -ENOMEM;
    out->hops[out->hop_count++] =
        (struct pair_hops){(uint32_t)pair->from, (uint32_t)pair->to,
                           hops < UINT32_MAX ? (uint32_t)hops : UINT32_MAX, line};
    return 0;
}

static int traffic_add_lines(struct pairs *out, struct pair_sums *sums, const char *text,
                             size_t length, int routes, struct faults *faults)
{
    size_t capacity = 0;
    struct lines lines = lines_of(text, length);
    const char *begin, *end;
    uint64_t all = 0; /* bytes */
    int code = 0;
    while (code == 0 && lines_next(&lines, &begin, &end)) {
        struct pair_sum pair = {.messages = 1};
        uint64_t hops = UINT64_MAX;
        if (traffic_is_empty(begin, end))
            continue;
        const char *wrong = routes ? traffic_route_line(begin, end, &pair, &hops)
                                   : traffic_hop_byte_line(begin, end, &pair, &hops);
        if (wrong == NULL && pair.bytes > INT64_MAX - all)
            wrong = "with this line there are 2^63 bytes or more, too many for a sum";
        all += wrong == NULL ? pair.bytes : 0;
        if (wrong != NULL)
            fault_at(faults, lines.number, "%s", wrong);
        else if ((code = pair_sums_add(sums, &pair)) == 0)
            code = traffic_add_hops(out, &capacity, &pair, hops, lines.number);
    }
    if (routes)
        traffic_count_routes(sums);
    return code;
}

/* @param lenient  malformed lines are reported and left out */
static int traffic_parse(struct pairs *out, const char *text, size_t length, int lenient,
                         struct faults *faults)
{
    struct pair_sums sums = {0};
    int routes = traffic_is_routes(text, length);
    int code = traffic_add_lines(out, &sums, text, length, routes, faults);
    if (code == 0 && faults->count == 0 && sums.keys.count == 0)
        fault_at(faults, 0, "no pair stands in it");
    int usable = faults->count == 0 || (lenient && sums.keys.count > 0);
    out->wrong_lines = faults->count;
    if (code == 0 && usable) {
        code = pair_sums_result(&sums, UINT32_MAX, out);
        out->source = routes ? PAIRS_ROUTES : PAIRS_HOP_BYTES;
    }
    pair_sums_finish(&sums);
    if (code == -HOLTER_ELIMIT)
        fault_at(faults, 0, "more processes or pairs than fit: %u and %u", REMAP_MOST_PROCESSES,
                 REMAP_MAXIMUM_EDGES);
    if (code == -ENOMEM)
        fault_at(faults, 0, "no memory");
    code = code != 0 ? code : usable ? 0 : -HOLTER_EUSAGE;
    if (code != 0)
        pairs_finish(out);
    return code;
}

int pairs_parse(struct pairs *out, const char *name, const char *text, size_t length,
                file_fault *tell, void *user)
{
    struct faults faults = {name, tell, user, 0};
    *out = (struct pairs){0};
    return traffic_parse(out, text, length, 0, &faults);
}

/* ---- files --------------------------------------------------------------- */

static int traffic_is_recording(const char *path)
{
    static const char magic[16] = "SQLite format 3";
    char begin[16];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd < 0 ? -1 : pread(fd, begin, sizeof(begin), 0);
    if (fd >= 0)
        close(fd);
    return n == (ssize_t)sizeof(begin) && memcmp(begin, magic, sizeof(begin)) == 0;
}

static int traffic_read_file(struct pairs *out, const char *path, int lenient, file_fault *tell,
                             void *user)
{
    struct faults faults = {path, tell, user, 0};
    char *text;
    size_t length;
    *out = (struct pairs){0};
    if (traffic_is_recording(path))
        return pairs_of_recording(out, path, &faults);
    int code = file_text(&text, &length, path, PAIRS_FILE_BYTES, &faults);
    if (code != 0)
        return code;
    code = traffic_parse(out, text, length, lenient, &faults);
    free(text);
    return code;
}

int pairs_read(struct pairs *out, const char *path, file_fault *tell, void *user)
{
    return traffic_read_file(out, path, 0, tell, user);
}

int pairs_read_whole(struct pairs *out, const char *path, file_fault *tell, void *user)
{
    return traffic_read_file(out, path, 1, tell, user);
}

void pairs_finish(struct pairs *pairs)
{
    free(pairs->ids);
    free(pairs->edges);
    free(pairs->hops);
    free(pairs->hosts);
    free(pairs->places);
    network_grid_finish(&pairs->grid);
    *pairs = (struct pairs){0};
}

uint32_t pairs_process(const struct pairs *pairs, uint64_t id)
{
    const uint64_t *found = pairs->processes == 0 ? NULL
                                                  : bsearch(&id, pairs->ids, pairs->processes,
                                                            sizeof(*pairs->ids), order_u64);
    return found == NULL ? UINT32_MAX : (uint32_t)(found - pairs->ids);
}

/* ---- seats --------------------------------------------------------------- */

static int traffic_seats_of_ids(uint32_t *seats, const struct pairs *pairs, uint32_t nodes,
                                uint64_t per_node, char *why, size_t capacity)
{
    uint64_t highest = pairs->ids[pairs->processes - 1];
    if (per_node == 0)
        per_node = highest / nodes + 1;
    if (highest / per_node >= nodes) {
        snprintf(why, capacity,
                 "%" PRIu64 " is on node %" PRIu64 " with %" PRIu64
                 " ranks a node, but the network has %" PRIu32 " nodes",
                 highest, highest / per_node, per_node, nodes);
        return -HOLTER_EUSAGE;
    }
    for (uint32_t i = 0; i < pairs->processes; i++)
        seats[i] = (uint32_t)(pairs->ids[i] / per_node);
    return 0;
}

static int traffic_compare_host_names(const void *left, const void *right, void *user)
{
    const struct pair_host *hosts = user;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    int order = network_compare_hosts(hosts[a].name, hosts[b].name);
    return order != 0 ? order : (a > b) - (a < b);
}

/* Processes are placed on nodes 0, 1, 2 ... in their order. */
static int traffic_seats_in_order(uint32_t *vertices, const struct pairs *pairs)
{
    uint32_t *order = calloc((size_t)pairs->host_count + 1, sizeof(*order));
    if (order == NULL)
        return -ENOMEM;
    for (uint32_t h = 0; h < pairs->host_count; h++)
        order[h] = h;
    qsort_r(order, pairs->host_count, sizeof(*order), traffic_compare_host_names, pairs->hosts);
    for (uint32_t i = 0; i < pairs->host_count; i++)
        vertices[order[i]] = i;
    free(order);
    return 0;
}

/* Find the vertices of the hosts of a recording. */
static int traffic_seats_of_hosts(uint32_t *vertices, const struct pairs *pairs,
                                  const struct topology_file *network, char *why, size_t capacity)
{
    uint32_t nodes = topology_nodes(network->topology), known = 0;
    const char *missing = NULL;
    for (uint32_t h = 0; h < pairs->host_count; h++) {
        vertices[h] = topology_file_host(network, pairs->hosts[h].name);
        known += vertices[h] != TOPOLOGY_NONE;
        missing = vertices[h] == TOPOLOGY_NONE && missing == NULL ? pairs->hosts[h].name : missing;
    }
    if (known == pairs->host_count)
        return 0;
    if (known > 0 || network->host_count > 0) {
        snprintf(why, capacity, "the network does not name host %s", missing);
        return -HOLTER_EUSAGE;
    }
    if (pairs->host_count > nodes) {
        snprintf(why, capacity, "%" PRIu32 " hosts, but the network has %" PRIu32 " nodes",
                 pairs->host_count, nodes);
        return -HOLTER_EUSAGE;
    }
    return traffic_seats_in_order(vertices, pairs);
}

static int traffic_seats_of_places(uint32_t *seats, const struct pairs *pairs,
                                   const struct topology_file *network, char *why, size_t capacity)
{
    uint32_t *vertices = calloc((size_t)pairs->host_count + 1, sizeof(*vertices));
    if (vertices == NULL)
        return -ENOMEM;
    int code = traffic_seats_of_hosts(vertices, pairs, network, why, capacity);
    for (uint32_t i = 0; code == 0 && i < pairs->processes; i++) {
        if (pairs->places[i].host < pairs->host_count) {
            seats[i] = vertices[pairs->places[i].host];
            continue;
        }
        snprintf(why, capacity, "the recording does not contain the host of rank %" PRIu64,
                 pairs->ids[i]);
        code = -HOLTER_EUSAGE;
    }
    free(vertices);
    return code;
}

int pairs_seats(uint32_t **out, const struct pairs *pairs, const struct topology_file *network,
                uint64_t per_node, char *why, size_t capacity)
{
    uint32_t nodes = topology_nodes(network->topology);
    uint32_t *seats = calloc((size_t)pairs->processes + 1, sizeof(*seats));
    snprintf(why, capacity, "no memory");
    if (seats == NULL)
        return -ENOMEM;
    int code = pairs->processes == 0 || nodes == 0 ? 0
               : pairs->source == PAIRS_RECORDING
                   ? traffic_seats_of_places(seats, pairs, network, why, capacity)
                   : traffic_seats_of_ids(seats, pairs, nodes, per_node, why, capacity);
    if (code != 0) {
        free(seats);
        return code;
    }
    *out = seats;
    return 0;
}

/* ---- hop counts ---------------------------------------------------------- */

size_t pairs_compare_hops(const struct pairs *pairs, const struct topology *topology,
                          const uint32_t *seats, const struct pair_hops **first)
{
    size_t differ = 0;
    for (size_t i = 0; i < pairs->hop_count; i++) {
        const struct pair_hops *expected = &pairs->hops[i];
        uint32_t from = pairs_process(pairs, expected->from),
                 to = pairs_process(pairs, expected->to);
        if (from == UINT32_MAX || to == UINT32_MAX ||
            topology_distance(topology, seats[from], seats[to]) == expected->hops)
            continue;
        if (differ++ == 0)
            *first = expected;
    }
    return differ;
}
