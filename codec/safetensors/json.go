package safetensors

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth is how deep values may lie in each other that are skipped, as in serde_json.
const maxDepth = 128

// parser reads JSON strictly: what RFC 8259 does not allow is an error, and so are a key that
// comes twice and text that is not UTF-8.
type parser struct {
	text []byte
	pos  int
	base int // position of text in the file, for messages
}

func (p *parser) fail(format string, args ...any) error {
	return fmt.Errorf("%w: byte %d: %s", ErrInvalid, p.base+p.pos, fmt.Sprintf(format, args...))
}

// next describes what follows, for messages.
func (p *parser) next() string {
	if p.pos >= len(p.text) {
		return "the end"
	}
	return strconv.Quote(string(p.text[p.pos:min(p.pos+12, len(p.text))]))
}

func (p *parser) space() {
	for p.pos < len(p.text) {
		switch p.text[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

// peek skips white space and returns the byte that follows, or 0 at the end.
func (p *parser) peek() byte {
	p.space()
	if p.pos < len(p.text) {
		return p.text[p.pos]
	}
	return 0
}

// accept skips white space and then c, if that is what follows.
func (p *parser) accept(c byte) bool {
	if p.peek() == c {
		p.pos++
		return true
	}
	return false
}

func (p *parser) expect(c byte) error {
	if !p.accept(c) {
		return p.fail("%q expected, found %s", c, p.next())
	}
	return nil
}

// end makes sure that nothing but white space follows.
func (p *parser) end() error {
	p.space()
	if p.pos < len(p.text) {
		return p.fail("the end expected, found %s", p.next())
	}
	return nil
}

// object reads an object, and calls value for each of its keys to read what belongs to it. That
// a key comes once is for value to check, as whoever collects the keys finds out easily.
func (p *parser) object(value func(key string) error) error {
	if err := p.expect('{'); err != nil {
		return err
	}
	if p.accept('}') {
		return nil
	}
	for {
		key, err := p.str()
		if err != nil {
			return err
		}
		if err := p.expect(':'); err != nil {
			return err
		}
		if err := value(key); err != nil {
			return err
		}
		if p.accept('}') {
			return nil
		}
		if !p.accept(',') {
			return p.fail("',' or '}' expected, found %s", p.next())
		}
	}
}

// str reads a string.
func (p *parser) str() (string, error) {
	if p.peek() != '"' {
		return "", p.fail("a string expected, found %s", p.next())
	}
	start := p.pos + 1
	for i := start; i < len(p.text); i++ {
		switch c := p.text[i]; {
		case c == '"':
			return p.text2string(p.text[start:i], i+1)
		case c == '\\':
			return p.escaped(start, i)
		case c < ' ':
			p.pos = i
			return "", p.fail("a control character in a string")
		}
	}
	return "", p.fail("a string without an end")
}

// text2string returns b, which must be UTF-8, and goes on at position end.
func (p *parser) text2string(b []byte, end int) (string, error) {
	if !utf8.Valid(b) {
		return "", p.fail("a string that is not UTF-8")
	}
	p.pos = end
	return string(b), nil
}

// escaped reads a string that began at start and has its first backslash at position i.
func (p *parser) escaped(start, i int) (string, error) {
	b := append([]byte(nil), p.text[start:i]...)
	for i < len(p.text) {
		c := p.text[i]
		switch {
		case c == '"':
			return p.text2string(b, i+1)
		case c < ' ':
			p.pos = i
			return "", p.fail("a control character in a string")
		case c != '\\':
			b = append(b, c)
			i++
			continue
		}
		r, n := unescape(p.text[i:])
		if n == 0 {
			p.pos = i
			return "", p.fail("no such escape: %s", p.next())
		}
		b = utf8.AppendRune(b, r)
		i += n
	}
	return "", p.fail("a string without an end")
}

// unescape returns the character that the escape at the start of b stands for, and the length of
// the escape, or 0 if it is none. Two that make a surrogate pair are one.
func unescape(b []byte) (r rune, n int) {
	if len(b) < 2 {
		return 0, 0
	}
	if i := strings.IndexByte(`"\/bfnrt`, b[1]); i >= 0 {
		return rune("\"\\/\b\f\n\r\t"[i]), 2
	}
	r, ok := hexEscape(b)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	second, ok := hexEscape(b[6:])
	if r = utf16.DecodeRune(r, second); !ok || r == utf8.RuneError {
		return 0, 0
	}
	return r, 12
}

// hexEscape reads \uXXXX.
func hexEscape(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' || b[2] == '+' || b[2] == '-' {
		return 0, false
	}
	v, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(v), err == nil
}

// number returns the text of a number.
func (p *parser) number() ([]byte, error) {
	p.space()
	b := p.text[p.pos:]
	i := 0
	digits := func() bool {
		first := i
		for i < len(b) && '0' <= b[i] && b[i] <= '9' {
			i++
		}
		return i > first
	}
	if i < len(b) && b[i] == '-' {
		i++
	}
	whole := i
	if !digits() || b[whole] == '0' && i > whole+1 {
		return nil, p.fail("a number expected, found %s", p.next())
	}
	if i < len(b) && b[i] == '.' {
		i++
		if !digits() {
			return nil, p.fail("a number without digits behind its point")
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if !digits() {
			return nil, p.fail("a number without digits in its exponent")
		}
	}
	p.pos += i
	return b[:i], nil
}

// integer reads a number from 0 to 2⁶³−1 without point and exponent.
func (p *parser) integer() (int64, error) {
	at := p.pos
	b, err := p.number()
	if err != nil {
		return 0, err
	}
	var v int64
	for _, c := range b {
		if c < '0' || c > '9' {
			p.pos = at
			return 0, p.fail("%.40s is not a whole number from 0 on", b)
		}
		if v > (math.MaxInt64-int64(c-'0'))/10 {
			p.pos = at
			return 0, p.fail("%.40s does not fit in 63 bits", b)
		}
		v = 10*v + int64(c-'0')
	}
	return v, nil
}

// integers reads an array of integers and appends them to dst.
func (p *parser) integers(dst []int64) ([]int64, error) {
	if err := p.expect('['); err != nil {
		return dst, err
	}
	if p.accept(']') {
		return dst, nil
	}
	for {
		v, err := p.integer()
		if err != nil {
			return dst, err
		}
		dst = append(dst, v)
		if p.accept(']') {
			return dst, nil
		}
		if !p.accept(',') {
			return dst, p.fail("',' or ']' expected, found %s", p.next())
		}
	}
}

// literal skips a word, if that is what follows.
func (p *parser) literal(word string) bool {
	p.space()
	if bytes.HasPrefix(p.text[p.pos:], []byte(word)) {
		p.pos += len(word)
		return true
	}
	return false
}

// skip reads any value, and nothing in it is kept.
func (p *parser) skip(depth int) error {
	if depth > maxDepth {
		return p.fail("values more than %d deep in each other", maxDepth)
	}
	switch c := p.peek(); {
	case c == '"':
		_, err := p.str()
		return err
	case c == '{':
		return p.object(func(string) error { return p.skip(depth + 1) })
	case c == '[':
		p.pos++
		if p.accept(']') {
			return nil
		}
		for {
			if err := p.skip(depth + 1); err != nil {
				return err
			}
			if p.accept(']') {
				return nil
			}
			if !p.accept(',') {
				return p.fail("',' or ']' expected, found %s", p.next())
			}
		}
	case p.literal("true") || p.literal("false") || p.literal("null"):
		return nil
	}
	_, err := p.number()
	return err
}
