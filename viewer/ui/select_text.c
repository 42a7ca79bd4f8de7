/* Selections by name, as the command line has them. */
#include "viewer/ui/ui.h"

#include "holter/error.h"

#include <string.h>

static const struct {
    const char *name;
    enum select_kind kind;
} kinds[] = {
    {"rank:", SELECT_RANK},   {"pair:", SELECT_PAIR},     {"link:", SELECT_LINK},
    {"route:", SELECT_ROUTE}, {"vertex:", SELECT_VERTEX},
};

#define NAME 256u

enum select_kind ui_select_kind(const char *text)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strncmp(text, kinds[i].name, strlen(kinds[i].name)))
            return kinds[i].kind;
    return SELECT_NONE;
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
    if (!(one ? select_text_find(m, kind, text, strlen(text), &a)
              : find_two(m, kind, text, &a, &b)))
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
