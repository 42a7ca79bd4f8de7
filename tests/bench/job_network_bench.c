/* What the network of a job costs the loop each window: job_network_update() and what is sent of
 * it.
 *
 *   bench_job_network [HOSTS [WINDOWS]]
 *
 * Ranks, eight a host, form a periodic 3-d box, each sending to its 26 neighbours; a tenth of the
 * pairs is silent in any window, another tenth each time. Hosts have two interfaces. Time is that
 * of the processor, so that others on the machine do not count. Networks: the tree of hosts, where
 * ranks have no cores; that of cores, where each rank is a vertex of its own; a torus of as many
 * nodes as hosts. For comparison: one pass over the same rows that adds up their bytes, and another
 * that looks up both seats. */
#include "daemon/job/network/job_measured.h"
#include "daemon/job/network/job_network.h"
#include "daemon/topology/shared_network.h"
#include "tests/bench/bench.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RANKS 8u /* a host */
#define PARTNERS 26u
#define WINDOW_NS UINT64_C(1000000000)

enum shape { UNBOUND, CORES, TORUS, SHAPES };
static const char *const shapes[SHAPES] = {"tree of ranks", "tree of cores", "torus"};

struct work {
    unsigned hosts, windows, ranks, box[3];
    struct wire_pair_row *pairs;
    size_t pair_count;
};

