#include "daemon/storage/recordings/info.h"
#include "holter/call.h"
#include "proto/json.h"

#include <inttypes.h>

static void text(FILE *out, const char *name, const char *value)
{
    fprintf(out, "\"%s\":", name);
    json_text(out, value);
    fputc(',', out);
}

static void number(FILE *out, const char *name, uint64_t value)
{
    fprintf(out, "\"%s\":%" PRIu64 ",", name, value);
}

static void print_calls(FILE *out, const struct info *i)
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

static void print_alerts(FILE *out, const struct info *i)
{
    number(out, "alerts_total", i->alert_total);
    fputs("\"alerts\":[", out);
    for (size_t n = 0; n < i->alert_count; n++) {
        const struct info_alert *a = &i->alerts[n];
        fputs(n > 0 ? ",{" : "{", out);
        number(out, "id", a->id);
        text(out, "kind", a->kind);
        text(out, "state", a->state);
        text(out, "severity", a->severity);
        text(out, "title", a->title);
        number(out, "since_ns", a->since_ns);
        fprintf(out, "\"updated_ns\":%" PRIu64 "}", a->updated_ns);
    }
    fputs("],", out);
}

static void print_captures(FILE *out, const struct info *i)
{
    number(out, "captures_total", i->capture_total);
    fputs("\"captures\":[", out);
    for (size_t n = 0; n < i->capture_count; n++) {
        const struct info_capture *c = &i->captures[n];
        fputs(n > 0 ? ",{" : "{", out);
        number(out, "id", c->id);
        text(out, "reason", c->reason);
        number(out, "alert", c->alert);
        number(out, "nodes", c->nodes);
        number(out, "answered", c->answered);
        number(out, "records", c->records);
        fprintf(out, "\"at_ns\":%" PRIu64 "}", c->at_ns);
    }
    fputs("],", out);
}

static void print_holes(FILE *out, const struct info *i)
{
    number(out, "holes_total", i->hole_total);
    fputs("\"holes\":[", out);
    for (size_t n = 0; n < i->hole_total && n < INFO_HOLES; n++) {
        fputs(n > 0 ? ",{" : "{", out);
        number(out, "begin_ns", i->holes[n].begin_ns);
        number(out, "end_ns", i->holes[n].end_ns);
        fprintf(out, "\"messages\":%" PRIu64 "}", i->holes[n].missing);
    }
    fputs("],", out);
}

static void print_damages(FILE *out, const struct info *i)
{
    number(out, "damages_total", i->damage_count);
    fputs("\"damages\":[", out);
    for (size_t n = 0; n < i->damage_count && n < INFO_DAMAGES; n++) {
        fputs(n > 0 ? ",{" : "{", out);
        text(out, "text", i->damages[n].text);
        number(out, "after_message", i->damages[n].after);
        fprintf(out, "\"messages\":%" PRIu64 "}", i->damages[n].messages);
    }
    fputs("]", out);
}

void info_print_json(FILE *out, const struct info *i)
{
    fputc('{', out);
    text(out, "file", i->path);
    number(out, "file_bytes", i->file_bytes);
    number(out, "schema", (uint64_t)i->version);
    text(out, "holter", i->holter);
    text(out, "job", i->job);
    text(out, "state", i->state);
    text(out, "app", i->app);
    text(out, "command", i->command);
    text(out, "mpi", i->mpi);
    text(out, "launcher", i->launcher);
    text(out, "user", i->user);
    number(out, "world", i->world);
    number(out, "ranks_seen", i->ranks_seen);
    number(out, "hosts_total", i->host_total);
    fputs("\"hosts\":[", out);
    for (size_t h = 0; h < i->host_count; h++) {
        fputs(h > 0 ? "," : "", out);
        json_text(out, i->hosts[h]);
    }
    fputs("],", out);
    text(out, "network", i->network);
    text(out, "network_source", i->network_source);
    number(out, "begin_ns", i->begin_ns);
    number(out, "end_ns", i->end_ns);
    number(out, "window_ns", i->window_ns);
    number(out, "windows", i->windows);
    number(out, "part", i->part);
    number(out, "removed_before_ns", i->removed_before_ns);
    number(out, "attached_ns", i->attached_ns);
    number(out, "messages_missed", i->missed);
    number(out, "sent", i->sums.sent);
    number(out, "sent_bytes", i->sums.sent_bytes);
    number(out, "received", i->sums.received);
    number(out, "received_bytes", i->sums.received_bytes);
    number(out, "events", i->sums.events);
    number(out, "calls_made", i->sums.calls);
    print_calls(out, i);
    number(out, "records_lost", i->sums.lost);
    number(out, "windows_dropped", i->dropped);
    number(out, "reports_missing", i->missing);
    number(out, "messages_absent", i->absent);
    print_holes(out, i);
    number(out, "windows_corrected", i->late);
    print_alerts(out, i);
    print_captures(out, i);
    number(out, "phases", i->phases);
    number(out, "regions", i->regions);
    number(out, "hot_links", i->hot_links);
    number(out, "messages", i->messages);
    number(out, "agents", i->agents);
    number(out, "blocks", i->blocks);
    number(out, "raw_bytes", i->raw_bytes);
    number(out, "packed_bytes", i->packed_bytes);
    print_damages(out, i);
    fputs("}\n", out);
}
