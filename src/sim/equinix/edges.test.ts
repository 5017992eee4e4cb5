/** Limits, filters and rare orders of the simulated Equinix, word for word: a second transcript beside that of the routes. */
import { test } from "node:test";
import { sameTranscript } from "../transcript.ts";
import { DEFAULT_PROJECT, DEFAULT_TOKEN } from "./options.ts";
import { rig } from "./rig.ts";

const P = `/projects/${DEFAULT_PROJECT.id}`;
const SECOND = { id: "5afe0000-0000-4000-8000-000000000002", name: "the other" };
const Q = `/projects/${SECOND.id}`;
const RESERVED = "5afe0000-0000-4000-8000-0000000000e1";
const SMALL = '"plan": "c3.small.x86", "operating_system": "ubuntu_20_04"';
const PXE = '"plan": "c3.small.x86", "operating_system": "custom_ipxe", "userdata": "#!ipxe"';
const SPOT =
  '"instance_parameters": {"plan": "c3.small.x86", "operating_system": "ubuntu_20_04", "hostnames": ["s0", "s1"], "hostname": "more"}';

const REQUESTS = `
  GET /projects?name=other
  GET /projects?per_page=1&page=2
  GET /organizations?per_page=1
  GET /organizations/5afe0000-0000-4000-8000-00000000000a/projects?per_page=1
  GET ${P}/facilities
  GET /organizations/5afe0000-0000-4000-8000-00000000000a/facilities
  GET /operating-system-versions
  POST /capacity/metros {"servers": [{"metro": "sv", "plan": "c3.small.x86", "quantity": 2}, {"metro": "sv", "plan": "c3.small.x86", "quantity": 3}, {"metro": "ny", "plan": "c3.small.x86"}, {}]}
  GET /capacity/metros
  GET /market/spot/prices/metros
  GET ${P}/hardware-reservations?per_page=1&page=2
  GET /hardware-reservations/${RESERVED}
  POST ${P}/devices null
  POST ${P}/devices []
  POST ${P}/devices {
  POST ${P}/devices {"plan": "c3.small.x86"}
  POST ${P}/devices {"plan": "c3.small.x86", "operating_system": "custom_ipxe", "metro": "sg", "userdata": "text"}
  POST ${P}/devices {${SMALL}}
  POST ${P}/devices {${SMALL}, "facility": ["none"]}
  POST ${P}/devices {${SMALL}, "metro": "ny"}
  POST ${P}/devices {${SMALL}, "metro": "sg", "hardware_reservation_id": "none"}
  POST ${P}/devices {"plan": "m3.large.x86", "operating_system": "ubuntu_20_04", "metro": "sg", "hardware_reservation_id": "${RESERVED}"}
  POST ${P}/devices {"plan": "s3.xlarge.x86", "operating_system": "ubuntu_20_04", "metro": "sg", "hardware_reservation_id": "next-available"}
  POST ${P}/devices {${SMALL}, "metro": "sg", "spot_instance": true, "spot_price_max": "x"}
  POST ${P}/devices {${SMALL}, "metro": "sg", "spot_instance": true, "spot_price_max": 0.1}
  POST ${P}/devices {${SMALL}, "metro": "sg", "termination_time": "2020-01-01T00:00:00Z"}
  POST ${P}/devices {${SMALL}, "metro": "sg", "termination_time": "soon"}
  POST ${P}/devices {${SMALL}, "metro": "sg", "project_ssh_keys": ["none"]}
  POST ${P}/ssh-keys {"label": "p", "key": "ssh-ed25519 PPPP"} -> pkey
  POST ${Q}/ssh-keys {"label": "q", "key": "ssh-ed25519 QQQQ"} -> qkey
  POST /ssh-keys {"key": "ssh-ed25519 UUUU"} -> ukey
  POST ${P}/ssh-keys {"label": "none", "key": ""}
  PUT /ssh-keys/$pkey {"label": "", "key": ""}
  POST ${P}/devices {${SMALL}, "metro": "SG", "hostname": "all-keys"} -> all
  GET /devices/$all/ssh-keys
  POST ${P}/devices {${SMALL}, "metro": "any", "hostname": "no-keys", "no_ssh_keys": true} -> none
  GET /devices/$none/ssh-keys
  POST ${P}/devices {${PXE}, "facility": "ny1,sv1", "hostname": "one-key", "project_ssh_keys": ["$pkey", null], "tags": ["x", "y"], "description": "words", "network_frozen": true} -> one
  GET /devices/$one/ssh-keys
  POST ${P}/devices {${SMALL}, "facility": ["ny1"]}
  POST ${P}/devices {${SMALL}, "metro": "sg", "hostname": "new-key", "user_ssh_keys": ["$ukey"], "ssh_keys": [{"label": "n", "key": "ssh-ed25519 NNNN"}, {"key": "ssh-ed25519 PPPP"}]} -> new
  GET /devices/$new/ssh-keys
  GET ${P}/ssh-keys
  POST ${P}/devices {${PXE}, "metro": "da", "hostname": "reserved", "hardware_reservation_id": "${RESERVED}"} -> reserved
  POST ${P}/devices {${SMALL}, "metro": "sg", "hardware_reservation_id": "${RESERVED}"}
  POST ${P}/devices {${SMALL}, "metro": "sg", "hostname": "next", "hardware_reservation_id": "next-available", "public_ipv4_subnet_size": 29} -> next
  POST ${P}/devices {${SMALL}, "metro": "sg", "hardware_reservation_id": "next-available"}
  POST ${P}/devices {${PXE}, "metro": "sg", "hostname": "spot", "spot_instance": true, "spot_price_max": "0.5"} -> spot
  POST ${P}/devices {${SMALL}, "metro": "sv", "hostname": "ends", "spot_instance": true, "termination_time": "2026-01-01T02:00:00Z", "public_ipv4_subnet_size": 33} -> ends
  POST ${Q}/devices {${SMALL}, "metro": "sg", "hostname": "other", "tags": ["x"]} -> other
  GET ${P}/devices?tag=x
  GET ${P}/devices?tag=none
  GET ${P}/devices?hostname=key&per_page=2
  GET ${P}/devices?metro=SV
  GET ${P}/devices?type=spot
  GET ${P}/devices?type=reserved
  GET ${P}/devices?type=ondemand&per_page=1
  GET ${P}/devices?reserved=true
  GET ${P}/devices?reserved=false&per_page=1
  GET ${P}/devices?has_termination_time=true
  GET ${P}/devices?mac_address=02:51:00:00:02:01
  GET ${P}/devices?search=words
  GET ${P}/devices?search=198.18.0.1&per_page=2
  GET ${P}/devices?search=
  GET ${P}/devices?exclude=plan,metro.code,other&include=network_ports.virtual_networks&per_page=1
  GET ${P}/devices?page=100001
  GET ${P}/devices?page=1.5
  GET ${P}/devices?per_page=1000
  GET /hardware-reservations/${RESERVED}
  GET ${Q}/devices
  POST /devices/$one/actions {"type": "power_off"}
  POST /devices/$one/actions {"type": "reboot"}
  POST /devices/$one/actions {"type": "reinstall"}
  wait 15
  GET /devices/$one
  wait 10
  GET /devices/$one
  wait 300
  POST /devices/$one/actions {"type": "power_on"}
  POST /devices/$one/actions {"type": "power_off"}
  GET /devices/$one
  POST /devices/$one/actions {"type": "power_off"}
  wait 10
  POST /devices/$one/actions {"type": "power_off"}
  POST /devices/$one/actions {"type": "reboot"}
  POST /devices/$one/actions {"type": "rescue"}
  PUT /devices/$one {"always_pxe": true, "locked": true, "tags": [], "customdata": "{\\"c\\": 3}", "network_frozen": false, "hostname": 7}
  GET ${P}/devices?tag=x
  POST /devices/$one/actions {"type": "power_on"}
  wait 60
  POST /devices/$one/actions {"type": "rescue"}
  wait 60
  POST /devices/$one/actions {"type": "reinstall", "force_delete": true}
  POST /devices/$one/actions {"type": "reinstall", "ipxe_script_url": "https://boot.test/other"}
  POST /devices/$one/actions {"type": "reboot"}
  wait 1
  GET /devices/$one
  wait 2
  GET /devices/$one
  wait 89
  wait 40
  GET /devices/$one
  BOOTS x
  KILL $new
  GET /devices/$new
  POST /devices/$new/actions {"type": "power_on"}
  wait 30
  GET /devices/$new
  FAIL $none
  GET /devices/$none
  POST /devices/$none/actions {"type": "reinstall"}
  wait 300
  GET /devices/$none
  REVOKE $spot
  REVOKE $spot
  GET /devices/$spot
  META $spot/metadata
  wait 119
  GET /devices/$spot
  wait 1
  GET /devices/$spot
  PUT /devices/$spot {"hostname": "late"}
  POST /devices/$spot/actions {"type": "reboot"}
  POST /devices/$spot/actions {"type": "reinstall"}
  DELETE /devices/$spot
  FAIL $spot
  META $all/metadata
  META $all/userdata
  META $all/2009-04-04/user-data
  META $all/2009-04-04/meta-data/instance-id
  META $all/2009-04-04/meta-data/hostname
  META $all/2009-04-04/meta-data/plan
  META $all/2009-04-04/meta-data/metro
  META $all/2009-04-04/meta-data/tags
  META $all/2009-04-04/meta-data/public-ipv4
  META $all/2009-04-04/meta-data/local-ipv4
  META $all/2009-04-04/meta-data/none
  META $all/none
  TELL $all/phone-home
  TELL $all/none
  TELL $all/events {"state": "running", "code": 1001, "message": "up"}
  TELL $all/events {"state": "succeeded"}
  TELL $all/events {"state": "failed", "code": 1099, "message": 7}
  TELL $all/events {"state": "failed", "code": 1100}
  TELL $all/events {"state": "failed", "code": 999}
  TELL $all/events {"state": "failed", "code": "1000"}
  TELL $all/events {"state": "other"}
  TELL $all/events {"state": 7}
  TELL $all/events []
  TELL $all/events null
  TELL $all/events nonsense
  TELL $all/events
  GET /devices/$all/events?per_page=7
  MANY 48 $all
  GET /devices/$all/events?per_page=1
  GET /devices/$all/events?per_page=1&page=50
  GET /devices/$all/events?per_page=1&page=51
  GET ${P}/events?per_page=1
  GET ${Q}/events?per_page=1
  GET ${Q}/bgp-config
  POST ${Q}/bgp-configs {"asn": -1, "deployment_type": "global"}
  POST ${Q}/bgp-configs {"asn": 4294967296, "deployment_type": "global"}
  POST ${Q}/bgp-configs {"asn": 1.5, "deployment_type": "global"}
  POST ${Q}/bgp-configs {"asn": 4294967295, "deployment_type": "global", "md5": "short"}
  POST ${Q}/bgp-configs {"asn": 4294967295, "deployment_type": "global"}
  POST ${Q}/bgp-configs {"asn": 4294967295, "deployment_type": "global"}
  GET ${Q}/bgp-config
  POST /devices/$other/bgp/sessions {}
  POST ${P}/bgp-configs {"asn": 0, "deployment_type": "local", "md5": "aA1bB2cC3dD4"}
  POST /devices/$all/bgp/sessions {} -> s4
  POST /devices/$all/bgp/sessions {"address_family": "ipv4"}
  POST /devices/$all/bgp/sessions {"address_family": "ipv6", "default_route": "true"} -> s6
  POST /devices/$one/bgp/sessions {"address_family": "ipv6"}
  PUT /bgp/sessions/$s6 {"default_route": "yes"}
  PUT /bgp/sessions/$s6 {"default_route": true}
  GET /devices/$all/bgp/sessions
  GET /devices/$all/bgp/neighbors
  GET /devices/$other/bgp/neighbors
  GET ${P}/bgp/sessions
  GET ${Q}/bgp/sessions
  GET ${P}/bgp-config
  DELETE /bgp/sessions/$s4
  POST ${P}/virtual-networks {"metro": "SG", "vxlan": 1}
  POST ${P}/virtual-networks {"metro": "sg", "vxlan": 2, "description": 7} -> v2
  POST ${P}/virtual-networks {"metro": "sg", "vxlan": "3999"} -> v3999
  POST ${P}/virtual-networks {"metro": "sg", "vxlan": 4000}
  POST ${P}/virtual-networks {"metro": "sg", "vxlan": 1.5}
  POST ${P}/virtual-networks {"metro": "sv", "vxlan": 2} -> sv2
  POST ${Q}/virtual-networks {"metro": "sg", "vxlan": 2} -> q2
  POST ${P}/virtual-networks {"metro": "sg", "vxlan": 1000}
  POST ${P}/virtual-networks {"metro": "sg"} -> v1001
  GET ${P}/virtual-networks?metro=sv
  GET ${P}/virtual-networks?metro=sg
  GET ${Q}/virtual-networks
  GET /devices/$all -> all
  POST /ports/$all_eth0/convert/layer-2
  POST /ports/$all_eth0/convert/layer-3
  POST /ports/$all_eth0/assign {"vnid": 2}
  POST /ports/$all_bond0/assign {"vnid": "$q2"}
  POST /ports/$all_bond0/assign {"vnid": "$sv2"}
  POST /ports/$all_bond0/assign?vnid=2
  POST /ports/$all_bond0/assign {"vnid": "$v2"}
  POST /ports/$all_bond0/unassign {"vnid": "$v3999"}
  POST /ports/$all_bond0/native-vlan {"vnid": 2}
  POST /ports/$all_bond0/convert/layer-3
  DELETE /ports/$all_bond0/native-vlan
  DELETE /virtual-networks/$v2
  POST /ports/$all_bond0/convert/layer-2
  POST /ports/$all_bond0/convert/layer-2
  META $all/2009-04-04/meta-data/public-ipv4
  GET /devices/$all/bgp/neighbors
  GET /devices/$all/metadata
  POST /ports/$all_bond0/convert/layer-3
  POST /ports/$all_eth1/disbond
  GET /ports/$all_bond0
  GET /ports/$all_eth1
  POST /ports/$all_eth1/disbond
  GET /devices/$all/metadata
  POST /ports/$all_eth0/disbond?bulk_disable=true
  GET /ports/$all_bond0
  POST /ports/$all_eth1/assign {"vnid": 3999}
  POST /ports/$all_eth1/native-vlan {"vnid": 3999}
  POST /ports/$all_eth1/native-vlan {"vnid": 1001}
  POST /ports/$all_eth1/assign {"vnid": 1001}
  POST /ports/$all_eth1/native-vlan {"vnid": 1001}
  POST /ports/$all_eth1/unassign {"vnid": 1001}
  POST /ports/$all_eth0/bond {"bulk_enable": "true"}
  DELETE /ports/$all_eth1/native-vlan
  POST /ports/$all_eth1/unassign {"vnid": 1001}
  POST /ports/$all_eth1/unassign {"vnid": 3999}
  POST /ports/$all_eth1/bond
  POST /ports/$all_eth1/bond
  POST /ports/$all_bond0/bond
  POST /ports/$all_bond0/bond
  POST /ports/$all_bond0/unassign {"vnid": 2}
  POST /ports/$all_bond0/disbond
  POST /ports/$all_bond0/convert/layer-3
  POST /ports/$all_bond0/bond
  POST /ports/$all_bond0/convert/layer-3 {"request_ips": [{"address_family": 6, "public": true}, {}]}
  GET /devices/$all
  GET /devices/$reserved -> r
  GET /ports/$r_bond0
  POST ${P}/ips {"type": "public_ipv4", "quantity": 256, "metro": "sg"} -> whole
  POST ${P}/ips {"type": "public_ipv4", "quantity": 1, "metro": "sg"}
  DELETE /ips/$whole
  POST ${P}/ips {"type": "public_ipv4", "quantity": 512, "metro": "sg"}
  POST ${P}/ips {"type": "public_ipv4", "quantity": 0, "metro": "sg"}
  POST ${P}/ips {"type": "public_ipv4", "metro": "sg"}
  POST ${P}/ips {"quantity": 1, "metro": "sg"}
  POST ${P}/ips {"type": "public_ipv4", "quantity": "4", "facility": "sg1", "metro": "", "tags": ["a", null, 7], "customdata": "{\\"d\\": 4}"} -> four
  POST ${P}/ips {"type": "public_ipv4", "quantity": 1, "metro": "none"}
  POST ${P}/ips {"type": "public_ipv4", "quantity": 1, "metro": "SV"} -> sv
  POST ${P}/ips {"type": "private_ipv4", "quantity": 8, "metro": "sg"} -> private
  POST ${P}/ips {"type": "global_ipv4", "quantity": 1} -> global
  POST ${Q}/ips {"type": "public_ipv4", "quantity": 1, "metro": "sg"} -> qip
  GET ${P}/ips?types[]=global_ipv4&type=private_ipv4
  GET ${P}/ips?types=global_ipv4,private_ipv4&metro=sg
  GET ${P}/ips?metro=sv
  GET ${Q}/ips
  PUT /ips/$four {"tags": "none", "details": 7}
  PATCH /ips/$four {"tags": ["b"], "customdata": {"e": 5}}
  PATCH /ips/another {}
  GET /ips/another/available
  GET /ips/$four/available
  GET /ips/$four/available?cidr=31
  GET /ips/$four/available?cidr=33
  GET /ips/$four/available?cidr=29
  GET /ips/$four/available?cidr=30.5
  POST /devices/$all/ips {"address": ""}
  POST /devices/$all/ips {"address": "text"}
  POST /devices/$all/ips {"address": "$sv_address"}
  POST /devices/$all/ips {"address": "$qip_address"}
  POST /devices/$all/ips {"address": "$global_address"} -> g1
  POST /devices/$all/ips {"address": "$four_address/31"} -> f1
  POST /devices/$all/ips {"address": "$four_address"}
  GET /ips/$four/available?cidr=31
  GET /ips/$four
  GET /devices/$all/ips
  GET /devices/$all
  DELETE /ips/$four
  DELETE /ips/$f1
  GET /devices/$all/ips
  POST ${P}/metal-gateways {"virtual_network_id": "$q2", "private_ipv4_subnet_size": 8}
  POST ${P}/metal-gateways {"virtual_network_id": "$v2"}
  POST ${P}/metal-gateways {"virtual_network_id": "$v2", "private_ipv4_subnet_size": 256}
  POST ${P}/metal-gateways {"virtual_network_id": "$v2", "ip_reservation_id": "$qip"}
  POST ${P}/metal-gateways {"virtual_network_id": "$v2", "ip_reservation_id": "none"}
  POST ${P}/metal-gateways {"virtual_network_id": "$v2", "ip_reservation_id": "$four"} -> g4
  POST ${P}/metal-gateways {"virtual_network_id": "$v2", "private_ipv4_subnet_size": 128}
  POST ${P}/metal-gateways {"virtual_network_id": "$v3999", "private_ipv4_subnet_size": 128} -> g128
  POST ${P}/metal-gateways {"virtual_network_id": "$sv2", "ip_reservation_id": "$sv"} -> g1
  GET ${P}/metal-gateways?per_page=2
  GET ${Q}/metal-gateways
  GET ${P}/ips?types=private_ipv4
  GET /ips/$four
  DELETE /virtual-networks/$v2
  DELETE /metal-gateways/$g4
  DELETE /metal-gateways/$g128
  GET /ips/$four
  GET ${P}/ips?types=private_ipv4
  DELETE /virtual-networks/$v2
  POST ${P}/spot-market-requests {"devices_max": 3, "max_bid_price": "0.5", "facilities": ["sv1"], "end_at": "2026-02-01T00:00:00Z", ${SPOT}} -> few
  POST ${P}/spot-market-requests {"devices_min": 0, "max_bid_price": 1, "metro": "da", ${SPOT}}
  POST ${P}/spot-market-requests {"max_bid_price": 0.3, "metro": "da", "end_at": "never", ${SPOT}} -> dear
  POST ${P}/spot-market-requests {"max_bid_price": 0.4, "metro": "da", ${SPOT}} -> cheap
  POST ${P}/spot-market-requests {"max_bid_price": 1, "metro": "da"}
  POST ${Q}/spot-market-requests {"max_bid_price": 1, "metro": "da", "devices_max": 3, ${SPOT}}
  GET ${P}/spot-market-requests
  DELETE /spot-market-requests/$cheap
  DELETE /spot-market-requests/$few?force_termination=true
  DELETE /spot-market-requests/$few
  GET ${P}/devices?type=spot
  wait 7200
  GET /devices/$ends
  DELETE /devices/$reserved
  PUT /devices/$reserved {"hostname": "late"}
  POST /devices/$reserved/ips {"address": "$global_address"}
  POST /ports/$r_bond0/convert/layer-2
  DELETE /devices/$reserved
  DELETE /devices/$all
  GET /hardware-reservations/${RESERVED}
  wait 60
  GET /hardware-reservations/${RESERVED}
  GET /capacity/metros
  GET ${P}/bgp/sessions
  GET ${P}/devices
  DELETE /ssh-keys/$qkey
  BOOTS x
  BOUGHT x
  COUNTERS x
  SNAPSHOT x
`;

