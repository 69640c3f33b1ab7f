package kubernetes

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// A fakeNetwork answers probes as a Pod does that reaches some targets.
type fakeNetwork struct {
	*network
	probes  int
	output  string
	pause   time.Duration
	running sync.WaitGroup
}

func newFakeNetwork(output string) *fakeNetwork {
	f := &fakeNetwork{output: output, pause: time.Second}
	f.network = &network{
		targets: func(context.Context) ([]string, func(), error) { return []string{"a=b 1"}, func() {}, nil },
		run: func(_ context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
			f.probes++
			time.Sleep(f.pause) // of the test's bubble
			_, err := io.WriteString(cmd.Stdout, f.output)
			return &sandbox.Exit{}, err
		},
	}
	return f
}

func (f *fakeNetwork) call(t *testing.T) (took time.Duration, err error) {
	t.Helper()
	start := time.Now()
	err = f.check(t.Context(), f.running.Go)
	return time.Since(start), err
}

// Calls wait for the first probe, and for no other: an old result counts during the next.
func TestNetworkIsProbedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeNetwork("done\n")
		for i, c := range []struct{ after, took time.Duration }{{0, time.Second}, {0, 0}, {networkFresh / 2, 0}, {networkFresh, 0}, {0, 0}} {
			time.Sleep(c.after)
			if took, err := f.call(t); took != c.took || err != nil {
				t.Errorf("call %d took %v: %v; want %v", i, took, err, c.took)
			}
		}
		f.running.Wait()
		if f.probes != 2 {
			t.Errorf("%d probes, want one, and one after an hour", f.probes)
		}
	})
}

// An open network refuses calls until a later probe finds it closed.
func TestOpenNetworkIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeNetwork("the API server\nthe metadata service\ndone\n")
		_, err := f.call(t)
		var none *sandbox.UnavailableError
		if !errors.As(err, &none) || !strings.Contains(none.Reason, "reach the API server and the metadata service") {
			t.Errorf("open: %v", err)
		}
		f.output = "done\n"
		if took, err := f.call(t); took > 0 || err == nil {
			t.Errorf("right after it: %v in %v", err, took)
		}
		time.Sleep(networkRetry + 1)
		if took, err := f.call(t); took != f.pause || err != nil {
			t.Errorf("later: %v in %v", err, took)
		}
		f.running.Wait()
	})
}

// A probe that cannot tell refuses calls too, and no probe is made where any network is accepted.
func TestNetworkThatIsNotKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, output := range []string{"none\n", "", "the API server\n"} {
			f := newFakeNetwork(output)
			if _, err := f.call(t); err == nil || !strings.Contains(err.Error(), "images.default") {
				t.Errorf("%q: %v", output, err)
			}
			f.running.Wait()
		}
		f := newFakeNetwork("the API server\ndone\n")
		f.accepted = true
		if _, err := f.call(t); err != nil || f.probes > 0 {
			t.Errorf("accepted: %v after %d probes", err, f.probes)
		}
	})
}
