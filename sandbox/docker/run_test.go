package docker

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/shellproto"
)

func TestRun(t *testing.T) {
	f := newFake(t)
	f.output, f.code = "hello", 7
	d := f.driver(t, Options{})
	var out bytes.Buffer
	started := 0
	cmd := command()
	cmd.Stdout = &out
	cmd.Started = func() { started++ }
	exit, err := d.Run(t.Context(), cmd)
	if err != nil {
		t.Fatal(err)
	}
	if exit.Code != 7 || exit.Sandbox != "docker (runc)" || out.String() != "hello" || started != 1 {
		t.Errorf("exit %+v, output %q, started %d times", exit, &out, started)
	}
}

// Whatever fails, the error says what to do, Started is called only when the
// command can have run, and (see driver) no container is left.
func TestRunFailure(t *testing.T) {
	for name, test := range map[string]struct {
		route   string
		fault   http.HandlerFunc
		reason  string
		started bool
	}{
		"image lookup fails":   {"GET /images/{ref}/json", says(500, "disk on fire"), "could not look up the image base: disk on fire", false},
		"image lookup dropped": {"GET /images/{ref}/json", drops, "went away", false},
		"create fails":         {"POST /containers/create", says(500, "no space left on device"), "disk is full", false},
		"folder not seen":      {"POST /containers/create", says(400, "invalid mount config for type \"bind\": bind source path does not exist: /snapshot"), "/snapshot", false},
		"folder not shared":    {"POST /containers/create", says(500, "Mounts denied: \nThe path /snapshot is not shared from the host"), "/snapshot", false},
		"create dropped":       {"POST /containers/create", drops, "went away", false},
		"attach refused":       {"POST /containers/{id}/attach", says(500, "no"), "could not connect to the sandbox", false},
		"attach dropped":       {"POST /containers/{id}/attach", drops, "went away", false},
		"start refused":        {"POST /containers/{id}/start", says(400, "OCI runtime create failed: out of luck"), "out of luck", false},
		"start dropped":        {"POST /containers/{id}/start", drops, "went away", false},
		"wait fails":           {"POST /containers/{id}/wait", says(500, "no"), "could not wait for the command", true},
		"wait dropped":         {"POST /containers/{id}/wait", drops, "went away", true},
		"inspect dropped":      {"GET /containers/{id}/json", drops, "went away", true},
		"removed from outside": {"GET /containers/{id}/json", says(404, "No such container: c1"), "removed from outside", true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.code = fakeLost
			f.fault(test.route, test.fault)
			started := false
			cmd := command()
			cmd.Started = func() { started = true }
			d := f.driver(t, Options{})
			exit, err := d.Run(t.Context(), cmd)
			var unavailable *sandbox.UnavailableError
			if exit != nil || !errors.As(err, &unavailable) {
				t.Fatalf("exit %v, error %v; want an unavailable sandbox", exit, err)
			}
			if !strings.Contains(unavailable.Reason, test.reason) || unavailable.Remedy == "" || unavailable.Err == nil {
				t.Errorf("reason %q, remedy %q, cause %v; want %q", unavailable.Reason, unavailable.Remedy, unavailable.Err, test.reason)
			}
			if started != test.started {
				t.Errorf("started: %v, want %v", started, test.started)
			}
			f.fault(test.route, nil)
			f.set(func() { f.code = 0 })
			if _, err := d.Run(t.Context(), command()); err != nil {
				t.Errorf("after the fault is gone: %v", err)
			}
		})
	}
}

// An engine that does not answer keeps nobody who gives up, and its container
// is removed once it does answer.
func TestRunGivenUp(t *testing.T) {
	for _, route := range []string{
		"GET /info",
		"GET /images/{ref}/json",
		"POST /containers/create",
		"POST /containers/{id}/attach",
		"POST /containers/{id}/start",
		"POST /containers/{id}/wait",
		"DELETE /containers/{id}",
	} {
		t.Run(route, func(t *testing.T) {
			f := newFake(t)
			if route == "POST /containers/{id}/wait" {
				f.code = fakeLost
			}
			asked, awake := make(chan struct{}, 8), make(chan struct{})
			real := f.handler()
			f.fault(route, func(w http.ResponseWriter, r *http.Request) {
				asked <- struct{}{}
				<-awake
				f.fault(route, nil)
				real.ServeHTTP(w, r)
			})
			d := f.driver(t, Options{})
			ctx, cancel := canceled(t)
			cause := errors.New("gave up")
			ended := make(chan error, 1)
			go func() {
				_, err := d.Run(ctx, command())
				ended <- err
			}()
			<-asked
			cancel(cause)
			err := <-ended
			if finished := route == "DELETE /containers/{id}"; finished != (err == nil) || !finished && !errors.Is(err, cause) {
				t.Errorf("error %v", err)
			}
			close(awake)
		})
	}
}

func TestRunAfterClose(t *testing.T) {
	f := newFake(t)
	d := f.driver(t, Options{})
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Run(t.Context(), command()); !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("error %v, want %v", err, sandbox.ErrClosed)
	}
	if f.count("HEAD /_ping") > 0 {
		t.Error("an engine was contacted that nobody needed")
	}
}

