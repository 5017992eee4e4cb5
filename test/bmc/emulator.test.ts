/** Our client against OpenStack's sushy-emulator, a Redfish service that we did not write: over TLS, with basic authentication. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { isFault, plain, systemClock } from "@slipway/base";
import { serveHttp } from "@slipway/base/http-server";
import { selfSigned } from "@slipway/base/testing";
import { Bmcs } from "../../src/inventory/bmc/bmcs.ts";
import { KeptProcess } from "../../src/kubernetes/kept-process.ts";
import { freePort } from "../kubernetes/free-port.ts";
import { type Judges, judges } from "./judges.ts";
import { program } from "./program.ts";

const found = judges(process.env);
const skip = typeof found === "string" ? found : false;
if (skip) console.log(`test-bmc: skipped: ${skip}`);

const CREDENTIALS = { username: "admin", password: "correct-horse-7" };
const SYSTEMS = ["51b00000-0000-4000-8000-00000000000a", "51b00000-0000-4000-8000-00000000000b"];
/** The emulator takes up to eleven seconds for each change of power, by chance. */
const PATIENT = { withinMs: 60_000 };

async function emulator(t: TestContext, { program: path }: Judges): Promise<{ port: number; pem: string }> {
  const folder = mkdtempSync(join(tmpdir(), "slipway-emulator-"));
  const [cert, key, users, config] = ["cert.pem", "key.pem", "users", "config"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
    string,
  ];
  const tls = await selfSigned("127.0.0.1");
  writeFileSync(cert, tls.cert);
  writeFileSync(key, tls.key);
  const hash = "import bcrypt,sys;print(bcrypt.hashpw(sys.argv[1].encode(),bcrypt.gensalt(4)).decode())";
  const { text } = await program(path("python"), ["-c", hash, CREDENTIALS.password], {});
  writeFileSync(users, `${CREDENTIALS.username}:${text.trim()}\n`);
  const systems = SYSTEMS.map((uuid, i) => ({
    ...{ uuid, name: `fake-${i}`, power_state: "Off", external_notifier: false },
    nics: [{ mac: `00:5c:52:31:3a:9${i}`, ip: `172.22.0.10${i}` }],
  }));
  const settings = { SSL_CERT: cert, SSL_KEY: key, AUTH_FILE: users, STATE_DIR: folder };
  const lines = Object.entries(settings).map(([name, value]) => `SUSHY_EMULATOR_${name} = ${JSON.stringify(value)}`);
  const fake = JSON.stringify(systems).replaceAll("false", "False");
  writeFileSync(config, `${lines.join("\n")}\nSUSHY_EMULATOR_FAKE_SYSTEMS = ${fake}\n`);
  const port = await freePort();
  const args = ["--fake", "--config", config, "-i", "127.0.0.1", "-p", String(port)];
  const kept = new KeptProcess({ command: path("sushy-emulator"), args, logFile: join(folder, "log") });
  t.after(async () => {
    await kept.stop();
    rmSync(folder, { recursive: true });
  });
  return { port, pem: tls.cert };
}

test("our client drives machines of the emulator", { skip }, async (t) => {
  if (typeof found === "string") return;
  const { port, pem } = await emulator(t, found);
  const images = await serveHttp(async () => plain(200, "an image"));
  t.after(() => images.close());
  const bmcs = new Bmcs();
  const target = { credentials: CREDENTIALS, trust: { ca: pem } };
  const service = bmcs.open({ address: `redfish://127.0.0.1:${port}`, ...target });
  t.after(() => service.close());
  await untilUp(() => service.readPower());

  const several = await service.readPower().catch((error: unknown) => error);
  assert.ok(isFault(several, "Invalid") && several.advice.includes(SYSTEMS[1]!), String(several));
  const address = `redfish-virtualmedia://127.0.0.1:${port}/redfish/v1/Systems/${SYSTEMS[0]}`;
  const wrong = bmcs.open({ ...target, address, credentials: { ...CREDENTIALS, password: "wrong" } });
  await assert.rejects(wrong.readPower(), (error) => isFault(error, "BadCredentials"));
  await wrong.close();

  const bmc = bmcs.open({ address, ...target, uuid: SYSTEMS[0]! });
  const identity = await bmc.identity();
  assert.deepEqual([identity.uuid, identity.macs], [SYSTEMS[0], ["00:5c:52:31:3a:90"]]);
  await bmc.bootFrom("pxe", { once: true, mode: "UEFI" });
  await bmc.setPower("on", PATIENT);
  assert.equal(await bmc.readPower(), "on");
  const image = `${images.url}/agent.iso`;
  await bmc.insertMedia(image);
  await bmc.bootFrom("virtual-media", { once: true, mode: "UEFI" });
  await bmc.ejectMedia();
  await bmc.bootFrom("disk", { once: false });
  await bmc.setPower("off", PATIENT);
  assert.ok(Array.isArray(await bmc.firmwareSettings()));
  await bmc.close();
});

/** It is up when it answers anything but that it is not reached. */
async function untilUp(ask: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const error = await ask().catch((e: unknown) => e);
    if (!isFault(error, "Unavailable", "LostAnswer")) return;
    await systemClock.sleep(200);
  }
  assert.fail("the emulator does not come up");
}
