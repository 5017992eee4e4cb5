/** BMCs in a network of their own, asked by Slipway's own client, as the engine of hosts asks them. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { noNetwork, putQemu, QEMU, runInNetwork } from "../testing.ts";

const of = (name: string): string => JSON.stringify(import.meta.resolve(name));

const program = (folder: string): string => `
  import { readFileSync, statSync } from "node:fs";
  import { cryptoRandom as random, quietLog as log, systemClock as clock } from ${of("@slipway/base")};
  import { Bmcs } from ${of("../../inventory/bmc/bmcs.ts")};
  import { planMachines, setUpRack } from ${of("../rack.ts")};
  import { serveBmcs } from ${of("./serve.ts")};
  import { writeBmcPapers } from ${of("./papers.ts")};

  const folder = ${JSON.stringify(folder)};
  process.env.PATH = folder + ":" + process.env.PATH;
  const rack = await setUpRack(folder, planMachines(2, ["bios"], { memoryMiB: 512, diskBytes: 5_000_000 }));
  const bmcs = await serveBmcs(rack.machines, { clock, random, log });
  const papers = await writeBmcPapers(folder + "/bmc", bmcs);
  said([papers.hosts, papers.authority, papers.password("lab-2")].map((file) => statSync(file).mode & 0o777));
  const { url, username, machine } = bmcs.list[1];
  said(url);
  const password = readFileSync(papers.password("lab-2"), "utf8");
  const address = url.replace(/^https/, "redfish");
  const bmc = new Bmcs().open({ address, credentials: { username, password }, trust: { ca: bmcs.authority } });
  said(await bmc.identity());
  await bmc.bootFrom("pxe", { once: true });
  await bmc.setPower("on");
  said([await bmc.readPower(), machine.on, rack.machines[0].on]);
  await bmc.setPower("off");
  said([await bmc.readPower(), machine.on]);
  await bmc.close();
  const first = new Bmcs().open({ address: address.replace("10.77.1.2", "10.77.1.1"), credentials: { username, password }, trust: { ca: bmcs.authority } });
  said(await first.readPower().catch(({ code }) => code));
  await bmcs.close();
  await rack.close();
  said(JSON.parse(execFileSync("ip", ["-json", "address", "show", "dev", "lo"]))[0].addr_info.map(({ local }) => local).filter((each) => each.startsWith("10.")));
`;

test("each machine has a BMC with an address, a certificate and a password of its own", {
  skip: noNetwork(),
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "slipway-bmc-"));
  t.after(() => rmSync(folder, { recursive: true }));
  putQemu(folder, QEMU);
  const [modes, url, identity, on, off, refused, left] = await runInNetwork(program(folder));
  assert.deepEqual(modes, [0o600, 0o600, 0o600]);
  const uuid = "534c4950-5741-4000-8000-000000000002";
  assert.equal(url, `https://10.77.1.2/redfish/v1/Systems/${uuid}`);
  const { manufacturer, model, macs } = identity as Record<string, unknown>;
  assert.deepEqual({ manufacturer, model, macs }, { manufacturer: "QEMU", model: "bios", macs: ["52:54:00:77:00:02"] });
  assert.deepEqual(
    [on, off],
    [
      ["on", true, false],
      ["off", false],
    ],
  );
  assert.equal(refused, "BadCredentials");
  assert.deepEqual(left, []);
});
