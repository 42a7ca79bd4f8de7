#include "tests/viewer/synthetic_network.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WALK = 256, NEIGHBOURS = 64, FAR_PAIRS = 6, HOT_ROUTES = 16 };

/* ---- who sends to whom -------------------------------------------------------------------------
 */

static void replace_pairs(struct synthetic_network *n, struct wire_pair_row *rows, uint32_t count)
{
    free(n->job.pair_rows);
    n->job.pair_rows = rows;
    n->job.pair_count = count;
}

/* The node where a route of some length ends that begins with a link, far away. */
static uint32_t far_end(const struct topology *t, uint32_t from, uint32_t link)
{
    uint32_t links[WALK], best = TOPOLOGY_NONE, longest = 0;
    for (uint32_t v = 0; v < topology_nodes(t); v++) {
        uint32_t length = topology_route(t, from, v, links, WALK);
        if (length == TOPOLOGY_NONE || length <= longest || length > WALK)
            continue;
        for (uint32_t k = 0; k < length; k++)
            if (links[k] == link) {
                best = v;
                longest = length;
            }
    }
    return best;
}

/* Pairs of nodes whose routes all go over the first link of node 0. */
static uint32_t add_far_pairs(struct synthetic_network *n, struct wire_pair_row *rows,
                              uint32_t count)
{
    const struct topology *t = n->topology;
    uint32_t out[NEIGHBOURS], nodes = topology_nodes(t);
    if (!topology_out(t, 0, out, NEIGHBOURS))
        return count;
    n->hot = out[0];
    for (uint32_t from = 0; from < nodes && n->hot_pairs < FAR_PAIRS; from++) {
        uint32_t to = far_end(t, from, n->hot);
        if (to == TOPOLOGY_NONE || to == from)
            continue;
        rows[count++] = (struct wire_pair_row){.source = (uint64_t)from * n->job.per_node,
                                               .destination = (int64_t)to * n->job.per_node,
                                               .size_class = 1,
                                               .bytes = 100000 + 20000 * n->hot_pairs++};
    }
    return count;
}

static void make_stencil(struct synthetic_network *n)
{
    const struct topology *t = n->topology;
    uint32_t nodes = topology_nodes(t), per_node = n->job.per_node, count = 0;
    struct wire_pair_row *rows = calloc((size_t)nodes * (per_node + 2u) * 12u + 64u, sizeof *rows);
    assert(rows);
    for (uint32_t v = 0; v < nodes; v++) {
        for (uint32_t core = 0; core + 1 < per_node; core++)
            rows[count++] = (struct wire_pair_row){.source = (uint64_t)v * per_node + core,
                                                   .destination = (int64_t)v * per_node + core + 1,
                                                   .size_class = 1,
                                                   .bytes = 8000};
        for (uint32_t step = 1, k = 0; step < nodes && k < 6; step *= 4, k++)
            rows[count++] =
                (struct wire_pair_row){.source = (uint64_t)v * per_node,
                                       .destination = (int64_t)((v + step) % nodes) * per_node,
                                       .size_class = 1,
                                       .bytes = 65536 >> k};
    }
    count = add_far_pairs(n, rows, count);
    replace_pairs(n, rows, count);
}

void synthetic_network_init(struct synthetic_network *n, const char *form, uint32_t per_node)
{
    struct topology_spec spec;
    char why[200] = "";
    *n = (struct synthetic_network){.hot = TOPOLOGY_NONE};
    if (topology_short(&spec, form, why, sizeof why) < 0 ||
        topology_create(&n->topology, &spec, why, sizeof why) < 0) {
        fprintf(stderr, "%s: %s\n", form, why);
        abort();
    }
    topology_spec_finish(&spec);
    uint32_t nodes = topology_nodes(n->topology), links = topology_links(n->topology);
    synthetic_init(&n->job, nodes * per_node, per_node, 6, 1);
    n->seats = calloc((size_t)nodes * per_node, sizeof *n->seats);
    n->loads = calloc(links + 1u, sizeof *n->loads);
    n->messages = calloc(links + 1u, sizeof *n->messages);
    n->average = calloc(links + 1u, sizeof *n->average);
    n->peak = calloc(links + 1u, sizeof *n->peak);
    n->links = calloc(links + 1u, sizeof *n->links);
    assert(n->seats && n->loads && n->messages && n->average && n->peak && n->links);
    for (uint32_t r = 0; r < n->job.ranks; r++)
        n->seats[r] = (struct wire_seat_row){r, r / per_node};
    make_stencil(n);
}

