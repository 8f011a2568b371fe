#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the wheel with the standard library: the build backend of pip, and what `make wheel` runs.

    POSENC_BUILD=FOLDER python3 backend.py DIST

POSENC_BUILD is a folder where posenc has been built; without it, a temporary one is configured and built. The
wheel has libposenc, the posenc command and the libraries that this needs beside the C library, each with its licence;
the command finds them by its RPATH. The tag is that of the C library's version that they need. No file of it depends
on the version of Python.
"""

import base64
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

try:
    import tomllib
except ImportError:  # before Python 3.11
    from pip._vendor import tomli as tomllib

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
# Parts of the C library, and the kernel's: what every system of a manylinux tag has.
SYSTEM = re.compile(r"(linux-vdso|linux-gate|ld-linux.*|libc|libm|libmvec|libdl|libpthread|librt)\.so.*")
# Time stamps are the same in each build: bits of the wheel depend on its content alone.
STAMP = (1980, 1, 1, 0, 0, 0)


def run(*command, **options):
    """The output of a command; the build ends if it fails."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def configured(folder):
    """Configures and builds there. A checkout has no configure yet."""
    if not (ROOT / "configure").exists():
        run("autoreconf", "-i", cwd=ROOT)
    folder.mkdir()
    run(ROOT / "configure", "-q", cwd=folder)
    run("make", "-s", f"-j{os.cpu_count()}", "posenc", "libposenc.la", cwd=folder)
    return folder


def built(build):
    """The command and the library. libtool has them here until they are installed."""
    found = [build / ".libs" / name for name in ("posenc", "libposenc.so.0")]
    if not all(path.exists() for path in found):
        sys.exit(f"{build}: no command, or no shared library: configure without --disable-tools and --disable-shared")
    return found


def needed(program, folder):
    """Paths of the libraries of a program, but for the system's and ours, by their names."""
    lines = run("ldd", program, env={**os.environ, "LD_LIBRARY_PATH": str(folder)})
    missing = re.findall(r"^\s*(\S+) => not found", lines, re.M)
    if missing:
        sys.exit(f"{program}: {', '.join(missing)} not found")
    pairs = re.findall(r"^\s*(\S+) => (/\S+)", lines, re.M)
    return {name: path for name, path in pairs if not SYSTEM.fullmatch(name) and not name.startswith("libposenc")}


def package_of(path):
    """Package, source package and its version of a library of Debian; None elsewhere."""
    real = os.path.realpath(path)
    for spelling in (real, real.removeprefix("/usr"), f"/usr{real}"):
        try:
            name = run("dpkg", "-S", spelling, stderr=subprocess.DEVNULL).partition(":")[0]
            return name, *run("dpkg-query", "-W", "-f", "${source:Package} ${source:Version}\n", name).split()[:2]
        except (OSError, subprocess.CalledProcessError):
            continue
    return None


def licences(libraries):
    """Files on the libraries: what they are, and the texts of their licences."""
    files = {"LICENSE": (ROOT / "LICENSE").read_bytes()}
    lines = [
        "posenc is under the MIT licence (LICENSE). This wheel also has libraries of others, unchanged, each a file of",
        "its own that the command loads and that another build may replace. Their licences are beside this file.",
        "",
    ]
    for name, path in sorted(libraries.items()):
        package = package_of(path)
        if package is None:
            print(f"backend: warning: no licence of {path}: it is of no Debian package", file=sys.stderr)
            lines.append(f"{name}: from {path}; it is of no Debian package")
            continue
        debian, source, version = package
        lines.append(f"{name}: Debian's {debian}; source: https://snapshot.debian.org/package/{source}/{version}/")
        text = Path(f"/usr/share/doc/{debian}/copyright").read_bytes()
        files[f"{debian}.copyright"] = text
        for common in set(re.findall(rb"/usr/share/common-licenses/([A-Za-z0-9.-]*[A-Za-z0-9])", text)):
            file = Path("/usr/share/common-licenses", common.decode())
            if file.exists():
                files[file.name] = file.read_bytes()
    files["NOTICE"] = "\n".join([*lines, ""]).encode()
    return files


