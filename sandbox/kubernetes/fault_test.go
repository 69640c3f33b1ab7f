package kubernetes

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// runs runs cmd and returns its output, the number of its beginnings and its error.
func runs(ctx context.Context, d *Driver, cmd *sandbox.Command) (output string, started int, err error) {
	var stdout bytes.Buffer
	one := *cmd
	one.Stdout = &stdout
	one.Started = func() { started++ }
	_, err = d.Run(ctx, &one)
	return stdout.String(), started, err
}

func wantOutput(t *testing.T, d *Driver, cmd *sandbox.Command) {
	t.Helper()
	if output, started, err := runs(t.Context(), d, cmd); output != "out" || started != 1 || err != nil {
		t.Errorf("output %q, started %d times, error %v", output, started, err)
	}
}

func TestRun(t *testing.T) {
	f := newFakeCluster(t)
	d := f.driver(t, nil)
	one, two := fakeCommand(t, "one"), fakeCommand(t, "two")
	one.Env = []string{"SECRET=hidden"}
	wantOutput(t, d, one)
	wantOutput(t, d, two)
	created, lines, folders := f.count()
	if created != 2 || lines != 2 || folders != 2 {
		t.Errorf("%d Pods, %d lines and %d folders for two commands", created, lines, folders)
	}
	if !strings.Contains(f.lines[0], "SECRET='hidden'") || strings.Contains(f.lines[1], "hidden") {
		t.Errorf("lines %q", f.lines)
	}
	eventually(t, "Pods are left", func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return len(f.pods) == 0
	})
}

// A warm Pod serves any principal: it is loaded before, and gets its line late.
func TestWarm(t *testing.T) {
	f := newFakeCluster(t)
	var waited []bool
	d := f.driver(t, func(o *Options) {
		o.Pool.Taken = func(warm bool) { waited = append(waited, warm) }
		o.StartRate = 1000
	})
	cmd := fakeCommand(t, "one")
	cmd.Warm = 1
	wantOutput(t, d, cmd)
	eventually(t, "no Pod is made ahead", func() bool { return d.loaded.Waiting() == 1 && d.blank.Waiting() == 1 })
	if created, _, folders := f.count(); created != 3 || folders != 2 {
		t.Errorf("%d Pods and %d folders", created, folders)
	}
	// Another skill takes the blank one.
	other := fakeCommand(t, "other")
	other.Skill = "other"
	wantOutput(t, d, other)
	cmd.Tenant.ID, cmd.Env = "somebody else", []string{"TOKEN=theirs"}
	wantOutput(t, d, cmd)
	if len(waited) != 3 || waited[0] || waited[1] || !waited[2] {
		t.Errorf("a loaded Pod waited: %v", waited)
	}
	d.Forget("skill")
	changed := fakeCommand(t, "one").Folder
	_, _, before := f.count()
	if err := d.Renew("skill", func() (string, error) { return changed, nil }); err != nil {
		t.Error(err)
	}
	eventually(t, "the changed folder is not loaded ahead", func() bool { _, _, folders := f.count(); return folders > before })
}

// A connection that is cut before the shell has the line costs another Pod, and nothing
// more; one that is cut later is an error, as the command may have run.
func TestCut(t *testing.T) {
	for name, test := range map[string]struct {
		cut  cutting
		pods int
		err  string
	}{
		"before the line": {cutBefore, 2, ""},
		"after the line":  {cutAfter, 1, "it has run"},
		"after the begin": {cutBegun, 1, "it has run"},
		"not at all":      {cutNever, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeCluster(t)
			d := f.driver(t, nil)
			f.cut = test.cut
			_, started, err := runs(t.Context(), d, fakeCommand(t, "one"))
			var unavailable *sandbox.UnavailableError
			switch {
			case test.err == "" && err != nil:
				t.Error(err)
			case test.err != "" && (!errors.As(err, &unavailable) || !unavailable.MayHaveRun || !strings.Contains(err.Error(), test.err)):
				t.Errorf("error %v, want one with %q", err, test.err)
			}
			if created, lines, _ := f.count(); created != test.pods || lines != 1 || started != 1 {
				t.Errorf("%d Pods, the command was sent %d times and started %d times", created, lines, started)
			}
		})
	}
}

