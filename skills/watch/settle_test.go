package watch

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	quiet    = 100 * time.Millisecond
	maxDelay = time.Second
)

// A bench runs settle in virtual time, in a bubble of synctest.
type bench struct {
	*testing.T
	touched chan []string
	changes chan Change
	began   time.Time
}

func inVirtualTime(t *testing.T, f func(b *bench)) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{t, make(chan []string), make(chan Change), time.Now()}
		go settle(b.touched, b.changes, native("/r", "/s"), quiet, maxDelay)
		defer close(b.touched)
		f(b)
	})
}

func (b *bench) touch(paths ...string) { b.touched <- native(paths...) }

// native returns paths as this system writes them.
func native(paths ...string) []string {
	var native []string
	for _, path := range paths {
		native = append(native, filepath.FromSlash(path))
	}
	return native
}

// want checks that the next change holds paths and comes at the time given.
func (b *bench) want(at time.Duration, paths ...string) {
	b.Helper()
	change := <-b.changes
	if diff := cmp.Diff(native(paths...), change.Paths); diff != "" {
		b.Errorf("change (-want +got):\n%s", diff)
	}
	if got := time.Since(b.began); got != at {
		b.Errorf("the change came at %v, want %v", got, at)
	}
}

// wantNothing checks that an hour passes without a change.
func (b *bench) wantNothing() {
	b.Helper()
	select {
	case change := <-b.changes:
		b.Errorf("a change too many: %v", change)
	case <-time.After(time.Hour):
	}
}

func TestOneChangeForOneBurst(t *testing.T) {
	inVirtualTime(t, func(b *bench) {
		go func() {
			for range 5 {
				b.touch("/r/b")
				b.touch("/r/a", "/r/b")
				time.Sleep(quiet / 2)
			}
		}()
		b.want(4*quiet/2+quiet, "/r/a", "/r/b")
		b.wantNothing()
	})
}

func TestTwoBurstsAreTwoChanges(t *testing.T) {
	inVirtualTime(t, func(b *bench) {
		b.touch("/r/a")
		b.want(quiet, "/r/a")
		b.touch("/r/b")
		b.want(2*quiet, "/r/b")
		b.wantNothing()
	})
}

func TestLongBurstIsReportedAfterMaxDelay(t *testing.T) {
	const tick, ticks = 30 * time.Millisecond, 40
	inVirtualTime(t, func(b *bench) {
		go func() {
			for range ticks {
				b.touch("/r/log")
				time.Sleep(tick)
			}
		}()
		b.want(maxDelay, "/r/log")
		b.want((ticks-1)*tick+quiet, "/r/log")
		b.wantNothing()
	})
}

func TestUnreadChangesMerge(t *testing.T) {
	inVirtualTime(t, func(b *bench) {
		for i := range 3 {
			b.touch(fmt.Sprint("/r/", i))
			time.Sleep(time.Minute)
		}
		b.want(3*time.Minute, "/r/0", "/r/1", "/r/2")
		b.wantNothing()
	})
}

func TestUnreadChangeSettlesAgain(t *testing.T) {
	inVirtualTime(t, func(b *bench) {
		b.touch("/r/a")
		time.Sleep(time.Minute)
		b.touch("/r/b")
		b.want(time.Minute+quiet, "/r/a", "/r/b")
		b.wantNothing()
	})
}

func TestClosingEndsSettle(t *testing.T) {
	for _, wait := range []time.Duration{0, quiet / 2, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			touched, changes := make(chan []string), make(chan Change)
			go settle(touched, changes, nil, quiet, maxDelay)
			touched <- []string{"/r/a"}
			time.Sleep(wait)
			close(touched)
			synctest.Wait()
			if _, ok := <-changes; ok {
				t.Error("a change after the end")
			}
		})
	}
}

func TestTooManyPathsAreAllRoots(t *testing.T) {
	inVirtualTime(t, func(b *bench) {
		var paths []string
		for i := range maxPaths + 1 {
			paths = append(paths, fmt.Sprint("/r/", i))
		}
		b.touch(slices.Clone(paths)...)
		b.touch("/s")
		b.want(quiet, "/r", "/s")
		b.wantNothing()
	})
}

func TestPathsBelowOthersAreLeftOut(t *testing.T) {
	for _, test := range []struct{ in, want []string }{
		{[]string{"/r/b", "/r/a"}, []string{"/r/a", "/r/b"}},
		{[]string{"/r/a/b/c", "/r/a-b", "/r/a"}, []string{"/r/a", "/r/a-b"}},
		{[]string{"/", "/r/a"}, []string{"/"}},
		{[]string{"/r/ab", "/r/a/x"}, []string{"/r/a/x", "/r/ab"}},
	} {
		if diff := cmp.Diff(native(test.want...), shortest(native(test.in...))); diff != "" {
			t.Errorf("%v (-want +got):\n%s", test.in, diff)
		}
	}
}
