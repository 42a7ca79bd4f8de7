/* Checks what is given to the session's daemon, before it is started: it refuses all of it if a
 * part is wrong, and a job is to be watched without that part. */
#include "agent/launch/run.h"
#include "agent/launch/session_options.h"
#include "agent/terminal/paths.h"
#include "agent/terminal/quiet_child.h"
#include "agent/terminal/terminal.h"
#include "holter/error.h"
#include "holter/session.h"
#include "proto/curve_keys.h"
#include "proto/endpoint.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

/* Have the daemon's program check one option, or without one the environment. It says what is
 * wrong. */
static bool run_check_is_wrong(const char *daemon, const char *option, const char *value)
{
    const char *words[] = {daemon, "--check-rules", option, value, NULL};
    pid_t pid = quiet_child_fork(QUIET_INPUT | QUIET_OUTPUT);
    if (pid == 0) {
        if (option != NULL)
            unsetenv("HOLTER_RULES");
        execv(daemon, (char *const *)(void *)words);
        _exit(127);
    }
    return quiet_child_wait(pid) == 2;
}

/* @return how much is wrong */
static int run_check_rules(struct run_options *o, const char *daemon)
{
    const char *rules = session_options_or_environment(NULL, "HOLTER_RULES");
    if (o->rules != NULL ? !run_check_is_wrong(daemon, "--rules", o->rules)
                         : rules == NULL || !run_check_is_wrong(daemon, NULL, NULL))
        return 0;
    terminal_print("continuing with the built-in alert rules");
    o->rules = NULL;
    unsetenv("HOLTER_RULES");
    return 1;
}

/* An endpoint, as an option or else as a variable. @return how much is wrong */
static int run_check_endpoint(const char **option, const char *name, const char *variable)
{
    char why[256];
    const char *given =
        variable == NULL ? *option : session_options_or_environment(*option, variable);
    if (given == NULL || endpoint_list_check(given, why, sizeof why) == 0)
        return 0;
    terminal_print("continuing without %s: %s", *option != NULL ? name : variable, why);
    *option = NULL;
    if (variable != NULL)
        unsetenv(variable);
    return 1;
}

/* A key that does not fit the name of a session is not used. @return how much is wrong */
static int run_check_session(void)
{
    const char *key = session_options_or_environment(NULL, "HOLTER_SESSION");
    if (key == NULL || session_key_valid(key))
        return 0;
    terminal_print("continuing without HOLTER_SESSION: \"%.40s\" is not 1 to 31 hexadecimal digits",
                   key);
    unsetenv("HOLTER_SESSION");
    return 1;
}

/* Keys that a daemon of our own cannot use, as those of a user of another daemon: it gets new ones
 * where it needs any. @return how much is wrong */
static int run_check_keys(struct run_options *o)
{
    static const enum role roles[] = {ROLE_SERVER, ROLE_AGENT, ROLE_VIEWER, ROLE_OPERATOR};
    const char *keys = session_options_or_environment(o->keys, "HOLTER_KEYS");
    int code = 0;
    if (keys == NULL || session_options_or_environment(o->daemon, "HOLTER_DAEMON") != NULL)
        return 0;
    for (size_t i = 0; code == 0 && i < sizeof roles / sizeof *roles; i++) {
        struct curve_keys loaded;
        code = curve_load(keys, roles[i], &loaded);
        curve_wipe(&loaded);
        if (code != 0)
            terminal_print("continuing without %s: %s/%s.key: %s",
                           o->keys != NULL ? "--keys" : "HOLTER_KEYS", keys, role_name(roles[i]),
                           holter_strerror(code));
    }
    if (code == 0)
        return 0;
    o->keys = NULL;
    unsetenv("HOLTER_KEYS");
    return 1;
}

int run_options_check(struct run_options *o)
{
    char daemon[PATH_MAX];
    const struct {
        const char *option, **value;
    } given[] = {{"--alert-log", &o->alert_log},
                 {"--on-alert", &o->on_alert},
                 {"--alertmanager", &o->alertmanager},
                 {"--cluster", &o->cluster},
                 {"--external-url", &o->external_url},
                 {"--metrics", &o->metrics},
                 {"--window", &o->window},
                 {"--max-size", &o->max_size}};
    int wrong = run_check_endpoint(&o->listen, "--listen", NULL) +
                run_check_endpoint(&o->daemon, "--daemon", "HOLTER_DAEMON") + run_check_session() +
                session_options_check_variables(true);
    wrong += run_check_keys(o);
    if (paths_program(daemon, sizeof daemon, "holterd") < 0)
        return wrong; /* reported when the daemon is started */
    wrong += run_check_rules(o, daemon);
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        if (*given[i].value == NULL ||
            !run_check_is_wrong(daemon, given[i].option, *given[i].value))
            continue;
        terminal_print("continuing without %s", given[i].option);
        *given[i].value = NULL;
        wrong++;
    }
    return wrong;
}
