package integration

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

const operatorToken = "0123456789abcdef0123"

// An operated server is a process that a test signals.
type operated struct {
	t      *testing.T
	dir    string
	url    string
	client *http.Client
	cmd    *exec.Cmd
	ended  chan error

	mu  sync.Mutex
	log bytes.Buffer
}

func (o *operated) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.log.Write(p)
}

func (o *operated) said() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.log.String()
}

// until waits for a condition that has no event.
func (o *operated) until(what string, holds func() bool) {
	o.t.Helper()
	for end := time.Now().Add(lab.Patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			o.t.Fatalf("not %s:\n%s", what, o.said())
		}
	}
}

// operate starts a command with a home in dir; url is where the server will be.
func operate(t *testing.T, dir, url string, command ...string) *operated {
	t.Helper()
	o := &operated{t: t, dir: dir, url: url, client: &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}}, ended: make(chan error, 1)}
	o.cmd = exec.Command(command[0], command[1:]...)
	o.cmd.Dir, o.cmd.Stdout, o.cmd.Stderr = dir, o, o
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "XDG_") && !strings.HasPrefix(v, "HOME=") {
			o.cmd.Env = append(o.cmd.Env, v)
		}
	}
	o.cmd.Env = append(o.cmd.Env, "HOME="+dir, "SKILLS_MCP_TOKEN="+operatorToken)
	if err := o.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { o.ended <- o.cmd.Wait() }()
	t.Cleanup(func() {
		o.client.CloseIdleConnections()
		_ = o.cmd.Process.Kill()
	})
	o.until("ready", func() bool { return o.status("/readyz") == 200 })
	return o
}

func (o *operated) status(path string) int {
	response, err := o.client.Get(o.url + path)
	if err != nil {
		return 0
	}
	response.Body.Close()
	return response.StatusCode
}

