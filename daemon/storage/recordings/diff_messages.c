/* Compares the messages of two recordings. Both are read in parallel, in the order of arrival; a
 * message that the other recording does not have at the same place is kept, and those that were
 * kept are sorted and matched in the end. */
#include "daemon/storage/recordings/diff_messages.h"

#include "daemon/analysis/tables/array.h"
#include "holter/order.h"
#include "holter/plain_text.h"
#include "holter/wire.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A message of one recording that the other does not have at the same place. */
struct unmatched {
    struct recorded head;
    uint64_t hash; /* of its bytes */
    size_t length;
};

struct message {
    struct recorded head;
    const void *bytes;
    size_t length;
    int more;
};

struct side {
    struct recording_cursor *cursor;
    struct message message;      /* message read last */
    struct unmatched *unmatched; /* owned */
    size_t count, capacity;
};

struct matching {
    struct diff *diff;
    const struct diff_options *options;
    struct diff_table *table;
    size_t listed;
    struct side sides[2];
};

/* ---- unmatched messages ---------------------------------------------------- */

static uint64_t diff_messages_mix_hash(uint64_t a, uint64_t b)
{
    uint64_t hash = (a ^ b) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t diff_messages_hash_bytes(const void *bytes, size_t length)
{
    const uint8_t *at = bytes;
    uint64_t hash = length, word;
    for (; length >= sizeof(word); at += sizeof(word), length -= sizeof(word)) {
        memcpy(&word, at, sizeof(word));
        hash = diff_messages_mix_hash(hash, word);
    }
    word = 0;
    memcpy(&word, at, length);
    return diff_messages_mix_hash(hash, word);
}

static int diff_messages_have_same_number(const struct recorded *a, const struct recorded *b)
{
    return a->seq == b->seq && a->instance == b->instance && a->window == b->window &&
           a->type == b->type;
}

static struct unmatched diff_messages_entry(const struct message *m)
{
    return (struct unmatched){m->head, diff_messages_hash_bytes(m->bytes, m->length), m->length};
}

/* ---- differences ----------------------------------------------------------- */

static const char *diff_messages_type_name(const struct recorded *head)
{
    return head->type == WIRE_TYPE_WINDOW  ? "window"
           : head->type == WIRE_TYPE_RANKS ? "ranks"
                                           : "captured";
}

static void diff_messages_print_key(struct diff_item *item, const struct recorded *head)
{
    text_copy(item->key, sizeof(item->key), diff_messages_type_name(head));
    if (head->type == WIRE_TYPE_WINDOW)
        text_append(item->key, sizeof(item->key), " %" PRIu64, head->window);
    text_append(item->key, sizeof(item->key), ", agent %" PRIx64 ", seq %" PRIu64, head->instance,
                head->seq);
}

static void diff_messages_add_only(struct matching *m, int which, const struct recorded *head)
{
    struct diff_item *item = diff_add_item(m->diff, m->options, m->table, &m->listed);
    m->table->only[which]++;
    m->diff->differences++;
    if (item == NULL)
        return;
    diff_messages_print_key(item, head);
    snprintf(item->value[which], sizeof(item->value[which]), "there");
}

/* Two messages that belong together: the first thing in which they differ. */
static void diff_messages_compare(struct matching *m, const struct unmatched *a,
                                  const struct unmatched *b)
{
    int same_bytes = a->length == b->length && a->hash == b->hash;
    if (same_bytes && memcmp(&a->head, &b->head, sizeof(a->head)) == 0)
        return;
    struct diff_item *item = diff_add_item(m->diff, m->options, m->table, &m->listed);
    const struct unmatched *both[2] = {a, b};
    m->table->differing++;
    m->diff->differences++;
    if (item == NULL)
        return;
    diff_messages_print_key(item, &a->head);
    snprintf(item->column, sizeof(item->column), "%s",
             a->head.seq != b->head.seq ? "seq"
             : same_bytes               ? "arrival"
                                        : "message");
    for (int i = 0; i < 2; i++) {
        if (a->head.seq != b->head.seq)
            snprintf(item->value[i], sizeof(item->value[i]), "%" PRIu64, both[i]->head.seq);
        else if (same_bytes)
            snprintf(item->value[i], sizeof(item->value[i]), "%" PRIu64, both[i]->head.received_ns);
        else
            snprintf(item->value[i], sizeof(item->value[i]), "%zu bytes, %016" PRIx64,
                     both[i]->length, both[i]->hash);
    }
}

/* ---- reading --------------------------------------------------------------- */

static int diff_messages_next(struct matching *m, int which)
{
    struct side *s = &m->sides[which];
    struct message *message = &s->message;
    int code = recording_cursor_next(s->cursor, &message->head, &message->bytes, &message->length);
    message->more = code == 1;
    m->table->rows[which] += (uint64_t)message->more;
    return code < 0 ? code : 0;
}

/* Both recordings are at the same message, as nearly always: compare directly. */
static int diff_messages_read_both(struct matching *m)
{
    const struct message *a = &m->sides[0].message, *b = &m->sides[1].message;
    if (a->length != b->length || memcmp(&a->head, &b->head, sizeof(a->head)) != 0 ||
        memcmp(a->bytes, b->bytes, a->length) != 0) {
        struct unmatched x = diff_messages_entry(a), y = diff_messages_entry(b);
        diff_messages_compare(m, &x, &y);
    }
    int code = diff_messages_next(m, 0);
    return code != 0 ? code : diff_messages_next(m, 1);
}

static int diff_messages_read_one(struct matching *m, int which)
{
    struct side *s = &m->sides[which];
    if (ARRAY_FIT(s->unmatched, s->capacity, s->count + 1) != 0)
        return -ENOMEM;
    s->unmatched[s->count++] = diff_messages_entry(&s->message);
    return diff_messages_next(m, which);
}

/* Read the recording whose message arrived earlier. */
static int diff_messages_step(struct matching *m)
{
    const struct message *a = &m->sides[0].message, *b = &m->sides[1].message;
    if (a->more && b->more && diff_messages_have_same_number(&a->head, &b->head))
        return diff_messages_read_both(m);
    return diff_messages_read_one(m, !a->more ||
                                         (b->more && b->head.received_ns < a->head.received_ns));
}

/* ---- the remaining messages ----------------------------------------------------- */

static int diff_messages_compare_by_window(const struct recorded *a, const struct recorded *b)
{
    return 4 * ORDER(a->type, b->type) + 2 * ORDER(a->window, b->window) +
           ORDER(a->instance, b->instance);
}

ORDER_FUNCTION(diff_messages_compare_by_number, struct unmatched,
               2 * diff_messages_compare_by_window(&a->head, &b->head) +
                   ORDER(a->head.seq, b->head.seq))

/* Compare messages of the same window, or, with `exact`, of the same number. Those with a match are
 * removed from both sides; the others stay. */
static void diff_messages_join(struct matching *m, int exact)
{
    struct side *a = &m->sides[0], *b = &m->sides[1];
    size_t left[2] = {0, 0};
    for (size_t i = 0, k = 0; i < a->count || k < b->count;) {
        const struct unmatched *x = i < a->count ? &a->unmatched[i] : NULL;
        const struct unmatched *y = k < b->count ? &b->unmatched[k] : NULL;
        int order = x == NULL   ? 1
                    : y == NULL ? -1
                    : exact     ? diff_messages_compare_by_number(x, y)
                                : diff_messages_compare_by_window(&x->head, &y->head);
        if (order == 0)
            diff_messages_compare(m, x, y);
        else if (order < 0)
            a->unmatched[left[0]++] = *x;
        else
            b->unmatched[left[1]++] = *y;
        i += order <= 0;
        k += order >= 0;
    }
    a->count = left[0];
    b->count = left[1];
}

static void diff_messages_compare_rest(struct matching *m)
{
    for (int i = 0; i < 2; i++)
        if (m->sides[i].count > 1)
            qsort(m->sides[i].unmatched, m->sides[i].count, sizeof(*m->sides[i].unmatched),
                  diff_messages_compare_by_number);
    diff_messages_join(m, 1);
    diff_messages_join(m, 0);
    for (int i = 0; i < 2; i++)
        for (size_t n = 0; n < m->sides[i].count; n++)
            diff_messages_add_only(m, i, &m->sides[i].unmatched[n].head);
}

int diff_messages(struct diff *diff, const struct diff_options *options, struct diff_table *table,
                  struct recording_cursor *cursors[2], uint64_t total)
{
    struct matching m = {.diff = diff, .options = options, .table = table};
    for (int i = 0; i < 2; i++)
        m.sides[i] = (struct side){.cursor = cursors[i]};
    int code = diff_messages_next(&m, 0);
    code = code != 0 ? code : diff_messages_next(&m, 1);
    while (code == 0 && (m.sides[0].message.more || m.sides[1].message.more)) {
        code = diff_messages_step(&m);
        /* Only messages count: they take nearly all of the time. Most come in twos. */
        recording_show_progress(&options->progress, (table->rows[0] + table->rows[1]) / 2 * 2,
                                total);
    }
    if (code == 0)
        diff_messages_compare_rest(&m);
    free(m.sides[0].unmatched);
    free(m.sides[1].unmatched);
    return code;
}
