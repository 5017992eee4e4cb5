/** `slipway netboot` as a process that gives addresses, and a machine in iPXE beside one whose address was set by hand. */
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Answered, Question } from "./ask.ts";
import { bridge } from "./bridge.ts";
import { lacking, Namespace } from "./namespace.ts";
import { scratch } from "./served.ts";
import { SOLICIT } from "./solicit.ts";

const MAC = "52:54:00:00:00:01";
const IN_USE = "10.9.0.100";
const FREE = "10.9.0.101";

const SETUP = `
echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad
${bridge(["client", "other"])}
ip netns exec client sh -ec 'ip link set there down; ip link set there address ${MAC} up; ip route add 255.255.255.255 dev there'
ip netns exec other ip addr add ${IN_USE}/24 dev there
`;

test("N15 N20 netboot offers no address that is in use, and a machine in iPXE does not wait for a router", {
  skip: await lacking("perl"),
}, async (t) => {
  const dir = scratch(t);
  mkdirSync(join(dir, "assets"));
  const namespace = await Namespace.open(SETUP);
  try {
    const slipway = join(import.meta.dirname, "../../bin/slipway");
    const pool = `--subnet 10.9.0.0/24 --range ${IN_USE}-${FREE} --foreign 10.7.0.0/24`;
    const options = `--interface net --no-kubernetes --dir ${dir}/state --assets ${dir}/assets ${pool}`;
    const said = await namespace.startSaying("netboot serves", slipway, ["netboot", ...options.split(" ")]);
    assert.match(said(), /"10\.7\.0\.0\/24".*another DHCP server gives the addresses in these networks/);

    const question: Question = {
      type: "discover",
      said: { mac: MAC, flags: 0x8000, sends: { 77: "iPXE", 175: [19, 1, 1] } },
      to: { address: "255.255.255.255", port: 67 },
    };
    const asking = [join(import.meta.dirname, "ask.ts"), JSON.stringify(question)];
    const { stdout, stderr } = await namespace.run(process.execPath, asking, { net: "client" });
    assert.equal(stderr, "");
    assert.equal((JSON.parse(stdout) as Answered).yiaddr, FREE);

    const advertisement = await namespace.run("perl", ["-e", SOLICIT, "40"], { net: "client" });
    assert.match(advertisement.stdout, /^86/, advertisement.stderr);
  } finally {
    await namespace.close();
  }
});
