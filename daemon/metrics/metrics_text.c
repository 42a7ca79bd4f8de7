/* The page of metrics as text. */
#include "daemon/metrics/metrics_text.h"

#include "proto/utf8.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LABELS_MAXIMUM 6u

enum metrics_kind { COUNTER, GAUGE, INFO };

/* A metric: its name is without prefix and ending. */
struct family {
    const char *name;
    enum metrics_kind kind;
    const char *unit;
    const char *meaning;
    size_t offset; /* of its figure in the struct of its group */
};

#define FAMILY(group, name, kind, unit, meaning)                                                   \
    {#group "_" #name, kind, unit, meaning, offsetof(struct metrics_##group, name)},

static const struct family daemon_families[] = {
#define X(name, kind, unit, meaning) FAMILY(daemon, name, kind, unit, meaning)
    METRICS_DAEMON(X)
#undef X
};

static const struct family fleet_families[] = {
#define X(name, kind, unit, meaning) FAMILY(fleet, name, kind, unit, meaning)
    METRICS_FLEET(X)
#undef X
};

static const struct family job_families[] = {
#define X(name, kind, unit, meaning) FAMILY(job, name, kind, unit, meaning)
    METRICS_JOB(X)
#undef X
};

static const struct family agent_families[] = {
#define X(name, kind, unit, meaning) FAMILY(agent, name, kind, unit, meaning)
    METRICS_AGENT(X)
#undef X
};

/* Those that have labels of their own. */
static const struct family family_build = {"build", INFO, "", "Holter's version", 0};
static const struct family family_job = {
    "job", INFO, "", "a running job: name of its program, without folder and arguments", 0};
static const struct family family_mpi = {"job_mpi_seconds", COUNTER, "seconds",
                                         "time of the ranks in MPI calls of each class", 0};
static const struct family family_alerts = {"job_alerts", GAUGE, "", "alerts that fire now", 0};

static const char *const class_names[] = {
#define X(field, name) name,
    METRICS_CLASSES(X)
#undef X
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static double family_figure(const struct family *family, const void *group)
{
    double value;
    memcpy(&value, (const char *)group + family->offset, sizeof(value));
    return value;
}

/* What all samples of a metric end with. */
static const char *family_ending(const struct family *family)
{
    return family->kind == COUNTER ? "_total" : family->kind == INFO ? "_info" : "";
}

/* ---- formats --------------------------------------------------------------- */

const char *metrics_format_content_type(enum metrics_format format)
{
    return format == METRICS_OPENMETRICS
               ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
               : "text/plain; version=0.0.4; charset=utf-8";
}

enum metrics_format metrics_format_choose(const char *accept)
{
    return accept != NULL && strstr(accept, "application/openmetrics-text") != NULL
               ? METRICS_OPENMETRICS
               : METRICS_PROMETHEUS;
}

/* ---- samples --------------------------------------------------------------- */

struct label {
    const char *name, *value;
};

struct writer {
    FILE *out;
    enum metrics_format format;
    const struct family *family;
    struct label labels[LABELS_MAXIMUM];
    size_t label_count, common_count; /* common: those of all samples on the page */
};

/* OpenMetrics, "Escaping". What is no UTF-8 and control characters, which come from the names of
 * users, programs and hosts, are written as '?'. */
static void writer_put_text(FILE *out, const char *text)
{
    size_t length = strlen(text);
    for (size_t at = 0; at < length;) {
        size_t valid = utf8_prefix(text + at, length - at);
        for (size_t end = at + valid; at < end; at++) {
            const unsigned char c = (unsigned char)text[at];
            if (c == '\\' || c == '"' || c == '\n')
                putc_unlocked('\\', out);
            putc_unlocked(c == '\n' ? 'n' : c < 0x20 || c == 0x7f ? '?' : c, out);
        }
        if (at < length) {
            putc_unlocked('?', out);
            at++;
        }
    }
}

/* Begin a metric. The format of Prometheus has neither units nor metrics of type info, and names
 * counters by their samples. */
static void writer_put_head(struct writer *w, const struct family *family)
{
    const int is_open = w->format == METRICS_OPENMETRICS;
    const char *ending = is_open ? "" : family_ending(family);
    static const char *const types[] = {"counter", "gauge", "info"};
    const char *type = family->kind == INFO && !is_open ? "gauge" : types[family->kind];
    w->family = family;
    fprintf(w->out, "# TYPE holter_%s%s %s\n", family->name, ending, type);
    if (is_open && family->unit[0] != '\0')
        fprintf(w->out, "# UNIT holter_%s %s\n", family->name, family->unit);
    fprintf(w->out, "# HELP holter_%s%s %s\n", family->name, ending, family->meaning);
}

static void writer_add_label(struct writer *w, const char *name, const char *value)
{
    if (value != NULL && value[0] != '\0')
        w->labels[w->label_count++] = (struct label){name, value};
}

/* Whole numbers are written in full, so that counts are exact up to 2^53. */
static void writer_put_value(FILE *out, double value)
{
    const double whole = 9007199254740992.0;
    if (isinf(value))
        fputs(value > 0 ? " +Inf\n" : " -Inf\n", out);
    else if (value > -whole && value < whole && value - trunc(value) == 0)
        fprintf(out, " %.0f\n", value);
    else
        fprintf(out, " %.15g\n", value);
}

/* Write a sample with the labels so far, then forget those that are not common. */
static void writer_put_sample(struct writer *w, double value)
{
    if (!isnan(value)) {
        fprintf(w->out, "holter_%s%s", w->family->name, family_ending(w->family));
        for (size_t i = 0; i < w->label_count; i++) {
            fprintf(w->out, "%s%s=\"", i == 0 ? "{" : ",", w->labels[i].name);
            writer_put_text(w->out, w->labels[i].value);
            fputc('"', w->out);
        }
        fputs(w->label_count == 0 ? "" : "}", w->out);
        writer_put_value(w->out, value);
    }
    w->label_count = w->common_count;
}

static void writer_add_job(struct writer *w, const struct metrics_job *job)
{
    writer_add_label(w, "job_id", job->id);
    writer_add_label(w, "user", job->user);
}

/* ---- groups ---------------------------------------------------------------- */

static void text_write_daemon(struct writer *w, const struct metrics_snapshot *s)
{
    writer_put_head(w, &family_build);
    writer_add_label(w, "version", s->version);
    writer_put_sample(w, 1);
    for (size_t i = 0; i < COUNT(daemon_families); i++) {
        writer_put_head(w, &daemon_families[i]);
        writer_put_sample(w, family_figure(&daemon_families[i], &s->daemon));
    }
    for (size_t i = 0; s->fleet != NULL && i < COUNT(fleet_families); i++) {
        writer_put_head(w, &fleet_families[i]);
        writer_put_sample(w, family_figure(&fleet_families[i], s->fleet));
    }
}

static void text_write_alerts(struct writer *w, const struct metrics_job *job)
{
    for (int kind = 0; kind < RULE_KINDS; kind++) {
        for (int severity = 0; severity < (int)JOB_SEVERITIES; severity++) {
            writer_add_job(w, job);
            writer_add_label(w, "kind", rule_kind_name((enum rule_kind)kind));
            writer_add_label(w, "severity", severity_name((enum severity)severity));
            writer_put_sample(w, job->alerts[kind][severity]);
        }
    }
}

static void text_write_jobs(struct writer *w, const struct metrics_snapshot *s)
{
    writer_put_head(w, &family_job);
    for (size_t j = 0; j < s->job_count; j++) {
        writer_add_job(w, &s->jobs[j]);
        writer_add_label(w, "program", s->jobs[j].program);
        writer_put_sample(w, 1);
    }
    for (size_t i = 0; i < COUNT(job_families); i++) {
        writer_put_head(w, &job_families[i]);
        for (size_t j = 0; j < s->job_count; j++) {
            writer_add_job(w, &s->jobs[j]);
            writer_put_sample(w, family_figure(&job_families[i], &s->jobs[j]));
        }
    }
    writer_put_head(w, &family_mpi);
    for (size_t j = 0; j < s->job_count; j++) {
        for (size_t c = 0; c < COUNT(class_names); c++) {
            writer_add_job(w, &s->jobs[j]);
            writer_add_label(w, "class", class_names[c]);
            writer_put_sample(w, s->jobs[j].mpi_seconds[c]);
        }
    }
    writer_put_head(w, &family_alerts);
    for (size_t j = 0; j < s->job_count; j++)
        text_write_alerts(w, &s->jobs[j]);
}

static void text_write_agents(struct writer *w, const struct metrics_snapshot *s)
{
    for (size_t i = 0; i < COUNT(agent_families); i++) {
        writer_put_head(w, &agent_families[i]);
        for (size_t j = 0; j < s->job_count; j++) {
            const struct metrics_job *job = &s->jobs[j];
            for (size_t a = 0; a < job->agent_count; a++) {
                writer_add_job(w, job);
                writer_add_label(w, "node", job->agents[a].node);
                writer_put_sample(w, family_figure(&agent_families[i], &job->agents[a]));
            }
        }
    }
}

void metrics_text_write(FILE *out, const struct metrics_snapshot *snapshot,
                        enum metrics_format format)
{
    struct writer w = {.out = out, .format = format};
    writer_add_label(&w, "cluster", snapshot->cluster);
    w.common_count = w.label_count;
    text_write_daemon(&w, snapshot);
    text_write_jobs(&w, snapshot);
    text_write_agents(&w, snapshot);
    if (format == METRICS_OPENMETRICS)
        fputs("# EOF\n", out);
}

void metrics_snapshot_finish(struct metrics_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->job_count; i++)
        free(snapshot->jobs[i].agents);
    free(snapshot->jobs);
    *snapshot = (struct metrics_snapshot){.jobs = NULL};
}

/* ---- documentation --------------------------------------------------------- */

static void table_put_rows(FILE *out, const struct family *families, size_t count,
                           const char *labels)
{
    static const char *const kinds[] = {"counter", "gauge", "info"};
    for (size_t i = 0; i < count; i++)
        fprintf(out, "| `holter_%s%s` | %s | %s | %s |\n", families[i].name,
                family_ending(&families[i]), kinds[families[i].kind], labels, families[i].meaning);
}

void metrics_text_write_table(FILE *out)
{
    fputs("| metric | type | labels | meaning |\n| --- | --- | --- | --- |\n", out);
    table_put_rows(out, &family_build, 1, "`version`");
    table_put_rows(out, daemon_families, COUNT(daemon_families), "");
    table_put_rows(out, fleet_families, COUNT(fleet_families), "");
    table_put_rows(out, &family_job, 1, "`job_id` `user` `program`");
    table_put_rows(out, job_families, COUNT(job_families), "`job_id` `user`");
    table_put_rows(out, &family_mpi, 1, "`job_id` `user` `class`");
    table_put_rows(out, &family_alerts, 1, "`job_id` `user` `kind` `severity`");
    table_put_rows(out, agent_families, COUNT(agent_families), "`job_id` `user` `node`");
}
