#!/usr/bin/env bash
# Puts real arrays into a new store, looks at them, gets one back, and proves that nothing changed.
# Run it with "make demo", as often as you like.
set -euo pipefail
cd "$(dirname "$0")/../.."
export PATH="$PWD/bin:$PATH"

work=bin/demo
rm -rf "$work"
mkdir -p "$work"
store=$work/mystore
digits=testdata/digits

# show prints a command as one would type it, and runs it.
show() {
  printf '\n$ %s\n' "$*"
  "$@"
}

echo "1,797 images of handwritten digits, 8 by 8 pixels each, and their labels:"
show tstore import "$store" $digits/digits_images.npy $digits/digits_labels.npy --attr source=UCI
show tstore put "$store" first $digits/digits_images.npy --dims image,row,column
show tstore ls -l "$store"
show tstore stat "$store" first
show tstore get "$store" digits_labels

echo
echo "What comes out is what went in:"
for name in digits_images digits_labels; do
  show tstore get "$store" $name -o "$work/$name.npy"
  show cmp "$work/$name.npy" "$digits/$name.npy"
  echo "equal, $(wc -c <"$work/$name.npy") bytes"
done

echo
echo "catalog.db is only an index over the segments. Without it the store opens with the same contents,"
echo "and the next writer makes it again:"
tstore ls --json "$store" >"$work/before.json"
show rm "$store/catalog.db"
show tstore put "$store" more $digits/digits_labels.npy
show tstore rm "$store" more
tstore ls --json "$store" >"$work/after.json"
show cmp "$work/before.json" "$work/after.json"
echo "the same names, types, shapes and attributes"
show tstore get "$store" digits_images -o "$work/again.npy"
show cmp "$work/again.npy" "$digits/digits_images.npy"
echo "equal"
