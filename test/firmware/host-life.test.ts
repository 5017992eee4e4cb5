/** The whole life of a BareMetalHost on real firmware, as `kubectl apply` begins it: with a BMC, and with the agent alone. */
import assert from "node:assert/strict";
import { basename, dirname } from "node:path";
import { after, before, describe, test } from "node:test";
import { systemClock as clock, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { Secret } from "@slipway/kube/core";
import { BareMetalHost } from "../../src/kinds/metal3/bare-metal-host.ts";
import { hostOf } from "../../src/lab/bmc/papers.ts";
import { type LabBmcs, serveBmcs } from "../../src/lab/bmc/serve.ts";
import type { Firmware } from "../../src/lab/machine.ts";
import { planMachines } from "../../src/lab/rack.ts";
import { diskImages } from "./disk-image/image.ts";
import { remainsOn } from "./disk-proof.ts";
import { HostWatch } from "./host-watch.ts";
import { type Stage, setStage } from "./stage.ts";
import { loginFor, reached } from "./system.ts";

/** Each state, with what it waits for; emulated machines beside other work are slow. */
const PATIENCE_S = 600;
const STATES = [
  ...["registering", "inspecting", "preparing", "available", "provisioning", "provisioned"],
  ...["deprovisioning", "available", "powering off before delete", "deleting"],
];

/** Machine by machine: its firmware, and whether it has a BMC. */
const RACK: readonly { firmware: Firmware; hasBmc: boolean }[] = [
  { firmware: "uefi", hasBmc: true },
  { firmware: "bios", hasBmc: false },
  { firmware: "uefi-http", hasBmc: true },
];

let stage: Stage;
let bmcs: LabBmcs;
let images: Awaited<ReturnType<typeof diskImages>>;
before(async () => {
  images = await diskImages(process.env);
  const firmwares = RACK.map(({ firmware }) => firmware);
  const plans = planMachines(RACK.length, firmwares, { memoryMiB: 1024, diskBytes: 5 * 1024 ** 3 });
  stage = await setStage(plans, { drivesHosts: true, files: dirname(images.amd64.file) });
  bmcs = await serveBmcs(stage.rack.machines, { clock, random, log });
});
after(async () => {
  await bmcs?.close();
  await stage?.close();
});

/** Two at a time: so many cores there are on a small machine. */
describe("a host's life, from its declaration to its deletion", { concurrency: 2 }, () => {
  for (const [at, { firmware, hasBmc }] of RACK.entries())
    test(`${firmware}, ${hasBmc ? "with a BMC" : "without a BMC"}: it is inspected, wiped, installed, reached with its user's key, wiped again and let go`, () =>
      life(at, hasBmc));
});

async function life(at: number, hasBmc: boolean): Promise<void> {
  const { client, rack } = stage;
  const machine = rack.machines[at]!;
  const disk = machine.spec.disks[0]!.file;
  const began = performance.now();
  const tell = (what: string): void =>
    console.log(`${machine.spec.firmware}: ${what} after ${((performance.now() - began) / 1000).toFixed(1)} s`);

  const watch = await declare(at, hasBmc);
  // Without a BMC, somebody has to press the button. The host says so.
  if (!hasBmc) await press(watch, () => machine.powerOn());
  await watch.reaches("available", PATIENCE_S);
  tell("available");
  assert.deepEqual(await remainsOn(disk), []);

  const login = await loginFor(stage, machine);
  const { namespace = "", name } = watch.host!.metadata;
  const userData = { name: `${name}-user-data`, namespace };
  await client.create(Secret, { metadata: userData, stringData: { userData: login.userData } });
  const { file, sha256 } = images.amd64;
  const image = { url: `${stage.netboot.url}/${basename(file)}`, checksum: sha256, checksumType: "sha256" };
  const change = (spec: object): Promise<unknown> =>
    client.patch(BareMetalHost, { name, namespace }, { type: "merge", body: { spec } });
  await change({ image, userData });
  await watch.reaches("provisioned", PATIENCE_S);
  tell("provisioned");
  await reached(stage, machine, login);
  tell("reached by SSH");

  // A BMC asks the system to end; what is wiped later stays off, since nobody wants it on.
  if (hasBmc) await change({ online: false });
  if (hasBmc) await machine.off();
  if (hasBmc) tell("off");
  await change({ image: null });
  if (!hasBmc) await press(watch, () => machine.reset());
  await watch.reaches("available", PATIENCE_S);
  tell("available again");
  assert.equal(machine.on, !hasBmc);
  await watch.until("report of its power", PATIENCE_S, (host) => host?.status?.poweredOn === !hasBmc);
  await client.delete(BareMetalHost, { name, namespace });
  await watch.until("end of the host", PATIENCE_S, (host) => host === undefined);
  tell("deleted");
  watch.close();
  assert.equal(machine.on, !hasBmc);
  await machine.powerOff();
  assert.deepEqual(await remainsOn(disk), []);
  assert.deepEqual(watch.states, hasBmc ? STATES : ["unmanaged", ...STATES]);
  const events = await watch.events();
  assert.equal(
    events.filter((each) => /^(Prepared|DeprovisioningComplete): wiped, and read back: \/dev\//.test(each)).length,
    2,
    events.join("\n"),
  );
}

/** Declares the machine as its administrator does: with its BMC, or by its card alone. */
async function declare(at: number, hasBmc: boolean): Promise<HostWatch> {
  const { client, rack } = stage;
  const access = bmcs.list[at]!;
  const { secret, host } = hostOf(access, bmcs.authority);
  const { bmc, ...others } = host.spec;
  if (hasBmc) await client.create(Secret, secret);
  const declared = await client.create(BareMetalHost, { ...host, spec: hasBmc ? { bmc, ...others } : others });
  return await HostWatch.of(client, declared, rack.machines[at]!);
}

/** Does what the host waits for somebody to do. */
async function press(watch: HostWatch, button: () => Promise<void>): Promise<void> {
  const asks = /start .*from the network/;
  await watch.until("wish for a person", PATIENCE_S, (host) => asks.test(host?.status?.waitingFor ?? ""));
  await button();
}
