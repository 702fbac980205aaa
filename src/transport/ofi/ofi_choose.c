/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Choose a provider and an interface.
 *
 * What must be: reliable datagrams (FI_EP_RDM), messages, send-after-send order. What is asked for
 * while some provider has it: RMA, then atomics of the provider that was chosen. Among those that
 * fit, libfabric's own order (fastest first) holds, except that providers of one host, deprecated
 * and experimental ones come last, and that of one provider's interfaces the one is taken that most
 * likely reaches the peers.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "transport/ofi/ofi.h"

/* What this code knows how to live with. */
#define API_VERSION FI_VERSION(1, 10)
#define MODES       (FI_CONTEXT | FI_CONTEXT2)

/* ... of memory registration. */
#define MR_MODES (FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT)

#define BEST_EAGER 65536 /* payload */

#define ONE_HOST 5 /* rank of providers that reach one host only */

/* Providers that libfabric lists before they deserve it; higher is later. */
static const struct {
    const char *name;
    int rank;
} demoted[] = {
    {"net", 1},                 /* experimental in 1.17, became tcp in 1.18 */
    {"sockets", 2},             /* deprecated */
    {"udp", 3},                 /* reliability by ofi_rxd */
    {"mrail", 4},   {"shm", 5}, /* reaches one host only */
    {"sm2", 5},
};

static struct fi_info *make_hints(const struct fm_ofi_lib *lib, uint64_t caps)
{
    struct fi_info *h = lib->dupinfo(NULL);

    if (!h) {
        return NULL;
    }
    h->caps = caps;
    h->mode = MODES;
    h->ep_attr->type = FI_EP_RDM;
    h->tx_attr->msg_order = FI_ORDER_SAS;
    h->rx_attr->msg_order = FI_ORDER_SAS;
    h->domain_attr->mr_mode = MR_MODES;
    h->domain_attr->threading = FI_THREAD_DOMAIN; /* the library lock is around all calls */
    h->domain_attr->control_progress = FI_PROGRESS_MANUAL;
    h->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    h->domain_attr->resource_mgmt = FI_RM_ENABLED;
    return h;
}

/* Length of the first part of a layered name ("tcp;ofi_rxm"). */
static size_t part_len(const char *name)
{
    return strcspn(name, ";");
}

static bool has_part(const char *name, const char *part, size_t len)
{
    for (const char *at = name; *at;) {
        size_t n = part_len(at);

        if (n == len && strncasecmp(at, part, len) == 0) {
            return true;
        }
        at += n;
        at += *at == ';';
    }
    return false;
}

/* Does `name` have every part that is wanted? "tcp" wants any provider over tcp. */
static bool is_wanted(const char *name, const char *wanted)
{
    for (const char *at = wanted; *at;) {
        size_t n = part_len(at);

        if (n && !has_part(name, at, n)) {
            return false;
        }
        at += n;
        at += *at == ';';
    }
    return true;
}

static int n_parts(const char *name)
{
    int n = 1;

    for (; *name; name++) {
        n += *name == ';';
    }
    return n;
}

void fm_ofi_address_text(const struct fi_info *info, char *out, size_t len)
{
    const struct sockaddr *sa = info->src_addr;

    out[0] = '\0';
    if (!sa || info->src_addrlen < sizeof(struct sockaddr_in)) {
        return;
    }
    if (info->addr_format == FI_SOCKADDR_IN ||
        (info->addr_format == FI_SOCKADDR && sa->sa_family == AF_INET)) {
        inet_ntop(AF_INET, &((const struct sockaddr_in *)info->src_addr)->sin_addr, out,
                  (socklen_t)len);
    } else if (sa->sa_family == AF_INET6 && info->src_addrlen >= sizeof(struct sockaddr_in6)) {
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)info->src_addr)->sin6_addr, out,
                  (socklen_t)len);
    }
}

