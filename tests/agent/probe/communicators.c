/* Communicator ids on eight ranks: every member of a communicator must have the same id, and no two
 * communicators may share one. Each rank collects the ids of what it made under a label that all
 * members give alike; rank 0 compares. World ranks of peers are checked by messages in each
 * communicator. */
#include "tests/agent/probe/witness.h"

enum { LABELS = 4096 };

/* One communicator that this rank is in: label tells which, the same on all members, different for
 * each. */
static struct {
    long label;
    uint64_t id;
} seen[LABELS];
static int seen_count;

/* A barrier in it leaves a record that carries its slot, which carries its id. */
static uint64_t id_of(MPI_Comm comm)
{
    skip_events();
    MPI_Barrier(comm);
    struct event e = next_event();
    EXPECT(e.call == CALL_Barrier && e.comm < witness_segment->comms, "barrier is in slot %u",
           e.comm);
    struct comm_slot *slot = segment_comm(witness_segment, e.comm);
    int size, remote = 0, rank, inter;
    MPI_Comm_test_inter(comm, &inter);
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    if (inter)
        MPI_Comm_remote_size(comm, &remote);
    EXPECT((int)slot->size == size && (int)slot->remote_size == remote && slot->my_rank == rank,
           "slot of %s: size %u remote %u rank %d", slot->name, slot->size, slot->remote_size,
           slot->my_rank);
    EXPECT(!!(e.flags & EVENT_INTER) == inter, "inter %x", e.flags);
    EXPECT(atomic_load(&slot->generation) % 2 == 1, "live");
    return slot->id;
}

static void note(long label, MPI_Comm comm)
{
    if (comm == MPI_COMM_NULL)
        return;
    seen[seen_count].label = label;
    seen[seen_count++].id = id_of(comm);
}

/* Each member tells its right-hand neighbour its world rank: the probe must name both ends by it.
 */
static void check_peers(MPI_Comm comm)
{
    int rank, size, mine = witness_rank, got = -1, inter;
    MPI_Comm_test_inter(comm, &inter);
    MPI_Comm_rank(comm, &rank);
    if (inter)
        MPI_Comm_remote_size(comm, &size);
    else
        MPI_Comm_size(comm, &size);
    int local;
    MPI_Comm_size(comm, &local);
    if (inter && local != size)
        return;
    int to = (rank + 1) % size, from = (rank + size - 1) % size, right = -1;
    MPI_Sendrecv(&mine, 1, MPI_INT, from, 2, &right, 1, MPI_INT, to, 2, comm, MPI_STATUS_IGNORE);
    skip_events();
    MPI_Sendrecv(&mine, 1, MPI_INT, to, 1, &got, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm,
                 MPI_STATUS_IGNORE);
    struct event out = next_event(), in = next_event();
    EXPECT(out.peer == right, "sent to world rank %d, recorded %d", right, out.peer);
    EXPECT(in.kind == EVENT_PART && in.peer == got, "received from world rank %d, recorded %d", got,
           in.peer);
    EXPECT(out.comm == in.comm, "communicator");
}

