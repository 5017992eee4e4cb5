module slipway.dev/clients

go 1.22

require (
	github.com/equinix/equinix-sdk-go v0.42.0
	github.com/packethost/packngo v0.29.0
)
