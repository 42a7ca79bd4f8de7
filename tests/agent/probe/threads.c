/* Four threads of each rank call MPI at once (MPI_THREAD_MULTIPLE). Each has a ring of its own, in
 * which the calls of that thread stand in order; every completion names a request that was posted
 * once and has the size that its tag says. */
#include "tests/agent/probe/witness.h"

#include <pthread.h>

/* The rings of later threads are short: a generation must not lap its own. */
enum { THREADS = 4, GENERATIONS = 12, ROUNDS = 60, DEPTH = 4, ROOM = 128 };

struct work {
    pthread_t thread;
    int number;
    uint32_t tid;
};

static pthread_barrier_t
    together; /* no thread may end, and give its ring to another, before all have one */

static int tag_of_step(int thread, int round, int k)
{
    return thread * 8192 + round * 8 + k;
}

static int size_of(int tag)
{
    return tag * 7 % ROOM + 1;
}

static void *work(void *argument)
{
    struct work *work = argument;
    char out[DEPTH][ROOM] = {{0}}, in[DEPTH][ROOM];
    MPI_Request requests[2 * DEPTH];
    int other = 1 - witness_rank;
    work->tid = (uint32_t)gettid();
    for (int round = 0; round < ROUNDS; round++) {
        for (int k = 0; k < DEPTH; k++) {
            int tag = tag_of_step(work->number, round, k);
            MPI_Irecv(in[k], ROOM, MPI_CHAR, other, tag, MPI_COMM_WORLD, &requests[k]);
            MPI_Isend(out[k], size_of(tag), MPI_CHAR, other, tag, MPI_COMM_WORLD,
                      &requests[DEPTH + k]);
        }
        if (round % 3 == 0) {
            MPI_Waitall(2 * DEPTH, requests, MPI_STATUSES_IGNORE);
        } else if (round % 3 == 1) {
            for (int k = 0; k < 2 * DEPTH; k++) {
                int index;
                MPI_Waitany(2 * DEPTH, requests, &index, MPI_STATUS_IGNORE);
            }
        } else {
            for (int k = 0; k < 2 * DEPTH; k++) {
                int flag = 0;
                while (!flag)
                    MPI_Test(&requests[k], &flag, MPI_STATUS_IGNORE);
            }
        }
    }
    pthread_barrier_wait(&together);
    return NULL;
}

/* Completions of one ring: each of the thread's receives exactly once, as it was posted by the same
 * thread. */
static void check_ring(const struct work *work, uint32_t index, uint64_t from)
{
    struct ring_reader reader;
    static struct {
        uint32_t request;
        uint64_t t_enter;
        int done;
    } posted[1 << 16];
    int received = 0, sent = 0;
    memset(posted, 0, sizeof(posted));
    EXPECT(ring_reader_init(&reader, witness_segment, witness_bytes, index) == 0, "ring %u", index);
    reader.next = from;
    for (struct event e; ring_read(&reader, &e, 1) == 1;) {
        int ours = e.tag >= 0 && e.tag / 8192 == work->number;
        if ((e.flags & (EVENT_SEND | EVENT_POST)) == (EVENT_SEND | EVENT_POST)) {
            EXPECT(ours && (int)e.bytes == size_of(e.tag), "sent tag %d bytes %llu", e.tag,
                   (unsigned long long)e.bytes);
            sent++;
        } else if (e.call == CALL_Irecv) {
            EXPECT(ours && e.request != 0, "posted tag %d", e.tag);
            posted[e.tag & 0xffff].request = e.request;
            posted[e.tag & 0xffff].t_enter = e.t_enter;
        } else if ((e.flags & (EVENT_RECV | EVENT_DONE)) == (EVENT_RECV | EVENT_DONE)) {
            EXPECT(ours && (int)e.bytes == size_of(e.tag), "received tag %d bytes %llu", e.tag,
                   (unsigned long long)e.bytes);
            EXPECT(e.request == posted[e.tag & 0xffff].request &&
                       e.t_post == posted[e.tag & 0xffff].t_enter,
                   "tag %d: request %u", e.tag, e.request);
            EXPECT(!posted[e.tag & 0xffff].done++, "tag %d done twice", e.tag);
            received++;
        }
        EXPECT(!(e.flags & EVENT_UNTRACKED), "untracked %s", call_name(e.call));
    }
    EXPECT(reader.lost == 0, "lost %llu", (unsigned long long)reader.lost);
    EXPECT(sent == ROUNDS * DEPTH && received == ROUNDS * DEPTH, "ring %u: %d sent, %d received",
           index, sent, received);
}

