import { isDeepStrictEqual } from "node:util";
import { asFault, type Clock, Fault, isFault, type Random } from "@slipway/base";
import {
  addFinalizer,
  type Client,
  type Context,
  type Controller,
  DONE,
  keyOf,
  type Outcome,
  type Ref,
  refOf,
  removeFinalizer,
  StatusRecord,
  source,
} from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { caHashes } from "../../bootstrap/kubeadm/ca-hash.ts";
import { needsToken } from "../../bootstrap/kubeadm/join-configuration.ts";
import { secretName } from "../../cluster-api/names.ts";
import { clusterOf, machineOf } from "../../cluster-api/owners.ts";
import { byClusterOf } from "../../cluster-api/shard-owner.ts";
import { Cluster } from "../../kinds/cluster-api/cluster.ts";
import { Machine } from "../../kinds/cluster-api/machine.ts";
import { KubeadmConfig } from "../../kinds/kubeadm/kubeadm-config.ts";
import type { WorkloadClusters } from "../../workload/workload-clusters.ts";
import { pauseShown } from "../cluster-api/pause-shown.ts";
import { Waker } from "../cluster-api/wake.ts";
import type { ForeignProvider } from "../foreign-provider.ts";
import { refuseUnserved, waitOf } from "./bootstrap-plan.ts";
import { configStatus, type Standing } from "./config-status.ts";
import { dataSecret, userDataOf } from "./data-secret.ts";
import { FINALIZER, KUBEADM_BOOTSTRAP } from "./names.ts";
import { LOOK_MS } from "./token-plan.ts";
import { keepToken, removeTokens, tokensOf } from "./tokens.ts";

/** Until the authority of a cluster is looked for again. */
const CA_MS = 10_000;

export interface BootstrapParts {
  workloads: WorkloadClusters;
  foreign: ForeignProvider;
  clock: Clock;
  random: Random;
  onSecret: (value: string) => void;
}

/** Gives each worker's KubeadmConfig its user data, and keeps its bootstrap token valid until the machine has joined. */
export function kubeadmConfigController(parts: BootstrapParts): Controller {
  const waker = new Waker();
  /** Configurations by the cluster that they were asked for. */
  const interests = new Map<string, Map<string, Ref>>();
  const left = (ref: Ref): void => {
    for (const refs of interests.values()) refs.delete(keyOf(ref));
  };
  return {
    name: "kubeadm-config",
    system: KUBEADM_BOOTSTRAP,
    workers: 32,
    owner: byClusterOf(KubeadmConfig),
    left,
    sources: [
      source({ resource: KubeadmConfig }),
      source({ resource: Machine, optional: true, keys: configOf }),
      source({
        resource: Cluster,
        optional: true,
        when: (cluster, before) => matters(cluster) !== matters(before),
        keys: (cluster, _, cache) =>
          cache
            .list(Machine, cluster.metadata.namespace)
            .filter(({ spec }) => spec.clusterName === cluster.metadata.name)
            .flatMap(configOf),
      }),
    ],
    access: [
      { resource: KubeadmConfig, verbs: ["get", "patch"] },
      { resource: KubeadmConfig, verbs: ["update"], subresource: "status" },
      { resource: Secret, verbs: ["get", "create", "patch"] },
    ],
    listen: waker.listen(() =>
      parts.workloads.onChange((cluster, node) => {
        if (node === undefined) for (const ref of interests.get(keyOf(cluster))?.values() ?? []) waker.wake(ref);
      }),
    ),
    async reconcile(ref, context) {
      const config = context.cache.get(KubeadmConfig, ref);
      if (config === undefined) {
        left(ref);
        return DONE;
      }
      const machine = machineOf(context.cache, config);
      const cluster = machine && clusterOf(context.cache, machine);
      if (cluster !== undefined) {
        const key = keyOf(refOf(cluster));
        interests.set(key, (interests.get(key) ?? new Map<string, Ref>()).set(keyOf(ref), ref));
      }
      if ((await parts.foreign.found()) !== undefined) return DONE;
      if (config.metadata.deletionTimestamp !== undefined) return await end(parts, context, config);
      if (await pauseShown(context, KubeadmConfig, config, cluster)) return DONE;
      return await keep(parts, context, { config, machine, cluster });
    },
  };
}

interface Keeping {
  config: KubeadmConfig;
  machine: Machine | undefined;
  cluster: Cluster | undefined;
}

/** The status is written whatever happens; a fault is retried after that. */
async function keep(parts: BootstrapParts, context: Context, of: Keeping): Promise<Outcome> {
  const { config } = of;
  const record = new StatusRecord(context, KubeadmConfig, config);
  const report = async (standing: Standing): Promise<void> => {
    await record.write(configStatus(config, standing, context.clock.now()));
  };
  try {
    const { standing, outcome } = await bootstrap(parts, context, of);
    if (standing !== undefined) await report(standing);
    return outcome;
  } catch (error) {
    if (context.signal.aborted || isFault(error, "Conflict", "NotLeader", "Undeclared")) throw error;
    await report({ is: "failed", fault: asFault(error, `KubeadmConfig/${config.metadata.name}`) });
    throw error;
  }
}

