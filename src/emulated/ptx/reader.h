/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the PTX reader:
 *
 *     lex.c       characters to tokens; text that is skipped; .loc and .file; what the machine does
 *                 not do, by its CUDA name
 *     declare.c   declarations of variables and parameters, and their initial values
 *     module.c    the module and its kernels; questions about a module
 *     body.c      the bodies of kernels and functions: scopes, labels, instructions, calls
 *     names.c     operands: registers, constants, special registers, variables
 *     decode_{flow,memory,move}.c   instructions; move: also those in the table of
 *                 emulated/machine/ops.h
 *
 * Functions return false after they set reader->err. */
#ifndef AT_EMULATED_PTX_READER_H
#define AT_EMULATED_PTX_READER_H

#include "base/memory.h"
#include "emulated/machine/ops.h"
#include "emulated/ptx/lex.h"
#include "emulated/ptx/ptx.h"

#include <string.h>

enum {
    AT_PTX_TEXT_MAX = 64 << 20, /* bytes of a module */
    AT_PTX_REGISTERS_MAX = 1000000,
    AT_PTX_DECLARATIONS_MAX = 4096, /* of registers or of variables, per kernel */
    AT_PTX_OPCODE_MAX = 128,        /* characters */
    AT_PTX_PARTS_MAX = 16,          /* of an opcode, joined by dots */
    AT_PTX_CALLS_MAX = 100000,      /* per kernel */
    AT_PTX_NESTED_MAX = 64,         /* calls, each within the other */
    AT_PTX_FRAME_MAX = 64 << 10,    /* bytes per thread for arguments and results */
};

/* A piece of the text, not terminated. */
struct at_ptx_name {
    const char *text;
    size_t size;
};

/* .reg: one register, or `count` of them, prefix0 to prefix(count - 1). */
struct at_ptx_registers {
    struct at_ptx_name name;
    int bytes; /* per lane; AT_EMU_PREDICATE for .pred */
    bool numbered;
    uint32_t count;
    uint32_t *rows; /* 0: not used yet, so it has no row */
};

struct at_ptx_variable {
    struct at_ptx_name name;
    enum at_emu_space space;
    uint32_t bytes, align;
    uint32_t offset; /* in its space; once a kernel has the variable */
    uint32_t number; /* among the module's variables, in global and constant memory */
    bool dynamic;    /* .extern .shared: the launch sets its size */
    bool is_extern;  /* declared only */
    bool placed;     /* of the module: the kernel has it */
};

/* A function or a kernel, to be read later: where its text begins. */
struct at_ptx_text {
    struct at_ptx_lexer lexer;
    struct at_ptx_token token;
};

struct at_ptx_function {
    struct at_ptx_name name;
    struct at_ptx_text text;  /* after .func */
    struct at_ptx_call *open; /* the call whose body is being read: another one is a recursion */
};

/* The declarations up to some place, and the memory that they take. */
struct at_ptx_scope {
    size_t registers, variables;
    uint32_t local, frame;
};

/* A call that has been decoded; its function's body follows. */
struct at_ptx_call {
    struct at_ptx_function *function;                                   /* NULL: no call */
    uint32_t offset[AT_EMU_ARGUMENTS_MAX], bytes[AT_EMU_ARGUMENTS_MAX]; /* results, arguments */
    int result_count, count;
    size_t op;        /* of the call */
    bool is_recursed; /* the body has a call of itself */
};

struct at_ptx_label {
    struct at_ptx_name name;
    size_t op; /* the instruction after the label, or the one that jumps to it */
    int line;
    size_t count; /* of a table: its labels */
};

/* How many of each there were when the body of a function began. */
struct at_ptx_labels {
    size_t labels, jumps, tables, table_entries;
};

/* A place whose code was inlined, and its caller (lex.c). */
struct at_ptx_inlined {
    struct at_emu_places places;
    long column;
    int outermost_file;
};

struct at_ptx_source_file {
    int64_t number;
    struct at_ptx_name name;
};

struct at_ptx_module {
    char *text; /* with a NUL after each instruction */
    struct at_emu_image image;
    struct at_ptx_kernel **kernels;
    size_t kernel_count, kernel_capacity;
    char **source_files; /* by number; NULL: none */
    size_t source_file_count;
};

