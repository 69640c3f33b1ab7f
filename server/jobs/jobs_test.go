package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/jobs"
	"github.com/skillsmcp/skills-mcp/server/result"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// request returns a call of a principal.
func request(owner string) run.Request {
	return run.Request{Skill: &skills.Skill{Name: "demo"}, Call: run.Call{Principal: identity.Principal{Kind: identity.Token, ID: owner}}}
}

// start starts a job of a principal, which has room.
func start(t *testing.T, all *jobs.Jobs, owner string) *jobs.Job {
	t.Helper()
	job, err := all.Start(t.Context(), request(owner), false)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// until is a run that ends with its context.
func until(ctx context.Context, _ run.Request) (*result.Run, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

// show returns the events of a snapshot, one a line.
func show(s jobs.Snapshot) string {
	var lines []string
	for _, e := range s.Events {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%d %s %s", e.Seq, e.Kind, e.Text)))
	}
	return strings.Join(lines, "\n")
}

// A run goes on when its request has ended. A reader gets each event once.
func TestEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := jobs.New(func(ctx context.Context, r run.Request) (*result.Run, error) {
			r.Progress("waiting for a slot")
			time.Sleep(time.Second)
			fmt.Fprint(r.Stdout, "a", "b\xc3")
			fmt.Fprint(r.Stdout, "\xa4\xff")
			time.Sleep(time.Second)
			fmt.Fprint(r.Stdout, "c\xe2\x82")
			fmt.Fprint(r.Stderr, "oh")
			return &result.Run{RunID: r.RunID, Stdout: "abc"}, ctx.Err()
		}, nil)
		defer all.Close()
		ctx, cancel := context.WithCancel(t.Context())
		job, err := all.Start(ctx, request("ann"), false)
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		got, last := "", 0
		for state := jobs.Running; state != jobs.Ended; {
			if err := job.Wait(t.Context(), last); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond)
			s := job.Snapshot(last)
			got += show(s) + "\n"
			last, state = s.Events[len(s.Events)-1].Seq, s.State
		}
		want := "1 progress waiting for a slot\n2 stdout abä�\n3 stdout c\n4 stderr oh\n5 stdout �\n6 end\n"
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if s := job.Snapshot(last); s.Result.RunID != job.ID || s.Err != nil || s.Took != 2*time.Second || len(s.Events) > 0 {
			t.Errorf("%+v", s)
		}
	})
}

// Lines "N/M message" of the error output are progress, too. The newest one counts until a
// reader has got it, so that a script that counts fast drops no output.
func TestCount(t *testing.T) {
	for name, test := range map[string]struct {
		writes []string
		read   bool // after each write
		want   string
	}{
		"each read": {[]string{"1/2 half\n", "2/2\n"}, true, "1 stderr 1/2 half\n2 progress half &{1 2}\n3 stderr 2/2\n4 progress &{2 2}\n5 end"},
		"none read": {[]string{"1/2 half\n", "2/2 whole\n"}, false, "1 stderr 1/2 half\n2/2 whole\n2 progress whole &{2 2}\n3 end"},
		"in pieces": {[]string{"1/", "2 ha", "lf\rx"}, false, "1 stderr 1/2 half\rx\n2 progress half &{1 2}\n3 end"},
		"none":      {[]string{"3/2\n", "1/2/2026\n", "/\n", "a 1/2\n", "1/2"}, false, "1 stderr 3/2\n1/2/2026\n/\na 1/2\n1/2\n2 end"},
	} {
		var job *jobs.Job
		started := make(chan struct{})
		all := jobs.New(func(_ context.Context, r run.Request) (*result.Run, error) {
			<-started
			for _, text := range test.writes {
				fmt.Fprint(r.Stderr, text)
				if test.read {
					job.Snapshot(0)
				}
			}
			return &result.Run{}, nil
		}, nil)
		job = start(t, all, "ann")
		close(started)
		<-job.Done()
		var lines []string
		for _, e := range job.Snapshot(0).Events {
			text := strings.TrimSpace(fmt.Sprintf("%d %s %s", e.Seq, e.Kind, e.Text))
			if e.Count != nil {
				text += fmt.Sprintf(" %v", e.Count)
			}
			lines = append(lines, text)
		}
		if got := strings.Join(lines, "\n"); got != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, test.want)
		}
		all.Close()
	}
}

