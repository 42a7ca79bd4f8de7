/* Layouts by formulas: the listings of the ParaProf topology-layout paper, faults, bounds. */
#include "daemon/analysis/formulas/formulas.h"

#include "holter/error.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PI 3.14159265358979323846

/* As the listings stand in the text of the paper: blanks between letters, and signs that are not
 * those of a keyboard. */
static const char listing_1[] = "BEGIN VIZ=sphere\n"
                                "rootRanks=sq r t (maxRank)\n"
                                "theta=2\xe2\x88\x97pi ( ) /\n"
                                "\n"
                                "rootRanks\xe2\x88\x97mod( rank , rootRanks )\n"
                                "phi=pi ( ) /\n"
                                "\n"
                                "rootRanks \xe2\x88\x97( f l o o r ( rank/ rootRanks ) )\n"
                                "x=cos ( theta )\xe2\x88\x97 s i n ( phi )\xe2\x88\x97"
                                "100\n"
                                "y=s in ( theta )\xe2\x88\x97 s i n ( phi )\xe2\x88\x97"
                                "100\n"
                                "z=cos ( phi )\xe2\x88\x97"
                                "100\n"
                                "END VIZ\n";
static const char listing_2[] = "BEGIN VIZ=4Px16Block\n"
                                "xdim=8,ydim=8,zdim=16\n"
                                "x=mod( rank , xdim)+16\xe2\x88\x97 f l o o r ( rank /1024)\n"
                                "y=mod( f l o o r ( rank/xdim ) , ydim)\n"
                                "z=mod( f l o o r ( rank/xdim/ydim ) , zdim )\n"
                                "END VIZ\n";
static const char listing_3[] = "BEGIN VIZ=Scat t e rTes t\n"
                                "r e s t r i c tD im=1\n"
                                "x=(event0 . val\xe2\x88\x92"
                                "event0 . min)/\n"
                                "\n"
                                "( event0 .max\xe2\x88\x92"
                                "event0 . min)\n"
                                "y=(event1 . val\xe2\x88\x92"
                                "event1 . min)/\n"
                                "\n"
                                "( event1 .max\xe2\x88\x92"
                                "event1 . min)\n"
                                "z=(event2 . val\xe2\x88\x92"
                                "event2 . min)/\n"
                                "\n"
                                "( event2 .max\xe2\x88\x92"
                                "event2 . min)\n"
                                "END VIZ\n";
static const char listing_1_typed[] = "BEGIN VIZ=sphere\r\n"
                                      "rootRanks=sqrt(maxRank)\r\n"
                                      "theta=2*pi()/\r\n  rootRanks*mod(rank, rootRanks)\r\n"
                                      "phi=pi()/\r\n  rootRanks*(floor(rank/rootRanks))\r\n"
                                      "x=cos(theta)*sin(phi)*100\r\n"
                                      "y=sin(theta)*sin(phi)*100\r\n"
                                      "z=cos(phi)*100\r\n"
                                      "END VIZ\r\n";

static struct formulas *parsed(const char *text)
{
    struct formulas *f = NULL;
    struct formula_fault fault = {0};
    int error = formulas_parse(&f, text, strlen(text), &fault);
    if (error)
        fail_msg("%u:%u: %s", fault.line, fault.column, fault.text);
    return f;
}

static struct formula_points evaluated(const struct formulas *f, uint32_t layout,
                                       const struct formula_input *inputs, size_t count,
                                       uint32_t ranks)
{
    struct formula_points points;
    struct formula_fault fault = {0};
    int error = formulas_evaluate(f, layout, &(struct formula_inputs){inputs, count, ranks},
                                  &points, &fault);
    if (error)
        fail_msg("%u:%u: %s", fault.line, fault.column, fault.text);
    return points;
}

static void assert_close(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * (1 + fabs(expected))))
        fail_msg("%.17g is not %.17g", value, expected);
}

/* ---- the paper ---- */

static void assert_sphere(const char *text, uint32_t ranks)
{
    struct formulas *f = parsed(text);
    struct formula_points p = evaluated(f, 0, NULL, 0, ranks);
    assert_string_equal(formulas_name(f, 0), "sphere");
    assert_int_equal(p.count, ranks);
    double root = sqrt((double)ranks);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        double theta = 2 * PI / root * fmod(rank, root), phi = PI / root * floor(rank / root);
        assert_close(p.axes[FORMULA_X][rank], cos(theta) * sin(phi) * 100);
        assert_close(p.axes[FORMULA_Y][rank], sin(theta) * sin(phi) * 100);
        assert_close(p.axes[FORMULA_Z][rank], cos(phi) * 100);
    }
    assert_null(p.axes[FORMULA_COLOR]);
    assert_int_equal(p.restrict_dim, 0);
    assert_int_equal(p.not_finite, 0);
    formula_points_finish(&p);
    formulas_destroy(f);
}

