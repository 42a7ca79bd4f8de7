#include "tests/daemon/analysis/scopes/stream_job.h"

#include "daemon/analysis/scopes/scopes.h"
#include "tests/daemon/analysis/noise.h"

#include <math.h>
#include <stdlib.h>

#define FLIGHT_NS 100000.0
#define WINDOW_NS UINT64_C(500000000)

/* @return number of open findings */
static size_t stream_judge_window(struct scopes *scopes, uint32_t window, uint32_t messages,
                                  double flight_ns)
{
    const struct transfer row = {.source = 0,
                                 .destination = 1,
                                 .messages = messages,
                                 .locality = LOCALITY_INTER,
                                 .network_ns = (uint64_t)(messages * flight_ns)};
    struct transfers rows = {0};
    size_t count;
    if (transfers_add(&rows, &row) != 0 || scopes_window(scopes, window, WINDOW_NS, &rows) != 0)
        abort();
    transfers_finish(&rows);
    (void)scopes_findings(scopes, &count);
    return count;
}

struct stream_result stream_job_judge(const struct stream_params *params, uint32_t windows)
{
    struct stream_result result = {0};
    struct noise noise = {params->seed};
    struct scopes *scopes;
    double state = 0;
    size_t before = 0;
    if (scopes_create(&scopes) != 0 || scopes_place(scopes, 0, 0) != 0 ||
        scopes_place(scopes, 1, 1) != 0)
        abort();
    for (uint32_t w = 0; w < params->onset + windows && result.found == 0; w++) {
        state = params->lag * state + sqrt(1 - params->lag * params->lag) * noise_gauss(&noise);
        double logarithm = params->noise * state;
        if (noise_uniform(&noise) < params->outliers)
            logarithm += 1 + noise_uniform(&noise);
        const double flight_ns =
            FLIGHT_NS * exp(logarithm) * (w < params->onset ? 1 : params->factor);
        const size_t count = stream_judge_window(scopes, w, params->messages, flight_ns);
        if (w < params->onset) {
            result.false_alarms += count > before;
            before = count;
        } else if (count > 0 && before == 0) {
            result.found = w - params->onset + 1;
        }
    }
    scopes_destroy(scopes);
    return result;
}
