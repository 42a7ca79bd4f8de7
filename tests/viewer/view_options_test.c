#include "viewer/ui/ui.h"
#include "viewer/view_options.h"

#include "holter/error.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char why[200];

static int parse(struct options *o, const char *line)
{
    static char words[20][64];
    char copy[300], *argv[20] = {words[0]}, *rest = copy, *word;
    int argc = 1;
    strcpy(words[0], "holter-view");
    strcpy(copy, line);
    while ((word = strsep(&rest, " ")) && argc < 19) {
        strcpy(words[argc], word);
        argv[argc] = words[argc];
        argc++;
    }
    argv[argc] = NULL;
    return options_parse(o, *line ? argc : 1, argv, why, sizeof why);
}

static void options_are_read(void **state)
{
    (void)state;
    struct options o;
    assert_int_equal(parse(&o, ""), 0);
    assert_int_equal(o.w, 1600);
    assert_int_equal(o.view, -1);
    assert_null(o.snapshot);
    assert_int_equal(parse(&o, "--connect tcp://127.0.0.1:5000 --job 7.0 --view ranks --size "
                               "1024x640 --scale 2 --theme light "
                               "--snapshot a.png --after 2.5"),
                     0);
    assert_string_equal(o.endpoint, "tcp://127.0.0.1:5000");
    assert_int_equal(o.view, VIEW_RANKS);
    assert_int_equal(o.h, 640);
    assert_true(o.scale == 2 && o.after == 2.5);
    assert_int_equal(o.theme, THEME_LIGHT);
}

static void an_address_sets_view_and_time(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"--at lobby", "no room 'lobby'"},
        {"--at latency/matrix", "no place 'matrix'"},
        {"--at overview?select=cell:3", "names nothing that can be selected"},
        {"--at overview --view ranks", "cannot be combined"},
        {"--at overview --select rank:3", "cannot be combined"},
    };
    struct options o;
    assert_int_equal(parse(&o, "--at latency/alerts/3?from=12.5&to=60&sums=start"), 0);
    assert_int_equal(o.view, VIEW_ALERTS);
    assert_true(o.from == 12.5 && o.to == 60 && o.since_start);
    assert_true(o.address.alert_given && o.address.alert == 3);
    assert_int_equal(parse(&o, "--at network/links?select=link:(0,0)-(0,1)"), 0);
    assert_string_equal(o.address.select, "link:(0,0)-(0,1)");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(parse(&o, wrong[i][0]), -HOLTER_EUSAGE);
        if (!strstr(why, wrong[i][1]))
            fail_msg("%s: '%s'", wrong[i][0], why);
    }
}

static void the_network_has_options(void **state)
{
    (void)state;
    static const char *const wrong[] = {"--suggest maps",
                                        "--suggest mapping:",
                                        "--suggest mapping:speed",
                                        "--suggest routes:hop-bytes",
                                        "--select",
                                        "--select rank",
                                        "--select cell:3",
                                        "--apply --suggest"};
    struct options o;
    assert_int_equal(parse(&o, ""), 0);
    assert_true(!o.suggest && !o.apply && !o.select);
    assert_int_equal(parse(&o, "--suggest mapping:max-link --suggest routes --apply --select "
                               "link:(0,0)-(0,1)"),
                     0);
    assert_int_equal(o.suggest, 1 << SUGGEST_MAPPING | 1 << SUGGEST_ROUTES);
    assert_int_equal(o.objective, REMAP_MAX_LINK);
    assert_true(o.apply);
    assert_string_equal(o.select, "link:(0,0)-(0,1)");
    assert_int_equal(parse(&o, "--suggest mapping"), 0);
    assert_int_equal(o.objective, REMAP_HOP_BYTES);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(parse(&o, wrong[i]), -HOLTER_EUSAGE);
}

static void the_commgram_has_options(void **state)
{
    (void)state;
    struct options o;
    assert_int_equal(parse(&o, ""), 0);
    assert_true(o.phases == 0 && o.communities == 0 && isnan(o.from) && isnan(o.to));
    assert_string_equal(o.ranks, "");
    assert_int_equal(parse(&o, "--view commgram --phases 27 --communities 18 --from 12.5 --to -60 "
                               "--ranks 3,8-11 --no-collectives"),
                     0);
    assert_int_equal(o.view, VIEW_COMMGRAM);
    assert_true(o.phases == 27 && o.communities == 18 && o.from == 12.5 && o.to == -60);
    assert_string_equal(o.ranks, "3,8-11");
    assert_true(o.no_collectives);
}

