package integration

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

var recordKills = flag.Int("record-kills", 20, "how often TestRecordSurvives kills a server in the middle of calls")

// TestRecordSurvives kills the server with SIGKILL in the middle of calls, again and
// again. Each call that was answered is in the record, which every later server, and
// runs, reads; and its file is sound.
func TestRecordSurvives(t *testing.T) {
	t.Parallel()
	lab.Requires(t, "SKILLS_MCP_REQUIRE_SANDBOX", lab.CheckNative(t.Context()))
	home := t.TempDir()
	lab.WriteFile(t, filepath.Join(home, "skills", "quick", "SKILL.md"), "---\nname: quick\ndescription: d\nscript: run.sh\nparams:\n  n: {type: string}\n---\nPrints a number.\n")
	lab.WriteFile(t, filepath.Join(home, "skills", "quick", "run.sh"), "#!/bin/sh\necho \"$2\"\n")
	if err := os.Chmod(filepath.Join(home, "skills", "quick", "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	answered := map[string]bool{}
	for round := range *recordKills {
		for _, n := range killDuringCalls(t, home, round) {
			answered[n] = true
		}
	}
	recorded := map[string]bool{}
	out, err := recordCommand(home, "runs", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		var row struct {
			Outcome string
			Args    struct{ N string }
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		recorded[row.Args.N] = row.Outcome == "ok"
	}
	doctor, _ := recordCommand(home, "doctor").CombinedOutput() // it also names programs that the machine lacks
	if !strings.Contains(string(doctor), "ok    record") {
		t.Errorf("the file is not sound:\n%s", doctor)
	}
	lost := 0
	for n := range answered {
		if !recorded[n] {
			lost++
			t.Errorf("call %s was answered, and is not recorded", n)
		}
	}
	t.Logf("%d kills, %d calls answered, %d rows, %d lost", *recordKills, len(answered), len(recorded), lost)
	if aside, _ := filepath.Glob(filepath.Join(home, "state", "skills-mcp", "*.broken-*")); len(aside) > 0 || len(answered) < *recordKills {
		t.Errorf("%d calls were answered; moved aside: %v", len(answered), aside)
	}
}

// recordCommand returns a command of the built binary in a home of its own.
func recordCommand(home string, args ...string) *exec.Cmd {
	cmd := exec.Command(lab.Binary, append([]string{"--sandbox", "native", "--skills", filepath.Join(home, "skills")}, args...)...)
	cmd.Dir = home
	cmd.Env = []string{"HOME=" + home, "XDG_CONFIG_HOME=" + home, "XDG_STATE_HOME=" + filepath.Join(home, "state"), "XDG_CACHE_HOME=" + filepath.Join(home, "cache"), "PATH=" + os.Getenv("PATH")}
	return cmd
}

// killDuringCalls starts a server, makes calls, of which four are always under way, and
// kills the server after some answers. It returns the numbers of the calls that were
// answered.
func killDuringCalls(t *testing.T, home string, round int) (answered []string) {
	cmd := recordCommand(home, "serve")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	calls := 0
	call := func() {
		calls++
		n := fmt.Sprintf("%d-%d", round, calls)
		fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%q,"method":"tools/call","params":{"name":"quick","arguments":{"n":%q}}}`+"\n", n, n)
	}
	io.WriteString(in, `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	until := 1 + round%7 // answers before the kill
	killed := false
	for lines.Scan() {
		var m struct {
			ID     string
			Result struct{ IsError bool }
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			continue // a line that the kill has cut
		}
		switch {
		case m.ID == "init":
			for range 4 {
				call()
			}
		case m.ID != "":
			if m.Result.IsError {
				t.Errorf("call %s failed: %s", m.ID, lines.Bytes())
			}
			answered = append(answered, m.ID)
			if len(answered) >= until && !killed {
				killed = true
				if err := cmd.Process.Kill(); err != nil {
					t.Error(err)
				}
			}
			call()
		}
	}
	in.Close()
	_ = cmd.Wait() // it was killed
	return answered
}
