/* Makes, maps and checks segments. */
#include "holter/segment.h"

#include "holter/error.h"
#include "holter/plain_text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEGMENT_PATH_BYTES 320 /* of the longest name of a file in /dev/shm */
#define RINGS_MAX 4096u
#define TABLE_MAX 65534u /* slots whose index fits event.comm beside COMM_SLOT_* */

uint32_t segment_ring_records(const char *text)
{
    char *end;
    unsigned long records = strtoul(text, &end, 10);
    if (*end || records < 1024 || records > 4194304 || (records & (records - 1)) != 0)
        return 0;
    return (uint32_t)records;
}

static uint32_t ring_capacity(const struct segment_shape *shape, uint32_t index)
{
    if (index == 0)
        return shape->first_capacity;
    return index < 4 ? shape->early_capacity : shape->late_capacity;
}

static size_t records_offset(const struct segment_shape *shape)
{
    return SEGMENT_HEADER_BYTES + shape->rings * sizeof(struct ring_control) +
           shape->comms * sizeof(struct comm_slot) + shape->regions * sizeof(struct region_slot) +
           shape->carts * sizeof(struct cart_slot) + SEGMENT_SOURCES * sizeof(struct source_slot);
}

static size_t ring_bytes(const struct segment_shape *shape, uint32_t index)
{
    uint32_t capacity = ring_capacity(shape, index);
    return capacity * sizeof(struct event) + tally_rows_of(capacity) * sizeof(struct tally_row);
}

size_t segment_bytes(const struct segment_shape *shape)
{
    size_t bytes = records_offset(shape);
    for (uint32_t i = 0; i < shape->rings; i++)
        bytes += ring_bytes(shape, i);
    return bytes;
}

static int session_char(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

int segment_name(char *out, size_t capacity, uint32_t uid, const char *session, int32_t pid)
{
    size_t n = 0;
    while (session[n] && session_char(session[n]))
        n++;
    if (n == 0 || n > 31 || session[n])
        return -HOLTER_ERANGE;
    int length = snprintf(out, capacity, "/holter.%" PRIu32 ".%s.%" PRId32, uid, session, pid);
    return length > 0 && (size_t)length < capacity ? 0 : -HOLTER_ERANGE;
}

/* Parse a decimal number without sign or leading zeros, up to a dot or the end. @return the
 * position after it, or NULL */
static const char *parse_number(const char *text, uint64_t max, uint64_t *out)
{
    const char *end = text_number(text, max, out);
    return text[0] == '0' && end != text + 1 ? NULL : end;
}

int segment_name_extend(char *name, size_t capacity, uint64_t number)
{
    size_t length = strlen(name);
    int added = snprintf(name + length, capacity - length, ".%016" PRIx64, number);
    return added > 0 && (size_t)added < capacity - length ? 0 : -HOLTER_ERANGE;
}

int segment_name_parse(const char *name, uint32_t *uid, char session[32], int32_t *pid)
{
    static const char prefix[] = "holter.";
    uint64_t user, process;
    if (strncmp(name, prefix, sizeof(prefix) - 1) != 0)
        return -HOLTER_EMALFORMED;
    const char *p = parse_number(name + sizeof(prefix) - 1, UINT32_MAX, &user);
    if (!p || *p++ != '.')
        return -HOLTER_EMALFORMED;
    const char *key = p;
    while (session_char(*p))
        p++;
    size_t length = (size_t)(p - key);
    if (length == 0 || length > 31 || *p++ != '.')
        return -HOLTER_EMALFORMED;
    p = parse_number(p, INT32_MAX, &process);
    if (!p || process == 0)
        return -HOLTER_EMALFORMED;
    size_t suffix = *p == '.' ? strspn(p + 1, "0123456789abcdef") : 0;
    if (*p && (suffix == 0 || suffix > SEGMENT_SUFFIX_DIGITS || p[1 + suffix]))
        return -HOLTER_EMALFORMED;
    *uid = (uint32_t)user;
    memcpy(session, key, length);
    session[length] = '\0';
    *pid = (int32_t)process;
    return 0;
}

static int shape_valid(const struct segment_shape *shape)
{
    if (shape->rings == 0 || shape->rings > RINGS_MAX || shape->comms > TABLE_MAX ||
        shape->regions > TABLE_MAX || shape->carts > TABLE_MAX)
        return 0;
    for (uint32_t i = 0; i < shape->rings; i++) {
        uint32_t capacity = ring_capacity(shape, i);
        if (capacity < 2 || (capacity & (capacity - 1)) != 0)
            return 0;
    }
    return 1;
}

/* Left at 0 it would say that record 0 has been entered, while it is still being filled. */
static void segment_prepare_ring(struct segment *segment, uint32_t index)
{
    struct ring_control *ring = segment_ring(segment, index);
    struct event *first = (struct event *)(void *)((char *)segment + ring->offset);
    first->seq = UINT64_MAX;
}

static void segment_set_offsets(struct segment *segment, const struct segment_shape *shape)
{
    segment->magic = SEGMENT_MAGIC;
    segment->version = SEGMENT_VERSION;
    segment->bytes = segment_bytes(shape);
    segment->rings = shape->rings;
    segment->comms = shape->comms;
    segment->regions = shape->regions;
    segment->carts = shape->carts;
    segment->rings_offset = SEGMENT_HEADER_BYTES;
    segment->comms_offset = segment->rings_offset + shape->rings * sizeof(struct ring_control);
    segment->regions_offset = segment->comms_offset + shape->comms * sizeof(struct comm_slot);
    segment->carts_offset = segment->regions_offset + shape->regions * sizeof(struct region_slot);
    segment->sources_offset = segment->carts_offset + shape->carts * sizeof(struct cart_slot);
    atomic_store_explicit(&segment->rank, -1, memory_order_relaxed);
    uint64_t offset = records_offset(shape);
    for (uint32_t i = 0; i < shape->rings; i++) {
        struct ring_control *ring = segment_ring(segment, i);
        ring->capacity = ring_capacity(shape, i);
        ring->offset = offset;
        ring->tally_offset = offset + ring->capacity * sizeof(struct event);
        ring->tally_capacity = tally_rows_of(ring_capacity(shape, i));
        offset += ring_bytes(shape, i);
    }
    segment_prepare_ring(segment, 0);
}

/* Shared memory is a file, and whoever makes one beyond its limit is ended by SIGXFSZ
 * (setrlimit(2)): the application would be. */
static int may_be_made(size_t bytes)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           bytes <= limit.rlim_cur;
}

