/* Reads the messages that `holter graph` makes a graph of. */
#include "agent/cli/graph_source.h"

#include "agent/terminal/terminal.h"
#include "daemon/export/recording_rows.h"
#include "daemon/import/dumpi/dumpi.h"
#include "daemon/import/import_format.h"
#include "daemon/import/otf2/import_otf2.h"
#include "daemon/storage/recording.h"
#include "holter/error.h"
#include "proto/capture_request.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void graph_source_finish(struct graph_source *source)
{
    dependency_calls_finish(&source->calls);
    free(source->criteria);
}

static int graph_source_add_criterion(struct graph_source *source,
                                      const struct wire_criterion_row *row)
{
    struct wire_criterion_row *more =
        realloc(source->criteria, (source->criteria_count + 1) * sizeof *more);
    if (more == NULL)
        return -ENOMEM;
    source->criteria = more;
    more[source->criteria_count++] = *row;
    return 0;
}

/* Note once for each host what is missing of a capture. */
static void graph_source_note(struct graph_source *source, const char *host, const char *fault)
{
    size_t used = strlen(source->missing);
    if (fault == NULL || fault[0] == '\0')
        return;
    snprintf(source->missing + used, sizeof source->missing - used, "%s%s: %s",
             used == 0 ? "" : "; ", host, fault);
}

static int graph_source_add(struct graph_source *source, const struct wire_captured *captured)
{
    const struct wire_capture capture = wire_capture_from_captured(captured);
    snprintf(source->job, sizeof source->job, "%s", capture.job);
    snprintf(source->reason, sizeof source->reason, "%s", capture.reason ? capture.reason : "");
    graph_source_note(source, capture.host, capture.fault);
    return dependency_calls_add_capture(&source->calls, &capture);
}

/* ---- recordings ------------------------------------------------------------ */

struct choosing {
    struct graph_source *source;
    uint64_t asked_ns; /* of the capture: all its parts have it */
    uint64_t broken;   /* messages that cannot be decoded */
};

static int graph_source_visit(void *user, const struct recorded *head,
                              const struct wire_message *message, size_t length)
{
    struct choosing *c = user;
    (void)head, (void)length;
    c->broken += message == NULL;
    if (message == NULL || message->type != WIRE_TYPE_CAPTURED ||
        message->captured.asked_ns != c->asked_ns)
        return 0;
    return graph_source_add(c->source, &message->captured);
}

/* Row: locality, size class, reference, messages. */
static int graph_source_on_criterion(void *user, const struct cell *row, size_t columns)
{
    const struct wire_criterion_row criterion = {
        .locality = columns > 3 && strcmp(row[0].text, "inter-node") == 0,
        .size_class = columns > 3 ? (uint64_t)row[1].integer : 0,
        .reference_ns = columns > 3 ? (uint64_t)row[2].integer : 0,
        .messages = columns > 3 ? (uint64_t)row[3].integer : 0,
    };
    return graph_source_add_criterion(user, &criterion);
}

/* Find a capture in the table of them. @return exit status */
static int graph_source_find(struct choosing *c, const char *path, uint64_t number)
{
    char why[600], query[128], text[64];
    struct tables *tables;
    if (tables_open(&tables, path, why, sizeof why) != 0) {
        terminal_print("graph: %s: %s", path, why);
        return 1;
    }
    if (number == 0)
        snprintf(query, sizeof query,
                 "SELECT id || ' ' || asked_ns FROM captures WHERE records > 0 "
                 "ORDER BY id DESC LIMIT 1");
    else
        snprintf(query, sizeof query,
                 "SELECT id || ' ' || asked_ns FROM captures WHERE id = %" PRIu64, number);
    tables_text(tables, query, text, sizeof text);
    tables_query(tables, "SELECT locality, size_class, reference_ns, messages FROM criterion",
                 graph_source_on_criterion, c->source);
    tables_close(tables);
    if (sscanf(text, "%" SCNu64 " %" SCNu64, &c->source->capture, &c->asked_ns) == 2)
        return 0;
    if (number == 0)
        terminal_print("graph: %s has no capture: see holter-capture(1)", path);
    else
        terminal_print("graph: %s has no capture %" PRIu64, path, number);
    return 1;
}

int graph_source_recording(struct graph_source *source, const char *path, uint64_t capture)
{
    struct choosing c = {.source = source};
    struct progress progress;
    struct recording_cursor *cursor;
    char why[600];
    int status = graph_source_find(&c, path, capture);
    if (status != 0)
        return status;
    if (recording_cursor_open(&cursor, path, why, sizeof why) != 0) {
        terminal_print("graph: %s", why);
        return 1;
    }
    progress_begin(&progress, "graph");
    const struct recording_progress shown = {progress_show, &progress};
    int code = recording_scan(cursor, &shown, graph_source_visit, &c);
    progress_end(&progress);
    recording_cursor_close(cursor);
    if (code != 0)
        terminal_print("graph: %s: %s", path, holter_strerror(code));
    if (c.broken > 0)
        terminal_print("graph: %s: %" PRIu64 " messages cannot be read", path, c.broken);
    return code != 0;
}

