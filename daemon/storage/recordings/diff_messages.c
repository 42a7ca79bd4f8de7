#include "daemon/storage/recordings/diff_messages.h"

#include "daemon/analysis/tables/array.h"
#include "holter/wire.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SHOW_EVERY 256u
#define NONE UINT32_MAX

/* A message that was met in one recording, and not yet in the other. */
struct waiting {
    struct recorded head;
    uint64_t hash; /* of its bytes */
    size_t length;
    uint32_t next; /* in its chain, or among those that are free */
};

struct message {
    struct recorded head;
    const void *bytes;
    size_t length;
    int more;
};

struct side {
    struct recording_cursor *cursor;
    struct message message;  /* the next one */
    struct waiting *waiting; /* owned */
    size_t room;
    uint32_t count, left, free; /* places that were used; messages in them; the first free one */
    uint32_t *chains;           /* owned: the first of each */
    uint32_t mask;              /* chains less one */
};

struct matching {
    struct diff *diff;
    const struct diff_options *options;
    struct diff_table *table;
    size_t listed;
    struct side sides[2];
};

/* ---- messages that wait ---------------------------------------------------- */

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

static uint32_t chain_of(const struct side *s, const struct recorded *head)
{
    return (uint32_t)(diff_messages_mix_hash(
                          diff_messages_mix_hash(diff_messages_mix_hash(head->type, head->instance),
                                                 head->window),
                          head->seq) >>
                      8) &
           s->mask;
}

static int is_same_number(const struct recorded *a, const struct recorded *b)
{
    return a->seq == b->seq && a->instance == b->instance && a->window == b->window &&
           a->type == b->type;
}

/* As many chains as there are places: half of them are empty. */
static int diff_messages_reserve(struct side *s)
{
    if (s->free != NONE)
        return 0;
    if (s->count == NONE - 1 ||
        array_fit(&s->waiting, sizeof(*s->waiting), &s->room, s->count + (size_t)1) != 0)
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
    for (uint32_t i = 0; i < s->count; i++) { /* none is free: all of them wait */
        uint32_t chain = chain_of(s, &s->waiting[i].head);
        s->waiting[i].next = s->chains[chain];
        s->chains[chain] = i;
    }
    return 0;
}

static int wait_for_other(struct side *s)
{
    const struct message *m = &s->message;
    if (diff_messages_reserve(s) != 0)
        return -ENOMEM;
    uint32_t place = s->free, chain = chain_of(s, &m->head);
    if (place != NONE)
        s->free = s->waiting[place].next;
    else
        place = s->count++;
    s->waiting[place] = (struct waiting){m->head, diff_messages_hash_bytes(m->bytes, m->length),
                                         m->length, s->chains[chain]};
    s->chains[chain] = place;
    s->left++;
    return 0;
}

/* Take out the one of this number. @return 0: there is none */
static int diff_messages_read_message(struct side *s, const struct recorded *head,
                                      struct waiting *out)
{
    if (s->left == 0)
        return 0;
    uint32_t *link = &s->chains[chain_of(s, head)];
    while (*link != NONE && !is_same_number(&s->waiting[*link].head, head))
        link = &s->waiting[*link].next;
    if (*link == NONE)
        return 0;
    uint32_t place = *link;
    *out = s->waiting[place];
    *link = out->next;
    s->waiting[place].next = s->free;
    s->waiting[place].head.type = 0; /* no message has it */
    s->free = place;
    s->left--;
    return 1;
}

/* ---- differences ----------------------------------------------------------- */

static const char *type_name(const struct recorded *head)
{
    return head->type == WIRE_TYPE_WINDOW  ? "window"
           : head->type == WIRE_TYPE_RANKS ? "ranks"
                                           : "captured";
}

static void diff_messages_print_key(struct diff_item *item, const struct recorded *head)
{
    size_t used = (size_t)snprintf(item->key, sizeof(item->key), "%s", type_name(head));
    if (head->type == WIRE_TYPE_WINDOW)
        used +=
            (size_t)snprintf(item->key + used, sizeof(item->key) - used, " %" PRIu64, head->window);
    snprintf(item->key + used, sizeof(item->key) - used, ", agent %" PRIx64 ", seq %" PRIu64,
             head->instance, head->seq);
}

static void diff_messages_add_only(struct matching *m, int which, const struct recorded *head)
{
    struct diff_item *item = diff_new_item(m->diff, m->options, m->table, &m->listed);
    m->table->only[which]++;
    m->diff->differences++;
    if (item == NULL)
        return;
    diff_messages_print_key(item, head);
    snprintf(item->value[which], sizeof(item->value[which]), "there");
}