static void listing_1_puts_ranks_on_a_sphere(void **state)
{
    (void)state;
    assert_sphere(listing_1, 16384);
    assert_sphere(listing_1, 1000);
    assert_sphere(listing_1, 1);
    assert_sphere(listing_1_typed, 1000);
}

static void listing_2_gives_each_core_a_block_of_its_own(void **state)
{
    (void)state;
    struct formulas *f = parsed(listing_2);
    struct formula_points p = evaluated(f, 0, NULL, 0, 4096);
    assert_string_equal(formulas_name(f, 0), "4Px16Block");
    for (uint32_t rank = 0; rank < 4096; rank++) {
        assert_close(p.axes[FORMULA_X][rank], rank % 8 + 16 * (rank / 1024));
        /* floor(rank / 8): a double of a rank below 2^53 divided by 8 is exact */
        assert_close(p.axes[FORMULA_Y][rank], rank / 8 % 8);
        assert_close(p.axes[FORMULA_Z][rank], rank / 64 % 16);
    }
    formula_points_finish(&p);
    formulas_destroy(f);
}

/* Metrics of an event: a walk through small primes, so that no axis equals another. */
static void make_event(double *val, double *min, double *max, uint32_t ranks, uint32_t step)
{
    double low = INFINITY, high = -INFINITY;
    for (uint32_t i = 0; i < ranks; i++) {
        val[i] = (i * step) % 251 + 0.5 * step;
        low = fmin(low, val[i]);
        high = fmax(high, val[i]);
    }
    for (uint32_t i = 0; i < ranks; i++) {
        min[i] = low;
        max[i] = high;
    }
}

static void listing_3_scales_three_events_to_a_cube(void **state)
{
    (void)state;
    enum { RANKS = 640 };
    static double values[9][RANKS];
    static const char *const names[9] = {"event0.val", "event0.min", "event0.max",
                                         "event1.val", "event1.min", "event1.max",
                                         "event2.val", "event2.min", "event2.max"};
    struct formula_input inputs[9];
    for (uint32_t e = 0; e < 3; e++)
        make_event(values[3 * e], values[3 * e + 1], values[3 * e + 2], RANKS, 7 + 6 * e);
    for (int i = 0; i < 9; i++)
        inputs[i] = (struct formula_input){names[i], values[i]};
    struct formulas *f = parsed(listing_3);
    struct formula_points p = evaluated(f, 0, inputs, 9, RANKS);
    assert_int_equal(p.restrict_dim, 1);
    assert_true(formulas_uses(f, 0, "event2.max"));
    assert_false(formulas_uses(f, 0, "event3.val"));
    for (int axis = 0; axis < 3; axis++) {
        const double *val = values[3 * axis];
        for (int i = 0; i < RANKS; i++) {
            double min = values[3 * axis + 1][0], max = values[3 * axis + 2][0];
            assert_close(p.axes[axis][i], (val[i] - min) / (max - min));
        }
    }
    formula_points_finish(&p);
    formulas_destroy(f);
}

static void a_file_may_hold_several_layouts_and_comments(void **state)
{
    (void)state;
    struct formulas *f = parsed("# two\n\nBEGIN VIZ=one\nx=1,y=2 # two in a line\nz=3\nEND VIZ\n"
                                "BEGIN_VIZ=two\nx=rank^2,y=rank>1 ? 5 : 6\nz=-rank\n"
                                "colour=x+y\nEND_VIZ");
    assert_int_equal(formulas_count(f), 2);
    assert_string_equal(formulas_name(f, 1), "two");
    struct formula_points p = evaluated(f, 1, NULL, 0, 4);
    for (int i = 0; i < 4; i++) {
        assert_close(p.axes[FORMULA_X][i], i * i);
        assert_close(p.axes[FORMULA_Y][i], i > 1 ? 5 : 6);
        assert_close(p.axes[FORMULA_Z][i], -i);
        assert_close(p.axes[FORMULA_COLOR][i], i * i + (i > 1 ? 5 : 6));
    }
    formula_points_finish(&p);
    formulas_destroy(f);
}

