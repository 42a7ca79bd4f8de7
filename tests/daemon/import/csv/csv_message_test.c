#include "daemon/import/csv/csv_message.h"

#include "holter/call.h"
#include "holter/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

static int64_t number(const char *text, int power)
{
    int64_t value = -77;
    if (csv_number(text, strlen(text), power, 0, &value) != 0)
        fail_msg("%s", text);
    return value;
}

static int refused(const char *text, int power)
{
    int64_t value;
    return csv_number(text, strlen(text), power, 0, &value);
}

static void numbers_are_exact_to_the_nanosecond(void **state)
{
    (void)state;
    assert_int_equal(number("1700000000.123456789", 9), INT64_C(1700000000123456789));
    assert_int_equal(number("1700000000.1234567894999", 9), INT64_C(1700000000123456789));
    assert_int_equal(number("1700000000.1234567895", 9), INT64_C(1700000000123456790));
    assert_int_equal(number("1e-05", 9), 10000);
    assert_int_equal(number("+1.5E3", 0), 1500);
    assert_int_equal(number(".5", 9), 500000000);
    assert_int_equal(number("5.", 9), INT64_C(5000000000));
    assert_int_equal(number("-0.000000001", 9), -1);
    assert_int_equal(number("0e999999999999", 9), 0);
    assert_int_equal(number("1e-999999999999", 9), 0);
    assert_int_equal(number("0.9999999999", 9), 1000000000);
    assert_int_equal(number("1024.0", 0), 1024);
    assert_int_equal(number("4611686018427387904", 0), INT64_C(4611686018427387904));
    assert_int_equal(number("0000000000000000000000000000000000000000000000012", 0), 12);
    assert_int_equal(number("12345678901234567890123456789012345678901234567890e-45", 0), 12346);
}

static void what_is_no_number_is_refused(void **state)
{
    static const char *const bad[] = {"",     "-",   ".",   "1.2.3", "e5",  "1e",  "1e+",
                                      "0x10", "inf", "nan", "1 2",   "1,5", "--1", "1e5.5"};
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(refused(bad[i], 9), -HOLTER_EUSAGE);
    assert_int_equal(refused("4611686018427387905", 0), -HOLTER_ERANGE);
    assert_int_equal(refused("1e400", 0), -HOLTER_ERANGE);
    assert_int_equal(refused("9999999999999999999999999999999999999999", 0), -HOLTER_ERANGE);
}

static void a_comma_can_be_the_point(void **state)
{
    int64_t value;
    (void)state;
    assert_int_equal(csv_number("1,5", 3, 9, 1, &value), 0);
    assert_int_equal(value, 1500000000);
}

static void whole_numbers_have_no_parts(void **state)
{
    int64_t value = 0;
    (void)state;
    assert_int_equal(csv_whole("1e3", 3, 0, &value), 0);
    assert_int_equal(value, 1000);
    assert_int_equal(csv_whole("1000.0", 6, 0, &value), 0);
    assert_int_equal(csv_whole("1.5e1", 5, 0, &value), 0);
    assert_int_equal(value, 15);
    assert_int_equal(csv_whole("100.5", 5, 0, &value), -HOLTER_EUSAGE);
    assert_int_equal(csv_whole("1e-1", 4, 0, &value), -HOLTER_EUSAGE);
    assert_int_equal(csv_whole("0.0000000000000000000001", 24, 0, &value), -HOLTER_EUSAGE);
}

/* ---- headers --------------------------------------------------------------- */

static int header(struct csv_columns *out, const char *line, char *why)
{
    return csv_columns_read(out, line, strlen(line), why);
}

static void columns_come_in_any_order_with_any_separator(void **state)
{
    static const char *const lines[] = {"bytes,source,send_begin,other,destination",
                                        "bytes;Source;send_begin;a,b;destination",
                                        "bytes\tsource\t send_begin \tother\t\"destination\""};
    struct csv_columns c;
    char why[CSV_WHY];
    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(header(&c, lines[i], why), 0);
        assert_int_equal(c.separator, ",;\t"[i]);
        assert_int_equal(c.count, 5);
        assert_int_equal(c.unknown, 1);
        assert_int_equal(c.field[CSV_BYTES], 0);
        assert_int_equal(c.field[CSV_SOURCE], 1);
        assert_int_equal(c.field[CSV_SEND_BEGIN], 2);
        assert_int_equal(c.field[CSV_DESTINATION], 4);
        assert_int_equal(c.field[CSV_TAG], -1);
    }
}

