package sandboxtest

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

const (
	// markName is the variable that marks every process of an attack.
	markName = "SUITE_MARK"
	// sharedKey is the key of a segment of shared memory, in decimal as the host lists it.
	sharedKey = "1522427489" // 0x5abe5a61
	// secretPrefix begins each secret; no script knows the rest.
	secretPrefix = "host-secret-"
	// settle bounds the time in which the remains of an attack disappear.
	settle = 2 * time.Minute
	// noise is the memory that other processes may allocate meanwhile, in kB.
	noise = 3 << 20
)

// A host is the target of attacks: files, a process and listeners of the host, and
// another call in a sandbox.
type host struct {
	start run

	secret     string // in the secret file, and in the environments of processes
	secretFile string // granted to nobody
	folder     string // the attacks' skill
	workspace  string // the attacks' read-only workspace
	scratch    string // the running attack's writable workspace
	home       string // the home folder of the server's user
	port       string // of the host's listener on all of its addresses
	addresses  []string

	connections atomic.Int32 // that the listeners accepted
	bystander   *bystander   // nil where there are no such processes
	victim      *victim
	available   int // kB of memory before an attack; 0 where it is not known
}

// newHost returns a host whose listeners and process end with the test. It has no
// victim.
func newHost(t *testing.T, start run) *host {
	t.Helper()
	h := &host{start: start, secret: secretPrefix + strings.ToLower(rand.Text())}
	h.secretFile = filepath.Join(Folder(t, map[string]string{"secret": h.secret}), "secret")
	h.folder = Folder(t, map[string]string{"SKILL.md": "skill\n", "scripts/run.sh": "true\n"})
	h.workspace = Folder(t, map[string]string{"note.txt": "note\n"})
	must(t, os.Symlink(h.secretFile, filepath.Join(h.workspace, "leak")))
	h.home, _ = os.UserHomeDir()
	h.listen(t)
	leakDescriptor(t, h.secretFile)
	h.bystander = newBystander(t, "SUITE_SECRET="+h.secret)
	return h
}

// listen starts the listeners that no sandbox may reach.
func (h *host) listen(t *testing.T) {
	t.Helper()
	everywhere, err := net.Listen("tcp", ":0")
	must(t, err)
	_, h.port, _ = net.SplitHostPort(everywhere.Addr().String())
	listeners := []net.Listener{everywhere}
	if runtime.GOOS == "linux" {
		abstract, err := net.Listen("unix", "@skills-mcp-suite-"+h.port)
		must(t, err)
		listeners = append(listeners, abstract)
	}
	var accepting sync.WaitGroup
	for _, l := range listeners {
		accepting.Go(func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				h.connections.Add(1)
				c.Close()
			}
		})
	}
	t.Cleanup(func() {
		for _, l := range listeners {
			l.Close()
		}
		accepting.Wait()
	})
	h.addresses = []string{"127.0.0.1", "::1"}
	all, _ := net.InterfaceAddrs()
	for _, a := range all {
		if ip, ok := a.(*net.IPNet); ok && ip.IP.IsGlobalUnicast() {
			h.addresses = append(h.addresses, ip.IP.String())
		}
	}
}

// A victim is another call, which runs while the attacks do.
type victim struct {
	feed   io.Closer // its standard input; Close ends it
	result *sandbox.Result
	err    error
	ended  chan struct{} // closed by its goroutine, after result and err are set
}

// newVictim starts a victim. It ends with the test.
func newVictim(t *testing.T, h *host) *victim {
	t.Helper()
	stdin, feed, err := os.Pipe()
	must(t, err)
	v := &victim{feed: feed, ended: make(chan struct{})}
	running := make(chan struct{})
	cmd := bash(`echo "$SUITE_SECRET" >/tmp/secret; echo "$SUITE_SECRET" >/out/secret; echo ready >&2; cat; cat /tmp/secret /out/secret`)
	cmd.Folder = h.folder
	cmd.Env = []string{"SUITE_SECRET=" + h.secret}
	cmd.Stdin = stdin
	cmd.Limits.Timeout = time.Hour
	ready := sync.OnceFunc(func() { close(running) })
	cmd.Stderr = writer(func([]byte) { ready() })
	go func() {
		defer close(v.ended)
		v.result, v.err = h.start(t.Context(), cmd)
	}()
	t.Cleanup(func() {
		feed.Close()
		<-v.ended
		stdin.Close()
	})
	select {
	case <-running:
	case <-v.ended:
		t.Fatalf("the victim ended: %v", outcome{result: v.result, err: v.err})
	}
	return v
}

