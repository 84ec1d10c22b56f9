/* SPDX-License-Identifier: Apache-2.0 */
/* One short side, too long for registers: K planes of N elements on one side, N records of K
 * elements on the other. The records are dense, so together they are one run of memory.
 *
 *      records: one run                          planes: K long rows, which begin anywhere
 *      a0 b0 c0 ... a1 b1 c1 ... a2 b2 ...       |     |  a0|a1 a2 a3 ... |
 *      |     |     |     |     |  chunks  <--->  |b0 b1 b2|b3 ...         |   chunks of 16 bytes
 *                                                |     |c0 c1|c2 ...      |
 *
 * In shared memory the records of a block lie as they do in the run. So the run is copied in
 * aligned chunks of 16 bytes, wherever records begin. A vector of a plane has elements of as many
 * records. A thread reads them from shared memory one by one, or writes them there, and moves the
 * vector in one access.
 *
 * Planes are moved from boundary to boundary, each from its own. To write them, a block takes a few
 * records more than its own: every plane's piece begins at that plane's next boundary. To read
 * them, it begins at the boundary before; what is read too early or too late has place in shared
 * memory before and after the block's records.
 *
 * Bank conflicts. A unit is as many records as a vector has elements: K chunks. Eight lanes move
 * eight vectors of a plane, whose elements are K chunks apart. If K is odd, they lie in different
 * columns of banks, which are a chunk wide. If K is even, a chunk of padding after each unit has
 * the same effect. The other 24 lanes of a warp have other planes, chosen so that their elements
 * are in other words of these columns. */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 4 /* bytes */
#endif
#ifndef AXES
#define AXES 1 /* of the batch */
#endif
#ifndef FEW_ROWS
#define FEW_ROWS 0 /* 0: few columns, records to planes; 1: few rows, planes to records */
#endif
#ifndef SHIFT
#define SHIFT 1 /* 1: planes begin anywhere; 0: all on a boundary of 32 bytes */
#endif
#ifndef ROTATE
#define ROTATE 0 /* 1: lanes begin at different words, else they would meet in a bank */
#endif
#ifndef BYTES
#define BYTES 256 /* of a plane per block */
#endif
#ifndef ALIGN
#define ALIGN 32 /* bytes: the boundaries from which planes are moved */
#endif
#ifndef THREADS
#define THREADS 512 /* per block */
#endif
#ifndef COPY
#define COPY 0 /* the run: by the threads (0), read by cp.async (1), written by bulk copies (2) */
#endif
#ifndef UNROLL
#define UNROLL 4 /* chunks in flight per thread, if they go through registers */
#endif

using namespace at;

using element = word<ELEM_SIZE>;

enum { COPY_THREADS, COPY_ASYNC, COPY_BULK };

constexpr int unit_records = 16 / ELEM_SIZE;
/* Records that a block holds besides its own. */
constexpr int slack_records = SHIFT ? ALIGN / ELEM_SIZE : 0;
/* A block's own records, at most, and what their number is a multiple of, so that all blocks'
 * pieces are cut at the same boundaries. */
constexpr int block_records = BYTES / ELEM_SIZE - FEW_ROWS * slack_records;
constexpr int granule_bytes = block_records * ELEM_SIZE % 32 == 0 ? 32 : 16;
constexpr int granule_records = granule_bytes / ELEM_SIZE;

/* ---- the run in shared memory ---- */

/* Where records are in shared memory. A chunk that parts of two units share is there twice, the
 * second time after the padding; it is that padding, if the run does not begin on the boundary of a
 * chunk. */
struct run_layout {
    int k;
    int first;  /* bytes from a chunk's boundary to the run */
    int padded; /* a mask: the bits of a record's number that count for padding */
    int pad;    /* chunks after each unit: 0 or 1 */

    __device__ __forceinline__ run_layout(const void *run, int k)
        : k(k), first(bytes_past_boundary<16>(run)), padded(k % 2 ? 0 : -unit_records),
          pad(k % 2 ? 0 : 1)
    {
    }

