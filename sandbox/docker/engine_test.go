package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/system"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

func TestConnectRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*fakeEngine)
		want   string
	}{
		"old API":         {func(f *fakeEngine) { f.api = "1.39" }, "API version 1.39"},
		"Windows":         {func(f *fakeEngine) { f.info["OSType"] = "windows" }, "windows containers"},
		"unknown runtime": {func(f *fakeEngine) {}, `no runtime "runsc"; it has runc`},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			test.change(f)
			_, err := f.driver(t, Options{Runtime: "runsc"}).Run(t.Context(), command())
			var unavailable *sandbox.UnavailableError
			if !errors.As(err, &unavailable) || !strings.Contains(unavailable.Reason, test.want) || unavailable.Remedy == "" {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

// Calls that come together while no engine is known ask for it once.
func TestConnectOnce(t *testing.T) {
	f := newFake(t)
	d := f.driver(t, Options{})
	errs := make(chan error)
	for range 5 {
		go func() {
			_, err := d.connect(t.Context())
			errs <- err
		}()
	}
	for range 5 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if n := f.count("GET /info"); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

func TestConnectPodman(t *testing.T) {
	f := newFake(t)
	f.fault("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		respond(w, 200, map[string]any{"Version": "5.0", "Components": []map[string]string{{"Name": "Podman Engine"}}})
	})
	e, err := f.driver(t, Options{}).connect(t.Context())
	if err != nil || e.kind != "podman" {
		t.Errorf("engine %+v, error %v", e, err)
	}
}

func TestNoEngine(t *testing.T) {
	denied := fmt.Errorf("dial: %w", fs.ErrPermission)
	absent := errors.New("cannot connect")
	for name, test := range map[string]struct {
		failures []failure
		want     []string
	}{
		"none":       {[]failure{{"unix:///a.sock", absent}, {"unix:///b.sock", absent}}, []string{"no Docker engine answers at /a.sock, /b.sock", "sandbox.driver: native"}},
		"permission": {[]failure{{"unix:///a.sock", absent}, {"unix:///b.sock", denied}}, []string{"unix:///b.sock", "group docker"}},
	} {
		t.Run(name, func(t *testing.T) {
			err := noEngine(test.failures)
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
			if !errors.Is(err, test.failures[1].err) {
				t.Error("the cause is not kept for the log")
			}
		})
	}
}

// TestNotLocal wants an engine that cannot mount this machine's folders to be refused,
// with the remedy.
func TestNotLocal(t *testing.T) {
	for _, host := range []string{"ssh://me@far", "tcp://127.0.0.1:2375"} {
		d := New(&Options{Host: host})
		_, err := d.Run(context.Background(), command())
		if err == nil || !strings.Contains(err.Error(), host) || !strings.Contains(err.Error(), "unix:///") {
			t.Errorf("error %v", err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

// An engine on this machine may still not see its folders, as from within a container.
func TestBlindEngine(t *testing.T) {
	f := newFake(t)
	d := f.driver(t, Options{})
	cmd := command()
	cmd.Folder = t.TempDir()
	f.blind = cmd.Folder
	var unavailable *sandbox.UnavailableError
	if _, err := d.Run(t.Context(), cmd); !errors.As(err, &unavailable) || !strings.Contains(unavailable.Remedy, "share that folder with the engine") {
		t.Errorf("error %v", err)
	}
}

func TestChooseRuntime(t *testing.T) {
	info := func(names ...string) system.Info {
		i := system.Info{Runtimes: map[string]system.RuntimeWithStatus{}}
		for _, name := range names {
			i.Runtimes[name] = system.RuntimeWithStatus{}
		}
		return i
	}
	for _, test := range []struct {
		wanted string
		info   system.Info
		want   string
	}{
		{"", info("runc", "runsc"), ""},
		{"runc", info("runc", "runsc"), "runc"},
		{RuntimeAuto, info("runc", "runsc", "kata"), "runsc"},
		{RuntimeAuto, info("runc", "io.containerd.kata.v2"), "io.containerd.kata.v2"},
		{RuntimeAuto, info("runc", "io.containerd.runc.v2"), ""},
	} {
		if got, err := chooseRuntime(test.wanted, test.info); err != nil || got != test.want {
			t.Errorf("%q of %v: %q, %v; want %q", test.wanted, test.info.Runtimes, got, err, test.want)
		}
	}
}

func TestCheck(t *testing.T) {
	f := newFake(t)
	f.info["PidsLimit"] = false
	f.info["SecurityOptions"] = []string{"name=seccomp,profile=unconfined", "name=rootless"}
	d := f.driver(t, Options{Images: map[string]string{"default": "base", "node": "node:22-slim"}})
	got := map[string]sandbox.Level{}
	for _, finding := range d.Check(t.Context()) {
		got[finding.Subject] = finding.Level
		if finding.Detail == "" || (finding.Level == sandbox.LevelOK) != (finding.Remedy == "") {
			t.Errorf("finding %+v: wants a detail, and a remedy unless all is well", finding)
		}
	}
	for subject, want := range map[string]sandbox.Level{
		"engine": sandbox.LevelOK, "runtime": sandbox.LevelOK, "limits": sandbox.LevelFailed, "seccomp": sandbox.LevelWarning,
		"users": sandbox.LevelWarning, "image default": sandbox.LevelOK, "image node": sandbox.LevelWarning,
	} {
		if got[subject] != want {
			t.Errorf("%s: %q, want %q", subject, got[subject], want)
		}
	}
	if f.count("POST /images/create") > 0 {
		t.Error("a check pulled an image")
	}
}

func TestCheckNoEngine(t *testing.T) {
	d := New(&Options{Host: "/nowhere/docker.sock"})
	defer d.Close()
	findings := d.Check(t.Context())
	if len(findings) != 1 || findings[0].Level != sandbox.LevelFailed || findings[0].Remedy == "" {
		t.Errorf("findings %+v", findings)
	}
}
