#include "tests/viewer/torus_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void into_model(void *user, const struct wire_message *message, int snapshot)
{
    model_apply(user, message, snapshot);
}

struct model *torus_job(const char *form, uint32_t per_node, const char *hopbytes, int windows,
                        struct synthetic_network *net)
{
    struct model *m;
    if (model_create(&m, 64 << 20) < 0)
        abort();
    synthetic_network_init(net, form, per_node);
    if (hopbytes)
        synthetic_network_read(net, hopbytes, 1.0);
    synthetic_network_begin(net, into_model, m);
    for (int i = 0; i < windows; i++)
        synthetic_network_window(net, into_model, m);
    return m;
}

/* ---- counters ----------------------------------------------------------------------------------
 */

struct counter {
    int at[3], to[3], region;
    uint64_t packets;
};

static uint32_t link_of(const struct topology *t, const struct counter *c)
{
    const uint32_t at[] = {(uint32_t)c->at[0], (uint32_t)c->at[1], (uint32_t)c->at[2]},
                   to[] = {(uint32_t)c->to[0], (uint32_t)c->to[1], (uint32_t)c->to[2]};
    return topology_link_between(t, topology_at(t, at), topology_at(t, to));
}

static void send_window(struct model *m, const char *job, uint64_t window,
                        struct wire_link_row *rows, uint32_t count)
{
    struct wire_message message = {.type = WIRE_TYPE_LINKS};
    message.links.job = job;
    message.links.window = window;
    message.links.links = rows;
    message.links.links_count = count;
    model_apply(m, &message, 0);
}

static void send_totals(struct model *m, const char *job, uint64_t window)
{
    struct wire_message message = {.type = WIRE_TYPE_TOTALS};
    message.totals.job = job;
    message.totals.window = window;
    message.totals.length_ns = SYNTHETIC_SECOND;
    model_apply(m, &message, 0);
}

struct model *torus_counters(const char *links, int *regions, uint64_t *sums)
{
    struct synthetic_network net;
    struct model *m = torus_job("torus:8,8,8", 1, NULL, 0, &net);
    const char *job = m->job, *line = strstr(links, "...\n");
    uint32_t most = topology_links(net.topology);
    struct wire_link_row *rows = calloc((size_t)most * 16, sizeof *rows);
    uint32_t counts[16] = {0}, *row_of = calloc((size_t)most * 16, sizeof *row_of);
    int known[16];
    *regions = 0;
    for (line = line ? line + 4 : links; line && *line;
         line = strchr(line, '\n'), line += line != NULL) {
        struct counter c;
        int id, k = 0;
        if (sscanf(line, "%d %d %d %d %d %d %d %d %lu", &id, &c.at[0], &c.at[1], &c.at[2], &c.to[0],
                   &c.to[1], &c.to[2], &c.region, &c.packets) != 9)
            continue;
        while (k < *regions && known[k] != c.region)
            k++;
        if (k == 16)
            continue;
        if (k == *regions) {
            known[(*regions)++] = c.region;
            sums[k] = 0;
        }
        uint32_t link = link_of(net.topology, &c);
        sums[k] += c.packets;
        if (link == TOPOLOGY_NONE)
            continue;
        uint32_t *row = &row_of[(size_t)k * most + link];
        if (!*row) { /* a region that was entered twice has two rows for each link */
            uint32_t from = 0, to = 0;
            *row = ++counts[k];
            topology_link(net.topology, link, &from, &to);
            rows[(size_t)k * most + *row - 1] = (struct wire_link_row){.link = link,
                                                                       .from = from,
                                                                       .to = to,
                                                                       .unit = 1,
                                                                       .share = NAN,
                                                                       .latency = NAN,
                                                                       .ratio = NAN};
        }
        rows[(size_t)k * most + *row - 1].measured += c.packets;
    }
    for (int k = 0; k < *regions; k++) {
        uint64_t window = SYNTHETIC_FIRST + (uint64_t)k;
        send_totals(m, job, window);
        send_window(m, job, window, rows + (size_t)k * most, counts[k]);
    }
    free(rows);
    free(row_of);
    synthetic_network_finish(&net);
    return m;
}
