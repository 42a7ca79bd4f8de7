/* Selections by name, as the command line has them. */
#include "viewer/ui/ui.h"

#include "holter/call.h"
#include "holter/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    enum select_kind kind;
} kinds[] = {
    {"rank:", SELECT_RANK},     {"pair:", SELECT_PAIR},     {"link:", SELECT_LINK},
    {"route:", SELECT_ROUTE},   {"vertex:", SELECT_VERTEX}, {"node:", SELECT_NODE},
    {"region:", SELECT_REGION}, {"call:", SELECT_CALL},
};

#define NAME 256u

enum select_kind ui_select_kind(const char *text)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strncmp(text, kinds[i].name, strlen(kinds[i].name)))
            return kinds[i].kind;
    return SELECT_NONE;
}

/* Number of the first kind of call of an MPI function; UINT32_MAX: there is none. */
static uint32_t select_text_call(const struct model *m, const char *name)
{
    for (uint32_t i = 0; i < m->calls.keys.count; i++)
        if (!strcmp(call_name(model_call_at(m, i).call), name))
            return i;
    return UINT32_MAX;
}

/* Parses a number below a maximum, up to the end of the text. */
static int select_text_number(const char *text, size_t length, uint64_t maximum, uint64_t *out)
{
    uint64_t value = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9' || value > maximum)
            return 0;
        value = value * 10 + (uint64_t)(text[i] - '0');
    }
    *out = value;
    return length && value < maximum;
}

/* Finds a rank, or a vertex by name or by number. */
static int select_text_find(const struct model *m, enum select_kind kind, const char *text,
                            size_t length, uint64_t *out)
{
    const struct topology *t = m->network.topology;
    char name[NAME];
    if (kind == SELECT_RANK || kind == SELECT_PAIR)
        return select_text_number(text, length, m->rank_count, out);
    if (!t || length >= sizeof name)
        return 0;
    memcpy(name, text, length);
    name[length] = 0;
    *out = topology_find(t, name);
    return *out != TOPOLOGY_NONE || select_text_number(text, length, topology_vertices(t), out);
}

/* Finds two of them; names may contain hyphens as well as the separator. */
static int find_two(const struct model *m, enum select_kind kind, const char *text, uint64_t *a,
                    uint64_t *b)
{
    for (const char *at = strchr(text, '-'); at; at = strchr(at + 1, '-'))
        if (select_text_find(m, kind, text, (size_t)(at - text), a) &&
            select_text_find(m, kind, at + 1, strlen(at + 1), b))
            return 1;
    return 0;
}

int ui_select_find(const struct model *m, const char *text, struct selection *out)
{
    enum select_kind kind = ui_select_kind(text);
    uint64_t a = 0, b = 0;
    if (kind == SELECT_NONE)
        return -HOLTER_EUSAGE;
    text = strchr(text, ':') + 1;
    int one = kind == SELECT_RANK || kind == SELECT_VERTEX;
    int found = 1;
    if (kind == SELECT_NODE)
        found = (a = model_host_find(m, text)) != UINT64_MAX;
    else if (kind == SELECT_CALL)
        found = (a = select_text_call(m, text)) != UINT32_MAX;
    else if (kind == SELECT_REGION)
        found = select_text_number(text, strlen(text), UINT64_MAX / 16, &a) &&
                latency_region_find(&m->latency, a) != LATENCY_NONE;
    else
        found = one ? select_text_find(m, kind, text, strlen(text), &a)
                    : find_two(m, kind, text, &a, &b);
    if (!found)
        return -HOLTER_EMISSING;
    if (kind == SELECT_LINK) {
        a = topology_link_between(m->network.topology, (uint32_t)a, (uint32_t)b);
        b = 0;
        if (a == TOPOLOGY_NONE)
            return -HOLTER_EMISSING;
    }
    *out = (struct selection){kind, a, b};
    return 0;
}

char *ui_select_text(const struct model *m, const struct selection *sel, char *out, size_t capacity)
{
    const struct topology *t = m->network.topology;
    char from[NAME], to[NAME];
    uint32_t a = (uint32_t)sel->a, b = (uint32_t)sel->b;
    *out = 0;
    if (sel->kind == SELECT_RANK)
        snprintf(out, capacity, "rank:%" PRIu64, sel->a);
    else if (sel->kind == SELECT_PAIR)
        snprintf(out, capacity, "pair:%" PRIu64 "-%" PRIu64, sel->a, sel->b);
    else if (sel->kind == SELECT_NODE && sel->a < m->host_count)
        snprintf(out, capacity, "node:%s", m->hosts[sel->a].name);
    else if (sel->kind == SELECT_REGION)
        snprintf(out, capacity, "region:%" PRIu64, sel->a);
    else if (sel->kind == SELECT_CALL && sel->b == GROUP_CALL && sel->a < m->calls.keys.count)
        snprintf(out, capacity, "call:%s", call_name(model_call_at(m, a).call));
    else if (sel->kind == SELECT_LINK && t && topology_link(t, a, &a, &b))
        snprintf(out, capacity, "link:%s-%s", network_vertex_name(&m->network, a, from, NAME),
                 network_vertex_name(&m->network, b, to, NAME));
    else if (sel->kind == SELECT_ROUTE && t)
        snprintf(out, capacity, "route:%s-%s", network_vertex_name(&m->network, a, from, NAME),
                 network_vertex_name(&m->network, b, to, NAME));
    else if (sel->kind == SELECT_VERTEX && t)
        snprintf(out, capacity, "vertex:%s", network_vertex_name(&m->network, a, from, NAME));
    return out;
}
