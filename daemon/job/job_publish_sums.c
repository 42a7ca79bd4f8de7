/* Sums of ranks, pairs and calls as messages, in parts. */
#include "daemon/job/job_publish.h"

#include <stdlib.h>

/* Communicators and regions that the rows of a result name. */
struct sum_names {
    struct wire_comm_row *comms;
    struct wire_region_row *regions;
};

static int sum_names_init(struct sum_names *names, const struct sum_result *result)
{
    names->comms = malloc((result->comm_count + 1) * sizeof(*names->comms));
    names->regions = malloc((result->region_count + 1) * sizeof(*names->regions));
    if (names->comms == NULL || names->regions == NULL)
        return 0;
    for (size_t i = 0; i < result->comm_count; i++) {
        const struct comm_row *c = &result->comms[i];
        names->comms[i] =
            (struct wire_comm_row){c->id, c->parent, c->size, c->remote_size, c->name};
    }
    for (size_t i = 0; i < result->region_count; i++)
        names->regions[i].name = result->regions[i].name;
    return 1;
}

static void sum_names_finish(struct sum_names *names)
{
    free(names->comms);
    free(names->regions);
}

/* What the parts of one sum have in common. */
struct sum_publisher {
    const struct job_stream *stream;
    const struct job_sum *sum;
    struct sum_names names;
    void *rows;                         /* space for those of one part; owned */
    struct wire_crossing_row *crossing; /* likewise, of ranks */
};

static void sum_publish_ranks(struct sum_publisher *p, const struct job_part *part)
{
    struct wire_rank_row *rows = p->rows;
    for (size_t i = 0; i < part->count; i++) {
        const struct rank_row *row = &p->sum->result->ranks[part->from + i];
        rows[i] = (struct wire_rank_row){
#define X(name) .name = row->name,
            RANK_REPORTED(X)
#undef X
                .rank = row->rank,
            .threads = row->threads,
            .in_call = row->in_call,
            .in_call_ns = row->in_call_ns,
            .in_call_comm = row->in_call_comm,
            .in_call_peer = row->in_call_peer,
            .process_state = row->process_state,
            .awaited = row->awaited,
            .awaited_ns = row->awaited_ns,
            .ranks = row->ranks,
        };
        p->crossing[i] = (struct wire_crossing_row){row->crossing, row->crossing_bytes};
    }
    struct wire_rank_window message = {
        .job = p->stream->job,
        .window = p->sum->window,
        .length_ns = p->sum->window_ns,
        .ranks = rows,
        .ranks_count = part->count,
        .crossing = p->crossing,
        .crossing_count = part->count,
        .windows = p->sum->windows,
        .more = part->more,
    };
    job_stream_publish(p->stream, WIRE_TYPE_RANK_WINDOW, &message);
}

/* What messages of pairs and of calls have in common. */
#define SUM_FIELDS(p, part)                                                                        \
    .job = (p)->stream->job, .window = (p)->sum->window, .windows = (p)->sum->windows,             \
    .comms = (p)->names.comms, .comms_count = (p)->sum->result->comm_count,                        \
    .regions = (p)->names.regions, .regions_count = (p)->sum->result->region_count,                \
    .more = (part)->more

static void sum_publish_pairs(struct sum_publisher *p, const struct job_part *part)
{
    struct wire_pair_row *rows = p->rows;
    for (size_t i = 0; i < part->count; i++) {
        const struct pair_row *row = &p->sum->result->pairs[part->from + i];
        rows[i] = (struct wire_pair_row){row->source,     row->destination, row->comm, row->region,
                                         row->size_class, row->messages,    row->bytes};
    }
    struct wire_pair_window message = {SUM_FIELDS(p, part), .pairs = rows,
                                       .pairs_count = part->count,
                                       .folded = p->sum->result->folded};
    job_stream_publish(p->stream, WIRE_TYPE_PAIR_WINDOW, &message);
}

static void sum_fill_calls(struct sum_publisher *p, const struct job_part *part)
{
    struct wire_call_row *rows = p->rows;
    for (size_t i = 0; i < part->count; i++) {
        const struct call_row *row = &p->sum->result->calls[part->from + i];
        rows[i] = (struct wire_call_row){
            row->rank,     row->call,    row->comm,       row->region, row->calls, row->bytes,
            row->bytes_in, row->time_ns, row->longest_ns, row->polls,  0};
    }
}

static void sum_publish_calls(struct sum_publisher *p, const struct job_part *part)
{
    struct wire_call_row *rows = p->rows;
    sum_fill_calls(p, part);
    struct wire_call_window message = {SUM_FIELDS(p, part), .calls = rows,
                                       .calls_count = part->count};
    job_stream_publish(p->stream, WIRE_TYPE_CALL_WINDOW, &message);
}

static void sum_publish_callers(struct sum_publisher *p, const struct job_part *part)
{
    struct wire_call_row *rows = p->rows;
    sum_fill_calls(p, part);
    struct wire_caller_window message = {
        SUM_FIELDS(p, part), .calls = rows, .calls_count = part->count,
        .left_out = p->sum->result->left_out, .left_out_ns = p->sum->result->left_out_ns};
    job_stream_publish(p->stream, WIRE_TYPE_CALLER_WINDOW, &message);
}

/* A sum without rows is published too, as one part. Without memory it is not. */
void job_publish_sum(const struct job_stream *stream, const struct job_sum *sum)
{
    static const struct {
        size_t row_bytes;
        void (*publish)(struct sum_publisher *p, const struct job_part *part);
    } kinds[] = {
        [SUM_RANKS] = {sizeof(struct wire_rank_row), sum_publish_ranks},
        [SUM_PAIRS] = {sizeof(struct wire_pair_row), sum_publish_pairs},
        [SUM_CALLS] = {sizeof(struct wire_call_row), sum_publish_calls},
        [SUM_CALLERS] = {sizeof(struct wire_call_row), sum_publish_callers},
    };
    const struct sum_result *result = sum->result;
    size_t count = sum->part == SUM_RANKS   ? result->rank_count
                   : sum->part == SUM_PAIRS ? result->pair_count
                                            : result->call_count;
    size_t capacity = count < WIRE_PART_ROWS ? count : WIRE_PART_ROWS;
    struct sum_publisher p = {.stream = stream, .sum = sum};
    p.rows = malloc((capacity + 1) * kinds[sum->part].row_bytes);
    p.crossing = malloc((capacity + 1) * sizeof(*p.crossing));
    if (sum_names_init(&p.names, result) && p.rows != NULL && p.crossing != NULL) {
        for (struct job_part part = {.rows = count}; job_part_next(&part);)
            kinds[sum->part].publish(&p, &part);
    }
    sum_names_finish(&p.names);
    free(p.rows);
    free(p.crossing);
}

void job_publish_window_sums(const struct job_stream *stream, struct job_sums *sums,
                             const struct closed_window *window, size_t maximum_pairs)
{
    static const struct {
        enum wire_type type;
        enum sum_part part;
    } parts[] = {{WIRE_TYPE_RANK_WINDOW, SUM_RANKS},
                 {WIRE_TYPE_PAIR_WINDOW, SUM_PAIRS},
                 {WIRE_TYPE_CALL_WINDOW, SUM_CALLS},
                 {WIRE_TYPE_CALLER_WINDOW, SUM_CALLERS}};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        const struct job_sum sum = {parts[i].part, window->number, 1, window->length_ns,
                                    &sums->result};
        if (job_stream_wants(stream, parts[i].type) &&
            window_sum_result(window->sum, parts[i].part, maximum_pairs, &sums->result) == 0)
            job_publish_sum(stream, &sum);
    }
}
