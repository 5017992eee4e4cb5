/** The BareMetalHost of a domain: what is written when it is made, and what is changed later. What its users write is left to them. Pure. */
import { isDeepStrictEqual } from "node:util";
import { Fault } from "@slipway/base";
import { controllerReference, type Draft } from "@slipway/kube";
import type { Node } from "@slipway/kube/core";
import type { BareMetalHost } from "../../../kinds/metal3/bare-metal-host.ts";
import type { Vino } from "../../../kinds/vino/vino.ts";
import { type Domain, NODE_LABEL, nodeLabelValue, VinoNode } from "../../../kinds/vino/vino-node.ts";
import { APPLIED, labelValue, MACHINE, networkDataName, VINO_NAME, VINO_NAMESPACE } from "../names.ts";
import type { Machine } from "./specification.ts";

/** Labels that users choose hosts by; a Vino's own labels of the same name count more. */
const ROLE = "vino.airshipit.org/role";
const HOST = "vino.airshipit.org/host";
const NETWORK = "vino.airshipit.org/network";

/** What of a host is ours. */
export interface HostWish {
  labels: Record<string, string>;
  bmc: NonNullable<BareMetalHost["spec"]["bmc"]>;
  bootMACAddress: string | undefined;
  bootMode: "UEFI" | "UEFISecureBoot" | "legacy";
  deviceName: string;
  networkData: string;
  online: boolean;
}

export interface HostOf {
  vino: Vino;
  node: Node | undefined;
  vinoNode: VinoNode;
  machine: Machine;
  domain: Domain;
}

const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

/**
 * The labels of a host: where it is, its role, its networks, what is copied from the node, what the Vino says. A label that the node does not
 * have is left out. Throws a `Fault` (`Invalid`) for a value that no label may have.
 */
export function labelsOf({ vino, node, vinoNode, machine, domain }: HostOf): Record<string, string> {
  const copied = (vino.spec.nodeLabelKeysToCopy ?? []).flatMap((key) => {
    const value = node?.metadata.labels?.[key];
    return value === undefined ? [] : [[key, value] as const];
  });
  const { nodeName } = vinoNode.spec;
  const own = machine.set.bmhLabels ?? {};
  for (const [key, value] of Object.entries(own))
    if (value.length > 63 || !LABEL_VALUE.test(value))
      throw new Fault(
        "Invalid",
        `spec.nodes.${machine.set.name}.bmhLabels.${key}`,
        `${JSON.stringify(value)} can't be a label`,
      );
  return {
    [ROLE]: domain.role,
    [HOST]: labelValue(nodeName),
    ...Object.fromEntries(domain.interfaces.map(({ network }) => [`${NETWORK}-${network}`, "true"])),
    ...Object.fromEntries(copied),
    ...own,
    [VINO_NAME]: labelValue(vino.metadata.name),
    [VINO_NAMESPACE]: vino.metadata.namespace ?? "",
    [NODE_LABEL]: nodeLabelValue(nodeName),
  };
}

/**
 * Where the domain is ordered: the node's Redfish service by TLS, and the domain's own system there. Throws a `Fault` (`Invalid`) unless it is an
 * address of the node: what an agent reports of another place would have hosts' passwords sent there.
 */
export function bmcAddress({ status }: VinoNode, domain: Domain, node: Node | undefined): string {
  const at = `VinoNode.status.redfish.url`;
  const url = URL.parse(status?.redfish?.url ?? "");
  if (url?.protocol !== "https:") throw new Fault("Invalid", at, "it is no https address");
  const system = status?.domains?.find(({ name }) => name === domain.name)?.system ?? "";
  if (!/^\/redfish\/v1\/Systems\/[A-Za-z0-9._~-]+$/.test(system))
    throw new Fault("Invalid", "VinoNode.status.domains", `${domain.name} has no path of a Redfish system`);
  const bare = url.hostname.replace(/^\[|\]$/g, "");
  const known = (node?.status?.addresses ?? []).map(({ address }) => address.toLowerCase());
  if (
    !known.some(
      (address) =>
        URL.parse(`https://${address.includes(":") ? `[${address}]` : address}`)?.hostname.replace(/^\[|\]$/g, "") ===
        bare,
    )
  )
    throw new Fault("Invalid", at, `${url.hostname} is no address of the node`, {
      remedy: "have its agent serve at the Node's InternalIP",
    });
  return `redfish+https://${url.host}${system}`;
}

