// Command judge uses a Kubernetes API as programs written with client-go do, and prints what it saw as one JSON
// object: a shared informer, a leader election, and dynamic server-side apply. It judges nothing itself; it ends with 1
// when it could not go on.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

type report struct {
	Informer informerReport `json:"informer"`
	Election electionReport `json:"election"`
	Apply    applyReport    `json:"apply"`
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "the API's kubeconfig")
	objects := flag.Int("objects", 50, "how many objects the informer follows")
	patience := flag.Duration("timeout", time.Minute, "when it is taken for stuck")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), *patience)
	defer cancel()
	seen, err := judge(ctx, *kubeconfig, *objects)
	if err != nil {
		fmt.Fprintln(os.Stderr, "judge:", err)
		os.Exit(1)
	}
	if err := json.NewEncoder(os.Stdout).Encode(seen); err != nil {
		fmt.Fprintln(os.Stderr, "judge:", err)
		os.Exit(1)
	}
}

func judge(ctx context.Context, kubeconfig string, objects int) (seen report, err error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return seen, err
	}
	config.QPS = -1
	requests := &requests{}
	config.Wrap(requests.wrap)
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return seen, err
	}
	anything, err := dynamic.NewForConfig(config)
	if err != nil {
		return seen, err
	}
	made, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "judge-"}}, metav1.CreateOptions{})
	if err != nil {
		return seen, err
	}
	namespace := made.Name
	defer client.CoreV1().Namespaces().Delete(context.Background(), namespace, metav1.DeleteOptions{})

	if seen.Informer, err = watchInformer(ctx, client, namespace, objects, requests); err != nil {
		return seen, fmt.Errorf("informer: %w", err)
	}
	if seen.Election, err = watchElection(ctx, client, namespace); err != nil {
		return seen, fmt.Errorf("election: %w", err)
	}
	if seen.Apply, err = watchApply(ctx, anything, namespace); err != nil {
		return seen, fmt.Errorf("apply: %w", err)
	}
	return seen, nil
}

// eventually asks until the answer is yes.
func eventually(ctx context.Context, what string, holds func() bool) error {
	for !holds() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("it never came to this: %s", what)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}
