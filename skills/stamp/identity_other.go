//go:build !linux && !darwin && !windows

package stamp

import "errors"

// Identity returns an error: the system does not say which file it is.
func Identity(path string) (string, error) {
	return "", errors.New("identify " + path + ": not on this system")
}
