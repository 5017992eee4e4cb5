//go:build tools

// Package assets keeps the modules of the binaries that are built from here in go.mod and go.sum.
package assets

import (
	_ "sigs.k8s.io/apiserver-network-proxy/cmd/agent"
	_ "sigs.k8s.io/apiserver-network-proxy/cmd/server"
)
