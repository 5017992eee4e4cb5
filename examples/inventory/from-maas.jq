# What MAAS knows of its machines, as BareMetalHosts that Slipway leaves as they are (docs/migration-from-maas.md):
#   jq -n --slurpfile machines machines.json --slurpfile power power.json -f examples/inventory/from-maas.jq >hosts.json

# A label's value: 63 of the characters that Kubernetes takes.
def labelValue: gsub("[^A-Za-z0-9._-]"; "-")[0:63] | sub("^[^A-Za-z0-9]+"; "") | sub("[^A-Za-z0-9]+$"; "");

# An address as it stands in a URL: IPv6 in brackets.
def authority: if test("^[0-9a-fA-F]*:[0-9a-fA-F:.]*$") then "[\(.)]" else . end;

# Of a machine's power parameters; null: MAAS switches it in a way that Slipway does not know.
def bmc($type):
  if ((.power_address // "") == "") then null
  elif $type == "ipmi" then "ipmi://\(.power_address | authority)"
  elif $type == "redfish" then
    (if (.power_address | startswith("http://")) then "redfish+http" else "redfish" end)
    + "://\(.power_address | sub("^https?://"; "") | sub("/+$"; "") | authority)"
    + (if ((.node_id // "") == "") then "" else "/redfish/v1/Systems/\(.node_id)" end)
  else null end;

def objects($power):
  (.hostname | ascii_downcase) as $name
  | ($power[.system_id] // {}) as $parameters
  | .power_type as $type
  | ($parameters | bmc($type)) as $address
  | (select($address != null) | {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "\($name)-bmc", namespace: "slipway-hosts" },
      stringData: { username: ($parameters.power_user // ""), password: ($parameters.power_pass // "") }
    }),
    {
      apiVersion: "metal3.io/v1alpha1",
      kind: "BareMetalHost",
      metadata: {
        name: $name,
        namespace: "slipway-hosts",
        labels: ({
          "infrastructure.cluster.x-k8s.io/failure-domain": ((.zone.name // "") | labelValue),
          "maas.io/pool": ((.pool.name // "") | labelValue)
        } | with_entries(select(.value != ""))),
        annotations: { "maas.io/system-id": .system_id, "maas.io/status": (.status_name // "") }
      },
      spec: ({
        # Nothing is written, wiped, started or stopped: this is what the machine does now.
        externallyProvisioned: true,
        # What is not known to be off is not switched off.
        online: (.power_state != "off"),
        bootMACAddress: .boot_interface.mac_address,
        bootMode: ({ uefi: "UEFI", pxe: "legacy" }[.bios_boot_method // ""]),
        bmc: (if $address == null then null else { address: $address, credentialsName: "\($name)-bmc" } end)
      } | with_entries(select(.value != null)))
    };

$machines[0]
| (group_by(.hostname | ascii_downcase) | map(select(length > 1) | .[0].hostname)) as $twice
| if $twice != [] then error("several machines are called \($twice | join(", ")): rename them in MAAS") else . end
| { apiVersion: "v1", kind: "List", items: map(objects($power[0])) }
