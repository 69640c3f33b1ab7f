package lab

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// DockerCommand is the docker client's, for the engine at host or, where that is
// "", the client's own.
func DockerCommand(ctx context.Context, host string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "docker", args...)
	if host != "" {
		cmd.Env = append(os.Environ(), "DOCKER_HOST="+host)
	}
	return cmd
}

// Containers returns the ids of those that an engine has, running or not. What it
// only lists is none: Docker 20.10 can list for ever what it has removed.
func Containers(t *testing.T, host, filter string) []string {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	out, err := DockerCommand(ctx, host, "ps", "--all", "--quiet", "--filter", filter).Output()
	if err != nil {
		t.Fatalf("docker ps: %v", err)
	}
	return slices.DeleteFunc(strings.Fields(string(out)), func(id string) bool {
		said, err := DockerCommand(ctx, host, "inspect", "--type", "container", id).CombinedOutput()
		return err != nil && strings.Contains(string(said), "No such container")
	})
}
