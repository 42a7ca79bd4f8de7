/* What alerts cost the daemon's loop, and what latencies and regions cost the recorder's thread.
 *
 * Sinks: time of sinks_queue() while every sink hangs or fails, by the time that encoding the same
 * alert for the published stream takes. Tables: time of one window's latencies of 64 regions, and
 * of a change of regions that moves 1 % of 4,096 ranks, by that of keeping one node's window
 * message of 16 KiB. */
#include "daemon/alert/sinks.h"
#include "daemon/storage/recording.h"
#include "holter/clock.h"
#include "tests/directory.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EPISODES 500u
#define STATES 40u
#define REGIONS 64u
#define RANKS 4096u
#define WINDOWS 600u
#define BYTES 16384u

static void ignore(void *user, const char *text)
{
    (void)user;
    (void)text;
}

static struct wire_alert alert_of(uint64_t id, uint64_t updates)
{
    static const struct wire_cause_row causes[] = {{"network", 0.8, "2.1 ms of 2.6 ms more"},
                                                   {"late-sender", 0.1, "0.3 ms"}};
    return (struct wire_alert){
        .job = "bench.0",
        .id = id,
        .kind = "latency",
        .state = "firing",
        .since_ns = 1,
        .updated_ns = 2,
        .fired_ns = 2,
        .title = "latency 2.4x its reference between nodes in region 3",
        .text =
            "messages of 64 KiB take 4.4 ms, normally 1.8 ms; 81 % of the growth is network time",
        .rank = -1,
        .host = "",
        .rule = "latency-growth",
        .severity = "warning",
        .region = 3,
        .ranks = "8-15",
        .ratio = 2.4,
        .slope = NAN,
        .locality = "inter-node",
        .sizes = "64 KiB",
        .causes = causes,
        .causes_count = 2,
        .advice = "look at the links of node3",
        .updates = updates,
        .nodes = "node3"};
}

/* ---- sinks --------------------------------------------------------------- */

static double encode_ns(void)
{
    struct wire_buffer buffer = {0};
    uint64_t start = clock_mono_ns();
    for (unsigned i = 0; i < EPISODES * STATES; i++) {
        struct wire_alert alert = alert_of(i % EPISODES, i);
        wire_encode(&buffer, WIRE_TYPE_ALERT, &alert);
    }
    double ns = (double)(clock_mono_ns() - start) / (EPISODES * STATES);
    wire_buffer_finish(&buffer);
    return ns;
}

static int bench_sinks(void)
{
    int ends[2];
    char why[200], zeros[4096] = {0};
    static struct rules rules;
    struct sinks *sinks;
    struct sinks_counts counts;
    if (pipe2(ends, O_NONBLOCK) != 0)
        return 1;
    while (write(ends[1], zeros, sizeof zeros) > 0)
        ;
    fcntl(ends[1], F_SETFL, 0); /* from here on nothing goes in, and whoever tries hangs */
    if (rules_add_sink(&rules, SINK_TERMINAL, NULL, why, sizeof why) != 0 ||
        rules_add_sink(&rules, SINK_FILE, "/nonexistent/file", why, sizeof why) != 0 ||
        rules_add_sink(&rules, SINK_COMMAND, "exit 1", why, sizeof why) != 0 ||
        rules_add_sink(&rules, SINK_ALERTMANAGER, "http://127.0.0.1:1", why, sizeof why) != 0 ||
        sinks_create(&sinks, &rules,
                     &(struct sinks_options){
                         .terminal = ends[1], .leave_ns = 1000000, .report = ignore}) != 0)
        return 1;
    uint64_t longest = 0, start = clock_mono_ns(), last = start;
    for (unsigned i = 0; i < EPISODES * STATES; i++) {
        struct wire_alert alert = alert_of(i % EPISODES, i);
        sinks_queue(sinks, &alert, &(struct alert_labels){.user = ""});
        uint64_t now = clock_mono_ns();
        longest = now - last > longest ? now - last : longest;
        last = now;
    }
    double ns = (double)(last - start) / (EPISODES * STATES), reference = encode_ns();
    sinks_count(sinks, &counts);
    printf("four sinks that hang or fail: %.2f us an alert, longest %.0f us, %.1f of encoding it "
           "(%.2f us)\n",
           ns / 1e3, (double)longest / 1e3, ns / reference, reference / 1e3);
    sinks_destroy(sinks);
    rules_finish(&rules);
    return 0;
}

