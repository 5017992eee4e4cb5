import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { openLeases } from "../../src/netboot/dhcp/leases/journal.ts";
import { formatIpv4 } from "../../src/netboot/dhcp/wire/ipv4.ts";
import { bridge } from "./bridge.ts";
import { lacking, Namespace } from "./namespace.ts";
import { Served, scratch } from "./served.ts";

const ENOUGH = 300;

test("N10 a server that is killed while machines ask has forgotten none of the addresses that it gave", {
  skip: await lacking("perfdhcp", "pkill", "perl"),
}, async (t) => {
  const namespace = await Namespace.open(
    `${bridge(["rack"], 16)} ip netns exec rack ip addr add 10.9.0.2/16 dev there`,
  );
  const leases = join(scratch(t), "leases");
  try {
    const subnets = [{ network: "10.9.0.0/16", pools: [{ first: "10.9.16.0", last: "10.9.31.255" }] }];
    const config = { mode: "pool" as const, subnets, boot: { files: {}, urls: {} } };
    const served = await Served.start(namespace, { interface: "net", config, leases });
    const bound = () =>
      served.lines.filter(({ is }) => is === "bound") as unknown as { address: string; client: string }[];
    const rate = ["-r", "500", "-R", "4000", "-p", "20", "-l", "10.9.0.2"];
    const asking = namespace.start("perfdhcp", ["-4", ...rate, "10.9.0.1"], { net: "rack" });
    await served.until(`${ENOUGH} leases`, () => bound().length >= ENOUGH);
    await namespace.run("pkill", ["-KILL", "-f", "netboot/serve"]);
    await served.ended;
    asking.kill();

    const store = openLeases(leases);
    const kept = new Map(store.load().map(({ address, client }) => [formatIpv4(address), client]));
    store.close();
    for (const { address, client } of bound()) assert.equal(kept.get(address), `1/${client.replaceAll(":", "")}`);
  } finally {
    await namespace.close();
  }
});
