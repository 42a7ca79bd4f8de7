/* What agents report of message times in one window, as rows for the analyses. */
#include "daemon/job/rows/latency_rows.h"

void latency_rows_finish(struct latency_rows *rows)
{
    transfers_finish(&rows->transfers);
    time_counts_finish(&rows->times);
    *rows = (struct latency_rows){0};
}

/* ---- collecting ---------------------------------------------------------- */

static int latency_rows_add_transfer(struct latency_rows *rows, const struct wire_transfer_row *t)
{
    const struct transfer transfer = {
#define X(name) .name = t->name,
        TRANSFER_SUMS(X)
#undef X
            .source = (uint32_t)t->source,
        .destination = (uint32_t)t->destination,
        .size_class = (uint16_t)t->size_class,
        .locality = LOCALITY_INTRA,
    };
    return transfers_add(&rows->transfers, &transfer);
}

static unsigned latency_rows_class(const struct wire_latency_row *latency)
{
    return time_counts_class((unsigned)latency->locality, (unsigned)latency->size_class);
}

/* Remove the first so many rows of a message, which were added last. */
static void latency_rows_remove(struct latency_rows *rows, const struct wire_window *window,
                                size_t transfers, size_t times)
{
    rows->transfers.count -= transfers;
    for (size_t i = 0; i < times; i++) {
        const struct wire_latency_row *l = &window->latencies[i];
        time_counts_remove(&rows->times, latency_rows_class(l), (uint32_t)l->bucket, l->messages);
    }
}

int latency_rows_add(struct latency_rows *rows, const struct wire_window *window)
{
    size_t transfers = 0, times = 0;
    int code = window->transfers_count == 0
                   ? 0
                   : transfers_reserve(&rows->transfers, window->transfers_count);
    for (; code == 0 && transfers < window->transfers_count; transfers += code == 0)
        code = latency_rows_add_transfer(rows, &window->transfers[transfers]);
    for (; code == 0 && times < window->latencies_count; times += code == 0) {
        const struct wire_latency_row *l = &window->latencies[times];
        code =
            time_counts_add(&rows->times, latency_rows_class(l), (uint32_t)l->bucket, l->messages);
    }
    if (code != 0)
        latency_rows_remove(rows, window, transfers, times);
    return code;
}

void latency_rows_undo(struct latency_rows *rows, const struct wire_window *window)
{
    latency_rows_remove(rows, window, window->transfers_count, window->latencies_count);
}

int latency_rows_move(struct latency_rows *to, struct latency_rows *from)
{
    const size_t before = to->transfers.count;
    int code = transfers_reserve(&to->transfers, from->transfers.count);
    for (size_t i = 0; code == 0 && i < from->transfers.count; i++) {
        const struct transfer row = from->transfers.rows[i];
        code = transfers_add(&to->transfers, &row);
    }
    code = code != 0 ? code : time_counts_move(&to->times, &from->times);
    if (code != 0)
        to->transfers.count = before;
    else
        transfers_clear(&from->transfers);
    return code;
}

/* ---- messages between nodes ---------------------------------------------- */

int latency_rows_add_joined(struct latency_rows *rows, const struct joined *message,
                            const double *recent)
{
    const uint16_t size_class = size_class_of(message->bytes);
    const struct transfer transfer = {
        .source = message->source,
        .destination = message->destination,
        .size_class = size_class,
        .locality = LOCALITY_INTER,
        .messages = 1,
        .delayed = (double)message->transfer_ns > recent[size_class],
        .transfer_ns = message->transfer_ns,
        .late_sender_ns = message->late_sender_ns,
        .late_receiver_ns = message->late_receiver_ns,
        .send_wait_ns = message->send_wait_ns,
        .network_ns = message->network_ns,
        .joint_ns = message->joint_ns,
        .log2_sum = (uint64_t)time_log2(message->transfer_ns),
        .error_ns = message->error_ns,
    };
    const unsigned class_ = time_counts_class(LOCALITY_INTER, size_class);
    const uint32_t bucket = time_class_of(message->transfer_ns);
    if (message->error_ns == UINT64_MAX)
        return 0;
    int code = time_counts_add(&rows->times, class_, bucket, 1);
    if (code == 0 && (code = transfers_add(&rows->transfers, &transfer)) != 0)
        time_counts_remove(&rows->times, class_, bucket, 1);
    return code;
}

void latency_rows_copy_state(struct state_bytes *b, struct latency_rows *rows)
{
    transfers_copy_state(b, &rows->transfers);
    time_counts_copy_state(b, &rows->times);
}
