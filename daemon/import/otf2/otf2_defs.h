/* The definitions of an OTF2 archive, as libotf2 passes them one by one, and the job that is made
 * from them. */
#ifndef HOLTER_DAEMON_IMPORT_OTF2_OTF2_DEFS_H
#define HOLTER_DAEMON_IMPORT_OTF2_OTF2_DEFS_H

#include "daemon/analysis/tables/key_table.h"
#include "daemon/import/otf2/otf2_job.h"

#include <otf2/otf2.h>
#include <stddef.h>

/** Memory that is allocated in pieces and released as a whole. */
struct otf2_arena {
    unsigned char *base;
    size_t used, size;
};

/** Allocate from the arena. @return cleared memory, or NULL: the arena is full */
void *otf2_arena_allocate(struct otf2_arena *arena, size_t count, size_t each);

/** Rows of one kind of definition; an index maps references to their numbers. */
struct otf2_rows {
    struct key_table index;
    void *rows; /**< owned */
    size_t capacity, each;
};

struct otf2_defs {
    uint64_t resolution, offset, length, date;
    char *text; /**< owned: strings, one after the other */
    size_t text_used, text_room;
    struct otf2_rows strings, locations, processes, nodes, groups, comms, windows;
    struct otf2_rows region_defs,
        contexts;      /**< definitions of regions; regions of calling contexts */
    uint64_t *members; /**< owned: members of groups */
    size_t member_used, member_capacity;
    uint32_t *region_names; /**< owned; by slot of code regions */
    uint32_t code_regions, code_region_capacity;
    int error; /**< -ENOMEM */
};

void otf2_defs_init(struct otf2_defs *defs);

/** Register the callbacks that collect the definitions. */
OTF2_ErrorCode otf2_defs_register(struct otf2_defs *defs, OTF2_Reader *reader,
                                  OTF2_GlobalDefReader *definitions);

/** Make the job. @param out  in the arena
 * @return 0, -ENOMEM, or -HOLTER_EEMPTY: there are no ranks */
int otf2_defs_job(struct otf2_defs *defs, struct otf2_arena *arena, struct otf2_job *out);

/** Slot of a communicator. @return UINT32_MAX: it is undefined */
static inline uint32_t otf2_defs_comm(const struct otf2_defs *defs, uint32_t ref)
{
    return key_table_find(&defs->comms.index, (struct key){ref, 0});
}

/** Slot of the communicator of an RMA window. @return UINT32_MAX: it is undefined */
uint32_t otf2_defs_window(const struct otf2_defs *defs, uint32_t ref);

/** Determine the kinds of the regions, after all definitions. */
void otf2_defs_regions(struct otf2_defs *defs);

/** @return the region; of kind OTF2_REGION_UNDEFINED when there is none */
struct otf2_region otf2_defs_region(const struct otf2_defs *defs, uint32_t ref);

/** The innermost region of a calling context. @param region  set to its reference */
struct otf2_region otf2_defs_context(const struct otf2_defs *defs, uint32_t ref, uint32_t *region);

#endif
