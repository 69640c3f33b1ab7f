package integration

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// BenchmarkStart measures how long a client waits: from the start of the
// process to the answer to tools/list, at some numbers of skills. Each skill
// has parameters and a script.
//
//	go test -run XXX -bench Start ./integration
func BenchmarkStart(b *testing.B) {
	for _, skills := range []int{3, 100, 1000} {
		b.Run(fmt.Sprintf("%d_skills", skills), func(b *testing.B) {
			home := b.TempDir()
			makeSkills(b, filepath.Join(home, "skills"), skills)
			var times []time.Duration
			var answer int
			for b.Loop() {
				began := time.Now()
				answer = listTools(b, home)
				times = append(times, time.Since(began))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(times[len(times)*95/100].Microseconds())/1000, "p95-ms")
			b.ReportMetric(float64(answer), "answer-bytes")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// listTools starts a server, asks for its tools, and returns the answer's size.
func listTools(b *testing.B, home string) int {
	cmd := exec.Command(lab.Binary, "serve", "--skills", filepath.Join(home, "skills"))
	cmd.Dir = home
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	_, err = io.WriteString(stdin, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"b","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`)
	if err != nil {
		b.Fatal(err)
	}
	answer := readAnswer(b, stdout)
	// What comes now is not the client's wait.
	b.StopTimer()
	defer b.StartTimer()
	stdin.Close()
	_, _ = io.Copy(io.Discard, stdout)
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
	return answer
}

// readAnswer reads up to the end of the answer to tools/list.
func readAnswer(b *testing.B, stdout io.Reader) int {
	var got []byte
	buffer := make([]byte, 64<<10)
	for {
		n, err := stdout.Read(buffer)
		got = append(got, buffer[:n]...)
		if at := bytes.Index(got, []byte(`"id":2`)); at >= 0 && bytes.HasSuffix(got, []byte("\n")) {
			return len(got) - 1 - bytes.LastIndexByte(got[:len(got)-1], '\n')
		}
		if err != nil {
			b.Fatalf("%v after %q", err, got)
		}
	}
}

func makeSkills(b *testing.B, dir string, n int) {
	for i := range n {
		folder := filepath.Join(dir, fmt.Sprintf("skill-%04d", i))
		if err := os.MkdirAll(folder, 0o755); err != nil {
			b.Fatal(err)
		}
		text := fmt.Sprintf("---\nname: skill-%04d\ndescription: Does the thing number %d, as a description of usual length would say in a sentence or two.\nscript: run.sh\nparams:\n  path: {type: string, required: true, description: Where to look.}\n  count: {type: integer, minimum: 1, default: 5}\n---\n%s", i, i, bytes.Repeat([]byte("Some instructions of usual length.\n"), 100))
		for name, content := range map[string]string{"SKILL.md": text, "run.sh": "#!/bin/bash\necho\n"} {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
}
