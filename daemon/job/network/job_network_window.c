/* What a window puts on the links of a job's network: what its ranks sent each other, by pairs of
 * vertices. */
#include "daemon/job/network/job_network_state.h"

#include "daemon/analysis/tables/array.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LOG2_PART 65536.0            /* see WIRE_TRANSFER_ROW.log2_sum */
#define LOG_PART (M_LN2 / LOG2_PART) /* of a natural logarithm */
#define FEW_PAIRS 16u                /* are looked through one by one */

/* ---- pairs of vertices ------------------------------------------------------------------- */

/* Where the pairs of each rank begin, which are in order of their sources. Those of ranks that
 * nobody has placed are behind all of them. */
static int find_first(struct job_network *n, const struct closed_window *w)
{
    if (array_fit(&n->first, sizeof(*n->first), &n->first_room, (size_t)n->rank_count + 1) != 0)
        return -ENOMEM;
    size_t at = 0;
    for (uint32_t rank = 0; rank <= n->rank_count; rank++) {
        while (at < w->pair_count && w->pairs[at].source < rank)
            at++;
        n->first[rank] = at;
    }
    return 0;
}

static int make_slots(struct job_network *n)
{
    uint32_t vertices = topology_vertices(n->graph->topology);
    size_t words = vertices / 64 + 1, blocks = words / 64 + 1;
    if (array_fit(&n->slots, sizeof(*n->slots), &n->slot_room, vertices) != 0 ||
        array_fit(&n->marks, sizeof(*n->marks), &n->mark_room, words + blocks) != 0)
        return -ENOMEM;
    n->mark_words = words;
    memset(n->marks, 0, (words + blocks) * sizeof(*n->marks));
    return 0;
}

static int is_marked(const struct job_network *n, uint32_t vertex)
{
    return (int)(n->marks[vertex / 64] >> (vertex % 64) & 1);
}

/* A further vertex that this one sends to. */
static void begin_pair(struct job_network *n, uint32_t to)
{
    uint64_t *blocks = n->marks + n->mark_words;
    n->marks[to / 64] |= UINT64_C(1) << (to % 64);
    blocks[to / 4096] |= UINT64_C(1) << (to / 64 % 64);
    n->slots[to] = (uint32_t)n->group_count;
    n->group[n->group_count++] = (struct network_pair){.destination = to};
}

/* Messages of one rank, to those of its vertex. What stays on the vertex loads nothing. The place
 * of a row is one in the group so far. */
static int add_rank(struct job_network *n, const struct closed_window *w, uint32_t rank)
{
    const uint32_t *seats = n->seats, rank_count = n->rank_count, own = seats[rank];
    size_t most = n->group_count + (n->first[rank + 1] - n->first[rank]);
    if (array_fit(&n->group, sizeof(*n->group), &n->group_room, most) != 0)
        return -ENOMEM;
    for (size_t i = n->first[rank]; i < n->first[rank + 1]; i++) {
        const struct pair_row *p = &w->pairs[i];
        /* -1, all others together, is no rank as an unsigned number either. */
        uint32_t other = (uint32_t)p->destination,
                 to = other < rank_count ? seats[other] : TOPOLOGY_NONE;
        if (to == own || to == TOPOLOGY_NONE) {
            n->places[i] = to == own ? NETWORK_ON_VERTEX : NETWORK_UNPLACED;
            n->unplaced += to == own ? 0 : p->bytes;
            continue;
        }
        if (!is_marked(n, to))
            begin_pair(n, to);
        n->places[i] = n->slots[to];
        struct network_pair *pair = &n->group[n->slots[to]];
        pair->bytes += p->bytes;
        pair->messages += p->messages;
    }
    return 0;
}

static int fit_pairs(struct job_network *n, size_t most)
{
    int code = array_fit(&n->pairs, sizeof(*n->pairs), &n->pair_room, most);
    return code != 0 ? code : array_fit(&n->loads, sizeof(*n->loads), &n->load_room, most);
}

static void end_pair(struct job_network *n, uint32_t source, uint32_t destination)
{
    struct network_pair *pair = &n->group[n->slots[destination]];
    pair->place = (uint32_t)n->pair_count;
    n->loads[n->pair_count] = (struct link_load){pair->bytes, pair->messages};
    n->pairs[n->pair_count++] =
        (struct congestion_pair){.source = source, .destination = destination};
    n->bytes += pair->bytes;
}

