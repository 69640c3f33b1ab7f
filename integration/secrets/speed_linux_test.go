// The race detector makes the proxy slow, which is in the test's process.

//go:build !race

package secrets

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/integration/lab"
	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
)

// median returns the middle of some times.
func median[T int64 | time.Duration](all []T) T {
	all = slices.Clone(all)
	slices.Sort(all)
	return all[len(all)/2]
}

// processorTime returns the processor time that this process has taken.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// A request with a masked secret takes 1 ms more of the processor than one without, at most.
// Times and runs are shown, too: one with a secret has an authority made.
func TestSpeed(t *testing.T) {
	const rounds, runs, most = 200, 20, time.Millisecond
	folder := openFolder(t)
	build := exec.Command("go", "build", "-o", filepath.Join(folder, "clock"), "./testdata/secrets/clock")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, open := range drivers() {
		t.Run(name, func(t *testing.T) {
			b := newBank(t)
			runner := sandbox.New(open(t, b.options(t)), nil)
			defer runner.Close()
			run := func(masked bool, argv ...string) (time.Duration, []byte) {
				cmd := &sandbox.Command{
					RunID: "test", Skill: "test", Folder: folder, Warm: -1, Argv: append([]string{"/skill/clock"}, argv...),
					Env: []string{"TOKEN=" + sentinel}, Limits: sandbox.Limits{Timeout: lab.Patience},
					Grant: sandbox.Grant{Hosts: []string{host, unmasked}},
				}
				if argv[0] == "1" { // a run that reaches one host
					cmd.Grant.Hosts = cmd.Grant.Hosts[:1]
					if !masked {
						cmd.Grant.Hosts = []string{unmasked}
					}
				}
				if masked {
					cmd.Grant.Secrets = &sandbox.Secrets{List: []sandbox.Secret{{Name: "TOKEN", Value: value, Sentinel: sentinel, Hosts: []string{host}}}}
				}
				start := time.Now()
				cmd, err := egress.Equip(cmd)
				if err != nil {
					t.Fatal(err)
				}
				result, err := runner.Run(t.Context(), *cmd)
				if err != nil || result.Code != 0 {
					t.Fatalf("%v\n%s%s", err, result.Stdout.Bytes(), result.Stderr.Bytes())
				}
				return time.Since(start), result.Stdout.Bytes()
			}
			const with, without = "https://" + host + "/speed", "https://" + unmasked + "/speed"
			// cost returns the processor time that a request takes in this process, which is the
			// hosts' and the proxy's: it is the same on a loaded machine.
			cost := func(url string) time.Duration {
				before := processorTime(t)
				_, out := run(true, strconv.Itoa(rounds), url)
				taken := (processorTime(t) - before) / (2 * rounds)
				var times map[string][]int64
				if err := json.Unmarshal(out, &times); err != nil || len(times["one "+url]) != rounds || len(times["kept "+url]) != rounds {
					t.Fatalf("%v: %s", err, out)
				}
				t.Logf("%s: p50 %d µs with a connection of its own and %d µs without, %v of the processor", url, median(times["one "+url]), median(times["kept "+url]), taken)
				return taken
			}
			if more := cost(with) - cost(without); more > most {
				t.Errorf("a masked request takes %v more of the processor", more)
			}
			var masked, plain []time.Duration
			for range runs {
				took, _ := run(true, "1", with)
				masked = append(masked, took)
				took, _ = run(false, "1", without)
				plain = append(plain, took)
			}
			t.Logf("a run with one secret and 2 requests: p50 %v, least %v; without a secret: %v, %v", median(masked), slices.Min(masked), median(plain), slices.Min(plain))
			if !b.heard("speed") {
				t.Error("the token did not come")
			}
		})
	}
}
