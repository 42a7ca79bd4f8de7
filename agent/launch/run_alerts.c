/* What `holter run` passes on to its daemon about alerts. */
#include "agent/launch/run.h"
#include "agent/terminal/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int run_alert_words(const char **words, const struct run_options *o)
{
    const struct {
        const char *option, *value;
    } given[] = {{"--rules", o->rules},
                 {"--alert-log", o->alert_log},
                 {"--on-alert", o->on_alert},
                 {"--alertmanager", o->alertmanager}};
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

int run_alerts_check(const struct run_options *o)
{
    char daemon[PATH_MAX];
    const char *words[RUN_ALERT_WORDS + 3] = {daemon, "--check-rules"};
    const char *rules = getenv("HOLTER_RULES");
    int status = 0;
    if (run_alert_words(words + 2, o) == 0 && (rules == NULL || rules[0] == '\0'))
        return 0;
    if (paths_program(daemon, sizeof daemon, "holterd") < 0)
        return 0; /* reported when the daemon is started */
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        dup2(null, STDIN_FILENO);
        dup2(null, STDOUT_FILENO);
        execv(daemon, (char *const *)(void *)words);
        _exit(127);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 2 ? 2 : 0;
}