static void run_generation(void)
{
    struct work works[THREADS];
    uint64_t heads[SEGMENT_RINGS];
    for (uint32_t r = 0; r < witness_segment->rings; r++)
        heads[r] = atomic_load(&segment_ring(witness_segment, r)->head);
    for (int i = 0; i < THREADS; i++) {
        works[i].number = i;
        pthread_create(&works[i].thread, NULL, work, &works[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(works[i].thread, NULL);
    int found = 0;
    for (uint32_t r = 1; r < witness_segment->rings; r++) {
        for (int i = 0; i < THREADS; i++) {
            if (segment_ring(witness_segment, r)->tid == works[i].tid) {
                EXPECT(atomic_load(&segment_ring(witness_segment, r)->state) == RING_CLOSED,
                       "state");
                check_ring(&works[i], r, heads[r]);
                found++;
            }
        }
    }
    EXPECT(found == THREADS, "%d rings", found);
}

/* Open receives that fill the static table: requests of all threads are in the chains then. */
enum { OPEN = 6000 };
static MPI_Request open_requests[OPEN];

static void fill_table(void)
{
    static char buffer[OPEN];
    for (int i = 0; i < OPEN; i++)
        MPI_Irecv(&buffer[i], 1, MPI_CHAR, 0, 1, MPI_COMM_SELF, &open_requests[i]);
}

static void empty_table(void)
{
    for (int i = 0; i < OPEN; i++)
        MPI_Cancel(&open_requests[i]);
    MPI_Waitall(OPEN, open_requests, MPI_STATUSES_IGNORE);
}

/* As many requests as a thread with a small stack may have in its own arrays, and statuses. */
enum { SMALL_STACK = 32 << 10, MANY = 1000 };

static void *complete_many(void *unused)
{
    static MPI_Request requests[2 * MANY];
    static char out[MANY], in[MANY];
    for (int i = 0; i < MANY; i++) {
        MPI_Irecv(&in[i], 1, MPI_CHAR, 0, i, MPI_COMM_SELF, &requests[i]);
        MPI_Isend(&out[i], 1, MPI_CHAR, 0, i, MPI_COMM_SELF, &requests[MANY + i]);
    }
    MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
    for (int i = 0, index; i < MANY; i++)
        MPI_Waitany(MANY, &requests[MANY], &index, MPI_STATUS_IGNORE);
    return unused;
}

/* A probe that used what is left of the stack would crash the program. */
static void complete_many_on_small_stack(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    const int has_small = pthread_attr_setstacksize(&attributes, SMALL_STACK) == 0;
    if (!has_small) /* smaller than this processor's least one */
        printf("no stack of %d bytes: not tested\n", SMALL_STACK);
    const int has_begun = has_small && !pthread_create(&thread, &attributes, complete_many, NULL);
    EXPECT(has_begun == has_small, "a thread with a small stack");
    if (has_begun)
        pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
}

static pthread_barrier_t all_rings, freed;

static void *take_ring(void *unused)
{
    MPI_Barrier(MPI_COMM_SELF);
    pthread_barrier_wait(&all_rings);
    pthread_barrier_wait(&freed);
    return unused;
}

static void *free_communicator(void *comm)
{
    MPI_Comm_free(comm);
    return NULL;
}

static void a_thread_without_ring_frees_a_communicator(void)
{
    enum { OTHERS = SEGMENT_RINGS - 1 };
    pthread_t threads[OTHERS], last;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    skip_events();
    MPI_Barrier(comm);
    const struct comm_slot *slot = segment_comm(witness_segment, next_event().comm);
    pthread_barrier_init(&all_rings, NULL, OTHERS + 1);
    pthread_barrier_init(&freed, NULL, OTHERS + 1);
    for (int i = 0; i < OTHERS; i++)
        pthread_create(&threads[i], NULL, take_ring, NULL);
    pthread_barrier_wait(&all_rings);
    pthread_create(&last, NULL, free_communicator, &comm);
    pthread_join(last, NULL);
    pthread_barrier_wait(&freed);
    for (int i = 0; i < OTHERS; i++)
        pthread_join(threads[i], NULL);
    EXPECT(atomic_load(&witness_segment->dropped) == 1, "dropped");
    EXPECT(atomic_load(&slot->generation) % 2 == 0, "still live");
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    witness_open();
    if (level != MPI_THREAD_MULTIPLE) {
        fprintf(stderr, "this MPI has no MPI_THREAD_MULTIPLE\n");
        return 77;
    }
    pthread_barrier_init(&together, NULL, THREADS);
    for (int i = 0; i < GENERATIONS; i++) /* more threads in all than there are rings */
        run_generation();
    complete_many_on_small_stack();
    fill_table();
    for (int i = 0; i < GENERATIONS; i++)
        run_generation();
    empty_table();
    EXPECT(atomic_load(&witness_segment->dropped) == 0, "dropped");
    a_thread_without_ring_frees_a_communicator();
    return witness_close();
}
