"""This file is a walk over a block of float32 values in vector instructions, for code that ``numba`` compiles.

numba's own loop needs more registers than there are, and does not ask for memory ahead of time: it took 1.6 times as
long.
"""

from collections.abc import Callable
from typing import Any

# Values in a vector: two of 128, one of 256 bits; eight running results of it fit into 16 registers.
LANES = 8
# Values asked for ahead of time (fastest of 512 to 2048, from memory).
AHEAD = 1024
_MAGNITUDE, _SIGN = 0x7FFFFFFF, 31


def vector_walk() -> Any:
    """Return a function that compiled code may call: ``walk(values, shift)``.

    It takes a contiguous float32 array and a float64 number near its values. It returns of the first values, as many
    as whole vectors hold, the least, the greatest, the least magnitude (float32), how many have a sign (int32), and
    the sum and the sum of squares of what they are more than the number (float64). NaN does not count as least or
    greatest; the sums tell of it, and of infinities.
    """
    from numba import types  # noqa: PLC0415 - an extra
    from numba.extending import intrinsic  # noqa: PLC0415

    single, double = types.float32, types.float64
    results = types.Tuple((single, single, single, types.int32, double, double))

    def walk(_: Any, values: Any, shift: Any) -> tuple[Any, Callable[..., Any]]:
        return results(values, shift), _generate

    return intrinsic(walk)


def _generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Write the instructions."""
    from llvmlite import ir  # noqa: PLC0415 - comes with numba
    from numba.core import cgutils  # noqa: PLC0415

    long = ir.IntType(64)
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    length = builder.extract_value(array.shape, 0)
    loop = _Loop(builder, arguments[1])
    with cgutils.for_range(builder, builder.udiv(length, long(LANES))) as each:
        loop.step(builder.gep(array.data, [builder.mul(each.index, long(LANES))]))
    return context.make_tuple(builder, signature.return_type, loop.results())


class _Loop:
    """What runs along: a vector each for ends, signs and sums."""

    def __init__(self, builder: Any, shift: Any) -> None:
        from llvmlite import ir  # noqa: PLC0415 - comes with numba

        self._builder = builder
        self._long, self._int = ir.IntType(64), ir.IntType(32)
        self._whole = ir.VectorType(ir.FloatType(), LANES)
        self._bits = ir.VectorType(self._int, LANES)
        self._half, wide = (ir.VectorType(each, LANES // 2) for each in (ir.FloatType(), ir.DoubleType()))
        self._wide = wide
        self._shift = ir.Constant(wide, ir.Undefined)
        for lane in range(LANES // 2):
            self._shift = builder.insert_element(self._shift, shift, self._int(lane))
        inf = float("inf")
        self._low, self._high, self._near = (self._run(self._whole, start) for start in (inf, -inf, inf))
        self._signs = self._run(self._bits, 0)
        self._totals, self._squares = ([self._run(wide, 0.0) for _ in range(2)] for _ in range(2))

    def step(self, place: Any) -> None:
        """Take in the vector at a place."""
        builder = self._builder
        self._ask_for(builder.gep(place, [self._long(AHEAD)]))
        values = self._load(place, self._whole)
        bits = builder.bitcast(values, self._bits)
        sizes = builder.bitcast(builder.and_(bits, self._all(_MAGNITUDE)), self._whole)
        for run, order, seen in ((self._low, "<", values), (self._high, ">", values), (self._near, "<", sizes)):
            builder.store(self._chosen(order, seen, builder.load(run)), run)
        builder.store(builder.sub(builder.load(self._signs), builder.ashr(bits, self._all(_SIGN))), self._signs)
        for half, (total, squares) in enumerate(zip(self._totals, self._squares, strict=True)):
            # Read once more: taking a vector apart costs an instruction, reading what is in the cache does not.
            part = self._load(builder.gep(place, [self._long(half * LANES // 2)]), self._half)
            rest = builder.fsub(builder.fpext(part, self._wide), self._shift)
            builder.store(builder.fadd(builder.load(total), rest), total)
            square = builder.fmul(rest, rest, flags=("contract",))
            builder.store(builder.fadd(builder.load(squares), square, flags=("contract",)), squares)

    def results(self) -> tuple[Any, ...]:
        """Return what the lanes have found together."""
        builder = self._builder
        low, near = (self._folded([run], lambda a, b: self._chosen("<", a, b)) for run in (self._low, self._near))
        high = self._folded([self._high], lambda a, b: self._chosen(">", a, b))
        signs = self._folded([self._signs], builder.add)
        total, squares = (self._folded(runs, builder.fadd) for runs in (self._totals, self._squares))
        return low, high, near, signs, total, squares

    def _run(self, kind: Any, start: float) -> Any:
        from numba.core import cgutils  # noqa: PLC0415 - an extra

        return cgutils.alloca_once_value(self._builder, kind([start] * kind.count))

    def _all(self, number: int) -> Any:
        return self._bits([number] * LANES)

    def _load(self, place: Any, kind: Any) -> Any:
        return self._builder.load(self._builder.bitcast(place, kind.as_pointer()), align=4)

    def _chosen(self, order: str, new: Any, old: Any) -> Any:
        """The new one where it is ahead, which NaN never is."""
        return self._builder.select(self._builder.fcmp_ordered(order, new, old), new, old)

    def _folded(self, runs: list[Any], join: Callable[[Any, Any], Any]) -> Any:
        vectors = [self._builder.load(run) for run in runs]
        lanes = [
            self._builder.extract_element(vector, self._int(lane))
            for vector in vectors
            for lane in range(vector.type.count)
        ]
        result = lanes[0]
        for lane in lanes[1:]:
            result = join(result, lane)
        return result

    def _ask_for(self, place: Any) -> None:
        from llvmlite import ir  # noqa: PLC0415 - comes with numba

        byte = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [byte, self._int, self._int, self._int])
        prefetch = self._builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        # To read, again and again, of data.
        how = self._int(0), self._int(3), self._int(1)
        self._builder.call(prefetch, [self._builder.bitcast(place, byte), *how])
