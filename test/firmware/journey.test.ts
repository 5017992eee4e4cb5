/** From power-on to wiped, by every firmware: the machine that nobody has seen, the system it gets, the disk that is left. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { FIRMWARES, type Firmware } from "../../src/lab/machine.ts";
import type { QemuMachine } from "../../src/lab/qemu-machine.ts";
import { planMachines } from "../../src/lab/rack.ts";
import { approved } from "./approved.ts";
import { diskImages } from "./disk-image/image.ts";
import { remainsOn } from "./disk-proof.ts";
import { ordered } from "./ordered.ts";
import { bareMetalHosts, type Stage, setStage } from "./stage.ts";
import { loginFor, reached } from "./system.ts";
import { until } from "./until.ts";

/** An emulated ARM64 machine took 300 beside other work. */
const REGISTERED_SECONDS = 900;

let stage: Stage;
let images: Awaited<ReturnType<typeof diskImages>>;
before(async () => {
  images = await diskImages(process.env);
  stage = await setStage(planMachines(FIRMWARES.length, FIRMWARES, { memoryMiB: 1024, diskBytes: 3 * 1024 ** 3 }));
});
after(() => stage?.close());

/** Two at a time: so many cores there are on a small machine. */
describe("N12 N48 from power-on", { concurrency: 2 }, () => {
  for (const firmware of FIRMWARES)
    test(`${firmware}: a blank machine becomes a BareMetalHost, gets a system that is reached with the given key, and is wiped`, () =>
      journey(firmware));
});

async function journey(firmware: Firmware): Promise<void> {
  const { rack, netboot, client } = stage;
  const machine = rack.machines.find(({ spec }) => spec.firmware === firmware)!;
  const began = performance.now();
  const tell = (what: string): void =>
    console.log(`${firmware}: ${what} after ${((performance.now() - began) / 1000).toFixed(1)} s`);

  await machine.powerOn();
  await registered(machine);
  tell("registered");
  const found = (await bareMetalHosts(client)).get(machine.spec.mac);
  assert.equal(found?.status?.operationalStatus, "discovered");

  await assert.rejects(
    netboot.order(machine.spec.mac, { order: "wipe", how: "metadata", disks: "all" }),
    /not trusted/,
  );
  await approved(stage, machine);
  await installed(machine, tell);

  // Another boot has another key.
  if (netboot.hosts.standing(machine.spec.mac).trust === "discovered") await approved(stage, machine);
  const wiped = await ordered(netboot, machine, { order: "wipe", how: "metadata", disks: "all" }, 600);
  assert.deepEqual([wiped.ok, wiped.disks?.map(({ proven }) => proven)], [true, [true]], wiped.message);
  await machine.powerOff();
  assert.deepEqual(await remainsOn(machine.spec.disks[0]!.file), []);
  tell("wiped");
}

/** Resolves once the agent on it has reported since it was switched on, and has its key. */
async function registered(machine: QemuMachine, since = 0): Promise<void> {
  await until(stage.netboot.hosts, machine, {
    is: ({ inventoryAt, agentKey }) => inventoryAt !== undefined && inventoryAt > since && agentKey !== undefined,
    seconds: REGISTERED_SECONDS,
    missing: "report with a key",
  });
}

async function installed(machine: QemuMachine, tell: (what: string) => void): Promise<void> {
  const { netboot } = stage;
  const { name, mac, firmware } = machine.spec;
  const login = await loginFor(stage, machine);
  const data = {
    "meta-data": `instance-id: ${name}\nlocal-hostname: ${name}\n`,
    "user-data": login.userData,
  };
  const { file, sha256 } = firmware === "arm64" ? images.arm64 : images.amd64;
  const write = { order: "write", image: file, checksum: `sha256:${sha256}`, data } as const;
  const written = await ordered(netboot, machine, write, 900);
  assert.ok(written.ok, written.message);
  tell("image written");

  netboot.hosts.setBoot(mac, "disk");
  assert.ok((await ordered(netboot, machine, { order: "reboot" }, 300)).ok);
  await reached(stage, machine, login);
  tell("reached by SSH");

  netboot.hosts.setBoot(mac, "agent");
  const now = Date.now();
  await machine.reset();
  await registered(machine, now);
  tell("back in the agent");
}
