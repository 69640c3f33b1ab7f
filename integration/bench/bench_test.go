package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestPercentile(t *testing.T) {
	for _, test := range []struct {
		values []int
		p      int
		want   int
	}{
		{nil, 50, 0},
		{[]int{7}, 95, 7},
		{[]int{3, 1, 2}, 50, 2},
		{[]int{4, 3, 2, 1}, 50, 2},
		{[]int{20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, 95, 19},
	} {
		if got := percentile(test.values, test.p); got != test.want {
			t.Errorf("percentile %d of %v is %d, want %d", test.p, test.values, got, test.want)
		}
	}
}

// The bounds are those of the tables of the sign test, at 1 %.
func TestMedianInterval(t *testing.T) {
	for n, cut := range map[int]int{1: 0, 5: 0, 8: 0, 11: 0, 12: 1, 15: 2, 20: 3, 30: 7, 50: 15} {
		values := make([]float64, n)
		for i := range values {
			values[i] = float64(n - 1 - i)
		}
		if low, high := medianInterval(values); low != float64(cut) || high != float64(n-1-cut) {
			t.Errorf("of %d: %v to %v, want %d to %d", n, low, high, cut, n-1-cut)
		}
	}
}

// Every contender is the first of a round as often as the others.
func TestTakeTurns(t *testing.T) {
	var order []int
	_ = takeTurns([]int{0, 1, 2}, rounds(3), func(i int) error { order = append(order, i); return nil })
	if want := []int{0, 1, 2, 1, 2, 0, 2, 0, 1}; !slices.Equal(order, want) {
		t.Errorf("turns %v, want %v", order, want)
	}
}

// A figure of the new server is compared with that of the old one in the same
// round, and is worse only where that is no accident.
func TestCompare(t *testing.T) {
	var r report
	for i := range 10 {
		noise := 1 + float64(i%3)
		for _, c := range []struct {
			contender string
			factor    float64
		}{{"skills-mcp", 1.5}, {"skills-mcp" + olderSuffix, 1}, {"other", 9}} {
			o := r.result("case", c.contender)
			o.add("p50 ms", noise*c.factor)
			o.add("requests/s", noise*c.factor)
			o.add("CPU µs", 1+math.Mod(noise*c.factor, 2))
			o.set("KB", 7)
		}
	}
	ratios := r.ratios()
	var got []string
	for _, c := range ratios {
		got = append(got, c.contender+" "+c.figure)
		if c.worse != (c.figure == "p50 ms") || c.rounds != 10 {
			t.Errorf("%+v", c)
		}
	}
	if want := []string{"skills-mcp p50 ms", "skills-mcp requests/s", "skills-mcp CPU µs"}; !slices.Equal(got, want) {
		t.Errorf("ratios of %q, want %q", got, want)
	}
	if ratios[0].median != 1.5 {
		t.Errorf("%+v, want a ratio of 1.5", ratios[0])
	}
}

// An engine is settled when its containers run and stay the same.
func TestSettle(t *testing.T) {
	lists := [][]container{
		{{"a", "running"}, {"b", "created"}},
		{{"a", "removing"}, {"b", "running"}},
		{{"b", "running"}},
	}
	var asked int
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if want := `{"label":["skills-mcp.skill=x"]}`; r.URL.Query().Get("filters") != want {
			t.Errorf("filters %s, want %s", r.URL.Query().Get("filters"), want)
		}
		_ = json.NewEncoder(w).Encode(lists[min(asked, len(lists)-1)])
		asked++
	}))
	defer server.Close()
	e := newEngine("tcp://" + server.Listener.Addr().String())
	defer e.client.CloseIdleConnections()
	if err := e.settle(t.Context(), label("skill", "x")); err != nil || asked <= len(lists) {
		t.Errorf("asked %d times, error %v", asked, err)
	}
}