struct at_ptx_reader {
    struct at_ptx_lexer lexer;
    struct at_ptx_token token; /* the next token */
    struct at_ptx_module *module;
    struct at_error *err;
    struct at_emu_places places; /* of the next instructions */
    struct at_ptx_source_file *source_files;
    size_t source_file_count, source_file_capacity;
    struct at_ptx_variable *globals; /* outside of kernels */
    size_t global_count, global_capacity;
    struct at_ptx_function *functions;
    size_t function_count, function_capacity;
    struct at_ptx_text *entries; /* the kernels */
    size_t entry_count, entry_capacity;
    struct at_ptx_inlined *inlined;
    size_t inlined_count, inlined_capacity;
    /* The rest belongs to the current kernel. */
    struct at_ptx_kernel *kernel;
    struct at_ptx_registers *registers;
    size_t register_count, register_capacity;
    uint32_t register_total;
    struct at_ptx_variable *variables;
    size_t variable_count, variable_capacity;
    struct at_ptx_variable *statics; /* shared variables of functions: one for all calls */
    size_t static_count, static_capacity;
    struct at_ptx_label *labels;
    size_t label_count, label_capacity;
    struct at_ptx_label *jumps;
    size_t jump_count, jump_capacity;
    struct at_ptx_label *tables; /* .branchtargets: op is the first one of the kernel's targets */
    size_t table_count, table_capacity;
    struct at_ptx_label *table_entries; /* labels in tables: op is the place in targets */
    size_t table_entry_count, table_entry_capacity;
    struct at_ptx_scope *scopes;
    size_t scope_count, scope_capacity;
    struct at_ptx_scope base; /* of the function that is read: it sees nothing below */
    uint32_t local, frame;    /* bytes in use */
    uint32_t *free_rows[9];   /* by bytes per lane: rows that nothing declares any more */
    size_t free_row_count[9], free_row_capacity[9];
    struct at_ptx_call call;
    uint32_t call_count, call_depth;
};

/* The opcode of an instruction: "ld", "global", "v4", "u32". */
struct at_ptx_opcode {
    char text[AT_PTX_OPCODE_MAX];  /* as in the text */
    char split[AT_PTX_OPCODE_MAX]; /* with NULs instead of dots */
    const char *part[AT_PTX_PARTS_MAX];
    int part_count;
};

/* A name in a message, for "%.*s". */
#define AT_PTX_SHOWN(name) (name).size < 64 ? (int)(name).size : 64, (name).text

/* lex.c. The index of the item with this name in an array whose items begin with their names, or
 * are names; -1: none. */
int at_ptx_index(const void *items, size_t count, size_t item_size, const char *text, size_t size);
#define AT_PTX_INDEX_OF(items, text, size)                                                         \
    at_ptx_index(items, AT_COUNT(items), sizeof *(items), text, size)
#define AT_PTX_INDEX(items, text) AT_PTX_INDEX_OF(items, text, strlen(text))

