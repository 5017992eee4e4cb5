/** Virtual machines of a real libvirt by ViNO, a tenant on them by SIP: from an empty node to an empty node, as `slipway lab --vino` does it. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { systemClock as clock, quietLog as log, cryptoRandom as random, Secrets } from "@slipway/base";
import { diskImage, labVinoIn, VINO_PROGRAMS, vinoPlaces } from "../../src/cli/lab-vino.ts";
import { missingPackages } from "../../src/lab/programs.ts";
import { type Reached, runCourse } from "../../src/lab/vino/course.ts";
import { MANAGEMENT } from "../../src/lab/vino/node.ts";
import { type LabVinoParts, startLabVino } from "../../src/lab/vino/operator.ts";
import type { VinoView } from "../../src/lab/vino/view.ts";
import { applyObjects } from "../../src/laptop/apply.ts";
import { laptopIdentity } from "../../src/laptop/identity.ts";
import { type Stage, setStage } from "./stage.ts";

const lab = await labVinoIn("examples/lab-vino");
const places = await vinoPlaces(lab, process.env).catch((error: Error) => error);
const missing = await missingPackages(["bios"], process.env.PATH ?? "", { programs: VINO_PROGRAMS });
const skip = why();
/** Each step; emulated machines beside other work are slow. */
const PATIENCE_MS = 20 * 60_000;

function why(): string | false {
  if (places instanceof Error)
    return `${places.message}; run \`make kube-assets\`, \`make kube-assets NAMES=dex\` and \`make node-image FORM=disk\``;
  if (missing.length > 0) return `not installed: ${missing.join(" ")}`;
  return process.getuid?.() === 0 ? false : "libvirtd needs root";
}

let stage: Stage;
let parts: LabVinoParts;
before(async () => {
  if (skip !== false || places instanceof Error) return;
  stage = await setStage([], { trust: "approved", drivesHosts: true, files: places.files });
  const identity = await laptopIdentity(undefined, MANAGEMENT.lab, clock);
  const { url } = await stage.api.listen({ host: "127.0.0.1", tls: identity.serving });
  const api = { host: "127.0.0.1", port: Number(new URL(url).port) };
  const { transport, folder: dir } = stage;
  const given = { transport, api, kubeconfig: identity.kubeconfig, programs: places.programs, dir };
  const ports = { clock, random, log, secrets: new Secrets() };
  parts = await startLabVino(lab, { ...given, ...ports, slipway: ["bin/slipway"] });
});
after(async () => {
  await parts?.close();
  await stage?.close();
});

test("VINO-6 SIP-14 virtual machines of libvirt boot from netboot, a SIPCluster takes one, its tenant answers through the load balancer, users log in by Dex, it joins, and all goes", {
  skip,
}, async () => {
  assert.ok(!(places instanceof Error));
  const began = performance.now();
  const node = join(stage.folder, "node");
  const definitions = (): string[] => xmlIn(join(node, "etc/qemu"));
  const steps: Reached[] = [];
  const reached = async (step: Reached, { hosts }: VinoView): Promise<void> => {
    steps.push(step);
    if (step === "offered") assert.equal(definitions().length, lab.count);
    if (step === "joined")
      assert.equal(hosts.filter(({ status }) => status?.provisioning?.state === "provisioned").length, lab.workers);
  };
  let last = "";
  const tell = (line: string): void =>
    console.log(`${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s  ${line}`);
  await runCourse(lab, {
    ...{ client: parts.client, transport: stage.transport, apply: applyObjects, clock, random, log, reached, tell },
    ...{ image: await diskImage(places.files), signal: new AbortController().signal, patienceMs: PATIENCE_MS },
    show: (rows) => {
      const now = rows.map((row) => Object.values(row).join(" | ")).join("\n");
      if (now !== last) tell(`\n${now}`);
      last = now;
    },
  }).catch(async (error: unknown) => {
    console.log(await parts.node.lastWords());
    for (const file of logsIn(stage.folder)) console.log(`${file}:\n${readFileSync(file, "utf8").slice(-3_000)}`);
    throw error;
  });
  assert.deepEqual(steps, ["offered", "served", "logged-in", "joined", "released", "gone"]);
  assert.deepEqual(definitions(), []);
  assert.deepEqual(xmlIn(join(node, "etc/qemu/networks")), []);
  const pool = join(node, "lib/vino-pool");
  assert.deepEqual(existsSync(pool) ? readdirSync(pool) : [], []);
});

function xmlIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".xml")) : [];
}

function logsIn(folder: string): string[] {
  const pods = join(folder, "pods");
  const ofPods = existsSync(pods) ? readdirSync(pods).map((name) => join(pods, name, "log")) : [];
  return [join(folder, "node/libvirtd.log"), ...ofPods].filter((file) => existsSync(file));
}
