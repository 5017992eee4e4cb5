/** `slipway up` in this process: what it prints, what it keeps, and what it runs. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock as clock, isFault, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { createClient } from "@slipway/kube";
import { Node } from "@slipway/kube/core";
import { createHttpTransport, loadConnection } from "@slipway/kube/http";
import { linesOfLeftOvers, SIMULATED_NAMES } from "./laptop-options.ts";
import { going, spoken } from "./testing.ts";
import { verb as up } from "./up.ts";

const [SIMULATED = ""] = SIMULATED_NAMES;
const TITLE = SIMULATED.charAt(0).toUpperCase() + SIMULATED.slice(1);

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), "slipway-up-"));
  t.after(() => rmSync(dir, { recursive: true }));
  return dir;
}

/** Runs it in the folder until it is up; resolves with what it printed, and how many Nodes there are. */
async function printed(t: TestContext, dir: string, ...more: string[]): Promise<{ out: string; nodes: number }> {
  const { line, stop } = going(t, up, "up", "--dir", dir, "--port", "0", "--log-level", "error", ...more);
  await line(/^Ctrl-C stops it/);
  const transport = createHttpTransport(await loadConnection({ kubeconfig: join(dir, "kubeconfig"), env: {}, clock }));
  try {
    const nodes = (await createClient(transport, { clock, random, log }).list(Node)).items.length;
    const { out, code } = await stop();
    assert.equal(code, 0);
    return { out, nodes };
  } finally {
    await transport.close();
  }
}

test("it says where everything is, how it is used and how it ends, and keeps what is its owner's alone", async (t) => {
  const dir = folder(t);
  const { out, nodes } = await printed(t, dir);
  const url = String.raw`http:\/\/127\.0\.0\.1:\d+`;
  const lines = [
    String.raw`Kubernetes API   https:\/\/127\.0\.0\.1:[1-9]\d*`,
    `kubeconfig       ${dir}/kubeconfig`,
    String.raw`Equinix Metal    ${url}\/metal\/v1 \(simulated\)`,
    String.raw`Latitude         ${url} \(simulated\)`,
    String.raw`Console          http:\/\/127\.0\.0\.1:\d+ \(sign in with the kubeconfig\)`,
    "",
    `  export KUBECONFIG=${dir}/kubeconfig`,
    String.raw`  kubectl apply -f examples\/packet-kamaji\/`,
    "",
    `Machines of InstancePools find no cluster to join: start with --sim ${SIMULATED} for one\\.`,
    "",
    `Ctrl-C stops it; the state stays in ${dir}\\.`,
    "",
  ];
  assert.match(out, new RegExp(`^${lines.join("\\n")}$`));
  assert.equal(nodes, 0);
  assert.equal(statSync(join(dir, "kubeconfig")).mode & 0o777, 0o600);
  assert.match(readFileSync(join(dir, "kubeconfig"), "utf8"), /^current-context: slipway$/m);
});

test("with --sim a cluster is there, and without it later its leftovers are named, each with its command", async (t) => {
  const dir = folder(t);
  const { out, nodes } = await printed(t, dir, "--sim", SIMULATED);
  assert.match(out, new RegExp(String.raw`\n${TITLE} {8}https:\/\/127\.0\.0\.1:\d+ \(simulated\)\n`));
  assert.match(out, new RegExp(String.raw`\n {2}kubectl apply -f examples\/${SIMULATED}\/\n\nCtrl-C`));
  assert.equal(nodes, 3);
  const later = (await printed(t, dir)).out;
  assert.match(
    later,
    new RegExp(
      String.raw`\nA simulated ${TITLE} cluster ran on this state before, and stands still now\. --sim ${SIMULATED} goes on with it; to remove what is left of it:\n\n( {2}kubectl delete .*\n)+\nCtrl-C`,
    ),
  );
});

test("nothing is said of what is left where it is simulated again, or where nothing is", async () => {
  const client = { list: async () => ({ items: [] }), find: async () => undefined };
  assert.deepEqual(await linesOfLeftOvers(client as never, [SIMULATED]), []);
});

test("--repair is of the embedded API alone, and the folder stays as it was", async (t) => {
  const dir = join(folder(t), "new");
  await assert.rejects(
    spoken(t, up, "up", "--dir", dir, "--kubernetes", "real", "--repair"),
    (error) => isFault(error, "Invalid") && /^--repair: etcd keeps the objects/.test(error.advice),
  );
  assert.throws(() => statSync(dir), /ENOENT/);
});
