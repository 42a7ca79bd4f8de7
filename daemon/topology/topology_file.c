/* Reads descriptions of networks: recognises the format, and looks up hosts. See topology_file.h.
 */
#include "daemon/topology/topology_file.h"

#include "daemon/topology/network_grid.h"
#include "daemon/topology/topology_build.h"
#include "holter/bisect.h"
#include "holter/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void topology_file_finish(struct topology_file *file)
{
    topology_destroy(file->topology);
    free(file->hosts);
    free(file->remarks);
    *file = (struct topology_file){.topology = NULL};
}

const char *topology_format_name(enum topology_format format)
{
    static const char *const names[] = {
        "short form",      "YAML",          "Slurm topology.conf",   "Slurm topology.yaml",
        "recorded routes", "recorded hops", "Cartesian communicator"};
    return names[format];
}

/* ---- which format -------------------------------------------------------- */

/* The first line that is neither empty nor a comment. */
static int topology_file_first_line(const char *text, size_t length, const char **begin,
                                    const char **end)
{
    struct lines lines = lines_of(text, length);
    const char *word;
    size_t letters;
    while (lines_next(&lines, begin, end)) {
        const char *at = *begin;
        if (word_next(&at, *end, &word, &letters) && *word != '#') {
            *begin = word;
            return 1;
        }
    }
    return 0;
}

static int topology_file_starts_with(const char *at, const char *end, const char *with)
{
    size_t length = strlen(with);
    return (size_t)(end - at) >= length && strncasecmp(at, with, length) == 0;
}

static enum topology_format topology_file_format_of(const char *text, size_t length)
{
    const char *begin, *end;
    uint64_t number;
    if (!topology_file_first_line(text, length, &begin, &end))
        return TOPOLOGY_FORMAT_YAML;
    if (topology_file_starts_with(begin, end, "SwitchName=") ||
        topology_file_starts_with(begin, end, "BlockName=") ||
        topology_file_starts_with(begin, end, "BlockSizes="))
        return TOPOLOGY_FORMAT_SLURM_CONF;
    if (topology_file_starts_with(begin, end, "Hop "))
        return TOPOLOGY_FORMAT_ROUTES;
    if (word_whole(&begin, end, &number) && word_whole(&begin, end, &number))
        return TOPOLOGY_FORMAT_HOPS;
    return TOPOLOGY_FORMAT_YAML;
}

int topology_file_parse(struct topology_file *out, const char *name, const char *text,
                        size_t length, file_fault *tell, void *user)
{
    struct faults faults = {name, tell, user, 0};
    struct topology_file file = {.format = topology_file_format_of(text, length)};
    int code;
    switch (file.format) {
    case TOPOLOGY_FORMAT_SLURM_CONF:
        code = topology_slurm_conf(&file, text, length, &faults);
        break;
    case TOPOLOGY_FORMAT_ROUTES:
    case TOPOLOGY_FORMAT_HOPS:
        code = topology_recorded(&file, text, length, &faults);
        break;
    default:
        code = topology_yaml(&file, text, length, &faults);
        break;
    }
    if (code != 0 && faults.count == 0)
        fault_at(&faults, 0, "%s", holter_strerror(code));
    if (code == 0)
        *out = file;
    return code;
}

int topology_file_read(struct topology_file *out, const char *path, file_fault *tell, void *user)
{
    struct faults faults = {path, tell, user, 0};
    char *text;
    size_t length;
    int code = file_text(&text, &length, path, TOPOLOGY_FILE_BYTES, &faults);
    if (code != 0)
        return code;
    code = topology_file_parse(out, path, text, length, tell, user);
    free(text);
    return code;
}

/* ---- short forms --------------------------------------------------------- */

static int topology_file_is_short(const char *given)
{
    static const char *const kinds[] = {"torus:", "mesh:", "hypercube:", "dragonfly:", "fattree:"};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        if (strncmp(given, kinds[i], strlen(kinds[i])) == 0)
            return 1;
    }
    return 0;
}

static int topology_file_read_short(struct topology_file *out, const char *given,
                                    struct faults *faults)
{
    struct topology_spec spec = {.name = ""};
    struct topology_file file = {.format = TOPOLOGY_FORMAT_SHORT};
    char why[300];
    int code = topology_short(&spec, given, why, sizeof(why));
    code = code != 0 ? code : topology_create(&file.topology, &spec, why, sizeof(why));
    topology_spec_finish(&spec);
    if (code != 0)
        fault_at(faults, 0, "%s", code == -ENOMEM ? "no memory" : why);
    else
        *out = file;
    return code;
}

int topology_file_given(struct topology_file *out, const char *given, file_fault *tell, void *user)
{
    struct faults faults = {given, tell, user, 0};
    if (strcmp(given, NETWORK_GRID) == 0) {
        fault_at(&faults, 0,
                 "the process grid of a job is known from the job alone: while it is watched "
                 "(holter run, holterd), or from its recording (a file of this name is ./%s)",
                 given);
        return -HOLTER_EUSAGE;
    }
    return topology_file_is_short(given) ? topology_file_read_short(out, given, &faults)
                                         : topology_file_read(out, given, tell, user);
}

/* ---- hosts --------------------------------------------------------------- */

/* The first host whose name is not less. */
static uint32_t topology_file_lower_bound(const struct topology_file *file,
                                          const struct topology_spec *spec, const char *name)
{
    return BISECT(i, 0, file->host_count, strcmp(spec->vertices[file->hosts[i]].name, name) < 0);
}

/* @return the node, or TOPOLOGY_NONE */
static uint32_t topology_file_find_host(const struct topology_file *file, const char *name,
                                        int by_first_part)
{
    const struct topology_spec *spec = topology_spec(file->topology);
    size_t length = strlen(name);
    char with_dot[TOPOLOGY_NAME + 2];
    snprintf(with_dot, sizeof(with_dot), "%s%s", name, by_first_part ? "." : "");
    uint32_t at = topology_file_lower_bound(file, spec, with_dot);
    if (at == file->host_count)
        return TOPOLOGY_NONE;
    const char *found = spec->vertices[file->hosts[at]].name;
    int fits = by_first_part ? strncmp(found, name, length) == 0 && found[length] == '.'
                             : strcmp(found, name) == 0;
    return fits ? file->hosts[at] : TOPOLOGY_NONE;
}

uint32_t topology_file_host(const struct topology_file *file, const char *host)
{
    char name[TOPOLOGY_NAME + 1];
    size_t length = strlen(host), first = strcspn(host, ".");
    if (file->topology == NULL ||
        file->host_count == 0) /* "(1,0,2)": the names of hosts in imported recordings */
        return file->topology == NULL || host[0] != '(' ? TOPOLOGY_NONE
                                                        : topology_find(file->topology, host);
    if (length > TOPOLOGY_NAME)
        return TOPOLOGY_NONE;
    uint32_t found = topology_file_find_host(file, host, 0);
    if (found != TOPOLOGY_NONE || first == 0)
        return found;
    memcpy(name, host, first);
    name[first] = '\0';
    found = topology_file_find_host(file, name, 0);
    if (found != TOPOLOGY_NONE || first < length)
        return found;
    return topology_file_find_host(file, name, 1);
}
