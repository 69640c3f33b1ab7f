package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"io"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
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
		"Python": func(s string) string {
			return strings.ReplaceAll(strings.ReplaceAll(url.QueryEscape(s), "+", "%20"), "%2F", "/")
		},
		"PHP":  func(s string) string { return strings.NewReplacer("/", `\/`, `"`, `\"`).Replace(s) },
		"HTML": func(s string) string { return strings.ReplaceAll(html.EscapeString(s), "+", "&#43;") },
		"HEX":  func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) },
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

// However a stream is cut, what comes out is the same, and a line that has ended, or a prompt,
// does not wait.
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
		got, err := io.ReadAll(both.Reader(io.NopCloser(read(strings.NewReader(in)))))
		if string(got) != want || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
	var got bytes.Buffer
	w := New(map[string]string{other: mask2}).Writer(&got)
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

// A reader that nobody reads or closes, as of a request that is refused, runs nothing: else the
// test would not end. One that is closed before has nothing to read.
func TestReadersBeginLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, _ := io.Pipe()
		both.Reader(host)
		synctest.Wait()
		closed := both.Reader(host)
		if err := closed.Close(); err != nil {
			t.Error(err)
		}
		if n, err := closed.Read(make([]byte, 1)); n != 0 || err == nil {
			t.Errorf("a closed reader returns %d, %v", n, err)
		}
	})
}

// Whoever sees when bytes come out learns nothing of a value: a guess of its beginning waits
// as long as any other text.
func TestReadersKeepTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, sent := io.Pipe()
		masked := both.Reader(host)
		came := make(chan []byte)
		go func() {
			defer close(came)
			for buf := make([]byte, 4096); ; {
				n, err := masked.Read(buf)
				if err != nil {
					return
				}
				came <- slices.Clone(buf[:n])
			}
		}()
		wait := func(text string) (time.Duration, string) {
			start := time.Now()
			if _, err := io.WriteString(sent, text); err != nil {
				t.Fatal(err)
			}
			var got []byte
			for len(got) < len(text) {
				got = append(got, <-came...)
			}
			return time.Since(start), string(got)
		}
		for n := range len(other) - 1 {
			guess, miss := other[:n+1], strings.Repeat("x", n+1)
			right, _ := wait(`{"heard": ` + guess)
			wrong, _ := wait(`{"heard": ` + miss)
			if right != wrong || right != flushDelay {
				t.Errorf("%q waits %v, %q %v", guess, right, miss, wrong)
			}
		}
		for _, text := range []string{"{}\n", "data: x\n\n", "<p>text</p>\r\n"} {
			if took, got := wait(text); took != 0 || got != text {
				t.Errorf("%q waits %v, and is %q", text, took, got)
			}
		}
		_ = sent.Close()
		for range came {
		}
		if err := masked.Close(); err != nil {
			t.Error(err)
		}
	})
}