/* What the ranks of one vertex have sent becomes pairs. Marks put them in order: they are many
 * short lists, so that sorting them takes longer than all else. */
static int end_group(struct job_network *n, uint32_t source)
{
    if (fit_pairs(n, n->pair_count + n->group_count) != 0)
        return -ENOMEM;
    uint64_t *blocks = n->marks + n->mark_words;
    for (size_t b = 0; n->group_count > 0 && b <= n->mark_words / 64; b++) {
        for (; blocks[b] != 0; blocks[b] &= blocks[b] - 1) {
            size_t word = 64 * b + (size_t)__builtin_ctzll(blocks[b]);
            for (; n->marks[word] != 0; n->marks[word] &= n->marks[word] - 1)
                end_pair(n, source,
                         (uint32_t)(64 * word + (size_t)__builtin_ctzll(n->marks[word])));
        }
    }
    n->group_count = 0;
    return 0;
}

/* Rows that counted in a group count in its pairs. */
static void end_rows(struct job_network *n, uint32_t rank)
{
    for (size_t i = n->first[rank]; i < n->first[rank + 1]; i++) {
        if (n->places[i] < NETWORK_NO_PAIR)
            n->places[i] = n->group[n->places[i]].place;
    }
}

/* The same of a rank that has its vertex for itself, where its rows are in the order in which their
 * pairs are to be: they become pairs as they are read. @return whether they are; else nothing was
 * done but to make room */
static bool add_alone(struct job_network *n, const struct closed_window *w, uint32_t rank)
{
    const uint32_t *seats = n->seats, rank_count = n->rank_count, own = seats[rank];
    const size_t end = n->first[rank + 1];
    size_t count = n->pair_count;
    uint64_t bytes = 0, unplaced = 0;
    if (fit_pairs(n, count + (end - n->first[rank])) != 0)
        return false;
    for (size_t i = n->first[rank]; i < end; i++) {
        const struct pair_row *p = &w->pairs[i];
        uint32_t other = (uint32_t)p->destination,
                 to = other < rank_count ? seats[other] : TOPOLOGY_NONE;
        if (to == own || to == TOPOLOGY_NONE) {
            n->places[i] = to == own ? NETWORK_ON_VERTEX : NETWORK_UNPLACED;
            unplaced += to == own ? 0 : p->bytes;
            continue;
        }
        const uint32_t last = count > n->pair_count ? n->pairs[count - 1].destination : 0;
        if (count > n->pair_count && to < last)
            return false;
        if (count == n->pair_count || to > last) {
            n->pairs[count] = (struct congestion_pair){.source = own, .destination = to};
            n->loads[count++] = (struct link_load){0, 0};
        }
        n->loads[count - 1].bytes += p->bytes;
        n->loads[count - 1].messages += p->messages;
        n->places[i] = (uint32_t)count - 1;
        bytes += p->bytes;
    }
    n->pair_count = count;
    n->bytes += bytes;
    n->unplaced += unplaced;
    return true;
}

static int add_messages(struct job_network *n, const struct closed_window *w)
{
    int code = 0;
    uint32_t first = 0; /* of those on the vertex */
    for (uint32_t i = 0; code == 0 && i < n->seated; i++) {
        const uint32_t rank = n->by_seat[i], seat = n->seats[rank];
        const bool is_last = i + 1 == n->seated || n->seats[n->by_seat[i + 1]] != seat;
        if (first == i && is_last && add_alone(n, w, rank)) {
            first++;
            continue;
        }
        code = add_rank(n, w, rank);
        if (code != 0 || !is_last)
            continue;
        code = end_group(n, seat);
        for (; code == 0 && first <= i; first++)
            end_rows(n, n->by_seat[first]);
    }
    n->group_count = 0;
    return code;
}

static void leave_out(struct job_network *n, const struct closed_window *w, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        n->places[i] = NETWORK_UNPLACED;
        n->unplaced += w->pairs[i].bytes;
    }
}

/* Rows of ranks without a seat. */
static void count_unplaced(struct job_network *n, const struct closed_window *w)
{
    for (uint32_t rank = 0; rank < n->rank_count; rank++) {
        if (n->seats[rank] == TOPOLOGY_NONE)
            leave_out(n, w, n->first[rank], n->first[rank + 1]);
    }
    leave_out(n, w, n->first[n->rank_count], w->pair_count);
}

static int fit_rows(struct job_network *n, const struct closed_window *w)
{
    if (array_fit(&n->places, sizeof(*n->places), &n->place_room, w->pair_count) != 0)
        return -ENOMEM;
    return 0;
}

