/* Layouts by formulas: where the point of each rank is in space, in the language of ParaProf's
 * layout files ("Visualizing performance over system topologies", the ParaProf topology-layout
 * paper of the TAU group, section 3). A file holds layouts:
 *
 *     BEGIN VIZ=sphere
 *     rootRanks=sqrt(maxRank)
 *     theta=2*pi()/rootRanks*mod(rank,rootRanks)
 *     ...
 *     x=..., y=..., z=...
 *     END VIZ
 *
 * Each statement gives a name the value of an expression, once for every rank; later statements may
 * use it. x, y and z are required; color (or colour) and restrictDim are optional, other names are
 * helpers. Statements end at the end of a line or at a comma outside of parentheses; a line that
 * does not begin with NAME= continues the line before it. Blanks mean nothing, the signs U+2217 and
 * U+2212 are * and -, and # begins a comment. BEGIN_VIZ and END_VIZ are the same words.
 *
 * Expressions are those of muParser, with the functions pi(), mod(), floor(), ceil(), round() and
 * pow() of ParaProf's parser.
 *
 * Pure: no clock, no file, no socket, no thread. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_FORMULAS_FORMULAS_H
#define HOLTER_DAEMON_ANALYSIS_FORMULAS_FORMULAS_H

#include <stddef.h>
#include <stdint.h>

#define FORMULAS_LAYOUTS 64u           /**< maximum number of layouts in a file */
#define FORMULAS_STATEMENTS 64u        /**< of statements in a layout */
#define FORMULAS_EXPRESSION 4096u      /**< of characters in an expression, blanks not counted */
#define FORMULAS_NAME 63u              /**< of characters in a name */
#define FORMULAS_FILE_BYTES (1u << 20) /**< of bytes in a file */

/** An error in a file; lines and columns (bytes) count from 1. */
struct formula_fault {
    unsigned line, column;
    char text[160];
};

struct formulas;

/** Reads a file.
 *  @param text   need not be terminated; copied
 *  @param fault  filled on failure
 *  @return 0, -HOLTER_EMALFORMED, -HOLTER_ELIMIT (both with a fault) or -ENOMEM */
int formulas_parse(struct formulas **out, const char *text, size_t length,
                   struct formula_fault *fault);

/** NULL is fine. */
void formulas_destroy(struct formulas *formulas);

/** Number of layouts, at least 1. */
uint32_t formulas_count(const struct formulas *formulas);

/** Name of a layout. */
const char *formulas_name(const struct formulas *formulas, uint32_t layout);

/** 1 if an expression of the layout uses the name and no statement before it defines it. */
int formulas_uses(const struct formulas *formulas, uint32_t layout, const char *name);

/** A variable that expressions may use. */
struct formula_input {
    const char *name;     /**< letters, digits, _ and . */
    const double *values; /**< one for each rank */
};

enum formula_axis { FORMULA_X, FORMULA_Y, FORMULA_Z, FORMULA_COLOR, FORMULA_AXES };

/** The points of a layout. */
struct formula_points {
    uint32_t count;             /**< ranks */
    double *axes[FORMULA_AXES]; /**< owned, one value for each rank; the color is NULL if the
                                     layout has none */
    uint8_t restrict_dim;       /**< 1: each axis is to be scaled to the same length */
    uint32_t not_finite;        /**< ranks with a value of x, y, z or color that is not finite */
    struct formula_fault
        not_finite_at; /**< the statement that gives the first of them that value */
};

/** What a layout is evaluated with; all is borrowed. rank and maxRank (the number of ranks) are
 * always defined. */
struct formula_inputs {
    const struct formula_input *list; /**< further variables; a statement of the layout may give
                                           their names other values */
    size_t count;
    uint32_t ranks; /**< at least 1 */
};

/** Evaluates a layout for all ranks at once.
 *  @param out     set on success, to be freed with formula_points_finish()
 *  @param fault   filled on failure: an unknown name, or a syntax error
 *  @return 0, -HOLTER_EMALFORMED with a fault, or -ENOMEM */
int formulas_evaluate(const struct formulas *formulas, uint32_t layout,
                      const struct formula_inputs *inputs, struct formula_points *out,
                      struct formula_fault *fault);

void formula_points_finish(struct formula_points *points);

/** Number in the name of a host: the last digits before its first dot, "nid00123.cluster" is 123.
 *  @return the number; -1: there is none */
double formulas_host_number(const char *host);

/** The layouts that are built in, as the text of a file. */
extern const char formulas_builtin[];

#endif
