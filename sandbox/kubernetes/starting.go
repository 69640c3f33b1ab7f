package kubernetes

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// roomPause is the time between attempts at making a Pod where a quota is used up.
const roomPause = time.Second

// pullPause is the time after which a start most likely pulls its image.
const pullPause = 2 * time.Second

// A starter starts the blank Pods of a driver.
type starter struct {
	options  *Options
	cluster  *cluster
	pods     *pods
	owner    *owner
	patience time.Duration

	calls  atomic.Int64 // that wait for a Pod now
	waits  waits
	starts *rate.Limiter // of those that no call waits for
}

// A blank is a Pod whose loader waits for a folder.
type blank struct {
	*starter
	name string
	spec *spec
}

// Ended implements [warmpool.Instance].
func (b *blank) Ended() bool { return !b.pods.runs(b.name) }

// Discard implements [warmpool.Instance].
func (b *blank) Discard() { b.owner.remove(b.name) }

// start makes a Pod and waits until its containers run. Whoever gets it discards it.
func (d *starter) start(ctx context.Context, spec *spec, ended func(*blank)) (*blank, error) {
	say := func(message string) { d.waits.say(spec.key, message) }
	if d.calls.Load() == 0 {
		if err := d.starts.Wait(ctx); err != nil {
			return nil, err
		}
	}
	name, err := d.create(ctx, spec, say)
	if err != nil {
		return nil, err
	}
	b := &blank{starter: d, name: name, spec: spec}
	err = b.awaitRunning(ctx, say)
	if err == nil && !d.pods.onEnd(name, func() { ended(b) }) {
		err = d.cluster.unavailable("start the Pod", errGone)
	}
	if err != nil {
		b.Discard()
		return nil, err
	}
	return b, nil
}

// create makes a Pod. While the API server is away, or a quota is used up, it tries again.
func (d *starter) create(ctx context.Context, spec *spec, say func(string)) (name string, err error) {
	ctx, cancel := context.WithTimeout(ctx, d.patience)
	defer cancel()
	make := func(ctx context.Context) error {
		err := d.owner.lease(ctx)
		if err == nil {
			if name, err = d.owner.create(ctx, spec); away(err) {
				d.owner.remove(name)
			}
		}
		if away(err) {
			say("waiting for the cluster's API server")
		}
		return err
	}
	for {
		err := retry(ctx, d.patience, make)
		switch {
		case err == nil:
			d.pods.add(name)
			return name, nil
		case away(err):
			return "", d.cluster.unavailable("start a Pod", err)
		case apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota"):
			say("waiting for room on the cluster: " + quotaOf(err))
			if !sleep(ctx, roomPause) {
				return "", &busyError{"the quota of the namespace " + d.cluster.namespace + " is used up (" + quotaOf(err) + "); raise the ResourceQuota, or let fewer calls run at once"}
			}
		case apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err):
			return "", &sandbox.UnavailableError{
				Reason: "the cluster refuses a Pod: " + err.Error(),
				Remedy: "give the server's account the Role of docs/kubernetes.md in the namespace " + d.cluster.namespace,
				Err:    err,
			}
		default:
			return "", &sandbox.UnavailableError{Reason: "the cluster refuses a Pod: " + err.Error(), Remedy: "see the settings below sandbox.kubernetes", Err: err}
		}
	}
}

// quotaOf returns the part of an error of a quota that names it.
func quotaOf(err error) string {
	_, quota, _ := strings.Cut(err.Error(), "exceeded quota: ")
	return quota
}

// A busyError is an [sandbox.ErrBusy] of the cluster.
type busyError struct{ reason string }

func (e *busyError) Error() string        { return e.reason }
func (e *busyError) Is(target error) bool { return target == sandbox.ErrBusy }