static void compare_all(void)
{
    long labels[LABELS];
    unsigned long long ids[LABELS], other[LABELS];
    long other_labels[LABELS];
    for (int i = 0; i < seen_count; i++) {
        labels[i] = seen[i].label;
        ids[i] = seen[i].id;
    }
    if (witness_rank != 0) {
        MPI_Send(labels, seen_count, MPI_LONG, 0, 90, MPI_COMM_WORLD);
        MPI_Send(ids, seen_count, MPI_UNSIGNED_LONG_LONG, 0, 91, MPI_COMM_WORLD);
        return;
    }
    int total = seen_count, compared = 0;
    for (int r = 1; r < witness_size; r++) {
        MPI_Status status;
        int n;
        MPI_Recv(other_labels, LABELS, MPI_LONG, r, 90, MPI_COMM_WORLD, &status);
        MPI_Recv(other, LABELS, MPI_UNSIGNED_LONG_LONG, r, 91, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Get_count(&status, MPI_LONG, &n);
        for (int i = 0; i < n; i++) {
            int known = 0;
            for (int k = 0; k < total; k++) {
                int same_label = labels[k] == other_labels[i], same_id = ids[k] == other[i];
                EXPECT(same_label == same_id,
                       "rank %d: label %ld id %llx against label %ld id %llx", r, other_labels[i],
                       other[i], labels[k], ids[k]);
                known |= same_label;
                compared += same_label;
            }
            if (!known && total < LABELS) {
                labels[total] = other_labels[i];
                ids[total++] = other[i];
            }
        }
    }
    for (int i = 0; i < total; i++) {
        for (int k = 0; k < i; k++)
            EXPECT(ids[i] != ids[k], "labels %ld and %ld share an id", labels[i], labels[k]);
    }
    EXPECT(compared > 100, "only %d comparisons", compared);
    printf("%d communicators, %d members agree\n", total, compared);
}

/* Splits, dups and creates of a communicator, labelled from base on. */
static void make_family(MPI_Comm parent, long base)
{
    int rank, size;
    MPI_Comm child;
    MPI_Request request;
    MPI_Comm_rank(parent, &rank);
    MPI_Comm_size(parent, &size);
    MPI_Comm_dup(parent, &child);
    note(base, child);
    check_peers(child);
    MPI_Comm_free(&child);
    MPI_Comm_idup(parent, &child, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    note(base + 1, child);
    MPI_Comm_free(&child);
    for (int i = 0; i < 3; i++) { /* the same again: ids must differ */
        MPI_Comm_split(parent, rank % 3, -rank, &child);
        note(base + 10 + i * 10 + rank % 3, child);
        check_peers(child);
        MPI_Comm_free(&child);
    }
    MPI_Comm_split(parent, rank < 2 ? MPI_UNDEFINED : rank % 2, (rank * 5) % size, &child);
    note(base + 50 + rank % 2, child);
    if (child != MPI_COMM_NULL) {
        check_peers(child);
        MPI_Comm_free(&child);
    }
    MPI_Comm_split_type(parent, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &child);
    note(base + 60, child);
    MPI_Comm_free(&child);
    int dims[2] = {2, size / 2}, periods[2] = {1, 1}, keep[2] = {0, 1};
    MPI_Comm cart, row;
    MPI_Cart_create(parent, 2, dims, periods, 0, &cart);
    note(base + 61, cart);
    if (cart != MPI_COMM_NULL) {
        MPI_Cart_sub(cart, keep, &row);
        note(base + 62 + rank / dims[1], row);
        check_peers(row);
        MPI_Comm_free(&row);
        MPI_Comm_free(&cart);
    }
}

/* Only members of the group take part: different ranks make different numbers of them. */
static void make_by_group(void)
{
    MPI_Group world, group;
    MPI_Comm child;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int n = 2; n <= witness_size; n++) {
        int ranks[64];
        for (int i = 0; i < n; i++)
            ranks[i] = (i * 3) % 8; /* no affine order */
        MPI_Group_incl(world, n, ranks, &group);
        int member;
        MPI_Group_rank(group, &member);
        if (member != MPI_UNDEFINED) {
            for (int again = 0; again < 2; again++) {
                MPI_Comm_create_group(MPI_COMM_WORLD, group, n == 3 ? 8 : 7, &child);
                note(100000 + n * 10 + again, child);
                check_peers(child);
                MPI_Comm_free(&child);
            }
        }
        MPI_Comm_create(MPI_COMM_WORLD, group, &child);
        note(110000 + n, child);
        if (child != MPI_COMM_NULL)
            MPI_Comm_free(&child);
        MPI_Group_free(&group);
    }
    MPI_Group_free(&world);
}

/* Made by two ranks alone. */
static void make_pair(int other, int tag, MPI_Comm *child)
{
    MPI_Group world, group;
    const int ranks[] = {0, other};
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 2, ranks, &group);
    MPI_Comm_create_group(MPI_COMM_WORLD, group, tag, child);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
}

