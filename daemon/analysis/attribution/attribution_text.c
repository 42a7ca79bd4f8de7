/* Findings as sentences, with advice. */
#include "daemon/analysis/attribution/attribution_view.h"
#include "daemon/analysis/tables/rank_list.h"
#include "holter/plain_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NODES_NAMED 3u
#define NODES_TEXT 160u /* bytes: two names of any length fit */
#define RANKS_TEXT 64u

/* "n0, n1", and of more than NODES_NAMED, or than there is room for, "n0, n1, n2 and others". */
static void text_write_nodes(const struct attribution *a, const struct attribution_finding *f,
                             const char *between, char *out, size_t capacity)
{
    const char *last = strcmp(between, ", ") == 0 ? " and " : between;
    size_t length = 0;
    uint32_t named = 0;
    out[0] = '\0';
    for (; named < f->node_count && named < NODES_NAMED; named++) {
        const char *name = attribution_node_name(a, f->nodes[named]);
        if (named > 0 && length + strlen(between) + strlen(name) + sizeof(" and others") > capacity)
            break;
        text_append(out, capacity, "%s%s", named ? between : "", name);
        length = strlen(out);
    }
    if (f->node_count > named)
        text_append(out, capacity, "%sothers", last);
}

/* Does a text name more than one rank? */
static int text_is_plural(const struct attribution *a, const struct attribution_finding *f)
{
    return a->by_node || f->rank_count != 1;
}

/* "rank 5" or "ranks 4-7", of those named; of a job by nodes "ranks of node5". */
static void text_write_ranks(const struct attribution *a, const struct attribution_finding *f,
                             char *out, size_t capacity)
{
    char list[NODES_TEXT];
    if (a->by_node)
        text_write_nodes(a, f, ", ", list, sizeof(list));
    else
        rank_list(f->ranks, f->rank_count, list, RANKS_TEXT);
    snprintf(out, capacity, "rank%s %s%s", text_is_plural(a, f) ? "s" : "", a->by_node ? "of " : "",
             list);
}

/* "12 times as long on the network as before (3.1 ms more)", or without what is not known. */
static void text_write_ratio(const struct attribution_finding *f, const char *than, char *out,
                             size_t capacity)
{
    char more[32];
    snprintf(more, sizeof(more), "%s %s",
             attribution_figure(f->first < 1e6 ? f->first / 1e3 : f->first / 1e6).text,
             f->first < 1e6 ? "us" : "ms");
    if (isfinite(f->ratio) && f->ratio < 1e4)
        snprintf(out, capacity, "%s times as long on the network as %s (%s more)",
                 attribution_figure(f->ratio).text, than, more);
    else
        snprintf(out, capacity, "%s longer on the network than %s", more, than);
}

static void text_describe_network(const struct attribution *a, const struct attribution_finding *f,
                                  char *text, size_t capacity)
{
    char nodes[NODES_TEXT], longer[120], others[80] = "";
    text_write_nodes(a, f, f->between || f->all ? " and " : " or ", nodes, sizeof(nodes));
    text_write_ratio(f, f->baseline ? "before" : "is normal", longer, sizeof(longer));
    if (isfinite(f->others) && f->others >= 1 && f->others < 1e4)
        snprintf(others, sizeof(others), ", those between other nodes %s times",
                 attribution_figure(f->others).text);
    if (f->kind == CAUSE_BACKGROUND)
        snprintf(text, capacity,
                 "messages between nodes take %s; no single node stands out; from window to window "
                 "it varies by %.0f %%",
                 longer, 100 * f->second);
    else if (f->between)
        snprintf(text, capacity, "link between %s: messages take %s", nodes, longer);
    else
        snprintf(text, capacity, "link%s of %s: messages to and from %s take %s%s",
                 f->all ? "s" : "", nodes, f->all ? "them" : "it", longer, others);
}

static void text_describe_late(const struct attribution *a, const struct attribution_finding *f,
                               char *text, size_t capacity)
{
    char ranks[NODES_TEXT + 16], nodes[NODES_TEXT], grown[80] = "";
    text_write_ranks(a, f, ranks, sizeof(ranks));
    text_write_nodes(a, f, ", ", nodes, sizeof(nodes));
    if (isfinite(f->ratio))
        snprintf(grown, sizeof(grown), ", %s times as long for the same work as before",
                 attribution_figure(f->ratio).text);
    if (f->kind == CAUSE_SLOW_NODE)
        snprintf(text, capacity,
                 "all ranks of %s are late: outside of MPI for %.0f %% of the time, others for "
                 "%.0f %%%s",
                 nodes, 100 * f->first, 100 * f->others, grown);
    else
        snprintf(text, capacity,
                 "%s %s late%s: outside of MPI for %.0f %% of the time, others for %.0f %%%s",
                 ranks, text_is_plural(a, f) ? "are" : "is",
                 f->kind == CAUSE_COLLECTIVE      ? " at collectives"
                 : f->kind == CAUSE_LATE_RECEIVER ? " to receive"
                                                  : " to send",
                 100 * f->first, 100 * f->others, grown);
}

