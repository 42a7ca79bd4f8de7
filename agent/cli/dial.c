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
#include <time.h>

#define PATIENCE_NS UINT64_C(5000000000)
/* Longer for fleets: a lease has to expire, and another daemon to read the job. */
#define FLEET_PATIENCE_NS UINT64_C(30000000000)
#define FLEET_ASK_NS UINT64_C(1000000000)
#define FLEET_JOB_NS UINT64_C(500000000) /* between two questions for a job that is to come */

int dial_find_job(struct dial *dial, char *why, size_t capacity)
{
    const int once = dial->once != NULL && *dial->once;
    const uint64_t begun = clock_mono_ns(), *most = once ? &dial->patience_ns : dial->waits_ns;
    int code, is_reported = 0;
    while ((code = fleet_find(dial->fleet, dial->endpoint, sizeof dial->endpoint, why, capacity)) ==
               -HOLTER_ENOJOB &&
           most != NULL && (*most == 0 || clock_mono_ns() - begun < *most)) {
        const struct timespec pause = {0, (long)FLEET_JOB_NS};
        if (!is_reported++)
            terminal_print("%s: %s; waiting for it", dial->command, why);
        nanosleep(&pause, NULL);
    }
    return code;
}

/* Ask the fleet for the endpoint. @return 0, or the exit status */
static int dial_ask_fleet(struct dial *dial)
{
    char why[512];
    if (!fleet_is_address(dial->endpoint))
        return 0;
    if (dial->job == NULL || *dial->job == NULL || **dial->job == '\0')
        memcpy(dial->fleet, dial->endpoint, sizeof dial->fleet);
    else if (fleet_address_set_job(dial->endpoint, *dial->job, dial->fleet, sizeof dial->fleet)) {
        terminal_print("%s: %s", dial->command, holter_strerror(-HOLTER_ERANGE));
        return 2;
    }
    if (dial->patience_ns == 0)
        dial->patience_ns = FLEET_PATIENCE_NS;
    const int code = dial_find_job(dial, why, sizeof why);
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
    if (dial->patience_ns == 0)
        dial->patience_ns = PATIENCE_NS;
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
    dial->patience_ns = 0; /* not given: --timeout 0 is refused */
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
    if (dial->live ? !*dial->live : dial->for_recording && *dial->word) {
        if ((!connect && !keys) || !*dial->word)
            return -1;
        terminal_print("%s: --%s is of a daemon, and %s is a recording", dial->command,
                       connect ? "connect" : "keys", *dial->word);
        return 2;
    }
    status = dial_resolve(dial, connect, keys);
    return status ? status : -1;
}

const char *dial_job(const struct dial *dial, const char *job)
{
    return job == NULL && dial->fleet[0] != '\0' ? fleet_address_job(dial->fleet) : job;
}

static int dial_create_client(const struct dial *dial, struct client **out)
{
    const struct client_options options = {.endpoint = dial->endpoint,
                                           .key_dir = dial->keys[0] ? dial->keys : NULL,
                                           .role = dial->role,
                                           .in_fleet = dial->fleet[0] != '\0'};
    return client_create(out, &options);
}

int dial_open(const struct dial *dial, struct client **out)
{
    log_start("holter", -1);
    int error = dial_create_client(dial, out);
    if (error == 0)
        return 0;
    terminal_print("%s: %s%s%s: %s", dial->command, dial->endpoint,
                   dial->keys[0] ? ", keys in " : "", dial->keys, holter_strerror(error));
    return error == -HOLTER_EUSAGE ? 2 : 1;
}

/* Find another daemon that replaces one that is away: the one that holds the job of the fleet now,
 * which is asked for once a second, or a new one in the run directory. @return 1 if out was set */
static int dial_find_other(struct dial *dial, const struct client *client, struct dial *out)
{
    const enum client_state state = client_state(client);
    const uint64_t now = clock_mono_ns();
    *out = *dial;
    if (dial->fleet[0] != '\0') {
        if ((state != CLIENT_DIALLING && state != CLIENT_LOST && !client_lacks_job(client)) ||
            now - dial->found_ns < FLEET_ASK_NS)
            return 0;
        dial->found_ns = out->found_ns = now;
        /* The job that was followed need not be the only one any more. */
        if (dial_job(dial, NULL) == NULL && client_job(client)[0] != '\0' &&
            fleet_address_set_job(dial->fleet, client_job(client), out->fleet, sizeof out->fleet) !=
                0)
            return 0;
        const int code = fleet_find(out->fleet, out->endpoint, sizeof out->endpoint, dial->why,
                                    sizeof dial->why);
        if (code == 0)
            dial->why[0] = out->why[0] = '\0';
        return code == 0 && strcmp(out->endpoint, dial->endpoint) != 0;
    }
    if (dial->named || state != CLIENT_DIALLING ||
        session_find_daemon(out->endpoint, sizeof out->endpoint) ||
        strcmp(out->endpoint, dial->endpoint) == 0 || endpoint_check(out->endpoint, NULL, 0))
        return 0;
    return dial->keys_named || session_find_keys(out->keys, sizeof out->keys, out->endpoint) == 0;
}

int dial_moved(struct dial *dial, struct client **client)
{
    struct dial found;
    struct client *other = NULL;
    if (client_state(*client) == CLIENT_CONNECTED)
        dial->why[0] = '\0';
    /* The keys may not exist yet: then the next call tries again. */
    if (!dial_find_other(dial, *client, &found) || dial_create_client(&found, &other) != 0)
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
    dial->why[0] = '\0';
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
    const char *more = dial->why[0] != '\0' ? "; " : "";
    if (state == CLIENT_LOST)
        terminal_print("%s: %s%s%s", dial->command, client_error(client), more, dial->why);
    else
        terminal_print("%s: no daemon answers at %s%s%s (waited %g s)%s%s", dial->command,
                       dial->endpoint,
                       dial->keys[0] != '\0'                 ? " with the keys in "
                       : endpoint_is_private(dial->endpoint) ? ""
                                                             : " without keys",
                       dial->keys, (double)dial->patience_ns / 1e9, more, dial->why);
    return 1;
}
