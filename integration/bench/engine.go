package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// An engine is one that speaks the Docker Engine API. What is asked of it here
// is looked at only: nothing is made or changed this way.
type engine struct {
	host   string
	info   engineInfo
	client *http.Client
	base   string // URL
}

// engineInfo is what is taken of the answer to /info.
type engineInfo struct {
	ServerVersion   string
	OperatingSystem string
	Driver          string
	CgroupVersion   string
	DefaultRuntime  string
	Runtimes        map[string]any
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

// A box is a container.
type box struct {
	ID    string `json:"Id"`
	State string
}

// containers lists those that have one of the labels, running or not.
func (e *engine) containers(ctx context.Context, labels ...string) ([]box, error) {
	var all []box
	for _, label := range labels { // the engine's own filter wants all of them
		filters, err := json.Marshal(map[string][]string{"label": {label}})
		if err != nil {
			return nil, err
		}
		var found []box
		if err := e.get(ctx, "/containers/json", url.Values{"all": {"1"}, "filters": {string(filters)}}, &found); err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	slices.SortFunc(all, func(a, b box) int { return strings.Compare(a.ID, b.ID) })
	return all, nil
}

// settle waits until all containers with one of the labels run and have been the same
// ones for steadyFor, and returns how many there are: nothing is being made or
// removed then, and those that wait for a call are ready for it.
func (e *engine) settle(ctx context.Context, labels ...string) (waiting int, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, settleTimeout, fmt.Errorf("containers with the labels %q still come and go after %v", labels, settleTimeout))
	defer cancel()
	var before []box
	since := time.Now()
	for {
		now, err := e.containers(ctx, labels...)
		if err != nil {
			return 0, cmp.Or(context.Cause(ctx), err)
		}
		running := !slices.ContainsFunc(now, func(b box) bool { return b.State != "running" })
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

// needImage is what is missing for containers.
func (s *setup) needImage(ctx context.Context) error {
	if s.engine == nil {
		return &absentError{s.noEngine.Error()}
	}
	var image struct{ ID string }
	if err := s.engine.get(ctx, "/images/"+url.PathEscape(s.image)+"/json", nil, &image); err != nil {
		return &absentError{fmt.Sprintf("the engine at %s has no image %s (integration/engine makes it): %v", s.engine.host, s.image, err)}
	}
	return nil
}
