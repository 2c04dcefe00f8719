package gotest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// lineReader hands out the lines of a stream without copying them. A line is
// valid until the next one is read; what is beyond maxLine of it is dropped.
type lineReader struct {
	r    *bufio.Reader
	long []byte
	// keepLong keeps long lines up to maxJSONLine: half an event is none.
	keepLong bool
	// whole is set when the last line ended in a newline.
	whole bool
	n     int64
}

// maxJSONLine bounds one event: test2json itself splits output at 1 KB.
const maxJSONLine = 1 << 20

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 64<<10)}
}

// next is the next line without its end ("\n" or "\r\n"); io.EOF after the last.
func (l *lineReader) next() ([]byte, error) {
	line, err := l.r.ReadSlice('\n')
	l.n += int64(len(line))
	if errors.Is(err, bufio.ErrBufferFull) {
		limit := maxLine
		if l.keepLong {
			limit = maxJSONLine
		}
		l.long = append(l.long[:0], line[:min(len(line), limit)]...)
		for errors.Is(err, bufio.ErrBufferFull) {
			line, err = l.r.ReadSlice('\n')
			l.n += int64(len(line))
			l.long = append(l.long, line[:min(len(line), max(0, limit-len(l.long)))]...)
		}
		l.whole = err == nil
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("reading report: %w", err)
		}
		return l.long, nil
	}
	l.whole = err == nil
	if err != nil {
		if err != io.EOF {
			return nil, fmt.Errorf("reading report: %w", err)
		}
		if len(line) == 0 {
			return nil, io.EOF
		}
	}
	if l.whole {
		line = line[:len(line)-1]
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line, nil
}

// cleaner removes what CI systems add to a line: a byte order mark, time
// stamps, colours.
type cleaner struct {
	seen int
	// columns is set for logs whose lines begin with a job and a step column.
	columns bool
	buf     []byte
}

func (c *cleaner) clean(line []byte) []byte {
	line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	if c.seen < 16 {
		c.seen++
		c.columns = c.columns || len(columns(line)) < len(line)
	}
	if c.columns {
		line = bytes.TrimPrefix(columns(line), []byte("\xef\xbb\xbf"))
	}
	if n := stampLen(line); n > 0 {
		line = line[n:]
	}
	if bytes.IndexByte(line, 0x1b) >= 0 {
		c.buf = stripANSI(c.buf[:0], line)
		line = c.buf
	}
	return line
}

// columns cuts "job<TAB>step<TAB>" before a time stamp.
func columns(line []byte) []byte {
	rest := line
	for range 2 {
		i := bytes.IndexByte(rest, '\t')
		if i <= 0 {
			return line
		}
		rest = rest[i+1:]
	}
	if stampLen(bytes.TrimPrefix(rest, []byte("\xef\xbb\xbf"))) == 0 {
		return line
	}
	return rest
}

// stampLen is the length of a leading "2024-05-01T12:00:00.1234567Z ", else 0.
func stampLen(line []byte) int {
	if len(line) < 20 || line[0] != '2' && line[0] != '1' || line[4] != '-' || line[7] != '-' || line[10] != 'T' || line[13] != ':' || line[16] != ':' {
		return 0
	}
	for i := 19; i < len(line) && i < 32; i++ {
		switch c := line[i]; {
		case c == 'Z':
			if i+1 == len(line) {
				return i + 1
			}
			if line[i+1] == ' ' {
				return i + 2
			}
			return 0
		case c != '.' && (c < '0' || c > '9'):
			return 0
		}
	}
	return 0
}

// stripANSI appends line without its escape sequences.
func stripANSI(dst, line []byte) []byte {
	for i := 0; i < len(line); i++ {
		if line[i] != 0x1b {
			dst = append(dst, line[i])
			continue
		}
		if i+1 < len(line) && line[i+1] == '[' {
			i += 2
			for i < len(line) && (line[i] < 0x40 || line[i] > 0x7e) {
				i++
			}
		} else {
			i++
		}
	}
	return dst
}