/* Copy a line, since sscanf(3) measures the whole of what it is given. @return the next line */
static const char *copy_line(char *line, size_t capacity, const char *text)
{
    const char *end = strchrnul(text, '\n');
    snprintf(line, capacity, "%.*s", (int)(end - text), text);
    return *end == '\0' ? end : end + 1;
}

void synthetic_network_read(struct synthetic_network *n, const char *text, double share)
{
    size_t lines = 0;
    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    struct wire_pair_row *rows = calloc(lines + 1, sizeof *rows);
    uint32_t count = 0;
    unsigned source, destination, hops;
    double bytes;
    char line[128];
    assert(rows);
    for (const char *c = text; *c;) {
        c = copy_line(line, sizeof line, c);
        if (sscanf(line, "%u %u %lf %u", &source, &destination, &bytes, &hops) < 3 ||
            source >= n->job.ranks || destination >= n->job.ranks)
            continue;
        rows[count++] = (struct wire_pair_row){.source = source,
                                               .destination = destination,
                                               .size_class = 1,
                                               .bytes = (uint64_t)ceil(bytes * share)};
    }
    replace_pairs(n, rows, count);
    n->hot = TOPOLOGY_NONE;
    n->hot_pairs = 0;
}

void synthetic_network_read_routes(struct synthetic_network *n, const char *text)
{
    size_t lines = 0;
    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    struct wire_pair_row *rows = calloc(lines + 1, sizeof *rows);
    uint32_t count = 0;
    unsigned source, destination;
    char line[128];
    assert(rows);
    for (const char *c = text; *c;) {
        c = copy_line(line, sizeof line, c);
        if (sscanf(line, "Hop 1: [%u-%u]", &source, &destination) == 2 && source < n->job.ranks &&
            destination < n->job.ranks)
            rows[count++] = (struct wire_pair_row){
                .source = source, .destination = destination, .size_class = 1, .bytes = 65536};
    }
    replace_pairs(n, rows, count);
    n->hot = TOPOLOGY_NONE;
    n->hot_pairs = 0;
}

static uint64_t draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

void synthetic_network_scatter(struct synthetic_network *n, uint32_t pairs, uint64_t seed)
{
    uint32_t ranks = n->job.ranks, each = pairs / ranks, count = 0;
    struct wire_pair_row *rows = calloc(pairs + 1u, sizeof *rows);
    assert(rows && ranks > 2 * each);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        uint32_t own = each + (rank < pairs % ranks);
        uint32_t to = rank;
        for (uint32_t k = 0; k < own; k++) { /* rising, so that no pair comes twice */
            to += 1 + (uint32_t)(draw(&seed) % (k % 4 == 3 ? ranks / own : 4));
            rows[count++] = (struct wire_pair_row){.source = rank,
                                                   .destination = to % ranks,
                                                   .size_class = 1,
                                                   .bytes = 512 + draw(&seed) % 65536};
        }
    }
    replace_pairs(n, rows, count);
    n->hot = TOPOLOGY_NONE;
    n->hot_pairs = 0;
}

void synthetic_network_finish(struct synthetic_network *n)
{
    synthetic_finish(&n->job);
    topology_destroy(n->topology);
    free(n->seats);
    free(n->loads);
    free(n->messages);
    free(n->average);
    free(n->peak);
    free(n->links);
}

/* ---- topology ----------------------------------------------------------------------------------
 */