    /* Return the offset of a record, counted from the first one held. 16 bytes of padding after
     * each unit are ELEM_SIZE per record. */
    __device__ __forceinline__ int offset(int record) const
    {
        return first + (record * k + (record & padded)) * ELEM_SIZE;
    }
};

/* The chunks of a run: those from `first` to before `last` are copied whole. */
struct chunk_range {
    int first, last;
};

/* A chunk's number, and its place in a unit of K chunks. */
struct chunk_place {
    int number, unit, within;

    __device__ __forceinline__ chunk_place(int number, int k)
        : number(number), unit(number / k), within(number - number / k * k)
    {
    }

    /* Go on by THREADS chunks, which are `units` units and `rest` chunks. */
    __device__ __forceinline__ void step(int k, int units, int rest)
    {
        number += THREADS;
        unit += units;
        within += rest;
        if (within >= k) {
            within -= k;
            unit++;
        }
    }
};

/* ---- bulk copies (PTX ISA, cp.async.bulk, fence.proxy) ---- */

/* Copy whole chunks of shared memory to the run, and wait until shared memory has been read.
 * `skip`: the chunks at the start of each unit that are not copied. Called by the first warp. */
__device__ __forceinline__ void bulk_store_chunks(unsigned char *chunks, unsigned shared,
                                                  chunk_range range, run_layout layout, int skip)
{
    const int unit_chunks = layout.pad ? layout.k : range.last;

#pragma unroll 1
    for (int unit = threadIdx.x; unit * unit_chunks < range.last; unit += 32) {
        const int first = max(unit * unit_chunks + skip, range.first);
        const int last = min((unit + 1) * unit_chunks, range.last);

        if (first < last)
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                             chunks + first * 16),
                         "r"(shared + (first + unit * layout.pad) * 16), "r"((last - first) * 16)
                         : "memory");
    }
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

/* ---- elements in shared memory ---- */

/* A vector of a plane is made of parts of at least a bank, each with elements of part_records
 * records. */
constexpr int part_bytes = ELEM_SIZE < 4 ? 4 : ELEM_SIZE;
constexpr int parts = 16 / part_bytes;
constexpr int part_records = part_bytes / ELEM_SIZE;

using plane_vector = vector<16, part_bytes>;

/* Store an element, the lowest of a part. */
template <class T> __device__ __forceinline__ void store_element(unsigned to, T value)
{
    if constexpr (ELEM_SIZE == 1)
        asm volatile("st.shared.u8 [%0], %1;" ::"r"(to), "r"(value) : "memory");
    else if constexpr (ELEM_SIZE == 2)
        asm volatile("st.shared.u16 [%0], %1;" ::"r"(to), "r"(value) : "memory");
    else
        store_shared(to, value);
}

/* Rotate the parts by a number below `parts`: part 0 becomes part `by`. */
__device__ __forceinline__ plane_vector rotate(plane_vector value, int by)
{
#pragma unroll
    for (int step = 1; step < parts; step *= 2) {
        const plane_vector before = value;

#pragma unroll
        for (int i = 0; i < parts; i++)
            if (by & step)
                value.part[i] = before.part[(i + parts - step) % parts];
    }
    return value;
}

/* Gather a vector from the elements at these offsets, which begin with those of part `first`. */
template <class T>
__device__ __forceinline__ plane_vector gather(unsigned shared, const int (&offsets)[unit_records],
                                               int first)
{
    plane_vector result;

#pragma unroll
    for (int i = 0; i < parts; i++) {
        T records[part_records];

#pragma unroll
        for (int n = 0; n < part_records; n++)
            records[n] = load_extended<ELEM_SIZE, T>(shared + offsets[i * part_records + n]);
        result.part[i] = join_elements(records);
    }
    return ROTATE ? rotate(result, first) : result;
}

