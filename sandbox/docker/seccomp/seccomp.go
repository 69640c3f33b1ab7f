// Package seccomp has the system call filter of the docker driver's containers:
// Docker's current default profile for a container without capabilities, less the calls
// that no skill needs. Start with [Profile].
//
// An engine's own default is not relied on: that of Docker 20.10 lets through
// io_uring and sockets of the kind AF_VSOCK, which no network namespace
// confines, and that of every engine lets through ptrace. The native driver's
// filter allows the same calls.
package seccomp

import _ "embed"

//go:generate go test -run TestProfile -update

// profile is made from Docker's default profile by go generate.
//
//go:embed profile.json
var profile string

// Profile returns the filter in Docker's JSON format: the value of "seccomp=" in a
// container's security options. It allows calls by name and refuses the rest, and those
// of future kernels, with EPERM. An engine's libseccomp skips names that it does not
// know, and so refuses them.
//
// It names no architecture, so that only the engine's own is let in: a call by
// another one's numbers, 32-bit ones included, ends its thread. Many calls
// cannot be judged there.
func Profile() string { return profile }
