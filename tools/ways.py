# SPDX-License-Identifier: MIT
"""Ways to compute a table, add and rope: those of posenc, and those of the packages that tools/time-peers.py times.

Each package has a function that yields its ways to do a problem, and none for what it does not have. All read and write
the same layout in memory, (position, head, column), and x is (rows, heads, dim). What a package needs is imported in
its function, so that the problems can be listed without any.
"""
import contextlib
import ctypes
import dataclasses
import functools
import importlib.util
import math
import os
import typing

BASE, SAMPLE, LINE = 10000.0, 2048, 64
MADE, GIVEN = "made", "given"  # the sines: in the call, or as a table that was made before


@dataclasses.dataclass(frozen=True)
class Problem:
    op: str  # table, add, rope; empty: two elements by the same interface
    rows: int
    dim: int
    heads: int = 1
    dtype: str = "f32"
    pairs: str = "neighbours"  # or halves
    place: str = "new"  # or in place

    @property
    def first(self):
        """The first position: that of a token which is decoded, not 0, whose angles are all 0."""
        return 4096 if self.op == "rope" and self.rows <= 128 else 0

    def text(self):
        if self.op == "empty":
            return "empty call"
        if self.op == "rope":
            return f"rope {self.rows}x{self.heads}x{self.dim} {self.dtype}, {self.pairs}, {self.place}"
        return f"{self.op} {self.rows}x{self.dim} {self.dtype}" + (f", {self.pairs}" if self.op == "table" else "")


@dataclasses.dataclass
class Way:
    name: str
    sines: str
    call: typing.Callable  # returns the result, as the package has it
    read: typing.Callable  # makes it an array of NumPy: f32, (rows, heads, dim) or (rows, dim)


def aligned(array, kind=None):
    """A copy at a cache line, as the packages' own memory is, and NumPy's is not."""
    import numpy

    kind = numpy.dtype(kind or array.dtype)
    room = numpy.empty(array.size * kind.itemsize + LINE, "u1")
    begin = -room.ctypes.data % LINE
    made = room[begin : begin + array.size * kind.itemsize].view(kind).reshape(array.shape)
    made[...] = array
    return made


class Given:
    """What a problem's ways start from, in NumPy's arrays."""

    def __init__(self, problem):
        import ml_dtypes
        import numpy

        self.problem = problem
        self.kind = numpy.dtype(ml_dtypes.bfloat16 if problem.dtype == "bf16" else "f4")
        self.position = numpy.arange(problem.first, problem.first + problem.rows)
        self.frequency = BASE ** (-numpy.arange(0, problem.dim, 2) / problem.dim)
        shape = (problem.rows, problem.heads, problem.dim) if problem.op == "rope" else (problem.rows, problem.dim)
        self.out = aligned(numpy.zeros(shape, self.kind))
        self.x = None
        if problem.op in ("add", "rope", "empty"):
            self.x = aligned(numpy.random.default_rng(1).random(shape, "f4"), self.kind)

    def target(self):
        """Where to write: an array of all ways, or x, of which each way then has its own."""
        return aligned(self.x) if self.problem.place == "in place" else self.out

    def source(self, target):
        return target if self.problem.place == "in place" else self.x

    def angles(self, rows=slice(None)):
        """In f64, right to 2e-11 below position 131072."""
        return self.position[rows, None] * self.frequency

    @functools.cached_property
    def cache(self):
        """Cosine and sine in f32, (rows, dim / 2)."""
        import numpy

        return numpy.cos(self.angles()).astype("f4"), numpy.sin(self.angles()).astype("f4")

    def twice(self, table):
        """Each column twice, as cosines and sines are kept for pairs."""
        import numpy

        halves = self.problem.pairs == "halves"
        return numpy.concatenate([table, table], -1) if halves else numpy.repeat(table, 2, -1)

    def table(self, rows=slice(None)):
        """The exact table, in f64."""
        import numpy

        sine, cosine = numpy.sin(self.angles(rows)), numpy.cos(self.angles(rows))
        if self.problem.pairs == "halves":
            return numpy.concatenate([sine, cosine], 1)
        return numpy.stack([sine, cosine], 2).reshape(len(sine), -1)

    def error(self, result):
        """The largest absolute error in the first rows and the last."""
        import numpy

        ends = {slice(0, SAMPLE), slice(max(self.problem.rows - SAMPLE, 0), None)}
        return max(float(abs(numpy.asarray(result[rows], "f8") - self.exact(rows)).max()) for rows in ends)

    def exact(self, rows):
        if self.problem.op == "empty":
            return -self.x[rows].astype("f8")
        if self.problem.op == "table":
            return self.table(rows)
        x = self.x[rows].astype("f8")
        if self.problem.op == "add":
            return x + self.table(rows)
        import numpy

        angle = self.twice(self.angles(rows))[:, None]
        return x * numpy.cos(angle) + self.rotated(numpy, x) * numpy.sin(angle)

    def rotated(self, np, x):
        """-b, a for each pair a, b; np is numpy, jax.numpy or mlx.core."""
        if self.problem.pairs == "halves":
            half = x.shape[-1] // 2
            return np.concatenate([-x[..., half:], x[..., :half]], -1)
        return np.stack([-x[..., 1::2], x[..., ::2]], -1).reshape(x.shape)


