/* SPDX-License-Identifier: BSD-3-Clause */
/* Start and end, and what surrounds a process (MPI-5.0 9.1, 9.2, 11.2, 11.4, 15.2.4). */
#include "core/api/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/object/comm.h"
#include "core/object/info.h"
#include "core/runtime/locality.h"
#include "core/runtime/runtime.h"
#include "util/log.h"

static int init(const char *call, int required, int *out_provided)
{
    int rc;

    if (required < MPI_THREAD_SINGLE || required > MPI_THREAD_MULTIPLE) {
        return fm_raise(NULL, call, MPI_ERR_ARG, "required is %d: it must be one of MPI_THREAD_*",
                        required);
    }
    fm_runtime_lock_init();
    fm_api_enter(call);
    if (fm_runtime_world_phase() != FM_PHASE_BEFORE) {
        rc = fm_root.phase == FM_PHASE_FORKED
                 ? fm_raise(NULL, call, MPI_ERR_OTHER, "%s", fm_handle_why_not_running())
                 : fm_raise(NULL, call, MPI_ERR_OTHER, "%s",
                            fm_runtime_world_phase() == FM_PHASE_AFTER
                                ? "MPI was finalized and cannot be initialized again"
                                : "MPI is initialized already");
    } else {
        rc = fm_runtime_init(required, out_provided);
        rc = rc ? fm_raise_status(NULL, call, rc) : MPI_SUCCESS;
    }
    fm_runtime_unlock_init(); /* before the callbacks of events, which may call it again */
    fm_api_leave();
    return rc;
}

int PMPI_Init(int *argc, char ***argv)
{
    int provided;

    return init("MPI_Init", MPI_THREAD_SINGLE, &provided);
}
FM_ALIAS(Init)

int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    if (!provided) {
        return fm_raise(NULL, "MPI_Init_thread", MPI_ERR_ARG, "provided is NULL: pass its address");
    }
    return init("MPI_Init_thread", required, provided);
}
FM_ALIAS(Init_thread)

static int set_flag(const char *call, int *flag, bool value)
{
    if (!flag) {
        return fm_raise(NULL, call, MPI_ERR_ARG, "flag is NULL: pass its address");
    }
    *flag = value;
    return MPI_SUCCESS;
}

/* These two may be called at any time, by any thread: one word is read (MPI-5.0 11.4.1). */
int PMPI_Initialized(int *flag)
{
    return set_flag("MPI_Initialized", flag, fm_runtime_world_phase() != FM_PHASE_BEFORE);
}
FM_ALIAS(Initialized)

int PMPI_Finalized(int *flag)
{
    return set_flag("MPI_Finalized", flag, fm_runtime_world_phase() == FM_PHASE_AFTER);
}
FM_ALIAS(Finalized)

/* 0 between MPI_Init and MPI_Finalize, else the error that was raised. */
static int need_world(const char *call)
{
    if (fm_runtime_world_phase() == FM_PHASE_RUNNING) {
        return 0;
    }
    if (fm_root.phase == FM_PHASE_FORKED) {
        return fm_raise(NULL, call, MPI_ERR_OTHER, "%s", fm_handle_why_not_running());
    }
    return fm_raise(NULL, call, MPI_ERR_OTHER, "it was called %s",
                    fm_runtime_world_phase() == FM_PHASE_BEFORE
                        ? "before MPI_Init: call MPI_Init or MPI_Init_thread first"
                        : "after MPI_Finalize");
}

int PMPI_Finalize(void)
{
    int rc;

    /* Exit handlers that a child inherited call this: there is nothing to end in it. */
    if (fm_root.phase == FM_PHASE_FORKED) {
        return MPI_SUCCESS;
    }
    fm_runtime_lock_init();
    fm_api_enter(FM_CALL);
    rc = need_world(FM_CALL);
    if (!rc) {
        rc = fm_runtime_finish();
        rc = rc ? fm_raise_status(NULL, FM_CALL, rc) : MPI_SUCCESS;
    }
    fm_runtime_unlock_init(); /* before the callbacks of events, which may call it again */
    fm_api_leave();
    return rc;
}
FM_ALIAS(Finalize)

