package docker

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"slices"
	"strings"

	"github.com/docker/docker/client"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

var (
	// errLost marks an engine that went away under a request.
	errLost = errors.New("the connection to the engine was lost")
	// errHangs marks an engine that takes connections, and does nothing.
	errHangs = errors.New("it does not answer")
)

// nativeInstead ends the remedy of a failure that only engines have.
const nativeInstead = ", or set sandbox.driver: native"

// A failure holds the error of the engine at one host.
type failure struct {
	host string
	err  error
}

// noEngine returns the error where none of the places has an engine to use. An engine that is
// there and needs a hand is worth more words than nine places with none.
func noEngine(failures []failure) error {
	for _, f := range failures {
		if errors.As(f.err, new(*sandbox.UnavailableError)) {
			return f.err
		}
	}
	if f, found := first(failures, forbidden); found {
		return &sandbox.UnavailableError{
			Reason: "this user may not use the Docker engine at " + f.host,
			Remedy: "add the user to the group docker and log in again, or run a rootless engine" + nativeInstead,
			Err:    joined(failures),
		}
	}
	var tried []string
	for _, f := range failures {
		tried = append(tried, strings.TrimPrefix(f.host, "unix://"))
	}
	return &sandbox.UnavailableError{
		Reason: "no Docker engine answers at " + strings.Join(tried, ", "),
		Remedy: "start Docker Desktop, dockerd or Podman's service, or set DOCKER_HOST" + nativeInstead,
		Err:    joined(failures),
	}
}

// notLocal returns the error for an engine that cannot mount the folders of this machine.
func notLocal(host string) error {
	return &sandbox.UnavailableError{
		Reason: fmt.Sprintf("the Docker engine at %s is not reached by a socket of this machine, and a sandbox has folders of this machine", host),
		Remedy: "set DOCKER_HOST to the socket of an engine on this machine (unix:///…)" + nativeInstead,
	}
}

// first returns the first failure that is of a kind.
func first(failures []failure, is func(error) bool) (failure, bool) {
	i := slices.IndexFunc(failures, func(f failure) bool { return is(f.err) })
	if i < 0 {
		return failure{}, false
	}
	return failures[i], true
}

// forbidden reports whether an engine's socket is there, but not for this user.
// The client turns the system's error into words.
func forbidden(err error) bool {
	return errors.Is(err, fs.ErrPermission) || strings.Contains(err.Error(), "permission denied")
}

// joined returns all failures as one error, for the log.
func joined(failures []failure) error {
	var all []error
	for _, f := range failures {
		all = append(all, fmt.Errorf("%s: %w", f.host, f.err))
	}
	return errors.Join(all...)
}

// An explanation is the reason and remedy for a part of an engine's message.
type explanation struct {
	says           string // in lower case
	reason, remedy string
}

// explanations are looked through in order.
func explanations() []explanation {
	share := "share that folder with the engine (Docker Desktop: Settings, Resources, File sharing; if this server is in a container: mount it there at the same path)" + nativeInstead
	return []explanation{
		{"mounts denied", "the Docker engine may not see a folder that the command needs", share},
		{"is not shared from the host", "the Docker engine may not see a folder that the command needs", share},
		{"bind source path does not exist", "the Docker engine does not see a folder that the command needs", share},
		{"no space left on device", "the Docker engine's disk is full", "free some with: docker system prune"},
		{"disk quota exceeded", "the Docker engine's disk quota is used up", "free some with: docker system prune"},
		{"unknown runtime", "the Docker engine does not have the runtime that is configured", "change the setting sandbox.runtime"},
		{"cannot allocate memory", "the Docker engine's machine is out of memory", "stop something there, or give it more memory"},
		{"no such container", "the command's container was removed from outside", "try again"},
		{"no such image", "the image was removed from the Docker engine", "try again"},
	}
}

// gone reports whether err means that the engine did not answer, rather than
// that it answered with an error.
func gone(err error) bool {
	var network net.Error
	return client.IsErrConnectionFailed(err) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &network)
}

// engineSays returns the engine's own message.
func engineSays(err error) string {
	return strings.TrimPrefix(err.Error(), "Error response from daemon: ")
}
