// Package replica lets several servers behind one address share a store. A request that names
// a session, task, question or run of another server is passed on to that server, which holds
// its streams and processes. A server that has ended leaves the rows of its sessions and
// tasks, which another one takes over.
//
// Start with [New] and [Set.Start].
package replica

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/server/store"
)

const (
	interval = 2 * time.Second // after which the rows of the other servers are read again
	reach    = 2 * time.Second // bounds the time to reach another server
	pause    = time.Second / 2 // after which Home looks again
)

// A Set is this server among those that share its store. A nil *Set is a server alone: its
// methods name nothing and find nobody. It may be used concurrently.
type Set struct {
	store   *store.Store
	rows    store.Items // of the servers
	address string
	secret  []byte
	log     *slog.Logger
	client  *http.Transport

	number int                // of this server; set by Start
	stop   context.CancelFunc // ends the goroutine; called by Close
	reads  sync.WaitGroup     // the goroutine

	mu    sync.Mutex // guards the field below
	peers map[string]*peer

	looking sync.Mutex // held while Home looks; guards the field below
	looked  time.Time  // when Home looked last
}

// A peer is another server that has not ended.
type peer struct {
	address string
	alive   context.Context    // done when it has ended
	end     context.CancelFunc // of alive
}

// New returns the server that the others reach at an address, a URL without a path. All know
// the secret, of 32 bytes. Logger may be nil.
func New(s *store.Store, address string, secret []byte, logger *slog.Logger) *Set {
	logger = cmp.Or(logger, slog.New(slog.DiscardHandler))
	return &Set{store: s, rows: store.NewItems(s, "server"), address: address, secret: secret, log: logger, client: newClient(), peers: map[string]*peer{}}
}

// newClient returns a client for the other servers.
func newClient() *http.Transport {
	return &http.Transport{
		DialContext: (&net.Dialer{Timeout: reach}).DialContext, TLSHandshakeTimeout: reach,
		MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute, DisableCompression: true,
	}
}

// Start tells the others of this server, and looks for them in the background until Close.
func (s *Set) Start(ctx context.Context) (err error) {
	if s.number, err = s.store.Instance(ctx); err != nil {
		return err
	}
	if err := s.look(ctx); err != nil {
		return err
	}
	ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.reads.Go(func() {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
			if err := s.look(ctx); ctx.Err() == nil {
				s.warn(err)
			}
		}
	})
	return nil
}

// Close tells the others that this server ends. It is called before the store is closed.
func (s *Set) Close() {
	if s == nil || s.stop == nil {
		return
	}
	s.stop()
	s.reads.Wait()
	if _, err := s.rows.Take(context.Background(), nameOf(s.number)); err != nil {
		s.log.Warn("the other servers notice the end of this one late", "error", err)
	}
	s.client.CloseIdleConnections()
}

// nameOf returns a server's number as it is in IDs, and in the key of its row.
func nameOf(number int) string { return strconv.FormatInt(int64(number), 36) }

// look reads the rows of the servers, removes those of servers that have ended, and writes
// that of this one if it has none: others may have taken it for ended.
func (s *Set) look(ctx context.Context) error {
	lost, err := s.rows.Lost(ctx)
	if err != nil {
		return err
	}
	for _, row := range lost {
		if _, err := s.rows.Take(ctx, row.Key); err != nil {
			return err
		}
	}
	all, err := s.rows.List(ctx)
	if err != nil || s.update(all) {
		return err
	}
	err = s.rows.Put(ctx, &store.Item{Key: nameOf(s.number), Instance: s.number, Body: []byte(s.address)})
	if errors.Is(err, store.ErrChanged) { // by this server, in another request
		return nil
	}
	return err
}

// update makes the peers those of some rows, and reports whether this server is among them.
func (s *Set) update(all []*store.Item) (listed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := map[string]bool{}
	for _, row := range all {
		found[row.Key] = true
		if s.peers[row.Key] == nil && row.Instance != s.number {
			p := &peer{address: string(row.Body)}
			p.alive, p.end = context.WithCancel(context.Background())
			s.peers[row.Key] = p
		}
	}
	for name, p := range s.peers {
		if !found[name] {
			p.end()
			delete(s.peers, name)
		}
	}
	return found[nameOf(s.number)]
}

// Secret returns the secret of all servers; nil for a server alone.
func (s *Set) Secret() []byte {
	if s == nil {
		return nil
	}
	return s.secret
}

// Name returns an ID that names this server, too, if it is not alone.
func (s *Set) Name(id string) string {
	if s == nil {
		return id
	}
	return id + "-" + nameOf(s.number)
}

// Home returns the name of the other server that made one of some IDs; "" if that was this
// one, or has ended. One that has started within the [pause] may not be found.
func (s *Set) Home(ctx context.Context, ids ...string) string {
	if s == nil {
		return ""
	}
	for _, id := range ids {
		name := id[strings.LastIndexByte(id, '-')+1:]
		if number, err := strconv.ParseInt(name, 36, 32); err == nil && int(number) != s.number && s.find(ctx, name) {
			return name
		}
	}
	return ""
}

// find reports whether another server is known. It looks at most once per [pause] for all
// requests together, as they need not be authenticated.
func (s *Set) find(ctx context.Context, name string) bool {
	if s.peer(name) != nil {
		return true
	}
	s.looking.Lock()
	defer s.looking.Unlock()
	if time.Since(s.looked) >= pause {
		s.warn(s.look(ctx))
		s.looked = time.Now()
	}
	return s.peer(name) != nil
}

// alive looks whether another server has not ended: one may have started just now.
func (s *Set) alive(ctx context.Context, number int) bool {
	s.warn(s.look(ctx))
	return s.peer(nameOf(number)) != nil
}

// warn logs the error of a look; nil is none.
func (s *Set) warn(err error) {
	if err != nil {
		s.log.Warn("the other servers of the store are not looked for", "error", err)
	}
}

// peer returns the other server of a name, or nil.
func (s *Set) peer(name string) *peer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.peers[name]
}
