/* What is known of a job as a whole. */
#include "daemon/job/job_info.h"

#include "daemon/analysis/tables/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAXIMUM_UNCOVERED 4096u /* functions listed */

void job_info_init(struct job_info *info, const char *id)
{
    *info = (struct job_info){.start_ns = UINT64_MAX};
    snprintf(info->id, sizeof(info->id), "%s", id);
}

void job_info_finish(struct job_info *info)
{
    free(info->uncovered);
}

const char *job_state_name(enum job_state state)
{
    static const char *const names[] = {"running", "ended", "died", "lost", "cut short"};
    return names[state];
}

void job_info_set_state(struct job_info *info, enum job_state state)
{
    info->changed |= info->state != state;
    info->state = state;
}

void job_info_set_recording(struct job_info *info, const char *path)
{
    snprintf(info->recording, sizeof(info->recording), "%s", path);
    info->changed = 1;
}

uint64_t job_info_rank_limit(const struct job_info *info)
{
    return info->world != 0 ? info->world : JOB_MAXIMUM_RANKS;
}

void job_info_extend(struct job_info *info, uint64_t start_ns, uint64_t length_ns)
{
    if (start_ns < info->start_ns) {
        info->start_ns = start_ns;
        info->changed = 1;
    }
    if (start_ns + length_ns > info->end_ns)
        info->end_ns = start_ns + length_ns;
}

static void job_info_set_text(struct job_info *info, char *to, size_t size, const char *text)
{
    if (text == NULL || text[0] == '\0' || strncmp(to, text, size - 1) == 0)
        return;
    snprintf(to, size, "%s", text);
    info->changed = 1;
}

static int job_info_compare_uncovered(const void *a, const void *b)
{
    return strcmp(((const struct job_uncovered *)a)->name, ((const struct job_uncovered *)b)->name);
}

/* Without memory, and beyond the bound, the function is not listed. */
static void job_info_insert_uncovered(struct job_info *info, const struct job_uncovered *row)
{
    if (info->uncovered_count == MAXIMUM_UNCOVERED ||
        ARRAY_RESIZE(info->uncovered, info->uncovered_count + 1) != 0)
        return;
    struct job_uncovered *rows = info->uncovered;
    size_t at = info->uncovered_count++;
    for (; at > 0 && job_info_compare_uncovered(&rows[at - 1], row) > 0; at--)
        rows[at] = rows[at - 1];
    rows[at] = *row;
    info->changed = 1;
}

static void job_info_merge_uncovered(struct job_info *info, const struct wire_ranks *ranks)
{
    for (uint64_t i = 0; i < ranks->uncovered_count; i++) {
        struct job_uncovered row = {.used = ranks->uncovered[i].used};
        snprintf(row.name, sizeof(row.name), "%s", ranks->uncovered[i].name);
        struct job_uncovered *known = info->uncovered == NULL
                                          ? NULL
                                          : bsearch(&row, info->uncovered, info->uncovered_count,
                                                    sizeof(row), job_info_compare_uncovered);
        if (known == NULL) {
            job_info_insert_uncovered(info, &row);
            continue;
        }
        info->changed |= row.used > known->used;
        known->used |= row.used;
    }
}

void job_info_merge(struct job_info *info, const struct wire_ranks *ranks)
{
    job_info_set_text(info, info->app, sizeof(info->app), ranks->app);
    job_info_set_text(info, info->mpi, sizeof(info->mpi), ranks->mpi);
    job_info_set_text(info, info->user, sizeof(info->user), ranks->user);
    job_info_set_text(info, info->launcher, sizeof(info->launcher), ranks->launcher);
    job_info_set_text(info, info->session, sizeof(info->session), ranks->session);
    info->changed |= info->world == 0;
    info->world = ranks->world;
    uint64_t lowest = UINT64_MAX;
    for (uint64_t i = 0; i < ranks->members_count; i++)
        lowest = ranks->members[i].rank < lowest ? ranks->members[i].rank : lowest;
    /* The command line of the job is that of the lowest rank, so that it does not depend on the
     * order of reports. */
    if (info->command[0] == '\0' || lowest < info->command_rank) {
        job_info_set_text(info, info->command, sizeof(info->command), ranks->command);
        info->command_rank = lowest;
    }
    job_info_merge_uncovered(info, ranks);
}

void job_info_copy_state(struct state_bytes *b, struct job_info *info)
{
    STATE_VALUE(b, *info);
    STATE_ARRAY(b, info->uncovered, info->uncovered_count, 0);
}
