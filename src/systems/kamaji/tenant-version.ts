/** Which version a tenant runs now, and what is looked at before it goes up by a minor (B16). */
import { asFault, Fault } from "@slipway/base";
import { isTrue, type Transport } from "@slipway/kube";
import type { CompleteTenant } from "../../kinds/kamaji/defaults.ts";
import { minorsBetween, parseKubernetesVersion } from "../../kinds/kamaji/version.ts";
import type { Runtime } from "../../tenants/runtime.ts";
import { WITHOUT_APIS } from "./names.ts";
import { isSameRelease, minorsBefore, nodeProblems, removedApis, stepTo } from "./upgrade.ts";

/** What a tenant runs now. */
export interface Chosen {
  version: string;
  /** Why it stays there though another version is wanted. */
  obstacle?: Fault;
}

/** How what runs in a tenant is looked at. */
export interface Inspection {
  /** Opens the tenant's API. */
  wayIn(): Transport;
  /** Does work there that may take long. Default: at once. */
  beside?<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T>;
}

/**
 * The wanted version, or a release on the way to it; with an obstacle before the next step the one that is installed. Obstacles: a way
 * down (`Invalid`), a release on the way that can't be run (`MissingInput`), nodes that are too old for it or clients that use what the
 * wanted version no longer has (`Refused`), or neither of them can be read (`Unavailable`).
 */
export async function versionToRun(
  runtime: Runtime,
  { tenant, spec }: CompleteTenant,
  { wayIn, beside = (work) => work(signal) }: Inspection,
  signal: AbortSignal,
): Promise<Chosen> {
  const { version: wanted } = spec.kubernetes;
  const installed = tenant.status?.kubernetesResources?.version?.version;
  if (!installed || spec.controlPlane.deployment.replicas === 0) return { version: wanted };
  const on = `TenantControlPlane/${tenant.metadata.name}`;
  const stays = (
    code: "Invalid" | "MissingInput" | "Refused" | "Unavailable",
    message: string,
    remedy?: string,
  ): Chosen => ({
    version: installed,
    obstacle: new Fault(code, on, message, remedy === undefined ? {} : { remedy }),
  });
  const releases = new Map<string, string>();
  for (const minor of minorsBefore(wanted, installed)) {
    const release = await runtime.releaseOf(minor);
    if (release !== undefined) releases.set(minor, release);
  }
  const step = stepTo(wanted, installed, releases);
  if (step.is === "refused") return stays("Invalid", step.because);
  if (step.is === "missing")
    return stays(
      "MissingInput",
      `the way from ${installed} to ${wanted} needs a release of ${step.minor}, and none can be run here`,
      `have one there (runtime process: make kube-assets VERSIONS="${step.minor.slice(1)}")`,
    );
  const { version } = step;
  if (!isTrue(tenant.status?.conditions, "Ready") || !goesUp(installed, version)) return { version };
  const found = await beside((signal) => lookInto(on, wayIn, signal)).catch((error: unknown) => {
    if (signal.aborted) throw error;
    return asFault(error, on);
  });
  // After a restart nothing of it runs before it is started, at the version that it has.
  if (found instanceof Fault) return stays("Unavailable", `its nodes are looked at first: ${found.message}`);
  const problems = nodeProblems(version, found.kubelets);
  if (problems.length > 0)
    return stays(
      "Refused",
      `it can't go up to ${version}: ${firstOf(problems)}`,
      "upgrade or remove these nodes first",
    );
  const accepted = tenant.metadata.annotations?.[WITHOUT_APIS];
  // All the way: no tenant stops half-way for its clients.
  const gone = isSameRelease(accepted, wanted) ? [] : removedApis(wanted, found.metrics);
  if (gone.length === 0) return { version };
  return stays(
    "Refused",
    `since its API server's start clients have used what ${wanted} no longer has: ${firstOf(gone)}`,
    `bring them to later versions, then have the API server begin anew (replicas 0 and back), or accept it with the annotation ${WITHOUT_APIS}: ${wanted}`,
  );
}

const MOST_NAMED = 5;

function firstOf(problems: readonly string[]): string {
  const all = problems.length > MOST_NAMED ? ` (${problems.length} in all)` : "";
  return `${problems.slice(0, MOST_NAMED).join("; ")}${all}`;
}

function goesUp(installed: string, next: string): boolean {
  const [from, to] = [parseKubernetesVersion(installed), parseKubernetesVersion(next)];
  return from !== undefined && to !== undefined && minorsBetween(from, to) > 0;
}

/** Whoever may make Nodes makes them as large as the API takes them. */
const NODES_AT_ONCE = 50;

interface NodeList {
  metadata?: { continue?: string };
  items?: { metadata: { name: string }; status?: { nodeInfo?: { kubeletVersion?: string } } }[];
}

/** What runs in the tenant that an upgrade may break. */
interface Found {
  /** Versions by node. */
  kubelets: ReadonlyMap<string, string>;
  /** Of its API server; empty: it has none. */
  metrics: string;
}

async function lookInto(on: string, wayIn: () => Transport, signal: AbortSignal): Promise<Found> {
  const transport = wayIn();
  try {
    const kubelets = new Map<string, string>();
    let next: string | undefined;
    do {
      const query = { limit: `${NODES_AT_ONCE}`, ...(next && { continue: next }) };
      const { status, body } = await transport.request({ method: "GET", path: "/api/v1/nodes", query, signal });
      if (status !== 200) throw new Fault("Unavailable", on, `the answer was ${status}`);
      const { items = [], metadata } = body as NodeList;
      for (const node of items) kubelets.set(node.metadata.name, node.status?.nodeInfo?.kubeletVersion ?? "");
      next = metadata?.continue;
    } while (next);
    const { body: metrics } = await transport.request({ method: "GET", path: "/metrics", signal });
    return { kubelets, metrics: typeof metrics === "string" ? metrics : "" };
  } finally {
    await transport.close();
  }
}
