package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	gorilla "github.com/gorilla/websocket"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/remotecommand"
	"k8s.io/client-go/kubernetes/scheme"
	core "k8s.io/client-go/kubernetes/typed/core/v1"
	restclient "k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/transport/websocket"
)

// pods makes Pods in a namespace of its own, by the client library alone.
type pods struct {
	client    *core.CoreV1Client
	config    *restclient.Config
	namespace string
	image     string
	version   string // of the cluster, for people
	made      atomic.Int64
	waited    atomic.Pointer[waitingPod] // the last one
}

// newPods returns the Pods of a cluster that a kubeconfig names.
func newPods(ctx context.Context, kubeconfig, namespace, image string) (*pods, error) {
	if kubeconfig == "" {
		return nil, errors.New("SKILLS_MCP_TEST_CLUSTER names no cluster; integration/cluster/cluster env prints it")
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	client, err := core.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	text, err := client.RESTClient().Get().AbsPath("/version").DoRaw(ctx)
	if err != nil {
		return nil, err
	}
	_, version, _ := strings.Cut(string(text), `"gitVersion": "`)
	version, _, _ = strings.Cut(version, `"`)
	p := &pods{client: client, config: config, namespace: namespace, image: image, version: "Kubernetes " + version}
	_, err = client.Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	return p, err
}

// close removes the namespace.
func (p *pods) close(ctx context.Context) error {
	if last := p.waited.Swap(nil); last != nil {
		last.close()
	}
	return p.client.Namespaces().Delete(ctx, p.namespace, metav1.DeleteOptions{})
}

// create makes a Pod of one container that runs a script with standard input.
func (p *pods) create(ctx context.Context, script string) (name string, err error) {
	name, grace, no := fmt.Sprintf("pod-%d", p.made.Add(1)), int64(1), false
	_, err = p.client.Pods(p.namespace).Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, TerminationGracePeriodSeconds: &grace, AutomountServiceAccountToken: &no, EnableServiceLinks: &no,
			Containers: []corev1.Container{{Name: "one", Image: p.image, ImagePullPolicy: corev1.PullIfNotPresent, Command: []string{"/bin/sh", "-c", script}, Stdin: true, StdinOnce: true}},
		},
	}, metav1.CreateOptions{})
	return name, err
}

