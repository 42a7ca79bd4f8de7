/* Loads by classes of links, and a sentence about them. */
#include "viewer/views/common/link_classes.h"

#include "holter/plain_text.h"
#include "viewer/layout/format.h"

#include <stdio.h>
#include <string.h>

enum { DIRECTIONS = 3, KINDS = LINK_ENDS, UNUSED_MAXIMUM = 3 }; /* unused classes that are named */

static const double similar_ratio = 1.25; /* groups below this ratio carry about the same */

/* Tier of a link that runs along no dimension: 2 * L if it leads up from level L, 2 * L + 1 if it
 * leads down to level L. Links between two switches of a dragonfly have tier 2 within a group and 3
 * between groups. Sets the levels of both ends. */
static uint32_t link_class_tier(const struct topology *t, uint32_t link, uint32_t levels[2])
{
    uint32_t from, to, a, b;
    topology_link(t, link, &from, &to);
    levels[0] = topology_level(t, from, &a);
    levels[1] = topology_level(t, to, &b);
    const struct topology_spec *spec = topology_spec(t);
    if (spec->kind == TOPOLOGY_DRAGONFLY && levels[0] == 1 && levels[1] == 1)
        return 2 + (a / spec->dimensions[1].size != b / spec->dimensions[1].size);
    return levels[0] < levels[1] ? 2 * levels[0] : 2 * levels[1] + 1;
}

static int link_class_has_levels(const struct topology *t)
{
    const enum topology_kind kind = topology_spec(t)->kind;
    return kind == TOPOLOGY_DRAGONFLY || kind == TOPOLOGY_FAT_TREE;
}

uint32_t link_class_of(const struct topology *t, uint32_t link)
{
    uint32_t from, to, dimension, levels[2];
    int direction;
    if (!topology_link(t, link, &from, &to))
        return LINK_CLASSES;
    if (topology_link_axis(t, link, &dimension, &direction))
        return dimension * DIRECTIONS + (uint32_t)direction;
    if (link_class_has_levels(t))
        return link_class_tier(t, link, levels);
    uint32_t kind =
        (uint32_t)topology_vertex_kind(t, from) * KINDS + (uint32_t)topology_vertex_kind(t, to);
    return kind < LINK_CLASSES ? kind : LINK_CLASSES;
}

static const char *const link_class_kinds[KINDS] = {"node", "switch", "core", "NUMA node",
                                                    "process"};

void link_ends_text(const uint32_t counts[LINK_ENDS], char *out, size_t capacity)
{
    out[0] = 0;
    for (int k = 0; k < KINDS; k++) {
        const char *kind = link_class_kinds[k];
        if (counts[k])
            text_append(out, capacity, "%s%s %s%s", out[0] ? ", " : "",
                        quantity_grouped(counts[k]).text, kind,
                        counts[k] == 1                         ? ""
                        : strchr("hs", kind[strlen(kind) - 1]) ? "es"
                                                               : "s");
    }
}

void link_class_name(struct link_class *c, const struct topology *t, uint32_t link)
{
    static const char *const signs[DIRECTIONS] = {"+", "-", ""};
    uint32_t from, to, dimension, levels[2];
    int direction;
    if (topology_link_axis(t, link, &dimension, &direction)) {
        snprintf(c->name, sizeof c->name, "%s%s", topology_spec(t)->dimensions[dimension].name,
                 signs[direction]);
        c->group = dimension;
        return;
    }
    if (link_class_has_levels(t)) {
        const uint32_t tier = link_class_tier(t, link, levels);
        const char *const group =
            levels[0] == levels[1] && tier == 3 ? topology_spec(t)->dimensions[0].name : NULL;
        snprintf(c->name, sizeof c->name, "%s to %s",
                 group ? group : topology_level_name(t, levels[0]),
                 group ? group : topology_level_name(t, levels[1]));
        c->group = levels[0] == levels[1] ? tier : tier / 2 * 2;
        return;
    }
    topology_link(t, link, &from, &to);
    uint32_t a = (uint32_t)topology_vertex_kind(t, from), b = (uint32_t)topology_vertex_kind(t, to);
    snprintf(c->name, sizeof c->name, "%s to %s", link_class_kinds[a], link_class_kinds[b]);
    c->group = a < b ? a * KINDS + b : b * KINDS + a;
}

void link_classes_sum(struct link_classes *out, const struct topology *t, const uint64_t *loads)
{
    uint64_t largest = 0;
    *out = (struct link_classes){.count = 0};
    for (uint32_t l = 0; l < topology_links(t); l++) {
        uint32_t number = link_class_of(t, l);
        if (number == LINK_CLASSES)
            continue;
        struct link_class *c = &out->classes[number];
        if (!c->links++)
            link_class_name(c, t, l);
        c->used += loads[l] > 0;
        c->bytes += (double)loads[l];
        out->count = number >= out->count ? number + 1 : out->count;
        largest = loads[l] > largest ? loads[l] : largest;
    }
    for (uint32_t l = 0; largest && l < topology_links(t); l++)
        out->top += (double)loads[l] >= (1 - LINK_ALIKE) * (double)largest;
}

