//go:build tools

// Package kamaji keeps the modules of Kamaji in go.mod and go.sum.
package kamaji

import _ "github.com/clastix/kamaji"
