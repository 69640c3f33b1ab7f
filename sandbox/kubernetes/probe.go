package kubernetes

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

const (
	// The result of a probe of the network counts for networkFresh, and for networkRetry if
	// the probe failed or found it open.
	networkFresh = time.Hour
	networkRetry = 15 * time.Second
	probeTimeout = time.Minute
)

// A network caches whether Pods without hosts reach addresses that no sandbox may reach.
type network struct {
	accepted bool                                                              // whatever they reach
	run      func(context.Context, *sandbox.Command) (*sandbox.Exit, error)    // in a Pod
	targets  func(context.Context) (list []string, closeAll func(), err error) // for [reachScript]

	mu      sync.Mutex
	at      time.Time     // of the last probe's end
	err     error         // of it
	running chan struct{} // closed at the end of the one under way; nil without one
}

// check returns an error while Pods reach such addresses. The first call waits for a
// probe, and so does one after a probe that failed. begin starts a goroutine.
func (n *network) check(ctx context.Context, begin func(probe func())) error {
	if n.accepted {
		return nil
	}
	n.mu.Lock()
	at, err, age := n.at, n.err, time.Since(n.at)
	if n.running == nil && (age > networkFresh || err != nil && age > networkRetry) {
		n.running = make(chan struct{})
		begin(n.probe)
	}
	running := n.running
	n.mu.Unlock()
	if !at.IsZero() && (err == nil || running == nil) {
		return err
	}
	select {
	case <-running:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.err
}

// probe is the probe that check has begun.
func (n *network) probe() {
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	reached, err := n.reached(ctx)
	failed := err != nil
	if !failed && len(reached) > 0 {
		err = openError(reached)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	close(n.running)
	n.running = nil
	if failed && n.err == nil && !n.at.IsZero() { // such as for want of room: the last result counts
		n.at = time.Now().Add(networkRetry - networkFresh)
		return
	}
	n.at, n.err = time.Now(), err
}

func openError(reached []string) error {
	return &sandbox.UnavailableError{
		Reason: "the cluster lets Pods of the sandboxes' namespace reach " + strings.Join(reached, " and "),
		Remedy: "deny it by a NetworkPolicy that the cluster's network enforces, or accept it with sandbox.kubernetes.network: open",
	}
}

// reachScript tries to connect to each of its arguments, NAME=HOST PORT, all at once, and
// writes the names of those that it reached, and done.
const reachScript = `
try() {
	if command -v bash; then bash -c 'exec 3<>"/dev/tcp/$0/$1"' "$1" "$2"
	elif command -v python3; then python3 -c 'import socket, sys; socket.create_connection((sys.argv[1], sys.argv[2]), 3)' "$1" "$2"
	elif command -v node; then node -e 'require("net").connect(process.argv[2], process.argv[1], () => process.exit(0)).on("error", () => process.exit(1))' "$1" "$2"
	else nc -w 3 "$1" "$2" </dev/null; fi >/dev/null 2>&1
}
if ! { command -v bash || command -v python3 || command -v node || command -v nc; } >/dev/null; then echo none; exit; fi
for target in "$@"; do
	at=${target#*=}
	( try "${at% *}" "${at#* }" & pid=$!; ( sleep 2; kill $pid ) >/dev/null 2>&1 & wait $pid && echo "${target%%=*}" ) 2>/dev/null &
done
wait
echo done
`

// reached returns the names of the targets that Pods reach.
func (n *network) reached(ctx context.Context) ([]string, error) {
	targets, closeAll, err := n.targets(ctx)
	if err != nil {
		return nil, err
	}
	defer closeAll()
	out, err := probeOutput(ctx, n.run, reachScript, targets...)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	reached, last := lines[:len(lines)-1], lines[len(lines)-1]
	if last != "done" {
		return nil, &sandbox.UnavailableError{
			Reason: "whether Pods reach the network is not known: their image has none of bash, python3, node and nc",
			Remedy: "set images.default to an image with one of them, or accept it with sandbox.kubernetes.network: open",
		}
	}
	slices.Sort(reached)
	return slices.Compact(reached), nil
}

// probeOutput returns the output of a script in a Pod like that of a command that is granted
// nothing, also with an error.
func probeOutput(ctx context.Context, run func(context.Context, *sandbox.Command) (*sandbox.Exit, error), script string, args ...string) (string, error) {
	dir, err := os.MkdirTemp("", "skills-mcp-probe-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	var out bytes.Buffer
	_, err = run(ctx, &sandbox.Command{
		RunID: "probe-" + strings.ToLower(rand.Text()), Skill: "probe", Folder: dir, Warm: -1, Limits: sandbox.DefaultLimits(),
		Argv:   append([]string{"/bin/sh", "-c", script, "sh"}, args...),
		Stdout: &out, Progress: func(string) {},
	})
	return out.String(), err
}

// nameserver returns the address of this system's first name server, or "".
func nameserver() string {
	text, _ := os.ReadFile("/etc/resolv.conf")
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "nameserver" {
			return fields[1]
		}
	}
	return ""
}

// listenForPods returns a target for [reachScript] that is a listener of this server's own,
// where that has an address in the cluster; else "". Other Pods would be reached like it.
func (e Egress) listenForPods() (target string, done func()) {
	host, _, err := net.SplitHostPort(e.Address)
	if err != nil || !e.Direct {
		return "", func() {}
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return "", func() {}
	}
	return fmt.Sprintf("other Pods=%s %d", host, listener.Addr().(*net.TCPAddr).Port), func() { _ = listener.Close() }
}