void synthetic_network_topology(const struct synthetic_network *n, synthetic_sink *sink, void *user)
{
    const struct topology_spec *spec = topology_spec(n->topology);
    struct wire_dimension_row dimensions[TOPOLOGY_DIMENSIONS];
    uint64_t part = n->part_rows ? n->part_rows : n->job.ranks;
    for (uint32_t i = 0; i < spec->dimension_count; i++) {
        const struct topology_dimension *d = &spec->dimensions[i];
        dimensions[i] =
            (struct wire_dimension_row){d->name, d->size, d->connection, d->step, d->up};
    }
    for (uint64_t first = 0; first < n->job.ranks; first += part) {
        uint64_t left = n->job.ranks - first;
        struct wire_message m = {.type = WIRE_TYPE_TOPOLOGY};
        m.topology = (struct wire_topology){.job = "48213.0",
                                            .name = "Mira",
                                            .kind = spec->kind,
                                            .source = "/etc/holter/mira.yaml",
                                            .dimensions = dimensions,
                                            .dimensions_count = first ? 0 : spec->dimension_count,
                                            .tie = spec->tie,
                                            .capacity = spec->capacity,
                                            .seats = n->seats + first,
                                            .seats_count = left < part ? left : part,
                                            .fault = "",
                                            .more = left > part};
        sink(user, &m, 0);
    }
}

void synthetic_network_begin(struct synthetic_network *n, synthetic_sink *sink, void *user)
{
    synthetic_begin(&n->job, sink, user);
    synthetic_network_topology(n, sink, user);
}

/* ---- links -------------------------------------------------------------------------------------
 */

static uint32_t walk(const struct synthetic_network *n, const struct wire_pair_row *p,
                     uint32_t *links)
{
    uint64_t from = n->seats[p->source].vertex, to = n->seats[p->destination].vertex;
    if (from >= topology_vertices(n->topology) || to >= topology_vertices(n->topology) ||
        from == to)
        return 0;
    uint32_t length = topology_route(n->topology, (uint32_t)from, (uint32_t)to, links, WALK);
    return length <= WALK ? length : 0;
}

static int more_loaded(const void *left, const void *right)
{
    const struct wire_link_row *a = left, *b = right;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return a->link < b->link ? -1 : a->link > b->link;
}

static void add_loads(struct synthetic_network *n, struct wire_links *out)
{
    uint32_t links[WALK], all = topology_links(n->topology);
    memset(n->loads, 0, all * sizeof *n->loads);
    memset(n->messages, 0, all * sizeof *n->messages);
    for (uint32_t i = 0; i < n->job.pair_count; i++) {
        const struct wire_pair_row *p = &n->job.pair_rows[i];
        uint32_t length = walk(n, p, links);
        for (uint32_t k = 0; k < length; k++) {
            n->loads[links[k]] += p->bytes;
            n->messages[links[k]] += p->messages;
        }
        out->bytes += length ? p->bytes : 0;
        out->hop_bytes += (double)p->bytes * length;
    }
}

/* The most loaded is congested, those above four times the mean are hot. */
static uint64_t state_of(const struct synthetic_network *n, uint32_t link, double mean,
                         uint64_t most)
{
    double load = (double)n->loads[link];
    if (n->loads[link] == most && load > 2 * mean)
        return LINK_CONGESTED;
    return load > 2 * mean ? LINK_HOT : load > 0 ? LINK_BUSY : LINK_IDLE;
}

