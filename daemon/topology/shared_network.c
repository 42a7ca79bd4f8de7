/* The network that all jobs share, read once at the start: see shared_network.h. */
#include "daemon/topology/shared_network.h"

#include "daemon/topology/network_grid.h"
#include "daemon/topology/network_message.h"
#include "holter/error.h"
#include "proto/log.h"

#include <stdio.h>
#include <string.h>

#define LOG_TOPIC "network"

/* ---- fingerprint --------------------------------------------------------- */

/* FNV-1a of the bytes of a message that describes a part of the network. */
static void network_hash_part(void *user, const struct wire_topology *part)
{
    uint64_t *hash = user;
    struct wire_buffer encoded = {0};
    if (wire_encode(&encoded, WIRE_TYPE_TOPOLOGY, part) == 0)
        for (size_t i = 0; i < encoded.length; i++)
            *hash = (*hash ^ encoded.bytes[i]) * UINT64_C(0x100000001b3);
    wire_buffer_finish(&encoded);
}

static uint64_t network_fingerprint(const struct topology_spec *spec)
{
    const struct network_publication described = {
        .job = "", .source = "", .fault = "", .spec = spec};
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    network_message(&described, network_hash_part, &hash);
    return hash > 1 ? hash : 2;
}

/* ---- reading ------------------------------------------------------------- */

struct told_faults {
    struct network *network;
    size_t count;
};

static void shared_network_on_fault(void *user, const char *text)
{
    struct told_faults *faults = user;
    log_warn("%s", text);
    if (faults->count++ == 0)
        snprintf(faults->network->fault, sizeof(faults->network->fault), "%.480s", text);
}

void network_read(struct network *out, const char *given)
{
    *out = (struct network){.source = ""};
    if (given == NULL || given[0] == '\0')
        return;
    snprintf(out->source, sizeof(out->source), "%s", given);
    out->is_grid = strcmp(given, NETWORK_GRID) == 0;
    out->fingerprint = (uint64_t)out->is_grid;
    if (out->is_grid)
        return;
    struct told_faults faults = {out, 0};
    int code = topology_file_given(&out->file, given, shared_network_on_fault, &faults);
    if (code == 0) {
        out->fault[0] = '\0';
        out->fingerprint = network_fingerprint(topology_spec(out->file.topology));
        return;
    }
    if (faults.count == 0) {
        snprintf(out->fault, sizeof(out->fault), "%.400s: %s", given, holter_strerror(code));
        log_warn("%s", out->fault);
    }
    size_t length = strlen(out->fault);
    if (faults.count > 1)
        snprintf(out->fault + length, sizeof(out->fault) - length, " (and %zu more)",
                 faults.count - 1);
}

void network_make(struct network *out, const struct topology_spec *spec, const char *source,
                  const char *fault)
{
    char why[256] = "no memory";
    *out = (struct network){.source = ""};
    snprintf(out->source, sizeof(out->source), "%s", source);
    snprintf(out->fault, sizeof(out->fault), "%s", fault);
    if (spec == NULL)
        return;
    int code = topology_create(&out->file.topology, spec, why, sizeof(why));
    code = code != 0 ? code : topology_file_index(&out->file);
    out->file.format = out->file.host_count > 0 ? TOPOLOGY_FORMAT_YAML : TOPOLOGY_FORMAT_SHORT;
    if (code == 0) {
        out->fingerprint = network_fingerprint(topology_spec(out->file.topology));
        return;
    }
    topology_file_finish(&out->file);
    out->file = (struct topology_file){.topology = NULL};
    snprintf(out->fault, sizeof(out->fault), "%.200s: %s", source, why);
    log_warn("the network of the recording cannot be used: %s", why);
}

int network_names_hosts(const struct network *network)
{
    return network->file.host_count > 0;
}

void network_finish(struct network *network)
{
    topology_file_finish(&network->file);
    *network = (struct network){.source = ""};
}
