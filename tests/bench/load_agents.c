/* Agents of the load: each a connection of its own, which speaks the real wire. */
#include "holter/clock.h"
#include "holter/error.h"
#include "tests/bench/load.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

#define OTHER_FILES 32u /* of a process, besides those of its agents */
#define ANSWER_MS 60000 /* until a daemon answers an agent */

/* A message that was sent and may have to be sent again. */
struct sent {
    struct sent *next;
    uint64_t seq, sent_ns;
    size_t length;
    uint8_t bytes[];
};

struct agent {
    void *socket;
    unsigned number, endpoint;  /* endpoint: of load's, to which it is connected */
    struct sent *first, **last; /* not acknowledged, oldest first; kept with several endpoints */
    uint64_t instance, seq, acked, burst_rows;
    struct wire_buffer next; /* the message to send when it is due */
};

void load_die(const char *what)
{
    fprintf(stderr, "daemon_load: %s: %s\n", what, strerror(errno));
    exit(EXIT_FAILURE);
}

/* ---- frames ---------------------------------------------------------------- */

static void encode(struct wire_buffer *buffer, enum wire_type type, const void *message)
{
    int code = wire_encode(buffer, type, message);
    if (code != 0) {
        fprintf(stderr, "daemon_load: %s: %s\n", wire_type_name(type), holter_strerror(code));
        exit(EXIT_FAILURE);
    }
}

/* With several endpoints nothing waits for a daemon that is dead: what is not sent is not
 * acknowledged, and sent again. */
static void send_bytes(const struct load *s, struct agent *agent, const void *bytes, size_t length)
{
    if (zmq_send(agent->socket, bytes, length, s->endpoint_count > 1 ? ZMQ_DONTWAIT : 0) < 0 &&
        errno != EAGAIN)
        load_die("send");
}

static void send_message(const struct load *s, struct wire_buffer *buffer, struct agent *agent,
                         enum wire_type type, const void *message)
{
    encode(buffer, type, message);
    send_bytes(s, agent, buffer->bytes, buffer->length);
}

/* Send the agent's newest numbered message. */
static void send_numbered(const struct load *s, struct agent *agent,
                          const struct wire_buffer *buffer)
{
    if (s->endpoint_count > 1) {
        struct sent *kept = malloc(sizeof(*kept) + buffer->length);
        if (kept == NULL)
            load_die("memory");
        *kept =
            (struct sent){.seq = agent->seq, .sent_ns = clock_mono_ns(), .length = buffer->length};
        memcpy(kept->bytes, buffer->bytes, buffer->length);
        *agent->last = kept;
        agent->last = &kept->next;
    }
    send_bytes(s, agent, buffer->bytes, buffer->length);
}

static void forget_acknowledged(struct agent *agent)
{
    for (struct sent *kept; (kept = agent->first) != NULL && kept->seq <= agent->acked;) {
        agent->first = kept->next;
        if (agent->first == NULL)
            agent->last = &agent->first;
        free(kept);
    }
}

/* Read what has come. @return the last welcome's daemon time, 0 when there was none */
static uint64_t read_answers(struct agent *agent, struct wire_arena *arena)
{
    zmq_msg_t part;
    uint64_t daemon_ns = 0;
    zmq_msg_init(&part);
    while (zmq_msg_recv(&part, agent->socket, ZMQ_DONTWAIT) >= 0) {
        struct wire_message message;
        if (wire_decode(&message, arena, zmq_msg_data(&part), zmq_msg_size(&part), NULL) != 0)
            continue;
        if (message.type == WIRE_TYPE_WELCOME) {
            daemon_ns = message.welcome.daemon_ns;
            if (message.welcome.acked > agent->acked)
                agent->acked = message.welcome.acked;
        } else if (message.type == WIRE_TYPE_ACK && message.ack.seq > agent->acked)
            agent->acked = message.ack.seq;
        else if (message.type == WIRE_TYPE_CRITERIA)
            agent->burst_rows =
                message.criteria.burst_rows == 0 ? LOAD_BURST_ROWS : message.criteria.burst_rows;
        else if (message.type == WIRE_TYPE_REFUSED)
            fprintf(stderr, "daemon_load: refused: %s\n", message.refused.text);
    }
    zmq_msg_close(&part);
    forget_acknowledged(agent);
    return daemon_ns;
}

static void say_hello(const struct load *s, void *context, struct agent *agent,
                      struct wire_buffer *buffer)
{
    char host[32];
    int linger = s->endpoint_count > 1 ? 0 : 5000;
    snprintf(host, sizeof(host), "node%05u", agent->number);
    agent->socket = zmq_socket(context, ZMQ_DEALER);
    if (agent->socket == NULL || zmq_connect(agent->socket, s->endpoints[agent->endpoint]) != 0)
        load_die("connect");
    zmq_setsockopt(agent->socket, ZMQ_LINGER, &linger, sizeof(linger));
    struct wire_hello hello = {.protocol = WIRE_PROTOCOL,
                               .role = "agent",
                               .version = "load",
                               .host = host,
                               .pid = agent->number + 1,
                               .instance = agent->instance};
    send_message(s, buffer, agent, WIRE_TYPE_HELLO, &hello);
}

