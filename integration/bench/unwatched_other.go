//go:build !linux

package main

import "errors"

func (b binary) serveUnwatched(string, serveOptions) (*process, error) {
	return nil, errors.New("only on Linux")
}