def plain(array):
    return array


# ---- posenc ----------------------------------------------------------------------------------------------------------


def of_posenc(given, threads, held):
    """The package's functions, which make a plan in each call; and a plan that is kept."""
    import posenc

    p, target = given.problem, given.target()
    if p.op == "empty":
        yield Way("posenc", MADE, lambda: posenc.table(1, 2, out=target), lambda _: -given.x)
        yield plan_kept(given, threads, None, target)
        return
    layout = "split" if p.pairs == "halves" else "interleaved"
    options = {"threads": threads, "offset": p.first, "layout": layout}
    source = given.source(target)
    call = {
        "table": lambda: posenc.table(p.rows, p.dim, out=target, **options),
        "add": lambda: posenc.add(source, out=target, **options),
        "rope": lambda: posenc.rope(source, out=target, **options),
    }[p.op]
    yield Way("posenc", MADE, call, plain)
    yield plan_kept(given, threads, None, given.target())
    if p.op != "table":
        yield plan_kept(given, threads, "cached", given.target())


def plan_kept(given, threads, kernel, target):
    """A plan that is kept, on arrays that stay, as a graph's of ggml and a binding's of ONNX Runtime: posenc.Plan.on;
    and of a table, which that has not, the library's."""
    import posenc
    from posenc import _library

    p = given.problem
    layout = "split" if p.pairs == "halves" else "interleaved"
    chosen = {"kernel": kernel, "threads": threads}
    if p.op in ("table", "empty"):
        of = _library.problem(p.rows, 2 if p.op == "empty" else p.dim, p.dtype, "table", offset=p.first, layout=layout)
        plan = _library.PlanHandle(of, max_ulp=0.0, max_abs=0.0, **chosen)

        def call():
            _library.require(_library.LIB.posenc_execute(plan.handle, 0, p.rows, target.ctypes.data))
            return target

    else:
        source = given.source(target)
        heads = {"heads": p.heads} if p.op == "rope" else {}
        plan = posenc.Plan(p.op, p.rows, p.dim, dtype=p.dtype, offset=p.first, layout=layout, **heads, **chosen)

        call = plan.on(source, out=target)

    name, sines = ("posenc, cached", GIVEN) if kernel else ("posenc, plan kept", MADE)
    return Way(name, sines, call, (lambda _: -given.x) if p.op == "empty" else plain)


# ---- packages --------------------------------------------------------------------------------------------------------


def of_numpy(given, threads, held):
    import numpy

    p, target = given.problem, given.target()
    if p.op == "empty":
        yield Way("numpy", "", lambda: numpy.negative(given.x, out=target), plain)
    elif p.op == "table":
        frequency = given.frequency.astype("f4")
        sines, cosines = columns(target, p.pairs)

        def call():
            angle = numpy.arange(p.rows, dtype="f4")[:, None] * frequency
            numpy.sin(angle, out=sines)
            numpy.cos(angle, out=cosines)
            return target

        yield Way("numpy", MADE, call, plain)
    elif p.op == "add":
        table = given.table().astype("f4")
        yield Way("numpy", GIVEN, lambda: numpy.add(given.x, table, out=target), plain)


