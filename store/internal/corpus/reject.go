package main

import (
	"bytes"
	"math"
	"slices"

	"github.com/tstore/tstore/store/internal/segment"
)

// A reject is a change that makes an accepted file break a rule.
type reject struct {
	File   string            `json:"file"`
	Base   string            `json:"base"`             // the accepted file
	Number uint64            `json:"number,omitempty"` // as there
	With   map[uint64]string `json:"with,omitempty"`   // other segments of the store, all accepted
	Rule   string            `json:"rule"`
	// On is what has to fail: open; stat or get of the tensor Name; list; attrs; verify.
	On       string `json:"on"`
	Name     string `json:"name,omitempty"`
	Error    string `json:"error"`    // corrupt; newer: it asks for a newer tstore; none: it is something else
	Mentions string `json:"mentions"` // a part of tstore's message

	variant string            // tells rejects of the same rule apart
	without uint64            // a file of With that is missing
	instead map[uint64]string // other accepted files in the place of those of With
	edit    func(e *editor)
}

func rejects() []reject {
	return slices.Concat(headerRejects(), liveRejects(), commitRejects(), operationRejects(), logRejects(), sealRejects(),
		indexRejects(), packageRejects(), attachRejects())
}

// on makes rejects of the same kind from a list.
func on(on, error string, rejects ...reject) []reject {
	for i := range rejects {
		rejects[i].On, rejects[i].Error = on, error
	}
	return rejects
}

// of makes a reject.
func of(base, rule, variant, mentions string, edit func(e *editor)) reject {
	return reject{Base: base, Rule: rule, variant: variant, Mentions: mentions, edit: edit}
}

// named adds the name of a tensor to rejects.
func named(name string, rejects ...reject) []reject {
	for i := range rejects {
		rejects[i].Name = name
	}
	return rejects
}

// without takes a file away from a reject.
func without(n uint64, r reject) reject {
	r.without, r.edit = n, func(e *editor) {}
	return r
}

// headerChange is an edit of the payload of the segment header.
func headerChange(change func(p []byte)) func(e *editor) {
	return func(e *editor) { e.header(change) }
}

// shorten gives a control record a body of 64 bytes, and a checksum at its end.
func (m message) shorten() {
	m.bodyLength(64)
	put32(m.e.b, m.body+60, checksum(m.e.b[m.start:m.body+60]))
}

func headerRejects() []reject {
	header := func(e *editor) message { return e.control(segment.KeyHeader, 0) }
	return slices.Concat(
		on("open", "corrupt",
			of("log.seg", "header-truncated", "empty", "the file ends at 0", func(e *editor) { e.cut(0) }),
			of("log.seg", "header-truncated", "in-the-head", "bytes where", func(e *editor) { e.cut(70) }),
			of("log.seg", "header-truncated", "in-the-body", "bytes where", func(e *editor) { e.cut(255) }),
			of("log.seg", "control-crc", "header", "CRC-32C of the tstore.segment record", func(e *editor) { e.b[header(e).end-1]++ }),
			of("log.seg", "control-key", "header", "not a tstore.segment record", func(e *editor) { header(e).rekey() }),
			of("log.seg", "control-size", "header", "cut short", func(e *editor) { header(e).bodyLength(0) }),
			of("log.seg", "segment-message-size", "header", "message of", func(e *editor) { header(e).bodyLength(120) }),
			of("log.seg", "header-size", "", "a header has at least 64", func(e *editor) { header(e).shorten() }),
			of("log.seg", "header-number", "", "that of segment 7", headerChange(func(p []byte) { put64(p, 8, 7) })),
			of("log.seg", "header-live-count", "two", "2 live entries do not fit", headerChange(func(p []byte) { put32(p, 4, 2) })),
			of("log.seg", "header-live-count", "most", "live entries do not fit", headerChange(func(p []byte) { put32(p, 4, math.MaxUint32) })),
			of("log-second.seg", "header-base", "lower", "an earlier log ends with 5", headerChange(func(p []byte) { put64(p, 48, 1) })),
			of("log-second.seg", "header-base", "higher", "sequence number 6 after 6", headerChange(func(p []byte) { put64(p, 48, 6) })),
			of("log-second.seg", "store-id", "", "belong to different stores", headerChange(func(p []byte) { p[16]++ })),
		),
		on("open", "newer",
			of("log.seg", "control-version", "header", `version "2"`, func(e *editor) { header(e).version('2') }),
			of("log.seg", "header-version", "", "format version 2", headerChange(func(p []byte) { put16(p, 0, 2) })),
			of("log.seg", "header-kind", "5", "kind 5", headerChange(func(p []byte) { put16(p, 2, 5) })),
			of("log.seg", "header-kind", "0", "kind 0", headerChange(func(p []byte) { put16(p, 2, 0) })),
		),
	)
}

