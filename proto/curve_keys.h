/* CURVE keys of a session (ZeroMQ RFC 26). A directory, mode 0700, holds "server.key",
 * "agent.key", "viewer.key" and "operator.key", mode 0600: two lines, public and secret key in
 * Z85. A role's file gives its right; the daemon admits the three public keys and knows the role
 * from the key. */
#ifndef HOLTER_PROTO_CURVE_KEYS_H
#define HOLTER_PROTO_CURVE_KEYS_H

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

/** Load a role's keys. A viewer's directory need not hold the other roles' secrets: the server's
 *  public key is then in "server.pub".
 *  @return 0, -EPERM when the file is open to others, -HOLTER_ECORRUPT, or another -errno */
int curve_load(const char *directory, enum role role, struct curve_keys *out);

/** Put keys on a ZeroMQ socket before it connects or binds. @return 0 or -errno */
int curve_apply_client(void *socket, const struct curve_keys *keys);
int curve_apply_server(void *socket, const struct curve_keys *keys);

void curve_wipe(struct curve_keys *keys);

#endif
