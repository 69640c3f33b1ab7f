package skills

import (
	"regexp"
	"sync"
)

// lazily returns a regular expression that is compiled at its first use: few commands use
// one of these. (This package imports no other one, so not lazyregexp.)
func lazily(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
