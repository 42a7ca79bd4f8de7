/* The trends of the typical message and of the mean: see latency_trend.h. */
#include "daemon/analysis/latency/latency_trend.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Rises of the mean have to be larger: a few messages that were held up double it in a window. */
#define MEAN_RISE 2.5
#define MEAN_SLOW_RISE 1.8
#define MEAN_GROWTH 1.3

struct latency_trend {
    struct trend *typical, *mean;
    double unit; /* the reference by the first one, of the last messages */
};

int latency_trend_create(struct latency_trend **out, double window_s)
{
    struct trend_params params = TREND_DEFAULTS;
    struct latency_trend *trend = calloc(1, sizeof(*trend));
    if (trend == NULL)
        return -ENOMEM;
    params.window_s = window_s;
    trend->unit = 1;
    int code = trend_create(&trend->typical, &params);
    params.rise = MEAN_RISE;
    params.slow_rise = MEAN_SLOW_RISE;
    params.growth = MEAN_GROWTH;
    params.calm_slope = 0; /* of the mean only periods are reported */
    code = code != 0 ? code : trend_create(&trend->mean, &params);
    if (code != 0) {
        latency_trend_destroy(trend);
        return code;
    }
    *out = trend;
    return 0;
}

void latency_trend_destroy(struct latency_trend *trend)
{
    if (trend == NULL)
        return;
    trend_destroy(trend->typical);
    trend_destroy(trend->mean);
    free(trend);
}

void latency_trend_update(struct latency_trend *trend, uint64_t window,
                          const struct latency_sum *sum, struct trend_result *out)
{
    struct trend_result mean;
    if (sum->judged > 0)
        trend->unit = exp2(latency_moved(sum));
    double unit = trend->unit;
    (void)trend_update(trend->typical, window, latency_typical(sum) * unit, sum->judged);
    (void)trend_update(trend->mean, window, latency_reference(sum) * unit, sum->judged);
    trend_result(trend->typical, out);
    if (!trend_is_calm(trend->mean)) {
        trend_result(trend->mean, &mean);
        uint64_t onset =
            out->state != TREND_STATE_CALM && out->onset < mean.onset ? out->onset : mean.onset;
        if (out->state == TREND_STATE_CALM || mean.ratio > out->ratio)
            *out = mean;
        out->onset = onset;
    }
    out->level /= unit;
    out->base /= unit;
}

void latency_trend_copy_state(struct state_bytes *b, struct latency_trend **trend)
{
    if (!STATE_OBJECT(b, *trend))
        return;
    trend_copy_state(b, &(*trend)->typical);
    trend_copy_state(b, &(*trend)->mean);
}