def columns(table, pairs):
    """The views of the sines and of the cosines."""
    half = table.shape[1] // 2
    return (table[:, :half], table[:, half:]) if pairs == "halves" else (table[:, ::2], table[:, 1::2])


def tensor(array):
    import torch

    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view("i2")).view(torch.bfloat16)
    return torch.from_numpy(array)


def torch_rotated(x, pairs):
    import torch

    half = x.shape[-1] // 2
    if pairs == "halves":
        return torch.cat((-x[..., half:], x[..., :half]), -1)
    return torch.stack((-x[..., 1::2], x[..., ::2]), -1).flatten(-2)


@functools.cache
def torch_functions(pairs):
    """The tutorials' table and transformers' rope: cosines and sines are f32, and cast to the dtype of x."""
    import torch

    def table(position, frequency, out):
        angle = position[:, None].float() * frequency
        sines, cosines = columns(out, pairs)
        sines.copy_(torch.sin(angle))
        cosines.copy_(torch.cos(angle))
        return out

    def given(x, cosine, sine, out):
        return torch.add(x * cosine, torch_rotated(x, pairs) * sine, out=out)

    def made(x, position, frequency, out):
        angle = position[:, None].float() * frequency
        angle = torch.cat((angle, angle), -1) if pairs == "halves" else angle.repeat_interleave(2, -1)
        return given(x, angle.cos().to(x.dtype)[:, None], angle.sin().to(x.dtype)[:, None], out)

    return {"table": table, "given": given, "made": made, "add": lambda x, table, out: torch.add(x, table, out=out),
            "empty": lambda x, out: torch.neg(x, out=out)}


@functools.cache
def torch_compiled(pairs, what):
    """As torch_functions; the compiler makes one loop of them that writes to out."""
    import torch

    torch._dynamo.config.recompile_limit = 1024
    function = torch_functions(pairs)[what]
    if what == "table":
        return torch.compile(function, dynamic=True)

    def copied(*operands):
        *operands, out = operands
        result = function(*operands, None)
        return out.copy_(result)

    return torch.compile(copied, dynamic=True)


def torch_ways(given, threads, name, function):
    import torch

    torch.set_num_threads(threads)
    p, frequency, position = given.problem, tensor(given.frequency.astype("f4")), tensor(given.position)

    def way(what, sines, *operands):
        target = tensor(given.target())
        x = () if given.x is None else (target if p.place == "in place" else tensor(given.x),)
        made = torch.no_grad()(functools.partial(function(p.pairs, what), *x, *operands, target))
        return Way(name, sines, made, lambda result: result.float().numpy())

    if p.op == "rope":
        cosine, sine = [tensor(given.twice(half)[:, None].astype(given.kind)) for half in given.cache]
        yield way("given", GIVEN, cosine, sine)
        yield way("made", MADE, position, frequency)
    elif p.op == "table":
        yield way("table", MADE, position, frequency)
    elif p.op == "add":
        yield way("add", GIVEN, tensor(given.table().astype("f4")))
    else:
        yield way("empty", "")


def of_torch(given, threads, held):
    yield from torch_ways(given, threads, "torch, eager", lambda pairs, what: torch_functions(pairs)[what])


def of_torch_compile(given, threads, held):
    yield from torch_ways(given, threads, "torch.compile", torch_compiled)


def of_vllm(given, threads, held):
    """The operation of vLLM's CPU build, which rotates in place from a cache in the dtype of x."""
    import torch

    p = given.problem
    if (p.op, p.place) != ("rope", "in place") and p.op != "empty":
        return
    load_vllm()
    torch.set_num_threads(threads)
    heads, dim = (1, 64) if p.op == "empty" else (p.heads, p.dim)
    query, cache = torch.zeros(1, dim), torch.zeros(1, dim)
    if p.op == "rope":
        import numpy

        rows = numpy.zeros((p.first + p.rows, dim), given.kind)
        rows[p.first :] = numpy.concatenate(given.cache, 1).astype(given.kind)
        query, cache = tensor(given.target()).view(p.rows, -1), tensor(rows)
    operands = (tensor(given.position), query, None, dim, cache, p.pairs == "halves")

    def call():
        torch.ops._C.rotary_embedding(*operands)
        return query

    read = (lambda _: -given.x) if p.op == "empty" else lambda x: x.float().numpy().reshape(p.rows, heads, dim)
    yield Way("vllm", GIVEN, call, read)


