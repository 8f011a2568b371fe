#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the bill of materials of a release tarball as SPDX 2.3 JSON: every file, and what the parts need.

    sbom.py VERSION TARBALL

SOURCE_DATE_EPOCH is its date.
"""

import hashlib
import json
import os
import sys
import tarfile
from datetime import datetime, timezone
from fnmatch import fnmatch
from pathlib import Path

# Name, how the package depends on it, licence. libposenc needs the C library alone.
NEEDS = [("mpfr", "DEPENDENCY_OF", "LGPL-3.0-or-later"), ("jansson", "DEPENDENCY_OF", "MIT"),
         ("benchmark", "OPTIONAL_DEPENDENCY_OF", "Apache-2.0"), ("sleef", "OPTIONAL_DEPENDENCY_OF", "BSL-1.0"),
         ("ocl-icd", "OPTIONAL_DEPENDENCY_OF", "BSD-2-Clause"),
         ("kissfft", "DEV_DEPENDENCY_OF", "BSD-3-Clause"), ("flint-arb", "TEST_DEPENDENCY_OF", "LGPL-2.1-or-later")]


# Files that Autotools add to a tarball; all others are ours.
OTHERS = [("configure", "FSFUL AND GPL-2.0-or-later WITH Libtool-exception"),
          ("aclocal.m4", "FSFULLRWD AND GPL-2.0-or-later WITH Autoconf-exception-generic"),
          ("Makefile.in", "MIT AND FSFULLRWD"),
          ("build-aux/config.*", "GPL-3.0-or-later WITH Autoconf-exception-generic-3.0"),
          ("build-aux/install-sh", "X11"), ("build-aux/ltmain.sh", "GPL-2.0-or-later WITH Libtool-exception"),
          ("build-aux/*", "GPL-2.0-or-later WITH Autoconf-exception-generic")]


def package(name, licence, **more):
    return {"name": name, "SPDXID": f"SPDXRef-{name}", "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": "NOASSERTION", **more}


def checksums(data):
    return [{"algorithm": name.upper(), "checksumValue": hashlib.new(name, data).hexdigest()}
            for name in ("sha1", "sha256")]


def file_of(path, identifier, data):
    licence = next((licence for pattern, licence in OTHERS if fnmatch(path, pattern)), None)
    return {"fileName": "./" + path, "SPDXID": identifier, "checksums": checksums(data),
            "licenseConcluded": licence or "MIT", "licenseInfoInFiles": (licence or "MIT").split(" AND "),
            "copyrightText": "NOASSERTION" if licence else "2026 the posenc authors"}


def files_of(tarball):
    with tarfile.open(tarball) as tar:
        members = sorted((member for member in tar if member.isfile()), key=lambda member: member.name)
        return [file_of(member.name.split("/", 1)[1], f"SPDXRef-File-{number}", tar.extractfile(member).read())
                for number, member in enumerate(members)]


def main():
    version, tarball = sys.argv[1:]
    date = datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), timezone.utc)
    files = files_of(tarball)
    sums = checksums(Path(tarball).read_bytes())
    sha1s = sorted(file["checksums"][0]["checksumValue"] for file in files)
    code = hashlib.sha1("".join(sha1s).encode()).hexdigest()
    own = package("posenc", "MIT", versionInfo=version, packageFileName=Path(tarball).name, checksums=sums,
                  supplier="Organization: the posenc authors")
    own.update(filesAnalyzed=True, copyrightText="2026 the posenc authors",
               licenseInfoFromFiles=sorted({name for file in files for name in file["licenseInfoInFiles"]}),
               packageVerificationCode={"packageVerificationCodeValue": code},
               hasFiles=[file["SPDXID"] for file in files])
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-posenc")]
    relations += [(f"SPDXRef-{name}", how, "SPDXRef-posenc") for name, how, _ in NEEDS]
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"posenc-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/posenc-{version}-{sums[1]['checksumValue']}",
        "creationInfo": {"created": date.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: packaging/sbom.py"]},
        "packages": [own, *(package(name, licence) for name, _, licence in NEEDS)], "files": files,
        "relationships": [{"spdxElementId": a, "relationshipType": how, "relatedSpdxElement": b}
                          for a, how, b in relations]}
    print(json.dumps(document, indent=1))


if __name__ == "__main__":
    main()
