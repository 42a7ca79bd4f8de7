/* Reads layout files: lines, blocks and statements. */
#include "daemon/analysis/formulas/formulas_parts.h"

#include "holter/error.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int formulas_fail(struct formula_fault *fault, struct formula_place place, const char *format, ...)
{
    va_list arguments;
    fault->line = place.line;
    fault->column = place.column;
    va_start(arguments, format);
    vsnprintf(fault->text, sizeof fault->text, format, arguments);
    va_end(arguments);
    return -HOLTER_EMALFORMED;
}

/* A line without blanks and comments. */
struct line {
    char *text; /* terminated; capacity of the longest line */
    struct formula_place *places;
    size_t length;
};

/* A file that is being read. */
struct reader {
    struct formulas *formulas;
    struct formula_layout *layout; /* the open block; NULL: outside of blocks */
    struct formula_fault *fault;
    const char *text;
    size_t length, at;
    unsigned number; /* of the line that `line` holds */
    struct line line;
};

static void reader_add(struct line *line, char c, unsigned number, size_t column)
{
    line->text[line->length] = c;
    line->places[line->length++] = (struct formula_place){number, (unsigned)column + 1};
}

/* Reads the next line. @return 1; 0: there is none; or a negative error */
static int reader_next(struct reader *r)
{
    struct line *line = &r->line;
    if (r->at >= r->length)
        return 0;
    const char *from = r->text + r->at, *end = memchr(from, '\n', r->length - r->at);
    size_t length = end ? (size_t)(end - from) : r->length - r->at;
    r->at += length + 1;
    r->number++;
    line->length = 0;
    for (size_t i = 0; i < length && from[i] != '#'; i++) {
        unsigned char c = (unsigned char)from[i];
        if (i + 2 < length && memcmp(from + i, "\xe2\x88\x97", 3) == 0) {
            reader_add(line, '*', r->number, i);
            i += 2;
        } else if (i + 2 < length && memcmp(from + i, "\xe2\x88\x92", 3) == 0) {
            reader_add(line, '-', r->number, i);
            i += 2;
        } else if (c > ' ' && c < 127) {
            reader_add(line, (char)c, r->number, i);
        } else if (c != ' ' && c != '\t' && c != '\r') {
            return formulas_fail(r->fault, (struct formula_place){r->number, (unsigned)i + 1},
                                 "the byte 0x%02x is not part of any expression", c);
        }
    }
    line->text[line->length] = '\0';
    return 1;
}

/* ---- statements ---- */

static int is_name_start(char c)
{
    return isalpha((unsigned char)c) || c == '_';
}

static int is_name(char c)
{
    return is_name_start(c) || isdigit((unsigned char)c) || c == '.';
}

/* Length of the name of a statement that begins here; 0: none does. */
static size_t statement_name(const char *text)
{
    size_t n = 0;
    if (!is_name_start(text[0]))
        return 0;
    while (is_name(text[n]))
        n++;
    return text[n] == '=' && text[n + 1] != '=' ? n : 0;
}

static int statement_open(struct reader *r, size_t at, size_t name)
{
    struct formula_layout *layout = r->layout;
    struct formula_place place = r->line.places[at];
    if (layout->count == FORMULAS_STATEMENTS)
        return formulas_fail(r->fault, place, "more than %u statements", FORMULAS_STATEMENTS);
    if (name > FORMULAS_NAME)
        return formulas_fail(r->fault, place, "a name of more than %u characters", FORMULAS_NAME);
    struct formula_statement *s = &layout->statements[layout->count];
    *s = (struct formula_statement){.place = place};
    memcpy(s->name, r->line.text + at, name);
    s->expression = malloc(FORMULAS_EXPRESSION + 1);
    s->places = malloc((FORMULAS_EXPRESSION + 1) * sizeof *s->places);
    layout->count++;
    if (!s->expression || !s->places)
        return -ENOMEM;
    s->expression[0] = '\0';
    return 0;
}

