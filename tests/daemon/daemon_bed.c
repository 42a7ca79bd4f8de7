/* A daemon as a process, and peers of it. */
#include "tests/daemon/daemon_bed.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

#include <cmocka.h>

#define MOST_WORDS 32

/* ---- the daemon ---------------------------------------------------------- */

int daemon_bed_make(struct daemon_bed *bed)
{
    assert_int_equal(directory_make(bed->directory), 0);
    snprintf(bed->endpoint, sizeof(bed->endpoint), "ipc://%s/d", bed->directory);
    snprintf(bed->stream, sizeof(bed->stream), "%s.stream", bed->endpoint);
    snprintf(bed->records, sizeof(bed->records), "%s/records", bed->directory);
    bed->context = zmq_ctx_new();
    zmq_ctx_set(bed->context, ZMQ_MAX_SOCKETS, 4096);
    return 0;
}

int daemon_bed_remove(struct daemon_bed *bed)
{
    if (bed->peers == 0) /* else the test failed, and this would wait for them */
        zmq_ctx_term(bed->context);
    bed->peers = 0;
    return directory_remove(bed->directory);
}

pid_t daemon_bed_start(const struct daemon_bed *bed, const char *const *options)
{
    const char *words[MOST_WORDS] = {bed->holterd, "--listen", bed->endpoint};
    for (size_t i = 0; options[i] != NULL; i++) {
        assert_true(3 + i + 1 < MOST_WORDS);
        words[3 + i] = options[i];
    }
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    unsetenv("HOLTER_KEYS");
    unsetenv("HOLTER_RULES");
    unsetenv("HOLTER_SESSION");
    unsetenv("HOLTER_TOPOLOGY");
    if (bed->topology != NULL)
        setenv("HOLTER_TOPOLOGY", bed->topology, 1);
    if (getenv("HOLTER_TEST_LOG") == NULL)
        dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
    execv(bed->holterd, (char *const *)(void *)words);
    _exit(127);
}

int daemon_bed_status(pid_t pid)
{
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void daemon_bed_stop(pid_t pid)
{
    kill(pid, SIGTERM);
    assert_int_equal(daemon_bed_status(pid), 0);
}

/* ---- peers --------------------------------------------------------------- */

void peer_dial(struct daemon_bed *bed, struct peer *p, const char *keys, enum role role)
{
    int patience = DAEMON_BED_PATIENCE_MS, none = 0;
    *p = (struct peer){.bed = bed, .socket = zmq_socket(bed->context, ZMQ_DEALER)};
    bed->peers++;
    zmq_setsockopt(p->socket, ZMQ_RCVTIMEO, &patience, sizeof(patience));
    zmq_setsockopt(p->socket, ZMQ_LINGER, &none, sizeof(none));
    if (keys != NULL) {
        struct curve_keys k;
        assert_int_equal(curve_load(keys, role, &k), 0);
        assert_int_equal(curve_apply_client(p->socket, &k), 0);
    }
    assert_int_equal(zmq_connect(p->socket, bed->endpoint), 0);
}

void peer_hang_up(struct peer *p)
{
    zmq_close(p->socket);
    p->bed->peers--;
    wire_arena_finish(&p->arena);
    wire_buffer_finish(&p->buffer);
}

void peer_send(struct peer *p, enum wire_type type, const void *message)
{
    assert_int_equal(wire_encode(&p->buffer, type, message), 0);
    assert_true(zmq_send(p->socket, p->buffer.bytes, p->buffer.length, 0) >= 0);
}

const struct wire_message *peer_receive(struct peer *p)
{
    zmq_msg_t part;
    zmq_msg_init(&part);
    if (zmq_msg_recv(&part, p->socket, 0) < 0)
        fail_msg("no answer: %s", zmq_strerror(zmq_errno()));
    const uint8_t *bytes = zmq_msg_data(&part);
    for (size_t i = 0; i < zmq_msg_size(&part); i++)
        p->hash = (p->hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    assert_int_equal(wire_decode(&p->message, &p->arena, bytes, zmq_msg_size(&part), NULL), 0);
    zmq_msg_close(&part);
    return &p->message;
}

const struct wire_message *peer_await(struct peer *p, enum wire_type type)
{
    do
        peer_receive(p);
    while (p->message.type != type);
    return &p->message;
}

const struct wire_reply *peer_reply(struct peer *p)
{
    return &peer_await(p, WIRE_TYPE_REPLY)->reply;
}

const struct wire_message *peer_greet(struct peer *p, const char *role, uint64_t instance)
{
    struct wire_hello hello = {.protocol = WIRE_PROTOCOL,
                               .role = role,
                               .version = "test",
                               .host = "n0",
                               .pid = 1,
                               .instance = instance};
    peer_send(p, WIRE_TYPE_HELLO, &hello);
    return peer_receive(p);
}

void peer_come(struct daemon_bed *bed, struct peer *p, const char *role, uint64_t instance)
{
    peer_dial(bed, p, NULL, ROLE_NONE);
    assert_int_equal(peer_greet(p, role, instance)->type, WIRE_TYPE_WELCOME);
}

void peer_ask(struct peer *p, uint64_t id, const char *op, const char *topic, const char *argument)
{
    struct wire_request request = {
        .id = id, .op = op, .job = "job.0", .topic = topic, .argument = argument};
    peer_send(p, WIRE_TYPE_REQUEST, &request);
}
