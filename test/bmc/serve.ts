/** Slipway's Redfish service on loopback, with TLS, over a simulated machine on the system's clock. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { cryptoRandom, systemClock } from "@slipway/base";
import { serveHttp } from "@slipway/base/http-server";
import { selfSigned } from "@slipway/base/testing";
import { redfishService } from "../../src/bmc-service/service.ts";
import { answerUnknownMethods } from "../../src/bmc-service/unknown-methods.ts";
import { SimMachine } from "../../src/sim/bmc/sim-machine.ts";

export interface Served {
  url: string;
  /** File with the certificate to trust. */
  ca: string;
  /** The same as PEM. */
  pem: string;
  machine: SimMachine;
  credentials: { username: string; password: string };
  folder: string;
}

/** Quick, but longer than the service lets a client wait: its tasks are seen, too. */
const TIMINGS = { onMs: 1_500, offMs: 300, softOffMs: 300, mediaMs: 100 };

export async function serve(t: TestContext): Promise<Served> {
  const folder = mkdtempSync(join(tmpdir(), "slipway-bmc-"));
  const machine = new SimMachine({
    clock: systemClock,
    id: "51b00000-0000-4000-8000-000000000001",
    name: "machine-1",
    uuid: "51b00000-0000-4000-8000-000000000001",
    macs: ["52:54:00:00:00:01"],
    timings: TIMINGS,
  });
  const credentials = { username: "admin", password: "correct-horse-7" };
  const service = redfishService({
    machines: () => [machine],
    accounts: () => [{ ...credentials, role: "Administrator" }],
    clock: systemClock,
    random: cryptoRandom,
    uuid: "5e1f0000-0000-4000-8000-000000000001",
    patienceMs: 500,
  });
  const tls = await selfSigned("localhost", { hosts: ["localhost", "127.0.0.1"] });
  const ca = join(folder, "ca.pem");
  writeFileSync(ca, tls.cert);
  const server = await serveHttp(service.handle, { tls, guard: answerUnknownMethods });
  t.after(async () => {
    machine.close();
    await server.close();
    rmSync(folder, { recursive: true });
  });
  return { url: `https://localhost:${server.port}`, ca, pem: tls.cert, machine, credentials, folder };
}
