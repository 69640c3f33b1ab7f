package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// newTestPulls returns pulls whose end is waited for when the test ends.
func newTestPulls(t *testing.T) *pulls {
	ctx, cancel := context.WithCancel(context.Background())
	var background sync.WaitGroup
	t.Cleanup(func() { cancel(); background.Wait() })
	return newPulls(ctx, &background)
}

func TestPullsShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestPulls(t)
		fetched, release := 0, make(chan struct{})
		fetch := func(ctx context.Context, report func(string)) error {
			fetched++
			report("half")
			<-release
			return nil
		}
		var told [3][]string
		var callers sync.WaitGroup
		for i := range told {
			callers.Go(func() {
				if err := p.get(t.Context(), "ref", fetch, func(m string) { told[i] = append(told[i], m) }); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		close(release)
		callers.Wait()
		if fetched != 1 {
			t.Errorf("pulled %d times", fetched)
		}
		for i := range told {
			if !slices.Contains(told[i], "half") {
				t.Errorf("caller %d was told %q", i, told[i])
			}
		}
		if len(p.byRef) != 0 {
			t.Error("a pull that succeeded is remembered")
		}
	})
}

func TestPullsRememberFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestPulls(t)
		fetched, failure := 0, errors.New("no such thing")
		get := func() error {
			return p.get(t.Context(), "ref", func(context.Context, func(string)) error { fetched++; return failure }, nil)
		}
		for range 3 {
			if err := get(); !errors.Is(err, failure) {
				t.Fatalf("error %v", err)
			}
		}
		if fetched != 1 {
			t.Errorf("pulled %d times within a moment", fetched)
		}
		time.Sleep(pullAgain)
		failure = nil
		if err := get(); err != nil || fetched != 2 {
			t.Errorf("after a while: error %v, pulled %d times", err, fetched)
		}
	})
}

func TestPullsForgetLostEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestPulls(t)
		for want := range 2 {
			fetched := 0
			_ = p.get(t.Context(), "ref", func(context.Context, func(string)) error { fetched++; return io.ErrUnexpectedEOF }, nil)
			if fetched != 1 {
				t.Errorf("pull %d did not happen", want)
			}
		}
	})
}

func TestPullsCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestPulls(t)
		ended := 0
		fetch := func(ctx context.Context, _ func(string)) error {
			<-ctx.Done()
			ended++
			return ctx.Err()
		}
		first, cancelFirst := canceled(t)
		second, cancelSecond := canceled(t)
		var callers sync.WaitGroup
		left := errors.New("left")
		for _, ctx := range []context.Context{first, second} {
			callers.Go(func() {
				if err := p.get(ctx, "ref", fetch, nil); !errors.Is(err, left) {
					t.Errorf("error %v", err)
				}
			})
		}
		synctest.Wait()
		cancelFirst(left)
		synctest.Wait()
		if ended != 0 {
			t.Error("the pull ended with the first caller, while the second waits")
		}
		cancelSecond(left)
		callers.Wait()
		synctest.Wait()
		if ended != 1 {
			t.Error("the pull goes on for nobody")
		}
		if err := p.get(t.Context(), "ref", func(context.Context, func(string)) error { return nil }, nil); err != nil {
			t.Errorf("the next caller gets the end of another's pull: %v", err)
		}
	})
}

func TestImagePulled(t *testing.T) {
	f := newFake(t)
	d := f.driver(t, Options{Images: map[string]string{"default": "python:3.13-slim"}})
	pull := f.pull
	f.fault("POST /images/create", func(w http.ResponseWriter, r *http.Request) {
		pull(w, r)
		for _, line := range []string{
			`{"status":"Pulling from library/python","id":"3.13-slim"}`,
			`{"status":"Downloading","id":"a","progressDetail":{"current":45088768,"total":125829120}}`,
			`{"status":"Download complete","id":"a"}`,
			`{"status":"Extracting","id":"a","progressDetail":{"current":1,"total":125829120}}`,
		} {
			fmt.Fprintln(w, line)
		}
	})
	var told []string
	cmd := command()
	cmd.Progress = func(m string) { told = append(told, m) }
	if _, err := d.Run(t.Context(), cmd); err != nil {
		t.Fatal(err)
	}
	if len(told) == 0 || !strings.Contains(told[0], "python:3.13-slim") {
		t.Errorf("told %q", told)
	}
	if f.pulls != 1 {
		t.Errorf("pulled %d times", f.pulls)
	}
}

func TestImageNotPulled(t *testing.T) {
	for name, test := range map[string]struct {
		fault http.HandlerFunc
		want  []string
	}{
		"refused":    {says(404, "manifest for gone:1 not found"), []string{"gone:1", `"extra"`, "images.extra", "manifest for gone:1 not found"}},
		"login":      {says(500, "unauthorized: authentication required"), []string{"login", "docker pull gone:1"}},
		"mid-stream": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, `{"error":"toomanyrequests"}`) }, []string{"toomanyrequests"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.fault("POST /images/create", test.fault)
			d := f.driver(t, Options{Images: map[string]string{"extra": "gone:1"}})
			for range 2 {
				cmd := command()
				cmd.Role = "extra"
				_, err := d.Run(t.Context(), cmd)
				var unavailable *sandbox.UnavailableError
				if !errors.As(err, &unavailable) {
					t.Fatalf("error %v", err)
				}
				for _, want := range test.want {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("error %q does not say %q", err, want)
					}
				}
			}
			if n := f.count("POST /images/create"); n != 1 {
				t.Errorf("pulled %d times", n)
			}
		})
	}
}

func TestUnknownRole(t *testing.T) {
	f := newFake(t)
	d := f.driver(t, Options{Images: map[string]string{"default": "base", "node": "base"}})
	cmd := command()
	cmd.Role = "ruby"
	_, err := d.Run(t.Context(), cmd)
	want := `no image is configured for the role "ruby"; these roles have one: default, node; set images.ruby`
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestTally(t *testing.T) {
	tally := newTally("ref")
	var told []string
	add := func(id, status string, current, total int64) {
		s := pullStatus{ID: id, Status: status}
		s.Progress.Current, s.Progress.Total = current, total
		if message, news := tally.add(s); news {
			told = append(told, message)
		}
	}
	const mb = 1 << 20
	add("", "Pulling from library/ref", 0, 0)
	add("a", "Downloading", mb/2, 100*mb) // too little to tell
	add("a", "Downloading", 10*mb, 100*mb)
	add("a", "Downloading", 11*mb, 100*mb) // less than a fiftieth
	add("b", "Downloading", 20*mb, 20*mb)
	add("b", "Extracting", 1, 20*mb) // the other still comes
	add("a", "Download complete", 0, 0)
	add("a", "Extracting", 1, 100*mb)
	add("a", "Extracting", 2, 100*mb)
	want := []string{"pulling ref: 10 of 100 MB", "pulling ref: 31 of 120 MB", "pulling ref: 120 of 120 MB", "unpacking ref"}
	if !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}