func liveRejects() []reject {
	const first = 64 // the first live entry in the payload of a header
	live := func(base, rule, variant, mentions string, change func(l []byte)) reject {
		return of(base, rule, variant, mentions, headerChange(func(p []byte) { change(p[first:]) }))
	}
	// operation changes the live entry in the operations of a commit record.
	operation := func(base string, commit, at int, rule, variant, mentions string, change func(l []byte)) reject {
		return of(base, rule, variant, mentions, func(e *editor) {
			e.operations(commit, func(ops []byte) { change(ops[at:]) })
		})
	}
	const attach, replace = 4, 4 + 4 + 8 + 4 // where the entry is in an operation
	return slices.Concat(
		on("open", "corrupt",
			live("log-second.seg", "live-valid", "zero", "valid length of 0", func(l []byte) { put64(l, 24, 0) }),
			live("log-second.seg", "live-valid", "odd", "valid length of", func(l []byte) { put64(l, 24, u64(l, 24)+1) }),
			live("log-second.seg", "live-valid", "negative", "valid length of -", func(l []byte) { put64(l, 24, 1<<63) }),
			live("log-second.seg", "live-extra", "", "an extra of 4294967295 bytes", func(l []byte) { put32(l, 36, math.MaxUint32) }),
			live("log-data-live.seg", "live-order", "", "out of order at 2", func(l []byte) { put64(l, 0, 2) }),
			live("log-second.seg", "live-uuid", "", "it should be log segment", func(l []byte) { l[8]++ }),
			live("log-second.seg", "live-file-kind", "", "it should be data segment", func(l []byte) { put16(l, 32, 2) }),
			live("log-second.seg", "live-length", "", "it should have", func(l []byte) { put64(l, 24, u64(l, 24)+64) }),
			live("log-second.seg", "live-length", "near-2-63", "it should have", func(l []byte) { put64(l, 24, math.MaxInt64-63) }),
			without(1, of("log-second.seg", "live-missing", "log", "a segment is missing", nil)),
			without(2, of("log-data-live.seg", "live-missing", "data", "a segment is missing", nil)),
			without(3, of("log-replace.seg", "live-missing", "replace", "a segment is missing", nil)),
			without(2, of("log-attach.seg", "live-missing", "attach", "a segment is missing", nil)),
			operation("log-attach.seg", 1, attach, "live-length", "attach", "it should have", func(l []byte) { put64(l, 24, u64(l, 24)+64) }),
			operation("log-replace.seg", 1, replace, "live-uuid", "replace", "it should be compacted segment", func(l []byte) { l[8]++ }),
			operation("log-replace.seg", 1, replace, "live-length", "replace", "it should have", func(l []byte) { put64(l, 24, u64(l, 24)+64) }),
		),
		on("open", "newer",
			live("log-second.seg", "live-kind", "", "of kind 9", func(l []byte) { put16(l, 32, 9) }),
			operation("log-attach.seg", 1, attach, "live-kind", "attach", "of kind 0", func(l []byte) { put16(l, 32, 0) }),
		),
	)
}

