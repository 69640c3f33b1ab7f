package main

import (
	"context"
	"errors"
	"fmt"
	"github.com/skillsmcp/skills-mcp/integration/bench/figures"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// A holding is what one waiting sandbox holds, in bytes. What cannot be read is
// -1.
type holding struct {
	own   int64 // of its processes: the cgroup of a container, PSS of an init
	extra int64 // PSS of what the engine has running for it
}

// held is what a contender's waiting sandboxes hold.
type held struct {
	Contender string `json:"contender"`
	Waiting   int    `json:"waiting"`     // containers, or processes with that which they are forked from
	Own       int64  `json:"own_bytes"`   // of each, median; -1: not to be read here
	Extra     int64  `json:"extra_bytes"` // PSS of the engine's shim of each, median; -1 likewise
	Total     int64  `json:"total_bytes"` // of all that can be read
	Failure   string `json:"failure,omitempty"`
}

func (h held) String() string {
	switch {
	case h.Failure != "":
		return fmt.Sprintf("memory of what waits: %s: %s", h.Contender, h.Failure)
	case h.Waiting == 0:
		return fmt.Sprintf("memory of what waits: %s: nothing was waiting", h.Contender)
	}
	each := amount(h.Own)
	if h.Extra != 0 {
		each += fmt.Sprintf(" and its shim %s", amount(h.Extra))
	}
	return fmt.Sprintf("memory of what waits: %s: %d waiting, each holds %s; together %s", h.Contender, h.Waiting, each, amount(h.Total))
}

func amount(bytes int64) string {
	if bytes < 0 {
		return "what cannot be read here"
	}
	return sandbox.Bytes(bytes)
}

// memory looks at what waits for each contender, ready but idle.
func memory(ctx context.Context, contenders []*contender) []held {
	var all []held
	for _, c := range contenders {
		if c.memory == nil {
			continue
		}
		h := held{Contender: c.name}
		_, err := c.ready(ctx)
		var waiting []holding
		if err == nil {
			waiting, err = c.memory(ctx)
		}
		if err != nil {
			h.Failure = err.Error()
		}
		var own, extra []int
		for _, w := range waiting {
			own, extra = append(own, int(w.own)), append(extra, int(w.extra))
			h.Total += max(w.own, 0) + max(w.extra, 0)
		}
		h.Waiting, h.Own, h.Extra = len(waiting), int64(figures.Percentile(own, 50)), int64(figures.Percentile(extra, 50))
		all = append(all, h)
	}
	return all
}

// holdings are those of the containers that have one of the labels.
func (e *engine) holdings(ctx context.Context, labels ...string) ([]holding, error) {
	boxes, err := e.containers(ctx, labels...)
	if err != nil {
		return nil, err
	}
	var all []holding
	for _, b := range boxes {
		own, err := e.usage(ctx, b)
		if err != nil {
			return all, err
		}
		extra, err := e.shim(ctx, b)
		if err != nil {
			return all, err
		}
		all = append(all, holding{own, extra})
	}
	return all, nil
}

// usage is what a container's cgroup holds, without what the kernel may drop.
func (e *engine) usage(ctx context.Context, b box) (int64, error) {
	var stats struct {
		Memory struct {
			Usage int64
			Stats map[string]int64
		} `json:"memory_stats"`
	}
	query := map[string][]string{"stream": {"0"}, "one-shot": {"1"}}
	if err := e.get(ctx, "/containers/"+b.ID+"/stats", query, &stats); err != nil {
		return 0, err
	}
	m := stats.Memory
	if m.Usage == 0 { // the runtime keeps its sandboxes out of cgroups
		return -1, nil
	}
	// As docker stats has it, for the two versions of cgroups.
	if inactive, v1 := m.Stats["total_inactive_file"]; v1 {
		return m.Usage - inactive, nil
	}
	return m.Usage - m.Stats["inactive_file"], nil
}

// shim is the memory of the process that the engine starts containers with,
// where that is on this machine and may be looked at.
func (e *engine) shim(ctx context.Context, b box) (int64, error) {
	var inspected struct{ State struct{ Pid int } }
	if err := e.get(ctx, "/containers/"+b.ID+"/json", nil, &inspected); err != nil {
		return 0, err
	}
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(inspected.State.Pid), "status"))
	if err != nil {
		return -1, nil
	}
	for line := range strings.Lines(string(status)) {
		if parent, ok := strings.CutPrefix(line, "PPid:"); ok {
			return pss(strings.TrimSpace(parent)), nil
		}
	}
	return -1, nil
}

// waitingInits are the holdings of the processes below a server while no call is
// under way: those that wait, and what they are forked from.
func waitingInits(server int) ([]holding, error) {
	children, err := childrenOf(strconv.Itoa(server))
	if err != nil {
		return nil, err
	}
	var all []holding
	for len(children) > 0 {
		pid := children[0]
		all = append(all, holding{own: pss(pid)})
		below, err := childrenOf(pid)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		children = append(children[1:], below...)
	}
	return all, nil
}

// childrenOf returns the process ids of a process's children.
func childrenOf(pid string) ([]string, error) {
	lists, err := filepath.Glob(filepath.Join("/proc", pid, "task", "*", "children"))
	if err != nil {
		return nil, err
	}
	if len(lists) == 0 {
		return nil, fmt.Errorf("the children of process %s are not to be seen: %w", pid, os.ErrNotExist)
	}
	var children []string
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil && !errors.Is(err, os.ErrNotExist) { // a thread may have ended
			return nil, err
		}
		children = append(children, strings.Fields(string(text))...)
	}
	return children, nil
}

// pss is the proportional set size of a process in bytes: its own memory, and
// its part of what it shares. It is -1 where it may not be read.
func pss(pid string) int64 {
	text, err := os.ReadFile(filepath.Join("/proc", pid, "smaps_rollup"))
	if err != nil {
		return -1
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "Pss:" {
			kilobytes, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil {
				return -1
			}
			return kilobytes << 10
		}
	}
	return -1
}
