#include "commgram_patterns.h"

#include "two_three_swap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MOST_RANKS (1u << 20)
/* Steps of simulation for each image: this makes 9 phases an iteration (CommGram, Fig. 7). */
#define SIMULATION 8u

const char pattern_names[] =
    "  binary-swap RANKS            image compositing; RANKS is a power of two\n"
    "  two-three-swap RANKS         the same for any number of ranks\n"
    "  halo X Y Z                   exchange of faces on a periodic grid, X fastest\n"
    "  insitu RANKS ITERATIONS      each of 8 steps of simulation with halo exchanges on a grid "
    "that\n"
    "                               is as near to a cube as can be, and 2-3 swap of an image\n"
    "  transpose ROWS COLUMNS       all to all within rows, then within columns\n"
    "  random RANKS MESSAGES        with partners at random\n";

struct maker {
    struct pattern pattern;
    const struct pattern_params *params;
    uint64_t now_ns, random;
    int failed;
};

/* Knuth's MMIX generator, its upper half. */
static uint32_t draw(struct maker *m, uint64_t below)
{
    m->random = m->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((m->random >> 32) % below);
}

static void send(struct maker *m, uint32_t source, uint32_t destination, uint64_t bytes)
{
    struct pattern *p = &m->pattern;
    if (p->count == p->room) {
        size_t capacity = p->room == 0 ? 4096 : 2 * p->room;
        struct pattern_message *more = realloc(p->messages, capacity * sizeof(*more));
        if (more == NULL) {
            m->failed = 1;
            return;
        }
        p->messages = more;
        p->room = capacity;
    }
    uint64_t time_ns = m->now_ns + draw(m, m->params->span_ns);
    p->messages[p->count++] = (struct pattern_message){time_ns, bytes, source, destination};
}

static void stage_ends(struct maker *m, uint64_t pause_ns)
{
    m->now_ns += m->params->span_ns;
    m->pattern.end_ns = m->now_ns;
    m->now_ns += pause_ns;
}

/* ---- the patterns ------------------------------------------------------------------ */

static void swap_image(struct maker *m, const uint32_t *n)
{
    uint32_t ranks = n[0];
    struct swap_plan plan;
    if (swap_plan_make(&plan, ranks, m->params->bytes) != 0) {
        m->failed = 1;
        return;
    }
    size_t i = 0;
    for (uint32_t stage = 0; stage < plan.stages; stage++) {
        for (; i < plan.count && plan.messages[i].stage == stage; i++)
            send(m, plan.messages[i].from, plan.messages[i].to, plan.messages[i].bytes);
        stage_ends(m, stage + 1 < plan.stages ? m->params->step_ns : m->params->pause_ns);
    }
    swap_plan_finish(&plan);
}

/* A dimension of two has the same neighbour on both sides, one of one has none. */
static void exchange_faces(struct maker *m, const uint32_t *box)
{
    uint32_t ranks = box[0] * box[1] * box[2];
    for (uint32_t r = 0; r < ranks; r++)
        for (uint32_t d = 0, stride = 1; d < 3; stride *= box[d++]) {
            uint32_t at = r / stride % box[d], base = r - at * stride;
            if (box[d] == 1)
                continue;
            send(m, r, base + (at + 1) % box[d] * stride, m->params->bytes / 64);
            send(m, r, base + (at + box[d] - 1) % box[d] * stride, m->params->bytes / 64);
        }
}

static void simulate(struct maker *m, const uint32_t *box)
{
    for (uint32_t i = 0; i < m->params->substages; i++) {
        exchange_faces(m, box);
        stage_ends(m, i + 1 < m->params->substages ? m->params->step_ns : m->params->pause_ns);
    }
}

static uint32_t divisor_up_to(uint32_t number, uint32_t most)
{
    while (most > 1 && number % most != 0)
        most--;
    return most > 0 ? most : 1;
}

/* As near to a cube as can be. */
static void make_box(uint32_t ranks, uint32_t box[3])
{
    uint32_t root = 1;
    while ((uint64_t)(root + 1) * (root + 1) * (root + 1) <= ranks)
        root++;
    box[0] = divisor_up_to(ranks, root);
    uint32_t rest = ranks / box[0];
    for (root = 1; (uint64_t)(root + 1) * (root + 1) <= rest;)
        root++;
    box[1] = divisor_up_to(rest, root);
    box[2] = rest / box[1];
}

