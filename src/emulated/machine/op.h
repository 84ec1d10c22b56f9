/* SPDX-License-Identifier: Apache-2.0 */
/* The decoded form of a kernel: the folder ptx makes it from text, and block.c runs it.
 *
 * Everything that an instruction reads or writes is a row: the values of a warp's 32 lanes, one
 * after the other, in the width of the register (2, 4 or 8 bytes per lane; a predicate is a mask of
 * 32 bits). The rows of a warp lie in one piece of memory, its register file. An operand is the
 * offset of a row there. Constants and special registers are rows too, filled before the start
 * ("presets"), so the functions that execute instructions know only rows. */
#ifndef AT_EMULATED_MACHINE_OP_H
#define AT_EMULATED_MACHINE_OP_H

#include "emulated/machine/machine.h"
#include "numbers/numbers.h"

enum {
    AT_EMU_OPERANDS = 6,
    AT_EMU_UNITS_MAX = 8,           /* of a vector */
    AT_EMU_ROW_ALIGN = 64,          /* bytes; every row starts at a multiple */
    AT_EMU_PREDICATE = 0,           /* the "bytes per lane" of a predicate */
    AT_EMU_TRUE_ROW = 0,            /* a predicate that always holds: the default guard */
    AT_EMU_SINK_ROW = 64,           /* written and never read: the operand "_" */
    AT_EMU_FIRST_ROW = 64 + 8 * 32, /* after these two */
    AT_EMU_FILE_MAX = 4 << 20,      /* bytes of rows per warp */
    AT_EMU_SHARED_MAX = 1 << 20,    /* bytes per block */
    AT_EMU_LOCAL_MAX = 512 << 10, /* bytes per thread, as on all GPUs since compute capability 2 */
    /* Of recursive functions: calls, each within the other, and bytes of local memory. A GPU has a
     * stack of 1 KiB per thread, unless the host sets cudaLimitStackSize. */
    AT_EMU_DEPTH_MAX = 512,
    AT_EMU_STACK_MAX = 64 << 10,
    AT_EMU_PARAMS_MAX = 256,
    AT_EMU_PARAM_BYTES_MAX = 32764, /* PTX ISA, "Kernel Function Parameters" */
    AT_EMU_OPS_MAX = 1000000,
    /* Bytes between two shared arrays, so that an index beyond one is found: a multiple of all
     * alignments and of the banks' width, so that conflicts are as without it. */
    AT_EMU_SHARED_GAP = 4096,
};

/* The generic addresses of shared memory, local memory and the parameters (PTX ISA, "Generic
 * Addressing"), far above all that memory.c allocates. Constants have global addresses. */
#define AT_EMU_SHARED_WINDOW (UINT64_C(1) << 60)
#define AT_EMU_LOCAL_WINDOW  (UINT64_C(1) << 61)
#define AT_EMU_PARAM_WINDOW  (UINT64_C(1) << 62)

struct at_emu_op;
struct at_emu_warp;

/* Executes an instruction for the lanes of a mask that is not 0. */
typedef void at_emu_run_op(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes);

/* The effect of an instruction on control flow. */
enum at_emu_flow {
    AT_EMU_NEXT,
    AT_EMU_BRANCH,
    AT_EMU_BARRIER_WAIT,
    AT_EMU_EXIT,
    AT_EMU_SWITCH, /* brx.idx: a branch by a table */
    AT_EMU_GATHER, /* waits for the lanes that its last operand names */
    AT_EMU_CLOCK,  /* reads the thread's clock */
    AT_EMU_CALL,   /* of a function within itself: to its body's beginning */
    AT_EMU_RETURN, /* the end of a body that is called so */
};

enum at_emu_space {
    AT_EMU_GENERIC,
    AT_EMU_GLOBAL,
    AT_EMU_SHARED,
    AT_EMU_LOCAL,
    AT_EMU_PARAM,
    AT_EMU_CONST,
    AT_EMU_FRAME, /* arguments and results of functions: registers, to the memory system */
};

/* How an instruction treats a value that came from unwritten shared memory (block.c). */
enum at_emu_undefined {
    AT_EMU_SPREADS, /* an undefined source makes the results undefined */
    AT_EMU_SELECTS, /* selp: only the chosen one of two sources matters */
    AT_EMU_MOVES,   /* shfl: the function that executes it handles undefined lanes itself */
    AT_EMU_LOADS,   /* only the address must be defined */
    AT_EMU_STORES,  /* to shared or local memory: the same; an undefined value leaves it unwritten
                     */
    AT_EMU_USES,    /* all that it reads must be defined */
};

/* The order of an access and who sees it (PTX ISA, "Memory Consistency Model"). */
enum at_emu_order {
    AT_EMU_STRONG = 1,         /* relaxed, acquire, release, volatile, or atomic */
    AT_EMU_RELEASES = 2,       /* release, acq_rel; a fence */
    AT_EMU_OF_BLOCK = 4,       /* its scope is the block */
    AT_EMU_READ_ONLY_LOAD = 8, /* ld.global.nc */
};

