import assert from "node:assert/strict";
import { test } from "node:test";
import { daemonSet } from "./daemon-set.ts";

/** ViNO's own cases set, override, append and replace a variable with the controllers' password in each container. */
test("VINO-7 VINO-T1 VINO-T2 VINO-T3 VINO-T4 no container of the node agents has a password in its environment: the agent's has what its Pod knows, and the rest nothing", () => {
  const account = { namespace: "slipway", name: "slipway-vino-agent" };
  for (const libvirtImage of [undefined, "registry.example/libvirt:1"]) {
    const of = { account, image: "registry.example/agent:1", libvirtImage, arguments: ["node-agent"] };
    const { containers } = daemonSet(of).spec.template.spec as unknown as {
      containers: { name: string; env?: { name: string; value?: string }[] }[];
    };
    const names = containers.map(({ name, env = [] }) => `${name}: ${env.map((one) => one.name).join(" ")}`);
    const expected = ["agent: NODE_NAME NODE_ADDRESS", "libvirt: "];
    assert.deepEqual(names, libvirtImage === undefined ? expected.slice(0, 1) : expected);
    assert.ok(containers.every(({ env = [] }) => env.every(({ value }) => value === undefined)));
  }
});
