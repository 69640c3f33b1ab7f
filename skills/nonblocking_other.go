//go:build !unix

package skills

// Named pipes are not files of folders here.
const nonBlocking = 0
