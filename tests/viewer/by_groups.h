/* A model as that of a job which is kept by groups of ranks. */
#ifndef HOLTER_TESTS_VIEWER_BY_GROUPS_H
#define HOLTER_TESTS_VIEWER_BY_GROUPS_H

#include "viewer/model/model.h"

#include <assert.h>
#include <stdlib.h>

/** From now on ranks are shown by groups; the messages so far are those of nodes, too.
 *  @param on_node  ranks of each node, in order */
static inline void model_keep_by_groups(struct model *m, uint32_t group, uint32_t on_node)
{
    const uint32_t count = m->pairs.keys.count;
    struct wire_pair_row *rows = calloc(count + 1u, sizeof *rows);
    struct wire_message message = {.type = WIRE_TYPE_PAIR_WINDOW};
    assert(rows);
    for (uint32_t i = 0; i < count; i++) {
        const struct model_pair pair = model_pair_at(&m->pairs, i);
        const uint64_t *f = m->pairs.sums + (size_t)i * PAIR_COLUMNS;
        rows[i] = (struct wire_pair_row){.source = pair.source / on_node * on_node,
                                         .destination = pair.destination / on_node * on_node,
                                         .messages = f[PAIR_MESSAGES],
                                         .bytes = f[PAIR_BYTES]};
    }
    message.pair_window = (struct wire_pair_window){.job = m->job,
                                                    .window = m->series.first + m->series.count - 1,
                                                    .windows = 1,
                                                    .node_pairs = rows,
                                                    .node_pairs_count = count};
    m->group = group;
    const int code = model_apply(m, &message, 0);
    assert(code == 0);
    (void)code;
    free(rows);
}

#endif
