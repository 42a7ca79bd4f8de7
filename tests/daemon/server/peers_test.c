/* Peers by routing id and by instance, silence, and rates. */
#include "daemon/server/peers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define S UINT64_C(1000000000)

static struct peers *peers;

static int make(void **state)
{
    (void)state;
    return peers_create(&peers);
}

static int finish(void **state)
{
    (void)state;
    peers_destroy(peers);
    return 0;
}

static struct peer *add(uint32_t id, enum role role, uint64_t now)
{
    struct peer *peer = peers_add(peers, &id, sizeof(id), now);
    assert_non_null(peer);
    peer->role = role;
    return peer;
}

static void peers_are_found_by_id_and_by_instance(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 5000; i++)
        peers_set_instance(peers, add(i, ROLE_AGENT, 0), i + 1);
    for (uint32_t i = 0; i < 5000; i++) {
        struct peer *peer = peers_find(peers, &i, sizeof(i));
        assert_non_null(peer);
        assert_ptr_equal(peers_find_instance(peers, i + 1), peer);
    }
    for (uint32_t i = 0; i < 5000; i += 2)
        peers_remove(peers, peers_find(peers, &i, sizeof(i)));
    for (uint32_t i = 0; i < 5000; i++) {
        assert_int_equal(peers_find(peers, &i, sizeof(i)) != NULL, i % 2);
        assert_int_equal(peers_find_instance(peers, i + 1) != NULL, i % 2);
    }
}

static void an_agent_that_dials_again_replaces_its_older_connection(void **state)
{
    (void)state;
    peers_set_instance(peers, add(1, ROLE_AGENT, 0), 42);
    struct peer *again = add(2, ROLE_AGENT, 0);
    peers_set_instance(peers, again, 42);
    assert_ptr_equal(peers_find_instance(peers, 42), again);
    assert_null(peers_find(peers, &(uint32_t){1}, 4));
}

static void a_flood_is_stopped_and_a_journal_is_not(void **state)
{
    struct peer *peer = add(1, ROLE_AGENT, 0);
    (void)state;
    for (int i = 0; i < 2000; i++) /* 8 MiB after a reconnect */
        assert_true(peer_charge_rate(peer, 0, 4096));
    uint64_t taken = 2000;
    while (peer_charge_rate(peer, 0, 100))
        taken++;
    assert_true(taken < 100000);
    assert_true(peer_charge_rate(peer, S, 100));
    assert_false(peer_charge_rate(peer, S, SIZE_MAX));
}

static void silent_peers_are_forgotten_and_not_counted(void **state)
{
    const struct peer_limits limits = {.agent_ns = 10 * S, .client_ns = 5 * S};
    size_t agents, clients;
    (void)state;
    add(1, ROLE_AGENT, 0);
    add(2, ROLE_VIEWER, 5 * S);
    add(3, ROLE_AGENT, 5 * S);
    add(4, ROLE_OPERATOR, 6 * S);
    peers_expire(peers, 11 * S, &limits, NULL, NULL);
    peers_count(peers, 0, &agents, &clients);
    assert_int_equal(agents, 1);
    assert_int_equal(clients, 1);
    assert_null(peers_find(peers, &(uint32_t){2}, 4));
    assert_non_null(peers_find(peers, &(uint32_t){4}, 4));
}

/* It may have gone to another daemon of the fleet. */
static void an_agent_is_not_counted_any_more_before_it_is_forgotten(void **state)
{
    size_t agents, clients;
    (void)state;
    add(1, ROLE_AGENT, 0);
    add(2, ROLE_AGENT, 5 * S);
    peers_count(peers, 5 * S, &agents, &clients);
    assert_int_equal(agents, 1);
    assert_non_null(peers_find(peers, &(uint32_t){1}, 4));
}

/* Else one that sends what it may not send would be answered again and again. */
static void a_refusal_lasts_longer_than_a_connection(void **state)
{
    const struct peer_limits limits = {
        .agent_ns = 10 * S, .client_ns = 5 * S, .refused_ns = 600 * S};
    (void)state;
    add(1, ROLE_VIEWER, 0)->refused = 1;
    peers_expire(peers, 600 * S, &limits, NULL, NULL);
    assert_non_null(peers_find(peers, &(uint32_t){1}, 4));
    peers_expire(peers, 601 * S, &limits, NULL, NULL);
    assert_null(peers_find(peers, &(uint32_t){1}, 4));
}

static void there_is_a_bound(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < PEERS_MAXIMUM; i++)
        assert_non_null(peers_add(peers, &i, sizeof(i), 0));
    assert_null(peers_add(peers, "more", 5, 0));
    char longest[PEER_ID_BYTES + 1] = {0};
    assert_null(peers_add(peers, longest, sizeof(longest), 0));
}

/* An agent that is refused comes back every few seconds, each time by a connection of its own. */
static void those_that_were_refused_first_give_their_places_to_new_ones(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < PEERS_MAXIMUM; i++)
        peers_add(peers, &i, sizeof(i), i)->refused = i == 7 || i == 9;
    assert_non_null(peers_add(peers, "one", 3, PEERS_MAXIMUM));
    assert_null(peers_find(peers, &(uint32_t){7}, 4));
    assert_non_null(peers_find(peers, &(uint32_t){9}, 4));
    assert_non_null(peers_add(peers, "two", 3, PEERS_MAXIMUM));
    assert_null(peers_add(peers, "three", 5, PEERS_MAXIMUM));
}

#define WITH_PEERS(test) cmocka_unit_test_setup_teardown(test, make, finish)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_PEERS(those_that_were_refused_first_give_their_places_to_new_ones),
        WITH_PEERS(peers_are_found_by_id_and_by_instance),
        WITH_PEERS(an_agent_that_dials_again_replaces_its_older_connection),
        WITH_PEERS(a_flood_is_stopped_and_a_journal_is_not),
        WITH_PEERS(silent_peers_are_forgotten_and_not_counted),
        WITH_PEERS(an_agent_is_not_counted_any_more_before_it_is_forgotten),
        WITH_PEERS(a_refusal_lasts_longer_than_a_connection),
        WITH_PEERS(there_is_a_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
