package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/requirements"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/scan"
	"github.com/skillsmcp/skills-mcp/skills/watch"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// published is a publisher that records the catalogs.
type published struct {
	mu       sync.Mutex
	catalogs []*skills.Catalog
	active   []string
	during   func() // called by Publish; may be nil
}

func (p *published) Publish(catalog *skills.Catalog) bool {
	if p.during != nil {
		p.during()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.catalogs = append(p.catalogs, catalog)
	return true
}

func (p *published) Activate(active map[string]bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.active = append(p.active, fmt.Sprint(active))
	return true
}

// states returns the skills of each published catalog, with why one is unavailable.
func (p *published) states() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []string
	for _, catalog := range p.catalogs {
		var one []string
		for _, skill := range catalog.Skills {
			one = append(one, strings.TrimSpace(skill.Name+" "+skill.Unavailable))
		}
		all = append(all, strings.Join(one, ", "))
	}
	return all
}

func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A folder is a root with skills.
type folder struct {
	t   *testing.T
	dir string
}

func newFolder(t *testing.T) folder { return folder{t, t.TempDir()} }

func (f folder) at(name string) string { return filepath.Join(f.dir, filepath.FromSlash(name)) }

// write writes a skill with these fields, and returns its manifest.
func (f folder) write(name, fields string) string {
	f.t.Helper()
	file := f.at(name + "/SKILL.md")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("---\nname: "+name+"\ndescription: d\n"+fields+"---\nText.\n"), 0o644); err != nil {
		f.t.Fatal(err)
	}
	return file
}

func (f folder) scanner() *scan.Scanner {
	return scan.NewScanner([]scan.Root{{Source: skills.SourceUser, Dir: f.dir}}, nil)
}

// changes is a watcher that reports the changes of a test.
type changes struct {
	c               chan watch.Change
	limited, closed bool
}

func newChanges() *changes { return &changes{c: make(chan watch.Change)} }

func (c *changes) Changes() <-chan watch.Change { return c.c }
func (c *changes) Limited() bool                { return c.limited }
func (c *changes) Close() error                 { c.closed = true; return nil }
func (c *changes) watch() (Watcher, error)      { return c, nil }
func (c *changes) send(paths ...string) {
	c.c <- watch.Change{Paths: paths}
	synctest.Wait()
}

func start(t *testing.T, r *Reloader, p Publisher) {
	t.Helper()
	r.Start(t.Context(), p)
	synctest.Wait()
}

// Each change of a file that matters publishes one catalog, and no other does.
func TestChanges(t *testing.T) {
	f := newFolder(t)
	f.write("one", "")
	synctest.Test(t, func(t *testing.T) {
		p, c, idle := &published{}, newChanges(), 0
		r := New(f.scanner(), &Options{Watch: c.watch, Idle: func() { idle++ }})
		start(t, r, p)
		expect(t, p.states(), "one", "one") // the second when the roots are watched
		p.catalogs = nil
		f.write("two", "")
		c.send(f.at("two"))
		expect(t, p.states(), "one, two")
		c.send(f.at("no skill"))
		expect(t, p.states(), "one, two")
		if err := os.RemoveAll(f.at("one")); err != nil {
			t.Fatal(err)
		}
		c.send(f.at("one"))
		expect(t, p.states(), "one, two", "two")
		r.Close()
		if !c.closed || idle != 1 {
			t.Errorf("the watcher is closed: %t; idle %d times", c.closed, idle)
		}
	})
}

// TestEdited wants each skill whose files changed to be reported, after the watch began.
func TestEdited(t *testing.T) {
	f := newFolder(t)
	f.write("one", "")
	f.write("two", "")
	synctest.Test(t, func(t *testing.T) {
		var edited []string
		c := newChanges()
		r := New(f.scanner(), &Options{Watch: c.watch, Edited: func(_ context.Context, skill *skills.Skill) { edited = append(edited, skill.Name) }})
		start(t, r, &published{})
		defer r.Close()
		c.send(f.at("two/run.sh"))
		c.send(f.at("no skill"))
		c.send(f.at("."))
		if want := []string{"two", "one", "two"}; !slices.Equal(edited, want) {
			t.Errorf("edited: %q, want %q", edited, want)
		}
	})
}

// A change after the first scan, before the roots are watched, is found.
func TestChangeBeforeTheWatch(t *testing.T) {
	f := newFolder(t)
	f.write("one", "")
	synctest.Test(t, func(t *testing.T) {
		p, c := &published{}, newChanges()
		r := New(f.scanner(), &Options{Watch: func() (Watcher, error) {
			f.write("late", "")
			return c, nil
		}})
		start(t, r, p)
		defer r.Close()
		expect(t, p.states(), "one", "late, one")
	})
}

