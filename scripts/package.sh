#!/usr/bin/env bash
# Makes what operators install: a tarball and a Debian package, each with the program, its manual pages, completions for
# bash, zsh and fish, and the documentation. The same program and SOURCE_DATE_EPOCH give the same bytes.
#
# The Debian package needs dpkg-deb, and dpkg-dev for the versions of the libraries it depends on; where dpkg-deb is not
# there, the tarball alone is made.
#
# usage: scripts/package.sh [--binary FILE] [--features LIST] [--out DIR]
#          --binary FILE     package this program instead of building one
#          --features LIST   build it for these databases alone, such as "mongodb dynamodb"; "" is none of them
#          --out DIR         where the packages go; target/package if left out
#
# SOURCE_DATE_EPOCH is the time of every file; that of the last commit if it is not set. DEBFULLNAME and DEBEMAIL are the
# maintainer that the Debian package names. The paths of the packages go to standard output, everything else to standard
# error.
set -euo pipefail
shopt -s inherit_errexit
CALLED_FROM=$PWD
cd "$(dirname "$0")/.."
. scripts/shell.sh
trap report_failure EXIT
export LC_ALL=C TZ=UTC
umask 022

BINARY=
# Every database; what only tests may do is no feature of a release.
FEATURES='mongodb dynamodb firestore cosmosdb'
OUT=$PWD/target/package

usage() {
  printf 'usage: scripts/package.sh [--binary FILE] [--features LIST] [--out DIR]\n' >&2
  exit 2
}