// A call waited for its container if the one that ended with it was started after
// the call began.
func TestWaited(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for _, event := range []string{"start b 15", "die a 12", "start c 25", "die b 26", "die c 45"} {
			var action, id string
			var at int64
			_, _ = fmt.Sscan(event, &action, &id, &at)
			fmt.Fprintf(w, `{"Action":%q,"Actor":{"ID":%q},"timeNano":%d}`, action, id, at)
		}
	}))
	defer server.Close()
	e := newEngine("tcp://" + server.Listener.Addr().String())
	defer e.client.CloseIdleConnections()
	calls := []time.Time{time.Unix(0, 10), time.Unix(0, 20), time.Unix(0, 22), time.Unix(0, 50)}
	waits, err := e.waits(t.Context(), calls, label("skill", "x"))
	if want := []bool{false, false, true, true}; err != nil || !slices.Equal(waits, want) {
		t.Errorf("waits %v, error %v; want %v", waits, err, want)
	}
}

// System calls are counted from the end of the read to the write of the command,
// those that wait in another thread meanwhile by their beginning.
func TestSystemCalls(t *testing.T) {
	const output = `7 read(0,  <unfinished ...>
8 futex(0x1, FUTEX_WAIT_PRIVATE, 0, NULL <unfinished ...>
7 <... read resumed>"{\"method\":\"tools/call\"}\n", 65536) = 24
7 openat(AT_FDCWD, "/x", O_RDONLY) = 5
8 <... futex resumed>) = 0
8 nanosleep({tv_sec=0, tv_nsec=20000},  <unfinished ...>
7 openat(AT_FDCWD, "/y", O_RDONLY <unfinished ...>
7 <... openat resumed>) = 6
7 sendmsg(9, {msg_iov=[{iov_base="\3\0SKILL_RUN_ID=run-x\0"}]}) = 20
7 openat(AT_FDCWD, "/z", O_RDONLY) = 5
7 read(0, "{\"method\":\"tools/call\"}\n", 65536) = 24
7 write(9, "SKILL_RUN_ID=run-y", 18 <unfinished ...>
`
	calls, err := systemCalls(strings.NewReader(output))
	if err != nil || len(calls) != 2 || !maps.Equal(calls[0], map[string]int{"openat": 2, "nanosleep": 1}) || len(calls[1]) > 0 {
		t.Fatalf("%v, error %v", calls, err)
	}
	var r result
	r.addSystemCalls(calls[:1])
	var got []string
	for _, f := range r.Figures {
		got = append(got, f.Name+" "+f.String())
	}
	if want := []string{"all but the scheduler's 2", "all 3", "scheduler: nanosleep 1", "files: openat 2"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// The phases of a call are the times between the events that mark them. Other
// processes, and writes that are too short for a command, mark none.
func TestPhases(t *testing.T) {
	const trace = `# tracer: nop
      skills-mcp-7     [001] DNZff     1.000010: request: (0xb5bb00)
      skills-mcp-7     [001] DNZff     1.000030: resolved: (0xb03cc0)
      skills-mcp-7     [001] DNZff     1.000060: snapshot: (0xbe7f80)
      skills-mcp-7     [001] DNZff     1.000100: decided: (0x6792c0)
      skills-mcp-7     [001] .....     1.000120: sys_sendmsg -> 0x200
      skills-mcp-7     [001] .....     1.000150: sys_sendmsg -> 0x1a00
        (a-b c)-9      [000] .....     1.000200: sched_process_exec: filename=/bin/other pid=9 old_pid=9
       skills mcp-8    [000] .....     1.000210: sys_write -> 0x8
            bash-12    [000] .....     1.000250: sched_process_exec: filename=/usr/bin/bash pid=12 old_pid=12
            bash-12    [000] .....     1.000300: sys_write(fd: 1, buf: 5581, count: 16)
            bash-12    [000] .....     1.000360: sched_process_exit: comm=bash pid=12 prio=120
      skills-mcp-7     [001] .....     1.000430: sys_write(fd: 1, buf: c000, count: 10a)
`
	phases, err := phasesOf(parseTrace(trace))
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for _, p := range phases {
		got = append(got, int(math.Round(p.micros)))
	}
	if want := []int{20, 30, 40, 50, 100, 50, 60, 70}; !slices.Equal(got, want) {
		t.Errorf("phases of %v µs, want %v", got, want)
	}
	if _, err := phasesOf(nil); err == nil {
		t.Error("no error without events")
	}
}

// The functions that begin phases are in the server.
func TestServerFunctions(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: not on Linux")
	}
	server := build(t)
	for _, function := range serverFunctions() {
		if offset, err := functionOffset(server, function); err != nil || offset == 0 {
			t.Errorf("offset %d, error %v", offset, err)
		}
	}
}

// A relation is computed in each round, and shows how far it spreads.
func TestRelate(t *testing.T) {
	var r result
	r.relate("× bare", []float64{2, 3, 8}, []float64{1, 1, 2, 9}, quotient)
	if got := r.figure("× bare").String(); got != "3 (2.00–4.00)" {
		t.Errorf("%s", got)
	}
}

func TestCheckReply(t *testing.T) {
	for reply, want := range map[string]bool{
		`{"jsonrpc":"2.0","id":7,"result":{}}`:                       true,
		`{"jsonrpc":"2.0","id":8,"result":{}}`:                       false,
		`{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"no"}}`: false,
		`{"jsonrpc":"2.0","method":"notifications/progress"}`:        false,
		``: false,
	} {
		if err := checkReply([]byte(reply), 7); (err == nil) != want {
			t.Errorf("%s: %v", reply, err)
		}
	}
}

// The smallest run of calls, on the host alone, in all forms.
func TestCall(t *testing.T) {
	t.Parallel()
	needScripts(t)
	r := measured(t, "--only", "bare", "--duration", "1ms")
	if len(r.Results) != len(callCases()) || r.Results[0].Figures[0].Value <= 0 || r.Machine == "" {
		t.Errorf("report %+v", r)
	}
	var text, markdown strings.Builder
	if err := r.write(&text, false); err != nil || strings.Count(text.String(), " bare ") < len(callCases()) {
		t.Errorf("text %s, error %v", &text, err)
	}
	if err := r.write(&markdown, true); err != nil || strings.Count(markdown.String(), "\n| bare | ") != len(callCases()) {
		t.Errorf("tables %s, error %v", &markdown, err)
	}
}

// A call follows the rest at every pace, also through a server.
func TestRest(t *testing.T) {
	t.Parallel()
	needScripts(t)
	r := measured(t, "rest", "--quick", "--only", "bare")
	if o := r.find("bash, after a rest of 20ms", "bare"); o == nil || o.figure("calls").Value != 40 {
		t.Errorf("%+v", o)
	}
}

// Plugins of each kind have memory, and are measured while they are idle.
func TestPlugins(t *testing.T) {
	t.Parallel()
	needScripts(t)
	r := measured(t, "plugins", "--binary", build(t), "--count", "2", "--idle", "100ms")
	for _, kind := range pluginKinds() {
		if o := r.find("idle", kind.name); o == nil || o.figure("PSS MB").Value < 2 || o.figure("RSS MB").Value < o.figure("PSS MB").Value/2 {
			t.Errorf("%s: %+v", kind.name, o)
		}
	}
}

// Sessions of agents ask the model of the suite, alone and many at once.
func TestSubagents(t *testing.T) {
	t.Parallel()
	r := measured(t, "subagents", "--binary", build(t), "--quick")
	for _, contender := range []string{"bare", "spawn"} {
		if o := r.find("to the first request at the model", contender); o == nil || o.figure("p50 ms").Value <= 0 {
			t.Errorf("%s: %+v", contender, o)
		}
	}
	if o := r.find("sessions at once", "skills-mcp"); o == nil || o.figure("MB").Value < 5 || o.figure("sessions").Value != 3 {
		t.Errorf("%+v", o)
	}
}

// Both servers are measured on every transport, for both generations, and then
// by many clients.
func TestProtocol(t *testing.T) {
	t.Parallel()
	server := build(t)
	r := measured(t, "protocol", "--binary", server, "--against", server,
		"--skills", "30", "--rounds", "1", "--duration", "20ms", "--clients", "8")
	for _, name := range []string{"tools/list, stdio, legacy", "tools/list, http, modern", "tools/call note, http, legacy", "tools/call load_skill, stdio, modern"} {
		for _, contender := range []string{"skills-mcp", "skills-mcp" + olderSuffix} {
			if o := r.find(name, contender); o == nil || o.figure("requests/s").Value <= 0 {
				t.Errorf("%s: %s: %+v", name, contender, o)
			}
		}
	}
	if o := r.find("8 clients at once", "skills-mcp"); o == nil || o.figure("requests").Value != 40 {
		t.Errorf("the load: %+v", o)
	}
	if len(r.ratios()) == 0 {
		t.Error("no ratios")
	}
}

// A server starts with and without a cache, and notices a change.
func TestScale(t *testing.T) {
	t.Parallel()
	r := measured(t, "scale", "--binary", build(t), "--sizes", "3", "--starts", "1", "--edits", "1")
	if o := r.find("version", "skills-mcp"); o == nil || o.figure("× the program").Value <= 0 {
		t.Errorf("version: %+v", o)
	}
	for _, name := range []string{"first hello ms", "first list ms", "second list ms", "second peak MB", "read ms", "notice ms", "notices", "answer KB"} {
		if o := r.find("3 skills", "skills-mcp"); o == nil || o.figure(name).Value <= 0 {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

func TestMisuse(t *testing.T) {
	for _, args := range []string{"--only bare,wrong", "--wrong", "bare", "call bare", "--duration -1s", "scale --sizes 7,x", "scale --sizes 0",
		"scale --starts -1", "scale --duration 1s", "rest --longest 1", "rest --duration 1s"} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), strings.Fields(args), &stdout, &stderr); code != 2 || stderr.Len() == 0 || stdout.Len() > 0 {
			t.Errorf("%s: exit code %d, stdout %q, stderr %q", args, code, &stdout, &stderr)
		}
	}
	for args, want := range map[string]string{"--help": "docker-warm-runsc", "protocol --help": "--clients", "scale --help": "--sizes"} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), strings.Fields(args), &stdout, &stderr); code != 0 || !strings.Contains(stderr.String(), want) {
			t.Errorf("%s: exit code %d: %s", args, code, &stderr)
		}
	}
}

