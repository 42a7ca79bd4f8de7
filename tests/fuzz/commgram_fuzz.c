/* Anything in place of what agents report of bursts and what clients ask of the CommGram: each
 * input is an argument of the request "commgram", a zero, and what windows are made of. */
#include "daemon/analysis/commgram/commgram_cache.h"
#include "daemon/job/job.h"
#include "daemon/job/phases/job_phases.h"
#include "daemon/job/phases/picture.h"
#include "holter/error.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_source.h"
#include "tests/proto/wire_random.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define S UINT64_C(1000000000)
#define FIRST 1000u /* window */
#define WINDOWS 4u
#define BURSTS 6u
#define PAIRS 8u
#define COLLECTIVES 3u
#define MEMBERS 8u

__extension__ typedef unsigned __int128 wide;

/* Mostly below a bound, which only hostile ones leave. */
static uint64_t number(struct source *s, uint64_t below)
{
    static const uint64_t telling[] = {0,
                                       1,
                                       UINT32_MAX,
                                       UINT64_C(1) << 20,
                                       UINT64_C(1) << 24,
                                       INT64_MAX,
                                       UINT64_MAX,
                                       UINT64_MAX - 1,
                                       1u << 16,
                                       UINT64_C(1) << 53,
                                       UINT64_C(1) << 63};
    uint8_t kind = byte(s);
    if (kind == 255)
        return telling[byte(s) % (sizeof telling / sizeof *telling)];
    if (kind == 254)
        return below;
    return below == 0 ? 0 : (kind | (uint64_t)byte(s) << 8) % below;
}

/* ---- windows ---------------------------------------------------------------------- */

struct window {
    struct wire_rank_row ranks[2];
    struct wire_comm_row comms[3];
    struct wire_burst_row bursts[BURSTS];
    struct wire_burst_pair_row pairs[BURSTS * PAIRS];
    struct wire_collective_row collectives[COLLECTIVES];
    struct wire_comm_member_row members[MEMBERS];
    struct wire_window m;
};

static void make_times(struct source *s, struct wire_burst_row *b, uint64_t begin)
{
    b->first_ns = begin + number(s, 65536) * 10000;
    b->last_ns = b->messages == 1 ? b->first_ns : b->first_ns + number(s, 65536) * 1000;
    wide sum = b->messages <= 1
                   ? b->first_ns
                   : (wide)b->first_ns + b->last_ns + (wide)b->first_ns * (b->messages - 2);
    b->time_sum_high = (uint64_t)(sum >> 64);
    b->time_sum_low = (uint64_t)sum;
    if (byte(s) == 255)
        b->time_sum_high = number(s, 2);
}

static void make_burst(struct source *s, struct window *w, uint64_t world)
{
    struct wire_burst_row *b = &w->bursts[w->m.bursts_count++];
    b->collective = w->m.collectives_count > 0 ? number(s, 2) : 0;
    b->other_messages = 1 + number(s, 4);
    b->other_pairs = 1;
    b->other_bytes = number(s, 65536);
    b->messages = b->other_messages;
    b->bytes = b->other_bytes;
    for (b->pairs = 0; b->pairs < number(s, PAIRS); b->pairs++) {
        struct wire_burst_pair_row *p = &w->pairs[w->m.burst_pairs_count + b->pairs];
        *p = (struct wire_burst_pair_row){number(s, world),
                                          number(s, b->collective ? w->m.collectives_count : world),
                                          number(s, 64), 1 + number(s, 1000), number(s, 65536)};
        b->messages += p->messages; /* hostile ones may wrap: then they do not add up */
        b->bytes += p->bytes;
        if (b->pairs + 1 == PAIRS)
            break;
    }
    w->m.burst_pairs_count += b->pairs;
    if (byte(s) == 255)
        b->pairs = number(s, PAIRS);
    if (byte(s) == 255)
        b->messages = number(s, 1000);
    make_times(s, b, w->m.window * w->m.length_ns);
}

