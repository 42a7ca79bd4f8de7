/* Prints the summary of a recording as JSON. */
#include "daemon/storage/recordings/info.h"
#include "holter/call.h"
#include "proto/json.h"

#include <inttypes.h>

static void info_json_text(FILE *out, const char *name, const char *value)
{
    fprintf(out, "\"%s\":", name);
    json_text(out, value);
    fputc(',', out);
}

static void info_json_number(FILE *out, const char *name, uint64_t value)
{
    fprintf(out, "\"%s\":%" PRIu64, name, value);
    json_digits(out, name, value);
    fputc(',', out);
}

/* The last one of an object. */
static void info_json_last_number(FILE *out, const char *name, uint64_t value)
{
    fprintf(out, "\"%s\":%" PRIu64, name, value);
    json_digits(out, name, value);
    fputc('}', out);
}

static void info_json_print_calls(FILE *out, const struct info *i)
{
    const char *comma = "";
    fputs("\"calls\":[", out);
    for (unsigned call = 0; call < INFO_CALLS; call++) {
        const struct recorded_calls *c = &i->calls[call];
        if (c->calls == 0 && c->time_ns == 0)
            continue;
        fprintf(out, "%s{\"call\":%u,\"name\":", comma, call);
        json_text(out, call_name((uint16_t)call));
        fprintf(out,
                ",\"calls\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"bytes_in\":%" PRIu64
                ",\"time_ns\":%" PRIu64 "}",
                c->calls, c->bytes, c->bytes_in, c->time_ns);
        comma = ",";
    }
    fputs("],", out);
}

static void info_json_print_alerts(FILE *out, const struct info *i)
{
    info_json_number(out, "alerts_total", i->alert_total);
    fputs("\"alerts\":[", out);
    for (size_t n = 0; n < i->alert_count; n++) {
        const struct info_alert *a = &i->alerts[n];
        fputs(n > 0 ? ",{" : "{", out);
        info_json_number(out, "id", a->id);
        info_json_text(out, "kind", a->kind);
        info_json_text(out, "state", a->state);
        info_json_text(out, "severity", a->severity);
        info_json_text(out, "title", a->title);
        info_json_number(out, "since_ns", a->since_ns);
        info_json_last_number(out, "updated_ns", a->updated_ns);
    }
    fputs("],", out);
}

static void info_json_print_captures(FILE *out, const struct info *i)
{
    info_json_number(out, "captures_total", i->capture_total);
    fputs("\"captures\":[", out);
    for (size_t n = 0; n < i->capture_count; n++) {
        const struct info_capture *c = &i->captures[n];
        fputs(n > 0 ? ",{" : "{", out);
        info_json_number(out, "id", c->id);
        info_json_text(out, "reason", c->reason);
        info_json_number(out, "alert", c->alert);
        info_json_number(out, "nodes", c->nodes);
        info_json_number(out, "answered", c->answered);
        info_json_number(out, "records", c->records);
        info_json_last_number(out, "at_ns", c->at_ns);
    }
    fputs("],", out);
}

static void info_json_print_holes(FILE *out, const struct info *i)
{
    info_json_number(out, "holes_total", i->hole_total);
    fputs("\"holes\":[", out);
    for (size_t n = 0; n < i->hole_total && n < INFO_HOLES; n++) {
        fputs(n > 0 ? ",{" : "{", out);
        info_json_number(out, "begin_ns", i->holes[n].begin_ns);
        info_json_number(out, "end_ns", i->holes[n].end_ns);
        fprintf(out, "\"messages\":%" PRIu64 "}", i->holes[n].missing);
    }
    fputs("],", out);
}

static void info_json_print_damages(FILE *out, const struct info *i)
{
    info_json_number(out, "damages_total", i->damage_count);
    fputs("\"damages\":[", out);
    for (size_t n = 0; n < i->damage_count && n < INFO_DAMAGES; n++) {
        fputs(n > 0 ? ",{" : "{", out);
        info_json_text(out, "text", i->damages[n].text);
        info_json_number(out, "after_message", i->damages[n].after);
        fprintf(out, "\"messages\":%" PRIu64 "}", i->damages[n].messages);
    }
    fputs("]", out);
}

