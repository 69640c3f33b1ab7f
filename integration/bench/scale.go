package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/integration/bench/catalog"
)

// scale is a run of the suite scale.
type scale struct {
	*bench
	sizes  []int // numbers of skills
	starts uint  // of each kind, for each size
	edits  uint  // for each size
}

func scaleSuite() suite {
	s := &scale{sizes: []int{3, 100, 1000, 10_000}}
	return suite{
		name: "scale", quick: []string{"sizes=3,100", "starts=1", "edits=1"},
		about: `scale starts "skills-mcp serve" in folders of skills, each with parameters and a
script, and changes them. First it runs "skills-mcp version" beside a Go program that
prints a line. For each of --sizes it prints:

  first       a start with an empty cache:
    hello ms  from the start to the answer to initialize
    list ms   to the first answer to tools/list with all skills, which is asked for
              after initialize and after each notification
    peak MB   memory that the process held at the most
    CPU ms    processor time, with that of the index, a second after the list
  second      the same with the cache that the first start left
  RSS, peak   MB that the process holds after the changes, and held at the most
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
				s.sizes, err = parseSizes(value)
				return err
			})
			f.UintVar(&s.starts, "starts", 8, "how many starts of each kind are measured")
			f.UintVar(&s.edits, "edits", 8, "how many changes are measured")
		},
		measure: func(ctx context.Context, b *bench) error {
			s.bench = b
			if err := s.version(ctx); err != nil {
				return err
			}
			for _, size := range s.sizes {
				fmt.Fprintf(s.log, "bench: %d skills\n", size)
				if err := s.measure(ctx, size); err != nil {
					return fmt.Errorf("%d skills: %w", size, err)
				}
			}
			return nil
		},
	}
}

// version compares "skills-mcp version" with a program that does nothing else.
func (s *scale) version(ctx context.Context) error {
	source := filepath.Join(s.dir, "line.go")
	if err := writeFile(source, "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"a line\") }\n"); err != nil {
		return err
	}
	const name = "version"
	line, err := s.build(ctx, "line", source)
	if err != nil {
		s.Absent = append(s.Absent, fmt.Sprintf("a Go program that prints a line: %v", err))
		return ctx.Err()
	}
	binaries, err := s.servers(ctx)
	if err != nil {
		return err
	}
	type program struct {
		*result
		argv []string
	}
	all := []program{{s.result(name, "a Go program that prints a line"), []string{line}}}
	for _, b := range binaries {
		all = append(all, program{s.result(name, "skills-mcp"+b.suffix), []string{b.file, "version"}})
	}
	err = takeTurns(all, rounds(4*s.starts), func(p program) error {
		began := time.Now()
		out, err := output(exec.CommandContext(ctx, p.argv[0], p.argv[1:]...))
		if err != nil {
			return fmt.Errorf("%q: %w: %.500s", p.argv, err, out)
		}
		p.add("ms", milliseconds(time.Since(began)))
		return nil
	})
	for _, p := range all[1:] {
		p.relate("× the program", p.figure("ms").rounds, all[0].figure("ms").rounds, quotient)
	}
	return err
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
	edit   int // number of the last change
	// The server of the moment, nil for none, and the times of its log lines that
	// skills were read and of its notifications.
	server        *process
	read, notices chan time.Time
}

// measure measures all servers with one number of skills.
func (s *scale) measure(ctx context.Context, skills int) (err error) {
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
			binary: b, result: s.result(fmt.Sprintf("%d skills", skills), "skills-mcp"+b.suffix),
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
	if err := takeTurns(tenants, rounds(s.starts), func(t *tenant) error { return t.starts(ctx) }); err != nil {
		return err
	}
	for _, t := range tenants {
		if err := t.prepareEdits(ctx); err != nil {
			return err
		}
	}
	return takeTurns(tenants, rounds(s.edits), func(t *tenant) error { return t.change(ctx) })
}

// starts measures a start without and one with a cache.
func (t *tenant) starts(ctx context.Context) error {
	if err := os.RemoveAll(cacheOf(t.home)); err != nil {
		return err
	}
	for _, name := range []string{"first", "second"} {
		hello, listed, err := t.start(ctx)
		if err != nil {
			return err
		}
		t.add(name+" hello ms", milliseconds(hello))
		t.add(name+" list ms", milliseconds(listed))
		t.add(name+" peak MB", t.server.peak())
		err = pause(ctx, quiet) // the caches are written, and the skills indexed, in this time
		t.add(name+" CPU ms", milliseconds(t.server.cpu()))
		if err := errors.Join(err, t.stop()); err != nil {
			return err
		}
	}
	return nil
}

// start starts the server and returns the times to its answers to initialize and,
// with all skills, to tools/list.
func (t *tenant) start(ctx context.Context) (hello, listed time.Duration, err error) {
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
		return 0, 0, err
	}
	if err := t.server.pipe.initialize(ctx); err != nil {
		return 0, 0, err
	}
	hello = time.Since(t.server.began)
	for {
		reply, err := t.server.pipe.ask(ctx, question{method: "tools/list"})
		if err != nil || t.complete(reply) {
			t.set("answer KB", float64(len(reply))/1024)
			return hello, time.Since(t.server.began), err
		}
		if _, ok := next(notices, patience); !ok {
			return 0, 0, fmt.Errorf("no list of %d skills within %v", t.skills, patience)
		}
	}
}

// complete reports whether an answer to tools/list has all skills: by their tools,
// or by the number of those without one.
func (t *tenant) complete(list []byte) bool {
	skills := bytes.Count(list, []byte(`"name":"skill-`))
	if _, rest, ok := bytes.Cut(list, []byte("without a tool of their own (")); ok {
		number, _, _ := bytes.Cut(rest, []byte(")"))
		hidden, _ := strconv.Atoi(string(number)) // no number is not complete
		skills += hidden
	}
	return skills >= t.skills
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
	if _, _, err := t.start(ctx); err != nil {
		return err
	}
	if err := pause(ctx, quiet); err != nil { // the work of the start is done then
		return err
	}
	t.add("RSS MB", t.server.rss())
	return nil
}

// change writes a file and measures the server's work on it.
func (t *tenant) change(ctx context.Context) error {
	t.edit++
	for _, times := range []chan time.Time{t.read, t.notices} { // from before
		for range len(times) {
			<-times
		}
	}
	before, began := t.server.cpu(), time.Now()
	i := (t.edit * 7919) % t.skills
	if err := catalog.Write(filepath.Join(t.home, "skills", catalog.Name(i)), i, t.edit); err != nil {
		return err
	}
	read, ok := next(t.read, patience)
	if !ok {
		return fmt.Errorf("edit %d was not noticed within %v", t.edit, patience)
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
	t.set("peak MB", t.server.peak())
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