static void the_landscape_has_a_shape_and_a_layout(void **state)
{
    (void)state;
    struct options o;
    assert_int_equal(parse(&o, "--view landscape"), 0);
    assert_int_equal(o.shape, -1);
    assert_null(o.layout);
    assert_int_equal(parse(&o, "--view landscape --shape histogram --layout a.viz"), 0);
    assert_int_equal(o.view, VIEW_LANDSCAPE);
    assert_int_equal(o.shape, LANDSCAPE_HISTOGRAM);
    assert_string_equal(o.layout, "a.viz");
    assert_int_equal(parse(&o, "--shape 3d"), 0);
    assert_int_equal(o.shape, LANDSCAPE_WALLS);
    assert_int_equal(parse(&o, "--shape layout"), 0);
    assert_int_equal(o.shape, LANDSCAPE_LAYOUT);
    assert_int_equal(parse(&o, "--shape sphere"), -HOLTER_EUSAGE);
}

static void mappings_are_kept_in_their_order(void **state)
{
    (void)state;
    struct options o;
    static char flag[] = "--mapping", file[] = "m", name[] = "holter-view";
    char *argv[2 * OPTIONS_MAPPINGS + 4] = {name};
    assert_int_equal(parse(&o, "--view torus --mapping a.map --mapping b.map"), 0);
    assert_int_equal(o.view, VIEW_TORUS);
    assert_int_equal(o.mapping_count, 2);
    assert_string_equal(o.mappings[0], "a.map");
    assert_string_equal(o.mappings[1], "b.map");
    for (int i = 0; i <= OPTIONS_MAPPINGS; i++) {
        argv[1 + 2 * i] = flag;
        argv[2 + 2 * i] = file;
    }
    assert_int_equal(options_parse(&o, 2 * OPTIONS_MAPPINGS + 1, argv, why, sizeof why), 0);
    assert_int_equal(options_parse(&o, 2 * OPTIONS_MAPPINGS + 3, argv, why, sizeof why),
                     -HOLTER_EUSAGE);
    assert_non_null(strstr(why, "mapping"));
}

static void names_of_two_jobs_may_have_commas(void **state)
{
    struct options o;
    (void)state;
    assert_int_equal(parse(&o, "--names a.hrec,b.hrec"), 0);
    assert_string_equal(o.names[0], "a.hrec");
    assert_string_equal(o.names[1], "b.hrec");
    assert_int_equal(parse(&o, "--names ,1.hrec//x,2.hrec"), 0);
    assert_string_equal(o.names[0], ",1.hrec");
    assert_string_equal(o.names[1], "x,2.hrec");
    assert_int_not_equal(parse(&o, "--names //b"), 0);
    assert_int_not_equal(parse(&o, "--names a//"), 0);
    assert_int_not_equal(parse(&o, "--names a,"), 0);
}

static void what_is_wrong_is_named(void **state)
{
    static const char *const lines[][2] = {
        {"--view nowhere", "nowhere"},
        {"--size 10x10", "10x10"},
        {"--size 1600x900x", "1600x900x"},
        {"--scale 0", "0"},
        {"--scale nan", "nan"},
        {"--theme pink", "pink"},
        {"--after -1", "-1"},
        {"--nonsense", "--nonsense"},
        {"left-over", "left-over"},
        {"--snapshot", "--snapshot"},
        {"--size 99999x99999", "99999"},
        {"--phases 0", "phases"},
        {"--phases 2.5", "2.5"},
        {"--phases 257", "257"},
        {"--communities -3", "-3"},
        {"--from yesterday", "yesterday"},
        {"--to nan", "nan"},
        {"--from 5 --to 3", "--to 3"},
        {"--to -60 --from -12.5", "--from -12.5"},
        {"--ranks 3,", "3,"},
        {"--ranks ,3", ",3"},
        {"--ranks 9-3", "9-3"},
        {"--ranks -3", "-3"},
        {"--ranks 99999999999", "99999999999"},
        {"--ranks 3;4", "3;4"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct options o;
        assert_int_equal(parse(&o, lines[i][0]), -HOLTER_EUSAGE);
        if (!strstr(why, lines[i][1]))
            fail_msg("'%s' says '%s'", lines[i][0], why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_are_read),
        cmocka_unit_test(the_commgram_has_options),
        cmocka_unit_test(an_address_sets_view_and_time),
        cmocka_unit_test(the_network_has_options),
        cmocka_unit_test(the_landscape_has_a_shape_and_a_layout),
        cmocka_unit_test(mappings_are_kept_in_their_order),
        cmocka_unit_test(names_of_two_jobs_may_have_commas),
        cmocka_unit_test(what_is_wrong_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
