package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/skillsmcp/skills-mcp/integration/bench/catalog"
	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/kubernetes"
	"github.com/skillsmcp/skills-mcp/sandbox/warmpool"
)

// kubernetesRuns is a run of the suite kubernetes.
type kubernetesRuns struct {
	*bench
	*pods
	rounds   uint
	file     string
	skills   string // the folder of those that the driver alone runs
	warm     *kubernetes.Driver
	cold     *kubernetes.Driver
	found    [2]atomic.Int64 // takes of the warm driver without and with a Pod that waited
	server   *process
	metrics  string // the address of the server's
	clients  []client
	runs     atomic.Int64
	measured clusterFigures
}

// clusterFigures are the input of the model in integration/scale.
type clusterFigures struct {
	Machine          string
	Start            []float64
	StartRate        float64
	Cores, Room      int
	Load             []float64
	Call             []float64
	ServerCPU        float64
	Remove           []float64
	Requests, APICPU float64
	Scheduled        float64
	Runs             []clusterRun
}

type clusterRun struct {
	Clients                     int
	Think, P50, P95, Rate, Warm float64
}

func kubernetesSuite() suite {
	k := &kubernetesRuns{}
	return suite{
		name: "kubernetes", duration: 20 * time.Second, quick: []string{"rounds=1", "duration=2s"},
		about: fmt.Sprintf(`kubernetes measures calls on the cluster of SKILLS_MCP_TEST_CLUSTER, a kubeconfig, in
a namespace of its own (integration/cluster/cluster brings up a cluster). The server is
built with the tag cluster.

One call at a time, after a rest of %v, in which Pods get ready:

  attach           a Pod that waits, by the client library alone: connect to its
                   streams, send a line, read the answer
  line             the same over a connection that is there already
  to Running, to Succeeded
                   a Pod of one container without volumes, until a watch shows the phase
  removal          from the request to remove a Pod whose shell has ended until it is gone
  driver           the driver with its warm pool
  own              the same, where each call has an environment, a secret, arguments and
                   a tenant that no other has
  http             skills-mcp over HTTP: tools/call
  http, own        the same, where each call has an argument that no other has

"warm %%" is the share of calls that found a Pod waiting, by the pool's own count.
The next case has calls that find none (cold), the first call of a new skill, for which
only a blank Pod waits, and the next one of the same skill, of one file and of 16 MiB.
Then come %d calls at a time: after a rest, and without one.
`, kubernetesRest, atOnce),
		flags: func(f *flag.FlagSet) {
			f.UintVar(&k.rounds, "rounds", 20, "how many calls of each kind are measured, one at a time")
			f.Float64Var(&k.measured.Scheduled, "scheduled", 0, "for --measured: how many Pods a second the scheduler gives to nodes, as simulated ones show")
			f.StringVar(&k.file, "measured", "", "write the figures for the model in integration/scale to a `file`, with those of 1 to 8 clients")
		},
		measure: func(ctx context.Context, b *bench) error {
			k.bench = b
			return k.measure(ctx)
		},
	}
}

// kubernetesRest is the time in which Pods get ready.
const kubernetesRest = 2 * time.Second

func (k *kubernetesRuns) measure(ctx context.Context) (err error) {
	if k.pods, err = newPods(ctx, os.Getenv("SKILLS_MCP_TEST_CLUSTER"), "bench-"+k.id, cmp.Or(os.Getenv("SKILLS_MCP_TEST_IMAGE"), "skills-mcp-test:base")); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, k.pods.close(context.WithoutCancel(ctx))) }()
	k.Machine += "; " + k.pods.version
	defer http.DefaultClient.CloseIdleConnections()
	k.measured.Machine, k.measured.Cores = k.Machine, runtime.NumCPU()
	k.skills = filepath.Join(k.dir, "driver")
	options := kubernetes.Options{Images: map[string]string{"default": k.image}, Kubeconfig: os.Getenv("SKILLS_MCP_TEST_CLUSTER"), Namespace: k.namespace}
	options.Pool = warmpool.Limits{Max: atOnce, Taken: func(found bool) { k.found[map[bool]int{true: 1}[found]].Add(1) }}
	k.warm = kubernetes.New(&options)
	defer func() { err = errors.Join(err, k.warm.Close()) }()
	options.Pool = warmpool.Limits{Max: -1}
	k.cold = kubernetes.New(&options)
	defer func() { err = errors.Join(err, k.cold.Close()) }()
	if err := k.serve(ctx); err != nil {
		return err
	}
	defer func() { closeClients(k.clients); err = errors.Join(err, k.server.close()) }()
	for _, step := range []func(context.Context) error{k.starts, k.alone, k.sizes, k.together, k.write} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// serve starts the server, with two skills.
