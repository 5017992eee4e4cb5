# Plunder's deployments, as BareMetalHosts that Slipway leaves as they are (docs/migration-from-plunder.md):
#   jq -f examples/inventory/from-plunder.jq deployments.json >hosts.json
# The input is the answer of its API, or the file that it was started with.

def mac: ascii_downcase | gsub("-"; ":");

{
  apiVersion: "v1",
  kind: "List",
  items: [
    (.payload // .).deployments[]
    | (.mac | mac) as $mac
    | (.config.hostname // "") as $hostname
    | {
        apiVersion: "metal3.io/v1alpha1",
        kind: "BareMetalHost",
        metadata: {
          name: (if $hostname == "" then "host-\($mac | gsub(":"; "-"))" else $hostname | ascii_downcase end),
          namespace: "slipway-hosts",
          annotations: { "plunder/boot-config": .bootConfigName, "plunder/address": (.config.address // "") }
        },
        # Nothing is written or wiped: this is what the machine does now.
        spec: { externallyProvisioned: true, online: true, bootMACAddress: $mac }
      }
  ]
}
