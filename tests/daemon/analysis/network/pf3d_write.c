/* Writes pF3D's mappings and messages: pf3d_write DIRECTORY. TXYZ.map ... hold lines "rank node",
 * x.hopbyte, y.hopbyte and xy.hopbyte lines "source destination bytes hops" under the mapping TXYZ.
 */
#include "tests/daemon/analysis/network/pf3d.h"

#include "daemon/analysis/network/topology.h"

#include <inttypes.h>
#include <stdio.h>

struct target {
    FILE *file;
    const struct topology *torus;
};

static void write_pair(void *user, uint32_t source, uint32_t destination, uint64_t bytes)
{
    const struct target *t = user;
    fprintf(t->file, "%u %u %" PRIu64 " %u\n", source, destination, bytes,
            topology_distance(t->torus, pf3d_node(PF3D_TXYZ, source),
                              pf3d_node(PF3D_TXYZ, destination)));
}

static FILE *open_in(const char *directory, const char *name, const char *ending)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s.%s", directory, name, ending);
    FILE *file = fopen(path, "w");
    if (!file)
        perror(path);
    return file;
}

int main(int argc, char **argv)
{
    static const char *const phases[] = {"x", "y", "xy"};
    struct topology_spec spec = {0};
    struct topology *torus = NULL;
    char why[200];
    if (argc != 2) {
        fprintf(stderr, "usage: pf3d_write DIRECTORY\n");
        return 2;
    }
    if (topology_short(&spec, "torus:8,8,8", why, sizeof why) < 0 ||
        topology_create(&torus, &spec, why, sizeof why) < 0)
        return 1;
    topology_spec_finish(&spec);
    for (int m = 0; m < PF3D_MAPPINGS; m++) {
        FILE *file = open_in(argv[1], pf3d_names[m], "map");
        for (uint32_t rank = 0; file && rank < PF3D_RANKS; rank++)
            fprintf(file, "%u %u\n", rank, pf3d_node((enum pf3d_mapping)m, rank));
        if (!file || fclose(file))
            return 1;
    }
    for (int k = 0; k < 3; k++) {
        struct target t = {open_in(argv[1], phases[k], "hopbyte"), torus};
        if (!t.file)
            return 1;
        if (k != 1)
            pf3d_pairs(PF3D_X, write_pair, &t);
        if (k != 0)
            pf3d_pairs(PF3D_Y, write_pair, &t);
        if (fclose(t.file))
            return 1;
    }
    topology_destroy(torus);
    return 0;
}