// ask sends a request of MCP, and returns the status and the answer.
func (o *operated) ask(method, name, params string) (int, string) {
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	r, err := http.NewRequest("POST", o.url+"/mcp", strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s%s}}`, method, params, meta)))
	if err != nil {
		return 0, err.Error()
	}
	for key, value := range map[string]string{"Authorization": "Bearer " + operatorToken, "Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name} {
		r.Header.Set(key, value)
	}
	response, err := o.client.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, string(body) + fmt.Sprint(err)
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// certify writes a certificate with a serial number, and its key.
func certify(t *testing.T, dir string, serial int64) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	secret, err2 := x509.MarshalPKCS8PrivateKey(key)
	err = errors.Join(err, err2, os.WriteFile(filepath.Join(dir, "key.pem"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600),
		os.WriteFile(filepath.Join(dir, "cert.pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	if err != nil {
		t.Fatal(err)
	}
}

// operatedDir has two skills, and a configuration.
func operatedDir(t *testing.T, configuration string) string {
	t.Helper()
	dir := t.TempDir()
	lab.WriteFile(t, filepath.Join(dir, ".config/skills-mcp/config.yaml"), configuration)
	for _, name := range []string{"ash", "oak"} {
		lab.WriteFile(t, filepath.Join(dir, "skills", name, "SKILL.md"), "---\nname: "+name+"\ndescription: Waits for a file, named "+name+"\nclass: safe\nscript: wait.sh\n---\n")
		lab.WriteFile(t, filepath.Join(dir, "skills", name, "wait.sh"), "#!/bin/sh\nwhile [ ! -e /workspace/go ]; do sleep 0.05; done\necho went on\n")
	}
	lab.WriteFile(t, filepath.Join(dir, "work/README"), "")
	return dir
}

// A certificate, its key and the configuration change while ten clients ask over HTTP/2: no
// request fails, and later connections and lists have the new ones. Then a call runs, and the
// server is told to end: it is not ready, refuses further calls, and ends well after the call.
func TestOperated(t *testing.T) {
	address := freePort(t)
	dir := operatedDir(t, "serve: {tls: {cert: ../../cert.pem, key: ../../key.pem}}\n")
	certify(t, dir, 1)
	o := operate(t, dir, "https://"+address, lab.Binary, "serve", "--transport", "http", "--listen", address, "--sandbox", "native", "--skills", "skills", "--workspace", "work", "--log-level", "info")

	stop := make(chan struct{})
	var clients sync.WaitGroup
	for range 10 {
		clients.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if status, body := o.ask("tools/list", "", ""); status != 200 || !strings.Contains(body, `"ash"`) {
					t.Errorf("%d %.300s", status, body)
					return
				}
			}
		})
	}
	if _, body := o.ask("tools/list", "", ""); !strings.Contains(body, `"oak"`) {
		t.Errorf("%.300s", body)
	}
	certify(t, dir, 2)
	lab.WriteFile(t, filepath.Join(dir, ".config/skills-mcp/config.yaml"), "serve: {tls: {cert: ../../cert.pem, key: ../../key.pem}, title: Later}\npolicy: {deny: [oak], passphrase: \"\"}\n")
	o.signal(syscall.SIGHUP)
	o.until("read again", func() bool { return strings.Contains(o.said(), "key=serve.title") })
	for _, want := range []string{`key=policy.deny old=none new=oak counts=now`, `key=serve.title old=Skills new=Later counts="at the next start"`} {
		if !strings.Contains(o.said(), want) {
			t.Errorf("the log has no %s:\n%s", want, o.said())
		}
	}
	o.until("without oak", func() bool { _, body := o.ask("tools/list", "", ""); return !strings.Contains(body, `"oak"`) })
	if c, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true}); err != nil {
		t.Error(err)
	} else {
		if serial := c.ConnectionState().PeerCertificates[0].SerialNumber.Int64(); serial != 2 {
			t.Errorf("the certificate %d is served", serial)
		}
		c.Close()
	}
	lab.WriteFile(t, filepath.Join(dir, ".config/skills-mcp/config.yaml"), "serve: {nonsense: 1}\n")
	o.signal(syscall.SIGHUP)
	o.until("refused", func() bool { return strings.Contains(o.said(), "the former one stays") })
	close(stop)
	clients.Wait()

	called := make(chan string, 1)
	go func() {
		status, body := o.ask("tools/call", "ash", `"name":"ash","arguments":{},`)
		called <- fmt.Sprint(status, " ", body)
	}()
	o.until("running", func() bool { return o.runs() })
	o.signal(syscall.SIGTERM)
	o.until("unready", func() bool { return o.status("/readyz") == 503 })
	if status, body := o.ask("tools/call", "ash", `"name":"ash","arguments":{},`); status != 503 || !strings.Contains(body, "shutting down") {
		t.Errorf("a further call: %d %s", status, body)
	}
	if status := o.status("/healthz"); status != 200 {
		t.Errorf("healthz: %d", status)
	}
	lab.WriteFile(t, filepath.Join(dir, "work/go"), "")
	if got := <-called; !strings.HasPrefix(got, "200 ") || !strings.Contains(got, "went on") {
		t.Errorf("the call: %s", got)
	}
	if err := <-o.ended; err != nil {
		t.Errorf("%v:\n%s", err, o.said())
	}
}

func (o *operated) signal(s os.Signal) {
	o.t.Helper()
	if err := o.cmd.Process.Signal(s); err != nil {
		o.t.Fatal(err)
	}
}

// runs reports whether a script waits in a sandbox. The tests that start one are not parallel.
func (o *operated) runs() bool {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range all {
		line, _ := os.ReadFile(file)
		if strings.Contains(string(line), "wait.sh") {
			return true
		}
	}
	return false
}

// A second signal ends calls that run at once.
func TestSecondSignal(t *testing.T) {
	address := freePort(t)
	dir := operatedDir(t, "serve: {drain: 10m}\n")
	o := operate(t, dir, "http://"+address, lab.Binary, "serve", "--transport", "http", "--listen", address, "--sandbox", "native", "--skills", "skills", "--workspace", "work")
	go o.ask("tools/call", "ash", `"name":"ash","arguments":{},`)
	o.until("running", func() bool { return o.runs() })
	o.signal(syscall.SIGTERM)
	o.until("unready", func() bool { return o.status("/readyz") == 503 })
	o.signal(syscall.SIGTERM)
	select {
	case err := <-o.ended:
		if err != nil || !strings.Contains(o.said(), "calls that still run are cancelled") {
			t.Errorf("%v:\n%s", err, o.said())
		}
	case <-time.After(lab.Patience):
		t.Error("it still runs")
	}
}

// systemd listens, and starts the server at the first connection.
func TestSocketActivation(t *testing.T) {
	t.Parallel()
	activate, err := exec.LookPath("systemd-socket-activate")
	if err != nil {
		t.Skip("NOT TESTED: there is no systemd-socket-activate (package systemd)")
	}
	address := freePort(t)
	dir := operatedDir(t, "")
	o := operate(t, dir, "http://"+address, activate, "-l", address, "-E", "HOME", "-E", "SKILLS_MCP_TOKEN", "-E", "PATH", lab.Binary, "serve", "--transport", "http", "--sandbox", "native", "--skills", "skills", "--workspace", "work")
	if _, body := o.ask("tools/list", "", ""); !strings.Contains(body, `"ash"`) || !strings.Contains(o.said(), "serving MCP at http://"+address+"/mcp") {
		t.Errorf("%.300s\n%s", body, o.said())
	}
	o.signal(syscall.SIGTERM)
	if err := <-o.ended; err != nil {
		t.Error(err)
	}
}

// The image serves as another user than root on a read-only root, and a call through it runs in
// a container of the engine.
func TestImage(t *testing.T) {
	t.Parallel()
	const socket = "/var/run/docker.sock"
	base := os.Getenv("SKILLS_MCP_TEST_IMAGE")
	info, err := os.Stat(socket)
	if err != nil || base == "" || os.Getuid() != 0 {
		t.Skip("NOT TESTED: there is no engine at " + socket + ", no SKILLS_MCP_TEST_IMAGE, or the test is not root")
	}
	docker := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("docker", append([]string{"--host", "unix://" + socket}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("docker %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	beside, state := t.TempDir(), operatedDir(t, "images: {default: "+base+"}\n")
	lab.WriteFile(t, filepath.Join(state, "work/go"), "")
	recipe, err := os.ReadFile("../docs/packaging/Dockerfile")
	program, err2 := os.ReadFile(lab.Binary)
	if err = errors.Join(err, err2, os.WriteFile(filepath.Join(beside, "Dockerfile"), recipe, 0o600), os.WriteFile(filepath.Join(beside, "skills-mcp"), program, 0o755), os.WriteFile(filepath.Join(beside, "ca-certificates.crt"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	err = filepath.Walk(state, func(name string, _ os.FileInfo, err error) error {
		return errors.Join(err, os.Lchown(name, 65532, 65532))
	})
	if err = errors.Join(err, os.Chmod(filepath.Dir(state), 0o755)); err != nil {
		t.Fatal(err)
	}
	image, address := docker("build", "-q", beside), freePort(t)
	lines := strings.Fields(image)
	image = lines[len(lines)-1]
	id := docker("run", "-d", "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--group-add", fmt.Sprint(info.Sys().(*syscall.Stat_t).Gid),
		"-e", "HOME="+state, "-e", "SKILLS_MCP_TOKEN="+operatorToken, "-v", state+":"+state, "-v", socket+":"+socket, "-p", address+":8765",
		image, "serve", "--transport", "http", "--listen", "0.0.0.0:8765", "--sandbox", "docker", "--skills", state+"/skills", "--workspace", state+"/work")
	t.Cleanup(func() { docker("rm", "-f", id); docker("rmi", image) })
	o := &operated{t: t, url: "http://" + address, client: &http.Client{}}
	defer o.client.CloseIdleConnections()
	o.until("ready", func() bool { return o.status("/readyz") == 200 })
	if status, body := o.ask("tools/call", "ash", `"name":"ash","arguments":{},`); status != 200 || !strings.Contains(body, "went on") || strings.Contains(body, `"isError":true`) {
		t.Errorf("%d %s\n%s", status, body, docker("logs", id))
	}
	docker("kill", "-s", "TERM", id)
	if code := docker("wait", id); code != "0" {
		t.Errorf("it ended with %s", code)
	}
}