int PMPI_Query_thread(int *provided)
{
    int rc = need_world("MPI_Query_thread");

    if (rc) {
        return rc;
    }
    if (!provided) {
        return fm_raise(NULL, "MPI_Query_thread", MPI_ERR_ARG,
                        "provided is NULL: pass its address");
    }
    *provided = fm_runtime.thread_level;
    return MPI_SUCCESS;
}
FM_ALIAS(Query_thread)

int PMPI_Is_thread_main(int *flag)
{
    int rc = need_world("MPI_Is_thread_main");

    if (rc) {
        return rc;
    }
    return set_flag("MPI_Is_thread_main", flag,
                    pthread_equal(pthread_self(), fm_runtime.main_thread) != 0);
}
FM_ALIAS(Is_thread_main)

int PMPI_Abort(MPI_Comm comm, int errorcode)
{
    struct fm_comm *c;
    char text[MPI_MAX_OBJECT_NAME + 64];

    fm_api_enter(FM_CALL);
    /* No communicator exists, but the job is to end. */
    if (fm_root.phase == FM_PHASE_BEFORE || fm_root.phase == FM_PHASE_AFTER) {
        snprintf(text, sizeof(text), "MPI_Abort was called %s with error code %d",
                 fm_root.phase == FM_PHASE_AFTER ? "after MPI_Finalize" : "before MPI_Init",
                 errorcode);
        fm_log_error("%s", text);
        fm_runtime_abort(errorcode, text, false);
    }
    c = fm_comm_get(comm);
    if (!c) {
        int rc = fm_raise_handle(FM_KIND_COMM, "MPI_Abort", comm, "comm");

        fm_api_leave();
        return rc;
    }
    snprintf(text, sizeof(text), "MPI_Abort was called on %s with error code %d",
             c->name[0] != '\0' ? c->name : "a communicator without name", errorcode);
    fm_log_error("%s", text);
    /* All processes of the job end, not those of comm alone, as 9.7 allows. */
    fm_runtime_abort(errorcode, text, false);
}
FM_ALIAS(Abort)

int PMPI_Get_processor_name(char *name, int *resultlen)
{
    if (!name || !resultlen) {
        return fm_raise(NULL, "MPI_Get_processor_name", MPI_ERR_ARG,
                        "%s is NULL: pass a buffer of MPI_MAX_PROCESSOR_NAME characters and the "
                        "address of an int",
                        name ? "resultlen" : "name");
    }
    if (gethostname(name, MPI_MAX_PROCESSOR_NAME) != 0) {
        return fm_raise(NULL, "MPI_Get_processor_name", MPI_ERR_OTHER,
                        "the system does not provide the name of this host");
    }
    name[MPI_MAX_PROCESSOR_NAME - 1] = '\0';
    *resultlen = (int)strlen(name);
    return MPI_SUCCESS;
}
FM_ALIAS(Get_processor_name)

/* 9.1.2: per type of hardware whether this process is restricted to one instance; empty where
   nobody can tell. */
static int fill_hw_info(struct fm_info *info)
{
    int instances[FM_LOCALITY_N_TYPES];
    int rc = 0;

    if (fm_locality_read(instances) != 0) {
        fm_log_warn("MPI_Get_hw_resource_info: %s", fm_why());
        return 0;
    }
    for (int k = 0; k < FM_LOCALITY_N_TYPES && rc == 0; k++) {
        if (instances[k] != FM_LOCALITY_ABSENT) {
            rc = fm_info_set(info, fm_locality_type_name(k), instances[k] >= 0 ? "true" : "false");
        }
    }
    return rc;
}