/* How far an address reaches: 0 is the one to prefer between hosts. */
static int address_rank(const struct fi_info *info, bool is_one_host)
{
    char text[FM_OFI_NAME_LEN];
    bool is_v6, is_loop;

    fm_ofi_address_text(info, text, sizeof(text));
    if (!text[0]) {
        return 0;
    }
    is_v6 = strchr(text, ':') != NULL;
    is_loop = strncmp(text, "127.", 4) == 0 || strcmp(text, "::1") == 0;
    if (strncasecmp(text, "fe80:", 5) == 0) {
        return 6; /* link-local: needs a scope that the peer does not know */
    }
    /* On one host loopback goes first: no firewall, and it does not vanish with a cable. */
    return (is_loop == is_one_host ? 0 : 2) + (is_v6 ? 1 : 0);
}

static int provider_rank(const char *name)
{
    for (size_t k = 0; k < FM_ARRAY_LEN(demoted); k++) {
        if (has_part(name, demoted[k].name, strlen(demoted[k].name))) {
            return demoted[k].rank;
        }
    }
    return 0;
}

bool fm_ofi_is_local(const char *provider)
{
    return provider_rank(provider) == ONE_HOST;
}

static bool is_rxm(const char *provider)
{
    return has_part(provider, "ofi_rxm", strlen("ofi_rxm"));
}

size_t fm_ofi_best_wire(const struct fm_ofi_lib *lib, const char *provider)
{
    /* ofi_rxm cuts what is longer than its own buffers into segments, which take four times as
       long. */
    return is_rxm(provider) ? lib->rxm_buffer : BEST_EAGER + 128; /* and headers */
}

size_t fm_ofi_best_eager(const char *provider)
{
    /* Asking costs a round trip, which takes as long as 30 KiB over tcp on one host; within
       shared memory reading is quicker than that. */
    return is_rxm(provider) || fm_ofi_is_local(provider) ? 16384 : BEST_EAGER;
}

static bool is_interface(const struct fi_info *info, const char *wanted)
{
    char text[FM_OFI_NAME_LEN];

    fm_ofi_address_text(info, text, sizeof(text));
    return strcmp(wanted, text) == 0 ||
           (info->domain_attr->name && strcmp(wanted, info->domain_attr->name) == 0) ||
           (info->fabric_attr->name && strcmp(wanted, info->fabric_attr->name) == 0);
}

/* Smaller is better; -1: does not fit. `at` is the place in libfabric's list. */
static int64_t cost(const struct fi_info *info, const char *provider, const char *interface,
                    bool is_one_host, int at)
{
    const char *name = info->fabric_attr->prov_name;
    int64_t c;

    if (!name || !is_wanted(name, provider) || (interface[0] && !is_interface(info, interface)) ||
        info->ep_attr->max_msg_size < 8192 || info->domain_attr->mr_key_size > sizeof(uint64_t)) {
        return -1;
    }
    /* What was asked for by name needs no other rank; fewer layers are better. */
    c = provider[0] ? n_parts(name) : provider_rank(name);
    if (provider[0]) {
        c = c * 16 + provider_rank(name);
    }
    /* libfabric lists all interfaces of a provider together, so its order comes before ours only
       between providers; `at` of the first entry of the provider decides that. */
    return (c << 40) + ((int64_t)at << 8) + address_rank(info, is_one_host);
}

/* The best of a list, or NULL. */
static const struct fi_info *best(const struct fi_info *list, const char *provider,
                                  const char *interface, bool is_one_host)
{
    const struct fi_info *found = NULL;
    const char *name = "";
    int64_t least = -1;
    int group = 0;

    for (const struct fi_info *i = list; i; i = i->next) {
        int64_t c;

        if (i->fabric_attr->prov_name && strcmp(name, i->fabric_attr->prov_name) != 0) {
            name = i->fabric_attr->prov_name;
            group++;
        }
        c = cost(i, provider, interface, is_one_host, group);
        if (c >= 0 && (least < 0 || c < least)) {
            least = c;
            found = i;
        }
    }
    return found;
}

