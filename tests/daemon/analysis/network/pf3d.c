/* The communication of pF3D: see pf3d.h. */
#include "tests/daemon/analysis/network/pf3d.h"

const char *const pf3d_names[PF3D_MAPPINGS] = {"TXYZ", "XYZT", "tile", "tiltZ", "tiltZY"};
const double pf3d_bandwidths[PF3D_MAPPINGS] = {41.81, 90.66, 106.94, 109.61, 102.84};

static uint32_t node_at(uint32_t x, uint32_t y, uint32_t z)
{
    return (x % PF3D_SIDE * PF3D_SIDE + y % PF3D_SIDE) * PF3D_SIDE + z % PF3D_SIDE;
}

uint32_t pf3d_node(enum pf3d_mapping mapping, uint32_t rank)
{
    const uint32_t n = PF3D_SIDE;
    uint32_t patch_x = rank % PF3D_ACROSS, patch_y = rank / PF3D_ACROSS % PF3D_DOWN,
             slab = rank / PF3D_ACROSS / PF3D_DOWN;
    uint32_t node = rank / PF3D_CORES;
    /* two planes across the x-axis for each slab; four slabs share them, a core each */
    uint32_t x = 2 * slab + patch_x / n, y = patch_y, z = patch_x % n;
    switch (mapping) {
    case PF3D_TXYZ:
        return node_at(node % n, node / n % n, node / n / n);
    case PF3D_XYZT:
        return node_at(rank % n, rank / n % n, rank / n / n % n);
    case PF3D_TILE:
        return node_at(x, y, z);
    case PF3D_TILT_Z:
        return node_at(x + z, y, z);
    default:
        return node_at(x + z + y, y, z);
    }
}

void pf3d_pairs(enum pf3d_phase phase,
                void (*pair)(void *user, uint32_t source, uint32_t destination, uint64_t bytes),
                void *user)
{
    uint32_t members = phase == PF3D_X ? PF3D_ACROSS : PF3D_DOWN;
    uint32_t step = phase == PF3D_X ? 1 : PF3D_ACROSS;
    for (uint32_t rank = 0; rank < PF3D_RANKS; rank++) {
        uint32_t mine = rank / step % members, first = rank - mine * step;
        for (uint32_t k = 0; k < members; k++)
            if (k != mine)
                pair(user, rank, first + k * step, PF3D_BYTES / members);
    }
}