/* ---- tables -------------------------------------------------------------- */

static struct wire_series_row series[REGIONS + 3];
static struct wire_latency_region_row regions[REGIONS];
static struct wire_region_member_row members[RANKS];

static double messages_us(struct recording *r)
{
    static uint8_t bytes[BYTES];
    uint64_t random = 1, start = clock_mono_ns();
    for (uint64_t w = 1; w <= WINDOWS; w++) {
        for (size_t i = 0; i < BYTES; i += 2) /* half of it compresses */
            bytes[i] = (uint8_t)((random = random * UINT64_C(6364136223846793005) + 1) >> 56);
        struct recorded head = {.type = WIRE_TYPE_WINDOW, .instance = 1, .seq = w, .window = w};
        recording_write_message(r, &head, bytes, BYTES);
    }
    recording_commit(r);
    return (double)(clock_mono_ns() - start) / 1e3 / WINDOWS;
}

static double latencies_us(struct recording *r)
{
    for (uint64_t i = 0; i < REGIONS + 3; i++)
        series[i] = (struct wire_series_row){.scope = i < 3 ? i : SERIES_REGION,
                                             .id = i < 3 ? 0 : i - 2,
                                             .messages = 5000,
                                             .recent = 1.01,
                                             .reference = 1.2,
                                             .slope = 0.01};
    uint64_t start = clock_mono_ns();
    for (uint64_t w = 1; w <= WINDOWS; w++) {
        struct wire_latencies m = {
            .job = "bench.0", .window = w, .series = series, .series_count = REGIONS + 3};
        recording_write_result(r, WIRE_TYPE_LATENCIES, &m);
    }
    recording_commit(r);
    return (double)(clock_mono_ns() - start) / 1e3 / WINDOWS;
}

static double regions_us(struct recording *r)
{
    for (uint64_t i = 0; i < REGIONS; i++)
        regions[i] = (struct wire_latency_region_row){i + 1, RANKS / REGIONS, 1};
    for (uint64_t i = 0; i < RANKS; i++)
        members[i] = (struct wire_region_member_row){i, i % REGIONS + 1};
    uint64_t start = clock_mono_ns(), changes = 60;
    for (uint64_t w = 1; w <= changes; w++) {
        for (uint64_t i = 0; i < RANKS / 100; i++)
            members[(w * 40 + i) % RANKS].region = (w + i) % REGIONS + 1;
        struct wire_regions m = {.job = "bench.0",
                                 .window = w,
                                 .regions = regions,
                                 .regions_count = REGIONS,
                                 .members = members,
                                 .members_count = RANKS};
        recording_write_result(r, WIRE_TYPE_REGIONS, &m);
    }
    recording_commit(r);
    return (double)(clock_mono_ns() - start) / 1e3 / (double)changes;
}

static int bench_tables(void)
{
    char directory[DIRECTORY_ROOM], path[64], why[256];
    struct recording *r;
    if (directory_make(directory) != 0)
        return 1;
    snprintf(path, sizeof path, "%s/r.hrec", directory);
    int code = recording_open(&r, path, why, sizeof why);
    if (code == 0) {
        double message = messages_us(r);
        uint64_t before = recording_bytes(r);
        double latency = latencies_us(r);
        double bytes = (double)(recording_bytes(r) - before) / WINDOWS;
        double change = regions_us(r);
        printf("a window message of 16 KiB:                %8.1f us\n", message);
        printf("latencies of 64 regions, a window:         %8.1f us, %.1f of that; %.1f KiB\n",
               latency, latency / message, bytes / 1024);
        printf("regions of 4,096 ranks of which 1 %% moved: %8.1f us, %.1f of that\n", change,
               change / message);
        recording_close(r);
    }
    directory_remove(directory);
    return code != 0;
}

int main(void)
{
    return bench_sinks() | bench_tables();
}
