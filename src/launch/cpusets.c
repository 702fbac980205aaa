/* SPDX-License-Identifier: BSD-3-Clause */
/* The processors of each core, socket and NUMA node of this host. */
#include "launch/cpusets.h"

#include <dlfcn.h>
#include <hwloc.h>

#include "util/compiler.h"
#include "util/status.h"

/* The functions of hwloc, without their prefix. */
struct library {
    __typeof__(hwloc_topology_init) *topology_init;
    __typeof__(hwloc_topology_load) *topology_load;
    __typeof__(hwloc_topology_destroy) *topology_destroy;
    __typeof__(hwloc_get_type_depth) *get_type_depth;
    __typeof__(hwloc_get_nbobjs_by_depth) *get_nbobjs_by_depth;
    __typeof__(hwloc_get_obj_by_depth) *get_obj_by_depth;
    __typeof__(hwloc_bitmap_isset) *bitmap_isset;
};

static bool find(void *so, const char *name, void *out_fn)
{
    return (*(void **)out_fn = dlsym(so, name)) != NULL;
}

/* The library stays loaded: mpiexec needs it once. */
static int load(struct library *out_lib)
{
    void *so = dlopen("libhwloc.so.15", RTLD_NOW | RTLD_LOCAL);

    if (!so) {
        return fm_fail(-FM_E_UNSUPPORTED,
                       "ranks cannot be bound without hwloc (package libhwloc15): %s", dlerror());
    }
    if (!find(so, "hwloc_topology_init", &out_lib->topology_init) ||
        !find(so, "hwloc_topology_load", &out_lib->topology_load) ||
        !find(so, "hwloc_topology_destroy", &out_lib->topology_destroy) ||
        !find(so, "hwloc_get_type_depth", &out_lib->get_type_depth) ||
        !find(so, "hwloc_get_nbobjs_by_depth", &out_lib->get_nbobjs_by_depth) ||
        !find(so, "hwloc_get_obj_by_depth", &out_lib->get_obj_by_depth) ||
        !find(so, "hwloc_bitmap_isset", &out_lib->bitmap_isset)) {
        return fm_fail(-FM_E_UNSUPPORTED, "the installed hwloc is not of version 2");
    }
    return 0;
}

static hwloc_obj_type_t type_of(enum fm_bind_to policy)
{
    return policy == FM_BIND_CORE     ? HWLOC_OBJ_CORE
           : policy == FM_BIND_SOCKET ? HWLOC_OBJ_PACKAGE
                                      : HWLOC_OBJ_NUMANODE;
}

/* Move the processors of an object from `left` to a set. Returns how many. */
static int take(const struct library *lib, hwloc_obj_t obj, cpu_set_t *left, cpu_set_t *out_set)
{
    int n = 0;

    for (unsigned cpu = 0; obj->cpuset && cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, left) && lib->bitmap_isset(obj->cpuset, cpu)) {
            CPU_CLR(cpu, left);
            CPU_SET(cpu, out_set);
            n++;
        }
    }
    return n;
}

int fm_cpusets_of(enum fm_bind_to policy, const cpu_set_t *allowed, cpu_set_t *sets, int *out_n)
{
    struct library lib = {0};
    hwloc_topology_t topology;
    cpu_set_t left = *allowed;
    int rc = load(&lib);
    int depth, n_objects, n = 0;

    if (rc != 0) {
        return rc;
    }
    if (lib.topology_init(&topology) != 0) {
        return fm_fail(-FM_E_NOMEM, "no memory for the topology of hwloc");
    }
    if (lib.topology_load(topology) != 0) {
        lib.topology_destroy(topology);
        return fm_fail(-FM_E_SYSTEM, "hwloc cannot read the processors of this host");
    }
    depth = lib.get_type_depth(topology, type_of(policy));
    n_objects = (int)lib.get_nbobjs_by_depth(topology, depth);
    for (int i = 0; i < n_objects && CPU_COUNT(&left) > 0; i++) {
        n += take(&lib, lib.get_obj_by_depth(topology, depth, (unsigned)i), &left, &sets[n]) > 0;
    }
    if (CPU_COUNT(&left) > 0) { /* a host without objects of the type counts as one */
        sets[n++] = left;
    }
    lib.topology_destroy(topology);
    *out_n = n;
    return 0;
}
