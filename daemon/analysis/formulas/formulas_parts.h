/* What the sources of the room share: a file as it was read. */
#ifndef HOLTER_DAEMON_ANALYSIS_FORMULAS_FORMULAS_PARTS_H
#define HOLTER_DAEMON_ANALYSIS_FORMULAS_FORMULAS_PARTS_H

#include "daemon/analysis/formulas/formulas.h"

/** Where a character stands in the file. */
struct formula_place {
    unsigned line, column;
};

/** NAME=EXPRESSION. */
struct formula_statement {
    char name[FORMULAS_NAME + 1];
    struct formula_place place;
    char *expression;             /**< owned; without blanks, terminated */
    struct formula_place *places; /**< owned; of each of its characters */
    uint32_t length;
};

struct formula_layout {
    char name[FORMULAS_NAME + 1];
    struct formula_place place;
    struct formula_statement *statements; /**< owned, capacity of FORMULAS_STATEMENTS */
    uint32_t count;
};

struct formulas {
    struct formula_layout *layouts; /**< owned, capacity of FORMULAS_LAYOUTS */
    uint32_t count;
};

/** Fills a fault. @return -HOLTER_EMALFORMED */
__attribute__((format(printf, 3, 4))) int
formulas_fail(struct formula_fault *fault, struct formula_place place, const char *format, ...);

#endif
