/* Any bytes as a table of messages. All of them go through the reader of rows; some become a
 * recording. */
#include "daemon/import/csv/import_csv.h"

#include "daemon/import/csv/csv_message.h"
#include "holter/call.h"
#include "tests/directory.h"
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define IMPORTED_OF 64u /* inputs, one becomes a recording: that takes a hundred times as long */

struct text {
    const uint8_t *at;
    size_t left;
};

static long give(void *user, void *out, size_t capacity)
{
    struct text *t = user;
    size_t count = t->left < capacity ? t->left : capacity;
    if (count > 0)
        memcpy(out, t->at, count);
    t->at += count;
    t->left -= count;
    return (long)count;
}

static void on_fault(void *user, const char *text)
{
    unsigned *count = user;
    FUZZ_HOLDS(text[0] != '\0' && strlen(text) < 1000);
    FUZZ_HOLDS(++*count <= 2 * (FILE_FAULTS + 1)); /* of the table, and of the recording */
}

static void check_message(const struct csv_message *m)
{
    FUZZ_HOLDS(m->source < CSV_MAX_RANKS && m->destination < CSV_MAX_RANKS);
    FUZZ_HOLDS(m->bytes <= CSV_MAX_TIME && m->send_end <= CSV_MAX_TIME);
    FUZZ_HOLDS(m->send_begin <= m->send_end);
    FUZZ_HOLDS(!m->received ||
               (m->receive_begin <= m->receive_end && m->receive_end <= CSV_MAX_TIME));
    FUZZ_HOLDS(m->tag >= 0 && call_class_of(m->call) == CALL_SEND);
    FUZZ_HOLDS(strlen(m->region) < CSV_NAME && strlen(m->communicator) < CSV_NAME);
}

/* @return greatest rank and 1 of the rows that are whole */
static uint32_t read_rows(const uint8_t *data, size_t size)
{
    struct text text = {data, size};
    struct csv_reader *reader;
    struct csv_columns columns;
    struct csv_row row;
    struct csv_message message;
    char why[CSV_WHY];
    const char *line;
    size_t length;
    int whole;
    uint32_t ranks = 0;
    uint64_t before = 0, offset = 0;
    if (csv_reader_create(&reader, give, &text) != 0)
        return 0;
    if (csv_reader_peek(reader, &line, &length, &whole) == 1 && whole &&
        csv_columns_read(&columns, line, length, why) == 0) {
        csv_reader_separator(reader, columns.separator);
        while (csv_reader_next(reader, &row) == 1) {
            FUZZ_HOLDS(row.line > before && row.offset >= offset && row.offset < size);
            FUZZ_HOLDS((row.count == 0) == (row.fault != CSV_WHOLE));
            before = row.line;
            offset = row.offset + 1;
            why[0] = '\0';
            int code = csv_message_read(&message, &columns, &row, why);
            FUZZ_HOLDS((code == 0) == (why[0] == '\0'));
            if (code != 0)
                continue;
            check_message(&message);
            ranks = message.source >= ranks ? message.source + 1 : ranks;
            ranks = message.destination >= ranks ? message.destination + 1 : ranks;
        }
    }
    csv_reader_destroy(reader);
    return ranks;
}

static void import(const uint8_t *data, size_t size)
{
    char directory[64], table[64], recording[96];
    unsigned faults = 0;
    struct import_csv_counts counts;
    int fd = memfd_create("table", MFD_CLOEXEC);
    if (fd < 0 || fuzz_directory(directory) != 0)
        return;
    snprintf(table, sizeof(table), "/proc/self/fd/%d", fd);
    snprintf(recording, sizeof(recording), "%s/x.hrec", directory);
    struct trace_wishes wishes = {
        .threads = 1, .per_node = (uint32_t)(size % 3), .fault = on_fault, .user = &faults};
    if (write(fd, data, size) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0) {
        int code = import_csv(recording, table, &wishes, &counts);
        FUZZ_HOLDS(code <= 0 && (code == 0 || faults > 0));
        FUZZ_HOLDS(counts.bad == 0 || faults > 0);
        FUZZ_HOLDS(code != 0 || counts.counts.lost > 0 || counts.counts.sent == counts.rows);
        FUZZ_HOLDS(code != 0 || counts.counts.rejected == 0);
    }
    close(fd);
    directory_remove(directory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < size; i++)
        sum = sum * 31 + data[i];
    uint32_t ranks = read_rows(data, size);
    if (sum % IMPORTED_OF == 0 && ranks < 1000) /* more ranks only take longer */
        import(data, size);
    return 0;
}

size_t fuzz_seed(unsigned number, uint8_t *out)
{
    static const char *const seeds[] = {
        "# by hand\nsource,destination,bytes,send_begin,send_end,receive_begin,receive_end,tag,"
        "communicator,region,call\n0,1,100,0.001,0.0011,0.0005,0.002,5,rows,solver,MPI_Isend\n"
        "0,1,100,0.002,0.0031,0.0005,0.003,5,\"ro\"\"ws\",\"a\nb\",Send\n1,0,7,0.004,,,0.005,,,,\n",
        "\xef\xbb\xbfsource;destination;bytes;send_begin;receive_end\r\n0;1;1024,0;1,5;1,6\r\n"
        "1;2;1;1,55;1,57\r\n2;0;3;1,56;1,561\r\n",
        "send_begin_ns\treceive_end_ns\tbytes\tsource\tdestination\n1700000000000000000\t"
        "1700000000000001000\t8\t0\t3\n1700000000000000100\t1700000000000000900\t8\t0\t3\n",
        "source,destination,bytes,send_begin,source_host,destination_host\n0,1,1e3,1e-05,n1,n2\n"
        "2,1,1.5e3,2e-05,n1,n2\n1,0,-1,nan,n2,n1\n4000000000,1,1,1,n1,n1\n",
    };
    if (number >= sizeof(seeds) / sizeof(seeds[0]))
        return SIZE_MAX;
    memcpy(out, seeds[number], strlen(seeds[number]));
    return strlen(seeds[number]);
}