/* With many groups and tags, of which not all members know. */
static void communicators_of_one_group_and_tag_differ_whatever_was_made_before(void)
{
    MPI_Group world;
    MPI_Comm pair[2], child;
    for (int tag = 0; tag < 200 && witness_rank < 2; tag++) {
        make_pair(1, tag, &child);
        MPI_Comm_free(&child);
    }
    for (int i = 0; i < 3 && (witness_rank == 0 || witness_rank == 2); i++) {
        make_pair(2, 7, &child);
        note(310000 + i, child);
        MPI_Comm_free(&child);
    }
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int tag = 1000; tag < 1200; tag++) {
        MPI_Comm_create_group(MPI_COMM_WORLD, world, tag, &child);
        MPI_Comm_free(&child);
    }
    for (int i = 0; i < 2; i++) {
        MPI_Comm_create_group(MPI_COMM_WORLD, world, 2000, &pair[i]);
        note(300000 + i, pair[i]);
    }
    for (int i = 0; i < 2; i++)
        MPI_Comm_free(&pair[i]);
    MPI_Group_free(&world);
}

static void make_intercommunicators(void)
{
    MPI_Comm half, inter, merged, copy;
    int low = witness_rank < witness_size / 2;
    MPI_Comm_split(MPI_COMM_WORLD, low, witness_rank, &half);
    for (int again = 0; again < 2; again++) {
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? witness_size / 2 : 0, 5, &inter);
        note(200000 + again * 100, inter);
        check_peers(inter);
        MPI_Intercomm_merge(inter, low, &merged);
        note(200001 + again * 100, merged);
        check_peers(merged);
        MPI_Comm_dup(inter, &copy);
        note(200002 + again * 100, copy);
        check_peers(copy);
        MPI_Comm_free(&copy);
        MPI_Comm_free(&merged);
        MPI_Comm_free(&inter);
    }
    note(200300 + low, half);
    MPI_Comm_free(&half);
}

static uint64_t untracked(void)
{
    return atomic_load(&segment_ring(witness_segment, 0)->untracked);
}

