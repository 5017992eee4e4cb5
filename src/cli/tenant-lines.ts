import { isStalled } from "@slipway/kube";
import { RUNS_ON } from "../systems/kamaji/names.ts";
import { since } from "../views/since.ts";
import { table } from "./progress.ts";
import type { TenantFacts } from "./tenant-description.ts";

/** A tenant in lines, what needs a person first. `now`: ms since 1970. Pure. */
export function tenantLines({ tenant, store, certificates, inside }: TenantFacts, now: number): string[] {
  const { metadata, spec, status } = tenant;
  const { version, status: state } = status?.kubernetesResources?.version ?? {};
  const wanted = spec.kubernetes.version;
  const asked = version === wanted ? "" : `, ${wanted} is wanted`;
  return [
    `TenantControlPlane ${metadata.namespace}/${metadata.name}`,
    `  State       ${state ?? (status?.waitingFor ? "not started" : "not looked at yet")}, ${version || "no version"}${asked}`,
    ...waitLines(tenant, now),
    `  Runs on     ${metadata.annotations?.[RUNS_ON] ?? "nothing yet"}`,
    `  Endpoint    ${status?.controlPlaneEndpoint ?? "none yet"}`,
    `  Age         ${since(now - Date.parse(metadata.creationTimestamp ?? ""))}`,
    ...storeLines(tenant, store),
    ...componentLines(inside, version, metadata.annotations?.[RUNS_ON] === "embedded"),
    ...certificateLines(certificates, now),
  ];
}

function waitLines({ metadata, status }: TenantFacts["tenant"], now: number): string[] {
  const { waitingFor, waitingSince } = status ?? {};
  if (!waitingFor) return [];
  const span = waitingSince === undefined ? "" : `since ${since(now - Date.parse(waitingSince))}: `;
  return [
    `  ${isStalled(status) ? "Stalled" : "Waiting"}     ${span}${waitingFor.replace(`TenantControlPlane/${metadata.name}: `, "")}`,
  ];
}

function storeLines({ metadata, spec, status }: TenantFacts["tenant"], store: TenantFacts["store"]): string[] {
  const { driver, dataStoreName = spec.dataStore, setup } = status?.storage ?? {};
  if (!driver)
    return [
      metadata.annotations?.[RUNS_ON] === "embedded"
        ? "DataStore     none: the runtime keeps its objects"
        : `DataStore     ${dataStoreName ?? "none named"}: nothing of the tenant is there yet`,
    ];
  const is = store === undefined ? "there is none of this name" : store.status?.ready ? "ready" : "not ready";
  const why = store?.status?.conditions?.find(
    (each) => each.status === "False" && each.message && each.reason !== "Used",
  );
  return [
    `DataStore     ${dataStoreName} (${driver}): ${is}${is === "not ready" && why ? `: ${why.message}` : ""}`,
    `  Schema      ${setup?.schema ?? ""}`,
    `  User        ${setup?.user ?? ""}`,
  ];
}

/** `version`: that which the status has of the whole control plane; the API server alone says its own. */
function componentLines(inside: TenantFacts["inside"], version: string | undefined, isEmbedded: boolean): string[] {
  if (typeof inside === "string") return [`Components    ${inside}`];
  const others = inside.components.map(({ name, is }) => [
    name,
    isEmbedded ? "none: an embedded API has no such program" : [is, ...(version ? [version] : [])].join(", "),
  ]);
  const addons = inside.addons.map(({ name, ready, wanted, version }) => [
    name,
    [`${ready} of ${wanted} ready`, ...(version ? [version] : [])].join(", "),
  ]);
  const rows = [["kube-apiserver", `ready, ${inside.version}`], ...others];
  const nodes = inside.nodes.map(({ name, is, kubelet }) => [name, is, kubelet]);
  return [
    "Components",
    ...rows.map(([name, is]) => `  ${name!.padEnd(25)}${is}`),
    ...(addons.length === 0 ? [] : ["Add-ons", ...addons.map(([name, is]) => `  ${name!.padEnd(25)}${is}`)]),
    ...(nodes.length === 0
      ? ["Nodes         none"]
      : ["Nodes", ...indented(table(["NAME", "STATUS", "KUBELET"], nodes))]),
  ];
}

function certificateLines(certificates: TenantFacts["certificates"], now: number): string[] {
  if (certificates.length === 0) return ["Certificates  none yet"];
  const rows = certificates.map(({ secret, file, ends }) => [
    secret,
    file,
    Number.isNaN(ends) ? "can't be read" : new Date(ends).toISOString().replace(/\.\d+Z$/, "Z"),
    Number.isNaN(ends) ? "" : ends > now ? since(ends - now) : `over since ${since(now - ends)}`,
  ]);
  return ["Certificates, the next to end first", ...indented(table(["SECRET", "KEY", "ENDS", "LEFT"], rows))];
}

const indented = (lines: readonly string[]): string[] => lines.map((line) => `  ${line}`);