// end ends the victim, whose output must be intact.
func (h *host) end(t *testing.T) {
	t.Helper()
	h.victim.feed.Close()
	<-h.victim.ended
	if err := exactly(strings.Repeat(h.secret+"\n", 2), 0)(outcome{result: h.victim.result, err: h.victim.err}); err != nil {
		t.Errorf("the other call: %v; it ended with %v", err, outcome{result: h.victim.result, err: h.victim.err})
	}
}

// leaked returns an error for a secret in the output or the files of an attack.
func (h *host) leaked(o outcome) error {
	if o.result == nil {
		return nil
	}
	secret := []byte(h.secret)
	if bytes.Contains(o.result.Stdout.Bytes(), secret) || bytes.Contains(o.result.Stderr.Bytes(), secret) {
		return errors.New("the output has the host's secret")
	}
	for _, file := range o.result.Out.Taken {
		if bytes.Contains(file.Data, secret) {
			return fmt.Errorf("the file %q has the host's secret", file.Name)
		}
	}
	return nil
}

// check fails the test where an attack has changed the host or has remains.
func (h *host) check(t *testing.T, mark string) {
	t.Helper()
	for folder, want := range map[string]string{
		filepath.Dir(h.secretFile): "secret -rw-r--r-- " + h.secret,
		h.folder:                   "SKILL.md -rw-r--r-- skill\n scripts drwxr-xr-x scripts/run.sh -rw-r--r-- true\n",
		h.workspace:                "leak Lrwxrwxrwx note.txt -rw-r--r-- note\n",
	} {
		if got := contents(folder); got != want {
			t.Errorf("a folder of the host's has become %q, want %q", got, want)
		}
	}
	if n := h.connections.Swap(0); n > 0 {
		t.Errorf("%d connections reached the host", n)
	}
	if !h.bystander.alive() {
		t.Error("a process of the host's was ended")
	}
	select {
	case <-h.victim.ended:
		t.Fatalf("the other call was ended: %v", outcome{result: h.victim.result, err: h.victim.err})
	default:
	}
	h.checkGone(t, mark)
	h.checkWorks(t)
}

// checkGone waits until no process, mount or memory of the attack is left.
func (h *host) checkGone(t *testing.T, mark string) {
	t.Helper()
	deadline := time.Now().Add(settle)
	for {
		left := h.left(mark)
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("left behind: %q", left)
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// left returns the remains of an attack: its processes, mounts and memory, as far as the
// host can be inspected.
func (h *host) left(mark string) []string {
	var left []string
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range environs {
		if data, err := os.ReadFile(name); err == nil && bytes.Contains(data, []byte(mark)) {
			left = append(left, "process "+name)
		}
	}
	table, _ := os.ReadFile("/proc/self/mountinfo")
	for line := range strings.Lines(string(table)) {
		if strings.Contains(line, filepath.Dir(h.folder)) {
			left = append(left, "mount "+line)
		}
	}
	if table, err := os.ReadFile("/proc/sysvipc/shm"); err == nil && bytes.Contains(table, []byte(sharedKey)) {
		left = append(left, "shared memory")
	}
	if now := availableMemory(); now < h.available-noise {
		left = append(left, fmt.Sprintf("%d of %d kB memory", now, h.available))
	}
	return left
}

// checkWorks runs a harmless command, whose output must be its own.
func (h *host) checkWorks(t *testing.T) {
	t.Helper()
	cmd := bash("echo ok; ls /tmp /out")
	cmd.Folder = h.folder
	result, err := h.start(t.Context(), cmd)
	if err := exactly("ok\n/out:\n\n/tmp:\n", 0)(outcome{result: result, err: err}); err != nil {
		t.Errorf("the next call: %v; it ended with %v", err, outcome{result: result, err: err})
	}
}

// availableMemory returns the memory that is available on the host in kB, or 0 where that
// is not known.
func availableMemory() int {
	info, _ := os.ReadFile("/proc/meminfo")
	for line := range strings.Lines(string(info)) {
		var kB int
		if n, _ := fmt.Sscanf(line, "MemAvailable: %d kB", &kB); n == 1 {
			return kB
		}
	}
	return 0
}

// contents returns the names, modes and contents of a small folder's files.
func contents(folder string) string {
	var all []string
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == folder {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(folder, path)
		all = append(all, name, info.Mode().String())
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			all = append(all, string(data))
			return err
		}
		return nil
	})
	if err != nil {
		all = append(all, err.Error())
	}
	return strings.Join(all, " ")
}

// openToAll makes a folder writable for all users: commands may run as nobody.
func openToAll(folder string) error { return os.Chmod(folder, 0o777) }
