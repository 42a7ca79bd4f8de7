#include "tests/daemon/storage/record_bed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

int record_bed_make(void **state)
{
    struct record_bed *b = calloc(1, sizeof(*b));
    *state = b;
    if (b == NULL || directory_make(b->directory) != 0)
        return -1;
    snprintf(b->path, sizeof(b->path), "%s/r.hrec", b->directory);
    snprintf(b->other_path, sizeof(b->other_path), "%s/other.hrec", b->directory);
    return 0;
}

int record_bed_drop(void **state)
{
    struct record_bed *b = *state;
    int code = directory_remove(b->directory);
    free(b);
    return code;
}

void record_bed_clear(struct record_bed *b)
{
    assert_int_equal(recording_remove(b->path), 0);
}

static void on_kept(void *user, uint64_t instance, uint64_t seq)
{
    struct record_bed *b = user;
    assert_int_equal(instance, RECORD_BED_AGENT);
    assert_true(seq >= b->kept);
    b->kept = seq;
}

static void on_stopped(void *user, const char *job, const char *why)
{
    struct record_bed *b = user;
    b->stops++;
    snprintf(b->job, sizeof(b->job), "%s", job);
    snprintf(b->why, sizeof(b->why), "%s", why);
}

void record_bed_begin(struct record_bed *b, const struct recorder_options *options)
{
    static const struct recorder_options usual = {0};
    const struct recorder_events events = {b, on_kept, on_stopped, NULL};
    b->kept = b->stops = 0;
    b->job[0] = b->why[0] = '\0';
    assert_int_equal(uv_loop_init(&b->loop), 0);
    assert_int_equal(recorder_create(&b->r, &b->loop, options == NULL ? &usual : options, &events),
                     0);
}

void record_bed_end(struct record_bed *b)
{
    recorder_destroy(b->r);
    uv_run(&b->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&b->loop), 0);
}

void record_bed_keep(struct record_bed *b, const char *job, uint64_t seq, size_t length)
{
    zmq_msg_t message;
    struct recorded head = {
        .type = WIRE_TYPE_WINDOW, .instance = RECORD_BED_AGENT, .seq = seq, .received_ns = seq};
    assert_int_equal(zmq_msg_init_size(&message, length), 0);
    uint64_t noise = seq * UINT64_C(0x9e3779b97f4a7c15) | 1;
    for (size_t i = 0; i < length; i++) {
        noise = noise * UINT64_C(6364136223846793005) + 1442695040888963407;
        ((uint8_t *)zmq_msg_data(&message))[i] = (uint8_t)(noise >> 56);
    }
    recorder_queue_message(b->r, job, &head, &message);
    zmq_msg_close(&message);
}

void record_bed_rest(struct record_bed *b, uint64_t kept)
{
    while (b->kept < kept)
        uv_run(&b->loop, UV_RUN_ONCE);
}

static int no_alert(void *user, const struct wire_alert *alert)
{
    (void)user;
    (void)alert;
    return 0;
}

static int note_message(void *user, const struct recorded *head, const void *bytes, size_t length)
{
    (void)bytes;
    (void)length;
    *(uint64_t *)user = *(uint64_t *)user * 10 + head->seq;
    return 0;
}

uint64_t record_bed_messages(const char *path)
{
    uint64_t numbers = 0;
    assert_int_equal(
        recording_read(path, &(struct recording_reader){&numbers, no_alert, note_message}), 0);
    return numbers;
}
