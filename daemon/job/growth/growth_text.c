/* What an alert about growing latency says: its title and its text, made of the evidence. */
#include "daemon/job/growth/growth_state.h"
#include "proto/quantity.h"
#include "proto/rank_spans.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define LATE (sizeof("are late") - 1) /* longer causes leave less of the title to names */

void growth_append(struct growth_text *text, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int n = vsnprintf(text->out + text->length, text->capacity - text->length, format, list);
    va_end(list);
    text->length += n > 0 ? (size_t)n : 0;
    if (text->length >= text->capacity)
        text->length = text->capacity - 1;
}

/* ---- scopes -------------------------------------------------------------- */

static void text_scope_name(const struct job_growth *g, const struct scope *scope, char *out,
                            size_t capacity)
{
    switch (scope->kind) {
    case SCOPE_NODE:
        snprintf(out, capacity, "%s", attribution_node_name(g->attribution, scope->a));
        break;
    case SCOPE_NODE_PAIR:
        snprintf(out, capacity, "%s%s%s", attribution_node_name(g->attribution, scope->a),
                 scope->direction == SCOPE_OUT ? " to " : " and ",
                 attribution_node_name(g->attribution, scope->b));
        break;
    case SCOPE_LINK:
        out[0] = '\0';
        if (g->options.network != NULL)
            job_network_name_link(g->options.network, scope->a, out, capacity);
        break;
    case SCOPE_RANK:
        snprintf(out, capacity, "%" PRIu32, scope->a);
        break;
    default:
        snprintf(out, capacity, "all messages %s nodes",
                 scope->kind == SCOPE_INTER ? "between" : "within");
    }
}

void growth_list_scopes(const struct job_growth *g, const struct scope *scopes, uint32_t count,
                        char *out, size_t capacity)
{
    struct growth_text text = {out, capacity, 0};
    out[0] = '\0';
    for (uint32_t i = 0; i < count; i++) {
        char name[256], more[32] = "";
        text_scope_name(g, &scopes[i], name, sizeof(name));
        if (i + 1 < count)
            snprintf(more, sizeof(more), " and %" PRIu32 " more", count - i);
        if (i > 0 && text.length + strlen(name) + strlen(more) + 6 > capacity) {
            growth_append(&text, " and %" PRIu32 " more", count - i);
            return;
        }
        growth_append(&text, "%s%s", i == 0 ? "" : i + 1 == count ? " and " : ", ", name);
    }
}

/* "node", "nodes", "link", ... as they stand before their names; not before a name like node3. */
static const char *text_kind(const struct scope_finding *f, const char *names)
{
    const int several = f->member_count > 1;
    const int named = !several && strncmp(names, "node", 4) == 0;
    switch (f->members[0].kind) {
    case SCOPE_NODE:
        if (f->members[0].direction == SCOPE_WITHIN)
            return several ? "within nodes " : named ? "within " : "within node ";
        return several ? "nodes " : named ? "" : "node ";
    case SCOPE_NODE_PAIR:
        return f->members[0].direction == SCOPE_OUT ? "from " : "between ";
    case SCOPE_LINK:
        return several ? "links " : "link ";
    case SCOPE_RANK:
        return several ? "ranks " : "rank ";
    case SCOPE_INTRA:
        return "within nodes";
    case SCOPE_INTER:
        return "between nodes";
    case SCOPE_JOB:
    default:
        return "everywhere";
    }
}

/* What the culprit does, as in titles. @return NULL: nothing is known but longer messages */
static const char *text_of_cause(const struct growth_episode *e)
{
    const int several = e->finding.member_count > 1;
    const char *phrase = e->evidence.cause_count == 0
                             ? NULL
                             : attribution_cause_phrase(e->evidence.causes[0].name, several);
    if (phrase != NULL || e->finding.part == SCOPE_TRANSFER)
        return phrase;
    return several ? "are late" : "is late";
}

static void text_clock(uint64_t time_ns, char out[9])
{
    const time_t at = (time_t)(time_ns / 1000000000u);
    struct tm day;
    gmtime_r(&at, &day);
    strftime(out, 9, "%H:%M:%S", &day);
}

/* ---- title and text ------------------------------------------------------ */

/* @param when    " since 12:00:00", or from when to when
 * @param past    the ratio was this at worst, and is back */
