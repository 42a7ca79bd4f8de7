/* The state of a job as bytes: a job that is made of them goes on as the job they were taken of. */
#include "daemon/alert/rules.h"
#include "daemon/job/job_accept.h"
#include "daemon/storage/recording.h"
#include "daemon/topology/shared_network.h"
#include "holter/error.h"
#include "tests/bench/replay_make.h"
#include "tests/directory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MESSAGES (1u << 16)

/* What a job published. */
struct stream {
    struct {
        enum wire_type type;
        uint64_t hash;
    } list[MESSAGES];
    size_t count;
    struct wire_buffer buffer;
};

struct run {
    struct job_options options;
    struct job_output output;
    struct job *job;
    struct stream stream;
    size_t every; /* messages after which the job is made of its bytes; 0: never */
    size_t messages, restored;
    struct state_bytes bytes;
    struct wire_arena arena;
};

static uint64_t most_ranks; /* larger jobs are kept by groups of ranks; 0: none is */
static struct rules rules;
static struct network network;
static char directory[DIRECTORY_ROOM];

static int wants(void *user, const char *job, enum wire_type type)
{
    (void)user;
    (void)job;
    return type != WIRE_TYPE_RECORDED;
}

static void keep(void *user, const char *job, enum wire_type type, const void *message)
{
    struct run *run = user;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    (void)job;
    assert_true(run->stream.count < MESSAGES);
    assert_int_equal(wire_encode(&run->stream.buffer, type, message), 0);
    for (size_t i = 0; i < run->stream.buffer.length; i++)
        hash = (hash ^ run->stream.buffer.bytes[i]) * UINT64_C(0x100000001b3);
    run->stream.list[run->stream.count].type = type;
    run->stream.list[run->stream.count++].hash = hash;
}

static void notify(void *user, const uint64_t *instances, size_t count,
                   const struct wire_criteria *message)
{
    (void)instances;
    (void)count;
    keep(user, "", WIRE_TYPE_CRITERIA, message);
}

static void restore(struct run *run)
{
    int code = job_save(run->job, &run->bytes);
    if (code == -HOLTER_EEMPTY)
        return;
    assert_int_equal(code, 0);
    char id[65];
    snprintf(id, sizeof(id), "%s", job_id(run->job));
    job_destroy(run->job);
    assert_int_equal(job_restore(&run->job, id, &run->options, &run->output, run->bytes.bytes,
                                 run->bytes.length),
                     0);
    run->restored++;
}

static int feed(void *user, const struct recorded *head, const void *bytes, size_t length)
{
    struct run *run = user;
    struct wire_message message;
    struct job_fault fault;
    uint64_t capture;
    assert_int_equal(wire_decode(&message, &run->arena, bytes, length, NULL), 0);
    if (run->job == NULL)
        assert_int_equal(
            job_create(&run->job, job_message_job(&message), &run->options, &run->output), 0);
    else
        job_advance(run->job, head->received_ns, head->received_ns);
    if (job_accept(run->job, head, &message, &capture, &fault) == 0 &&
        message.type == WIRE_TYPE_RANKS)
        job_keep_rank_message(run->job, head, bytes, length);
    run->messages++;
    if (run->every != 0 && run->messages % run->every == 0)
        restore(run);
    job_advance(run->job, head->received_ns, head->received_ns);
    return 0;
}

static int skip_alert(void *user, const struct wire_alert *alert)
{
    (void)user;
    (void)alert;
    return 0;
}

static void show_all(struct run *run)
{
    static const enum wire_type types[] = {
        WIRE_TYPE_JOB,      WIRE_TYPE_PLACES,      WIRE_TYPE_TOTALS,      WIRE_TYPE_ALERT,
        WIRE_TYPE_NODES,    WIRE_TYPE_LATENCIES,   WIRE_TYPE_REGIONS,     WIRE_TYPE_PHASES,
        WIRE_TYPE_CURVE,    WIRE_TYPE_TOPOLOGY,    WIRE_TYPE_LINKS,       WIRE_TYPE_CAPTURE,
        WIRE_TYPE_LATENESS, WIRE_TYPE_RANK_WINDOW, WIRE_TYPE_PAIR_WINDOW, WIRE_TYPE_CALL_WINDOW,
    };
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        job_snapshot(run->job, types[i], &run->output);
}

