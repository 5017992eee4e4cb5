/** The life of a KamajiControlPlane whose tenant runs in another cluster, and of its worker: two APIs, an operator at each, in one virtual time. */
import assert from "node:assert/strict";
import { quietLog as log } from "@slipway/base";
import { createClient, createManager } from "@slipway/kube";
import { Namespace, Secret } from "@slipway/kube/core";
import { installCrds } from "../../src/kinds/install.ts";
import { kubeconfig } from "../../src/pki/kubeconfig.ts";
import { Waker } from "../../src/systems/cluster-api/wake.ts";
import { ForeignProvider } from "../../src/systems/foreign-provider.ts";
import { kamajiControlPlaneController } from "../../src/systems/kamaji-control-plane/controller.ts";
import { ExternalClusters } from "../../src/systems/kamaji-control-plane/external-clusters.ts";
import { kubeadmConfigController } from "../../src/systems/kubeadm-bootstrap/controller.ts";
import { UPSTREAM_SIGN } from "../../src/systems/kubeadm-bootstrap/names.ts";
import { kubeconfigOf } from "../../src/workload/kubeconfig-secret.ts";
import { WorkloadClusters } from "../../src/workload/workload-clusters.ts";
import { beginApi, type WorldApi } from "./api.ts";
import { ControlPlaneLife, MANAGEMENT_KINDS, runLife, tenantTransport } from "./control-plane-life.ts";
import { type Death, Mortal } from "./mortal.ts";
import { MINUTE, NAMESPACE, TenantLifeWorld } from "./tenant-life-world.ts";

const KUBECONFIG = "elsewhere";
const DEPLOYMENT = {
  externalClusterReference: {
    ...{ kubeconfigSecretName: KUBECONFIG, kubeconfigSecretKey: "value", deploymentNamespace: NAMESPACE },
  },
};

/** The operator of the management cluster: control planes and bootstrap data. Kamaji's kinds are not there. */
function startManagement(there: TenantLifeWorld, api: WorldApi, death?: Death): Mortal {
  const { clock, random } = there;
  const mortal = new Mortal(death);
  const transport = mortal.transport(there.transport("operator", api));
  const client = createClient(transport, { clock, random, log });
  const waker = new Waker();
  const external = new ExternalClusters(
    { clock, random, log, anyNamespace: false, open: () => mortal.transport(there.transport("administrator")) },
    (controlPlane) => waker.wake(controlPlane),
  );
  const workloads = new WorkloadClusters({
    ...{ clock, random, log, kubeconfig: (cluster) => kubeconfigOf(client, cluster) },
    open: () => mortal.transport(tenantTransport(there)),
  });
  const foreign = new ForeignProvider({ client, clock, sign: UPSTREAM_SIGN });
  const manager = createManager({ transport, clock, random, log, leaderElection: false });
  manager.add(kamajiControlPlaneController({ external, waker }));
  manager.add(kubeadmConfigController({ workloads, foreign, clock, random, onSecret: () => {} }));
  manager.start().catch(() => {});
  return mortal;
}

/** Who dies, and when: the operator of the management cluster, or that of the tenants. */
export interface ExternalDeath extends Death {
  of: "management" | "tenants";
}

/** A life as `lifeOfPlane`, over two clusters. Resolves with the effects of both operators. */
export async function lifeOfExternalPlane(
  death?: ExternalDeath,
): Promise<Readonly<Record<ExternalDeath["of"], number>>> {
  const there = await TenantLifeWorld.create();
  const { clock, random } = there;
  const api = await beginApi(clock, random);
  let management: Mortal | undefined;
  try {
    const client = createClient(there.transport("administrator", api), { clock, random, log });
    await there.passing(installCrds(client, clock, new AbortController().signal, MANAGEMENT_KINDS));
    await there.passing(client.create(Namespace, { metadata: { name: NAMESPACE } }));
    const value = kubeconfig({ name: KUBECONFIG, server: "https://elsewhere.invalid", token: "t" });
    await there.passing(
      client.create(Secret, {
        metadata: { name: KUBECONFIG, namespace: NAMESPACE },
        data: { value: Buffer.from(value).toString("base64") },
      }),
    );
    await there.dataStore("default");
    const tenants = await there.operator(death?.of === "tenants" ? death : undefined);
    const first = startManagement(there, api, death?.of === "management" ? death : undefined);
    management = first;
    let isReplaced = false;
    const replaceDead = async (): Promise<void> => {
      if (isReplaced || !(tenants.dead || first.dead)) return;
      isReplaced = true;
      if (tenants.dead) await there.restart();
      else management = startManagement(there, api);
    };
    const until = (what: string, holds: () => Promise<boolean>): Promise<void> =>
      there.until(
        what,
        async () => {
          await replaceDead();
          await there.check();
          assert.ok((await there.tenants()).length <= 1, "no second tenant is made");
          return await holds();
        },
        2 * 60 * MINUTE,
      );
    await runLife(new ControlPlaneLife(there, { client, deployment: DEPLOYMENT }), until);
    const { items } = await there.passing(client.list(Secret, { namespace: NAMESPACE }));
    const left = items.map(({ metadata }) => metadata.name);
    assert.deepEqual(left, [KUBECONFIG], "of the management cluster's Secrets the user's alone is left");
    return { management: first.effects, tenants: tenants.effects };
  } finally {
    management?.kill();
    await there.close();
    await api.close();
  }
}