static void make_window(struct source *s, struct window *w, uint64_t seq, uint64_t world)
{
    memset(w, 0, sizeof *w);
    w->m = (struct wire_window){.seq = seq,
                                .job = "fuzz.0",
                                .host = "",
                                .window = FIRST + number(s, WINDOWS),
                                .length_ns = byte(s) == 255 ? number(s, S) : S,
                                .comms = w->comms,
                                .ranks = w->ranks,
                                .bursts = w->bursts,
                                .burst_pairs = w->pairs,
                                .collectives = w->collectives,
                                .comm_members = w->members};
    w->m.comms_count = 3;
    for (uint64_t i = 0; i < w->m.comms_count; i++)
        w->comms[i] = (struct wire_comm_row){.id = i, .size = 1 + number(s, world), .name = ""};
    w->m.collectives_count = number(s, COLLECTIVES + 1) % (COLLECTIVES + 1);
    for (uint64_t i = 0; i < w->m.collectives_count; i++)
        w->collectives[i] = (struct wire_collective_row){
            number(s, 600), number(s, w->m.comms_count), (int64_t)(number(s, world + 1) - 1)};
    w->m.comm_members_count = number(s, MEMBERS + 1) % (MEMBERS + 1);
    for (uint64_t i = 0; i < w->m.comm_members_count; i++) {
        uint64_t comm = number(s, 3), size = w->comms[comm % 3].size;
        w->members[i] = (struct wire_comm_member_row){comm, number(s, world),
                                                      number(s, size < world ? size : world)};
    }
    for (uint64_t i = number(s, BURSTS + 1) % (BURSTS + 1); i > 0; i--)
        make_burst(s, w, world);
}

/* ---- a job -------------------------------------------------------------------------- */

static int wanted(void *user, const char *job, enum wire_type type)
{
    (void)user;
    (void)job;
    return type == WIRE_TYPE_PHASES || type == WIRE_TYPE_CURVE;
}

/* All parts can be sent. */
static void publish(void *user, const char *job, enum wire_type type, const void *message)
{
    struct wire_buffer buffer = {0};
    (void)user;
    (void)job;
    int code = wire_encode(&buffer, type, message);
    FUZZ_HOLDS(code == 0 || code == -ENOMEM);
    wire_buffer_finish(&buffer);
}

static int tell(void *user, const struct wire_commgram *message)
{
    publish(user, NULL, WIRE_TYPE_COMMGRAM, message);
    return 0;
}

static void make_picture(struct job *job, const char *argument, struct commgram_cache *cache)
{
    char why[128];
    struct picture_ask ask = {.only_count = 77};
    struct picture *picture;
    int code = picture_ask_parse(&ask, argument, why, sizeof why);
    FUZZ_HOLDS(code == 0 || code == -HOLTER_EUSAGE || code == -ENOMEM);
    if (code != 0) {
        FUZZ_HOLDS(ask.only_count == 77 && ask.only == NULL && why[0] != '\0'); /* not touched */
        return;
    }
    FUZZ_HOLDS(ask.from_ns <= ask.to_ns && ask.phases > 0);
    for (size_t i = 0; i < ask.only_count; i++)
        FUZZ_HOLDS(ask.only[i] < PICTURE_RANKS && (i == 0 || ask.only[i] > ask.only[i - 1]));
    if (job == NULL) {
        picture_ask_finish(&ask);
        return;
    }
    struct picture_source source;
    job_picture_source(job, &source);
    code = picture_create(&picture, &source, &ask, cache);
    FUZZ_HOLDS(code == 0 || code == -ENOMEM || code == -HOLTER_ELIMIT);
    if (code != 0)
        return;
    for (unsigned steps = 0; (code = picture_step(picture, job_phases(job))) == 1; steps++)
        FUZZ_HOLDS(steps <= PICTURE_MAXIMUM_PHASES);
    FUZZ_HOLDS(code == 0 || code == -ENOMEM || code == -HOLTER_ELIMIT);
    if (code == 0)
        FUZZ_HOLDS(picture_send(picture, tell, NULL) == 0);
    picture_destroy(picture);
}

