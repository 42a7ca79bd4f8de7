/* Placement of the ranks of a table of messages on hosts: see csv_job.h. */
#include "daemon/import/csv/csv_job.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/import/import_file.h"
#include "holter/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN UINT32_MAX

/* ---- what the table says --------------------------------------------------- */

static int csv_places_reserve(struct csv_job *job, uint32_t rank)
{
    if (rank < job->host_capacity)
        return 0;
    uint32_t room = 2 * rank + 64;
    if (ARRAY_RESIZE(job->host_of, room) != 0)
        return -ENOMEM;
    for (; job->host_capacity < room; job->host_capacity++)
        job->host_of[job->host_capacity] = UNKNOWN;
    return 0;
}

/* Is a rank that a message names on another host than before? */
static int csv_places_check_host(const struct csv_job *job, uint32_t rank, const char *host,
                                 char why[CSV_WHY])
{
    const char *before = rank >= job->host_capacity || job->host_of[rank] == UNKNOWN
                             ? host
                             : job->hosts.names[job->host_of[rank]];
    if (host[0] == '\0' || strcmp(before, host) == 0)
        return 0;
    snprintf(why, CSV_WHY, "rank %" PRIu32 " is on host '%s', and was on '%s' before", rank, host,
             before);
    return -HOLTER_EUSAGE;
}

int csv_places_check(const struct csv_job *job, const struct csv_message *m, char why[CSV_WHY])
{
    if (m->source == m->destination && m->source_host[0] != '\0' &&
        m->destination_host[0] != '\0' && strcmp(m->source_host, m->destination_host) != 0) {
        snprintf(why, CSV_WHY, "rank %" PRIu32 " is on host '%s' and on '%s'", m->source,
                 m->source_host, m->destination_host);
        return -HOLTER_EUSAGE;
    }
    int code = csv_places_check_host(job, m->source, m->source_host, why);
    return code != 0 ? code : csv_places_check_host(job, m->destination, m->destination_host, why);
}

/* @return number of the host, UNKNOWN: none is given; NAME_TABLE_NONE is UNKNOWN as well */
static uint32_t csv_places_number_host(struct csv_job *job, const char *host)
{
    return host[0] == '\0' ? UNKNOWN : name_table_number(&job->hosts, host, CSV_MAX_RANKS);
}

int csv_places_note(struct csv_job *job, const struct csv_message *m, char why[CSV_WHY])
{
    uint32_t source = csv_places_number_host(job, m->source_host),
             destination = csv_places_number_host(job, m->destination_host);
    if ((source == UNKNOWN && m->source_host[0] != '\0') ||
        (destination == UNKNOWN && m->destination_host[0] != '\0') ||
        (source != UNKNOWN && csv_places_reserve(job, m->source) != 0) ||
        (destination != UNKNOWN && csv_places_reserve(job, m->destination) != 0)) {
        snprintf(why, CSV_WHY, "too many hosts");
        return -HOLTER_EUSAGE;
    }
    if (source != UNKNOWN)
        job->host_of[m->source] = source;
    if (destination != UNKNOWN)
        job->host_of[m->destination] = destination;
    return 0;
}

static int csv_places_compare_hosts(const void *left, const void *right, void *user)
{
    const struct name_table *names = user;
    const char *a = names->names[*(const uint32_t *)left],
               *b = names->names[*(const uint32_t *)right];
    int order = strverscmp(a, b);
    return order != 0 ? order : strcmp(a, b);
}

/* Name the host of the ranks whose host the table does not tell: it is none of the others, which
 * are sorted by name. */
static void csv_places_name_unknown(char out[NAME_TABLE_BYTES], const struct trace_places *p,
                                    uint32_t count)
{
    uint32_t same = 1;
    snprintf(out, NAME_TABLE_BYTES, "unknown");
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(p->hosts[i], out) == 0)
            snprintf(out, NAME_TABLE_BYTES, "unknown#%" PRIu32, ++same);
}