@functools.cache
def load_vllm():
    """The library alone: the package imports dozens of others."""
    import torch

    folder = importlib.util.find_spec("vllm").submodule_search_locations[0]
    with open("/proc/cpuinfo") as file:
        wide = "avx512f" in file.read()
    torch.ops.load_library(os.path.join(folder, "_C_AVX512.abi3.so" if wide else "_C_AVX2.abi3.so"))


def of_jax(given, threads, held):
    """jit has no out; in place, x is donated, and the result takes its memory."""
    import jax
    import jax.numpy as jnp
    import numpy

    p = given.problem
    frequency, position = jnp.asarray(given.frequency, "float32"), jnp.asarray(given.position)

    def table(position, frequency):
        angle = position[:, None].astype("float32") * frequency
        if p.pairs == "halves":
            return jnp.concatenate([jnp.sin(angle), jnp.cos(angle)], 1)
        return jnp.stack([jnp.sin(angle), jnp.cos(angle)], 2).reshape(p.rows, p.dim)

    def turned(x, cosine, sine):
        return x * cosine + given.rotated(jnp, x) * sine

    def made(x, position, frequency):
        angle = position[:, None].astype("float32") * frequency
        angle = jnp.concatenate([angle, angle], -1) if p.pairs == "halves" else jnp.repeat(angle, 2, -1)
        return turned(x, jnp.cos(angle).astype(x.dtype)[:, None], jnp.sin(angle).astype(x.dtype)[:, None])

    def way(sines, function, x, *operands):
        kept = [jnp.array(x)] if x is not None else []
        in_place = p.place == "in place"
        function = jax.jit(function, donate_argnums=(0,) if in_place else ())

        def call():
            result = function(*kept, *operands).block_until_ready()
            if in_place:
                kept[0] = result
            return result

        return Way("jax, jit", sines, call, lambda result: numpy.asarray(result.astype("float32")))

    if p.op == "table":
        yield way(MADE, table, None, position, frequency)
    elif p.op == "add":
        yield way(GIVEN, lambda x, table: x + table, given.x, jnp.asarray(given.table(), "float32"))
    elif p.op == "rope":
        yield way(GIVEN, turned, given.x, *[jnp.asarray(given.twice(half)[:, None].astype(given.kind))
                                            for half in given.cache])
        yield way(MADE, made, given.x, position, frequency)
    else:
        yield way("", lambda x: -x, given.x)


def of_mlx(given, threads, held):
    """MLX's processors take no number of threads, and its arrays no memory to write to."""
    import mlx.core as mx
    import numpy

    p = given.problem
    mx.set_default_device(mx.cpu)
    if p.place == "in place":
        return
    frequency, position = mx.array(given.frequency.astype("f4")), mx.array(given.position.astype("f4"))
    x = None if given.x is None else mx.array(given.x.astype("f4")).astype(
        mx.bfloat16 if p.dtype == "bf16" else mx.float32)

    def way(sines, function, read=lambda result: result):
        def call():
            result = function()
            mx.eval(result)
            return result

        return Way("mlx", sines, call, lambda result: numpy.array(read(result).astype(mx.float32)))

    if p.op == "table":

        def table():
            angle = position[:, None] * frequency
            both = [mx.sin(angle), mx.cos(angle)]
            return mx.concatenate(both, 1) if p.pairs == "halves" else mx.stack(both, 2).reshape(p.rows, p.dim)

        yield way(MADE, table)
    elif p.op == "add":
        table = mx.array(given.table().astype("f4"))
        yield way(GIVEN, lambda: x + table)
    elif p.op == "rope":
        turn = functools.partial(mx.fast.rope, dims=p.dim, traditional=p.pairs == "neighbours", base=BASE, scale=1.0,
                                 offset=p.first)
        yield way(MADE, lambda: turn(x[None].transpose(0, 2, 1, 3)), lambda y: y.transpose(0, 2, 1, 3)[0])
    else:
        yield way("", lambda: -x)


# ---- ggml ------------------------------------------------------------------------------------------------------------


class Pointer(ctypes.c_void_p):
    """What a function of C returns: unlike ctypes.c_void_p itself, it stays a pointer, not a number."""


