/** `slipway netboot` in this process, with a cluster and without. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { CustomResourceDefinition, Lease, Namespace } from "@slipway/kube/core";
import { verb as netboot } from "./netboot.ts";
import { freePort, going, servedCluster, spoken, until } from "./testing.ts";

const [on] = Object.entries(networkInterfaces()).find(([, of]) =>
  of?.some(({ family, internal }) => family === "IPv4" && !internal),
) ?? [""];
const skip = on === "" && "no interface of this machine has an IPv4 address";

async function place(t: TestContext) {
  const dir = mkdtempSync(join(tmpdir(), "slipway-nb-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const config = join(dir, "netboot.yaml");
  writeFileSync(config, JSON.stringify({ http: { port: await freePort(), tlsPort: await freePort() } }));
  const state = join(dir, "state");
  const args = ["netboot", "--dhcp", "off", "--interface", on, "--config", config, "--dir", state];
  return { state, args: [...args, "--assets", join(dir, "assets"), "--namespace", "rack", "--log-level", "error"] };
}

test("a dry run says what would be served, and opens and makes nothing", { skip }, async (t) => {
  const { args, state } = await place(t);
  const { out, code } = await spoken(t, netboot, ...args, "--dry-run", "--no-kubernetes");
  assert.match(out, new RegExp(`^interface  ${on} `));
  assert.equal(code, 0);
  assert.equal(existsSync(state), false);
});

for (const [what, more, made] of [
  ["puts hosts' kinds and their namespace on the cluster, and takes its lease there", [], [true, true]],
  ["leaves the kinds as they are with --no-install-crds", ["--no-install-crds"], [false, true]],
  ["takes no lease with --no-leader-election", ["--no-leader-election"], [true, false]],
] as const)
  test(`netboot ${what}`, { skip }, async (t) => {
    const { args, state } = await place(t);
    const { client, kubeconfig } = await servedCluster(t);
    if (!made[0]) await client.create(Namespace, { metadata: { name: "rack" } });
    const { stop } = going(t, netboot, ...args, "--kubeconfig", kubeconfig, ...more);
    const leases = async () => (await client.list(Lease)).items.map(({ spec }) => spec?.holderIdentity ?? "");
    const facts = async () => [
      (await client.find(CustomResourceDefinition, { name: "baremetalhosts.metal3.io" })) !== undefined,
      (await leases()).some((holder) => holder !== ""),
    ];
    await until("the namespace is there", async () => (await client.find(Namespace, { name: "rack" })) !== undefined);
    await until(`the cluster is prepared: ${made}`, async () => (await facts()).join() === made.join());
    // Who leads names the replica whose leases are in the folder.
    const leads = made[0] && made[1];
    if (leads) await until("it leads", async () => existsSync(join(state, "replica")));
    assert.equal((await stop()).code, 0);
    if (leads)
      assert.ok(
        (await leases()).every((holder) => holder === ""),
        "the lease is given back",
      );
  });
