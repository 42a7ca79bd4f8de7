#include "proto/json.h"

#include "holter/error.h"
#include "tests/proto/wire_random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- a reader that accepts RFC 8259 and nothing else --------------------- */

static int value(const char **at);

static int word(const char **at, const char *expected)
{
    size_t length = strlen(expected);
    if (strncmp(*at, expected, length) != 0)
        return 0;
    *at += length;
    return 1;
}

static int string(const char **at)
{
    if (*(*at)++ != '"')
        return 0;
    while (**at != '"') {
        unsigned char c = (unsigned char)*(*at)++;
        if (c < 0x20)
            return 0;
        if (c != '\\')
            continue;
        c = (unsigned char)*(*at)++;
        if (c == 'u') {
            if (strspn(*at, "0123456789abcdefABCDEF") < 4)
                return 0;
            *at += 4;
        } else if (c == '\0' || !strchr("\"\\/bfnrt", c)) {
            return 0;
        }
    }
    ++*at;
    return 1;
}

static int digits(const char **at)
{
    size_t length = strspn(*at, "0123456789");
    *at += length;
    return length > 0;
}

static int number(const char **at)
{
    *at += **at == '-';
    if (**at == '0')
        ++*at;
    else if (!digits(at))
        return 0;
    if (**at == '.' && (++*at, !digits(at)))
        return 0;
    if (**at == 'e' || **at == 'E') {
        ++*at;
        *at += **at == '+' || **at == '-';
        return digits(at);
    }
    return 1;
}

static int list(const char **at, char close, int keyed)
{
    ++*at;
    if (**at == close) {
        ++*at;
        return 1;
    }
    for (;;) {
        if (keyed && (!string(at) || *(*at)++ != ':'))
            return 0;
        if (!value(at))
            return 0;
        if (**at == close) {
            ++*at;
            return 1;
        }
        if (*(*at)++ != ',')
            return 0;
    }
}

static int value(const char **at)
{
    switch (**at) {
    case '{':
        return list(at, '}', 1);
    case '[':
        return list(at, ']', 0);
    case '"':
        return string(at);
    case 't':
        return word(at, "true");
    case 'f':
        return word(at, "false");
    case 'n':
        return word(at, "null");
    default:
        return number(at);
    }
}

static int is_json(const char *text)
{
    return value(&text) && *text == '\0';
}

/* ---- writing into memory ------------------------------------------------- */

struct out {
    FILE *file;
    char *text;
    size_t length;
};

static void open_out(struct out *out)
{
    *out = (struct out){0};
    out->file = open_memstream(&out->text, &out->length);
    assert_non_null(out->file);
}

static void assert_text(const char *text, const char *expected)
{
    struct out out;
    open_out(&out);
    json_text(out.file, text);
    fclose(out.file);
    assert_string_equal(out.text, expected);
    assert_true(is_json(out.text));
    free(out.text);
}

static void assert_number(double number_, const char *expected)
{
    struct out out;
    open_out(&out);
    json_number(out.file, number_);
    fclose(out.file);
    assert_string_equal(out.text, expected);
    free(out.text);
}

static void texts_are_escaped(void **state)
{
    (void)state;
    assert_text("plain", "\"plain\"");
    assert_text(NULL, "\"\"");
    assert_text("a\"b\\c/d", "\"a\\\"b\\\\c/d\"");
    assert_text("\n\r\t\b\f\x01\x1f\x7f", "\"\\n\\r\\t\\b\\f\\u0001\\u001f\\u007f\"");
    assert_text("Grüße €𝄞", "\"Grüße €𝄞\"");
    assert_text("\xff\xc3", "\"\\ufffd\\ufffd\"");
}