/* Whether nobody listens there any more: an agent learns that from its connection. */
static int endpoint_is_dead(const char *endpoint)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strncmp(endpoint, "ipc://", 6) != 0)
        return 0;
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", endpoint + 6);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int dead = fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0 &&
               (errno == ECONNREFUSED || errno == ENOENT);
    if (fd >= 0)
        close(fd);
    return dead;
}

static void find_dead(const struct load *s, int dead[LOAD_ENDPOINTS])
{
    for (unsigned i = 0; i < s->endpoint_count; i++)
        dead[i] = s->endpoint_count > 1 && endpoint_is_dead(s->endpoints[i]);
}

/* Go to the next daemon when one's own is dead, or the oldest message waits too long. */
static void redial(const struct load *s, void *context, struct agent *agent,
                   const int dead[LOAD_ENDPOINTS], struct load_tally *tally)
{
    static struct wire_buffer buffer;
    const uint64_t now = clock_mono_ns();
    const char *lost = s->endpoints[agent->endpoint];
    if (!dead[agent->endpoint] &&
        (agent->first == NULL || now - agent->first->sent_ns < LOAD_PATIENCE_NS))
        return;
    zmq_close(agent->socket);
    for (unsigned tries = 0; tries < s->endpoint_count; tries++) {
        agent->endpoint = (agent->endpoint + 1) % s->endpoint_count;
        if (!dead[agent->endpoint] && strcmp(s->endpoints[agent->endpoint], lost) != 0)
            break; /* a daemon may be named twice */
    }
    say_hello(s, context, agent, &buffer);
    for (struct sent *kept = agent->first; kept != NULL; kept = kept->next) {
        kept->sent_ns = now;
        send_bytes(s, agent, kept->bytes, kept->length);
    }
    tally->redials++;
}

static void wait_for_answer(const struct load *s, const struct agent *agent)
{
    zmq_pollitem_t item = {.socket = agent->socket, .events = ZMQ_POLLIN};
    if (zmq_poll(&item, 1, ANSWER_MS) > 0)
        return;
    fprintf(stderr,
            "daemon_load: agent %u has no answer from %s for %d s: does it run, and may it have an "
            "open file for each of its agents (ulimit -n)?\n",
            agent->number, s->endpoints[agent->endpoint], ANSWER_MS / 1000);
    exit(EXIT_FAILURE);
}

/* @return the daemon's time less this machine's monotonic one */
static uint64_t dial(const struct load *s, void *context, struct agent *agent, unsigned number,
                     struct wire_buffer *buffer, struct wire_arena *arena)
{
    char host[32];
    const unsigned others = s->endpoint_count - 1;
    snprintf(host, sizeof(host), "node%05u", number);
    *agent = (struct agent){.number = number,
                            .endpoint = number == 0 || others == 0 ? 0 : 1 + number % others,
                            .instance = number + 1,
                            .burst_rows = s->burst_rows};
    agent->last = &agent->first;
    say_hello(s, context, agent, buffer);
    wait_for_answer(s, agent);
    uint64_t daemon_ns = read_answers(agent, arena), base = daemon_ns - clock_mono_ns();
    struct wire_member_row *members = calloc(s->ranks, sizeof(*members));
    for (unsigned r = 0; r < s->ranks; r++)
        members[r] = (struct wire_member_row){
            .rank = number * s->ranks + r, .pid = 1000 + r, .placement = "0"};
    struct wire_ranks ranks = {.seq = ++agent->seq,
                               .job = LOAD_JOB,
                               .world = s->agents * s->ranks,
                               .app = "halo",
                               .mpi = "none",
                               .host = host,
                               .members = members,
                               .members_count = s->ranks};
    encode(buffer, WIRE_TYPE_RANKS, &ranks);
    send_numbered(s, agent, buffer);
    free(members);
    return base;
}

void load_wait_until(uint64_t base, uint64_t daemon_ns)
{
    uint64_t now = clock_mono_ns() + base;
    if (now >= daemon_ns)
        return;
    struct timespec pause = {(time_t)((daemon_ns - now) / S), (long)((daemon_ns - now) % S)};
    nanosleep(&pause, NULL);
}

/* ---- windows --------------------------------------------------------------- */

