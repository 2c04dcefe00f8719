package proc

import (
	"fmt"
	"unicode/utf8"
)

// capture keeps the head and the tail of a stream in bounded memory. The tail
// is a ring that grows with what is written, up to its limit.
type capture struct {
	headMax, tailMax int
	head, ring       []byte
	next             int // where the ring is written next, once it is full
	total            int64
}

func newCapture(limit int) *capture {
	return &capture{headMax: limit - limit/2, tailMax: limit / 2}
}

func (c *capture) add(p []byte) {
	c.total += int64(len(p))
	if room := c.headMax - len(c.head); room > 0 {
		n := min(room, len(p))
		c.head = append(c.head, p[:n]...)
		p = p[n:]
	}
	if len(p) > c.tailMax {
		p = p[len(p)-c.tailMax:]
	}
	if room := c.tailMax - len(c.ring); room > 0 {
		n := min(room, len(p))
		c.ring = append(c.ring, p[:n]...)
		p = p[n:]
	}
	for len(p) > 0 {
		n := copy(c.ring[c.next:], p)
		c.next = (c.next + n) % c.tailMax
		p = p[n:]
	}
}

// bytes returns what was kept and whether anything is missing.
func (c *capture) bytes() ([]byte, bool) {
	tail := append(c.ring[c.next:len(c.ring):len(c.ring)], c.ring[:c.next]...)
	if int64(len(c.head)+len(tail)) == c.total {
		return append(c.head, tail...), false
	}
	head := trimTail(c.head)
	tail = trimHead(tail)
	dropped := c.total - int64(len(head)+len(tail))
	out := make([]byte, 0, len(head)+len(tail)+64)
	out = append(out, head...)
	out = fmt.Appendf(out, "\n[triagebot: %d bytes of output dropped here]\n", dropped)
	return append(out, tail...), true
}

// trimTail drops a rune that was cut at the end of b.
func trimTail(b []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if i := len(b) - n; utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return b[:i]
			}
			break
		}
	}
	return b
}

// trimHead drops the rest of a rune that was cut before b.
func trimHead(b []byte) []byte {
	n := 0
	for n < len(b) && n < utf8.UTFMax-1 && !utf8.RuneStart(b[n]) {
		n++
	}
	return b[n:]
}
