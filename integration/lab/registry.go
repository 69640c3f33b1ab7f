package lab

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// hasRegistry reports whether scripts may start a registry. Under CI they have to.
func hasRegistry() bool {
	_, err := exec.LookPath("docker-registry")
	return err == nil || os.Getenv("CI") == "true"
}

// registry starts a registry for the rest of a script. The variable REGISTRY is its
// "host:port".
func registry(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: registry")
	}
	address, stop, err := StartRegistry(ts.Getenv("WORK"))
	ts.Check(err)
	ts.Defer(stop)
	ts.Setenv("REGISTRY", address)
}

// StartRegistry starts an OCI registry, Debian's docker-registry, with its configuration in a
// folder, and returns its "host:port".
func StartRegistry(dir string) (address string, stop func(), err error) {
	config := filepath.Join(dir, ".registry.yml")
	if err := os.WriteFile(config, []byte("version: 0.1\nlog: {level: info}\nstorage: {inmemory: {}}\nhttp: {addr: \"127.0.0.1:0\", relativeurls: true}\n"), 0o600); err != nil {
		return "", nil, err
	}
	command := exec.Command("docker-registry", "serve", config)
	command.Env = []string{"OTEL_TRACES_EXPORTER=none"}
	log, err := command.StderrPipe()
	if err != nil {
		return "", nil, err
	}
	if err := command.Start(); err != nil {
		return "", nil, err
	}
	read := make(chan struct{}) // closed when the log has ended
	stop = func() {
		command.Process.Kill()
		<-read
		command.Wait()
	}
	found := make(chan string, 1)
	go func() {
		defer close(read)
		for lines := bufio.NewScanner(log); lines.Scan(); {
			if _, rest, ok := strings.Cut(lines.Text(), "listening on "); ok && len(found) == 0 {
				at, _, _ := strings.Cut(rest, `"`)
				found <- at
			}
		}
	}()
	select {
	case at := <-found:
		return at, stop, nil
	case <-read:
		stop()
		return "", nil, errors.New("the registry does not listen")
	}
}
