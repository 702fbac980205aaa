/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers of sessions: attached, flushed, detached, and gone with their session (MPI-5.0 3.6). */
#include "../check.h"

int main(void)
{
    static char memory[1000];
    MPI_Session session;

    for (int round = 0; round < 3; round++) {
        MPI_Request r;
        MPI_Count len_c;
        void *addr;
        int len;

        OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
        OK(MPI_Session_attach_buffer(session, memory, sizeof(memory)));
        FAILS(MPI_Session_attach_buffer(session, memory, 10), MPI_ERR_BUFFER);
        OK(MPI_Session_flush_buffer(session));
        OK(MPI_Session_iflush_buffer(session, &r));
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        if (round != 1) { /* once it is left to the end of the session */
            OK(MPI_Session_detach_buffer(session, &addr, &len));
            CHECK(addr == memory);
            CHECK_EQ(len, sizeof(memory));
            FAILS(MPI_Session_detach_buffer(session, &addr, &len), MPI_ERR_BUFFER);
            OK(MPI_Session_attach_buffer_c(session, memory, 500));
            OK(MPI_Session_detach_buffer_c(session, &addr, &len_c));
            CHECK_EQ(len_c, 500);
        }
        OK(MPI_Session_finalize(&session));
    }
    return 0;
}