/* As many as the MPI library makes; calls on those that have no slot are counted. */
static void thousands_of_communicators_have_slots_of_their_own(void)
{
    enum { MANY = SEGMENT_COMMS + 500 };
    static MPI_Comm children[MANY];
    static char used[SEGMENT_COMMS];
    int made = 0, slots = 0, others = 0;
    uint64_t before = untracked();
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    while (made < MANY && MPI_Comm_dup(MPI_COMM_SELF, &children[made]) == MPI_SUCCESS)
        made++;
    EXPECT(untracked() == before, "making them");
    for (int i = 0; i < made; i++) {
        skip_events();
        MPI_Barrier(children[i]);
        struct event e = next_event();
        others += e.comm == COMM_SLOT_OTHER;
        if (e.comm < SEGMENT_COMMS)
            slots += !used[e.comm]++;
    }
    int rest = (int)SEGMENT_COMMS - 2; /* without MPI_COMM_WORLD and MPI_COMM_SELF */
    EXPECT(slots + others == made && slots == (made < rest ? made : rest), "%d of %d", slots, made);
    EXPECT(untracked() == before + (uint64_t)others, "%d calls", others);
    for (int i = 0; i < made; i++) {
        skip_events();
        MPI_Comm_free(&children[i]);
        others -= next_event().comm == COMM_SLOT_OTHER;
    }
    EXPECT(others == 0, "%d were freed as those of none", others);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

static void slots_are_given_back(void)
{
    for (int i = 0; i < 3 * (int)SEGMENT_COMMS; i++) {
        MPI_Comm child;
        MPI_Comm_dup(MPI_COMM_SELF, &child);
        MPI_Comm_free(&child);
    }
    EXPECT(untracked() == 0, "slots were lost");
    MPI_Comm child;
    MPI_Comm_dup(MPI_COMM_SELF, &child);
    MPI_Comm_set_name(child, "a name of its own");
    skip_events();
    MPI_Barrier(child);
    const struct event e = next_event();
    const struct comm_slot *slot = segment_comm(witness_segment, e.comm);
    EXPECT(strcmp(slot->name, "a name of its own") == 0, "name");
    EXPECT(slot->since > 0 && slot->since < e.t_enter, "freed before its next use");
    MPI_Comm_free(&child);
}

static void use_all_slots(void)
{
    for (int i = 0; i < 3 * (int)SEGMENT_COMMS; i++) {
        MPI_Comm child;
        MPI_Comm_dup(MPI_COMM_SELF, &child);
        MPI_Comm_free(&child);
    }
}

/* Records of what such a request posts name the slot: it is no other's until the request is freed.
 */
static void persistent_requests_keep_the_slot_of_their_communicator(void)
{
    MPI_Comm child;
    MPI_Request requests[2];
    int in;
    MPI_Comm_dup(MPI_COMM_SELF, &child);
    for (int i = 0; i < 2; i++)
        MPI_Recv_init(&in, 1, MPI_INT, 0, 1, child, &requests[i]);
    skip_events();
    MPI_Barrier(child);
    const struct comm_slot *slot = segment_comm(witness_segment, next_event().comm);
    const uint64_t id = slot->id;
    MPI_Comm_free(&child);
    use_all_slots();
    MPI_Request_free(&requests[0]);
    use_all_slots();
    EXPECT(slot->id == id, "the slot of a request is another's");
    skip_events();
    MPI_Request_free(&requests[1]);
    const struct event e = next_event();
    use_all_slots();
    EXPECT(slot->id != id && slot->since > e.t_enter, "the slot is not used again");
}

static int free_value(MPI_Comm comm, int key, void *value, void *unused)
{
    (void)comm, (void)key, (void)unused;
    return MPI_Comm_free(value);
}

static void a_communicator_freed_by_a_callback_gives_its_slot_back(void)
{
    MPI_Comm outer, inner;
    int key;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_value, &key, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &outer);
    MPI_Comm_dup(MPI_COMM_WORLD, &inner);
    MPI_Comm_set_attr(outer, key, &inner);
    skip_events();
    MPI_Barrier(inner);
    const struct comm_slot *slot = segment_comm(witness_segment, next_event().comm);
    const uint32_t made = atomic_load(&slot->generation);
    MPI_Comm_free(&outer);
    EXPECT(atomic_load(&slot->generation) == made + 1, "%u times", slot->generation - made);
    MPI_Comm_free_keyval(&key);
}

static int make_two(MPI_Comm old, int key, void *extra, void *made, void *copy, int *copies)
{
    (void)key, (void)extra, (void)copy;
    *copies = 0;
    MPI_Comm_split(old, 0, 0, made);
    return MPI_Comm_split(old, 0, 0, (MPI_Comm *)made + 1);
}

static void communicators_made_by_a_callback_have_ids_of_their_own(void)
{
    MPI_Comm parent, copy, made[2];
    int key;
    MPI_Comm_create_keyval(make_two, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &parent);
    MPI_Comm_set_attr(parent, key, made);
    MPI_Comm_dup(parent, &copy);
    note(400000, made[0]);
    note(400001, made[1]);
    MPI_Comm_free(&made[0]);
    MPI_Comm_free(&made[1]);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&parent);
    MPI_Comm_free_keyval(&key);
}

static void a_communicator_that_is_not_freed_keeps_its_id(void)
{
    MPI_Comm copy = MPI_COMM_WORLD;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    EXPECT(MPI_Comm_free(&copy) != MPI_SUCCESS, "MPI_COMM_WORLD was freed");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    EXPECT(id_of(MPI_COMM_WORLD) == 1, "id");
}

static uint32_t grids(void)
{
    return atomic_load(&witness_segment->carts_made);
}