// commitRejects damage the second of five commit records. What the others say is
// durable makes that an error and not the end of the log.
func commitRejects() []reject {
	commit := func(e *editor) message { return e.control(segment.KeyCommit, 1) }
	change := func(rule, variant, mentions string, change func(p []byte)) reject {
		return of("log.seg", rule, variant, mentions, func(e *editor) { e.commit(1, change) })
	}
	return slices.Concat(
		on("open", "corrupt",
			of("log.seg", "control-crc", "commit", "CRC-32C of the tstore.commit record", func(e *editor) { e.b[commit(e).end-1]++ }),
			of("log.seg", "control-key", "commit", "not a tstore.commit record", func(e *editor) { commit(e).rekey() }),
			of("log.seg", "control-size", "commit", "cut short", func(e *editor) { commit(e).bodyLength(0) }),
			of("log.seg", "segment-message-size", "commit", "message of", func(e *editor) { commit(e).bodyLength(200) }),
			of("log.seg", "commit-size", "", "at least 64 are needed", func(e *editor) { commit(e).shorten() }),
			change("commit-uuid", "", "another segment or offset", func(p []byte) { p[32]++ }),
			change("commit-offset", "", "another segment or offset", func(p []byte) { put64(p, 24, u64(p, 24)+64) }),
			change("commit-durable", "negative", "says durable up to -", func(p []byte) { put64(p, 16, 1<<63) }),
			change("commit-durable", "odd", "says durable up to", func(p []byte) { put64(p, 16, u64(p, 16)+1) }),
			change("commit-durable", "behind-itself", "says durable up to", func(p []byte) { put64(p, 16, u64(p, 24)+64) }),
			change("commit-durable", "near-2-63", "says durable up to", func(p []byte) { put64(p, 16, math.MaxInt64-63) }),
			change("commit-durable-own", "", "calls its own batch durable", func(p []byte) { put64(p, 16, u64(p, 16)+64) }),
			change("commit-sequence", "higher", "sequence number 3 after 1", func(p []byte) { put64(p, 8, 3) }),
			change("commit-sequence", "again", "sequence number 1 after 1", func(p []byte) { put64(p, 8, 1) }),
			change("commit-sequence", "zero", "sequence number 0 after 1", func(p []byte) { put64(p, 8, 0) }),
			change("commit-operations", "more", "operation cut short", func(p []byte) { put32(p, 0, 3) }),
			change("commit-operations", "most", "4294967295 operations", func(p []byte) { put32(p, 0, math.MaxUint32) }),
			change("commit-operations", "fewer", "bytes behind the last operation", func(p []byte) { put32(p, 0, 1) }),
			change("commit-operations", "bytes", "operations in 1024 bytes", func(p []byte) { put64(p, 48, 1024) }),
			change("commit-operations", "bytes-most", "operations in 18446744073709551615 bytes", func(p []byte) { put64(p, 48, math.MaxUint64) }),
		),
		on("open", "newer",
			of("log.seg", "control-version", "commit", `version "2"`, func(e *editor) { commit(e).version('2') }),
		),
	)
}

