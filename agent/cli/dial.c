/* Finds the endpoint and keys of a daemon and connects a client to it. */
#include "agent/cli/dial.h"

#include "agent/terminal/terminal.h"
#include "daemon/fleet/fleet_find.h"
#include "holter/clock.h"
#include "holter/error.h"
#include "holter/session.h"
#include "proto/endpoint.h"
#include "proto/log.h"

#include <getopt.h>
#include <string.h>

#define PATIENCE_NS UINT64_C(5000000000)
/* A lease has to end, and a job to be read again. */
#define FLEET_PATIENCE_NS UINT64_C(30000000000)
#define FLEET_ASK_NS UINT64_C(1000000000)

/* Ask the fleet for the endpoint. @return 0, or the exit status */
static int dial_ask_fleet(struct dial *dial)
{
    char why[512];
    if (!fleet_is_address(dial->endpoint))
        return 0;
    memcpy(dial->fleet, dial->endpoint, sizeof dial->fleet);
    if (dial->patience_ns == PATIENCE_NS)
        dial->patience_ns = FLEET_PATIENCE_NS;
    const int code =
        fleet_find(dial->fleet, dial->endpoint, sizeof dial->endpoint, why, sizeof why);
    if (code == 0)
        return 0;
    terminal_print("%s: %s", dial->command, why);
    return code == -HOLTER_EUSAGE ? 2 : 1;
}

/* Find the endpoint and keys. @return 0, or the exit status */
static int dial_resolve(struct dial *dial, const char *connect, const char *keys)
{
    char why[512], run_dir[sizeof dial->endpoint];
    int error = 0;
    dial->named = connect != NULL;
    dial->keys_named = keys != NULL;
    if (connect && strlen(connect) < sizeof dial->endpoint)
        strcpy(dial->endpoint, connect);
    else
        error =
            connect ? -HOLTER_ERANGE : session_find_daemon(dial->endpoint, sizeof dial->endpoint);
    if (error) {
        const int found = session_explain_run_dir(run_dir, sizeof run_dir, why, sizeof why) == 0;
        terminal_print("%s: cannot look for a daemon: %s", dial->command,
                       found ? holter_strerror(error) : why);
        return connect ? 2 : 1;
    }
    const int status = dial_ask_fleet(dial);
    if (status != 0)
        return status;
    if (endpoint_check(dial->endpoint, why, sizeof why)) {
        terminal_print("%s: %s", dial->command, why);
        return 2;
    }
    if (keys && strlen(keys) < sizeof dial->keys)
        strcpy(dial->keys, keys);
    else
        error = keys ? -HOLTER_ERANGE
                     : session_find_keys(dial->keys, sizeof dial->keys, dial->endpoint);
    if (error)
        terminal_print("%s: the directory of keys: %s", dial->command, holter_strerror(error));
    return error ? 2 : 0;
}

int dial_parse(struct dial *dial, const struct command_line *line, int argc, char **argv)
{
    const char *connect = NULL, *keys = NULL;
    const struct command_option options[] = {
        {"connect", 'c', .text = &connect},
        {"keys", .text = &keys},
        {"timeout", .seconds_ns = &dial->patience_ns},
        {0},
    };
    struct command_line all = *line;
    all.more = options;
    dial->command = line->command;
    dial->role = dial->role == ROLE_NONE ? ROLE_VIEWER : dial->role;
    dial->patience_ns = PATIENCE_NS;
    int status = command_line_read(&all, argc, argv);
    if (status >= 0)
        return status;
    if (optind < argc && dial->word)
        *dial->word = argv[optind++];
    if (optind < argc) {
        terminal_print("%s: unexpected argument \"%s\"; see `holter %s --help`", dial->command,
                       argv[optind], dial->command);
        return 2;
    }
    status = dial_resolve(dial, connect, keys);
    return status ? status : -1;
}

const char *dial_job(const struct dial *dial, const char *job)
{
    return job == NULL && dial->fleet[0] != '\0' ? fleet_address_job(dial->fleet) : job;
}

