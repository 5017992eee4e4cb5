/** `slipway node-agent` in this process, on a cluster and without libvirt. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock as clock } from "@slipway/base";
import { Namespace } from "@slipway/kube/core";
import { installOwnCrds } from "../kinds/install.ts";
import { VinoNode } from "../kinds/vino/vino-node.ts";
import { node } from "../node-agent/testing.ts";
import { verb } from "./node-agent.ts";
import { freePort, going, servedCluster, spoken, until } from "./testing.ts";

function scratch(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "slipway-na-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test("without libvirt it serves, is ready, and says on the VinoNode what it waits for", async (t) => {
  const { client, kubeconfig } = await servedCluster(t);
  await installOwnCrds(client, clock, new AbortController().signal, [[VinoNode]]);
  await client.create(Namespace, { metadata: { name: "vino-system" } });
  const { spec } = node("a", []);
  await client.create(VinoNode, {
    metadata: { namespace: "vino-system", name: "a", labels: { "slipway.dev/node": "leviathan" } },
    spec,
  });
  const [folder, health] = [scratch(t), await freePort()];
  const args = ["--node", "leviathan", "--address", "127.0.0.1", "--redfish-port", "0", "--namespace", "vino-system"];
  const agent = going(
    t,
    verb,
    ...["node-agent", ...args, "--kubeconfig", kubeconfig, "--dir", folder, "--libvirt", join(folder, "none")],
    ...["--health-listen", `127.0.0.1:${health}`, "--log-level", "error"],
  );
  const ref = { namespace: "vino-system", name: "a" };
  await until("it says that it waits", async () => (await client.get(VinoNode, ref)).status?.waitingFor === "libvirt");
  const { status } = await client.get(VinoNode, ref);
  assert.match(status?.message ?? "", /libvirt does not answer: ENOENT; start libvirtd or virtqemud/);
  assert.equal((await fetch(`http://127.0.0.1:${health}/readyz`)).status, 200);
  assert.equal((await fetch(`http://127.0.0.1:${health}/other`)).status, 404);
  assert.equal((await agent.stop()).code, 0);
});

test("what is missing is named with a remedy, before anything is opened", async (t) => {
  await assert.rejects(spoken(t, verb, "node-agent", "--node", "a"), /the node's name or its address is not given/);
  await assert.rejects(spoken(t, verb, "node-agent", "--node", "a", "--address", "here"), /Give an address such as/);
  await assert.rejects(spoken(t, verb, "node-agent", "--address", "10.0.0.1"), /name or its address/);
});
