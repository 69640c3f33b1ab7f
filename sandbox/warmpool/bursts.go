package warmpool

import "time"

// bursts measures how many takes follow one another closely.
type bursts struct {
	last time.Time // the last take
	size int       // takes of the burst that it belongs to
	peak int       // takes of the largest burst
	at   time.Time // of the last take of a burst as large
}

// take counts a take, and returns the size of the largest burst, whose takes follow one
// another within pause, in the time of memory.
func (b *bursts) take(now time.Time, pause, memory time.Duration) int {
	if now.Sub(b.last) >= pause {
		b.size = 0
	}
	b.last = now
	b.size++
	if b.size >= b.peak || now.Sub(b.at) > memory {
		b.peak, b.at = b.size, now
	}
	return b.peak
}