/* setp: how its result is combined with another predicate. */
enum at_emu_combine { AT_EMU_AND, AT_EMU_OR, AT_EMU_XOR };

/* Where an instruction comes from: the number of a .file and a line, 0 if unknown. The caller is
 * the place where the code was inlined; without inlining it is the same place. */
struct at_emu_places {
    int file, line;
    int caller_file, caller_line;
};

/* How two numbers compare, and properties of numbers. */
enum at_emu_way { AT_EMU_LESS = 1, AT_EMU_EQUAL = 2, AT_EMU_GREATER = 4, AT_EMU_UNORDERED = 8 };
enum at_emu_property {
    AT_EMU_IS_FINITE,
    AT_EMU_IS_INFINITE,
    AT_EMU_IS_NUMBER,
    AT_EMU_IS_NAN,
    AT_EMU_IS_NORMAL,
    AT_EMU_IS_SUBNORMAL,
};

/* A floating-point operation of any format (ops_float.c). */
struct at_emu_real_sources;
typedef double at_emu_real_value(const struct at_emu_real_sources *sources);

struct at_emu_op {
    at_emu_run_op *run; /* NULL: only flow matters */
    uint32_t row[AT_EMU_OPERANDS];
    uint8_t result_count; /* the first rows are results, the others sources */
    uint8_t row_count;
    uint8_t flow;        /* at_emu_flow */
    uint8_t undefined;   /* at_emu_undefined */
    uint32_t guard;      /* row of the predicate */
    uint32_t guard_flip; /* xored with it: all ones for @!p */
    uint32_t target;     /* of a branch; of a switch: the first of its targets in the kernel; of a
                          * recursive call: the call in the kernel's calls */
    uint32_t address;    /* row with the address of a memory access */
    union {
        struct {
            int64_t immediate;     /* an offset added to the address, or another constant */
            int64_t source_offset; /* cp.async: added to the source address */
            int64_t to_offset;     /* cp.async.bulk: added to the destination address */
        };
        /* Floats, one or two (units) of unit_bytes in a register of value_bytes. */
        struct {
            enum at_number format, to; /* of the sources; cvt: of the result */
            at_emu_real_value *value;
            int which;    /* set: at_emu_way, or-ed; testp: at_emu_property */
            uint64_t yes; /* set: the bits of a part of the result if it holds */
        } real;
        /* The rows with the number of a barrier and with its threads, AT_EMU_TRUE_ROW for all of
         * the block's; bar.arrive, which does not wait. */
        struct {
            uint32_t number, threads;
            bool arrives;
        } barrier;
        /* Per lane, of each row of an instruction that gathers lanes. */
        uint8_t operand_bytes[AT_EMU_OPERANDS];
        /* A function of CUDA's: the places in the frame of its result and arguments. */
        struct {
            uint32_t result, argument[3];
        } call;
    };
    uint8_t space; /* at_emu_space */
    bool store, atomic;
    bool past_l1;       /* cp.async.cg */
    uint8_t order;      /* at_emu_order, or-ed */
    uint8_t unit_bytes; /* of one element in memory */
    uint8_t units; /* of a vector; of an atomic operation 0: it is in the first one's request */
    uint8_t value_bytes; /* per lane, of the rows that hold the elements */
    union {
        uint8_t address_bytes; /* per lane, of the address's row */
        uint8_t result_bytes;  /* of floats: per lane, of the result's row */
    };
    uint8_t from_bytes; /* per lane, of the rows with a bulk copy's addresses */
    uint8_t to_bytes;
    bool sign_extended;
    uint8_t combine;             /* at_emu_combine */
    uint8_t rounding;            /* at_rounding */
    uint8_t modifiers;           /* at_emu_modifier, or-ed */
    uint8_t vote;                /* at_emu_vote: of a barrier with a reduction */
    uint8_t mbarrier;            /* at_emu_of_mbarrier, or-ed */
    uint32_t source_flip;        /* xored with a source predicate: all ones for !p */
    int line;                    /* of the PTX */
    struct at_emu_places places; /* from .loc, if the compiler writes it */
    const char *text;
    uint32_t text_bytes;
};

enum at_emu_modifier {
    AT_EMU_FLUSH = 1,       /* .ftz: subnormal values are zeros */
    AT_EMU_SATURATE = 2,    /* .sat */
    AT_EMU_NAN = 4,         /* min and max give NaN if a source is NaN */
    AT_EMU_ABSOLUTE = 8,    /* min.xorsign.abs */
    AT_EMU_RELU = 16,       /* negative results and NaN become 0 */
    AT_EMU_FULL_RANGE = 32, /* div.full: no loss for large divisors */
    AT_EMU_INTEGRAL = 64,   /* cvt between floats: to an integral value */
    AT_EMU_FINITE = 128,    /* cvt.satfinite: the largest number instead of an infinity */
};

/* What an operation of an mbarrier counts, and what a wait is for. */
enum at_emu_of_mbarrier {
    AT_EMU_IN_BYTES = 1, /* its value is bytes to come, else arrivals */
    AT_EMU_ARRIVES = 2,  /* one arrival comes with the bytes or the copies */
    AT_EMU_PARITY = 4,   /* try_wait: for a parity, else for a state */
};

