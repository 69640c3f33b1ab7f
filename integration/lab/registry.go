package lab

import (
	"bufio"
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

// registry starts an OCI registry, Debian's docker-registry, for the rest of a script. The
// variable REGISTRY is its "host:port".
func registry(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: registry")
	}
	config := filepath.Join(ts.Getenv("WORK"), ".registry.yml")
	ts.Check(os.WriteFile(config, []byte("version: 0.1\nlog: {level: info}\nstorage: {inmemory: {}}\nhttp: {addr: \"127.0.0.1:0\", relativeurls: true}\n"), 0o600))
	command := exec.Command("docker-registry", "serve", config)
	command.Env = []string{"OTEL_TRACES_EXPORTER=none"}
	log, err := command.StderrPipe()
	ts.Check(err)
	ts.Check(command.Start())
	read := make(chan struct{}) // closed when the log has ended
	ts.Defer(func() {
		command.Process.Kill()
		<-read
		command.Wait()
	})
	address := make(chan string, 1)
	go func() {
		defer close(read)
		for lines := bufio.NewScanner(log); lines.Scan(); {
			if _, rest, ok := strings.Cut(lines.Text(), "listening on "); ok && len(address) == 0 {
				at, _, _ := strings.Cut(rest, `"`)
				address <- at
			}
		}
	}()
	select {
	case at := <-address:
		ts.Setenv("REGISTRY", at)
	case <-read:
		ts.Fatalf("the registry does not listen")
	}
}
