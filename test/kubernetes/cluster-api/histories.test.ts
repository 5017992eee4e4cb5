/**
 * The Packet example's life under the light core and under upstream's: each object has the same courses of conditions, and objects come and go in
 * the same order, except for what `histories/ledger.ts` explains.
 */
import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { quietLog, Secrets } from "@slipway/base";
import { type Client, isTrue, type Transport } from "@slipway/kube";
import { Cluster } from "../../../src/kinds/cluster-api/cluster.ts";
import { Machine } from "../../../src/kinds/cluster-api/machine.ts";
import { MachineDeployment } from "../../../src/kinds/cluster-api/machine-deployment.ts";
import { MachineSet } from "../../../src/kinds/cluster-api/machine-set.ts";
import { KamajiControlPlane } from "../../../src/kinds/kamaji-control-plane/kamaji-control-plane.ts";
import { KubeadmConfig } from "../../../src/kinds/kubeadm/kubeadm-config.ts";
import { PacketCluster } from "../../../src/kinds/packet/packet-cluster.ts";
import { PacketMachine } from "../../../src/kinds/packet/packet-machine.ts";
import { applyObjects } from "../../../src/laptop/apply.ts";
import { startLaptop } from "../../../src/laptop/laptop.ts";
import { readManifests } from "../../../src/laptop/manifests.ts";
import { until } from "../live.ts";
import { programs } from "./clusterctl.ts";
import { askedBeforeGone, coursesOf, differencesOf, type History, note, orderOf } from "./histories/history.ts";
import { LEDGER } from "./histories/ledger.ts";
import { plantedIn } from "./histories/planted.ts";
import { startProviders, startUpstream, UPSTREAM_PROGRAMS } from "./upstream.ts";

const QUICKSTART = { namespace: "default", name: "capi-quickstart" };
const WITHIN_MS = 180_000;
/** Slow enough for each state to be seen by a core that looks once a second. */
const SPEED = 60;
const MOST_LIVES = 3;
/** Those whose conditions a core or the bootstrap provider writes. */
const WRITTEN = [Cluster, MachineDeployment, MachineSet, Machine, KubeadmConfig];
const KINDS = [...WRITTEN, PacketCluster, PacketMachine, KamajiControlPlane];
const names = (kinds: readonly { kind: string }[]): string[] => kinds.map(({ kind }) => kind);
const folder = await programs(...UPSTREAM_PROGRAMS);
const skip = folder instanceof Error && folder.message;

interface At {
  client: Client;
  transport: Transport;
}

/** The example made, running, and taken down again. */
async function life(at: At): Promise<History> {
  const { client } = at;
  const history: History = new Map();
  const stopping = new AbortController();
  const watches = KINDS.map(async (kind) => {
    const stream = await client.watch(kind as typeof Cluster, { resourceVersion: "0", signal: stopping.signal });
    for await (const { type, object } of stream)
      if (type !== "BOOKMARK") note(history, kind.kind, type, object as never);
  });
  const story = (): string => JSON.stringify([...coursesOf([history], names(KINDS), [])], undefined, 1);
  await applyObjects(at, await readManifests("examples/packet-kamaji"));
  await until(
    "the cluster is available with three running machines",
    async () => {
      const running = (await client.list(Machine)).items.filter(({ status }) => status?.phase === "Running");
      const cluster = await client.find(Cluster, QUICKSTART);
      return isTrue(cluster?.status?.conditions, "Available") && running.length === 3;
    },
    WITHIN_MS,
    story,
  );
  await client.delete(Cluster, QUICKSTART);
  await until(
    "everything is gone",
    () => [...history.values()].every(({ gone }) => gone !== undefined),
    WITHIN_MS,
    () => [...history.values()].flatMap(({ gone, kind, name }) => (gone === undefined ? `${kind}/${name}` : [])).join(),
  );
  stopping.abort();
  await Promise.allSettled(watches);
  return history;
}

async function underLight(t: TestContext): Promise<At> {
  const laptop = await startLaptop({
    ...{ kubernetes: "embedded", dir: undefined, host: "127.0.0.1", port: 0, speed: SPEED, counterparts: [] },
    ...{ log: quietLog, secrets: new Secrets() },
  });
  t.after(() => laptop.close());
  return laptop;
}

async function underUpstream(t: TestContext): Promise<At> {
  const management = await startUpstream(t, String(folder));
  const { client } = await startProviders(t, management, { speed: SPEED });
  return { client, transport: management.transport };
}

const differences = (light: readonly History[], upstream: readonly History[]): string[] =>
  differencesOf({ light, upstream }, names(WRITTEN), LEDGER);

describe("histories", { skip }, () => {
  test("the Packet example lives the same life under both cores", async (t) => {
    const [one, other] = [await underLight(t), await underUpstream(t)];
    const [light, upstream]: [History[], History[]] = [[], []];
    // On a busy machine a state may be passed unseen: what differs may be lived once more.
    for (let lives = 0; lives < MOST_LIVES && (lives === 0 || differences(light, upstream).length > 0); lives++) {
      const [ours, theirs] = [await life(one), await life(other)];
      assert.deepEqual(orderOf(ours, names(KINDS)), orderOf(theirs, names(KINDS)));
      // The control plane stands as long as there are Machines to be drained, the infrastructure as long as there is a control plane.
      // A KubeadmConfig of Slipway's has a finalizer, since its token is taken back; upstream's are gone when they are asked to go.
      const asked = (history: History, first: string) =>
        askedBeforeGone(history, first).filter((kind) => kind !== KubeadmConfig.kind);
      for (const first of ["Machine", "KamajiControlPlane"])
        assert.deepEqual(asked(ours, first), asked(theirs, first), `asked to go before the last ${first} was gone`);
      light.push(ours);
      upstream.push(theirs);
    }
    assert.equal(differences(light, upstream).join("\n"), "");
    // What would differ is found: the same histories with one state changed, for each condition that is compared.
    for (const key of coursesOf(light, names(WRITTEN), LEDGER).keys())
      assert.ok(
        differences(plantedIn(light, key), upstream).some((difference) => difference.startsWith(`${key}\n`)),
        `a planted state of ${key} is not found`,
      );
  });
});
