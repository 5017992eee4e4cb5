import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { bridge } from "./bridge.ts";
import { lacking, Namespace } from "./namespace.ts";
import { Served, scratch } from "./served.ts";

const SETUP = `${bridge(["client", "other"])} ip netns exec other ip addr add 10.9.0.100/24 dev there`;

test("N15 an address that a machine was given by hand is not offered to another one", {
  skip: await lacking("udhcpc", "perl"),
}, async (t) => {
  const namespace = await Namespace.open(SETUP);
  try {
    const served = await Served.start(namespace, {
      interface: "net",
      config: {
        mode: "pool",
        subnets: [{ network: "10.9.0.0/24", pools: [{ first: "10.9.0.100", last: "10.9.0.101" }] }],
        boot: { files: {}, urls: {} },
      },
      leases: join(scratch(t), "leases"),
    });
    const client = ["-i", "there", "-n", "-q", "-f", "-s", "/bin/true"];
    const { stderr } = await namespace.run("udhcpc", client, { net: "client" });
    assert.match(stderr, /lease of 10\.9\.0\.101 obtained/);
    await served.next("inUse", { address: "10.9.0.100" });
    await served.stop();
  } finally {
    await namespace.close();
  }
});
