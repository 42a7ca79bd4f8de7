/* Cores, sockets and NUMA nodes of this node, read once from hwloc. */
#include "agent/host/places.h"

#include "holter/plain_text.h"

#include <errno.h>
#include <hwloc.h>
#include <stdlib.h>

struct places {
    uint32_t count;
    struct place of[]; /* by processor number */
};

static int places_load(hwloc_topology_t topology, const char *synthetic)
{
    if (synthetic != NULL && hwloc_topology_set_synthetic(topology, synthetic) != 0)
        return -ENODEV;
    /* A rank's processors are given by their numbers on the machine, whatever this process may use.
     */
    int rc = hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    rc |= hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    rc |= hwloc_topology_set_type_filter(topology, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
    rc |= hwloc_topology_set_type_filter(topology, HWLOC_OBJ_PACKAGE, HWLOC_TYPE_FILTER_KEEP_ALL);
    /* NUMA nodes are attached to groups. */
    rc |=
        hwloc_topology_set_type_filter(topology, HWLOC_OBJ_GROUP, HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
    /* The x86 backend would bind this process to each processor in turn. */
    hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
    return rc == 0 && hwloc_topology_load(topology) == 0 ? 0 : -ENODEV;
}

static void places_note_objects(struct places *places, hwloc_topology_t topology,
                                hwloc_obj_type_t type)
{
    hwloc_obj_t object = NULL;
    while ((object = hwloc_get_next_obj_by_type(topology, type, object)) != NULL) {
        hwloc_const_bitmap_t set = object->cpuset;
        for (int cpu = hwloc_bitmap_first(set); cpu >= 0 && (uint32_t)cpu < places->count;
             cpu = hwloc_bitmap_next(set, cpu)) {
            struct place *place = &places->of[cpu];
            uint32_t *number = type == HWLOC_OBJ_CORE      ? &place->core
                               : type == HWLOC_OBJ_PACKAGE ? &place->socket
                                                           : &place->numa;
            *number = *number == 0 ? object->logical_index + 1 : *number;
        }
    }
}

int places_create(struct places **out, const char *synthetic)
{
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) != 0)
        return -ENOMEM;
    int rc = places_load(topology, synthetic);
    int last = rc == 0 ? hwloc_bitmap_last(hwloc_topology_get_complete_cpuset(topology)) : 0;
    if (rc == 0 && last < 0)
        rc = -ENODEV;
    uint32_t count = last < (int)PLACES_MAXIMUM ? (uint32_t)last + 1 : PLACES_MAXIMUM;
    struct places *places = rc == 0 ? calloc(1, sizeof *places + count * sizeof *places->of) : NULL;
    if (rc == 0 && places == NULL)
        rc = -ENOMEM;
    if (rc == 0) {
        places->count = count;
        places_note_objects(places, topology, HWLOC_OBJ_CORE);
        places_note_objects(places, topology, HWLOC_OBJ_PACKAGE);
        places_note_objects(places, topology, HWLOC_OBJ_NUMANODE);
        *out = places;
    }
    hwloc_topology_destroy(topology);
    return rc;
}

void places_destroy(struct places *places)
{
    free(places);
}

/* Keeps what a place has in common with another: the first sets it, a different one unsets it. */
static void places_intersect(const struct place *other, struct place *place, int is_first)
{
    if (is_first)
        *place = *other;
    if (place->core != other->core)
        place->core = 0;
    if (place->socket != other->socket)
        place->socket = 0;
    if (place->numa != other->numa)
        place->numa = 0;
}

/* @return 0 when the text is not a cpu list, or names unknown processors */
static int places_find_object(const struct places *places, const char *at, struct place *place)
{
    for (int is_first = 1;; at++) {
        uint64_t first, last;
        at = text_number(at, places->count - 1, &first);
        last = first;
        if (at != NULL && *at == '-')
            at = text_number(at + 1, places->count - 1, &last);
        if (at == NULL || last < first)
            return 0;
        for (uint64_t cpu = first; cpu <= last; cpu++, is_first = 0)
            places_intersect(&places->of[cpu], place, is_first);
        if (*at != ',')
            return *at == '\0';
    }
}

struct place places_find(const struct places *places, const char *cpu_list)
{
    struct place place = {0};
    if (places == NULL || !places_find_object(places, cpu_list, &place))
        place = (struct place){0};
    return place;
}
