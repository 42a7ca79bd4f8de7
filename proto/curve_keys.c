/* Makes, loads and applies CURVE keys. */
#include "proto/curve_keys.h"

#include "holter/error.h"
#include "holter/plain_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#define Z85_KEY 40                         /* characters of a 32-byte key (ZeroMQ RFC 32) */
#define KEY_FILE_BYTES (2 * (Z85_KEY + 1)) /* two lines */
#define SERVER_PUBLIC "server.pub"
#define USERS "users"
#define METRICS_TOKEN "metrics.token"
#define USER_FILE_BYTES 96 /* "ROLE USER" and more */

static const enum role roles[] = {ROLE_SERVER, ROLE_AGENT, ROLE_VIEWER, ROLE_OPERATOR};
#define ROLES (sizeof roles / sizeof *roles)

const char *role_name(enum role role)
{
    static const char *const names[] = {"none", "agent", "viewer", "operator", "server"};
    return names[role <= ROLE_SERVER ? role : ROLE_NONE];
}

enum role role_by_name(const char *name)
{
    for (size_t i = 0; i < ROLES; i++) {
        if (strcmp(name, role_name(roles[i])) == 0)
            return roles[i];
    }
    return ROLE_NONE;
}

void curve_wipe(struct curve_keys *keys)
{
    explicit_bzero(keys, sizeof *keys);
}

static void key_file(char out[32], enum role role)
{
    snprintf(out, 32, "%s.key", role_name(role));
}

/* ---- making -------------------------------------------------------------- */

static int curve_keys_write_file(int directory, const char *name, const char *text, size_t length)
{
    int fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return -errno;
    int error = fchmod(fd, 0600) ? -errno : 0; /* independent of the umask */
    while (!error && length > 0) {
        ssize_t written = write(fd, text, length);
        if (written < 0 && errno != EINTR)
            error = -errno;
        if (written > 0) {
            text += written;
            length -= (size_t)written;
        }
    }
    if (close(fd) && !error)
        error = -errno;
    return error;
}

static int write_role(int directory, enum role role, const struct curve_keys *keys)
{
    char name[32], text[KEY_FILE_BYTES + 1];
    int length = snprintf(text, sizeof text, "%s\n%s\n", keys->public_key, keys->secret_key);
    key_file(name, role);
    int error = curve_keys_write_file(directory, name, text, (size_t)length);
    explicit_bzero(text, sizeof text);
    return error;
}

static int write_server_key(int directory, const char *public_key)
{
    char line[Z85_KEY + 2];
    int length = snprintf(line, sizeof line, "%s\n", public_key);
    return curve_keys_write_file(directory, SERVER_PUBLIC, line, (size_t)length);
}

static int make_role(int directory, enum role role)
{
    struct curve_keys keys = {0};
    if (zmq_curve_keypair(keys.public_key, keys.secret_key))
        return -errno;
    int error = write_role(directory, role, &keys);
    if (!error && role == ROLE_SERVER)
        error = write_server_key(directory, keys.public_key);
    curve_wipe(&keys);
    return error;
}

/* Remove a directory of keys that is not finished. */
static void drop_directory(const char *path)
{
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory >= 0) {
        char name[32];
        for (size_t i = 0; i < ROLES; i++) {
            key_file(name, roles[i]);
            unlinkat(directory, name, 0);
        }
        unlinkat(directory, SERVER_PUBLIC, 0);
        close(directory);
    }
    rmdir(path);
}

/* @return how many of the key files are there, or -errno */
static int count_keys(const char *path)
{
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), count = 0;
    if (directory < 0)
        return -errno;
    for (size_t i = 0; i < ROLES; i++) {
        char name[32];
        key_file(name, roles[i]);
        count += faccessat(directory, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    }
    close(directory);
    return count;
}

/* The keys are made in a directory beside, which then takes the name in one step: two makers at
 * a time leave one whole set, and a killed maker leaves no half set under the name. */
