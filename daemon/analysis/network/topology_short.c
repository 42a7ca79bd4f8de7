/* Short forms of networks, as in "torus:4,4,4,16,2/order=D,B,A,C,E". */
#include "daemon/analysis/network/topology_inner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A text that is read. */
struct reader {
    const char *start, *at;
    const struct refusal *why;
};

/* Every message ends with the position. */
static int short_refuse(const struct reader *reader, const char *what)
{
    return refusal_set(reader->why, "%s, at character %d", what,
                       (int)(reader->at - reader->start) + 1);
}

static int short_accept(struct reader *reader, char expected)
{
    if (*reader->at != expected)
        return 0;
    reader->at++;
    return 1;
}

static int short_accept_word(struct reader *reader, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(reader->at, word, length) != 0)
        return 0;
    reader->at += length;
    return 1;
}

static int short_read_number(struct reader *reader, uint32_t *out)
{
    uint64_t value = 0;
    const char *at = reader->at;
    while (*at >= '0' && *at <= '9') {
        value = value * 10 + (uint64_t)(*at - '0');
        if (value > UINT32_MAX)
            return short_refuse(reader, "too large a number");
        at++;
    }
    if (at == reader->at)
        return short_refuse(reader, "a number is missing");
    reader->at = at;
    *out = (uint32_t)value;
    return 0;
}

/* Check that options follow, or nothing. */
static int short_check_end(const struct reader *reader)
{
    return *reader->at && *reader->at != '/' ? short_refuse(reader, "unexpected") : 0;
}

static int short_add_dimension(struct reader *reader, struct topology_spec *spec,
                               enum topology_connection connection, uint32_t size)
{
    if (spec->dimension_count == TOPOLOGY_DIMENSIONS)
        return short_refuse(reader, "too many dimensions");
    struct topology_dimension *dimension = &spec->dimensions[spec->dimension_count];
    *dimension = (struct topology_dimension){.connection = connection, .size = size};
    dimension->name[0] = (char)('A' + (int)spec->dimension_count++);
    return 0;
}

/* Read sizes, as "4,4,8m,2". */
static int short_read_sizes(struct reader *reader, struct topology_spec *spec,
                            enum topology_connection usual)
{
    do {
        uint32_t size;
        int error = short_read_number(reader, &size);
        if (error)
            return error;
        enum topology_connection connection = short_accept(reader, 'm')   ? TOPOLOGY_MESH
                                              : short_accept(reader, 't') ? TOPOLOGY_TORUS
                                              : short_accept(reader, 'a') ? TOPOLOGY_ALL
                                                                          : usual;
        error = short_add_dimension(reader, spec, connection, size);
        if (error)
            return error;
    } while (short_accept(reader, ','));
    return short_check_end(reader);
}

static int short_read_hypercube(struct reader *reader, struct topology_spec *spec)
{
    struct reader before = *reader;
    uint32_t count;
    int error = short_read_number(reader, &count);
    if (error)
        return error;
    if (count == 0)
        return short_refuse(&before, "a hypercube needs a dimension");
    if (count > TOPOLOGY_DIMENSIONS)
        return short_refuse(&before, "too many dimensions");
    for (uint32_t d = 0; d < count; d++)
        short_add_dimension(reader, spec, TOPOLOGY_TORUS, 2);
    return short_check_end(reader);
}

/* Read a dragonfly described by groups: "groups=9,routers=4,nodes=2,global=2", in any order. */
static int short_read_groups(struct reader *reader, struct topology_spec *spec)
{
    static const char *const words[] = {"groups=", "routers=", "nodes=", "global="};
    spec->kind = TOPOLOGY_DRAGONFLY;
    for (size_t d = 0; d < 4; d++) {
        short_add_dimension(reader, spec, TOPOLOGY_ALL, 0);
        memset(spec->dimensions[d].name, 0, sizeof spec->dimensions[d].name);
        static const char *const names[] = {"group", "router", "node", "global"};
        memcpy(spec->dimensions[d].name, names[d], strlen(names[d]));
    }
    unsigned seen = 0;
    do {
        size_t d = 0;
        while (d < 4 && !short_accept_word(reader, words[d]))
            d++;
        if (d == 4)
            return short_refuse(reader, "groups=, routers=, nodes= or global= is missing");
        if (seen & 1u << d)
            return short_refuse(reader, "given twice");
        seen |= 1u << d;
        int error = short_read_number(reader, &spec->dimensions[d].size);
        if (error)
            return error;
    } while (short_accept(reader, ','));
    if (seen != 15)
        return short_refuse(reader, "groups=, routers=, nodes= or global= is missing");
    return short_check_end(reader);
}

/* The tiers of a Cray XC by their names, as in Visuco, section 7.4. */
static int short_read_tiers(struct reader *reader, struct topology_spec *spec)
{
    static const char *const tiers[] = {"row", "column", "cage", "slot", "cpu"};
    int error = short_read_sizes(reader, spec, TOPOLOGY_ALL);
    if (!error && spec->dimension_count == 5)
        for (uint32_t d = 0; d < 5; d++)
            memcpy(spec->dimensions[d].name, tiers[d], strlen(tiers[d]) + 1);
    return error;
}

static int short_read_dragonfly(struct reader *reader, struct topology_spec *spec)
{
    return *reader->at >= '0' && *reader->at <= '9' ? short_read_tiers(reader, spec)
                                                    : short_read_groups(reader, spec);
}

/* Three levels of switches with k ports: k/2 nodes at each switch of the lowest level, k/2 of these
 * switches a pod, k pods. */