test("limits, filters, rare orders and the metadata of the simulated Equinix, word for word", async () => {
  const { sim, clock, firmware } = rig({
    projects: [DEFAULT_PROJECT, SECOND],
    reservations: [
      { id: RESERVED, plan: "c3.small.x86", metro: "sg" },
      { plan: "c3.small.x86", metro: "ny" },
    ],
    capacity: { "ny/c3.small.x86": 0, "sv/c3.small.x86": 4, "da/c3.small.x86": 10 },
    spotPrices: { "da/c3.small.x86": 0.35 },
  });
  const machine = async (id: string, path: string, method: "GET" | "POST", body?: string) => {
    const remote = sim.device(id)!.addresses.find((one) => one.public && one.family === 4)?.address ?? "192.0.2.1";
    return sim.metadata({ method, url: `https://metadata.test/${path}`, remote, ...(body !== undefined && { body }) });
  };
  const shown = (value: unknown) => ({ status: 0, body: JSON.stringify(value) });
  const verbs: Readonly<Record<string, (path: string, body?: string) => Promise<{ status: number; body: string }>>> = {
    KILL: async (id) => shown(sim.kill(id) ?? "killed"),
    FAIL: async (id) => shown(sim.fail(id) ?? "failed"),
    REVOKE: async (id) => shown(sim.revokeSpot(id) ?? "revoked"),
    META: (path) => machine(path.slice(0, 36), path.slice(37), "GET"),
    TELL: (path, body) => machine(path.slice(0, 36), path.slice(37), "POST", body),
    MANY: async (times, id = "") => {
      for (let told = 0; told < Number(times); told++) await machine(id, "phone-home", "POST");
      return shown(sim.device(id)!.events.length);
    },
    BOOTS: async () => shown({ boots: firmware.boots, wiped: firmware.wiped }),
    BOUGHT: async () => shown(sim.boughtEver()),
    COUNTERS: async () => shown(sim.counters()),
    SNAPSHOT: async () => shown(sim.snapshot()),
  };
  await sameTranscript(new URL("edges.txt", import.meta.url), REQUESTS, {
    wait: async (ms) => void (await clock.run(ms)),
    ask: async (method, path, body) =>
      verbs[method]?.(path, body) ??
      sim.handle({
        ...{ method: method as "GET", url: `https://metal.test/metal/v1${path}`, remote: "192.0.2.1" },
        headers: { "x-auth-token": DEFAULT_TOKEN },
        ...(body !== undefined && { body }),
      }),
  });
});
