package sandboxtest

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// attacks runs every attack in a sandbox of its own, and checks the host after each.
func (s suite) attacks(t *testing.T) {
	h := newHost(t, s.start(t))
	h.victim = newVictim(t, h)
	for _, a := range attacks() {
		t.Run(a.name, func(t *testing.T) {
			mark := newMark()
			h.available = availableMemory()
			o := h.run(t, a, mark)
			if err := a.verdict(s.traits, o); err != nil {
				t.Errorf("%v\n%v", err, o)
			}
			if err := h.leaked(o); err != nil {
				t.Error(err)
			}
			h.check(t, mark)
		})
	}
	h.end(t)
}

// verdict returns an error for a wrong outcome of the attack on a driver with some traits.
func (a attack) verdict(traits Traits, o outcome) error {
	if a.judge != nil {
		return a.judge(o)
	}
	var worked []string
	for _, resource := range o.denied {
		if !(traits.HostUser && slices.Contains(a.shared, resource)) {
			worked = append(worked, resource)
		}
	}
	inside := func(line string) bool {
		among := func(patterns []string) bool {
			return slices.ContainsFunc(patterns, func(pattern string) bool {
				matches, _ := path.Match(pattern, line)
				return matches
			})
		}
		return traits.OwnKernel && among(a.inside) || traits.DefaultFilter && among(a.byDefault) || traits.Interface && among([]string{"interface *"})
	}
	for line := range strings.Lines(o.stdout()) {
		if line != tried && !inside(strings.TrimSpace(line)) {
			worked = append(worked, line)
		}
	}
	switch {
	case len(worked) > 0:
		return fmt.Errorf("this worked: %q", worked)
	case o.err != nil || o.result.Code != 0 || !strings.HasSuffix(o.stdout(), tried):
		return errors.New("the script did not run to its end")
	}
	return nil
}

// prepare grants cmd the attack's workspace, and tells it the addresses and paths of the
// host that it aims at.
func (a attack) prepare(h *host, cmd *sandbox.Command, mark string) {
	cmd.Folder = h.folder
	cmd.Grant.Workspaces = []string{h.workspace}
	if a.write {
		cmd.Grant = sandbox.Grant{Workspaces: []string{h.scratch}, Write: true}
	}
	cmd.Env = []string{
		markName + "=" + mark,
		"WORKSPACE=" + cmd.Grant.Workspaces[0],
		"SECRET_FILE=" + h.secretFile,
		"HOST_HOME=" + h.home,
		"PORT=" + h.port,
		"ADDRESSES=" + strings.Join(h.addresses, " "),
		"SHARED_KEY=" + sharedKey,
	}
	if a.stdin != "" {
		cmd.Stdin = strings.NewReader(a.stdin)
	}
	cmd.Limits = a.limits.Or(sandbox.Limits{Timeout: attackTimeout})
	if a.limits != (sandbox.Limits{}) || a.write {
		cmd.Warm = -1 // no other command is like it
	}
}

// run runs an attack and returns its outcome.
func (h *host) run(t *testing.T, a attack, mark string) outcome {
	t.Helper()
	if a.write {
		h.scratch = shared(t)
		must(t, openToAll(h.scratch))
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 2*attackTimeout, errors.New("the driver did not end the attack in time"))
	defer cancel()
	cmd := sandbox.Command{Argv: a.argv}
	a.prepare(h, &cmd, mark)
	if a.probed {
		return h.runProbed(ctx, t, cmd)
	}
	result, err := h.start(ctx, cmd)
	return outcome{result: result, err: err}
}
