/** The demo's acts, each on a laptop that simulates the hardware. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { quietLog, Secrets, systemClock } from "@slipway/base";
import { BareMetalHost } from "../kinds/metal3/bare-metal-host.ts";
import { SYSTEMS } from "../operator/systems.ts";
import type { Act, ActPorts } from "../systems/act.ts";
import type { StandInHardware } from "../systems/counterpart.ts";
import { startLaptop } from "./laptop.ts";
import { readManifests } from "./manifests.ts";

async function hardware(): Promise<Record<string, StandInHardware>> {
  const { hardware } = (await SYSTEMS.find(({ name }) => name === "netboot")!.ownHardware!())!;
  return { netboot: hardware };
}

async function actOf(system: string): Promise<Act> {
  return (await SYSTEMS.find(({ name }) => name === system)!.act!()).act;
}

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const manifests: ActPorts["manifests"] = (folder, isWanted) => readManifests(join(ROOT, folder), isWanted);
const USUAL = { host: "127.0.0.1", port: 0, kubernetes: "embedded", counterparts: [], log: quietLog } as const;

/** What an act shows at its end, and what it told on its way. */
async function played(t: TestContext, system: string) {
  const secrets = new Secrets();
  const laptop = await startLaptop({ ...USUAL, dir: undefined, secrets, speed: 2_000, hardware: await hardware() });
  t.after(() => laptop.close());
  const { client } = laptop;
  const steps: string[] = [];
  const ports = { client, manifests, clock: systemClock, signal: AbortSignal.timeout(5 * 60_000) };
  const result = await (await actOf(system)).play({ ...ports, tell: (step) => void steps.push(step) });
  return { client, steps, ...result };
}

test("two SIPClusters take the hosts of a Vino at once, one grows by what the other gives back, both go, and nothing is left", async (t) => {
  const { heads, rows, steps } = await played(t, "vino");
  assert.deepEqual(heads, ["HOST", "NODE", "AT ONCE", "GROWN, SHRUNK", "BOTH GONE"]);
  assert.equal(rows.length, 8);
  const served = (column: number) => Object.groupBy(rows, (row) => row[column]!);
  const counts = (column: number) =>
    Object.fromEntries(Object.entries(served(column)).map(([who, those]) => [who, those!.length]));
  assert.deepEqual(counts(2), { one: 2, two: 4, free: 2 });
  assert.deepEqual(counts(3), { one: 4, two: 3, free: 1 });
  assert.deepEqual(counts(4), { free: 8 });
  const changed = rows.filter((row) => row[2] === "two" && row[3] === "one");
  const grown = rows.filter((row) => row[3] === "one" && row[2] !== "one");
  assert.equal(grown.length, 2);
  assert.equal(changed.length, 1, "one of its two new workers was given back by the other");
  assert.equal(steps.length, 4);
});

test("N45 N47 the manifests of 2019 become Machines that run, on hosts that are trusted as first seen, and the hosts are free again", async (t) => {
  const { client, heads, rows, steps } = await played(t, "plunder");
  assert.match(steps[0]!, /^trust policy first-seen; .*v1\.14\.2, simulated$/);
  assert.deepEqual(heads.slice(0, 3), ["MACHINE", "TRUST POLICY", "VERSION"]);
  assert.deepEqual(
    rows.map(([machine, trust, , phases, id, node, event]) => [
      machine,
      trust,
      phases!.split(", ").at(-1),
      id!.slice(0, 10),
      node,
      event,
    ]),
    ["controlplane", "worker"].map((name) => {
      return [name, "first-seen", "running", "plunder://", name, "PlunderDelete: Machine removed succesfully"];
    }),
  );
  for (const { spec } of (await client.list(BareMetalHost)).items)
    assert.deepEqual([spec.consumerRef, spec.customDeploy, spec.bmc?.address], [undefined, undefined, undefined]);
});

test("an act that is stopped ends, with the reason", async (t) => {
  const laptop = await startLaptop({ ...USUAL, dir: undefined, secrets: new Secrets(), speed: 1 });
  t.after(() => laptop.close());
  const stop = new AbortController();
  const act = await actOf("vino");
  const tell = (): void => stop.abort(new Error("stopped by its user"));
  await assert.rejects(
    act.play({ client: laptop.client, manifests, clock: systemClock, signal: stop.signal, tell }),
    (error: Error) => error.name === "AbortError" || /stopped by its user/.test(error.message),
  );
});
