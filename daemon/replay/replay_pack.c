#define ZSTD_STATIC_LINKING_ONLY /* contexts that allocate nothing */
#include "daemon/replay/replay_pack.h"

#include "holter/error.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#define LEVEL 3
#define PIECE ((size_t)256 << 10) /* packed at once, at most; a mebibyte takes longer to open */
#define OWN_MMAP (32 << 20)       /* as much as mallopt(3) takes */
#define OPENERS 4u
#define WORTH_A_HELPER ((size_t)8 << 20)
#define STACK ((size_t)64 << 10)
#define BATCH 512u /* entries of pagemap read at once */
/* proc(5), /proc/pid/pagemap. */
#define PAGE_PRESENT (UINT64_C(1) << 63)
#define PAGE_SWAPPED (UINT64_C(1) << 62)

/* A run of pages, and behind it its bytes, packed; the next one begins at a multiple of 16. */
struct piece {
    uint64_t address;
    uint32_t length, packed;
};

/* Opens a part of the pieces. */
struct helper {
    struct replay_pack *pack;
    size_t share, shares;
    int process, code;
};

struct replay_pack {
    size_t mapped; /* of this mapping, which all lies in */
    size_t page;
    uintptr_t begin, end; /* of the heap */
    ZSTD_CCtx *packer;
    ZSTD_DCtx *openers[OPENERS];
    uint8_t *stacks; /* of those that help to open it */
    uint8_t *pieces;
    size_t used; /* bytes of pieces */
    size_t bytes;
    struct helper helpers[OPENERS]; /* the first is the process itself */
};

void replay_pack_prepare(void)
{
    mallopt(M_MMAP_THRESHOLD, OWN_MMAP);
    mallopt(M_TRIM_THRESHOLD, 2 * OWN_MMAP); /* as malloc has it for this threshold */
    mallopt(M_TOP_PAD, OWN_MMAP);            /* or it asks the system for more in every window */
}

/* ---- what there is to pack ------------------------------------------------------------ */

/* Field start_brk of /proc/self/stat (proc(5)): the 47th; the second, in parentheses, may have
 * spaces. */
static uintptr_t heap_begin(void)
{
    char text[2048];
    int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0)
        close(fd);
    if (got <= 0)
        return 0;
    text[got] = '\0';
    const char *at = strrchr(text, ')');
    for (int field = 2; at != NULL && field < 47; field++)
        at = strchr(at + 1, ' ');
    return at == NULL ? 0 : (uintptr_t)strtoull(at + 1, NULL, 10);
}

static int is_there(uint64_t entry)
{
    return (entry & (PAGE_PRESENT | PAGE_SWAPPED)) != 0;
}

/* ---- packing -------------------------------------------------------------------------- */

static size_t aligned(size_t bytes)
{
    return (bytes + 15) & ~(size_t)15;
}

static struct piece *piece_at(const struct replay_pack *p, size_t at)
{
    return (struct piece *)(void *)(p->pieces + at);
}

static size_t behind(const struct piece *piece)
{
    return aligned(sizeof(*piece) + piece->packed);
}

static size_t most_of(size_t length)
{
    return aligned(sizeof(struct piece) + ZSTD_compressBound(length));
}

static int pack_run(struct replay_pack *p, uintptr_t from, size_t length)
{
    struct piece *piece = piece_at(p, p->used);
    size_t packed = ZSTD_compressCCtx(p->packer, piece + 1, ZSTD_compressBound(length),
                                      (const void *)from, length, LEVEL);
    if (ZSTD_isError(packed))
        return -ENOMEM;
    *piece = (struct piece){from, (uint32_t)length, (uint32_t)packed};
    p->used += behind(piece);
    p->bytes += length;
    return 0;
}

/* Pages that were never touched, or given back, are left out. */
static int pack_all(struct replay_pack *p, int pagemap, int (*goes_on)(void *user), void *user)
{
    uint64_t entries[BATCH];
    uintptr_t run = p->begin; /* where pages begin that are to be packed next */
    int code = 0;
    for (uintptr_t at = p->begin; code == 0 && at < p->end;) {
        size_t pages = (p->end - at) / p->page;
        pages = pages < BATCH ? pages : BATCH;
        ssize_t want = (ssize_t)(pages * sizeof(*entries));
        if (pread(pagemap, entries, (size_t)want, (off_t)(at / p->page * sizeof(*entries))) != want)
            return -EIO;
        for (size_t i = 0; code == 0 && i < pages; i++, at += p->page) {
            int there = is_there(entries[i]);
            if (at > run && (!there || at - run >= PIECE)) {
                code = goes_on != NULL && !goes_on(user) ? -ECANCELED : pack_run(p, run, at - run);
                run = at;
            }
            run = there ? run : at + p->page;
        }
    }
    return code == 0 && p->end > run ? pack_run(p, run, p->end - run) : code;
}

/* One mapping: this, the contexts, and room for the pieces, of which memory is taken as it is
 * written. */
