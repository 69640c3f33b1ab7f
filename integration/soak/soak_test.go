package soak

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/integration/lab"
	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/docker"
	"github.com/skillsmcp/skills-mcp/sandbox/native"
)

var (
	soakLong = flag.Bool("soak", false, "let TestSoak make 10,000 native calls and 1,000 in containers, on an engine of its own that is restarted")
	soakSeed = flag.Uint64("soak-seed", 0, "what TestSoak draws its calls from; 0 is a random number, which it logs")
)

// TestSoak makes many calls, eight at a time: most end by themselves, one in
// twenty is cancelled at some moment, one in twenty runs out of time. Each has to
// get the answer that is its own, and when all is over nothing may be left of
// them. There is a short version, which always runs, and a long one:
//
//	go test ./integration/soak -soak -v -timeout 2h
func TestSoak(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: what is left is looked for in /proc")
	}
	t.Run("native", func(t *testing.T) {
		lab.Requires(t, "SKILLS_MCP_REQUIRE_SANDBOX", lab.CheckNative(t.Context()))
		s := newSoak(t, 400, 10_000, 100*time.Millisecond)
		s.newDriver = func() sandbox.Driver { return native.New(nil) }
		s.run(t)
	})
	t.Run("docker", func(t *testing.T) {
		s := newSoak(t, 60, 1_000, time.Second)
		s.engine = newSoakEngine(t, s.skill())
		dir := t.TempDir()
		s.newDriver = func() sandbox.Driver {
			return docker.New(&docker.Options{
				Images: map[string]string{"default": lab.TestImage()}, Host: s.engine.host, Dir: dir,
			})
		}
		s.run(t)
	})
}

// soakWorkers is how many calls are made at a time.
const soakWorkers = 8

// A soak is one run of the test on one driver.
type soak struct {
	seed      uint64
	calls     int
	moment    time.Duration // within which after their begin calls are cancelled or run out of time
	folder    string        // the skill's
	mark      string        // an argument of every process of the commands
	newDriver func() sandbox.Driver

	engine *soakEngine       // nil without one
	outage outage            // of the engine
	next   atomic.Int64      // the number of the next call
	memory lab.MemorySamples // taken between calls
	late   atomic.Int32      // writes of output after the answer

	mu      sync.Mutex
	count   map[string]int // of answers, by kind
	excused []excuse       // calls that were told that the engine is away
}

// An excuse is a call that failed because the engine was away, if it was.
type excuse struct {
	call         soakCall
	began, ended time.Time
	err          error
}

func newSoak(t *testing.T, short, long int, moment time.Duration) *soak {
	s := &soak{seed: *soakSeed, calls: short, moment: moment, count: map[string]int{}}
	if *soakLong {
		s.calls = long
	}
	if s.seed == 0 {
		s.seed = rand.Uint64()
	}
	t.Logf("%d calls; to make the same ones again: -soak-seed %d", s.calls, s.seed)
	s.mark = fmt.Sprintf("600.%09d", s.seed%1e9)
	s.folder = t.TempDir()
	lab.WriteFile(t, filepath.Join(s.folder, "run.sh"), soakScript)
	if err := os.Chmod(s.folder, 0o755); err != nil {
		t.Fatal(err)
	}
	s.outage.over = make(chan struct{})
	return s
}

// soakScript is the skill. It finds a sandbox that nobody has used, and answers
// with what it was given.
const soakScript = `mark=$1 token=$2 code=$3 mode=$4
[ ! -e /tmp/used ] || exit 99
echo "$token" >/tmp/used
echo "$token"
cat
echo "said $token" >&2
case $mode in
hang) sleep "$mark" ;;
linger) sleep "$mark" </dev/null >/dev/null 2>&1 & ;;
esac
exit "$code"
`

// run makes the calls and looks at what is left.
func (s *soak) run(t *testing.T) {
	// What is made once, by a driver or by Go, is made before anything is counted.
	s.session(t, max(soakWorkers, s.calls/10))
	t.Setenv("TMPDIR", t.TempDir())
	before := lab.TakeInventory(t)
	clear(s.count)
	s.memory = lab.MemorySamples{}
	s.next.Store(0)

	var containers *follower
	if s.engine != nil {
		containers = s.engine.follow(t)
	}
	s.session(t, s.calls)
	if s.engine != nil {
		s.engine.checkNothingLeft(t, containers.stop())
	}
	before.CheckNothingLeft(t, s.mark)
	s.memory.Check(t)
	s.checkAnswers(t)
}

// checkAnswers looks at the answers of all calls together.
func (s *soak) checkAnswers(t *testing.T) {
	t.Logf("answers: %v", s.count)
	answers := 0
	for _, n := range s.count {
		answers += n
	}
	if answers != s.calls {
		t.Errorf("%d calls got %d answers", s.calls, answers)
	}
	if n := s.late.Load(); n > 0 {
		t.Errorf("there was output after the answer %d times", n)
	}
	for _, e := range s.excused {
		if !s.outage.during(e.began, e.ended) {
			t.Errorf("call %d failed with %v while its engine was there", e.call.number, e.err)
		}
	}
}

