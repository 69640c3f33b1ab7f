package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/docker"
	"github.com/skillsmcp/skills-mcp/sandbox/native"
)

// A Need is a requirement of some tests that a machine may lack. Tests describes
// those tests, in the words of CONTRIBUTING.md.
type Need struct {
	Tests   string
	Get     string // how to have it
	Missing func(ctx context.Context) error
}

// Needs returns all that tests need beside Go. "go test" shows nothing of tests
// that skip in a package that passes, so integration/needs tells it.
func Needs() []Need {
	return []Need{
		{"containers", `eval "$(integration/engine env)"`, CheckDocker},
		{"gVisor", `eval "$(integration/engine --runsc env)"`, variable("SKILLS_MCP_TEST_RUNSC")},
		{"Podman", `eval "$(integration/engine --podman env)"`, variable("SKILLS_MCP_TEST_PODMAN")},
		{"a Kubernetes cluster", `eval "$(integration/cluster/cluster env)"`, variable("SKILLS_MCP_TEST_CLUSTER")},
		{"the native sandbox", "Linux 5.14 or newer with user namespaces", CheckNative},
		{"installing packages", `eval "$(integration/engine env)", integration/node-tools, apt-get install python3-pip npm`, checkInstallers},
		{"clients of others", `export SKILLS_MCP_TEST_TOOLS="$(integration/node-tools)"`, variable("SKILLS_MCP_TEST_TOOLS")},
		{"programs with a masked secret", "apt-get install gh git npm python3-pip python3-requests", program("gh", "git", "npm")},
		{"server.json", "a Go module proxy", checkRegistry},
		{"the samples", "apt-get install python3", program("python3")},
		{"Git repositories", "apt-get install git", program("git")},
		{"packages of Linux systems", "apt-get install rpm dpkg, as root", program("rpm", "dpkg")},
		{"OCI registries", "apt-get install docker-registry", program("docker-registry")},
		{"a shared database", `eval "$(integration/postgres env)"`, variable("SKILLS_MCP_TEST_POSTGRES")},
		{"the page in a browser", "apt-get install chromium", program("chromium")},
		{"the dialogs of other clients", "apt-get install chromium tmux", program("chromium", "tmux")},
		{"lines for shells", "apt-get install dash bash perl", program("dash", "bash", "perl")},
		{"servers and parts of a cluster that are killed", "SKILLS_MCP_TEST_CHAOS=200, as root", variable("SKILLS_MCP_TEST_CHAOS")},
		{"an engine that restarts", "SKILLS_MCP_TEST_RESTART=1, as root", variable("SKILLS_MCP_TEST_RESTART")},
		{"attacks as root, and becoming another user", "run the tests as root", CheckRoot},
	}
}

func variable(name string) func(context.Context) error {
	return func(context.Context) error {
		if os.Getenv(name) == "" {
			return fmt.Errorf("%s is not set", name)
		}
		return nil
	}
}

func program(names ...string) func(context.Context) error {
	return func(context.Context) error {
		for _, name := range names {
			if _, err := exec.LookPath(name); err != nil {
				return fmt.Errorf("there is no %s", name)
			}
		}
		return nil
	}
}

func checkInstallers(ctx context.Context) error {
	if err := program("python3", "npm", "node")(ctx); err != nil {
		return err
	}
	if exec.CommandContext(ctx, "python3", "-c", "import pip").Run() != nil {
		return errors.New("there is no pip")
	}
	return CheckDocker(ctx)
}

// checkRegistry looks for the module whose rules check server.json, as its test
// does.
func checkRegistry(ctx context.Context) error {
	list := exec.CommandContext(ctx, "go", "-C", "integration/testdata/registry", "list", "-deps", ".")
	if out, err := list.CombinedOutput(); err != nil {
		return fmt.Errorf("the registry's module cannot be had: %s", out)
	}
	return nil
}

func CheckRoot(context.Context) error {
	if os.Geteuid() != 0 {
		return errors.New("this is an ordinary user")
	}
	return nil
}

// TestImage is the image that integration/engine makes.
func TestImage() string {
	return cmp.Or(os.Getenv("SKILLS_MCP_TEST_IMAGE"), "skills-mcp-test:base")
}

func CheckNative(ctx context.Context) error {
	d := native.New(nil)
	defer d.Close()
	return failures(d.Check(ctx))
}

func CheckDocker(ctx context.Context) error {
	d := docker.New(&docker.Options{
		Images: map[string]string{"default": TestImage()},
		Places: docker.Places{DockerHost: os.Getenv("DOCKER_HOST"), Home: os.Getenv("HOME"), RuntimeDir: os.Getenv("XDG_RUNTIME_DIR")},
	})
	defer d.Close()
	findings := d.Check(ctx)
	for i, f := range findings {
		if f.Subject == "image default" && f.Level != sandbox.LevelOK {
			findings[i].Level = sandbox.LevelFailed
			findings[i].Remedy = "run integration/engine"
		}
	}
	return failures(findings)
}

// failures joins the findings of failed checks.
func failures(findings []sandbox.Finding) error {
	var failed []string
	for _, f := range findings {
		if f.Level == sandbox.LevelFailed {
			failed = append(failed, fmt.Sprintf("%s: %s (%s)", f.Subject, f.Detail, f.Remedy))
		}
	}
	if len(failed) == 0 {
		return nil
	}
	return errors.New(strings.Join(failed, "; "))
}
