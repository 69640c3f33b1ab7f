package kubernetes

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
)

// inPodNetwork returns a function that listens in a network namespace of its own, which has
// an address in the network of the Pods: this machine has none there.
func inPodNetwork(t *testing.T) (host string, listen func(address string) (net.Listener, error)) {
	t.Helper()
	index, err := os.ReadFile(filepath.Join(filepath.Dir(os.Getenv("SKILLS_MCP_TEST_CLUSTER")), "index"))
	if err != nil || os.Getuid() != 0 {
		t.Skip("NO NETWORK OF PODS: it takes root and the cluster of integration/cluster")
	}
	number := strings.TrimSpace(string(index))
	var n int
	if _, err := fmt.Sscan(number, &n); err != nil {
		t.Fatal(err)
	}
	name := "sk" + strings.ToLower(rand.Text()[:8])
	var last [1]byte
	_, _ = rand.Read(last[:])
	host = fmt.Sprintf("10.%d.250.%d", 201+n, 1+last[0]%250)
	ip := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
			t.Fatalf("ip %v: %v: %s", args, err, out)
		}
	}
	ip("netns", "add", name)
	t.Cleanup(func() { _ = exec.Command("ip", "netns", "delete", name).Run() })
	ip("link", "add", name, "type", "veth", "peer", "name", "pods", "netns", name)
	ip("link", "set", name, "master", "skmcp"+number, "up")
	ip("-n", name, "address", "add", host+"/16", "dev", "pods")
	ip("-n", name, "link", "set", "pods", "up")
	return host, func(address string) (net.Listener, error) {
		type result struct {
			net.Listener
			error
		}
		done := make(chan result)
		go func() {
			runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
			file, err := os.Open("/run/netns/" + name)
			if err != nil {
				done <- result{nil, err}
				return
			}
			defer file.Close()
			setns := map[string]uintptr{"amd64": 308, "arm64": 268}[runtime.GOARCH]
			if _, _, errno := syscall.RawSyscall(setns, file.Fd(), syscall.CLONE_NEWNET, 0); errno != 0 {
				done <- result{nil, errno}
				return
			}
			l, err := net.Listen("tcp", address)
			done <- result{l, err}
		}()
		r := <-done
		return r.Listener, r.error
	}
}

// publicNames resolves every name to one public address.
type publicNames struct{}

func (publicNames) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
}

// Two Pods reach the hosts of their own grants, and neither by the token of the other.
func TestEgress(t *testing.T) {
	r := newRealCluster(t)
	host, listen := inPodNetwork(t)
	world := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "hello "+r.Host+"\n") }))
	defer world.Close()
	o := r.options()
	o.Egress = Egress{Listen: host + ":3128", Address: host + ":3128", Direct: true, Options: &egress.Options{
		Resolver: publicNames{},
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, world.Listener.Addr().String())
		},
	}}
	d := New(o)
	d.gateway.listen = listen
	defer func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}()
	skill := t.TempDir()
	run := func(script string, out io.Writer, in io.Reader, hosts ...string) []sandbox.Connection {
		t.Helper()
		exit, err := d.Run(t.Context(), &sandbox.Command{
			RunID: "egress", Skill: "egress", Folder: skill, Warm: -1, Limits: sandbox.DefaultLimits(), Grant: sandbox.Grant{Hosts: hosts},
			Argv: []string{"/bin/bash", "-c", script}, Stdin: in, Stdout: out, Stderr: out, Progress: func(string) {},
		})
		if err != nil {
			t.Error(err)
			return nil
		}
		return exit.Connections
	}
	// The first tells its token in a spelling that nothing recognizes, and waits.
	said, told := io.Pipe()
	input, release := io.Pipe()
	var ended []sandbox.Connection
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer told.Close()
		ended = run(`t=${http_proxy#http://run:}; t=${t%@*}; echo "$http_proxy"; for ((i = ${#t}; i--; )); do printf %s "${t:i:1}"; done; echo; read; curl -sS http://one.example.com/`, told, input, "one.example.com")
	}()
	var shown, reversed, rest string
	reader := io.TeeReader(said, io.Discard)
	if _, err := fmt.Fscanln(reader, &shown); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fscanln(reader, &reversed); err != nil {
		t.Fatal(err)
	}
	if want := "http://run:[token]@" + host + ":3128"; shown != want {
		t.Errorf("the first sees its proxy as %s, want %s", shown, want)
	}
	token := []byte(reversed)
	slices.Reverse(token)
	var out bytes.Buffer
	const other = `curl -sS http://two.example.com/; curl -sS http://one.example.com/; curl -sS -x "http://run:%[1]s@%[2]s:3128" http://one.example.com/; curl -sS -x http://%[2]s:3128 http://two.example.com/`
	made := run(fmt.Sprintf(other, token, host), &out, nil, "two.example.com")
	want := "hello two.example.com\n" +
		"skills-mcp: one.example.com:80 is not among the hosts that this skill was granted: two.example.com\n" +
		"skills-mcp: the sandbox that this token was for has ended, or is another\n" +
		"skills-mcp: this proxy is for sandboxes that were granted hosts\n"
	if out.String() != want {
		t.Errorf("the second: %q", out.String())
	}
	if len(made) != 2 || made[0].Got == 0 || made[1].Refused == "" {
		t.Errorf("the second's connections: %v", made)
	}
	_, _ = io.WriteString(release, "\n")
	_ = release.Close()
	text, _ := io.ReadAll(reader)
	rest = string(text)
	<-done
	if rest != "hello one.example.com\n" || len(ended) != 1 || ended[0].Host != "one.example.com:80" {
		t.Errorf("the first: %q, %v", rest, ended)
	}
	// The listener is no way for Pods that were granted nothing, and the network of this one is
	// closed but for it and for other Pods.
	reached, err := d.network.reached(t.Context())
	if err != nil {
		t.Error(err)
	}
	for _, name := range reached {
		if name != "other Pods" {
			t.Errorf("a Pod reaches %s", name)
		}
	}
}