/** What the host is to be. Throws as `labelsOf` and `bmcAddress` do. */
export function hostWish(of: HostOf): HostWish {
  const { vinoNode, machine, domain, node } = of;
  const { set } = machine;
  const bootMode = set.bootMode ?? "UEFI";
  const deviceName = set.rootDeviceName || "/dev/vda";
  if (!/^\/dev\/[A-Za-z0-9/:._-]{1,200}$/.test(deviceName))
    throw new Fault("Invalid", `spec.nodes.${set.name}.rootDeviceName`, `${JSON.stringify(deviceName)} is no device`);
  return {
    labels: labelsOf(of),
    bmc: { address: bmcAddress(vinoNode, domain, node), credentialsName: domain.bmc.name },
    bootMACAddress: domain.bootMAC,
    bootMode,
    deviceName,
    networkData: networkDataName(domain.host),
    online: set.online ?? false,
  };
}

/** A host that is not there yet. */
export function hostDraft(wish: HostWish, { vinoNode, machine, domain }: HostOf): Draft<BareMetalHost> {
  const { labels, bmc, bootMACAddress, bootMode, deviceName, networkData, online } = wish;
  return {
    metadata: {
      name: domain.host,
      namespace: vinoNode.metadata.namespace!,
      labels,
      annotations: { [APPLIED]: JSON.stringify(wish), [MACHINE]: machine.id },
      ownerReferences: [controllerReference(VinoNode, vinoNode)],
    },
    spec: {
      ...{ online, bmc, bootMode, automatedCleaningMode: "metadata" },
      ...(bootMACAddress !== undefined && { bootMACAddress }),
      rootDeviceHints: { deviceName },
      networkData: { name: networkData },
    },
  };
}

/** The change of a host that is there; undefined: it is as wished. */
export function hostChange(live: BareMetalHost, wish: HostWish): object | undefined {
  const before = appliedTo(live);
  const labels = changedLabels(live, wish.labels, before?.labels ?? {});
  const spec = { ...changedSpec(live, wish), ...changedByUsers(live, wish, before) };
  const applied = JSON.stringify(wish);
  const isNew = live.metadata.annotations?.[APPLIED] !== applied;
  if (!isNew && Object.keys(labels).length === 0 && Object.keys(spec).length === 0) return undefined;
  return {
    metadata: {
      resourceVersion: live.metadata.resourceVersion,
      ...(Object.keys(labels).length > 0 && { labels }),
      annotations: { [APPLIED]: applied },
    },
    ...(Object.keys(spec).length > 0 && { spec }),
  };
}

function appliedTo({ metadata }: BareMetalHost): Partial<HostWish> | undefined {
  try {
    const value: unknown = JSON.parse(metadata.annotations?.[APPLIED] ?? "");
    return typeof value === "object" && value !== null ? (value as Partial<HostWish>) : undefined;
  } catch {
    return undefined;
  }
}

/** Labels that are wanted and differ, and those that were ours and are wanted no more. Others' stay. */
function changedLabels(
  { metadata: { labels: live = {} } }: BareMetalHost,
  wanted: Readonly<Record<string, string>>,
  before: Readonly<Record<string, string>>,
): Record<string, string | null> {
  const gone = Object.keys(before).filter((key) => wanted[key] === undefined && live[key] === before[key]);
  const changed = Object.entries(wanted).filter(([key, value]) => live[key] !== value);
  return Object.fromEntries([...changed, ...gone.map((key) => [key, null] as const)]);
}

/** What of the machine itself differs. */
function changedSpec({ spec }: BareMetalHost, wish: HostWish): Record<string, unknown> {
  const { bmc, bootMACAddress } = wish;
  const out: Record<string, unknown> = {};
  if (spec.bmc?.address !== bmc.address || spec.bmc.credentialsName !== bmc.credentialsName) out.bmc = bmc;
  if (bootMACAddress !== undefined && spec.bootMACAddress?.toLowerCase() !== bootMACAddress)
    out.bootMACAddress = bootMACAddress;
  return out;
}

/** What the host's user may set otherwise: it is written while nobody uses the host, and where the Vino has changed. */
function changedByUsers(
  live: BareMetalHost,
  wish: HostWish,
  before: Partial<HostWish> | undefined,
): Record<string, unknown> {
  const { spec } = live;
  if (spec.consumerRef !== undefined || spec.image !== undefined || spec.customDeploy !== undefined) return {};
  const { deviceName, networkData, bootMode, online } = wish;
  const out: Record<string, unknown> = {};
  if (spec.networkData?.name === undefined) out.networkData = { name: networkData };
  if (before?.deviceName !== deviceName && !isDeepStrictEqual(spec.rootDeviceHints, { deviceName }))
    out.rootDeviceHints = { deviceName };
  if (before?.bootMode !== bootMode && spec.bootMode !== bootMode) out.bootMode = bootMode;
  if (before?.online !== online && spec.online !== online) out.online = online;
  return out;
}
