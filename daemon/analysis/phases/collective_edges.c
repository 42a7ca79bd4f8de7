/* Lists the messages that one rank's collective call stands for, by algorithm. */
#include "daemon/analysis/phases/collective_edges.h"

#include "holter/call.h"
#include "holter/error.h"

#include <stdbool.h>

__extension__ typedef unsigned __int128 wide;

/* MPICH 4, src/mpi/coll: defaults of MPIR_CVAR_<name>. */
#define BCAST_MIN_PROCS 8u
#define BCAST_SHORT_MSG_SIZE 12288u
#define BCAST_LONG_MSG_SIZE 524288u
#define REDUCE_SHORT_MSG_SIZE 2048u
#define ALLREDUCE_SHORT_MSG_SIZE 2048u
#define ALLGATHER_SHORT_MSG_SIZE 81920u
#define ALLGATHER_LONG_MSG_SIZE 524288u
#define ALLTOALL_SHORT_MSG_SIZE 256u
#define ALLTOALL_MIN_PROCS 8u /* of Bruck's algorithm: a constant in MPICH's code */
#define REDUCE_SCATTER_COMMUTATIVE_LONG_MSG_SIZE 524288u

/* The kinds are ordered alike among blocking, immediate and persistent calls. */
enum kind {
    BARRIER,
    BCAST,
    GATHER,
    GATHERV,
    SCATTER,
    SCATTERV,
    ALLGATHER,
    ALLGATHERV,
    ALLTOALL,
    ALLTOALLV,
    ALLTOALLW,
    REDUCE,
    ALLREDUCE,
    REDUCE_SCATTER_BLOCK,
    REDUCE_SCATTER,
    SCAN,
    EXSCAN,
    KINDS,
    NONE = KINDS,
};

_Static_assert(CALL_Exscan - CALL_Barrier == EXSCAN && CALL_Iexscan - CALL_Ibarrier == EXSCAN &&
                   CALL_Exscan_init - CALL_Barrier_init == EXSCAN &&
                   CALL_Reduce - CALL_Barrier == REDUCE && CALL_Ireduce - CALL_Ibarrier == REDUCE,
               "kinds are in the order of calls.def");

static enum kind collective_kind_of(uint16_t call)
{
    static const uint16_t first[] = {CALL_Barrier, CALL_Ibarrier, CALL_Barrier_init};
    for (unsigned i = 0; i < sizeof(first) / sizeof(first[0]); i++)
        if (call >= first[i] && call - first[i] < KINDS)
            return (enum kind)(call - first[i]);
    return NONE;
}

enum collective_teller collective_teller(uint16_t call)
{
    enum kind kind = collective_kind_of(call);
    if (kind == NONE)
        return COLLECTIVE_NOBODY;
    return kind == BCAST || kind == SCATTER || kind == SCATTERV ? COLLECTIVE_ROOT : COLLECTIVE_EACH;
}

/* ---- what is sent, put together ------------------------------------------------- */

/* A call whose messages are being listed. */
struct sender {
    const struct collective_call *call;
    struct collective_edges *out;
    uint32_t size;
    uint32_t step;
};

