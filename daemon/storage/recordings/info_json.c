/* Prints the summary of a recording as JSON. */
#include "daemon/storage/recordings/info.h"
#include "holter/call.h"
#include "proto/json.h"

#include <inttypes.h>

static void info_json_print_calls(FILE *out, const struct info *i)
{
    const char *comma = "";
    fputs(",\"calls\":[", out);
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
    fputc(']', out);
}

static void info_json_print_alerts(FILE *out, const struct info *i)
{
    json_put_count(out, ",", "alerts_total", i->alert_total);
    json_put_count(out, ",", "alerts_pending", i->alerts_pending);
    fputs(",\"alerts\":[", out);
    for (size_t n = 0; n < i->alert_count; n++) {
        const struct info_alert *a = &i->alerts[n];
        json_put_count(out, n > 0 ? ",{" : "{", "id", a->id);
        json_put_text(out, ",", "kind", a->kind);
        json_put_text(out, ",", "state", a->state);
        json_put_text(out, ",", "severity", a->severity);
        json_put_text(out, ",", "title", a->title);
        json_put_count(out, ",", "since_ns", a->since_ns);
        json_put_count(out, ",", "updated_ns", a->updated_ns);
        fputc('}', out);
    }
    fputc(']', out);
}

static void info_json_print_captures(FILE *out, const struct info *i)
{
    json_put_count(out, ",", "captures_total", i->capture_total);
    fputs(",\"captures\":[", out);
    for (size_t n = 0; n < i->capture_count; n++) {
        const struct info_capture *c = &i->captures[n];
        json_put_count(out, n > 0 ? ",{" : "{", "id", c->id);
        json_put_text(out, ",", "reason", c->reason);
        json_put_count(out, ",", "alert", c->alert);
        json_put_count(out, ",", "nodes", c->nodes);
        json_put_count(out, ",", "answered", c->answered);
        json_put_count(out, ",", "records", c->records);
        json_put_count(out, ",", "at_ns", c->at_ns);
        fputc('}', out);
    }
    fputc(']', out);
}

static void info_json_print_holes(FILE *out, const struct info *i)
{
    json_put_count(out, ",", "holes_total", i->hole_total);
    fputs(",\"holes\":[", out);
    for (size_t n = 0; n < i->hole_total && n < INFO_HOLES; n++) {
        json_put_count(out, n > 0 ? ",{" : "{", "begin_ns", i->holes[n].begin_ns);
        json_put_count(out, ",", "end_ns", i->holes[n].end_ns);
        json_put_count(out, ",", "messages", i->holes[n].missing);
        fputc('}', out);
    }
    fputc(']', out);
}

static void info_json_print_damages(FILE *out, const struct info *i)
{
    json_put_count(out, ",", "damages_total", i->damage_count);
    fputs(",\"damages\":[", out);
    for (size_t n = 0; n < i->damage_count && n < INFO_DAMAGES; n++) {
        json_put_text(out, n > 0 ? ",{" : "{", "text", i->damages[n].text);
        json_put_count(out, ",", "after_message", i->damages[n].after);
        json_put_count(out, ",", "messages", i->damages[n].messages);
        fputc('}', out);
    }
    fputc(']', out);
}

static void info_json_print_hosts(FILE *out, const struct info *i)
{
    json_put_count(out, ",", "hosts_total", i->host_total);
    fputs(",\"hosts\":[", out);
    for (size_t h = 0; h < i->host_count; h++) {
        fputs(h > 0 ? "," : "", out);
        json_text(out, i->hosts[h]);
    }
    fputc(']', out);
}

static void info_json_print_job(FILE *out, const struct info *i)
{
    json_put_text(out, "{", "file", i->path);
    json_put_count(out, ",", "file_bytes", i->file_bytes);
    json_put_count(out, ",", "schema", (uint64_t)i->version);
    json_put_text(out, ",", "holter", i->holter);
    json_put_text(out, ",", "job", i->job);
    json_put_text(out, ",", "state", i->state);
    json_put_count(out, ",", "cut_short", (uint64_t)i->cut_short);
    json_put_count(out, ",", "stopped_ns", i->stop.at_ns);
    json_put_text(out, ",", "stopped_why", i->stop.why);
    json_put_text(out, ",", "app", i->app);
    json_put_text(out, ",", "command", i->command);
    json_put_text(out, ",", "mpi", i->mpi);
    json_put_text(out, ",", "launcher", i->launcher);
    json_put_text(out, ",", "user", i->user);
    json_put_count(out, ",", "world", i->world);
    json_put_count(out, ",", "ranks_seen", i->ranks_seen);
    json_put_count(out, ",", "rank_group", i->rank_group);
    info_json_print_hosts(out, i);
    json_put_text(out, ",", "network", i->network);
    json_put_text(out, ",", "network_source", i->network_source);
}

void info_print_json(FILE *out, const struct info *i)
{
    info_json_print_job(out, i);
    json_put_count(out, ",", "begin_ns", i->begin_ns);
    json_put_count(out, ",", "end_ns", i->end_ns);
    json_put_count(out, ",", "duration_ns", i->duration_ns);
    json_put_count(out, ",", "window_ns", i->window_ns);
    json_put_count(out, ",", "windows", i->windows);
    json_put_count(out, ",", "part", i->part);
    json_put_count(out, ",", "removed_before_ns", i->removed_before_ns);
    json_put_count(out, ",", "attached_ns", i->attached_ns);
    json_put_count(out, ",", "messages_missed", i->missed);
    json_put_count(out, ",", "sent", i->sums.sent);
    json_put_count(out, ",", "sent_bytes", i->sums.sent_bytes);
    json_put_count(out, ",", "received", i->sums.received);
    json_put_count(out, ",", "received_bytes", i->sums.received_bytes);
    json_put_count(out, ",", "matched", i->matched);
    json_put_count(out, ",", "unmatched", i->unmatched);
    json_put_count(out, ",", "of_unwatched", i->of_unwatched);
    json_put_count(out, ",", "events", i->sums.events);
    json_put_count(out, ",", "calls_made", i->sums.calls);
    info_json_print_calls(out, i);
    json_put_count(out, ",", "records_lost", i->sums.lost);
    json_put_count(out, ",", "records_tallied", i->sums.tallied);
    json_put_count(out, ",", "requests_untracked", i->sums.untracked);
    json_put_count(out, ",", "windows_dropped", i->dropped);
    json_put_count(out, ",", "reports_missing", i->missing);
    json_put_count(out, ",", "messages_absent", i->absent);
    info_json_print_holes(out, i);
    json_put_count(out, ",", "windows_corrected", i->late);
    info_json_print_alerts(out, i);
    info_json_print_captures(out, i);
    json_put_count(out, ",", "phases", i->phases);
    json_put_count(out, ",", "regions", i->regions);
    json_put_count(out, ",", "hot_links", i->hot_links);
    json_put_count(out, ",", "messages", i->messages);
    json_put_count(out, ",", "agents", i->agents);
    json_put_count(out, ",", "blocks", i->blocks);
    json_put_count(out, ",", "raw_bytes", i->raw_bytes);
    json_put_count(out, ",", "packed_bytes", i->packed_bytes);
    info_json_print_damages(out, i);
    fputs("}\n", out);
}
