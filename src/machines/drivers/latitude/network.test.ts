import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import type { NetworkWish } from "../../machine.ts";
import { aMachine } from "../../testing.ts";
import { type NetworkPorts, settled, setVlans } from "./network.ts";

const wish = (vlans: readonly string[], mode?: NetworkWish["mode"]): NetworkWish =>
  ({ ...(mode && { mode }), vlans: [{ port: "bond0", vlans }] }) as unknown as NetworkWish;
const server = (...vlans: string[]) =>
  aMachine({ hostname: "w1", ports: [{ name: "eth0", vlans }] as never, metro: "sao" });

interface Network {
  id: string;
  vid?: number;
  site?: string;
}

/** An account with virtual networks, one of whose servers has these. */
function account(
  networks: readonly Network[],
  assigned: readonly string[] = [],
  refusal?: "NotFound" | "AlreadyConfigured" | "Forbidden",
) {
  const calls: string[] = [];
  const done = async (call: string): Promise<void> => {
    calls.push(call);
    if (refusal !== undefined) throw new Fault(refusal, call, "no");
  };
  const client = {
    assignments: async () => assigned.map((vid) => ({ id: `as-${vid}`, attributes: { vid: Number(vid) } })),
    networks: async () =>
      networks.map(({ id, vid, site }) => ({
        id,
        attributes: { vid, ...(site && { region: { site: { slug: site } } }) },
      })),
    unassign: (id: string) => done(`unassign ${id}`),
    assign: (machine: string, id: string) => done(`assign ${machine} ${id}`),
  };
  const ports = { client, numbers: new Map<string, string>(), project: async () => "p" } as unknown as NetworkPorts;
  return { calls, ports };
}
const NETWORKS = [
  { id: "vlan_a", vid: 10, site: "sao" },
  { id: "vlan_b", vid: 20, site: "sao" },
  { id: "vlan_c", vid: 30, site: "nyc" },
  { id: "vlan_d", vid: 40 },
  { id: "vlan_new" },
];

test("a server is settled with at least the wished networks, and with exactly these where a mode is named", () => {
  const numbers = new Map([["vlan_a", "10"]]);
  assert.ok(settled(server("10", "20"), wish(["10"]), numbers));
  assert.ok(settled(server("10"), wish(["vlan_a"]), numbers), "by its id");
  assert.ok(!settled(server("20"), wish(["10"]), numbers));
  assert.ok(!settled(server("10", "20"), wish(["10"], "hybrid"), numbers));
  assert.ok(settled(server("20", "10"), wish(["10", "20"], "hybrid"), numbers));
  assert.ok(settled(server(), wish([], "layer3"), numbers));
});

test("a mode that Latitude has not is never settled, and refused with those that it has", async () => {
  const layer2 = wish([], "layer2-bonded" as never);
  assert.ok(!settled(server(), layer2, new Map()));
  const { ports, calls } = account(NETWORKS);
  await assert.rejects(setVlans(server(), layer2, ports), { code: "Invalid", remedy: "use one of layer3, hybrid" });
  assert.deepEqual(calls, []);
});

test("surplus networks are taken off before missing ones are added; what is as wished is not asked for", async () => {
  const { ports, calls } = account(NETWORKS, ["10", "40"]);
  assert.ok(await setVlans(server("10", "40"), wish(["20", "vlan_a"], "hybrid"), ports));
  assert.deepEqual(calls, ["unassign as-40", "assign m-1 vlan_b"]);
  assert.equal(await setVlans(server("10", "20"), wish(["20", "vlan_a"], "hybrid"), ports), false);
  assert.equal(calls.length, 2);
  const adding = account(NETWORKS, ["10"]);
  await setVlans(server("10"), wish(["40"]), adding.ports);
  assert.deepEqual(adding.calls, ["assign m-1 vlan_d"], "without a mode none is taken off");
});

test("a network is one of the server's own site", async () => {
  const { ports, calls } = account(NETWORKS);
  const there = aMachine({ ports: [], metro: "nyc" });
  await setVlans(there, wish(["30"]), ports);
  assert.deepEqual(calls, ["assign m-1 vlan_c"]);
  await assert.rejects(setVlans(server(), wish(["30"]), ports), { code: "MissingInput", message: /30 in site sao/ });
  await assert.rejects(setVlans(server(), wish(["vlan_new"]), ports), { code: "MissingInput" });
  const nowhere = aMachine({ ports: [], metro: undefined });
  await assert.rejects(setVlans(nowhere, wish(["50"]), ports), { message: /in site \(unknown\)/ });
  assert.equal(calls.length, 1);
});

test("an assignment that somebody else made or took off meanwhile is no fault; any other is", async () => {
  const off = account(NETWORKS, ["10"], "NotFound");
  assert.ok(await setVlans(server("10"), wish([], "hybrid"), off.ports));
  assert.ok(await setVlans(server(), wish(["10"]), account(NETWORKS, [], "AlreadyConfigured").ports));
  await assert.rejects(setVlans(server(), wish(["10"]), account(NETWORKS, [], "NotFound").ports), { code: "NotFound" });
  await assert.rejects(setVlans(server("10"), wish([], "hybrid"), account(NETWORKS, ["10"], "Forbidden").ports), {
    code: "Forbidden",
  });
});
