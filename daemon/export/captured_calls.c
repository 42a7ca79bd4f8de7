/* Reads the captures of a recording as ends of messages. */
#include "daemon/export/captured_calls.h"

#include "daemon/analysis/tables/array.h"
#include "holter/error.h"
#include "holter/plain_text.h"
#include "proto/capture_request.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void captured_calls_finish(struct captured_calls *captured)
{
    dependency_calls_finish(&captured->calls);
}

void captured_criteria_finish(struct captured_criteria *criteria)
{
    free(criteria->rows);
    *criteria = (struct captured_criteria){0};
}

void captured_list_finish(struct captured_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        captured_calls_finish(&list->list[i]);
    free(list->list);
    captured_criteria_finish(&list->criteria);
    *list = (struct captured_list){0};
}

int captured_criteria_add(struct captured_criteria *criteria, const struct wire_criterion_row *row)
{
    if (ARRAY_RESIZE(criteria->rows, criteria->count + 1) != 0)
        return -ENOMEM;
    criteria->rows[criteria->count++] = *row;
    return 0;
}

/* Note once for each host what is missing of a capture. */
static void captured_calls_note(struct captured_calls *captured, const char *host,
                                const char *fault)
{
    if (fault == NULL || fault[0] == '\0')
        return;
    text_append(captured->missing, sizeof(captured->missing), "%s%s: %s",
                captured->missing[0] == '\0' ? "" : "; ", host, fault);
}

int captured_calls_add(struct captured_calls *captured, const struct wire_captured *message)
{
    const struct wire_capture capture = wire_capture_from_captured(message);
    snprintf(captured->job, sizeof(captured->job), "%s", capture.job);
    snprintf(captured->reason, sizeof(captured->reason), "%s",
             capture.reason ? capture.reason : "");
    captured_calls_note(captured, capture.host, capture.fault);
    return dependency_calls_add_capture(&captured->calls, &capture);
}

/* ---- recordings ------------------------------------------------------------ */

/* What identifies a capture: several may have been asked for until the same time. */
struct captured_key {
    uint64_t id, asked_ns;
};

struct captured_reading {
    struct captured_list *list;
    struct captured_key *keys; /* owned: of all captures of the recording */
    size_t key_count, key_capacity;
};

/* Row: number, time of the request. */
static int captured_list_on_key(void *user, const struct cell *row, size_t columns)
{
    struct captured_reading *r = user;
    if (columns < 2)
        return 0;
    if (ARRAY_FIT(r->keys, r->key_capacity, r->key_count + 1) != 0)
        return -ENOMEM;
    r->keys[r->key_count++] =
        (struct captured_key){(uint64_t)row[0].integer, (uint64_t)row[1].integer};
    return 0;
}

static int captured_list_has_key(const struct captured_reading *r, uint64_t id, uint64_t asked_ns)
{
    for (size_t i = 0; i < r->key_count; i++) {
        if (r->keys[i].id == id && r->keys[i].asked_ns == asked_ns)
            return 1;
    }
    return 0;
}

/* Is a message of this capture? Its number is that of the capture, unless another capture had that
 * number already: then only the time tells. */
static int captured_list_matches(const struct captured_reading *r,
                                 const struct captured_calls *capture,
                                 const struct wire_captured *message)
{
    return capture->asked_ns == message->asked_ns &&
           (capture->capture == message->id ||
            !captured_list_has_key(r, message->id, message->asked_ns));
}

/* Row: number, time of the request. */
static int captured_list_on_capture(void *user, const struct cell *row, size_t columns)
{
    struct captured_list *list = user;
    if (ARRAY_RESIZE(list->list, list->count + 1) != 0)
        return -ENOMEM;
    list->list[list->count++] =
        (struct captured_calls){.capture = columns > 1 ? (uint64_t)row[0].integer : 0,
                                .asked_ns = columns > 1 ? (uint64_t)row[1].integer : 0};
    return 0;
}

/* Row: locality, size class, reference, messages. */
static int captured_list_on_criterion(void *user, const struct cell *row, size_t columns)
{
    struct captured_list *list = user;
    const struct wire_criterion_row criterion = {
        .locality = columns > 3 && strcmp(row[0].text, "inter-node") == 0,
        .size_class = columns > 3 ? (uint64_t)row[1].integer : 0,
        .reference_ns = columns > 3 ? (uint64_t)row[2].integer : 0,
        .messages = columns > 3 ? (uint64_t)row[3].integer : 0,
    };
    return captured_criteria_add(&list->criteria, &criterion);
}

static int captured_list_visit(void *user, const struct recorded *head,
                               const struct wire_message *message, size_t length)
{
    struct captured_reading *r = user;
    struct captured_list *list = r->list;
    (void)head, (void)length;
    list->broken += message == NULL;
    for (size_t i = 0; message != NULL && message->type == WIRE_TYPE_CAPTURED && i < list->count;
         i++) {
        if (!captured_list_matches(r, &list->list[i], &message->captured))
            continue;
        int code = captured_calls_add(&list->list[i], &message->captured);
        if (code != 0)
            return code;
    }
    return 0;
}

/* @return 0 or a negative error */
static int captured_list_find(struct captured_list *list, struct tables *tables, uint64_t number)
{
    char query[160];
    if (number == CAPTURED_NEWEST)
        snprintf(query, sizeof(query),
                 "SELECT id, asked_ns FROM captures WHERE records > 0 ORDER BY id DESC LIMIT 1");
    else if (number == CAPTURED_ALL)
        snprintf(query, sizeof(query),
                 "SELECT id, asked_ns FROM captures WHERE records > 0 ORDER BY id");
    else
        snprintf(query, sizeof(query), "SELECT id, asked_ns FROM captures WHERE id = %" PRIu64,
                 number);
    int code = tables_query(tables, query, captured_list_on_capture, list);
    if (code == 0)
        code = tables_query(tables,
                            "SELECT locality, size_class, reference_ns, messages FROM criterion",
                            captured_list_on_criterion, list);
    return code;
}

int captured_list_read(struct captured_list *out, struct tables *tables, const char *path,
                       uint64_t number, const struct recording_progress *progress, char *why,
                       size_t capacity)
{
    struct captured_reading reading = {.list = out};
    struct recording_cursor *cursor;
    *out = (struct captured_list){0};
    int code = captured_list_find(out, tables, number);
    if (code == 0 && out->count > 0) {
        code = recording_cursor_open(&cursor, path, why, capacity);
        if (code != 0)
            return code;
        code = tables_query(tables, "SELECT id, asked_ns FROM captures", captured_list_on_key,
                            &reading);
        if (code == 0)
            code = recording_scan(cursor, progress, captured_list_visit, &reading);
        recording_cursor_close(cursor);
        free(reading.keys);
    }
    if (code != 0)
        snprintf(why, capacity, "%s: %s", path, recording_scan_error(code));
    return code;
}