/* ---- traces ---------------------------------------------------------------- */

static void graph_source_on_fault(void *user, const char *text)
{
    (void)user;
    terminal_print("graph: %s", text);
}

static int graph_source_dumpi(const char *path, struct trace_messages *out)
{
    struct dumpi_trace *trace;
    *out = (struct trace_messages){.failed_streams = 0};
    int code = dumpi_trace_open(&trace, path, 0, graph_source_on_fault, NULL);
    if (code != 0)
        return code;
    code = trace_dependencies(dumpi_trace_job(trace), dumpi_trace_reader(trace), out);
    dumpi_trace_close(trace);
    return code;
}

int graph_source_is_recording(const char *path)
{
    char file[4096], why[4400];
    return import_format_find(path, IMPORT_UNKNOWN, file, sizeof file, why, sizeof why) ==
           IMPORT_RECORDING;
}

int graph_source_trace(struct graph_source *source, const char *path)
{
    char file[4096], why[4400];
    struct trace_messages messages = {.failed_streams = 0};
    int code;
    switch (import_format_find(path, IMPORT_UNKNOWN, file, sizeof file, why, sizeof why)) {
    case IMPORT_OTF2:
        code = import_otf2_dependencies(file, graph_source_on_fault, NULL, &messages);
        break;
    case IMPORT_DUMPI:
        code = graph_source_dumpi(file, &messages);
        break;
    case IMPORT_UNKNOWN:
    case IMPORT_PACKED:
        terminal_print("graph: %s", why);
        return 1;
    default:
        terminal_print("graph: %s is no recording, OTF2 archive or DUMPI trace", path);
        return 1;
    }
    source->calls = messages.calls;
    if (code == -ENOMEM)
        terminal_print("graph: %s: %s", path, holter_strerror(code));
    if (messages.failed_streams > 0)
        snprintf(source->missing, sizeof source->missing,
                 "%" PRIu64 " streams of the trace are not whole", messages.failed_streams);
    return code != 0;
}

/* ---- running jobs ---------------------------------------------------------- */

/* @return the exit status */
static int graph_source_end(const struct graph_source *source, const struct dial *dial,
                            const char *job, const struct wire_reply *reply)
{
    const char *text = reply->text != NULL && reply->text[0] != '\0'
                           ? reply->text
                           : holter_strerror((int)reply->code);
    if (reply->code == 0 && (reply->text == NULL || reply->text[0] == '\0'))
        return 0;
    if (reply->code == -HOLTER_ENOJOB && job == NULL)
        terminal_print("graph: the daemon at %s knows no job yet", dial->endpoint);
    else
        terminal_print("graph: %s", text);
    /* What some agents did answer is a graph. */
    return reply->code == -HOLTER_EUSAGE ? 2 : reply->code != 0 || source->calls.count == 0;
}

/* Add what an answer has. @return 0 or a negative error */
static int graph_source_answer(struct graph_source *source, const struct wire_message *message)
{
    int error = 0;
    if (message->type == WIRE_TYPE_CAPTURED) {
        source->capture = message->captured.id;
        return graph_source_add(source, &message->captured);
    }
    if (message->type != WIRE_TYPE_LATENCIES)
        return 0;
    for (uint64_t i = 0; error == 0 && i < message->latencies.criteria_count; i++)
        error = graph_source_add_criterion(source, &message->latencies.criteria[i]);
    return error;
}

struct asking {
    struct graph_source *source;
    struct dial *dial;
    struct client *client;
    const char *job;
};

/* Send a request, and receive its answers. @return exit status */
static int graph_source_ask(const struct asking *a, const char *op, const char *topic,
                            const char *words)
{
    uint64_t away_since = 0;
    int64_t id = client_ask(a->client, op, a->job, topic, words);
    int error = id < 0 ? (int)id : 0;
    for (struct client_message got; error == 0;) {
        if (dial_next(a->dial, a->client, &away_since, &got) != 0)
            return 1;
        if (got.id != (uint64_t)id)
            continue;
        if (got.message->type == WIRE_TYPE_REPLY)
            return topic != NULL
                       ? 0
                       : graph_source_end(a->source, a->dial, a->job, &got.message->reply);
        error = graph_source_answer(a->source, got.message);
    }
    terminal_print("graph: %s", holter_strerror(error));
    return 1;
}

int graph_source_live(struct graph_source *source, struct dial *dial, const char *job,
                      const char *words)
{
    struct asking a = {.source = source, .dial = dial, .job = job};
    int status = dial_open(dial, &a.client);
    if (status != 0)
        return status;
    status = dial_wait(dial, &a.client);
    /* Whatever the first answer is: without it, messages are compared with each other. */
    status = status != 0 ? status : graph_source_ask(&a, "snapshot", "latency", NULL);
    status = status != 0 ? status : graph_source_ask(&a, "capture", NULL, words);
    client_destroy(a.client);
    return status;
}
