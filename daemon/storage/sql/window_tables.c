/* Columns of the virtual tables. */
#include "daemon/storage/sql/window_tables.h"

#include "holter/wire.h"

#include <string.h>

#define COMMON                                                                                     \
    {"window", "INTEGER", WINDOW_NUMBER, 0, false},                                                \
        {"begin_ns", "INTEGER", WINDOW_BEGIN_NS, 0, false},                                        \
        {"end_ns", "INTEGER", WINDOW_END_NS, 0, false}, {"time", "TEXT", WINDOW_TIME, 0, false},   \
        {"second", "REAL", WINDOW_SECOND, 0, false},                                               \
    {                                                                                              \
        "job", "TEXT", WINDOW_JOB, 0, false                                                        \
    }

#define HOST                                                                                       \
    {                                                                                              \
        "host", "TEXT", WINDOW_HOST, 0, false                                                      \
    }

/* A column of a row of the wire, under the same name. */
#define COUNT(row, name)                                                                           \
    {                                                                                              \
#name, "INTEGER", WINDOW_COUNT, offsetof(struct wire_##row##_row, name), false             \
    }
#define KEY(row, name, kind)                                                                       \
    {                                                                                              \
#name, "INTEGER", kind, offsetof(struct wire_##row##_row, name), true                      \
    }
#define NAMED(row, name, type, kind, field)                                                        \
    {                                                                                              \
        name, type, kind, offsetof(struct wire_##row##_row, field), false                          \
    }
#define PLAIN(name, type)                                                                          \
    {                                                                                              \
        name, type, WINDOW_PLAIN, 0, false                                                         \
    }
#define END                                                                                        \
    {                                                                                              \
        NULL, NULL, WINDOW_NUMBER, 0, false                                                        \
    }

/* clang-format off: one column a line */
static const struct window_column pair_columns[] = {
    COMMON,
    HOST,
    KEY(pair, source, WINDOW_COUNT),
    KEY(pair, destination, WINDOW_SIGNED),
    NAMED(pair, "comm", "INTEGER", WINDOW_COMM, comm),
    NAMED(pair, "comm_name", "TEXT", WINDOW_COMM_NAME, comm),
    NAMED(pair, "region", "TEXT", WINDOW_REGION, region),
    NAMED(pair, "size", "INTEGER", WINDOW_SIZE, size_class),
    COUNT(pair, messages),
    COUNT(pair, bytes),
    END,
};

static const struct window_column rank_columns[] = {
    COMMON,
    HOST,
    KEY(rank, rank, WINDOW_COUNT),
    COUNT(rank, events),
    COUNT(rank, lost),
    COUNT(rank, calls),
    COUNT(rank, polls),
    COUNT(rank, sent),
    COUNT(rank, sent_bytes),
    COUNT(rank, received),
    COUNT(rank, received_bytes),
    COUNT(rank, send_ns),
    COUNT(rank, recv_ns),
    COUNT(rank, wait_ns),
    COUNT(rank, poll_ns),
    COUNT(rank, collective_ns),
    COUNT(rank, one_sided_ns),
    COUNT(rank, io_ns),
    COUNT(rank, other_ns),
    COUNT(rank, untracked),
    COUNT(rank, threads),
    COUNT(rank, tallied),
    COUNT(rank, service_ns),
    NAMED(rank, "in_call", "TEXT", WINDOW_CALL, in_call),
    COUNT(rank, in_call_ns),
    END,
};

static const struct window_column call_columns[] = {
    COMMON,
    HOST,
    KEY(call, rank, WINDOW_COUNT),
    NAMED(call, "call", "TEXT", WINDOW_CALL, call),
    NAMED(call, "comm", "INTEGER", WINDOW_COMM, comm),
    NAMED(call, "comm_name", "TEXT", WINDOW_COMM_NAME, comm),
    NAMED(call, "region", "TEXT", WINDOW_REGION, region),
    COUNT(call, calls),
    COUNT(call, bytes),
    COUNT(call, bytes_in),
    COUNT(call, time_ns),
    COUNT(call, longest_ns),
    COUNT(call, polls),
    COUNT(call, collective_ns),
    END,
};

static const struct window_column link_columns[] = {
    COMMON,
    HOST,
    {"link", "INTEGER", WINDOW_LINK, 0, true},
    {"source", "TEXT", WINDOW_LINK_SOURCE, 0, false},
    {"destination", "TEXT", WINDOW_LINK_DESTINATION, 0, false},
    {"messages", "INTEGER", WINDOW_LINK_MESSAGES, 0, false},
    {"bytes", "INTEGER", WINDOW_LINK_BYTES, 0, false},
    END,
};

static const struct window_column latency_columns[] = {
    COMMON,
    PLAIN("scope", "TEXT"),
    PLAIN("id", "INTEGER"),
    PLAIN("messages", "INTEGER"),
    PLAIN("delayed", "INTEGER"),
    PLAIN("recent", "REAL"),
    PLAIN("reference", "REAL"),
    PLAIN("typical", "REAL"),
    PLAIN("transfer_ns", "INTEGER"),
    PLAIN("late_sender_ns", "INTEGER"),
    PLAIN("late_receiver_ns", "INTEGER"),
    PLAIN("network_ns", "INTEGER"),
    PLAIN("joint_ns", "INTEGER"),
    PLAIN("error_ns", "INTEGER"),
    PLAIN("trend", "TEXT"),
    PLAIN("slope", "REAL"),
    END,
};
/* clang-format on */

#define MESSAGES(field, row)                                                                       \
    offsetof(struct wire_window, field), offsetof(struct wire_window, field##_count),              \
        sizeof(struct wire_##row##_row)

const struct window_table window_tables[] = {
    {"window_pair", WINDOW_MESSAGES, MESSAGES(pairs, pair), NULL, pair_columns},
    {"window_rank", WINDOW_MESSAGES, MESSAGES(ranks, rank), NULL, rank_columns},
    {"window_call", WINDOW_MESSAGES, MESSAGES(calls, call), NULL, call_columns},
    {"window_link", WINDOW_LINKS, MESSAGES(pairs, pair), NULL, link_columns},
    {"window_latency", WINDOW_PLAIN_TABLE, 0, 0, 0, "latency", latency_columns},
    {NULL, WINDOW_MESSAGES, 0, 0, 0, NULL, NULL},
};

const struct window_table *window_table_find(const char *name)
{
    const struct window_table *t = window_tables;
    while (t->name != NULL && strcmp(t->name, name) != 0)
        t++;
    return t->name == NULL ? NULL : t;
}