/* bar.red: how the predicates of all threads of the block are combined. */
enum at_emu_vote { AT_EMU_NO_VOTE, AT_EMU_VOTE_COUNT, AT_EMU_VOTE_ALL, AT_EMU_VOTE_ANY };

/* The value of a preset row. The y and z dimensions follow x. */
enum at_emu_preset_kind {
    AT_EMU_CONSTANT,
    AT_EMU_DYNAMIC_SHARED, /* the offset of the dynamic array */
    AT_EMU_TID,
    AT_EMU_NTID = AT_EMU_TID + 3,
    AT_EMU_CTAID = AT_EMU_NTID + 3,
    AT_EMU_NCTAID = AT_EMU_CTAID + 3,
    AT_EMU_LANEID = AT_EMU_NCTAID + 3,
    AT_EMU_WARPID,
    AT_EMU_NWARPID,
    AT_EMU_LANEMASK_EQ,
    AT_EMU_LANEMASK_LT,
    AT_EMU_LANEMASK_LE,
    AT_EMU_LANEMASK_GT,
    AT_EMU_LANEMASK_GE,
    AT_EMU_SMID, /* blocks go to multiprocessors in turn */
    AT_EMU_NSMID,
    AT_EMU_DYNAMIC_BYTES,
    AT_EMU_TOTAL_SHARED_BYTES,
    AT_EMU_VARIABLE, /* the address of a variable of the module */
    AT_EMU_IN_LOCAL, /* of a variable in local memory; recursive calls move it */
};

struct at_emu_preset {
    uint32_t row;
    uint8_t kind;   /* at_emu_preset_kind */
    uint8_t bytes;  /* per lane */
    uint64_t value; /* the constant, or a number added to the offset or the address */
    uint32_t variable;
};

/* A variable of the module in global or constant memory. `initial` may be NULL: zeros. */
struct at_emu_variable {
    uint32_t bytes;
    bool constant;
    char *initial;
    struct at_emu_pointer *pointers; /* initial values that are addresses */
    size_t pointer_count, pointer_capacity;
};

struct at_emu_pointer {
    uint32_t at; /* in the variable: 8 bytes */
    uint32_t variable;
    int64_t offset;
};

/* The variables of a module. Each memory holds a copy from the first launch that uses one on. */
struct at_emu_image {
    uint64_t number; /* no other image in the process has it */
    struct at_emu_variable *variables;
    size_t count, capacity;
};

struct at_emu_param {
    char *name;
    uint32_t offset, bytes;
};

/* A static array in shared memory. */
struct at_emu_array {
    uint32_t offset, bytes;
};

enum { AT_EMU_ARGUMENTS_MAX = 64 };

/* A recursive call. Its results and arguments have places in the frame of the caller, and others in
 * that of the body. */
struct at_emu_call {
    uint32_t first, end; /* instructions: the body's first one, and its AT_EMU_RETURN */
    int result_count, count;
    uint32_t outside[AT_EMU_ARGUMENTS_MAX], inside[AT_EMU_ARGUMENTS_MAX];
    uint32_t bytes[AT_EMU_ARGUMENTS_MAX];
};

/* The bytes per lane of a row where none begins. */
#define AT_EMU_NO_ROW UINT8_MAX

struct at_ptx_kernel {
    const struct at_ptx_module *module;
    char *name;
    struct at_emu_op *ops; /* the last one is an exit */
    size_t op_count, op_capacity;
    struct at_emu_preset *presets;
    size_t preset_count, preset_capacity;
    struct at_emu_param *params;
    size_t param_count, param_capacity;
    uint32_t param_bytes;
    uint32_t file_bytes; /* of a warp's rows */
    uint8_t *row_bytes;  /* per lane, by a row's offset / AT_EMU_ROW_ALIGN */
    size_t row_count, row_capacity;
    uint32_t shared_bytes;       /* static, with the gaps */
    struct at_emu_array *arrays; /* the static ones, by offset */
    size_t array_count, array_capacity;
    uint32_t dynamic_align; /* of the dynamic array; 1 if there is none */
    uint32_t local_bytes;   /* per thread */
    uint32_t local_step;    /* of these, how many a recursive call takes; 0: there is none */
    uint32_t depth_max;     /* of recursive calls */
    uint32_t frame_bytes;   /* per thread: arguments and results of functions */
    uint32_t *targets;      /* of switches */
    size_t target_count, target_capacity;
    struct at_emu_call *calls;
    size_t call_count, call_capacity;
    const struct at_emu_image *image;
    const char *const *source_files; /* by number, from the module; NULL: none */
    size_t source_file_count;
    bool polls;           /* a loop reads memory that other blocks may change */
    bool fences;          /* it has a fence or a release */
    uint64_t max_threads; /* .maxntid: threads per block; 0: not given */
    uint32_t required[3]; /* .reqntid; 0: not given */
    char *problem;        /* why it cannot run: an unknown instruction; NULL: it can */
    struct at_emu_places problem_places;
};

#endif
