/* SPDX-License-Identifier: BSD-3-Clause */
/* The hardware that this process may run on. */
#include "core/runtime/locality.h"

#include <dlfcn.h>
#include <hwloc.h>
#include <stdlib.h>
#include <string.h>

#include "core/coll/coll.h"
#include "core/object/comm.h"
#include "core/runtime/runtime.h"
#include "util/compiler.h"
#include "util/status.h"

#define SCHEME "hwloc://"

static const struct {
    const char *name;
    hwloc_obj_type_t type;
} types[FM_LOCALITY_N_TYPES] = {
    {SCHEME "Machine", HWLOC_OBJ_MACHINE},
    {SCHEME "Package", HWLOC_OBJ_PACKAGE},
    {SCHEME "Die", HWLOC_OBJ_DIE},
    {SCHEME "NUMANode", HWLOC_OBJ_NUMANODE},
    {SCHEME "L3Cache", HWLOC_OBJ_L3CACHE},
    {SCHEME "L2Cache", HWLOC_OBJ_L2CACHE},
    {SCHEME "L1dCache", HWLOC_OBJ_L1CACHE},
    {SCHEME "Core", HWLOC_OBJ_CORE},
    {SCHEME "PU", HWLOC_OBJ_PU},
};

/* The functions of hwloc, without their prefix. */
#define CALLS(X)                                                                                   \
    X(topology_init)                                                                               \
    X(topology_set_flags)                                                                          \
    X(topology_load)                                                                               \
    X(topology_destroy)                                                                            \
    X(get_cpubind)                                                                                 \
    X(bitmap_alloc)                                                                                \
    X(bitmap_free)                                                                                 \
    X(bitmap_intersects)                                                                           \
    X(get_type_depth)                                                                              \
    X(get_nbobjs_by_depth)                                                                         \
    X(get_obj_by_depth)                                                                            \
    X(type_sscanf)

#define MEMBER(name) __typeof__(hwloc_##name) *name;

/* There is one hwloc per process; filled once, guarded by the library lock. */
static struct {
    CALLS(MEMBER)
} hw;