/* Scatter a vector to these offsets, likewise. */
template <class T>
__device__ __forceinline__ void scatter(unsigned shared, const int (&offsets)[unit_records],
                                        int first, plane_vector value)
{
    if constexpr (ROTATE)
        value = rotate(value, (parts - first) % parts);
#pragma unroll
    for (int i = 0; i < parts; i++) {
#pragma unroll
        for (int n = 0; n < part_records; n++) {
            T part = value.part[i];

            if constexpr (part_records > 1)
                part >>= n * ELEM_SIZE * 8;
            store_element(shared + offsets[i * part_records + n], part);
        }
    }
}

/* ---- the threads of a block ---- */

/* Eight lanes move eight vectors of a plane, and a warp those of four planes at a time. */
constexpr int sections = BYTES / 128; /* warps per plane */
constexpr int round_planes = THREADS / 32 / sections * 4;
/* From one plane of a thread to the next: planes at the same distance from a boundary. With few
 * threads, that leaves planes out, which a second round takes. */
constexpr int step_planes =
    SHIFT && round_planes < ALIGN / ELEM_SIZE ? ALIGN / ELEM_SIZE : round_planes;
constexpr int rounds = step_planes / round_planes;

/* A thread's first plane, the part with which it begins each vector, and which of a piece's vectors
 * it moves. From one plane to the next, the offsets of elements in their chunks change by `drift`
 * bytes: an element is ELEM_SIZE further in its record, and the plane's boundary is at another
 * record. Planes of a warp are so far apart that this puts them into different words. If no
 * distance does, eights of lanes begin with different parts, whose records are in different words
 * because K is odd then. */
struct thread_share {
    int plane;
    int first_part;
    int vector;
};

/* Find this thread's share in a round. */
__device__ __forceinline__ thread_share share_of_thread(int k, long long ld, int round)
{
    const int eight = threadIdx.x % 32 / 8;
    const int number = threadIdx.x / 32 / sections * 4 + eight;
    const int drift = (int)(1 - k * (SHIFT ? ld : 0)) * ELEM_SIZE;
    const int wanted = drift % 2 ? 4 : drift % 4 ? 2 : 1;
    const int apart = round_planes % (4 * wanted) == 0 ? wanted : 1;

    return {round * round_planes + number / (4 * apart) * (4 * apart) + number % 4 * apart +
                number / 4 % apart,
            ROTATE ? eight % parts : 0, (int)(threadIdx.x / 32 % sections * 8 + threadIdx.x % 8)};
}

/* Compute the offsets of a thread's elements, which begin with part `first_part` of the vector that
 * begins with a record. */
__device__ __forceinline__ void find_offsets(int (&offsets)[unit_records], run_layout layout,
                                             int record, thread_share share)
{
#pragma unroll
    for (int i = 0; i < unit_records; i++)
        offsets[i] =
            layout.offset(record + (i / part_records + share.first_part) % parts * part_records +
                          i % part_records) +
            share.plane * ELEM_SIZE;
}

/* Go on to other planes, `planes` further. */
__device__ __forceinline__ void step_offsets(int (&offsets)[unit_records], int planes)
{
#pragma unroll
    for (int i = 0; i < unit_records; i++)
        offsets[i] += planes * ELEM_SIZE;
}

/* ---- records to planes ---- */

/* What the blocks of a matrix have in common, and this block's part. */
struct block_part {
    int k;
    long long records;      /* of the matrix */
    long long ld;           /* of the planes */
    long long first_record; /* of the block's own */
    int own;                /* the block's own records */
    bool at_end;            /* whether vectors of this block can reach beyond the matrix */
};