static void a_header_that_lacks_a_column_is_named(void **state)
{
    struct csv_columns c;
    char why[CSV_WHY];
    (void)state;
    assert_int_equal(header(&c, "source,destination,bytes", why), -HOLTER_EUSAGE);
    assert_non_null(strstr(why, "no column send_begin"));
    assert_int_equal(header(&c, "source,destination,bytes,send_begin,send_begin_ns", why),
                     -HOLTER_EUSAGE);
    assert_non_null(strstr(why, "send_begin is there twice"));
    assert_int_equal(header(&c, "0,1,100,0.5", why), -HOLTER_EUSAGE);
    assert_int_equal(header(&c, "\"", why), -HOLTER_EUSAGE);
}

static void columns_that_mean_nothing_are_named(void **state)
{
    struct csv_columns c;
    char why[CSV_WHY];
    (void)state;
    assert_int_equal(header(&c, "source,destination,we\tight,bytes,send_begin,other", why), 0);
    assert_int_equal(c.unknown, 2);
    assert_string_equal(c.first_unknown, "we?ight");
}

/* ---- rows ------------------------------------------------------------------ */

struct one {
    const char *text;
    size_t left;
};

static long give(void *user, void *out, size_t capacity)
{
    struct one *o = user;
    size_t count = o->left < capacity ? o->left : capacity;
    memcpy(out, o->text, count);
    o->text += count;
    o->left -= count;
    return (long)count;
}

static int is_blank(const char *line)
{
    struct one one = {line, strlen(line)};
    struct csv_reader *reader;
    struct csv_columns columns;
    struct csv_row row;
    char why[CSV_WHY];
    assert_int_equal(header(&columns, "region,source,destination,bytes,send_begin", why), 0);
    assert_int_equal(csv_reader_create(&reader, give, &one), 0);
    csv_reader_separator(reader, columns.separator);
    assert_int_equal(csv_reader_next(reader, &row), 1);
    int blank = csv_row_is_blank(&columns, &row);
    csv_reader_destroy(reader);
    return blank;
}

static void rows_that_say_nothing_are_known(void **state)
{
    (void)state;
    assert_true(is_blank("# measured again\n"));
    assert_true(is_blank("# one, two\n"));
    assert_true(is_blank("# one,\"two\n"));
    assert_true(is_blank("# one,\"two\" or three\n"));
    assert_false(is_blank("one,\"two\n"));
    assert_false(is_blank("\"# one\",\"two\n"));
    assert_true(is_blank(" \t \r\n"));
    assert_true(is_blank(",,,,\n"));
    assert_true(is_blank(" , ,,\n"));
    assert_false(is_blank("#1,0,1,5,1\n"));
    assert_false(is_blank("x\n"));
    assert_false(is_blank(",,,,1\n"));
    assert_false(is_blank("\"open\n"));
}

static int message(struct csv_message *out, const char *head, const char *line, char *why)
{
    struct one one = {line, strlen(line)};
    struct csv_reader *reader;
    struct csv_columns columns;
    struct csv_row row;
    assert_int_equal(header(&columns, head, why), 0);
    assert_int_equal(csv_reader_create(&reader, give, &one), 0);
    csv_reader_separator(reader, columns.separator);
    assert_int_equal(csv_reader_next(reader, &row), 1);
    int code = csv_message_read(out, &columns, &row, why);
    csv_reader_destroy(reader);
    return code;
}

static const char all[] =
    "source,destination,bytes,send_begin,send_end_ns,receive_begin,receive_end,tag,communicator,"
    "region,call,source_host,destination_host";

