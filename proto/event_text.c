/* Records of a ring in words. */
#include "proto/event_text.h"

#include "holter/event.h"
#include "holter/plain_text.h"

const char *event_state_text(uint64_t flags, char out[EVENT_STATE_ROOM])
{
    static const struct {
        uint64_t flag;
        const char *word;
    } words[] = {
        {EVENT_SEND, "send"},
        {EVENT_RECV, "receive"},
        {EVENT_POST, "posted"},
        {EVENT_DONE, "done"},
        {EVENT_CANCELLED, "cancelled"},
        {EVENT_FAILED, "failed"},
        {EVENT_WILDCARD, "any-source"},
        {EVENT_UNTRACKED, "untracked"},
        {EVENT_PERSISTENT, "persistent"},
        {EVENT_INPLACE, "in-place"},
        {EVENT_INTER, "inter"},
        {EVENT_REFUSED, "refused"},
    };
    out[0] = '\0';
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (flags & words[i].flag)
            text_append(out, EVENT_STATE_ROOM, "%s%s", out[0] == '\0' ? "" : " ", words[i].word);
    return out;
}

const char *event_peer_text(int64_t peer)
{
    return peer >= 0           ? NULL
           : peer == PEER_NONE ? ""
           : peer == PEER_NULL ? "MPI_PROC_NULL"
           : peer == PEER_ANY  ? "any"
                               : "unknown";
}
