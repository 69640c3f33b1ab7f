//go:build linux

package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// TestChaos makes calls of two servers that share a cluster and a database, while one
// server is killed, the API server and the database are restarted, and a node's kubelet is
// stopped and its Pods are removed. A call is sent again only where it has not run.
//
// One call in five needs an approval, and is then made of both servers at once: one may use
// it. It writes its number to a claim, where a second run would be seen. Of the others the
// shared record shows it.
//
// It takes a cluster of its own, root, and SKILLS_MCP_TEST_CHAOS, the number of calls:
//
//	SKILLS_MCP_TEST_CHAOS=1000 go test ./integration/chaos -v -timeout 40m
func TestChaos(t *testing.T) {
	calls, err := strconv.Atoi(os.Getenv("SKILLS_MCP_TEST_CHAOS"))
	if err != nil || os.Geteuid() != 0 {
		t.Skip("SKIPPED: SKILLS_MCP_TEST_CHAOS is no number of calls, or this is an ordinary user")
	}
	w := newWorld(t)
	c := &client{urls: []string{w.servers[0].url(), w.servers[1].url()}, counts: map[string]int{}, texts: map[string]int{}, until: time.Now().Add(25 * time.Minute),
		http: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	w.client = c

	var next, ended atomic.Int64
	var workers sync.WaitGroup
	began := time.Now()
	for range 8 {
		workers.Go(func() {
			for n := int(next.Add(1)); n <= calls; n = int(next.Add(1)) {
				w.make(n)
				ended.Add(1)
			}
		})
	}
	at := func(percent int64) {
		for ended.Load()*100 < percent*int64(calls) && !t.Failed() {
			time.Sleep(50 * time.Millisecond)
		}
		t.Logf("%v: %d calls have ended", time.Since(began).Round(time.Second), ended.Load())
	}
	at(15)
	w.log("server 0 is killed")
	w.servers[0].kill()
	time.Sleep(5 * time.Second)
	w.servers[0].start()
	at(30)
	w.log("the API server is restarted")
	w.cluster("restart", "apiserver")
	at(45)
	w.log("the database is restarted")
	w.must("./postgres", "--dir", w.database, "crash")
	at(60)
	w.log("the kubelet of the second node is stopped, and the node drained")
	const node = "127.0.0.2"
	w.cluster("stop", "kubelet2")
	w.cluster("kubectl", "cordon", node)
	w.cluster("kubectl", "--namespace", w.namespace, "delete", "pods", "--field-selector", "spec.nodeName="+node, "--wait=false")
	at(80)
	w.log("it is started again")
	w.cluster("restart", "kubelet2")
	w.cluster("kubectl", "uncordon", node)
	workers.Wait()
	t.Logf("%d calls in %v", calls, time.Since(began).Round(time.Second))
	w.check(calls)
}

// A world is two servers with all that they share.
type world struct {
	t         *testing.T
	dir       string
	binary    string
	database  string // folder of the PostgreSQL server
	namespace string
	shared    string // folder that is the claim
	env       []string
	servers   []*server
	client    *client

	mu       sync.Mutex
	outcomes map[string]int
	paid     map[int][2]int // by the number of a call, how often it has run at least and at most
	wrong    []string
}

// A server is one replica, which may be killed.
type server struct {
	*world
	home    string
	address string
	mu      sync.Mutex
	cmd     *exec.Cmd
	ended   chan error
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, dir: t.TempDir(), namespace: "chaos", outcomes: map[string]int{}, paid: map[int][2]int{}}
	// The database runs as nobody.
	if err := errors.Join(os.Chmod(filepath.Dir(w.dir), 0o755), os.Chmod(w.dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	w.binary = filepath.Join(w.dir, "skills-mcp")
	build := exec.Command("go", "build", "-tags", "cluster", "-o", w.binary, "./cmd/skills-mcp")
	build.Dir, build.Env = "..", append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	kubeconfig := export(w.cluster("--nodes", "3", "env"), "SKILLS_MCP_TEST_CLUSTER")
	if os.Getenv("SKILLS_MCP_TEST_CHAOS_KEEP") == "" {
		t.Cleanup(func() { w.cluster("stop") })
	}
	w.database = filepath.Join(w.dir, "postgres")
	store := export(w.must("./postgres", "--dir", w.database, "env"), "SKILLS_MCP_TEST_POSTGRES")
	t.Cleanup(func() { w.must("./postgres", "--dir", w.database, "stop") })
	w.shared = filepath.Join(w.dir, "shared")
	w.makeNamespace()
	w.env = []string{"SKILLS_MCP_STORE=" + store, "SKILLS_MCP_TOKEN=" + token, "SKILLS_MCP_APPROVAL_TOKEN=correct horse battery", "PATH=" + os.Getenv("PATH")}
	for i := range 2 {
		s := &server{world: w, home: filepath.Join(w.dir, fmt.Sprint("server", i)), address: freeAddress(t)}
		w.servers = append(w.servers, s)
		s.configure(kubeconfig)
	}
	for _, s := range w.servers {
		s.start()
		t.Cleanup(s.kill)
	}
	return w
}

// makeNamespace makes an empty namespace with the claim.
func (w *world) makeNamespace() {
	if err := errors.Join(os.MkdirAll(w.shared, 0o777), os.Chmod(w.shared, 0o777)); err != nil {
		w.t.Fatal(err)
	}
	w.cluster("kubectl", "delete", "namespace", w.namespace, "--ignore-not-found")
	w.cluster("kubectl", "delete", "persistentvolume", "chaos", "--ignore-not-found")
	file := filepath.Join(w.dir, "objects.yaml")
	lab.WriteFile(w.t, file, fmt.Sprintf(`apiVersion: v1
kind: Namespace
metadata: {name: %[1]s}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: chaos}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteMany]
  hostPath: {path: %[2]q}
  claimRef: {namespace: %[1]s, name: shared}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: shared, namespace: %[1]s}
spec:
  accessModes: [ReadWriteMany]
  storageClassName: ""
  volumeName: chaos
  resources: {requests: {storage: 1Gi}}
`, w.namespace, w.shared))
	w.cluster("kubectl", "apply", "--filename", file)
}

// configure writes the configuration and skills of a server.
func (s *server) configure(kubeconfig string) {
	skill := func(name, class, script string) {
		lab.WriteFile(s.t, filepath.Join(s.home, "skills", name, "SKILL.md"), fmt.Sprintf("---\nname: %s\ndescription: Does one thing.\nclass: %s\nscript: run.sh\nparams: {n: {type: string, required: true, description: A number.}}\n---\n", name, class))
		lab.WriteFile(s.t, filepath.Join(s.home, "skills", name, "run.sh"), script)
	}
	skill("says", "safe", "echo \"said $2\"\n")
	skill("pays", "mutating", "echo \"$2\" >>\"$SKILL_WORKSPACE/paid\" && echo \"paid $2\"\n")
	lab.WriteFile(s.t, filepath.Join(s.home, "config.yaml"), fmt.Sprintf(`images: {default: %q}
skills: [skills]
roots: {session: false, user: false, system: false, samples: false}
workspaces: [%[2]q]
sandbox:
  driver: kubernetes
  kubernetes: {kubeconfig: %[3]q, namespace: %[4]s, network: open, claims: [{path: %[2]q, claim: shared}]}
  pool: {max: 4}
  slots: {total: 16, per_caller: 16, per_skill: 16, queue: 64}
policy:
  script_token: "ed25519-pbkdf2-sha256$600000$IoPV3YnKXCtiv374IwiHig$Ish168BPLQ80B+M9VnX0WE4cHUAIUpSY0bC5w9+vhA4"
  skills:
    pays: {approve: each}
`, lab.TestImage(), s.shared, kubeconfig, s.namespace))
}

func freeAddress(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func (s *server) url() string { return "http://" + s.address + "/mcp" }

// command returns a command of the program, as on the server's machine.
func (s *server) command(args ...string) *exec.Cmd {
	cmd := exec.Command(s.binary, args...)
	cmd.Dir, cmd.Env = s.home, append([]string{"HOME=" + s.home, "XDG_CACHE_HOME=" + filepath.Join(s.home, "cache"), "XDG_CONFIG_HOME=" + filepath.Join(s.home, "config")}, s.env...)
	return cmd
}

// start starts the server and waits until it listens.
func (s *server) start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	cmd := s.command("serve", "--config", filepath.Join(s.home, "config.yaml"), "--transport", "http", "--listen", s.address)
	log, err := os.OpenFile(s.home+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	defer log.Close()
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.cmd, s.ended = cmd, make(chan error, 1)
	go func() { s.ended <- cmd.Wait() }()
	for range 600 {
		if conn, err := net.Dial("tcp", s.address); err == nil {
			conn.Close()
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	text, _ := os.ReadFile(s.home + ".log") // for the failure alone
	s.t.Fatalf("%s does not listen: %s", s.home, text)
}

// kill ends the server without a chance to do anything, if it runs.
func (s *server) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd != nil {
		_ = s.cmd.Process.Kill() // it may have ended
		<-s.ended
		s.cmd = nil
	}
}

// stop ends the server as its cluster would.
func (s *server) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Error(err)
	}
	if err := <-s.ended; err != nil {
		s.t.Errorf("%s ended with %v", s.home, err)
	}
	s.cmd = nil
}

func (w *world) log(what string) { w.t.Log(what) }

// must runs a program of the folder integration and returns its output.
func (w *world) must(name string, args ...string) string {
	cmd := exec.Command(name, args...)
	var messages strings.Builder
	cmd.Stderr = &messages
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatalf("%s %q: %v\n%s%s", name, args, err, out, &messages)
	}
	return string(out)
}

// cluster runs a command of a cluster that no other test uses.
func (w *world) cluster(args ...string) string {
	return w.must("./cluster/cluster", append([]string{"--name", "chaos"}, args...)...)
}

// export returns the value of a variable in lines for a shell.
func export(lines, name string) string {
	for line := range strings.Lines(lines) {
		if value, found := strings.CutPrefix(line, "export "+name+"="); found {
			return strings.ReplaceAll(strings.TrimSpace(value), `\`, "")
		}
	}
	return ""
}

// approve answers the question of an answer, with a program on the first server's machine.
// While the database is away it tries again.
func (w *world) approve(a answer, verb string, more ...string) bool {
	id := lab.ApprovalID.FindStringSubmatch(a.text)
	if id == nil {
		w.t.Errorf("no id in %q", a.text)
		return false
	}
	s := w.servers[0]
	var out []byte
	for range 5 {
		var err error
		args := slices.Concat([]string{"--config", filepath.Join(s.home, "config.yaml"), verb, id[1]}, more)
		if verb == "approve" {
			args = append(args, "--yes")
		}
		if out, err = s.command(args...).CombinedOutput(); err == nil {
			return true
		}
		time.Sleep(time.Second)
	}
	w.note("an answer that was not accepted: " + string(out))
	return false
}

func (w *world) note(outcome string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.outcomes[outcome]++
}

func (w *world) fail(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
}

// make makes call n.
func (w *world) make(n int) {
	ctx, number := w.t.Context(), map[string]string{"n": strconv.Itoa(n)}
	if n%10 < 2 {
		w.pay(ctx, n, number)
		return
	}
	w.expect(n, "says", w.client.call(ctx, n, "says", number), fmt.Sprintf("said %d", n))
}

// expect notes the answer of call n.
func (w *world) expect(n int, tool string, a answer, want string) {
	w.note(tool + ": " + a.kind)
	switch a.kind {
	case done:
		if strings.TrimSpace(a.text) != want {
			w.fail("call %d got %q, want %q", n, a.text, want)
		}
	case refused, notAgain, asked:
		w.fail("call %d: %s: %s", n, a.kind, a.text)
	}
}

// pay has a call approved, and makes it of both servers at once.
func (w *world) pay(ctx context.Context, n int, number map[string]string) {
	for range 5 {
		a := w.client.call(ctx, n/10, "pays", number)
		if a.kind == cut { // without an approval it has not run
			continue
		}
		if a.kind != asked {
			w.expect(n, "pays, not approved", a, "")
			w.fail("call %d was not approved: %+v", n, a)
			return
		}
		if !w.approve(a, "approve") {
			continue
		}
		var both [2]answer
		var calls sync.WaitGroup
		for i := range both {
			calls.Go(func() { both[i] = w.client.call(ctx, i, "pays", number) })
		}
		calls.Wait()
		kinds := map[string]int{}
		for _, a := range both {
			kinds[a.kind]++
		}
		for _, a := range both {
			switch {
			case a.kind != asked:
				w.expect(n, "pays", a, fmt.Sprintf("paid %d", n))
			case kinds[asked] < 2: // the question of the one that came too late
				w.approve(a, "deny")
			}
		}
		if kinds[done] > 1 {
			w.fail("the approval of call %d was used twice", n)
		}
		w.mu.Lock()
		w.paid[n] = [2]int{min(kinds[done], 1), min(kinds[done]+kinds[unknown]+kinds[cut], 1)}
		w.mu.Unlock()
		if kinds[asked] < 2 {
			return
		}
		w.note("an approval that a call used which never ran")
	}
	w.fail("call %d was approved five times and never ran", n)
}

// check looks at what the calls have done, and at what is left.
func (w *world) check(calls int) {
	for outcome, count := range w.outcomes {
		w.t.Logf("%5d %s", count, outcome)
	}
	for kind, count := range w.client.counts {
		w.t.Logf("%5d answers in all: %s", count, kind)
	}
	for text, count := range w.client.texts {
		w.t.Logf("%5d %.300s", count, text)
	}
	text, err := os.ReadFile(filepath.Join(w.shared, "paid"))
	if err != nil {
		w.t.Error(err)
	}
	written := map[string]int{}
	for line := range strings.Lines(string(text)) {
		written[strings.TrimSpace(line)]++
	}
	for n, bounds := range w.paid {
		if got := written[strconv.Itoa(n)]; got < bounds[0] || got > bounds[1] {
			w.fail("call %d has paid %d times, and its answers say %d to %d", n, got, bounds[0], bounds[1])
		}
	}
	w.t.Logf("%d of %d approved calls have paid", len(written), len(w.paid))
	twice := w.must("psql", "--host", w.database, "--username", "postgres", "--tuples-only", "--no-align", "--command",
		"SELECT skill, args, count(*) FROM runs WHERE exit IS NOT NULL GROUP BY skill, args HAVING count(*) > 1")
	if twice != "" {
		w.fail("by the shared record these calls ran more than once: %s", twice)
	}
	w.t.Logf("the record has %s runs that ended by themselves", strings.TrimSpace(w.must("psql", "--host", w.database, "--username", "postgres", "--tuples-only", "--command",
		"SELECT count(*) FROM runs WHERE exit IS NOT NULL")))
	for _, wrong := range w.wrong {
		w.t.Error(wrong)
	}
	ended := time.Now()
	for {
		alive := w.instances()
		if len(alive) <= len(w.servers) {
			w.t.Logf("%v after the last call, the Pods are those of %d servers", time.Since(ended).Round(time.Second), len(alive))
			break
		}
		if time.Since(ended) > time.Minute {
			w.t.Errorf("a minute after the last call there are Pods of %v", alive)
			break
		}
		time.Sleep(time.Second)
	}
	for _, s := range w.servers {
		s.stop()
	}
	stopped := time.Now()
	for len(w.instances()) > 0 {
		if time.Since(stopped) > time.Minute {
			w.t.Errorf("a minute after the end of the servers there are Pods of %v", w.instances())
			break
		}
		time.Sleep(time.Second)
	}
	w.t.Logf("%v after the end of the servers no Pod is left", time.Since(stopped).Round(time.Second))
}

// instances returns the servers that have Pods, with the number of these.
func (w *world) instances() map[string]int {
	var list struct {
		Items []struct {
			Metadata struct{ Labels map[string]string }
		}
	}
	if err := json.Unmarshal([]byte(w.cluster("kubectl", "--namespace", w.namespace, "get", "pods", "--output", "json")), &list); err != nil {
		w.t.Fatal(err)
	}
	all := map[string]int{}
	for _, p := range list.Items {
		all[p.Metadata.Labels["skills-mcp/instance"]]++
	}
	return all
}
