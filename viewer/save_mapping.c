/* Writes a suggested mapping to a file that launchers read. */
#include "viewer/save_mapping.h"

#include "daemon/analysis/network/mapping_text.h"
#include "viewer/draw/canvas.h"

#include "holter/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum mapping_format format_for(const char *mpi)
{
    return strstr(mpi, "Open MPI")                           ? MAPPING_OPENMPI
           : strstr(mpi, "MPICH") || strstr(mpi, "Intel(R)") ? MAPPING_MPICH
                                                             : MAPPING_PLAIN;
}

/* Host by vertex, as the job's ranks sit now; NULL where none does. @return NULL: no memory */
static const char **hosts_of(const struct model *m)
{
    const struct network *n = &m->network;
    const char **hosts = calloc((size_t)topology_vertices(n->topology) + 1, sizeof *hosts);
    for (uint32_t r = 0; hosts && r < m->rank_count; r++) {
        uint32_t seat = network_seat(n, r);
        if (seat != TOPOLOGY_NONE && m->ranks[r].node < m->host_count)
            hosts[seat] = m->hosts[m->ranks[r].node].name;
    }
    return hosts;
}

static size_t seats_of(const uint32_t *seats, uint32_t seat_count, struct mapping_seat *out)
{
    size_t count = 0;
    for (uint32_t r = 0; r < seat_count; r++)
        if (seats[r] != TOPOLOGY_NONE)
            out[count++] = (struct mapping_seat){r, seats[r]};
    return count;
}

static int save_mapping_write_text(FILE *file, const void *text)
{
    return fputs(text, file) < 0 ? -EIO : 0;
}

/* For the user who is to start the program with it. */
static void save_mapping_describe(char *out, size_t capacity, enum mapping_format format,
                                  const char *path)
{
    if (format == MAPPING_OPENMPI)
        snprintf(out, capacity, "mapping saved: mpirun --rankfile %s", path);
    else if (format == MAPPING_MPICH)
        snprintf(out, capacity, "mapping saved, for MPICH_RANK_REORDER_METHOD=3: %s", path);
    else
        snprintf(out, capacity, "mapping saved, a rank and its node a line: %s", path);
}

int save_mapping(const struct model *m, const struct what_if *shown, const char *directory,
                 char *path, size_t path_capacity, char *text, size_t capacity)
{
    const struct suggestion *s = &m->network.suggestions[SUGGEST_MAPPING];
    const uint32_t *places = shown->seats ? shown->seats : s->seats;
    uint32_t place_count = shown->seats ? shown->seat_count : s->seat_count;
    enum mapping_format format = format_for(m->mpi);
    char *content = NULL;
    size_t length = 0;
    if ((!s->ready && !shown->seats) || !m->network.topology) {
        snprintf(text, capacity, "there is no mapping");
        return -HOLTER_EEMPTY;
    }
    struct mapping_seat *seats = malloc(((size_t)place_count + 1) * sizeof *seats);
    const char **hosts = hosts_of(m);
    int error = seats && hosts ? 0 : -ENOMEM;
    size_t count = error ? 0 : seats_of(places, place_count, seats);
    const struct mapping mapping = {seats, count, m->network.topology, hosts};
    if (!error)
        error = mapping_text(&content, &length, format, &mapping, text, capacity);
    if (error == -HOLTER_EUSAGE && format != MAPPING_PLAIN) { /* plain says any mapping */
        format = MAPPING_PLAIN;
        error = mapping_text(&content, &length, format, &mapping, text, capacity);
    }
    snprintf(path, path_capacity, "%s/holter-%s.%s", directory, m->job,
             mapping_format_name(format));
    if (error == -ENOMEM)
        snprintf(text, capacity, "%s", holter_strerror(error));
    if (!error && (error = picture_write(path, save_mapping_write_text, content)) != 0)
        snprintf(text, capacity, "%s: %s", path, holter_strerror(error));
    if (!error)
        save_mapping_describe(text, capacity, format, path);
    free(content);
    free(seats);
    free(hosts);
    return error;
}
