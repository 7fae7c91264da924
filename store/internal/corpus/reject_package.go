package main

import (
	"bytes"
	"math"
	"slices"

	"github.com/tstore/tstore/index"
)

// packageRejects break what makes a file a package, and what an index and the records
// that it names have to do with each other.
func packageRejects() []reject {
	const p, one, two = "package.tstore", "package-one.tstore", "package-two.tstore"
	header := func(rule, variant, mentions string, change func(h []byte)) reject {
		return of(p, rule, variant, mentions, headerChange(change))
	}
	entry := func(base, rule, variant, mentions string, change func(entry []byte)) reject {
		return of(base, rule, variant, mentions, func(e *editor) { e.index().entry(0, change) })
	}
	return slices.Concat(
		on("open", "none",
			header("package-kind", "log", "not a package", func(h []byte) { put16(h, 2, 1) }),
			header("package-kind", "compacted", "not a package", func(h []byte) { put16(h, 2, 3) }),
		),
		on("open", "newer", header("header-version", "package", "format version 2", func(h []byte) { put16(h, 0, 2) })),
		named("a", on("get", "corrupt",
			entry(p, "record-bounds", "length", "ends behind the file", func(entry []byte) { put64(entry, 40, u64(entry, 40)+1<<20) }),
			entry(p, "record-bounds", "length-petabyte", "ends behind the file", func(entry []byte) { put64(entry, 40, 1<<50) }),
			entry(p, "record-bounds", "offset", "ends behind the file", func(entry []byte) { put64(entry, 32, 1<<40) }),
			entry(p, "record-bounds", "offset-near-2-63", "ends behind the file", func(entry []byte) { put64(entry, 32, math.MaxInt64-63-u64(entry, 40)) }),
			of(p, "record-crc", "package", "has CRC-32C", func(e *editor) { e.b[e.record(0).body]++ }),
			of(p, "record-message", "root-offset", "root-offset", func(e *editor) { e.putRecord(0, func(msg []byte) { put32(msg, 8, 0) }) }),
			of(p, "record-message", "body-length", "body-truncated", func(e *editor) {
				f, m := e.index(), e.record(0)
				m.bodyLength(128)
				crc := checksum(m.bytes())
				f.entry(0, func(entry []byte) { put32(entry, 48, crc) })
			}),
			of(p, "record-description", "shape", "the index says", func(e *editor) {
				e.index().description(0, func(d []byte) { d[11], d[12] = 3, 2 })
			}),
		)...),
		on("verify", "corrupt",
			of(p, "record-description", "dimension-name", "the index says", func(e *editor) {
				e.index().description(0, func(d []byte) { d[bytes.Index(d, []byte("row"))] = 'R' })
			}),
			of(p, "record-message", "indices-bounds", "indices-bounds", func(e *editor) {
				e.putRecord(2, func(msg []byte) { msg[len(msg)-128] = 7 })
				e.redigest()
			}),
			of(two, "package-records", "overlap", "where the last one ends at", func(e *editor) {
				crc, at := checksum(e.record(0).bytes()), e.record(0).start
				e.index().entry(1, func(entry []byte) {
					put64(entry, 32, uint64(at))
					put32(entry, 48, crc)
				})
			}),
			of(two, "package-records", "order", "where the last one ends at", func(e *editor) {
				a, b := e.record(0), e.record(1)
				first := bytes.Clone(a.bytes())
				copy(a.bytes(), b.bytes())
				copy(b.bytes(), first)
				e.index().entry(0, func(entry []byte) { put64(entry, 32, uint64(b.start)) })
				e.index().entry(1, func(entry []byte) { put64(entry, 32, uint64(a.start)) })
			}),
			of(one, "package-records", "gap", "where the last one ends at", func(e *editor) {
				at := e.record(0).start
				e.index().entry(0, func(entry []byte) { put64(entry, 32, uint64(at+64)) })
				e.insertZeros(at)
			}),
			of(one, "package-records", "gap-behind", "64 bytes at offset", func(e *editor) { e.insertZeros(e.index().m.start) }),
			of(one, "package-records", "header", "where the last one ends at", func(e *editor) {
				m := e.messages()[0]
				e.index().entry(0, func(entry []byte) {
					put64(entry, 32, 0)
					put64(entry, 40, uint64(m.end))
					put32(entry, 48, checksum(m.bytes()))
				})
			}),
			header("package-header", "store", "its header is that of", func(h []byte) { h[16] = 1 }),
			header("package-header", "number", "its header is that of", func(h []byte) { put64(h, 8, 1) }),
			header("package-header", "base", "its header is that of", func(h []byte) { put64(h, 48, 1) }),
			of(p, "package-header", "uuid", "its header is that of", func(e *editor) {
				e.header(func(h []byte) { h[32] = 1 })
				e.trailer(func(t []byte) { t[12] = 1 })
			}),
			of(p, "package-sequence", "trailer", "sequence numbers up to 5 in the trailer", func(e *editor) {
				e.trailer(func(t []byte) { put64(t, 36, 5) })
			}),
			of(one, "package-sequence", "index", "1 in the index", func(e *editor) {
				e.index().entry(0, func(entry []byte) { put64(entry, 16, 1) })
				e.index().changeHeader(func(h []byte) { put64(h, 40, 1); put64(h, 48, 1) })
			}),
			of(two, "package-tombstone", "", "deleted names", func(e *editor) {
				f := e.index()
				digest := bytes.Clone(f.header()[128:160])
				x := e.record(0)
				entry := entryOf("x", 0, x.bytes())
				entry.Offset = int64(x.start)
				e.b = appendEnd(e.b[:x.end], 4, [16]byte{}, 0, 0, freeze(map[string]*index.Entry{"x": entry, "y": {Name: "y", Deleted: true}}))
				e.index().changeHeader(func(h []byte) { copy(h[128:], digest) })
				e.redigest()
			}),
			of(p, "package-digest", "", "the digest is", func(e *editor) { e.index().changeHeader(func(h []byte) { h[128]++ }) }),
			of(p, "package-digest", "zero", "the digest is", func(e *editor) { e.index().changeHeader(func(h []byte) { clear(h[128:160]) }) }),
			of(one, "package-name", "other", "its name should come first", func(e *editor) {
				e.putRecord(0, func(msg []byte) { msg[bytes.Index(msg, []byte("\x01\x00\x00\x00x\x00"))+4] = 'y' })
			}),
			of(one, "package-name", "missing", "its name should come first", func(e *editor) {
				e.putRecord(0, func(msg []byte) { msg[bytes.Index(msg, []byte("tstore.name"))+10] = 'a' })
			}),
			of(p, "package-attributes", "", "then the attributes in order", func(e *editor) {
				rename := func(b []byte) { b[bytes.Index(b, []byte("author"))] = 'z' }
				e.putRecord(0, rename)
				e.index().description(0, rename)
				e.redigest()
			}),
			of(p, "package-dataset-order", "", "dataset are not sorted", func(e *editor) {
				f := e.index()
				e.b[f.dataset+2] = 'z'
				f.seal()
			}),
			of(p, "package-dataset", "", "is not UTF-8", func(e *editor) {
				f := e.index()
				e.b[f.dataset+bytes.Index(e.b[f.dataset:], []byte("CC0"))] = 0xff
				f.seal()
			}),
		),
	)
}

