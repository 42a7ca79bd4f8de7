/* Compares the messages of two recordings. Both are read in parallel, in the order of arrival; a
 * message without its match in the other recording yet is stored in a hash table. */
#include "daemon/storage/recordings/diff_messages.h"

#include "daemon/analysis/tables/array.h"
#include "holter/wire.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PROGRESS_INTERVAL 256u
#define NONE UINT32_MAX

/* A message of one recording whose match in the other has not been read yet. */
struct unmatched {
    struct recorded head;
    uint64_t hash; /* of its bytes */
    size_t length;
    uint32_t next; /* next in its chain, or in the list of free entries */
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
    size_t capacity;
    uint32_t count, left, free; /* entries in use or free; messages in them; first free entry */
    uint32_t *chains;           /* owned: first entry of each chain */
    uint32_t mask;              /* number of chains - 1; their number is a power of two */
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

static uint32_t diff_messages_chain(const struct side *s, const struct recorded *head)
{
    return (uint32_t)(diff_messages_mix_hash(
                          diff_messages_mix_hash(diff_messages_mix_hash(head->type, head->instance),
                                                 head->window),
                          head->seq) >>
                      8) &
           s->mask;
}

static int diff_messages_have_same_number(const struct recorded *a, const struct recorded *b)
{
    return a->seq == b->seq && a->instance == b->instance && a->window == b->window &&
           a->type == b->type;
}

/* Chains are as many as entries: about half of them are empty. */
static int diff_messages_reserve(struct side *s)
{
    if (s->free != NONE)
        return 0;
    if (s->count == NONE - 1 ||
        array_fit(&s->unmatched, sizeof(*s->unmatched), &s->capacity, s->count + (size_t)1) != 0)
        return -ENOMEM;
    if (s->chains != NULL && s->count <= s->mask)
        return 0;
    uint32_t chains = s->chains == NULL ? 1024 : 2 * (s->mask + 1);
    uint32_t *grown = realloc(s->chains, chains * sizeof(*grown));
    if (grown == NULL)
        return -ENOMEM;
    s->chains = grown;
    s->mask = chains - 1;
    memset(grown, 0xff, chains * sizeof(*grown));
    for (uint32_t i = 0; i < s->count; i++) { /* no entry is free: all have messages */
        uint32_t chain = diff_messages_chain(s, &s->unmatched[i].head);
        s->unmatched[i].next = s->chains[chain];
        s->chains[chain] = i;
    }
    return 0;
}

static int diff_messages_store_unmatched(struct side *s)
{
    const struct message *m = &s->message;
    if (diff_messages_reserve(s) != 0)
        return -ENOMEM;
    uint32_t place = s->free, chain = diff_messages_chain(s, &m->head);
    if (place != NONE)
        s->free = s->unmatched[place].next;
    else
        place = s->count++;
    s->unmatched[place] = (struct unmatched){m->head, diff_messages_hash_bytes(m->bytes, m->length),
                                             m->length, s->chains[chain]};
    s->chains[chain] = place;
    s->left++;
    return 0;
}

/* Find and remove the message of the same number. @return 0: there is none */
static int diff_messages_remove_match(struct side *s, const struct recorded *head,
                                      struct unmatched *out)
{
    if (s->left == 0)
        return 0;
    uint32_t *link = &s->chains[diff_messages_chain(s, head)];
    while (*link != NONE && !diff_messages_have_same_number(&s->unmatched[*link].head, head))
        link = &s->unmatched[*link].next;
    if (*link == NONE)
        return 0;
    uint32_t place = *link;
    *out = s->unmatched[place];
    *link = out->next;
    s->unmatched[place].next = s->free;
    s->unmatched[place].head.type = 0; /* no message has this type */
    s->free = place;
    s->left--;
    return 1;
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
    size_t used =
        (size_t)snprintf(item->key, sizeof(item->key), "%s", diff_messages_type_name(head));
    if (head->type == WIRE_TYPE_WINDOW)
        used +=
            (size_t)snprintf(item->key + used, sizeof(item->key) - used, " %" PRIu64, head->window);
    snprintf(item->key + used, sizeof(item->key) - used, ", agent %" PRIx64 ", seq %" PRIu64,
             head->instance, head->seq);
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

/* Only messages count for progress: they take nearly all of the time. */
static void diff_messages_report_progress(const struct matching *m, uint64_t total)
{
    const struct recording_progress *p = &m->options->progress;
    uint64_t done = m->table->rows[0] + m->table->rows[1];
    if (p->show != NULL && done % PROGRESS_INTERVAL < 2 && total > 0)
        p->show(p->user, done < total ? (double)done / (double)total : 1);
}

/* Both recordings are at the same message, as nearly always: compare directly. */
static int diff_messages_read_both(struct matching *m)
{
    const struct message *a = &m->sides[0].message, *b = &m->sides[1].message;
    if (a->length != b->length || memcmp(&a->head, &b->head, sizeof(a->head)) != 0 ||
        memcmp(a->bytes, b->bytes, a->length) != 0) {
        struct unmatched x = {a->head, diff_messages_hash_bytes(a->bytes, a->length), a->length,
                              NONE};
        struct unmatched y = {b->head, diff_messages_hash_bytes(b->bytes, b->length), b->length,
                              NONE};
        diff_messages_compare(m, &x, &y);
    }
    int code = diff_messages_next(m, 0);
    return code != 0 ? code : diff_messages_next(m, 1);
}

static int diff_messages_read_one(struct matching *m, int which)
{
    struct side *s = &m->sides[which];
    struct unmatched other, this = {s->message.head, 0, s->message.length, NONE};
    int code = 0;
    if (diff_messages_remove_match(&m->sides[1 - which], &this.head, &other)) {
        this.hash = diff_messages_hash_bytes(s->message.bytes, s->message.length);
        diff_messages_compare(m, which == 0 ? &this : &other, which == 0 ? &other : &this);
    } else {
        code = diff_messages_store_unmatched(s);
    }
    return code != 0 ? code : diff_messages_next(m, which);
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

static int diff_messages_compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int diff_messages_compare_by_window(const struct recorded *a, const struct recorded *b)
{
    int order = diff_messages_compare_u64(a->type, b->type);
    order = order != 0 ? order : diff_messages_compare_u64(a->window, b->window);
    return order != 0 ? order : diff_messages_compare_u64(a->instance, b->instance);
}

static int diff_messages_compare_by_number(const void *left, const void *right)
{
    const struct unmatched *a = left, *b = right;
    int order = diff_messages_compare_by_window(&a->head, &b->head);
    return order != 0 ? order : diff_messages_compare_u64(a->head.seq, b->head.seq);
}

/* Sort the unmatched messages and remove the free entries. */
static void diff_messages_sort_rest(struct side *s)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->count; i++)
        if (s->unmatched[i].head.type != 0)
            s->unmatched[count++] = s->unmatched[i];
    if (count > 1)
        qsort(s->unmatched, count, sizeof(*s->unmatched), diff_messages_compare_by_number);
    s->count = count;
}

static void diff_messages_compare_rest(struct matching *m)
{
    struct side *a = &m->sides[0], *b = &m->sides[1];
    diff_messages_sort_rest(a);
    diff_messages_sort_rest(b);
    for (uint32_t i = 0, k = 0; i < a->count || k < b->count;) {
        int order = i == a->count   ? 1
                    : k == b->count ? -1
                                    : diff_messages_compare_by_window(&a->unmatched[i].head,
                                                                      &b->unmatched[k].head);
        if (order == 0)
            diff_messages_compare(m, &a->unmatched[i], &b->unmatched[k]);
        else
            diff_messages_add_only(m, order > 0,
                                   order < 0 ? &a->unmatched[i].head : &b->unmatched[k].head);
        i += (uint32_t)(order <= 0);
        k += (uint32_t)(order >= 0);
    }
}

int diff_messages(struct diff *diff, const struct diff_options *options, struct diff_table *table,
                  struct recording_cursor *cursors[2], uint64_t total)
{
    struct matching m = {.diff = diff, .options = options, .table = table};
    for (int i = 0; i < 2; i++)
        m.sides[i] = (struct side){.cursor = cursors[i], .free = NONE};
    int code = diff_messages_next(&m, 0);
    code = code != 0 ? code : diff_messages_next(&m, 1);
    while (code == 0 && (m.sides[0].message.more || m.sides[1].message.more)) {
        code = diff_messages_step(&m);
        diff_messages_report_progress(&m, total);
    }
    if (code == 0)
        diff_messages_compare_rest(&m);
    for (int i = 0; i < 2; i++) {
        free(m.sides[i].unmatched);
        free(m.sides[i].chains);
    }
    return code;
}
