package docker

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
)

// leave puts a container on a fake engine that somebody has left there.
func (f *fakeEngine) leave(id string, labels map[string]string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := &fakeContainer{ended: make(chan struct{}), end: func() {}}
	c.request.Config = &container.Config{Labels: labels}
	f.containers[id] = c
}

// left returns which containers are there.
func (f *fakeEngine) left() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var ids []string
	for id := range f.containers {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// empty removes what a test put on a fake engine.
func (f *fakeEngine) empty() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.containers)
}

// connected returns a driver with an engine, whose first look for orphans is
// over.
func connected(t *testing.T, f *fakeEngine, dir string) *Driver {
	t.Helper()
	d := f.driver(t, Options{Dir: dir})
	e, err := d.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d.owner.reap(t.Context(), e)
	return d
}

func at24h(hours int) string {
	return strconv.FormatInt(time.Now().Add(time.Duration(hours)*time.Hour).Unix(), 10)
}

// What a driver removes of what is on its engine.
func TestReap(t *testing.T) {
	f := newFake(t)
	dir := t.TempDir()
	living := connected(t, f, dir)
	home := living.owner.lease.home
	if home == "" {
		t.Fatal("the driver's folder has no name")
	}
	if err := os.WriteFile(filepath.Join(dir, "instances", "killed"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	later, past := at24h(1), at24h(-1)
	labels := func(instance, home, expires string) map[string]string {
		return map[string]string{labelInstance: instance, labelHome: home, labelExpires: expires}
	}
	for id, l := range map[string]map[string]string{
		"x killed":           labels("killed", home, later),
		"x killed, too":      labels("killed", home, later),
		"x without a file":   labels("unknown", home, later),
		"x elsewhere, past":  labels("elsewhere", "elsewhere", past),
		"x homeless, past":   {labelInstance: "homeless", labelExpires: past},
		"living":             labels(living.owner.instance, home, later),
		"living, past":       labels(living.owner.instance, home, past),
		"elsewhere":          labels("unknown", "elsewhere", later),
		"homeless":           {labelInstance: "homeless", labelExpires: later},
		"homeless, no time":  {labelInstance: "homeless"},
		"homeless, odd time": {labelInstance: "homeless", labelExpires: "yesterday"},
		"path":               labels("../instances/killed", home, later),
		"dot":                labels("..", home, later),
		"no instance":        {labelHome: home},
		"not ours, past":     {labelExpires: past},
		"not ours":           {"com.example": "x"},
		"no labels":          nil,
	} {
		f.leave(id, l)
	}
	defer f.empty()
	d := connected(t, f, dir)
	want := []string{
		"dot", "elsewhere", "homeless", "homeless, no time", "homeless, odd time", "living", "living, past",
		"no instance", "no labels", "not ours", "not ours, past", "path",
	}
	if left := f.left(); !slices.Equal(left, want) {
		t.Errorf("left are %q,\nwant %q", left, want)
	}
	d.owner.reap(t.Context(), d.engine.Load()) // now the instance has no containers
	if files := instances(t, dir); !slices.Equal(files, sorted(living.owner.instance, d.owner.instance)) {
		t.Errorf("files %q are left, want those of %s and %s", files, living.owner.instance, d.owner.instance)
	}
}

// instances returns whose files are in a driver's folder.
func instances(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, "instances"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func sorted(all ...string) []string { return slices.Sorted(slices.Values(all)) }

// A driver's containers are safe while it lives, and orphans from the moment
// when it does not.
func TestReapAfterDeath(t *testing.T) {
	f := newFake(t)
	f.hang = true
	dir := t.TempDir()
	doomed := connected(t, f, dir)
	started := make(chan struct{})
	cmd := command()
	cmd.Warm = -1
	cmd.Started = func() { close(started) }
	ended := make(chan error, 1)
	go func() {
		_, err := doomed.Run(t.Context(), cmd)
		ended <- err
	}()
	<-started
	d := connected(t, f, dir)
	if len(f.left()) != 1 {
		t.Fatalf("left are %q, want the one that runs", f.left())
	}
	if err := doomed.owner.lease.lock.Close(); err != nil { // as the kernel does
		t.Fatal(err)
	}
	d.owner.reap(t.Context(), d.engine.Load())
	if err := <-ended; err == nil {
		t.Error("the command has ended well, in a container that is gone")
	}
	if len(f.left()) > 0 {
		t.Errorf("left are %q", f.left())
	}
}

// A new server removes what one that was killed has left, without a command, and leaves
// the engine alone where none was killed.
func TestReclaim(t *testing.T) {
	f := newFake(t)
	dir := t.TempDir()
	living := connected(t, f, dir)
	home := living.owner.lease.home
	f.leave("living", map[string]string{labelInstance: living.owner.instance, labelHome: home})
	f.leave("killed", map[string]string{labelInstance: "killed", labelHome: home})
	defer f.empty()
	pings := f.count("GET /_ping") + f.count("HEAD /_ping")
	idle := f.driver(t, Options{Dir: dir, Reclaim: true})
	idle.watchers.Wait() // it has looked
	if n := f.count("GET /_ping") + f.count("HEAD /_ping"); n != pings || pings == 0 {
		t.Errorf("the engine was asked %d times, and %d before", n, pings)
	}

	killed, err := newLease(dir, "killed")
	if err != nil {
		t.Fatal(err)
	}
	if err := killed.lock.Close(); err != nil { // as the kernel does
		t.Fatal(err)
	}
	eventually(t, "the container and the lease are gone", func() bool {
		// A program that another test starts has the lock open until it runs: look again.
		f.driver(t, Options{Dir: dir, Reclaim: true})
		return slices.Equal(f.left(), []string{"living"}) && !slices.Contains(instances(t, dir), "killed")
	})
	f.driver(t, Options{Dir: t.TempDir(), Reclaim: true}).watchers.Wait()
	f.driver(t, Options{Reclaim: true}).watchers.Wait()
}

// A driver without a folder takes part in what is labelled, and no more.
func TestReapWithoutFolder(t *testing.T) {
	f := newFake(t)
	f.leave("expired", map[string]string{labelInstance: "x", labelExpires: at24h(-1)})
	f.leave("not yet", map[string]string{labelInstance: "x", labelHome: "", labelExpires: at24h(1)})
	defer f.empty()
	connected(t, f, "")
	if left := f.left(); !slices.Equal(left, []string{"not yet"}) {
		t.Errorf("left are %q", left)
	}
}

// A container that cannot be removed is tried again.
func TestReapAgain(t *testing.T) {
	f := newFake(t)
	f.leave("expired", map[string]string{labelInstance: "x", labelExpires: at24h(-1)})
	defer f.empty()
	f.fault("DELETE /containers/{id}", says(500, "device busy"))
	d := connected(t, f, t.TempDir())
	f.fault("DELETE /containers/{id}", nil)
	d.owner.reap(t.Context(), d.engine.Load())
	if left := f.left(); len(left) > 0 {
		t.Errorf("left are %q", left)
	}
}

func TestLease(t *testing.T) {
	dir := t.TempDir()
	first, err := newLease(dir, "first")
	if err != nil {
		t.Fatal(err)
	}
	second, err := newLease(dir, "second")
	if err != nil {
		t.Fatal(err)
	}
	if first.home == "" || first.home != second.home {
		t.Errorf("homes %q and %q", first.home, second.home)
	}
	if elsewhere, err := newLease(t.TempDir(), "first"); err != nil || elsewhere.home == first.home {
		t.Errorf("another folder's home is %q too, error %v", first.home, err)
	} else if err := elsewhere.end(); err != nil {
		t.Error(err)
	}
	if second.free("first", true) || !slices.Contains(instances(t, dir), "first") {
		t.Error("a lease that is held is free")
	}
	second.clean(nil)
	if got := instances(t, dir); len(got) != 2 {
		t.Errorf("the files %q are left of two that are held", got)
	}
	for range 2 {
		if err := first.end(); err != nil {
			t.Error(err)
		}
	}
	if !second.free("first", false) {
		t.Error("a lease that has ended is not free")
	}
	if err := second.end(); err != nil {
		t.Error(err)
	}
	if got := instances(t, dir); len(got) > 0 {
		t.Errorf("the files %q are left", got)
	}
}

// An instance that was killed leaves a file, which goes when its containers
// have.
func TestLeaseClean(t *testing.T) {
	dir := t.TempDir()
	killed, err := newLease(dir, "killed")
	if err != nil {
		t.Fatal(err)
	}
	if err := killed.lock.Close(); err != nil {
		t.Fatal(err)
	}
	l, err := newLease(dir, "living")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.end(); err != nil {
			t.Error(err)
		}
	}()
	l.clean([]container.Summary{{Labels: map[string]string{labelInstance: "killed"}}})
	if got := instances(t, dir); !slices.Equal(got, []string{"killed", "living"}) {
		t.Errorf("files %q: an orphan has lost its owner's", got)
	}
	if !l.free("killed", false) {
		t.Error("the lease of one that was killed is not free")
	}
	l.clean(nil)
	if got := instances(t, dir); !slices.Equal(got, []string{"living"}) {
		t.Errorf("files %q", got)
	}
}

// Leases are taken while others clean up, and none of them is lost.
func TestLeaseConcurrent(t *testing.T) {
	dir := t.TempDir()
	cleaner, err := newLease(dir, "cleaner")
	if err != nil {
		t.Fatal(err)
	}
	var done atomic.Bool
	var cleaning, taking sync.WaitGroup
	cleaning.Go(func() {
		for !done.Load() {
			cleaner.clean(nil)
		}
	})
	for i := range 4 {
		taking.Go(func() {
			for j := range 50 {
				name := fmt.Sprintf("i%d-%d", i, j)
				l, err := newLease(dir, name)
				if err != nil {
					t.Errorf("%s: %v", name, err)
					return
				}
				if cleaner.free(name, false) {
					t.Errorf("%s is taken for dead", name)
				}
				if err := l.end(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	taking.Wait()
	done.Store(true)
	cleaning.Wait()
	if err := cleaner.end(); err != nil {
		t.Error(err)
	}
	if got := instances(t, dir); len(got) > 0 {
		t.Errorf("files %q are left", got)
	}
}

// A folder that cannot be written to is no reason not to run.
func TestLeaseNoFolder(t *testing.T) {
	f := newFake(t)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d := f.driver(t, Options{Dir: file})
	if _, err := d.Run(t.Context(), command()); err != nil {
		t.Error(err)
	}
	if _, labelled := d.owner.labels()[labelHome]; labelled {
		t.Error("its containers say that somebody can tell whether it lives")
	}
}

const (
	doomedDir    = "SKILLS_MCP_TEST_DOOMED_DIR"
	doomedFolder = "SKILLS_MCP_TEST_DOOMED_FOLDER"
)

// connectOnly connects d to its engine, and starts nothing in the background: a look for
// orphans that is late under load removes what TestKilled counts.
func connectOnly(t *testing.T, d *Driver) *engine {
	t.Helper()
	e, err := find(t.Context(), d.host, d.places, d.runtime)
	if err != nil {
		t.Fatal(err)
	}
	d.settleIn()
	d.engine.Store(e)
	return e
}

// TestDoomed is the process that TestKilled kills: it has a container that waits,
// and one that runs.
func TestDoomed(t *testing.T) {
	if os.Getenv(doomedDir) == "" {
		t.Skip("it is run by TestKilled")
	}
	options := realEngine(t)
	options.Dir = os.Getenv(doomedDir)
	d := New(options)
	connectOnly(t, d)
	cmd := command()
	cmd.Folder = os.Getenv(doomedFolder)
	cmd.Argv = []string{"true"}
	if _, err := d.Run(t.Context(), cmd); err != nil {
		t.Fatal(err)
	}
	cmd.Argv = []string{"sleep", "600"}
	cmd.Started = func() {
		go func() {
			settled(d) // for the next one that waits
			fmt.Println("doomed:", d.owner.instance)
		}()
	}
	_, err := d.Run(context.Background(), cmd)
	t.Fatalf("it was not killed: %v", err)
}

// doom starts TestDoomed, and returns its instance, when it has its containers,
// and what kills it.
func doom(t *testing.T, dir string) (instance string, kill func()) {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^TestDoomed$", "-test.v")
	c.Env = append(os.Environ(), doomedDir+"="+dir, doomedFolder+"="+realCommand(t, "").Folder)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	kill = sync.OnceFunc(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	t.Cleanup(kill)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if instance, found := strings.CutPrefix(lines.Text(), "doomed: "); found {
			return instance, kill
		}
	}
	t.Fatal("it has no containers")
	return "", nil
}

// A server that is killed leaves nothing for long: what waits ends by itself,
// and the next server removes all of it, and nothing of one that lives.
func TestKilled(t *testing.T) {
	options := realEngine(t)
	instance, kill := doom(t, options.Dir)
	living, end := doom(t, options.Dir)
	ctx := context.WithoutCancel(t.Context())
	d := New(options)
	defer d.Close()
	e := connectOnly(t, d)
	list := func(instance string) []container.Summary {
		t.Helper()
		all, err := e.list(ctx, labelInstance+"="+instance)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	running := func() int {
		n := 0
		for _, c := range list(instance) {
			if c.State == "running" {
				n++
			}
		}
		return n
	}
	t.Cleanup(func() { // whatever happens, of these nothing stays
		end()
		for _, c := range append(list(instance), list(living)...) {
			_ = e.remove(context.Background(), c.ID)
		}
	})
	d.owner.reap(ctx, e)
	if n := running(); n != 2 {
		t.Fatalf("%d containers of a server that lives run, want 2", n)
	}

	kill()
	eventually(t, "what waited has ended by itself", func() bool { return running() == 1 })
	if n := len(list(instance)); n != 2 {
		t.Errorf("%d containers are left of 2, and nobody has removed any", n)
	}

	options.Reclaim = true
	next := New(options) // no command is needed
	defer next.Close()
	eventually(t, "the next server has removed them, and the lease", func() bool {
		return len(list(instance)) == 0 && !slices.Contains(instances(t, options.Dir), instance)
	})
	if n := len(list(living)); n != 2 {
		t.Errorf("%d containers are left of a server that lives, want 2", n)
	}
}
