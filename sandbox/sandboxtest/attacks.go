package sandboxtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// attacks returns all attacks, in the order of docs/security.md.
func attacks() []attack {
	return slices.Concat(
		writeAttacks(), readAttacks(),
		hostAttacks(), settingAttacks(),
		privilegeAttacks(), deviceAttacks(), syscallAttacks(),
		networkAttacks(),
		forgeAttacks(), outputAttacks(),
		resourceAttacks(), processAttacks(),
	)
}

// attacks runs every attack, one after the other, and checks the host after each.
func (s suite) attacks(t *testing.T) {
	h := newHost(t, s.start(t))
	h.victim = newVictim(t, h)
	for _, a := range attacks() {
		t.Run(a.name, func(t *testing.T) {
			mark := newMark()
			h.available = availableMemory()
			o := h.run(t, a, mark)
			if err := s.verdict(a, o); err != nil {
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

// verdict returns an error for a wrong outcome of an attack.
func (s suite) verdict(a attack, o outcome) error {
	if a.judge != nil {
		return a.judge(o)
	}
	var worked []string
	for _, resource := range o.denied {
		if !(s.traits.HostUser && slices.Contains(a.shared, resource)) {
			worked = append(worked, resource)
		}
	}
	for line := range strings.Lines(o.stdout()) {
		if line != tried && !(s.traits.OwnKernel && slices.Contains(a.inside, strings.TrimSpace(line))) {
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

// command returns the attack as a command, with the addresses and paths of the host that
// it aims at.
func (a attack) command(h *host, mark string) sandbox.Command {
	cmd := bash(a.bash + "\necho tried")
	if a.python != "" {
		cmd.Argv = []string{"python3", "-c", prelude + a.python + "\nprint('tried', flush=True)"}
	}
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
	}
	if a.stdin != "" {
		cmd.Stdin = strings.NewReader(a.stdin)
	}
	cmd.Limits = a.limits.Or(sandbox.Limits{Timeout: attackTimeout})
	return cmd
}

// run runs the attack and returns its outcome.
func (h *host) run(t *testing.T, a attack, mark string) outcome {
	t.Helper()
	if a.write {
		h.scratch = shared(t)
		must(t, openToAll(h.scratch))
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 2*attackTimeout, errors.New("the driver did not end the attack in time"))
	defer cancel()
	cmd := a.command(h, mark)
	if a.probed {
		return h.runProbed(ctx, t, cmd)
	}
	result, err := h.start(ctx, cmd)
	return outcome{result: result, err: err}
}