def contents(build, scratch):
    """The package's files: content by path."""
    program, library = built(build)
    libraries = needed(program, library.parent)
    shutil.copy(program, scratch / "posenc")
    shutil.copy(library, scratch / "libposenc.so.0")
    run("strip", "--strip-unneeded", scratch / "posenc", scratch / "libposenc.so.0")
    # RPATH and not RUNPATH: it also holds for the libraries' own needs.
    run("patchelf", "--force-rpath", "--set-rpath", "$ORIGIN/../lib", scratch / "posenc")
    files = {f"posenc/{path.name}": path.read_bytes() for path in (HERE / "posenc").iterdir() if path.is_file()}
    files["posenc/bin/posenc"] = (scratch / "posenc").read_bytes()
    files["posenc/lib/libposenc.so.0"] = (scratch / "libposenc.so.0").read_bytes()
    for name, path in libraries.items():
        files[f"posenc/lib/{name}"] = Path(path).read_bytes()
    return files, licences(libraries)


def platform_tag(files):
    """ "manylinux_2_34_x86_64": the newest version of the C library's symbols that any file needs."""
    binaries = [content for path, content in files.items() if path.startswith(("posenc/bin/", "posenc/lib/"))]
    minors = [int(minor) for content in binaries for minor in re.findall(rb"\0GLIBC_2\.(\d+)", content)]
    return f"manylinux_2_{max(minors)}_{platform.machine()}" if minors else f"linux_{platform.machine()}"


def metadata(tag):
    """The files of .dist-info, but for licences and RECORD."""
    project = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
    version = re.search(r"AC_INIT\(\[posenc\], \[([^]]*)\]", (ROOT / "configure.ac").read_text())[1]
    described = {
        "Metadata-Version": "2.1",
        "Name": project["name"],
        "Version": version,
        "Summary": project["description"],
        "License": project["license"]["text"],
        "Requires-Python": project["requires-python"],
        "Classifier": "Typing :: Typed",
    }
    wheel = {"Wheel-Version": "1.0", "Generator": "posenc", "Root-Is-Purelib": "false", "Tag": tag}
    lines = ["".join(f"{key}: {value}\n" for key, value in each.items()).encode() for each in (described, wheel)]
    scripts = "".join(f"{name} = {place}\n" for name, place in project["scripts"].items())
    return version, {
        "METADATA": lines[0],
        "WHEEL": lines[1],
        "entry_points.txt": f"[console_scripts]\n{scripts}".encode(),
    }


def record_line(path, content):
    """As RECORD has it."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{path},sha256={digest},{len(content)}\n"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Builds it there, and returns its name. (PEP 517)"""
    with tempfile.TemporaryDirectory() as scratch:
        given = os.environ.get("POSENC_BUILD")
        scratch = Path(scratch)
        files, texts = contents(Path(given) if given else configured(scratch / "build"), scratch)
    tag = f"py3-none-{platform_tag(files)}"
    version, described = metadata(tag)
    info = f"posenc-{version}.dist-info"
    files.update({f"{info}/{name}": content for name, content in described.items()})
    files.update({f"{info}/licenses/{name}": content for name, content in texts.items()})
    lines = [record_line(path, content) for path, content in sorted(files.items())]
    files[f"{info}/RECORD"] = "".join([*lines, f"{info}/RECORD,,\n"]).encode()
    name = f"posenc-{version}-{tag}.whl"
    with zipfile.ZipFile(Path(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in sorted(files.items(), key=lambda file: (".dist-info/" in file[0], file[0])):
            entry = zipfile.ZipInfo(path, STAMP)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if path.startswith("posenc/bin/") else 0o100644) << 16
            wheel.writestr(entry, content)
    return name


def build_sdist(sdist_directory, config_settings=None):
    """There is none: releases are made by make dist. (PEP 517)"""
    raise NotImplementedError("posenc's source is the tarball of make dist, which has this folder")


if __name__ == "__main__":
    os.makedirs(sys.argv[1], exist_ok=True)
    print(Path(sys.argv[1], build_wheel(sys.argv[1])))