type Step = { standing: Standing | undefined; outcome: Outcome };
const waits = (what: string, againAfterMs?: number): Step => ({
  standing: { is: "waits", for: what },
  outcome: againAfterMs === undefined ? DONE : { againAfterMs },
});

async function bootstrap(
  parts: BootstrapParts,
  context: Context,
  { config, machine, cluster }: Keeping,
): Promise<Step> {
  const missing = waitOf(machine, cluster);
  if (machine === undefined || cluster === undefined || missing !== undefined) return waits(missing ?? "its Machine");
  refuseUnserved(config, machine);
  const version = versionOf(machine);
  const session = parts.workloads.of(cluster);
  const { client } = session;
  if (client === undefined)
    return waits(`the API of Cluster ${cluster.metadata.name}: ${session.why ?? "no answer yet"}`);
  const ca = await context.client.find(Secret, at(config, secretName(cluster.metadata.name, "ca")));
  const pem = Buffer.from(ca?.data?.["tls.crt"] ?? "", "base64").toString();
  // Secrets are not watched.
  if (pem === "") return waits(`Secret ${secretName(cluster.metadata.name, "ca")} with the key tls.crt`, CA_MS);
  if (config.metadata.finalizers?.includes(FINALIZER) !== true) {
    await addFinalizer(context.client, KubeadmConfig, config, FINALIZER);
    return { standing: undefined, outcome: DONE };
  }
  const hasJoined = machine.status?.nodeRef !== undefined;
  const isWritten = config.status?.initialization?.dataSecretCreated === true;
  const token = needsToken(config.spec.joinConfiguration ?? {})
    ? await keepToken(client, config, { ...parts, hasJoined, isWritten })
    : "";
  const written: Standing = { is: "written", secret: config.metadata.name };
  if (!isWritten && token !== undefined) {
    const { host, port } = cluster.spec.controlPlaneEndpoint as { host: string; port: number };
    const endpoint = `${host.includes(":") ? `[${host}]` : host}:${port}`;
    const userData = await userDataOf(context.client, config, { version, endpoint, caHashes: caHashes(pem), token });
    await create(context.client, config, cluster.metadata.name, userData);
  }
  return { standing: written, outcome: hasJoined ? DONE : { againAfterMs: LOOK_MS } };
}

function versionOf({ metadata, spec: { version } }: Machine): string {
  if (version !== undefined) return version;
  throw new Fault("MissingInput", `Machine/${metadata.name}`, "spec.version is missing", {
    remedy: "set the version of Kubernetes that the machine is to run, such as v1.34.2",
  });
}

/** A Secret that another pass has created is given these data: no machine has read it yet, and its token may be gone. A foreign one is refused. */
async function create(client: Client, config: KubeadmConfig, cluster: string, userData: string): Promise<void> {
  const draft = dataSecret(config, cluster, userData);
  try {
    await client.create(Secret, draft);
  } catch (error) {
    if (!isFault(error, "AlreadyExists")) throw error;
    const ref = at(config, config.metadata.name);
    const held = await client.find(Secret, ref);
    if (!held?.metadata.ownerReferences?.some(({ uid }) => uid === config.metadata.uid))
      throw new Fault("Refused", `Secret/${config.metadata.name}`, "it belongs to something else", {
        remedy: "delete it, or give the KubeadmConfig another name",
      });
    if (isDeepStrictEqual(held.data, draft.data)) return;
    const { resourceVersion } = held.metadata;
    await client.patch(Secret, ref, { type: "merge", body: { metadata: { resourceVersion }, data: draft.data } });
  }
}

/** Removes the token, where the cluster still answers: it ends by itself otherwise. */
async function end(parts: BootstrapParts, context: Context, config: KubeadmConfig): Promise<Outcome> {
  if (config.metadata.finalizers?.includes(FINALIZER) !== true) return DONE;
  const name = config.metadata.labels?.["cluster.x-k8s.io/cluster-name"];
  const cluster = name === undefined ? undefined : context.cache.get(Cluster, at(config, name));
  const session = cluster && parts.workloads.of(cluster);
  if (session?.client !== undefined && session.isReached)
    await removeTokens(session.client, await tokensOf(session.client, config));
  await removeFinalizer(context.client, KubeadmConfig, config, FINALIZER);
  return DONE;
}

const at = ({ metadata: { namespace } }: KubeadmConfig, name: string): Required<Ref> => ({
  namespace: namespace!,
  name,
});

function configOf({ metadata, spec }: Machine): Ref[] {
  const { kind, name } = spec.bootstrap?.configRef ?? {};
  return kind === KubeadmConfig.kind && name !== undefined ? [{ namespace: metadata.namespace!, name }] : [];
}

/** What of a Cluster a configuration looks at. */
const matters = ({ spec, status }: Cluster): string =>
  JSON.stringify([spec.paused, spec.controlPlaneEndpoint, status?.initialization]);
