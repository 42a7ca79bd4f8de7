/* Resolves daemon, session and keys from options, environment and defaults. */
#include "agent/launch/session_options.h"

#include "agent/terminal/terminal.h"
#include "holter/error.h"
#include "holter/segment.h"
#include "holter/session.h"
#include "proto/endpoint.h"
#include "proto/log.h"

#include <stdio.h>
#include <stdlib.h>

const char *session_options_or_environment(const char *given, const char *variable)
{
    const char *value = given != NULL ? given : getenv(variable);
    return value != NULL && *value != '\0' ? value : NULL;
}

int session_options_check_variables(int speaks)
{
    const char *ring = session_options_or_environment(NULL, "HOLTER_RING");
    const char *level = session_options_or_environment(NULL, "HOLTER_LOG");
    const struct {
        const char *name, *value, *expected;
    } wrong[] = {
        {"HOLTER_RING", ring != NULL && segment_ring_records(ring) == 0 ? ring : NULL,
         "a power of two from 1024 to 4194304"},
        {"HOLTER_LOG", level != NULL && log_level_parse(level, -1) < 0 ? level : NULL,
         "error, warn, info or debug"},
    };
    int count = 0;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        if (wrong[i].value == NULL)
            continue;
        if (speaks)
            terminal_print("continuing without %s: '%s' is not %s", wrong[i].name, wrong[i].value,
                           wrong[i].expected);
        unsetenv(wrong[i].name);
        count++;
    }
    return count;
}

static int session_options_find_daemon(char *out, size_t capacity, const char *given, char *why,
                                       size_t why_capacity)
{
    char fault[256];
    const char *daemon = session_options_or_environment(given, "HOLTER_DAEMON");
    if (daemon == NULL) {
        int rc = session_explain_default_endpoint(out, capacity, fault, sizeof fault);
        if (rc != 0)
            snprintf(why, why_capacity, "run directory: %s", fault);
        return rc;
    }
    if (endpoint_list_check(daemon, fault, sizeof fault) != 0) {
        snprintf(why, why_capacity, "daemon %s", fault);
        return -HOLTER_EUSAGE;
    }
    if (snprintf(out, capacity, "%s", daemon) >= (int)capacity) {
        snprintf(why, why_capacity, "daemon %.80s...: too long", daemon);
        return -HOLTER_EUSAGE;
    }
    return 0;
}

int session_options_resolve(struct session_place *out, const struct session_options *given,
                            char *why, size_t capacity)
{
    struct session_place place = {.keys =
                                      session_options_or_environment(given->keys, "HOLTER_KEYS")};
    const char *session = session_options_or_environment(given->session, "HOLTER_SESSION");
    int rc = session_options_find_daemon(place.daemon, sizeof place.daemon, given->daemon, why,
                                         capacity);
    if (rc != 0)
        return rc;
    if (session != NULL && !session_key_valid(session)) {
        snprintf(why, capacity, "session key \"%.40s\" is not 1 to 31 hexadecimal digits", session);
        return -HOLTER_EUSAGE;
    }
    if (session != NULL)
        snprintf(place.session, sizeof place.session, "%s", session);
    else
        session_key_of(place.daemon, place.session);
    *out = place;
    return 0;
}