static struct run *run_recording(const char *path, uint64_t window_ns, size_t every)
{
    struct run *run = calloc(1, sizeof(*run));
    assert_non_null(run);
    run->options = (struct job_options){.window_ns = window_ns,
                                        .grace_ns = window_ns,
                                        .lost_ns = 60 * window_ns,
                                        .most_pairs = 1u << 20,
                                        .most_ranks = most_ranks,
                                        .modelled = 1,
                                        .network = &network,
                                        .rules = &rules};
    run->output = (struct job_output){run, wants, keep, notify};
    run->every = every;
    const struct recording_reader reader = {run, skip_alert, feed};
    assert_int_equal(recording_read(path, &reader), 0);
    show_all(run);
    job_finish(run->job, UINT64_C(1) << 62);
    show_all(run);
    return run;
}

static void run_destroy(struct run *run)
{
    job_destroy(run->job);
    wire_arena_finish(&run->arena);
    wire_buffer_finish(&run->stream.buffer);
    free(run->bytes.bytes);
    free(run);
}

static void compare(const struct stream *all, const struct stream *got)
{
    for (size_t i = 0; i < all->count && i < got->count; i++)
        if (all->list[i].type != got->list[i].type || all->list[i].hash != got->list[i].hash)
            fail_msg("message %zu of %zu, %s: other bytes, of %s", i, all->count,
                     wire_type_name(all->list[i].type), wire_type_name(got->list[i].type));
    assert_int_equal(all->count, got->count);
}

static void goes_on_as_before(const char *path, uint64_t window_ns, const size_t *every,
                              size_t count)
{
    struct run *undisturbed = run_recording(path, window_ns, 0);
    assert_true(undisturbed->stream.count > 100);
    for (size_t i = 0; i < count; i++) {
        struct run *run = run_recording(path, window_ns, every[i]);
        compare(&undisturbed->stream, &run->stream);
        assert_true(run->restored > 0);
        run_destroy(run);
    }
    run_destroy(undisturbed);
}

static void a_job_of_many_nodes_goes_on_as_if_nothing_had_been(void **state)
{
    (void)state;
    char path[DIRECTORY_ROOM + 32];
    struct replay_make settings = REPLAY_MAKE_DEFAULTS;
    static const size_t every[] = {16, 37};
    settings.ranks = 256;
    settings.nodes = 16;
    settings.windows = 70;
    snprintf(path, sizeof(path), "%s/made.hrec", directory);
    assert_int_equal(replay_make_file(&settings, path, NULL), 0);
    goes_on_as_before(path, settings.window_ns, every, 2);
}

static void a_job_by_groups_of_ranks_goes_on_as_if_nothing_had_been(void **state)
{
    most_ranks = 8;
    a_job_of_many_nodes_goes_on_as_if_nothing_had_been(state);
    most_ranks = 0;
}

static void a_job_with_a_slow_link_goes_on_as_if_nothing_had_been(void **state)
{
    (void)state;
    static const size_t every[] = {1, 7, 301};
    goes_on_as_before(DOCS "/slow-link.hrec", 1000000000, every, 3);
}

/* ---- bytes that are of no use ------------------------------------------------------------ */

static int restore_code(const struct run *run, const char *id, const struct job_options *options,
                        size_t length)
{
    struct job *job = NULL;
    int code = job_restore(&job, id, options, &run->output, run->bytes.bytes, length);
    if (code == 0)
        job_destroy(job);
    return code;
}