static void row_of(struct synthetic_network *n, uint32_t link, uint64_t state, double capacity)
{
    uint32_t from = 0, to = 0;
    uint64_t load = n->loads[link];
    double above = link == n->hot ? 1.4 : 1.03;
    topology_link(n->topology, link, &from, &to);
    n->average[link] =
        n->average[link] > 0 ? 0.8 * n->average[link] + 0.2 * (double)load : (double)load;
    n->peak[link] = load > n->peak[link] ? load : n->peak[link];
    n->links[n->link_count++] = (struct wire_link_row){
        .link = link,
        .from = from,
        .to = to,
        .state = state,
        .since = SYNTHETIC_FIRST + 1,
        .messages = n->messages[link],
        .bytes = load,
        .average = n->average[link],
        .peak = n->peak[link],
        .share = capacity > 0 ? (double)load / capacity : NAN,
        .latency = state == LINK_CONGESTED ? 2.4
                   : state == LINK_HOT     ? 1.1
                                           : NAN,
        .measured = n->measured ? (uint64_t)((double)load * above) : UINT64_MAX,
        .ratio = n->measured ? above : NAN,
    };
}

static void make_rows(struct synthetic_network *n, struct wire_links *out)
{
    uint32_t all = topology_links(n->topology), used = 0;
    uint64_t most = 0;
    double mean = 0;
    uint64_t *counts[] = {&out->idle, &out->busy, &out->hot, &out->congested};
    for (uint32_t l = 0; l < all; l++) {
        mean += (double)n->loads[l];
        used += n->loads[l] > 0;
        most = n->loads[l] > most ? n->loads[l] : most;
    }
    mean /= used ? used : 1;
    n->link_count = 0;
    for (uint32_t l = 0; l < all; l++) {
        uint64_t state = state_of(n, l, mean, most);
        ++*counts[state];
        if (state != LINK_IDLE)
            row_of(n, l, state, topology_capacity(n->topology, l));
    }
    qsort(n->links, n->link_count, sizeof *n->links, more_loaded);
    if (n->most_rows && n->link_count > n->most_rows) {
        out->left_out = n->link_count - n->most_rows;
        n->link_count = n->most_rows;
    }
}

static int larger(const void *left, const void *right)
{
    const struct wire_link_route_row *a = left, *b = right;
    return a->bytes != b->bytes ? (a->bytes > b->bytes ? -1 : 1) : a->source < b->source ? -1 : 1;
}

static uint32_t routes_over(const struct synthetic_network *n, uint32_t link,
                            struct wire_link_route_row *out)
{
    struct wire_link_route_row *found = calloc(n->job.pair_count + 1u, sizeof *found);
    uint32_t count = 0, links[WALK];
    assert(found);
    for (uint32_t i = 0; i < n->job.pair_count; i++) {
        const struct wire_pair_row *p = &n->job.pair_rows[i];
        uint32_t length = walk(n, p, links);
        for (uint32_t k = 0; k < length; k++)
            if (links[k] == link)
                found[count++] = (struct wire_link_route_row){
                    link, p->source, (uint64_t)p->destination, p->messages, p->bytes, length};
    }
    qsort(found, count, sizeof *found, larger);
    count = count < HOT_ROUTES ? count : HOT_ROUTES;
    memcpy(out, found, count * sizeof *found);
    free(found);
    return count;
}

void synthetic_network_window(struct synthetic_network *n, synthetic_sink *sink, void *user)
{
    struct wire_link_route_row routes[4 * HOT_ROUTES];
    uint64_t window = n->job.window, count = 0;
    synthetic_window(&n->job, sink, user);
    struct wire_message m = {.type = WIRE_TYPE_LINKS};
    m.links = (struct wire_links){.job = "48213.0", .window = window};
    add_loads(n, &m.links);
    make_rows(n, &m.links);
    for (uint32_t i = 0; i < n->link_count && i < 4 && n->links[i].state >= LINK_HOT; i++)
        count += routes_over(n, (uint32_t)n->links[i].link, routes + count);
    m.links.links = n->links;
    m.links.links_count = n->link_count;
    m.links.routes = routes;
    m.links.routes_count = count;
    sink(user, &m, 0);
}

/* ---- answers -----------------------------------------------------------------------------------
 */