static void a_statement_may_define_the_name_of_an_input_anew(void **state)
{
    (void)state;
    const double node[2] = {7, 8};
    const struct formula_input input = {"node", node};
    struct formulas *f = parsed("BEGIN VIZ=v\nx=node\nnode=node+1\ny=node\nnode=3,z=node\nEND VIZ");
    struct formula_points p = evaluated(f, 0, &input, 1, 2);
    assert_close(p.axes[FORMULA_X][1], 8);
    assert_close(p.axes[FORMULA_Y][1], 9);
    assert_close(p.axes[FORMULA_Z][1], 3);
    formula_points_finish(&p);
    formulas_destroy(f);
}

static void built_in_layouts_have_a_place_for_every_rank(void **state)
{
    (void)state;
    static const char *const names[] = {"sphere", "block", "torus", "scatter", "network"};
    double values[100] = {0};
    const struct formula_input inputs[] = {{"event0.val", values}, {"event1.val", values},
                                           {"event2.val", values}, {"event3.val", values},
                                           {"coord0", values},     {"coord1", values},
                                           {"coord2", values}};
    struct formulas *f = parsed(formulas_builtin);
    assert_int_equal(formulas_count(f), 5);
    for (uint32_t i = 0; i < 5; i++) {
        assert_string_equal(formulas_name(f, i), names[i]);
        for (uint32_t ranks = 1; ranks <= 100; ranks += 1 + ranks / 8) {
            struct formula_points p = evaluated(f, i, inputs, 7, ranks);
            assert_int_equal(p.not_finite, 0);
            formula_points_finish(&p);
        }
    }
    formulas_destroy(f);
}

static void the_built_in_block_is_full_and_gives_no_place_twice(void **state)
{
    (void)state;
    struct formulas *f = parsed(formulas_builtin);
    struct formula_points p = evaluated(f, 1, NULL, 0, 64);
    for (uint32_t rank = 0; rank < 64; rank++) {
        assert_close(p.axes[FORMULA_X][rank], rank % 4);
        assert_close(p.axes[FORMULA_Y][rank], rank / 4 % 4);
        assert_close(p.axes[FORMULA_Z][rank], rank / 16);
    }
    formula_points_finish(&p);
    formulas_destroy(f);
}

/* ---- faults ---- */

static void assert_fault(const char *text, unsigned line, unsigned column, const char *words)
{
    struct formulas *f = NULL;
    struct formula_fault fault = {0};
    struct formula_points p;
    int error = formulas_parse(&f, text, strlen(text), &fault);
    if (!error)
        error = formulas_evaluate(f, 0, &(struct formula_inputs){.ranks = 5}, &p, &fault);
    formulas_destroy(error ? f : NULL);
    assert_int_equal(error, -HOLTER_EMALFORMED);
    if (fault.line != line || fault.column != column || !strstr(fault.text, words))
        fail_msg("%u:%u: %s; expected %u:%u: %s", fault.line, fault.column, fault.text, line,
                 column, words);
}

static void faults_are_reported_with_line_and_column(void **state)
{
    (void)state;
    assert_fault("BEGIN VIZ=v\nx=1\ny=2 * rank + speed\nz=3\nEND VIZ", 3, 14, "speed is not known");
    assert_fault("BEGIN VIZ=v\nx=1\ny=zz\nz=3,zz=4\nEND VIZ", 3, 3, "zz is not known");
    assert_fault("BEGIN VIZ=v\nx=(1\ny=2\nz=3\nEND VIZ", 2, 4, "parenthesis");
    assert_fault("BEGIN VIZ=v\nx=1)\ny=2\nz=3\nEND VIZ", 2, 4, "parenthesis");
    assert_fault("BEGIN VIZ=v\nx=1+\ny=2\nz=3\nEND VIZ", 2, 4, "");
    assert_fault("BEGIN VIZ=v\nx=1 + * 2\ny=2\nz=3\nEND VIZ", 2, 7, "");
    assert_fault("BEGIN VIZ=v\nx=sqrt(1,2)\ny=2\nz=3\nEND VIZ", 2, 11, "parameters");
    assert_fault("BEGIN VIZ=v\nx=1,2\ny=2\nz=3\nEND VIZ", 2, 4, "after the comma");
    assert_fault("BEGIN VIZ=v\nx=\ny=2\nz=3\nEND VIZ", 2, 1, "x has no expression");
    assert_fault("BEGIN VIZ=v\nx=1\nz=3\nEND VIZ", 1, 1, "does not define y");
    assert_fault("\nBEGIN VIZ=v\nx=1\ny=1\nz=3\n", 2, 1, "has no END VIZ");
    assert_fault("BEGIN VIZ=v\nx=1\n BEGIN VIZ=w\n", 3, 2, "has no END VIZ");
    assert_fault("x=1\n", 1, 1, "expected BEGIN VIZ=NAME");
    assert_fault("END VIZ\n", 1, 1, "without BEGIN VIZ");
    assert_fault("BEGIN VIZ= \n", 1, 10, "name");
    assert_fault("BEGIN VIZ=v\n  1+1\n", 2, 3, "expected NAME=EXPRESSION");
    assert_fault("BEGIN VIZ=v\nx=1;2\n", 2, 4, "character ;");
    assert_fault("BEGIN VIZ=v\nx=y=2\n", 2, 4, "= in an expression");
    assert_fault("BEGIN VIZ=v\nx=\"a\"\n", 2, 3, "character \"");
    assert_fault("BEGIN VIZ=v\nx=1\xc3\xa4\n", 2, 4, "0xc3");
    assert_fault("", 1, 1, "no BEGIN VIZ");
}

