package plugins

import (
	"sync"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// connections keeps the connections of a server for the records of its calls.
type connections struct {
	mu   sync.Mutex
	list func() []sandbox.Connection // so far, in order; nil without hosts
}

// receive receives a function that returns the connections so far.
func (c *connections) receive(list func() []sandbox.Connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = list
}

// now returns the connections so far, and none before the server is ready: those belong to
// the calls that wait for that.
func (c *connections) now(ready <-chan struct{}) []sandbox.Connection {
	select {
	case <-ready:
		return c.since(nil)
	default:
		return nil
	}
}

// since returns the connections that are new or in use since before, with the bytes since
// then.
func (c *connections) since(before []sandbox.Connection) (all []sandbox.Connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.list == nil {
		return nil
	}
	for i, one := range c.list() {
		if i < len(before) {
			if one.Sent -= before[i].Sent; one.Sent == 0 && one.Got == before[i].Got {
				continue
			}
			one.Got -= before[i].Got
		}
		all = append(all, one)
	}
	return all
}
