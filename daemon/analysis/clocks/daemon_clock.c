/* The estimate of daemon time from round trips: convex hulls of both bounds, and the slewed line.
 */
#include "daemon/analysis/clocks/daemon_clock.h"

#include "holter/error.h"

#include <math.h>

/* A clock that NTP disciplines drifts by at most this, see adjtimex(2). */
#define MAXIMUM_DRIFT 500e-6
#define DRIFT_USUAL 100e-6 /* usual drift of a crystal and its calibration */
/* How fast a drift changes, seconds per second and second. The drift of a crystal that warms up
 * changes by a tenth of that, but NTP clients adjust the rate of CLOCK_MONOTONIC by a part per
 * million or two every minute, and older samples have to lose weight soon. */
#define WANDER 1e-7
#define KEPT_SAMPLES 8u /* samples kept when the drift has changed by more than WANDER */
#define GRAIN_NS 50.0   /* granularity of the clocks' readings */
#define SLEW_NS 8e9     /* an error is removed over this time */
#define SLOPE_STEPS 60
#define MAXIMUM_TRIP_NS UINT64_C(60000000000)
#define SLOW_PART 4 /* a trip is slow when it takes a quarter more than the shortest */
#define SLOW_NS 5000

void daemon_clock_init(struct daemon_clock *clock, uint64_t mono_ns, uint64_t daemon_ns)
{
    *clock = (struct daemon_clock){.mapping = {mono_ns, daemon_ns, 0}};
}

void daemon_clock_restart(struct daemon_clock *clock)
{
    clock->count = 0;
    clock->next = 0;
}

uint64_t daemon_clock_map(const struct daemon_clock_mapping *mapping, uint64_t mono_ns)
{
    const uint64_t since = mono_ns - mapping->mono_ns;
    return mapping->daemon_ns + since + (uint64_t)(int64_t)((double)(int64_t)since * mapping->slew);
}

uint64_t daemon_clock_at(const struct daemon_clock *clock, uint64_t mono_ns)
{
    return daemon_clock_map(&clock->mapping, mono_ns);
}

void daemon_clock_detach(struct daemon_clock *clock, uint64_t mono_ns)
{
    const double drift = clock->count > 0 ? clock->line.drift : 0;
    clock->mapping = (struct daemon_clock_mapping){mono_ns, daemon_clock_at(clock, mono_ns), drift};
    clock->source_error_ns = 0;
    daemon_clock_restart(clock);
}

uint64_t daemon_clock_mono(const struct daemon_clock *clock, uint64_t daemon_ns)
{
    int64_t since = (int64_t)(daemon_ns - clock->mapping.daemon_ns);
    int64_t span =
        since - (int64_t)((double)since * clock->mapping.slew / (1 + clock->mapping.slew));
    if (span < 0 && (uint64_t)-span > clock->mapping.mono_ns)
        return 0;
    return clock->mapping.mono_ns + (uint64_t)span;
}

/* ---- the estimate -------------------------------------------------------- */

/* Bounds of daemon time minus CLOCK_MONOTONIC: at `at` ns from the newest sample it was at most, or
 * at least, `offset` ns more than the line's value at that moment. */
struct point {
    double at, offset;
};

/* Points that a line has to pass below, and above: the vertices of both hulls. */
struct bounds {
    struct point above[DAEMON_CLOCK_SAMPLES], below[DAEMON_CLOCK_SAMPLES];
    unsigned above_count, below_count;
};

static const struct daemon_clock_sample *daemon_clock_get_sample(const struct daemon_clock *clock,
                                                                 unsigned age)
{
    return &clock->samples[(clock->next + DAEMON_CLOCK_SAMPLES - 1 - age) % DAEMON_CLOCK_SAMPLES];
}

/* Adds a point to a hull, in the order of time: points that are no vertices any more, because the
 * segment from the point before them to the new one passes beyond them, are removed. side: 1 for
 * upper points, -1 for lower points. */
static unsigned daemon_clock_add_to_hull(struct point *hull, unsigned count, struct point point,
                                         double side)
{
    while (count >= 2) {
        const struct point *a = &hull[count - 2], *b = &hull[count - 1];
        double turn = (b->at - a->at) * (point.offset - a->offset) -
                      (b->offset - a->offset) * (point.at - a->at);
        if (side * turn > 0)
            break;
        count--;
    }
    hull[count] = point;
    return count + 1;
}

/* The amount by which the drift may have moved a point over that time. */
static double daemon_clock_drift_allowance(double ns)
{
    double seconds = ns / 1e9;
    return WANDER * seconds * seconds / 2 * 1e9;
}

