/* Alerts for Prometheus' Alertmanager: POST /api/v2/alerts (its api/v2/openapi.yaml). It
 * takes an alert as over that was not repeated before endsAt, so it is repeated each repeat_ns. */
#include "daemon/alert/sink.h"
#include "holter/clock.h"
#include "holter/error.h"
#include "proto/quantity.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if HOLTER_CURL
#include <curl/curl.h>
#endif

#define LATE "it did not answer in time"

#define REPEATS_TO_END 4u /* as Prometheus does it, rules/manager.go */
#define CONNECT_MS 5000L

/* ---- the body ------------------------------------------------------------ */

__attribute__((format(printf, 4, 5))) static void
alertmanager_put_format(FILE *out, int *count, const char *name, const char *format, ...)
{
    char text[64];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    sink_put_member(out, count, name, text);
}

/* RFC 3339, UTC. */
static void alertmanager_put_time(FILE *out, const char *name, uint64_t ns)
{
    char day[40];
    time_t seconds = (time_t)(ns / 1000000000);
    struct tm tm;
    if (gmtime_r(&seconds, &tm) == NULL || strftime(day, sizeof(day), "%FT%T", &tm) == 0)
        return;
    fprintf(out, ",\"%s\":\"%s.%09uZ\"", name, day, (unsigned)(ns % 1000000000));
}

static void alertmanager_put_causes(FILE *out, int *count, const struct wire_alert *a)
{
    char text[1024];
    int used = 0;
    text[0] = '\0';
    for (uint64_t i = 0; i < a->causes_count && used >= 0 && (size_t)used < sizeof(text); i++)
        used += snprintf(text + used, sizeof(text) - (size_t)used, "%s%s %.0f %%%s%s",
                         i == 0 ? "" : "; ", a->causes[i].name, 100 * a->causes[i].share,
                         a->causes[i].text[0] == '\0' ? "" : ": ", a->causes[i].text);
    sink_put_member(out, count, "causes", text);
}

static void alertmanager_put_annotations(FILE *out, const struct wire_alert *a)
{
    int count = 0;
    fputs(",\"annotations\":{", out);
    sink_put_member(out, &count, "summary", a->title);
    sink_put_member(out, &count, "description", a->text);
    sink_put_member(out, &count, "advice", a->advice);
    alertmanager_put_causes(out, &count, a);
    sink_put_member(out, &count, "ranks", a->ranks);
    sink_put_member(out, &count, "nodes", a->nodes);
    sink_put_member(out, &count, "links", a->links);
    sink_put_member(out, &count, "locality", a->locality);
    sink_put_member(out, &count, "sizes", a->sizes);
    if (a->rank >= 0)
        alertmanager_put_format(out, &count, "rank", "%" PRId64, a->rank);
    sink_put_member(out, &count, "culprit", a->culprit);
    sink_put_member(out, &count, "culprits", a->culprits);
    sink_put_member(out, &count, "victims", a->victims);
    if (a->ratio > 0)
        alertmanager_put_format(out, &count, "ratio", "%s", quantity_ratio(a->ratio).text);
    if (a->ratio_worst > 0)
        alertmanager_put_format(out, &count, "ratio_worst", "%s",
                                quantity_ratio(a->ratio_worst).text);
    if (a->culprit != NULL && a->culprit[0] != '\0' && a->progress >= 0)
        alertmanager_put_format(out, &count, "progress", "%.0f%%", 100 * a->progress);
    if (a->slope > 0 || a->slope < 0)
        alertmanager_put_format(out, &count, "slope", "%.3g%%/min", 100 * a->slope);
    fputc('}', out);
}