/* Copy the records that the block holds to shared memory. */
__device__ __forceinline__ void read_run(unsigned char *shared, const element *run,
                                         run_layout layout, const block_part &part)
{
    constexpr int unroll = COPY == COPY_ASYNC ? 1 : UNROLL;
    const int held =
        (int)minimum<long long>(part.records - part.first_record, part.own + slack_records);
    const bool first_block = part.first_record == 0;
    const bool last_block = part.first_record + held == part.records;
    const int end = layout.first + held * part.k * ELEM_SIZE;
    const unsigned char *chunks = reinterpret_cast<const unsigned char *>(run) - layout.first;
    /* At the ends of the matrix, only chunks that it fills. */
    const chunk_range range = {first_block && layout.first > 0 ? 1 : 0,
                               last_block ? end / 16 : (end + 15) / 16};
    const unsigned to = shared_address(shared);
    const int step_units = THREADS / part.k, step_rest = THREADS - step_units * part.k;
    chunk_place at(range.first + threadIdx.x, part.k);

#pragma unroll 1
    while (at.number < range.last) {
        uint4 loaded[unroll];

#pragma unroll
        for (int i = 0; COPY == COPY_THREADS && i < unroll; i++)
            if (at.number + i * THREADS < range.last)
                loaded[i] = load<LOAD_PLAIN, 128>(
                    reinterpret_cast<const uint4 *>(chunks + (at.number + i * THREADS) * 16));
#pragma unroll
        for (int i = 0; i < unroll; i++) {
            const unsigned slot = to + (at.number + at.unit * layout.pad) * 16;

            if (at.number < range.last) {
                const bool again = layout.pad && layout.first > 0 && at.within == 0 && at.unit > 0;

                if constexpr (COPY == COPY_ASYNC) {
                    copy_async<128>(slot, chunks + at.number * 16);
                    if (again)
                        copy_async<128>(slot - 16, chunks + at.number * 16);
                } else {
                    store_shared(slot, loaded[i]);
                    if (again)
                        store_shared(slot - 16, loaded[i]);
                }
            }
            at.step(part.k, step_units, step_rest);
        }
    }
    if (ELEM_SIZE < 16 && (first_block || last_block)) {
        const int head = range.first * (16 - layout.first) / ELEM_SIZE;
        const int tail = last_block ? end % 16 / ELEM_SIZE : 0;
        const int i = threadIdx.x;

        if (i < head + tail) {
            const int number = i < head ? i : held * part.k - 1 - (i - head);
            const int record = number / part.k;

            *reinterpret_cast<element *>(shared + layout.offset(record) +
                                         (number - record * part.k) * ELEM_SIZE) = run[number];
        }
    }
}

/* Write the pieces of a round's planes. to: the place of the block's first record in plane 0. */
__device__ __forceinline__ void write_planes(element *to, const unsigned char *shared,
                                             run_layout layout, const block_part &part, int round)
{
    constexpr int unroll = ELEM_SIZE < 4 ? 2 : 4;
    const thread_share share = share_of_thread(part.k, part.ld, round);
    /* All planes of a thread are equally far from a boundary, because step_planes elements are a
     * multiple of ALIGN. */
    const int boundary =
        SHIFT ? bytes_to_boundary<ALIGN>(to + share.plane * part.ld) / ELEM_SIZE : 0;
    const int record = boundary + share.vector * unit_records;
    const bool inside = share.vector * unit_records < part.own &&
                        (!part.at_end || part.first_record + record + unit_records <= part.records);
    const unsigned from = shared_address(shared);
    element *vector = to + share.plane * part.ld + record;
    int offsets[unit_records];

    find_offsets(offsets, layout, record, share);
#pragma unroll 1
    for (int plane = share.plane; inside && plane < part.k; plane += unroll * step_planes) {
#pragma unroll
        for (int i = 0; i < unroll; i++) {
            if (plane + i * step_planes < part.k)
                store<STORE_PLAIN>(reinterpret_cast<uint4 *>(vector),
                                   gather<word<part_bytes>>(from + i * step_planes * ELEM_SIZE,
                                                            offsets, share.first_part)
                                       .whole);
            vector += step_planes * part.ld;
        }
        step_offsets(offsets, unroll * step_planes);
    }
    if (!part.at_end)
        return;

    /* What whole vectors leave: the first elements of the matrix's planes, and the last ones. */
    const int left = (int)minimum<long long>(part.records - part.first_record, part.own + boundary);
    const int head = part.first_record == 0 ? (boundary < left ? boundary : left) : 0;
    const int tail = left > boundary ? (left - boundary) % unit_records : 0;

#pragma unroll 1
    for (int plane = share.plane; plane < part.k; plane += step_planes)
#pragma unroll 1
        for (int i = share.vector; i < head + tail; i += sections * 8) {
            const int number = i < head ? i : left - 1 - (i - head);

            to[plane * part.ld + number] = *reinterpret_cast<const element *>(
                shared + layout.offset(number) + plane * ELEM_SIZE);
        }
}

