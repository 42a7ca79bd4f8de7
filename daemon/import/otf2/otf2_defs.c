/* Callbacks that collect the definitions of an OTF2 archive; otf2_defs_job.c makes the job from
 * them. */
#include "daemon/import/otf2/otf2_defs_rows.h"

#include "daemon/analysis/tables/array.h"
#include "holter/call.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#define MOST_ROWS (1u << 28)
#define MOST_SLOTS 65000u

/* ---- rows ------------------------------------------------------------------ */

/* Find or add the row of a reference. @return the row, cleared if new; NULL: no memory */
static void *otf2_defs_row_for(struct otf2_defs *defs, struct otf2_rows *rows, uint64_t ref)
{
    struct key key = {ref, 0};
    uint32_t number =
        key_table_extend(&rows->index, key, MOST_ROWS, &rows->rows, rows->each, &rows->capacity);
    if (number == KEY_NONE) {
        defs->error = -ENOMEM;
        return NULL;
    }
    void *row = (char *)rows->rows + number * rows->each;
    memset(row, 0, rows->each);
    return row;
}

static OTF2_CallbackCode otf2_defs_outcome(const struct otf2_defs *defs)
{
    return defs->error == 0 ? OTF2_CALLBACK_SUCCESS : OTF2_CALLBACK_INTERRUPT;
}

const void *otf2_row(const struct otf2_rows *rows, uint64_t ref)
{
    uint32_t number = key_table_find(&rows->index, (struct key){ref, 0});
    return number == KEY_NONE ? NULL : (const char *)rows->rows + number * rows->each;
}

const char *otf2_text(const struct otf2_defs *defs, uint32_t ref)
{
    const uint64_t *at = otf2_row(&defs->strings, ref);
    return at == NULL ? "" : defs->text + *at;
}

void otf2_defs_init(struct otf2_defs *defs)
{
    *defs = (struct otf2_defs){.resolution = UINT64_C(1000000000),
                               .strings = {.each = sizeof(uint64_t)},
                               .locations = {.each = sizeof(struct location)},
                               .processes = {.each = sizeof(struct process)},
                               .nodes = {.each = sizeof(struct tree_node)},
                               .groups = {.each = sizeof(struct group)},
                               .comms = {.each = sizeof(struct comm)},
                               .windows = {.each = sizeof(uint32_t)},
                               .region_defs = {.each = sizeof(struct region_def)},
                               .contexts = {.each = sizeof(uint32_t)}};
}

/* ---- regions --------------------------------------------------------------- */

/* Normalise the spelling of MPI calls: "mpi_isend_" (Fortran and some tools) and "MPI_Isend()"
 * (TAU) are MPI_Isend. */
static void otf2_defs_spell(char out[64], const char *name)
{
    size_t length = strcspn(name, "(");
    out[0] = '\0';
    if (length > 5 && strncasecmp(name, "pmpi_", 5) == 0)
        name++, length--;
    while (length > 0 && name[length - 1] == '_')
        length--;
    if (length < 5 || length > 63 || strncasecmp(name, "mpi_", 4) != 0)
        return;
    memcpy(out, "MPI_", 4);
    out[4] = (char)toupper((unsigned char)name[4]);
    for (size_t i = 5; i < length; i++)
        out[i] = (char)tolower((unsigned char)name[i]);
    out[length] = '\0';
}

/* TAU marks every region as MPI whose name contains these letters, such as main of mpi_ring.c: as a
 * call it would enclose all others. */
static int otf2_defs_may_be_call(const char *name, const char *spelt, OTF2_RegionRole role)
{
    return name[0] == '\0' || spelt[0] != '\0' ||
           (role >= OTF2_REGION_ROLE_COLL_ONE2ALL && role <= OTF2_REGION_ROLE_RMA) ||
           role == OTF2_REGION_ROLE_BARRIER;
}

