package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	dockerimage "github.com/docker/docker/api/types/image"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// TestHostileShell runs commands in images whose /bin/sh is not what it should
// be. A driver that uses it must not be deceived or held up by it.
func TestHostileShell(t *testing.T) {
	for name, script := range map[string]string{
		"prints junk":          `print("junk\n0\n\x00\xff" * 100)`,
		"ends at once":         `pass`,
		"fails":                `sys.exit(1)`,
		"hangs":                `time.sleep(3600)`,
		"reads and hangs":      `sys.stdin.buffer.readline(); time.sleep(3600)`,
		"floods":               "while True: os.write(1, b'x' * 65536)",
		"repeats what it gets": `data = sys.stdin.buffer.readline(); os.write(1, data * 3 + b"\n0\n" + data.split()[-1] + b" 0\n") if data else None`,
		"ends by a signal":     `os.kill(os.getpid(), 9)`,
		"closes its output":    `os.close(1); os.close(2); time.sleep(3600)`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // those that hang are waited for
			d := realDriver(t)
			hostile := imageWithShell(t, d, "#!/usr/bin/python3 -SE\nimport os, sys, time\n"+script+"\n")
			d.roles = map[string]string{"default": testImage(), "hostile": hostile}
			runner := sandbox.New(d, nil)
			cmd := *realCommand(t, "echo ran")
			cmd.Role, cmd.Limits.Timeout = "hostile", 5*time.Second
			result, err := runner.Run(t.Context(), cmd)
			// A driver that has no use for the shell is not concerned.
			ran := err == nil && result.Code == 0 && string(result.Stdout.Bytes()) == "ran\n"
			if !ran && (err == nil || len(err.Error()) < 20) {
				t.Errorf("result %+v, error %v; want an error that says what is wrong", result, err)
			}
			cmd.Role = ""
			result, err = runner.Run(t.Context(), cmd)
			if err != nil || string(result.Stdout.Bytes()) != "ran\n" {
				t.Errorf("the next command: result %+v, error %v", result, err)
			}
			if err := runner.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// imageWithShell makes an image of the tests' with another /bin/sh, which is
// removed with the test.
func imageWithShell(t *testing.T, d *Driver, shell string) string {
	t.Helper()
	e, err := d.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	made, err := e.api.ContainerCreate(t.Context(), &container.Config{Image: testImage()}, nil, nil, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	defer e.remove(context.Background(), made.ID)
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	_ = w.WriteHeader(&tar.Header{Name: "sh", Mode: 0o755, Size: int64(len(shell))})
	_, _ = w.Write([]byte(shell))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := e.api.CopyToContainer(t.Context(), made.ID, "/usr/bin", &archive, container.CopyToContainerOptions{}); err != nil {
		t.Fatal(err)
	}
	tagged := "skills-mcp-test:shell-" + strings.ToLower(rand.Text()[:10])
	if _, err := e.api.ContainerCommit(t.Context(), made.ID, container.CommitOptions{Reference: tagged}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		settled(d) // an image with a container cannot be removed
		_ = d.Close()
		if _, err := e.api.ImageRemove(context.Background(), tagged, dockerimage.RemoveOptions{Force: true}); err != nil {
			t.Errorf("remove %s: %v", tagged, err)
		}
	})
	return tagged
}
