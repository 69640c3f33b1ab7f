package kubernetes

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A source makes the blank Pods. Those that it makes carry the label [labelInstance] of
// the driver, and have the containers of a spec.
type source interface {
	// create makes a Pod like spec and returns its name. It returns when ctx is done. With
	// an error and a name, the Pod may be there.
	create(ctx context.Context, spec *spec) (name string, err error)
	// remove removes a Pod. One that is gone is no error.
	remove(ctx context.Context, name string) error
}

// ownPods makes Pods of an instance by the API itself.
type ownPods struct {
	cluster  *cluster
	instance string
}

func (s *ownPods) create(ctx context.Context, spec *spec) (string, error) {
	pod := spec.of(s.instance)
	_, err := s.cluster.api().Create(ctx, pod, metav1.CreateOptions{})
	return pod.Name, err
}

func (s *ownPods) remove(ctx context.Context, name string) error {
	grace := int64(1)
	err := s.cluster.api().Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: &grace})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