static void take_ranks(struct job *job, uint64_t world)
{
    struct job_fault fault;
    struct wire_ranks ranks = {
        .seq = 1, .job = "fuzz.0", .world = world, .app = "", .mpi = "", .host = "node"};
    int code = job_accept_ranks(job, 1, &ranks, FIRST * S, &fault);
    FUZZ_HOLDS(code == 0 || code == -ENOMEM);
}

static void run(struct source *s, const char *argument, struct commgram_cache *cache)
{
    static const uint64_t worlds[] = {8, 1, 2, 3, 100};
    const struct job_options options = {.window_ns = S,
                                        .grace_ns = S / 4,
                                        .lost_ns = 30 * S,
                                        .most_pairs = 100,
                                        .modelled = byte(s) % 8 != 7};
    const struct job_output output = {NULL, wanted, publish, NULL};
    struct job *job;
    struct window w;
    struct job_fault fault;
    uint8_t kind = byte(s);
    uint64_t world = kind == 255   ? JOB_MAXIMUM_RANKS /* takes a second */
                     : kind == 254 ? 1u << 17
                                   : worlds[kind % (sizeof worlds / sizeof *worlds)];
    uint64_t known_at = byte(s) % 8 == 7 ? number(s, 8) : 0; /* windows before the world */
    if (job_create(&job, "fuzz.0", &options, &output) != 0)
        return;
    for (uint64_t i = 0; i < 12 && s->at < s->end; i++) {
        if (i == known_at)
            take_ranks(job, world);
        make_window(s, &w, i + 2, world);
        int code = job_accept_window(job, 1 + i % 3, &w.m, (FIRST + 1) * S, &fault);
        FUZZ_HOLDS(code == 0 || code == -ENOMEM || code == -HOLTER_ERANGE ||
                   code == -HOLTER_ELIMIT);
        if (byte(s) % 4 == 3)
            job_advance(job, (FIRST + i) * S, (FIRST + i) * S);
        if (i == 5)
            make_picture(job, argument, cache);
    }
    job_finish(job, (FIRST + 20) * S);
    job_snapshot(job, WIRE_TYPE_PHASES, &output);
    job_snapshot(job, WIRE_TYPE_CURVE, &output);
    make_picture(job, argument, cache);
    make_picture(job, "phases=3 communities=2", cache);
    job_destroy(job);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct commgram_cache *cache;
    size_t length = strnlen((const char *)data, size);
    char *argument = strndup((const char *)data, length);
    if (argument == NULL || commgram_cache_create(&cache, 1 << 16, 16) != 0) {
        free(argument);
        return 0;
    }
    if (length + 1 >= size) {
        make_picture(NULL, argument, cache);
    } else {
        struct source s = {data + length + 1, data + size};
        run(&s, argument, cache);
    }
    commgram_cache_destroy(cache);
    free(argument);
    return 0;
}

size_t fuzz_seed(unsigned index, uint8_t *out)
{
    static const char *const arguments[] = {
        "",
        "from=0 to=9000000000000000000",
        "from=1000000000000 to=1001000000000 phases=7 communities=3 ranks=3,8-11 modelled=0",
        "phases=4294967295 communities=4294967295",
        "phases=3 communities=0",
        "ranks=0-1048575,5,7-9",
        "to=0",
        "communities=1 phases=1 ranks=16777215",
        "modelled=0",
    };
    enum { ARGUMENTS = sizeof arguments / sizeof *arguments };
    uint64_t random = 88172645463325252u + index;
    if (index >= 4 * ARGUMENTS)
        return SIZE_MAX;
    size_t length = strlen(arguments[index % ARGUMENTS]);
    memcpy(out, arguments[index % ARGUMENTS], length + 1);
    if (index < ARGUMENTS)
        return length; /* the argument only */
    for (size_t i = length + 1; i < length + 1500; i++)
        out[i] = (uint8_t)(random_next(&random) % 254); /* nothing hostile: see number() */
    return length + 1500;
}
