/* Reader of Slurm's topology.conf(5): a tree of switches, or blocks of nodes. */
#include "daemon/analysis/tables/array.h"
#include "daemon/topology/hostlist.h"
#include "daemon/topology/topology_build.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TOP "blocks" /* switch above the blocks: Slurm does not specify how blocks are linked */

struct reader {
    struct build *build;
    struct faults *faults;
    unsigned line;
    uint32_t above; /* the switch of this line */
    int hosts;      /* the names below it are hosts */
    uint32_t top;   /* the switch above blocks; TOPOLOGY_NONE: no blocks yet */
};

/* Read a line with its continuations after backslashes. @return memory for free(), NULL: none */
static char *topology_slurm_whole_line(struct lines *lines, unsigned *number)
{
    const char *begin, *end;
    char *text = NULL;
    size_t used = 0;
    for (int more = 1; more && lines_next(lines, &begin, &end);) {
        *number = text == NULL ? lines->number : *number;
        const char *comment = memchr(begin, '#', (size_t)(end - begin));
        end = comment == NULL ? end : comment;
        while (end > begin && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
            end--;
        more = end > begin && end[-1] == '\\';
        size_t length = (size_t)(end - begin) - (size_t)more;
        if (ARRAY_RESIZE(text, used + length + 2) != 0) {
            free(text);
            return NULL;
        }
        memcpy(text + used, begin, length);
        used += length;
        text[used] = '\0';
        if (strlen(text) < used) /* ignore what follows a NUL */
            used = strlen(text);
    }
    return text;
}

static int topology_slurm_join(void *user, const char *name)
{
    struct reader *r = user;
    struct build_link link = {.ends = {0, r->above}, .line = r->line};
    build_join(r->build, name, &link, r->hosts);
    return r->build->code;
}

static void topology_slurm_join_list(struct reader *r, const char *key, const char *list, int hosts)
{
    r->hosts = hosts;
    hostlist_expand_key(r->faults, r->line, key, list, topology_slurm_join, r);
}

static void topology_slurm_declare_block(struct reader *r, const char *name)
{
    r->above = build_declare(r->build, name, VERTEX_SWITCH, r->line);
    if (r->top == TOPOLOGY_NONE)
        r->top = build_declare(r->build, TOP, VERTEX_SWITCH, r->line);
    struct build_link link = {.ends = {r->above, r->top}, .line = r->line, .upward = 1};
    if (r->above != TOPOLOGY_NONE && r->top != TOPOLOGY_NONE)
        build_link(r->build, &link);
}

/* Apply KEY=VALUE; keys are case-insensitive. */
static void topology_slurm_apply_word(struct reader *r, char *word, unsigned position)
{
    char *value = strchr(word, '=');
    if (value == NULL || value[1] == '\0') {
        fault_at(r->faults, r->line, "'%.60s': KEY=VALUE is expected", word);
        return;
    }
    *value++ = '\0';
    if (strcasecmp(word, "SwitchName") == 0 && position == 0)
        r->above = build_declare(r->build, value, VERTEX_SWITCH, r->line);
    else if (strcasecmp(word, "BlockName") == 0 && position == 0)
        topology_slurm_declare_block(r, value);
    else if (strcasecmp(word, "BlockSizes") == 0 && position == 0)
        return; /* concerns allocations, not links */
    else if (position == 0)
        fault_at(r->faults, r->line,
                 "%.60s: a line begins with SwitchName=, BlockName= or BlockSizes=", word);
    else if (strcasecmp(word, "Nodes") == 0 && r->above != TOPOLOGY_NONE)
        topology_slurm_join_list(r, "Nodes", value, 1);
    else if (strcasecmp(word, "Switches") == 0 && r->above != TOPOLOGY_NONE)
        topology_slurm_join_list(r, "Switches", value, 0);
    else if (strcasecmp(word, "LinkSpeed") != 0 && r->above != TOPOLOGY_NONE)
        fault_at(r->faults, r->line, "%.60s: unknown key; a switch has Nodes, Switches, LinkSpeed",
                 word);
    /* LinkSpeed is ignored: topology.conf(5) does not define its unit. */
}

int topology_slurm_conf(struct topology_file *out, const char *text, size_t length,
                        struct faults *faults)
{
    struct build build;
    struct lines lines = lines_of(text, length);
    struct reader r = {.build = &build, .faults = faults, .top = TOPOLOGY_NONE};
    build_begin(&build, faults);
    build.spec.kind = TOPOLOGY_TREE;
    snprintf(build.spec.name, sizeof(build.spec.name), "Slurm's tree");
    while (build.code == 0 && lines.at < lines.end) {
        char *line = topology_slurm_whole_line(&lines, &r.line), *rest = line, *word;
        if (line == NULL)
            build.code = -ENOMEM;
        r.above = TOPOLOGY_NONE;
        for (unsigned position = 0; build.code == 0 && (word = strtok_r(position == 0 ? line : NULL,
                                                                        " \t", &rest)) != NULL;
             position++)
            topology_slurm_apply_word(&r, word, position);
        free(line);
    }
    out->format = TOPOLOGY_FORMAT_SLURM_CONF;
    int code = build_end(&build, out);
    build_finish(&build);
    return code;
}
