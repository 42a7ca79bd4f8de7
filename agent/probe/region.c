/* Code regions and pausing: MPI_Pcontrol(level, ...).
 *
 * MPI does not define the arguments after the level, and a C function cannot find out how many it
 * was given. After a bare MPI_Pcontrol(1) the register of the first variadic argument holds an
 * earlier value, often a pointer to some text. So an argument is accepted as the name of a code
 * region only if it can be read and looks like a name, and is either in the constants or variables
 * of the program or a library, or, for names composed in a buffer, consists of letters, digits and
 * a few punctuation characters. */
#include "agent/probe/call_record.h"

#include PROBE_WRAPPERS_H

#include <link.h>
#include <pthread.h>
#include <sys/uio.h>
#include <unistd.h>

#define NAME_CAPACITY sizeof(((struct region_slot *)NULL)->name)

static uint32_t regions = 1; /* slot 0 means "outside all regions" */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct range {
    uintptr_t address;
    uintptr_t end; /* end of the module segment that contains the address; 0: none does */
};

static int region_find_module(struct dl_phdr_info *module, size_t size, void *argument)
{
    (void)size;
    struct range *range = argument;
    for (int i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &module->dlpi_phdr[i];
        uintptr_t start = module->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD && range->address >= start &&
            range->address < start + part->p_memsz) {
            range->end = start + part->p_memsz;
            return 1;
        }
    }
    return 0;
}

/* Bytes from an address to the end of the segment of the program or library that contains it; 0 if
 * none does. */
static size_t region_bytes_in_program(const void *address)
{
    struct range range = {.address = (uintptr_t)address};
    dl_iterate_phdr(region_find_module, &range);
    return range.end ? range.end - range.address : 0;
}

/* Copy text from an address that may not exist, page by page. @return bytes copied */
static size_t region_read_untrusted(char *out, size_t capacity, const void *address)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), done = 0;
    while (done < capacity) {
        uintptr_t from = (uintptr_t)address + done;
        size_t length = page - from % page;
        if (length > capacity - done)
            length = capacity - done;
        struct iovec local = {out + done, length}, remote = {(void *)from, length};
        if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) != (ssize_t)length)
            break;
        done += length;
    }
    return done;
}

static int region_is_plain_name(const char *text)
{
    return text[strspn(text,
                       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:/+ ")] ==
           '\0';
}

static int region_is_printable(const char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return 0;
    }
    return 1;
}

/* @param constant  set to 1 if the text is part of the program
 * @return 1 and the name, or 0 if the argument is not a name */
static int region_read_name(char name[NAME_CAPACITY], const void *argument, int *constant)
{
    if ((uintptr_t)argument < 4096)
        return 0;
    size_t length = region_bytes_in_program(argument);
    *constant = length > 0;
    if (length > NAME_CAPACITY)
        length = NAME_CAPACITY;
    if (*constant)
        memcpy(name, argument, length);
    else
        length = region_read_untrusted(name, NAME_CAPACITY, argument);
    if (!memchr(name, '\0', length)) {
        if (length < NAME_CAPACITY)
            return 0;
        name[NAME_CAPACITY - 1] = '\0'; /* a long name is truncated */
    }
    if (name[0] == '\0')
        return 0;
    return *constant ? region_is_printable(name) : region_is_plain_name(name);
}

/* Index of the name of a code region, which is added if it is new. @return 0 if the table is full
 */
static uint16_t region_index(const char *name)
{
    uint16_t index = 0;
    pthread_mutex_lock(&lock);
    for (uint32_t i = 1; i < regions && index == 0; i++) {
        if (strcmp(segment_region(probe.segment, i)->name, name) == 0)
            index = (uint16_t)i;
    }
    if (index == 0 && regions < probe.segment->regions) {
        struct region_slot *slot = segment_region(probe.segment, regions);
        memcpy(slot->name, name, NAME_CAPACITY);
        atomic_store_explicit(&slot->ready, 1, memory_order_release);
        index = (uint16_t)regions++;
    }
    pthread_mutex_unlock(&lock);
    return index;
}

static void region_enter_innermost(struct thread *t)
{
    uint16_t depth = t->depth < REGION_DEPTH ? t->depth : REGION_DEPTH;
    t->region = depth > 0 ? t->regions[depth - 1] : 0;
    t->polls[POLL_TEST].call = t->polls[POLL_PROBE].call = 0; /* rows of polls are for a region */
}

static int region_open(struct thread *t, const char *name)
{
    uint16_t index = region_index(name);
    if (t->depth < REGION_DEPTH)
        t->regions[t->depth] = index;
    if (t->depth < UINT16_MAX)
        t->depth++; /* deeper regions are only counted, so that their ends match */
    region_enter_innermost(t);
    return index;
}

/* Close the innermost region of that name, and those left open inside it. */
static int region_close(struct thread *t, const char *name)
{
    if (t->depth > REGION_DEPTH) {
        t->depth--;
        return 0;
    }
    for (uint16_t depth = t->depth; depth > 0; depth--) {
        uint16_t index = t->regions[depth - 1];
        if (index != 0 && strcmp(segment_region(probe.segment, index)->name, name) == 0) {
            t->depth = (uint16_t)(depth - 1);
            region_enter_innermost(t);
            return -(int)index;
        }
    }
    return 0;
}

static void region_set_paused(uint32_t paused)
{
    probe.paused = paused;
    atomic_store_explicit(&probe.segment->paused_at, paused ? probe_read_ticks() : 0,
                          memory_order_relaxed);
}

int region_control(struct thread *t, int level, const void *argument)
{
    char name[NAME_CAPACITY] = "";
    if (level == 0 && !probe.paused)
        region_set_paused(1);
    if (level != 1 && level != -1)
        return 0;
    int was_paused = level == 1 && probe.paused;
    if (was_paused)
        region_set_paused(0);
    int constant = 0;
    if (!region_read_name(name, argument, &constant) || (was_paused && !constant))
        return 0;
    return level == 1 ? region_open(t, name) : region_close(t, name);
}
