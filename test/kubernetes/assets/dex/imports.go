//go:build tools

// Package dex keeps the modules of Dex in go.mod and go.sum.
package dex

import _ "github.com/dexidp/dex/cmd/dex"