/* posix_fallocate() gives up when a signal arrives; profilers' timers send many. @return errno */
static int segment_reserve_file(int fd, size_t offset, size_t bytes)
{
    int error;
    do {
        error = posix_fallocate(fd, (off_t)offset, (off_t)bytes);
    } while (error == EINTR);
    return error;
}

/* The file of a name, see segment_open_file(). @return 0: it is too long */
static int segment_path(char out[SEGMENT_PATH_BYTES], const char *name)
{
    int length = snprintf(out, SEGMENT_PATH_BYTES, "/dev/shm%s", name);
    return length > 0 && length < SEGMENT_PATH_BYTES;
}

/* As shm_open(3), which is in a library of its own before glibc 2.34: the probe must not need that.
 * @param flags  with O_NONBLOCK where another user may have put a FIFO there */
static int segment_open_file(const char *name, int flags)
{
    char path[SEGMENT_PATH_BYTES];
    if (!segment_path(path, name)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return open(path, flags | O_NOFOLLOW | O_CLOEXEC, 0600);
}

void segment_remove(const char *name)
{
    char path[SEGMENT_PATH_BYTES];
    if (segment_path(path, name))
        unlink(path);
}

int segment_create(struct segment **out, const char *name, const struct segment_shape *shape)
{
    if (!shape_valid(shape))
        return -EINVAL;
    size_t bytes = segment_bytes(shape);
    if (!may_be_made(bytes))
        return -EFBIG;
    int fd = segment_open_file(name, O_RDWR | O_CREAT | O_EXCL);
    if (fd < 0)
        return -errno;
    int error = ftruncate(fd, (off_t)bytes) == 0 ? 0 : errno;
    if (error == 0)
        error = segment_reserve_file(fd, 0, records_offset(shape) + ring_bytes(shape, 0));
    void *memory = MAP_FAILED;
    if (error == 0) {
        memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (memory == MAP_FAILED)
            error = errno;
    }
    close(fd);
    if (error != 0) {
        segment_remove(name);
        return -error;
    }
    segment_set_offsets(memory, shape);
    *out = memory;
    return 0;
}

int segment_reserve_ring(struct segment *segment, const char *name, uint32_t index)
{
    const struct ring_control *ring = segment_ring(segment, index);
    size_t bytes =
        ring->capacity * sizeof(struct event) + ring->tally_capacity * sizeof(struct tally_row);
    int fd = segment_open_file(name, O_RDWR);
    if (fd < 0)
        return -errno;
    int error = segment_reserve_file(fd, ring->offset, bytes);
    close(fd);
    if (error == 0)
        segment_prepare_ring(segment, index);
    return -error;
}

static int table_fits(uint64_t bytes, uint64_t offset, uint64_t count, size_t each)
{
    return offset >= SEGMENT_HEADER_BYTES && offset % 64 == 0 && offset <= bytes &&
           (bytes - offset) / each >= count;
}

static int check_rings(const struct segment *segment, uint64_t bytes)
{
    for (uint32_t i = 0; i < segment->rings; i++) {
        const struct ring_control *ring = segment_ring(segment, i);
        uint64_t capacity = ring->capacity;
        if (capacity < 2 || (capacity & (capacity - 1)) != 0 ||
            !table_fits(bytes, ring->offset, capacity, sizeof(struct event)) ||
            !table_fits(bytes, ring->tally_offset, ring->tally_capacity, sizeof(struct tally_row)))
            return -HOLTER_ECORRUPT;
    }
    return 0;
}

/* Everything that is later used to find memory. The texts are ended by force where they are read.
 */
static int check_header(const struct segment *segment, uint64_t bytes)
{
    if (atomic_load_explicit(&segment->state, memory_order_acquire) == SEGMENT_MAKING)
        return -HOLTER_EEMPTY;
    if (segment->magic != SEGMENT_MAGIC)
        return -HOLTER_ECORRUPT;
    if (segment->version != SEGMENT_VERSION)
        return -HOLTER_EVERSION;
    if (segment->bytes != bytes || segment->rings == 0 || segment->rings > RINGS_MAX ||
        segment->comms > TABLE_MAX || segment->regions > TABLE_MAX || segment->carts > TABLE_MAX ||
        !table_fits(bytes, segment->rings_offset, segment->rings, sizeof(struct ring_control)) ||
        !table_fits(bytes, segment->comms_offset, segment->comms, sizeof(struct comm_slot)) ||
        !table_fits(bytes, segment->regions_offset, segment->regions, sizeof(struct region_slot)) ||
        !table_fits(bytes, segment->carts_offset, segment->carts, sizeof(struct cart_slot)) ||
        !table_fits(bytes, segment->sources_offset, SEGMENT_SOURCES, sizeof(struct source_slot)))
        return -HOLTER_ECORRUPT;
    return check_rings(segment, bytes);
}

int segment_is_own(const char *name)
{
    struct stat st;
    int fd = segment_open_file(name, O_RDONLY | O_NONBLOCK);
    if (fd < 0)
        return 0;
    int own = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid();
    close(fd);
    return own;
}

int segment_open(struct segment **out, size_t *bytes, const char *name, int writable)
{
    int fd = segment_open_file(name, (writable ? O_RDWR : O_RDONLY) | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    struct stat st;
    int error = fstat(fd, &st) == 0 ? 0 : -errno;
    if (error == 0 && (!S_ISREG(st.st_mode) || (st.st_uid != geteuid() && geteuid() != 0)))
        error = -EACCES;
    /* A segment that is being made is still short, or its header is not complete. */
    if (error == 0 && st.st_size < (off_t)SEGMENT_HEADER_BYTES)
        error = -HOLTER_EEMPTY;
    struct segment *segment = NULL;
    if (error == 0) {
        int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
        void *memory = mmap(NULL, (size_t)st.st_size, protection, MAP_SHARED, fd, 0);
        if (memory == MAP_FAILED)
            error = -errno;
        else
            segment = memory;
    }
    close(fd);
    if (segment)
        error = check_header(segment, (uint64_t)st.st_size);
    if (error != 0) {
        segment_unmap(segment, (size_t)st.st_size);
        return error;
    }
    *out = segment;
    *bytes = (size_t)st.st_size;
    return 0;
}

void segment_unmap(struct segment *segment, size_t bytes)
{
    if (segment)
        munmap(segment, bytes);
}

struct ring_control *segment_ring(const struct segment *segment, uint32_t index)
{
    return (struct ring_control *)((uintptr_t)segment + segment->rings_offset) + index;
}

struct comm_slot *segment_comm(const struct segment *segment, uint32_t index)
{
    return (struct comm_slot *)((uintptr_t)segment + segment->comms_offset) + index;
}

struct region_slot *segment_region(const struct segment *segment, uint32_t index)
{
    return (struct region_slot *)((uintptr_t)segment + segment->regions_offset) + index;
}

struct cart_slot *segment_cart(const struct segment *segment, uint32_t index)
{
    return (struct cart_slot *)((uintptr_t)segment + segment->carts_offset) + index;
}

struct source_slot *segment_source(const struct segment *segment, uint32_t index)
{
    return (struct source_slot *)((uintptr_t)segment + segment->sources_offset) + index;
}

int segment_owner_alive(const struct segment *segment)
{
    uint64_t start = process_start_time(segment->pid);
    return start != 0 && start == segment->pid_start;
}

uint64_t process_start_time(int32_t pid)
{
    char path[32], text[1024];
    snprintf(path, sizeof(path), "/proc/%" PRId32 "/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t length = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (length <= 0)
        return 0;
    text[length] = '\0';
    /* Field 2 is the program's name in parentheses and may hold anything; field 3 follows the last
     * ')'. */
    const char *p = strrchr(text, ')');
    const int ended = p && (strncmp(p, ") Z", 3) == 0 || strncmp(p, ") X", 3) == 0);
    for (int field = 2; p && field < 22; field++) {
        p = strchr(p + 1, ' ');
        if (ended && field + 1 == 20 && (!p || strtol(p + 1, NULL, 10) <= 1))
            return 0; /* else only its first thread has ended: field 20 is the number of threads */
    }
    return p ? strtoull(p + 1, NULL, 10) : 0;
}
