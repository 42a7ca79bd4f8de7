/* Pictures for a report, by the viewer without a window, and a better mapping, which is searched as
 * `holter remap` does, for about a second. */
#include "agent/cli/report_extras.h"
#include "agent/cli/network_input.h"
#include "agent/terminal/paths.h"
#include "agent/terminal/terminal.h"
#include "daemon/analysis/network/measures.h"
#include "daemon/analysis/network/remap/remap.h"
#include "holter/error.h"
#include "holter/plain_text.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define EFFORT 1.0 /* approximate seconds */
#define MOST_PICTURE ((off_t)64 << 20)

/* ---- the mapping ---------------------------------------------------------------------- */

static void report_extras_add_measure(struct report_advice *a, const char *name, int bytes,
                                      double before, double after, double bound)
{
    if (!(before > 0) || before >= 0x1p63 || after >= 0x1p63)
        return;
    a->measures[a->count++] = (struct report_measure){
        name, bytes, (uint64_t)llround(before), (uint64_t)llround(after < 0 ? 0 : after),
        bound > 0 && bound < 0x1p63 ? (uint64_t)llround(bound) : 0};
}

static void report_extras_report_gain(struct report_advice *a, struct remap *remap)
{
    struct remap_measures before, after;
    bool optimal = false;
    remap_given(remap, &before);
    remap_best(remap, &after);
    double bound = remap_bound(remap, &optimal);
    if (!(after.max_link < before.max_link)) {
        snprintf(a->none, sizeof(a->none),
                 "No mapping was found that reduces the load of the fullest link%s.",
                 optimal ? ", and none exists" : "");
        return;
    }
    report_extras_add_measure(a, "bytes on the fullest link", 1, before.max_link, after.max_link,
                              bound);
    report_extras_add_measure(a, "bytes times links (hop-bytes)", 1, before.hop_bytes,
                              after.hop_bytes, 0);
    report_extras_add_measure(a, "bytes between nodes", 1, before.inter_node_bytes,
                              after.inter_node_bytes, 0);
    report_extras_add_measure(a, "messages between nodes", 0, before.inter_node_messages,
                              after.inter_node_messages, 0);
}

static void report_extras_search(struct report_advice *a, const struct network_input *input)
{
    struct remap_problem problem = {.objective = REMAP_MAX_LINK,
                                    .topology = input->network.topology,
                                    .processes = input->pairs.processes,
                                    .seats = input->seats,
                                    .edges = input->pairs.edges,
                                    .edge_count = input->pairs.edge_count,
                                    .seed = 1,
                                    .effort = EFFORT};
    struct remap *remap = NULL;
    char why[300] = "";
    uint32_t *nodes = calloc((size_t)topology_vertices(problem.topology) + 1, sizeof(*nodes));
    int code = nodes == NULL ? -ENOMEM : measures_nodes(problem.topology, nodes);
    problem.nodes = nodes;
    code = code != 0 ? code : remap_create(&remap, &problem, why, sizeof(why));
    if (code == 0) {
        while (remap_step(remap) < 1)
            ;
        report_extras_report_gain(a, remap);
    } else {
        snprintf(a->none, sizeof(a->none), "The search failed: %s.",
                 why[0] != '\0' ? why : holter_strerror(code));
    }
    remap_destroy(remap);
    free(nodes);
}

void report_advise(struct report_advice *out, const char *recording, const char *named,
                   const char *topology)
{
    struct network_input input = {
        .command = "report", .path = recording, .named = named, .topology = topology};
    *out = (struct report_advice){.count = 0};
    if (network_input_read(&input) != 0) {
        snprintf(out->none, sizeof(out->none), "There was no search, as the network is not known.");
    } else if (input.pairs.host_count < 2) {
        snprintf(out->none, sizeof(out->none),
                 "All ranks ran on one node: no message crossed a network.");
    } else {
        const char *name = topology_spec(input.network.topology)->name;
        report_extras_search(out, &input);
        snprintf(out->network, sizeof(out->network), "%s",
                 name[0] != '\0'    ? name
                 : topology != NULL ? topology
                                    : "the network that agents reported");
        snprintf(out->command, sizeof(out->command), "holter remap ");
        text_append_word(out->command, sizeof(out->command), text_base_name(named));
        text_append(out->command, sizeof(out->command), " --objective max-link%s",
                    topology != NULL ? " --topology " : "");
        if (topology != NULL)
            text_append_word(out->command, sizeof(out->command), topology);
        text_append(out->command, sizeof(out->command), " --format openmpi -o better.rankfile");
    }
    network_input_finish(&input);
}

/* ---- pictures ------------------------------------------------------------------------- */

static void *report_extras_read_picture(const char *path, size_t *length)
{
    struct stat status;
    FILE *file = fopen(path, "re");
    void *bytes = NULL;
    if (file != NULL && fstat(fileno(file), &status) == 0 && status.st_size > 0 &&
        status.st_size <= MOST_PICTURE)
        bytes = malloc((size_t)status.st_size);
    if (bytes != NULL) {
        *length = fread(bytes, 1, (size_t)status.st_size, file);
        if (*length != (size_t)status.st_size) {
            free(bytes);
            bytes = NULL;
        }
    }
    if (file != NULL)
        fclose(file);
    return bytes;
}

static int report_extras_take_snapshot(const struct private_replay *r, const char *viewer,
                                       const char *view, struct report_picture *out)
{
    char path[120];
    int status;
    snprintf(path, sizeof(path), "%s/%s.png", r->directory, view);
    const char *words[] = {viewer,       "--connect", r->endpoint, "--view",   view,
                           "--snapshot", path,        "--size",    "1440x810", NULL};
    pid_t pid = private_replay_start_program(r, words);
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
        WEXITSTATUS(status) != 0)
        return 1;
    out->png = report_extras_read_picture(path, &out->length);
    return out->png == NULL;
}

size_t report_pictures(const struct private_replay *r, int captures, struct report_picture *out)
{
    static const struct {
        const char *view, *title, *text;
        int of_captures;
    } views[] = {
        {"live", "Live", "Live: curve, regions, evolution, and who waits", 0},
        {"commgram", "CommGram", "CommGram: phases, their communities, and what they send", 0},
        {"matrix", "Matrix", "Matrix: who sends to whom", 0},
        {"links", "Links", "Links of the network, the fullest first", 0},
        {"captures", "Captures", "Captures: the last calls of ranks, as they were read back", 1},
    };
    char viewer[PATH_MAX];
    size_t count = 0;
    if (paths_program(viewer, sizeof(viewer), "holter-view") < 0) {
        terminal_print("report: no pictures: holter-view is not installed beside holter");
        return 0;
    }
    for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++) {
        if (views[i].of_captures && !captures)
            continue;
        out[count] = (struct report_picture){views[i].title, views[i].text, NULL, 0};
        if (report_extras_take_snapshot(r, viewer, views[i].view, &out[count]) == 0)
            count++;
        else
            private_replay_report(r, "a picture is missing");
    }
    return count;
}