static void numbers_read_back_as_they_were(void **state)
{
    (void)state;
    assert_number(0, "0");
    assert_number(-1.5, "-1.5");
    assert_number(0.1, "0.1");
    assert_number(1.0 / 3, "0.3333333333333333");
    assert_number(NAN, "null");
    assert_number(INFINITY, "null");
    assert_number(-INFINITY, "null");
    uint64_t seed = 3;
    for (int i = 0; i < 1000; i++) {
        double wanted = ldexp((double)random_next(&seed), (int)random_below(&seed, 200) - 150);
        struct out out;
        open_out(&out);
        json_number(out.file, wanted);
        fclose(out.file);
        assert_true(is_json(out.text));
        assert_true(strtod(out.text, NULL) == wanted);
        free(out.text);
    }
}

static void every_message_is_valid_json(void **state)
{
    (void)state;
    uint64_t seed = 11;
    const struct wire_table *table;
    for (size_t t = 0; (table = wire_table_at(t)); t++) {
        for (int round = 0; round < 50; round++) {
            void *fields = random_message(table, &seed, 5);
            struct wire_message message = {.type = table->type};
            memcpy(&message.hello, fields, table->size);
            struct out out;
            open_out(&out);
            fputc('{', out.file);
            json_fields(out.file, &message);
            fputc('}', out.file);
            fclose(out.file);
            assert_true(is_json(out.text));
            assert_null(strchr(out.text, '\n'));
            for (size_t f = 0; f < table->count; f++) {
                char key[80];
                snprintf(key, sizeof key, "\"%s\":", table->fields[f].name);
                assert_non_null(strstr(out.text, key));
            }
            free(out.text);
            random_message_free(table, fields);
        }
    }
}

static void the_reader_of_this_test_refuses_what_is_not_json(void **state)
{
    (void)state;
    static const char *const bad[] = {"",       "{",       "{\"a\"}", "[1,]", "nan",
                                      "\"\n\"", "\"\\x\"", "01",      "1.",   "{a:1}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(is_json(bad[i]));
}

static void rows_carry_names_of_calls(void **state)
{
    (void)state;
    struct wire_call_row rows[] = {{.rank = 2, .call = 1, .time_ns = UINT64_MAX}};
    struct wire_message message = {.type = WIRE_TYPE_CALL_WINDOW,
                                   .call_window = {.job = "j", .calls = rows, .calls_count = 1}};
    struct out out;
    open_out(&out);
    assert_int_equal(json_field(out.file, &message, "calls"), 0);
    assert_int_equal(json_field(out.file, &message, "nonsense"), -HOLTER_EMISSING);
    fclose(out.file);
    assert_non_null(strstr(out.text, "\"call\":1,\"call_name\":\"MPI_"));
    assert_non_null(strstr(out.text, "\"time_ns\":18446744073709551615,"
                                     "\"time_ns_text\":\"18446744073709551615\""));
    assert_null(strstr(out.text, "rank_text"));
    assert_true(is_json(out.text));
    free(out.text);
}

static void bytes_are_base64(void **state)
{
    (void)state;
    /* RFC 4648, section 10 */
    static const char *const cases[][2] = {
        {"", "\"\""},        {"f", "\"Zg==\""},        {"fo", "\"Zm8=\""},
        {"foo", "\"Zm9v\""}, {"foob", "\"Zm9vYg==\""}, {"\xfb\xff\xbf", "\"+/+/\""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct wire_message message = {
            .type = WIRE_TYPE_RECORDED,
            .recorded = {.bytes = cases[i][0], .bytes_count = strlen(cases[i][0])}};
        struct out out;
        open_out(&out);
        assert_int_equal(json_field(out.file, &message, "bytes"), 0);
        fclose(out.file);
        assert_string_equal(out.text, cases[i][1]);
        free(out.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_escaped),
        cmocka_unit_test(numbers_read_back_as_they_were),
        cmocka_unit_test(every_message_is_valid_json),
        cmocka_unit_test(the_reader_of_this_test_refuses_what_is_not_json),
        cmocka_unit_test(rows_carry_names_of_calls),
        cmocka_unit_test(bytes_are_base64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
