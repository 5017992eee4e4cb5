import assert from "node:assert/strict";
import { test } from "node:test";
import { noNetwork, runInNetwork } from "./testing.ts";

const PROGRAM = `
  import { Bridge } from ${JSON.stringify(import.meta.resolve("./bridge.ts"))};
  const bridge = await Bridge.create("rack", "10.77.0.1/24");
  said(show("address", "show", "rack")[0].addr_info.filter(({ family }) => family === "inet").map(({ local, prefixlen }) => [local, prefixlen]));
  said(show("link").filter(({ flags }) => flags.includes("UP")).map(({ ifname, operstate }) => ifname + " " + operstate).sort());
  said([await bridge.plug("lab-1"), await bridge.plug("lab-1")]);
  said(links());
  said(await bridge.plug("a machine").catch(({ message }) => message));
  said(await Bridge.create("rack", "10.77.0.1/24").catch(({ code, message }) => code + " " + message));
  await bridge.remove();
  said(links());
`;

test("a bridge has its address and a port for each machine, and leaves nothing when it is removed", {
  skip: noNetwork(),
}, async () => {
  const [address, alive, plugged, there, badName, twice, left] = await runInNetwork(PROGRAM);
  assert.deepEqual(address, [["10.77.0.1", 24]]);
  assert.deepEqual(alive, ["lo UNKNOWN", "rack UP", "rack-a UP", "rack-b UP"], "it serves before a machine is on");
  assert.deepEqual(plugged, ["tap-lab-1", "tap-lab-1"]);
  assert.deepEqual(there, ["rack-a<rack", "rack-b<", "rack<", "tap-lab-1<rack"]);
  assert.match(String(badName), /a name is at most 11/);
  assert.match(String(twice), /^Unavailable lab network: ip link add rack .*File exists/);
  assert.deepEqual(left, []);
});
