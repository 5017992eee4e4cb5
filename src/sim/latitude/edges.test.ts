/** Limits and rare orders of the simulated Latitude, word for word: a second transcript beside that of the routes. */
import { test } from "node:test";
import { sameTranscript } from "../transcript.ts";
import { DEFAULT_PROJECT, DEFAULT_TOKEN } from "./options.ts";
import { rig } from "./rig.ts";

const ORDER = `"project": "${DEFAULT_PROJECT.slug}", "plan": "c2-small-x86", "site": "ASH"`;
const of = (attributes: string): string => `{"data": {"type": "x", "attributes": {${attributes}}}}`;
const PXE = '"operating_system": "ipxe", "ipxe": "http://boot.test/s"';

const REQUESTS = `
  GET /projects?filter[slug]=${DEFAULT_PROJECT.slug}
  GET /projects?filter[name]=Simulated%20Iron
  GET /plans?filter[slug]=c2-small-x86
  GET /plans?filter[slug]=none
  GET /regions?page[size]=3
  GET /regions?page[size]=4&page[number]=2
  GET /regions?page[size]=1.5
  GET /regions?page[number]=0
  GET /regions?page[number]=1000000000
  POST /servers null
  POST /servers {"data": null}
  POST /servers {"data": {"type": "servers"}}
  POST /servers {"data": {"type": "servers", "attributes": 7}}
  POST /servers ${of(`${ORDER}, "hostname": "", "operating_system": "ubuntu_22_04_x64_lts"`)}
  POST /servers ${of(`${ORDER}, "hostname": "n", "operating_system": "ipxe"`)}
  POST /servers ${of(`${ORDER.replace("c2-small-x86", "none")}, "hostname": "n"`)}
  POST /user_data ${of('"description": "d", "content": "IyEv"')} -> data
  POST /user_data ${of('"description": "e", "content": "IyEvZQ=="')} -> other
  PATCH /user_data/$other ${of('"content": ""')}
  POST /servers ${of(`${ORDER}, "hostname": "a", "user_data": "$data", ${PXE}`)} -> a
  POST /servers ${of(`${ORDER}, "hostname": "b", "operating_system": "ubuntu_22_04_x64_lts", "ssh_keys": ["k"]`)} -> b
  POST /servers ${of(`${ORDER}, "hostname": "c", ${PXE}`)}
  GET /plans?filter[slug]=c2-small-x86
  POST /servers ${of(`${ORDER.replace("ASH", "DAL")}, "hostname": "bad", ${PXE}`)} -> bad
  GET /servers/$a/deploy_config
  POST /servers/$a/actions ${of('"action": "reboot"')}
  POST /servers/$a/reinstall ${of('"operating_system": "ubuntu_22_04_x64_lts"')}
  wait 170
  GET /servers/$a
  wait 320
  GET /servers?filter[status]=on
  GET /servers?filter[status]=off
  GET /servers/$bad
  POST /servers/$bad/actions ${of('"action": "power_on"')}
  POST /servers/$a/actions ${of('"action": "power_on"')}
  POST /servers/$a/actions ${of('"action": "power_off"')}
  wait 9
  GET /servers/$a
  wait 1
  GET /servers/$a
  POST /servers/$a/actions ${of('"action": "power_off"')}
  POST /servers/$a/actions ${of('"action": "power_on"')}
  wait 10
  GET /servers/$a
  POST /servers/$a/reinstall ${of(`${PXE}, "hostname": "a2", "user_data": "$other"`)}
  GET /servers/$a
  POST /servers/$a/reinstall ${of(PXE)}
  POST /servers/$a/actions ${of('"action": "power_off"')}
  wait 59
  GET /servers/$a
  wait 1
  GET /servers/$a
  POST /servers/$a/reinstall ${of(PXE)}
  GET /servers/$a/deploy_config
  wait 600
  GET /servers/$a
  BOOTS x
  PATCH /servers/$a/deploy_config {"type": "deploy_config"}
  PATCH /servers/$a/deploy_config {"attributes": {}}
  POST /servers/$a/lock
  DELETE /servers/$a
  POST /servers/$a/reinstall ${of(PXE)}
  POST /servers/$a/actions ${of('"action": "reboot"')}
  PATCH /servers/$a/deploy_config {"type": "x", "attributes": {"ipxe_url": "http://boot.test/t"}}
  POST /virtual_networks/assignments ${of('"server_id": "$a", "virtual_network_id": "vlan_ash"')}
  POST /servers/$a/unlock
  POST /virtual_networks/assignments ${of('"server_id": "$a", "virtual_network_id": ""')}
  POST /virtual_networks/assignments ${of('"server_id": "$a", "virtual_network_id": "vlan_ash"')} -> one
  POST /virtual_networks/assignments ${of('"server_id": "$b", "virtual_network_id": "vlan_ash"')} -> two
  GET /virtual_networks
  GET /virtual_networks?filter[project]=${DEFAULT_PROJECT.id}&page[size]=1&stats[total]=count
  GET /virtual_networks?filter[project]=none
  wait 4
  GET /virtual_networks/assignments
  wait 1
  GET /virtual_networks/assignments?filter[server]=$b
  RESCUE $a
  GET /servers/$a
  POST /servers/$a/reinstall ${of(PXE)}
  POST /servers/$a/actions ${of('"action": "reboot"')}
  RESCUED $a
  LOCK $a
  PATCH /servers/$a ${of('"hostname": "locked"')}
  FAIL $b
  GET /servers/$b
  POST /servers/$b/reinstall ${of('"operating_system": "ubuntu_22_04_x64_lts"')}
  wait 600
  GET /servers/$b
  KILL $b
  GET /servers/$b
  POST /servers/$b/actions ${of('"action": "reboot"')}
  wait 30
  DELETE /servers/$b
  GET /virtual_networks/assignments
  POST /virtual_networks/assignments ${of('"server_id": "$b", "virtual_network_id": "vlan_ash"')} -> late
  DELETE /servers/$b
  FAIL $b
  wait 59
  GET /servers/$b
  GET /virtual_networks/assignments
  wait 1
  GET /servers/$b
  GET /virtual_networks/assignments
  GET /plans?filter[slug]=c2-small-x86
  POST /servers ${of(`${ORDER}, "hostname": "again", "billing": 7, ${PXE}`)} -> again
  GET /servers?filter[project]=${DEFAULT_PROJECT.id}&filter[hostname]=again&filter[region]=ASH&filter[plan]=c2-small-x86
  GET /servers?filter[label]=LSH0000001
  GET /servers?page[size]=2&page[number]=2&stats[total]=other
  GET /servers?page[size]=500
  GET /servers//lock
  BOOTS x
  COUNTERS x
  BOUGHT x
  SNAPSHOT x
`;

