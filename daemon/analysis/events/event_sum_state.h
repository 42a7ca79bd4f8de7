/* What the summariser of event_sum.h keeps: for its own parts only. */
#ifndef HOLTER_DAEMON_ANALYSIS_EVENTS_EVENT_SUM_STATE_H
#define HOLTER_DAEMON_ANALYSIS_EVENTS_EVENT_SUM_STATE_H

#include "daemon/analysis/events/event_sum.h"
#include "daemon/analysis/tables/key_table.h"
#include "daemon/analysis/tables/name_table.h"

#define NAME_BYTES 64u
#define OTHERS (-1)

struct rank_sum {
    struct wire_rank_row row;
    uint64_t class_ns[CALL_CLASSES];
    uint64_t world;
    uint64_t threads;
    /** Numbers of the last ones in the tables of pairs and calls: a rank repeats what it did, so
     *  that the next ones are mostly those that came after them before. */
    uint32_t last_pair, last_call;
};

struct pair_sum {
    uint64_t messages, bytes;
};

struct call_sum {
    uint64_t calls, bytes, bytes_in, time_ns, longest_ns, polls, collective_ns;
};

struct call_kind {
    uint8_t class_; /* enum call_class */
    uint8_t burst;  /* enum burst_kind */
};

/* What several steps need of one record. */
struct summed {
    const struct event *event;
    uint64_t enter_ns, exit_ns;
    uint64_t since;        /* as struct slot_position has it; UINT64_MAX: it was posted before */
    uint32_t comm, region; /* positions in the window's dictionaries */
    struct call_kind kind;
};

struct comm_entry {
    struct wire_comm_row row; /* its name is set when rows are asked for */
    char name[NAME_BYTES];
};

struct event_sum {
    struct rank_sum *ranks;
    struct pair_sum *pairs;
    struct call_sum *calls;
    struct comm_entry *comms;
    struct name_table regions;
    uint32_t rank_count;
    size_t rank_capacity, pair_capacity, call_capacity, comm_capacity;
    struct key_table pair_index, call_index, comm_index;
    uint32_t most_pairs;
    uint32_t epoch;
    int folded;
    struct {
        struct wire_rank_row *ranks;
        struct wire_pair_row *pairs;
        struct wire_call_row *calls;
        struct wire_comm_row *comms;
        struct wire_region_row *regions;
        size_t rank_capacity, pair_capacity, call_capacity, comm_capacity, region_capacity;
    } rows;
    struct call_kind kind_of[CALL_NUMBERS];
    struct burst_gather *bursts; /* owned */
    struct burst_log *log;       /* of bursts */
};

#endif
