/* Writes graphs of dependencies. */
#include "agent/cli/graph_write.h"

#include "daemon/export/export.h"
#include "holter/call.h"
#include "proto/json.h"
#include "proto/quantity.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* Latency, of which 0 is: not known. */
static void graph_write_latency(FILE *out, double latency)
{
    json_put_real(out, ",", "latency", latency > 0 ? latency : NAN);
}

static const char *graph_write_host(const struct graph_written *w, uint32_t host)
{
    return host < w->source->captured.calls.host_count ? w->source->captured.calls.hosts[host].name
                                                       : "";
}

/* ---- JSON ------------------------------------------------------------------ */

static void graph_write_who(FILE *out, const struct graph_written *w, uint32_t lane)
{
    const struct dependency_lane *l = &w->graph->lanes[lane];
    if (!w->hosts)
        fprintf(out, ",\"rank\":%" PRIu32, l->id);
    json_put_text(out, ",", "host", graph_write_host(w, l->host));
}

/* The greatest bound of the error of a clock; null: one is not known. */
static void graph_write_clock_error(FILE *out, const struct dependency_calls *calls)
{
    uint64_t error_ns = 0;
    for (size_t i = 0; i < calls->host_count; i++)
        error_ns = calls->hosts[i].error_ns > error_ns ? calls->hosts[i].error_ns : error_ns;
    if (error_ns == DEPENDENCY_UNKNOWN_ERROR)
        fputs(",\"clock_error_ns\":null", out);
    else
        json_put_count(out, ",", "clock_error_ns", error_ns);
}

static void graph_write_counts(FILE *out, const struct graph_written *w)
{
    const struct dependency_counts *c = &w->dependencies->counts;
    const struct dependency_calls *calls = &w->source->captured.calls;
    fprintf(out, ",\n\"counts\":{\"ends\":%" PRIu64, c->ends);
    json_put_count(out, ",", "matched", c->matched);
    json_put_count(out, ",", "aligned", c->aligned);
    json_put_count(out, ",", "aligned_waits", c->aligned_waits);
    json_put_count(out, ",", "unmatched", c->unmatched);
    json_put_count(out, ",", "rejected", c->rejected);
    json_put_count(out, ",", "cut", c->cut);
    json_put_count(out, ",", "backward", c->backward);
    json_put_count(out, ",", "referenced", c->referenced);
    json_put_count(out, ",", "unknown", calls->unknown);
    json_put_count(out, ",", "gaps", calls->gaps);
    json_put_count(out, ",", "left_out", calls->left_out);
    fputc('}', out);
}

static void graph_write_head(FILE *out, const struct graph_written *w)
{
    const struct dependencies *d = w->dependencies;
    json_put_text(out, "{", "job", w->source->captured.job);
    json_put_count(out, ",", "capture", w->source->captured.capture);
    json_put_text(out, ",", "reason", w->source->captured.reason);
    json_put_text(out, ",", "missing", w->source->captured.missing);
    json_put_text(out, ",", "by", w->hosts ? "node" : "rank");
    json_put_integer(out, ",", "begin_ns", d->begin_ns);
    json_put_integer(out, ",", "end_ns", d->end_ns);
    graph_write_clock_error(out, &w->source->captured.calls);
    json_put_count(out, ",", "ranks", d->ranks.lane_count);
    json_put_count(out, ",", "layers", w->graph->layers);
    json_put_count(out, ",", "steps", d->steps);
    json_put_count(out, ",", "worst_lateness_ns", d->lateness_ns);
    graph_write_counts(out, w);
}

static int graph_write_compare_late(const void *a, const void *b)
{
    const struct dependency_lane *x = *(const struct dependency_lane *const *)a;
    const struct dependency_lane *y = *(const struct dependency_lane *const *)b;
    return x->caused_ns != y->caused_ns ? (x->caused_ns < y->caused_ns ? 1 : -1)
                                        : (x->id > y->id) - (x->id < y->id);
}

static void graph_write_lanes(FILE *out, const struct graph_written *w)
{
    fputs(",\n\"lanes\":[", out);
    for (uint32_t i = 0; i < w->graph->lane_count; i++) {
        const struct dependency_lane *l = &w->graph->lanes[i];
        fprintf(out, "%s{\"lane\":%" PRIu32, i == 0 ? "\n" : ",\n", i);
        graph_write_who(out, w, i);
        json_put_count(out, ",", "messages", l->messages);
        json_put_real(out, ",", "balance", l->balance);
        json_put_count(out, ",", "lateness_ns", l->lateness_ns);
        json_put_count(out, ",", "caused_ns", l->caused_ns);
        graph_write_latency(out, l->latency);
        fputc('}', out);
    }
    fputc(']', out);
}

