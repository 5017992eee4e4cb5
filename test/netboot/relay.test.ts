import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { lacking, Namespace } from "./namespace.ts";
import { Served, scratch } from "./served.ts";

/** client 10.8.0.0/24 relay 10.9.0.0/24 server */
const SETUP = `
ip netns add relay
ip netns add client
ip link add there type veth peer name north
ip link set north netns relay
ip link add south type veth peer name card
ip link set south netns relay
ip link set card netns client
ip addr add 10.9.0.1/24 dev there
ip link set there up
ip route add 10.8.0.0/24 via 10.9.0.2
ip netns exec relay sh -ec 'ip link set lo up; ip addr add 10.9.0.2/24 dev north; ip addr add 10.8.0.1/24 dev south; ip link set north up; ip link set south up'
ip netns exec client ip link set card up
`;

const pool = (net: string) => ({ network: `${net}.0/24`, pools: [{ first: `${net}.100`, last: `${net}.199` }] });

test("N14 behind a relay that others wrote, which adds option 82, a machine gets an address of its own network", {
  skip: await lacking("dhcrelay", "udhcpc", "perl"),
}, async (t) => {
  const namespace = await Namespace.open(SETUP);
  try {
    const served = await Served.start(namespace, {
      interface: "there",
      config: { mode: "pool", subnets: [pool("10.9.0"), pool("10.8.0")], boot: { files: {}, urls: {} } },
      leases: join(scratch(t), "leases"),
    });
    const ways = ["-a", "-m", "append", "-D", "-id", "south", "-iu", "north"];
    const args = ["-4", "-d", "--no-pid", ...ways, "10.9.0.1"];
    const said = await namespace.startSaying("Sending on   Socket/fallback", "dhcrelay", args, { net: "relay" });
    const client = ["-i", "card", "-n", "-q", "-f", "-s", "/bin/true"];
    const { stderr } = await namespace.run("udhcpc", client, { net: "client" });
    assert.match(stderr, /lease of 10\.8\.0\.100 obtained from 10\.9\.0\.1/, said());
    await served.stop();
    // It takes off what it added, and passes nothing on that came back without it.
    assert.doesNotMatch(said(), /Discarding|bogus|missing/i);
  } finally {
    await namespace.close();
  }
});