/* ---- planes to records ---- */

/* Copy elements of a plane to shared memory: the records of a vector that are the block's own. */
__device__ __forceinline__ void read_elements(unsigned char *shared, const element *from,
                                              run_layout layout, const block_part &part, int plane,
                                              int record)
{
#pragma unroll 1
    for (int i = max(record, 0); i < min(record + unit_records, part.own); i++)
        *reinterpret_cast<element *>(shared + layout.offset(slack_records + i) +
                                     plane * ELEM_SIZE) = from[plane * part.ld + i];
}

/* Read the pieces of a round's planes into shared memory. from: the place of the block's first
 * record in plane 0. */
__device__ __forceinline__ void read_planes(unsigned char *shared, const element *from,
                                            run_layout layout, const block_part &part, int round)
{
    const thread_share share = share_of_thread(part.k, part.ld, round);
    /* As in write_planes(). */
    const int past =
        SHIFT ? bytes_past_boundary<ALIGN>(from + share.plane * part.ld) / ELEM_SIZE : 0;
    const int record = share.vector * unit_records - past;
    /* Vectors before the first plane and after the last one are not in the matrix. */
    const bool early = part.at_end && share.plane == 0 && part.first_record + record < 0;
    const bool late = part.at_end && part.first_record + record + unit_records > part.records;
    const unsigned to = shared_address(shared);
    const long long step = step_planes * part.ld;
    int plane = share.plane, last = late ? part.k - 1 : part.k;
    const element *vector = from + plane * part.ld + record;
    int offsets[unit_records];

    if (record >= part.own || record + unit_records <= 0)
        return;
    find_offsets(offsets, layout, slack_records + record, share);
    if (early) {
        read_elements(shared, from, layout, part, 0, record);
        plane += step_planes;
        vector += step;
        step_offsets(offsets, step_planes);
    }
#pragma unroll 1
    for (; plane < last; plane += UNROLL * step_planes) {
        plane_vector loaded[UNROLL];

#pragma unroll
        for (int i = 0; i < UNROLL; i++) {
            if (plane + i * step_planes < last)
                loaded[i].whole = load<LOAD_PLAIN, 128>(reinterpret_cast<const uint4 *>(vector));
            vector += step;
        }
#pragma unroll
        for (int i = 0; i < UNROLL; i++)
            if (plane + i * step_planes < last)
                scatter<word<part_bytes>>(to + i * step_planes * ELEM_SIZE, offsets,
                                          share.first_part, loaded[i]);
        step_offsets(offsets, UNROLL * step_planes);
    }
    if (late && part.k - 1 >= share.plane && (part.k - 1 - share.plane) % step_planes == 0)
        read_elements(shared, from, layout, part, part.k - 1, record);
}