static struct otf2_region otf2_defs_region_of(const char *name, OTF2_Paradigm paradigm,
                                              OTF2_RegionRole role)
{
    char spelt[64];
    otf2_defs_spell(spelt, name);
    uint16_t call = spelt[0] == '\0' ? 0 : call_by_name(spelt);
    if (call != 0)
        return (struct otf2_region){.kind = OTF2_REGION_CALL, .call = call};
    if (spelt[0] != '\0' && call_is_local(spelt))
        return (struct otf2_region){.kind = OTF2_REGION_LOCAL};
    if (paradigm == OTF2_PARADIGM_MPI && otf2_defs_may_be_call(name, spelt, role))
        return (struct otf2_region){.kind = OTF2_REGION_CALL};
    if (paradigm == OTF2_PARADIGM_MEASUREMENT_SYSTEM)
        return (struct otf2_region){.kind = OTF2_REGION_NONE};
    return (struct otf2_region){.kind = OTF2_REGION_CODE};
}

/* The name of a region may be defined later, so its kind is determined at the end. */
static OTF2_CallbackCode otf2_defs_on_region(void *user, OTF2_RegionRef self, OTF2_StringRef name,
                                             OTF2_StringRef canonical, OTF2_StringRef description,
                                             OTF2_RegionRole role, OTF2_Paradigm paradigm,
                                             OTF2_RegionFlag flags, OTF2_StringRef file,
                                             uint32_t begin, uint32_t end)
{
    struct otf2_defs *defs = user;
    struct region_def *region = otf2_defs_row_for(defs, &defs->region_defs, self);
    (void)canonical, (void)description, (void)flags, (void)file, (void)begin, (void)end;
    if (region != NULL)
        *region = (struct region_def){.name = name, .paradigm = paradigm, .role = role};
    return otf2_defs_outcome(defs);
}

static OTF2_CallbackCode otf2_defs_on_context(void *user, OTF2_CallingContextRef self,
                                              OTF2_RegionRef region,
                                              OTF2_SourceCodeLocationRef place,
                                              OTF2_CallingContextRef parent)
{
    struct otf2_defs *defs = user;
    uint32_t *context = otf2_defs_row_for(defs, &defs->contexts, self);
    (void)place, (void)parent;
    if (context != NULL)
        *context = region;
    return otf2_defs_outcome(defs);
}

void otf2_defs_regions(struct otf2_defs *defs)
{
    struct region_def *all = defs->region_defs.rows;
    for (uint32_t i = 0; i < defs->region_defs.index.count; i++) {
        struct otf2_region *region = &all[i].made;
        *region = otf2_defs_region_of(otf2_text(defs, all[i].name), all[i].paradigm, all[i].role);
        if (region->kind == OTF2_REGION_CODE && defs->code_regions + 1 < MOST_SLOTS &&
            ARRAY_FIT_ZERO(defs->region_names, defs->code_region_capacity,
                           defs->code_regions + (uint64_t)2) == 0) {
            region->slot = (uint16_t)++defs->code_regions;
            defs->region_names[region->slot] = all[i].name;
        }
    }
}

struct otf2_region otf2_defs_region(const struct otf2_defs *defs, uint32_t ref)
{
    static const struct otf2_region none;
    const struct region_def *region = otf2_row(&defs->region_defs, ref);
    return region == NULL ? none : region->made;
}

struct otf2_region otf2_defs_context(const struct otf2_defs *defs, uint32_t ref, uint32_t *region)
{
    const uint32_t *of = otf2_row(&defs->contexts, ref);
    *region = of == NULL ? OTF2_UNDEFINED_REGION : *of;
    return otf2_defs_region(defs, *region);
}

/* ---- all else -------------------------------------------------------------- */