func (k *kubernetesRuns) serve(ctx context.Context) error {
	file := k.binary
	if file == "" {
		var err error
		if file, err = k.build(ctx, "skills-mcp-cluster", "-tags", "cluster", "github.com/skillsmcp/skills-mcp/cmd/skills-mcp"); err != nil {
			return err
		}
	}
	home := filepath.Join(k.dir, "home")
	err := errors.Join(
		os.MkdirAll(filepath.Join(home, "work"), 0o755),
		catalog.Configure(home, 2, fmt.Sprintf(`images: {default: %q}
sandbox:
  driver: kubernetes
  kubernetes: {kubeconfig: %q, namespace: %s, network: open}
  pool: {max: %d}
  slots: {total: %[5]d, per_caller: %[5]d, per_skill: %[5]d, queue: %[5]d}
telemetry: {metrics: {listen: "127.0.0.1:0"}}
`, k.image, os.Getenv("SKILLS_MCP_TEST_CLUSTER"), k.namespace, atOnce, 4*atOnce)),
		writeFile(filepath.Join(home, "skills/prints/SKILL.md"), "---\nname: prints\ndescription: Prints a line.\nclass: safe\nscript: run.sh\n---\n"),
		writeFile(filepath.Join(home, "skills/prints/run.sh"), "echo "+printed+"\n"),
		writeFile(filepath.Join(home, "skills/says/SKILL.md"), "---\nname: says\ndescription: Prints a word.\nclass: safe\nscript: run.sh\nparams: {word: {type: string, required: true, description: The word.}}\n---\n"),
		writeFile(filepath.Join(home, "skills/says/run.sh"), "echo \"$@\"\n"),
	)
	if err != nil {
		return err
	}
	metrics := make(chan string, 1)
	k.server, err = binary{file: file}.serve(home, serveOptions{http: true, logged: func(line string) {
		if _, address, found := strings.Cut(line, "serving metrics at "); found {
			metrics <- strings.TrimSpace(address)
		}
	}})
	if err != nil {
		return err
	}
	k.metrics = <-metrics
	k.clients, err = k.server.connect(ctx, atOnce, true)
	return err
}

// taken returns the takes of the server's pool so far, and those of them that found a Pod.
func (k *kubernetesRuns) taken(ctx context.Context) (all, found float64, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, k.metrics, nil)
	if err != nil {
		return 0, 0, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, 0, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	for _, m := range poolTakes.FindAllSubmatch(text, -1) {
		count, _ := strconv.ParseFloat(string(m[2]), 64) // the expression matches numbers alone
		all += count
		if string(m[1]) == "hit" {
			found += count
		}
	}
	return all, found, err
}

var poolTakes = regexp.MustCompile(`(?m)^skills_mcp_pool_takes_total\{.*result="(hit|miss)".*\} ([0-9.e+]+)$`)

// runDriver runs a skill's script with a driver.
func (k *kubernetesRuns) runDriver(ctx context.Context, d *kubernetes.Driver, skill string, change func(*sandbox.Command)) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd := &sandbox.Command{
		RunID: fmt.Sprintf("bench-%s-%d", k.id, k.runs.Add(1)), Skill: skill, Argv: []string{"bash", "run.sh"},
		Folder: filepath.Join(k.skills, skill), Limits: sandbox.DefaultLimits(), Stdout: &stdout, Stderr: &stderr,
	}
	if change != nil {
		change(cmd)
	}
	exit, err := d.Run(ctx, cmd)
	if err == nil && exit.Code != 0 {
		err = fmt.Errorf("exit code %d: %.500s", exit.Code, &stderr)
	}
	return stdout.String(), err
}

// writeSkill writes a skill for the driver, with a file of so many bytes. Snapshots are never
// changed, so each has a name of its own.
func (k *kubernetesRuns) writeSkill(script string, size int) (name string, err error) {
	name = fmt.Sprintf("skill-%d", k.runs.Add(1))
	return name, errors.Join(
		writeFile(filepath.Join(k.skills, name, "run.sh"), script),
		writeFile(filepath.Join(k.skills, name, "data"), strings.Repeat("0123456789abcdef", size/16)))
}