/* What an agent reports of a window, as it will be sent. @return messages its ranks sent */
static uint64_t make_window(const struct load *s, struct agent *agent, unsigned number,
                            uint64_t window, int final, struct load_rows *rows)
{
    char host[32];
    struct wire_window message;
    snprintf(host, sizeof(host), "node%05u", number);
    uint64_t sent = load_rows_make(s, number, window, agent->burst_rows, rows, &message);
    struct wire_node_row node = {.host = host,
                                 .agent_pid = number + 1,
                                 .connected = 1,
                                 .ranks = s->ranks,
                                 .events = 1000 * window,
                                 .cpu_ns = 10 * MS,
                                 .rss_bytes = 8 << 20,
                                 .clock_error_ns = 20000,
                                 .call_cost_ns = 30};
    message.seq = ++agent->seq;
    message.host = host;
    message.flags = final ? WINDOW_FINAL : 0;
    message.clock_error_ns = 5000;
    message.node = &node;
    message.node_count = 1;
    encode(&agent->next, WIRE_TYPE_WINDOW, &message);
    return sent;
}

/* One window of the agents from first to last. Messages are made before they are due, so that
 * making them does not delay sending them. */
static void report(const struct load *s, void *context, struct agent *agents, unsigned first,
                   unsigned count, uint64_t window, int final, uint64_t base,
                   struct load_rows *rows, struct load_tally *tally)
{
    static struct wire_arena arena;
    int dead[LOAD_ENDPOINTS];
    uint64_t end = (window + 1) * s->window_ns;
    for (unsigned i = 0; i < count; i++)
        tally->sent += make_window(s, &agents[i], first + i, window, final, rows);
    load_wait_until(base, end);
    find_dead(s, dead);
    for (unsigned i = 0; i < count; i++) {
        uint64_t due = end + s->spread_ns * i / count;
        load_wait_until(base, due);
        tally->late_sends += clock_mono_ns() + base > due + 50 * MS;
        send_numbered(s, &agents[i], &agents[i].next);
        tally->messages++;
        tally->bytes += agents[i].next.length;
        read_answers(&agents[i], &arena);
        redial(s, context, &agents[i], dead, tally);
    }
}

/* Wait until all is acknowledged, for two minutes at most. @return how many agents are not */
static uint64_t drain(const struct load *s, void *context, struct agent *agents, unsigned count,
                      struct wire_arena *arena, struct load_tally *tally)
{
    int dead[LOAD_ENDPOINTS];
    uint64_t unacked = count;
    for (unsigned tries = 0; unacked > 0 && tries < 2400; tries++) {
        if (tries > 0)
            usleep(50000);
        unacked = 0;
        find_dead(s, dead);
        for (unsigned i = 0; i < count; i++) {
            read_answers(&agents[i], arena);
            redial(s, context, &agents[i], dead, tally);
            unacked += agents[i].acked < agents[i].seq;
        }
    }
    return unacked;
}

/* Each agent has a connection and a file by which its socket wakes up. What exceeds the limit would
 * not be connected, without a word. */
static void check_files(unsigned agents)
{
    struct rlimit files;
    const unsigned long needed = 2ul * agents + OTHER_FILES;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || needed <= files.rlim_cur)
        return;
    fprintf(stderr,
            "daemon_load: %u agents of a process need %lu open files, and its limit is %lu "
            "(ulimit -n): raise it, or have more --workers\n",
            agents, needed, (unsigned long)files.rlim_cur);
    exit(EXIT_FAILURE);
}

void load_work(const struct load *s, unsigned worker, int ready, int go, int done)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    unsigned first = s->agents * worker / s->workers, last = s->agents * (worker + 1) / s->workers;
    unsigned count = last - first;
    check_files(count);
    struct agent *agents = calloc(count, sizeof(*agents));
    struct load_rows *rows = load_rows_create(s);
    struct load_tally tally = {0};
    struct wire_buffer buffer = {0};
    struct wire_arena arena = {0};
    void *context = zmq_ctx_new();
    zmq_ctx_set(context, ZMQ_MAX_SOCKETS, 3 * (int)count + 16); /* some are closing */
    uint64_t base = 0, begin;
    for (unsigned i = 0; i < count; i++)
        base = dial(s, context, &agents[i], first + i, &buffer, &arena);
    if (write(ready, &base, sizeof(base)) != sizeof(base) ||
        read(go, &begin, sizeof(begin)) != sizeof(begin))
        load_die("pipe");
    for (unsigned w = 0, final = 0; !final; w++) {
        final = w + 1 == s->windows || (s->until != NULL && access(s->until, F_OK) == 0);
        report(s, context, agents, first, count, begin + w, (int) final, base, rows, &tally);
    }
    tally.unacked = drain(s, context, agents, count, &arena, &tally);
    for (unsigned i = 0; i < count; i++) {
        struct wire_bye bye = {.seq = agents[i].seq};
        int linger = 5000;
        zmq_setsockopt(agents[i].socket, ZMQ_LINGER, &linger, sizeof(linger));
        send_message(s, &buffer, &agents[i], WIRE_TYPE_BYE, &bye);
    }
    if (write(done, &tally, sizeof(tally)) != sizeof(tally))
        load_die("pipe");
    for (unsigned i = 0; i < count; i++)
        zmq_close(agents[i].socket);
    zmq_ctx_term(context);
    exit(EXIT_SUCCESS);
}
