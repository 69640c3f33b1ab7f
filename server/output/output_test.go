package output

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

func item(size int) Item { return Item{"text/plain", []byte(strings.Repeat("x", size))} }

// kept returns which of the URIs an owner can read.
func kept(s *Store, owner identity.Key, uris ...string) string {
	var found []string
	for _, uri := range uris {
		if _, ok := s.Get(owner, uri); ok {
			found = append(found, uri)
		}
	}
	return strings.Join(found, " ")
}

func TestStoreIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New()
		s.limits = limits{bytes: 10, count: 3, age: time.Minute}
		put := func(uri string, size int, want bool) {
			t.Helper()
			if got := s.Put("ann", uri, item(size)); got != want {
				t.Errorf("put %s: %t", uri, got)
			}
		}
		expect := func(step, want string) {
			t.Helper()
			if got := kept(s, "ann", "a", "b", "c", "d", "e"); got != want {
				t.Errorf("%s: kept %q, want %q", step, got, want)
			}
		}
		put("a", 1, true)
		put("b", 1, true)
		put("c", 1, true)
		put("d", 1, true)
		expect("four of three", "b c d")
		put("e", 8, true)
		expect("more bytes than there are", "c d e")
		put("b", 11, false)
		expect("one that is too large", "c d e")
		put("c", 2, true)
		expect("one that is put again", "c e")
		time.Sleep(59 * time.Second)
		put("a", 0, true)
		expect("in time", "a c e")
		time.Sleep(time.Second)
		expect("too old", "a")
		s.Forget("ann")
		expect("forgotten", "")
		if s.bytes != 0 || len(s.entries) != 0 {
			t.Errorf("left: %d bytes, %d", s.bytes, len(s.entries))
		}
	})
}

func TestOwnersAreApart(t *testing.T) {
	s := New()
	uri := URI("run-1", "out/a b/ü%.txt")
	if want := "skills-mcp://runs/run-1/out/a%20b/%C3%BC%25.txt"; uri != want {
		t.Errorf("URI %s, want %s", uri, want)
	}
	s.Put("ann", uri, item(1))
	if got := kept(s, "bob", uri); got != "" {
		t.Error("bob can read what is ann's")
	}
	s.Forget("bob")
	if got := kept(s, "ann", "skills-mcp://runs/run-1/out/a%20b/%c3%bc%25.txt"); got == "" {
		t.Error("ann cannot read what is hers, by another spelling")
	}
}

// Large items are in files that are closed with them.
func TestLargeItems(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := New()
	for _, size := range []int{leastFile - 1, leastFile, 3 * leastFile} {
		s.Put("ann", "a", item(size))
		got, ok := s.Get("ann", "a")
		if !ok || string(got.Data) != string(item(size).Data) || got.MIMEType != "text/plain" {
			t.Errorf("%d bytes: %t, %d bytes of %s", size, ok, len(got.Data), got.MIMEType)
		}
	}
	file := s.entries[0].file
	if runtime.GOOS == "windows" {
		t.Skip("has no files without names")
	}
	if s.entries[0].Data != nil {
		t.Error("the data is in memory, too")
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("files with names: %v, %v", left, err)
	}
	s.Forget("ann")
	if err := file.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("close: %v", err)
	}
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	s.Put("ann", "a", item(leastFile))
	if kept(s, "ann", "a") == "" {
		t.Error("without a file it is lost")
	}
}

// Pages are the whole, and divide no character.
func TestPages(t *testing.T) {
	for _, data := range []string{"", "abc", strings.Repeat("aü€😀", 50), strings.Repeat("\x80", 40)} {
		item, got, offset := Item{Data: []byte(data)}, "", 0
		for {
			page := item.Page(offset, 7)
			if utf8.ValidString(data) && !utf8.Valid(page.Data) {
				t.Errorf("page %q", page.Data)
			}
			got += string(page.Data)
			if page.Next == 0 {
				break
			}
			if page.From != offset || page.Next <= offset {
				t.Fatalf("page from %d, next %d, at %d", page.From, page.Next, offset)
			}
			offset = page.Next
		}
		if got != data {
			t.Errorf("read %q, want %q", got, data)
		}
	}
	if page := (Item{Data: []byte("abc")}).Page(1<<40, 7); len(page.Data) != 0 || page.Next != 0 {
		t.Errorf("after the end: %+v", page)
	}
}

// FuzzPage: whatever a client asks for, a page is a part of what is kept.
func FuzzPage(f *testing.F) {
	f.Add(3, "h\u00e9llo", 2)
	f.Add(1<<62, "\xff\xff\xff\xff\xff", 1)
	f.Fuzz(func(t *testing.T, offset int, data string, size int) {
		if offset < 0 { // which no schema lets through
			return
		}
		page := Item{Data: []byte(data)}.Page(offset, 1+size&0xff)
		end := page.From + len(page.Data)
		if end > len(data) || string(page.Data) != data[page.From:end] || page.Next != 0 && (page.Next != end || page.Next == page.From) || page.Next == 0 && end < len(data) {
			t.Errorf("%q from %d: %+v", data, offset, page)
		}
	})
}
