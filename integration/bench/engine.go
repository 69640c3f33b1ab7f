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
	"strconv"
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

// An engine is a client of the Docker Engine API.
type engine struct {
	host   string
	client *http.Client
	info   struct{ ServerVersion, Driver, CgroupVersion, DefaultRuntime string }
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
		e := newEngine(host)
		err := e.do(ctx, http.MethodGet, "/info", nil, &e.info)
		if err == nil {
			return e, nil
		}
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("no Docker engine answers: %w", errors.Join(errs...))
}

// newEngine returns a client of the engine at unix://FILE or tcp://HOST:PORT.
func newEngine(host string) *engine {
	network, address, _ := strings.Cut(host, "://")
	return &engine{host: host, client: &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, address)
		},
	}}}
}

// do makes a request of the engine. answer is nil for none.
func (e *engine) do(ctx context.Context, method, path string, query url.Values, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, "http://engine"+path+"?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	response, err := e.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		return fmt.Errorf("the engine answers %s to %s", response.Status, path)
	}
	decoder := json.NewDecoder(response.Body)
	switch answer := answer.(type) {
	case nil:
		return nil
	case *[]event: // a stream
		for err == nil && decoder.More() {
			var one event
			err = decoder.Decode(&one)
			*answer = append(*answer, one)
		}
		return err
	}
	return decoder.Decode(answer)
}

// A container is one of the engine's.
type container struct{ ID, State string }

// containers lists those with one of the labels, running or not, by ID.
func (e *engine) containers(ctx context.Context, labels ...string) (all []container, err error) {
	for _, label := range labels { // the engine's own filter wants all of them
		filters, err := json.Marshal(map[string][]string{"label": {label}})
		if err != nil {
			return nil, err
		}
		var found []container
		if err := e.do(ctx, http.MethodGet, "/containers/json", url.Values{"all": {"1"}, "filters": {string(filters)}}, &found); err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	slices.SortFunc(all, func(a, b container) int { return strings.Compare(a.ID, b.ID) })
	return all, nil
}

// settle waits until all containers with one of the labels run and have been the
// same ones for steadyFor: the engine makes and removes none then, and those that
// wait for a call are ready.
func (e *engine) settle(ctx context.Context, labels ...string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, settleTimeout, fmt.Errorf("containers with the labels %q still come and go after %v", labels, settleTimeout))
	defer cancel()
	var before []container
	since := time.Now()
	for {
		now, err := e.containers(ctx, labels...)
		if err != nil {
			return cmp.Or(context.Cause(ctx), err)
		}
		running := !slices.ContainsFunc(now, func(c container) bool { return c.State != "running" })
		if !running || !slices.Equal(before, now) {
			before, since = now, time.Now()
		}
		if time.Since(since) >= steadyFor {
			return nil
		}
		if err := pause(ctx, poll); err != nil {
			return err
		}
	}
}

// shims returns the engine's process for each container with one of the labels.
// All processes of the container are below it.
func (e *engine) shims(ctx context.Context, labels ...string) (pids []int, err error) {
	found, err := e.containers(ctx, labels...)
	if err != nil {
		return nil, err
	}
	for _, c := range found {
		var inspected struct{ State struct{ Pid int } }
		if err := e.do(ctx, http.MethodGet, "/containers/"+c.ID+"/json", nil, &inspected); err != nil {
			return nil, err
		}
		pid, err := strconv.Atoi(procField(fmt.Sprintf("/proc/%d/status", inspected.State.Pid), "PPid"))
		if err != nil {
			return nil, fmt.Errorf("the process of container %s is not on this machine", c.ID)
		}
		pids = append(pids, pid)
	}
	return pids, nil
}

// remove removes all containers with a label, and waits until they are gone.
func (e *engine) remove(ctx context.Context, label string) error {
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	for {
		left, err := e.containers(ctx, label)
		if err != nil || len(left) == 0 {
			return err
		}
		var errs []error
		for _, c := range left {
			errs = append(errs, e.do(ctx, http.MethodDelete, "/containers/"+c.ID, url.Values{"force": {"1"}, "v": {"1"}}, nil))
		}
		// One that removes itself is in nobody's way, but is still listed.
		if err := pause(ctx, poll); err != nil {
			return errors.Join(append(errs, err)...)
		}
	}
}

// label returns a label of the driver's, as a filter for containers.
func label(key, value string) string { return "skills-mcp." + key + "=" + value }

// waits reports for each of some calls, one after the other, whether it had to
// wait for its container, which was started after the call began. Each is the time
// of a call's beginning.
func (e *engine) waits(ctx context.Context, calls []time.Time, labels ...string) ([]bool, error) {
	// The last container's end is reported a moment after the call's.
	if err := pause(ctx, 3*steadyFor); err != nil {
		return nil, err
	}
	events, err := e.events(ctx, calls[0], labels...)
	if err != nil {
		return nil, err
	}
	started := map[string]int64{} // those from before the calls have no event here
	var ended []string
	for _, event := range events {
		switch event.Action {
		case "start":
			started[event.Actor.ID] = event.TimeNano
		case "die":
			ended = append(ended, event.Actor.ID)
		}
	}
	// Those that wait are used in the order in which they were started, and end some time
	// after their calls.
	slices.SortStableFunc(ended, func(a, b string) int { return cmp.Compare(started[a], started[b]) })
	waits := make([]bool, len(calls))
	for i, began := range calls {
		waits[i] = i >= len(ended) || started[ended[i]] > began.UnixNano()
	}
	return waits, nil
}

// An event is a change of a container.
type event struct {
	Action   string
	Actor    struct{ ID string }
	TimeNano int64
}

// events returns the changes of containers with one of the labels, in order. The
// engine holds its last 256 events.
func (e *engine) events(ctx context.Context, since time.Time, labels ...string) (all []event, err error) {
	for _, label := range labels {
		filters, err := json.Marshal(map[string][]string{"label": {label}, "type": {"container"}})
		if err != nil {
			return nil, err
		}
		query := url.Values{"filters": {string(filters)}, "since": {unixTime(since)}, "until": {unixTime(time.Now())}}
		if err := e.do(ctx, http.MethodGet, "/events", query, &all); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(all, func(a, b event) int { return cmp.Compare(a.TimeNano, b.TimeNano) })
	return all, nil
}

// unixTime returns a time as the engine reads it.
func unixTime(t time.Time) string { return fmt.Sprintf("%d.%09d", t.Unix(), t.Nanosecond()) }
