package transport

import (
	"bytes"
	"io"
	"runtime"
	"strings"
	"testing"
)

func TestLongLineIsNotKept(t *testing.T) {
	const long = 64 << 20
	r := io.MultiReader(io.LimitReader(nulls{}, long), strings.NewReader("\nnext"))
	lines := newLineReader(r, 1000)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := lines.next()
	runtime.ReadMemStats(&after)
	if err != errLineTooLong {
		t.Errorf("got %v", err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > long/4 {
		t.Errorf("allocated %d bytes to skip %d", n, long)
	}
	if line, err := lines.next(); !bytes.Equal(line, []byte("next")) || err != nil {
		t.Errorf("then %q, %v", line, err)
	}
}

type nulls struct{}

func (nulls) Read(p []byte) (int, error) { return len(p), nil }
