package kubernetes

import (
	"context"
	"errors"
	"maps"
	"net/netip"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// errGone says that a Pod was removed.
var errGone = errors.New("the Pod was removed")

// pods follows the Pods of an instance by one watch.
type pods struct {
	cluster  *cluster
	selector string

	mu      sync.Mutex
	all     map[string]followed
	changed chan struct{} // closed, and replaced, at each change
}

// A followed Pod is one as it was last seen.
type followed struct {
	pod   *corev1.Pod
	since time.Time // when it was first known
	ended func()    // called once, when it ends or is gone; may be nil
}

func newPods(c *cluster, instance string) *pods {
	return &pods{cluster: c, selector: labelInstance + "=" + instance, all: map[string]followed{}, changed: make(chan struct{})}
}

// change calls do with the lock, and wakes the waiters.
func (p *pods) change(do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	do()
	close(p.changed)
	p.changed = make(chan struct{})
}

// add follows a Pod of that name, which the watch may have told of already, or not yet.
func (p *pods) add(name string) {
	p.change(func() {
		if _, known := p.all[name]; !known {
			p.all[name] = followed{since: time.Now()}
		}
	})
}

// set notes the state of a Pod.
func (p *pods) set(pod *corev1.Pod) {
	f, known := p.all[pod.Name]
	if !known {
		f.since = time.Now()
	}
	f.pod = pod
	if f.ended != nil && over(pod) {
		go f.ended()
		f.ended = nil
	}
	p.all[pod.Name] = f
}

// drop notes that a Pod is gone.
func (p *pods) drop(name string) {
	if f := p.all[name]; f.ended != nil {
		go f.ended()
	}
	delete(p.all, name)
}

// over reports whether nothing runs in a Pod any more, or soon.
func over(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// onEnd has ended called when a Pod has ended. It reports whether it has not yet.
func (p *pods) onEnd(name string, ended func()) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	f, known := p.all[name]
	if !known || f.pod != nil && over(f.pod) {
		return false
	}
	f.ended = ended
	p.all[name] = f
	return true
}

// runs reports whether a Pod has not ended, as far as is known.
func (p *pods) runs(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	f, known := p.all[name]
	return known && (f.pod == nil || !over(f.pod))
}

// addresses returns the addresses of a Pod that runs.
func (p *pods) addresses(name string) (all []netip.Addr) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f := p.all[name]; f.pod != nil {
		for _, ip := range f.pod.Status.PodIPs {
			if addr, err := netip.ParseAddr(ip.IP); err == nil {
				all = append(all, addr)
			}
		}
	}
	return all
}

// await calls done with each state of a Pod until it returns true or an error, and returns the
// Pod. The error is done's, [errGone], or the cause of ctx's end.
func (p *pods) await(ctx context.Context, name string, done func(*corev1.Pod) (bool, error)) (*corev1.Pod, error) {
	for {
		p.mu.Lock()
		f, known := p.all[name]
		changed := p.changed
		p.mu.Unlock()
		if !known {
			return nil, errGone
		}
		if f.pod != nil {
			if enough, err := done(f.pod); enough || err != nil {
				return f.pod, err
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return f.pod, context.Cause(ctx)
		}
	}
}

// watch follows the Pods until ctx is done.
func (p *pods) watch(ctx context.Context) {
	for pause := time.Duration(0); sleep(ctx, pause); pause = time.Second / 5 {
		if version, ok := p.list(ctx); ok {
			p.follow(ctx, version)
		}
	}
}

// list notes all Pods, and returns the version that a watch goes on from.
func (p *pods) list(ctx context.Context) (version string, ok bool) {
	began := time.Now()
	ctx, cancel := bounded(ctx)
	defer cancel()
	list, err := p.cluster.api().List(ctx, metav1.ListOptions{LabelSelector: p.selector})
	if err != nil {
		return "", false
	}
	p.change(func() {
		there := map[string]bool{}
		for i := range list.Items {
			there[list.Items[i].Name] = true
			p.set(&list.Items[i])
		}
		for name, f := range maps.Clone(p.all) {
			if !there[name] && f.since.Before(began) { // a later one may have been made after the list
				p.drop(name)
			}
		}
	})
	return list.ResourceVersion, true
}

// follow notes changes until the watch ends, as it does every few minutes.
func (p *pods) follow(ctx context.Context, version string) {
	seconds := int64(240)
	w, err := p.cluster.api().Watch(ctx, metav1.ListOptions{LabelSelector: p.selector, ResourceVersion: version, TimeoutSeconds: &seconds})
	if err != nil {
		return
	}
	defer w.Stop()
	for event := range w.ResultChan() {
		pod, ok := event.Object.(*corev1.Pod)
		if !ok { // an error, such as of a version that is too old
			return
		}
		p.change(func() {
			if event.Type == watch.Deleted {
				p.drop(pod.Name)
				return
			}
			p.set(pod)
		})
	}
}