static void info_json_print_hosts(FILE *out, const struct info *i)
{
    info_json_number(out, "hosts_total", i->host_total);
    fputs("\"hosts\":[", out);
    for (size_t h = 0; h < i->host_count; h++) {
        fputs(h > 0 ? "," : "", out);
        json_text(out, i->hosts[h]);
    }
    fputs("],", out);
}

static void info_json_print_job(FILE *out, const struct info *i)
{
    info_json_text(out, "file", i->path);
    info_json_number(out, "file_bytes", i->file_bytes);
    info_json_number(out, "schema", (uint64_t)i->version);
    info_json_text(out, "holter", i->holter);
    info_json_text(out, "job", i->job);
    info_json_text(out, "state", i->state);
    info_json_number(out, "cut_short", (uint64_t)i->cut_short);
    info_json_number(out, "stopped_ns", i->stop.at_ns);
    info_json_text(out, "stopped_why", i->stop.why);
    info_json_text(out, "app", i->app);
    info_json_text(out, "command", i->command);
    info_json_text(out, "mpi", i->mpi);
    info_json_text(out, "launcher", i->launcher);
    info_json_text(out, "user", i->user);
    info_json_number(out, "world", i->world);
    info_json_number(out, "ranks_seen", i->ranks_seen);
    info_json_number(out, "rank_group", i->rank_group);
    info_json_print_hosts(out, i);
    info_json_text(out, "network", i->network);
    info_json_text(out, "network_source", i->network_source);
}

void info_print_json(FILE *out, const struct info *i)
{
    fputc('{', out);
    info_json_print_job(out, i);
    info_json_number(out, "begin_ns", i->begin_ns);
    info_json_number(out, "end_ns", i->end_ns);
    info_json_number(out, "window_ns", i->window_ns);
    info_json_number(out, "windows", i->windows);
    info_json_number(out, "part", i->part);
    info_json_number(out, "removed_before_ns", i->removed_before_ns);
    info_json_number(out, "attached_ns", i->attached_ns);
    info_json_number(out, "messages_missed", i->missed);
    info_json_number(out, "sent", i->sums.sent);
    info_json_number(out, "sent_bytes", i->sums.sent_bytes);
    info_json_number(out, "received", i->sums.received);
    info_json_number(out, "received_bytes", i->sums.received_bytes);
    info_json_number(out, "matched", i->matched);
    info_json_number(out, "unmatched", i->unmatched);
    info_json_number(out, "of_unwatched", i->of_unwatched);
    info_json_number(out, "events", i->sums.events);
    info_json_number(out, "calls_made", i->sums.calls);
    info_json_print_calls(out, i);
    info_json_number(out, "records_lost", i->sums.lost);
    info_json_number(out, "records_tallied", i->sums.tallied);
    info_json_number(out, "requests_untracked", i->sums.untracked);
    info_json_number(out, "windows_dropped", i->dropped);
    info_json_number(out, "reports_missing", i->missing);
    info_json_number(out, "messages_absent", i->absent);
    info_json_print_holes(out, i);
    info_json_number(out, "windows_corrected", i->late);
    info_json_print_alerts(out, i);
    info_json_print_captures(out, i);
    info_json_number(out, "phases", i->phases);
    info_json_number(out, "regions", i->regions);
    info_json_number(out, "hot_links", i->hot_links);
    info_json_number(out, "messages", i->messages);
    info_json_number(out, "agents", i->agents);
    info_json_number(out, "blocks", i->blocks);
    info_json_number(out, "raw_bytes", i->raw_bytes);
    info_json_number(out, "packed_bytes", i->packed_bytes);
    info_json_print_damages(out, i);
    fputs("}\n", out);
}
