/** debian-installer itself, by the preseed file that Slipway writes: from a blank machine to the first login in Debian. It takes long, and is no part of CI. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { systemClock as clock, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { Secret } from "@slipway/kube/core";
import { BareMetalHost } from "../../src/kinds/metal3/bare-metal-host.ts";
import { hostOf } from "../../src/lab/bmc/papers.ts";
import { type LabBmcs, serveBmcs } from "../../src/lab/bmc/serve.ts";
import { type Door, openDoor } from "../../src/lab/door.ts";
import { LAB } from "../../src/lab/rack.ts";
import { remainsOn } from "./disk-proof.ts";
import { HostWatch } from "./host-watch.ts";
import { type Stage, setStage } from "./stage.ts";
import { loginFor, reached } from "./system.ts";

const { DEBIAN_INSTALLER: folder, DEBIAN_MIRROR: mirror, DEBIAN_MISSING: missing = "run it by make" } = process.env;
/** What the installer needs on this mirror (debian/installer.ts). */
const NEEDED = (process.env.DEBIAN_ARGUMENTS ?? "").split(" ").filter((word) => word !== "");
const skip = (folder === undefined || mirror === undefined) && missing;
const PROXY_PORT = 3142;
const PATIENCE_S = 900;
const INSTALLATION_S = 40 * 60;
const GIB = 1024 ** 3;
const PLAN = { name: "lab-1", firmware: "bios", memoryMiB: 1024, processors: 2, diskBytes: 4 * GIB } as const;
/** What makes an installation short; all of it debian-installer's own. */
const SHORT = [
  "DEBIAN_FRONTEND=text",
  "base-installer/install-recommends=false",
  "base-installer/kernel/image=linux-image-cloud-amd64",
  "base-installer/initramfs-tools/driver-policy=dep",
  "apt-setup/services-select=",
  "apt-setup/enable-source-repositories=false",
  "pkgsel/run_tasksel=false",
  "pkgsel/upgrade=none",
  "pkgsel/update-policy=none",
  "no_timer_check",
  // What stands behind it is the installed system's, too.
  "---",
  "console=ttyS0",
];

let stage: Stage;
let bmcs: LabBmcs;
let proxy: Door;
before(async () => {
  if (folder === undefined || mirror === undefined) return;
  stage = await setStage([PLAN], { drivesHosts: true, files: folder });
  bmcs = await serveBmcs(stage.rack.machines, { clock, random, log });
  proxy = await openDoor({ host: LAB.address, port: PROXY_PORT }, { path: mirror });
});
after(async () => {
  await proxy?.close();
  await bmcs?.close();
  await stage?.close();
});

test("N27 a BareMetalHost of type preseed is installed by a real debian-installer, to the first login; taken back, it is wiped", {
  skip,
}, async () => {
  const { client, netboot, rack } = stage;
  const [machine] = rack.machines;
  const began = performance.now();
  const tell = (what: string): void =>
    console.log(`${((performance.now() - began) / 1000).toFixed(1).padStart(7)} s  ${what}`);
  const { secret, host } = hostOf(bmcs.list[0]!, bmcs.authority);
  await client.create(Secret, secret);
  const watch = await HostWatch.of(client, await client.create(BareMetalHost, host), machine!);
  await watch.reaches("available", PATIENCE_S);
  tell("available");

  const login = await loginFor(stage, machine!);
  const { namespace = "", name } = watch.host!.metadata;
  const profile = {
    kernel: `${netboot.url}/linux`,
    initrd: `${netboot.url}/initrd.gz`,
    arguments: [...NEEDED, ...SHORT],
    user: { name: "slipway", sshKeys: [login.authorizedKey] },
    proxy: `http://${LAB.address}:${PROXY_PORT}`,
    commands: [`echo 'from the user data of ${name}' >/etc/first-boot`],
  };
  await client.create(Secret, {
    metadata: { name: "debian", namespace },
    stringData: { profile: JSON.stringify(profile) },
  });
  const change = (spec: object): Promise<unknown> =>
    client.patch(BareMetalHost, { name, namespace }, { type: "merge", body: { spec } });
  await change({ customDeploy: { method: "preseed/debian" } });
  await watch.until("start of the installer", PATIENCE_S, (now) =>
    /report its end/.test(now?.status?.waitingFor ?? ""),
  );
  tell("debian-installer has its preseed file");
  await watch.reaches("provisioned", INSTALLATION_S);
  tell("debian-installer has reported its end");
  await reached(stage, machine!, login);
  tell("logged in by SSH");

  await change({ customDeploy: null });
  await watch.reaches("available", PATIENCE_S);
  tell("wiped, and available again");
  watch.close();
  await machine!.powerOff();
  assert.deepEqual(await remainsOn(machine!.spec.disks[0]!.file), []);
});