func operationRejects() []reject {
	// put changes the first operation of the second batch, which puts c.
	put := func(rule, variant, mentions string, change func(op []byte)) reject {
		return of("log.seg", rule, variant, mentions, func(e *editor) { e.operations(1, change) })
	}
	// rename changes the one in the third batch, behind the deletion of c.
	rename := func(rule, variant, mentions string, change func(op []byte)) reject {
		return of("log.seg", rule, variant, mentions, func(e *editor) {
			e.operations(2, func(ops []byte) { change(ops[4+1:]) })
		})
	}
	data := func(rule, variant, mentions string, change func(op []byte)) reject {
		return of("log-data.seg", rule, variant, mentions, func(e *editor) { e.operations(1, change) })
	}
	replace := func(rule, variant, mentions string, change func(op []byte)) reject {
		return of("log-replace.seg", rule, variant, mentions, func(e *editor) { e.operations(1, change) })
	}
	return slices.Concat(
		on("open", "newer",
			put("operation-kind", "6", "operation 6", func(op []byte) { op[0] = 6 }),
			put("operation-kind", "0", "operation 0", func(op []byte) { op[0] = 0 }),
			put("operation-zero", "", "flags 0x1", func(op []byte) { op[1] = 1 }),
		),
		on("open", "corrupt",
			put("operation-name", "empty", "name of 0 bytes", func(op []byte) { put16(op, 2, 0) }),
			put("operation-name", "long", "name of 1025 bytes", func(op []byte) { put16(op, 2, 1025) }),
			put("operation-name", "control-character", "control character", func(op []byte) { op[48] = '\n' }),
			put("operation-name", "utf-8", "not UTF-8", func(op []byte) { op[48] = 0xFF }),
			put("operation-size", "name", "operation cut short", func(op []byte) { put16(op, 2, 1000) }),
			put("operation-location", "offset-0", "at offset 0", func(op []byte) { put64(op, 28, 0) }),
			put("operation-location", "offset-odd", "at offset", func(op []byte) { put64(op, 28, u64(op, 28)+8) }),
			put("operation-location", "offset-negative", "at offset -", func(op []byte) { put64(op, 28, 1<<63) }),
			put("operation-location", "length-0", "record of 0 bytes", func(op []byte) { put64(op, 36, 0) }),
			put("operation-location", "length-odd", "record of", func(op []byte) { put64(op, 36, u64(op, 36)+8) }),
			put("operation-location", "end-above-2-63", "record of", func(op []byte) { put64(op, 36, math.MaxInt64-63) }),
			put("operation-record", "offset", "this batch has no record", func(op []byte) { put64(op, 28, u64(op, 28)+64) }),
			put("operation-record", "length", "this batch has no record", func(op []byte) { put64(op, 36, u64(op, 36)-64) }),
			put("operation-record", "earlier-batch", "this batch has no record", func(op []byte) { put64(op, 28, 256) }),
			put("operation-record", "behind", "is said to lie at offset", func(op []byte) { put64(op, 28, u64(op, 28)+64<<10) }),
			put("operation-record", "uuid", "is said to lie at offset", func(op []byte) { op[12]++ }),
			rename("operation-old-name", "empty", "name of 0 bytes", func(op []byte) { put16(op, 48, 0) }),
			rename("operation-old-name", "long", "name of 1025 bytes", func(op []byte) { put16(op, 48, 1025) }),
			rename("operation-record", "rename-no-message", "offset 320", func(op []byte) { put64(op, 28, 320) }),
			rename("operation-record", "rename-length", "it should have 64", func(op []byte) { put64(op, 28, 256); put64(op, 36, 64) }),
			rename("operation-record", "rename-uuid", "is said to lie at offset", func(op []byte) { op[12]++ }),
			data("data-uuid", "", "it should be data segment", func(op []byte) { op[12]++ }),
			data("data-record", "length", "it should have", func(op []byte) { put64(op, 36, u64(op, 36)-64) }),
			data("data-record", "offset", "offset 320", func(op []byte) { put64(op, 28, 320); put64(op, 36, 64) }),
			data("live-length", "data", "it should have", func(op []byte) { put64(op, 36, u64(op, 36)+64) }),
			of("log-attach.seg", "operation-nameless", "attach", "operation 4 with a name", func(e *editor) {
				e.operations(1, func(ops []byte) { put16(ops, 2, 1) })
			}),
			of("log-attach.seg", "operation-live-kind", "attach", "operation 4 takes in package segments", func(e *editor) {
				e.operations(1, func(ops []byte) { put16(ops, 4+32, 3) })
			}),
			replace("operation-live-kind", "replace", "operation 5 takes in compacted segments", func(op []byte) { put16(op, 20+32, 1) }),
			replace("operation-nameless", "replace", "operation 5 with a name", func(op []byte) { put16(op, 2, 1) }),
			replace("operation-size", "replace-old", "operation cut short", func(op []byte) { put32(op, 4, math.MaxUint32) }),
			replace("operation-size", "replace-new", "operation cut short", func(op []byte) { put32(op, 16, math.MaxUint32) }),
			replace("operation-size", "replace-extra", "operation cut short", func(op []byte) { put32(op, 20+36, math.MaxUint32) }),
		),
	)
}

// headerType is where the number of the kind of an Arrow message is.
func headerType(msg []byte) int {
	root := 8 + int(u32(msg, 8))
	vtable := root - int(int32(u32(msg, root)))
	return root + int(u16(msg, vtable+4+2))
}