static void daemon_clock_build_bounds(struct bounds *bounds, const struct daemon_clock *clock)
{
    const struct daemon_clock_sample *newest = daemon_clock_get_sample(clock, 0);
    uint64_t reference = newest->t3_daemon - newest->t4_mono;
    bounds->above_count = bounds->below_count = 0;
    for (unsigned age = clock->count; age-- > 0;) {
        const struct daemon_clock_sample *s = daemon_clock_get_sample(clock, age);
        struct point out = {(double)(int64_t)(s->t1_mono - newest->t4_mono),
                            (double)(int64_t)(s->t2_daemon - s->t1_mono - reference)};
        struct point back = {(double)(int64_t)(s->t4_mono - newest->t4_mono),
                             (double)(int64_t)(s->t3_daemon - s->t4_mono - reference)};
        out.offset += daemon_clock_drift_allowance(out.at) + GRAIN_NS;
        back.offset -= daemon_clock_drift_allowance(back.at) + GRAIN_NS;
        bounds->above_count = daemon_clock_add_to_hull(bounds->above, bounds->above_count, out, 1);
        bounds->below_count =
            daemon_clock_add_to_hull(bounds->below, bounds->below_count, back, -1);
    }
}

/* Highest value of a line of that drift at a time, and its lowest. */
static double daemon_clock_highest(const struct bounds *bounds, double drift, double at)
{
    double high = 1e300;
    for (unsigned i = 0; i < bounds->above_count; i++) {
        double offset = bounds->above[i].offset + drift * (at - bounds->above[i].at);
        high = offset < high ? offset : high;
    }
    return high;
}

static double daemon_clock_lowest(const struct bounds *bounds, double drift, double at)
{
    double low = -1e300;
    for (unsigned i = 0; i < bounds->below_count; i++) {
        double offset = bounds->below[i].offset + drift * (at - bounds->below[i].at);
        low = offset > low ? offset : low;
    }
    return low;
}

static double daemon_clock_width(const struct bounds *bounds, double drift)
{
    return daemon_clock_highest(bounds, drift, 0) - daemon_clock_lowest(bounds, drift, 0);
}

/* The drift with the widest interval between both hulls, which is concave in the drift. */
static double daemon_clock_roomiest_drift(const struct bounds *bounds)
{
    double low = -MAXIMUM_DRIFT, high = MAXIMUM_DRIFT;
    for (int i = 0; i < SLOPE_STEPS; i++) {
        double a = low + (high - low) / 3, b = high - (high - low) / 3;
        if (daemon_clock_width(bounds, a) < daemon_clock_width(bounds, b))
            low = a;
        else
            high = b;
    }
    return (low + high) / 2;
}

/* The possible drift that is nearest to a limit, found by bisection from a possible drift. */
static double daemon_clock_extreme_drift(const struct bounds *bounds, double possible, double other)
{
    if (daemon_clock_width(bounds, other) >= 0)
        return other;
    for (int i = 0; i < SLOPE_STEPS; i++) {
        double middle = (possible + other) / 2;
        if (daemon_clock_width(bounds, middle) >= 0)
            possible = middle;
        else
            other = middle;
    }
    return possible;
}

/* When no line fits the samples, the drift has changed by more than WANDER allows for: only the
 * newest samples are kept. A single sample always fits. */
static double daemon_clock_possible_drift(struct daemon_clock *clock, struct bounds *bounds)
{
    for (;;) {
        daemon_clock_build_bounds(bounds, clock);
        double drift = daemon_clock_roomiest_drift(bounds);
        if (daemon_clock_width(bounds, drift) >= 0 || clock->count == 1)
            return drift;
        clock->count = clock->count > KEPT_SAMPLES ? KEPT_SAMPLES : clock->count - 1;
    }
}

/* The middle of the possible drifts that are usual for clocks: the first samples, a short time
 * apart, allow many. */
static double daemon_clock_likely_drift(double minimum, double maximum)
{
    double low = fmax(minimum, -DRIFT_USUAL), high = maximum < DRIFT_USUAL ? maximum : DRIFT_USUAL;
    return low < high ? low + (high - low) / 2 : minimum + (maximum - minimum) / 2;
}

static void daemon_clock_estimate(struct daemon_clock *clock)
{
    struct bounds bounds;
    double drift = daemon_clock_possible_drift(clock, &bounds);
    double minimum = daemon_clock_extreme_drift(&bounds, drift, -MAXIMUM_DRIFT);
    double maximum = daemon_clock_extreme_drift(&bounds, drift, MAXIMUM_DRIFT);
    const struct daemon_clock_sample *newest = daemon_clock_get_sample(clock, 0);
    uint64_t first_ns = daemon_clock_get_sample(clock, clock->count - 1)->t1_mono;
    double first = (double)(int64_t)(first_ns - newest->t4_mono);
    /* After all points the steepest line is the highest, before them it is the lowest. */
    double high = daemon_clock_highest(&bounds, maximum, 0),
           low = daemon_clock_lowest(&bounds, minimum, 0);
    double first_high = daemon_clock_highest(&bounds, minimum, first),
           first_low = daemon_clock_lowest(&bounds, maximum, first);
    /* The line in the middle of the interval at the middle drift. */
    double slope = daemon_clock_likely_drift(minimum, maximum),
           bottom = daemon_clock_lowest(&bounds, slope, 0);
    double middle = bottom + (daemon_clock_highest(&bounds, slope, 0) - bottom) / 2;
    double at_first = middle + slope * first;
    clock->line = (struct daemon_clock_line){
        .mono_ns = newest->t4_mono,
        .first_ns = first_ns,
        .daemon_ns = newest->t3_daemon + (uint64_t)(int64_t)middle,
        .drift = slope,
        .drift_error = fmax(maximum - slope, slope - minimum),
        .error = fmax(high - middle, middle - low),
        .first_error = fmax(first_high - at_first, at_first - first_low),
    };
}

