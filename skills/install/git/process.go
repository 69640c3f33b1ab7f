package git

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

var (
	errPackTooLarge = errors.New("the repository is too large")
	errIdle         = errors.New("the server sent nothing for too long")
)

// A failure is a git process that ended with an error.
type failure struct {
	stderr string // its last lines without progress, a stranger's text
	err    error
}

func (f *failure) Error() string { return f.stderr + ": " + f.err.Error() }

func (f *failure) Unwrap() error { return f.err }

// has reports whether git printed one of these texts.
func (f *failure) has(texts ...string) bool {
	lower := strings.ToLower(f.stderr)
	for _, text := range texts {
		if strings.Contains(lower, text) {
			return true
		}
	}
	return false
}

// waitPipes bounds the time in which a helper that outlives git, such as the daemon of
// git-credential-cache, may hold its pipes.
const waitPipes = time.Second

// command returns a git process in the repository, which is ended with its children
// when ctx is done.
func (r *repository) command(ctx context.Context, args ...string) *exec.Cmd {
	all := []string{"--git-dir=" + r.dir}
	for _, setting := range settings {
		all = append(all, "-c", setting)
	}
	cmd := exec.CommandContext(ctx, r.fetcher.options.Program, append(all, args...)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = r.dir, r.env, waitPipes
	ownGroup(cmd, r.fetcher.options.Terminal)
	return cmd
}

// address stands for the repository's URL in arguments: a redirect may change it.
const address = "\x00"

// run runs git to its end and returns its output, at most 16 MiB. It ends git if the
// repository grows beyond its limit, or if nothing comes for too long.
func (r *repository) run(ctx context.Context, stdin string, args ...string) ([]byte, error) {
	for redirects := 0; ; redirects++ {
		out, err := r.runOnce(ctx, stdin, args...)
		var failed *failure
		switch {
		case !errors.As(err, &failed):
			return out, err
		case failed.has("returned error: 30") && redirects < maxRedirects:
			if err := r.redirect(ctx); err != nil {
				return nil, err
			}
		default:
			return nil, err
		}
	}
}

func (r *repository) runOnce(ctx context.Context, stdin string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	args = slices.Clone(args)
	if i := slices.Index(args, address); i >= 0 {
		args[i] = r.url
	}
	cmd := r.command(ctx, args...)
	report := &stderrReader{progress: r.progress}
	out := &bounded{limit: maxOutput, exceeded: func() { cancel(errPackTooLarge) }}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), out, report
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		r.watch(done, report, cancel)
	}()
	err := cmd.Wait()
	close(done)
	<-stopped
	switch {
	case err == nil || errors.Is(err, exec.ErrWaitDelay):
		return out.Bytes(), nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	return nil, &failure{report.text(), err}
}

// maxOutput bounds the output of a process in bytes.
const maxOutput = 16 << 20

// watchEvery bounds the bytes that come beyond the limit to those of this time.
const watchEvery = 50 * time.Millisecond

func (r *repository) watch(done <-chan struct{}, report *stderrReader, cancel context.CancelCauseFunc) {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	last, since := int64(-1), time.Now()
	for {
		select {
		case <-done:
			return
		case <-ticker.C:
		}
		size := r.size()
		if size > r.limit {
			cancel(errPackTooLarge)
			return
		}
		asking := r.fetcher.options.Terminal && size == 0 // a person types
		if now := size + report.seen.Load(); now != last || asking {
			last, since = now, time.Now()
		}
		if time.Since(since) > r.fetcher.options.Idle {
			cancel(errIdle)
			return
		}
	}
}

// size returns the bytes of the repository's objects.
func (r *repository) size() int64 {
	var size int64
	filepath.WalkDir(filepath.Join(r.dir, "objects"), func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil // git removes its temporary files
		}
		if info, err := e.Info(); err == nil {
			size += info.Size()
		}
		return nil
	})
	return size
}

// A bounded is a buffer that reports when its limit is exceeded, and keeps no more.
type bounded struct {
	bytes.Buffer
	limit    int
	exceeded func()
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.limit {
		b.exceeded()
		return 0, errPackTooLarge
	}
	return b.Buffer.Write(p)
}
