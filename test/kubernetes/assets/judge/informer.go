package main

import (
	"context"
	"fmt"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

type informerReport struct {
	Objects int `json:"objects"`
	Added   int `json:"added"`
	Updated int `json:"updated"`
	Deleted int `json:"deleted"`
	// Objects whose cached resource version was the server's, after the updates.
	Equal         int  `json:"equal"`
	Lists         int  `json:"lists"`
	StreamedLists int  `json:"streamedLists"`
	Errors        int  `json:"errors"`
	InitialEnd    bool `json:"initialEventsEnd"`
}

// watchInformer lets a shared informer follow objects that come, change and go; half of them are there before it.
func watchInformer(ctx context.Context, client kubernetes.Interface, namespace string, objects int, requests *requests) (seen informerReport, err error) {
	label := map[string]string{"judge": "informer"}
	maps := client.CoreV1().ConfigMaps(namespace)
	create := func(from, to int) error {
		for i := from; i < to; i++ {
			object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("object-%03d", i), Labels: label}}
			if _, err := maps.Create(ctx, object, metav1.CreateOptions{}); err != nil {
				return err
			}
		}
		return nil
	}
	if err := create(0, objects/2); err != nil {
		return seen, err
	}

	var added, updated, deleted, errors atomic.Int32
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace),
		informers.WithTweakListOptions(func(options *metav1.ListOptions) { options.LabelSelector = "judge=informer" }))
	informer := factory.Core().V1().ConfigMaps()
	if err := informer.Informer().SetWatchErrorHandler(func(*cache.Reflector, error) { errors.Add(1) }); err != nil {
		return seen, err
	}
	if _, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { added.Add(1) },
		UpdateFunc: func(any, any) { updated.Add(1) },
		DeleteFunc: func(any) { deleted.Add(1) },
	}); err != nil {
		return seen, err
	}
	running, stop := context.WithCancel(ctx)
	defer factory.Shutdown()
	defer stop()
	factory.Start(running.Done())
	factory.WaitForCacheSync(ctx.Done())

	if err := create(objects/2, objects); err != nil {
		return seen, err
	}
	if err := eventually(ctx, "every object was added", func() bool { return int(added.Load()) == objects }); err != nil {
		return seen, err
	}
	versions := map[string]string{}
	for i := range objects {
		name := fmt.Sprintf("object-%03d", i)
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: label}, Data: map[string]string{"round": "2"}}
		changed, err := maps.Update(ctx, object, metav1.UpdateOptions{})
		if err != nil {
			return seen, err
		}
		versions[name] = changed.ResourceVersion
	}
	if err := eventually(ctx, "every object was updated", func() bool { return int(updated.Load()) == objects }); err != nil {
		return seen, err
	}
	cached, err := informer.Lister().ConfigMaps(namespace).List(labels.Everything())
	if err != nil {
		return seen, err
	}
	for _, object := range cached {
		if versions[object.Name] == object.ResourceVersion {
			seen.Equal++
		}
	}
	if err := maps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "judge=informer"}); err != nil {
		return seen, err
	}
	if err := eventually(ctx, "every object was deleted", func() bool { return int(deleted.Load()) == objects }); err != nil {
		return seen, err
	}
	seen.Objects, seen.Added, seen.Updated, seen.Deleted = objects, int(added.Load()), int(updated.Load()), int(deleted.Load())
	seen.Errors, seen.Lists, seen.StreamedLists = int(errors.Load()), requests.Lists, requests.StreamedLists
	seen.InitialEnd, err = initialEventsEnd(ctx, client, namespace)
	return seen, err
}

// initialEventsEnd tells whether a streamed list ends with the bookmark that says so.
func initialEventsEnd(ctx context.Context, client kubernetes.Interface, namespace string) (bool, error) {
	yes := true
	stream, err := client.CoreV1().ConfigMaps(namespace).Watch(ctx, metav1.ListOptions{
		SendInitialEvents: &yes, AllowWatchBookmarks: true, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
	})
	if err != nil {
		return false, err
	}
	defer stream.Stop()
	for event := range stream.ResultChan() {
		if object, ok := event.Object.(*corev1.ConfigMap); ok && event.Type == watch.Bookmark {
			return object.Annotations[metav1.InitialEventsAnnotationKey] == "true", nil
		}
	}
	return false, ctx.Err()
}
