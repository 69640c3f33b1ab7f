package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox/docker"
)

const (
	// poll is the pause between two looks at the engine's containers.
	poll = 50 * time.Millisecond
	// steadyFor is how long they have to stay the same. The engine shows a new
	// container some tens of milliseconds after it was asked for one.
	steadyFor = 200 * time.Millisecond
	// settleTimeout bounds the wait for that.
	settleTimeout = 2 * time.Minute
)

// An engine is a client of the Docker Engine API that only reads.
type engine struct {
	host   string
	info   engineInfo
	client *http.Client
	base   string // URL
}

// engineInfo is the part of the answer to /info that a report names.
type engineInfo struct {
	ServerVersion   string
	OperatingSystem string
	Driver          string
	CgroupVersion   string
	DefaultRuntime  string
	Runtimes        map[string]any
}

func (i engineInfo) String() string {
	return fmt.Sprintf("Docker %s (%s, cgroup version %s, %s of %s)", i.ServerVersion, i.Driver, i.CgroupVersion,
		i.DefaultRuntime, strings.Join(slices.Sorted(maps.Keys(i.Runtimes)), ", "))
}

// findEngine returns the engine at host, or the first that answers of those that
// Docker's tools would look for.
func findEngine(ctx context.Context, host string) (*engine, error) {
	hosts := docker.Places{
		DockerHost: cmp.Or(host, os.Getenv("DOCKER_HOST")),
		Context:    os.Getenv("DOCKER_CONTEXT"),
		ConfigDir:  os.Getenv("DOCKER_CONFIG"),
		Home:       os.Getenv("HOME"),
		RuntimeDir: os.Getenv("XDG_RUNTIME_DIR"),
	}.Hosts()
	var errs []error
	for _, host := range hosts {
		e, err := newEngine(host)
		if err == nil {
			err = e.get(ctx, "/info", nil, &e.info)
		}
		if err == nil {
			return e, nil
		}
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("no Docker engine answers: %w", errors.Join(errs...))
}

func newEngine(host string) (*engine, error) {
	scheme, address, _ := strings.Cut(host, "://")
	e := &engine{host: host, base: "http://" + address, client: &http.Client{Transport: &http.Transport{}}}
	switch scheme {
	case "unix":
		e.base = "http://engine"
		e.client = &http.Client{Transport: &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "unix", address)
			},
		}}
	case "tcp":
	default:
		return nil, fmt.Errorf("an engine at %s cannot be looked into; unix:// and tcp:// can", host)
	}
	return e, nil
}

// get asks the engine for one thing.
func (e *engine) get(ctx context.Context, path string, query url.Values, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, e.base+path+"?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	response, err := e.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the engine answers %s to %s", response.Status, path)
	}
	return json.NewDecoder(response.Body).Decode(answer)
}

// A container is one of the engine's.
type container struct {
	ID    string `json:"Id"`
	State string
}

// containers lists those that have one of the labels, running or not.
func (e *engine) containers(ctx context.Context, labels ...string) ([]container, error) {
	var all []container
	for _, label := range labels { // the engine's own filter wants all of them
		filters, err := json.Marshal(map[string][]string{"label": {label}})
		if err != nil {
			return nil, err
		}
		var found []container
		if err := e.get(ctx, "/containers/json", url.Values{"all": {"1"}, "filters": {string(filters)}}, &found); err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	slices.SortFunc(all, func(a, b container) int { return strings.Compare(a.ID, b.ID) })
	return all, nil
}

// settle waits until all containers with one of the labels run and have been the
// same ones for steadyFor, and returns their number: the engine makes and removes
// none then, and those that wait for a call are ready.
func (e *engine) settle(ctx context.Context, labels ...string) (waiting int, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, settleTimeout, fmt.Errorf("containers with the labels %q still come and go after %v", labels, settleTimeout))
	defer cancel()
	var before []container
	since := time.Now()
	for {
		now, err := e.containers(ctx, labels...)
		if err != nil {
			return 0, cmp.Or(context.Cause(ctx), err)
		}
		running := !slices.ContainsFunc(now, func(c container) bool { return c.State != "running" })
		if !running || !slices.Equal(before, now) {
			before, since = now, time.Now()
		}
		if time.Since(since) >= steadyFor {
			return len(now), nil
		}
		if err := pause(ctx, poll); err != nil {
			return 0, err
		}
	}
}

// A holding is the memory of one waiting sandbox, in bytes; -1 if it cannot be
// read.
type holding struct {
	own   int64 // of its processes: the cgroup of a container, PSS of an init
	extra int64 // PSS of the engine's process for it; 0 for none
}

// holdings returns the memory of the containers that have one of the labels.
func (e *engine) holdings(ctx context.Context, labels ...string) ([]holding, error) {
	found, err := e.containers(ctx, labels...)
	if err != nil {
		return nil, err
	}
	var all []holding
	for _, c := range found {
		own, err := e.usage(ctx, c)
		if err != nil {
			return all, err
		}
		extra, err := e.shim(ctx, c)
		if err != nil {
			return all, err
		}
		all = append(all, holding{own, extra})
	}
	return all, nil
}

// usage returns the memory of a container's cgroup, without the pages that
// the kernel may drop.
func (e *engine) usage(ctx context.Context, c container) (int64, error) {
	var stats struct {
		Memory struct {
			Usage int64
			Stats map[string]int64
		} `json:"memory_stats"`
	}
	query := map[string][]string{"stream": {"0"}, "one-shot": {"1"}}
	if err := e.get(ctx, "/containers/"+c.ID+"/stats", query, &stats); err != nil {
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

// shim returns the memory of the engine's process that started a container, or -1
// if it is on another machine or cannot be read.
func (e *engine) shim(ctx context.Context, c container) (int64, error) {
	var inspected struct{ State struct{ Pid int } }
	if err := e.get(ctx, "/containers/"+c.ID+"/json", nil, &inspected); err != nil {
		return 0, err
	}
	if parent := procField(fmt.Sprintf("/proc/%d/status", inspected.State.Pid), "PPid"); parent != "" {
		return pss(parent), nil
	}
	return -1, nil
}

// label returns a label of the driver's, as a filter for containers.
func label(key, value string) string { return "skills-mcp." + key + "=" + value }