/* ---- latencies --------------------------------------------------------------------------- */

/* Where the pairs of each vertex begin, which are in order of their sources; and where they go.
 * Until messages say otherwise each is taken to come behind the one before it, and the first one
 * behind the last. */
static int find_begins(struct job_network *n)
{
    uint32_t vertices = topology_vertices(n->graph->topology);
    if (array_fit(&n->begins, sizeof(*n->begins), &n->begin_room, (size_t)vertices + 1) != 0 ||
        array_fit(&n->turns, sizeof(*n->turns), &n->turn_room, vertices) != 0 ||
        array_fit(&n->nexts, sizeof(*n->nexts), &n->next_room, n->pair_count + 1) != 0)
        return -ENOMEM;
    uint32_t at = 0;
    for (uint32_t vertex = 0; vertex <= vertices; vertex++) {
        const uint32_t first = at;
        for (; at < n->pair_count && n->pairs[at].source < vertex; at++)
            n->nexts[at] = (struct network_next){n->pairs[at].destination, at + 1};
        if (at > first) /* they are of one vertex */
            n->nexts[at - 1].behind = first;
        n->begins[vertex] = at;
    }
    n->nexts[at] = (struct network_next){NETWORK_NO_PAIR, at};
    for (uint32_t vertex = 0; vertex < vertices; vertex++)
        n->turns[vertex] =
            n->begins[vertex] < n->begins[vertex + 1] ? n->begins[vertex + 1] - 1 : at;
    return 0;
}

/* The last few are counted, not searched: where a search would end there cannot be foreseen. */
static uint32_t search_pair(const struct job_network *n, uint32_t source, uint32_t destination)
{
    uint32_t low = n->begins[source], end = n->begins[source + 1], high = end, below = 0;
    while (high - low > FEW_PAIRS) {
        uint32_t middle = low + (high - low) / 2;
        if (n->nexts[middle].destination < destination)
            low = middle + 1;
        else
            high = middle;
    }
    for (uint32_t i = low; i < high; i++)
        below += n->nexts[i].destination < destination;
    low += below;
    return low < end && n->nexts[low].destination == destination ? low : NETWORK_NO_PAIR;
}

/* What a vertex sends mostly comes in the same order in each window, whatever comes between.
 * @return its position, or NETWORK_NO_PAIR: it has sent nothing in this window */
static uint32_t find_pair(struct job_network *n, uint32_t source, uint32_t destination)
{
    uint32_t before = n->turns[source], place = n->nexts[before].behind;
    if (n->nexts[place].destination != destination) {
        if (n->nexts[before].destination == destination)
            return before; /* messages of another size: what comes behind them is known still */
        place = search_pair(n, source, destination);
        if (place == NETWORK_NO_PAIR)
            return NETWORK_NO_PAIR;
        n->nexts[before].behind = place;
    }
    n->turns[source] = place;
    return place;
}

/* Several destinations together are no rank. */
static inline uint32_t seat_of(const struct job_network *n, uint32_t rank)
{
    return rank < n->rank_count ? n->seats[rank] : TOPOLOGY_NONE;
}

/* A matched message may have been sent in a window before: then its pair has sent nothing in this
 * one. */
static int add_late(struct job_network *n, uint32_t source, uint32_t destination, uint64_t messages,
                    double log)
{
    if (array_fit(&n->pairs, sizeof(*n->pairs), &n->pair_room, n->pair_count + 1) != 0)
        return -ENOMEM;
    n->pairs[n->pair_count++] = (struct congestion_pair){.source = source,
                                                         .destination = destination,
                                                         .matched = messages,
                                                         .log_latency = log * LOG_PART};
    return 0;
}

/* Logarithms of references by number of the class, in the parts of log2_sum, which are whole
 * numbers; infinite: there is none. */
struct known_logs {
    double parts[LOCALITIES * SIZE_CLASSES];
};

static void list_logs(const struct latency_scale *scale, struct known_logs *logs)
{
    for (unsigned class_ = 0; class_ < LOCALITIES * SIZE_CLASSES; class_++) {
        double reference = scale->reference[class_ % LOCALITIES][class_ / LOCALITIES];
        logs->parts[class_] = reference > 0 ? round(LOG2_PART * log2(reference)) : INFINITY;
    }
}

/* Sums of logarithms are whole numbers here, in the parts of log2_sum, so that the order of rows
 * does not show. */