/* ---- the sentence ---- */

/* Name of a group: that of its first class without the direction. */
static void link_group_name(const struct link_classes *c, uint32_t group, char *out,
                            size_t capacity)
{
    for (uint32_t i = 0; i < c->count; i++) {
        if (!c->classes[i].links || c->classes[i].group != group)
            continue;
        snprintf(out, capacity, "%s", c->classes[i].name);
        size_t n = strlen(out);
        if (n && (out[n - 1] == '+' || out[n - 1] == '-'))
            out[n - 1] = 0;
        return;
    }
}

/* Bytes of a group. @param used  set to the number of its loaded links */
static double link_group_bytes(const struct link_classes *c, uint32_t group, uint32_t *used)
{
    double bytes = 0;
    *used = 0;
    for (uint32_t i = 0; i < c->count; i++)
        if (c->classes[i].links && c->classes[i].group == group) {
            bytes += c->classes[i].bytes;
            *used += c->classes[i].used;
        }
    return bytes;
}

/* Is class i the first one of its group? */
static int link_group_begins(const struct link_classes *c, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (c->classes[k].links && c->classes[k].group == c->classes[i].group)
            return 0;
    return c->classes[i].links > 0;
}

/* "E carries 2.0x as much as C": the group with most bytes, and the next one. */
static void link_sentence_compare(char *out, size_t capacity, const struct link_classes *c)
{
    uint32_t first = UINT32_MAX, second = UINT32_MAX, used;
    double most = 0, next = 0;
    char a[40] = "", b[40] = "";
    for (uint32_t i = 0; i < c->count; i++) {
        if (!link_group_begins(c, i))
            continue;
        double bytes = link_group_bytes(c, c->classes[i].group, &used);
        if (bytes > most) {
            next = most;
            second = first;
            most = bytes;
            first = c->classes[i].group;
        } else if (bytes > next) {
            next = bytes;
            second = c->classes[i].group;
        }
    }
    if (second == UINT32_MAX || next <= 0)
        return;
    link_group_name(c, first, a, sizeof a);
    link_group_name(c, second, b, sizeof b);
    if (most / next < similar_ratio)
        text_append(out, capacity, "%s and %s carry most", a, b);
    else
        text_append(out, capacity, "%s carries %.1fx as much as %s", a, most / next, b);
}

/* "A+ and B unused": whole groups, and single directions of others. */
static void link_sentence_unused(char *out, size_t capacity, const struct link_classes *c)
{
    uint32_t named = 0, more = 0, used;
    for (uint32_t i = 0; i < c->count; i++) {
        char name[40] = "";
        if (!c->classes[i].links || c->classes[i].used)
            continue;
        link_group_bytes(c, c->classes[i].group, &used);
        if (!used && !link_group_begins(c, i))
            continue;
        if (used)
            snprintf(name, sizeof name, "%s", c->classes[i].name);
        else
            link_group_name(c, c->classes[i].group, name, sizeof name);
        if (named < UNUSED_MAXIMUM)
            text_append(out, capacity, "%s%s", named ? ", " : out[0] ? "; " : "", name);
        named++;
        more += named > UNUSED_MAXIMUM;
    }
    if (more)
        text_append(out, capacity, " and %u more", more);
    if (named)
        text_append(out, capacity, " unused");
}

char *link_classes_text(const struct link_classes *c, const struct network *n,
                        const struct flows *f, char *out, size_t capacity)
{
    char name[200];
    out[0] = 0;
    if (!c->top || f->largest_link == TOPOLOGY_NONE)
        return out;
    const int equal = c->top > 1 && c->top == f->links_used;
    if (!equal)
        link_sentence_compare(out, capacity, c);
    link_sentence_unused(out, capacity, c);
    const char *sign = out[0] ? "; " : "";
    struct quantity load = format_si((double)f->largest, "B");
    if (equal)
        text_append(out, capacity, "%sall %s loaded links carry %s", sign,
                    quantity_grouped(c->top).text, load.text);
    else if (c->top > 1)
        text_append(out, capacity, "%s%s links share the top load of %s", sign,
                    quantity_grouped(c->top).text, load.text);
    else
        text_append(out, capacity, "%s%s has the top load of %s, %.1fx the mean", sign,
                    network_link_name(n, f->largest_link, name, sizeof name), load.text,
                    f->mean > 0 ? (double)f->largest / f->mean : 0);
    return out;
}
