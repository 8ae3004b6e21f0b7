"""Processor instructions that NumPy has no functions for, as functions of compiled code."""

# Numba types these functions; mypy cannot follow its intrinsics.
# mypy: ignore-errors

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic


def _of_word(emit):
    """A function of a 64-bit word for which LLVM has one instruction."""

    @intrinsic
    def instruction(context, word):
        return types.uint64(types.uint64), lambda context, builder, signature, arguments: emit(builder, *arguments)

    return instruction


_NEVER_ZERO = ir.Constant(ir.IntType(1), 1)
leading_zeros = _of_word(lambda builder, word: builder.ctlz(word, _NEVER_ZERO))  # of a word other than 0
trailing_zeros = _of_word(lambda builder, word: builder.cttz(word, _NEVER_ZERO))  # of a word other than 0
count_ones = _of_word(lambda builder, word: builder.ctpop(word))
reversed_bytes = _of_word(lambda builder, word: builder.bswap(word))


@intrinsic
def prefetch_item(context, array, place):
    """Load array[place], which must be inside, into the cache, without waiting for it."""

    def generate(context, builder, signature, arguments):
        made = context.make_array(signature.args[0])(context, builder, arguments[0])
        pointer = builder.bitcast(builder.gep(made.data, [arguments[1]]), ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, number, number, number])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [pointer.type], kind)
        builder.call(prefetch, [pointer, number(0), number(3), number(1)])  # to read, near, data
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


@intrinsic
def word_at(context, words, byte):
    """The 64 bits from a byte of an array of words on; eight bytes from there must be inside."""

    def generate(context, builder, signature, arguments):
        made = context.make_array(signature.args[0])(context, builder, arguments[0])
        first = builder.gep(builder.bitcast(made.data, ir.IntType(8).as_pointer()), [arguments[1]])
        return builder.load(builder.bitcast(first, ir.IntType(64).as_pointer()), align=1)

    return types.uint64(words, types.int64), generate


@intrinsic
def byte_at(context, numbers, place, byte):
    """A byte of an array, counted from the first of numbers[place]; it must be inside."""

    def generate(context, builder, signature, arguments):
        made = context.make_array(signature.args[0])(context, builder, arguments[0])
        first = builder.bitcast(builder.gep(made.data, [arguments[1]]), ir.IntType(8).as_pointer())
        return builder.zext(builder.load(builder.gep(first, [arguments[2]])), ir.IntType(64))

    return types.uint64(numbers, types.uint64, types.int64), generate


@intrinsic
def unlikely(context, condition):
    """The condition, which is rarely true: the code for it is put out of the way."""

    def generate(context, builder, signature, arguments):
        bit = ir.IntType(1)
        expect = builder.module.declare_intrinsic("llvm.expect", [bit], ir.FunctionType(bit, [bit, bit]))
        return builder.call(expect, [arguments[0], bit(0)])

    return types.boolean(types.boolean), generate


@intrinsic
def put_word(context, data, place, word):
    """Write 64 bits into an array of bytes, the lowest first; eight bytes from the place on must be inside."""

    def generate(context, builder, signature, arguments):
        made = context.make_array(signature.args[0])(context, builder, arguments[0])
        pointer = builder.bitcast(builder.gep(made.data, [arguments[1]]), ir.IntType(64).as_pointer())
        builder.store(arguments[2], pointer, align=1)
        return context.get_dummy_value()

    return types.void(data, types.int64, types.uint64), generate


@intrinsic
def pointer_to(context, address):
    """A number as an address in memory."""

    def generate(context, builder, signature, arguments):
        return builder.inttoptr(arguments[0], context.get_value_type(types.voidptr))

    return types.voidptr(types.int64), generate


def _word_at(words, byte):
    return words.view("u1")[byte : byte + 8].view("u8")[0]


def _byte_at(numbers, place, byte):
    return np.uint64(numbers.view("u1")[int(place) * numbers.itemsize + byte])


def _put_word(data, place, word):
    data[place : place + 8] = np.frombuffer(int(word).to_bytes(8, "little"), "u1")


IN_PYTHON = (
    (leading_zeros, lambda word: 64 - int(word).bit_length()),
    (trailing_zeros, lambda word: (int(word) & -int(word)).bit_length() - 1),
    (count_ones, lambda word: int(word).bit_count()),
    (reversed_bytes, lambda word: int.from_bytes(int(word).to_bytes(8, "little"), "big")),
    (prefetch_item, lambda array, place: None),
    (word_at, _word_at),
    (byte_at, _byte_at),
    (unlikely, lambda condition: condition),
    (put_word, _put_word),
)
