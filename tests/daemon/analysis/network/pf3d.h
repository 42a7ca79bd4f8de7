/* What pF3D sends in the two phases of its Fourier transforms, and the mappings of it that were
 * compared (Landge et al., section 5.2): 16 slabs of 16 x 8 patches on 8 x 8 x 8 nodes with 4 cores
 * each. See pf3d.md. */
#ifndef HOLTER_TESTS_DAEMON_ANALYSIS_NETWORK_PF3D_H
#define HOLTER_TESTS_DAEMON_ANALYSIS_NETWORK_PF3D_H

#include <stdint.h>

enum {
    PF3D_SLABS = 16,
    PF3D_ACROSS = 16, /* patches of a slab along x */
    PF3D_DOWN = 8,    /* along y */
    PF3D_RANKS = PF3D_SLABS * PF3D_ACROSS * PF3D_DOWN,
    PF3D_SIDE = 8, /* nodes along each dimension of the torus */
    PF3D_CORES = 4,
};

enum pf3d_mapping { PF3D_TXYZ, PF3D_XYZT, PF3D_TILE, PF3D_TILT_Z, PF3D_TILT_ZY, PF3D_MAPPINGS };
extern const char *const pf3d_names[PF3D_MAPPINGS];

/** Bandwidth that was measured, MB/s (Landge et al., Table 1). */
extern const double pf3d_bandwidths[PF3D_MAPPINGS];

/** Node of a rank, numbered row-major: x * 64 + y * 8 + z. */
uint32_t pf3d_node(enum pf3d_mapping mapping, uint32_t rank);

enum pf3d_phase { PF3D_X, PF3D_Y, PF3D_PHASES };

/** Bytes that a rank has to give away in a phase, its own share included. */
#define PF3D_BYTES 1048576u

/** Tell every pair of ranks that exchange data in a phase, and how much. */
void pf3d_pairs(enum pf3d_phase phase,
                void (*pair)(void *user, uint32_t source, uint32_t destination, uint64_t bytes),
                void *user);

#endif
