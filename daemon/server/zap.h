/* Decides which keys may connect: the authentication handler of ZeroMQ RFC 27 (ZAP 1.0), mechanism
 * CURVE (RFC 26).
 *
 * A public key stands for a role. Agents, viewers and operators may use the front; viewers and
 * operators the published stream. The role becomes the "User-Id" of every message of the
 * connection; of the keys of a user, which are looked up at each connection, "ROLE:USER". */
#ifndef HOLTER_DAEMON_SERVER_ZAP_H
#define HOLTER_DAEMON_SERVER_ZAP_H

#include "proto/curve_keys.h"

#include <stdint.h>
#include <uv.h>

#define ZAP_FRONT "front"   /**< ZMQ_ZAP_DOMAIN of the front */
#define ZAP_STREAM "stream" /**< ZMQ_ZAP_DOMAIN of the stream */
#define ZAP_USER_ID_BYTES (16 + CURVE_USER_BYTES)

struct zap;

/** Start to answer; before any socket of the context binds.
 *  @param key_dir  directory of curve_load(), borrowed
 *  @param users    whether keys of users are admitted, too
 *  @return 0, or an error of curve_load(), zmq or libuv */
int zap_create(struct zap **out, void *context, uv_loop_t *loop, const char *key_dir, int users);

/** Parse the "User-Id" of a message. @param user  set to a part of id, "" if the key is no user's
 */
enum role zap_user_role(const char *id, const char **user);

/** Stop; handles close in later turns of the loop. NULL is fine. */
void zap_destroy(struct zap *zap);

/** Set a socket's domain, before it binds; also where there are no keys and nobody answers: with a
 * domain libzmq refuses peers of ZMTP 1 and 2 (RFC 13, 15), and so everything that is no ZeroMQ.
 * Such a peer in its handshake while the socket closes would end the process (libzmq 4.3.4,
 * zmtp_engine.cpp, errno_assert). */
void zap_domain(void *socket, const char *domain);

#endif
