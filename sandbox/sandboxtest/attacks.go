package sandboxtest

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// attacks runs every attack and checks the host after each, or after each group of
// attacks that share a sandbox.
func (s suite) attacks(t *testing.T) {
	h := newHost(t, s.start(t))
	h.victim = newVictim(t, h)
	for _, group := range groups(attacks()) {
		t.Run(group[0].name, func(t *testing.T) { s.attack(t, h, group) })
	}
	h.end(t)
}

// attack makes the attacks of a group and checks their outcomes, and then the host.
func (s suite) attack(t *testing.T, h *host, group []attack) {
	mark := newMark()
	h.available = availableMemory()
	for i, o := range h.run(t, group, mark) {
		t.Run(group[i].name, func(t *testing.T) {
			if err := group[i].verdict(s.traits, o); err != nil {
				t.Errorf("%v\n%v", err, o)
			}
			if err := h.leaked(o); err != nil {
				t.Error(err)
			}
		})
	}
	h.check(t, mark)
}

// groups divides attacks into groups, in their order. Attacks that only try, with a
// command's own limits and grant, share a sandbox: to start two for each, with another
// call after it, takes most of the suite's time.
func groups(all []attack) [][]attack {
	var groups [][]attack
	for i, a := range all {
		if i > 0 && a.shares() && all[i-1].shares() {
			last := &groups[len(groups)-1]
			*last = append(*last, a)
		} else {
			groups = append(groups, []attack{a})
		}
	}
	return groups
}

// shares reports whether other attacks may come before and after a in one sandbox.
func (a attack) shares() bool {
	return a.judge == nil && !a.write && !a.probed && a.stdin == "" && a.limits == sandbox.Limits{}
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
		return traits.OwnKernel && slices.ContainsFunc(a.inside, func(pattern string) bool {
			matches, _ := path.Match(pattern, line)
			return matches
		})
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
	if !a.shares() {
		cmd.Warm = -1 // no other command is like it
	}
}

// run runs the attacks of a group and returns their outcomes.
func (h *host) run(t *testing.T, group []attack, mark string) []outcome {
	t.Helper()
	if len(group) == 1 {
		return []outcome{h.runOne(t, group[0], mark)}
	}
	ctx, cancel := attackContext(t, len(group))
	defer cancel()
	cmd := together(group)
	group[0].prepare(h, &cmd, mark)
	cmd.Limits.Timeout *= time.Duration(len(group))
	result, err := h.start(ctx, cmd)
	return separate(outcome{result: result, err: err}, len(group))
}

// runOne runs an attack in a sandbox of its own and returns its outcome.
func (h *host) runOne(t *testing.T, a attack, mark string) outcome {
	t.Helper()
	if a.write {
		h.scratch = shared(t)
		must(t, openToAll(h.scratch))
	}
	ctx, cancel := attackContext(t, 1)
	defer cancel()
	cmd := sandbox.Command{Argv: a.argv}
	a.prepare(h, &cmd, mark)
	if a.probed {
		return h.runProbed(ctx, t, cmd)
	}
	result, err := h.start(ctx, cmd)
	return outcome{result: result, err: err}
}

// attackContext returns a context that ends when a driver has not ended attacks in time.
func attackContext(t *testing.T, attacks int) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(t.Context(), time.Duration(attacks+1)*attackTimeout, errors.New("the driver did not end the attack in time"))
}

// together returns the command that runs the scripts of attacks one after the other. On
// stdout it ends each with its exit code, between two NULs.
func together(group []attack) sandbox.Command {
	var args []string
	for _, a := range group {
		args = append(args, a.argv...)
	}
	return bash(`while [ $# -gt 0 ]; do "$1" "$2" "$3"; printf '\0%d\0' $?; shift 3; done`, args...)
}

// scriptEnd matches the end of a script's output.
var scriptEnd = regexp.MustCompile(`\x00(\d+)\x00`)

// separate returns the outcomes of n attacks from that of their command. One whose end is
// missing has the exit code -1, and the rest of the output. Each has all of stderr.
func separate(all outcome, n int) []outcome {
	outcomes := slices.Repeat([]outcome{{err: all.err}}, n)
	if all.result == nil {
		return outcomes
	}
	rest := all.result.Stdout.Bytes()
	for i := range outcomes {
		result := *all.result
		result.Code, result.Stdout.Head, result.Stdout.Tail = -1, rest, nil
		if end := scriptEnd.FindSubmatchIndex(rest); end != nil {
			result.Code, _ = strconv.Atoi(string(rest[end[2]:end[3]]))
			result.Stdout.Head, rest = rest[:end[0]], rest[end[1]:]
		} else {
			rest = nil
		}
		result.Stdout.Total = int64(len(result.Stdout.Head))
		outcomes[i].result = &result
	}
	return outcomes
}
