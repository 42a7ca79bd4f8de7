/* Reads the messages that `holter graph` makes a graph of. */
#include "agent/cli/graph_source.h"

#include "agent/terminal/terminal.h"
#include "daemon/import/csv/import_csv.h"
#include "daemon/import/dumpi/dumpi.h"
#include "daemon/import/import_format.h"
#include "daemon/import/otf2/import_otf2.h"
#include "holter/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

void graph_source_finish(struct graph_source *source)
{
    captured_calls_finish(&source->captured);
    captured_criteria_finish(&source->criteria);
}

/* ---- recordings ------------------------------------------------------------ */

/* @return exit status */
static int graph_source_take(struct graph_source *source, struct captured_list *list,
                             const char *path, uint64_t capture)
{
    if (list->broken > 0)
        terminal_print("graph: %s: %" PRIu64 " messages cannot be read", path, list->broken);
    if (list->count > 0) {
        source->captured = list->list[0];
        list->list[0] = (struct captured_calls){.capture = 0};
        source->criteria = list->criteria;
        list->criteria = (struct captured_criteria){.count = 0};
        return 0;
    }
    if (capture == 0)
        terminal_print("graph: %s has no capture: see holter-capture(1)", path);
    else
        terminal_print("graph: %s has no capture %" PRIu64, path, capture);
    return 1;
}

int graph_source_recording(struct graph_source *source, const char *path, uint64_t capture)
{
    struct captured_list list;
    struct progress progress;
    const struct recording_progress shown = {progress_show, &progress};
    struct tables *tables;
    char why[600];
    if (tables_open(&tables, path, why, sizeof why) != 0) {
        terminal_print("graph: %s: %s", path, why);
        return 1;
    }
    progress_begin(&progress, "graph");
    int code = captured_list_read(&list, tables, path, capture == 0 ? CAPTURED_NEWEST : capture,
                                  &shown, why, sizeof why);
    progress_end(&progress);
    tables_close(tables);
    int status = code != 0;
    if (code != 0)
        terminal_print("graph: %s", why);
    else
        status = graph_source_take(source, &list, path, capture);
    captured_list_finish(&list);
    return status;
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
    case IMPORT_CSV:
        code = import_csv_dependencies(file, graph_source_on_fault, NULL, &messages);
        break;
    case IMPORT_UNKNOWN:
    case IMPORT_PACKED:
        terminal_print("graph: %s", why);
        return 1;
    default:
        terminal_print("graph: %s is no recording, OTF2 archive, DUMPI trace or table of messages",
                       path);
        return 1;
    }
    source->captured.calls = messages.calls;
    if (code == -ENOMEM)
        terminal_print("graph: %s: %s", path, holter_strerror(code));
    if (messages.failed_streams > 0)
        snprintf(source->captured.missing, sizeof source->captured.missing,
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
    return reply->code == -HOLTER_EUSAGE ? 2
                                         : reply->code != 0 || source->captured.calls.count == 0;
}

/* Add what an answer has. @return 0 or a negative error */
static int graph_source_answer(struct graph_source *source, const struct wire_message *message)
{
    int error = 0;
    if (message->type == WIRE_TYPE_CAPTURED) {
        source->captured.capture = message->captured.id;
        return captured_calls_add(&source->captured, &message->captured);
    }
    if (message->type != WIRE_TYPE_LATENCIES)
        return 0;
    for (uint64_t i = 0; error == 0 && i < message->latencies.criteria_count; i++)
        error = captured_criteria_add(&source->criteria, &message->latencies.criteria[i]);
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
