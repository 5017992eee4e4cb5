/** `clusterctl describe cluster`, the real one, against what `slipway up` runs. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { quietLog, Secrets, systemClock } from "@slipway/base";
import { isTrue } from "@slipway/kube";
import { readCluster } from "../../../src/cli/cluster-description.ts";
import { clusterLines } from "../../../src/cli/cluster-tree.ts";
import { Cluster } from "../../../src/kinds/cluster-api/cluster.ts";
import { applyObjects } from "../../../src/laptop/apply.ts";
import { startLaptop } from "../../../src/laptop/laptop.ts";
import { readManifests } from "../../../src/laptop/manifests.ts";
import { until } from "../live.ts";
import { clusterctlOf, kubeconfigIn, programs, scratch } from "./clusterctl.ts";

const NAME = "capi-quickstart";
const folder = await programs("clusterctl");
const skip = folder instanceof Error && folder.message;

/** Lines without what differs from run to run: names of Machines, ages, widths. */
const shapeOf = (text: string): string[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) =>
      line
        .replaceAll(/(worker-a)-[a-z0-9]{5}(-[a-z0-9]{5})?\b/g, "$1-*")
        .replaceAll(/\b(\d+[smh])+\b/g, "*")
        .replaceAll(/ {2,}/g, "  ")
        .trimEnd(),
    );

const isTrueRow = (condition: string): string => `${condition}  True`;

describe("clusterctl describe", { skip }, () => {
  test("A1 both forms print the documented tree of the Packet example", async (t) => {
    const laptop = await startLaptop({
      ...{ kubernetes: "embedded", dir: undefined, host: "127.0.0.1", port: 0, speed: 400, counterparts: [] },
      ...{ log: quietLog, secrets: new Secrets() },
    });
    t.after(() => laptop.close());
    await applyObjects(laptop, await readManifests("examples/packet-kamaji"));
    const cluster = () => laptop.client.find(Cluster, { namespace: "default", name: NAME });
    await until(
      "the cluster is available",
      async () => isTrue((await cluster())?.status?.conditions, "Available"),
      120_000,
    );

    const dir = await scratch(t);
    const clusterctl = clusterctlOf(String(folder), dir);
    const kubeconfig = await kubeconfigIn(dir, "laptop", laptop.identity.kubeconfig(laptop.url));
    const drawn = async (...args: string[]) =>
      shapeOf((await clusterctl("describe", "cluster", NAME, "--kubeconfig", kubeconfig, ...args)).out);

    const tree = await drawn();
    assert.match(tree[0]!, /^NAME +REPLICAS +AVAILABLE +READY +UP TO DATE +STATUS +REASON +SINCE +MESSAGE$/);
    assert.deepEqual(tree.slice(1), [
      "Cluster default/capi-quickstart  5/5  5  5  5  True  Available  *",
      "├─KamajiControlPlane default/capi-equinix-control-plane, 1.27.0  2/2  2  2  2  True  Available  *",
      "├─PacketCluster default/capi-quickstart",
      "└─Workers",
      "  └─MachineDeployment default/capi-quickstart-worker-a, v1.27.0  3/3  3  3  3  True  Available  *",
      "  └─3 Machines...  3  3  3  True  Ready  *  See capi-quickstart-worker-a-*, capi-quickstart-worker-a-*, ...",
    ]);
    const old = await drawn("--v1beta2=false");
    assert.match(old[0]!, /^NAME +READY +SEVERITY +REASON +SINCE +MESSAGE$/);
    assert.deepEqual(old.slice(1), [
      "Cluster default/capi-quickstart  True  *",
      // The original has no Ready here, and the documentation's tree no word.
      "├─KamajiControlPlane default/capi-equinix-control-plane, 1.27.0 True  Ready  *",
      "├─PacketCluster default/capi-quickstart",
      "└─Workers",
      "  └─MachineDeployment default/capi-quickstart-worker-a, v1.27.0 True  *",
      "  └─3 Machines...  True  *  See capi-quickstart-worker-a-*, capi-quickstart-worker-a-*, ...",
    ]);
    // `slipway describe cluster` has the same rows with the same counters.
    const facts = await readCluster(laptop.client, { namespace: "default", name: NAME });
    assert.deepEqual(shapeOf(clusterLines(facts, systemClock.now()).join("\n")).slice(1), [
      "Cluster/capi-quickstart  5/5  5  5  5  Available: True  Available  *",
      "├─ClusterInfrastructure - PacketCluster/capi-quickstart",
      "├─ControlPlane - KamajiControlPlane/capi-equinix-control-plane  2/2  2  2  2  Available: True  Available  *",
      "└─Workers",
      "  └─MachineDeployment/capi-quickstart-worker-a  3/3  3  3  3  Available: True  Available  *",
      `  └─3 Machines...  Ready: True  Ready  *  See ${Array(3).fill("capi-quickstart-worker-a-*").join(", ")}`,
    ]);

    // Every condition that upstream's core shows of these kinds is there, and says that all is well.
    const all = (await drawn("--show-conditions", "all")).join("\n");
    for (const condition of [
      ...["Paused", "RollingOut", "ScalingUp", "ScalingDown", "Remediating", "Deleting"].map(
        (name) => `${name}  False`,
      ),
      ...["InfrastructureReady", "ControlPlaneInitialized", "ControlPlaneAvailable", "WorkersAvailable"].map(isTrueRow),
      ...["ControlPlaneMachinesReady", "ControlPlaneMachinesUpToDate", "WorkerMachinesReady"].map(isTrueRow),
      ...["WorkerMachinesUpToDate", "RemoteConnectionProbe", "Available", "MachinesReady", "MachinesUpToDate"].map(
        isTrueRow,
      ),
      ...["TenantControlPlaneCreated", "KamajiControlPlaneIsReady", "KubeadmResourcesCreated"].map(isTrueRow),
    ])
      assert.ok(all.includes(`─${condition}`), `${condition}\n${all}`);
    const allOld = (await drawn("--show-conditions", "all", "--v1beta2=false")).join("\n");
    for (const condition of ["ControlPlaneReady", "InfrastructureReady", "MachineSetReady"].map(isTrueRow))
      assert.ok(allOld.includes(`─${condition}`), `${condition}\n${allOld}`);
  });
});
