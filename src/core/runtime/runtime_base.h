/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The base of the runtime: registry, process manager, rooms of objects, channel and transports. It
 * is up while the world or a session uses MPI, and may be left and entered again between sessions.
 */
#pragma once

/* Bring the base up. 0 or a failure, and nothing is left. */
int fm_runtime_base_open(void);
/* No user is left; peers may still reach this process. */
void fm_runtime_base_leave(void);
/* A user comes after the base was left. 0 or a failure. */
int fm_runtime_base_enter(void);
/* Take down a base that was left. */
void fm_runtime_base_close(void);
