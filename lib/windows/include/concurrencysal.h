/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lock annotations, defined as empty.
 */
#ifndef PLX_WIN_CONCURRENCYSAL_H
#define PLX_WIN_CONCURRENCYSAL_H

#define _Interlocked_
#define _Interlocked_operand_
#define _No_competing_thread_begin_
#define _No_competing_thread_end_
#define _No_competing_thread_
#define _Benign_race_begin_
#define _Benign_race_end_
#define _Requires_no_locks_held_
#define _Guarded_by_(...)
#define _Write_guarded_by_(...)
#define _Requires_lock_held_(...)
#define _Requires_lock_not_held_(...)
#define _Requires_exclusive_lock_held_(...)
#define _Requires_shared_lock_held_(...)
#define _Acquires_lock_(...)
#define _Acquires_exclusive_lock_(...)
#define _Acquires_shared_lock_(...)
#define _Acquires_nonreentrant_lock_(...)
#define _Acquires_nonreentrant_exclusive_lock_(...)
#define _Acquires_nonreentrant_shared_lock_(...)
#define _Releases_lock_(...)
#define _Releases_exclusive_lock_(...)
#define _Releases_shared_lock_(...)
#define _Releases_nonreentrant_lock_(...)
#define _Releases_nonreentrant_exclusive_lock_(...)
#define _Releases_nonreentrant_shared_lock_(...)
#define _Create_lock_level_(...)
#define _Has_lock_level_(...)
#define _Lock_level_order_(...)
#define _Has_lock_kind_(...)
#define _Post_same_lock_(...)

#endif