static void text_write_title(const struct job_growth *g, struct growth_episode *e, const char *when,
                             int past, int over)
{
    struct growth_text title = {e->title, sizeof(e->title), 0};
    char names[57], progress[56] = "";
    const char *cause = text_of_cause(e);
    struct quantity times = quantity_ratio(past ? e->evidence.ratio_worst : e->evidence.ratio);
    const size_t longer = cause == NULL || strlen(cause) <= LATE ? 0 : strlen(cause) - LATE;
    growth_list_scopes(g, e->finding.members, growth_named(&e->finding), names,
                       sizeof(names) - longer);
    if (e->evidence.progress < WIRE_PROGRESS_SLOWED)
        snprintf(progress, sizeof(progress), "; the job %s %.0f %% of its progress",
                 over ? "made" : "makes", 100 * e->evidence.progress);
    growth_append(&title, "%s%s%s%s: ", text_kind(&e->finding, names), names,
                  cause == NULL ? "" : " ", cause == NULL ? "" : cause);
    if (e->finding.part == SCOPE_WORK)
        growth_append(&title, "the same work %s %s as long%s", past ? "took up to" : "takes",
                      times.text, when);
    else if (e->finding.part == SCOPE_LATENESS)
        growth_append(&title, "others %s %s as long%s", past ? "waited up to" : "wait", times.text,
                      when);
    else
        growth_append(&title, "messages %s %s as long%s", past ? "took up to" : "take", times.text,
                      when);
    if (title.length + strlen(progress) < sizeof(e->title))
        growth_append(&title, "%s", progress);
}

void growth_write_title(const struct job_growth *g, struct growth_episode *e)
{
    char clock[9], when[32];
    /* the alert fires until the ratio has stayed low for some time */
    const int back = e->evidence.ratio < e->rule->clear;
    text_clock(e->evidence.onset_ns, clock);
    snprintf(when, sizeof(when), " since %s%s", clock, back ? ", not now" : "");
    text_write_title(g, e, when, back, 0);
}

void growth_write_end(const struct job_growth *g, struct growth_episode *e, uint64_t now_ns)
{
    char from[9], to[9], when[32];
    const double length_ns = (double)(now_ns - e->evidence.onset_ns);
    text_clock(e->evidence.onset_ns, from);
    text_clock(now_ns, to);
    snprintf(when, sizeof(when), ", %s to %s", from, to);
    e->evidence.ratio = e->finding.ratio;
    e->evidence.ratio_worst = e->finding.worst;
    if (!isnan(e->evidence.progress) && length_ns > 0)
        e->evidence.progress = fmax(1 - (double)e->evidence.lost_ns / length_ns, 0);
    text_write_title(g, e, when, 1, 1);
    growth_write_text(e);
}

static const char *text_of_direction(const struct scope *scope)
{
    if ((scope->kind != SCOPE_NODE && scope->kind != SCOPE_RANK) ||
        scope->direction == SCOPE_WITHIN)
        return "";
    return scope->direction == SCOPE_OUT  ? " that it sends"
           : scope->direction == SCOPE_IN ? " that it receives"
                                          : " that it sends and receives";
}

static void text_append_cost(struct growth_text *text, const struct growth_episode *e)
{
    if (isnan(e->evidence.progress))
        return;
    if (e->evidence.progress >= WIRE_PROGRESS_SLOWED) {
        growth_append(text, "; the job makes progress as before");
        return;
    }
    growth_append(text, "; the job makes %.0f %% of its progress", 100 * e->evidence.progress);
    if (e->evidence.lost_ns >= 60000000000u)
        growth_append(text, " and has lost %.1f min", (double)e->evidence.lost_ns / 60e9);
    else
        growth_append(text, " and has lost %.1f s", (double)e->evidence.lost_ns / 1e9);
}

void growth_write_text(struct growth_episode *e)
{
    const struct alert_evidence *v = &e->evidence;
    struct growth_text text = {e->text, sizeof(e->text), 0};
    char clock[9];
    text_clock(v->onset_ns, clock);
    struct quantity now = quantity_ratio(v->ratio);
    if (e->finding.part == SCOPE_WORK)
        growth_append(&text, "since %s UTC the same work takes %s as long as before", clock,
                      now.text);
    else if (e->finding.part == SCOPE_LATENESS)
        growth_append(&text, "since %s UTC others wait %s as long for %s as before", clock,
                      now.text, e->finding.member_count == 1 ? "it" : "them");
    else
        growth_append(&text, "since %s UTC messages%s take %s as long as before", clock,
                      e->finding.member_count == 1 ? text_of_direction(&e->finding.members[0]) : "",
                      now.text);
    growth_append(&text, ", at worst %s", quantity_ratio(v->ratio_worst).text);
    text_append_cost(&text, e);
    if (v->alternatives[0] != '\0')
        growth_append(&text, "; no message tells it apart from %s", v->alternatives);
    if (v->victims[0] != '\0')
        growth_append(&text, "; delayed: %s %s", rank_spans_noun(v->victims), v->victims);
    if (v->sizes[0] != '\0')
        growth_append(&text, "; messages of %s", v->sizes);
    if (v->links[0] != '\0')
        growth_append(&text, "; hot: %s", v->links);
    for (size_t i = 0; i < v->cause_count; i++)
        growth_append(&text, "; %s %.0f %%: %s", v->causes[i].name, 100 * v->causes[i].share,
                      v->causes[i].text);
}