/* Where nothing stands out: the figure that grew most, over all ranks. */
static void text_describe_growth(const struct attribution_finding *f, char *text, size_t capacity)
{
    const char *what = f->kind == CAUSE_LATE_SENDER     ? "waiting for late senders"
                       : f->kind == CAUSE_LATE_RECEIVER ? "messages waiting for late receivers"
                       : f->kind == CAUSE_COLLECTIVE    ? "time in collectives"
                                                        : "network time between nodes";
    snprintf(text, capacity,
             "%s grew by %.2g s a rank for the work of one second; no rank or node "
             "stands out",
             what, f->first);
}

static void text_describe_pattern(const struct attribution *a, const struct attribution_finding *f,
                                  char *text, size_t capacity)
{
    const int several = text_is_plural(a, f);
    char ranks[NODES_TEXT + 16];
    text_write_ranks(a, f, ranks, sizeof(ranks));
    snprintf(text, capacity,
             "%s %s %s times as many messages as the mean rank (load balance %.3g), and %s "
             "partners",
             ranks, several ? "send and receive" : "sends and receives",
             attribution_figure(f->first).text, f->second,
             several ? "hold up their" : "holds up its");
}

void attribution_describe(const struct attribution *a, const struct attribution_finding *f,
                          char *text, size_t capacity)
{
    if (f->rank_count == 0)
        text_describe_growth(f, text, capacity);
    else if (f->kind == CAUSE_PATTERN)
        text_describe_pattern(a, f, text, capacity);
    else if (f->kind == CAUSE_MAPPING)
        snprintf(text, capacity,
                 "%.0f %% of messages (%.0f %% of bytes) cross nodes, %.0f %% %s; each takes "
                 "%s us longer than one within a node",
                 100 * f->ratio, 100 * f->first, 100 * f->others,
                 f->baseline ? "before" : "would if partners ran together",
                 attribution_figure(f->second / 1e3).text);
    else if (f->by_network)
        text_describe_network(a, f, text, capacity);
    else
        text_describe_late(a, f, text, capacity);
}

void attribution_advise(const struct attribution *a, const struct attribution_finding *f,
                        char *text, size_t capacity)
{
    char ranks[NODES_TEXT + 16], nodes[NODES_TEXT];
    text_write_ranks(a, f, ranks, sizeof(ranks));
    text_write_nodes(a, f, f->kind == CAUSE_NETWORK && !f->between && !f->all ? " or " : " and ",
                     nodes, sizeof(nodes));
    switch (f->kind) {
    case CAUSE_MAPPING:
        snprintf(
            text, capacity,
            "Place ranks that exchange many messages on one node, or on near ones: `holter remap` "
            "says where.");
        break;
    case CAUSE_PATTERN:
        snprintf(text, capacity,
                 "Change the communication pattern: combine the messages of %s, or spread %s part "
                 "over more ranks.",
                 ranks, text_is_plural(a, f) ? "their" : "its");
        break;
    case CAUSE_NETWORK:
        snprintf(
            text, capacity,
            "Move the job off %s or have %s checked; if it is traffic of others, wait until it "
            "ends.",
            nodes,
            f->between ? "the link between them"
            : f->all   ? "their links"
                       : "its link");
        break;
    case CAUSE_BACKGROUND:
        snprintf(text, capacity,
                 "Wait until the traffic of others ends, or run at another time; on nodes close to "
                 "each other it is met less.");
        break;
    case CAUSE_SLOW_NODE:
        snprintf(text, capacity,
                 "Look at %s (frequency, temperature, other processes) and move the job off %s.",
                 nodes, f->node_count == 1 ? "it" : "them");
        break;
    case CAUSE_LATE_SENDER:
    case CAUSE_LATE_RECEIVER:
    case CAUSE_COLLECTIVE:
    default:
        if (f->rank_count == 0)
            snprintf(text, capacity, "Look at what changed in the program at that time.");
        else
            snprintf(text, capacity,
                     text_is_plural(a, f) ? "Balance the work: %s have more of it, or are slowed."
                                          : "Balance the work: %s has more of it, or is slowed.",
                     ranks);
        break;
    }
}
