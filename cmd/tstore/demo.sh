#!/usr/bin/env bash
# Puts real arrays and a real sparse matrix into a new store, looks at them, gets them back, proves
# that nothing changed, and makes a package of all.
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
echo "A sparse matrix: 30 x 30 with 180 nonzeros, kept as CSR:"
matrix=testdata/matrices/pores_1.mtx
show tstore put "$store" pores $matrix
show tstore convert "$store" pores --layout csr
show tstore ls -l "$store" pores
show tstore get "$store" "pores[:4, :4]"
show tstore plot "$store" pores
show tstore get "$store" pores -o "$work/pores.mtx"
# Another order and another way to write the same numbers: compare them as numbers, sorted.
numbers() { grep -v '^%' "$1" | tail -n +2 | awk '{ printf "%d %d %.17g\n", $1, $2, $3 }' | LC_ALL=C sort; }
numbers $matrix >"$work/pores.before"
numbers "$work/pores.mtx" >"$work/pores.after"
show cmp "$work/pores.before" "$work/pores.after"
echo "equal, $(wc -l <"$work/pores.after") nonzeros"

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

echo
echo "The whole dataset in one file, ready to be shipped, and read where it lies:"
package=$work/digits.tstore
show tstore pack "$store" "$package" --attr title="Handwritten digits" --attr license=CC-BY-4.0
show tstore verify "$package"
show tstore stat "$package"
show tstore ls -l "$package"
show tstore digest "$package"
show tstore get "$package" digits_labels
show tstore get "$package" digits_images -o "$work/packed.npy"
show cmp "$work/packed.npy" $digits/digits_images.npy
echo "equal"