#define FIND(name)                                                                                 \
    *(void **)&hw.name = dlsym(so, "hwloc_" #name);                                                \
    has_all &= hw.name != NULL;

static int load_library(void)
{
    bool has_all = true;
    void *so;

    if (hw.topology_init) {
        return 0;
    }
    so = dlopen("libhwloc.so.15", RTLD_NOW | RTLD_LOCAL);
    if (!so) {
        return fm_fail(-FM_E_UNSUPPORTED, "cannot load hwloc (package libhwloc15): %s", dlerror());
    }
    CALLS(FIND)
    if (!has_all) {
        hw.topology_init = NULL;
        dlclose(so);
        return fm_fail(-FM_E_UNSUPPORTED, "the installed hwloc is not of version 2");
    }
    return 0;
}

struct view {
    hwloc_topology_t topology;
    hwloc_bitmap_t mine; /* the binding of this process */
};

static void view_close(struct view *v)
{
    hw.bitmap_free(v->mine);
    hw.topology_destroy(v->topology);
}

/*
 * Hardware that a container hides is included, so that an instance has the same number in all
 * containers. Discovery must not change the binding of the process (a flag newer than hwloc 2.0).
 */
static int view_open(struct view *out_view)
{
    struct view v = {0};
    int rc = load_library();

    if (rc != 0) {
        return rc;
    }
    if (hw.topology_init(&v.topology) != 0) {
        return fm_fail(-FM_E_NOMEM, "no memory for the topology of hwloc");
    }
    v.mine = hw.bitmap_alloc();
    if (hw.topology_set_flags(v.topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED |
                                              HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING) != 0) {
        hw.topology_set_flags(v.topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    }
    if (!v.mine || hw.topology_load(v.topology) != 0 ||
        hw.get_cpubind(v.topology, v.mine, HWLOC_CPUBIND_PROCESS) != 0) {
        view_close(&v);
        return fm_fail(-FM_E_SYSTEM, "hwloc cannot read the binding of this process");
    }
    *out_view = v;
    return 0;
}

static int instance_of(const struct view *v, hwloc_obj_type_t type)
{
    int depth = hw.get_type_depth(v->topology, type);
    int n, found = FM_LOCALITY_ABSENT;

    if (depth == HWLOC_TYPE_DEPTH_UNKNOWN || depth == HWLOC_TYPE_DEPTH_MULTIPLE) {
        return FM_LOCALITY_ABSENT;
    }
    n = (int)hw.get_nbobjs_by_depth(v->topology, depth);
    for (int i = 0; i < n; i++) {
        hwloc_obj_t obj = hw.get_obj_by_depth(v->topology, depth, (unsigned)i);

        if (!obj->cpuset || !hw.bitmap_intersects(obj->cpuset, v->mine)) {
            continue;
        }
        if (found >= 0) {
            return FM_LOCALITY_SEVERAL;
        }
        found = i;
    }
    return found;
}

const char *fm_locality_type_name(int type)
{
    return types[type].name;
}

int fm_locality_read(int out_instances[FM_LOCALITY_N_TYPES])
{
    struct view v;
    int rc = view_open(&v);

    if (rc != 0) {
        return rc;
    }
    for (int k = 0; k < FM_LOCALITY_N_TYPES; k++) {
        out_instances[k] = instance_of(&v, types[k].type);
    }
    view_close(&v);
    return 0;
}

int fm_locality_cache(void)
{
    int instances[FM_LOCALITY_N_TYPES];

    if (fm_locality_read(instances) != 0) {
        return -1;
    }
    for (int k = 0; k < FM_LOCALITY_N_TYPES; k++) {
        if (types[k].type == HWLOC_OBJ_L3CACHE) {
            return instances[k] >= 0 ? instances[k] : -1;
        }
    }
    return -1;
}

static int node_of_self(void)
{
    const struct fm_pm *pm = fm_runtime.pm;

    return pm->node_of ? pm->node_of[pm->rank] : 0;
}

static int n_nodes(void)
{
    const struct fm_pm *pm = fm_runtime.pm;
    int last = 0;

    for (int i = 0; pm->node_of && i < pm->size; i++) {
        last = pm->node_of[i] > last ? pm->node_of[i] : last;
    }
    return last + 1;
}

/* The instance of a type, given by its name, that this process is restricted to. */
static int find_instance(const char *name, hwloc_obj_type_t *out_type)
{
    union hwloc_obj_attr_u attributes;
    struct view v;
    int found;

    if (strncmp(name, SCHEME, strlen(SCHEME)) == 0) {
        name += strlen(SCHEME);
    }
    if (view_open(&v) != 0) {
        return FM_LOCALITY_ABSENT;
    }
    found = hw.type_sscanf(name, out_type, &attributes, sizeof(attributes)) == 0
                ? instance_of(&v, *out_type)
                : FM_LOCALITY_ABSENT;
    view_close(&v);
    return found;
}

/* Instances have numbers within a host and a type; colors are for all. */
int fm_locality_color(const char *type_name)
{
    hwloc_obj_type_t type = HWLOC_OBJ_MACHINE;
    int instance = find_instance(type_name, &type);
    int64_t color;

    if (instance < 0) {
        return MPI_UNDEFINED;
    }
    color = ((int64_t)instance * HWLOC_OBJ_TYPE_MAX + (int64_t)type) * n_nodes() + node_of_self();
    return color <= INT32_MAX ? (int)color : MPI_UNDEFINED;
}

struct place {
    int32_t takes_part;
    int32_t instances[FM_LOCALITY_N_TYPES]; /* of the machine: the number of its node */
};

/* The outermost type by whose instances n processes differ, or FM_LOCALITY_N_TYPES. Where they are
   on one host up to a type, its instances have the same numbers for all. */
static int dividing_type(const struct place *places, int n)
{
    int k = 0;

    for (; k < FM_LOCALITY_N_TYPES; k++) {
        bool has_instance = false, is_divided = false;

        for (int i = 0; i < n; i++) {
            has_instance |= places[i].instances[k] >= 0;
            is_divided |= places[i].instances[k] != places[0].instances[k];
        }
        if (has_instance && is_divided) {
            break;
        }
    }
    return k;
}

/* The places of all ranks, of both groups where there are two. 0 or a failure. */
static int gather_places(struct fm_comm *comm, struct place *mine, struct place *places)
{
    const struct fm_buf out = {mine, sizeof(*mine), fm_dtype_byte()};
    const struct fm_buf in = {places, sizeof(*mine), fm_dtype_byte()};
    const struct fm_buf in_local = {places + comm->n_remote, sizeof(*mine), fm_dtype_byte()};
    int rc = fm_allgather(&out, &in, comm);

    return rc || !comm->is_inter ? rc : fm_allgather(&out, &in_local, comm->local_comm);
}

/* Leave only those that take part. Returns their number. */
static int drop_others(struct place *places, int n)
{
    int kept = 0;

    for (int i = 0; i < n; i++) {
        if (places[i].takes_part) {
            places[kept++] = places[i];
        }
    }
    return kept;
}

int fm_locality_divide(struct fm_comm *comm, bool takes_part, int *out_color,
                       const char **out_type_name)
{
    int n = comm->is_inter ? comm->n_remote + comm->size : comm->size;
    struct place mine, *places = malloc((size_t)n * sizeof(*places));
    int rc, type;

    if (!places) {
        return fm_fail(-FM_E_NOMEM, "no memory for the places of %d ranks", n);
    }
    if (fm_locality_read(mine.instances) != 0) { /* the other ranks must not wait */
        memset(&mine, 0xff, sizeof(mine));       /* FM_LOCALITY_ABSENT */
    }
    mine.takes_part = takes_part;
    mine.instances[0] = node_of_self();
    rc = gather_places(comm, &mine, places);
    if (rc == 0) {
        type = dividing_type(places, drop_others(places, n));
        *out_type_name = type < FM_LOCALITY_N_TYPES ? types[type].name : NULL;
        *out_color = takes_part && type < FM_LOCALITY_N_TYPES && mine.instances[type] >= 0
                         ? mine.instances[type]
                         : MPI_UNDEFINED;
    }
    free(places);
    return rc;
}
