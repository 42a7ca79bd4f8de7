/* What the servers of a fleet ask for: files of a directory. */
#include "daemon/fleet/fleet_nats_state.h"

#include "holter/error.h"
#include "holter/plain_text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES 256u

struct keys {
    natsOptions *options;
    const char *directory;
    struct fleet_keys_report *report;
    int failed;
};

static void keys_fail(struct keys *keys, const char *path, const char *why)
{
    if (!keys->failed)
        snprintf(keys->report->text, sizeof(keys->report->text), "%s: %s", path, why);
    keys->failed = 1;
}

/* @return whether the file can be read; one that is there, or is required, and cannot be read is an
 * error */
static int keys_find(struct keys *keys, const char *name, int required, char path[NATS_PATH_BYTES])
{
    if (snprintf(path, NATS_PATH_BYTES, "%s/%s", keys->directory, name) >= (int)NATS_PATH_BYTES)
        errno = ENAMETOOLONG;
    else if (access(path, R_OK) == 0) {
        char *text = keys->report->text;
        if (!keys->failed)
            text_append(text, sizeof(keys->report->text), "%s%s", text[0] == '\0' ? "with " : ", ",
                        path);
        return 1;
    }
    if (required || errno != ENOENT)
        keys_fail(keys, path, strerror(errno));
    return 0;
}

static void keys_check(struct keys *keys, const char *path, natsStatus s)
{
    const char *detail = s == NATS_OK ? NULL : nats_GetLastError(NULL);
    if (s != NATS_OK)
        keys_fail(keys, path, detail == NULL ? natsStatus_GetText(s) : detail);
}

/* @return whether the file has a line, which is copied without its end */
static int keys_read_line(struct keys *keys, const char *path, char line[LINE_BYTES])
{
    FILE *file = fopen(path, "re");
    line[0] = '\0';
    const int is_read = file != NULL && fgets(line, LINE_BYTES, file) != NULL;
    if (file != NULL)
        fclose(file);
    line[strcspn(line, "\r\n")] = '\0';
    if (!is_read || line[0] == '\0')
        keys_fail(keys, path, "a line is expected");
    return line[0] != '\0';
}

static void keys_set_password(struct keys *keys, const char *path)
{
    char line[LINE_BYTES];
    if (!keys_read_line(keys, path, line))
        return;
    char *password = strchr(line, ':');
    if (password == NULL) {
        keys_fail(keys, path, "USER:PASSWORD is expected");
        return;
    }
    *password++ = '\0';
    keys_check(keys, path, natsOptions_SetUserInfo(keys->options, line, password));
}

/* The first of credentials, NKey and password that is there. */
static void keys_set_user(struct keys *keys)
{
    char path[NATS_PATH_BYTES], public_path[NATS_PATH_BYTES], line[LINE_BYTES];
    if (keys_find(keys, "user.creds", 0, path))
        keys_check(keys, path, natsOptions_SetUserCredentialsFromFiles(keys->options, path, NULL));
    else if (keys_find(keys, "nkey.seed", 0, path)) {
        if (keys_find(keys, "nkey.pub", 1, public_path) && keys_read_line(keys, public_path, line))
            keys_check(keys, path, natsOptions_SetNKeyFromSeed(keys->options, line, path));
    } else if (keys_find(keys, "password", 0, path))
        keys_set_password(keys, path);
}

/* The library compares no name by itself: whoever has a certificate of one of the authorities could
 * pass for a server. */
static void keys_set_authorities(struct keys *keys)
{
    char path[NATS_PATH_BYTES], line[LINE_BYTES];
    if (!keys_find(keys, "ca.pem", 0, path))
        return;
    keys_check(keys, path, natsOptions_SetSecure(keys->options, true));
    keys_check(keys, path, natsOptions_LoadCATrustedCertificates(keys->options, path));
    if (keys_find(keys, "server.name", 0, path) && keys_read_line(keys, path, line))
        keys_check(keys, path, natsOptions_SetExpectedHostname(keys->options, line));
}

int fleet_keys_set(natsOptions *options, const char *directory, struct fleet_keys_report *report)
{
    struct keys keys = {options, directory, report, 0};
    char path[NATS_PATH_BYTES], key_path[NATS_PATH_BYTES];
    report->text[0] = '\0';
    if (directory == NULL) {
        snprintf(report->text, sizeof(report->text), "without a directory of keys");
        return 0;
    }
    if (access(directory, R_OK | X_OK) != 0)
        keys_fail(&keys, directory, strerror(errno));
    keys_set_user(&keys);
    keys_set_authorities(&keys);
    if (keys_find(&keys, "cert.pem", 0, path) && keys_find(&keys, "key.pem", 1, key_path))
        keys_check(&keys, path, natsOptions_LoadCertificatesChain(options, path, key_path));
    if (report->text[0] == '\0')
        snprintf(report->text, sizeof(report->text), "without a file of %s", directory);
    return keys.failed ? -HOLTER_EUSAGE : 0;
}
