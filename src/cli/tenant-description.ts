/** A tenant as `slipway describe` shows it: what is read of it. `tenant-lines.ts` puts it into lines. */
import { X509Certificate } from "node:crypto";
import { asFault, type Clock, deadline, Fault } from "@slipway/base";
import type { Client, Transport } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { DataStore } from "../kinds/kamaji/data-store.ts";
import { TenantControlPlane } from "../kinds/kamaji/tenant-control-plane.ts";
import { credentialsOf } from "../pki/tenant/credentials.ts";
import { LIFECYCLE_LABEL, TENANT_LABEL } from "../systems/kamaji/names.ts";

/** A certificate of a tenant; `ends`: ms since 1970. */
export interface ShownCertificate {
  secret: string;
  file: string;
  ends: number;
}

/** What a tenant's own API says. */
export interface Inside {
  version: string;
  /** By component: `ready`, or what is wrong with it. */
  components: readonly { name: string; is: string }[];
  /** What Slipway has put into it. */
  addons: readonly { name: string; ready: number; wanted: number; version: string }[];
  nodes: readonly { name: string; is: string; kubelet: string }[];
}

export interface TenantFacts {
  tenant: TenantControlPlane;
  /** Unset: it does not exist. */
  store?: DataStore;
  certificates: readonly ShownCertificate[];
  /** Or why it was not asked. */
  inside: Inside | string;
}

/** How the tenant's own API is reached. */
export interface Reaching {
  clock: Clock;
  open: (at: { server: string; ca: string; cert: string; key: string }) => Transport;
}

const ASK_MS = 5_000;

/** Reads all that is shown. Rejects with `NotFound` where there is no such tenant. */
export async function readTenant(
  client: Client,
  { namespace, name }: { namespace: string; name: string },
  reaching: Reaching,
): Promise<TenantFacts> {
  const tenant = await client.find(TenantControlPlane, { namespace, name });
  if (tenant === undefined)
    throw new Fault("NotFound", `${namespace}/${name}`, "there is no such tenant", {
      remedy: "see kubectl get tcp -A",
    });
  const storeName = tenant.status?.storage?.dataStoreName || tenant.spec.dataStore;
  const store = storeName ? await client.find(DataStore, { name: storeName }) : undefined;
  const labelSelector = `${TENANT_LABEL}=${name},${LIFECYCLE_LABEL}`;
  const { items: secrets } = await client.list(Secret, { namespace, labelSelector });
  const admin = secrets.find(({ metadata }) => metadata.name === tenant.status?.kubeconfig?.admin?.secretName);
  return {
    tenant,
    ...(store !== undefined && { store }),
    certificates: secrets.flatMap(certificatesOf).sort((a, b) => a.ends - b.ends),
    inside: isAsleep(tenant)
      ? `none run: it sleeps; kubectl scale tcp ${name} --namespace ${namespace} --replicas 1 wakes it`
      : await insideOf(textOf(admin, "admin.conf"), reaching),
  };
}

function isAsleep({ status }: TenantControlPlane): boolean {
  return status?.kubernetesResources?.version?.status === "Sleeping";
}

function textOf(secret: Secret | undefined, key: string): string {
  return Buffer.from(secret?.data?.[key] ?? "", "base64").toString("utf8");
}

/** Copies under a second name (`tls.crt`) and what others signed (`ca.crt` beside a leaf) are shown once, by the first name. */
function certificatesOf(secret: Secret): ShownCertificate[] {
  const seen = new Set<string>();
  return Object.keys(secret.data ?? {}).flatMap((file) => {
    const text = textOf(secret, file);
    const pem = text.startsWith("-----BEGIN CERTIFICATE") ? text : credentialsOf(text)?.certificatePem;
    if (pem === undefined || seen.has(pem)) return [];
    seen.add(pem);
    return [{ secret: secret.metadata.name, file, ends: endOf(pem) }];
  });
}