// While the API server refuses or hangs, a call waits and says so; it is run once.
func TestAway(t *testing.T) {
	refuse := func(f *fakeCluster, w http.ResponseWriter, r *http.Request) {
		f.refuse(w, http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, "away")
	}
	drop := func(_ *fakeCluster, w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }
	for name, answer := range map[string]func(*fakeCluster, http.ResponseWriter, *http.Request){"refuses": refuse, "drops": drop} {
		t.Run(name, func(t *testing.T) {
			f := newFakeCluster(t)
			d := f.driver(t, nil)
			var told atomic.Bool // that the API server is away: then it comes back
			f.before = func(w http.ResponseWriter, r *http.Request) bool {
				if told.Load() {
					return false
				}
				answer(f, w, r)
				return true
			}
			cmd := fakeCommand(t, "one")
			cmd.Progress = func(message string) {
				told.Store(told.Load() || strings.Contains(message, "API server"))
			}
			wantOutput(t, d, cmd)
			if _, lines, _ := f.count(); lines != 1 {
				t.Errorf("the command was sent %d times", lines)
			}
		})
	}
	t.Run("for good", func(t *testing.T) {
		f := newFakeCluster(t)
		d := f.driver(t, nil)
		d.patience = time.Second
		f.mu.Lock()
		f.before = func(w http.ResponseWriter, r *http.Request) bool {
			refuse(f, w, r)
			return true
		}
		f.mu.Unlock()
		_, started, err := runs(t.Context(), d, fakeCommand(t, "one"))
		var unavailable *sandbox.UnavailableError
		if !errors.As(err, &unavailable) || started != 0 || !strings.Contains(unavailable.Remedy, f.URL) {
			t.Errorf("started %d times, error %v", started, err)
		}
		f.mu.Lock()
		f.before = nil
		f.mu.Unlock()
		eventually(t, "it runs nothing, with no restart of ours", func() bool { // a slow machine may take longer than the patience
			output, _, err := runs(t.Context(), d, fakeCommand(t, "one"))
			return output == "out" && err == nil
		})
	})
	t.Run("cancelled", func(t *testing.T) {
		f := newFakeCluster(t)
		d := f.driver(t, nil)
		gone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		f.before = func(_ http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodPost {
				return false
			}
			_, _ = io.Copy(io.Discard, r.Body) // a server notices the end of a request after its body
			cancel(gone)
			<-r.Context().Done() // hangs
			return true
		}
		if _, started, err := runs(ctx, d, fakeCommand(t, "one")); !errors.Is(err, gone) || started != 0 {
			t.Errorf("started %d times, error %v", started, err)
		}
	})
}

// Failures of the cluster name a remedy.
func TestFailures(t *testing.T) {
	waiting := func(reason string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			pod.Status.Phase = corev1.PodPending
			pod.Status.ContainerStatuses[1].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: "because"}}
		}
	}
	full := func(pod *corev1.Pod) {
		pod.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/2 nodes are available"}}}
	}
	evicted := func(pod *corev1.Pod) { pod.Status.Phase, pod.Status.Reason = corev1.PodFailed, "Evicted" }
	refused := func(reason string) func(*fakeCluster, http.ResponseWriter) {
		return func(f *fakeCluster, w http.ResponseWriter) {
			f.refuse(w, http.StatusForbidden, metav1.StatusReasonForbidden, reason)
		}
	}
	for name, test := range map[string]struct {
		state  func(*corev1.Pod)
		refuse func(*fakeCluster, http.ResponseWriter)
		busy   bool
		want   string // of the error
		said   string // as progress
	}{
		"no image":     {state: waiting("ImagePullBackOff"), want: `the image base of the role "default" cannot be had by the cluster: because; set images.default`},
		"no container": {state: waiting("CreateContainerError"), want: "does not start: CreateContainerError because"},
		"full":         {state: full, busy: true, want: "0/2 nodes are available; add nodes", said: "waiting for room on the cluster: 0/2 nodes are available"},
		"evicted":      {state: evicted, want: "Evicted"},
		"quota":        {refuse: refused("exceeded quota: small, requested: pods=1"), busy: true, want: "small, requested: pods=1", said: "waiting for room on the cluster: small"},
		"no role":      {refuse: refused(`cannot create resource "pods"`), want: "give the server's account the Role"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeCluster(t)
			f.state = test.state
			f.before = func(w http.ResponseWriter, r *http.Request) bool {
				if test.refuse == nil || r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/pods") {
					return false
				}
				test.refuse(f, w)
				return true
			}
			bound := patience
			if test.busy { // the call waits for all of it
				bound = 200 * time.Millisecond
			}
			for ; ; bound *= 4 {
				d := f.driver(t, nil)
				d.patience = bound
				cmd := fakeCommand(t, "one")
				var said []string
				cmd.Progress = func(message string) { said = append(said, message) }
				_, started, err := runs(t.Context(), d, cmd)
				if bound < patience && errors.Is(err, context.DeadlineExceeded) {
					continue // this machine was too slow for one request
				}
				if err == nil || !strings.Contains(err.Error(), test.want) || errors.Is(err, sandbox.ErrBusy) != test.busy || started != 0 {
					t.Errorf("started %d times, error %v", started, err)
				}
				if !strings.Contains(strings.Join(said, "\n"), test.said) {
					t.Errorf("it said %q", said)
				}
				return
			}
		})
	}
	t.Run("no such role", func(t *testing.T) {
		d := newFakeCluster(t).driver(t, nil)
		cmd := fakeCommand(t, "one")
		cmd.Role = "none"
		if _, _, err := runs(t.Context(), d, cmd); err == nil || !strings.Contains(err.Error(), `["default" "other"]`) {
			t.Errorf("error %v", err)
		}
	})
}

