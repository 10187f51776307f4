/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The FIFO of control. Start with plx_san_tell().
 */
#include "plx_san_arbiter.h"

static uint64_t *
ticket(struct plx_san_arbiter *arbiter, uint32_t i)
{
	return &arbiter->ticket[(arbiter->first + i) % PLX_SAN_TICKETS_MAX];
}

void
plx_san_arbiter_begin(struct plx_san_arbiter *arbiter, uint64_t controller)
{
	*arbiter = (struct plx_san_arbiter){.phase = PLX_SAN_PHASE_HELD, .process = controller};
}

bool
plx_san_is_free(const struct plx_san_arbiter *arbiter, uint64_t process)
{
	return arbiter->phase == PLX_SAN_PHASE_HELD && arbiter->process == process &&
	       arbiter->count == 0;
}

bool
plx_san_ask(struct plx_san_arbiter *arbiter, uint64_t process)
{
	if (arbiter->phase == PLX_SAN_PHASE_OVER || arbiter->count == PLX_SAN_TICKETS_MAX)
		return false;
	*ticket(arbiter, arbiter->count++) = process;
	return true;
}

bool
plx_san_done(struct plx_san_arbiter *arbiter, uint64_t process)
{
	if (arbiter->phase != PLX_SAN_PHASE_HELD || !arbiter->told || arbiter->process != process)
		return false;
	arbiter->first = (arbiter->first + 1) % PLX_SAN_TICKETS_MAX;
	arbiter->count--;
	arbiter->told = false;
	return true;
}

bool
plx_san_gave(struct plx_san_arbiter *arbiter, uint64_t process)
{
	if (arbiter->phase != PLX_SAN_PHASE_WANTED || arbiter->process != process)
		return false;
	arbiter->phase = PLX_SAN_PHASE_GIVEN;
	arbiter->process = 0;
	return true;
}

bool
plx_san_took(struct plx_san_arbiter *arbiter, uint64_t process)
{
	if (arbiter->phase != PLX_SAN_PHASE_OFFERED || arbiter->process != process)
		return false;
	arbiter->phase = PLX_SAN_PHASE_HELD;
	return true;
}

bool
plx_san_seize(struct plx_san_arbiter *arbiter)
{
	if (arbiter->phase != PLX_SAN_PHASE_HELD && arbiter->phase != PLX_SAN_PHASE_WANTED &&
	    arbiter->phase != PLX_SAN_PHASE_OFFERED)
		return false;
	arbiter->phase = PLX_SAN_PHASE_SEIZED;
	arbiter->process = 0;
	arbiter->told = PLX_MUTANT(SAN_SEIZED_TOLD) && arbiter->told;
	return true;
}

bool
plx_san_seized(struct plx_san_arbiter *arbiter, uint64_t process)
{
	if (arbiter->phase != PLX_SAN_PHASE_SEIZED)
		return false;
	arbiter->phase = PLX_SAN_PHASE_HELD;
	arbiter->process = process;
	return true;
}

static void
forget_tickets(struct plx_san_arbiter *arbiter, uint64_t process)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < arbiter->count; i++)
		if (*ticket(arbiter, i) != process || PLX_MUTANT(SAN_TICKETS_STAY))
			*ticket(arbiter, kept++) = *ticket(arbiter, i);
	arbiter->count = kept;
}

/* Whoever was told to take control may have begun to: its death is that of a controller. */
void
plx_san_left(struct plx_san_arbiter *arbiter, uint64_t process, bool saved)
{
	if (arbiter->phase == PLX_SAN_PHASE_OVER)
		return;
	forget_tickets(arbiter, process);
	if (arbiter->process != process)
		return;
	arbiter->told = false;
	arbiter->process = 0;
	arbiter->phase = saved ? PLX_SAN_PHASE_GIVEN : PLX_SAN_PHASE_OVER;
	if (!saved)
		arbiter->count = 0;
}

bool
plx_san_is_abandoned(const struct plx_san_arbiter *arbiter)
{
	return arbiter->phase == PLX_SAN_PHASE_GIVEN && arbiter->count == 0;
}

/* ---- whom to tell ---- */

static enum plx_san_tell
tell_controller(struct plx_san_arbiter *arbiter, uint64_t *process)
{
	if (arbiter->count == 0 || arbiter->told)
		return PLX_SAN_TELL_NOTHING;
	if (PLX_MUTANT(SAN_TURN_OF_NEWEST) && arbiter->count > 1) {
		uint64_t newest = *ticket(arbiter, arbiter->count - 1);

		*ticket(arbiter, arbiter->count - 1) = *ticket(arbiter, 0);
		*ticket(arbiter, 0) = newest;
	}
	*process = arbiter->process;
	if (*ticket(arbiter, 0) == arbiter->process) {
		arbiter->told = true;
		return PLX_SAN_TELL_TURN;
	}
	arbiter->phase = PLX_SAN_PHASE_WANTED;
	return PLX_SAN_TELL_WANTED;
}

static enum plx_san_tell
tell_next(struct plx_san_arbiter *arbiter, uint64_t *process)
{
	if (arbiter->count == 0)
		return PLX_SAN_TELL_NOTHING;
	*process = arbiter->process = *ticket(arbiter, 0);
	arbiter->phase = PLX_SAN_PHASE_OFFERED;
	return PLX_SAN_TELL_TAKE;
}

static enum plx_san_tell
tell_everybody(struct plx_san_arbiter *arbiter)
{
	if (arbiter->told)
		return PLX_SAN_TELL_NOTHING;
	arbiter->told = true;
	return PLX_SAN_TELL_OVER;
}

enum plx_san_tell
plx_san_tell(struct plx_san_arbiter *arbiter, uint64_t *process)
{
	*process = 0;
	switch ((enum plx_san_phase)arbiter->phase) {
	case PLX_SAN_PHASE_HELD:
		return tell_controller(arbiter, process);
	case PLX_SAN_PHASE_GIVEN:
		return tell_next(arbiter, process);
	case PLX_SAN_PHASE_OVER:
		return tell_everybody(arbiter);
	case PLX_SAN_PHASE_WANTED:
	case PLX_SAN_PHASE_OFFERED:
	case PLX_SAN_PHASE_SEIZED:
	case PLX_SAN_PHASE_COUNT:
		break;
	}
	return PLX_SAN_TELL_NOTHING;
}