// awaitRunning waits until the containers of b run. A Pod that no node has room for is
// given up after a while.
func (b *blank) awaitRunning(ctx context.Context, say func(string)) error {
	ctx, cancel := context.WithTimeout(ctx, b.patience)
	defer cancel()
	// An image takes its time, and nothing of it is in the Pod's status.
	defer time.AfterFunc(pullPause, func() { say("waiting for a Pod with the image " + b.spec.image) }).Stop()
	var full string
	pod, err := b.pods.await(ctx, b.name, func(pod *corev1.Pod) (bool, error) {
		if full = unschedulable(pod); full != "" {
			say("waiting for room on the cluster: " + full)
		}
		return running(pod), b.notStarted(pod)
	})
	switch {
	case err == nil:
		return nil
	case full != "":
		return &busyError{"no node of the cluster has room: " + full + "; add nodes or let fewer calls run at once, and see whether sandbox.kubernetes.node_selector and tolerations match a node"}
	case ctx.Err() != nil && pod != nil:
		return b.cluster.unavailable("start the Pod in time", fmt.Errorf("%w: %s", err, describe(pod)))
	case ctx.Err() != nil:
		return b.cluster.unavailable("start the Pod in time", err)
	}
	return err
}

// unschedulable returns why no node takes a Pod, or "".
func unschedulable(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return c.Message
		}
	}
	return ""
}

// running reports whether both containers of a Pod run.
func running(pod *corev1.Pod) bool {
	return len(pod.Status.ContainerStatuses) == len(pod.Spec.Containers) &&
		!slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return s.State.Running == nil })
}

// notStarted returns why a Pod cannot start, and nil where it still can.
func (b *blank) notStarted(pod *corev1.Pod) error {
	for _, s := range pod.Status.ContainerStatuses {
		waiting := s.State.Waiting
		if waiting == nil {
			continue
		}
		switch waiting.Reason {
		case "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError":
			return &sandbox.UnavailableError{
				Reason: fmt.Sprintf("the image %s of the role %q cannot be had by the cluster: %s", b.spec.image, b.spec.role, waiting.Message),
				Remedy: fmt.Sprintf("set %s to an image that the nodes can pull, or sandbox.kubernetes.image_pull_secrets", setting(b.spec.role)),
				Err:    fmt.Errorf("%s: %s", waiting.Reason, waiting.Message),
			}
		case "CreateContainerConfigError", "CreateContainerError", "RunContainerError":
			return b.failed(waiting.Reason, waiting.Message)
		}
	}
	if over(pod) {
		return b.failed("", describe(pod))
	}
	return nil
}

func (b *blank) failed(reason, message string) error {
	return &sandbox.UnavailableError{
		Reason: fmt.Sprintf("a Pod with the image %s of the role %q does not start: %s %s", b.spec.image, b.spec.role, reason, message),
		Remedy: "see its events with: kubectl get events",
		Err:    fmt.Errorf("pod %s: %s %s", b.name, reason, message),
	}
}

// describe returns the state of a Pod for people.
func describe(pod *corev1.Pod) string {
	text := []string{string(pod.Status.Phase), pod.Status.Reason, pod.Status.Message}
	for _, s := range pod.Status.ContainerStatuses {
		switch {
		case s.State.Waiting != nil:
			text = append(text, s.Name+": "+s.State.Waiting.Reason, s.State.Waiting.Message)
		case s.State.Terminated != nil:
			text = append(text, fmt.Sprintf("%s: %s, exit code %d", s.Name, s.State.Terminated.Reason, s.State.Terminated.ExitCode)) // its message is the command's own
		}
	}
	if pod.DeletionTimestamp != nil {
		text = append(text, "removed")
	}
	return strings.Join(slices.DeleteFunc(text, func(s string) bool { return s == "" }), ", ")
}

// waits tells calls why the Pods that they wait for do not come.
type waits struct {
	mu        sync.Mutex
	listeners map[*func(string)]string // the key of a spec
}

// listen has progress told about Pods of a key, until the returned function is called.
func (w *waits) listen(key string, progress func(string)) (stop func()) {
	if progress == nil {
		return func() {}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.listeners == nil {
		w.listeners = map[*func(string)]string{}
	}
	w.listeners[&progress] = key
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.listeners, &progress)
	}
}

// say tells the calls that wait for a Pod of a key.
func (w *waits) say(key, message string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for progress, of := range w.listeners {
		if of == key {
			(*progress)(message)
		}
	}
}