// An interrupt ends the run under way, and leaves nothing.
func TestInterrupt(t *testing.T) {
	needScripts(t)
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var stdout bytes.Buffer
	log := writerFunc(func(p []byte) (int, error) {
		if strings.Contains(string(p), callCases()[1].String()) {
			cancel()
		}
		return len(p), nil
	})
	if code := run(ctx, []string{"--only", "bare", "--duration", "1ms"}, &stdout, log); code != 130 {
		t.Errorf("exit code %d: %s", code, &stdout)
	}
	if !strings.Contains(stdout.String(), " bare ") {
		t.Errorf("the figures of before it are missing: %s", &stdout)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("files are left: %v, %v", left, err)
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// measured returns the report of a run.
func measured(t *testing.T, args ...string) *report {
	t.Helper()
	var stderr bytes.Buffer
	b, err := parse(args, &stderr)
	if err == nil {
		err = b.run(t.Context())
	}
	if err != nil {
		t.Fatalf("%v: %s", err, &stderr)
	}
	return &b.report
}

// build returns the file of the server.
func build(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "skills-mcp")
	cmd := exec.Command("go", "build", "-o", file, "../../cmd/skills-mcp")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return file
}

// needScripts skips a test where the scripts cannot run.
func needScripts(t *testing.T) {
	t.Helper()
	for _, s := range scripts() {
		if _, err := program(s.program); err != nil && os.Getenv("CI") != "true" {
			t.Skipf("SKIPPED: %v (set CI=true to make this a failure)", err)
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
