# SPDX-License-Identifier: MIT
from spack_repo.builtin.build_systems.autotools import AutotoolsPackage  # Spack 1.0

from spack.package import *


class Posenc(AutotoolsPackage):
    """Sinusoidal positional encodings, fast and with a stated accuracy."""

    homepage = "@URL@"
    url = "@URL@/posenc-@PACKAGE_VERSION@.tar.xz"
    license("MIT")

    version("@PACKAGE_VERSION@", sha256="@SHA256@")

    variant("tools", default=True, description="The posenc command")

    depends_on("c", type=("build", "test"))
    depends_on("cxx", type=("build", "test"))
    depends_on("pkgconfig", type=("build", "test"))
    depends_on("mpfr@4.1:", when="+tools")
    depends_on("jansson@2.12:", when="+tools")

    conflicts("platform=windows")
    conflicts("platform=darwin", when="+tools")

    def configure_args(self):
        # Libraries that it would use if it found them.
        unused = ["benchmark", "sleef", "libmvec", "arb", "kissfft", "opencl"]
        return [f"--without-{library}" for library in unused] + self.enable_or_disable("tools")

    def test_smoke(self):
        """a program is compiled against the library and runs"""
        which("sh")(join_path(self.prefix.share, "posenc", "smoke.sh"))
