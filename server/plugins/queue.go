package plugins

import (
	"bytes"
	"errors"
	"io"
	"sync"
)

// errFlood ends a stream whose reader is too slow, or that has no end.
var errFlood = errors.New("it printed more than is read")

// maxQueue bounds the bytes that are not read, those of one line, and those that are written
// for one request.
const maxQueue = 32 << 20

// A queue is a pipe whose writer never waits: what is not read yet is kept, up to a bound.
// It may be used concurrently.
type queue struct {
	over  func() // called when the bound is passed
	mu    sync.Mutex
	more  sync.Cond // of mu: there is more to read, or the end
	bytes bytes.Buffer
	left  int // bytes until over is called; see allow
	line  int // bytes since the last end of a line
	ended bool
}

// newQueue returns a queue that calls over when its bound is passed.
func newQueue(over func()) *queue {
	q := &queue{left: maxQueue, over: over}
	q.more.L = &q.mu
	return q
}

// allow lets the writer write as many bytes as the bound from now on.
func (q *queue) allow() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.left = maxQueue
}

// Write implements io.Writer.
func (q *queue) Write(p []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ended {
		return 0, io.ErrClosedPipe
	}
	q.left -= len(p)
	if q.line += len(p); q.left < 0 || q.line > maxQueue || q.bytes.Len()+len(p) > maxQueue {
		q.ended = true
		q.bytes.Reset()
		q.more.Broadcast()
		go q.over() // it may wait for who writes
		return 0, errFlood
	}
	if end := bytes.LastIndexByte(p, '\n'); end >= 0 {
		q.line = len(p) - end - 1
	}
	q.bytes.Write(p)
	q.more.Broadcast()
	return len(p), nil
}

// Read implements io.Reader.
func (q *queue) Read(p []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.bytes.Len() == 0 && !q.ended {
		q.more.Wait()
	}
	if q.bytes.Len() == 0 {
		return 0, io.EOF
	}
	return q.bytes.Read(p)
}

// Close ends the queue. What was written before can be read.
func (q *queue) Close() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	q.more.Broadcast()
	return nil
}
