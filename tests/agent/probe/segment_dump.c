/* segment_dump KEY COMMAND [ARGUMENT...]: runs a command whose ranks are watched in session KEY,
 * keeps their segments by standing in for the agent, and prints them as text when the command has
 * ended. For people and scripts that want to see what a probe wrote. The exit status is the
 * command's. */
#include "holter/call.h"
#include "holter/segment.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KEPT_MAX 1024

struct kept {
    char name[128];
    struct segment *segment;
    size_t bytes;
};

static size_t keep_new(struct kept kept[], size_t count, const char *key)
{
    DIR *directory = opendir("/dev/shm");
    struct dirent *entry;
    while (directory && (entry = readdir(directory)) && count < KEPT_MAX) {
        uint32_t uid;
        int32_t pid;
        char session[32], name[sizeof(kept->name)];
        if (segment_name_parse(entry->d_name, &uid, session, &pid) != 0 ||
            strcmp(session, key) != 0 || uid != getuid() ||
            segment_name(name, sizeof(name), uid, session, pid) != 0)
            continue;
        size_t known = 0;
        while (known < count && strcmp(kept[known].name, name) != 0)
            known++;
        if (known < count || segment_open(&kept[count].segment, &kept[count].bytes, name, 1) != 0)
            continue;
        memcpy(kept[count].name, name, sizeof(name));
        atomic_store(&kept[count].segment->agent_pid, (int32_t)getpid());
        count++;
    }
    if (directory)
        closedir(directory);
    return count;
}

static void print_event(int rank, uint32_t ring, const struct event *e,
                        const struct segment *segment)
{
    static const char *const kinds[] = {"?", "call", "part", "region"};
    static const char *const flags[] = {"send",       "recv",    "post",     "done",
                                        "cancelled",  "failed",  "wildcard", "untracked",
                                        "persistent", "inplace", "inter",    "refused"};
    printf("event rank=%d ring=%u seq=%" PRIu64 " %s %s class=%s peer=%d tag=%d bytes=%" PRIu64
           " in=%" PRIu64 " request=%u comm=",
           rank, ring, e->seq, kinds[e->kind < 4 ? e->kind : 0], call_name(e->call),
           call_class_name(call_class_of(e->call)), e->peer, e->tag, e->bytes, e->bytes_in,
           e->request);
    if (e->comm < segment->comms)
        printf("%" PRIx64, segment_comm(segment, e->comm)->id);
    else
        printf(e->comm == COMM_SLOT_NONE ? "none" : "other");
    printf(" region=%u parts=%u ticks=%" PRIu64 " flags=", e->region, e->parts,
           e->t_exit - e->t_enter);
    for (unsigned i = 0, first = 1; i < sizeof(flags) / sizeof(flags[0]); i++) {
        if (e->flags & (1u << i)) {
            printf("%s%s", first ? "" : ",", flags[i]);
            first = 0;
        }
    }
    putchar('\n');
}

static void print_segment(const struct kept *kept)
{
    const struct segment *s = kept->segment;
    int rank = atomic_load(&s->rank);
    printf("segment rank=%d size=%d pid=%d state=%u bytes=%" PRIu64 " ticks=%s dropped=%" PRIu64
           " job='%.63s' host='%.63s' app='%.255s' mpi='%.127s' cores='%.127s'\n",
           rank, atomic_load(&s->size), s->pid, atomic_load(&s->state), s->bytes,
           s->tick_unit == TICK_TSC ? "counter" : "nanoseconds", atomic_load(&s->dropped), s->job,
           s->host, s->app, s->mpi, s->placement);
    for (uint32_t i = 0; i < s->comms; i++) {
        const struct comm_slot *c = segment_comm(s, i);
        if (atomic_load(&c->generation) > 0)
            printf("comm rank=%d slot=%u id=%" PRIx64 " parent=%" PRIx64
                   " my_rank=%d size=%u remote=%u %s '%.31s'\n",
                   rank, i, c->id, c->parent, c->my_rank, c->size, c->remote_size,
                   atomic_load(&c->generation) % 2 ? "live" : "freed", c->name);
    }
    for (uint32_t i = 0; i < s->carts; i++) {
        const struct cart_slot *c = segment_cart(s, i);
        if (!atomic_load(&c->ready))
            continue;
        printf("cart rank=%d id=%" PRIx64 " position=%u periods=%x sizes=", rank, c->id,
               c->position, c->periods);
        for (uint32_t d = 0; d < c->dimensions; d++)
            printf("%s%u", d == 0 ? "" : "x", c->sizes[d]);
        putchar('\n');
    }
    for (uint32_t i = 1; i < s->regions; i++) {
        if (atomic_load(&segment_region(s, i)->ready))
            printf("region rank=%d index=%u '%.59s'\n", rank, i, segment_region(s, i)->name);
    }
    for (uint32_t i = 0; i < s->rings; i++) {
        struct ring_reader reader;
        struct event events[256];
        if (ring_reader_init(&reader, s, kept->bytes, i) != 0)
            continue;
        const struct ring_control *c = segment_ring(s, i);
        for (size_t n; (n = ring_read(&reader, events, 256)) > 0;) {
            for (size_t k = 0; k < n; k++)
                print_event(rank, i, &events[k], s);
        }
        printf("ring rank=%d ring=%u head=%" PRIu64 " lost=%" PRIu64 " untracked=%" PRIu64 "\n",
               rank, i, reader.next, reader.lost, atomic_load(&c->untracked));
    }
}

int main(int argc, char **argv)
{
    static struct kept kept[KEPT_MAX];
    if (argc < 3) {
        fprintf(stderr, "usage: segment_dump KEY COMMAND [ARGUMENT...]\n");
        return 2;
    }
    setenv("HOLTER_SESSION", argv[1], 1);
    pid_t child = fork();
    if (child == 0) {
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    size_t count = 0;
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        count = keep_new(kept, count, argv[1]);
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    for (size_t i = 0; i < count; i++) {
        print_segment(&kept[i]);
        shm_unlink(kept[i].name);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
