package watch

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/fsnotify/fsnotify"
	"github.com/google/go-cmp/cmp"
)

// A feed runs intake on events that a test makes up.
type feed struct {
	events  chan fsnotify.Event
	errs    chan error
	batches chan batch
	logs    *logs
}

func inFeed(t *testing.T, f func(t *testing.T, in *feed)) {
	synctest.Test(t, func(t *testing.T) {
		in := &feed{make(chan fsnotify.Event), make(chan error), make(chan batch), &logs{}}
		go intake(in.events, in.errs, in.batches, slog.New(in.logs))
		f(t, in)
		close(in.events)
		synctest.Wait()
		if _, ok := <-in.batches; ok {
			t.Error("a batch after the end")
		}
	})
}

func (in *feed) send(path string, ops ...fsnotify.Op) {
	for _, op := range ops {
		in.events <- fsnotify.Event{Name: path, Op: op}
	}
}

func TestIntakeMergesWithoutWaiting(t *testing.T) {
	inFeed(t, func(t *testing.T, in *feed) {
		in.send("//a", fsnotify.Create, fsnotify.Write, fsnotify.Write)
		in.send("/b", fsnotify.Remove)
		want := map[string]fsnotify.Op{"/a": fsnotify.Create | fsnotify.Write, "/b": fsnotify.Remove}
		if diff := cmp.Diff(want, (<-in.batches).ops); diff != "" {
			t.Errorf("batch (-want +got):\n%s", diff)
		}
		in.send("/c", fsnotify.Write)
		if got := <-in.batches; len(got.ops) != 1 {
			t.Errorf("the next batch holds %v", got.ops)
		}
	})
}

func TestOverflowReplacesWhatIsKnown(t *testing.T) {
	inFeed(t, func(t *testing.T, in *feed) {
		in.send("/a", fsnotify.Write)
		in.errs <- fmt.Errorf("read: %w", fsnotify.ErrEventOverflow)
		in.send("/b", fsnotify.Write)
		if got := <-in.batches; !got.overflow || len(got.ops) != 0 {
			t.Errorf("batch = %+v, want an overflow alone", got)
		}
		in.send("/c", fsnotify.Write)
		if got := <-in.batches; got.overflow {
			t.Error("the overflow is told twice")
		}
	})
}

func TestTooManyPathsAreAnOverflow(t *testing.T) {
	inFeed(t, func(t *testing.T, in *feed) {
		for i := range maxBatch + 1 {
			in.send(fmt.Sprint("/", i), fsnotify.Write)
		}
		if got := <-in.batches; !got.overflow {
			t.Errorf("%d paths are no overflow", len(got.ops))
		}
	})
}

func TestOtherErrorsAreLogged(t *testing.T) {
	inFeed(t, func(t *testing.T, in *feed) {
		in.errs <- syscall.EINVAL
		in.errs <- errors.New("out of order")
		close(in.errs)
		in.send("/a", fsnotify.Write)
		if got := <-in.batches; got.overflow || len(got.ops) != 1 {
			t.Errorf("batch = %+v", got)
		}
		if got := in.logs.all(); len(got) != 1 || !strings.Contains(got[0], "out of order") {
			t.Errorf("log = %q", got)
		}
	})
}