static int network_add_transfer(struct job_network *n, const struct known_logs *logs,
                                const struct transfer *row)
{
    const uint64_t messages = row->messages;
    uint32_t source = seat_of(n, row->source), destination = seat_of(n, row->destination);
    double log = logs->parts[transfer_class(row)];
    if (source == destination || source == TOPOLOGY_NONE || destination == TOPOLOGY_NONE ||
        messages == 0 || !(log < INFINITY))
        return 0;
    uint32_t place = find_pair(n, source, destination);
    double more = (double)row->log2_sum - log * (double)messages;
    if (place == NETWORK_NO_PAIR)
        return add_late(n, source, destination, messages, more);
    n->latencies[place].messages += messages;
    n->latencies[place].log += more;
    return 0;
}

static int add_transfers(struct job_network *n, const struct transfers *transfers,
                         const struct latency_scale *scale)
{
    struct known_logs logs;
    int code = 0;
    list_logs(scale, &logs);
    for (size_t i = 0; code == 0 && i < transfers->count; i++)
        code = network_add_transfer(n, &logs, &transfers->rows[i]);
    return code;
}

static int add_latencies(struct job_network *n, const struct closed_window *w)
{
    n->pair_count = n->row_pairs;
    int code = array_fit(&n->latencies, sizeof(*n->latencies), &n->latency_room, n->row_pairs + 1);
    if (code == 0)
        memset(n->latencies, 0, n->row_pairs * sizeof(*n->latencies));
    if (code != 0 || w->scale == NULL || w->latency == NULL || w->latency->transfers.count == 0)
        return code;
    return add_transfers(n, &w->latency->transfers, w->scale);
}

/* Pairs of vertices from the rows of the window. */
static int make_pairs(struct job_network *n, const struct closed_window *w)
{
    n->pair_count = 0;
    n->bytes = n->unplaced = 0;
    int code = find_first(n, w);
    code = code != 0 ? code : make_slots(n);
    code = code != 0 ? code : fit_rows(n, w);
    code = code != 0 ? code : add_messages(n, w);
    if (code != 0)
        return code;
    count_unplaced(n, w);
    n->row_pairs = n->pair_count;
    return find_begins(n);
}

int job_network_add_pairs(struct job_network *n, const struct closed_window *w)
{
    int code = make_pairs(n, w);
    return code != 0 ? code : add_latencies(n, w);
}

/* The window goes over the links. */
static int load_links(struct job_network *n, uint64_t window)
{
    double seconds = (double)n->options.window_ns * 1e-9;
    for (size_t i = 0; i < n->row_pairs; i++) {
        n->pairs[i].bytes = n->loads[i].bytes;
        n->pairs[i].messages = n->loads[i].messages;
        n->pairs[i].matched = n->latencies[i].messages;
        n->pairs[i].log_latency = n->latencies[i].log * LOG_PART;
    }
    return congestion_update(n->congestion, window, seconds, n->pairs, n->pair_count);
}

/* ---- closing ------------------------------------------------------------------------------- */

/* Bring loads and latencies of links up to date. */
static int update_links(struct job_network *n, const struct closed_window *w)
{
    int code = job_network_add_pairs(n, w);
    code = code != 0 ? code : job_network_measure(n);
    if (code == 0)
        code = load_links(n, w->number);
    n->window = w->number;
    return code != 0 ? code : job_network_rows(n, w);
}

int job_network_update(struct job_network *n, const struct closed_window *w)
{
    struct wire_links links;
    n->rows_made = 0; /* they name interfaces of the window before */
    n->measured_count = n->hot_count = n->route_rows_count = 0;
    counter_rows_finish(&n->counters);
    if (w->counters != NULL) {
        n->counters = *w->counters;
        *w->counters = (struct counter_rows){0};
    }
    counter_rows_sort(&n->counters);
    if (job_network_is_tree(n))
        job_network_update_speeds(n);
    int code = job_network_rebuild(n);
    code = code != 0 ? code : job_network_follow_links(n);
    n->closed = 1;
    if (code == 0 && n->graph != NULL)
        code = update_links(n, w);
    job_measured_set_network(&n->before, n->made);
    if (job_network_measured(n, &links) && job_measured_add(&n->before, &links) != 0)
        code = code != 0 ? code : -ENOMEM;
    return code;
}

int job_network_measured_before(struct job_network *n, size_t number, struct wire_links *out)
{
    job_measured_set_network(&n->before, n->made);
    return job_measured_message(&n->before, number, out);
}