static void fail(const char *what)
{
    fprintf(stderr, "job_network_bench: %s\n", what);
    exit(EXIT_FAILURE);
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* As near to a cube as the number allows. */
static void make_box(unsigned left, unsigned box[3])
{
    box[0] = box[1] = box[2] = 1;
    for (unsigned d = 2; left > 1; d++)
        for (; left % d == 0; left /= d) {
            unsigned *least = &box[0];
            for (int i = 1; i < 3; i++)
                least = box[i] < *least ? &box[i] : least;
            *least *= d;
        }
}

static unsigned neighbour(const struct work *w, unsigned rank, unsigned cell)
{
    unsigned at[3] = {rank % w->box[0], rank / w->box[0] % w->box[1], rank / w->box[0] / w->box[1]};
    for (int d = 0; d < 3; d++, cell /= 3)
        at[d] = (at[d] + w->box[d] + cell % 3 - 1) % w->box[d];
    return at[0] + w->box[0] * (at[1] + w->box[1] * at[2]);
}

static int compare(const void *a, const void *b)
{
    const struct wire_pair_row *x = a, *y = b;
    return (x->destination > y->destination) - (x->destination < y->destination);
}

static void make_pairs(struct work *w, unsigned window)
{
    w->pair_count = 0;
    for (unsigned rank = 0; rank < w->ranks; rank++) {
        size_t first = w->pair_count;
        for (unsigned cell = 0; cell < PARTNERS + 1; cell++) {
            if (cell == PARTNERS / 2 || (rank * PARTNERS + cell + window) % 10 == 0)
                continue;
            uint64_t messages = 10 + (rank ^ cell ^ window) % 16;
            w->pairs[w->pair_count++] =
                (struct wire_pair_row){.source = rank,
                                       .destination = (int32_t)neighbour(w, rank, cell),
                                       .messages = messages,
                                       .bytes = messages * (cell % 2 == 0 ? 512 : 32768)};
        }
        qsort(w->pairs + first, w->pair_count - first, sizeof(*w->pairs), compare);
    }
}

static void make_counters(const struct work *w, struct counter_rows *out)
{
    out->list = calloc((size_t)2 * w->hosts, sizeof(*out->list));
    out->capacity = out->count = out->list == NULL ? 0 : (size_t)2 * w->hosts;
    for (size_t i = 0; i < out->count; i++) {
        /* In the order in which agents happen to report. */
        struct counter *c = &out->list[i];
        *c = (struct counter){.node = (uint32_t)((uint64_t)(i / 2) * 7919 % w->hosts),
                              .sent = 1000000 + i,
                              .received = 1000000 + i,
                              .speed = 25000000000,
                              .length_ns = WINDOW_NS};
        snprintf(c->name, sizeof(c->name), "eth%zu", i % 2);
    }
}

static void place(const struct work *w, enum shape shape, struct job_network *n)
{
    for (unsigned rank = 0; rank < w->ranks; rank++) {
        char host[16];
        snprintf(host, sizeof(host), "n%u", rank / RANKS);
        unsigned core = shape == CORES ? rank % RANKS + 1 : 0;
        if (job_network_place(n, rank, rank / RANKS, host, core, core == 0 ? 0 : 1 + core / 5) != 0)
            fail("no memory");
    }
}

static void count_rows(void *user, const struct wire_topology *message)
{
    struct wire_buffer *buffer = user;
    size_t *bytes = (size_t *)(buffer + 1);
    if (wire_encode(buffer, WIRE_TYPE_TOPOLOGY, message) == 0)
        *bytes += buffer->length;
}

/* Sums of bytes, and of those between hosts: the least that could be done. */
static void reference(const struct work *w, double *plain, double *seated)
{
    volatile uint64_t sum = 0;
    uint64_t bytes = 0;
    uint32_t *seats = malloc(w->ranks * sizeof(*seats));
    for (unsigned i = 0; seats != NULL && i < w->ranks; i++)
        seats[i] = i / RANKS;
    double from = now_ms();
    for (size_t i = 0; i < w->pair_count; i++)
        bytes += w->pairs[i].bytes;
    sum += bytes;
    *plain = now_ms() - from;
    from = now_ms();
    for (size_t i = 0; seats != NULL && i < w->pair_count; i++)
        bytes +=
            seats[w->pairs[i].source] != seats[w->pairs[i].destination] ? w->pairs[i].bytes : 0;
    sum += bytes;
    *seated = now_ms() - from;
    free(seats);
}

/* What who comes late is sent of windows before. */
static void measure_late(struct job_measured *measured, struct wire_buffer *buffer)
{
    struct wire_links links;
    double from = now_ms(), bytes = 0;
    for (size_t i = 0; job_measured_message(measured, i, &links); i++) {
        links.job = "bench";
        if (wire_encode(buffer, WIRE_TYPE_LINKS, &links) == 0)
            bytes += (double)buffer->length;
    }
    printf("    late clients: %zu windows with %zu rows, %.2f MB, in %.2f ms\n", measured->count,
           measured->rows, bytes * 1e-6, now_ms() - from);
}

static void measure(struct work *w, enum shape shape)
{
    struct network given = {.source = "torus"};
    if (shape == TORUS) {
        struct topology_spec spec = {.kind = TOPOLOGY_CARTESIAN, .dimension_count = 3};
        unsigned box[3];
        char why[160];
        make_box(w->hosts, box);
        for (unsigned d = 0; d < 3; d++)
            spec.dimensions[d] = (struct topology_dimension){
                .size = box[d], .connection = TOPOLOGY_TORUS, .step = d};
        if (topology_create(&given.file.topology, &spec, why, sizeof(why)) != 0)
            fail(why);
    }
    const struct job_network_options options = {"bench", shape == TORUS ? &given : NULL, WINDOW_NS};
    struct job_network *n;
    struct job_measured measured = {0};
    struct {
        struct wire_buffer buffer;
        size_t bytes;
    } out = {0};
    if (job_network_create(&n, &options) != 0)
        fail("no memory");
    place(w, shape, n);
    double from = now_ms();
    job_network_topology(n);
    double make = now_ms() - from;
    from = now_ms();
    job_network_publish(n, "bench", count_rows, &out);
    double tell = now_ms() - from, close = 0, most = 0, first = 0, keep = 0, encode = 0;
    size_t told = out.bytes, rows = 0, sent = 0;
    for (unsigned i = 0; i < w->windows; i++) {
        struct counter_rows counters = {0};
        struct wire_links links;
        make_pairs(w, i);
        make_counters(w, &counters);
        const struct closed_window window = {
            .number = i, .pairs = w->pairs, .pair_count = w->pair_count, .counters = &counters};
        from = now_ms();
        if (job_network_update(n, &window) != 0)
            fail("the window is not closed");
        double took = now_ms() - from;
        first = i == 0 ? took : first;
        close += i == 0 ? 0 : took;
        most = i > 0 && took > most ? took : most;
        from = now_ms();
        if (job_network_measured(n, &links))
            job_measured_add(&measured, &links);
        keep += now_ms() - from;
        from = now_ms();
        if (!job_network_links(n, &links))
            fail("no links");
        links.job = "bench";
        if (links.links_count + links.routes_count + links.interfaces_count <= WIRE_MAX_ROWS &&
            wire_encode(&out.buffer, WIRE_TYPE_LINKS, &links) == 0)
            sent += out.buffer.length;
        encode += now_ms() - from;
        rows = links.links_count;
    }
    printf("%-14s network made in %.1f ms, told in %.1f ms (%.1f MB)\n", shapes[shape], make, tell,
           (double)told * 1e-6);
    printf("    close: first %.1f ms, then %.2f ms, at most %.2f ms; %.1f MiB on the heap\n", first,
           close / (w->windows - 1), most, (double)bench_heap() / 1048576);
    printf("    links: %zu rows, made and encoded in %.2f ms, %.2f MB; kept in %.2f ms\n", rows,
           encode / w->windows, (double)sent / w->windows * 1e-6, keep / w->windows);
    measure_late(&measured, &out.buffer);
    wire_buffer_finish(&out.buffer);
    job_measured_finish(&measured);
    job_network_destroy(n);
    topology_destroy(given.file.topology);
}

int main(int argc, char **argv)
{
    struct work w = {.hosts = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 6000,
                     .windows = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 5};
    if (w.hosts == 0 || w.hosts > 100000 || w.windows < 2)
        fail("HOSTS are 1 to 100,000, WINDOWS 2 or more");
    w.ranks = w.hosts * RANKS;
    make_box(w.ranks, w.box);
    w.pairs = malloc((size_t)w.ranks * PARTNERS * sizeof(*w.pairs));
    if (w.pairs == NULL)
        fail("no memory");
    make_pairs(&w, 0);
    double plain, seated;
    reference(&w, &plain, &seated);
    printf("hosts %u, ranks %u, pairs in a window %zu; processor time\n", w.hosts, w.ranks,
           w.pair_count);
    printf("reference      sum of bytes %.2f ms, of those between hosts %.2f ms\n", plain, seated);
    for (int shape = 0; shape < SHAPES; shape++)
        measure(&w, (enum shape)shape);
    free(w.pairs);
    return EXIT_SUCCESS;
}
