/* What `holter run` passes on to its daemon about alerts and metrics. */
#include "agent/launch/run.h"
#include "agent/terminal/paths.h"
#include "agent/terminal/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int run_alert_words(const char **words, const struct run_options *o)
{
    const struct {
        const char *option, *value;
    } given[] = {{"--rules", o->rules},       {"--alert-log", o->alert_log},
                 {"--on-alert", o->on_alert}, {"--alertmanager", o->alertmanager},
                 {"--cluster", o->cluster},   {"--external-url", o->external_url},
                 {"--metrics", o->metrics}};
    int n = 0;
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        if (given[i].value == NULL)
            continue;
        words[n++] = given[i].option;
        words[n++] = given[i].value;
    }
    if (o->syslog)
        words[n++] = "--syslog";
    return n;
}

/* Have the daemon's program check one option, or without one the environment. It says what is
 * wrong.
 */
static bool run_alert_is_wrong(const char *daemon, const char *option, const char *value)
{
    const char *words[] = {daemon, "--check-rules", option, value, NULL};
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        dup2(null, STDIN_FILENO);
        dup2(null, STDOUT_FILENO);
        if (option != NULL)
            unsetenv("HOLTER_RULES");
        execv(daemon, (char *const *)(void *)words);
        _exit(127);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 2;
}

int run_alerts_check(struct run_options *o)
{
    char daemon[PATH_MAX];
    const char *rules = getenv("HOLTER_RULES");
    const struct {
        const char *option, **value;
    } given[] = {{"--alert-log", &o->alert_log},       {"--on-alert", &o->on_alert},
                 {"--alertmanager", &o->alertmanager}, {"--cluster", &o->cluster},
                 {"--external-url", &o->external_url}, {"--metrics", &o->metrics}};
    int wrong = 0;
    if (paths_program(daemon, sizeof daemon, "holterd") < 0)
        return 0; /* reported when the daemon is started */
    if (o->rules != NULL
            ? run_alert_is_wrong(daemon, "--rules", o->rules)
            : rules != NULL && rules[0] != '\0' && run_alert_is_wrong(daemon, NULL, NULL)) {
        terminal_print("continuing with the built-in alert rules");
        o->rules = NULL;
        unsetenv("HOLTER_RULES");
        wrong++;
    }
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        if (*given[i].value == NULL ||
            !run_alert_is_wrong(daemon, given[i].option, *given[i].value))
            continue;
        terminal_print("continuing without %s", given[i].option);
        *given[i].value = NULL;
        wrong++;
    }
    return wrong;
}