func logRejects() []reject {
	return slices.Concat(
		on("open", "corrupt",
			of("log.seg", "log-record", "", "root-offset", func(e *editor) { e.logRecord(0, func(msg []byte) { put32(msg, 8, 0) }) }),
			of("log.seg", "log-message-kind", "", "a kind that a log does not hold", func(e *editor) {
				e.logRecord(0, func(msg []byte) { msg[headerType(msg)] = 1 })
			}),
			of("log.seg", "segment-message-size", "record", "message of", func(e *editor) { e.record(1).bodyLength(8) }),
			of("log.seg", "log-durable", "", "no message where one was", func(e *editor) { m := e.record(2); clear(e.b[m.start:m.end]) }),
			of("log-second.seg", "log-valid-length", "", "damage at offset", headerChange(func(p []byte) { put64(p, 64+24, u64(p, 64+24)-64) })),
			of("data.seg", "data-record", "root-offset", "root-offset", func(e *editor) { put32(e.b, e.record(0).start+8, 0) }),
		),
		named("a", on("get", "corrupt",
			of("log.seg", "record-crc", "log", "has CRC-32C", func(e *editor) { e.b[e.record(4).body]++ }),
			of("log-sealed.seg", "record-crc", "sealed", "has CRC-32C", func(e *editor) { e.b[e.record(4).body]++ }),
			of("compacted.seg", "record-crc", "compacted", "has CRC-32C", func(e *editor) { e.b[e.record(0).body]++ }),
		)...),
		named("big", on("get", "corrupt",
			of("data.seg", "record-crc", "data", "has CRC-32C", func(e *editor) { e.b[e.record(0).body]++ }),
		)...),
	)
}

// sealRejects break what ends a sealed segment. A log whose trailer is not right is
// read by its commit records; verify says so.
func sealRejects() []reject {
	trailer := func(base, rule, variant, mentions string, change func(t []byte)) reject {
		return of(base, rule, variant, mentions, func(e *editor) { e.trailer(change) })
	}
	lost := "the index or the trailer behind offset"
	none := "no trailer"
	both := func(rule, variant string, change func(t []byte)) []reject {
		if variant != "" {
			variant = "-" + variant
		}
		return slices.Concat(
			on("verify", "corrupt", trailer("log-sealed.seg", rule, "log"+variant, lost, change)),
			on("open", "corrupt", trailer("compacted.seg", rule, "compacted"+variant, none, change)),
			on("open", "corrupt", trailer("package.tstore", rule, "package"+variant, none, change)),
		)
	}
	return slices.Concat(
		both("trailer-magic", "", func(t []byte) { t[0]++ }),
		both("trailer-uuid", "", func(t []byte) { t[12]++ }),
		both("trailer-kind", "", func(t []byte) { put16(t, 10, 2) }),
		both("trailer-sequence", "", func(t []byte) { put64(t, 28, u64(t, 36)+1) }),
		both("trailer-index", "offset", func(t []byte) { put64(t, 44, u64(t, 44)-64) }),
		both("trailer-index", "offset-odd", func(t []byte) { put64(t, 44, u64(t, 44)+8); put64(t, 52, u64(t, 52)-8) }),
		both("trailer-index", "offset-near-2-63", func(t []byte) { put64(t, 44, math.MaxInt64-63) }),
		both("trailer-index", "offset-negative", func(t []byte) { put64(t, 44, 1<<63) }),
		both("trailer-index", "length", func(t []byte) { put64(t, 52, u64(t, 52)+64) }),
		both("trailer-index", "length-near-2-63", func(t []byte) { put64(t, 52, math.MaxInt64-63) }),
		both("trailer-index", "ends-meet-above-2-63", func(t []byte) {
			put64(t, 44, u64(t, 44)+1<<63)
			put64(t, 52, u64(t, 52)-1<<63)
		}),
		on("verify", "corrupt",
			of("log-sealed.seg", "trailer-crc", "log", lost, func(e *editor) { e.b[len(e.b)-1]++ }),
			of("log-sealed.seg", "seal-marker", "log", "end-of-stream marker", func(e *editor) { e.b[len(e.b)-128+5]++ }),
			of("log-sealed.seg", "control-crc", "index", "CRC-32C", func(e *editor) { e.b[e.index().m.end-1]++ }),
			of("package.tstore", "seal-marker", "package", "end-of-stream marker", func(e *editor) { e.b[len(e.b)-128+63]++ }),
			of("package.tstore", "control-crc", "package-index", "CRC-32C", func(e *editor) { e.b[e.index().m.end-1]++ }),
			of("log-sealed.seg", "control-key", "index", lost, func(e *editor) { e.index().m.rekey() }),
			of("log-sealed.seg", "seal-index", "other-record", "what the batches of the log do not say", func(e *editor) {
				e.index().entry(0, func(entry []byte) { put64(entry, 16, 4) })
			}),
		),
		on("open", "corrupt",
			of("compacted.seg", "trailer-crc", "compacted", none, func(e *editor) { e.b[len(e.b)-1]++ }),
			of("package.tstore", "trailer-crc", "package", none, func(e *editor) { e.b[len(e.b)-1]++ }),
			of("package.tstore", "trailer-place", "cut", none, func(e *editor) { e.cut(len(e.b) - 64) }),
			of("package.tstore", "trailer-place", "cut-odd", none, func(e *editor) { e.cut(len(e.b) - 1) }),
			of("package.tstore", "trailer-place", "zeros-behind", none, func(e *editor) { e.append(make([]byte, 64)) }),
			of("package.tstore", "trailer-place", "bytes-behind", none, func(e *editor) { e.append([]byte{1}) }),
			of("package.tstore", "seal-index-record", "key", "no frozen index", func(e *editor) { e.index().m.rekey() }),
			of("package.tstore", "seal-index-record", "length", "no frozen index", func(e *editor) { e.index().m.bodyLength(512) }),
			of("compacted.seg", "seal-index-record", "compacted", "no frozen index", func(e *editor) { e.index().m.rekey() }),
		),
		on("open", "newer",
			trailer("log-sealed.seg", "trailer-version", "log", "format version 2", func(t []byte) { put16(t, 8, 2) }),
			trailer("package.tstore", "trailer-version", "package", "format version 2", func(t []byte) { put16(t, 8, 2) }),
		),
	)
}

