/* How fast a table of messages becomes a recording, on one core: rows by processor time, in the
 * order of time and shuffled.
 *
 *   bench_csv [ROWS]  messages of 256 ranks on one host */
#include "daemon/import/csv/import_csv.h"
#include "tests/directory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#define RANKS 256u

static double processor(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

static void on_fault(void *user, const char *text)
{
    (void)user;
    fprintf(stderr, "%s\n", text);
}

static int write_table(const char *path, uint64_t rows, int shuffled)
{
    FILE *out = fopen(path, "we");
    if (out == NULL)
        return 1;
    fputs("source,destination,bytes,send_begin,send_end,receive_begin,receive_end\n", out);
    for (uint64_t i = 0; i < rows; i++) {
        uint64_t n = shuffled ? i * UINT64_C(7919) % rows : i; /* a prime: each row once */
        uint64_t t = n * 1000, from = n * 31 % RANKS;
        fprintf(out, "%u,%u,%u,1700000000.%09u,1700000000.%09u,1700000000.%09u,1700000000.%09u\n",
                (unsigned)from, (unsigned)((from + 1 + n % 3) % RANKS), (unsigned)(n % 65536),
                (unsigned)(t % 900000000), (unsigned)(t % 900000000 + 500),
                (unsigned)(t % 900000000 + 700), (unsigned)(t % 900000000 + 9000));
    }
    return fclose(out);
}

static int measure(uint64_t rows, int shuffled)
{
    char folder[DIRECTORY_ROOM], table[64], recording[64];
    struct import_csv_counts counts;
    struct trace_wishes wishes = {.threads = 1, .fault = on_fault};
    if (directory_make(folder) != 0)
        return 1;
    snprintf(table, sizeof(table), "%s/t.csv", folder);
    snprintf(recording, sizeof(recording), "%s/t.hrec", folder);
    if (write_table(table, rows, shuffled) != 0)
        return 1;
    double time = processor();
    int code = import_csv(recording, table, &wishes, &counts);
    time = processor() - time;
    directory_remove(folder);
    if (code != 0 || counts.rows != rows || counts.counts.matched != rows)
        return 1;
    printf("%-9s %" PRIu64 " rows: %.2f s, %.0f rows a second\n",
           shuffled ? "shuffled" : "in order", rows, time, (double)rows / time);
    return 0;
}

int main(int argc, char **argv)
{
    uint64_t rows = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
    return measure(rows, 0) || measure(rows, 1);
}
