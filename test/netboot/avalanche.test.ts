import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { bridge } from "./bridge.ts";
import { lacking, Namespace } from "./namespace.ts";
import { Served, scratch } from "./served.ts";

const MACHINES = 1000;

test(`N22 an avalanche of ${MACHINES} machines ends, and no address is two machines'`, {
  skip: await lacking("perfdhcp", "perl"),
}, async (t) => {
  const namespace = await Namespace.open(`${bridge(["rack"])} ip netns exec rack ip addr add 10.9.0.2/24 dev there`);
  try {
    const served = await Served.start(namespace, {
      interface: "net",
      config: {
        mode: "pool",
        // perfdhcp stands for a relay in the machines' network.
        subnets: [{ network: "10.9.0.0/16", pools: [{ first: "10.9.16.0", last: "10.9.31.255" }] }],
        boot: { files: {}, urls: {} },
      },
      leases: join(scratch(t), "leases"),
    });
    const load = ["-4", "--scenario", "avalanche", "-R", String(MACHINES), "-u", "-l", "10.9.0.2", "10.9.0.1"];
    const { code, stdout, stderr } = await namespace.run("perfdhcp", load, { net: "rack" });
    await served.stop();

    assert.equal(code, 0, `${stdout}${stderr}`);
    const holders = new Map<unknown, unknown>();
    for (const line of served.lines as { is: string; address?: string; client?: string }[]) {
      if (line.is !== "bound") continue;
      assert.equal(holders.get(line.address) ?? line.client, line.client);
      holders.set(line.address, line.client);
    }
    assert.equal(new Set(holders.values()).size, MACHINES);
    assert.equal(holders.size, MACHINES);
  } finally {
    await namespace.close();
  }
});