// The Pods of an instance whose Lease has expired, or is gone, are removed, and no others.
func TestReap(t *testing.T) {
	f := newFakeCluster(t)
	pod := func(name, instance string) {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if instance != "" {
			p.Labels = map[string]string{labelInstance: instance}
		}
		f.put(watch.Added, p)
	}
	lease := func(instance string, age time.Duration) {
		seconds, renewed := int32(30), metav1.NewMicroTime(time.Now().Add(-age))
		f.leases["skills-mcp-"+instance] = &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: "skills-mcp-" + instance, Labels: map[string]string{labelInstance: instance}},
			Spec:       coordinationv1.LeaseSpec{LeaseDurationSeconds: &seconds, RenewTime: &renewed},
		}
	}
	lease("alive", time.Second)
	lease("dead", time.Minute)
	pod("alive-1", "alive")
	pod("dead-1", "dead")
	pod("dead-2", "dead")
	pod("lost-1", "lost")
	pod("other", "")
	c, err := newCluster(f.options())
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	owner := newOwner(c, slog.New(slog.DiscardHandler))
	left := func() (pods, leases []string) {
		owner.tend(t.Context())
		owner.background.Wait()
		owner.tend(t.Context()) // a Lease goes after its Pods
		f.mu.Lock()
		defer f.mu.Unlock()
		leases = slices.DeleteFunc(slices.Sorted(maps.Keys(f.leases)), func(name string) bool { return name == owner.leaseName(owner.instance) })
		return slices.Sorted(maps.Keys(f.pods)), leases
	}
	// The clock of its server may be late: it is seen for a while before it counts.
	pods, leases := left()
	if diff := cmp.Diff([]string{"alive-1", "dead-1", "dead-2", "other"}, pods); diff != "" || len(leases) != 2 {
		t.Errorf("at once: %s%q", diff, leases)
	}
	owner.observe = 0
	pods, leases = left()
	if diff := cmp.Diff([]string{"alive-1", "other"}, pods); diff != "" || len(leases) != 1 {
		t.Errorf("later: %s%q", diff, leases)
	}
}

// When an API server comes back, the leases of all servers have expired: each gets the time
// to renew its own.
func TestReapLater(t *testing.T) {
	f := newFakeCluster(t)
	c, err := newCluster(f.options())
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	owner := newOwner(c, slog.New(slog.DiscardHandler))
	if err := owner.lease(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.mu.Lock()
	f.put(watch.Added, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "other-1", Labels: map[string]string{labelInstance: "other"}}})
	f.before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPatch {
			return false
		}
		f.refuse(w, http.StatusInternalServerError, metav1.StatusReasonInternalError, "away")
		return true
	}
	f.mu.Unlock()
	there := func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.pods["other-1"] != nil
	}
	owner.tend(t.Context())
	f.mu.Lock()
	f.before = nil
	f.mu.Unlock()
	owner.tend(t.Context())
	owner.background.Wait()
	if !there() {
		t.Error("it was removed at once")
	}
	owner.spare = time.Now().Add(-time.Second)
	owner.tend(t.Context())
	owner.background.Wait()
	if there() {
		t.Error("it was never removed")
	}
}
