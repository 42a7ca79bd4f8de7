/* Expansion of lists of hosts: see hostlist.h. */
#include "daemon/topology/hostlist.h"

#include "daemon/analysis/network/topology.h"
#include "holter/error.h"
#include "holter/plain_text.h"
#include "holter/refusal.h"

#include <inttypes.h>
#include <stdio.h>

#define MAX_BRACKETS 8u
#define HIGHEST UINT64_C(999999999999999999) /* number in a name */

struct bracket {
    const char *begin, *end; /* the text between the brackets */
};

struct item {
    struct bracket brackets[MAX_BRACKETS];
    unsigned count;
    const char *begin, *end;
};

struct reader {
    size_t left;
    hostlist_each *each;
    void *user;
    struct refusal refusal;
};

static int hostlist_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',';
}

/* Read one item, up to a separator outside of brackets. */
static int hostlist_scan(struct reader *r, const char **at, struct item *item)
{
    const char *open = NULL, *c = *at;
    *item = (struct item){.begin = c};
    for (; *c != '\0' && (open != NULL || !hostlist_is_blank(*c)); c++) {
        if (*c == '[') {
            if (open != NULL)
                return refusal_set(&r->refusal, "a second [ stands within [ ]");
            if (item->count == MAX_BRACKETS)
                return refusal_set(&r->refusal, "more than %u [ ] in one name", MAX_BRACKETS);
            open = c + 1;
        } else if (*c == ']') {
            if (open == NULL)
                return refusal_set(&r->refusal, "a ] stands without its [");
            if (c == open)
                return refusal_set(&r->refusal, "there is nothing within [ ]");
            item->brackets[item->count++] = (struct bracket){open, c};
            open = NULL;
        } else if ((unsigned char)*c < 0x20 || *c == 0x7f) {
            return refusal_set(&r->refusal, "a control character stands in a name");
        }
    }
    if (open != NULL)
        return refusal_set(&r->refusal, "the ] is missing");
    item->end = c;
    *at = c;
    return 0;
}

struct range {
    uint64_t first, last;
    int width; /* number of digits, for leading zeros: 001 */
};

/* Read "001-128". @return the text after the range and its comma, NULL: malformed */
static const char *hostlist_read_range(const char *at, const char *end, struct range *out)
{
    const char *c = text_number(at, HIGHEST, &out->first);
    if (c == NULL)
        return NULL;
    out->width = (int)(c - at);
    out->last = out->first;
    if (c < end && *c == '-')
        c = text_number(c + 1, HIGHEST, &out->last);
    if (c == NULL || out->last < out->first || (c < end && *c != ','))
        return NULL;
    if (c < end && c + 1 == end)
        return NULL;
    return c == end ? c : c + 1;
}

/* The present number of each bracket. */
struct odometer {
    const char *next[MAX_BRACKETS]; /* text after the present range */
    struct range range[MAX_BRACKETS];
    uint64_t value[MAX_BRACKETS];
};

static int hostlist_rewind_bracket(struct reader *r, const struct item *item, struct odometer *o,
                                   unsigned b)
{
    const struct bracket *bracket = &item->brackets[b];
    o->next[b] = hostlist_read_range(bracket->begin, bracket->end, &o->range[b]);
    o->value[b] = o->range[b].first;
    return o->next[b] != NULL
               ? 0
               : refusal_set(
                     &r->refusal, "'[%.*s]': ranges such as [001-128,200] are expected",
                     (int)(bracket->end - bracket->begin > 60 ? 60 : bracket->end - bracket->begin),
                     bracket->begin);
}

/* Advance to the next name. @return 1, 0: there is none, or a negative error */
static int hostlist_advance(struct reader *r, const struct item *item, struct odometer *o)
{
    for (unsigned b = item->count; b-- > 0;) {
        if (o->value[b] < o->range[b].last) {
            o->value[b]++;
            return 1;
        }
        if (o->next[b] < item->brackets[b].end) {
            o->next[b] = hostlist_read_range(o->next[b], item->brackets[b].end, &o->range[b]);
            if (o->next[b] == NULL)
                return refusal_set(&r->refusal,
                                   "a range within [ ] is none: [001-128,200] is expected");
            o->value[b] = o->range[b].first;
            return 1;
        }
        int code = hostlist_rewind_bracket(r, item, o, b);
        if (code != 0)
            return code;
    }
    return 0;
}

static int hostlist_emit_name(struct reader *r, const struct item *item, const struct odometer *o)
{
    char name[HOSTLIST_NAME + 200];
    size_t used = 0;
    const char *at = item->begin;
    for (unsigned b = 0; b <= item->count; b++) {
        const char *stop = b < item->count ? item->brackets[b].begin - 1 : item->end;
        int n = snprintf(name + used, sizeof(name) - used, "%.*s",
                         (int)(stop - at > 100 ? 100 : stop - at), at);
        if (b < item->count)
            n += snprintf(name + used + (size_t)n, sizeof(name) - used - (size_t)n, "%0*" PRIu64,
                          o->range[b].width, o->value[b]);
        used += (size_t)n;
        if (used > HOSTLIST_NAME)
            return refusal_set(&r->refusal, "a name is longer than %u bytes", HOSTLIST_NAME);
        at = b < item->count ? item->brackets[b].end + 1 : at;
    }
    if (r->left-- == 0)
        return refusal_set(&r->refusal, "too many names");
    return r->each(r->user, name);
}

static int hostlist_expand_item(struct reader *r, const struct item *item)
{
    struct odometer odometer = {0};
    int code = 0, more;
    for (unsigned b = 0; code == 0 && b < item->count; b++)
        code = hostlist_rewind_bracket(r, item, &odometer, b);
    while (code == 0) {
        code = hostlist_emit_name(r, item, &odometer);
        more = code == 0 ? hostlist_advance(r, item, &odometer) : 0;
        if (more <= 0)
            return code != 0 ? code : more;
    }
    return code;
}

int hostlist_expand(const char *text, size_t most, hostlist_each *each, void *user, char *why,
                    size_t capacity)
{
    struct reader r = {most, each, user, {why, capacity}};
    struct item item;
    const char *at = text;
    int code = 0;
    while (code == 0) {
        while (hostlist_is_blank(*at))
            at++;
        if (*at == '\0')
            return 0;
        code = hostlist_scan(&r, &at, &item);
        code = code != 0 ? code : hostlist_expand_item(&r, &item);
    }
    return code;
}

void hostlist_expand_key(struct faults *faults, unsigned line, const char *key, const char *text,
                         hostlist_each *each, void *user)
{
    char why[200] = "";
    int code = hostlist_expand(text, TOPOLOGY_MAX_VERTICES, each, user, why, sizeof(why));
    if (code == -HOLTER_EUSAGE && why[0] != '\0')
        fault_at(faults, line, "%s: %s", key, why);
}
