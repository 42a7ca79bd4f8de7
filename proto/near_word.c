/* Distance of two words: insertions, deletions, substitutions and exchanges of neighbours (Damerau,
 * A technique for computer detection and correction of spelling errors, CACM 7(3), 1964, in the
 * form known as optimal string alignment). */
#include "proto/near_word.h"

#include <string.h>

#define LONGEST 40 /* longer words are near to none */

static size_t near_word_minimum(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t near_word_distance(const char *a, const char *b)
{
    size_t rows[3][LONGEST + 1], length = strlen(a), other = strlen(b);
    if (length > LONGEST || other > LONGEST)
        return length + other;
    for (size_t j = 0; j <= other; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= length; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= other; j++) {
            row[j] = near_word_minimum(above[j], row[j - 1]) + 1;
            row[j] = near_word_minimum(row[j], above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = near_word_minimum(row[j], two_above[j - 2] + 1);
        }
    }
    return rows[length % 3][other];
}

void near_word_try(struct near_word *near, const char *candidate)
{
    size_t distance = near_word_distance(near->word, candidate);
    size_t length = strlen(near->word);
    size_t maximum = length < 3 ? 1 : (length + 1) / 3; /* of a word's letters, a third is wrong */
    if (distance > maximum || (near->best != NULL && distance >= near->distance))
        return;
    near->best = candidate;
    near->distance = distance;
}
