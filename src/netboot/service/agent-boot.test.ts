import assert from "node:assert/strict";
import { test } from "node:test";
import { Capabilities } from "../http/boot-capability.ts";
import { netbootSettings } from "../settings.ts";
import { agentBootOf } from "./agent-boot.ts";

test("N1 the agent is started with the server's address and key, and a right to register for half an hour, of this card at this address", () => {
  let now = 1_700_000_000_000;
  const capabilities = new Capabilities(new Uint8Array(32), { now: () => now });
  const { kernel, packedKernel, initrd, commandLine } = agentBootOf(
    { mac: "52:54:00:00:00:0a", address: "10.0.0.5", architecture: "aarch64", firmware: "uefi" },
    {
      settings: netbootSettings({ dhcp: { mode: "off" }, boot: { arguments: ["console=ttyS1"] } }, "test"),
      reached: { url: "http://10.0.0.2:8080", agentUrl: "https://10.0.0.2:8443" },
      ...{ pin: "sha256//x", capabilities, asked: { granted: () => {} }, clock: { now: () => now } },
    },
  );
  assert.equal(kernel, "http://10.0.0.2:8080/agent/aarch64/vmlinuz");
  assert.equal(packedKernel, "http://10.0.0.2:8080/agent/aarch64/vmlinuz.gz");
  assert.equal(initrd, "http://10.0.0.2:8080/agent/aarch64/initrd");
  const [right] = commandLine.flatMap((word) => /^slipway\.boot=(.*)$/.exec(word)?.[1] ?? []);
  assert.deepEqual(commandLine, [
    "slipway.url=https://10.0.0.2:8443",
    "slipway.rest=http://10.0.0.2:8080/agent/aarch64/rest",
    "slipway.pin=sha256//x",
    `slipway.boot=${right}`,
    "slipway.mac=52:54:00:00:00:0a",
    "panic=30",
    "console=ttyS1",
  ]);
  const granted = { mac: "52:54:00:00:00:0a", address: "10.0.0.5" };
  now += 30 * 60_000 - 1;
  assert.deepEqual(capabilities.check(right!, "agent"), granted);
  now += 1;
  assert.equal(capabilities.check(right!, "agent"), undefined);
});
