import { test } from "node:test";
import { sameTranscript } from "../transcript.ts";
import { DEFAULT_PROJECT, DEFAULT_TOKEN } from "./options.ts";
import { rig } from "./rig.ts";

const P = `/projects/${DEFAULT_PROJECT.id}`;
const ORGANIZATION = "/organizations/5afe0000-0000-4000-8000-00000000000a";
const SPOT = '"instance_parameters": {"plan": "c3.small.x86", "operating_system": "ubuntu_20_04", "hostname": "spot"}';

const REQUESTS = `
  GET /user
  GET /plans
  GET ${P}/plans
  GET /locations/metros
  GET /locations/metros/sg
  GET /locations/metros/nowhere
  GET /facilities
  GET /capacity/metros
  POST /capacity/metros {"servers": [{"metro": "sg", "plan": "c3.small.x86"}, {"metro": "sg", "plan": "c3.small.x86", "quantity": 7}, {"quantity": "1"}]}
  POST /capacity/metros {"servers": "none"}
  GET /market/spot/prices
  GET /market/spot/prices/metros
  GET /operating-systems
  GET ${ORGANIZATION}/operating-systems
  GET /organizations
  GET ${ORGANIZATION}
  GET /organizations/another
  GET ${ORGANIZATION}/projects
  GET /projects
  GET ${P}
  GET /projects/another
  GET ${ORGANIZATION}/devices

  POST ${P}/devices {"hostname": "a", "plan": "c3.small.x86", "metro": "sg", "operating_system": "custom_ipxe", "ipxe_script_url": "https://boot.test/s", "tags": ["x", 1], "description": "d", "customdata": "{\\"a\\": 1}", "userdata": "#!u", "billing_cycle": "monthly", "always_pxe": true} -> a
  POST ${P}/devices {"plan": "m3.large.x86", "facility": "any", "operating_system": "ubuntu_20_04", "ip_addresses": [{"address_family": 6}, {"address_family": 4, "public": false}], "locked": true} -> b
  POST ${P}/devices {"hostname": "n", "plan": "none", "metro": "sg", "operating_system": "custom_ipxe"}
  POST ${P}/devices {"hostname": "n", "plan": "c3.small.x86", "metro": "none", "operating_system": "custom_ipxe"}
  POST ${P}/devices {"hostname": "n", "plan": "c3.small.x86", "metro": "sg", "operating_system": "none"}
  POST ${P}/devices {"hostname": "n", "plan": "c3.small.x86", "metro": "sg", "operating_system": "custom_ipxe", "ipxe_script_url": "none"}
  GET /devices/$a
  wait 600
  GET /devices/$a
  GET /devices/$a?include=plan
  GET /devices/$a?exclude=plan
  GET /devices/$b
  GET /devices/another
  GET ${P}/devices?per_page=1
  GET ${P}/devices?per_page=1&page=2
  GET ${P}/devices?page=0
  GET ${P}/devices?per_page=1001
  GET ${P}/devices?search=a
  GET ${ORGANIZATION}/devices?per_page=1
  PUT /devices/$a {"hostname": "c", "tags": ["y"], "description": "e", "customdata": {"b": 2}, "always_pxe": false, "ipxe_script_url": "https://boot.test/t", "userdata": "#!v", "locked": false}
  PATCH /devices/$b {"locked": false}
  GET /devices/$a/userdata
  GET /devices/$a/metadata
  GET /devices/$a/ssh-keys
  GET /devices/$a/events
  GET /events?per_page=2
  GET ${ORGANIZATION}/events?per_page=1
  GET ${P}/events?per_page=1
  GET /projects/another/events
  GET /events/another
  POST /devices/$a/actions {"type": "reboot"}
  POST /devices/$a/actions {"type": "dance"}
  wait 60
  POST /devices/$a/actions {"type": "power_off"}
  wait 60
  GET /devices/$a
  POST /devices/$a/actions {"type": "power_off"}
  POST /devices/$a/actions {"type": "power_on"}
  wait 60
  POST /devices/$a/actions {"type": "reinstall", "operating_system": "ubuntu_20_04"}
  wait 600
  GET /devices/$a

  GET ${P}/hardware-reservations
  GET /hardware-reservations/another

  GET ${P}/ssh-keys
  POST ${P}/ssh-keys {"label": "mine", "key": "ssh-ed25519 AAAA"} -> key
  POST ${P}/ssh-keys {"label": "mine"}
  POST /ssh-keys {"label": "own", "key": "ssh-ed25519 BBBB"} -> own
  GET ${P}/ssh-keys
  GET /ssh-keys
  PUT /ssh-keys/$key {"label": "ours"}
  PATCH /ssh-keys/$own {"key": "ssh-ed25519 CCCC"}
  GET /ssh-keys/$key
  DELETE /ssh-keys/$key
  GET /ssh-keys/$key

  POST ${P}/virtual-networks {"metro": "sg", "vxlan": 1000, "description": "v"} -> v
  POST ${P}/virtual-networks {"metro": "sg"} -> w
  POST ${P}/virtual-networks {"metro": "sg", "vxlan": 1000}
  POST ${P}/virtual-networks {"metro": "none"}
  GET ${P}/virtual-networks
  GET /virtual-networks/$v

  GET /devices/$a -> ports
  GET /ports/$ports_bond0
  GET /ports/$ports_eth0?include=virtual_networks
  GET /ports/another
  POST /ports/$ports_bond0/assign {"vnid": "$v"}
  POST /ports/$ports_bond0/assign {}
  POST /ports/$ports_bond0/assign {"vnid": "another"}
  POST /ports/$ports_bond0/native-vlan {"vnid": "$v"}
  POST /ports/$ports_bond0/assign {"vnid": 1000}
  POST /ports/$ports_bond0/convert/layer-2
  POST /ports/$ports_bond0/assign {"vnid": "$v"}
  POST /ports/$ports_bond0/assign {"vnid": "$w"}
  POST /ports/$ports_bond0/native-vlan {"vnid": "$v"}
  GET /devices/$a
  DELETE /ports/$ports_bond0/native-vlan
  POST /ports/$ports_bond0/unassign {"vnid": "$v"}
  POST /ports/$ports_bond0/unassign {"vnid": "$v"}
  POST /ports/$ports_bond0/unassign {"vnid": "$w"}
  POST /ports/$ports_bond0/convert/layer-3 {"request_ips": [{"address_family": 6}, {"address_family": 4, "public": false}]}
  POST /ports/$ports_eth0/disbond {"bulk_disable": false}
  POST /ports/$ports_eth0/bond {"bulk_enable": false}
  POST /ports/$ports_bond0/disbond {"bulk_disable": true}
  POST /ports/$ports_bond0/bond {"bulk_enable": true}
  GET /devices/$a
  PUT /devices/$a {"network_frozen": true}
  POST /ports/$ports_bond0/convert/layer-2
  PUT /devices/$a {"network_frozen": false}
  POST /ports/$ports_bond0/convert/layer-2
  POST /ports/$ports_bond0/disbond {"bulk_disable": true}
  POST /ports/$ports_eth0/assign {"vnid": "$v"}
  POST /ports/$ports_eth0/native-vlan {"vnid": "$v"}
  POST /ports/$ports_eth0/assign {"vnid": "$w"}
  POST /ports/$ports_eth0/native-vlan {"vnid": "$v"}
  GET /ports/$ports_eth0
  DELETE /ports/$ports_eth0/native-vlan
  GET /ports/$ports_eth0
  POST /ports/$ports_eth0/unassign {"vnid": "$v"}
  POST /ports/$ports_eth0/unassign {"vnid": "$w"}
  POST /ports/$ports_bond0/bond {"bulk_enable": true}
  POST /ports/$ports_bond0/convert/layer-3 {"request_ips": [{"address_family": 4, "public": true}, {"address_family": 4, "public": false}, {"address_family": 6, "public": true}]}
  GET /devices/$a
  POST ${P}/metal-gateways {"virtual_network_id": "$v", "private_ipv4_subnet_size": 8} -> g
  POST ${P}/metal-gateways {"virtual_network_id": "$v", "private_ipv4_subnet_size": 9}
  POST ${P}/metal-gateways {"virtual_network_id": "another", "private_ipv4_subnet_size": 8}
  GET ${P}/metal-gateways
  GET /metal-gateways/$g
  GET ${P}/ips
  DELETE /virtual-networks/$v
  DELETE /metal-gateways/$g
  GET /metal-gateways/$g
  DELETE /virtual-networks/$w

  POST ${P}/ips {"type": "public_ipv4", "quantity": 2, "metro": "sg", "tags": ["vip"], "details": "d", "customdata": {"a": 1}} -> ip
  POST ${P}/ips {"type": "global_ipv4", "quantity": 1} -> global
  POST ${P}/ips {"type": "none", "quantity": 1}
  POST ${P}/ips {"type": "public_ipv4", "quantity": 3, "metro": "sg"}
  POST ${P}/ips {"type": "public_ipv4", "quantity": 1}
  GET ${P}/ips?types=public_ipv4
  GET /ips/$ip
  GET /ips/$ip/available?cidr=32
  GET /ips/$ip/available?cidr=24
  PATCH /ips/$ip {"tags": ["w"], "details": "e", "customdata": {}}
  POST /devices/$a/ips {"address": "198.51.100.1"}
  POST /devices/$a/ips {"address": "$ip_address/32", "manageable": false} -> assigned
  POST /devices/$b/ips {"address": "$ip_address/32"}
  GET /devices/$a/ips
  GET /ips/$assigned
  GET /ips/$ip
  GET /ips/$ip/available?cidr=32
  DELETE /ips/$ip
  DELETE /ips/$assigned
  GET /ips/$assigned
  GET /ips/another
  DELETE /ips/$global
  DELETE /ips/$ip

  GET ${P}/bgp-config
  POST ${P}/bgp-configs {"asn": 65000, "deployment_type": "none"}
  POST ${P}/bgp-configs {"asn": 65000, "deployment_type": "local", "md5": "aA1bB2cC3dD4"}
  GET ${P}/bgp-config
  POST /devices/$a/bgp/sessions {"address_family": "ipv4", "default_route": true} -> session
  POST /devices/$a/bgp/sessions {"address_family": "ipv5"}
  GET /devices/$a/bgp/sessions
  GET /devices/$a/bgp/neighbors
  GET ${P}/bgp/sessions
  GET /bgp/sessions/$session
  PUT /bgp/sessions/$session {"default_route": false}
  DELETE /bgp/sessions/$session
  GET /bgp/sessions/$session

  POST ${P}/spot-market-requests {"devices_min": 1, "devices_max": 2, "max_bid_price": 0.5, "metro": "da", ${SPOT}} -> spot
  POST ${P}/spot-market-requests {"devices_min": 2, "devices_max": 1, "max_bid_price": 0.5, "metro": "da", ${SPOT}}
  POST ${P}/spot-market-requests {"max_bid_price": 0, "metro": "da", ${SPOT}}
  POST ${P}/spot-market-requests {"max_bid_price": 1, ${SPOT}}
  POST ${P}/spot-market-requests {"max_bid_price": 0.0001, "metro": "da", ${SPOT}}
  GET ${P}/spot-market-requests
  GET /spot-market-requests/$spot
  DELETE /spot-market-requests/$spot?force_termination=true
  GET /spot-market-requests/$spot

  PUT /devices/another {}
  DELETE /devices/another
  PUT /devices/$a {"locked": true}
  DELETE /devices/$a
  PUT /devices/$a {"locked": false}
  DELETE /devices/$a
  GET /devices/$a
  wait 600
  GET /devices/$a
  GET ${ORGANIZATION}/devices
  POST /user
  GET /nothing
`;

test("what the simulated Equinix answers to each route, word for word", async () => {
  const { sim, clock } = rig({ reservations: [{ plan: "c3.small.x86", metro: "sg" }] });
  await sameTranscript(new URL("transcript.txt", import.meta.url), REQUESTS.replaceAll(/\n\s*\n/g, "\n"), {
    wait: async (ms) => void (await clock.run(ms)),
    ask: (method, path, body) =>
      sim.handle({
        ...{ method: method as "GET", url: `https://metal.test/metal/v1${path}`, remote: "192.0.2.1" },
        headers: { "x-auth-token": DEFAULT_TOKEN },
        ...(body !== undefined && { body }),
      }),
  });
});
