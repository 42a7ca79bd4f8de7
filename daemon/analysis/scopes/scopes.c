/* Windows of the analysis of scopes, and its life. */
#include "daemon/analysis/scopes/scopes.h"

#include "daemon/analysis/scopes/scopes_state.h"
#include "daemon/analysis/tables/array.h"

#include <errno.h>
#include <stdlib.h>

#define MAXIMUM_RANKS (1u << 20)
#define MAXIMUM_SERIES (1u << 21)
#define FIRST_NOISE 0.25         /* variances that are assumed before any is known: of a message, */
#define FIRST_BETWEEN 0.25       /* between pairs of ranks, */
#define FIRST_BETWEEN_NODES 0.05 /* between pairs of nodes, */
#define FIRST_SPREAD 4e-4        /* and of scopes */
#define FIRST_EXCESS 2.0         /* of squares of normal deviations above any floor */

int scopes_create(struct scopes **out)
{
    struct scopes *s = calloc(1, sizeof(*s));
    if (s == NULL)
        return -ENOMEM;
    s->most_series = MAXIMUM_SERIES;
    s->between = FIRST_BETWEEN;
    s->between_nodes = FIRST_BETWEEN_NODES;
    for (int l = 0; l < LOCALITIES; l++)
        s->noise[l] = FIRST_NOISE;
    scopes_init_levels(s);
    for (int k = 0; k < SCOPE_TABLES; k++) {
        s->tables[k].spread[LOCALITY_INTRA] = s->tables[k].spread[LOCALITY_INTER] = FIRST_SPREAD;
        scope_peaks_init(&s->tables[k].peaks, FIRST_EXCESS);
    }
    *out = s;
    return 0;
}

void scopes_destroy(struct scopes *s)
{
    if (s == NULL)
        return;
    for (int k = 0; k < SCOPE_TABLES; k++) {
        free(s->tables[k].sums);
        free(s->tables[k].tracks);
    }
    for (size_t i = 0; i < SCOPE_RECENT; i++)
        free(s->recent[i].list);
    scopes_waits_finish(&s->waits);
    key_table_finish(&s->keys);
    key_table_finish(&s->pair_keys);
    key_table_finish(&s->both_keys);
    free(s->series);
    free(s->row_of);
    free(s->pairs);
    free(s->links);
    free(s->node_of);
    free(s);
}

int scopes_restart(struct scopes **out)
{
    const struct scopes *s = *out;
    struct scopes *fresh = NULL;
    int code = scopes_create(&fresh);
    for (uint32_t r = 0; code == 0 && r < s->ranks; r++)
        code = s->node_of[r] == SCOPE_NO_NODE ? 0 : scopes_place(fresh, r, s->node_of[r]);
    if (code != 0) {
        scopes_destroy(fresh);
        return code;
    }
    fresh->next_id = s->next_id;
    scopes_destroy(*out);
    *out = fresh;
    return 0;
}

int scopes_place(struct scopes *s, uint32_t rank, uint32_t node)
{
    if (rank >= MAXIMUM_RANKS || node >= MAXIMUM_RANKS)
        return -ERANGE;
    if (array_fit_zero(&s->node_of, sizeof(*s->node_of), &s->rank_capacity, (uint64_t)rank + 1) !=
        0)
        return -ENOMEM;
    for (; s->ranks <= rank; s->ranks++)
        s->node_of[s->ranks] = SCOPE_NO_NODE;
    s->node_of[rank] = node;
    s->nodes = node + 1 > s->nodes ? node + 1 : s->nodes;
    return 0;
}

void scopes_set_routes(struct scopes *s, scope_route_fn *route, const void *user)
{
    s->route = route;
    s->route_user = user;
    s->link_count = 0;
    for (uint32_t p = 0; p < s->pair_keys.count; p++)
        s->pairs[p].links = 0;
    for (uint32_t i = 0; i < s->tables[TABLE_LINK].count; i++)
        s->tables[TABLE_LINK].tracks[i] = (struct scope_track){.start = s->windows};
}

int scopes_window(struct scopes *s, uint64_t number, uint64_t length_ns,
                  const struct transfers *transfers)
{
    if (s->windows > 0 && number <= s->number)
        return -ERANGE;
    s->number = number;
    scopes_drop_ended(s);
    int code = scopes_forget(s);
    code = code != 0 ? code : scopes_collect(s, transfers);
    code = code != 0 ? code : scopes_reserve_tables(s);
    if (code != 0) {
        scopes_newest(s)->count = 0;
    } else {
        scopes_compare(s);
        scopes_weigh(s);
        scopes_explain(s);
        scopes_follow(s);
        scopes_learn(s);
        scopes_sum_excess(s);
        code = scopes_waits_update(s, length_ns, transfers);
    }
    scopes_report(s);
    s->windows++;
    return code;
}

const struct scope_finding *scopes_findings(const struct scopes *s, size_t *count)
{
    *count = s->open_count;
    return s->results;
}

void scopes_copy_state(struct state_bytes *b, struct scopes **out, scope_route_fn *route,
                       const void *user)
{
    if (!STATE_OBJECT(b, *out))
        return;
    struct scopes *s = *out;
    s->route = s->route == NULL ? NULL : route;
    s->route_user = user;
    STATE_ARRAY(b, s->node_of, s->rank_capacity, 0);
    key_table_copy_state(b, &s->keys);
    STATE_ARRAY(b, s->series, s->keys.count, s->series_capacity);
    STATE_ARRAY(b, s->row_of, s->row_capacity, 0);
    key_table_copy_state(b, &s->pair_keys);
    key_table_copy_state(b, &s->both_keys);
    STATE_ARRAY(b, s->pairs, s->pair_keys.count, s->pair_capacity);
    STATE_ARRAY(b, s->links, s->link_count, s->link_capacity);
    for (size_t i = 0; i < SCOPE_RECENT; i++)
        STATE_ARRAY(b, s->recent[i].list, s->recent[i].count, s->recent[i].capacity);
    for (int k = 0; k < SCOPE_TABLES; k++) {
        struct scope_table *table = &s->tables[k];
        STATE_ARRAY(b, table->sums, table->count, table->capacity);
        STATE_ARRAY(b, table->tracks, table->count, table->track_capacity);
    }
    scopes_waits_copy_state(b, &s->waits);
}
