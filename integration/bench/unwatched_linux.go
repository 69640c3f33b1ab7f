package main

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"
)

// serveUnwatched is serve for a server that gets no watches of files: all inotify
// instances of the user are in use while it starts.
func (b binary) serveUnwatched(home string, o serveOptions) (*process, error) {
	release, err := exhaustWatchers()
	defer release()
	if err != nil {
		return nil, err
	}
	polls := make(chan time.Time, 100)
	o.logged = func(line string) {
		if strings.Contains(line, "not watched but polled") {
			polls <- time.Now()
		}
	}
	p, err := b.serve(home, o)
	if err != nil {
		return nil, err
	}
	if _, ok := next(polls, patience); !ok {
		return nil, errors.Join(errors.New("the server watches files without inotify instances"), p.close())
	}
	return p, nil
}

// exhaustWatchers uses up the user's inotify instances until release is called.
func exhaustWatchers() (release func(), err error) {
	var all []int
	release = func() {
		for _, fd := range all {
			_ = syscall.Close(fd)
		}
	}
	for {
		fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC)
		if errors.Is(err, syscall.EMFILE) {
			return release, nil
		}
		if err != nil {
			return release, fmt.Errorf("open inotify instances: %w", err)
		}
		all = append(all, fd)
	}
}