/* Two messages that belong together: the first thing in which they differ. */
static void diff_messages_compare(struct matching *m, const struct waiting *a,
                                  const struct waiting *b)
{
    int same_bytes = a->length == b->length && a->hash == b->hash;
    if (same_bytes && memcmp(&a->head, &b->head, sizeof(a->head)) == 0)
        return;
    struct diff_item *item = diff_new_item(m->diff, m->options, m->table, &m->listed);
    const struct waiting *both[2] = {a, b};
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

/* Messages take nearly all of the time. */
static void diff_messages_report_progress(const struct matching *m, uint64_t most)
{
    const struct recording_progress *p = &m->options->progress;
    uint64_t done = m->table->rows[0] + m->table->rows[1];
    if (p->show != NULL && done % SHOW_EVERY < 2 && most > 0)
        p->show(p->user, done < most ? (double)done / (double)most : 1);
}

/* Both stand at the same message, as they do nearly always: neither has to wait. */
static int diff_messages_read_both(struct matching *m)
{
    const struct message *a = &m->sides[0].message, *b = &m->sides[1].message;
    if (a->length != b->length || memcmp(&a->head, &b->head, sizeof(a->head)) != 0 ||
        memcmp(a->bytes, b->bytes, a->length) != 0) {
        struct waiting x = {a->head, diff_messages_hash_bytes(a->bytes, a->length), a->length,
                            NONE};
        struct waiting y = {b->head, diff_messages_hash_bytes(b->bytes, b->length), b->length,
                            NONE};
        diff_messages_compare(m, &x, &y);
    }
    int code = diff_messages_next(m, 0);
    return code != 0 ? code : diff_messages_next(m, 1);
}

static int diff_messages_read_one(struct matching *m, int which)
{
    struct side *s = &m->sides[which];
    struct waiting other, this = {s->message.head, 0, s->message.length, NONE};
    int code = 0;
    if (diff_messages_read_message(&m->sides[1 - which], &this.head, &other)) {
        this.hash = diff_messages_hash_bytes(s->message.bytes, s->message.length);
        diff_messages_compare(m, which == 0 ? &this : &other, which == 0 ? &other : &this);
    } else {
        code = wait_for_other(s);
    }
    return code != 0 ? code : diff_messages_next(m, which);
}

/* The recording that is behind, by the arrival of its messages, is read on. */
static int diff_messages_step(struct matching *m)
{
    const struct message *a = &m->sides[0].message, *b = &m->sides[1].message;
    if (a->more && b->more && is_same_number(&a->head, &b->head))
        return diff_messages_read_both(m);
    return diff_messages_read_one(m, !a->more ||
                                         (b->more && b->head.received_ns < a->head.received_ns));
}

/* ---- what has no other ----------------------------------------------------- */

static int diff_messages_order_of(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_window(const struct recorded *a, const struct recorded *b)
{
    int order = diff_messages_order_of(a->type, b->type);
    order = order != 0 ? order : diff_messages_order_of(a->window, b->window);
    return order != 0 ? order : diff_messages_order_of(a->instance, b->instance);
}

static int diff_messages_compare_by_number(const void *left, const void *right)
{
    const struct waiting *a = left, *b = right;
    int order = by_window(&a->head, &b->head);
    return order != 0 ? order : diff_messages_order_of(a->head.seq, b->head.seq);
}

/* Those that still wait, in order, without the places that are free. */
static void sort_rest(struct side *s)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->count; i++)
        if (s->waiting[i].head.type != 0)
            s->waiting[count++] = s->waiting[i];
    if (count > 1)
        qsort(s->waiting, count, sizeof(*s->waiting), diff_messages_compare_by_number);
    s->count = count;
}

static void diff_messages_compare_rest(struct matching *m)
{
    struct side *a = &m->sides[0], *b = &m->sides[1];
    sort_rest(a);
    sort_rest(b);
    for (uint32_t i = 0, k = 0; i < a->count || k < b->count;) {
        int order = i == a->count   ? 1
                    : k == b->count ? -1
                                    : by_window(&a->waiting[i].head, &b->waiting[k].head);
        if (order == 0)
            diff_messages_compare(m, &a->waiting[i], &b->waiting[k]);
        else
            diff_messages_add_only(m, order > 0,
                                   order < 0 ? &a->waiting[i].head : &b->waiting[k].head);
        i += (uint32_t)(order <= 0);
        k += (uint32_t)(order >= 0);
    }
}

int diff_messages(struct diff *diff, const struct diff_options *options, struct diff_table *table,
                  struct recording_cursor *cursors[2], uint64_t most)
{
    struct matching m = {.diff = diff, .options = options, .table = table};
    for (int i = 0; i < 2; i++)
        m.sides[i] = (struct side){.cursor = cursors[i], .free = NONE};
    int code = diff_messages_next(&m, 0);
    code = code != 0 ? code : diff_messages_next(&m, 1);
    while (code == 0 && (m.sides[0].message.more || m.sides[1].message.more)) {
        code = diff_messages_step(&m);
        diff_messages_report_progress(&m, most);
    }
    if (code == 0)
        diff_messages_compare_rest(&m);
    for (int i = 0; i < 2; i++) {
        free(m.sides[i].waiting);
        free(m.sides[i].chains);
    }
    return code;
}