static void a_row_has_what_its_columns_say(void **state)
{
    struct csv_message m;
    char why[CSV_WHY] = "";
    (void)state;
    assert_int_equal(
        message(&m, all, "3, 4 ,1024.0,1.5,1500000001,1.25,2,7,rows,\"in, out\",Isend,a,b", why),
        0);
    assert_int_equal(m.source, 3);
    assert_int_equal(m.destination, 4);
    assert_int_equal(m.bytes, 1024);
    assert_int_equal(m.send_begin, 1500000000);
    assert_int_equal(m.send_end, 1500000001);
    assert_int_equal(m.receive_begin, 1250000000);
    assert_int_equal(m.receive_end, 2000000000);
    assert_int_equal(m.received, 1);
    assert_int_equal(m.tag, 7);
    assert_int_equal(m.call, CALL_Isend);
    static const char *const spelt[] = {"mpi_isend", "MPI_ISEND", "isend", "MPI_Isend", "ISEND"};
    for (size_t i = 0; i < sizeof(spelt) / sizeof(spelt[0]); i++) {
        struct csv_message other;
        char line[40];
        snprintf(line, sizeof(line), "0,1,5,1,%s", spelt[i]);
        assert_int_equal(message(&other, "source,destination,bytes,send_begin,call", line, why), 0);
        assert_int_equal(other.call, CALL_Isend);
    }
    assert_string_equal(m.communicator, "rows");
    assert_string_equal(m.region, "in, out");
    assert_string_equal(m.source_host, "a");
    assert_string_equal(m.destination_host, "b");
}

static void what_is_missing_has_its_meaning(void **state)
{
    struct csv_message m;
    char why[CSV_WHY] = "";
    (void)state;
    assert_int_equal(message(&m, all, "3,4,0,1.5,nan,,NA,-1,,None,,,", why), 0);
    assert_int_equal(m.send_end, m.send_begin);
    assert_int_equal(m.received, 0);
    assert_int_equal(m.tag, 0);
    assert_int_equal(m.call, CALL_Send);
    assert_string_equal(m.region, "");
}

static void a_bad_row_names_its_column(void **state)
{
    static const char *const rows[][2] = {
        {"1048576,4,0,1.5,,,,,,,,,", "column source: '1048576' is too large"},
        {"-3,4,0,1.5,,,,,,,,,", "column source: '-3' is negative"},
        {"3,x,0,1.5,,,,,,,,,", "column destination: 'x' is no number"},
        {"3,4,,1.5,,,,,,,,,", "column bytes: '' is no number"},
        {"3,4,1,-1.5,,,,,,,,,", "column send_begin: '-1.5' is negative"},
        {"3,4,1,5e9,,,,,,,,,", "column send_begin: '5e9' is too large"},
        {"3,4,1,1.5,1,,,,,,,,", "column send_end: before send_begin"},
        {"3,4,1,1.5,,3,2,,,,,,", "column receive_end: before receive_begin"},
        {"3,4,1,1.5,,,,99999999999,,,,,", "column tag: '99999999999' is too large"},
        {"3,4,1,1.5,,,,,,,MPI_Bcast,,", "column call: 'MPI_Bcast' is no call"},
        {"3,4,1,1.5,,,,,,,Send_init,,", "column call: 'Send_init' is no call"},
        {"3,4,1,1.5,,,,,,,,a b,", "column source_host: 'a b' is no name of a host"},
        {"3,4,1,1.5,,,,,,\"a\nb\",,,", "column region: 'a\nb' is no name"},
        {"3,4,1,1.5", "4 fields, where the header has 13"},
        {"\"3", "a quote is not closed"},
    };
    struct csv_message m;
    char why[CSV_WHY];
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(message(&m, all, rows[i][0], why), -HOLTER_EUSAGE);
        if (strncmp(why, rows[i][1], strlen(rows[i][1])) != 0)
            fail_msg("%s: %s", rows[i][0], why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_have_no_parts),
        cmocka_unit_test(columns_that_mean_nothing_are_named),
        cmocka_unit_test(rows_that_say_nothing_are_known),
        cmocka_unit_test(numbers_are_exact_to_the_nanosecond),
        cmocka_unit_test(what_is_no_number_is_refused),
        cmocka_unit_test(a_comma_can_be_the_point),
        cmocka_unit_test(columns_come_in_any_order_with_any_separator),
        cmocka_unit_test(a_header_that_lacks_a_column_is_named),
        cmocka_unit_test(a_row_has_what_its_columns_say),
        cmocka_unit_test(what_is_missing_has_its_meaning),
        cmocka_unit_test(a_bad_row_names_its_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
