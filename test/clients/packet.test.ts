/** Clients that people have, against the simulated Packet API on a socket. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { cryptoRandom, systemClock } from "@slipway/base";
import { serveHttp } from "@slipway/base/http-server";
import { selfSigned } from "@slipway/base/testing";
import { createEquinixSim } from "../../src/sim/equinix/equinix-sim.ts";
import { DEFAULT_PROJECT, DEFAULT_TOKEN, INSTANT_TIMINGS } from "../../src/sim/equinix/options.ts";
import type { Firmware } from "../../src/sim/hardware.ts";
import { goClients, packetPython } from "./judges.ts";

/** Machines that do nothing: the clients ask the API alone. */
const FIRMWARE: Firmware = {
  fromNetwork: () => ({ off: () => {} }),
  fromDisk: () => ({ off: () => {} }),
  wipe: () => {},
};

async function serve(t: TestContext, tls?: { key: string; cert: string }): Promise<string> {
  const sim = createEquinixSim({
    ...{ clock: systemClock, random: cryptoRandom, firmware: FIRMWARE, timings: INSTANT_TIMINGS },
    reservations: [{ plan: "c3.small.x86", metro: "sg" }],
  });
  const server = await serveHttp(sim.handle, tls === undefined ? {} : { tls });
  t.after(async () => {
    sim.close();
    await server.close();
  });
  return `127.0.0.1:${server.port}`;
}

/** What a client printed; rejects with what it said when it failed. */
async function said(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<unknown> {
  const child = spawn(command, args, { env: { ...process.env, ...env }, timeout: 120_000 });
  let [out, error] = ["", ""];
  child.stdout.on("data", (text) => {
    out += text;
  });
  child.stderr.on("data", (text) => {
    error += text;
  });
  const [code] = await new Promise<[number | null]>((resolve) => child.on("close", (code) => resolve([code])));
  assert.equal(code, 0, error);
  return JSON.parse(out);
}

const python = packetPython(process.env);
const program = goClients(process.env);

test("packet-python 1.44.3: lists to their end, changes, facilities, keys, addresses, BGP, VLANs, events", {
  skip: python instanceof Error && python.message,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "slipway-clients-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const tls = await selfSigned("localhost", { hosts: ["localhost", "127.0.0.1"] });
  const ca = join(folder, "ca.pem");
  writeFileSync(ca, tls.cert);
  const endpoint = `${await serve(t, tls)}/metal/v1`;
  const script = join(import.meta.dirname, "packet_client.py");
  const args = [script, endpoint, DEFAULT_TOKEN, DEFAULT_PROJECT.id];

  assert.deepEqual(await said(String(python), args, { REQUESTS_CA_BUNDLE: ca }), {
    ...{ user: "Simulated User", projects: [DEFAULT_PROJECT.id], plans: true, systems: true, facilities: true },
    ...{ metros: true, organizations: 1, facility: "ny5", all: 12, renamed: "renamed", key: "ours" },
    ...{ addresses: [1, true], bgp: [65_000, "ipv4"], vlans: 1, events: true, reservations: ["c3.small.x86"] },
    "spot prices": true,
  });
});

test("packngo 0.29.0 and equinix-sdk-go 0.42.0: devices, facilities, addresses, BGP, gateways, VLANs, reservations, events", {
  skip: program instanceof Error && program.message,
}, async (t) => {
  const base = `http://${await serve(t)}/metal/v1`;

  assert.deepEqual(await said(String(program), [base, DEFAULT_TOKEN, DEFAULT_PROJECT.id]), {
    packngo: {
      ...{ devices: 12, device: ["da1", "da", 1], address: true, neighbors: 1, reservations: 1 },
      ...{ systems: true, facilities: true, events: true },
    },
    sdk: { facility: "da1", assigned: true, listed: 1, asn: 65_000 },
  });
});
