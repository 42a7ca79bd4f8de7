/* Parses lists of ranks. */
#include "proto/rank_spans.h"

#include "holter/error.h"
#include "holter/plain_text.h"

#define MAX_RANK (UINT64_MAX / 2)

int rank_spans_next(const char **at, uint64_t *first, uint64_t *last)
{
    uint64_t from = 0, to;
    if (**at == '\0' || strcmp(*at, "...") == 0)
        return 0;
    const char *end = text_number(*at, MAX_RANK, &from);
    to = from;
    if (end != NULL && *end == '-')
        end = text_number(end + 1, MAX_RANK, &to);
    if (end == NULL || to < from || (*end != '\0' && (*end != ',' || end[1] == '\0')))
        return -HOLTER_EUSAGE;
    *at = *end == ',' ? end + 1 : end;
    *first = from;
    *last = to;
    return 1;
}

int rank_spans_check(const char *text, uint64_t world)
{
    uint64_t first, last;
    int code = -HOLTER_EUSAGE, spans = 0;
    while ((code = rank_spans_next(&text, &first, &last)) == 1 && last < world)
        spans++;
    return code == 0 && spans > 0 ? 0 : -HOLTER_EUSAGE;
}

int rank_spans_have(const char *text, uint64_t rank)
{
    uint64_t first, last;
    while (rank_spans_next(&text, &first, &last) == 1) {
        if (rank >= first && rank <= last)
            return 1;
    }
    return 0;
}

const char *rank_spans_noun(const char *text)
{
    return strpbrk(text, ",-") != NULL ? "ranks" : "rank";
}
