/* The facts of an alert as texts, for `holter tap` and `holter top`. */
#include "agent/cli/text/alert_facts.h"

#include "holter/plain_text.h"
#include "proto/quantity.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

struct fact_list {
    alert_fact_fn *put;
    void *user;
};

static void alert_facts_put(const struct fact_list *list, const char *name, const char *text)
{
    if (text != NULL && text[0] != '\0')
        list->put(list->user, name, text);
}

static void alert_facts_put_latency(const struct fact_list *list, const struct wire_alert *a)
{
    char text[1024] = ""; /* numbers of up to 310 digits */
    if (isfinite(a->ratio) && a->ratio > 0)
        text_append(text, sizeof text, "%s what it was, at worst %s", quantity_ratio(a->ratio).text,
                    quantity_ratio(a->ratio_worst).text);
    if (isfinite(a->slope) && fabs(a->slope) >= 0.005)
        text_append(text, sizeof text, "%s%+.0f %% a minute", text[0] ? ", " : "", 100 * a->slope);
    if (a->error_ns > 0 && a->error_ns != WIRE_ANY)
        text_append(text, sizeof text, "%sclocks within %s", text[0] ? ", " : "",
                    quantity_duration((double)a->error_ns).text);
    alert_facts_put(list, "latency", text);
}

static void alert_facts_put_cost(const struct fact_list *list, const struct wire_alert *a)
{
    char text[512];
    if (!a->culprit[0] || !isfinite(a->progress))
        return;
    snprintf(text, sizeof text, "%.0f %% of its progress, %s lost", 100 * a->progress,
             quantity_duration((double)a->lost_ns).text);
    alert_facts_put(list, "job makes", text);
}

void alert_facts_list(const struct wire_alert *alert, alert_fact_fn *put, void *user)
{
    const struct fact_list list = {put, user};
    char region[24] = "";
    if (alert->region)
        snprintf(region, sizeof region, "%" PRIu64, alert->region);
    alert_facts_put(&list, alert->culprit, alert->culprits);
    alert_facts_put(&list, "or", alert->alternatives);
    alert_facts_put_latency(&list, alert);
    alert_facts_put_cost(&list, alert);
    alert_facts_put(&list, "region", region);
    alert_facts_put(&list, "ranks", alert->ranks);
    alert_facts_put(&list, "delays", alert->victims);
    alert_facts_put(&list, "nodes", alert->nodes[0] ? alert->nodes : alert->host);
    alert_facts_put(&list, "hot links", alert->links);
    alert_facts_put(&list, "messages", alert->locality);
    alert_facts_put(&list, "sizes", alert->sizes);
}