void synthetic_network_mapping(const struct synthetic_network *n, double progress,
                               synthetic_sink *sink, void *user)
{
    static const struct wire_gain_row so_far = {"hop-bytes", 4.1e9, 3.2e9, 2.2e9},
                                      gains[] = {{"hop-bytes", 4.1e9, 2.6e9, 2.2e9},
                                                 {"max-link", 9.2e7, 5.1e7, NAN},
                                                 {"inter-node-bytes", 8e8, 8e8, NAN},
                                                 {"longest", 11, 7, NAN}};
    struct wire_seat_row *seats = calloc(n->job.ranks, sizeof *seats);
    struct wire_message m = {.type = WIRE_TYPE_MAPPING};
    uint32_t nodes = topology_nodes(n->topology);
    assert(seats);
    for (uint32_t r = 0; r < n->job.ranks; r++)
        seats[r] = (struct wire_seat_row){r, (n->seats[r].vertex + 1) % nodes};
    m.mapping = (struct wire_mapping){.job = "48213.0",
                                      .objective = "hop-bytes",
                                      .progress = progress,
                                      .gains = &so_far,
                                      .gains_count = 1};
    if (progress >= 1) {
        m.mapping.seed = 1;
        m.mapping.gains = gains;
        m.mapping.gains_count = sizeof gains / sizeof *gains;
        m.mapping.seats = seats;
        m.mapping.seats_count = n->job.ranks;
    }
    sink(user, &m, 0);
    free(seats);
}

/* From a node beside the source on, if from there another way leads to the destination. */
static uint32_t detour(const struct synthetic_network *n, uint32_t from, uint32_t to,
                       uint32_t *path)
{
    uint32_t out[NEIGHBOURS], links[WALK];
    uint32_t count = topology_out(n->topology, from, out, NEIGHBOURS);
    for (uint32_t i = 0; i < count && i < NEIGHBOURS; i++) {
        uint32_t a, next, length = 0;
        topology_link(n->topology, out[i], &a, &next);
        length = topology_route(n->topology, next, to, links, WALK);
        if (length == TOPOLOGY_NONE || length >= WALK || out[i] == n->hot)
            continue;
        path[0] = next;
        int good = 1;
        for (uint32_t k = 0; k < length; k++) {
            topology_link(n->topology, links[k], &a, &path[k + 1]);
            good &= links[k] != n->hot && path[k + 1] != from;
        }
        if (good)
            return length + 1;
    }
    return 0;
}

uint32_t synthetic_network_routes(const struct synthetic_network *n, synthetic_sink *sink,
                                  void *user)
{
    static const struct wire_gain_row gains[] = {{"max-link", 9.2e7, 6.3e7, NAN},
                                                 {"length", 4096, 4102, NAN}};
    struct wire_reroute_row rows[FAR_PAIRS];
    struct wire_hop_row hops[FAR_PAIRS * WALK];
    uint32_t count = 0, hop_count = 0, links[WALK], path[WALK];
    for (uint32_t i = n->job.pair_count - n->hot_pairs; i < n->job.pair_count; i++) {
        const struct wire_pair_row *p = &n->job.pair_rows[i];
        uint64_t from = n->seats[p->source].vertex, to = n->seats[p->destination].vertex;
        uint32_t length = detour(n, (uint32_t)from, (uint32_t)to, path);
        rows[count++] = (struct wire_reroute_row){.source = from,
                                                  .destination = to,
                                                  .bytes = p->bytes,
                                                  .length = walk(n, p, links),
                                                  .length_after = length,
                                                  .heaviest = n->loads[n->hot],
                                                  .heaviest_after = p->bytes};
        for (uint32_t k = 0; k < length; k++)
            hops[hop_count++] = (struct wire_hop_row){from, to, path[k]};
    }
    struct wire_message m = {.type = WIRE_TYPE_ROUTES};
    m.routes = (struct wire_routes){.job = "48213.0",
                                    .routes = rows,
                                    .routes_count = count,
                                    .hops = hops,
                                    .hops_count = hop_count,
                                    .gains = gains,
                                    .gains_count = sizeof gains / sizeof *gains};
    sink(user, &m, 0);
    return count;
}
