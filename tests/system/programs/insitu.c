/* insitu ITERATIONS STEPS IMAGES PAUSE_MS BYTES [DIRECTORY]: a simulation that draws pictures of
 * itself while it runs, as in the case study of CommGram (S3D with visualization in situ).
 *
 * An iteration is STEPS of simulation, each a few halo exchanges on a periodic grid, and then
 * IMAGES that are composed of what each rank drew, by binary swap: in stage k a rank exchanges half
 * of what it still holds with rank ^ 2^k. Ranks beyond the largest power of two give theirs to a
 * partner first. Before each step and image ranks compute, which is sleep here, PAUSE_MS long.
 * BYTES are those of an image; a face of a rank's block of the grid has an eighth, or a 64th. The
 * program ends early if rank 0 finds a file called end in the directory after an iteration. */
#include "truth.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define DIMENSIONS 3
#define SUBSTEPS 6 /* S3D integrates with six stages of Runge-Kutta */
/* Blocks are flat: their faces in the first dimension are larger than the others by this factor. */
#define THICK 8

static void pause_ms(int ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000L};
    nanosleep(&t, NULL);
}

/* ---- simulation -------------------------------------------------------------------- */

struct grid {
    MPI_Comm comm;
    int rank, shape[DIMENSIONS], bytes; /* of the largest faces */
    char *out, *in;                     /* owned; in holds one face for each direction */
};

static struct grid grid_make(int size, int bytes)
{
    struct grid g = {.bytes = bytes};
    int periodic[DIMENSIONS] = {1, 1, 1};
    MPI_Dims_create(size, DIMENSIONS, g.shape);
    CALL(Cart_create, MPI_COMM_WORLD, DIMENSIONS, g.shape, periodic, 0, &g.comm);
    MPI_Comm_rank(g.comm, &g.rank);
    g.out = calloc((size_t)bytes + 1, 1);
    g.in = calloc((size_t)bytes * 2 * DIMENSIONS + 1, 1);
    if (g.out == NULL || g.in == NULL)
        truth_broken("out of memory");
    return g;
}

/* Receives are completed in the order of arrival: the times of messages that are completed together
 * cannot be distinguished. */
static void exchange(const struct grid *g)
{
    MPI_Request receives[2 * DIMENSIONS], sends[2 * DIMENSIONS];
    int n = 0, received[2 * DIMENSIONS], which;
    for (int d = 0; d < DIMENSIONS; d++)
        for (int way = -1; way <= 1 && g->shape[d] > 1; way += 2, n++) {
            int from, to, bytes = d == 0 ? g->bytes : g->bytes / THICK, tag = 2 * d + (way > 0);
            MPI_Cart_shift(g->comm, d, way, &from, &to);
            CALL(Irecv, g->in + (size_t)n * (size_t)g->bytes, bytes, MPI_BYTE, from, tag, g->comm,
                 &receives[n]);
            CALL(Isend, g->out, bytes, MPI_BYTE, to, tag, g->comm, &sends[n]);
            truth_sent(to, (size_t)bytes); /* the grid keeps the world's order */
            received[n] = bytes;
        }
    for (int i = 0; i < n; i++) {
        CALL(Waitany, n, receives, &which, MPI_STATUS_IGNORE);
        truth_received((size_t)received[which]);
    }
    if (n > 0)
        CALL(Waitall, n, sends, MPI_STATUSES_IGNORE);
}

/* ---- visualization ----------------------------------------------------------------- */

struct image {
    int pixels, first, count; /* of them this rank answers for `count` from `first` on */
    int *value, *other;       /* owned; other: room for what is received */
};

/* A pixel is the sum of the values of all ranks. */
static void image_draw(struct image *image, int rank)
{
    image->first = 0;
    image->count = image->pixels;
    for (int i = 0; i < image->pixels; i++)
        image->value[i] = 3 * rank + i;
}

static void image_add(struct image *image)
{
    for (int i = 0; i < image->count; i++)
        image->value[image->first + i] += image->other[i];
}

