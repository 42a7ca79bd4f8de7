/* What `holter run` passes on to its daemon about alerts and metrics. */
#include "agent/launch/run.h"

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
