/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Segments: files without a name, which nobody can cut while others have them mapped.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plx_adapter.h"
#include "plx_san_companion.h"
#include "plx_san_segment.h"

enum {
	SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL,
	PAGE = 4096,
};

static size_t
bytes_of(const struct plx_san_config *config)
{
	size_t bytes = sizeof(struct san_shared) + (size_t)config->in_bytes + config->out_bytes +
		       san_companion_bytes(config);

	return (bytes + PAGE - 1) / PAGE * PAGE;
}

/* As memory that can be registered: who goes on finds the messages there. It has the descriptor
 * from then on, as one of its own. */
static int
map(struct san_segment *segment)
{
	uint8_t *memory = plx_mem_map(segment->fd, NULL);

	if (memory == NULL)
		return ENOMEM;
	close(segment->fd);
	segment->fd = plx_mem_file(memory);
	segment->shared = (struct san_shared *)memory;
	segment->rings.in = memory + sizeof(struct san_shared);
	segment->rings.out = segment->rings.in + segment->config.in_bytes;
	segment->messages = segment->rings.out + segment->config.out_bytes;
	return 0;
}

void
san_segment_stream(const struct san_segment *segment, struct plx_san_stream *out)
{
	const struct san_records *records = &segment->shared->records;

	*out = records->record[atomic_load(&records->newest) & 1].stream;
}

/* A store that others see at once costs more than a look. */
static void
say(_Atomic uint64_t *to, uint64_t value)
{
	if (atomic_load_explicit(to, memory_order_relaxed) != value)
		atomic_store(to, value);
}

uint32_t
san_segment_publish(struct san_segment *segment, const struct plx_san_stream *stream)
{
	struct san_shared *shared = segment->shared;
	const struct plx_san_in *in = &stream->in;
	bool shut = stream->out.fin_wanted;
	uint32_t ready = (plx_san_readable(stream) > 0 ? SAN_READY_IN : 0) |
			 (plx_san_room(stream) > 0 || shut ? SAN_READY_OUT : 0) |
			 (in->fin ? SAN_READY_END : 0) | (shut ? SAN_READY_SHUT : 0) |
			 (in->urgent ? SAN_READY_URGENT : 0);

	say(&shared->arrived, in->placed + in->fin + in->urgent);
	say(&shared->released, stream->out.released);
	if (atomic_load_explicit(&shared->ready, memory_order_relaxed) != ready)
		atomic_store(&shared->ready, ready);
	return ready;
}

int
san_segment_make(struct san_segment *segment, const struct plx_san_config *config)
{
	int error = 0;

	*segment = (struct san_segment){.config = *config, .bytes = bytes_of(config)};
	segment->fd = memfd_create("pollux-session", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (segment->fd < 0)
		return errno;
	if (ftruncate(segment->fd, (off_t)segment->bytes) != 0 ||
	    fcntl(segment->fd, F_ADD_SEALS, SEALS) != 0)
		error = errno;
	if (error == 0)
		error = map(segment);
	if (error != 0)
		san_segment_free(segment);
	return error;
}

int
san_segment_map(struct san_segment *segment, const struct plx_san_config *config, int fd)
{
	struct stat file;
	int error = EPROTO;

	*segment = (struct san_segment){.fd = fd, .config = *config, .bytes = bytes_of(config)};
	if (fstat(fd, &file) == 0 && (size_t)file.st_size == segment->bytes &&
	    (fcntl(fd, F_GET_SEALS) & F_SEAL_SHRINK))
		error = map(segment);
	if (error != 0)
		san_segment_free(segment);
	return error;
}

void
san_segment_free(struct san_segment *segment)
{
	if (segment->shared == NULL && segment->fd >= 0)
		close(segment->fd);
	plx_mem_free(segment->shared);
	*segment = (struct san_segment){.fd = -1};
}