static void graph_write_nodes(FILE *out, const struct graph_written *w)
{
    fputs(",\n\"nodes\":[", out);
    for (uint32_t i = 0; i < w->graph->node_count; i++) {
        const struct dependency_node *n = &w->graph->nodes[i];
        fprintf(out, "%s{\"node\":%" PRIu32, i == 0 ? "\n" : ",\n", i);
        graph_write_who(out, w, n->lane);
        json_put_count(out, ",", "lane", n->lane);
        json_put_count(out, ",", "layer", n->layer);
        json_put_count(out, ",", "step", n->first_step);
        json_put_count(out, ",", "last_step", n->last_step);
        json_put_count(out, ",", "receives", n->receives);
        json_put_count(out, ",", "received_bytes", n->received_bytes);
        json_put_count(out, ",", "sends", n->sends);
        json_put_count(out, ",", "sent_bytes", n->sent_bytes);
        json_put_integer(out, ",", "begin_ns", n->begin_ns);
        json_put_integer(out, ",", "end_ns", n->end_ns);
        json_put_count(out, ",", "lateness_ns", n->lateness_ns);
        json_put_count(out, ",", "caused_ns", n->caused_ns);
        graph_write_latency(out, n->latency);
        fputc('}', out);
    }
    fputc(']', out);
}

static void graph_write_edges(FILE *out, const struct graph_written *w)
{
    const struct dependency_event *events = w->dependencies->events;
    fputs(",\n\"edges\":[", out);
    for (uint32_t i = 0; i < w->graph->edge_count; i++) {
        const struct dependency_edge *e = &w->graph->edges[i];
        fprintf(out, "%s{\"edge\":%" PRIu32, i == 0 ? "\n" : ",\n", i);
        json_put_count(out, ",", "from", e->from);
        json_put_count(out, ",", "to", e->to);
        if (w->hosts) {
            json_put_count(out, ",", "messages", e->messages);
        } else {
            json_put_integer(out, ",", "tag", events[e->send].tag);
            json_put_integer(out, ",", "sent_ns", events[e->send].begin_ns);
            json_put_integer(out, ",", "received_ns", events[e->receive].end_ns);
        }
        json_put_count(out, ",", "bytes", e->bytes);
        json_put_integer(out, ",", "transfer_ns", e->transfer_ns);
        graph_write_latency(out, e->latency);
        json_put_count(out, ",", "send_step", events[e->send].step);
        json_put_count(out, ",", "receive_step", events[e->receive].step);
        json_put_count(out, ",", "lateness_ns", events[e->receive].lateness_ns);
        fputc('}', out);
    }
    fputc(']', out);
}

/* The rank whose entry others wait for, or null. */
static void graph_write_awaited(FILE *out, const struct dependencies *d, uint32_t enter)
{
    if (enter == DEPENDENCY_NONE)
        fputs(",\"awaited\":null", out);
    else
        json_put_count(out, ",", "awaited", d->events[enter].rank);
}

/* A rank's part in a collective; null: it has not left it. */
static void graph_write_member(FILE *out, const struct dependencies *d,
                               const struct dependency_member *m)
{
    const struct dependency_event *enter = &d->events[m->enter];
    fprintf(out, "{\"rank\":%" PRIu32, enter->rank);
    json_put_count(out, ",", "from", enter->node);
    json_put_integer(out, ",", "entered_ns", enter->begin_ns);
    json_put_count(out, ",", "lateness_ns", enter->lateness_ns);
    graph_write_awaited(out, d, m->awaited);
    if (m->leave == DEPENDENCY_NONE) {
        fputs(",\"to\":null,\"left_ns\":null", out);
    } else {
        json_put_count(out, ",", "to", d->events[m->leave].node);
        json_put_integer(out, ",", "left_ns", d->events[m->leave].end_ns);
    }
    fputc('}', out);
}

static void graph_write_collectives(FILE *out, const struct graph_written *w)
{
    const struct dependencies *d = w->dependencies;
    fputs(",\n\"collectives\":[", out);
    for (uint32_t i = 0; i < d->collective_count; i++) {
        const struct dependency_collective *c = &d->collectives[i];
        fprintf(out, "%s{\"collective\":%" PRIu32, i == 0 ? "\n" : ",\n", i);
        json_put_text(out, ",", "call", call_name(c->call));
        json_put_count(out, ",", "comm", c->comm);
        json_put_count(out, ",", "layer", c->layer);
        json_put_count(out, ",", "step", c->step);
        json_put_count(out, ",", "ranks", c->count);
        graph_write_awaited(out, d, c->awaited);
        json_put_integer(out, ",", "first_ns", c->first_ns);
        json_put_integer(out, ",", "last_ns", c->last_ns);
        json_put_integer(out, ",", "end_ns", c->end_ns);
        json_put_count(out, ",", "lateness_ns", c->lateness_ns);
        fputs(",\"members\":[", out);
        for (uint32_t k = 0; !w->hosts && k < c->count; k++) {
            fputs(k == 0 ? "" : ",", out);
            graph_write_member(out, d, &d->members[c->first + k]);
        }
        fputs("]}", out);
    }
    fputc(']', out);
}

