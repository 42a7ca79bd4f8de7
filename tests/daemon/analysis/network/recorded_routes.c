/* Routes and hop counts of recordings: see recorded_routes.h. */
#include "tests/daemon/analysis/network/recorded_routes.h"

#include "tests/data_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint32_t number(const char **text)
{
    char *end;
    unsigned long value = strtoul(*text, &end, 10);
    assert_true(end > *text && value < UINT32_MAX);
    *text = end;
    return (uint32_t)value;
}

static void expect(const char **text, const char *wanted)
{
    if (strncmp(*text, wanted, strlen(wanted)) != 0)
        fail_msg("\"%s\" instead of \"%.20s\"", wanted, *text);
    *text += strlen(wanted);
}

/* "(0 1 1 0 0 0)" */
static uint32_t coordinates(const char **text, uint32_t *out)
{
    uint32_t count = 0;
    expect(text, "(");
    do {
        assert_true(count < RECORDED_COORDINATES);
        out[count++] = number(text);
    } while (**text == ' ');
    expect(text, ")");
    return count;
}

static int compare_hops(const void *a, const void *b)
{
    const struct recorded_hop *x = a, *y = b;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->destination != y->destination)
        return x->destination < y->destination ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static uint32_t lines(const char *text)
{
    uint32_t count = 0;
    for (; *text; text++)
        count += *text == '\n';
    return count + 1;
}

struct recorded_hops recorded_routes(const char *name)
{
    char path[200];
    size_t length;
    snprintf(path, sizeof path, "par-comm-data/route/%s_route.txt", name);
    char *text = data_file(path, &length);
    struct recorded_hops all = {calloc(lines(text), sizeof(struct recorded_hop)), 0};
    assert_non_null(all.hops);
    for (const char *at = text; *at;) {
        struct recorded_hop *hop = &all.hops[all.count++];
        expect(&at, "Hop ");
        hop->number = number(&at);
        expect(&at, ": [");
        hop->source = number(&at);
        expect(&at, "-");
        hop->destination = number(&at);
        expect(&at, "] ");
        hop->from = number(&at);
        expect(&at, " ");
        hop->coordinates = coordinates(&at, hop->at);
        expect(&at, " -> ");
        hop->to = number(&at);
        expect(&at, " ");
        assert_int_equal(coordinates(&at, hop->end), hop->coordinates);
        expect(&at, "\n");
    }
    free(text);
    qsort(all.hops, all.count, sizeof *all.hops, compare_hops);
    return all;
}

struct recorded_pairs recorded_pairs(const char *name)
{
    char path[200];
    size_t length;
    snprintf(path, sizeof path, "par-comm-data/hopbyte/%s_hopbyte.txt", name);
    char *text = data_file(path, &length);
    struct recorded_pairs all = {calloc(lines(text), sizeof(struct recorded_pair)), 0};
    assert_non_null(all.pairs);
    for (const char *at = text; *at;) {
        struct recorded_pair *pair = &all.pairs[all.count++];
        char *end;
        pair->source = number(&at);
        pair->destination = number(&at);
        pair->bytes = strtod(at, &end);
        assert_true(end > at);
        at = end;
        pair->hops = *at == ' ' && at[1] != '\n' ? number(&at) : UINT32_MAX;
        at += strspn(at, " \r");
        expect(&at, "\n");
    }
    free(text);
    return all;
}

uint32_t recorded_route_length(const struct recorded_hops *hops, uint32_t first)
{
    uint32_t end = first;
    while (end < hops->count && hops->hops[end].source == hops->hops[first].source &&
           hops->hops[end].destination == hops->hops[first].destination)
        end++;
    return end - first;
}

int recorded_route_complete(const struct recorded_hop *hops, uint32_t count, uint32_t ranks)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t before = i ? hops[i - 1].to : hops[0].source;
        if (hops[i].number != i + 1 || hops[i].from / ranks != before / ranks)
            return 0;
    }
    return hops[count - 1].to / ranks == hops[0].destination / ranks;
}
