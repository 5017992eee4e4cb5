import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { labSettings } from "./lab-netboot.ts";
import { FIRMWARES } from "./machine.ts";
import { noNetwork, runInNetwork } from "./testing.ts";

const of = (name: string): string => JSON.stringify(import.meta.resolve(name));

const program = (dir: string): string => `
  import { existsSync } from "node:fs";
  import { createApiServer } from ${of("@slipway/apiserver")};
  import { cryptoRandom as random, quietLog as log, systemClock as clock } from ${of("@slipway/base")};
  import { Bridge } from ${of("./bridge.ts")};
  import { startLabNetboot } from ${of("./lab-netboot.ts")};
  import { LAB } from ${of("./rack.ts")};
  import { BareMetalHost } from ${of("../kinds/metal3/bare-metal-host.ts")};

  const bridge = await Bridge.create(LAB.bridge, LAB.address + "/" + LAB.prefix);
  const api = await createApiServer({ clock, random, log });
  const dir = ${JSON.stringify(dir)};
  const socket = dir + "/netboot.sock";
  const start = (trust) => startLabNetboot(api.transport(), { assets: dir, dir, socket }, log, { trust, drivesHosts: false });
  for (const trust of ["first-seen", "approved"]) {
    const { netboot, client, close } = await start(trust);
    const { name } = netboot.hosts.seen({ mac: trust === "approved" ? "52:54:00:77:00:02" : "52:54:00:77:00:01" });
    const appeared = async () => (await client.list(BareMetalHost)).items.some(({ metadata }) => metadata.name === name);
    while (!(await appeared())) await clock.sleep(20);
    said([netboot.url, name, existsSync(socket), netboot.hosts.standing(name).trust]);
    said(await start(trust).catch(({ code }) => code));
    await close();
    said([existsSync(socket), await fetch(netboot.url).then(() => "serves", () => "closed")]);
  }
  await api.close();
  await bridge.remove();
`;

test("in the lab, machines that were seen appear in its API; what is closed serves no more, and can be started again", {
  skip: noNetwork(),
}, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "slipway-lab-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const url = "http://10.77.0.1:8080";
  const second = "AlreadyExists";
  assert.deepEqual(await runInNetwork(program(dir)), [
    [url, "host-52-54-00-77-00-01", true, "discovered"],
    second,
    [false, "closed"],
    [url, "host-52-54-00-77-00-02", true, "discovered"],
    second,
    [false, "closed"],
  ]);
});

test("the agent speaks on the one serial line that a machine of the lab has, on whichever platform QEMU emulates", () => {
  const spoken = labSettings({ trust: "first-seen", drivesHosts: true }).boot.arguments;
  // Linux names them by their drivers: 8250 on a PC, PL011 on QEMU's virt.
  for (const firmware of FIRMWARES) {
    const serial = firmware === "arm64" ? "ttyAMA0" : "ttyS0";
    assert.ok(spoken.includes(`console=${serial}`), firmware);
  }
});