// Where watches are missing, changes are found by looking.
func TestPoll(t *testing.T) {
	f := newFolder(t)
	f.write("one", "")
	synctest.Test(t, func(t *testing.T) {
		p, c := &published{}, newChanges()
		c.limited = true
		r := New(f.scanner(), &Options{Watch: c.watch})
		start(t, r, p)
		defer r.Close()
		p.catalogs = nil
		f.write("two", "")
		synctest.Wait()
		expect(t, p.states())
		time.Sleep(pollEvery)
		synctest.Wait()
		expect(t, p.states(), "one, two")
	})
}

// Changes that no watch reports are found at an interval, which other changes do not postpone.
func TestPollAlways(t *testing.T) {
	f := newFolder(t)
	f.write("one", "")
	synctest.Test(t, func(t *testing.T) {
		p, c := &published{}, newChanges()
		r := New(f.scanner(), &Options{Watch: c.watch, Poll: time.Minute})
		start(t, r, p)
		defer r.Close()
		p.catalogs = nil
		f.write("two", "")
		time.Sleep(40 * time.Second)
		c.send()
		synctest.Wait()
		expect(t, p.states())
		time.Sleep(20 * time.Second)
		synctest.Wait()
		expect(t, p.states(), "one, two")
	})
}

// Skills are provided before the first scan, and again after the time that was returned, until
// the reloader is closed.
func TestProvide(t *testing.T) {
	f := newFolder(t)
	synctest.Test(t, func(t *testing.T) {
		p, c, names := &published{}, newChanges(), []string{"one", "two"}
		r := New(f.scanner(), &Options{Watch: c.watch, Provide: func(context.Context) time.Duration {
			if len(names) > 0 {
				f.write(names[0], "")
				names = names[1:]
			}
			return time.Hour
		}})
		start(t, r, p)
		expect(t, p.states(), "one", "one")
		time.Sleep(time.Hour)
		synctest.Wait()
		if err := r.Refresh(t.Context(), nil); err != nil {
			t.Error(err)
		}
		expect(t, p.states(), "one", "one", "one, two")
		r.Close()
	})
}

// Without a watcher, the server serves the first catalog, and logs a warning.
func TestNoWatcher(t *testing.T) {
	f := newFolder(t)
	f.write("one", "")
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		p := &published{}
		r := New(f.scanner(), &Options{
			Watch:  func() (Watcher, error) { return nil, errors.New("no more watches") },
			Logger: slog.New(slog.NewTextHandler(&log, nil)),
		})
		start(t, r, p)
		r.Close()
		expect(t, p.states(), "one")
		if !strings.Contains(log.String(), "call reload_skills after one") {
			t.Errorf("log: %s", &log)
		}
	})
}

