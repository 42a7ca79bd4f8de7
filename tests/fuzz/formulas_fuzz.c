/* Reads any text as a file of layouts and evaluates those that are valid. */
#include "daemon/analysis/formulas/formulas.h"
#include "holter/error.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RANKS 5u

static void evaluate(const struct formulas *f, uint32_t layout)
{
    static const double values[RANKS] = {0, 1, -1, 1e300, 0.5};
    static const struct formula_input inputs[] = {{"event0.val", values}, {"node", values}};
    struct formula_points p;
    struct formula_fault fault = {0};
    const struct formula_inputs all = {inputs, 2, RANKS};
    int error = formulas_evaluate(f, layout, &all, &p, &fault);
    FUZZ_HOLDS(error == 0 || error == -HOLTER_EMALFORMED);
    FUZZ_HOLDS((error == 0) == (fault.line == 0));
    if (error)
        return;
    uint32_t not_finite = 0;
    for (uint32_t i = 0; i < RANKS; i++) {
        int finite = 1;
        for (int axis = 0; axis < FORMULA_AXES; axis++)
            finite &= !p.axes[axis] || isfinite(p.axes[axis][i]);
        not_finite += !finite;
    }
    FUZZ_HOLDS(p.count == RANKS && p.axes[FORMULA_Z] && p.not_finite == not_finite);
    formula_points_finish(&p);
}

/* Two of three inputs have what is no letter turned into what expressions are made of. */
static void spell(char *text, size_t size)
{
    static const char alphabet[] = "xyz=rank+-*/^(),012.9e<>!&|?:\n\nmodsinpi";
    for (size_t i = 0; size % 3 && i < size; i++)
        if ((text[i] < ' ' || text[i] > '~') && text[i] != '\n')
            text[i] = alphabet[(unsigned char)text[i] % (sizeof alphabet - 1)];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct formulas *f;
    struct formula_fault fault = {0};
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    spell(text, size);
    int error = formulas_parse(&f, text, size, &fault);
    FUZZ_HOLDS(error == 0 || error == -HOLTER_EMALFORMED || error == -HOLTER_ELIMIT);
    FUZZ_HOLDS((error == 0) == (fault.line == 0));
    for (uint32_t i = 0; !error && i < formulas_count(f); i++)
        evaluate(f, i);
    if (!error)
        formulas_destroy(f);
    free(text);
    return 0;
}

size_t fuzz_seed(unsigned number, uint8_t *out)
{
    static const char *const seeds[] = {
        "BEGIN VIZ=s\nr=sqrt(maxRank)\nt=2*pi()/\nr*mod(rank,r)\nx=cos(t),y=sin(t)\nz=1\nEND VIZ\n",
        "BEGIN VIZ=b\nx=event0.val/max(node,1),y=rank>1?rank:2^3\nz=-rank\ncolor=(x<=y)&&1\n"
        "restrictDim=1\nEND VIZ\nBEGIN_VIZ=c # d\nx=sum(1,2,3e2)\ny=rint(.5)\nz=x==y\nEND_VIZ\n"};
    if (number >= sizeof seeds / sizeof *seeds)
        return SIZE_MAX;
    memcpy(out, seeds[number], strlen(seeds[number]));
    return strlen(seeds[number]);
}