// indexRejects break the frozen index of a package, and some that of a log.
func indexRejects() []reject {
	const p = "package.tstore"
	header := func(base, rule, variant, mentions string, change func(h []byte)) reject {
		return of(base, rule, variant, mentions, func(e *editor) { e.index().changeHeader(change) })
	}
	// entry changes the entry of the first name, a.
	entry := func(rule, variant, mentions string, change func(entry []byte)) reject {
		return of(p, rule, variant, mentions, func(e *editor) { e.index().entry(0, change) })
	}
	description := func(variant, mentions string, change func(d []byte)) reject {
		return of(p, "index-description", variant, mentions, func(e *editor) { e.index().description(0, change) })
	}
	slot := func(variant, mentions string, to func(at uint64) uint64) reject {
		return of(p, "index-slot", variant, mentions, func(e *editor) {
			f := e.index()
			i, s := f.slotOf(0)
			f.bucket(i, func(b []byte) {
				v := u64(b, 8*s)
				put64(b, 8*s, v&^(1<<40-1)|to(v&(1<<40-1)))
			})
		})
	}
	return slices.Concat(
		on("open", "corrupt",
			header(p, "index-magic", "", "magic", func(h []byte) { h[0]++ }),
			header(p, "index-size", "", "it says that it has", func(h []byte) { put64(h, 16, u64(h, 16)+64) }),
			of(p, "index-header-crc", "", "header has CRC", func(e *editor) { f := e.index(); f.header()[252]++; f.m.fix() }),
			header(p, "index-sections", "buckets", "buckets at 320", func(h []byte) { put64(h, 56, 320) }),
			header(p, "index-sections", "order", "don't make", func(h []byte) { put64(h, 72, u64(h, 72)+8) }),
			header(p, "index-sections", "entries", "don't make", func(h []byte) { put64(h, 80, u64(h, 80)+64) }),
			header(p, "index-sections", "entries-near-2-63", "don't make", func(h []byte) { put64(h, 88, math.MaxInt64-63) }),
			header(p, "index-sections", "dataset", "don't make", func(h []byte) { put64(h, 96, u64(h, 96)-64) }),
			header(p, "index-sections", "dataset-near-2-63", "don't make", func(h []byte) { put64(h, 104, math.MaxInt64) }),
			header(p, "index-sections", "entry-count", "don't make", func(h []byte) { put64(h, 24, 1<<32) }),
			header(p, "index-bucket-count", "more-than-entries", "buckets at", func(h []byte) { put64(h, 64, 1<<40) }),
			header(p, "index-tombstones", "more-than-entries", "8 tombstones among 7", func(h []byte) { put64(h, 32, 8) }),
			header(p, "index-sequence", "order", "sequence numbers from 1 to 0", func(h []byte) { put64(h, 40, 1) }),
			header("log-sealed.seg", "index-magic", "log", "magic", func(h []byte) { h[0]++ }),
			header("compacted.seg", "index-sections", "compacted", "don't make", func(h []byte) { put64(h, 72, u64(h, 72)+64) }),
		),
		on("open", "newer",
			header(p, "index-version", "", "version 2", func(h []byte) { put32(h, 8, 2) }),
			header(p, "index-reserved", "", "reserved bytes", func(h []byte) { h[200] = 1 }),
		),
		named("a", on("stat", "corrupt",
			of(p, "index-bucket-crc", "", "bucket has CRC", func(e *editor) {
				f := e.index()
				i, _ := f.slotOf(0)
				e.b[f.buckets+64*i+60]++
				f.seal()
			}),
			slot("outside", "no entry can be here", func(uint64) uint64 { return 1<<40 - 1 }),
			slot("header", "no entry can be here", func(uint64) uint64 { return 1 }),
			slot("between", "entry", func(at uint64) uint64 { return at + 2 }),
			entry("index-entry-name", "long", "a name of 1025 bytes", func(entry []byte) { put16(entry, 6, 1025) }),
			of(p, "index-entry-crc", "", "entry has CRC", func(e *editor) {
				f := e.index()
				e.b[f.at(0)+20]++
				f.seal()
			}),
			entry("index-entry-sequence", "", "sequence number 1 is not between 0 and 0", func(entry []byte) { put64(entry, 16, 1) }),
			entry("index-location", "offset-odd", "offset", func(entry []byte) { put64(entry, 32, u64(entry, 32)+8) }),
			entry("index-location", "length-0", "0 bytes", func(entry []byte) { put64(entry, 40, 0) }),
			entry("index-location", "length-odd", "bytes", func(entry []byte) { put64(entry, 40, u64(entry, 40)+1) }),
			entry("index-location", "end-above-2-63", "bytes", func(entry []byte) { put64(entry, 40, math.MaxInt64-63) }),
			entry("index-location", "offset-negative", "offset", func(entry []byte) { put64(entry, 32, 1<<63) }),
			entry("index-tombstone", "", "a tombstone with a record", func(entry []byte) { entry[4] = 2 }),
			of(p, "index-description-crc", "", "description of", func(e *editor) {
				e.index().entry(0, func(entry []byte) { entry[52]++ })
			}),
			description("dimensions", "65 dimensions", func(d []byte) { d[2] = 65 }),
			description("type", "description", func(d []byte) { d[4] = 'x' }),
			description("string-long", "a string of 100 bytes", func(d []byte) { d[3] = 100 }),
			description("number-long", "shortest form", func(d []byte) { d[11] |= 0x80; d[12] = 0 }),
			description("number-above-2-63", "shortest form", func(d []byte) { copy(d[13:], "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01") }),
			description("dense-with-index-types", "index types belong to sparse layouts", func(d []byte) { d[1] |= 2 }),
			description("attributes", "attributes in", func(d []byte) { d[attributesAt(d)] = 100 }),
			description("attributes-fewer", "bytes too many", func(d []byte) { d[attributesAt(d)] = 1 }),
			entry("index-description-size", "", "a description of", func(entry []byte) { put32(entry, 12, 1<<20) }),
			entry("index-description-size", "above-64-mib", "a description of", func(entry []byte) { put32(entry, 12, math.MaxUint32) }),
			entry("package-segment", "", "lies in another segment", func(entry []byte) { put64(entry, 24, 7) }),
		)...),
		named("a", on("stat", "newer",
			entry("index-entry-kind", "3", "kind 3", func(entry []byte) { entry[4] = 3 }),
			entry("index-entry-reserved", "", "a reserved byte", func(entry []byte) { entry[5] = 1 }),
			description("layout", "layout number 5", func(d []byte) { d[0] = 5 }),
			description("flags", "description flags", func(d []byte) { d[1] |= 4 }),
		)...),
		on("list", "corrupt",
			of(p, "index-order", "outside", "entry 1 is at offset", func(e *editor) { e.index().rankInOrder(1, math.MaxUint64) }),
			of(p, "index-order", "header", "no entry can be here", func(e *editor) { e.index().rankInOrder(1, 8) }),
			of(p, "index-order", "near-2-63", "entry 1 is at offset", func(e *editor) { e.index().rankInOrder(1, math.MaxInt64-7) }),
			of(p, "index-rank", "", "the order says", func(e *editor) {
				f := e.index()
				f.rankInOrder(1, u64(e.b, f.order+16))
			}),
			of("package-two.tstore", "index-ascending", "", "comes after", func(e *editor) {
				f := e.index()
				a, b := f.at(0), f.at(1)
				f.entry(0, func(entry []byte) { put32(entry, 8, 1) })
				f.entry(1, func(entry []byte) { put32(entry, 8, 0) })
				put64(e.b, f.order, uint64(b-f.m.body))
				put64(e.b, f.order+8, uint64(a-f.m.body))
				f.seal()
			}),
			of("package-names.tstore", "index-entry-name", "control-character", "control character", func(e *editor) {
				e.index().entry(0, func(entry []byte) { entry[56] = '\t' })
			}),
			of("package-names.tstore", "index-entry-name", "utf-8", "not UTF-8", func(e *editor) {
				e.index().entry(3, func(entry []byte) { entry[56] = 0xFF })
			}),
		),
		on("attrs", "corrupt",
			of(p, "index-dataset", "crc", "dataset attributes with CRC", func(e *editor) {
				f := e.index()
				e.b[f.dataset+3]++
				f.sealHeader()
			}),
			of(p, "index-dataset", "count", "attributes in", func(e *editor) { f := e.index(); e.b[f.dataset] = 100; f.seal() }),
			of(p, "index-dataset", "fewer", "bytes too many", func(e *editor) { f := e.index(); e.b[f.dataset] = 1; f.seal() }),
			of(p, "index-dataset", "string", "a string of", func(e *editor) { f := e.index(); e.b[f.dataset+1] = 120; f.seal() }),
		),
		on("verify", "corrupt",
			of("package-one.tstore", "index-bucket-count", "none", "there should be 1", func(e *editor) { e.dropBuckets() }),
			header(p, "index-section-crc", "buckets", "buckets with CRC", func(h []byte) { h[112]++ }),
			header(p, "index-section-crc", "order", "order with CRC", func(h []byte) { h[116]++ }),
			header(p, "index-section-crc", "entries", "entries with CRC", func(h []byte) { h[120]++ }),
			header(p, "index-section-crc", "dataset", "dataset attributes with CRC", func(h []byte) { h[124]++ }),
			of(p, "index-padding", "order", "padding after the order", func(e *editor) {
				f := e.index()
				e.b[f.order+8*f.nEntries] = 1
				f.m.fix()
			}),
			of(p, "index-padding", "end", "padding after the dataset", func(e *editor) {
				f := e.index()
				e.b[f.end-1] = 1
				f.m.fix()
			}),
			of(p, "index-padding", "entry", "padding of an entry", func(e *editor) {
				f := e.index()
				e.b[f.at(2)-1] = 1
				f.seal()
			}),
			of("package-two.tstore", "index-gap", "between", "the one before it ends at", func(e *editor) { e.gap() }),
			of("package-two.tstore", "index-gap", "end", "the entries end here", func(e *editor) {
				h := e.index().header()
				put64(h, 88, u64(h, 88)+8)
				e.index().seal()
			}),
			header("log-sealed.seg", "index-counts", "tombstones", "tombstones and sequence numbers", func(h []byte) { put64(h, 32, u64(h, 32)-1) }),
			header("log-sealed.seg", "index-counts", "sequence", "sequence numbers from", func(h []byte) { put64(h, 48, u64(h, 48)+1) }),
			of("package-many.tstore", "index-bucket-content", "spilled", "a bucket does not have", func(e *editor) {
				e.index().bucket(0, func(b []byte) { b[57] ^= 1 })
			}),
			of("package-many.tstore", "index-bucket-content", "twice", "a bucket does not have", func(e *editor) {
				e.index().bucket(0, func(b []byte) { put64(b, 8*6, u64(b, 0)); b[56] = 7 })
			}),
		),
	)
}

// attributesAt is where the number of attributes is in the description of a.
func attributesAt(d []byte) int { return bytes.Index(d, []byte("\x06author")) - 1 }
