#include "tests/agent/cli/top/top_story.h"

#include "holter/call.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define RANKS 8u

static void tell(struct top_model *model, struct wire_message message)
{
    assert_int_equal(top_model_apply(model, &message, 0), 0);
}

static void tell_job(struct top_model *model)
{
    struct wire_host_row hosts[] = {{"node1"}, {"node2"}};
    struct wire_place_row places[RANKS];
    struct wire_latency_region_row regions[] = {{.id = 1, .ranks = 5}, {.id = 2, .ranks = 3}};
    struct wire_region_member_row members[RANKS];
    for (uint64_t r = 0; r < RANKS; r++) {
        places[r] = (struct wire_place_row){.rank = r, .node = r / 4, .placement = ""};
        members[r] = (struct wire_region_member_row){.rank = r, .region = r < 4 || r == 7 ? 1 : 2};
    }
    tell(model, (struct wire_message){.type = WIRE_TYPE_JOB,
                                      .job = {.job = "lmp.0",
                                              .state = "running",
                                              .app = "/opt/lammps/lmp",
                                              .mpi = "MPI 1",
                                              .world = RANKS,
                                              .seen = RANKS,
                                              .start_ns = STORY_START_NS,
                                              .window_ns = STORY_SECOND_NS}});
    tell(model, (struct wire_message){.type = WIRE_TYPE_PLACES,
                                      .places = {.job = "lmp.0",
                                                 .hosts = hosts,
                                                 .hosts_count = 2,
                                                 .places = places,
                                                 .places_count = RANKS}});
    tell(model, (struct wire_message){.type = WIRE_TYPE_REGIONS,
                                      .regions = {.job = "lmp.0",
                                                  .regions = regions,
                                                  .regions_count = 2,
                                                  .members = members,
                                                  .members_count = RANKS}});
}

/* Of messages between nodes in a window. */
static double slowness(uint64_t window)
{
    return window < 20 ? 1 + 0.05 * (double)(window % 3) : 1.2 + 0.3 * (double)(window - 20);
}

static struct wire_series_row series(enum series_scope scope, uint64_t id, double value)
{
    return (struct wire_series_row){.scope = scope,
                                    .id = id,
                                    .messages = 500,
                                    .reference = value,
                                    .typical = value,
                                    .slope = (double)NAN};
}

static void tell_latencies(struct top_model *model, uint64_t window)
{
    struct wire_rank_latency_row ranks[] = {
        {.rank = 6, .messages = 9, .reference = 3.1, .error = 0.4},
        {.rank = 1, .messages = 9, .reference = 1.02}};
    struct wire_series_row rows[] = {
        series(SERIES_JOB, 0, sqrt(slowness(window))), series(SERIES_INTRA, 0, 1.01),
        series(SERIES_INTER, 0, slowness(window)), series(SERIES_REGION, 1, 1.04),
        series(SERIES_REGION, 2, slowness(window))};
    if (window >= 24) {
        rows[2].trend = TREND_GROWTH;
        rows[2].trend_since = 20;
        rows[2].slope = 6.5;
        rows[4].trend = TREND_STEADY;
        rows[4].trend_since = 22;
    }
    tell(model, (struct wire_message){.type = WIRE_TYPE_LATENCIES,
                                      .latencies = {.job = "lmp.0",
                                                    .window = window,
                                                    .start_ns = window,
                                                    .length_ns = STORY_SECOND_NS,
                                                    .series = rows,
                                                    .series_count = 5,
                                                    .ranks = ranks,
                                                    .ranks_count = 2,
                                                    .error_ns = 12000}});
}

static void tell_ranks(struct top_model *model, uint64_t window)
{
    struct wire_rank_row rows[RANKS] = {0};
    for (uint64_t r = 0; r < RANKS; r++)
        rows[r] = (struct wire_rank_row){.rank = r,
                                         .recv_ns = r * 50000000,
                                         .collective_ns = r * 30000000,
                                         .in_call_peer = -1,
                                         .awaited = r > 3 ? 1 + 2 : 0,
                                         .awaited_ns = r > 3 ? r * 40000000 : 0};
    rows[5].in_call = call_by_name("MPI_Recv");
    rows[5].in_call_ns = 412000000;
    rows[5].in_call_peer = 2;
    tell(model, (struct wire_message){.type = WIRE_TYPE_RANK_WINDOW,
                                      .rank_window = {.job = "lmp.0",
                                                      .window = window,
                                                      .length_ns = STORY_SECOND_NS,
                                                      .ranks = rows,
                                                      .ranks_count = RANKS}});
}