// A reload that began earlier never replaces the catalog of a later one, and a call
// sees a reload under way: its file is as it was read, but not yet published.
func TestReloadUnderWay(t *testing.T) {
	f := newFolder(t)
	synctest.Test(t, func(t *testing.T) {
		r, p := New(f.scanner(), nil), &published{}
		start(t, r, p)
		defer r.Close()
		f.write("one", "")
		goOn := make(chan struct{})
		p.during = func() { <-goOn }
		var all sync.WaitGroup
		all.Go(func() { _, _, _ = r.Reload(t.Context()) })
		synctest.Wait() // it has read, and is about to publish
		read, err := f.scanner().Scan(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var refreshed bool
		all.Go(func() {
			if err := r.Refresh(t.Context(), read.Skills[0]); err != nil {
				t.Error(err)
			}
			refreshed = true
		})
		f.write("two", "")
		all.Go(func() { _, _, _ = r.Reload(t.Context()) })
		synctest.Wait()
		if refreshed {
			t.Error("the call did not wait for the reload under way")
		}
		goOn <- struct{}{}
		goOn <- struct{}{}
		all.Wait()
		expect(t, p.states(), "", "one", "one, two")
	})
}

// A call rescans the skill that it names, and no other.
func TestRefresh(t *testing.T) {
	f := newFolder(t)
	f.write("one", "")
	f.write("two", "")
	r, p := New(f.scanner(), nil), &published{}
	r.Start(t.Context(), p)
	defer r.Close()
	r.AwaitFirst(t.Context())
	last := func() *skills.Catalog { return p.catalogs[len(p.catalogs)-1] }
	refresh := func(name string) {
		t.Helper()
		skill, _ := last().Lookup(name)
		if err := r.Refresh(t.Context(), skill); err != nil {
			t.Fatal(err)
		}
	}
	refresh("one")
	expect(t, p.states(), "one, two")
	f.write("one", "when_to_use: now\n")
	f.write("two", "when_to_use: now\n")
	before := last().Skills[1]
	refresh("one")
	if got := last().Skills; got[0].WhenToUse != "now" || got[1] != before {
		t.Errorf("one is used %q; two was read again: %t", got[0].WhenToUse, got[1] != before)
	}
	f.write("three", "")
	refresh("three")
	expect(t, p.states(), "one, two", "one, two", "one, three, two")
}

// Scans that end early publish nothing, and start nothing.
func TestCancelled(t *testing.T) {
	f := newFolder(t)
	f.write("one", "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, p := New(f.scanner(), &Options{Watch: func() (Watcher, error) { panic("started") }}), &published{}
	r.Start(ctx, p)
	r.Close()
	expect(t, p.states())
}

// slowFS is a root whose reading begins when it is released.
type slowFS struct {
	fs.FS
	release chan struct{}
}

func (s slowFS) Open(name string) (fs.File, error) {
	<-s.release
	return s.FS.Open(name)
}

// Start does not wait for the first scan, which Close ends: nothing is published then.
func TestFirstScan(t *testing.T) {
	for _, closed := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			slow := slowFS{fstest.MapFS{"one/SKILL.md": {Data: []byte("---\nname: one\ndescription: d\n---\n")}}, make(chan struct{})}
			r := New(scan.NewScanner([]scan.Root{{Source: skills.SourceExtra, FS: slow, Label: "slow"}}, nil), nil)
			p := &published{}
			r.Start(t.Context(), p)
			synctest.Wait()
			expect(t, p.states())
			ended := make(chan struct{})
			if closed {
				go func() { defer close(ended); r.Close() }()
				synctest.Wait() // the scan has been told
			}
			close(slow.release)
			if synctest.Wait(); closed {
				<-ended
				expect(t, p.states())
				return
			}
			expect(t, p.states(), "one")
			r.Close()
		})
	}
}

// image is a driver whose sandboxes have these programs.
type image string

func (i image) Identify(context.Context, string) (sandbox.Base, error) {
	return sandbox.Base{ID: "1", Name: "the image", Remedy: "use another one"}, nil
}

func (i image) Run(_ context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	cmd.Started()
	_, err := io.WriteString(cmd.Stdout, string(i))
	return &sandbox.Exit{}, err
}

func (i image) Close() error { return nil }

// Sandboxes are inspected in the background: a skill is available until it is known to
// lack a requirement.
func TestPrograms(t *testing.T) {
	f := newFolder(t)
	f.write("needy", "script: run.sh\nmetadata: {requires: {bins: [jq]}}\n")
	if err := os.WriteFile(f.at("needy/run.sh"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		runner := sandbox.New(image("sh\nbash\n"), nil)
		p, c := &published{}, newChanges()
		r := New(f.scanner(), &Options{Requirements: requirements.New(nil), Runner: runner, Watch: c.watch})
		start(t, r, p)
		if got := p.states(); got[0] != "needy" || got[len(got)-1] != "needy needs jq in the image" {
			t.Errorf("got %q", got)
		}
		p.catalogs = nil
		c.send(f.write("needy", "script: run.sh\n"))
		expect(t, p.states(), "needy")
		r.Close()
		if err := runner.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A first scan that takes long publishes the skills that are read by then, and then all.
func TestFirstPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFolder(t)
		const count = 50
		for i := range count {
			f.write(fmt.Sprintf("skill-%02d", i), "")
		}
		scanner := scan.NewScanner([]scan.Root{{Source: skills.SourceUser, Dir: f.dir}}, &scan.Options{
			Disabled: func(string, ...string) string { time.Sleep(time.Second); return "" },
		})
		p := &published{}
		r := New(scanner, &Options{First: 7 * time.Second})
		start(t, r, p)
		r.AwaitFirst(t.Context())
		if len(p.catalogs) != 2 || len(p.catalogs[0].Skills) == 0 || len(p.catalogs[0].Skills) == count || len(p.catalogs[1].Skills) != count {
			t.Errorf("published %d catalogs: %q", len(p.catalogs), p.states())
		}
	})
}