int PMPI_Get_hw_resource_info(MPI_Info *hw_info)
{
    struct fm_info *made;
    int rc;

    if (!hw_info) {
        return fm_raise(NULL, "MPI_Get_hw_resource_info", MPI_ERR_ARG,
                        "hw_info is NULL: pass the address of an MPI_Info");
    }
    fm_api_enter(FM_CALL);
    made = fm_info_create();
    rc = made ? fill_hw_info(made) : -FM_E_NOMEM;
    if (rc == 0) {
        *hw_info = fm_handle_of(made);
    } else {
        fm_info_unref(made);
        rc = fm_raise_status(NULL, "MPI_Get_hw_resource_info", rc);
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Get_hw_resource_info)

int PMPI_Get_version(int *version, int *subversion)
{
    if (!version || !subversion) {
        return fm_raise(NULL, "MPI_Get_version", MPI_ERR_ARG, "%s is NULL: pass its address",
                        version ? "subversion" : "version");
    }
    *version = MPI_VERSION;
    *subversion = MPI_SUBVERSION;
    return MPI_SUCCESS;
}
FM_ALIAS(Get_version)

int PMPI_Get_library_version(char *version, int *resultlen)
{
    if (!version || !resultlen) {
        return fm_raise(NULL, "MPI_Get_library_version", MPI_ERR_ARG,
                        "%s is NULL: pass MPI_MAX_LIBRARY_VERSION_STRING characters of memory and "
                        "the address of an int",
                        version ? "resultlen" : "version");
    }
    *resultlen = snprintf(version, MPI_MAX_LIBRARY_VERSION_STRING,
                          "Fathom %s, MPI %d.%d, standard ABI %d.%d", FM_VERSION, MPI_VERSION,
                          MPI_SUBVERSION, MPI_ABI_VERSION, MPI_ABI_SUBVERSION);
    return MPI_SUCCESS;
}
FM_ALIAS(Get_library_version)

/* The alignment in the user's hint (MPI-5.0 9.2), else that of malloc(); -1: an invalid hint. */
static long alignment_of(const struct fm_info *info)
{
    const char *text = info ? fm_info_find(info, "mpi_minimum_memory_alignment") : NULL;
    char *end;
    long n;

    if (!text) {
        return (long)sizeof(max_align_t);
    }
    n = strtol(text, &end, 10);
    if (end == text || *end != '\0' || n <= 0 || (n & (n - 1)) != 0) {
        return -1;
    }
    return n > (long)sizeof(max_align_t) ? n : (long)sizeof(max_align_t);
}

int PMPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr)
{
    const struct fm_info *i = fm_info_get(info);
    long alignment = alignment_of(i);
    void *memory;
    int rc = MPI_SUCCESS;

    fm_api_enter(FM_CALL);
    if (!baseptr || size < 0) {
        rc = fm_raise(NULL, "MPI_Alloc_mem", MPI_ERR_ARG,
                      baseptr ? "size is %lld: it cannot be negative"
                              : "baseptr is NULL: pass the address of a pointer (size is %lld)",
                      (long long)size);
    } else if (!i && info != MPI_INFO_NULL) {
        rc = fm_raise_handle(FM_KIND_INFO, "MPI_Alloc_mem", info, "info");
    } else if (alignment < 0) {
        rc = fm_raise(NULL, "MPI_Alloc_mem", MPI_ERR_INFO_VALUE,
                      "mpi_minimum_memory_alignment is \"%s\": it must be a power of two",
                      fm_info_find(i, "mpi_minimum_memory_alignment"));
    } else if (posix_memalign(&memory, (size_t)alignment, size > 0 ? (size_t)size : 1) != 0) {
        rc = fm_raise(NULL, "MPI_Alloc_mem", MPI_ERR_NO_MEM, "no memory for %lld bytes",
                      (long long)size);
    } else {
        *(void **)baseptr = memory;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Alloc_mem)

int PMPI_Free_mem(void *base)
{
    free(base);
    return MPI_SUCCESS;
}
FM_ALIAS(Free_mem)

/* For profiling layers to replace; without one it does nothing (MPI-5.0 15.2.4). */
int PMPI_Pcontrol(const int level, ...)
{
    return MPI_SUCCESS;
}
FM_ALIAS(Pcontrol)