class Ggml:
    """Graphs of one operation of ggml's backend for processors, by its C interface, on arrays at cache lines."""

    KINDS = {"float32": 0, "int32": 26}  # ggml_type
    PAIRS = {"neighbours": 0, "halves": 2}  # GGML_ROPE_TYPE_NORMAL, _NEOX
    DEFAULTS = (1.0, 0.0, 1.0, 0.0, 0.0)  # of ggml_rope_ext: no scaling

    class Parameters(ctypes.Structure):
        """ggml_init_params"""

        _fields_ = [("size", ctypes.c_size_t), ("buffer", ctypes.c_void_p), ("no_alloc", ctypes.c_bool)]

    def __init__(self, threads=1):
        folder = os.path.join(importlib.util.find_spec("libggml").submodule_search_locations[0], "lib64")
        self.libraries = [ctypes.CDLL(f"{folder}/libggml-{name}.so", ctypes.RTLD_GLOBAL) for name in ("base", "cpu")]
        self.context = self.call("ggml_init", self.Parameters(1 << 20, None, True))
        self.backend = self.call("ggml_backend_cpu_init")
        self.call("ggml_backend_cpu_set_n_threads", self.backend, threads)
        if threads > 1:  # a pool that is kept, as llama.cpp's
            told = ctypes.create_string_buffer(4096)  # ggml_threadpool_params, of some 530 bytes
            self.call("ggml_threadpool_params_init", told, threads)
            self.call("ggml_backend_cpu_set_threadpool", self.backend, self.call("ggml_threadpool_new", told))
        self.arrays = []

    def call(self, name, *arguments, result=Pointer):
        """Calls a function. An int is C's int, a float C's float, None no pointer."""
        function = next(one for one in self.libraries if hasattr(one, name))[name]
        function.restype = result
        return function(*[ctypes.c_float(value) if isinstance(value, float) else value for value in arguments])

    def tensor(self, array):
        """A tensor of an array's memory."""
        sizes = (ctypes.c_int64 * array.ndim)(*reversed(array.shape))
        made = self.call("ggml_new_tensor", self.context, self.KINDS[array.dtype.name], array.ndim, sizes)
        self.place(made, array)
        return made

    def place(self, tensor, array):
        address = Pointer(array.ctypes.data)
        buffer = self.call("ggml_backend_cpu_buffer_from_ptr", address, ctypes.c_size_t(array.nbytes))
        self.call("ggml_backend_tensor_alloc", buffer, tensor, address, result=ctypes.c_int)
        self.arrays.append(array)

    def graph(self, result, out):
        """What computes the result of an operation into an array, or in place where that is None."""
        if out is None:
            self.call("ggml_backend_view_init", result, result=ctypes.c_int)
        else:
            self.place(result, out)
        graph = self.call("ggml_new_graph", self.context)
        self.call("ggml_build_forward_expand", graph, result, result=None)
        compute = next(one for one in self.libraries if hasattr(one, "ggml_backend_graph_compute"))
        compute = compute["ggml_backend_graph_compute"]
        compute.restype = ctypes.c_int

        def call():
            if status := compute(self.backend, graph):
                raise RuntimeError(f"ggml_backend_graph_compute: status {status}")

        return call

    def rope(self, x, positions, pairs, out):
        """rope of x, (position, head, column), by positions, int32; in place where out is None."""
        name = "ggml_rope_ext_inplace" if out is None else "ggml_rope_ext"
        turned = self.call(name, self.context, self.tensor(x), self.tensor(positions), None, x.shape[-1],
                           self.PAIRS[pairs], 0, BASE, *self.DEFAULTS)
        return self.graph(turned, out)

    def timesteps(self, positions, dim, out):
        """The table of positions, float32, by cosines, then sines."""
        made = self.call("ggml_timestep_embedding", self.context, self.tensor(positions), dim, int(BASE))
        return self.graph(made, out)