func (p *pods) delete(ctx context.Context, name string) error {
	err := p.client.Pods(p.namespace).Delete(ctx, name, metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// await waits until a watch shows a Pod for which done returns true; nil is one that is gone.
func (p *pods) await(ctx context.Context, name string, done func(*corev1.Pod) bool) error {
	watch, err := p.client.Pods(p.namespace).Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	if err != nil {
		return err
	}
	defer watch.Stop()
	for event := range watch.ResultChan() {
		pod, _ := event.Object.(*corev1.Pod)
		if event.Type == "DELETED" {
			pod = nil
		}
		if done(pod) {
			return nil
		}
	}
	return errors.Join(fmt.Errorf("the watch of the Pod %s ended", name), context.Cause(ctx))
}

// until makes a Pod and waits for its phase.
func (p *pods) until(ctx context.Context, phase corev1.PodPhase) error {
	script := "echo " + printed
	if phase == corev1.PodRunning {
		script = "exec sleep 600"
	}
	name, err := p.create(ctx, script)
	if err == nil {
		err = p.await(ctx, name, func(pod *corev1.Pod) bool { return pod != nil && pod.Status.Phase == phase })
	}
	return errors.Join(err, p.delete(context.WithoutCancel(ctx), name))
}

// A waitingPod is one whose shell waits for a line, which it answers. To an empty one it
// says ready.
type waitingPod struct {
	pods *pods
	name string
	ws   *gorilla.Conn // nil until connect
}

const (
	ready      = "\x06"
	waitScript = `while IFS= read -r line; do if [ "$line" ]; then echo "$line"; exit; fi; printf '\006'; done`
)

// wait starts a Pod, connected or not, in the place of the last one.
func (p *pods) wait(ctx context.Context, connected bool) (*waitingPod, error) {
	name, err := p.create(ctx, waitScript)
	if err != nil {
		return nil, err
	}
	w := &waitingPod{pods: p, name: name}
	if last := p.waited.Swap(w); last != nil {
		last.close()
	}
	if err := p.await(ctx, name, func(pod *corev1.Pod) bool { return pod != nil && pod.Status.Phase == corev1.PodRunning }); err != nil || !connected {
		return w, err
	}
	if err := w.connect(ctx); err != nil {
		return w, err
	}
	return w, w.say(ctx, "", ready)
}

// connect connects to the Pod's streams.
func (w *waitingPod) connect(ctx context.Context) error {
	transport, holder, err := websocket.RoundTripperFor(w.pods.config)
	if err != nil {
		return err
	}
	url := w.pods.client.RESTClient().Get().Namespace(w.pods.namespace).Resource("pods").Name(w.name).SubResource("attach").
		VersionedParams(&corev1.PodAttachOptions{Stdin: true, Stdout: true, Stderr: true}, scheme.ParameterCodec).URL()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url.String(), nil)
	if err == nil {
		w.ws, err = websocket.Negotiate(transport, holder, request, remotecommand.StreamProtocolV5Name)
	}
	return err
}

// say sends a line and waits for its answer.
func (w *waitingPod) say(ctx context.Context, line, want string) error {
	defer context.AfterFunc(ctx, func() { _ = w.ws.Close() })()
	if err := w.ws.WriteMessage(gorilla.BinaryMessage, append([]byte{remotecommand.StreamStdIn}, line+"\n"...)); err != nil {
		return err
	}
	for got := ""; got != want; {
		_, message, err := w.ws.ReadMessage()
		if err != nil {
			return fmt.Errorf("the Pod's shell answered %q instead of %q: %w", got, want, cmp.Or(context.Cause(ctx), err))
		}
		if len(message) > 0 && message[0] == remotecommand.StreamStdOut {
			got += string(message[1:])
		}
	}
	return nil
}

// line has the shell answer a line. It connects first, if nothing has.
func (w *waitingPod) line(ctx context.Context) error {
	if w.ws == nil {
		if err := w.connect(ctx); err != nil {
			return err
		}
	}
	return w.say(ctx, printed, printed+"\n")
}

// close ends the connection and removes the Pod, without waiting for that.
func (w *waitingPod) close() {
	w.disconnect()
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	_ = w.pods.delete(ctx, w.name) // the namespace goes, too
}

func (w *waitingPod) disconnect() {
	if w.ws != nil {
		_ = w.ws.Close()
	}
}

// removed removes the last Pod, whose shell has answered, and waits until it is gone.
func (p *pods) removed(ctx context.Context) error {
	w := p.waited.Swap(nil)
	w.disconnect()
	if err := p.delete(ctx, w.name); err != nil {
		return err
	}
	for {
		_, err := p.client.Pods(p.namespace).Get(ctx, w.name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err := errors.Join(err, pause(ctx, poll)); err != nil {
			return err
		}
	}
}

// room returns how many Pods like those of the drivers in the namespace a node has room for,
// by their number and by the processors that they reserve.
func (p *pods) room(ctx context.Context) (int, error) {
	nodes, err1 := p.client.Nodes().List(ctx, metav1.ListOptions{})
	all, err2 := p.client.Pods(p.namespace).List(ctx, metav1.ListOptions{LabelSelector: "skills-mcp/instance"})
	if err := errors.Join(err1, err2); err != nil {
		return 0, err
	}
	if len(nodes.Items) == 0 || len(all.Items) == 0 {
		return 0, errors.New("there is no node, or no Pod of a driver")
	}
	var reserved int64
	for _, c := range all.Items[0].Spec.Containers {
		reserved += c.Resources.Requests.Cpu().MilliValue()
	}
	there := nodes.Items[0].Status.Allocatable
	return int(min(there.Pods().Value(), there.Cpu().MilliValue()/max(reserved, 1))), nil
}

// An apiLoad counts the work of the API server so far.
type apiLoad struct {
	requests float64
	cpu      time.Duration
}

// load returns it.
func (p *pods) load(ctx context.Context) (l apiLoad, err error) {
	text, err := p.client.RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	for _, m := range apiMetrics.FindAllSubmatch(text, -1) {
		value, _ := strconv.ParseFloat(string(m[2]), 64) // the expression matches numbers alone
		if string(m[1]) == "process_cpu_seconds_total" {
			l.cpu = time.Duration(value * float64(time.Second))
		} else {
			l.requests += value
		}
	}
	return l, err
}

var apiMetrics = regexp.MustCompile(`(?m)^(apiserver_request_total|process_cpu_seconds_total)(?:\{.*\})? ([0-9.e+]+)$`)
