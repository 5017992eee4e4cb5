//go:build tools

// Package assets keeps the modules of the binaries that are built from here in go.mod and go.sum.
package assets

import _ "github.com/k3s-io/kine"
