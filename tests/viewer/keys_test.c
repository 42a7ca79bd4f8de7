/* The table of keys: no key has two meanings, and the manual page has the same table. */
#include "viewer/ui/ui_keys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void no_key_has_two_meanings(void **state)
{
    (void)state;
    for (int i = 0; i < KEY_IDS; i++) {
        assert_int_equal(key_lines[i].id, i);
        assert_true(key_lines[i].keys[0] && key_lines[i].words[0] && key_lines[i].shown[0]);
        for (int k = 0; k < 5 && key_lines[i].keys[k]; k++) {
            int which = -1;
            const struct key_line *line = key_find(key_lines[i].keys[k], &which);
            if (line != &key_lines[i] || which != k)
                fail_msg("%s: the key also means: %s", key_lines[i].shown, line->words);
        }
    }
    int which;
    assert_null(key_find('&', &which));
}

/* The table as the manual page has it. */
static void print_table(FILE *out)
{
    for (int i = 0; i < KEY_IDS; i++) {
        const struct key_line *line = &key_lines[i];
        for (const char *c = line->shown; *c; c++) {
            static const char *const signs[][2] = {{"\xe2\x80\xa6", "..."},
                                                   {"\xe2\x86\x90", "left"},
                                                   {"\xe2\x86\x92", "right"},
                                                   {"\xe2\x88\x92", "\\-"}};
            size_t s = 0;
            while (s < 4 && strncmp(c, signs[s][0], 3) != 0)
                s++;
            fputs(s < 4 ? signs[s][1] : "", out);
            if (s < 4)
                c += 2;
            else if (*c == ' ' && c[1] == ' ')
                ;
            else
                fputc(*c, out);
        }
        fprintf(out, "|%s|T{\n%s\nT}\n", line->context, line->words);
    }
}

static void the_manual_page_has_the_same_table(void **state)
{
    (void)state;
    char *table = NULL, *page = NULL;
    size_t bytes = 0, room = 0;
    FILE *out = open_memstream(&table, &bytes);
    print_table(out);
    fclose(out);
    FILE *in = fopen(getenv("HOLTER_MANUAL_PAGE"), "r");
    assert_non_null(in);
    assert_true(getdelim(&page, &room, 0, in) > 0);
    fclose(in);
    if (!strstr(page, table))
        fail_msg("the table of keys in the manual page should be:\n%s", table);
    free(page);
    free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_key_has_two_meanings),
        cmocka_unit_test(the_manual_page_has_the_same_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