/** NaN for what is no certificate. */
function endOf(pem: string): number {
  try {
    return Date.parse(new X509Certificate(pem).validTo);
  } catch {
    return Number.NaN;
  }
}

async function insideOf(kubeconfig: string, { clock, open }: Reaching): Promise<Inside | string> {
  const found = credentialsOf(kubeconfig);
  if (found === undefined) return "it has no kubeconfig yet";
  const transport = open({ server: found.server, ca: found.caPem, cert: found.certificatePem, key: found.keyPem });
  const { signal, done } = deadline(clock, ASK_MS);
  try {
    const get = async (path: string): Promise<unknown> => {
      const { status, body } = await transport.request({ method: "GET", path, signal });
      if (status >= 300) throw new Fault("Unavailable", path, `the answer was ${status}`);
      return body;
    };
    const { gitVersion = "" } = (await get("/version")) as { gitVersion?: string };
    const leases = (await get("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases")) as List<Lease>;
    const nodes = (await get("/api/v1/nodes")) as List<Node>;
    const workloads = await Promise.all(
      ["deployments", "daemonsets"].map(async (plural) => {
        const { items = [] } = (await get(`/apis/apps/v1/namespaces/kube-system/${plural}`)) as List<Workload>;
        return items;
      }),
    );
    return {
      version: gitVersion,
      components: LED.map((name) => ({ name, is: leaderOf(leases, name, clock.now()) })),
      addons: workloads
        .flat()
        .filter(({ metadata }) => ADDONS.has(metadata.name))
        .map(shownAddon),
      nodes: (nodes.items ?? []).map(shownNode),
    };
  } catch (error) {
    return `${found.server} does not answer: ${asFault(error, found.server).message}`;
  } finally {
    done();
    await transport.close();
  }
}

interface List<T> {
  items?: T[];
}
interface Lease {
  metadata: { name: string };
  spec?: { renewTime?: string; leaseDurationSeconds?: number };
}
interface Node {
  metadata: { name: string };
  status?: {
    nodeInfo?: { kubeletVersion?: string };
    conditions?: { type: string; status: string; message?: string }[];
  };
}

interface Workload {
  metadata: { name: string };
  spec?: { replicas?: number; template?: { spec?: { containers?: { image?: string }[] } } };
  /** Of a Deployment, or of a DaemonSet. */
  status?: { readyReplicas?: number; numberReady?: number; desiredNumberScheduled?: number };
}

const ADDONS = new Set(["coredns", "kube-proxy", "konnectivity-agent"]);

function shownAddon({ metadata, spec, status }: Workload): Inside["addons"][number] {
  const image = spec?.template?.spec?.containers?.[0]?.image ?? "";
  return {
    name: metadata.name,
    ready: status?.readyReplicas ?? status?.numberReady ?? 0,
    wanted: spec?.replicas ?? status?.desiredNumberScheduled ?? 0,
    version: /:([^:/@]+)(@.*)?$/.exec(image)?.[1] ?? "",
  };
}

/** Components that say by a Lease that they work. */
const LED = ["kube-controller-manager", "kube-scheduler"];
const LEASE_S = 15;

function leaderOf({ items = [] }: List<Lease>, name: string, now: number): string {
  const lease = items.find(({ metadata }) => metadata.name === name);
  if (lease?.spec?.renewTime === undefined) return "has never led";
  const ageS = Math.round((now - Date.parse(lease.spec.renewTime)) / 1000);
  return ageS <= 2 * (lease.spec.leaseDurationSeconds ?? LEASE_S) ? "ready" : `was last seen ${ageS} s ago`;
}

function shownNode({ metadata, status }: Node): Inside["nodes"][number] {
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  const is = ready?.status === "True" ? "Ready" : `NotReady${ready?.message ? `: ${ready.message}` : ""}`;
  return { name: metadata.name, is, kubelet: status?.nodeInfo?.kubeletVersion ?? "" };
}
