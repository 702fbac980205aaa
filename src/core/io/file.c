/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening and closing files, their sizes, and what all processes of a file agree on. */
#include "core/io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/coll/coll.h"
#include "core/comm/comm_make.h"
#include "core/io/file_counters.h"
#include "core/io/file_shared.h"
#include "core/object/errhandler.h"
#include "core/object/info.h"
#include "util/status.h"

#define MAX_FILES 65536

/* Its error handler is the one of files that are opened later; guarded by the lock of error
   handlers. */
struct fm_file fm_file_null = {
    .head = {.kind = FM_KIND_FILE, .handle = (uint16_t)(uintptr_t)MPI_FILE_NULL, .refs = 1},
    .fd = -1};

int fm_file_init(void *block)
{
    fm_io_counters_init(block);
    fm_errhandler_place(FM_KIND_FILE, offsetof(struct fm_file, errhandler));
    if (!fm_file_null.errhandler) {
        fm_file_null.errhandler = fm_errhandler_ref(fm_errhandler_get(MPI_ERRORS_RETURN));
    }
    return fm_handle_pool(FM_KIND_FILE, sizeof(struct fm_file), MAX_FILES);
}

/* ---- errors ---- */

static int class_of_errno(int error)
{
    switch (error) {
    case EACCES:
    case EPERM:
        return MPI_ERR_ACCESS;
    case ENOENT:
        return MPI_ERR_NO_SUCH_FILE;
    case EEXIST:
        return MPI_ERR_FILE_EXISTS;
    case ENOSPC:
    case EFBIG:
        return MPI_ERR_NO_SPACE;
    case EDQUOT:
        return MPI_ERR_QUOTA;
    case EROFS:
        return MPI_ERR_READ_ONLY;
    case ENAMETOOLONG:
    case ENOTDIR:
    case EISDIR:
    case ELOOP:
    case ENXIO:
        return MPI_ERR_BAD_FILE;
    case EBUSY:
    case ETXTBSY:
        return MPI_ERR_FILE_IN_USE;
    case EINVAL:
        return MPI_ERR_ARG;
    case ESPIPE:
    case EOPNOTSUPP:
        return MPI_ERR_UNSUPPORTED_OPERATION;
    case ENOMEM:
    case EMFILE:
    case ENFILE:
        return MPI_ERR_NO_MEM;
    default:
        return MPI_ERR_IO;
    }
}

int fm_file_errno(int error, const char *what, const char *path)
{
    return fm_fail(class_of_errno(error), "cannot %s '%s': %s", what, path, strerror(error));
}

static int allreduce(struct fm_comm *comm, MPI_Count *value, MPI_Op op)
{
    const struct fm_buf b = {value, 1, fm_dtype_get(MPI_COUNT)};

    return comm->size == 1 ? 0 : fm_allreduce(MPI_IN_PLACE, &b, fm_op_get(op), comm);
}

/* Failures below are classes here, so that processes can compare them. */
static int outcome_of(int rc)
{
    return rc < 0 ? fm_error_class_of(rc) : rc;
}

static int agree(struct fm_comm *comm, const char *path, int rc)
{
    MPI_Count worst = outcome_of(rc);
    int failure = allreduce(comm, &worst, MPI_MAX);

    if (failure) {
        return failure;
    }
    if (worst && !rc) {
        return fm_fail((int)worst, "another process of '%s' failed with %s", path,
                       fm_error_name((int)worst) ? fm_error_name((int)worst) : "an error");
    }
    return worst ? (int)worst : 0;
}

int fm_file_agree(const struct fm_file *f, int rc)
{
    return agree(f->comm, f->path, rc);
}

static int same(struct fm_comm *comm, MPI_Count value, const char *what)
{
    MPI_Count least = value, most = value;
    int rc = allreduce(comm, &least, MPI_MIN);

    rc = rc ? rc : allreduce(comm, &most, MPI_MAX);
    if (rc) {
        return rc;
    }
    return least == most ? 0
                         : fm_fail(MPI_ERR_NOT_SAME,
                                   "%s differs among the processes of the file "
                                   "(%lld to %lld): it must be the same in all",
                                   what, (long long)least, (long long)most);
}

