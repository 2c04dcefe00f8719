package gotest

// Limits on what is kept of one test's output. The head shows how it began, the
// tail has the message of a fatal failure; what is between is dropped. They are
// far above what a person reads and keep 10,000 failures in memory.
const (
	blockHead = 8 << 10
	blockTail = 24 << 10
	// maxLine is how much of one line is looked at.
	maxLine = 16 << 10
)

// block is the bounded text of one test: its head and its tail.
type block struct {
	head []byte
	tail []byte
	// cut is set when text between head and tail was dropped.
	cut bool
}

// add appends one line; the newline is added.
func (b *block) add(line []byte) {
	if b.tail == nil && len(b.head)+len(line) < blockHead {
		b.head = append(append(b.head, line...), '\n')
		return
	}
	if len(b.tail)+len(line) >= 2*blockTail {
		b.cut = true
		b.tail = append(b.tail[:0], tailLines(b.tail, blockTail)...)
	}
	b.tail = append(append(b.tail, line...), '\n')
}

// reset empties the block and keeps its memory.
func (b *block) reset() { b.head, b.tail, b.cut = b.head[:0], nil, false }

func (b *block) empty() bool { return len(b.head) == 0 && len(b.tail) == 0 }

// bytes is the kept text.
func (b *block) bytes() []byte {
	out := make([]byte, 0, len(b.head)+len(b.tail)+8)
	out = append(out, b.head...)
	if b.cut {
		out = append(out, "...\n"...)
	}
	return append(out, tailLines(b.tail, blockTail)...)
}

// tailLines is the end of text, at most n bytes, beginning at a line.
func tailLines(text []byte, n int) []byte {
	if len(text) <= n {
		return text
	}
	text = text[len(text)-n:]
	for i, c := range text {
		if c == '\n' {
			return text[i+1:]
		}
	}
	return text
}