int curve_make(const char *path)
{
    int found = count_keys(path);
    if (found == (int)ROLES)
        return 0;
    if (found > 0)
        return -EEXIST;
    if (found < 0 && found != -ENOENT)
        return found;
    char fresh[4096];
    int length = snprintf(fresh, sizeof fresh, "%s.XXXXXX", path);
    if (length < 0 || (size_t)length >= sizeof fresh)
        return -ENAMETOOLONG;
    if (!mkdtemp(fresh)) /* mode 0700 */
        return -errno;
    int directory = open(fresh, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int error = directory < 0 ? -errno : 0;
    for (size_t i = 0; i < ROLES && !error; i++)
        error = make_role(directory, roles[i]);
    if (directory >= 0)
        close(directory);
    if (!error && rename(fresh, path))
        error = -errno;
    if (error)
        drop_directory(fresh);
    /* Another maker was faster, or the directory holds other things. */
    if (error == -ENOTEMPTY || error == -EEXIST)
        return count_keys(path) == (int)ROLES ? 0 : -EEXIST;
    return error;
}

/* ---- loading ------------------------------------------------------------- */

/* Owned by this user, without access for others. */
static int curve_keys_check_private(int fd, mode_t type)
{
    struct stat status;
    if (fstat(fd, &status))
        return -errno;
    if ((status.st_mode & S_IFMT) != type)
        return -HOLTER_ECORRUPT;
    return status.st_uid == geteuid() && !(status.st_mode & (S_IRWXG | S_IRWXO)) ? 0
                                                                                 : -HOLTER_EEXPOSED;
}

/* Read one key, a line of its own. @return 0 or -HOLTER_ECORRUPT */
static int parse_key(const char *line, char out[Z85_KEY + 1])
{
    uint8_t raw[Z85_KEY / 5 * 4];
    memcpy(out, line, Z85_KEY);
    out[Z85_KEY] = '\0';
    int good = line[Z85_KEY] == '\n' && strlen(out) == Z85_KEY && zmq_z85_decode(raw, out);
    explicit_bzero(raw, sizeof raw);
    return good ? 0 : -HOLTER_ECORRUPT;
}

/* Read a whole key file of this many lines. */
static int curve_keys_read_file(int directory, const char *name, char *out, size_t length)
{
    int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    char more;
    int error = curve_keys_check_private(fd, S_IFREG);
    if (!error && (read(fd, out, length) != (ssize_t)length || read(fd, &more, 1) != 0))
        error = -HOLTER_ECORRUPT;
    close(fd);
    return error;
}

static int load_pair(int directory, enum role role, struct curve_keys *keys)
{
    char name[32], text[KEY_FILE_BYTES];
    key_file(name, role);
    int error = curve_keys_read_file(directory, name, text, sizeof text);
    if (!error)
        error = parse_key(text, keys->public_key);
    if (!error)
        error = parse_key(text + Z85_KEY + 1, keys->secret_key);
    explicit_bzero(text, sizeof text);
    char derived[Z85_KEY + 1];
    if (!error &&
        (zmq_curve_public(derived, keys->secret_key) || strcmp(derived, keys->public_key) != 0))
        error = -HOLTER_ECORRUPT;
    return error;
}

int curve_load(const char *path, enum role role, struct curve_keys *out)
{
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return -errno;
    struct curve_keys keys;
    char line[Z85_KEY + 1];
    int error = curve_keys_check_private(directory, S_IFDIR);
    if (!error)
        error = load_pair(directory, role, &keys);
    if (!error)
        error = curve_keys_read_file(directory, SERVER_PUBLIC, line, sizeof line);
    if (!error)
        error = parse_key(line, keys.server_key);
    close(directory);
    if (!error)
        *out = keys;
    curve_wipe(&keys);
    return error;
}

int curve_copy(const char *path, enum role role, const char *to)
{
    struct curve_keys keys;
    int error = curve_load(path, role, &keys);
    if (error)
        return error;
    error = mkdir(to, 0700) ? -errno : 0;
    if (!error) {
        int directory = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        error = directory < 0 ? -errno : write_role(directory, role, &keys);
        if (!error)
            error = write_server_key(directory, keys.server_key);
        if (directory >= 0)
            close(directory);
        if (error)
            drop_directory(to);
    }
    curve_wipe(&keys);
    return error;
}

/* ---- users --------------------------------------------------------------- */

static int curve_user_is_name(const char *user)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.@+-";
    size_t length = strlen(user);
    return length > 0 && length < CURVE_USER_BYTES && strspn(user, allowed) == length;
}

/* The name of a key's file, in "users". */
static void curve_user_file(char out[80], const uint8_t key[32])
{
    text_copy(out, 80, USERS "/");
    for (int i = 0; i < 32; i++)
        text_append(out, 80, "%02x", key[i]);
}

/* Make a pair, write it into the user's directory, and the file for the daemon. */
static int curve_user_make_role(int directory, int to, enum role role, const char *user)
{
    struct curve_keys keys = {0};
    uint8_t raw[32];
    char file[80], line[USER_FILE_BYTES];
    if (zmq_curve_keypair(keys.public_key, keys.secret_key))
        return -errno;
    zmq_z85_decode(raw, keys.public_key);
    curve_user_file(file, raw);
    int length = snprintf(line, sizeof line, "%s %s\n", role_name(role), user);
    int error = write_role(to, role, &keys);
    if (!error)
        error = curve_keys_write_file(directory, file, line, (size_t)length);
    curve_wipe(&keys);
    return error;
}

