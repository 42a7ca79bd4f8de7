/* What every report contains: its style sheet (report.css) and its script (report.js), embedded by
 * embed_page.py. Internal to daemon/export. */
#ifndef HOLTER_EXPORT_REPORT_ASSETS_H
#define HOLTER_EXPORT_REPORT_ASSETS_H

extern const char report_style[], report_script[];

/** Source expression of a content security policy which permits report_script and nothing else. */
extern const char report_script_hash[];

#endif