func TestCloseEndsRuns(t *testing.T) {
	f := newFake(t)
	f.hang = true
	d := f.driver(t, Options{})
	started := make(chan struct{})
	cmd := command()
	cmd.Started = func() { close(started) }
	ended := make(chan error, 1)
	go func() {
		_, err := d.Run(t.Context(), cmd)
		ended <- err
	}()
	<-started
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("error %v, want %v", err, sandbox.ErrClosed)
	}
}

// A reader that never takes the output does not keep a run from ending, and is
// not written to again.
func TestRunReaderBlocks(t *testing.T) {
	f := newFake(t)
	f.output, f.hang = "more than is read", true
	d := f.driver(t, Options{})
	ctx, cancel := canceled(t)
	blocked := make(chan struct{})
	defer close(blocked)
	cmd := command()
	cmd.Stdout = writerFunc(func(p []byte) (int, error) {
		cancel(context.Canceled)
		<-blocked
		return len(p), nil
	})
	if _, err := d.Run(ctx, cmd); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the cancellation", err)
	}
}

func TestRunPanic(t *testing.T) {
	f := newFake(t)
	d := f.driver(t, Options{})
	cmd := command()
	cmd.Started = func() { panic("of the caller") }
	defer func() {
		if recover() == nil {
			t.Error("the panic was swallowed")
		}
	}()
	_, _ = d.Run(t.Context(), cmd)
}

func TestProgramMissing(t *testing.T) {
	f := newFake(t)
	d := f.driver(t, Options{})
	for range 2 {
		cmd := command()
		cmd.Argv = []string{"node", "run.js"}
		cmd.Started = func() { t.Error("started") }
		_, err := d.Run(t.Context(), cmd)
		var unavailable *sandbox.UnavailableError
		if !errors.As(err, &unavailable) {
			t.Fatalf("error %v", err)
		}
		want := `the image base of the role "default" has no program "node"; set images.default to an image that has it`
		if err.Error() != want {
			t.Errorf("error %q, want %q", err, want)
		}
	}
}

func TestRemoveAgain(t *testing.T) {
	f := newFake(t)
	failed := make(chan struct{})
	f.fault("DELETE /containers/{id}", func(w http.ResponseWriter, r *http.Request) {
		f.fault("DELETE /containers/{id}", nil)
		says(500, "device busy")(w, r)
		close(failed)
	})
	d := f.driver(t, Options{})
	if _, err := d.Run(t.Context(), command()); err != nil {
		t.Error(err)
	}
	<-failed
}

// Containers of others are left alone, whatever happens to ours.
func TestCloseSweeps(t *testing.T) {
	f := newFake(t)
	d := f.driver(t, Options{})
	d.owner.retries = nil
	f.fault("DELETE /containers/{id}", says(500, "device busy"))
	if _, err := d.Run(t.Context(), command()); err != nil {
		t.Fatal(err)
	}
	settled(d)
	f.fault("DELETE /containers/{id}", nil)
	other := &fakeContainer{end: func() {}}
	other.request.Config = &container.Config{Labels: map[string]string{labelInstance: "theirs"}}
	f.mu.Lock()
	f.containers["other"] = other
	f.mu.Unlock()
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.containers) != 1 || f.containers["other"] == nil {
		t.Errorf("left are %v, want only the other's", f.containers)
	}
	clear(f.containers)
}

func TestEngineComesBack(t *testing.T) {
	f := newFake(t)
	f.hang = true
	d := f.driver(t, Options{})
	cmd := command()
	cmd.Started = f.stop
	_, err := d.Run(t.Context(), cmd)
	var unavailable *sandbox.UnavailableError
	if !errors.As(err, &unavailable) {
		t.Fatalf("error %v, want an unavailable engine", err)
	}
	if _, err := d.Run(t.Context(), command()); !errors.As(err, &unavailable) || !strings.Contains(err.Error(), f.socket) {
		t.Errorf("error %v, want an unavailable engine and its address", err)
	}
	f.set(func() { f.hang = false })
	f.listen(t)
	if _, err := d.Run(t.Context(), command()); err != nil {
		t.Errorf("after the engine came back: %v", err)
	}
}

// A command's input is for the container that runs it: one that ends before it
// has begun leaves it to the next.
func TestRunNotBegun(t *testing.T) {
	f := newFake(t)
	d := f.driver(t, Options{})
	e, err := d.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := net.Pipe()
	go func() {
		_, _ = bufio.NewReader(theirs).ReadString('\n')
		_ = theirs.Close()
	}()
	// The engine knows of no such container.
	b := &instance{engine: e, id: "c1", shell: shellproto.NewShell(newConn(types.NewHijackedResponse(ours, "")), nil)}
	defer b.shell.Close()
	cmd := command()
	stdin := strings.NewReader("input")
	cmd.Stdin = stdin
	cmd.Started = func() { t.Error("it is said to have begun") }
	if _, err := b.run(t.Context(), cmd, &image{}); !errors.Is(err, errStale) {
		t.Errorf("error %v, want %v", err, errStale)
	}
	if stdin.Len() != len("input") {
		t.Errorf("%d bytes of the input are left", stdin.Len())
	}
}