/* The newest one has this shape, and says where this rank is in it, and which communicator it is.
 */
static void expect_grid(MPI_Comm comm, uint32_t before, uint32_t dimensions, const int *sizes,
                        uint32_t periods)
{
    int rank;
    EXPECT(grids() == before + 1, "%u were made before, now %u", before, grids());
    MPI_Comm_rank(comm, &rank);
    const struct cart_slot *slot = segment_cart(witness_segment, before);
    EXPECT(atomic_load(&slot->ready) == 1 && slot->id == id_of(comm), "id");
    EXPECT(slot->dimensions == dimensions && slot->periods == periods, "%u dimensions, periods %x",
           slot->dimensions, slot->periods);
    EXPECT((int)slot->position == rank, "position %u of rank %d", slot->position, rank);
    for (uint32_t i = 0; i < dimensions; i++)
        EXPECT((int)slot->sizes[i] == sizes[i], "dimension %u: %u", i, slot->sizes[i]);
}

static void grids_are_noted(void)
{
    static const int sizes[] = {4, 2}, ones[9] = {8, 1, 1, 1, 1, 1, 1, 1, 1}, none[9],
                     both[9] = {1};
    MPI_Comm turned, grid, part;
    uint32_t before = grids();
    MPI_Comm_split(MPI_COMM_WORLD, 0, -witness_rank, &turned);
    MPI_Cart_create(turned, 2, sizes, both, 1, &grid);
    expect_grid(grid, before, 2, sizes, 1);
    MPI_Cart_sub(grid, both, &part);
    expect_grid(part, before + 1, 1, sizes, 1);
    MPI_Comm_free(&part);
    MPI_Cart_sub(grid, none, &part); /* no dimensions, one rank */
    if (part != MPI_COMM_NULL)
        MPI_Comm_free(&part);
    MPI_Comm_free(&grid);
    EXPECT(segment_cart(witness_segment, before)->sizes[0] == 4, "it is kept when it is freed");
    MPI_Cart_create(turned, 9, ones, none, 0, &grid);
    MPI_Comm_free(&grid);
    EXPECT(grids() == before + 2, "%u more", grids() - before);
    MPI_Cart_create(turned, 8, ones, none, 0, &grid);
    expect_grid(grid, before + 2, 8, ones, 0);
    MPI_Comm_free(&grid);
    int pair[] = {2}; /* on some only */
    MPI_Cart_create(turned, 1, pair, none, 0, &grid);
    EXPECT(grids() == before + 3 + (grid != MPI_COMM_NULL), "%u more", grids() - before);
    if (grid != MPI_COMM_NULL)
        MPI_Comm_free(&grid);
    for (int i = 0; i < (int)SEGMENT_CARTS; i++) {
        MPI_Cart_create(turned, 2, sizes, none, 0, &grid);
        MPI_Comm_free(&grid);
    }
    EXPECT(grids() > SEGMENT_CARTS && witness_segment->carts == SEGMENT_CARTS, "%u", grids());
    MPI_Comm_free(&turned);
}

/* The newest slots are these, in world ranks; of a rank of the communicator that is the last one
 * less its number. */
static void expect_sources(MPI_Comm comm, uint32_t before, int count, const int *sources)
{
    uint32_t made = atomic_load(&witness_segment->sources_made);
    uint64_t id = id_of(comm);
    int size, at = 0;
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < count; i++) {
        if (sources[i] == MPI_PROC_NULL)
            continue;
        const struct source_slot *slot = segment_source(witness_segment, before + (uint32_t)at++);
        EXPECT(slot->comm == id, "slot %d", at - 1);
        EXPECT((int)atomic_load(&slot->rank) == size - sources[i], "%u for source %d",
               atomic_load(&slot->rank), sources[i]);
    }
    EXPECT(made == before + (uint32_t)at, "%u were made before, now %u", before, made);
}

