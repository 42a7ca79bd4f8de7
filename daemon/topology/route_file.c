/* Reader of route files of par-comm-data: see route_file.h. */
#include "daemon/topology/route_file.h"

#include "daemon/analysis/tables/array.h"
#include "holter/error.h"
#include "holter/order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct cursor {
    const char *at, *end;
};

static void route_file_skip_blanks(struct cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\r'))
        c->at++;
}

static int route_file_expect_word(struct cursor *c, const char *word)
{
    size_t length = strlen(word);
    route_file_skip_blanks(c);
    if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0)
        return 0;
    c->at += length;
    return 1;
}

static int route_file_number(struct cursor *c, uint32_t *out)
{
    uint64_t value = 0;
    route_file_skip_blanks(c);
    const char *begin = c->at;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++) {
        value = value * 10 + (uint64_t)(*c->at - '0');
        if (value >= UINT32_MAX)
            return 0;
    }
    *out = (uint32_t)value;
    return c->at > begin;
}

/* Read "(0 1 1 0 0 0)". @return number of coordinates, 0: none */
static uint32_t route_file_coordinates(struct cursor *c, uint32_t out[ROUTE_COORDINATES])
{
    uint32_t count = 0;
    if (!route_file_expect_word(c, "("))
        return 0;
    while (!route_file_expect_word(c, ")")) {
        if (count == ROUTE_COORDINATES || !route_file_number(c, &out[count]))
            return 0;
        count++;
    }
    return count;
}

const char *route_file_line(const char *begin, const char *end, struct route_hop *hop,
                            uint32_t *count)
{
    struct cursor cursor = {begin, end}, *c = &cursor;
    if (!route_file_expect_word(c, "Hop") || !route_file_number(c, &hop->number) ||
        hop->number == 0 || !route_file_expect_word(c, ":"))
        return "a hop begins with \"Hop\" and its number, from 1 up";
    if (!route_file_expect_word(c, "[") || !route_file_number(c, &hop->source) ||
        !route_file_expect_word(c, "-") || !route_file_number(c, &hop->destination) ||
        !route_file_expect_word(c, "]"))
        return "[SOURCE-DESTINATION] is missing";
    if (!route_file_number(c, &hop->from) || (*count = route_file_coordinates(c, hop->at)) == 0)
        return "the begin of the hop and its coordinates are missing";
    if (!route_file_expect_word(c, "->") || !route_file_number(c, &hop->to))
        return "the end of the hop is missing";
    if (route_file_coordinates(c, hop->end) != *count)
        return "the end of the hop has not as many coordinates as its begin";
    route_file_skip_blanks(c);
    return c->at == c->end ? NULL : "unexpected text after the hop";
}

ORDER_FUNCTION(route_file_compare_hops, struct route_hop,
               8 * ORDER(a->source, b->source) + 4 * ORDER(a->destination, b->destination) +
                   2 * ORDER(a->number, b->number) + ORDER(a->line, b->line))

static int route_file_add(struct route_file *file, size_t *capacity, const struct route_hop *hop)
{
    if (array_fit(&file->hops, sizeof(*file->hops), capacity, file->count + 1) != 0)
        return -ENOMEM;
    file->hops[file->count++] = *hop;
    return 0;
}

/* Half of the lines or more are wrong: it is no such file. */
static int route_file_refuse(const struct route_file *file, struct faults *faults)
{
    for (uint32_t i = 0; i < file->wrong_lines && i < FILE_FAULTS; i++)
        fault_at(faults, file->wrong[i].line, "%s", file->wrong[i].why);
    if (file->wrong_lines > FILE_FAULTS)
        fault_at(faults, 0, "%u lines are wrong", file->wrong_lines);
    if (file->wrong_lines == 0)
        fault_at(faults, 0, "no hop stands in it");
    return -HOLTER_EUSAGE;
}

int route_file_parse(struct route_file *out, const char *text, size_t length, struct faults *faults)
{
    struct lines lines = lines_of(text, length);
    struct route_file file = {0};
    size_t capacity = 0;
    int code = 0;
    struct cursor c;
    while (code == 0 && lines_next(&lines, &c.at, &c.end)) {
        struct route_hop hop = {.line = lines.number};
        uint32_t count = 0;
        route_file_skip_blanks(&c);
        if (c.at == c.end || *c.at == '#')
            continue;
        const char *wrong = route_file_line(c.at, c.end, &hop, &count);
        if (wrong == NULL && file.count > 0 && count != file.coordinates)
            wrong = "other hops have another number of coordinates";
        if (wrong == NULL && file.count == ROUTE_HOPS)
            wrong = "too many hops";
        if (wrong != NULL) {
            if (file.wrong_lines++ < FILE_FAULTS)
                file.wrong[file.wrong_lines - 1] = (struct route_wrong){hop.line, wrong};
            continue;
        }
        file.coordinates = count;
        code = route_file_add(&file, &capacity, &hop);
    }
    if (code == 0 && file.wrong_lines >= file.count)
        code = route_file_refuse(&file, faults);
    if (code != 0) {
        route_file_finish(&file);
        return code;
    }
    qsort(file.hops, file.count, sizeof(*file.hops), route_file_compare_hops);
    *out = file;
    return 0;
}

void route_file_finish(struct route_file *file)
{
    free(file->hops);
    *file = (struct route_file){0};
}

size_t route_file_length(const struct route_file *file, size_t first)
{
    size_t at = first;
    while (at < file->count && file->hops[at].source == file->hops[first].source &&
           file->hops[at].destination == file->hops[first].destination)
        at++;
    return at - first;
}

const char *route_file_gap(const struct route_hop *hops, size_t count, uint32_t per_node,
                           const struct route_hop **hop)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t before = i == 0 ? hops[0].source : hops[i - 1].to;
        *hop = &hops[i];
        if (hops[i].number < i + 1)
            return "the hop stands there twice";
        if (hops[i].number > i + 1)
            return "hops before this one are missing";
        if (hops[i].from / per_node != before / per_node)
            return i == 0 ? "the route does not begin at its source"
                          : "the hop does not begin where the one before ends";
    }
    return hops[count - 1].to / per_node == hops[0].destination / per_node
               ? NULL
               : "hops after this one are missing";
}
