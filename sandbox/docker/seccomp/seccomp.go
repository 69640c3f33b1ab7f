// Package seccomp has the system call filter of the docker driver's containers:
// what Docker's current default profile allows a container without
// capabilities, less what a skill needs for nothing. Start with [Profile].
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

// Profile returns the filter as Docker writes it, in JSON: what follows
// "seccomp=" in a container's security options. It allows calls by name and
// refuses the rest, and what future kernels add, with EPERM. Names that an
// engine's libseccomp does not know are skipped by it, and so refused.
//
// It names no architecture, so that only the engine's own is let in: a call by
// another one's numbers, 32-bit ones included, ends its thread. Many calls
// cannot be judged there.
func Profile() string { return profile }
