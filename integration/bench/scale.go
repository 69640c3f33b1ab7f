package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/integration/bench/catalog"
)

// scaleOptions are the flags of the suite scale.
type scaleOptions struct {
	sizes  []int // numbers of skills
	starts int   // of each kind, for each size
	edits  int   // for each size
}

func scaleSuite() suite {
	o := &scaleOptions{sizes: []int{3, 100, 1000, 10_000}}
	return suite{name: "scale", about: `scale starts "skills-mcp serve" in folders of skills, each with parameters and a
script, and changes them. For each of --sizes it prints:

  first ms    from the start to the answer to tools/list, with an empty cache
  second ms   the same with the cache that the first start left
  RSS, peak   MB that the process holds after the answer, and held at the most
  answer KB   of the answer to tools/list
  read ms     from a file's write to the log line that it was read
  notice ms   from a file's write to the first notification; 100 of them are the
              time that a burst of events takes to settle
  notices     of each change
  CPU ms      processor time that a change cost, in all threads

A change is one of the prompts and of the resources, and of the tools where the
skill has one of its own: each kind has a notification.
`,
		flags: func(f *flag.FlagSet) {
			f.Func("sizes", "measure at these `numbers` of skills, separated by commas (default 3,100,1000,10000)", func(value string) (err error) {
				o.sizes, err = parseSizes(value)
				return err
			})
			f.IntVar(&o.starts, "starts", 8, "how many starts of each kind are measured")
			f.IntVar(&o.edits, "edits", 8, "how many changes are measured")
		},
		quick: func(*options) { *o = scaleOptions{sizes: []int{3, 100}, starts: 1, edits: 1} },
		check: func() error {
			if o.starts < 1 || o.edits < 1 {
				return errors.New("at least one start and one change")
			}
			return nil
		},
		measure: func(ctx context.Context, s *setup, r *report) error {
			for _, size := range o.sizes {
				fmt.Fprintf(s.log, "bench: %d skills\n", size)
				if err := s.measureSize(ctx, o, r, size); err != nil {
					return fmt.Errorf("%d skills: %w", size, err)
				}
			}
			return nil
		},
	}
}

func parseSizes(value string) (sizes []int, err error) {
	for _, text := range strings.Split(value, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 100_000 {
			return nil, fmt.Errorf("%q is not a number from 1 to 100000", text)
		}
		sizes = append(sizes, n)
	}
	return sizes, nil
}

// How long to wait after a change for further notifications, and for the first.
const (
	quiet    = time.Second
	patience = 10 * time.Second
)

// settling is how old a file must be for the cache: skills are rarely installed
// right before a start.
const settling = 2500 * time.Millisecond

// A tenant is a server with a home folder of its own.
type tenant struct {
	binary
	*result
	home   string
	skills int
	// The server of the moment, nil for none, and the times of its log lines that
	// skills were read and of its notifications.
	server        *process
	read, notices chan time.Time
}

// measureSize measures all servers with one number of skills.
func (s *setup) measureSize(ctx context.Context, o *scaleOptions, r *report, skills int) (err error) {
	binaries, err := s.servers(ctx)
	if err != nil {
		return err
	}
	var tenants []*tenant
	defer func() {
		for _, t := range tenants {
			err = errors.Join(err, t.stop(), os.RemoveAll(t.home))
		}
	}()
	for _, b := range binaries {
		t := &tenant{
			binary: b, result: r.result(fmt.Sprintf("%d skills", skills), "skills-mcp"+b.suffix),
			home: filepath.Join(s.dir, strconv.Itoa(skills)+b.suffix), skills: skills,
		}
		tenants = append(tenants, t)
		if err := catalog.Make(t.home, skills); err != nil {
			return err
		}
	}
	if err := pause(ctx, settling); err != nil {
		return err
	}
	err = takeTurns(len(tenants), func(round int) bool { return round < o.starts }, func(i int) error { return tenants[i].starts(ctx) })
	if err != nil {
		return err
	}
	for _, t := range tenants {
		if err := t.prepareEdits(ctx); err != nil {
			return err
		}
	}
	edit := 0
	return takeTurns(len(tenants), func(round int) bool { edit = round; return round < o.edits }, func(i int) error { return tenants[i].change(ctx, edit) })
}

// starts measures a start without and one with a cache.
func (t *tenant) starts(ctx context.Context) error {
	if err := os.RemoveAll(cacheOf(t.home)); err != nil {
		return err
	}
	for _, name := range []string{"first ms", "second ms"} {
		waited, err := t.start(ctx)
		if err != nil {
			return err
		}
		t.add(name, milliseconds(waited))
		// The cache is written in this time.
		if err := errors.Join(pause(ctx, quiet), t.stop()); err != nil {
			return err
		}
	}
	return nil
}

// start starts the server and returns the time to its answer to tools/list.
func (t *tenant) start(ctx context.Context) (waited time.Duration, err error) {
	t.read, t.notices = make(chan time.Time, 1000), make(chan time.Time, 1000)
	read, notices := t.read, t.notices
	t.server, err = t.serve(t.home, serveOptions{
		args: []string{"--sandbox", "native", "--log-level", "info"},
		logged: func(line string) {
			if strings.Contains(line, "skills were read again") {
				read <- time.Now()
			}
		},
		noticed: func(line []byte) {
			if bytes.Contains(line, []byte(`list_changed"`)) {
				notices <- time.Now()
			}
		},
	})
	if err != nil {
		return 0, err
	}
	if err := t.server.pipe.initialize(ctx); err != nil {
		return 0, err
	}
	reply, err := t.server.pipe.ask(ctx, question{method: "tools/list"})
	t.set("answer KB", float64(len(reply))/1024)
	return time.Since(t.server.began), err
}

// stop ends the server, if there is one.
func (t *tenant) stop() error {
	if t.server == nil {
		return nil
	}
	p := t.server
	t.server = nil
	return p.close()
}

// prepareEdits starts the server that change changes files of.
func (t *tenant) prepareEdits(ctx context.Context) error {
	if _, err := t.start(ctx); err != nil {
		return err
	}
	if err := pause(ctx, quiet); err != nil { // the work of the start is done then
		return err
	}
	t.add("RSS MB", t.server.rss())
	return nil
}

// change writes a file and measures the server's work on it.
func (t *tenant) change(ctx context.Context, edit int) error {
	for range len(t.read) { // lines from before
		<-t.read
	}
	before, began := t.server.cpu(), time.Now()
	i := (edit * 7919) % t.skills
	if err := catalog.Write(filepath.Join(t.home, "skills", catalog.Name(i)), i, edit+1); err != nil {
		return err
	}
	read, ok := next(t.read, patience)
	if !ok {
		return fmt.Errorf("edit %d was not noticed within %v", edit+1, patience)
	}
	t.add("read ms", milliseconds(read.Sub(began)))
	count := 0
	for {
		at, ok := next(t.notices, quiet)
		if !ok {
			break
		}
		if count == 0 {
			t.add("notice ms", milliseconds(at.Sub(began)))
		}
		count++
	}
	t.add("notices", float64(count))
	t.add("CPU ms", milliseconds(t.server.cpu()-before))
	t.set("peak MB", float64(procBytes(strconv.Itoa(t.server.cmd.Process.Pid), "status", "VmHWM"))/(1<<20))
	return ctx.Err()
}

// next receives a time, or gives up after wait.
func next(from <-chan time.Time, wait time.Duration) (at time.Time, ok bool) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case at = <-from:
		return at, true
	case <-timer.C:
		return at, false
	}
}