static void tell_nodes(struct top_model *model, uint64_t window)
{
    struct wire_node_row nodes[] = {{.host = "node1",
                                     .connected = 1,
                                     .ranks = 4,
                                     .cpu_ns = 30000000,
                                     .up_ns = window * STORY_SECOND_NS,
                                     .rss_bytes = 9 << 20,
                                     .matched = 52100},
                                    {.host = "node2",
                                     .connected = window < 28,
                                     .ranks = 4,
                                     .cpu_ns = 31000000,
                                     .up_ns = window * STORY_SECOND_NS,
                                     .rss_bytes = 9 << 20,
                                     .lost = 17,
                                     .matched = 52000,
                                     .unmatched = 2,
                                     .rejected = 1}};
    tell(model, (struct wire_message){
                    .type = WIRE_TYPE_NODES,
                    .nodes = {.job = "lmp.0", .window = window, .nodes = nodes, .nodes_count = 2}});
}

void story_alert(struct top_model *model, uint64_t id, const char *state, const char *title)
{
    struct wire_cause_row causes[] = {
        {.name = "network", .share = 0.83, .text = "network time grew from 80 us to 210 us"},
        {.name = "late-sender", .share = 0.17, .text = "of rank 2"}};
    tell(model,
         (struct wire_message){
             .type = WIRE_TYPE_ALERT,
             .alert = {.job = "lmp.0",
                       .id = id,
                       .kind = "latency",
                       .state = state,
                       .since_ns = STORY_START_NS + (21 + id) * STORY_SECOND_NS,
                       .onset_ns = STORY_START_NS + (20 + id) * STORY_SECOND_NS,
                       .fired_ns = strcmp(state, "pending") == 0
                                       ? 0
                                       : STORY_START_NS + (21 + id) * STORY_SECOND_NS,
                       .updated_ns = STORY_START_NS + (25 + id) * STORY_SECOND_NS,
                       .title = title,
                       .text = "Transfers of region 2 take longer than they did.",
                       .rank = -1,
                       .rule = "region-latency",
                       .severity = "warning",
                       .region = 2,
                       .ranks = "4-6",
                       .ratio = 2.43,
                       .ratio_worst = 3.1,
                       .culprit = "node",
                       .culprits = "node2",
                       .alternatives = "",
                       .victims = "7",
                       .progress = 0.54,
                       .lost_ns = 6000000000,
                       .slope = 6.5,
                       .locality = "inter-node",
                       .sizes = "1 to 4 KiB",
                       .causes = causes,
                       .causes_count = 2,
                       .advice = "Look at the links of node2, or move its ranks to another node.",
                       .error_ns = 12000,
                       .nodes = "node2"}});
}

void story_tell(struct top_model *model, uint64_t windows)
{
    tell_job(model);
    for (uint64_t window = 0; window < windows; window++) {
        tell_latencies(model, window);
        tell_ranks(model, window);
        tell_nodes(model, window);
        if (window == 24)
            story_alert(model, 1, "firing", "Messages of region 2 take 2.4 times as long");
        tell(model,
             (struct wire_message){.type = WIRE_TYPE_TOTALS,
                                   .totals = {.job = "lmp.0",
                                              .window = window,
                                              .start_ns = STORY_START_NS + window * STORY_SECOND_NS,
                                              .length_ns = STORY_SECOND_NS,
                                              .ranks = RANKS,
                                              .calls = 12000,
                                              .sent = 2500,
                                              .sent_bytes = 3 << 20,
                                              .recv_ns = 3 * STORY_SECOND_NS,
                                              .io_ns = STORY_SECOND_NS,
                                              .matched = 2500 * (window + 1),
                                              .unmatched = 3}});
    }
}
