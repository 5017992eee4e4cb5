//go:build tools

// Package coredns keeps the modules of CoreDNS in go.mod and go.sum.
package coredns

import _ "github.com/coredns/coredns"