// The oldest events of a job are dropped, and a slow reader is told which.
func TestSlowReader(t *testing.T) {
	for name, test := range map[string]struct {
		write func(r run.Request, read func())
		gap   string
	}{
		"1 MiB at once": {func(r run.Request, _ func()) { fmt.Fprint(r.Stdout, strings.Repeat("0123456789abcde\n", 1<<16)) }, "the events 1 to "},
		"many messages": {func(r run.Request, _ func()) {
			for i := range 10_000 {
				r.Progress(fmt.Sprint(i))
			}
		}, "the events 1 to 9489 are dropped: the newest 512 are kept, with at most 256 KiB"},
		"many lines for a fast reader": {func(r run.Request, read func()) {
			for range 1000 {
				fmt.Fprintln(r.Stderr, "line")
				read()
			}
		}, "the events 1 to 489 are dropped: the newest 512 are kept, with at most 256 KiB"},
	} {
		t.Run(name, func(t *testing.T) {
			started := make(chan *jobs.Job, 1)
			all := jobs.New(func(_ context.Context, r run.Request) (*result.Run, error) {
				job := <-started
				test.write(r, func() { job.Snapshot(0) })
				return &result.Run{}, nil
			}, nil)
			defer all.Close()
			job := start(t, all, "ann")
			started <- job
			<-job.Done()
			s := job.Snapshot(0)
			size, gap := 0, s.Events[0]
			for i, e := range s.Events[1:] {
				size += len(e.Text)
				if e.Seq != gap.Seq+1+i {
					t.Fatalf("event %d after %d", e.Seq, gap.Seq+i)
				}
			}
			if gap.Kind != jobs.Dropped || !strings.HasPrefix(gap.Text, test.gap) || size > 256<<10 || len(s.Events) > 513 {
				t.Errorf("%+v, then %d events with %d bytes", gap, len(s.Events)-1, size)
			}
			if name == "1 MiB at once" && size < 200<<10 {
				t.Errorf("%d bytes are kept", size)
			}
			if last := s.Events[len(s.Events)-1]; last.Kind != jobs.End {
				t.Errorf("last %+v", last)
			}
		})
	}
}

// There are so many jobs, of one principal and in all, and those that have ended for so
// long.
func TestBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ends := make(chan struct{})
		all := jobs.New(func(ctx context.Context, _ run.Request) (*result.Run, error) {
			select {
			case <-ends:
			case <-ctx.Done():
			}
			return &result.Run{}, nil
		}, nil)
		defer all.Close()
		for i := range 64 {
			start(t, all, fmt.Sprint("client ", i/16))
			if i == 15 {
				_, err := all.Start(t.Context(), request("client 0"), false)
				wantError(t, err, run.Busy)
			}
		}
		_, err := all.Start(t.Context(), request("client 9"), false)
		wantError(t, err, run.Busy)
		close(ends)
		synctest.Wait()
		others, own := all.All()[63], []*jobs.Job{}
		for i := range 300 {
			own = append(own, start(t, all, "ann"))
			synctest.Wait()
			if n := len(all.All()); n != min(65+i, 256) {
				t.Fatalf("%d jobs after %d", n, i+1)
			}
		}
		if all.Find(own[0].ID) != nil || all.Find(others.ID) != others {
			t.Error("her oldest job is still there, or another's went before it")
		}
		last := all.All()[0]
		time.Sleep(30*time.Minute - 1)
		if all.Find(last.ID) != last {
			t.Error("the job is gone too early")
		}
		time.Sleep(2 * time.Nanosecond)
		synctest.Wait()
		if n := len(all.All()); n != 0 {
			t.Errorf("%d jobs are left", n)
		}
	})
}

func wantError(t *testing.T, err error, code run.Code) {
	t.Helper()
	if e, ok := errors.AsType[*run.Error](err); !ok || e.Code != code {
		t.Errorf("error %v, want %s", err, code)
	}
}

// A job ends when it is cancelled and when the server stops, and a panic ends it alone.
func TestEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := jobs.New(until, nil)
		cancelled, other := start(t, all, "ann"), start(t, all, "ann")
		cancelled.Cancel()
		synctest.Wait()
		if s := cancelled.Snapshot(0); s.State != jobs.Ended || s.Err == nil || !errors.Is(s.Err, context.Canceled) {
			t.Errorf("%+v", s)
		}
		if all.Find(cancelled.ID) != cancelled || other.State() != jobs.Running {
			t.Error("others than that job have ended or gone")
		}
		waits := make(chan error)
		go func() { waits <- other.Wait(t.Context(), 0) }()
		all.Close()
		if err := <-waits; err != nil || other.Snapshot(0).State != jobs.Ended {
			t.Errorf("error %v, %+v", err, other.Snapshot(0))
		}
		_, err := all.Start(t.Context(), request("ann"), false)
		wantError(t, err, run.Unavailable)
	})
	all := jobs.New(func(context.Context, run.Request) (*result.Run, error) { panic("oh") }, nil)
	defer all.Close()
	job := start(t, all, "ann")
	<-job.Done()
	if s := job.Snapshot(0); s.Err == nil || s.Err.Code != run.InternalError || s.Result != nil {
		t.Errorf("%+v", s)
	}
}

// A reader that has left does not wait.
func TestWaitEnds(t *testing.T) {
	all := jobs.New(until, nil)
	defer all.Close()
	job := start(t, all, "ann")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := job.Wait(ctx, 0); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
