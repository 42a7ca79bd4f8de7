/* Histograms of times: see histogram.h. */
#include "daemon/analysis/latency/histogram.h"

#include <math.h>
#include <stdlib.h>

_Static_assert(TIME_CLASSES % HISTOGRAM_PAGE == 0, "pages hold whole octaves");

void histogram_finish(struct histogram *histogram)
{
    for (uint32_t p = 0; p < HISTOGRAM_PAGES; p++)
        free(histogram->pages[p]);
    *histogram = (struct histogram){0};
}

struct histogram_page *histogram_page_create(struct histogram *histogram, uint32_t page)
{
    histogram->pages[page] = calloc(1, sizeof(*histogram->pages[page]));
    return histogram->pages[page];
}

static void histogram_drop_page(struct histogram *histogram, uint32_t page)
{
    if (histogram->pages[page]->messages > 0)
        return;
    free(histogram->pages[page]);
    histogram->pages[page] = NULL;
}

int histogram_remove(struct histogram *histogram, uint32_t time_class, uint64_t messages)
{
    if (histogram_count(histogram, time_class) < messages)
        return -HOLTER_ERANGE;
    if (messages == 0)
        return 0;
    struct histogram_page *page = histogram->pages[time_class / HISTOGRAM_PAGE];
    page->counts[time_class % HISTOGRAM_PAGE] -= messages;
    page->messages -= messages;
    histogram->messages -= messages;
    histogram_drop_page(histogram, time_class / HISTOGRAM_PAGE);
    return 0;
}

uint64_t histogram_count(const struct histogram *histogram, uint32_t time_class)
{
    if (time_class >= TIME_CLASSES || histogram->pages[time_class / HISTOGRAM_PAGE] == NULL)
        return 0;
    return histogram->pages[time_class / HISTOGRAM_PAGE]->counts[time_class % HISTOGRAM_PAGE];
}

int histogram_merge(struct histogram *into, const struct histogram *from)
{
    struct histogram_page *fresh[HISTOGRAM_PAGES] = {0};
    for (uint32_t p = 0; p < HISTOGRAM_PAGES; p++) {
        if (from->pages[p] == NULL || into->pages[p] != NULL)
            continue;
        fresh[p] = calloc(1, sizeof(*fresh[p]));
        if (fresh[p] == NULL) {
            while (p-- > 0)
                free(fresh[p]);
            return -ENOMEM;
        }
    }
    for (uint32_t p = 0; p < HISTOGRAM_PAGES; p++) {
        if (from->pages[p] == NULL)
            continue;
        if (fresh[p] != NULL)
            into->pages[p] = fresh[p];
        for (uint32_t i = 0; i < HISTOGRAM_PAGE; i++)
            into->pages[p]->counts[i] += from->pages[p]->counts[i];
        into->pages[p]->messages += from->pages[p]->messages;
    }
    into->messages += from->messages;
    return 0;
}

int histogram_subtract(struct histogram *from, const struct histogram *what)
{
    for (uint32_t c = histogram_next(what, 0); c < TIME_CLASSES; c = histogram_next(what, c + 1))
        if (histogram_count(from, c) < histogram_count(what, c))
            return -HOLTER_ERANGE;
    for (uint32_t p = 0; p < HISTOGRAM_PAGES; p++) {
        if (what->pages[p] == NULL)
            continue;
        for (uint32_t i = 0; i < HISTOGRAM_PAGE; i++)
            from->pages[p]->counts[i] -= what->pages[p]->counts[i];
        from->pages[p]->messages -= what->pages[p]->messages;
        histogram_drop_page(from, p);
    }
    from->messages -= what->messages;
    return 0;
}

void histogram_shift(struct histogram *histogram, unsigned bits)
{
    if (bits == 0)
        return;
    bits = bits > 63 ? 63 : bits;
    histogram->messages = 0;
    for (uint32_t p = 0; p < HISTOGRAM_PAGES; p++) {
        struct histogram_page *page = histogram->pages[p];
        if (page == NULL)
            continue;
        page->messages = 0;
        for (uint32_t i = 0; i < HISTOGRAM_PAGE; i++) {
            if (page->counts[i] > 0)
                page->counts[i] = ((page->counts[i] - 1) >> bits) + 1;
            page->messages += page->counts[i];
        }
        histogram->messages += page->messages;
    }
}

uint32_t histogram_next(const struct histogram *histogram, uint32_t time_class)
{
    while (time_class < TIME_CLASSES) {
        const struct histogram_page *page = histogram->pages[time_class / HISTOGRAM_PAGE];
        if (page == NULL)
            time_class = (time_class / HISTOGRAM_PAGE + 1) * HISTOGRAM_PAGE;
        else if (page->counts[time_class % HISTOGRAM_PAGE] == 0)
            time_class++;
        else
            return time_class;
    }
    return TIME_CLASSES;
}

/* Class of the k-th smallest time, k below messages.
 * @param over  set to how many times there are up to that class, and in it */
static uint32_t histogram_class_at(const struct histogram *histogram, uint64_t k, uint64_t *over)
{
    uint64_t below = 0;
    uint32_t p = 0, i = 0;
    while (histogram->pages[p] == NULL || below + histogram->pages[p]->messages <= k) {
        below += histogram->pages[p] == NULL ? 0 : histogram->pages[p]->messages;
        p++;
    }
    while (below + histogram->pages[p]->counts[i] <= k)
        below += histogram->pages[p]->counts[i++];
    *over = below + histogram->pages[p]->counts[i];
    return p * HISTOGRAM_PAGE + i;
}

double histogram_ranked(const struct histogram *histogram, uint64_t k)
{
    uint64_t over;
    if (k >= histogram->messages)
        return NAN;
    return time_class_middle(histogram_class_at(histogram, k, &over));
}

double histogram_quantile(const struct histogram *histogram, double q)
{
    if (histogram->messages == 0 || !(q >= 0 && q <= 1))
        return NAN;
    double place = q * (double)(histogram->messages - 1);
    uint64_t last = histogram->messages - 1;
    uint64_t k = place >= (double)last ? last : (uint64_t)place;
    uint64_t over;
    uint32_t c = histogram_class_at(histogram, k, &over);
    double low = time_class_middle(c), part = place - (double)k;
    if (k + 1 < over || k == last || !(part > 0))
        return low; /* both neighbours are of this class, or there is but one */
    return low + part * (time_class_middle(histogram_next(histogram, c + 1)) - low);
}

void histogram_copy_state(struct state_bytes *b, struct histogram *histogram)
{
    STATE_VALUE(b, histogram->messages);
    for (uint32_t p = 0; p < HISTOGRAM_PAGES; p++)
        (void)STATE_OBJECT(b, histogram->pages[p]);
}
