import assert from "node:assert/strict";
import { test } from "node:test";
import { createApiServer } from "@slipway/apiserver";
import { quietLog as log, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { type Client, createClient, type Ref } from "@slipway/kube";
import { CustomResourceDefinition } from "@slipway/kube/core";
import { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import type { KamajiControlPlane } from "../../kinds/kamaji-control-plane/kamaji-control-plane.ts";
import { ExternalClusters } from "./external-clusters.ts";

const HOUR = 3_600_000;
const KUBECONFIG = `
apiVersion: v1
kind: Config
clusters: [{ name: a, cluster: { server: "http://there.invalid" } }]
users: [{ name: a, user: { token: t } }]
contexts: [{ name: a, context: { cluster: a, user: a } }]
current-context: a
`;
const { group, version, kind, plural } = TenantControlPlane;
const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
const DEFINITION = {
  metadata: { name: `${plural}.${group}` },
  spec: {
    ...{ group, scope: "Namespaced", names: { kind, plural } },
    versions: [{ name: version, served: true, storage: true, schema }],
  },
};
const CONTROL_PLANE = {
  metadata: { name: "a-plane", namespace: "default", uid: "u" },
  spec: {
    deployment: {
      externalClusterReference: {
        kubeconfigSecretName: "there",
        kubeconfigSecretKey: "kubeconfig",
        deploymentNamespace: "tenants",
      },
    },
  },
} as unknown as KamajiControlPlane;

test("a cluster without TenantControlPlanes is waited for by the definition: the control plane is woken, and it is seldom asked for else", async (t) => {
  const [clock, random] = [new VirtualClock(), seededRandom(1)];
  const there = await createApiServer({ clock, random, log });
  t.after(() => there.close());
  let asked = 0;
  const woken: Ref[] = [];
  const open = () => {
    const direct = there.transport();
    return {
      ...{ request: direct.request, close: direct.close },
      watch: (...request: Parameters<typeof direct.watch>) => {
        if (request[0].path.endsWith("tenantcontrolplanes")) asked++;
        return direct.watch(...request);
      },
    };
  };
  const clusters = new ExternalClusters({ clock, random, log, anyNamespace: false, open }, (ref) => woken.push(ref));
  const secret = { data: { kubeconfig: Buffer.from(KUBECONFIG).toString("base64") } };
  const here = { find: async () => secret } as unknown as Pick<Client, "find">;
  const passing = async <T>(work: Promise<T>): Promise<T> => {
    let isSettled = false;
    const done = work.finally(() => {
      isSettled = true;
    });
    done.catch(() => {});
    assert.ok(await clock.run(HOUR, () => isSettled), "it does not end");
    return done;
  };
  const home = () => passing(clusters.home(here, CONTROL_PLANE, "a"));
  await assert.rejects(home(), { code: "NotFound", message: /serves no TenantControlPlanes/ });
  await clock.run(HOUR);
  asked = 0;
  await clock.run(2 * HOUR);
  // Between 5 and 10 minutes apart, in case that what serves it has no definition.
  assert.ok(asked <= 24, `${asked} times in two hours`);
  assert.deepEqual(woken, []);
  const client = createClient(there.transport(), { clock, random, log });
  await passing(client.create(CustomResourceDefinition, DEFINITION as never));
  await clock.run(20_000);
  assert.deepEqual(woken, [{ name: "a-plane", namespace: "default" }]);
  assert.equal((await home()).ref.name, "a");
  await passing(clusters.close());
});