test("limits, filters and rare orders of the simulated Latitude, word for word", async () => {
  const { sim, clock, firmware } = rig({
    stock: { "ASH/c2-small-x86": 2 },
    maxPageSize: 3,
    faults: { failsToDeploy: ({ hostname }) => hostname === "bad" },
  });
  const [ash, dal] = [sim.addNetwork("ASH", "for a"), sim.addNetwork("DAL")];
  const requests = REQUESTS.replaceAll("vlan_ash", ash.id).replaceAll("vlan_dal", dal.id);
  const shown = (value: unknown) => ({ status: 0, body: JSON.stringify(value) });
  const verbs: Readonly<Record<string, (id: string) => { status: number; body: string }>> = {
    KILL: (id) => shown(sim.kill(id) ?? "killed"),
    FAIL: (id) => shown(sim.fail(id) ?? "failed"),
    RESCUE: (id) => shown(Object.assign(sim.server(id)!, { status: "rescue_mode" }).status),
    RESCUED: (id) => shown(Object.assign(sim.server(id)!, { status: "on" }).status),
    LOCK: (id) => shown(sim.lock(id, true) ?? "locked"),
    BOOTS: () => shown({ boots: firmware.boots, wiped: firmware.wiped, off: firmware.off }),
    COUNTERS: () => shown(sim.counters()),
    BOUGHT: () => shown(sim.boughtEver()),
    SNAPSHOT: () => shown(sim.snapshot()),
  };
  await sameTranscript(new URL("edges.txt", import.meta.url), requests, {
    wait: async (ms) => void (await clock.run(ms)),
    ask: async (method, path, body) =>
      verbs[method]?.(path) ??
      sim.handle({
        ...{ method: method as "GET", url: `https://latitude.test${path}`, remote: "192.0.2.1" },
        headers: { authorization: DEFAULT_TOKEN },
        ...(body !== undefined && { body }),
      }),
  });
});
