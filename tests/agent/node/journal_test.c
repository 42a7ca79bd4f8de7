#include "agent/node/journal.h"

#include "holter/error.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define ROOM 4096u

struct drops {
    uint64_t seqs[1000];
    size_t count;
};

static void on_dropped(void *user, const struct journal_message *message)
{
    struct drops *drops = user;
    drops->seqs[drops->count++] = message->seq;
}

/* A message whose bytes all are its number. */
static void append(struct journal *journal, size_t length, struct drops *drops)
{
    static uint8_t bytes[ROOM];
    memset(bytes, (int)(journal_next_seq(journal) & 0xff), length);
    assert_int_equal(journal_append(journal, 7, bytes, length, on_dropped, drops), 0);
}

static void commit(struct journal *journal, uint64_t window)
{
    journal_prepare(journal)->window = window;
    journal_commit(journal);
}

static void check_message(const struct journal_message *message)
{
    for (uint32_t i = 0; i < message->length; i++)
        assert_int_equal(message->bytes[i], message->seq & 0xff);
}

/* @return number of committed messages; checks that their numbers follow each other */
static unsigned count_messages(const struct journal *journal, uint64_t *first)
{
    struct journal_message message = {0};
    unsigned count = 0;
    uint64_t last = 0;
    for (uint64_t at = 0; journal_read(journal, at, &message); at = message.next_position) {
        if (count++ == 0)
            *first = message.seq;
        else
            assert_int_equal(message.seq, last + 1);
        last = message.seq;
        check_message(&message);
    }
    return count;
}

static void messages_are_kept_until_acknowledged(void **state)
{
    (void)state;
    struct journal *journal;
    struct drops drops = {.count = 0};
    uint64_t first = 0;
    assert_int_equal(journal_create(&journal, ROOM), 0);
    for (int i = 0; i < 10; i++)
        append(journal, 100, &drops);
    assert_int_equal(count_messages(journal, &first), 0);
    assert_true(journal_has_pending(journal));
    commit(journal, 1);
    assert_int_equal(count_messages(journal, &first), 10);
    journal_ack(journal, 4);
    assert_int_equal(count_messages(journal, &first), 6);
    assert_int_equal(first, 5);
    journal_ack(journal, 2);
    journal_ack(journal, 1000);
    assert_int_equal(count_messages(journal, &first), 0);
    assert_false(journal_has_pending(journal));
    assert_int_equal(drops.count, 0);
    journal_destroy(journal);
}

static void a_message_that_is_dropped_is_not_read_and_the_others_are(void **state)
{
    (void)state;
    struct journal *journal;
    struct journal_message message;
    struct drops drops = {.count = 0};
    uint64_t first = 0;
    assert_int_equal(journal_create(&journal, ROOM), 0);
    for (int i = 0; i < 3; i++)
        append(journal, 100, &drops);
    assert_int_equal(journal_drop(journal, 1, &message), 0); /* not committed yet */
    commit(journal, 1);
    assert_int_equal(journal_drop(journal, 2, &message), 1);
    assert_int_equal(message.seq, 2);
    check_message(&message);
    assert_int_equal(journal_drop(journal, 2, &message), 0);
    assert_int_equal(journal_read(journal, 0, &message), 1);
    assert_int_equal(message.seq, 1);
    assert_int_equal(journal_read(journal, message.next_position, &message), 1);
    assert_int_equal(message.seq, 3);
    journal_ack(journal, 1);
    assert_int_equal(count_messages(journal, &first), 1);
    assert_int_equal(first, 3);
    assert_int_equal(journal_drop(journal, 3, &message), 1);
    assert_false(journal_has_pending(journal));
    for (int i = 0; i < 100; i++) /* once around the ring */
        append(journal, 100, &drops);
    commit(journal, 2);
    assert_int_equal(count_messages(journal, &first) + drops.count, 100);
    journal_destroy(journal);
}

static void oldest_is_dropped_when_the_capacity_is_reached(void **state)
{
    (void)state;
    struct journal *journal;
    struct drops drops = {.count = 0};
    uint64_t first = 0, seed = 5;
    assert_int_equal(journal_create(&journal, ROOM), 0);
    unsigned appended = 0;
    for (int round = 0; round < 300; round++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        append(journal, (seed >> 33) % 900, &drops);
        appended++;
        commit(journal, (uint64_t)round);
        unsigned kept = count_messages(journal, &first);
        assert_int_equal(kept + drops.count, appended);
        assert_true(kept >= 1);
    }
    for (size_t i = 0; i < drops.count; i++)
        assert_int_equal(drops.seqs[i], i + 1);
    assert_true(drops.count > 200);
    journal_destroy(journal);
}