/* Depth of the parentheses that are open at the end of the last statement. */
static int statement_depth(const struct formula_layout *layout)
{
    int depth = 0;
    if (!layout->count)
        return 0;
    for (const char *c = layout->statements[layout->count - 1].expression; *c; c++)
        depth += (*c == '(') - (*c == ')');
    return depth;
}

static int statement_add(struct reader *r, size_t at)
{
    char c = r->line.text[at];
    struct formula_place place = r->line.places[at];
    struct formula_statement *s = &r->layout->statements[r->layout->count - 1];
    if (!is_name(c) && !strchr("+-*/^(),<>=!&|?:", c))
        return formulas_fail(r->fault, place, "the character %c is not part of any expression", c);
    if (c == '=') {
        char before = s->length ? s->expression[s->length - 1] : ' ';
        char after = r->line.text[at + 1];
        if (!strchr("<>=!", before) && after != '=')
            return formulas_fail(r->fault, place, "= in an expression");
    }
    if (s->length == FORMULAS_EXPRESSION)
        return formulas_fail(r->fault, place, "an expression of more than %u characters",
                             FORMULAS_EXPRESSION);
    s->expression[s->length] = c;
    s->places[s->length++] = place;
    s->expression[s->length] = '\0';
    return 0;
}

/* Takes a line of a block: the end of a statement, or one or more of them. */
static int statement_line(struct reader *r)
{
    const struct line *line = &r->line;
    size_t name = statement_name(line->text), at = 0;
    int error = 0, depth;
    if (!name && !r->layout->count)
        return formulas_fail(r->fault, line->places[0], "expected NAME=EXPRESSION");
    if (name)
        error = statement_open(r, 0, name);
    at = name ? name + 1 : 0;
    depth = name ? 0 : statement_depth(r->layout);
    for (; !error && at < line->length; at++) {
        char c = line->text[at];
        if (c == ',' && depth <= 0) {
            name = statement_name(line->text + at + 1);
            if (!name)
                return formulas_fail(r->fault, line->places[at],
                                     "expected NAME=EXPRESSION after the comma");
            error = statement_open(r, at + 1, name);
            at += name + 1;
            depth = 0;
            continue;
        }
        depth += (c == '(') - (c == ')');
        error = statement_add(r, at);
    }
    return error;
}

/* ---- blocks ---- */

static int block_open(struct reader *r, size_t word)
{
    struct formulas *f = r->formulas;
    size_t length = r->line.length - word;
    if (r->layout)
        return formulas_fail(r->fault, r->line.places[0], "VIZ=%s has no END VIZ", r->layout->name);
    if (!length || length > FORMULAS_NAME)
        return formulas_fail(r->fault, r->line.places[word - 1],
                             "a layout has a name of 1 to %u characters", FORMULAS_NAME);
    if (f->count == FORMULAS_LAYOUTS)
        return formulas_fail(r->fault, r->line.places[0], "more than %u layouts", FORMULAS_LAYOUTS);
    struct formula_layout *layout = &f->layouts[f->count];
    *layout = (struct formula_layout){.place = r->line.places[0]};
    memcpy(layout->name, r->line.text + word, length);
    layout->statements = calloc(FORMULAS_STATEMENTS, sizeof *layout->statements);
    if (!layout->statements)
        return -ENOMEM;
    f->count++;
    r->layout = layout;
    return 0;
}

static int block_close(struct reader *r)
{
    static const char *const required[] = {"x", "y", "z"};
    const struct formula_layout *layout = r->layout;
    if (!layout)
        return formulas_fail(r->fault, r->line.places[0], "END VIZ without BEGIN VIZ");
    for (uint32_t i = 0; i < layout->count; i++) {
        if (!layout->statements[i].length)
            return formulas_fail(r->fault, layout->statements[i].place, "%s has no expression",
                                 layout->statements[i].name);
    }
    for (int axis = 0; axis < 3; axis++) {
        uint32_t i = 0;
        while (i < layout->count && strcmp(layout->statements[i].name, required[axis]) != 0)
            i++;
        if (i == layout->count)
            return formulas_fail(r->fault, layout->place, "VIZ=%s does not define %s", layout->name,
                                 required[axis]);
    }
    r->layout = NULL;
    return 0;
}

