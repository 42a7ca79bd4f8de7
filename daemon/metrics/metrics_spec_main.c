/* metrics-spec: prints the table of metrics that docs/metrics.md has, so that a test can compare
 * them. */
#include "daemon/metrics/metrics_text.h"

int main(void)
{
    metrics_text_write_table(stdout);
    return 0;
}
