// Each version has its own requirements: `go build -modfile=1.36.mod`.
module slipway.dev/assets/node

go 1.26.0