/* Use the hosts of the table, sorted by name; all ranks without a host share one more. */
static int csv_places_place_table(struct trace_places *p, const struct csv_job *job)
{
    uint32_t count = job->hosts.count, unknown = 0;
    uint32_t *numbers = calloc(2 * ((size_t)count + 1), sizeof(*numbers)), *place;
    p->hosts = calloc((size_t)count + 1, sizeof(*p->hosts));
    if (numbers == NULL || p->hosts == NULL) {
        free(numbers);
        return -ENOMEM;
    }
    place = numbers + count + 1;
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = i;
    qsort_r(numbers, count, sizeof(*numbers), csv_places_compare_hosts, (void *)&job->hosts);
    for (uint32_t i = 0; i < count; i++) {
        place[numbers[i]] = i;
        snprintf(p->hosts[i], sizeof(p->hosts[i]), "%s", job->hosts.names[numbers[i]]);
    }
    for (uint32_t r = 0; r < job->ranks; r++) {
        int known = r < job->host_capacity && job->host_of[r] != UNKNOWN;
        p->host_of[r] = known ? place[job->host_of[r]] : count;
        unknown += (uint32_t)(!known && csv_job_has(job, r));
    }
    csv_places_name_unknown(p->hosts[count], p, count);
    p->host_count = count + (unknown > 0);
    free(numbers);
    return 0;
}

/* ---- what was asked for ---------------------------------------------------- */

static int csv_places_place_blocks(struct trace_places *p, const struct csv_job *job,
                                   const struct trace_wishes *w, char why[CSV_WHY])
{
    uint32_t per_node = w->per_node, nodes = w->network != NULL ? topology_nodes(w->network)
                                             : per_node != 0    ? job->ranks
                                                                : 1;
    int code = trace_places_fit(job->ranks, nodes, &per_node, why, CSV_WHY);
    if (code != 0)
        return code;
    p->host_count = (job->ranks - 1) / per_node + 1;
    p->hosts = calloc(p->host_count, sizeof(*p->hosts));
    if (p->hosts == NULL)
        return -ENOMEM;
    for (uint32_t h = 0; h < p->host_count; h++)
        if (w->network != NULL)
            topology_vertex_name(w->network, h, p->hosts[h], sizeof(p->hosts[h]));
        else
            snprintf(p->hosts[h], sizeof(p->hosts[h]), "n%" PRIu32, h);
    for (uint32_t r = 0; r < job->ranks; r++)
        p->host_of[r] = r / per_node;
    return 0;
}

/* Ranks that do not exist are placed nowhere, and hosts without ranks are removed: a stray rank
 * number costs no more than others. */
static int csv_places_remove_unused(struct trace_places *p, const struct csv_job *job)
{
    uint32_t *place = calloc((size_t)p->host_count + 1, sizeof(*place)), count = 0;
    if (place == NULL)
        return -ENOMEM;
    for (uint32_t r = 0; r < job->ranks; r++)
        if (csv_job_has(job, r))
            place[p->host_of[r]] = 1;
    for (uint32_t h = 0; h < p->host_count; h++) {
        if (place[h] == 0)
            continue;
        memmove(p->hosts[count], p->hosts[h], sizeof(*p->hosts));
        place[h] = count++;
    }
    for (uint32_t r = 0; r < job->ranks; r++)
        p->host_of[r] = csv_job_has(job, r) ? place[p->host_of[r]] : IMPORT_NOWHERE;
    p->host_count = count;
    free(place);
    return 0;
}

static int csv_places_find_hosts(struct trace_places *out, const struct csv_job *job,
                                 const struct trace_wishes *w, char why[CSV_WHY])
{
    if (job->hosts.count == 0 && w->hosts != NULL)
        return trace_places_list(out, w->hosts, job->ranks, w->per_node, why, CSV_WHY);
    out->host_of = calloc(job->ranks, sizeof(*out->host_of));
    return out->host_of == NULL   ? -ENOMEM
           : job->hosts.count > 0 ? csv_places_place_table(out, job)
                                  : csv_places_place_blocks(out, job, w, why);
}

int csv_places_find(struct trace_places *out, const struct csv_job *job,
                    const struct trace_wishes *w, char why[CSV_WHY])
{
    *out = (struct trace_places){.host_count = 0};
    if (job->hosts.count > 0 && (w->hosts != NULL || w->per_node != 0)) {
        snprintf(why, CSV_WHY, "the table tells the hosts itself");
        return -HOLTER_EUSAGE;
    }
    snprintf(why, CSV_WHY, "no memory");
    int code = csv_places_find_hosts(out, job, w, why);
    if (code == 0 && (code = csv_places_remove_unused(out, job)) != 0)
        snprintf(why, CSV_WHY, "no memory");
    if (code != 0)
        trace_places_finish(out);
    return code;
}
