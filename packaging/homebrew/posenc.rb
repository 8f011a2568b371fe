# SPDX-License-Identifier: MIT
class Posenc < Formula
  desc "Sinusoidal positional encodings, fast and with a stated accuracy"
  homepage "@URL@"
  url "@URL@/posenc-@PACKAGE_VERSION@.tar.xz"
  sha256 "@SHA256@"
  license "MIT"

  depends_on "pkgconf" => [:build, :test]
  depends_on "jansson"
  depends_on :linux
  depends_on "mpfr"

  def install
    system "./configure", *std_configure_args, "--without-benchmark",
           "--without-sleef", "--without-libmvec", "--without-arb", "--without-kissfft", "--without-opencl",
           "--with-bash-completion-dir=#{bash_completion}"
    system "make", "install"
  end

  test do
    system "sh", pkgshare/"smoke.sh"
  end
end