char *sink_alertmanager_body(const struct sink_delivery *delivery, uint64_t repeat_ns,
                             uint64_t now_ns)
{
    const struct wire_alert *a = &delivery->message->alert;
    uint64_t begin = a->onset_ns != 0 && a->onset_ns < a->since_ns ? a->onset_ns : a->since_ns;
    const uint64_t end =
        strcmp(a->state, "resolved") == 0 ? a->updated_ns : now_ns + REPEATS_TO_END * repeat_ns;
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL)
        return NULL;
    fputs("[{", out);
    sink_put_labels(out, delivery);
    sink_put_generator(out, delivery);
    alertmanager_put_annotations(out, a);
    alertmanager_put_time(out, "startsAt", begin);
    /* One that ends before it begins, as a clock was set back, is refused. */
    alertmanager_put_time(out, "endsAt", end > begin ? end : begin);
    fputs("}]", out);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

#if HOLTER_CURL

/* ---- sending ------------------------------------------------------------- */

struct response {
    char text[160]; /* the begin of the body */
    size_t length;
};

static size_t alertmanager_on_response(char *bytes, size_t one, size_t length, void *user)
{
    struct response *response = user;
    size_t capacity = sizeof(response->text) - 1 - response->length;
    size_t taken = length < capacity ? length : capacity;
    (void)one;
    memcpy(response->text + response->length, bytes, taken);
    response->length += taken;
    response->text[response->length] = '\0';
    return length;
}

static int alertmanager_on_progress(void *user, curl_off_t a, curl_off_t b, curl_off_t c,
                                    curl_off_t d)
{
    (void)a;
    (void)b;
    (void)c;
    (void)d;
    return sink_time_left(user) == 0; /* nonzero ends it */
}

static int alertmanager_create(void **out, const struct sink_rule *rule)
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
#if LIBCURL_VERSION_NUM >= 0x075500 /* 7.85, which deprecates the other one */
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
#endif
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, alertmanager_on_response);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, alertmanager_on_progress);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "holterd");
    *out = curl;
    return 0;
}

static int alertmanager_post(CURL *curl, const struct sink_delivery *delivery, const char *body,
                             char *why, size_t capacity)
{
    struct response response = {.length = 0};
    char fault[CURL_ERROR_SIZE] = "";
    long status = 0;
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)sink_time_left(delivery));
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &response);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, delivery);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, fault);
    CURLcode code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, NULL);
    curl_slist_free_all(headers);
    /* What libcurl says then depends on what it was about to do. */
    if (code != CURLE_OK && sink_time_left(delivery) == 0) {
        snprintf(why, capacity, LATE);
        return -HOLTER_ETIMEOUT;
    }
    if (code != CURLE_OK) {
        snprintf(why, capacity, "%s", fault[0] != '\0' ? fault : curl_easy_strerror(code));
        return -HOLTER_EUNREACHABLE;
    }
    if (status < 200 || status > 299) {
        snprintf(why, capacity, "it answers with status %ld: %s", status, response.text);
        return -HOLTER_EDENIED;
    }
    return 0;
}

static int alertmanager_send(void *state, const struct sink_rule *rule,
                             const struct sink_delivery *delivery, char *why, size_t capacity)
{
    if (sink_time_left(delivery) == 0) {
        snprintf(why, capacity, LATE);
        return -HOLTER_ETIMEOUT;
    }
    char *body = sink_alertmanager_body(delivery, rule->repeat_ns, clock_real_ns());
    if (body == NULL) {
        snprintf(why, capacity, "no memory");
        return -ENOMEM;
    }
    int code = alertmanager_post(state, delivery, body, why, capacity);
    free(body);
    return code;
}

static void alertmanager_destroy(void *state)
{
    curl_easy_cleanup(state);
}

const struct sink_operations sink_alertmanager = {.name = "alertmanager",
                                                  .workers = 1,
                                                  .repeats = 1,
                                                  .create = alertmanager_create,
                                                  .send = alertmanager_send,
                                                  .destroy = alertmanager_destroy};

#else

/* A build without libcurl: rules and options that name an Alertmanager are refused, see
 * entry_is_target(), so that nothing is ever delivered. */
const struct sink_operations sink_alertmanager = {.name = "alertmanager"};

#endif
