/* Answers the authentication requests of libzmq (ZAP, ZeroMQ RFC 27). */
#include "daemon/server/zap.h"

#include "proto/log.h"
#include "proto/zloop.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#define LOG_TOPIC "zap"
#define ENDPOINT "inproc://zeromq.zap.01"
#define TURN_REQUESTS 64 /* requests answered in one turn of the loop */
#define KEY_BYTES 32u    /* of a CURVE public key */
#define ROLES 3u

/* Frames of a request, RFC 27: version, request id, domain, address, routing id, mechanism,
 * credentials. */
enum { VERSION, REQUEST, DOMAIN, ADDRESS, ROUTING, MECHANISM, KEY, FRAMES };

struct zap {
    void *socket;
    struct zloop *zloop;
    const char *users; /* directory of keys in which users are looked up, borrowed; NULL: there are
                          none */
    struct {
        enum role role;
        uint8_t key[KEY_BYTES];
    } admitted[ROLES];
};

struct zap_frame {
    uint8_t bytes[256];
    size_t length;
};

static int zap_frame_equals(const struct zap_frame *frame, const char *text)
{
    return frame->length == strlen(text) && memcmp(frame->bytes, text, frame->length) == 0;
}

/* @param user  set if the key belongs to a user, else ""
 * @return the role of a public key in a domain; ROLE_NONE: refused */
static enum role zap_role(const struct zap *zap, const char *domain, const uint8_t key[32],
                          char user[CURVE_USER_BYTES])
{
    enum role role = ROLE_NONE;
    user[0] = '\0';
    for (unsigned i = 0; i < ROLES; i++) {
        if (memcmp(zap->admitted[i].key, key, KEY_BYTES) == 0)
            role = zap->admitted[i].role;
    }
    if (role == ROLE_NONE && zap->users != NULL)
        (void)curve_find_user(zap->users, key, &role, user);
    if (role == ROLE_AGENT && strcmp(domain, ZAP_FRONT) != 0)
        return ROLE_NONE;
    return role;
}

/* @return the number of frames; those beyond FRAMES are dropped, longer ones cut (they match
 * nothing known) */
static int zap_receive(void *socket, struct zap_frame frames[FRAMES])
{
    int count = 0, more = 1;
    size_t size = sizeof(more);
    while (more) {
        uint8_t rest[sizeof(frames[0].bytes)];
        uint8_t *into = count < FRAMES ? frames[count].bytes : rest;
        int length = zmq_recv(socket, into, sizeof(rest), ZMQ_DONTWAIT);
        if (length < 0)
            return -1;
        if (count < FRAMES)
            frames[count].length = (size_t)length <= sizeof(rest) ? (size_t)length : 0;
        count++;
        zmq_getsockopt(socket, ZMQ_RCVMORE, &more, &size);
    }
    return count;
}

static void zap_answer(struct zap *zap, const struct zap_frame *request, const char *status,
                       const char *text, const char *user)
{
    zmq_send(zap->socket, "1.0", 3, ZMQ_SNDMORE);
    zmq_send(zap->socket, request->bytes, request->length, ZMQ_SNDMORE);
    zmq_send(zap->socket, status, strlen(status), ZMQ_SNDMORE);
    zmq_send(zap->socket, text, strlen(text), ZMQ_SNDMORE);
    zmq_send(zap->socket, user, strlen(user), ZMQ_SNDMORE);
    zmq_send(zap->socket, "", 0, 0);
}

static void zap_decide(struct zap *zap, struct zap_frame frames[FRAMES], int count)
{
    enum role role = ROLE_NONE;
    char user[CURVE_USER_BYTES], id[ZAP_USER_ID_BYTES];
    if (count == FRAMES && zap_frame_equals(&frames[VERSION], "1.0") &&
        zap_frame_equals(&frames[MECHANISM], "CURVE") && frames[KEY].length == KEY_BYTES) {
        const char *domain = zap_frame_equals(&frames[DOMAIN], ZAP_FRONT) ? ZAP_FRONT : ZAP_STREAM;
        role = zap_role(zap, domain, frames[KEY].bytes, user);
    }
    if (role != ROLE_NONE) {
        snprintf(id, sizeof(id), "%s%s%s", role_name(role), user[0] == '\0' ? "" : ":", user);
        zap_answer(zap, &frames[REQUEST], "200", "", id);
        return;
    }
    size_t length = count > ADDRESS ? frames[ADDRESS].length : 0;
    log_warn("refused a connection from %.*s: unknown key", (int)length,
             (const char *)frames[ADDRESS].bytes);
    zap_answer(zap, &frames[REQUEST], "400", "unknown key", "");
}

static int zap_on_readable(void *user, void *socket)
{
    struct zap *zap = user;
    zloop_sent(zap->zloop);
    for (int i = 0; i < TURN_REQUESTS; i++) {
        struct zap_frame frames[FRAMES] = {{{0}, 0}};
        int count = zap_receive(socket, frames);
        if (count < 0)
            return 0;
        zap_decide(zap, frames, count);
    }
    return 1;
}

static int zap_load_keys(struct zap *zap, const char *key_dir)
{
    static const enum role roles[ROLES] = {ROLE_AGENT, ROLE_VIEWER, ROLE_OPERATOR};
    for (unsigned i = 0; i < ROLES; i++) {
        struct curve_keys keys;
        int code = curve_load(key_dir, roles[i], &keys);
        if (code != 0) {
            log_error("%s/%s.key: cannot be used", key_dir, role_name(roles[i]));
            return code;
        }
        int good = zmq_z85_decode(zap->admitted[i].key, keys.public_key) != NULL;
        curve_wipe(&keys);
        if (!good)
            return -EINVAL;
        zap->admitted[i].role = roles[i];
    }
    return 0;
}

int zap_create(struct zap **out, void *context, uv_loop_t *loop, const char *key_dir, int users)
{
    struct zap *zap = calloc(1, sizeof(*zap));
    if (zap == NULL)
        return -ENOMEM;
    zap->users = users ? key_dir : NULL;
    int code = zap_load_keys(zap, key_dir);
    if (code == 0) {
        zap->socket = zmq_socket(context, ZMQ_REP);
        code = zap->socket == NULL || zmq_bind(zap->socket, ENDPOINT) != 0 ? -zmq_errno() : 0;
    }
    code = code != 0 ? code : zloop_open(&zap->zloop, loop, zap->socket, zap_on_readable, zap);
    if (code != 0) {
        if (zap->socket != NULL)
            zmq_close(zap->socket);
        free(zap);
        return code;
    }
    *out = zap;
    return 0;
}

static void zap_on_closed(void *user)
{
    struct zap *zap = user;
    zmq_close(zap->socket);
    free(zap);
}

void zap_destroy(struct zap *zap)
{
    if (zap != NULL)
        zloop_close(zap->zloop, zap_on_closed);
}

void zap_domain(void *socket, const char *domain)
{
    zmq_setsockopt(socket, ZMQ_ZAP_DOMAIN, domain, strlen(domain));
}

enum role zap_user_role(const char *id, const char **user)
{
    char role[16];
    const char *colon = strchr(id, ':');
    *user = colon == NULL ? "" : colon + 1;
    snprintf(role, sizeof(role), "%.*s", (int)(colon == NULL ? strlen(id) : (size_t)(colon - id)),
             id);
    return role_by_name(role);
}
