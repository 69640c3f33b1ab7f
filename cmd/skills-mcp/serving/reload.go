package serving

import (
	"context"
	"slices"
	"strings"

	"github.com/coreos/go-systemd/v22/daemon"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/server/manage"
)

// livePolicy and liveServe are the keys of the configuration that count at once, also for those
// below them. All others count at the next start: what they configure is built once.
var (
	livePolicy = []string{"policy.mode", "policy.allow", "policy.deny", "policy.skills", "policy.profiles", "sandbox.network.allow"}
	liveServe  = []string{"serve.allow_hosts", "serve.allow_origins", "serve.trusted_proxies", "serve.drain"}
	liveTLS    = []string{"serve.tls"} // of a server that has a certificate already
)

// Follow reads the configuration again for each value of again, until ctx ends. One that is
// not valid is logged, and the former one counts on. l is nil over standard input and output.
func (v *Flags) Follow(ctx context.Context, again <-chan struct{}, b *Backend, l *Listener) {
	last := b.settings.Config
	for {
		select {
		case <-ctx.Done():
			return
		case <-again:
		}
		logger := b.settings.Logger
		notify(logger, daemon.SdNotifyReloading+"\n"+daemon.SdNotifyMonotonicUsec())
		next, err := v.reload(ctx, b, l)
		if err != nil {
			logger.Error("the configuration was read again and does not count: the former one stays", "err", err)
		} else {
			logChanges(b, l, last, next)
			last = next
		}
		notify(logger, daemon.SdNotifyReady)
	}
}

// reload makes the keys that count at once count. Nothing does where an error is returned.
func (v *Flags) reload(ctx context.Context, b *Backend, l *Listener) (*config.Config, error) {
	next, rules, err := b.settings.Reread()
	if err == nil {
		err = v.apply(next)
	}
	if err == nil {
		err = setup.CheckProfile(&manage.Profiles{ProfileOptions: manage.ProfileOptions{Rules: rules}}, "--profile", v.Profile)
	}
	if err == nil && l != nil && l.certificate != nil && next.Serve.TLS.Cert != "" {
		err = l.certificate.Use(next.Serve.TLS.Cert, next.Serve.TLS.Key)
	}
	if err != nil {
		return nil, err
	}
	if l != nil {
		l.admit(next.Serve.Access())
		l.patience.Store(int64(next.Serve.Drain))
	}
	b.settings.Sandboxes.Rules.Live.Replace(rules)
	_, _, err = b.reloader.Reload(ctx) // what exists may have changed
	return next, err
}

// logChanges logs each key that has changed.
func logChanges(b *Backend, l *Listener, last, next *config.Config) {
	live := slices.Clone(livePolicy)
	if l != nil {
		live = append(live, liveServe...)
		if l.certificate != nil && next.Serve.TLS.Cert != "" {
			live = append(live, liveTLS...)
		}
	}
	changes := config.Changes(last, next)
	for _, c := range changes {
		counts := "at the next start"
		if slices.ContainsFunc(live, func(key string) bool { return c.Key == key || strings.HasPrefix(c.Key, key+".") }) {
			counts = "now"
		}
		b.settings.Logger.Warn("the configuration has changed", "key", c.Key, "old", c.Old, "new", c.New, "counts", counts)
	}
	if len(changes) == 0 {
		b.settings.Logger.Warn("the configuration was read again and has not changed")
	}
}