static int short_read_ports(struct reader *reader, struct topology_spec *spec)
{
    struct reader before = *reader;
    uint32_t ports;
    int error = short_read_number(reader, &ports);
    if (error)
        return error;
    if (ports < 2 || ports % 2)
        return short_refuse(&before, "switches need an even number of ports");
    for (uint32_t level = 0; level < 3; level++) {
        short_add_dimension(reader, spec, TOPOLOGY_ALL, level < 2 ? ports / 2 : ports);
        spec->dimensions[level].up = level ? ports / 2 : 1;
    }
    return short_check_end(reader);
}

static int short_read_fat_tree(struct reader *reader, struct topology_spec *spec)
{
    int error;
    spec->kind = TOPOLOGY_FAT_TREE;
    if (short_accept_word(reader, "k=")) {
        error = short_read_ports(reader, spec);
    } else {
        do {
            uint32_t size;
            error = short_read_number(reader, &size);
            if (!error)
                error = short_add_dimension(reader, spec, TOPOLOGY_ALL, size);
        } while (!error && short_accept(reader, ','));
        if (!error && !short_accept(reader, '/'))
            return short_refuse(reader, "numbers of parents are missing");
        for (uint32_t level = 0; !error && level < spec->dimension_count; level++) {
            if (level > 0 && !short_accept(reader, ','))
                return short_refuse(reader, "numbers of parents are missing");
            error = short_read_number(reader, &spec->dimensions[level].up);
        }
    }
    for (uint32_t level = 0; level < spec->dimension_count; level++)
        snprintf(spec->dimensions[level].name, sizeof spec->dimensions[level].name, "level %u",
                 level + 1);
    return error ? error : short_check_end(reader);
}

static int short_read_name(struct reader *reader, const struct topology_spec *spec, uint32_t *out)
{
    size_t length = strcspn(reader->at, ",/");
    for (uint32_t d = 0; d < spec->dimension_count; d++)
        if (strlen(spec->dimensions[d].name) == length &&
            strncmp(spec->dimensions[d].name, reader->at, length) == 0) {
            reader->at += length;
            *out = d;
            return 0;
        }
    return short_refuse(reader, "no dimension has this name");
}

static int short_read_order(struct reader *reader, struct topology_spec *spec)
{
    uint32_t seen = 0, d = 0;
    for (uint32_t step = 0; step < spec->dimension_count; step++) {
        if (step > 0 && !short_accept(reader, ','))
            return short_refuse(reader, "the order misses a dimension");
        int error = short_read_name(reader, spec, &d);
        if (error)
            return error;
        if (seen & 1u << d)
            return short_refuse(reader, "the order names a dimension twice");
        seen |= 1u << d;
        spec->dimensions[d].step = step;
    }
    return short_check_end(reader);
}

static int short_read_tie(struct reader *reader, struct topology_spec *spec)
{
    if (short_accept_word(reader, "parity"))
        spec->tie = TOPOLOGY_TIE_PARITY;
    else if (short_accept_word(reader, "plus"))
        spec->tie = TOPOLOGY_TIE_PLUS;
    else if (short_accept_word(reader, "minus"))
        spec->tie = TOPOLOGY_TIE_MINUS;
    else
        return short_refuse(reader, "ties go by parity, plus or minus");
    return short_check_end(reader);
}

static int short_read_capacity(struct reader *reader, struct topology_spec *spec)
{
    char *end;
    if (*reader->at < '0' || *reader->at > '9')
        return short_refuse(reader, "a number is missing");
    double capacity = strtod(reader->at, &end);
    if (!isfinite(capacity))
        return short_refuse(reader, "too large a number");
    reader->at = end;
    spec->capacity = capacity;
    return short_check_end(reader);
}

static int short_read_option(struct reader *reader, struct topology_spec *spec)
{
    if (short_accept_word(reader, "order=")) {
        if (spec->kind != TOPOLOGY_CARTESIAN)
            return short_refuse(reader, "only dimensions have an order");
        return short_read_order(reader, spec);
    }
    if (short_accept_word(reader, "tie="))
        return short_read_tie(reader, spec);
    if (short_accept_word(reader, "capacity="))
        return short_read_capacity(reader, spec);
    return short_refuse(reader, "no such option");
}

static int short_read_form(struct reader *reader, struct topology_spec *spec)
{
    int error;
    if (short_accept_word(reader, "torus:"))
        error = short_read_sizes(reader, spec, TOPOLOGY_TORUS);
    else if (short_accept_word(reader, "mesh:"))
        error = short_read_sizes(reader, spec, TOPOLOGY_MESH);
    else if (short_accept_word(reader, "hypercube:"))
        error = short_read_hypercube(reader, spec);
    else if (short_accept_word(reader, "dragonfly:"))
        error = short_read_dragonfly(reader, spec);
    else if (short_accept_word(reader, "fattree:"))
        error = short_read_fat_tree(reader, spec);
    else
        return short_refuse(reader, "neither torus:, mesh:, hypercube:, dragonfly: nor fattree:");
    if (!error && spec->kind == TOPOLOGY_CARTESIAN)
        topology_spec_order(spec);
    return error;
}

int topology_short(struct topology_spec *out, const char *text, char *why, size_t capacity)
{
    struct refusal reason = {why, capacity};
    struct reader reader = {text, text, &reason};
    struct topology_spec spec = {0};
    int error = short_read_form(&reader, &spec);
    while (!error && short_accept(&reader, '/'))
        error = short_read_option(&reader, &spec);
    if (error)
        return error;
    size_t length = strlen(text);
    memcpy(spec.name, text, length < TOPOLOGY_NAME ? length : TOPOLOGY_NAME);
    *out = spec;
    return 0;
}
