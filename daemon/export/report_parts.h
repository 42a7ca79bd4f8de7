/* Parts of a report's page: charts and tables. Internal to daemon/export. */
#ifndef HOLTER_EXPORT_REPORT_PARTS_H
#define HOLTER_EXPORT_REPORT_PARTS_H

#include "daemon/export/report.h"
#include "daemon/export/report_data.h"

struct page {
    FILE *out;
    const struct export_source *source;
    const struct report_extras *extras;
    const struct report_data *data;
};

/* Charts by time: report_charts.c. A chart without data has no section. */
void page_curve(const struct page *page);   /* CommGram and phases */
void page_latency(const struct page *page); /* by reference */
void page_time(const struct page *page);    /* share of time in MPI by class */
void page_traffic(const struct page *page); /* messages and bytes a second */

/* Write a time of the job, "12.5 s after the begin" or "the begin": report.c */
void page_since(const struct page *page, int64_t time_ns);

/* Begin and end a table that scrolls by itself where the page is narrow. */
void page_begin_table(FILE *out, const char *label);
void page_end_table(FILE *out);

/* Tables: report_tables.c */
void page_captures(const struct page *page);
void page_links(const struct page *page);
void page_matrix(const struct page *page);
void page_calls(const struct page *page);
void page_ranks(const struct page *page);
/** Time of the job in which a rank was there, ns. */
double page_rank_time(const struct page *page, const struct content_rank *rank);

#endif