static int curve_user_prepare(int directory)
{
    uint8_t random[20];
    char token[42];
    if (mkdirat(directory, USERS, 0700) && errno != EEXIST)
        return -errno;
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return -errno;
    for (size_t i = 0; i < sizeof random; i++)
        snprintf(token + 2 * i, 3, "%02x", random[i]);
    token[40] = '\n';
    int error = curve_keys_write_file(directory, METRICS_TOKEN, token, 41);
    explicit_bzero(token, sizeof token);
    return error == -EEXIST ? 0 : error;
}

int curve_make_user(const char *path, const char *user, const char *to)
{
    struct curve_keys keys;
    if (!curve_user_is_name(user))
        return -HOLTER_EUSAGE;
    int error = curve_load(path, ROLE_SERVER, &keys);
    if (error)
        return error;
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    error = directory < 0 ? -errno : curve_user_prepare(directory);
    if (!error)
        error = mkdir(to, 0700) ? -errno : 0;
    if (!error) {
        int made = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        error = made < 0 ? -errno : curve_user_make_role(directory, made, ROLE_AGENT, user);
        error = error ? error : curve_user_make_role(directory, made, ROLE_VIEWER, user);
        error = error ? error : write_server_key(made, keys.server_key);
        if (made >= 0)
            close(made);
        if (error)
            drop_directory(to);
    }
    if (directory >= 0)
        close(directory);
    curve_wipe(&keys);
    return error;
}

int curve_has_users(const char *path)
{
    char users[4096];
    struct stat status;
    int length = snprintf(users, sizeof users, "%s/" USERS, path);
    return length > 0 && (size_t)length < sizeof users && stat(users, &status) == 0 &&
           S_ISDIR(status.st_mode);
}

/* Read a small file of one line, without its end. @return 0 or a negative error */
static int curve_user_read_line(const char *path, const char *name, char *out, size_t size)
{
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return -errno;
    int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    int error = fd < 0 ? -errno : curve_keys_check_private(fd, S_IFREG);
    ssize_t length = error ? 0 : read(fd, out, size - 1);
    if (fd >= 0)
        close(fd);
    close(directory);
    if (error)
        return error;
    if (length < 2 || out[length - 1] != '\n')
        return -HOLTER_ECORRUPT;
    out[length - 1] = '\0';
    return 0;
}

int curve_find_user(const char *path, const uint8_t public_key[32], enum role *role,
                    char user[CURVE_USER_BYTES])
{
    char file[80], line[USER_FILE_BYTES];
    curve_user_file(file, public_key);
    int error = curve_user_read_line(path, file, line, sizeof line);
    if (error)
        return error;
    char *name = strchr(line, ' ');
    if (name == NULL || !curve_user_is_name(name + 1))
        return -HOLTER_ECORRUPT;
    *name = '\0';
    enum role found = role_by_name(line);
    if (found != ROLE_AGENT && found != ROLE_VIEWER)
        return -HOLTER_ECORRUPT;
    *role = found;
    snprintf(user, CURVE_USER_BYTES, "%s", name + 1);
    return 0;
}

int curve_load_token(const char *path, char out[41])
{
    char line[48];
    int error = curve_user_read_line(path, METRICS_TOKEN, line, sizeof line);
    if (!error && strlen(line) != 40)
        error = -HOLTER_ECORRUPT;
    if (!error)
        memcpy(out, line, 41);
    explicit_bzero(line, sizeof line);
    return error;
}

/* ---- sockets ------------------------------------------------------------- */

static int curve_keys_set_option(void *socket, int option, const char *key)
{
    return zmq_setsockopt(socket, option, key, Z85_KEY + 1) ? -errno : 0;
}

int curve_apply_client(void *socket, const struct curve_keys *keys)
{
    int error = curve_keys_set_option(socket, ZMQ_CURVE_SERVERKEY, keys->server_key);
    if (!error)
        error = curve_keys_set_option(socket, ZMQ_CURVE_PUBLICKEY, keys->public_key);
    return error ? error : curve_keys_set_option(socket, ZMQ_CURVE_SECRETKEY, keys->secret_key);
}

int curve_apply_server(void *socket, const struct curve_keys *keys)
{
    int server = 1;
    if (zmq_setsockopt(socket, ZMQ_CURVE_SERVER, &server, sizeof server))
        return -errno;
    return curve_keys_set_option(socket, ZMQ_CURVE_SECRETKEY, keys->secret_key);
}
