package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

const (
	runtimePatience = 2 * time.Minute
	runtimeAgain    = 50 * time.Millisecond
)

// waitForRuntime waits until containerd answers Kubernetes' question for its status (CRI). kubeadm asks it at once, gives it two seconds, and
// joins nothing without an answer; containerd's socket is there long before.
func waitForRuntime(socket string) error {
	var plain http.Protocols
	plain.SetUnencryptedHTTP2(true)
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}
	client := http.Client{Transport: &http.Transport{DialContext: dial, Protocols: &plain}}
	end := time.Now().Add(runtimePatience)
	for {
		err := askRuntime(&client)
		if err == nil {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("containerd gives no status within %s: %w", runtimePatience, err)
		}
		time.Sleep(runtimeAgain)
	}
}

// askRuntime calls by gRPC: an empty message, behind the byte that says that it is not packed and its length.
func askRuntime(client *http.Client) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	const method = "http://runtime/runtime.v1.RuntimeService/Status"
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, method, bytes.NewReader(make([]byte, 5)))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/grpc")
	request.Header.Set("TE", "trailers")
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return err
	}
	// An error comes without a body, and its trailers as headers.
	for _, from := range []http.Header{answer.Trailer, answer.Header} {
		if status := from.Get("Grpc-Status"); status != "" && status != "0" {
			return fmt.Errorf("it answers %s (%s)", from.Get("Grpc-Message"), status)
		} else if status == "0" {
			return nil
		}
	}
	return fmt.Errorf("it answers %s", answer.Status)
}
