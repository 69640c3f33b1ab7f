package kubernetes

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// report reports the percentiles of times.
func report(b *testing.B, times []time.Duration) {
	b.Helper()
	slices.Sort(times)
	for _, p := range []int{50, 95} {
		b.ReportMetric(float64(times[(len(times)-1)*p/100].Microseconds())/1000, fmt.Sprintf("p%d-ms", p))
	}
}

// benchCommand returns a command that runs a small script, with a file of a size beside it.
func benchCommand(b *testing.B, size int) *sandbox.Command {
	b.Helper()
	folder := b.TempDir()
	data := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(data)
	for name, text := range map[string][]byte{"run.sh": []byte("echo hello\n"), "data": data} {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	return &sandbox.Command{RunID: "bench", Skill: "bench", Argv: []string{"bash", "run.sh"}, Folder: folder, Limits: sandbox.DefaultLimits(), Stdout: io.Discard}
}

// settled waits until a loaded Pod waits for cmd again.
func settled(d *Driver) {
	for {
		d.starter.owner.background.Wait()
		if d.loaded.Waiting() > 0 && d.blank.Waiting() > 0 {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// BenchmarkRun is one call of a small script: with a loaded Pod that waits, with a blank one,
// from nothing, and the bare round trips to compare with.
func BenchmarkRun(b *testing.B) {
	r := newRealCluster(b)
	open := func(b *testing.B) *Driver {
		d := New(r.options())
		b.Cleanup(func() {
			if err := d.Close(); err != nil {
				b.Error(err)
			}
		})
		return d
	}
	run := func(b *testing.B, d *Driver, cmd *sandbox.Command) time.Duration {
		b.Helper()
		began := time.Now()
		if _, err := d.Run(b.Context(), cmd); err != nil {
			b.Fatal(err)
		}
		return time.Since(began)
	}
	for name, size := range map[string]int{"warm": 0, "warm 16 MiB": 16 << 20} {
		b.Run(name, func(b *testing.B) {
			d, cmd := open(b), benchCommand(b, size)
			run(b, d, cmd)
			var times []time.Duration
			for b.Loop() {
				settled(d)
				times = append(times, run(b, d, cmd))
			}
			report(b, times)
		})
	}
	for name, size := range map[string]int{"new skill": 0, "new skill 16 MiB": 16 << 20} {
		b.Run(name, func(b *testing.B) {
			d := open(b)
			run(b, d, benchCommand(b, size))
			var times []time.Duration
			for b.Loop() {
				settled(d)
				cmd := benchCommand(b, size)
				cmd.Skill = fmt.Sprint("bench", len(times))
				times = append(times, run(b, d, cmd))
			}
			report(b, times)
		})
	}
	b.Run("cold", func(b *testing.B) {
		d, cmd := open(b), benchCommand(b, 0)
		cmd.Warm = -1
		var times []time.Duration
		for b.Loop() {
			times = append(times, run(b, d, cmd))
			d.starter.owner.background.Wait()
		}
		report(b, times)
	})
	b.Run("8 at a time", func(b *testing.B) {
		d, cmd := open(b), benchCommand(b, 0)
		cmd.Warm = 8
		var times []time.Duration
		began := time.Now()
		for b.Loop() {
			var mu sync.Mutex
			var calls sync.WaitGroup
			for range 8 {
				calls.Go(func() {
					took := run(b, d, cmd)
					mu.Lock()
					defer mu.Unlock()
					times = append(times, took)
				})
			}
			calls.Wait()
		}
		b.ReportMetric(float64(len(times))/time.Since(began).Seconds(), "calls/s")
		report(b, times)
	})
	// A bare round trip: connect to a Pod that waits, an empty line, and its reply.
	b.Run("bare attach", func(b *testing.B) {
		d, cmd := open(b), benchCommand(b, 0)
		s, spec, err := d.prepare(b.Context(), cmd)
		if err != nil {
			b.Fatal(err)
		}
		var times, starts []time.Duration
		for b.Loop() {
			began := time.Now()
			pod, err := s.start(b.Context(), spec, func(*blank) {})
			if err != nil {
				b.Fatal(err)
			}
			starts = append(starts, time.Since(began))
			began = time.Now()
			conn, err := s.cluster.attach(b.Context(), pod.name, runner)
			if err != nil {
				b.Fatal(err)
			}
			var out bytes.Buffer
			go func() { _ = conn.Copy(&out, io.Discard) }()
			if err := conn.ready(b.Context()); err != nil {
				b.Fatal(err)
			}
			times = append(times, time.Since(began))
			_ = conn.Close()
			pod.Discard()
			d.starter.owner.background.Wait()
		}
		slices.Sort(starts)
		b.ReportMetric(float64(starts[len(starts)/2].Milliseconds()), "start-p50-ms")
		report(b, times)
	})
}