static int read_line(struct reader *r)
{
    static const char *const begins[] = {"BEGINVIZ=", "BEGIN_VIZ="};
    const char *text = r->line.text;
    if (!r->line.length)
        return 0;
    for (int i = 0; i < 2; i++) {
        if (strncmp(text, begins[i], strlen(begins[i])) == 0)
            return block_open(r, strlen(begins[i]));
    }
    if (strcmp(text, "ENDVIZ") == 0 || strcmp(text, "END_VIZ") == 0)
        return block_close(r);
    if (!r->layout)
        return formulas_fail(r->fault, r->line.places[0], "expected BEGIN VIZ=NAME");
    return statement_line(r);
}

static int read_all(struct reader *r)
{
    int error = 0, next = 1;
    while (!error && (next = reader_next(r)) > 0)
        error = read_line(r);
    if (error || next < 0)
        return error ? error : next;
    if (r->layout)
        return formulas_fail(r->fault, r->layout->place, "VIZ=%s has no END VIZ", r->layout->name);
    if (!r->formulas->count)
        return formulas_fail(r->fault, (struct formula_place){1, 1}, "no BEGIN VIZ=NAME");
    return 0;
}

int formulas_parse(struct formulas **out, const char *text, size_t length,
                   struct formula_fault *fault)
{
    if (length > FORMULAS_FILE_BYTES) {
        formulas_fail(fault, (struct formula_place){1, 1}, "a file of more than %u bytes",
                      FORMULAS_FILE_BYTES);
        return -HOLTER_ELIMIT;
    }
    struct reader r = {.fault = fault, .text = text, .length = length};
    r.formulas = calloc(1, sizeof *r.formulas);
    r.line.text = malloc(length + 1);
    r.line.places = malloc((length + 1) * sizeof *r.line.places);
    int error = r.formulas && r.line.text && r.line.places ? 0 : -ENOMEM;
    if (!error) {
        r.formulas->layouts = calloc(FORMULAS_LAYOUTS, sizeof *r.formulas->layouts);
        error = r.formulas->layouts ? read_all(&r) : -ENOMEM;
    }
    free(r.line.text);
    free(r.line.places);
    if (error)
        formulas_destroy(r.formulas);
    else
        *out = r.formulas;
    return error;
}

void formulas_destroy(struct formulas *f)
{
    for (uint32_t i = 0; f && i < f->count; i++) {
        for (uint32_t k = 0; k < f->layouts[i].count; k++) {
            free(f->layouts[i].statements[k].expression);
            free(f->layouts[i].statements[k].places);
        }
        free(f->layouts[i].statements);
    }
    if (f)
        free(f->layouts);
    free(f);
}

uint32_t formulas_count(const struct formulas *f)
{
    return f->count;
}

const char *formulas_name(const struct formulas *f, uint32_t layout)
{
    return f->layouts[layout].name;
}

/* 1 if the expression has this name as a word of its own. */
static int expression_uses(const char *expression, const char *name)
{
    size_t length = strlen(name);
    for (const char *c = expression; (c = strstr(c, name)) != NULL; c++) {
        if ((c == expression || !is_name(c[-1])) && !is_name(c[length]))
            return 1;
    }
    return 0;
}

int formulas_uses(const struct formulas *f, uint32_t layout, const char *name)
{
    const struct formula_layout *l = &f->layouts[layout];
    for (uint32_t i = 0; i < l->count; i++) {
        if (expression_uses(l->statements[i].expression, name))
            return 1;
        if (strcmp(l->statements[i].name, name) == 0)
            return 0;
    }
    return 0;
}

double formulas_host_number(const char *host)
{
    size_t length = strcspn(host, "."), begin, end = length;
    while (end > 0 && !isdigit((unsigned char)host[end - 1]))
        end--;
    begin = end;
    while (begin > 0 && isdigit((unsigned char)host[begin - 1]))
        begin--;
    if (begin == end)
        return -1;
    double number = 0;
    for (size_t i = begin; i < end; i++)
        number = number * 10 + (host[i] - '0');
    return number;
}
