package main

import (
	"context"
	"fmt"
	"sort"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

type applyReport struct {
	// What the second manager was told when it wanted what the first one has.
	Conflict string   `json:"conflict"`
	Causes   []string `json:"causes"`
	// Images by container, after the second manager forced its own and added a container.
	Forced map[string]string `json:"forced"`
	// The same, after the second manager applied without its container.
	GivenBack map[string]string `json:"givenBack"`
	Managers  []string          `json:"managers"`
	// Whether applying the same again left the resource version as it was.
	Idempotent bool `json:"idempotent"`
}

// watchApply lets two managers apply one Deployment: a conflict, force, a list merged by key, and a field given back.
func watchApply(ctx context.Context, client dynamic.Interface, namespace string) (seen applyReport, err error) {
	deployments := client.Resource(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}).Namespace(namespace)
	apply := func(manager string, force bool, images ...string) (*unstructured.Unstructured, error) {
		options := metav1.ApplyOptions{FieldManager: manager, Force: force}
		return deployments.Apply(ctx, "judge", deployment(images...), options)
	}
	if _, err := apply("one", false, "main", "image:1"); err != nil {
		return seen, err
	}
	_, err = apply("two", false, "main", "image:2")
	if !apierrors.IsConflict(err) {
		return seen, fmt.Errorf("a conflict was expected, not %w", err)
	}
	seen.Conflict = err.Error()
	if status, ok := err.(apierrors.APIStatus); ok && status.Status().Details != nil {
		for _, cause := range status.Status().Details.Causes {
			seen.Causes = append(seen.Causes, fmt.Sprintf("%s %s: %s", cause.Type, cause.Field, cause.Message))
		}
	}
	forced, err := apply("two", true, "main", "image:2", "side", "image:3")
	if err != nil {
		return seen, err
	}
	seen.Forced = imagesOf(forced)
	again, err := apply("two", false, "main", "image:2", "side", "image:3")
	if err != nil {
		return seen, err
	}
	seen.Idempotent = again.GetResourceVersion() == forced.GetResourceVersion()
	last, err := apply("two", false, "main", "image:2")
	if err != nil {
		return seen, err
	}
	seen.GivenBack = imagesOf(last)
	for _, entry := range last.GetManagedFields() {
		seen.Managers = append(seen.Managers, fmt.Sprintf("%s %s", entry.Manager, entry.Operation))
	}
	sort.Strings(seen.Managers)
	return seen, nil
}

// deployment has no replicas, so no Pod comes of it. Images: name, image, name, image, …
func deployment(images ...string) *unstructured.Unstructured {
	labels := map[string]any{"app": "judge"}
	containers := []any{}
	for i := 0; i < len(images); i += 2 {
		containers = append(containers, map[string]any{"name": images[i], "image": images[i+1]})
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1",
		"kind":       "Deployment",
		"metadata":   map[string]any{"name": "judge"},
		"spec": map[string]any{
			"replicas": int64(0),
			"selector": map[string]any{"matchLabels": labels},
			"template": map[string]any{
				"metadata": map[string]any{"labels": labels},
				"spec":     map[string]any{"containers": containers},
			},
		},
	}}
}

func imagesOf(object *unstructured.Unstructured) map[string]string {
	images := map[string]string{}
	containers, _, _ := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
	for _, container := range containers {
		name, _, _ := unstructured.NestedString(container.(map[string]any), "name")
		images[name], _, _ = unstructured.NestedString(container.(map[string]any), "image")
	}
	return images
}