static int map(struct replay_pack **out)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = heap_begin(), end = (uintptr_t)sbrk(0);
    if (begin == 0 || end < begin)
        return -ENOSYS;
    begin = (begin + page - 1) / page * page;
    end = end / page * page;
    size_t pages = end > begin ? (end - begin) / page : 0;
    size_t head = aligned(sizeof(struct replay_pack)),
           packer = aligned(ZSTD_estimateCCtxSize(LEVEL)),
           opener = aligned(ZSTD_estimateDCtxSize());
    size_t fixed = head + packer + OPENERS * (opener + STACK);
    size_t mapped = fixed + (pages + 1) * most_of(page);
    uint8_t *at = mmap(NULL, mapped, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return -errno;
    struct replay_pack *p = (struct replay_pack *)(void *)at;
    *p = (struct replay_pack){.mapped = mapped,
                              .page = page,
                              .begin = begin,
                              .end = end,
                              .packer = ZSTD_initStaticCCtx(at + head, packer),
                              .stacks = at + fixed - OPENERS * STACK,
                              .pieces = at + fixed};
    for (size_t i = 0; i < OPENERS; i++)
        p->openers[i] = ZSTD_initStaticDCtx(at + head + packer + i * opener, opener);
    *out = p;
    return 0;
}

/* There was room for all that might be. */
static void give_back_rest(struct replay_pack *p)
{
    uint8_t *begin = (uint8_t *)p;
    size_t used = (size_t)(p->pieces - begin) + p->used;
    used = (used + p->page - 1) / p->page * p->page;
    if (used < p->mapped && munmap(begin + used, p->mapped - used) == 0)
        p->mapped = used;
}

int replay_pack_make(struct replay_pack **out, int (*goes_on)(void *user), void *user)
{
    struct replay_pack *p = NULL;
    int code = map(&p);
    if (code != 0)
        return code;
    int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    code = pagemap < 0                                  ? -errno
           : p->packer == NULL || p->openers[0] == NULL ? -ENOMEM
                                                        : pack_all(p, pagemap, goes_on, user);
    if (pagemap >= 0)
        close(pagemap);
    if (code != 0) {
        replay_pack_free(p);
        return code;
    }
    give_back_rest(p);
    replay_pack_shut(p);
    *out = p;
    return 0;
}

/* ---- opening and shutting --------------------------------------------------------------- */

/* Each of some processes opens every so-and-so-manieth piece. */
static int open_share(struct replay_pack *p, size_t share, size_t shares)
{
    size_t number = 0;
    for (size_t at = 0; at < p->used; at += behind(piece_at(p, at)), number++) {
        const struct piece *piece = piece_at(p, at);
        void *to = (void *)(uintptr_t)piece->address;
        if (number % shares == share &&
            ZSTD_decompressDCtx(p->openers[share], to, piece->length, piece + 1, piece->packed) !=
                piece->length)
            return -HOLTER_ECORRUPT;
    }
    return 0;
}

static int help(void *user)
{
    struct helper *h = user;
    h->code = open_share(h->pack, h->share, h->shares);
    return 0;
}

static size_t shares_of(const struct replay_pack *p)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t most = p->bytes / WORTH_A_HELPER + 1;
    most = most < OPENERS ? most : OPENERS;
    return processors < 1 ? 1 : (size_t)processors < most ? (size_t)processors : most;
}

/* Who seeks waits for this, so all processors take part. They share the memory as threads do; but
 * to start a thread takes memory from the heap, which is not there yet. */
int replay_pack_open(struct replay_pack *p)
{
    size_t shares = shares_of(p);
    int code = 0;
    for (size_t i = 1; i < shares; i++) {
        struct helper *h = &p->helpers[i];
        *h = (struct helper){.pack = p, .share = i, .shares = shares, .code = -EAGAIN};
        h->process = clone(help, p->stacks + (i + 1) * STACK, CLONE_VM | SIGCHLD, h);
    }
    code = open_share(p, 0, shares);
    for (size_t i = 1; i < shares; i++) {
        struct helper *h = &p->helpers[i];
        /* Where SIGCHLD is ignored this fails, but when it has ended. */
        while (h->process > 0 && waitpid(h->process, NULL, 0) < 0 && errno == EINTR)
            ;
        if (h->process < 0)
            h->code = open_share(p, i, shares);
        code = code != 0 ? code : h->code;
    }
    return code;
}

void replay_pack_shut(struct replay_pack *p)
{
    for (size_t at = 0; at < p->used;) {
        const struct piece *piece = piece_at(p, at);
        madvise((void *)(uintptr_t)piece->address, piece->length, MADV_DONTNEED);
        at += behind(piece);
    }
}

void replay_pack_free(struct replay_pack *p)
{
    if (p != NULL)
        munmap(p, p->mapped);
}

size_t replay_pack_bytes(const struct replay_pack *p)
{
    return p->bytes;
}

size_t replay_pack_packed(const struct replay_pack *p)
{
    return p->used;
}
