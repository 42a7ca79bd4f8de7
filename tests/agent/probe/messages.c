/* Two or more ranks send to each other in every way; each compares what the probe says with what it
 * did: peers, tags, bytes, flags, and which request was completed by which call. Ranks 0 and 1
 * play, the others only watch. */
#include "tests/agent/probe/witness.h"

#include <errno.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define DONE_AT_ONCE (EVENT_SEND | EVENT_POST | EVENT_DONE)

static int other;
static char big_out[300000], big_in[300000];

static int memory_is_short;

/* Stands before that of libc: the probe gets no memory while it is short. */
void *mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset)
{
    if (memory_is_short && fd < 0) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return (void *)syscall(SYS_mmap, at, length, protection, flags, fd, offset);
}

static void check_message(struct event e, int peer, int tag, uint64_t bytes)
{
    EXPECT(e.peer == peer, "%s peer %d, expected %d", call_name(e.call), e.peer, peer);
    EXPECT(e.tag == tag, "%s tag %d, expected %d", call_name(e.call), e.tag, tag);
    EXPECT(e.bytes == bytes, "%s bytes %llu, expected %llu", call_name(e.call),
           (unsigned long long)e.bytes, (unsigned long long)bytes);
    EXPECT(comm_id(&e) == 1, "%s communicator", call_name(e.call));
    EXPECT(e.t_exit >= e.t_enter && e.t_enter > 0, "%s times", call_name(e.call));
}