static void neighbours_are_noted_at_the_first_collective_of_them(void)
{
    enum { MANY = 200 };
    int sources[4], to[4], many[MANY], in[MANY] = {0}, out = 0, rank, size;
    uint32_t before = atomic_load(&witness_segment->sources_made);
    MPI_Comm turned, grid, copy, graph;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -witness_rank, &turned);
    MPI_Comm_size(turned, &size);
    MPI_Cart_create(turned, 2, (int[]){size / 2, 2}, (int[]){0, 1}, 0, &grid);
    MPI_Comm_dup(grid, &copy);
    MPI_Comm_rank(copy, &rank);
    MPI_Cart_shift(copy, 0, 1, &sources[0], &sources[1]);
    MPI_Cart_shift(copy, 1, 1, &sources[2], &sources[3]);
    expect_sources(copy, before, 0, sources);
    for (int i = 0; i < 2; i++)
        MPI_Neighbor_allgather(&out, 1, MPI_INT, in, 1, MPI_INT, copy);
    expect_sources(copy, before, 4, sources);
    before = atomic_load(&witness_segment->sources_made);
    MPI_Comm_dup(copy, &graph); /* of one whose neighbours are known */
    MPI_Neighbor_allgather(&out, 1, MPI_INT, in, 1, MPI_INT, graph);
    expect_sources(graph, before, 4, sources);
    MPI_Comm_free(&graph);
    before = atomic_load(&witness_segment->sources_made);
    sources[0] = sources[1] = (rank + 1) % size;
    sources[2] = rank;
    to[0] = to[1] = (rank + size - 1) % size;
    to[2] = rank;
    MPI_Dist_graph_create_adjacent(turned, 3, sources, (int[]){1, 2, 3}, 3, to, (int[]){1, 2, 3},
                                   MPI_INFO_NULL, 0, &graph);
    MPI_Neighbor_allgather(&out, 1, MPI_INT, in, 1, MPI_INT, graph);
    expect_sources(graph, before, 3, sources);
    MPI_Comm_free(&graph);
    for (int i = 0; i < MANY; i++)
        many[i] = rank;
    for (uint32_t i = 0; i <= SEGMENT_SOURCES / MANY; i++) { /* until there are no slots left */
        MPI_Dist_graph_create_adjacent(turned, MANY, many, many, MANY, many, many, MPI_INFO_NULL, 0,
                                       &graph);
        MPI_Neighbor_allgather(&out, 1, MPI_INT, in, 1, MPI_INT, graph);
        MPI_Comm_free(&graph);
    }
    EXPECT(atomic_load(&witness_segment->sources_made) >= SEGMENT_SOURCES, "%u slots",
           atomic_load(&witness_segment->sources_made));
    MPI_Comm_free(&copy);
    MPI_Comm_free(&grid);
    MPI_Comm_free(&turned);
}

int main(int argc, char **argv)
{
    MPI_Comm odd;
    MPI_Init(&argc, &argv);
    witness_open();
    note(1, MPI_COMM_WORLD);
    EXPECT(seen[0].id == 1, "MPI_COMM_WORLD is 1");
    make_family(MPI_COMM_WORLD, 1000);
    MPI_Comm_split(MPI_COMM_WORLD, witness_rank % 2, 0, &odd);
    make_family(odd, 2000 + 1000 * (witness_rank % 2));
    MPI_Comm_free(&odd);
    make_family(MPI_COMM_WORLD, 5000);
    make_by_group();
    make_intercommunicators();
    grids_are_noted();
    neighbours_are_noted_at_the_first_collective_of_them();
    slots_are_given_back();
    persistent_requests_keep_the_slot_of_their_communicator();
    a_communicator_freed_by_a_callback_gives_its_slot_back();
    communicators_made_by_a_callback_have_ids_of_their_own();
    a_communicator_that_is_not_freed_keeps_its_id();
    communicators_of_one_group_and_tag_differ_whatever_was_made_before();
    if (witness_rank == 0)
        thousands_of_communicators_have_slots_of_their_own();
    compare_all();
    return witness_close();
}