// A way is one of those in which something is done once.
type way struct {
	name   string
	before func(context.Context) error // outside of the time; nil for nothing
	call   func(context.Context) error
	taken  func(context.Context) (all, found float64, err error) // nil for none
}

// turns lets ways take turns, each after a rest.
func (k *kubernetesRuns) turns(ctx context.Context, name string, ways []way) error {
	fmt.Fprintf(k.log, "bench: %s\n", name)
	counts := map[string][2]float64{}
	err := takeTurns(ways, rounds(k.rounds+1), func(w way) error {
		first := k.result(name, w.name).times == nil && counts[w.name] == [2]float64{}
		one := load{workers: 1, calls: 1, time: time.Hour, before: func(ctx context.Context) error {
			if w.before != nil {
				if err := w.before(ctx); err != nil {
					return err
				}
			}
			return pause(ctx, kubernetesRest)
		}, call: func(ctx context.Context, _, _ int) error { return w.call(ctx) }}
		var all, found float64
		var err error
		if w.taken != nil {
			if all, found, err = w.taken(ctx); err != nil {
				return err
			}
		}
		if first { // it fills caches, and finds nothing ready
			counts[w.name] = [2]float64{-1, 0}
			_, err := one.run(ctx)
			return err
		}
		s, err := one.run(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		r := k.result(name, w.name)
		r.times = append(r.times, s.times...)
		r.add("p50 ms", milliseconds(s.times[0]))
		r.set("p95 ms", milliseconds(percentile(r.times, 95)))
		r.set("calls", float64(len(r.times)))
		if w.taken != nil {
			after, foundAfter, err := w.taken(ctx)
			if err != nil {
				return err
			}
			c := counts[w.name]
			c[0], c[1] = max(c[0], 0)+after-all, c[1]+foundAfter-found
			counts[w.name] = c
			r.set("warm %", 100*c[1]/max(c[0], 1))
		}
		return nil
	})
	return err
}

func (k *kubernetesRuns) driverTaken(context.Context) (all, found float64, err error) {
	found = float64(k.found[1].Load())
	return found + float64(k.found[0].Load()), found, nil
}

// alone measures one call at a time.
func (k *kubernetesRuns) alone(ctx context.Context) error {
	plain, err := k.writeSkill("echo "+printed+"\n", 0)
	if err != nil {
		return err
	}
	echo, err := k.writeSkill(`echo "$WORD $SECRET $*"`+"\n", 0)
	if err != nil {
		return err
	}
	var waiting *waitingPod
	ready := func(connected bool) func(context.Context) error {
		return func(ctx context.Context) (err error) {
			waiting, err = k.wait(ctx, connected)
			return err
		}
	}
	ways := []way{
		{"attach", ready(false), func(ctx context.Context) error { return waiting.line(ctx) }, nil},
		{"line", ready(true), func(ctx context.Context) error { return waiting.line(ctx) }, nil},
		{"to Running", nil, func(ctx context.Context) error { return k.until(ctx, "Running") }, nil},
		{"to Succeeded", nil, func(ctx context.Context) error { return k.until(ctx, "Succeeded") }, nil},
		{"removal", func(ctx context.Context) error {
			if err := ready(false)(ctx); err != nil {
				return err
			}
			return waiting.line(ctx)
		}, k.removed, nil},
		{"driver", nil, func(ctx context.Context) error {
			out, err := k.runDriver(ctx, k.warm, plain, nil)
			return cmp.Or(err, check(out))
		}, k.driverTaken},
		{"own", nil, func(ctx context.Context) error {
			id := k.runs.Add(1)
			out, err := k.runDriver(ctx, k.warm, echo, func(cmd *sandbox.Command) {
				cmd.Tenant = sandbox.Tenant{ID: fmt.Sprintf("tenant-%d", id)}
				cmd.Env = []string{fmt.Sprintf("WORD=word-%d", id), fmt.Sprintf("SECRET=secret-%d", id)}
				cmd.Argv = append(cmd.Argv, fmt.Sprintf("argument-%d", id))
			})
			if want := fmt.Sprintf("word-%d secret-%[1]d argument-%[1]d\n", id); err == nil && out != want {
				err = fmt.Errorf("it printed %q instead of %q", out, want)
			}
			return err
		}, k.driverTaken},
		{"http", nil, func(ctx context.Context) error { return k.ask(ctx, 0, "prints", "{}", printed) }, k.taken},
		{"http, own", nil, func(ctx context.Context) error {
			word := fmt.Sprintf("word-%d", k.runs.Add(1))
			return k.ask(ctx, 0, "says", fmt.Sprintf(`{"word":%q}`, word), word)
		}, k.taken},
	}
	const name = "one call at a time"
	if err := k.turns(ctx, name, ways); err != nil {
		return err
	}
	figures := func(contender string) []float64 { return k.result(name, contender).figure("p50 ms").rounds }
	for _, w := range ways {
		k.result(name, w.name).relate("× attach", figures(w.name), figures("attach"), quotient)
		k.result(name, w.name).relate("× to Succeeded", figures(w.name), figures("to Succeeded"), quotient)
	}
	k.measured.Call, k.measured.Remove = figures("http"), figures("removal")
	k.measured.Room, err = k.room(ctx)
	return err
}

// ask calls a tool of the server, whose answer has a text.
func (k *kubernetesRuns) ask(ctx context.Context, client int, tool, arguments, want string) error {
	reply, err := k.clients[client].ask(ctx, question{"tools/call", tool, `"arguments":` + arguments})
	if err == nil && !bytes.Contains(reply, []byte(want)) {
		err = fmt.Errorf("no %q in the answer %.500s", want, reply)
	}
	return err
}

// sizes measures calls that find no Pod, and those of new skills.
func (k *kubernetesRuns) sizes(ctx context.Context) error {
	small, err := k.writeSkill("echo "+printed+"\n", 0)
	if err != nil {
		return err
	}
	run := func(d *kubernetes.Driver, skill *string) func(context.Context) error {
		return func(ctx context.Context) error {
			out, err := k.runDriver(ctx, d, *skill, nil)
			return cmp.Or(err, check(out))
		}
	}
	ways := []way{{"cold", nil, run(k.cold, &small), nil}}
	for _, size := range []int{0, 16 << 20} {
		what := map[int]string{0: "one file", 16 << 20: "16 MiB"}[size]
		known, err := k.writeSkill("echo "+printed+"\n", size)
		if err != nil {
			return err
		}
		skill := new(string)
		ways = append(ways, way{"new, " + what, func(context.Context) (err error) {
			k.warm.Forget(*skill)
			*skill, err = k.writeSkill("echo "+printed+"\n", size)
			return err
		}, run(k.warm, skill), nil}, way{"known, " + what, nil, run(k.warm, &known), nil})
	}
	const name = "cold calls, and those of new skills"
	if err := k.turns(ctx, name, ways); err != nil {
		return err
	}
	figures := func(contender string) []float64 { return k.result(name, contender).figure("p50 ms").rounds }
	first := figures("new, one file")
	k.measured.Load = pairs(first, figures("known, one file"), func(a, b float64) float64 { return max(a-b, 0) })
	k.measured.Start = pairs(figures("cold"), first, func(a, b float64) float64 { return max(a-b, 0) })
	return nil
}

// burstRest is the time in which Pods for all calls at once get ready, one after the other.
const burstRest = 10 * time.Second

// callers returns calls of one script by a driver.
func (k *kubernetesRuns) callers(d *kubernetes.Driver, warm int) (func(context.Context, int, int) error, error) {
	skill, err := k.writeSkill("echo "+printed+"\n", 0)
	return func(ctx context.Context, _, _ int) error {
		out, err := k.runDriver(ctx, d, skill, func(cmd *sandbox.Command) { cmd.Warm = warm })
		return cmp.Or(err, check(out))
	}, err
}

// starts measures Pods that are started as fast as possible. It comes first, as Pods that
// wait have reserved most of a small cluster.
func (k *kubernetesRuns) starts(ctx context.Context) error {
	cold, err := k.callers(k.cold, -1)
	if err != nil {
		return err
	}
	r, err := k.sustain(ctx, "cold", nil, cold)
	if err != nil {
		return err
	}
	k.measured.StartRate, k.measured.Requests, k.measured.APICPU = r.figure("calls/s").Value, r.figure("API requests").Value, r.figure("API CPU ms").Value
	_, err = k.sustain(ctx, "to Running", nil, func(ctx context.Context, _, _ int) error { return k.until(ctx, "Running") })
	return err
}

// together measures calls at the same time, with Pods that wait.
func (k *kubernetesRuns) together(ctx context.Context) error {
	warm, err := k.callers(k.warm, atOnce)
	if err != nil {
		return err
	}
	if err := k.burst(ctx, "driver", warm); err != nil {
		return err
	}
	if _, err := k.sustain(ctx, "driver", nil, warm); err != nil {
		return err
	}
	if err := k.warm.Close(); err != nil { // its Pods have reserved what the server's need
		return err
	}
	http := func(ctx context.Context, i, _ int) error { return k.ask(ctx, i, "prints", "{}", printed) }
	if err := k.burst(ctx, "http", http); err != nil {
		return err
	}
	r, err := k.sustain(ctx, "http", k.server, http)
	if err == nil {
		k.measured.ServerCPU = r.figure("server CPU ms").Value
	}
	return err
}

// burst measures calls that come at once after a rest.
func (k *kubernetesRuns) burst(ctx context.Context, name string, call func(context.Context, int, int) error) error {
	about := fmt.Sprintf("%d at once, after a rest of %v", atOnce, burstRest)
	fmt.Fprintf(k.log, "bench: %s: %s\n", about, name)
	for round := range max(2, k.rounds/4) {
		if err := pause(ctx, burstRest); err != nil {
			return err
		}
		s, err := load{workers: atOnce, calls: 1, time: callTimeout, call: call}.run(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if round == 0 { // none waited
			continue
		}
		r := k.result(about, name)
		r.times = append(r.times, s.times...)
		r.add("p50 ms", milliseconds(percentile(s.times, 50)))
		r.set("p95 ms", milliseconds(percentile(r.times, 95)))
		r.set("calls", float64(len(r.times)))
	}
	return nil
}

// sustain measures calls without a pause, and what they cost the API server beyond an idle
// cluster.
func (k *kubernetesRuns) sustain(ctx context.Context, name string, server *process, call func(context.Context, int, int) error) (*result, error) {
	about := fmt.Sprintf("%d at a time without a pause", atOnce)
	fmt.Fprintf(k.log, "bench: %s: %s\n", about, name)
	if err := pause(ctx, burstRest); err != nil {
		return nil, err
	}
	before, err := k.load(ctx)
	if err == nil {
		err = pause(ctx, burstRest)
	}
	idle, err2 := k.load(ctx)
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	began := time.Now()
	var calls atomic.Int64
	s, err := load{workers: atOnce, warm: k.duration / 4, time: k.duration, server: server, call: func(ctx context.Context, i, n int) error {
		calls.Add(1)
		return call(ctx, i, n)
	}}.run(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	spent := time.Since(began)
	after, err := k.load(ctx)
	r, all, share := k.result(about, name), float64(calls.Load()), float64(spent)/float64(burstRest)
	r.set("calls/s", s.rate)
	r.set("p50 ms", milliseconds(percentile(s.times, 50)))
	r.set("p95 ms", milliseconds(percentile(s.times, 95)))
	r.set("calls", float64(len(s.times)))
	r.set("API requests", (after.requests-idle.requests-(idle.requests-before.requests)*share)/all)
	r.set("API CPU ms", (milliseconds(after.cpu-idle.cpu)-milliseconds(idle.cpu-before.cpu)*share)/all)
	if server != nil {
		r.set("server CPU ms", milliseconds(s.cpu))
	}
	return r, err
}

// write writes the figures for the model, with those of some clients.
func (k *kubernetesRuns) write(ctx context.Context) error {
	if k.file == "" {
		return nil
	}
	for _, c := range []struct {
		clients int
		think   time.Duration
	}{{1, time.Second}, {2, time.Second}, {4, time.Second}, {1, 0}, {2, 0}, {4, 0}, {8, 0}} {
		fmt.Fprintf(k.log, "bench: %d clients with a pause of %v\n", c.clients, c.think)
		if err := pause(ctx, burstRest); err != nil {
			return err
		}
		all, found, err := k.taken(ctx)
		if err != nil {
			return err
		}
		s, err := load{workers: c.clients, warm: k.duration / 4, time: k.duration, before: resting(c.think),
			call: func(ctx context.Context, i, _ int) error { return k.ask(ctx, i, "prints", "{}", printed) }}.run(ctx)
		if err != nil {
			return err
		}
		allAfter, foundAfter, err := k.taken(ctx)
		if err != nil {
			return err
		}
		k.measured.Runs = append(k.measured.Runs, clusterRun{c.clients, milliseconds(c.think), milliseconds(percentile(s.times, 50)), milliseconds(percentile(s.times, 95)), s.rate, (foundAfter - found) / max(allAfter-all, 1)})
	}
	text, err := json.MarshalIndent(k.measured, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(k.file, append(text, '\n'), 0o644)
}
