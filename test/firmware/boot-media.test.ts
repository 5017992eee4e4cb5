/** The agent from a BMC's virtual drive, on real firmware with Secure Boot: the machine is known by the value on its CD, which does not stay in. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { systemClock as clock, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { Namespace, Secret } from "@slipway/kube/core";
import { BareMetalHost } from "../../src/kinds/metal3/bare-metal-host.ts";
import { hostOf } from "../../src/lab/bmc/papers.ts";
import { type LabBmcs, serveBmcs } from "../../src/lab/bmc/serve.ts";
import { planMachines } from "../../src/lab/rack.ts";
import { DISCOVERY_NAMESPACE } from "../../src/netboot/settings.ts";
import { HostWatch } from "./host-watch.ts";
import { type Stage, setStage } from "./stage.ts";

/** Each state; emulated machines beside other work are slow. */
const PATIENCE_S = 600;

let stage: Stage;
let bmcs: LabBmcs;
before(async () => {
  const plans = planMachines(1, ["uefi-secure"], { memoryMiB: 1024, diskBytes: 1024 ** 3 });
  stage = await setStage(plans, { drivesHosts: true });
  bmcs = await serveBmcs(stage.rack.machines, { clock, random, log });
  const body = { metadata: { annotations: { "slipway.dev/trust": "bmc" } } };
  await stage.client.patch(Namespace, { name: DISCOVERY_NAMESPACE }, { type: "merge", body });
});
after(async () => {
  await bmcs?.close();
  await stage?.close();
});

test("a machine starts the agent from the CD that its BMC was given, is trusted by it, wiped, and its drive is empty again", async () => {
  const { client, netboot, rack } = stage;
  const machine = rack.machines[0]!;
  const access = bmcs.list[0]!;
  const { secret, host } = hostOf(access, bmcs.authority);
  await client.create(Secret, secret);
  const address = access.url.replace(/^https/, "redfish-virtualmedia");
  const bmc = { ...host.spec.bmc!, address };
  const created = await client.create(BareMetalHost, { ...host, spec: { ...host.spec, online: false, bmc } });
  const watch = await HostWatch.of(client, created, machine);
  await watch.until("CD in the drive", PATIENCE_S, () => access.bmc.media() !== undefined);
  assert.match(access.bmc.media() ?? "", /\/once\/slo_[\w-]{43}\/agent-x64\.iso$/);
  await watch.reaches("available", PATIENCE_S);
  const seen = netboot.hosts.get(machine.spec.mac)!;
  assert.equal(netboot.hosts.standing(seen.name).trust, "bmc");
  assert.equal(access.bmc.media(), undefined);
  assert.equal(watch.host?.status?.agentMediaAt, undefined);
  watch.close();
  assert.match(readFileSync(machine.console.file, "utf8"), /Slipway: starting from the virtual drive/);
  // Had its loader come by PXE, what it fetched would be known.
  const lines: string[] = [];
  for await (const { line } of netboot.logs.read(seen.name)) lines.push(line);
  assert.ok(!lines.some((line) => /shimx64\.efi/.test(line)), lines.join("\n"));
});
