/* States of links, and sums over windows from nothing that they are compared with. */
#ifndef HOLTER_TESTS_CONGESTION_PLAIN_H
#define HOLTER_TESTS_CONGESTION_PLAIN_H

#include "daemon/analysis/network/congestion.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MB 1000000u

static inline struct congestion *create(const struct topology *topology)
{
    struct congestion *congestion = NULL;
    assert_int_equal(congestion_create(&congestion, topology), 0);
    return congestion;
}

static inline void update(struct congestion *congestion, uint64_t window,
                          const struct congestion_pair *pairs, size_t count)
{
    assert_int_equal(congestion_update(congestion, window, 1, pairs, count), 0);
}

static inline struct congestion_pair pair(uint32_t source, uint32_t destination, uint64_t bytes)
{
    return (struct congestion_pair){source, destination, bytes, 10, 0, 0};
}

struct plain {
    double average[1024], weight;
    uint64_t peak[1024];
};

static inline void assert_window(const struct congestion *congestion,
                                 const struct topology *topology,
                                 const struct congestion_pair *pairs, size_t count,
                                 struct plain *plain)
{
    uint32_t links = topology_links(topology), route[64];
    struct {
        uint64_t bytes, messages, matched;
        double log_sum;
    } *sums = calloc(links, sizeof(*sums));
    assert_non_null(sums);
    for (size_t p = 0; p < count; p++) {
        uint32_t length =
            topology_route(topology, pairs[p].source, pairs[p].destination, route, 64);
        for (uint32_t k = 0; length != TOPOLOGY_NONE && k < length; k++) {
            sums[route[k]].bytes += pairs[p].bytes;
            sums[route[k]].messages += pairs[p].messages;
            sums[route[k]].matched += pairs[p].matched;
            sums[route[k]].log_sum += pairs[p].log_latency;
        }
    }
    double fade = exp2(-1 / CONGESTION_HALF_LIFE);
    plain->weight = plain->weight * fade + 1;
    for (uint32_t link = 0; link < links; link++) {
        struct congestion_link out;
        plain->average[link] = plain->average[link] * fade + (double)sums[link].bytes;
        plain->peak[link] =
            sums[link].bytes > plain->peak[link] ? sums[link].bytes : plain->peak[link];
        if (!congestion_link(congestion, link, &out))
            continue;
        assert_int_equal(out.bytes, sums[link].bytes);
        assert_int_equal(out.messages, sums[link].messages);
        assert_int_equal(out.peak, plain->peak[link]);
        assert_true(fabs(out.average - plain->average[link] / plain->weight) < 1e-3);
        if (sums[link].matched == 0)
            assert_true(isnan(out.latency));
        else
            assert_true(fabs(log(out.latency) - sums[link].log_sum / (double)sums[link].matched) <
                        1e-4);
    }
    free(sums);
}

static inline void assert_same_links(const struct congestion *one, const struct congestion *other,
                                     uint32_t links)
{
    for (uint32_t link = 0; link < links; link++) {
        struct congestion_link a, b;
        memset(&a, 0, sizeof(a));
        memset(&b, 0, sizeof(b));
        assert_int_equal(congestion_link(one, link, &a), congestion_link(other, link, &b));
        assert_true(a.state == b.state && a.average == b.average && a.bytes == b.bytes &&
                    a.messages == b.messages && a.peak == b.peak && a.since == b.since &&
                    a.measured == b.measured && a.packets == b.packets &&
                    (a.ratio == b.ratio || (isnan(a.ratio) && isnan(b.ratio))) &&
                    (a.latency == b.latency || (isnan(a.latency) && isnan(b.latency))));
    }
}

#endif
