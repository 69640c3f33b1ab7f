package docker

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/volume"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// remoteEngine returns options for the real engine as one on another machine: it
// is reached over TCP, where nothing says that it is this one.
func remoteEngine(t *testing.T) *Options {
	t.Helper()
	options := realEngine(t)
	d := New(options)
	e, err := d.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	socket, found := strings.CutPrefix(e.host, "unix://")
	if err := d.Close(); err != nil || !found {
		t.Fatalf("no socket: %s, %v", e.host, err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			all.Go(func() { forward(conn.(*net.TCPConn), socket) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		all.Wait()
	})
	options.Host = "tcp://" + listener.Addr().String()
	return options
}

// forward passes everything on to a socket, the end of each direction by itself.
func forward(conn *net.TCPConn, socket string) {
	defer conn.Close()
	to, err := net.Dial("unix", socket)
	if err != nil {
		return
	}
	defer to.Close()
	var both sync.WaitGroup
	both.Go(func() {
		_, _ = io.Copy(to, conn)
		_ = to.(*net.UnixConn).CloseWrite()
	})
	_, _ = io.Copy(conn, to)
	_ = conn.CloseWrite()
	both.Wait()
}

// volumes returns how many volumes a driver has on its engine.
func volumes(t *testing.T, e *engine, d *Driver) int {
	t.Helper()
	found, err := e.api.VolumeList(t.Context(), volume.ListOptions{Filters: filters.NewArgs(filters.Arg("label", labelInstance+"="+d.instance))})
	if err != nil {
		t.Fatal(err)
	}
	return len(found.Volumes)
}

func TestCopyIn(t *testing.T) {
	d := New(remoteEngine(t))
	cmd := realCommand(t, `cat lib/data; readlink link; ./tool; touch x 2>/dev/null || echo read-only; echo left >/out/file`)
	for name, content := range map[string]string{"lib/data": "data\n", "tool": "#!/bin/sh\necho tool\n"} {
		file := filepath.Join(cmd.Folder, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(content), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("lib/data", filepath.Join(cmd.Folder, "link")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		var out bytes.Buffer
		again := *cmd
		again.Stdout = &out
		exit, err := d.Run(t.Context(), &again)
		if err != nil {
			t.Fatal(err)
		}
		if want := "data\nlib/data\ntool\nread-only\n"; out.String() != want {
			t.Errorf("printed %q, want %q", &out, want)
		}
		if len(exit.Out.Taken) != 1 || string(exit.Out.Taken[0].Data) != "left\n" {
			t.Errorf("left %+v", exit.Out)
		}
	}
	e := d.engine.Load()
	if n := volumes(t, e, d); n != 1 {
		t.Errorf("%d copies of one folder", n)
	}
	cmd.Grant.Workspaces = []string{t.TempDir()}
	var unavailable *sandbox.UnavailableError
	if _, err := d.Run(t.Context(), cmd); !errors.As(err, &unavailable) || !strings.Contains(err.Error(), "workspace") {
		t.Errorf("with a workspace: error %v", err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if n := volumes(t, e, d); n != 0 {
		t.Errorf("%d copies are left", n)
	}
}

// An engine on this machine may still not see its folders, as from within a
// container.
func TestBlindEngine(t *testing.T) {
	f := newFake(t)
	d := f.driver(t, Options{})
	cmd := command()
	cmd.Folder = t.TempDir()
	f.blind = cmd.Folder
	if exit, err := d.Run(t.Context(), cmd); err != nil || exit.Code != 0 {
		t.Errorf("exit %+v, error %v", exit, err)
	}
	if !d.engine.Load().apart() {
		t.Error("the engine still is asked to mount")
	}
}