/* The critical chain of the greatest lateness, from its begin. */
static void graph_write_chain(FILE *out, const struct graph_written *w)
{
    const struct dependencies *d = w->dependencies;
    uint32_t *chain = malloc((d->event_count + (size_t)1) * sizeof *chain);
    uint32_t count =
        chain == NULL ? 0 : dependencies_chain(d, dependencies_latest(d), chain, d->event_count);
    fputs(",\n\"chain\":[", out);
    for (uint32_t i = count; i-- > 0;) {
        const struct dependency_event *e = &d->events[chain[i]];
        fprintf(out, "%s{\"rank\":%" PRIu32, i + 1 == count ? "\n" : ",\n", e->rank);
        json_put_count(out, ",", "step", e->step);
        json_put_text(out, ",", "event", dependencies_event_name(e));
        json_put_text(out, ",", "call", call_name(e->call));
        json_put_integer(out, ",", "peer",
                         e->peer == DEPENDENCY_NONE ? PEER_NONE : (int64_t)e->peer);
        json_put_integer(out, ",", "tag", e->tag);
        json_put_count(out, ",", "bytes", e->bytes);
        json_put_integer(out, ",", "begin_ns", e->begin_ns);
        json_put_integer(out, ",", "end_ns", e->end_ns);
        json_put_count(out, ",", "lateness_ns", e->lateness_ns);
        json_put_count(out, ",", "caused_ns", e->caused_ns);
        fputc('}', out);
    }
    fputc(']', out);
    free(chain);
}

/* Who caused lateness, most first. */
static void graph_write_late(FILE *out, const struct graph_written *w)
{
    uint32_t count = 0;
    const struct dependency_lane **late = malloc((w->graph->lane_count + (size_t)1) * sizeof *late);
    for (uint32_t i = 0; late != NULL && i < w->graph->lane_count; i++)
        if (w->graph->lanes[i].caused_ns > 0)
            late[count++] = &w->graph->lanes[i];
    if (count > 0)
        qsort(late, count, sizeof *late, graph_write_compare_late);
    fputs(",\n\"late\":[", out);
    for (uint32_t i = 0; i < count; i++) {
        fprintf(out, "%s{\"lane\":%u", i == 0 ? "" : ",", (unsigned)(late[i] - w->graph->lanes));
        graph_write_who(out, w, (uint32_t)(late[i] - w->graph->lanes));
        json_put_count(out, ",", "caused_ns", late[i]->caused_ns);
        fputc('}', out);
    }
    fputc(']', out);
    free(late);
}

void graph_write_json(FILE *out, const struct graph_written *w)
{
    graph_write_head(out, w);
    graph_write_late(out, w);
    graph_write_lanes(out, w);
    graph_write_nodes(out, w);
    graph_write_edges(out, w);
    graph_write_collectives(out, w);
    graph_write_chain(out, w);
    fputs("}\n", out);
}

/* ---- Graphviz -------------------------------------------------------------- */

/* Blue where a message takes half of its median or less, red where it takes four times as much. */
static void graph_write_color(FILE *out, double latency)
{
    if (latency <= 0) {
        fputs("gray60", out);
        return;
    }
    double share = (log2(latency) + 1) / 3;
    share = share < 0 ? 0 : share > 1 ? 1 : share;
    fprintf(out, "\"%.3f 0.85 0.85\"", 0.667 * (1 - share));
}

static void graph_write_dot_node(FILE *out, const struct graph_written *w, uint32_t i)
{
    const struct dependency_node *n = &w->graph->nodes[i];
    const struct dependency_lane *l = &w->graph->lanes[n->lane];
    fprintf(out, "  n%" PRIu32 " [label=\"", i);
    if (w->hosts)
        export_dot_put_text(out, graph_write_host(w, l->host));
    else
        fprintf(out, "%" PRIu32, l->id);
    fprintf(out, "\", group=l%" PRIu32 ", color=", n->lane);
    graph_write_color(out, n->latency);
    fprintf(out,
            ", tooltip=\"%" PRIu32 " received, %" PRIu32 " sent, steps %" PRIu32 " to %" PRIu32
            ", late by %s\"];\n",
            n->receives, n->sends, n->first_step, n->last_step,
            quantity_duration((double)n->lateness_ns).text);
}

