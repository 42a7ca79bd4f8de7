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
#define ALLTOALL_MIN_PROCS 8u /* of Bruck: in the code itself */
#define REDUCE_SCATTER_COMMUTATIVE_LONG_MSG_SIZE 524288u

/* Kinds stand at the same distance from the first of the blocking, immediate and persistent ones.
 */
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

static enum kind kind_of(uint16_t call)
{
    static const uint16_t first[] = {CALL_Barrier, CALL_Ibarrier, CALL_Barrier_init};
    for (unsigned i = 0; i < sizeof(first) / sizeof(first[0]); i++)
        if (call >= first[i] && call - first[i] < KINDS)
            return (enum kind)(call - first[i]);
    return NONE;
}

enum collective_teller collective_teller(uint16_t call)
{
    enum kind kind = kind_of(call);
    if (kind == NONE)
        return COLLECTIVE_NOBODY;
    return kind == BCAST || kind == SCATTER || kind == SCATTERV ? COLLECTIVE_ROOT : COLLECTIVE_EACH;
}

/* ---- what is sent, put together ------------------------------------------------- */

/* A call while its messages are listed. */
struct sender {
    const struct collective_call *call;
    struct collective_edges *out;
    uint32_t size;
    uint32_t step;
};

static uint64_t times(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* Bytes of blocks [begin, end) of a buffer that is cut into p: of all blocks they add up. */
static uint64_t blocks(uint64_t bytes, uint32_t begin, uint32_t end, uint32_t p)
{
    uint64_t low = (uint64_t)((wide)bytes * begin / p), high = (uint64_t)((wide)bytes * end / p);
    return high - low;
}

/* Send once, or `times` times, to a position, in this step. */
static void send_many(struct sender *s, uint32_t destination, uint64_t messages, uint64_t bytes)
{
    if (destination == s->call->position || s->out->count == COLLECTIVE_MOST_EDGES)
        return;
    s->out->edges[s->out->count++] =
        (struct collective_edge){destination, s->step, times(messages, s->call->calls), bytes};
}

static void send(struct sender *s, uint32_t destination, uint64_t bytes)
{
    send_many(s, destination, 1, bytes);
}

static void name(struct sender *s, const char *algorithm)
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

/* The lowest bit set: the subtree of a rank in a binomial tree spans so many, the root's all. */
static uint32_t span_of(uint32_t relative, uint32_t p)
{
    uint32_t span = 1;
    if (relative != 0)
        return relative & (~relative + 1);
    while (span < p)
        span *= 2;
    return span;
}

static uint32_t least(uint32_t a, uint32_t b)
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

/* Down a binomial tree, the furthest child first. With `parts` a child gets what its subtree needs,
 * else all. */
static void down_tree(struct sender *s, bool parts)
{
    uint32_t v = from_root(s, s->call->position), p = s->size;
    for (uint32_t half = span_of(v, p) / 2; half > 0; half /= 2) {
        s->step = steps_of(p) - 1 - (uint32_t)__builtin_ctz(half);
        if (v + half < p)
            send(s, to_position(s, v + half),
                 parts ? blocks(s->call->bytes, v + half, least(v + 2 * half, p), p)
                       : s->call->bytes);
    }
    s->step = steps_of(p);
}

/* Up it: to the parent, once everything below has come. @param parts  of the subtree, else one */
static void up_tree(struct sender *s, bool parts)
{
    uint32_t v = from_root(s, s->call->position), p = s->size;
    if (v == 0)
        return;
    uint32_t span = v & (~v + 1);
    s->step = (uint32_t)__builtin_ctz(span);
    send(s, to_position(s, v - span),
         parts ? times(s->call->bytes, least(span, p - v)) : s->call->bytes);
}

/* ---- all with all --------------------------------------------------------------- */

static void ring(struct sender *s, uint64_t bytes)
{
    uint32_t p = s->size;
    send_many(s, (s->call->position + 1) % p, p - 1, bytes);
    s->step++;
}

static void pairwise(struct sender *s)
{
    uint32_t p = s->size, r = s->call->position;
    name(s, "pairwise exchange");
    if (p - 1 > COLLECTIVE_MOST_EDGES) {
        s->out->spread_messages = times(p - 1, s->call->calls);
        s->out->spread_bytes = s->call->bytes - blocks(s->call->bytes, r, r + 1, p);
        return;
    }
    for (uint32_t i = 1; i < p; i++, s->step++) {
        uint32_t to = (r + i) % p;
        send(s, to, blocks(s->call->bytes, to, to + 1, p));
    }
}

static void dissemination(struct sender *s)
{
    uint32_t p = s->size;
    name(s, "dissemination");
    for (uint32_t distance = 1; distance < p; distance *= 2, s->step++)
        send(s, (s->call->position + distance) % p, 0);
}

/* Bruck's alltoall: in each step the blocks whose number has this bit set. */
static void bruck_alltoall(struct sender *s)
{
    uint32_t p = s->size;
    name(s, "Bruck");
    for (uint32_t bit = 1; bit < p; bit *= 2, s->step++) {
        uint32_t rest = p % (2 * bit);
        uint32_t count = p / (2 * bit) * bit + (rest > bit ? rest - bit : 0);
        send(s, (s->call->position + bit) % p, (uint64_t)((wide)s->call->bytes * count / p));
    }
}

static void alltoall(struct sender *s)
{
    if (each_call(s) / s->size <= ALLTOALL_SHORT_MSG_SIZE && s->size >= ALLTOALL_MIN_PROCS)
        bruck_alltoall(s);
    else
        pairwise(s);
}

/* ---- recursive doubling --------------------------------------------------------- */

static void allgather(struct sender *s)
{
    uint32_t p = s->size, r = s->call->position;
    uint64_t all = times(each_call(s), p), own = s->call->bytes;
    if (all < ALLGATHER_LONG_MSG_SIZE && is_power(p)) {
        name(s, "recursive doubling");
        for (uint32_t bit = 1; bit < p; bit *= 2, s->step++)
            send(s, r ^ bit, times(own, bit));
    } else if (all < ALLGATHER_SHORT_MSG_SIZE) {
        name(s, "Bruck");
        for (uint32_t bit = 1; bit < p; bit *= 2, s->step++)
            send(s, (r + (p - bit)) % p, times(own, least(bit, p - bit)));
    } else {
        name(s, "ring");
        ring(s, times(own, p - 1));
    }
}

static void scan(struct sender *s)
{
    name(s, "recursive doubling");
    for (uint32_t bit = 1; bit < s->size; bit *= 2, s->step++)
        if ((s->call->position ^ bit) < s->size)
            send(s, s->call->position ^ bit, s->call->bytes);
}

/* Reductions take a power of two of ranks. Of as many pairs of first ranks as there are too many,
 * the odd one hands its vector to the even one, which goes on for both. */
struct fold {
    uint32_t power, extra;
    uint32_t rank; /* among those that go on */
    bool goes_on;
};

static uint32_t unfold(const struct fold *f, uint32_t rank)
{
    return rank < f->extra ? 2 * rank : rank + f->extra;
}

/* The first step: who is one too many hands in all it has. */
static struct fold fold_in(struct sender *s, uint32_t v)
{
    struct fold f = {.power = power_below(s->size), .goes_on = true};
    f.extra = s->size - f.power;
    f.rank = v < 2 * f.extra ? v / 2 : v - f.extra;
    if (v < 2 * f.extra && v % 2 == 1) {
        f.goes_on = false;
        send(s, to_position(s, v - 1), s->call->bytes);
    }
    s->step++;
    return f;
}

/* The odd ones get the result. */
static void fold_out(struct sender *s, uint32_t v, const struct fold *f, uint64_t bytes)
{
    if (f->goes_on && v < 2 * f->extra)
        send(s, to_position(s, v + 1), bytes);
    s->step++;
}

/* Each step half of what is left goes to the partner, the nearest first: after it rank r has the
 * block whose number is r with its bits reversed. */
static void halve(struct sender *s, const struct fold *f, uint32_t *begin, uint32_t *end)
{
    *begin = 0;
    *end = f->power;
    for (uint32_t bit = 1; bit < f->power; bit *= 2, s->step++) {
        uint32_t middle = *begin + (*end - *begin) / 2;
        bool upper = (f->rank & bit) != 0;
        uint64_t bytes =
            blocks(s->call->bytes, upper ? *begin : middle, upper ? middle : *end, f->power);
        send(s, to_position(s, unfold(f, f->rank ^ bit)), bytes);
        *begin = upper ? middle : *begin;
        *end = upper ? *end : middle;
    }
}

static void allreduce(struct sender *s)
{
    uint32_t v = s->call->position, begin, end;
    struct fold f = fold_in(s, v);
    if (each_call(s) <= ALLREDUCE_SHORT_MSG_SIZE) {
        name(s, "recursive doubling");
        for (uint32_t bit = 1; f.goes_on && bit < f.power; bit *= 2, s->step++)
            send(s, to_position(s, unfold(&f, f.rank ^ bit)), s->call->bytes);
    } else {
        name(s, "Rabenseifner");
        if (f.goes_on)
            halve(s, &f, &begin, &end);
        for (uint32_t bit = f.power / 2; f.goes_on && bit > 0; bit /= 2, s->step++) {
            uint32_t width = end - begin;
            send(s, to_position(s, unfold(&f, f.rank ^ bit)),
                 blocks(s->call->bytes, begin, end, f.power));
            begin = (f.rank & bit) != 0 ? begin - width : begin;
            end = begin + 2 * width;
        }
    }
    s->step = 2 * steps_of(s->size) + 2; /* after all of either */
    fold_out(s, v, &f, s->call->bytes);
}

static void reduce(struct sender *s)
{
    uint32_t begin, end;
    if (each_call(s) <= REDUCE_SHORT_MSG_SIZE) {
        name(s, "binomial tree");
        up_tree(s, false);
        return;
    }
    name(s, "Rabenseifner");
    struct fold f = fold_in(s, from_root(s, s->call->position));
    if (!f.goes_on)
        return;
    halve(s, &f, &begin, &end);
    for (uint32_t bit = f.power / 2; bit > 0; bit /= 2, s->step++) {
        uint32_t width = end - begin;
        if ((f.rank & bit) != 0) {
            send(s, to_position(s, unfold(&f, f.rank ^ bit)),
                 blocks(s->call->bytes, begin, end, f.power));
            return;
        }
        end = begin + 2 * width;
    }
}

static void reduce_scatter(struct sender *s)
{
    uint32_t v = s->call->position, begin, end;
    if (each_call(s) >= REDUCE_SCATTER_COMMUTATIVE_LONG_MSG_SIZE) {
        pairwise(s);
        return;
    }
    name(s, "recursive halving");
    struct fold f = fold_in(s, v);
    if (f.goes_on)
        halve(s, &f, &begin, &end);
    s->step = steps_of(s->size) + 2;
    fold_out(s, v, &f, blocks(s->call->bytes, v + 1, least(v + 2, s->size), s->size));
}

/* ---- rooted --------------------------------------------------------------------- */

/* After the scatter rank v has block v of p, and those of its subtree. */
static void bcast(struct sender *s)
{
    uint32_t p = s->size, v = from_root(s, s->call->position);
    uint64_t bytes = s->call->bytes, each = each_call(s);
    if (each < BCAST_SHORT_MSG_SIZE || p < BCAST_MIN_PROCS) {
        name(s, "binomial tree");
        down_tree(s, false);
        return;
    }
    down_tree(s, true);
    if (each < BCAST_LONG_MSG_SIZE && is_power(p)) {
        name(s, "scatter, recursive doubling");
        for (uint32_t bit = 1; bit < p; bit *= 2, s->step++) {
            uint32_t first = v & ~(bit - 1);
            send(s, to_position(s, v ^ bit), blocks(bytes, first, first + bit, p));
        }
        return;
    }
    name(s, "scatter, ring");
    uint32_t next = (v + 1) % p; /* who has its own block already */
    ring(s, bytes - blocks(bytes, next, next + 1, p));
}

static void linear_gather(struct sender *s)
{
    name(s, "linear");
    send(s, s->call->root, s->call->bytes);
}

static void linear_scatter(struct sender *s)
{
    uint32_t p = s->size, root = s->call->root;
    name(s, "linear");
    if (s->call->position != root)
        return;
    if (p - 1 > COLLECTIVE_MOST_EDGES) {
        s->out->spread_messages = times(p - 1, s->call->calls);
        s->out->spread_bytes = s->call->bytes - blocks(s->call->bytes, root, root + 1, p);
        return;
    }
    for (uint32_t to = 0; to < p; to++)
        send(s, to, blocks(s->call->bytes, to, to + 1, p));
}

static void list(struct sender *s, enum kind kind)
{
    switch (kind) {
    case BARRIER:
        dissemination(s);
        break;
    case BCAST:
        bcast(s);
        break;
    case GATHER:
        name(s, "binomial tree");
        up_tree(s, true);
        break;
    case GATHERV:
        linear_gather(s);
        break;
    case SCATTER:
        name(s, "binomial tree");
        down_tree(s, true);
        break;
    case SCATTERV:
        linear_scatter(s);
        break;
    case ALLGATHER:
    case ALLGATHERV:
        allgather(s);
        break;
    case ALLTOALL:
        alltoall(s);
        break;
    case ALLTOALLV:
    case ALLTOALLW:
        pairwise(s);
        break;
    case REDUCE:
        reduce(s);
        break;
    case ALLREDUCE:
        allreduce(s);
        break;
    case REDUCE_SCATTER_BLOCK:
    case REDUCE_SCATTER:
        reduce_scatter(s);
        break;
    case SCAN:
    case EXSCAN:
        scan(s);
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
    enum kind kind = kind_of(call->call);
    struct collective_call asked = *call;
    if (kind == NONE)
        return -HOLTER_EMISSING;
    if (!has_root(kind))
        asked.root = 0;
    if (call->size == 0 || call->size > COLLECTIVE_MOST_RANKS || call->position >= call->size ||
        asked.root >= call->size)
        return -HOLTER_ERANGE;
    struct sender sender = {.call = &asked, .out = out, .size = call->size};
    *out = (struct collective_edges){.algorithm = "none"};
    if (call->calls > 0 && call->size > 1)
        list(&sender, kind);
    return 0;
}
