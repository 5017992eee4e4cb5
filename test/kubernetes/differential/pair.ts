import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApiServer } from "@slipway/apiserver";
import { EXTRAS } from "@slipway/apiserver/extras";
import { systemClock as clock, quietLog, cryptoRandom as random } from "@slipway/base";
import { laptopIdentity } from "../../../src/laptop/identity.ts";
import { startCluster } from "../cluster.ts";
import { namespaceOf } from "./compare.ts";
import { type Speaker, speakerTo } from "./speaker.ts";
import { type Family, post } from "./step.ts";

/** What the embedded API does by itself, the real one's controller manager does. Workloads are nobody's: their objects stand still on both. */
const CONTROLLERS = [
  "garbage-collector-controller",
  "namespace-controller",
  "serviceaccount-controller",
  "serviceaccount-token-controller",
  "root-ca-certificate-publisher-controller",
  "clusterrole-aggregation-controller",
];

/** kube-apiserver with etcd beside the embedded API, each reached over TLS by its administrator. */
export interface Pair {
  real: Speaker;
  ours: Speaker;
  close(): Promise<void>;
}

/** Starts both. */
export async function startPair(): Promise<Pair> {
  const cluster = await startCluster({ controllers: CONTROLLERS });
  const identity = await laptopIdentity(undefined, "127.0.0.1", clock);
  const authority = identity.serving.clientCa!;
  const api = await createApiServer({ extras: EXTRAS, clock, random, log: quietLog, authority });
  const { url } = await api.listen({ tls: identity.serving });
  const dir = await mkdtemp(join(tmpdir(), "slipway-differential-"));
  const file = join(dir, "kubeconfig");
  await writeFile(file, identity.kubeconfig(url), { mode: 0o600 });
  const [real, ours] = [await speakerTo(cluster.plane.kubeconfigFile), await speakerTo(file)];
  return {
    real,
    ours,
    async close() {
      await Promise.all([real.close(), ours.close()]);
      await api.close();
      await cluster.close();
      await rm(dir, { recursive: true });
    },
  };
}

/** Makes the family's Namespace on both and waits for its default ServiceAccount. */
export async function prepare(family: Family, { real, ours }: Pair): Promise<void> {
  const name = namespaceOf(family);
  for (const server of [real, ours]) {
    await server.take({ ask: post("/api/v1/namespaces", { metadata: { name } }) }, {});
    const account = { method: "GET", path: `/api/v1/namespaces/${name}/serviceaccounts/default` } as const;
    await server.take({ ask: account, until: ({ status }) => status === 200 }, {});
    const authority = { method: "GET", path: `/api/v1/namespaces/${name}/configmaps/kube-root-ca.crt` } as const;
    await server.take({ ask: authority, until: ({ status }) => status === 200 }, {});
  }
}
