#include "daemon/import/csv/csv_reader.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

struct text {
    const char *at;
    size_t left, step; /* step: bytes given at a time */
    int error;         /* at the end */
};

static long give(void *user, void *out, size_t capacity)
{
    struct text *t = user;
    size_t count = t->left < capacity ? t->left : capacity;
    count = t->step > 0 && t->step < count ? t->step : count;
    if (count == 0)
        return t->error;
    memcpy(out, t->at, count);
    t->at += count;
    t->left -= count;
    return (long)count;
}

static char *format_row(const struct csv_row *row, char *out, size_t capacity)
{
    size_t used = (size_t)snprintf(out, capacity, "%d:", (int)row->line);
    for (uint32_t i = 0; i < row->count; i++)
        used += (size_t)snprintf(out + used, capacity - used, "%s%.*s", i == 0 ? "" : "|",
                                 (int)row->fields[i].length, row->fields[i].text);
    return out;
}

/* All rows, "line:a|b;" each, or "line!fault;". */
static char *rows_of(const char *bytes, size_t length, size_t step, char separator)
{
    struct text text = {bytes, length, step, 0};
    struct csv_reader *reader;
    struct csv_row row;
    size_t capacity = 2 * length + 4096, used = 0;
    char *out = calloc(1, capacity);
    assert_int_equal(csv_reader_create(&reader, give, &text), 0);
    csv_reader_separator(reader, separator);
    while (csv_reader_next(reader, &row) == 1) {
        if (row.fault != CSV_WHOLE)
            used +=
                (size_t)snprintf(out + used, capacity - used, "%d!%d", (int)row.line, row.fault);
        else
            used += strlen(format_row(&row, out + used, capacity - used));
        used += (size_t)snprintf(out + used, capacity - used, ";");
    }
    csv_reader_destroy(reader);
    return out;
}

static void expect(const char *text, const char *rows)
{
    for (size_t step = 0; step < 3; step++) {
        char *got = rows_of(text, strlen(text), step, ',');
        assert_string_equal(got, rows);
        free(got);
    }
}

static void fields_are_parted_by_separators_and_rows_by_lines(void **state)
{
    (void)state;
    expect("a,b\nc,d\n", "1:a|b;2:c|d;");
    expect("a,b\r\nc,d", "1:a|b;2:c|d;");
    expect("a,,\n,\n", "1:a||;2:|;");
    expect("\n\r\na\n\n", "3:a;");
    expect("", "");
    expect("a,b\rc,d\r\r\"e\",f", "1:a|b;2:c|d;4:e|f;"); /* no LF at all */
    expect("a\rb,c\nd", "1:a\rb|c;2:d;");
    expect("a\r", "1:a;");
}

static void quotes_hold_separators_lines_and_quotes(void **state)
{
    (void)state;
    expect("\"a,b\",c\n", "1:a,b|c;");
    expect("\"a\nb\",c\nd\n", "1:a\nb|c;3:d;");
    expect("\"say \"\"no\"\"\"\n", "1:say \"no\";");
    expect("\"\",x\n\"\"\n", "1:|x;2:;");
    expect("a\"b,c\n", "1:a\"b|c;"); /* a quote within a field is none */
}

static void a_quote_that_is_not_closed_costs_its_line_only(void **state)
{
    (void)state;
    expect("a\n\"b,c\nd,e\n", "1:a;2!3;3:d|e;");
    expect("\"a\"b,c\nd\n", "1!4;2:d;");
    /* the quotes of a later line are those of its own fields */
    expect("a,\"b\nc,d\ne,\"f\"\n", "1!3;2:c|d;3:e|f;");
    expect("a,\"b\nc,\"\"\"d\"\n", "1!3;2:c|\"d;");
    expect("a,\"b\n\",c\n", "1:a|b\n|c;");
}

static void a_mark_of_byte_order_is_passed_over(void **state)
{
    (void)state;
    expect("\xef\xbb\xbf"
           "a,b\n",
           "1:a|b;");
}

static void rows_that_are_too_long_are_passed_over(void **state)
{
    (void)state;
    for (size_t length = CSV_ROW_BYTES - 2; length < 5 * CSV_ROW_BYTES; length += 40000) {
        char *text = malloc(length + 4), *got;
        memset(text, 'x', length);
        memcpy(text + length, "\ny\n", 4);
        got = rows_of(text, length + 3, 0, ',');
        size_t end = strlen(got);
        assert_string_equal(got + end - 5, ";2:y;");
        assert_int_equal(got[1], length < CSV_ROW_BYTES ? ':' : '!');
        free(got);
        free(text);
    }
}

static void more_fields_than_may_be_are_no_row(void **state)
{
    char text[CSV_FIELDS + 8];
    (void)state;
    memset(text, ',', sizeof(text));
    memcpy(text + CSV_FIELDS, "\na\n", 4);
    expect(text, "1!2;2:a;");
}

static void any_byte_may_stand_in_a_field(void **state)
{
    (void)state;
    char *got = rows_of("a\0b,c\n", 6, 0, ',');
    assert_string_equal(got, "1:a|c;"); /* printed up to the NUL */
    free(got);
}

static void the_header_is_seen_behind_comments_before_it_is_taken(void **state)
{
    static const char bytes[] = "# of a test\n\n# ,\na;b\n1;2\n";
    struct text text = {bytes, strlen(bytes), 1, 0};
    struct csv_reader *reader;
    struct csv_row row;
    const char *line;
    char out[64];
    size_t length;
    int whole;
    (void)state;
    assert_int_equal(csv_reader_create(&reader, give, &text), 0);
    assert_int_equal(csv_reader_peek(reader, &line, &length, &whole), 1);
    assert_int_equal(whole, 1);
    assert_int_equal(length, 3);
    assert_memory_equal(line, "a;b", 3);
    csv_reader_separator(reader, ';');
    assert_int_equal(csv_reader_next(reader, &row), 1);
    assert_string_equal(format_row(&row, out, sizeof(out)), "4:a|b");
    assert_int_equal(row.offset, 17);
    assert_int_equal(csv_reader_next(reader, &row), 1);
    assert_string_equal(format_row(&row, out, sizeof(out)), "5:1|2");
    assert_int_equal(csv_reader_next(reader, &row), 0);
    csv_reader_destroy(reader);
}

static void an_error_comes_behind_what_was_read(void **state)
{
    struct text text = {"a\nb\n", 4, 3, -EIO};
    struct csv_reader *reader;
    struct csv_row row;
    (void)state;
    assert_int_equal(csv_reader_create(&reader, give, &text), 0);
    assert_int_equal(csv_reader_next(reader, &row), 1);
    assert_int_equal(csv_reader_next(reader, &row), 1);
    assert_int_equal(csv_reader_next(reader, &row), -EIO);
    csv_reader_destroy(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_parted_by_separators_and_rows_by_lines),
        cmocka_unit_test(quotes_hold_separators_lines_and_quotes),
        cmocka_unit_test(a_quote_that_is_not_closed_costs_its_line_only),
        cmocka_unit_test(a_mark_of_byte_order_is_passed_over),
        cmocka_unit_test(rows_that_are_too_long_are_passed_over),
        cmocka_unit_test(more_fields_than_may_be_are_no_row),
        cmocka_unit_test(any_byte_may_stand_in_a_field),
        cmocka_unit_test(the_header_is_seen_behind_comments_before_it_is_taken),
        cmocka_unit_test(an_error_comes_behind_what_was_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
