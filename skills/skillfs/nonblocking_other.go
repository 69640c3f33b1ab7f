//go:build !unix

package skillfs

// Named pipes are not files of folders here.
const nonBlocking = 0