int fm_file_same(const struct fm_file *f, MPI_Count value, const char *what)
{
    return same(f->comm, value, what);
}

/* ---- open ---- */

/* Names of file systems that other libraries take in front of a path ("ufs:/scratch/x"). */
static const char *without_prefix(const char *path)
{
    static const char *const known[] = {
        "ufs:",    "nfs:",  "xfs:",    "panfs:",   "pvfs2:", "gpfs:",
        "lustre:", "daos:", "testfs:", "gridftp:", "bb:",    "file:"};

    for (size_t k = 0; k < FM_ARRAY_LEN(known); k++) {
        if (strncmp(path, known[k], strlen(known[k])) == 0) {
            return path + strlen(known[k]);
        }
    }
    return path;
}

/* MPI-5.0 14.2.1: exactly one way of access, and what does not go together. */
static int check_amode(int amode)
{
    const int all = MPI_MODE_RDONLY | MPI_MODE_RDWR | MPI_MODE_WRONLY | MPI_MODE_CREATE |
                    MPI_MODE_EXCL | MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_UNIQUE_OPEN |
                    MPI_MODE_SEQUENTIAL | MPI_MODE_APPEND;
    int way = amode & (MPI_MODE_RDONLY | MPI_MODE_RDWR | MPI_MODE_WRONLY);

    if (amode & ~all) {
        return fm_fail(MPI_ERR_AMODE, "amode %#x has bits that are no MPI_MODE of files",
                       (unsigned)amode);
    }
    if (way != MPI_MODE_RDONLY && way != MPI_MODE_RDWR && way != MPI_MODE_WRONLY) {
        return fm_fail(MPI_ERR_AMODE,
                       "amode must hold exactly one of MPI_MODE_RDONLY, MPI_MODE_RDWR "
                       "and MPI_MODE_WRONLY");
    }
    if (way == MPI_MODE_RDONLY && (amode & (MPI_MODE_CREATE | MPI_MODE_EXCL))) {
        return fm_fail(MPI_ERR_AMODE, "MPI_MODE_CREATE and MPI_MODE_EXCL do not go together with "
                                      "MPI_MODE_RDONLY");
    }
    if (way == MPI_MODE_RDWR && (amode & MPI_MODE_SEQUENTIAL)) {
        return fm_fail(MPI_ERR_AMODE,
                       "MPI_MODE_SEQUENTIAL does not go together with MPI_MODE_RDWR");
    }
    return 0;
}

static int open_flags(int amode)
{
    return O_CLOEXEC | (amode & MPI_MODE_RDONLY ? O_RDONLY
                        : amode & MPI_MODE_RDWR ? O_RDWR
                                                : O_WRONLY);
}

