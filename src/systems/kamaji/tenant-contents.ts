/** What a tenant's cluster must hold so that nodes can join it, applied through its own API. */
import { createHash } from "node:crypto";
import { Fault } from "@slipway/base";
import type { Transport } from "@slipway/kube";
import type { Manifest } from "../../bootstrap/kubeadm/join-facts.ts";

const MANAGER = "slipway";

/** Plural names of the kinds that are applied; the value says whether they are in a namespace. */
const KINDS: Readonly<Record<string, readonly [plural: string, namespaced: boolean]>> = {
  ClusterRole: ["clusterroles", false],
  ClusterRoleBinding: ["clusterrolebindings", false],
  ConfigMap: ["configmaps", true],
  DaemonSet: ["daemonsets", true],
  Deployment: ["deployments", true],
  Role: ["roles", true],
  RoleBinding: ["rolebindings", true],
  Secret: ["secrets", true],
  Service: ["services", true],
  ServiceAccount: ["serviceaccounts", true],
  ValidatingAdmissionPolicy: ["validatingadmissionpolicies", false],
  ValidatingAdmissionPolicyBinding: ["validatingadmissionpolicybindings", false],
  ValidatingWebhookConfiguration: ["validatingwebhookconfigurations", false],
};

/** Its user's from the start: zones of their own stand in it (B20). */
const ONLY_MADE: ReadonlySet<string> = new Set(["ConfigMap/kube-system/coredns"]);

/** What a tenant must hold, and what it must no longer. */
export interface Contents {
  wanted: readonly Manifest[];
  unwanted?: readonly Manifest[];
  /** Of objects without a namespace that have these labels there are the wanted ones alone. */
  prune?: { apiVersion: string; kind: string; labels: Readonly<Record<string, string>> } | undefined;
}

/** Applies what a tenant must hold, each set of objects once. What others change in fields of their own stays. */
export class TenantContents {
  /** By tenant: what was applied last. An operator that starts anew applies it again, which changes nothing. */
  readonly #applied = new Map<string, string>();

  /** Applies `wanted` and removes `unwanted`. True: something was asked for. Rejects with the first refusal. */
  async fill(
    id: string,
    transport: Transport,
    { wanted, unwanted = [], prune }: Contents,
    signal: AbortSignal,
  ): Promise<boolean> {
    const digest = createHash("sha256")
      .update(JSON.stringify([wanted, unwanted, prune]))
      .digest("hex");
    if (this.#applied.get(id) === digest) return false;
    for (const object of unwanted) await remove(transport, object, signal);
    for (const object of wanted) await apply(transport, object, signal);
    if (prune !== undefined) await removeOthers(transport, wanted, prune, signal);
    this.#applied.set(id, digest);
    return true;
  }

  forget(id: string): void {
    this.#applied.delete(id);
  }
}

function pathOf({ apiVersion, kind, metadata }: Manifest): string {
  const [plural, namespaced] = KINDS[kind] ?? [];
  if (plural === undefined) throw new Fault("Bug", kind, "no kind that a tenant is filled with");
  const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return `${root}${namespaced ? `/namespaces/${metadata.namespace}` : ""}/${plural}`;
}

async function apply(transport: Transport, object: Manifest, signal: AbortSignal): Promise<void> {
  const { kind, metadata } = object;
  const path = pathOf(object);
  const isOnlyMade = ONLY_MADE.has(`${kind}/${metadata.namespace}/${metadata.name}`);
  const { status, body } = await transport.request(
    isOnlyMade
      ? { method: "POST", path, query: { fieldManager: MANAGER }, body: object, signal }
      : {
          ...{ method: "PATCH", path: `${path}/${metadata.name}`, query: { fieldManager: MANAGER, force: "true" } },
          ...{ contentType: "application/apply-patch+yaml", body: object, signal },
        },
  );
  if (status < 300 || (isOnlyMade && status === 409)) return;
  throw refusal(object, status, body);
}

async function remove(transport: Transport, object: Manifest, signal: AbortSignal): Promise<void> {
  const path = `${pathOf(object)}/${object.metadata.name}`;
  const { status, body } = await transport.request({ method: "DELETE", path, signal });
  if (status >= 300 && status !== 404) throw refusal(object, status, body);
}

async function removeOthers(
  transport: Transport,
  wanted: readonly Manifest[],
  { apiVersion, kind, labels }: NonNullable<Contents["prune"]>,
  signal: AbortSignal,
): Promise<void> {
  const path = pathOf({ apiVersion, kind, metadata: { name: "" } });
  const labelSelector = Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(",");
  const { status, body } = await transport.request({ method: "GET", path, query: { labelSelector }, signal });
  const listed = { apiVersion, kind, metadata: { name: "that are no longer wanted" } };
  if (status >= 300) throw refusal(listed, status, body);
  const names = new Set(wanted.filter((one) => one.kind === kind).map(({ metadata }) => metadata.name));
  const { items = [] } = body as { items?: { metadata: { name: string } }[] };
  for (const {
    metadata: { name },
  } of items)
    if (!names.has(name)) await remove(transport, { apiVersion, kind, metadata: { name } }, signal);
}

function refusal({ kind, metadata }: Manifest, status: number, body: unknown): Fault {
  const { message = "no reason given" } = (body ?? {}) as { message?: string };
  return new Fault(status === 403 ? "Forbidden" : "Unavailable", `${kind}/${metadata.name} in the tenant`, message);
}