bool at_ptx_fail(struct at_ptx_reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void at_ptx_next(struct at_ptx_reader *reader);
bool at_ptx_at(const struct at_ptx_reader *reader, const char *text);
bool at_ptx_take(struct at_ptx_reader *reader, const char *text); /* if it is next */
bool at_ptx_expect(struct at_ptx_reader *reader, const char *text);
bool at_ptx_unexpected(struct at_ptx_reader *reader, const char *wanted);
/* A name in a declaration. */
bool at_ptx_expect_name(struct at_ptx_reader *reader, struct at_ptx_name *name);
bool at_ptx_expect_integer(struct at_ptx_reader *reader, uint64_t max, uint64_t *value);
/* ".u32". */
bool at_ptx_expect_type(struct at_ptx_reader *reader, int *bytes);
/* Bytes of a type like "u32", 0 for "pred"; -1 for an unknown type. */
int at_ptx_type_bytes(const char *type);
bool at_ptx_same(const struct at_ptx_name *a, const struct at_ptx_name *b);

/* Skip the rest of the line, up to the next semicolon, or a pair of braces with all between them;
 * or the list of parameters, if one is next. */
bool at_ptx_skip_line(struct at_ptx_reader *reader);
bool at_ptx_skip_statement(struct at_ptx_reader *reader);
bool at_ptx_skip_braces(struct at_ptx_reader *reader);
/* Directives that may be anywhere: .loc, .file, .section. */
bool at_ptx_read_location(struct at_ptx_reader *reader);

bool at_ptx_read_source_file(struct at_ptx_reader *reader);
bool at_ptx_skip_section(struct at_ptx_reader *reader);

/* body.c. Read a body with its braces. */
bool at_ptx_read_body(struct at_ptx_reader *reader);
/* End all declarations since this scope. */
void at_ptx_close_to(struct at_ptx_reader *reader, struct at_ptx_scope scope);
/* Set the targets of the jumps from these on, to labels from these on. */
bool at_ptx_resolve_jumps(struct at_ptx_reader *reader, const struct at_ptx_labels *from);

/* The feature, in CUDA's words, to which an instruction, a special register or a
 * function of CUDA's belongs that is not supported; NULL: there is none. */
const char *at_ptx_refused(const char *text, size_t size);

/* declare.c. The next token is the declaration's directive. */
bool at_ptx_declare_params(struct at_ptx_reader *reader);
bool at_ptx_declare_variable(struct at_ptx_reader *reader, bool is_extern);
/* ".param TYPE name": a parameter of a kernel or a function. */
bool at_ptx_read_param(struct at_ptx_reader *reader, struct at_ptx_variable *variable);
/* names.c */
bool at_ptx_find_register(struct at_ptx_reader *reader, const struct at_ptx_name *name, int *bytes,
                          uint32_t *row, bool *found);
bool at_ptx_constant_row(struct at_ptx_reader *reader, int bytes, uint64_t value, uint32_t *row);
/* The function of this name that has a body, or NULL. */
struct at_ptx_function *at_ptx_find_function(struct at_ptx_reader *reader,
                                             const struct at_ptx_name *name);
/* A variable of the kernel. The first use of a module's variable adds it to the kernel. NULL: there
 * is none of this name, or no room for it; reader->err has the message. */
const struct at_ptx_variable *at_ptx_find_variable(struct at_ptx_reader *reader,
                                                   const struct at_ptx_name *name);
bool at_ptx_place_variable(struct at_ptx_reader *reader, const struct at_ptx_variable *variable);

/* names.c. Each operand is appended to the rows of op, results first. */
bool at_ptx_read_result(struct at_ptx_reader *reader, struct at_emu_op *op, int bytes);
bool at_ptx_read_source(struct at_ptx_reader *reader, struct at_emu_op *op, int bytes);
bool at_ptx_read_predicate(struct at_ptx_reader *reader, bool may_flip, uint32_t *row,
                           uint32_t *flip);
bool at_ptx_read_integer(struct at_ptx_reader *reader, int64_t *value);
/* A register of at least least_bytes per lane; *bytes is its width. The sink has least_bytes. */
bool at_ptx_read_wide(struct at_ptx_reader *reader, struct at_emu_op *op, int least_bytes,
                      bool result, int *bytes);
/* "[base+offset]" in a space. */
bool at_ptx_read_address(struct at_ptx_reader *reader, enum at_emu_space space, uint32_t *row,
                         uint8_t *register_bytes, int64_t *offset);
void at_ptx_add_row(struct at_emu_op *op, uint32_t row, bool result);

/* decode_move.c. The next token is the opcode. They read up to the semicolon. */
/* The entry of this name in the table of emulated/machine/ops.h, or NULL. */
const struct at_emu_row *at_ptx_find_row(const char *name);
bool at_ptx_decode_row(struct at_ptx_reader *reader, struct at_emu_op *op, const char *name);
bool at_ptx_unknown(struct at_ptx_reader *reader, const struct at_ptx_opcode *opcode);

/* A word of an opcode, and its meaning for a group of instructions. */
struct at_ptx_modifier {
    const char *name;  /* NULL ends a table */
    uint8_t modifiers; /* at_emu_modifier */
    uint8_t rounding;  /* at_rounding */
};

typedef bool at_ptx_decoder(struct at_ptx_reader *reader, struct at_emu_op *op,
                            const struct at_ptx_opcode *opcode);

at_ptx_decoder at_ptx_decode_branch, at_ptx_decode_switch, at_ptx_decode_exit, at_ptx_decode_return,
    at_ptx_decode_trap, at_ptx_decode_barrier, at_ptx_decode_fence, at_ptx_decode_dependency,
    at_ptx_decode_call, at_ptx_decode_float, at_ptx_decode_compare_to_register, at_ptx_decode_load,
    at_ptx_decode_store, at_ptx_decode_atomic, at_ptx_decode_prefetch, at_ptx_decode_policy,
    at_ptx_decode_copy, at_ptx_decode_mbarrier, at_ptx_decode_convert, at_ptx_decode_move,
    at_ptx_decode_to_space, at_ptx_decode_is_space, at_ptx_decode_compare;

#endif
