//go:build !unix

package lock

import "os"

// SyncFolder does nothing: the system has no such operation.
func SyncFolder(root *os.Root, name string) error { return nil }