static int open_one(struct fm_file *f, int extra)
{
    struct stat st;

    f->fd = open(f->path, open_flags(f->amode) | extra, 0666);
    if (f->fd < 0) {
        return fm_file_errno(errno, extra & O_CREAT ? "create" : "open", f->path);
    }
    if (fstat(f->fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        return fm_file_errno(EISDIR, "open", f->path);
    }
    return 0;
}

/* Rank 0 makes the file, the others find it there: with MPI_MODE_EXCL only one may make it. */
static int open_all(struct fm_file *f)
{
    int extra =
        (f->amode & MPI_MODE_CREATE ? O_CREAT : 0) | (f->amode & MPI_MODE_EXCL ? O_EXCL : 0);
    int rc = f->comm->rank == 0 ? open_one(f, extra) : 0;

    if (extra) {
        rc = fm_file_agree(f, rc);
    }
    if (rc == 0 && f->comm->rank != 0) {
        rc = open_one(f, 0);
    }
    return fm_file_agree(f, rc);
}

static void drop(struct fm_file *f)
{
    fm_file_shared_drop(f);
    if (f->fd >= 0) {
        close(f->fd);
    }
    fm_file_view_finish(&f->view);
    fm_info_unref(f->info);
    fm_errhandler_unref(f->errhandler);
    fm_comm_unref(f->comm);
    free(f->path);
    fm_object_free(f);
}

/* Local: everything but the descriptor. Takes over comm. */
static int make(struct fm_comm *comm, const char *path, int amode, const struct fm_info *info,
                struct fm_file **out_file)
{
    struct fm_file *f = fm_object_new(FM_KIND_FILE);

    if (!f) {
        fm_comm_unref(comm);
        return -FM_E_NOMEM;
    }
    f->comm = comm;
    f->fd = -1;
    f->amode = amode;
    f->errhandler = fm_errhandler_ref(fm_file_null.errhandler);
    f->path = strdup(without_prefix(path));
    f->info = fm_info_create();
    fm_file_view_default(&f->view);
    *out_file = f;
    if (!f->path || !f->info) {
        return fm_fail(-FM_E_NOMEM, "no memory for a file");
    }
    return fm_file_hints_set(f, info);
}

/* With MPI_MODE_APPEND all pointers stand at the end of the file (14.2.1). */
static int set_position(struct fm_file *f)
{
    return f->amode & MPI_MODE_APPEND ? fm_file_get_size(f, &f->at) : 0;
}

int fm_file_open(struct fm_comm *comm, const char *path, int amode, const struct fm_info *info,
                 struct fm_file **out_file)
{
    struct fm_comm *own;
    struct fm_file *f = NULL;
    int rc = agree(comm, path, check_amode(amode));

    rc = rc ? rc : same(comm, amode, "amode");
    rc = rc ? rc : fm_comm_make_create(comm, comm->group, &own);
    if (rc) {
        return rc;
    }
    rc = agree(comm, path, make(own, path, amode, info, &f));
    rc = rc ? rc : open_all(f);
    rc = rc ? rc : fm_file_agree(f, set_position(f));
    rc = rc ? rc : fm_file_shared_open(f, f->at);
    if (rc) {
        if (f) {
            drop(f);
        }
        return rc;
    }
    FM_STAT(fm_io_counters->n_opens++);
    *out_file = f;
    return 0;
}

/* ---- close, delete ---- */

int fm_file_delete(const char *path)
{
    const char *name = without_prefix(path);

    return unlink(name) == 0 ? 0 : fm_file_errno(errno, "delete", name);
}

static int flush(struct fm_file *f)
{
    if (!f->is_dirty) {
        return 0;
    }
    f->is_dirty = false;
    FM_STAT(fm_io_counters->n_syncs++);
    /* Pipes and the like hold nothing back (EINVAL, EROFS). */
    return fsync(f->fd) == 0 || errno == EINVAL || errno == EROFS
               ? 0
               : fm_file_errno(errno, "write back", f->path);
}

/* Closing synchronizes first (14.2.2), but for a file that is deleted. */
int fm_file_close(struct fm_file *f)
{
    bool is_deleted = f->amode & MPI_MODE_DELETE_ON_CLOSE;
    int rc = is_deleted ? 0 : flush(f);

    if (close(f->fd) != 0 && !rc) {
        rc = fm_file_errno(errno, "close", f->path);
    }
    f->fd = -1;
    rc = fm_file_agree(f, rc); /* no process has it open any more */
    if (!rc) {
        rc = fm_file_shared_close(f);
    }
    if (is_deleted && f->comm->rank == 0 && !rc) {
        rc = fm_file_delete(f->path);
    }
    if (is_deleted) {
        rc = fm_file_agree(f, rc);
    }
    FM_STAT(fm_io_counters->n_closes++);
    drop(f);
    return rc;
}

void fm_file_finish(void)
{
    struct fm_file *f;

    while ((f = (struct fm_file *)fm_handle_next(FM_KIND_FILE, NULL)) != NULL) {
        drop(f);
    }
}

/* ---- sizes and consistency ---- */

static int may_write(const struct fm_file *f)
{
    return f->amode & MPI_MODE_RDONLY
               ? fm_fail(MPI_ERR_READ_ONLY, "'%s' was opened with MPI_MODE_RDONLY", f->path)
               : 0;
}

static int check_size(const struct fm_file *f, MPI_Offset size)
{
    int rc = may_write(f);

    if (f->amode & MPI_MODE_SEQUENTIAL) {
        return fm_fail(MPI_ERR_UNSUPPORTED_OPERATION, "'%s' was opened with MPI_MODE_SEQUENTIAL",
                       f->path);
    }
    if (size < 0) {
        return fm_fail(MPI_ERR_ARG, "size is %lld, it must not be negative", (long long)size);
    }
    return rc;
}

/* Rank 0 does it for all. */
static int resize(struct fm_file *f, MPI_Offset size, int (*act)(int, off_t), const char *what)
{
    int rc = fm_file_agree(f, check_size(f, size));

    rc = rc ? rc : fm_file_same(f, size, "size");
    if (rc) {
        return rc;
    }
    if (f->comm->rank == 0) {
        int error = act(f->fd, size);

        rc = error ? fm_file_errno(error, what, f->path) : 0;
    }
    return fm_file_agree(f, rc);
}

static int truncate_to(int fd, off_t size)
{
    return ftruncate(fd, size) == 0 ? 0 : errno;
}

static int allocate_to(int fd, off_t size)
{
    return size ? posix_fallocate(fd, 0, size) : 0;
}

int fm_file_set_size(struct fm_file *f, MPI_Offset size)
{
    return resize(f, size, truncate_to, "set the size of");
}

int fm_file_preallocate(struct fm_file *f, MPI_Offset size)
{
    return resize(f, size, allocate_to, "reserve space for");
}

int fm_file_get_size(const struct fm_file *f, MPI_Offset *out_size)
{
    off_t end = lseek(f->fd, 0, SEEK_END); /* of block devices as well */

    if (end < 0) {
        return fm_file_errno(errno, "get the size of", f->path);
    }
    *out_size = end;
    return 0;
}

int fm_file_sync(struct fm_file *f)
{
    int rc = may_write(f) ? 0 : flush(f);

    return fm_file_agree(f, rc);
}

int fm_file_set_atomicity(struct fm_file *f, bool is_atomic)
{
    int rc = fm_file_same(f, is_atomic, "flag");

    if (!rc) {
        f->is_atomic = is_atomic;
    }
    return rc;
}

/* ---- views (14.3) ---- */

static int make_view(struct fm_file *f, MPI_Offset disp, struct fm_dtype *etype,
                     struct fm_dtype *filetype, const char *datarep, struct fm_file_view *out_view)
{
    if (disp == MPI_DISPLACEMENT_CURRENT) {
        return fm_fail(MPI_ERR_ARG,
                       "disp is MPI_DISPLACEMENT_CURRENT, which only files have that were "
                       "opened with MPI_MODE_SEQUENTIAL");
    }
    if (disp < 0) {
        return fm_fail(MPI_ERR_ARG, "disp is %lld, it must not be negative", (long long)disp);
    }
    return fm_file_view_make(disp, etype, filetype, datarep, !(f->amode & MPI_MODE_RDONLY),
                             out_view);
}

int fm_file_set_view(struct fm_file *f, MPI_Offset disp, struct fm_dtype *etype,
                     struct fm_dtype *filetype, const char *datarep, int error)
{
    struct fm_file_view view = {0};
    int rc = error ? error : make_view(f, disp, etype, filetype, datarep, &view);

    rc = fm_file_agree(f, rc);
    if (!rc) {
        rc = fm_file_same(f, view.etype->extent, "the extent of etype");
    }
    if (!rc) {
        rc = fm_file_same(f, view.rep, "datarep");
    }
    if (rc) {
        fm_file_view_finish(&view);
        return rc;
    }
    fm_file_view_finish(&f->view);
    f->view = view;
    f->at = 0;
    return fm_file_shared_set(f, 0);
}