static OTF2_CallbackCode otf2_defs_on_clock(void *user, uint64_t resolution, uint64_t offset,
                                            uint64_t length, uint64_t date)
{
    struct otf2_defs *defs = user;
    defs->resolution = resolution;
    defs->offset = offset;
    defs->length = length;
    defs->date = date == OTF2_UNDEFINED_TIMESTAMP ? 0 : date;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode otf2_defs_on_string(void *user, OTF2_StringRef self, const char *string)
{
    struct otf2_defs *defs = user;
    size_t length = strlen(string) + 1;
    uint64_t *at = otf2_defs_row_for(defs, &defs->strings, self);
    if (at == NULL)
        return OTF2_CALLBACK_INTERRUPT;
    if (array_fit(&defs->text, 1, &defs->text_room, defs->text_used + length) != 0) {
        defs->error = -ENOMEM;
        return OTF2_CALLBACK_INTERRUPT;
    }
    *at = defs->text_used;
    memcpy(defs->text + defs->text_used, string, length);
    defs->text_used += length;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode otf2_defs_on_node(void *user, OTF2_SystemTreeNodeRef self,
                                           OTF2_StringRef name, OTF2_StringRef class_name,
                                           OTF2_SystemTreeNodeRef parent)
{
    struct otf2_defs *defs = user;
    struct tree_node *node = otf2_defs_row_for(defs, &defs->nodes, self);
    if (node != NULL)
        *node = (struct tree_node){.name = name, .class_name = class_name, .parent = parent};
    return otf2_defs_outcome(defs);
}

static OTF2_CallbackCode otf2_defs_on_domain(void *user, OTF2_SystemTreeNodeRef self,
                                             OTF2_SystemTreeDomain domain)
{
    struct otf2_defs *defs = user;
    struct tree_node *node = (struct tree_node *)otf2_row(&defs->nodes, self);
    if (node != NULL && domain == OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY)
        node->shares_memory = 1;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode otf2_defs_on_process(void *user, OTF2_LocationGroupRef self,
                                              OTF2_StringRef name, OTF2_LocationGroupType type,
                                              OTF2_SystemTreeNodeRef parent,
                                              OTF2_LocationGroupRef creator)
{
    struct otf2_defs *defs = user;
    struct process *process = otf2_defs_row_for(defs, &defs->processes, self);
    (void)name;
    if (process != NULL)
        *process = (struct process){.node = parent,
                                    .creator = creator,
                                    .rank = -1,
                                    .is_process = type == OTF2_LOCATION_GROUP_TYPE_PROCESS};
    return otf2_defs_outcome(defs);
}

static OTF2_CallbackCode otf2_defs_on_location(void *user, OTF2_LocationRef self,
                                               OTF2_StringRef name, OTF2_LocationType type,
                                               uint64_t events, OTF2_LocationGroupRef process)
{
    struct otf2_defs *defs = user;
    struct location *location = otf2_defs_row_for(defs, &defs->locations, self);
    (void)name;
    if (location != NULL)
        *location = (struct location){.process = process,
                                      .events = events,
                                      .rank = -1,
                                      .is_thread = type != OTF2_LOCATION_TYPE_ACCELERATOR_STREAM &&
                                                   type != OTF2_LOCATION_TYPE_METRIC};
    return otf2_defs_outcome(defs);
}

static OTF2_CallbackCode otf2_defs_on_group(void *user, OTF2_GroupRef self, OTF2_StringRef name,
                                            OTF2_GroupType type, OTF2_Paradigm paradigm,
                                            OTF2_GroupFlag flags, uint32_t count,
                                            const uint64_t *members)
{
    struct otf2_defs *defs = user;
    (void)name;
    if (type != OTF2_GROUP_TYPE_COMM_LOCATIONS && type != OTF2_GROUP_TYPE_COMM_GROUP &&
        type != OTF2_GROUP_TYPE_COMM_SELF && type != OTF2_GROUP_TYPE_LOCATIONS)
        return OTF2_CALLBACK_SUCCESS;
    struct group *group = otf2_defs_row_for(defs, &defs->groups, self);
    if (group == NULL)
        return OTF2_CALLBACK_INTERRUPT;
    if (ARRAY_FIT(defs->members, defs->member_capacity, defs->member_used + count) != 0) {
        defs->error = -ENOMEM;
        return OTF2_CALLBACK_INTERRUPT;
    }
    *group = (struct group){.type = type,
                            .paradigm = paradigm,
                            .global = (flags & OTF2_GROUP_FLAG_GLOBAL_MEMBERS) != 0,
                            .first = defs->member_used,
                            .count = count};
    if (count > 0)
        memcpy(defs->members + defs->member_used, members, count * sizeof(*members));
    defs->member_used += count;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode otf2_defs_on_comm(void *user, OTF2_CommRef self, OTF2_StringRef name,
                                           OTF2_GroupRef group, OTF2_CommRef parent,
                                           OTF2_CommFlag flags)
{
    struct otf2_defs *defs = user;
    struct comm *comm = otf2_defs_row_for(defs, &defs->comms, self);
    (void)flags;
    if (comm != NULL)
        *comm = (struct comm){
            .name = name, .group = group, .remote = OTF2_UNDEFINED_GROUP, .parent = parent};
    return otf2_defs_outcome(defs);
}

static OTF2_CallbackCode otf2_defs_on_inter_comm(void *user, OTF2_CommRef self, OTF2_StringRef name,
                                                 OTF2_GroupRef first, OTF2_GroupRef second,
                                                 OTF2_CommRef common, OTF2_CommFlag flags)
{
    struct otf2_defs *defs = user;
    struct comm *comm = otf2_defs_row_for(defs, &defs->comms, self);
    (void)flags;
    if (comm != NULL)
        *comm = (struct comm){.name = name, .group = first, .remote = second, .parent = common};
    return otf2_defs_outcome(defs);
}

static OTF2_CallbackCode otf2_defs_on_window(void *user, OTF2_RmaWinRef self, OTF2_StringRef name,
                                             OTF2_CommRef comm, OTF2_RmaWinFlag flags)
{
    struct otf2_defs *defs = user;
    uint32_t *window = otf2_defs_row_for(defs, &defs->windows, self);
    (void)name, (void)flags;
    if (window != NULL)
        *window = comm;
    return otf2_defs_outcome(defs);
}

uint32_t otf2_defs_window(const struct otf2_defs *defs, uint32_t ref)
{
    const uint32_t *comm = otf2_row(&defs->windows, ref);
    return comm == NULL ? UINT32_MAX : otf2_defs_comm(defs, *comm);
}

OTF2_ErrorCode otf2_defs_register(struct otf2_defs *defs, OTF2_Reader *reader,
                                  OTF2_GlobalDefReader *definitions)
{
    OTF2_GlobalDefReaderCallbacks *c = OTF2_GlobalDefReaderCallbacks_New();
    if (c == NULL)
        return OTF2_ERROR_MEM_ALLOC_FAILED;
    OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(c, otf2_defs_on_clock);
    OTF2_GlobalDefReaderCallbacks_SetStringCallback(c, otf2_defs_on_string);
    OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(c, otf2_defs_on_node);
    OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeDomainCallback(c, otf2_defs_on_domain);
    OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(c, otf2_defs_on_process);
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(c, otf2_defs_on_location);
    OTF2_GlobalDefReaderCallbacks_SetRegionCallback(c, otf2_defs_on_region);
    OTF2_GlobalDefReaderCallbacks_SetCallingContextCallback(c, otf2_defs_on_context);
    OTF2_GlobalDefReaderCallbacks_SetGroupCallback(c, otf2_defs_on_group);
    OTF2_GlobalDefReaderCallbacks_SetCommCallback(c, otf2_defs_on_comm);
    OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(c, otf2_defs_on_inter_comm);
    OTF2_GlobalDefReaderCallbacks_SetRmaWinCallback(c, otf2_defs_on_window);
    OTF2_ErrorCode code = OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, c, defs);
    OTF2_GlobalDefReaderCallbacks_Delete(c);
    return code;
}
