// Each release has its own requirements: `go build -modfile=1.35.mod`.
module slipway.dev/assets/kubernetes

go 1.26.0
