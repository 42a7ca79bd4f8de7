/* Alerts for Prometheus' Alertmanager: POST /api/v2/alerts (its api/v2/openapi.yaml). It takes what
 * fires as over when it was not told again before endsAt, so that it is told each repeat_ns. */
#include "daemon/alert/sink.h"
#include "holter/clock.h"
#include "holter/error.h"
#include "proto/json.h"

#include <curl/curl.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define REPEATS_TO_END 4u /* as Prometheus does it, rules/manager.go */
#define CONNECT_MS 5000L

/* ---- the body ------------------------------------------------------------ */

static void put_member(FILE *out, int *count, const char *name, const char *value)
{
    if (value == NULL || value[0] == '\0')
        return;
    fputs((*count)++ == 0 ? "" : ",", out);
    json_text(out, name);
    fputc(':', out);
    json_text(out, value);
}

__attribute__((format(printf, 4, 5))) static void
put_format(FILE *out, int *count, const char *name, const char *format, ...)
{
    char text[64];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    put_member(out, count, name, text);
}

/* RFC 3339, UTC. */
static void put_time(FILE *out, const char *name, uint64_t ns)
{
    char day[40];
    time_t seconds = (time_t)(ns / 1000000000);
    struct tm tm;
    if (gmtime_r(&seconds, &tm) == NULL || strftime(day, sizeof(day), "%FT%T", &tm) == 0)
        return;
    fprintf(out, ",\"%s\":\"%s.%09uZ\"", name, day, (unsigned)(ns % 1000000000));
}

/* Labels are what an alert is known by: they stay the same through the episode. */
static void put_labels(FILE *out, const struct telling *telling)
{
    const struct wire_alert *a = &telling->message->alert;
    int count = 0;
    fputs("\"labels\":{", out);
    put_member(out, &count, "alertname", a->rule == NULL || a->rule[0] == '\0' ? a->kind : a->rule);
    put_member(out, &count, "kind", a->kind);
    put_member(out, &count, "job", a->job);
    put_member(out, &count, "severity", telling->severity);
    put_member(out, &count, "host", a->host);
    if (telling->region != 0)
        put_format(out, &count, "region", "%" PRIu64, telling->region);
    put_format(out, &count, "episode", "%" PRIu64, a->id);
    fputc('}', out);
}

static void put_causes(FILE *out, int *count, const struct wire_alert *a)
{
    char text[1024];
    int used = 0;
    text[0] = '\0';
    for (uint64_t i = 0; i < a->causes_count && used >= 0 && (size_t)used < sizeof(text); i++)
        used += snprintf(text + used, sizeof(text) - (size_t)used, "%s%s %.0f %%%s%s",
                         i == 0 ? "" : "; ", a->causes[i].name, 100 * a->causes[i].share,
                         a->causes[i].text[0] == '\0' ? "" : ": ", a->causes[i].text);
    put_member(out, count, "causes", text);
}

static void put_annotations(FILE *out, const struct wire_alert *a)
{
    int count = 0;
    fputs(",\"annotations\":{", out);
    put_member(out, &count, "summary", a->title);
    put_member(out, &count, "description", a->text);
    put_member(out, &count, "advice", a->advice);
    put_causes(out, &count, a);
    put_member(out, &count, "ranks", a->ranks);
    put_member(out, &count, "nodes", a->nodes);
    put_member(out, &count, "links", a->links);
    put_member(out, &count, "locality", a->locality);
    put_member(out, &count, "sizes", a->sizes);
    if (a->rank >= 0)
        put_format(out, &count, "rank", "%" PRId64, a->rank);
    if (a->ratio > 0)
        put_format(out, &count, "ratio", "%.3gx", a->ratio);
    if (a->slope > 0 || a->slope < 0)
        put_format(out, &count, "slope", "%.3g%%/min", 100 * a->slope);
    fputc('}', out);
}

char *sink_alertmanager_body(const struct telling *telling, uint64_t repeat_ns, uint64_t now_ns)
{
    const struct wire_alert *a = &telling->message->alert;
    uint64_t begin = a->onset_ns != 0 && a->onset_ns < a->since_ns ? a->onset_ns : a->since_ns;
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL)
        return NULL;
    fputs("[{", out);
    put_labels(out, telling);
    put_annotations(out, a);
    put_time(out, "startsAt", begin);
    put_time(out, "endsAt",
             strcmp(a->state, "resolved") == 0 ? a->updated_ns
                                               : now_ns + REPEATS_TO_END * repeat_ns);
    fputs("}]", out);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* ---- sending ------------------------------------------------------------- */

struct answer {
    char text[160]; /* its begin */
    size_t length;
};

static size_t on_answer(char *bytes, size_t one, size_t length, void *user)
{
    struct answer *answer = user;
    size_t room = sizeof(answer->text) - 1 - answer->length;
    size_t taken = length < room ? length : room;
    (void)one;
    memcpy(answer->text + answer->length, bytes, taken);
    answer->length += taken;
    answer->text[answer->length] = '\0';
    return length;
}

static int on_progress(void *user, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    (void)a;
    (void)b;
    (void)c;
    (void)d;
    return sink_time_left(user) == 0; /* nonzero ends it */
}

static int create(void **out, const struct sink_rule *rule)
{
    char url[4200];
    size_t length = strlen(rule->target);
    while (length > 0 && rule->target[length - 1] == '/')
        length--;
    snprintf(url, sizeof(url), "%.*s/api/v2/alerts", (int)length, rule->target);
    CURL *curl = curl_easy_init();
    if (curl == NULL)
        return -ENOMEM;
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_answer);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "holterd");
    *out = curl;
    return 0;
}

static int post(CURL *curl, const struct telling *telling, const char *body, char *why, size_t room)
{
    struct answer answer = {.length = 0};
    char fault[CURL_ERROR_SIZE] = "";
    long status = 0;
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)sink_time_left(telling));
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, telling);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, fault);
    CURLcode code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, NULL);
    curl_slist_free_all(headers);
    if (code != CURLE_OK) {
        snprintf(why, room, "%s", fault[0] != '\0' ? fault : curl_easy_strerror(code));
        return -HOLTER_EUNREACHABLE;
    }
    if (status < 200 || status > 299) {
        snprintf(why, room, "it answers with status %ld: %s", status, answer.text);
        return -HOLTER_EDENIED;
    }
    return 0;
}

static int tell(void *state, const struct sink_rule *rule, const struct telling *telling, char *why,
                size_t room)
{
    if (sink_time_left(telling) == 0) {
        snprintf(why, room, "no time is left for it");
        return -HOLTER_ETIMEOUT;
    }
    char *body = sink_alertmanager_body(telling, rule->repeat_ns, clock_real_ns());
    if (body == NULL) {
        snprintf(why, room, "no memory");
        return -ENOMEM;
    }
    int code = post(state, telling, body, why, room);
    free(body);
    return code;
}

static void destroy(void *state)
{
    curl_easy_cleanup(state);
}

const struct sink_type sink_alertmanager = {.name = "alertmanager",
                                            .workers = 1,
                                            .repeats = 1,
                                            .create = create,
                                            .tell = tell,
                                            .destroy = destroy};