uint64_t daemon_clock_best(const struct daemon_clock *clock, uint64_t mono_ns)
{
    const struct daemon_clock_line *line = &clock->line;
    if (clock->count == 0)
        return daemon_clock_at(clock, mono_ns);
    int64_t since = (int64_t)(mono_ns - line->mono_ns);
    return line->daemon_ns + (uint64_t)since + (uint64_t)(int64_t)((double)since * line->drift);
}

uint64_t daemon_clock_error(const struct daemon_clock *clock, uint64_t mono_ns)
{
    const struct daemon_clock_line *line = &clock->line;
    if (clock->count == 0)
        return UINT64_MAX;
    double since = (double)(int64_t)(mono_ns - line->mono_ns);
    double first = (double)(int64_t)(line->first_ns - line->mono_ns);
    double error = line->error + line->drift_error * since;
    if (since < first)
        error = line->first_error + line->drift_error * (first - since);
    else if (since <
             0) /* the upper bound is convex in time, the lower one concave: chords are bounds */
        error = line->error + (line->first_error - line->error) * since / first;
    error += daemon_clock_drift_allowance(since) + (double)clock->source_error_ns;
    return error < 1e18 ? (uint64_t)error + 1 : (uint64_t)1e18;
}

uint64_t daemon_clock_error_between(const struct daemon_clock *clock, uint64_t from_ns,
                                    uint64_t to_ns)
{
    /* The bound is largest at one of the ends, or at the first sample. */
    const struct daemon_clock_line *line = &clock->line;
    uint64_t maximum = daemon_clock_error(clock, from_ns), other = daemon_clock_error(clock, to_ns);
    maximum = other > maximum ? other : maximum;
    if (clock->count > 0 && line->first_ns > from_ns && line->first_ns < to_ns) {
        other = daemon_clock_error(clock, line->first_ns);
        maximum = other > maximum ? other : maximum;
    }
    return maximum;
}

/* ---- samples ------------------------------------------------------------- */

/* Directs the mapping of windows towards the estimate. */
static void daemon_clock_steer_mapping(struct daemon_clock *clock, uint64_t mono_ns)
{
    uint64_t now = daemon_clock_at(clock, mono_ns);
    uint64_t target = daemon_clock_best(clock, mono_ns);
    double error = (double)(int64_t)(target - now);
    clock->mapping.mono_ns = mono_ns;
    if (!clock->known || error > DAEMON_CLOCK_STEP_NS || error < -DAEMON_CLOCK_STEP_NS) {
        clock->jumps += clock->known != 0;
        clock->mapping.daemon_ns = target;
        clock->mapping.slew = clock->line.drift;
    } else {
        clock->mapping.daemon_ns = now;
        /* at most STEP / SLEW = 1.25 % beyond the drift */
        clock->mapping.slew = clock->line.drift + error / SLEW_NS;
    }
    clock->known = 1;
}

static uint64_t daemon_clock_trip_time(const struct daemon_clock_sample *sample)
{
    return (sample->t4_mono - sample->t1_mono) - (sample->t3_daemon - sample->t2_daemon);
}

int daemon_clock_slow(const struct daemon_clock *clock)
{
    uint64_t minimum = UINT64_MAX;
    for (unsigned age = 0; age < clock->count; age++) {
        uint64_t trip = daemon_clock_trip_time(daemon_clock_get_sample(clock, age));
        minimum = trip < minimum ? trip : minimum;
    }
    return clock->count > 0 && daemon_clock_trip_time(daemon_clock_get_sample(clock, 0)) >
                                   minimum + minimum / SLOW_PART + SLOW_NS;
}

int daemon_clock_observe(struct daemon_clock *clock, uint64_t t1_mono, uint64_t t2_daemon,
                         uint64_t t3_daemon, uint64_t t4_mono)
{
    if (t4_mono < t1_mono || t3_daemon < t2_daemon || t4_mono - t1_mono > MAXIMUM_TRIP_NS ||
        t3_daemon - t2_daemon > t4_mono - t1_mono || t3_daemon > INT64_MAX || t4_mono > INT64_MAX)
        return -HOLTER_ERANGE;
    if (clock->count > 0 && (t1_mono < daemon_clock_get_sample(clock, 0)->t1_mono ||
                             t4_mono < daemon_clock_get_sample(clock, 0)->t4_mono))
        return -HOLTER_ERANGE;
    clock->samples[clock->next] =
        (struct daemon_clock_sample){t1_mono, t2_daemon, t3_daemon, t4_mono};
    clock->next = (clock->next + 1) % DAEMON_CLOCK_SAMPLES;
    if (clock->count < DAEMON_CLOCK_SAMPLES)
        clock->count++;
    daemon_clock_estimate(clock);
    daemon_clock_steer_mapping(clock, t4_mono);
    return 0;
}