/* Copy the block's own records from shared memory to the run. */
__device__ __forceinline__ void write_run(element *run, const unsigned char *shared,
                                          run_layout layout, const block_part &part)
{
    const int bytes = part.own * part.k * ELEM_SIZE;
    unsigned char *chunks = reinterpret_cast<unsigned char *>(run) - layout.first;
    const unsigned char *own_shared =
        shared + slack_records / unit_records * (part.k + layout.pad) * 16;
    const unsigned from = shared_address(own_shared);
    const bool aligned = layout.first == 0;
    const chunk_range range = {aligned ? 0 : 1, (layout.first + bytes) / 16};
    /* Chunks that two units share are written by elements. */
    const int skip = aligned ? 0 : layout.pad;

    if constexpr (COPY == COPY_BULK) {
        if (threadIdx.x < 32)
            bulk_store_chunks(chunks, from, range, layout, skip);
    } else {
        const int step_units = THREADS / part.k, step_rest = THREADS - step_units * part.k;
        chunk_place at(range.first + threadIdx.x, part.k);

#pragma unroll 1
        while (at.number < range.last) {
            constexpr int unroll = 4;
            uint4 loaded[unroll];
            int slots[unroll]; /* negative: not to be copied */

#pragma unroll
            for (int i = 0; i < unroll; i++) {
                slots[i] = at.number < range.last && at.within >= skip
                               ? at.number + at.unit * layout.pad
                               : -1;
                at.step(part.k, step_units, step_rest);
            }
#pragma unroll
            for (int i = 0; i < unroll; i++)
                if (slots[i] >= 0)
                    loaded[i] = load_shared<uint4>(from + slots[i] * 16);
#pragma unroll
            for (int i = 0; i < unroll; i++)
                if (slots[i] >= 0)
                    store<STORE_PLAIN>(reinterpret_cast<uint4 *>(
                                           chunks + (at.number - (unroll - i) * THREADS) * 16),
                                       loaded[i]);
        }
    }
    if (ELEM_SIZE == 16)
        return;

    /* The chunks at both ends, and those that two units share. */
    const int heads = aligned ? 0 : layout.pad ? (range.last + part.k - 1) / part.k : 1;

#pragma unroll 1
    for (int i = threadIdx.x; i < (heads + 1) * unit_records; i += THREADS) {
        const int which = i / unit_records;
        const int chunk = which < heads ? which * part.k : range.last;
        const int byte = chunk * 16 - layout.first + i % unit_records * ELEM_SIZE;

        if (byte >= 0 && byte < bytes) {
            const int number = byte / ELEM_SIZE, record = number / part.k;

            run[number] = *reinterpret_cast<const element *>(
                own_shared + layout.offset(record) + (number - record * part.k) * ELEM_SIZE);
        }
    }
}

/* Threads per multiprocessor for which registers must suffice: fewer if many vectors and addresses
 * are in them. */
constexpr int min_threads = FEW_ROWS && (UNROLL > 2 || ELEM_SIZE >= 4) ? 1024 : 1536;

extern "C" __global__ void __launch_bounds__(THREADS, min_threads / THREADS)
    transpose(void *dst, const void *src, long long rows, long long cols, long long ld_src,
              long long ld_dst, batch_extents<AXES> batch, batch_strides<AXES> stride_src,
              batch_strides<AXES> stride_dst)
{
    unsigned char *shared = dynamic_shared();
    const long long records = FEW_ROWS ? cols : rows;
    const int k = FEW_ROWS ? rows : cols;
    const unsigned blocks = (records + block_records - 1) / block_records; /* per matrix */
    const unsigned matrix = blockIdx.x / blocks;
    /* Even shares. */
    const int share =
        ((records + blocks - 1) / blocks + granule_records - 1) / granule_records * granule_records;
    const long long first_record = (long long)(blockIdx.x - matrix * blocks) * share;
    const batch_place<AXES> place = place_in(batch, matrix);
    const element *from = static_cast<const element *>(src) + place * stride_src;
    element *to = static_cast<element *>(dst) + place * stride_dst;
    const block_part part = {k,
                             records,
                             FEW_ROWS ? ld_src : ld_dst,
                             first_record,
                             (int)minimum<long long>(records - first_record, share),
                             first_record == 0 || first_record + share + slack_records > records};

    if constexpr (FEW_ROWS) {
        const run_layout layout(to + first_record * k, k);

#pragma unroll 1
        for (int round = 0; round < rounds; round++)
            read_planes(shared, from + first_record, layout, part, round);
        if constexpr (COPY == COPY_BULK)
            fence_async_proxy();
        __syncthreads();
        write_run(to + first_record * k, shared, layout, part);
    } else {
        const run_layout layout(from + first_record * k, k);

        read_run(shared, from + first_record * k, layout, part);
        if constexpr (COPY == COPY_ASYNC)
            wait_for_copies();
        __syncthreads();
#pragma unroll 1
        for (int round = 0; round < rounds; round++)
            write_planes(to + first_record, shared, layout, part, round);
    }
}