// attachRejects break the extra of a package's live entry.
func attachRejects() []reject {
	const live, extra = 64 + 40, 64 + 2*40 // the second live entry in the payload of the header, and its extra
	change := func(rule, variant, mentions string, change func(p []byte)) reject {
		return of("log-attached.seg", rule, variant, mentions, headerChange(change))
	}
	with := func(n uint64, file string, r reject) reject {
		r.instead = map[uint64]string{n: file}
		r.edit = func(e *editor) {}
		return r
	}
	return on("open", "corrupt",
		change("attach-size", "fixed", "attachment of 45 bytes is cut short", func(p []byte) { put32(p, live+36, 45) }),
		change("attach-size", "none", "attachment of 0 bytes is cut short", func(p []byte) { put32(p, live+36, 0) }),
		change("attach-size", "prefix", "is cut short", func(p []byte) { put16(p, extra+44, 100) }),
		change("attach-size", "name", "is cut short", func(p []byte) { put16(p, extra+48, 100) }),
		change("attach-prefix", "", "is cut short", func(p []byte) { put16(p, extra+44, 1025) }),
		change("attach-count", "more", "is cut short", func(p []byte) { put32(p, extra+40, 3) }),
		change("attach-count", "most", "is cut short", func(p []byte) { put32(p, extra+40, math.MaxUint32) }),
		change("attach-count", "fewer", "7 bytes too many", func(p []byte) { put32(p, extra+40, 1) }),
		change("attach-order", "", "names out of order", func(p []byte) { p[extra+50] = 'd' }),
		change("attach-digest", "", "it is the package with digest", func(p []byte) { p[extra+8]++ }),
		of("log-attach.seg", "attach-digest", "operation", "it is the package with digest", func(e *editor) {
			e.operations(1, func(ops []byte) { ops[4+40+8]++ })
		}),
		of("log-attach.seg", "attach-sequence", "", "attached by batch 3", func(e *editor) {
			e.operations(1, func(ops []byte) { put64(ops, 4+40, 3) })
		}),
		with(2, "data.seg", of("log-attach.seg", "live-file-kind", "attach", "it should be package segment", nil)),
		with(2, "package-two.tstore", of("log-attached.seg", "live-length", "other-package", "it should have", nil)),
	)
}
