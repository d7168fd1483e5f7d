#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# One file with everything that a site without internet needs beside its own compiler, MPI, libfabric, HDF5, hwloc
# and zlib.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../.." && pwd)
# shellcheck source=/dev/null
. "$top/jobs/lib/say.sh"

usage() {
    cat <<'USAGE'
Usage: packaging/offline/bundle.sh [--python 3.11] [-o FILE.tar.gz]

To be run on a Debian 12 with internet. Writes a2aperf-VERSION-offline.tar.gz: the last commit's files, the headers of
fmt and CLI11, and wheels of the analysis, of what it needs, and of meson and ninja. On the other side:

  tar xf a2aperf-0.1.0-offline.tar.gz
  a2aperf-0.1.0/install.sh --prefix ~/a2aperf

  --python VERSION   Python there (default: this machine's); wheels are for Linux on this kind of processor
USAGE
}

version_there='' output=''
while (($#)); do
    case $1 in
    --python | -o)
        (($# > 1)) || die -2 "$1 lacks its value: --help shows all"
        case $1 in -o) output=$2 ;; *) version_there=$2 ;; esac
        shift 2
        ;;
    -h | --help)
        usage
        exit 0
        ;;
    *) die -2 "'$1' is not understood: --help shows what is" ;;
    esac
done
[[ ! $version_there || $version_there =~ ^3\.[0-9]+$ ]] || die -2 "--python $version_there: such as --python 3.11"
for program in git python3 sha256sum apt-get dpkg-deb; do have "$program" || die "$program is missing here"; done
version=$(sed -n "s/^  version: '\(.*\)',$/\1/p" "$top/meson.build" | head -n 1)
output=$(realpath -m "${output:-a2aperf-$version-offline.tar.gz}")
[[ -d ${output%/*} && -w ${output%/*} ]] || die -2 "nothing can be written to ${output%/*}"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
folder=$work/a2aperf-$version
log=$work/log
mkdir "$folder"
git -c safe.directory='*' -C "$top" archive HEAD | tar x -C "$folder"
git -c safe.directory='*' -C "$top" rev-parse --short=12 HEAD >"$folder/COMMIT"

quietly() {
    "$@" >"$log" 2>&1 </dev/null || {
        tail -n 20 "$log" >&2
        die "failed: $1 $2 $3"
    }
}
# bring_headers PACKAGE SUBPROJECT: both libraries work from their headers alone.
bring_headers() {
    local unpacked=$work/$1 subproject=$folder/subprojects/$2
    (cd "$work" && quietly apt-get download "$1")
    quietly dpkg-deb --extract "$work/$1"_*.deb "$unpacked"
    mkdir "$subproject"
    cp -r "$unpacked/usr/include" "$subproject/include"
    cp "$unpacked/usr/share/doc/$1/copyright" "$folder/subprojects/packagefiles/${2,,}/meson.build" "$subproject/"
}
say "headers of fmt and CLI11"
bring_headers libfmt-dev fmt
bring_headers libcli11-dev CLI11
say "wheels for Python ${version_there:-of this machine}"
python3 -m venv "$work/venv"
pip=("$work/venv/bin/python" -m pip)
target=()
if [[ $version_there ]]; then
    target=(--python-version "$version_there" --implementation cp)
    for system in manylinux_2_28 manylinux_2_27 manylinux_2_17 manylinux2014; do
        target+=(--platform "${system}_$(uname -m)")
    done
fi
mkdir "$folder/wheels"
quietly "${pip[@]}" wheel --no-deps --wheel-dir "$folder/wheels" "$folder/analysis"
quietly "${pip[@]}" download --dest "$folder/wheels" --only-binary :all: "${target[@]}" \
    --constraint "$folder/analysis/constraints.txt" "$folder"/wheels/a2aperf-*.whl meson ninja
cp "$here/install.sh" "$folder/install.sh"
(cd "$folder" && find . -type f ! -name SHA256SUMS -print0 | sort -z | xargs -0 sha256sum >"$work/sums" &&
    mv "$work/sums" SHA256SUMS)
tar czf "$output.partial" -C "$work" --owner 0 --group 0 "${folder##*/}"
mv "$output.partial" "$output"
say "$output ($(du -h "$output" | cut -f 1), $(find "$folder/wheels" -name '*.whl' | wc -l) wheels)"