static void blocking_calls_carry_peer_tag_and_size(void)
{
    char buffer[1000];
    MPI_Status status;
    skip_events();
    if (witness_rank == 0) {
        MPI_Send(buffer, 100, MPI_CHAR, 1, 5, MPI_COMM_WORLD);
        MPI_Ssend(buffer, 10, MPI_DOUBLE, 1, 6, MPI_COMM_WORLD);
        MPI_Send(buffer, 0, MPI_CHAR, 1, 7, MPI_COMM_WORLD);
        MPI_Send(buffer, 7, MPI_CHAR, MPI_PROC_NULL, 8, MPI_COMM_WORLD);
        check_message(EXPECT_CALL(Send, DONE_AT_ONCE), 1, 5, 100);
        check_message(EXPECT_CALL(Ssend, DONE_AT_ONCE), 1, 6, 80);
        check_message(EXPECT_CALL(Send, DONE_AT_ONCE), 1, 7, 0);
        check_message(EXPECT_CALL(Send, DONE_AT_ONCE), PEER_NULL, 8, 7);
    } else {
        /* What arrives is counted, not the room for it; wildcards become what they matched. */
        const uint32_t received = EVENT_RECV | EVENT_POST | EVENT_DONE;
        MPI_Recv(buffer, 1000, MPI_CHAR, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(buffer, 1000, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Recv(buffer, 1000, MPI_CHAR, 0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(buffer, 7, MPI_CHAR, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        check_message(EXPECT_CALL(Recv, received), 0, 5, 100);
        check_message(EXPECT_CALL(Recv, received | EVENT_WILDCARD), 0, 6, 80);
        check_message(EXPECT_CALL(Recv, received | EVENT_WILDCARD), 0, 7, 0);
        check_message(EXPECT_CALL(Recv, received | EVENT_WILDCARD), PEER_NULL, TAG_ANY, 0);
        int bytes;
        MPI_Get_count(&status, MPI_CHAR, &bytes);
        EXPECT(bytes == 80, "the application's status is whole: %d", bytes);
    }
    EXPECT_SILENCE();
}

static int free_value(MPI_Datatype type, int key, void *value, void *unused)
{
    (void)type, (void)key, (void)unused;
    return MPI_Type_free(value);
}

static void a_datatype_freed_by_a_callback_has_no_size_any_more(void)
{
    MPI_Datatype owners[2], types[2];
    int key;
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, free_value, &key, NULL);
    for (int n = 1; n <= 20; n++) {
        for (int i = 0; i < 2; i++) {
            MPI_Type_contiguous(2 * n + i, MPI_INT, &types[i]);
            MPI_Type_commit(&types[i]);
            skip_events();
            MPI_Send(big_out, 1, types[i], MPI_PROC_NULL, 3, MPI_COMM_WORLD);
            check_message(EXPECT_CALL(Send, DONE_AT_ONCE), PEER_NULL, 3,
                          (uint64_t)(2 * n + i) * sizeof(int));
            MPI_Type_dup(MPI_INT, &owners[i]);
            MPI_Type_set_attr(owners[i], key, &types[i]);
        }
        for (int i = 0; i < 2; i++)
            MPI_Type_free(&owners[i]);
    }
    MPI_Type_free_keyval(&key);
    skip_events();
}

static void derived_datatypes_count_what_is_transferred(void)
{
    MPI_Datatype column, pair;
    double matrix[64] = {0};
    struct {
        int a;
        char b;
    } pairs[3] = {{0}};
    const int lengths[] = {1, 1};
    const MPI_Aint places[] = {0, 4};
    const MPI_Datatype types[] = {MPI_INT, MPI_CHAR};
    MPI_Type_vector(8, 1, 8, MPI_DOUBLE, &column);
    MPI_Type_create_struct(2, lengths, places, types, &pair);
    MPI_Type_commit(&column);
    MPI_Type_commit(&pair);
    MPI_Sendrecv(matrix, 1, column, other, 1, matrix + 1, 1, column, other, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    skip_events();
    MPI_Sendrecv(matrix, 1, column, other, 1, matrix + 1, 1, column, other, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    struct event e = EXPECT_CALL(Sendrecv, DONE_AT_ONCE);
    check_message(e, other, 1, 64);
    EXPECT(e.parts == 1, "parts %u", e.parts);
    check_message(EXPECT_PART(Sendrecv, EVENT_RECV | EVENT_POST | EVENT_DONE), other, 1, 64);
    MPI_Sendrecv_replace(pairs, 3, pair, other, 2, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check_message(EXPECT_CALL(Sendrecv_replace, DONE_AT_ONCE), other, 2, 15);
    check_message(EXPECT_PART(Sendrecv_replace, EVENT_RECV | EVENT_POST | EVENT_DONE), other, 2,
                  15);
    /* A freed handle may come back as another type. */
    for (int n = 1; n <= 50; n++) {
        MPI_Datatype type;
        MPI_Type_contiguous(n, MPI_INT, &type);
        MPI_Type_commit(&type);
        skip_events();
        MPI_Send(big_out, 2, type, MPI_PROC_NULL, 3, MPI_COMM_WORLD);
        check_message(EXPECT_CALL(Send, DONE_AT_ONCE), PEER_NULL, 3, (uint64_t)n * 8);
        MPI_Type_free(&type);
    }
    /* More than the cache of sizes holds. */
    static MPI_Datatype many[300];
    for (int n = 0; n < 300; n++) {
        MPI_Type_contiguous(n + 1, MPI_INT, &many[n]);
        MPI_Type_commit(&many[n]);
    }
    skip_events();
    for (int n = 0; n < 600; n++) {
        MPI_Send(big_out, 1, many[n % 300], MPI_PROC_NULL, 3, MPI_COMM_WORLD);
        check_message(EXPECT_CALL(Send, DONE_AT_ONCE), PEER_NULL, 3, (uint64_t)(n % 300 + 1) * 4);
    }
    for (int n = 0; n < 300; n++)
        MPI_Type_free(&many[n]);
    MPI_Type_free(&column);
    MPI_Type_free(&pair);
    skip_events();
}

/* Large enough for a rendezvous, so that the request is a real one in both MPIs. */
static void a_completed_request_is_the_one_that_was_posted(void)
{
    MPI_Request out, in;
    skip_events();
    MPI_Irecv(big_in, 300000, MPI_CHAR, other, 11, MPI_COMM_WORLD, &in);
    MPI_Isend(big_out, 200000, MPI_CHAR, other, 11, MPI_COMM_WORLD, &out);
    MPI_Wait(&out, MPI_STATUS_IGNORE);
    MPI_Wait(&in, MPI_STATUS_IGNORE);
    struct event irecv = EXPECT_CALL(Irecv, EVENT_RECV | EVENT_POST);
    struct event isend = next_event();
    check_message(irecv, other, 11, 300000);
    check_message(isend, other, 11, 200000);
    EXPECT(isend.call == CALL_Isend && (isend.flags & (EVENT_SEND | EVENT_POST)), "flags %x",
           isend.flags);
    if (!(isend.flags & EVENT_DONE)) {
        struct event wait = EXPECT_CALL(Wait, EVENT_SEND | EVENT_DONE);
        check_message(wait, other, 11, 200000);
        EXPECT(wait.request == isend.request && wait.request != 0, "request %u", wait.request);
        EXPECT(wait.t_post == isend.t_enter, "posted when it was posted");
    } else {
        EXPECT_CALL(Wait, 0);
    }
    struct event wait = EXPECT_CALL(Wait, EVENT_RECV | EVENT_DONE);
    check_message(wait, other, 11, 200000);
    EXPECT(wait.request == irecv.request && wait.request != 0, "request %u", wait.request);
    EXPECT(wait.t_post == irecv.t_enter, "posted when it was posted");
    EXPECT_SILENCE();
}

/* n receives, completed by one of the families; each completion must name its own request: the tag
 * tells. */
enum family { WAITALL, WAITANY, WAITSOME, TESTALL, TESTANY, TESTSOME, FAMILIES };

static const uint16_t family_calls[FAMILIES] = {CALL_Waitall, CALL_Waitany, CALL_Waitsome,
                                                CALL_Testall, CALL_Testany, CALL_Testsome};

static int complete_some(enum family family, int n, MPI_Request *requests, int with_status)
{
    int index, flag = 0, count = 0, *indices = malloc((size_t)n * sizeof(int));
    MPI_Status *statuses = malloc((size_t)n * sizeof(MPI_Status));
    MPI_Status *one = with_status ? statuses : MPI_STATUS_IGNORE;
    MPI_Status *all = with_status ? statuses : MPI_STATUSES_IGNORE;
    switch (family) {
    case WAITALL:
        MPI_Waitall(n, requests, all);
        count = n;
        break;
    case WAITANY:
        MPI_Waitany(n, requests, &index, one);
        count = 1;
        break;
    case WAITSOME:
        MPI_Waitsome(n, requests, &count, indices, all);
        break;
    case TESTALL:
        MPI_Testall(n, requests, &flag, all);
        count = flag ? n : 0;
        break;
    case TESTANY:
        MPI_Testany(n, requests, &index, &flag, one);
        count = flag && index != MPI_UNDEFINED ? 1 : 0;
        break;
    default:
        MPI_Testsome(n, requests, &count, indices, all);
        break;
    }
    free(statuses);
    free(indices);
    return count;
}

static void each_family_attributes_what_it_completes(enum family family, int n, int with_status)
{
    MPI_Request *requests = malloc((size_t)n * sizeof(*requests));
    char *buffers = calloc((size_t)n, 16);
    uint32_t *numbers = calloc((size_t)n, sizeof(*numbers));
    uint64_t *posted = calloc((size_t)n, sizeof(*posted));
    char *seen = calloc((size_t)n, 1);
    skip_events();
    for (int i = 0; i < n; i++) {
        MPI_Irecv(buffers + 16 * i, 16, MPI_CHAR, i % 3 ? other : MPI_ANY_SOURCE, 100 + i,
                  MPI_COMM_WORLD, &requests[i]);
        struct event e =
            EXPECT_CALL(Irecv, (uint32_t)(EVENT_RECV | EVENT_POST | (i % 3 ? 0 : EVENT_WILDCARD)));
        EXPECT(e.peer == (i % 3 ? other : PEER_ANY), "peer %d", e.peer);
        numbers[i] = e.request;
        posted[i] = e.t_enter;
    }
    MPI_Request sync;
    MPI_Ibarrier(MPI_COMM_WORLD, &sync);
    MPI_Wait(&sync, MPI_STATUS_IGNORE);
    for (int i = n - 1; i >= 0; i--)
        MPI_Send(big_out, i % 16, MPI_CHAR, other, 100 + i, MPI_COMM_WORLD);
    skip_events();
    int completed = 0, records = 0;
    uint64_t polled = polls(family_calls[family]).records, tests = 0;
    while (completed < n) {
        int now = complete_some(family, n, requests, with_status);
        completed += now;
        tests += now == 0;
        for (int i = 0; i < now; i++, records++) {
            struct event e = next_event();
            EXPECT(e.call == family_calls[family] && e.kind == (i ? EVENT_PART : EVENT_CALL),
                   "%s kind %u", call_name(e.call), e.kind);
            EXPECT(i > 0 || e.parts == now - 1, "parts %u of %d", e.parts, now);
            int k = e.tag - 100;
            if (k < 0 || k >= n) {
                EXPECT(0, "tag %d", e.tag);
                continue;
            }
            EXPECT(e.flags == (EVENT_RECV | EVENT_DONE | (k % 3 ? 0 : EVENT_WILDCARD)), "flags %x",
                   e.flags);
            EXPECT(!seen[k]++, "tag %d completed twice", e.tag);
            EXPECT(e.request == numbers[k] && e.t_post == posted[k], "request %u, expected %u",
                   e.request, numbers[k]);
            check_message(e, other, 100 + k, (uint64_t)(k % 16));
        }
        if (completed < n)
            EXPECT_SILENCE();
    }
    EXPECT(records == n, "%d records", records);
    polled = polls(family_calls[family]).records - polled;
    EXPECT(polled == tests, "%llu polls counted, %llu made", (unsigned long long)polled,
           (unsigned long long)tests);
    MPI_Barrier(MPI_COMM_WORLD);
    free(requests);
    free(buffers);
    free(numbers);
    free(posted);
    free(seen);
}

static void polls_that_find_nothing_leave_no_record(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int flag = 0;
    skip_events();
    uint64_t tests = polls(CALL_Test).records, probes = polls(CALL_Iprobe).records;
    for (int i = 0; i < 1000; i++)
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    for (int i = 0; i < 500; i++)
        MPI_Iprobe(other, 999, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    EXPECT(polls(CALL_Test).records == tests + 1000, "tests");
    EXPECT(polls(CALL_Iprobe).records == probes + 500, "probes");
    EXPECT(polls(CALL_Test).ticks > 0, "time");
    EXPECT_SILENCE();
    MPI_Irecv(big_in, 8, MPI_CHAR, other, 12, MPI_COMM_WORLD, &request);
    MPI_Send(big_out, 8, MPI_CHAR, other, 12, MPI_COMM_WORLD);
    struct event irecv = EXPECT_CALL(Irecv, EVENT_RECV | EVENT_POST);
    EXPECT_CALL(Send, DONE_AT_ONCE);
    do {
        EXPECT_SILENCE();
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    } while (!flag);
    struct event test = EXPECT_CALL(Test, EVENT_RECV | EVENT_DONE);
    check_message(test, other, 12, 8);
    EXPECT(test.request == irecv.request, "request");
}

static void persistent_requests_count_at_each_start(void)
{
    MPI_Request requests[2];
    skip_events();
    MPI_Send_init(big_out, 5, MPI_INT, other, 21, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(big_in, 9, MPI_INT, other, 21, MPI_COMM_WORLD, &requests[1]);
    struct event out = EXPECT_CALL(Send_init, EVENT_PERSISTENT),
                 in = EXPECT_CALL(Recv_init, EVENT_PERSISTENT);
    EXPECT(out.request != 0 && in.request == out.request + 1, "requests %u %u", out.request,
           in.request);
    for (int i = 0; i < 3; i++) {
        if (i == 1) {
            MPI_Start(&requests[1]);
            MPI_Start(&requests[0]);
            check_message(EXPECT_CALL(Start, EVENT_RECV | EVENT_POST | EVENT_PERSISTENT), other, 21,
                          36);
            check_message(EXPECT_CALL(Start, EVENT_SEND | EVENT_POST | EVENT_PERSISTENT), other, 21,
                          20);
        } else {
            MPI_Startall(2, requests);
            struct event e = EXPECT_CALL(Startall, EVENT_SEND | EVENT_POST | EVENT_PERSISTENT);
            check_message(e, other, 21, 20);
            EXPECT(e.parts == 1 && e.request == out.request, "parts %u", e.parts);
            check_message(EXPECT_PART(Startall, EVENT_RECV | EVENT_POST | EVENT_PERSISTENT), other,
                          21, 36);
        }
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        struct event sent = EXPECT_CALL(Waitall, EVENT_SEND | EVENT_DONE | EVENT_PERSISTENT);
        EXPECT(sent.request == out.request && sent.parts == 1, "request %u", sent.request);
        struct event received = EXPECT_PART(Waitall, EVENT_RECV | EVENT_DONE | EVENT_PERSISTENT);
        check_message(received, other, 21, 20);
        EXPECT(received.request == in.request, "request %u", received.request);
    }
    int flag;
    MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE); /* idle: nothing to find */
    EXPECT_SILENCE();
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    EXPECT_CALL(Request_free, 0);
    EXPECT_CALL(Request_free, 0);
}

/* Open MPI gives a buffered request another handle if it is started again before its former message
 * has left. */
static void buffered_requests_that_are_started_again_count(void)
{
    enum { TIMES = 3, SPACE = TIMES * (sizeof big_out + MPI_BSEND_OVERHEAD) };
    MPI_Request request[2];
    char *space = malloc(2 * SPACE);
    int bytes;
    skip_events();
    MPI_Buffer_attach(space, 2 * SPACE);
    for (int i = 0; i < 2; i++)
        MPI_Bsend_init(big_out, sizeof big_out, MPI_CHAR, other, 41 + i, MPI_COMM_WORLD,
                       &request[i]);
    skip_events();
    const uint32_t sent = EVENT_SEND | EVENT_PERSISTENT;
    for (int i = 0; i < TIMES; i++) {
        MPI_Start(&request[0]);
        check_message(EXPECT_CALL(Start, sent | EVENT_POST), other, 41, sizeof big_out);
        MPI_Wait(&request[0], MPI_STATUS_IGNORE);
        check_message(EXPECT_CALL(Wait, sent | EVENT_DONE), other, 41, sizeof big_out);
        MPI_Startall(1, &request[1]);
        check_message(EXPECT_CALL(Startall, sent | EVENT_POST), other, 42, sizeof big_out);
        MPI_Wait(&request[1], MPI_STATUS_IGNORE);
        check_message(EXPECT_CALL(Wait, sent | EVENT_DONE), other, 42, sizeof big_out);
    }
    for (int i = 0; i < 2 * TIMES; i++)
        MPI_Recv(big_in, sizeof big_in, MPI_CHAR, other, 41 + i % 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Buffer_detach(&space, &bytes);
    for (int i = 0; i < 2; i++)
        MPI_Request_free(&request[i]);
    free(space);
    skip_events();
}

static void a_cancelled_receive_moved_nothing(void)
{
    MPI_Request request;
    skip_events();
    MPI_Irecv(big_in, 100, MPI_CHAR, other, 31, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    struct event posted = EXPECT_CALL(Irecv, EVENT_RECV | EVENT_POST);
    EXPECT(EXPECT_CALL(Cancel, 0).request == posted.request, "request");
    struct event e = EXPECT_CALL(Wait, EVENT_RECV | EVENT_CANCELLED);
    EXPECT(e.request == posted.request && e.bytes == 0, "bytes");
}

static void matched_probes_hand_the_message_on(void)
{
    MPI_Message message;
    MPI_Request request;
    int flag = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++)
        MPI_Send(big_out, 40 + i, MPI_CHAR, other, 41 + i, MPI_COMM_WORLD);
    skip_events();
    MPI_Mprobe(MPI_ANY_SOURCE, 41, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(big_in, 100, MPI_CHAR, &message, MPI_STATUS_IGNORE);
    struct event probed = EXPECT_CALL(Mprobe, EVENT_WILDCARD);
    check_message(probed, other, 41, 0);
    check_message(EXPECT_CALL(Mrecv, EVENT_RECV | EVENT_POST | EVENT_DONE), other, 41, 40);
    while (!flag)
        MPI_Improbe(other, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
    check_message(EXPECT_CALL(Improbe, EVENT_WILDCARD), other, 42, 0);
    MPI_Imrecv(big_in, 100, MPI_CHAR, &message, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    struct event posted = next_event();
    EXPECT(posted.call == CALL_Imrecv && posted.peer == other && posted.tag == 42, "imrecv");
    if (!(posted.flags & EVENT_DONE)) {
        struct event e = EXPECT_CALL(Wait, EVENT_RECV | EVENT_DONE);
        check_message(e, other, 42, 41);
        EXPECT(e.request == posted.request, "request");
    }
    skip_events();
}

static uint64_t untracked(void)
{
    return atomic_load(&segment_ring(witness_segment, 0)->untracked);
}

enum { SHORT = 6000 };

/* Post receives of the other rank, and have it send. @return how many have an entry in the table */
static unsigned post_receives(MPI_Request *requests, char *buffers)
{
    unsigned tracked = 0, flagged = 0;
    uint64_t before = untracked();
    skip_events();
    for (int i = 0; i < SHORT; i++) {
        MPI_Irecv(&buffers[i], 1, MPI_CHAR, other, 7000, MPI_COMM_WORLD, &requests[i]);
        struct event e = next_event();
        tracked += e.request != 0;
        flagged += (e.flags & EVENT_UNTRACKED) != 0;
    }
    EXPECT(tracked + flagged == SHORT && untracked() - before == flagged, "%u tracked, %u flagged",
           tracked, flagged);
    return tracked;
}

static void send_to_receives(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < SHORT; i++)
        MPI_Send(big_out, 1, MPI_CHAR, other, 7000, MPI_COMM_WORLD);
    skip_events();
}

static unsigned count_received(void)
{
    unsigned received = 0;
    for (struct event e; (e = next_event()).call != 0;)
        received += (e.flags & (EVENT_RECV | EVENT_DONE)) == (EVENT_RECV | EVENT_DONE);
    return received;
}

static void requests_without_memory_are_counted(void)
{
    static MPI_Request requests[SHORT];
    static char buffers[SHORT];
    memory_is_short = 1;
    unsigned tracked = post_receives(requests, buffers);
    memory_is_short = 0;
    EXPECT(tracked > 3000 && tracked < SHORT, "%u tracked", tracked);
    send_to_receives();
    for (int i = 0; i < SHORT; i++)
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    unsigned received = count_received();
    EXPECT(received == tracked, "%u received of %u tracked", received, tracked);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void arrays_without_memory_are_counted(void)
{
    static MPI_Request requests[SHORT];
    static char buffers[SHORT];
    unsigned tracked = post_receives(requests, buffers);
    EXPECT(tracked == SHORT, "%u tracked", tracked);
    send_to_receives();
    uint64_t before = untracked();
    memory_is_short = 1;
    MPI_Waitall(SHORT, requests, MPI_STATUSES_IGNORE);
    memory_is_short = 0;
    EXPECT(untracked() - before == SHORT, "%llu", (unsigned long long)(untracked() - before));
    EXPECT(count_received() == 0, "received without their sizes");
    MPI_Barrier(MPI_COMM_WORLD);
    /* The table kept none of them. */
    EXPECT(post_receives(requests, buffers) == SHORT, "tracked again");
    send_to_receives();
    MPI_Waitall(SHORT, requests, MPI_STATUSES_IGNORE);
    EXPECT(count_received() == SHORT, "received");
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Nobody can see any more when they complete: they are counted, and those of nobody are not. */
static void freed_receives_are_counted(void)
{
    MPI_Request request;
    uint64_t before = untracked();
    MPI_Irecv(big_in, 8, MPI_CHAR, other, 61, MPI_COMM_WORLD, &request);
    skip_events();
    MPI_Request_free(&request);
    EXPECT_CALL(Request_free, EVENT_UNTRACKED);
    EXPECT(untracked() == before + 1, "a freed receive");
    MPI_Recv_init(big_in, 8, MPI_CHAR, MPI_PROC_NULL, 61, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    skip_events();
    MPI_Request_free(&request);
    EXPECT_CALL(Request_free, 0);
    EXPECT(untracked() == before + 1, "a freed receive from nobody");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(big_out, 8, MPI_CHAR, other, 61, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static int wait_for_value(MPI_Datatype type, int key, void *value, void *unused)
{
    (void)type, (void)key, (void)unused;
    return MPI_Wait(value, MPI_STATUS_IGNORE);
}

/* The call that frees the datatype has no record of what the callback completes. */
static void wait_in_a_callback(int key, MPI_Request *request)
{
    MPI_Datatype owner;
    MPI_Type_dup(MPI_INT, &owner);
    MPI_Type_set_attr(owner, key, request);
    MPI_Send(big_out, 1, MPI_INT, 0, 3, MPI_COMM_SELF);
    MPI_Type_free(&owner);
}

static void receives_that_a_callback_completes_are_counted_when_their_request_is_used_again(void)
{
    enum { MOST = 4096 };
    static MPI_Request next[MOST];
    MPI_Request request;
    int key, made = 0;
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, wait_for_value, &key, NULL);
    const uint64_t before = untracked();
    MPI_Irecv(big_in, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &request);
    const MPI_Request first = request;
    wait_in_a_callback(key, &request);
    EXPECT(request == MPI_REQUEST_NULL, "the callback has not completed it");
    do
        MPI_Irecv(big_in, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &next[made++]);
    while (next[made - 1] != first && made < MOST);
    EXPECT(untracked() == before + 1, "after %d more: %llu", made,
           (unsigned long long)(untracked() - before));
    for (int i = 0; i < made; i++) {
        MPI_Send(big_out, 1, MPI_INT, 0, 3, MPI_COMM_SELF);
        MPI_Wait(&next[i], MPI_STATUS_IGNORE);
    }
    MPI_Recv_init(big_in, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &request);
    for (int i = 0; i < 2; i++) {
        MPI_Start(&request);
        wait_in_a_callback(key, &request);
    }
    EXPECT(untracked() == before + 2, "started again");
    MPI_Request_free(&request);
    EXPECT(untracked() == before + 3, "freed");
    MPI_Type_free_keyval(&key);
}

static void regions_stand_on_events_and_messages_of_a_pause_are_marked(void)
{
    char built[32];
    skip_events();
    MPI_Pcontrol(1, "outer");
    struct event e = (EXPECT_CALL(Pcontrol, 0), next_event());
    EXPECT(e.kind == EVENT_REGION && e.peer == 1, "kind %u", e.kind);
    uint16_t outer = e.region;
    EXPECT(strcmp(segment_region(witness_segment, outer)->name, "outer") == 0, "name");
    snprintf(built, sizeof(built), "step-%d", 3);
    MPI_Pcontrol(1, built);
    EXPECT_CALL(Pcontrol, 0);
    uint16_t inner = next_event().region;
    EXPECT(strcmp(segment_region(witness_segment, inner)->name, "step-3") == 0, "name");
    MPI_Barrier(MPI_COMM_SELF);
    EXPECT(EXPECT_CALL(Barrier, 0).region == inner, "inner");
    MPI_Pcontrol(-1, built);
    EXPECT_CALL(Pcontrol, 0);
    e = next_event();
    EXPECT(e.kind == EVENT_REGION && e.peer == -1 && e.region == inner, "close");
    MPI_Barrier(MPI_COMM_SELF);
    EXPECT(EXPECT_CALL(Barrier, 0).region == outer, "outer");
    MPI_Pcontrol(-1, "outer");
    skip_events();
    MPI_Barrier(MPI_COMM_SELF);
    EXPECT(EXPECT_CALL(Barrier, 0).region == 0, "outside");
    MPI_Pcontrol(0);
    EXPECT(atomic_load(&witness_segment->paused_at) > 0, "paused");
    for (int i = 0; i < 10; i++)
        MPI_Barrier(MPI_COMM_SELF);
    EXPECT_SILENCE();
    MPI_Sendrecv(big_out, 8, MPI_CHAR, other, 61, big_in, 8, MPI_CHAR, other, 61, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    EXPECT_CALL(Sendrecv, EVENT_SEND | EVENT_POST | EVENT_DONE | EVENT_PAUSED);
    EXPECT_PART(Sendrecv, EVENT_RECV | EVENT_POST | EVENT_DONE | EVENT_PAUSED);
    MPI_Pcontrol(1);
    EXPECT(atomic_load(&witness_segment->paused_at) == 0, "resumed");
    EXPECT_CALL(Pcontrol, 0);
    MPI_Barrier(MPI_COMM_SELF);
    EXPECT_CALL(Barrier, 0);
}

static void failed_calls_move_nothing(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    skip_events();
    int result = MPI_Send(big_out, 1, MPI_CHAR, witness_size + 5, 1, MPI_COMM_WORLD);
    EXPECT(result != MPI_SUCCESS, "result");
    EXPECT_CALL(Send, EVENT_FAILED | EVENT_REFUSED);
    EXPECT(MPI_Send(big_out, -1, MPI_CHAR, other, 1, MPI_COMM_WORLD) != MPI_SUCCESS, "count");
    EXPECT_CALL(Send, EVENT_FAILED | EVENT_REFUSED);
    if (witness_rank == 0) {
        MPI_Send(big_out, 64, MPI_CHAR, 1, 51, MPI_COMM_WORLD);
    } else {
        result = MPI_Recv(big_in, 8, MPI_CHAR, 0, 51, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        EXPECT(result != MPI_SUCCESS, "truncated");
        EXPECT_CALL(Recv, EVENT_FAILED);
    }
    skip_events();
    result = MPI_Sendrecv(big_out, 16, MPI_CHAR, other, 52, big_in, witness_rank == 0 ? 16 : 8,
                          MPI_CHAR, other, 52, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT((result == MPI_SUCCESS) == (witness_rank == 0), "truncated");
    check_message(EXPECT_CALL(Sendrecv, DONE_AT_ONCE), other, 52, 16);
    EXPECT_PART(Sendrecv, witness_rank == 0 ? EVENT_RECV | EVENT_POST | EVENT_DONE : EVENT_FAILED);
    skip_events();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* A call that refuses its arguments sets neither number nor indices. */
static void outputs_of_failed_calls_are_not_read(void)
{
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status statuses[2];
    int index = 1 << 28, number = 1 << 28, indices[2] = {1 << 28, -(1 << 28)}, flag = 1;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* asked if there is no request */
    skip_events();
    EXPECT(MPI_Waitany(-1, requests, &index, statuses) != MPI_SUCCESS, "Waitany");
    EXPECT_CALL(Waitany, EVENT_FAILED);
    EXPECT(MPI_Testany(-1, requests, &index, &flag, statuses) != MPI_SUCCESS, "Testany");
    EXPECT_CALL(Testany, EVENT_FAILED);
    EXPECT(MPI_Waitsome(-1, requests, &number, indices, statuses) != MPI_SUCCESS, "Waitsome");
    EXPECT_CALL(Waitsome, EVENT_FAILED);
    EXPECT(MPI_Testsome(-1, requests, &number, indices, statuses) != MPI_SUCCESS, "Testsome");
    EXPECT_CALL(Testsome, EVENT_FAILED);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* The library refuses such calls. Most leave no record. */
static void pointers_that_are_missing_are_for_the_library_to_refuse(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int flag = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    skip_events();
    EXPECT(MPI_Wait(NULL, MPI_STATUS_IGNORE) != MPI_SUCCESS, "Wait");
    EXPECT(MPI_Test(NULL, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS, "Test");
    EXPECT(MPI_Waitall(2, NULL, MPI_STATUSES_IGNORE) != MPI_SUCCESS, "Waitall");
    EXPECT(MPI_Waitany(1, &request, NULL, MPI_STATUS_IGNORE) != MPI_SUCCESS, "Waitany");
    EXPECT_SILENCE();
    EXPECT(MPI_Test(&request, NULL, MPI_STATUS_IGNORE) != MPI_SUCCESS, "flag of Test");
    EXPECT_CALL(Test, EVENT_FAILED);
    EXPECT(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE) == MPI_SUCCESS, "nothing to wait for");
    EXPECT_CALL(Waitall, 0);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static jmp_buf after_failure;

static void jump(MPI_Comm *comm, int *error, ...)
{
    (void)comm;
    (void)error;
    longjmp(after_failure, 1);
}

/* As an exception of C++ does. */
static void calls_after_one_that_a_handler_has_left_are_recorded(void)
{
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(jump, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    skip_events();
    if (setjmp(after_failure) == 0)
        MPI_Send(big_out, 1, MPI_CHAR, witness_size + 5, 1, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_SELF);
    const struct event left = EXPECT_CALL(Send, EVENT_FAILED);
    EXPECT(left.t_exit == left.t_enter, "how long it lasted is not known");
    EXPECT_CALL(Barrier, 0);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    witness_open();
    other = 1 - witness_rank;
    struct event e = next_event();
    EXPECT(e.call == CALL_Init && e.seq == 0, "the first record is MPI_Init");
    EXPECT(atomic_load(&witness_segment->rank) == witness_rank, "rank");
    EXPECT(atomic_load(&witness_segment->size) == witness_size, "size");
    blocking_calls_carry_peer_tag_and_size();
    a_datatype_freed_by_a_callback_has_no_size_any_more();
    derived_datatypes_count_what_is_transferred();
    a_completed_request_is_the_one_that_was_posted();
    requests_without_memory_are_counted(); /* first: memory that is mapped remains */
    arrays_without_memory_are_counted();
    for (enum family family = WAITALL; family < FAMILIES; family++) {
        each_family_attributes_what_it_completes(family, 20, 0);
        each_family_attributes_what_it_completes(family, 20, 1);
        each_family_attributes_what_it_completes(family, 5000, 0); /* more than the table holds */
    }
    polls_that_find_nothing_leave_no_record();
    persistent_requests_count_at_each_start();
    buffered_requests_that_are_started_again_count();
    a_cancelled_receive_moved_nothing();
    matched_probes_hand_the_message_on();
    freed_receives_are_counted();
    receives_that_a_callback_completes_are_counted_when_their_request_is_used_again();
    regions_stand_on_events_and_messages_of_a_pause_are_marked();
    failed_calls_move_nothing();
    outputs_of_failed_calls_are_not_read();
    pointers_that_are_missing_are_for_the_library_to_refuse();
    calls_after_one_that_a_handler_has_left_are_recorded();
    return witness_close();
}