static void a_value_that_is_not_finite_is_counted_with_its_statement(void **state)
{
    (void)state;
    struct formulas *f = parsed("BEGIN VIZ=v\nx=1\n y=1/(rank-2)\nz=3\nEND VIZ");
    struct formula_points p = evaluated(f, 0, NULL, 0, 5);
    assert_int_equal(p.not_finite, 1);
    assert_int_equal(p.not_finite_at.line, 3);
    assert_int_equal(p.not_finite_at.column, 2);
    assert_string_equal(p.not_finite_at.text, "y of rank 2 is not finite");
    assert_close(p.axes[FORMULA_Y][4], 0.5);
    formula_points_finish(&p);
    formulas_destroy(f);
}

static void what_is_beyond_the_limits_is_rejected(void **state)
{
    (void)state;
    struct formulas *f;
    struct formula_fault fault;
    size_t capacity = 2 * FORMULAS_FILE_BYTES;
    char *text = malloc(capacity);
    size_t n = (size_t)snprintf(text, capacity, "BEGIN VIZ=v\nx=1");
    memset(text + n, '1', FORMULAS_EXPRESSION + 10);
    assert_int_equal(formulas_parse(&f, text, n + FORMULAS_EXPRESSION + 10, &fault),
                     -HOLTER_EMALFORMED);
    assert_int_equal(fault.line, 2);
    n = (size_t)snprintf(text, capacity, "BEGIN VIZ=v\n");
    for (unsigned i = 0; i <= FORMULAS_STATEMENTS; i++)
        n += (size_t)snprintf(text + n, capacity - n, "x=1\n");
    assert_int_equal(formulas_parse(&f, text, n, &fault), -HOLTER_EMALFORMED);
    assert_int_equal(fault.line, FORMULAS_STATEMENTS + 2);
    memset(text, '\n', capacity);
    assert_int_equal(formulas_parse(&f, text, capacity, &fault), -HOLTER_ELIMIT);
    free(text);
}

static void numbers_of_nodes_come_from_host_names(void **state)
{
    (void)state;
    assert_close(formulas_host_number("nid00123"), 123);
    assert_close(formulas_host_number("r7c2n04.cluster9.example"), 4);
    assert_close(formulas_host_number("node12-ib"), 12);
    assert_close(formulas_host_number("login"), -1);
    assert_close(formulas_host_number(""), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(listing_1_puts_ranks_on_a_sphere),
        cmocka_unit_test(listing_2_gives_each_core_a_block_of_its_own),
        cmocka_unit_test(listing_3_scales_three_events_to_a_cube),
        cmocka_unit_test(a_file_may_hold_several_layouts_and_comments),
        cmocka_unit_test(a_statement_may_define_the_name_of_an_input_anew),
        cmocka_unit_test(built_in_layouts_have_a_place_for_every_rank),
        cmocka_unit_test(the_built_in_block_is_full_and_gives_no_place_twice),
        cmocka_unit_test(faults_are_reported_with_line_and_column),
        cmocka_unit_test(a_value_that_is_not_finite_is_counted_with_its_statement),
        cmocka_unit_test(what_is_beyond_the_limits_is_rejected),
        cmocka_unit_test(numbers_of_nodes_come_from_host_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
