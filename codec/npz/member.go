package npz

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/tstore/tstore/codec/npy"
	"github.com/tstore/tstore/layout"
)

// Tensor returns the array of a member. If the member is not compressed, the tensor shares the
// memory of the archive, unless its elements have to be changed or lie where no Go value of their
// type may lie, as in archives of NumPy most do; see [npy.Decode]. A compressed member is
// decompressed anew by each call. The checksum is checked in either case.
//
// The errors are [ErrInvalid], those of [npy.Decode] and of Options.Load.
func (m *Member) Tensor() (*layout.Dense, error) { return m.decode(npy.Decode) }

// View is Tensor for whoever only copies the elements: it leaves them where they are at any
// alignment; see [npy.View]. Of a member that is not compressed it takes no memory for
// little-endian elements.
func (m *Member) View() (*layout.Dense, error) { return m.decode(npy.View) }

func (m *Member) decode(decode func([]byte) (*layout.Dense, error)) (*layout.Dense, error) {
	b, err := m.bytes()
	if err != nil {
		return nil, err
	}
	d, err := decode(b)
	if err != nil {
		return nil, fmt.Errorf("member %.100q: %w", m.Name, err)
	}
	return d, nil
}

// bytes returns the .npy file that the member is.
func (m *Member) bytes() ([]byte, error) {
	if !m.Compressed {
		if sum := crc32.ChecksumIEEE(m.stored); sum != m.crc {
			return nil, m.damaged(sum)
		}
		return m.stored, nil
	}
	r := &inflater{member: m, from: flate.NewReader(bytes.NewReader(m.stored))}
	load := m.load
	if load == nil {
		load = m.inflate
	}
	b, err := load(m.Size, r)
	if err != nil {
		return nil, err
	}
	// What tells that this was all may not have been asked for yet.
	for r.err == nil && r.read == m.Size {
		r.Read(make([]byte, 1))
	}
	switch {
	case r.err != nil && r.err != io.EOF:
		return nil, r.err
	case r.err != io.EOF || int64(len(b)) != m.Size:
		return nil, fmt.Errorf("npz: Options.Load returned %d of the %d bytes of member %.100q", len(b), m.Size, m.Name)
	}
	return b, nil
}

// inflate reads all of r into memory. It starts with as much as a well compressed array needs, and
// takes more only when that has been filled.
func (m *Member) inflate(size int64, r io.Reader) ([]byte, error) {
	const usual, least = 8, 4096
	b := make([]byte, 0, min(size, max(usual*int64(len(m.stored)), least)))
	for {
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case err == io.EOF:
			return b, nil
		case err != nil:
			return nil, err
		case len(b) < cap(b):
		case int64(len(b)) < size:
			b = append(make([]byte, 0, min(size, 2*int64(cap(b)))), b...)
		default:
			return b, nil
		}
	}
}

func (m *Member) damaged(sum uint32) error {
	return fmt.Errorf("%w: member %.100q is damaged: CRC-32 %08x, the directory says %08x", ErrInvalid, m.Name, sum, m.crc)
}

// inflater gives the decompressed bytes of a member, and at their end an error if they are not those
// that the directory announces, or as soon as they are more.
type inflater struct {
	member *Member
	from   io.Reader
	read   int64
	sum    uint32
	err    error // of the last call; io.EOF once all has been read and is as it should be
}

func (r *inflater) Read(b []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	n, err := r.from.Read(b)
	m := r.member
	if r.read += int64(n); r.read > m.Size {
		n, r.err = 0, fmt.Errorf("%w: member %.100q has more than the %d bytes that the directory says", ErrInvalid, m.Name, m.Size)
		return n, r.err
	}
	r.sum = crc32.Update(r.sum, crc32.IEEETable, b[:n])
	switch {
	case err == nil:
		return n, nil
	case errors.Is(err, io.EOF) && r.read < m.Size:
		r.err = fmt.Errorf("%w: member %.100q has %d bytes, and the directory says %d", ErrInvalid, m.Name, r.read, m.Size)
	case errors.Is(err, io.EOF) && r.sum != m.crc:
		r.err = m.damaged(r.sum)
	case errors.Is(err, io.EOF):
		r.err = io.EOF
	default:
		r.err = fmt.Errorf("%w: member %.100q: %v", ErrInvalid, m.Name, err)
	}
	return n, r.err
}
