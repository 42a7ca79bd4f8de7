#include "proto/command_option.h"
#include "proto/help_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char text[] = "usage: holter do [OPTION]... A VERY LONG ARGUMENT\n"
                           "Does what is asked for, and\n"
                           "nothing else.\n"
                           "\n"
                           "  -o, --output FILE   write\n"
                           "                      there, where\n"
                           "                      all can read it\n"
                           "      --a-long-option NAME  is explained behind it\n"
                           "  -h, --help          this text\n"
                           "\n"
                           "  holter do what takes forty of columns\n"
                           "  holter do\n";

static void assert_filled(int columns, const char *expected)
{
    char *filled = NULL;
    size_t length;
    FILE *out = open_memstream(&filled, &length);
    assert_non_null(out);
    help_text_fill(out, text, columns);
    fclose(out);
    assert_string_equal(filled, expected);
    free(filled);
}

static void paragraphs_and_descriptions_are_filled(void **state)
{
    (void)state;
    assert_filled(100, "usage: holter do [OPTION]... A VERY LONG ARGUMENT\n"
                       "Does what is asked for, and nothing else.\n"
                       "\n"
                       "  -o, --output FILE   write there, where all can read it\n"
                       "      --a-long-option NAME  is explained behind it\n"
                       "  -h, --help          this text\n"
                       "\n"
                       "  holter do what takes forty of columns\n"
                       "  holter do\n");
    assert_filled(44, "usage: holter do [OPTION]... A VERY LONG\n"
                      "ARGUMENT\n"
                      "Does what is asked for, and nothing else.\n"
                      "\n"
                      "  -o, --output FILE   write there, where all\n"
                      "                      can read it\n"
                      "      --a-long-option NAME  is explained\n"
                      "        behind it\n"
                      "  -h, --help          this text\n"
                      "\n"
                      "  holter do what takes forty of columns\n"
                      "  holter do\n");
}

static const char *nearest(const char *word)
{
    struct near_word near = {.word = word};
    near_word_try(&near, "record");
    near_word_try(&near, "report");
    near_word_try(&near, "run");
    near_word_try(&near, "top");
    return near.best;
}

static void the_nearest_word_is_found_and_no_far_one(void **state)
{
    (void)state;
    assert_string_equal(nearest("recodr"), "record");
    assert_string_equal(nearest("repotr"), "report");
    assert_string_equal(nearest("rnu"), "run");
    assert_string_equal(nearest("records"), "record");
    assert_string_equal(nearest("tp"), "top");
    assert_null(nearest("x"));
    assert_null(nearest("nonsense"));
    assert_null(nearest("a-word-that-is-longer-than-any-other-one-of-this-table"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paragraphs_and_descriptions_are_filled),
        cmocka_unit_test(the_nearest_word_is_found_and_no_far_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