# A path as the caller meant it, from where the script was called.
from_caller() {
  case "$1" in
    /*) printf '%s' "$1" ;;
    *) printf '%s/%s' "$CALLED_FROM" "$1" ;;
  esac
}

while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || usage
  case "$1" in
    --binary) BINARY=$(from_caller "$2") ;;
    --features) FEATURES=$2 ;;
    --out) OUT=$(from_caller "$2") ;;
    *) usage ;;
  esac
  shift 2
done

# The time of every file in the packages.
epoch() {
  printf '%s' "${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y Cargo.toml)}"
}

# A value of the manifest's first table, such as the version.
from_manifest() {
  sed -n "/^\[package\]/,/^\[features\]/s/^$1 = \"\(.*\)\"$/\1/p" Cargo.toml
}

build_program() {
  find_rust
  find_c_compiler
  cargo build --locked --release --no-default-features --features "$FEATURES" --bin rekey
  BINARY=${CARGO_TARGET_DIR:-target}/release/rekey
}

# The program without what only a debugger reads.
place_program() {
  install -D -m 0755 "$BINARY" "$1"
  if command -v strip >/dev/null; then
    strip --strip-unneeded "$1"
  fi
}

# The page of the tool, and that of every command it names.
place_manual() {
  local folder=$1 page verb
  mkdir -p "$folder"
  page=$("$BINARY" man)
  printf '%s\n' "$page" >"$folder/rekey.1"
  for verb in $(printf '%s\n' "$page" | sed -n 's/^rekey\\-\([a-z]*\)(1)$/\1/p'); do
    # `help` is clap's own, and has no page.
    [ "$verb" = help ] || "$BINARY" man "$verb" >"$folder/rekey-$verb.1"
  done
  gzip -9n "$folder"/*.1
}

place_completions() {
  local share=$1
  mkdir -p "$share/bash-completion/completions" "$share/zsh/vendor-completions" "$share/fish/vendor_completions.d"
  "$BINARY" completions bash >"$share/bash-completion/completions/rekey"
  "$BINARY" completions zsh >"$share/zsh/vendor-completions/_rekey"
  "$BINARY" completions fish >"$share/fish/vendor_completions.d/rekey.fish"
}

place_documentation() {
  mkdir -p "$1"
  cp -R README.md docs "$1/"
  chmod -R u=rwX,go=rX "$1"
}

# Everything in its place below a folder that stands for /usr.
place_everything() {
  place_program "$1/bin/rekey"
  place_manual "$1/share/man/man1"
  place_completions "$1/share"
  place_documentation "$1/share/doc/rekey"
}

# Gives everything below a folder the same time.
set_times() {
  find "$1" -exec touch -h -d "@$EPOCH" {} +
}

# Packs the folder NAME of the folder it lies in.
make_tarball() {
  local folder=$1 name=$2
  cp LICENSE "$folder/$name/"
  set_times "$folder/$name"
  tar --sort=name --owner=0 --group=0 --numeric-owner --format=gnu -C "$folder" -cf - "$name" |
    gzip -6n >"$OUT/$name.tar.gz.part"
  mv "$OUT/$name.tar.gz.part" "$OUT/$name.tar.gz"
  printf '%s\n' "$OUT/$name.tar.gz" >&3
}

# The packages with the shared libraries that the program loads; without dpkg-dev the C library alone is named.
dependencies() {
  local root=$1 found=''
  if command -v dpkg-shlibdeps >/dev/null; then
    # It reads a source package's control file before anything else.
    mkdir -p "$root.source/debian"
    printf 'Source: rekey\n\nPackage: rekey\nArchitecture: any\n' >"$root.source/debian/control"
    found=$(cd "$root.source" && dpkg-shlibdeps --ignore-missing-info -O "$root/usr/bin/rekey" |
      sed -n 's/^shlibs:Depends=//p')
  fi
  printf '%s' "${found:-libc6}"
}

write_copyright() {
  cat <<EOF
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: rekey

Files: *
Copyright: the authors of rekey
License: Apache-2.0
 On Debian systems the whole text is in /usr/share/common-licenses/Apache-2.0.
EOF
}

write_control() {
  local root=$1 architecture=$2
  cat <<EOF
Package: rekey
Version: $VERSION
Architecture: $architecture
Maintainer: ${DEBFULLNAME:-The maintainers of rekey} <${DEBEMAIL:-rekey@localhost}>
Installed-Size: $(du -sk --apparent-size "$root/usr" | cut -f 1)
Depends: $(dependencies "$root")
Section: database
Priority: optional
Description: move event and saga documents to keys that carry the tenant
 $(from_manifest description)
 Every document is exported, given its new key, imported, and what then is in
 the store is compared with what came out of it.
EOF
}

make_debian_package() {
  local root=$1 architecture file
  architecture=$(dpkg --print-architecture)
  file=rekey_${VERSION}_$architecture.deb
  write_copyright >"$root/usr/share/doc/rekey/copyright"
  mkdir -p "$root/DEBIAN"
  write_control "$root" "$architecture" >"$root/DEBIAN/control"
  (cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
  set_times "$root"
  SOURCE_DATE_EPOCH=$EPOCH dpkg-deb --root-owner-group -Zgzip -z6 --build "$root" "$OUT/$file.part"
  mv "$OUT/$file.part" "$OUT/$file"
  printf '%s\n' "$OUT/$file" >&3
}

# Paths alone go to the caller's standard output.
exec 3>&1 1>&2
EPOCH=$(epoch)
VERSION=$(from_manifest version)
NAME=rekey-$VERSION-$(uname -m)-linux
STAGE=$(mktemp -d)
trap 'report_failure; rm -rf "$STAGE"' EXIT
mkdir -p "$OUT"

if [ -z "$BINARY" ]; then
  step 'Program' build_program
fi
step 'Files' place_everything "$STAGE/$NAME"
mkdir -p "$STAGE/root"
cp -R "$STAGE/$NAME" "$STAGE/root/usr"
step 'Tarball' make_tarball "$STAGE" "$NAME"
if command -v dpkg-deb >/dev/null; then
  step 'Debian package' make_debian_package "$STAGE/root"
else
  printf '!!! no Debian package: dpkg-deb is not installed (Debian: apt-get install dpkg).\n'
fi
