#include "daemon/analysis/matching/message_ranks.h"

#include <string.h>

int message_ranks_begin(struct message_ranks *ranks, uint32_t count)
{
    struct narrow_table *table = &ranks->table;
    ranks->count = 0;
    if (table->carried)
        memset(table->high, 0, (size_t)table->high_room * MESSAGE_FIGURES * sizeof(*table->high));
    narrow_table_begin(table);
    int code = narrow_table_fit(table, MESSAGE_FIGURES, count);
    if (code != 0 || count == 0)
        return code;
    memset(table->low, 0, (size_t)count * MESSAGE_FIGURES * sizeof(*table->low));
    ranks->count = count;
    return 0;
}

void message_ranks_finish(struct message_ranks *ranks)
{
    narrow_table_finish(&ranks->table);
    ranks->count = 0;
}