static void bytes_that_end_early_are_refused(void **state)
{
    (void)state;
    struct run *run = run_recording(DOCS "/slow-link.hrec", 1000000000, 301);
    const size_t length = run->bytes.length;
    const char *id = job_id(run->job);
    assert_int_equal(restore_code(run, id, &run->options, length), 0);
    for (size_t cut = 0; cut < length; cut += cut < 4096 ? 7 : 9973)
        assert_int_not_equal(restore_code(run, id, &run->options, cut), 0);
    assert_int_not_equal(restore_code(run, id, &run->options, length - 1), 0);
    run_destroy(run);
}

static void bytes_of_another_daemon_are_refused(void **state)
{
    (void)state;
    struct run *run = run_recording(DOCS "/slow-link.hrec", 1000000000, 301);
    struct job_options others[3] = {run->options, run->options, run->options};
    const char *id = job_id(run->job);
    others[0].window_ns = 500000000;
    others[1].rules = NULL;
    others[2].modelled = 0;
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(restore_code(run, id, &others[i], run->bytes.length), -HOLTER_EVERSION);
    assert_int_equal(restore_code(run, "other", &run->options, run->bytes.length),
                     -HOLTER_EMALFORMED);
    run->bytes.bytes[8] ^= 1; /* in the name of the version */
    assert_int_equal(restore_code(run, id, &run->options, run->bytes.length), -HOLTER_EVERSION);
    run_destroy(run);
}

/* All have as many nodes and links: what was on a link of one would be shown on one of another. */
static void bytes_of_a_daemon_with_another_network_are_refused(void **state)
{
    static const char *const others[] = {"torus:4,4/capacity=2e9",
                                         "torus:4,4/capacity=1e9/order=B,A",
                                         "torus:4,4/capacity=1e9/tie=plus",
                                         "torus:8,2/capacity=1e9",
                                         "cart",
                                         ""};
    (void)state;
    network_read(&network, "torus:4,4/capacity=1e9");
    assert_string_equal(network.fault, "");
    struct run *run = run_recording(DOCS "/slow-link.hrec", 1000000000, 301);
    const char *id = job_id(run->job);
    struct job_options options = run->options;
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        struct network other;
        network_read(&other, others[i]);
        assert_string_equal(other.fault, "");
        options.network = &other;
        assert_int_equal(restore_code(run, id, &options, run->bytes.length), -HOLTER_EVERSION);
        network_finish(&other);
    }
    struct network same;
    network_read(&same, "torus:4,4/capacity=1e9");
    options.network = &same;
    assert_int_equal(restore_code(run, id, &options, run->bytes.length), 0);
    network_finish(&same);
    run_destroy(run);
    network_finish(&network);
}

static void a_state_that_is_restored_has_no_recording_of_the_daemon_before(void **state)
{
    (void)state;
    struct run *run = run_recording(DOCS "/slow-link.hrec", 1000000000, 0);
    job_set_recording(run->job, "/elsewhere/slow-link.hrec");
    run->every = 1;
    restore(run);
    assert_int_equal(run->restored, 1);
    assert_string_equal(job_recording(run->job), "");
    run_destroy(run);
}

static int set_up(void **state)
{
    (void)state;
    assert_int_equal(rules_default(&rules), 0);
    return directory_make(directory);
}

static int tear_down(void **state)
{
    (void)state;
    rules_finish(&rules);
    return directory_remove(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_of_many_nodes_goes_on_as_if_nothing_had_been),
        cmocka_unit_test(a_job_by_groups_of_ranks_goes_on_as_if_nothing_had_been),
        cmocka_unit_test(a_job_with_a_slow_link_goes_on_as_if_nothing_had_been),
        cmocka_unit_test(bytes_that_end_early_are_refused),
        cmocka_unit_test(bytes_of_another_daemon_are_refused),
        cmocka_unit_test(bytes_of_a_daemon_with_another_network_are_refused),
        cmocka_unit_test(a_state_that_is_restored_has_no_recording_of_the_daemon_before),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