int dial_open(const struct dial *dial, struct client **out)
{
    struct client_options options = {.endpoint = dial->endpoint,
                                     .key_dir = dial->keys[0] ? dial->keys : NULL,
                                     .role = dial->role};
    log_start("holter", -1);
    int error = client_create(out, &options);
    if (error == 0)
        return 0;
    terminal_print("%s: %s%s%s: %s", dial->command, dial->endpoint,
                   dial->keys[0] ? ", keys in " : "", dial->keys, holter_strerror(error));
    return error == -HOLTER_EUSAGE ? 2 : 1;
}

/* While the daemon is away the job is looked up once a second. */
static int dial_follow_fleet(struct dial *dial, struct client **client)
{
    char endpoint[sizeof dial->endpoint], why[512];
    const uint64_t now = clock_mono_ns();
    const enum client_state state = client_state(*client);
    struct client *other = NULL;
    if ((state != CLIENT_DIALLING && state != CLIENT_LOST) || now - dial->found_ns < FLEET_ASK_NS)
        return 0;
    dial->found_ns = now;
    if (fleet_find(dial->fleet, endpoint, sizeof endpoint, why, sizeof why) != 0 ||
        strcmp(endpoint, dial->endpoint) == 0)
        return 0;
    const struct client_options options = {
        .endpoint = endpoint, .key_dir = dial->keys[0] ? dial->keys : NULL, .role = dial->role};
    if (client_create(&other, &options) != 0)
        return 0;
    client_destroy(*client);
    *client = other;
    memcpy(dial->endpoint, endpoint, sizeof dial->endpoint);
    return 1;
}

int dial_moved(struct dial *dial, struct client **client)
{
    struct dial found = *dial;
    if (dial->fleet[0] != '\0')
        return dial_follow_fleet(dial, client);
    if (dial->named || client_state(*client) != CLIENT_DIALLING ||
        session_find_daemon(found.endpoint, sizeof found.endpoint) ||
        strcmp(found.endpoint, dial->endpoint) == 0 || endpoint_check(found.endpoint, NULL, 0))
        return 0;
    if (!dial->keys_named && session_find_keys(found.keys, sizeof found.keys, found.endpoint))
        return 0;
    struct client *other = NULL;
    struct client_options options = {.endpoint = found.endpoint,
                                     .key_dir = found.keys[0] ? found.keys : NULL,
                                     .role = dial->role};
    /* The keys may not exist yet: the next call tries again. */
    if (client_create(&other, &options))
        return 0;
    client_destroy(*client);
    *client = other;
    *dial = found;
    return 1;
}

int dial_wait(struct dial *dial, struct client **client)
{
    uint64_t away_since = 0;
    while (client_state(*client) != CLIENT_CONNECTED) {
        struct client_message ignored;
        int result = client_next(*client, 100, &ignored);
        if (result < 0) {
            terminal_print("%s: %s", dial->command, holter_strerror(result));
            return 1;
        }
        if (dial_is_hopeless(dial, *client, &away_since))
            return 1;
        dial_moved(dial, client);
    }
    return 0;
}

int dial_next(const struct dial *dial, struct client *client, uint64_t *since_ns,
              struct client_message *out)
{
    for (;;) {
        int result = client_next(client, 100, out);
        if (result == 1)
            return 0;
        if (result < 0)
            terminal_print("%s: %s", dial->command, holter_strerror(result));
        if (result < 0 || dial_is_hopeless(dial, client, since_ns))
            return 1;
    }
}

int dial_is_overtaken(const struct client *client, const struct wire_reply *reply)
{
    return reply->code == -HOLTER_EUNREACHABLE && client_replays(client);
}

int dial_is_hopeless(const struct dial *dial, const struct client *client, uint64_t *since_ns)
{
    uint64_t now = clock_mono_ns();
    enum client_state state = client_state(client);
    if (state == CLIENT_CONNECTED) {
        *since_ns = 0;
        return 0;
    }
    if (state == CLIENT_REFUSED) {
        terminal_print("%s: %s", dial->command, client_error(client));
        return 1;
    }
    if (*since_ns == 0)
        *since_ns = now;
    if (now - *since_ns < dial->patience_ns)
        return 0;
    if (state == CLIENT_LOST)
        terminal_print("%s: %s", dial->command, client_error(client));
    else
        terminal_print("%s: no daemon answers at %s (waited %g s)", dial->command, dial->endpoint,
                       (double)dial->patience_ns / 1e9);
    return 1;
}
