//go:build !linux

package install

import (
	"errors"
	"os"
)

// exchange is not supported: the caller renames twice.
func exchange(root *os.Root, a, b string) error { return errors.ErrUnsupported }
