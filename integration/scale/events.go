package main

import "container/heap"

// A clock runs events in the order of their time, those of one time in the order in which
// they were added. Times are in seconds.
type clock struct {
	now    float64
	added  int
	events events
}

type event struct {
	at  float64
	seq int
	do  func()
}

// after runs do in d seconds.
func (c *clock) after(d float64, do func()) {
	c.added++
	heap.Push(&c.events, event{c.now + max(d, 0), c.added, do})
}

// run runs the events until end.
func (c *clock) run(end float64) {
	for len(c.events) > 0 && c.events[0].at <= end {
		e := heap.Pop(&c.events).(event)
		c.now = e.at
		e.do()
	}
	c.now = end
}

// events is a [heap.Interface], the first event first.
type events []event

func (e events) Len() int      { return len(e) }
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].seq < e[j].seq
}
func (e *events) Push(x any) { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	*e = (*e)[:last]
	return x
}

// A station does jobs, the first come the first, on workers of which each does one at a
// time. It has the processor time of a machine, or the turns of a rate.
type station struct {
	clock   *clock
	workers int
	working int
	queue   queue[job]
	busy    float64 // seconds of work of all workers together
	jobs    int
}

type job struct {
	work float64
	then func()
}

// do has work done, and calls then at its end.
func (s *station) do(work float64, then func()) {
	s.jobs++
	if s.working == s.workers {
		s.queue.push(job{work, then})
		return
	}
	s.begin(job{work, then})
}

func (s *station) begin(j job) {
	s.working++
	s.clock.after(j.work, func() {
		s.working--
		s.busy += j.work
		if next, ok := s.queue.pop(); ok {
			s.begin(next)
		}
		j.then()
	})
}

// A queue is first in, first out.
type queue[T any] struct {
	all  []T
	next int
}

func (q *queue[T]) len() int { return len(q.all) - q.next }
func (q *queue[T]) push(t T) { q.all = append(q.all, t) }

func (q *queue[T]) pop() (t T, ok bool) {
	if q.len() == 0 {
		return t, false
	}
	var zero T
	t, q.all[q.next] = q.all[q.next], zero
	q.next++
	if q.next > 1000 && q.next*2 > len(q.all) {
		q.all, q.next = append([]T(nil), q.all[q.next:]...), 0
	}
	return t, true
}
