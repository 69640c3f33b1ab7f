package kubernetes

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// An instance without a renewal for leaseDuration has ended; renewPause is the time
	// between two renewals.
	leaseDuration = 30 * time.Second
	renewPause    = 8 * time.Second
	// removeTimeout bounds the attempts at removing a Pod while the API server is away.
	removeTimeout = 5 * time.Minute
	// closeTimeout bounds the wait for Pods to be gone.
	closeTimeout = 30 * time.Second
)

// An owner owns the Pods of an instance: it makes and removes them, and removes those of
// instances that have ended.
type owner struct {
	cluster  *cluster
	instance string
	log      *slog.Logger

	work       context.Context // of removals, which outlive runs
	giveUp     context.CancelFunc
	background sync.WaitGroup // removals

	// The clocks of servers differ, so a Lease counts as expired after it was seen without a
	// renewal for as long as observe. Both are used by upkeep alone.
	seen    map[string]sighting // by instance
	observe time.Duration
	spare   time.Time // until when no orphans are removed; used by upkeep alone

	leased atomic.Bool // the instance has had its Lease
}

// A sighting is a Lease as it was first seen since its last renewal.
type sighting struct {
	renewed *metav1.MicroTime
	at      time.Time
}

func newOwner(c *cluster, log *slog.Logger) *owner {
	o := &owner{cluster: c, instance: strings.ToLower(rand.Text()[:12]), log: log, seen: map[string]sighting{}, observe: leaseDuration}
	o.work, o.giveUp = context.WithCancel(context.Background())
	return o
}

func (o *owner) labels() map[string]string { return map[string]string{labelInstance: o.instance} }

// create makes a Pod of spec and returns its name. With an error the Pod may be there.
func (o *owner) create(ctx context.Context, spec *spec) (name string, err error) {
	pod := spec.of(o.instance)
	_, err = o.cluster.api().Create(ctx, pod, metav1.CreateOptions{})
	return pod.Name, err
}

// remove removes a Pod in the background.
func (o *owner) remove(name string) {
	grace := int64(1)
	o.background.Go(func() {
		err := retry(o.work, removeTimeout, func(ctx context.Context) error {
			return o.cluster.api().Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: &grace})
		})
		if err != nil && !apierrors.IsNotFound(err) {
			o.log.Error("a Pod is left on the cluster", "pod", name, "error", err)
		}
	})
}

// awaitGone waits until nothing of a Pod's command runs any more. It reports false where that
// is not known before the owner gives up.
func (o *owner) awaitGone(name string) bool {
	for {
		ctx, cancel := bounded(o.work)
		all, err := o.cluster.api().List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
		cancel()
		if err == nil && (len(all.Items) == 0 || ended(&all.Items[0], runner) != nil) {
			return true
		}
		if !sleep(o.work, 300*time.Millisecond) {
			return false
		}
	}
}

// upkeep renews the lease of the instance, and removes what others left, until ctx is done.
func (o *owner) upkeep(ctx context.Context) {
	for ; ; sleep(ctx, renewPause) {
		if ctx.Err() != nil {
			return
		}
		o.tend(ctx)
	}
}

// tend renews the lease once, and removes what others left. After a failure it removes
// nothing for a while: when an API server comes back, the leases of all have expired.
func (o *owner) tend(ctx context.Context) {
	err := o.renew(ctx)
	if err == nil && time.Now().After(o.spare) {
		err = o.reap(ctx)
	}
	if err != nil {
		o.spare = time.Now().Add(leaseDuration)
		clear(o.seen)
		o.log.Warn("the lease of this server was not renewed, or others' were not read", "error", err)
	}
}

// lease makes sure that the instance had its Lease once, without which others would take its
// Pods for orphans.
func (o *owner) lease(ctx context.Context) error {
	if o.leased.Load() {
		return nil
	}
	return o.renew(ctx)
}

