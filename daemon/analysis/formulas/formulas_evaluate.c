/* Evaluates the statements of a layout for all ranks, with muParser's evaluation in bulk. */
#include "daemon/analysis/formulas/formulas_parts.h"

#include <errno.h>
#include <math.h>
#include <muParserDLL.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* What MESP, ParaProf's parser, has and muParser has not. */
static double formula_pi(void)
{
    return acos(-1);
}

static double formula_mod(double a, double b)
{
    return fmod(a, b);
}

static double formula_floor(double a)
{
    return floor(a);
}

static double formula_ceil(double a)
{
    return ceil(a);
}

static double formula_round(double a)
{
    return round(a);
}

static double formula_pow(double a, double b)
{
    return pow(a, b);
}

/* A layout that is being evaluated. */
struct evaluation {
    muParserHandle_t parser;
    const struct formula_layout *layout;
    double *values[FORMULAS_STATEMENTS]; /* owned; of each statement */
    double *rank, *max_rank;             /* owned */
    uint32_t ranks;
    struct formula_fault *fault;
};

/* Without it muParser prints errors. */
static void on_parser_error(muParserHandle_t parser)
{
    (void)parser;
}

static int evaluation_check(struct evaluation *e, const struct formula_statement *s)
{
    if (!mupError(e->parser))
        return 0;
    int at = mupGetErrorPos(e->parser);
    uint32_t last = s->length - 1;
    struct formula_place place =
        at < 0 ? s->place : s->places[(uint32_t)at < last ? (uint32_t)at : last];
    mupErrorReset(e->parser);
    const char *token = mupGetErrorToken(e->parser);
    if (mupGetErrorCode(e->parser) == 1) /* ecUNASSIGNABLE_TOKEN */
        return formulas_fail(e->fault, place, "%s: %.60s is not known", s->name, token);
    return formulas_fail(e->fault, place, "%s: %.120s", s->name, mupGetErrorMsg(e->parser));
}

static int evaluation_define(struct evaluation *e, const struct formula_input *inputs,
                             size_t input_count)
{
    mupSetErrorHandler(e->parser, on_parser_error);
    mupDefineNameChars(e->parser, "0123456789_."
                                  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    mupDefineFun0(e->parser, "pi", formula_pi, 1);
    mupDefineFun2(e->parser, "mod", formula_mod, 1);
    mupDefineFun1(e->parser, "floor", formula_floor, 1);
    mupDefineFun1(e->parser, "ceil", formula_ceil, 1);
    mupDefineFun1(e->parser, "round", formula_round, 1);
    mupDefineFun2(e->parser, "pow", formula_pow, 1);
    e->rank = malloc(e->ranks * sizeof *e->rank);
    e->max_rank = malloc(e->ranks * sizeof *e->max_rank);
    if (!e->rank || !e->max_rank)
        return -ENOMEM;
    for (uint32_t i = 0; i < e->ranks; i++) {
        e->rank[i] = i;
        e->max_rank[i] = e->ranks;
    }
    /* muParser reads the values only, though its interface has no const. */
    for (size_t i = 0; i < input_count; i++)
        mupDefineBulkVar(e->parser, inputs[i].name, (double *)(uintptr_t)inputs[i].values);
    mupDefineBulkVar(e->parser, "rank", e->rank);
    mupDefineBulkVar(e->parser, "maxRank", e->max_rank);
    return 0;
}

/* Evaluates a statement, first for one rank: errors are found there, outside of muParser's parallel
 * region, which no exception may leave. */
static int evaluation_statement(struct evaluation *e, uint32_t number)
{
    const struct formula_statement *s = &e->layout->statements[number];
    double *values = malloc(e->ranks * sizeof *values);
    if (!values)
        return -ENOMEM;
    e->values[number] = values;
    mupSetExpr(e->parser, s->expression);
    int error = evaluation_check(e, s);
    if (!error) {
        mupEval(e->parser);
        error = evaluation_check(e, s);
    }
    if (!error) {
        mupEvalBulk(e->parser, values, (int)e->ranks);
        error = evaluation_check(e, s);
    }
    if (!error) {
        mupDefineBulkVar(e->parser, s->name, values);
        error = evaluation_check(e, s);
    }
    return error;
}

static void note_not_finite(const struct evaluation *e, struct formula_points *out,
                            const uint32_t statement[FORMULA_AXES])
{
    static const char *const axes[FORMULA_AXES] = {"x", "y", "z", "the color"};
    for (uint32_t i = 0; i < e->ranks; i++) {
        int axis = 0;
        while (axis < FORMULA_AXES && (!out->axes[axis] || isfinite(out->axes[axis][i])))
            axis++;
        if (axis == FORMULA_AXES)
            continue;
        if (!out->not_finite++)
            formulas_fail(&out->not_finite_at, e->layout->statements[statement[axis]].place,
                          "%s of rank %u is not finite", axes[axis], i);
    }
}

/* Moves the values of the axes into the result. The last statement of a name counts. */
static void evaluation_settle(struct evaluation *e, struct formula_points *out)
{
    static const struct {
        const char *name;
        int axis;
    } names[] = {{"x", FORMULA_X},
                 {"y", FORMULA_Y},
                 {"z", FORMULA_Z},
                 {"color", FORMULA_COLOR},
                 {"colour", FORMULA_COLOR}};
    uint32_t statement[FORMULA_AXES];
    memset(statement, 0xff, sizeof statement);
    *out = (struct formula_points){.count = e->ranks};
    for (uint32_t i = 0; i < e->layout->count; i++) {
        const struct formula_statement *s = &e->layout->statements[i];
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            if (strcmp(names[k].name, s->name) == 0)
                statement[names[k].axis] = i;
        if (strcmp(s->name, "restrictDim") == 0)
            out->restrict_dim = e->values[i][0] != 0;
    }
    for (int axis = 0; axis < FORMULA_AXES; axis++) {
        if (statement[axis] == UINT32_MAX)
            continue;
        out->axes[axis] = e->values[statement[axis]];
        e->values[statement[axis]] = NULL;
    }
    note_not_finite(e, out, statement);
}

int formulas_evaluate(const struct formulas *f, uint32_t layout,
                      const struct formula_inputs *inputs, struct formula_points *out,
                      struct formula_fault *fault)
{
    struct evaluation e = {.layout = &f->layouts[layout], .ranks = inputs->ranks, .fault = fault};
    int threads = omp_get_max_threads();
    omp_set_num_threads(1); /* muParser would start some; for so few values they take longer */
    e.parser = mupCreate(muBASETYPE_FLOAT);
    int error = e.parser ? evaluation_define(&e, inputs->list, inputs->count) : -ENOMEM;
    for (uint32_t i = 0; !error && i < e.layout->count; i++)
        error = evaluation_statement(&e, i);
    if (!error)
        evaluation_settle(&e, out);
    for (uint32_t i = 0; i < e.layout->count; i++)
        free(e.values[i]);
    free(e.rank);
    free(e.max_rank);
    if (e.parser)
        mupRelease(e.parser);
    omp_set_num_threads(threads);
    return error;
}

void formula_points_finish(struct formula_points *points)
{
    for (int axis = 0; axis < FORMULA_AXES; axis++)
        free(points->axes[axis]);
    *points = (struct formula_points){0};
}
