package manage

import (
	"fmt"
	"sync"
)

// Distinct returns a function that reports the progress of a fetch in messages, each once. It
// may be called by any goroutine.
func Distinct(report func(message string)) func(done, total int64) {
	var mu sync.Mutex
	var last string
	return func(done, total int64) {
		mu.Lock()
		defer mu.Unlock()
		if message := fetched(done, total); message != last {
			last = message
			report(message)
		}
	}
}

// fetched renders the progress of a fetch, in bytes or, if there are few, in what the
// source counts.
func fetched(done, total int64) string {
	const megabyte = 1 << 20
	switch {
	case total >= 2*megabyte:
		return fmt.Sprintf("fetching: %d of %d MB", done/megabyte, total/megabyte)
	case total > 0 || done < megabyte:
		return "fetching"
	}
	for step := int64(megabyte); ; step *= 2 { // few lines where nothing is redrawn
		if 2*step > done {
			return fmt.Sprintf("fetching: more than %d MB", step/megabyte)
		}
	}
}