def of_ggml(given, threads, held):
    import numpy

    p = given.problem
    if p.dtype != "f32" or (p.op == "table" and p.pairs != "halves"):
        return
    ggml, target, sines, read = Ggml(threads), given.target(), MADE, plain
    if p.op == "rope":
        call = ggml.rope(given.source(target), aligned(given.position.astype("i4")), p.pairs,
                         None if p.place == "in place" else target)
    elif p.op == "table":
        call = ggml.timesteps(aligned(given.position.astype("f4")), p.dim, target)
        read = lambda table: numpy.roll(table, p.dim // 2, 1)  # sines first
    elif p.op == "add":
        table = ggml.tensor(aligned(given.table(), "f4"))
        added = ggml.call("ggml_add", ggml.context, ggml.tensor(given.x), table)
        call, sines = ggml.graph(added, target), GIVEN
    else:
        call, sines = ggml.graph(ggml.call("ggml_neg", ggml.context, ggml.tensor(given.x)), target), ""

    def called():
        call()
        return target

    yield Way("ggml", sines, called, read)


# ---- graphs ----------------------------------------------------------------------------------------------------------


def onnx_model(nodes, inputs, shape, **domains):
    """A model of nodes (operator, inputs, output, attributes); inputs are arrays by name, `y` the result."""
    import numpy
    from onnx import TensorProto as kinds, helper

    kind = {"f": kinds.FLOAT, "i": kinds.INT64}
    told = [helper.make_tensor_value_info(name, kind[array.dtype.kind], array.shape) for name, array in inputs.items()]
    made = [helper.make_node(name, names, [output], **more) for name, names, output, more in nodes]
    whole = {name: numpy.array([int(name)]) for _, names, _, _ in nodes for name in names if name.isdigit()}
    held = [helper.make_tensor(name, kinds.INT64, [1], value) for name, value in whole.items()]
    graph = helper.make_graph(made, "y", told, [helper.make_tensor_value_info("y", kinds.FLOAT, shape)], held)
    sets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=sets, ir_version=10).SerializeToString()


