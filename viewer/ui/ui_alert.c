/* The links, nodes and ranks that an alert is about. */
#include "viewer/ui/ui_alert.h"

#include <stdlib.h>
#include <string.h>

/* Whether a list such as "node1, node2 and node3" has a name as one of its words. */
static int ui_alert_list_has(const char *list, const char *name)
{
    size_t length = strlen(name);
    static const char ends[] = ", ";
    for (const char *at = strstr(list, name); length && at; at = strstr(at + 1, name))
        if ((at == list || strchr(ends, at[-1])) && (!at[length] || strchr(ends, at[length])))
            return 1;
    return 0;
}

int ui_alert_ends(const struct alert *a, char *from, char *to, size_t size)
{
    static const char *const between[] = {" \xe2\x86\x92 ", " -> ", " to ", " and "};
    if (strcmp(a->culprit, "link") != 0 && strcmp(a->culprit, "node-pair") != 0)
        return 0;
    for (size_t i = 0; i < sizeof between / sizeof *between; i++) {
        const char *at = strstr(a->culprits, between[i]);
        const char *second = at ? at + strlen(between[i]) : NULL;
        if (!at || (size_t)(at - a->culprits) >= size)
            continue;
        memcpy(from, a->culprits, (size_t)(at - a->culprits));
        from[at - a->culprits] = 0;
        /* Further links may follow after ", " or " and ". */
        size_t length = strcspn(second, " ");
        length -= length > 0 && second[length] && second[length - 1] == ',';
        if (!length || length >= size)
            continue;
        memcpy(to, second, length);
        to[length] = 0;
        return 1;
    }
    return 0;
}

uint32_t ui_alert_link(const struct model *m, const struct alert *a)
{
    const struct topology *t = m->network.topology;
    char from[130], to[130];
    if (!t || strcmp(a->culprit, "link") != 0 || !ui_alert_ends(a, from, to, sizeof from))
        return TOPOLOGY_NONE;
    uint32_t ends[] = {topology_find(t, from), topology_find(t, to)};
    return ends[0] == TOPOLOGY_NONE || ends[1] == TOPOLOGY_NONE
               ? TOPOLOGY_NONE
               : topology_link_between(t, ends[0], ends[1]);
}

int ui_alert_marks_node(const struct model *m, const struct alert *a, uint64_t host)
{
    char from[130], to[130];
    if (host >= m->host_count)
        return 0;
    const char *name = m->hosts[host].name;
    if (!strcmp(a->culprit, "node"))
        return ui_alert_list_has(a->culprits, name);
    if (ui_alert_ends(a, from, to, sizeof from))
        return !strcmp(from, name) || !strcmp(to, name);
    return !strcmp(a->host, name) || ui_alert_list_has(a->nodes, name);
}

int ui_alert_marks_rank(const struct model *m, const struct alert *a, uint32_t rank)
{
    if (a->rank == (int64_t)rank || alert_has_rank(a, rank))
        return 1;
    if (a->region && !a->span_count && latency_region_of(&m->latency, rank) == a->region)
        return 1;
    return !strcmp(a->culprit, "node") && rank < m->rank_count &&
           ui_alert_marks_node(m, a, m->ranks[rank].node);
}

struct selection ui_alert_selection(const struct model *m, const struct alert *a)
{
    uint32_t link = ui_alert_link(m, a);
    uint64_t host = model_host_find(m, strcmp(a->culprit, "node") ? a->host : a->culprits);
    char *end;
    unsigned long rank = strtoul(a->culprits, &end, 10);
    if (link != TOPOLOGY_NONE)
        return (struct selection){SELECT_LINK, link, 0};
    if (!strcmp(a->culprit, "rank") && end != a->culprits && !*end && rank < m->rank_count)
        return (struct selection){SELECT_RANK, rank, 0};
    if (!strcmp(a->culprit, "node") && host != UINT64_MAX)
        return (struct selection){SELECT_NODE, host, 0};
    if (a->region && !a->culprit[0] && latency_region_find(&m->latency, a->region) != LATENCY_NONE)
        return (struct selection){SELECT_REGION, a->region, 0};
    if (a->rank >= 0 && !a->culprit[0])
        return (struct selection){SELECT_RANK, (uint64_t)a->rank, 0};
    if (!a->span_count && host != UINT64_MAX)
        return (struct selection){SELECT_NODE, host, 0};
    return (struct selection){SELECT_ALERT, a->id, 0};
}
