package shellproto

import (
	"bytes"
	"errors"
	"io"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

const (
	nonce  = "AABAABAAABAABAAAABAABAAAAB" // its beginnings come again within it
	begins = nonce + string(markBegin)
	ends   = nonce + string(markEnd)
)

// A said is one piece of a container's stream: 1 is stdout, 2 is stderr.
type said struct {
	stream int
	text   string
}

// A heard is a parsed reply.
type heard struct {
	Stdout, Stderr string
	Began, Missing bool
	Quiet          bool
	Status         [3]int
	Tail           string
	Failed         bool // it was no reply
}

// hear passes pieces to a reply, as the reader of a connection does, and then
// ends it. It does not return when somebody waits in vain.
func hear(pieces []said) heard {
	var stdout, stderr bytes.Buffer
	a := newReply(nonce, &sandbox.Command{Stdout: &stdout, Stderr: &stderr})
	over := make(chan struct{})
	go func() {
		defer close(over)
		var err error
		for i := 0; i < len(pieces) && err == nil; i++ {
			to := &a.stdout
			if pieces[i].stream == 2 {
				to = &a.stderr
			}
			_, err = to.Write([]byte(pieces[i].text))
		}
		a.close(err)
	}()
	select {
	case <-a.began:
	case <-over:
	}
	a.pass()
	var h heard
	s, rest, err := a.status()
	if err != nil {
		h.Failed = true
		_ = a.tail.Close()
	} else {
		tail, _ := io.ReadAll(rest)
		h.Status, h.Tail = [3]int{s.code, s.oomKills, s.out}, string(tail)
	}
	<-over
	h.Began, h.Quiet = closed(a.began), closed(a.quiet)
	h.Missing = h.Began && a.missing
	h.Stdout, h.Stderr = stdout.String(), stderr.String()
	return h
}

func TestReply(t *testing.T) {
	whole := heard{Began: true, Quiet: true, Status: [3]int{3, 0, 0}}
	with := func(change func(*heard)) heard {
		h := whole
		change(&h)
		return h
	}
	for name, test := range map[string]struct {
		stdout, stderr string
		want           heard
	}{
		"nothing":            {begins + ends + "3 0 0\n", ends, whole},
		"no newline":         {begins + "out" + ends + "3 0 0\n", "err" + ends, with(func(h *heard) { h.Stdout, h.Stderr = "out", "err" })},
		"binary":             {begins + "\x00\xff\n\r\x80" + ends + "3 0 0\n", ends, with(func(h *heard) { h.Stdout = "\x00\xff\n\r\x80" })},
		"all but the end":    {begins + nonce + nonce[:25] + ends + "3 0 0\n", ends, with(func(h *heard) { h.Stdout = nonce + nonce[:25] })},
		"the other marks":    {begins + begins + nonce + "-" + ends + "3 0 0\n", ends, with(func(h *heard) { h.Stdout = begins + nonce + "-" })},
		"the line's own end": {begins + "3 0 0\n" + ends + "3 0 0\n", ends, with(func(h *heard) { h.Stdout = "3 0 0\n" })},
		"signal, killed, out": {begins + ends + "137 2 1\ntar\n", ends,
			with(func(h *heard) { h.Status, h.Tail = [3]int{137, 2, 1}, "tar\n" })},
		"end in the tail":      {begins + ends + "3 0 1\n" + ends, ends, with(func(h *heard) { h.Status[2], h.Tail = 1, ends })},
		"more after stderr":    {begins + ends + "3 0 0\n", ends + "late", whole},
		"end on stdout alone":  {begins + ends + "3 0 0\n", "err", with(func(h *heard) { h.Stderr, h.Quiet = "err", false })},
		"end on stderr alone":  {begins + "out", ends, heard{Began: true, Quiet: true, Stdout: "out", Failed: true}},
		"no end":               {begins + "out", "err", heard{Began: true, Stdout: "out", Stderr: "err", Failed: true}},
		"killed in the status": {begins + ends + "3 0", ends, heard{Began: true, Quiet: true, Failed: true}},
		"missing program":      {nonce + string(markMissing), "", heard{Began: true, Missing: true, Failed: true}},
		"nothing at all":       {"", "", heard{Failed: true}},
		"half a mark":          {nonce, "", heard{Failed: true}},
		"junk before":          {"hello " + begins, "", heard{Failed: true}},
		"junk that fits":       {nonce[:20] + "hello", "", heard{Failed: true}},
		"another mark":         {nonce + ".0 0 0\n", "", heard{Failed: true}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got := hear([]said{{1, test.stdout}, {2, test.stderr}})
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("stdout first (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(test.want, hear([]said{{2, test.stderr}, {1, test.stdout}})); diff != "" {
					t.Errorf("stderr first (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestReplyStatus(t *testing.T) {
	for line, good := range map[string]bool{
		"0 0 0\n":                    true,
		"255 7 2\n":                  true,
		"256 0 0\n":                  false,
		"-1 0 0\n":                   false,
		"0 -1 0\n":                   false,
		"0 0 3\n":                    false,
		"0 0 -1\n":                   false,
		"0 0\n":                      false,
		"0 0 0 0\n":                  false,
		"\n":                         false,
		"0 0 x\n":                    false,
		"99999999999999999999 0 0\n": false,
	} {
		h := hear([]said{{1, begins + ends + line}, {2, ends}})
		if h.Failed == good {
			t.Errorf("%q: taken for an answer: %v, want %v", line, !h.Failed, good)
		}
	}
}

// A status that never ends must not be kept.
func TestReplyStatusWithoutEnd(t *testing.T) {
	a := newReply(nonce, &sandbox.Command{})
	a.pass()
	over := make(chan int)
	go func() {
		_, _ = a.stdout.Write([]byte(begins + ends))
		sent := 0
		for chunk := bytes.Repeat([]byte("0"), 32<<10); sent < 16<<20; sent += len(chunk) {
			if n, err := a.stdout.Write(chunk); err != nil || n < len(chunk) {
				break
			}
		}
		a.close(nil)
		over <- sent
	}()
	_, _, err := a.status()
	_ = a.tail.Close()
	if sent := <-over; err == nil || a.tail == nil {
		t.Errorf("%d bytes were taken for a status", sent)
	}
	if !errors.Is(err, ErrGarbled) {
		t.Errorf("error %v, want %v: all of it was read", err, ErrGarbled)
	}
}

// Whatever the pieces that the engine sends: the same is heard.
func TestReplyPieces(t *testing.T) {
	stdout := begins + "out" + nonce[:9] + "\x00" + nonce[:25] + ends + "7 0 1\n" + "tail" + ends
	stderr := nonce[:25] + ends
	want := heard{
		Stdout: "out" + nonce[:9] + "\x00" + nonce[:25], Stderr: nonce[:25], Began: true, Quiet: true,
		Status: [3]int{7, 0, 1}, Tail: "tail" + ends,
	}
	synctest.Test(t, func(t *testing.T) {
		for i := range len(stdout) + 1 {
			for j := range len(stderr) + 1 {
				got := hear([]said{{1, stdout[:i]}, {2, stderr[:j]}, {1, stdout[i:]}, {2, stderr[j:]}})
				if got != want {
					t.Fatalf("split at %d and %d: %s", i, j, cmp.Diff(want, got))
				}
			}
		}
	})
}

// FuzzReplyPieces does so for any output.
func FuzzReplyPieces(f *testing.F) {
	f.Add("out", "err", "tail", byte(0), int64(1))
	f.Add(nonce[:25], nonce, "", byte(255), int64(2))
	f.Fuzz(func(t *testing.T, stdout, stderr, tail string, code byte, seed int64) {
		if strings.Contains(stdout+ends[:len(ends)-1], ends) || strings.Contains(stderr+ends[:len(ends)-1], ends) {
			return
		}
		status := heard{Status: [3]int{int(code), 0, 1}}.line()
		random := rand.New(rand.NewSource(seed))
		pieces := interleave(random, begins+stdout+ends+status+tail, stderr+ends)
		want := heard{
			Stdout: stdout, Stderr: stderr, Began: true, Quiet: true,
			Status: [3]int{int(code), 0, 1}, Tail: tail,
		}
		synctest.Test(t, func(t *testing.T) {
			if diff := cmp.Diff(want, hear(pieces)); diff != "" {
				t.Errorf("seed %d (-want +got):\n%s", seed, diff)
			}
		})
	})
}

// FuzzReply says anything: it may be no answer, and that is all.
func FuzzReply(f *testing.F) {
	f.Add(begins+"out"+ends+"0 0 0\n", ends, int64(1))
	f.Add(nonce+"-", "", int64(2))
	f.Add("junk", "junk", int64(3))
	f.Fuzz(func(t *testing.T, stdout, stderr string, seed int64) {
		pieces := interleave(rand.New(rand.NewSource(seed)), stdout, stderr)
		synctest.Test(t, func(t *testing.T) {
			h := hear(pieces)
			if len(h.Stdout)+len(h.Tail) > len(stdout) || len(h.Stderr) > len(stderr) {
				t.Errorf("heard more than was said: %+v", h)
			}
		})
	})
}

// line is the status as a shell says it.
func (h heard) line() string {
	var b strings.Builder
	for i, n := range h.Status {
		if i > 0 {
			b.WriteByte(' ')
		}
		for _, digit := range []int{100, 10, 1} {
			b.WriteByte('0' + byte(n/digit%10))
		}
	}
	return b.String() + "\n"
}

// interleave cuts both streams into pieces, in an order that an engine may send
// them in.
func interleave(random *rand.Rand, stdout, stderr string) []said {
	var pieces []said
	for stdout != "" || stderr != "" {
		stream, from := 1, &stdout
		if stdout == "" || stderr != "" && random.Intn(2) == 0 {
			stream, from = 2, &stderr
		}
		n := 1 + random.Intn(min(len(*from), 40))
		pieces = append(pieces, said{stream, (*from)[:n]})
		*from = (*from)[n:]
	}
	return pieces
}

func TestUnread(t *testing.T) {
	for said, want := range map[string][]string{
		"": nil,
		"/out/large\ntar: ./socket: socket ignored\ntar: ./a/b: Cannot open: Permission denied\ntar: Exiting with failure status due to previous errors\n": {
			`"large": at most 16 MB are taken`, `"socket": socket ignored`, `"a/b": Cannot open: Permission denied`,
		},
		"tar: ./\x1b[2J: socket\x07 ignored\nsh: find: not found\n": {`"\x1b[2J": socket ignored`},
		strings.Repeat("/out/x\n", 20):                              append(slices.Repeat([]string{`"x": at most 16 MB are taken`}, 16), "and more"),
	} {
		if got := unread(said); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}
