/* Questions and answers about the fleet's clock. They go by a connection of their own, on which
 * they do not wait for the messages of agents, and are handed over in threads of their own: what
 * they would wait is uncertainty of the clock. Subjects: holter.CLUSTER.clock.all and .INSTANCE for
 * questions, holter.CLUSTER.clocked.INSTANCE for answers. */
#include "daemon/fleet/fleet_nats_state.h"

#include <inttypes.h>
#include <stdio.h>

static void nats_on_clock_ask(natsConnection *connection, natsSubscription *subscription,
                              natsMsg *message, void *user)
{
    const struct fleet_nats *nats = user;
    const char *reply = natsMsg_GetReply(message);
    (void)connection;
    (void)subscription;
    if (reply != NULL)
        nats->options.on_clock_ask(nats->options.user, natsMsg_GetData(message),
                                   (size_t)natsMsg_GetDataLength(message), reply);
    natsMsg_Destroy(message);
}

static void nats_on_clock_answer(natsConnection *connection, natsSubscription *subscription,
                                 natsMsg *message, void *user)
{
    const struct fleet_nats *nats = user;
    (void)connection;
    (void)subscription;
    /* An empty one is the server's: nobody receives the question. */
    if (natsMsg_GetDataLength(message) > 0)
        nats->options.on_clock_answer(nats->options.user, natsMsg_GetData(message),
                                      (size_t)natsMsg_GetDataLength(message));
    natsMsg_Destroy(message);
}

/* @param instance  0: all daemons */
static void nats_clock_subject(const struct fleet_nats *nats, const char *kind, uint64_t instance,
                               char out[NATS_NAME_BYTES])
{
    char name[17] = "all";
    if (instance != 0)
        snprintf(name, sizeof(name), "%016" PRIx64, instance);
    snprintf(out, NATS_NAME_BYTES, "holter.%s.%s.%s", nats->cluster, kind, name);
}

natsStatus fleet_nats_open_clock(struct fleet_nats *nats)
{
    char all[NATS_NAME_BYTES], own[NATS_NAME_BYTES], answers[NATS_NAME_BYTES];
    int servers;
    nats_clock_subject(nats, "clock", 0, all);
    nats_clock_subject(nats, "clock", nats->options.instance, own);
    nats_clock_subject(nats, "clocked", nats->options.instance, answers);
    const struct {
        const char *subject;
        natsMsgHandler handler;
    } wanted[3] = {
        {all, nats_on_clock_ask}, {own, nats_on_clock_ask}, {answers, nats_on_clock_answer}};
    natsStatus s = fleet_nats_dial(nats, 1, &nats->clock, &servers);
    for (int i = 0; i < 3 && s == NATS_OK; i++)
        s = fleet_nats_listen(nats, nats->clock, wanted[i].subject, wanted[i].handler,
                              &nats->clock_subscriptions[i]);
    return s;
}

void fleet_nats_close_clock(struct fleet_nats *nats)
{
    for (int i = 0; i < 3; i++)
        natsSubscription_Destroy(nats->clock_subscriptions[i]);
    natsConnection_Destroy(nats->clock);
}

void fleet_nats_ask_clock(struct fleet_nats *nats, uint64_t to, const void *bytes, size_t length)
{
    char subject[NATS_NAME_BYTES], reply[NATS_NAME_BYTES];
    nats_clock_subject(nats, "clocked", nats->options.instance, reply);
    nats_clock_subject(nats, "clock", to, subject);
    natsConnection_PublishRequest(nats->clock, subject, reply, bytes, (int)length);
}

void fleet_nats_answer_clock(struct fleet_nats *nats, const char *reply, const void *bytes,
                             size_t length)
{
    natsConnection_Publish(nats->clock, reply, bytes, (int)length);
}
