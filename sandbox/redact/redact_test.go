package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"
)

const (
	value = `s3cr3t/Value+"with" =Marks&49`
	mask  = `x7kq1z/Hplwq+"abcd" =Mnopq&83`
	other = "AKIA0000SECOND00TOKEN"
	mask2 = "AKIA7777OTHERS77WORDS"
)

var both = New(map[string]string{value: mask, other: mask2})

// Each spelling of each value is replaced, wherever it stands, and nothing else is.
func TestSpellings(t *testing.T) {
	marshal := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	for name, spell := range map[string]func(string) string{
		"plain":      func(s string) string { return s },
		"JSON":       marshal,
		"query":      url.QueryEscape,
		"path":       url.PathEscape,
		"form":       func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") },
		"lower case": func(s string) string { return lowerEscapes(url.QueryEscape(s)) },
		"hex":        func(s string) string { return hex.EncodeToString([]byte(s)) },
		"HEX":        func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) },
	} {
		for secret, text := range map[string]string{value: mask, other: mask2} {
			in := "before " + spell(secret) + spell(secret) + " after " + spell(secret[:len(secret)-1])
			want := "before " + spell(text) + spell(text) + " after " + spell(secret[:len(secret)-1])
			if got := both.String(in); got != want {
				t.Errorf("%s: %q became %q, want %q", name, in, got, want)
			}
		}
	}
}

// In base64 a value is found at every place in a group of three bytes: what is left of it
// decodes to at most the two bytes at either end.
func TestBase64(t *testing.T) {
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 4 {
			for after := range 4 {
				in := encoding.EncodeToString([]byte(strings.Repeat("b", before) + value + strings.Repeat("a", after)))
				got := both.String(in)
				plain, err := encoding.DecodeString(got)
				if err != nil || len(got) != len(in) {
					t.Fatalf("%d+%d: %q is no base64 of the same length: %v", before, after, got, err)
				}
				if strings.Contains(string(plain), value[2:8]) || !strings.Contains(string(plain), mask[2:len(mask)-2]) {
					t.Errorf("%d+%d: %q", before, after, plain)
				}
			}
		}
	}
}

// However a stream is cut, what comes out is the same, and only what may begin a value
// waits.
func TestStreams(t *testing.T) {
	in := "a" + value[:7] + value + hex.EncodeToString([]byte(value)) + other[:5] + other + url.QueryEscape(value) + value[:9]
	want := both.String(in)
	if strings.Contains(want, value) || !strings.HasSuffix(want, value[:9]) {
		t.Fatal(want)
	}
	for size := 1; size <= len(in); size++ {
		var got bytes.Buffer
		w := both.Writer(&got)
		for rest := in; rest != ""; {
			n := min(size, len(rest))
			if _, err := io.WriteString(w, rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := w.Close(); err != nil || got.String() != want {
			t.Fatalf("in writes of %d bytes: %q, %v", size, got.String(), err)
		}
	}
	for _, read := range []func(io.Reader) io.Reader{iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader} {
		got, err := io.ReadAll(both.Reader(read(strings.NewReader(in))))
		if string(got) != want || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
	var got bytes.Buffer
	w := both.Writer(&got)
	if _, err := io.WriteString(w, "What is your name? "); err != nil || got.String() != "What is your name? " {
		t.Errorf("a prompt waits: %q, %v", got.String(), err)
	}
}

// A text of another length stands for every spelling.
func TestNames(t *testing.T) {
	named := New(map[string]string{value: "[secret TOKEN]"})
	for _, in := range []string{value, url.QueryEscape(value), hex.EncodeToString([]byte(value))} {
		if got := named.String(in); got != "[secret TOKEN]" {
			t.Errorf("%q became %q", in, got)
		}
	}
}

// Short values are not replaced, and no values replace nothing.
func TestNothing(t *testing.T) {
	none := New(map[string]string{"short": "xxxxx"})
	var got bytes.Buffer
	w := none.Writer(&got)
	_, err := io.WriteString(w, "short")
	if none != nil || none.String("short") != "short" || got.String() != "short" || err != nil || w.Close() != nil {
		t.Errorf("%v %q %v", none, got.String(), err)
	}
}

func FuzzStreams(f *testing.F) {
	f.Add("before "+value+" after", 3)
	f.Add(hex.EncodeToString([]byte(other))+base64.StdEncoding.EncodeToString([]byte("x"+value)), 7)
	f.Fuzz(func(t *testing.T, in string, size int) {
		size = 1 + max(size, -size)%64
		if size <= 0 {
			size = 1
		}
		var got bytes.Buffer
		w := both.Writer(&got)
		for rest := in; rest != ""; {
			n := min(size, len(rest))
			_, _ = io.WriteString(w, rest[:n])
			rest = rest[n:]
		}
		_ = w.Close()
		if want := both.String(in); got.String() != want {
			t.Errorf("%q in writes of %d bytes became %q, want %q", in, size, got.String(), want)
		}
		if len(both.String(in)) != len(in) {
			t.Errorf("%q became %q", in, both.String(in))
		}
	})
}