static uint64_t collective_multiply(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* Bytes of the blocks [begin, end) of a buffer that is divided into p blocks; all blocks add up to
 * `bytes`. */
static uint64_t collective_blocks(uint64_t bytes, uint32_t begin, uint32_t end, uint32_t p)
{
    uint64_t low = (uint64_t)((wide)bytes * begin / p), high = (uint64_t)((wide)bytes * end / p);
    return high - low;
}

/* Adds one message, or `times` messages, to a position in the current step. */
static void send_many(struct sender *s, uint32_t destination, uint64_t messages, uint64_t bytes)
{
    if (destination == s->call->position || s->out->count == COLLECTIVE_MAXIMUM_EDGES)
        return;
    s->out->edges[s->out->count++] = (struct collective_edge){
        destination, s->step, collective_multiply(messages, s->call->calls), bytes};
}

static void collective_send(struct sender *s, uint32_t destination, uint64_t bytes)
{
    send_many(s, destination, 1, bytes);
}

static void collective_set_algorithm(struct sender *s, const char *algorithm)
{
    s->out->algorithm = algorithm;
}

static uint64_t each_call(const struct sender *s)
{
    return s->call->bytes / s->call->calls;
}

static uint32_t power_below(uint32_t p)
{
    uint32_t power = 1;
    while (power <= p / 2)
        power *= 2;
    return power;
}

static bool is_power(uint32_t p)
{
    return (p & (p - 1)) == 0;
}

/* Positions counted from the root, and back. */
static uint32_t from_root(const struct sender *s, uint32_t position)
{
    return position >= s->call->root ? position - s->call->root
                                     : position + (s->size - s->call->root);
}

static uint32_t to_position(const struct sender *s, uint32_t relative)
{
    uint64_t position = (uint64_t)relative + s->call->root;
    return (uint32_t)(position >= s->size ? position - s->size : position);
}

/* ---- trees ---------------------------------------------------------------------- */

/* The lowest bit that is set: ranks in the subtree of a position in a binomial tree; p for the
 * root. */
static uint32_t collective_span_of(uint32_t relative, uint32_t p)
{
    uint32_t span = 1;
    if (relative != 0)
        return relative & (~relative + 1);
    while (span < p)
        span *= 2;
    return span;
}

static uint32_t collective_minimum(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t steps_of(uint32_t p)
{
    uint32_t steps = 0;
    while (((uint32_t)1 << steps) < p)
        steps++;
    return steps;
}

/* Down a binomial tree, the furthest child first. With `parts` a child receives what its subtree
 * needs, else the whole buffer. */
static void down_tree(struct sender *s, bool parts)
{
    uint32_t v = from_root(s, s->call->position), p = s->size;
    for (uint32_t half = collective_span_of(v, p) / 2; half > 0; half /= 2) {
        s->step = steps_of(p) - 1 - (uint32_t)__builtin_ctz(half);
        if (v + half < p)
            collective_send(s, to_position(s, v + half),
                            parts ? collective_blocks(s->call->bytes, v + half,
                                                      collective_minimum(v + 2 * half, p), p)
                                  : s->call->bytes);
    }
    s->step = steps_of(p);
}

/* Up a binomial tree: sends to the parent after all children. @param parts  the whole subtree's
 * blocks are sent, else one block */
static void up_tree(struct sender *s, bool parts)
{
    uint32_t v = from_root(s, s->call->position), p = s->size;
    if (v == 0)
        return;
    uint32_t span = v & (~v + 1);
    s->step = (uint32_t)__builtin_ctz(span);
    collective_send(s, to_position(s, v - span),
                    parts ? collective_multiply(s->call->bytes, collective_minimum(span, p - v))
                          : s->call->bytes);
}

/* ---- all with all --------------------------------------------------------------- */

static void collective_ring(struct sender *s, uint64_t bytes)
{
    uint32_t p = s->size;
    send_many(s, (s->call->position + 1) % p, p - 1, bytes);
    s->step++;
}

/* @return whether the messages to all others are more edges than are listed: they are spread */
static bool collective_is_spread(struct sender *s)
{
    uint32_t p = s->size, r = s->call->position;
    if (p - 1 <= COLLECTIVE_MAXIMUM_EDGES)
        return false;
    s->out->spread_messages = collective_multiply(p - 1, s->call->calls);
    s->out->spread_bytes = s->call->bytes - collective_blocks(s->call->bytes, r, r + 1, p);
    return true;
}

static void collective_pairwise(struct sender *s)
{
    uint32_t p = s->size, r = s->call->position;
    collective_set_algorithm(s, "pairwise exchange");
    for (uint32_t i = collective_is_spread(s) ? p : 1; i < p; i++, s->step++) {
        uint32_t to = (r + i) % p;
        collective_send(s, to, collective_blocks(s->call->bytes, to, to + 1, p));
    }
}

static void collective_dissemination(struct sender *s)
{
    uint32_t p = s->size;
    collective_set_algorithm(s, "dissemination");
    for (uint32_t distance = 1; distance < p; distance *= 2, s->step++)
        collective_send(s, (s->call->position + distance) % p, 0);
}

/* Bruck's alltoall: each step sends the blocks whose number has this bit set. */
static void bruck_alltoall(struct sender *s)
{
    uint32_t p = s->size;
    collective_set_algorithm(s, "Bruck");
    for (uint32_t bit = 1; bit < p; bit *= 2, s->step++) {
        uint32_t rest = p % (2 * bit);
        uint32_t count = p / (2 * bit) * bit + (rest > bit ? rest - bit : 0);
        collective_send(s, (s->call->position + bit) % p,
                        (uint64_t)((wide)s->call->bytes * count / p));
    }
}

static void collective_alltoall(struct sender *s)
{
    if (each_call(s) / s->size <= ALLTOALL_SHORT_MSG_SIZE && s->size >= ALLTOALL_MIN_PROCS)
        bruck_alltoall(s);
    else
        collective_pairwise(s);
}

/* ---- recursive doubling --------------------------------------------------------- */

static void collective_allgather(struct sender *s)
{
    uint32_t p = s->size, r = s->call->position;
    uint64_t all = collective_multiply(each_call(s), p), own = s->call->bytes;
    if (all < ALLGATHER_LONG_MSG_SIZE && is_power(p)) {
        collective_set_algorithm(s, "recursive doubling");
        for (uint32_t bit = 1; bit < p; bit *= 2, s->step++)
            collective_send(s, r ^ bit, collective_multiply(own, bit));
    } else if (all < ALLGATHER_SHORT_MSG_SIZE) {
        collective_set_algorithm(s, "Bruck");
        for (uint32_t bit = 1; bit < p; bit *= 2, s->step++)
            collective_send(s, (r + (p - bit)) % p,
                            collective_multiply(own, collective_minimum(bit, p - bit)));
    } else {
        collective_set_algorithm(s, "ring");
        collective_ring(s, collective_multiply(own, p - 1));
    }
}

static void collective_scan(struct sender *s)
{
    collective_set_algorithm(s, "recursive doubling");
    for (uint32_t bit = 1; bit < s->size; bit *= 2, s->step++)
        if ((s->call->position ^ bit) < s->size)
            collective_send(s, s->call->position ^ bit, s->call->bytes);
}

/* Reductions run on a power of two of ranks. The first 2 (p - power) ranks form pairs: the odd one
 * sends its vector to the even one, which takes part for both. */
struct fold {
    uint32_t power, extra;
    uint32_t rank; /* position among the ranks that take part */
    bool goes_on;
};

static uint32_t collective_unfold(const struct fold *f, uint32_t rank)
{
    return rank < f->extra ? 2 * rank : rank + f->extra;
}

/* The first step: the ranks that do not take part send their vectors. */
static struct fold fold_in(struct sender *s, uint32_t v)
{
    struct fold f = {.power = power_below(s->size), .goes_on = true};
    f.extra = s->size - f.power;
    f.rank = v < 2 * f.extra ? v / 2 : v - f.extra;
    if (v < 2 * f.extra && v % 2 == 1) {
        f.goes_on = false;
        collective_send(s, to_position(s, v - 1), s->call->bytes);
    }
    s->step++;
    return f;
}

/* The ranks that did not take part receive the result. */
static void fold_out(struct sender *s, uint32_t v, const struct fold *f, uint64_t bytes)
{
    if (f->goes_on && v < 2 * f->extra)
        collective_send(s, to_position(s, v + 1), bytes);
    s->step++;
}

/* In each step half of the remaining blocks goes to the partner, the nearest first: afterwards rank
 * r has the block whose number is r with its bits reversed. */
static void collective_halve(struct sender *s, const struct fold *f, uint32_t *begin, uint32_t *end)
{
    *begin = 0;
    *end = f->power;
    for (uint32_t bit = 1; bit < f->power; bit *= 2, s->step++) {
        uint32_t middle = *begin + (*end - *begin) / 2;
        bool upper = (f->rank & bit) != 0;
        uint64_t bytes = collective_blocks(s->call->bytes, upper ? *begin : middle,
                                           upper ? middle : *end, f->power);
        collective_send(s, to_position(s, collective_unfold(f, f->rank ^ bit)), bytes);
        *begin = upper ? middle : *begin;
        *end = upper ? *end : middle;
    }
}

static void collective_allreduce(struct sender *s)
{
    uint32_t v = s->call->position, begin, end;
    struct fold f = fold_in(s, v);
    if (each_call(s) <= ALLREDUCE_SHORT_MSG_SIZE) {
        collective_set_algorithm(s, "recursive doubling");
        for (uint32_t bit = 1; f.goes_on && bit < f.power; bit *= 2, s->step++)
            collective_send(s, to_position(s, collective_unfold(&f, f.rank ^ bit)), s->call->bytes);
    } else {
        collective_set_algorithm(s, "Rabenseifner");
        if (f.goes_on)
            collective_halve(s, &f, &begin, &end);
        for (uint32_t bit = f.power / 2; f.goes_on && bit > 0; bit /= 2, s->step++) {
            uint32_t width = end - begin;
            collective_send(s, to_position(s, collective_unfold(&f, f.rank ^ bit)),
                            collective_blocks(s->call->bytes, begin, end, f.power));
            begin = (f.rank & bit) != 0 ? begin - width : begin;
            end = begin + 2 * width;
        }
    }
    s->step = 2 * steps_of(s->size) + 2; /* after both phases */
    fold_out(s, v, &f, s->call->bytes);
}

static void collective_reduce(struct sender *s)
{
    uint32_t begin, end;
    if (each_call(s) <= REDUCE_SHORT_MSG_SIZE) {
        collective_set_algorithm(s, "binomial tree");
        up_tree(s, false);
        return;
    }
    collective_set_algorithm(s, "Rabenseifner");
    struct fold f = fold_in(s, from_root(s, s->call->position));
    if (!f.goes_on)
        return;
    collective_halve(s, &f, &begin, &end);
    for (uint32_t bit = f.power / 2; bit > 0; bit /= 2, s->step++) {
        uint32_t width = end - begin;
        if ((f.rank & bit) != 0) {
            collective_send(s, to_position(s, collective_unfold(&f, f.rank ^ bit)),
                            collective_blocks(s->call->bytes, begin, end, f.power));
            return;
        }
        end = begin + 2 * width;
    }
}

static void collective_reduce_scatter(struct sender *s)
{
    uint32_t v = s->call->position, begin, end;
    if (each_call(s) >= REDUCE_SCATTER_COMMUTATIVE_LONG_MSG_SIZE) {
        collective_pairwise(s);
        return;
    }
    collective_set_algorithm(s, "recursive halving");
    struct fold f = fold_in(s, v);
    if (f.goes_on)
        collective_halve(s, &f, &begin, &end);
    s->step = steps_of(s->size) + 2;
    fold_out(s, v, &f,
             collective_blocks(s->call->bytes, v + 1, collective_minimum(v + 2, s->size), s->size));
}

/* ---- rooted --------------------------------------------------------------------- */

/* After the scatter, position v has block v of p, and those of its subtree. */
static void collective_bcast(struct sender *s)
{
    uint32_t p = s->size, v = from_root(s, s->call->position);
    uint64_t bytes = s->call->bytes, each = each_call(s);
    if (each < BCAST_SHORT_MSG_SIZE || p < BCAST_MIN_PROCS) {
        collective_set_algorithm(s, "binomial tree");
        down_tree(s, false);
        return;
    }
    down_tree(s, true);
    if (each < BCAST_LONG_MSG_SIZE && is_power(p)) {
        collective_set_algorithm(s, "scatter, recursive doubling");
        for (uint32_t bit = 1; bit < p; bit *= 2, s->step++) {
            uint32_t first = v & ~(bit - 1);
            collective_send(s, to_position(s, v ^ bit),
                            collective_blocks(bytes, first, first + bit, p));
        }
        return;
    }
    collective_set_algorithm(s, "scatter, ring");
    uint32_t next = (v + 1) % p; /* the next position, which already has its own block */
    collective_ring(s, bytes - collective_blocks(bytes, next, next + 1, p));
}

static void linear_gather(struct sender *s)
{
    collective_set_algorithm(s, "linear");
    collective_send(s, s->call->root, s->call->bytes);
}

static void linear_scatter(struct sender *s)
{
    uint32_t p = s->size;
    collective_set_algorithm(s, "linear");
    if (s->call->position != s->call->root || collective_is_spread(s))
        return;
    for (uint32_t to = 0; to < p; to++)
        collective_send(s, to, collective_blocks(s->call->bytes, to, to + 1, p));
}

static void collective_list_edges(struct sender *s, enum kind kind)
{
    switch (kind) {
    case BARRIER:
        collective_dissemination(s);
        break;
    case BCAST:
        collective_bcast(s);
        break;
    case GATHER:
        collective_set_algorithm(s, "binomial tree");
        up_tree(s, true);
        break;
    case GATHERV:
        linear_gather(s);
        break;
    case SCATTER:
        collective_set_algorithm(s, "binomial tree");
        down_tree(s, true);
        break;
    case SCATTERV:
        linear_scatter(s);
        break;
    case ALLGATHER:
    case ALLGATHERV:
        collective_allgather(s);
        break;
    case ALLTOALL:
        collective_alltoall(s);
        break;
    case ALLTOALLV:
    case ALLTOALLW:
        collective_pairwise(s);
        break;
    case REDUCE:
        collective_reduce(s);
        break;
    case ALLREDUCE:
        collective_allreduce(s);
        break;
    case REDUCE_SCATTER_BLOCK:
    case REDUCE_SCATTER:
        collective_reduce_scatter(s);
        break;
    case SCAN:
    case EXSCAN:
        collective_scan(s);
        break;
    case KINDS:
        break;
    }
}

static bool has_root(enum kind kind)
{
    return kind == BCAST || kind == REDUCE || (kind >= GATHER && kind <= SCATTERV);
}

int collective_edges(const struct collective_call *call, struct collective_edges *out)
{
    enum kind kind = collective_kind_of(call->call);
    struct collective_call asked = *call;
    if (kind == NONE)
        return -HOLTER_EMISSING;
    if (!has_root(kind))
        asked.root = 0;
    if (call->size == 0 || call->size > COLLECTIVE_MAXIMUM_RANKS || call->position >= call->size ||
        asked.root >= call->size)
        return -HOLTER_ERANGE;
    struct sender sender = {.call = &asked, .out = out, .size = call->size};
    *out = (struct collective_edges){.algorithm = "none"};
    if (call->calls > 0 && call->size > 1)
        collective_list_edges(&sender, kind);
    return 0;
}