/* Nodes of one layer stand below each other. */
static int graph_write_dot_layers(FILE *out, const struct graph_written *w)
{
    const struct dependency_graph *g = w->graph;
    uint32_t *first = malloc((g->layers + g->node_count + (size_t)1) * sizeof *first);
    if (first == NULL)
        return -1;
    uint32_t *next = first + g->layers;
    for (uint32_t i = 0; i < g->layers; i++)
        first[i] = DEPENDENCY_NONE;
    for (uint32_t i = g->node_count; i-- > 0;) {
        next[i] = first[g->nodes[i].layer];
        first[g->nodes[i].layer] = i;
    }
    for (uint32_t layer = 0; layer < g->layers; layer++) {
        fputs("  { rank=same;", out);
        for (uint32_t i = first[layer]; i != DEPENDENCY_NONE; i = next[i])
            fprintf(out, " n%" PRIu32 ";", i);
        fputs(" }\n", out);
    }
    free(first);
    return 0;
}

static void graph_write_dot_edge(FILE *out, const struct graph_written *w,
                                 const struct dependency_edge *e)
{
    fprintf(out, "  n%" PRIu32 " -> n%" PRIu32 " [penwidth=%.1f, color=", e->from, e->to,
            1 + log2((double)e->bytes + 1) / 8);
    graph_write_color(out, e->latency);
    fputs(", tooltip=\"", out);
    if (w->hosts)
        fprintf(out, "%s, ", quantity_things(e->messages, "message").text);
    else
        fprintf(out, "tag %" PRId32 ", ", w->dependencies->events[e->send].tag);
    fprintf(out, "%s, %s%s", quantity_bytes((double)e->bytes).text, e->transfer_ns < 0 ? "-" : "",
            quantity_duration(fabs((double)e->transfer_ns)).text);
    if (e->latency > 0)
        fprintf(out, ", relative latency %.2f", e->latency);
    fputs("\"];\n", out);
}

/* A collective is a vertex of its own, which those that enter lead to, and which leads to those
 * that leave: awaited ones with whole lines, others with dotted ones. */
static void graph_write_dot_collective(FILE *out, const struct dependencies *d, uint32_t i)
{
    const struct dependency_collective *c = &d->collectives[i];
    fprintf(out, "  c%" PRIu32 " [shape=box, style=solid, label=\"%s\"];\n", i, call_name(c->call));
    for (uint32_t k = c->first; k < c->first + c->count; k++) {
        const struct dependency_member *m = &d->members[k];
        const struct dependency_event *enter = &d->events[m->enter];
        fprintf(out, "  n%" PRIu32 " -> c%" PRIu32 " [style=%s%s];\n", enter->node, i,
                dependencies_is_awaited(d, enter) ? "solid" : "dotted",
                m->enter == c->awaited ? ", penwidth=2" : "");
        if (m->leave != DEPENDENCY_NONE)
            fprintf(out, "  c%" PRIu32 " -> n%" PRIu32 " [style=%s];\n", i,
                    d->events[m->leave].node,
                    dependencies_waits_in_collective(d, &d->events[m->leave]) ? "solid" : "dotted");
    }
}

void graph_write_dot(FILE *out, const struct graph_written *w)
{
    const struct dependency_graph *g = w->graph;
    fputs("digraph dependencies {\n  rankdir=LR;\n  node [shape=ellipse, style=bold];\n  label=\"",
          out);
    export_dot_put_text(out, w->source->captured.job);
    fprintf(out, "%s%s matched, %s unmatched, late by %s at most\";\n",
            w->source->captured.job[0] == '\0' ? "" : ": ",
            quantity_things(w->dependencies->counts.matched, "message").text,
            quantity_things(w->dependencies->counts.unmatched, "end").text,
            quantity_duration((double)w->dependencies->lateness_ns).text);
    for (uint32_t i = 0; i < g->node_count; i++)
        graph_write_dot_node(out, w, i);
    graph_write_dot_layers(out, w);
    /* The order of a rank's own nodes. */
    for (uint32_t i = 1; i < g->node_count; i++)
        if (g->nodes[i].lane == g->nodes[i - 1].lane)
            fprintf(out, "  n%" PRIu32 " -> n%" PRIu32 " [style=dotted, arrowhead=none];\n", i - 1,
                    i);
    for (uint32_t i = 0; i < g->edge_count; i++)
        graph_write_dot_edge(out, w, &g->edges[i]);
    for (uint32_t i = 0; !w->hosts && i < w->dependencies->collective_count; i++)
        graph_write_dot_collective(out, w->dependencies, i);
    fputs("}\n", out);
}