// session makes calls with a driver of its own, which it closes.
func (s *soak) session(t *testing.T, calls int) {
	runner := sandbox.New(s.newDriver(), nil)
	var workers sync.WaitGroup
	for range soakWorkers {
		workers.Go(func() {
			for n := int(s.next.Add(1)) - 1; n < calls; n = int(s.next.Add(1)) - 1 {
				if n == s.calls/2 && s.engine != nil && s.engine.restart != nil {
					workers.Go(func() { s.outage.take(t, s.engine.restart) })
				}
				s.call(t, runner, n, calls)
			}
		})
	}
	workers.Wait()
	if err := runner.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

// call makes call number n of calls and judges its answer.
func (s *soak) call(t *testing.T, runner *sandbox.Runner, n, calls int) {
	c := s.draw(n)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	if c.kind == kindCancelled {
		defer time.AfterFunc(c.moment, func() { cancel(errSoakCancelled) }).Stop()
	}
	var started atomic.Int32
	live := &soakWriter{late: &s.late}
	began := time.Now()
	result, err := runner.Run(ctx, s.command(c, live, func() { started.Add(1) }))
	live.end()
	if n := started.Load(); n > 1 || (n == 1) != (result != nil) {
		t.Errorf("%s: it was started %d times, and there is a result: %t", c, n, result != nil)
	}
	var unavailable *sandbox.UnavailableError
	if errors.As(err, &unavailable) && s.outage.begun.Load() {
		s.note(string(c.kind)+", engine away", &excuse{c, began, time.Now(), err})
		<-s.outage.over // as one who tries again later
		return
	}
	s.note(string(c.kind), nil)
	if err := c.judge(result, err); err != nil {
		t.Errorf("%s: %v", c, err)
	}
	s.memory.Take(n, calls)
}

func (s *soak) note(answer string, e *excuse) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count[answer]++
	if e != nil {
		s.excused = append(s.excused, *e)
	}
}

// skill is a name that nobody else's containers have in their labels.
func (s *soak) skill() string { return fmt.Sprintf("soak-%d", s.seed) }

// The kinds of calls, by how they end.
type soakKind string

const (
	kindEnds      soakKind = "ends"
	kindCancelled soakKind = "cancelled"
	kindTimesOut  soakKind = "times out"
)

var errSoakCancelled = errors.New("cancelled by the soak")

// A soakCall is what is asked for in one call.
type soakCall struct {
	number int
	kind   soakKind
	moment time.Duration // when it is cancelled, or its time limit
	token  string
	mode   string
	code   int
	stdin  string
}

func (c soakCall) String() string { return fmt.Sprintf("call %d (%s)", c.number, c.kind) }

// draw returns call number n, which depends on the seed and nothing else.
func (s *soak) draw(n int) soakCall {
	r := rand.New(rand.NewPCG(s.seed, uint64(n)))
	c := soakCall{number: n, kind: kindEnds, mode: "end", token: fmt.Sprintf("token-%016x", r.Uint64())}
	c.moment = 1 + time.Duration(r.Int64N(int64(s.moment)))
	if r.IntN(5) == 0 {
		c.stdin = strings.Repeat(c.token+"\n", r.IntN(2000))
	}
	switch r.IntN(20) {
	case 0:
		c.kind, c.mode = kindCancelled, "hang"
	case 1:
		c.kind, c.mode = kindTimesOut, "hang"
	case 2, 3:
		c.mode = "linger"
	case 4, 5, 6:
		c.code = 1 + r.IntN(50)
	}
	return c
}

func (s *soak) command(c soakCall, live *soakWriter, started func()) sandbox.Command {
	cmd := sandbox.Command{
		RunID:  fmt.Sprintf("soak-%d", c.number),
		Skill:  s.skill(),
		Argv:   []string{"bash", "run.sh", s.mark, c.token, fmt.Sprint(c.code), c.mode},
		Folder: s.folder,
		// Long enough that nothing but a call that hangs gets there.
		Limits: sandbox.Limits{Timeout: lab.Patience},
		Warm:   soakWorkers,
		Stdout: live, Stderr: live,
		Started: started,
	}
	if c.kind == kindTimesOut {
		cmd.Limits.Timeout = c.moment
	}
	if c.stdin != "" {
		cmd.Stdin = strings.NewReader(c.stdin)
	}
	return cmd
}

// judge says what is wrong with an answer.
func (c soakCall) judge(result *sandbox.Result, err error) error {
	var limit *sandbox.LimitError
	switch c.kind {
	case kindCancelled:
		if !errors.Is(err, errSoakCancelled) {
			return fmt.Errorf("error %v", err)
		}
		return nil
	case kindTimesOut:
		if !errors.As(err, &limit) || limit.Limit != sandbox.LimitTime || result == nil {
			return fmt.Errorf("error %v, result %v", err, result)
		}
		return nil
	}
	if err != nil {
		return err
	}
	stdout, stderr := result.Stdout.Bytes(), result.Stderr.Bytes()
	if result.Code != c.code || string(stdout) != c.token+"\n"+c.stdin || string(stderr) != "said "+c.token+"\n" {
		return fmt.Errorf("exit code %d (want %d), stdout %d bytes (want %d) %.100q, stderr %.200q",
			result.Code, c.code, len(stdout), len(c.token)+1+len(c.stdin), stdout, stderr)
	}
	return nil
}

// soakWriter gets a command's output as it comes, which is never after its end.
type soakWriter struct {
	late *atomic.Int32 // counts writes after it

	mu    sync.Mutex
	ended bool
}

func (w *soakWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		w.late.Add(1)
	}
	return len(p), nil
}

func (w *soakWriter) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
}

// An outage is the time in which an engine restarts.
type outage struct {
	begun        atomic.Bool
	over         chan struct{} // closed when it is; the times may be read then
	began, ended time.Time
}

func (o *outage) take(t *testing.T, restart func() error) {
	defer close(o.over)
	o.began = time.Now()
	o.begun.Store(true)
	if err := restart(); err != nil {
		t.Errorf("restart the engine: %v", err)
	}
	o.ended = time.Now()
	t.Logf("the engine was restarted in %v", o.ended.Sub(o.began))
}

// during reports whether the outage was in a call's time.
func (o *outage) during(began, ended time.Time) bool {
	select {
	case <-o.over:
		return began.Before(o.ended) && ended.After(o.began)
	default:
		return false
	}
}