static void random_appends_and_acks_agree_with_a_plain_list(void **state)
{
    (void)state;
    struct journal *journal;
    uint64_t seed = 11, acked = 0, first = 0;
    assert_int_equal(journal_create(&journal, ROOM), 0);
    struct drops drops = {.count = 0};
    for (int round = 0; round < 2000 && drops.count < 900; round++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        if ((seed >> 60) < 9) {
            append(journal, (seed >> 33) % 300, &drops);
            commit(journal, 1);
        } else {
            uint64_t next = journal_next_seq(journal);
            acked = acked + (seed >> 40) % 4;
            acked = acked < next ? acked : next - 1;
            journal_ack(journal, acked);
        }
        uint64_t dropped = drops.count > 0 ? drops.seqs[drops.count - 1] : 0;
        uint64_t gone = dropped > acked ? dropped : acked;
        assert_int_equal(count_messages(journal, &first), journal_next_seq(journal) - 1 - gone);
    }
    journal_destroy(journal);
}

static void message_that_can_never_fit_is_refused(void **state)
{
    (void)state;
    struct journal *journal;
    static uint8_t bytes[2 * ROOM];
    assert_int_equal(journal_create(&journal, ROOM), 0);
    assert_int_equal(journal_append(journal, 7, bytes, ROOM, NULL, NULL), -HOLTER_ELIMIT);
    assert_int_equal(journal_append(journal, 7, bytes, ROOM - 16, NULL, NULL), 0);
    assert_int_equal(journal_append(journal, 7, bytes, ROOM - 16, NULL, NULL), 0);
    assert_int_equal(journal_next_seq(journal), 3);
    journal_destroy(journal);
}

/* A worker is killed after an append and before its commit: who comes after finds the last commit.
 */
static void killed_worker_leaves_the_last_commit(void **state)
{
    (void)state;
    struct journal *journal;
    uint64_t first = 0;
    assert_int_equal(journal_create(&journal, ROOM), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct drops drops = {.count = 0};
        append(journal, 50, &drops);
        struct journal_state *next = journal_prepare(journal);
        next->window = 41;
        next->rings[0].next = 4711;
        next->ring_count = 1;
        journal_commit(journal);
        append(journal, 60, &drops);
        journal_prepare(journal)->window = 42;
        kill(getpid(), SIGKILL);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    journal_resume(journal);
    assert_int_equal(journal_state(journal)->window, 41);
    assert_int_equal(journal_state(journal)->rings[0].next, 4711);
    assert_int_equal(journal_next_seq(journal), 2);
    assert_int_equal(count_messages(journal, &first), 1);
    struct drops drops = {.count = 0};
    append(journal, 70, &drops);
    commit(journal, 42);
    assert_int_equal(count_messages(journal, &first), 2);
    assert_int_equal(journal_state(journal)->rings[0].next, 4711);
    journal_destroy(journal);
}

static void matchers_are_those_of_the_worker_before(void **state)
{
    static const char job[64] = "job.7";
    struct journal *journal;
    size_t length = 0;
    (void)state;
    assert_int_equal(journal_create(&journal, 1024), 0);
    journal_add_matching(journal_prepare(journal), job, "matcher", 8);
    journal_commit(journal);
    assert_null(journal_take_matching(journal, job, &length));
    journal_resume(journal);
    assert_string_equal((const char *)journal_take_matching(journal, job, &length), "matcher");
    assert_int_equal(length, 8);
    assert_null(journal_take_matching(journal, job, &length));
    journal_destroy(journal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matchers_are_those_of_the_worker_before),
        cmocka_unit_test(messages_are_kept_until_acknowledged),
        cmocka_unit_test(a_message_that_is_dropped_is_not_read_and_the_others_are),
        cmocka_unit_test(oldest_is_dropped_when_the_capacity_is_reached),
        cmocka_unit_test(random_appends_and_acks_agree_with_a_plain_list),
        cmocka_unit_test(message_that_can_never_fit_is_refused),
        cmocka_unit_test(killed_worker_leaves_the_last_commit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
