//go:build amd64 || arm64

package native

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// BenchmarkOne compares one "bash run.sh" in a sandbox that is ready, in one
// that has to be started, and on the host, which no sandbox can beat.
func BenchmarkOne(b *testing.B) {
	contend(b, func(b *testing.B, ready func(), run func() error) {
		var times []time.Duration
		for b.Loop() {
			ready()
			begin := time.Now()
			if err := run(); err != nil {
				b.Fatal(err)
			}
			times = append(times, time.Since(begin))
		}
		slices.Sort(times)
		b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-µs")
		b.ReportMetric(float64(times[len(times)*95/100].Microseconds()), "p95-µs")
	})
}

// BenchmarkSustained has eight callers without a pause.
func BenchmarkSustained(b *testing.B) {
	contend(b, func(b *testing.B, _ func(), run func() error) {
		const callers = 8
		calls := make(chan bool)
		var work sync.WaitGroup
		for range callers {
			work.Go(func() {
				for range calls {
					if err := run(); err != nil {
						b.Error(err)
					}
				}
			})
		}
		begin := time.Now()
		for b.Loop() {
			calls <- true
		}
		close(calls)
		work.Wait()
		b.ReportMetric(float64(b.N)/time.Since(begin).Seconds(), "calls/s")
	})
}

// contend runs a benchmark for each contender.
func contend(b *testing.B, bench func(b *testing.B, ready func(), run func() error)) {
	folder := openFolder(b)
	script := filepath.Join(folder, "run.sh")
	if err := os.WriteFile(script, []byte("echo hello\n"), 0o644); err != nil {
		b.Fatal(err)
	}
	native := func(warm int) func(b *testing.B) {
		return func(b *testing.B) {
			d := newWarmDriver(b, warm)
			bench(b, func() { awaitFull(d.pool) }, func() error {
				_, err := d.Run(b.Context(), &sandbox.Command{RunID: "bench", Argv: []string{"bash", "run.sh"}, Folder: folder, Stdout: io.Discard, Stderr: io.Discard})
				return err
			})
		}
	}
	program := func(argv ...string) func(b *testing.B) {
		return func(b *testing.B) {
			if _, err := exec.LookPath(argv[0]); err != nil {
				b.Skip(err)
			}
			bench(b, func() {}, func() error {
				cmd := exec.Command(argv[0], argv[1:]...)
				cmd.Stdout, cmd.Stderr = struct{ io.Writer }{io.Discard}, struct{ io.Writer }{io.Discard}
				return cmd.Run()
			})
		}
	}
	b.Run("bare", program("bash", script))
	b.Run("ready", native(0))
	b.Run("started", native(-1))
	b.Run("bubblewrap", program("bwrap", "--unshare-all", "--ro-bind", "/usr", "/usr",
		"--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64",
		"--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--ro-bind", folder, "/skill", "--chdir", "/skill", "bash", "run.sh"))
}

// awaitFull returns when as many sandboxes are ready as are to be, and those that
// were used have gone.
func awaitFull(p *pool) { p.work.Wait() }