// renew renews the instance's Lease, and makes it if it is not there.
func (o *owner) renew(ctx context.Context) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	now, seconds := metav1.NowMicro(), int32(leaseDuration/time.Second)
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: o.leaseName(o.instance), Labels: o.labels()},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &o.instance, LeaseDurationSeconds: &seconds, RenewTime: &now},
	}
	patch, _ := json.Marshal(map[string]any{"spec": map[string]any{"renewTime": now}}) // plain data
	_, err := o.cluster.leases.Patch(ctx, lease.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	if apierrors.IsNotFound(err) {
		_, err = o.cluster.leases.Create(ctx, lease, metav1.CreateOptions{})
	}
	if apierrors.IsAlreadyExists(err) { // another goroutine was first
		err = nil
	}
	if err == nil {
		o.leased.Store(true)
	}
	return err
}

func (o *owner) leaseName(instance string) string { return "skills-mcp-" + instance }

// reap removes the Pods, and the Lease, of each instance whose Lease has expired or is
// gone.
func (o *owner) reap(ctx context.Context) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	// The Pods come first: an instance has its Lease before its first Pod.
	all, err := o.cluster.api().List(ctx, metav1.ListOptions{LabelSelector: labelInstance})
	if err != nil {
		return err
	}
	leases, err := o.cluster.leases.List(ctx, metav1.ListOptions{LabelSelector: labelInstance})
	if err != nil {
		return err
	}
	alive := map[string]bool{o.instance: true}
	left := map[string]bool{} // instances that have expired, and have no Pods
	for _, l := range leases.Items {
		instance := l.Labels[labelInstance]
		alive[instance] = alive[instance] || !o.expired(instance, &l.Spec)
		left[instance] = !alive[instance]
	}
	for _, p := range all.Items {
		instance := p.Labels[labelInstance]
		if alive[instance] || p.DeletionTimestamp != nil {
			continue
		}
		delete(left, instance)
		o.log.Info("removed a Pod that a server left", "pod", p.Name)
		o.remove(p.Name)
	}
	for instance, expired := range left {
		if expired {
			_ = o.cluster.leases.Delete(ctx, o.leaseName(instance), metav1.DeleteOptions{})
			delete(o.seen, instance)
		}
	}
	return nil
}

// expired reports whether an instance has not renewed its Lease, by the clock of either.
func (o *owner) expired(instance string, l *coordinationv1.LeaseSpec) bool {
	if l.RenewTime == nil || l.LeaseDurationSeconds == nil {
		return true
	}
	was, known := o.seen[instance]
	if !known || !was.renewed.Equal(l.RenewTime) {
		was = sighting{l.RenewTime, time.Now()}
		o.seen[instance] = was
	}
	return time.Since(was.at) >= o.observe && time.Since(l.RenewTime.Time) > time.Duration(*l.LeaseDurationSeconds)*time.Second
}

// close removes the instance's Pods and Lease, and waits until they are gone.
func (o *owner) close() error {
	defer o.giveUp()
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	defer context.AfterFunc(ctx, o.giveUp)()
	err := o.sweep(ctx)
	o.background.Wait()
	if err == nil {
		err = o.cluster.leases.Delete(ctx, o.leaseName(o.instance), metav1.DeleteOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
	}
	if err != nil {
		return fmt.Errorf("close the Kubernetes driver: Pods with the label %s=%s may be left, for another server to remove: %v", labelInstance, o.instance, err)
	}
	return nil
}

// sweep removes the instance's Pods that are left, and waits until none is there.
func (o *owner) sweep(ctx context.Context) error {
	for {
		one, done := bounded(ctx)
		all, err := o.cluster.api().List(one, metav1.ListOptions{LabelSelector: labelInstance + "=" + o.instance})
		done()
		switch {
		case err != nil && !away(err):
			return err
		case err == nil && len(all.Items) == 0:
			return nil
		case err == nil:
			for _, p := range all.Items {
				if p.DeletionTimestamp == nil {
					o.remove(p.Name)
				}
			}
		}
		if !sleep(ctx, 200*time.Millisecond) {
			return cmp.Or(err, context.Cause(ctx))
		}
	}
}
