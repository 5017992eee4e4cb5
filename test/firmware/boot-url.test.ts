/** Identity by BMC on real firmware: a machine that its BMC gives a URL is known by it, and one that boots by DHCP alone is not. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { systemClock as clock, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { Namespace, Secret } from "@slipway/kube/core";
import { BareMetalHost } from "../../src/kinds/metal3/bare-metal-host.ts";
import { hostOf } from "../../src/lab/bmc/papers.ts";
import { type LabBmcs, serveBmcs } from "../../src/lab/bmc/serve.ts";
import { planMachines } from "../../src/lab/rack.ts";
import { DISCOVERY_NAMESPACE } from "../../src/netboot/settings.ts";
import { HostWatch } from "./host-watch.ts";
import { type Stage, setStage } from "./stage.ts";
import { until } from "./until.ts";

/** Each state; emulated machines beside other work are slow. */
const PATIENCE_S = 600;

let stage: Stage;
let bmcs: LabBmcs;
before(async () => {
  const plans = planMachines(2, ["uefi-http"], { memoryMiB: 1024, diskBytes: 1024 ** 3 });
  stage = await setStage(plans, { drivesHosts: true });
  bmcs = await serveBmcs(stage.rack.machines, { clock, random, log });
  const annotations = { "slipway.dev/trust": "bmc" };
  await stage.client.patch(
    Namespace,
    { name: DISCOVERY_NAMESPACE },
    { type: "merge", body: { metadata: { annotations } } },
  );
});
after(async () => {
  await bmcs?.close();
  await stage?.close();
});

describe("in a namespace that demands a start by the BMC", { concurrency: 2 }, () => {
  test("a machine that Slipway starts by a URL at its BMC is trusted, and inspected", async () => {
    const { client, netboot, rack } = stage;
    const machine = rack.machines[0]!;
    const { secret, host } = hostOf(bmcs.list[0]!, bmcs.authority);
    await client.create(Secret, secret);
    const watch = await HostWatch.of(client, await client.create(BareMetalHost, host), machine);
    await watch.until("inspection", PATIENCE_S, (seen) => seen?.status?.hardware !== undefined);
    assert.equal(netboot.hosts.standing(netboot.hosts.get(machine.spec.mac)!.name).trust, "bmc");
    watch.close();
    // The value went by the firmware's variables alone: the loader was fetched where the BMC was sent.
    const lines: string[] = [];
    for await (const { line } of netboot.logs.read(netboot.hosts.get(machine.spec.mac)!.name)) lines.push(line);
    assert.ok(
      lines.some((line) => /GET \/once\/\S+\/shimx64\.efi: 200/.test(line)),
      lines.join("\n"),
    );
    assert.ok(!lines.some((line) => /GET \/shimx64\.efi/.test(line)), lines.join("\n"));
  });

  test("a machine that boots by DHCP alone registers, and is neither trusted nor inspected", async () => {
    const { client, netboot, rack } = stage;
    const machine = rack.machines[1]!;
    const { host } = hostOf(bmcs.list[1]!, bmcs.authority);
    const { bmc: _, ...spec } = host.spec;
    const watch = await HostWatch.of(client, await client.create(BareMetalHost, { ...host, spec }), machine);
    await machine.powerOn();
    const seen = await until(netboot.hosts, machine, {
      is: ({ session }) => session !== undefined,
      seconds: PATIENCE_S,
      missing: "agent",
    });
    const { trust, lacks } = netboot.hosts.standing(seen.name);
    assert.deepEqual({ trust, lacks }, { trust: "discovered", lacks: "bmc" });
    await watch.until("wish for a start by a BMC", PATIENCE_S, (now) =>
      /it has shown no value of one/.test(now?.status?.waitingFor ?? ""),
    );
    assert.equal(watch.host?.status?.hardware, undefined);
    watch.close();
  });
});