/* The names in a list, each once: "tcp;ofi_rxm, shm". */
static void list_names(const struct fi_info *list, char *out, size_t len)
{
    size_t at = 0;

    out[0] = '\0';
    for (const struct fi_info *i = list; i; i = i->next) {
        const char *name = i->fabric_attr->prov_name;
        size_t n = name ? strlen(name) : 0;
        bool is_known = false;

        for (const struct fi_info *j = list; name && j != i && !is_known; j = j->next) {
            is_known = j->fabric_attr->prov_name && strcmp(j->fabric_attr->prov_name, name) == 0;
        }
        if (!n || is_known || at + n + 3 > len) {
            continue;
        }
        at += (size_t)snprintf(out + at, len - at, "%s%s", at ? ", " : "", name);
    }
}

FM_COLD static int refuse(const struct fm_ofi_lib *lib, const char *provider, const char *interface)
{
    struct fi_info *hints = make_hints(lib, FI_MSG);
    struct fi_info *list = NULL;
    char names[256] = "";

    if (hints && lib->getinfo(API_VERSION, NULL, NULL, 0, hints, &list) == 0) {
        list_names(list, names, sizeof(names));
        lib->freeinfo(list);
    }
    if (hints) {
        lib->freeinfo(hints);
    }
    if (interface[0]) {
        return fm_fail(-FM_E_NOENT,
                       "no libfabric provider%s%s on interface \"%s\" (FATHOM_OFI_INTERFACE: the "
                       "name of a device or an address of this host); providers that fit: %s",
                       provider[0] ? " " : "", provider, interface, names[0] ? names : "none");
    }
    if (provider[0]) {
        return fm_fail(-FM_E_NOENT,
                       "no libfabric provider \"%s\" (FATHOM_OFI_PROVIDER); those that fit: %s",
                       provider, names[0] ? names : "none");
    }
    return fm_fail(-FM_E_UNSUPPORTED, "no libfabric provider with reliable ordered messages");
}

/* The best of what has these capabilities: *out_info, NULL if there is none. */
static int ask(const struct fm_ofi_lib *lib, uint64_t caps, const char *provider,
               const char *interface, bool is_one_host, struct fi_info **out_info)
{
    struct fi_info *hints = make_hints(lib, caps);
    struct fi_info *list = NULL;
    const struct fi_info *found;

    *out_info = NULL;
    if (!hints) {
        return fm_fail(-FM_E_NOMEM, "no memory to ask libfabric for providers");
    }
    hints->fabric_attr->prov_name = provider[0] && caps & FI_ATOMIC ? strdup(provider) : NULL;
    if (lib->getinfo(API_VERSION, NULL, NULL, 0, hints, &list) == 0) {
        found = best(list, provider, interface, is_one_host);
        *out_info = found ? lib->dupinfo(found) : NULL;
        lib->freeinfo(list);
    }
    lib->freeinfo(hints);
    return 0;
}

int fm_ofi_choose(const struct fm_ofi_lib *lib, const char *provider, const char *interface,
                  bool is_one_host, struct fi_info **out_info)
{
    struct fi_info *info, *better;
    int rc = ask(lib, FI_MSG | FI_RMA, provider, interface, is_one_host, &info);

    if (rc == 0 && info) { /* the provider is chosen: take its atomics, too */
        rc = ask(lib, FI_MSG | FI_RMA | FI_ATOMIC, info->fabric_attr->prov_name, interface,
                 is_one_host, &better);
        if (rc == 0 && better) {
            lib->freeinfo(info);
            info = better;
        }
    } else if (rc == 0) {
        rc = ask(lib, FI_MSG, provider, interface, is_one_host, &info);
    }
    if (!info) {
        return rc ? rc : refuse(lib, provider, interface);
    }
    *out_info = info;
    return 0;
}
