/* CURVE keys of a session (ZeroMQ RFC 26). A directory, mode 0700, holds "server.key",
 * "agent.key", "viewer.key" and "operator.key", mode 0600: two lines, public and secret key in
 * Z85. A role's file gives its right; the daemon admits the three public keys and knows the role
 * from the key. */
#ifndef HOLTER_PROTO_CURVE_KEYS_H
#define HOLTER_PROTO_CURVE_KEYS_H

#include <stdint.h>

#define CURVE_USER_BYTES 65 /**< room for the name of a user */

enum role { ROLE_NONE, ROLE_AGENT, ROLE_VIEWER, ROLE_OPERATOR, ROLE_SERVER };

struct curve_keys {
    char public_key[41];
    char secret_key[41]; /**< wipe with curve_wipe() after use */
    char server_key[41]; /**< public key of the server; clients need it */
};

/** "agent", "viewer", "operator", "server". */
const char *role_name(enum role role);
enum role role_by_name(const char *name);

/** Make all keys in a directory that is made for them, unless they are there already.
 *  @return 0, -EEXIST when the directory holds some but not all keys, or another -errno */
int curve_make(const char *directory);

/** Copy the keys of a role and the public key of the server, for somebody who has that role alone.
 *  @param to  a directory that is made
 *  @return 0, as curve_load(), or another -errno: then there is no such directory */
int curve_copy(const char *directory, enum role role, const char *to);

/** Make keys of an agent and of a viewer that belong to one user. For each public key a file in
 * "users" of the daemon's directory admits it: its name is the key in hexadecimal digits, its line
 * is "ROLE USER". With the keys of the first user a "metrics.token" is made in that directory:
 * from then on metrics, which are those of all users, are answered only to who sends the token.
 *  @param to  a directory that is made
 *  @return 0, -HOLTER_EUSAGE if it is no name, as curve_load(), or another -errno: then there is no
 *          such directory */
int curve_make_user(const char *directory, const char *user, const char *to);

/** Has curve_make_user() made keys for anybody? */
int curve_has_users(const char *directory);

/** Find out whose a public key is. @return 0, or a negative error: it is no user's */
int curve_find_user(const char *directory, const uint8_t public_key[32], enum role *role,
                    char user[CURVE_USER_BYTES]);

/** Read "metrics.token". @return 0 or a negative error */
int curve_load_token(const char *directory, char out[41]);

/** Load a role's keys. A viewer's directory need not hold the other roles' secrets: the server's
 *  public key is then in "server.pub".
 *  @return 0, -HOLTER_EEXPOSED when a file or the directory is another user's or open to others,
 *          -HOLTER_ECORRUPT, or another -errno */
int curve_load(const char *directory, enum role role, struct curve_keys *out);

/** Put keys on a ZeroMQ socket before it connects or binds. @return 0 or -errno */
int curve_apply_client(void *socket, const struct curve_keys *keys);
int curve_apply_server(void *socket, const struct curve_keys *keys);

void curve_wipe(struct curve_keys *keys);

#endif