def table_graph(given):
    """The angles of transformers' Llama, exported: a product with given frequencies, cosine and sine."""
    p = given.problem
    inputs = {"p": given.position.astype("f4")[:, None], "w": given.frequency.astype("f4")[None]}
    nodes = [("MatMul", ["p", "w"], "angle", {})]
    if p.pairs == "neighbours":
        nodes = [("MatMul", ["p", "w"], "flat", {}), ("Unsqueeze", ["flat", "2"], "angle", {})]
    axis = {"axis": 1 if p.pairs == "halves" else 2}
    nodes += [("Sin", ["angle"], "sine", {}), ("Cos", ["angle"], "cosine", {}),
              ("Concat", ["sine", "cosine"], "y", axis)]
    return nodes, inputs, [p.rows, p.dim] if p.pairs == "halves" else [p.rows, p.dim // 2, 2]


def graph_of(given):
    """Sines, nodes, inputs and shape of what both runtimes do alike; None for rope."""
    p = given.problem
    if p.op == "table":
        return MADE, *table_graph(given)
    if p.op == "add":
        return GIVEN, [("Add", ["x", "t"], "y", {})], {"x": given.x, "t": given.table().astype("f4")}, [p.rows, p.dim]
    if p.op == "empty":
        return "", [("Neg", ["x"], "y", {})], {"x": given.x}, list(given.x.shape)
    return None


def of_onnxruntime(given, threads, held):
    """A session with its inputs and its output bound to memory; rope is the operator RotaryEmbedding."""
    import onnxruntime

    p, graph = given.problem, graph_of(given)
    if p.dtype != "f32" or p.place == "in place":
        return
    if not graph:
        import numpy

        shape = [1, p.rows, p.heads * p.dim]
        cosine, sine = [numpy.concatenate([numpy.zeros((p.first, p.dim // 2), "f4"), half]) for half in given.cache]
        inputs = {"x": given.x.reshape(shape), "at": numpy.array([p.first]), "c": cosine, "s": sine}
        told = {"domain": "com.microsoft", "num_heads": p.heads, "interleaved": int(p.pairs == "neighbours")}
        graph = GIVEN, [("RotaryEmbedding", ["x", "at", "c", "s"], "y", told)], inputs, shape
    sines, nodes, inputs, shape = graph
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    session = onnxruntime.InferenceSession(onnx_model(nodes, inputs, shape), options,
                                           providers=["CPUExecutionProvider"])
    out = onnxruntime.OrtValue.ortvalue_from_numpy(given.out.reshape(shape))
    binding = session.io_binding()
    for name, array in inputs.items():
        binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(array))
    binding.bind_ortvalue_output("y", out)

    def call():
        session.run_with_iobinding(binding)
        return out

    yield Way("onnxruntime", sines, call, lambda out: out.numpy().reshape(given.out.shape))


def openvino_rope(given, sines):
    """Transformers' rope, exported: transposed to (head, position), with halves, which OpenVINO may fuse."""
    p = given.problem
    half, most = str(p.dim // 2), str(2**31 - 1)
    nodes = [
        ("Transpose", ["x"], "q", {"perm": [0, 2, 1, 3]}),
        ("Slice", ["q", "0", half, "3"], "a", {}),
        ("Slice", ["q", half, most, "3"], "b", {}),
        ("Neg", ["b"], "n", {}),
        ("Concat", ["n", "a"], "r", {"axis": 3}),
        ("Mul", ["q", "c"], "left", {}),
        ("Mul", ["r", "s"], "right", {}),
        ("Add", ["left", "right"], "y", {}),
    ]
    inputs = {"x": given.x[None]}
    if sines == GIVEN:
        inputs.update(zip("cs", [given.twice(table)[None, None] for table in given.cache]))
    else:
        inputs.update(p=given.position.astype("f4").reshape(1, 1, -1, 1),
                      w=given.frequency.astype("f4").reshape(1, 1, 1, -1))
        nodes[:0] = [("Mul", ["p", "w"], "once", {}), ("Concat", ["once", "once"], "angle", {"axis": 3}),
                     ("Cos", ["angle"], "c", {}), ("Sin", ["angle"], "s", {})]
    return sines, nodes, inputs, [1, p.heads, p.rows, p.dim]


def of_openvino(given, threads, held):
    """A compiled model whose inputs and output are tensors on the arrays."""
    import numpy
    import openvino

    p, graph = given.problem, graph_of(given)
    if p.dtype != "f32" or p.place == "in place" or (p.op == "rope" and p.pairs != "halves"):
        return
    told = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1}
    for sines, nodes, inputs, shape in [graph] if graph else [openvino_rope(given, sines) for sines in (GIVEN, MADE)]:
        core = openvino.Core()
        compiled = core.compile_model(core.read_model(onnx_model(nodes, inputs, shape)), "CPU", told)
        kinds = [node.get_rt_info()["layerType"].get() for node in compiled.get_runtime_model().get_ordered_ops()]
        request, out = compiled.create_infer_request(), numpy.empty(shape, "f4")
        for place, name in enumerate(compiled.inputs):
            request.set_input_tensor(place, openvino.Tensor(numpy.ascontiguousarray(inputs[name.any_name])))
        request.set_output_tensor(openvino.Tensor(out, shared_memory=True))

        def call(request=request, out=out):
            request.infer()
            return out

        def read(out):
            return out[0].transpose(1, 0, 2) if p.op == "rope" else out.reshape(given.out.shape)

        yield Way("openvino, RoPE" if "RoPE" in kinds else "openvino", sines, call, read)


# Packages whose calls name no arrays: those of a graph, of a binding or of a request are told before.
BOUND = {"onnxruntime", "ggml", "openvino"}
# The quick ones first: what they leave of the time is for the others.
PACKAGES = {
    "numpy": of_numpy,
    "onnxruntime": of_onnxruntime,
    "ggml": of_ggml,
    "vllm": of_vllm,
    "openvino": of_openvino,
    "mlx": of_mlx,
    "jax": of_jax,
    "torch": of_torch,
    "torch.compile": of_torch_compile,
}


@contextlib.contextmanager
def ways_of(package, problem, threads):
    """posenc's ways and the package's, and what they start from; no ways if the package has none."""
    with contextlib.ExitStack() as held:
        given = Given(problem)
        theirs = list(PACKAGES[package](given, threads, held))
        yield given, [*of_posenc(given, threads, held), *theirs] if theirs else []


def fits(problem, most):
    """Whether x, the result and two arrays between, as a framework may need, take at most so many bytes."""
    elements = math.prod((problem.rows, problem.heads, problem.dim))
    return 4 * elements * (2 if problem.dtype == "bf16" else 4) <= most
