/* Figures of matched messages by rank. */
#include "daemon/analysis/latency/message_ranks.h"

#include "daemon/analysis/tables/array.h"

#include <stdlib.h>
#include <string.h>

int message_ranks_begin(struct message_ranks *ranks, uint32_t count)
{
    ranks->count = 0;
    int code = ARRAY_FIT_ZERO(ranks->figures, ranks->capacity, count);
    if (code != 0 || count == 0)
        return code;
    memset(ranks->figures, 0, count * sizeof(*ranks->figures));
    ranks->count = count;
    return 0;
}

void message_ranks_finish(struct message_ranks *ranks)
{
    free(ranks->figures);
    *ranks = (struct message_ranks){.count = 0};
}

void message_ranks_copy_state(struct state_bytes *b, struct message_ranks *ranks)
{
    STATE_VALUE(b, *ranks);
    STATE_ARRAY(b, ranks->figures, ranks->count, ranks->capacity);
}