static void iterate(struct maker *m, const uint32_t *n)
{
    uint32_t ranks = n[0], iterations = n[1], box[3];
    make_box(ranks, box);
    for (uint32_t i = 0; i < iterations; i++) {
        for (uint32_t step = 0; step < SIMULATION; step++)
            simulate(m, box);
        swap_image(m, n);
    }
}

static void transpose(struct maker *m, const uint32_t *n)
{
    uint32_t rows = n[0], columns = n[1];
    uint64_t bytes = m->params->bytes / rows / columns;
    for (int by_row = 1; by_row >= 0; by_row--) {
        for (uint32_t r = 0; r < rows * columns; r++) {
            uint32_t first = by_row ? r / columns * columns : r % columns;
            for (uint32_t i = 0; i < (by_row ? columns : rows); i++) {
                uint32_t to = first + i * (by_row ? 1 : columns);
                if (to != r)
                    send(m, r, to, bytes);
            }
        }
        stage_ends(m, m->params->pause_ns);
    }
}

static void scatter(struct maker *m, const uint32_t *n)
{
    uint32_t ranks = n[0], messages = n[1];
    for (uint32_t i = 0; i < messages; i++) {
        uint32_t source = draw(m, ranks), step = 1 + draw(m, ranks - 1);
        send(m, source, (source + step) % ranks, 1 + draw(m, m->params->bytes));
    }
    stage_ends(m, m->params->pause_ns);
}

/* ---- choosing ---------------------------------------------------------------------- */

static uint64_t ranks_of_two_powers(const uint32_t *n)
{
    return (n[0] & (n[0] - 1)) == 0 ? n[0] : 0;
}

static uint64_t ranks_first(const uint32_t *n)
{
    return n[0];
}

static uint64_t ranks_of_table(const uint32_t *n)
{
    return (uint64_t)n[0] * n[1];
}

static uint64_t ranks_of_box(const uint32_t *n)
{
    return n[2] > MOST_RANKS || ranks_of_table(n) > MOST_RANKS ? 0 : ranks_of_table(n) * n[2];
}

static const struct known {
    const char *name;
    unsigned numbers;
    uint64_t (*ranks)(const uint32_t *numbers);
    void (*make)(struct maker *m, const uint32_t *numbers);
} known[] = {
    {"binary-swap", 1, ranks_of_two_powers, swap_image},
    {"two-three-swap", 1, ranks_first, swap_image},
    {"halo", 3, ranks_of_box, simulate},
    {"insitu", 2, ranks_first, iterate},
    {"transpose", 2, ranks_of_table, transpose},
    {"random", 2, ranks_first, scatter},
};

static const struct known *find(const char *name, unsigned numbers)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (strcmp(known[i].name, name) == 0 && known[i].numbers == numbers)
            return &known[i];
    return NULL;
}

static int by_time(const void *left, const void *right)
{
    const struct pattern_message *a = left, *b = right;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    if (a->destination != b->destination)
        return a->destination < b->destination ? -1 : 1;
    return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

int pattern_make(struct pattern *out, const char *name, const uint32_t *numbers, unsigned count,
                 const struct pattern_params *params)
{
    struct maker m = {.params = params, .random = 1};
    const struct known *pattern = find(name, count);
    if (pattern == NULL)
        return -ENOENT;
    uint64_t ranks = pattern->ranks(numbers);
    if (ranks < 2 || ranks > MOST_RANKS || params->span_ns == 0 || params->bytes == 0)
        return -EINVAL;
    m.pattern.ranks = (uint32_t)ranks;
    for (uint32_t i = 0; i < params->repeat; i++)
        pattern->make(&m, numbers);
    if (m.failed) {
        pattern_finish(&m.pattern);
        return -ENOMEM;
    }
    if (m.pattern.count > 0)
        qsort(m.pattern.messages, m.pattern.count, sizeof(*m.pattern.messages), by_time);
    *out = m.pattern;
    return 0;
}

void pattern_finish(struct pattern *pattern)
{
    free(pattern->messages);
    *pattern = (struct pattern){0};
}