static void image_check(const struct image *image, int size)
{
    for (int i = image->first; i < image->first + image->count; i++)
        if (image->value[i] != 3 * size * (size - 1) / 2 + size * i)
            truth_broken("pixel %d is %d", i, image->value[i]);
}

/* @return whether this rank takes part in what follows */
static int fold_rest(struct image *image, int rank, int size, int power)
{
    int bytes = image->pixels * (int)sizeof(int);
    if (rank >= power) {
        CALL(Send, image->value, bytes, MPI_BYTE, rank - power, 100, MPI_COMM_WORLD);
        truth_sent(rank - power, (size_t)bytes);
        return 0;
    }
    if (rank + power < size) {
        CALL(Recv, image->other, bytes, MPI_BYTE, rank + power, 100, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
        truth_received((size_t)bytes);
        image_add(image);
    }
    return 1;
}

static void swap_stage(struct image *image, int rank, int stage)
{
    int partner = rank ^ (1 << stage), low = image->count / 2, high = image->count - low;
    int keeps_low = rank < partner, mine = keeps_low ? low : high, give = image->count - mine;
    const int *from = image->value + image->first + (keeps_low ? low : 0);
    int sent = give * (int)sizeof(int), got = mine * (int)sizeof(int);
    CALL(Sendrecv, from, sent, MPI_BYTE, partner, 101 + stage, image->other, got, MPI_BYTE, partner,
         101 + stage, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    truth_sent(partner, (size_t)sent);
    truth_received((size_t)got);
    image->first += keeps_low ? 0 : low;
    image->count = mine;
    image_add(image);
}

static void compose(struct image *image, int rank, int size)
{
    int power = 1;
    while (2 * power <= size)
        power *= 2;
    image_draw(image, rank);
    if (!fold_rest(image, rank, size, power))
        return;
    for (int stage = 0; 1 << stage < power; stage++)
        swap_stage(image, rank, stage);
    image_check(image, size);
}

/* ------------------------------------------------------------------------------------ */

/* @param directory  NULL: nobody ends it early */
static int is_over(const char *directory, int rank)
{
    char path[4096];
    int over = 0;
    if (directory == NULL)
        return 0;
    snprintf(path, sizeof path, "%s/end", directory);
    if (rank == 0)
        over = access(path, F_OK) == 0;
    CALL_BYTES(rank == 0 ? sizeof over : 0, rank == 0 ? 0 : sizeof over, Bcast, &over, 1, MPI_INT,
               0, MPI_COMM_WORLD);
    return over;
}

int main(int argc, char **argv)
{
    int argument[5], rank, size;
    if (argc != 6 && argc != 7)
        return 2;
    for (int i = 0; i < 5; i++)
        if ((argument[i] = atoi(argv[i + 1])) < 0)
            return 2;
    truth_init(&argc, &argv, &rank, &size);
    struct grid grid = grid_make(size, argument[4] / THICK);
    struct image image = {.pixels = argument[4] / (int)sizeof(int)};
    image.value = calloc((size_t)image.pixels + 1, sizeof(int));
    image.other = calloc((size_t)image.pixels + 1, sizeof(int));
    if (image.value == NULL || image.other == NULL)
        truth_broken("out of memory");
    for (int iteration = 0; iteration < argument[0]; iteration++) {
        for (int step = 0; step < argument[1]; step++) {
            pause_ms(argument[3]);
            for (int substep = 0; substep < SUBSTEPS; substep++)
                exchange(&grid);
        }
        for (int i = 0; i < argument[2]; i++) {
            pause_ms(argument[3]);
            compose(&image, rank, size);
        }
        if (is_over(argv[6], rank)) /* the last of argv is NULL */
            break;
    }
    CALL(Comm_free, &grid.comm);
    free(grid.out);
    free(grid.in);
    free(image.value);
    free(image.other);
    truth_finish();
    return 0;
}
