import { sameJson } from "@slipway/base";
import { invalid } from "../model/field-error.ts";
import { membersAt, numberAt, objectsAt, textAt, textsAt } from "../model/read.ts";
import type { Body, FieldError } from "../model/served.ts";
import { isExposed, needsHealthCheck } from "./service-validation.ts";

type Spec = Record<string, unknown>;

export type Family = "IPv4" | "IPv6";

/** Gives out what Services share: what is asked for when it is free, else something free. A text says why that can't be had. */
export interface ServiceRanges {
  /** Of which there are addresses, the cluster's own first. */
  families: readonly Family[];
  address(family: Family, wanted: string | undefined, service: Body): { is: string } | { refused: string };
  port(wanted: number | undefined, service: Body): { is: number } | { refused: string };
}

const usesNodePorts = (spec: Spec) =>
  spec.type === "NodePort" || (spec.type === "LoadBalancer" && spec.allocateLoadBalancerNodePorts !== false);

/** Fills in the addresses and ports that a Service is missing, in place. Returns what was asked for and can't be had. */
export function allocate(ranges: ServiceRanges, object: Body): FieldError[] {
  const spec = membersAt(object, "spec");
  if (spec.type === "ExternalName") return [];
  const errors = textAt(spec, "clusterIP") === "None" ? [] : allocateAddresses(ranges, object);
  if (errors.length > 0) return errors;
  if (textsAt(spec, "clusterIPs").length === 0) spec.clusterIPs = [spec.clusterIP];
  if (usesNodePorts(spec)) errors.push(...allocatePorts(ranges, object));
  if (needsHealthCheck(spec) && numberAt(spec, "healthCheckNodePort") === 0) {
    const found = ranges.port(undefined, object);
    if ("is" in found) spec.healthCheckNodePort = found.is;
  }
  return errors;
}

/** An address of each family that the Service has; both where it is to have both and the cluster has them. */
function allocateAddresses({ families: known, address }: ServiceRanges, object: Body): FieldError[] {
  const spec = membersAt(object, "spec");
  const families = textsAt(spec, "ipFamilies") as Family[];
  const foreign = families.findIndex((family) => !known.includes(family));
  if (foreign >= 0)
    return [invalid(`spec.ipFamilies[${foreign}]`, families[foreign], "not configured on this cluster")];
  if (textAt(spec, "ipFamilyPolicy").endsWith("DualStack"))
    spec.ipFamilies = [...families, ...known.filter((family) => !families.includes(family))];
  const first = textAt(spec, "clusterIP");
  const asked = first === "" ? textsAt(spec, "clusterIPs") : [first, ...textsAt(spec, "clusterIPs").slice(1)];
  const given: string[] = [];
  for (const [at, family] of (textsAt(spec, "ipFamilies") as Family[]).entries()) {
    const wanted = asked[at] ?? "";
    const found = address(family, wanted === "" ? undefined : wanted, object);
    if ("refused" in found)
      return [invalid("spec.clusterIPs", asked, `failed to allocate IP ${wanted}: ${found.refused}`)];
    given.push(found.is);
  }
  spec.clusterIP = given[0];
  spec.clusterIPs = given;
  return [];
}

function allocatePorts(ranges: ServiceRanges, object: Body): FieldError[] {
  const taken = new Set<unknown>();
  return objectsAt(object, "spec.ports").flatMap((port, i) => {
    const wanted = numberAt(port, "nodePort");
    let found = ranges.port(wanted === 0 ? undefined : wanted, object);
    // One port may serve two protocols, but a new one is nobody's yet.
    while ("is" in found && wanted === 0 && taken.has(found.is)) found = ranges.port(undefined, object);
    if ("refused" in found) return [invalid(`spec.ports[${i}].nodePort`, wanted, found.refused)];
    taken.add(found.is);
    port.nodePort = found.is;
    return [];
  });
}

/** Carries what was given out over to a replacement that does not speak of it, and drops what a new type has no use for. */
export function keepAllocated(object: Body, old: Body): void {
  const spec = membersAt(object, "spec");
  const before = membersAt(old, "spec");
  const isInner = (of: Spec) => of.type !== "ExternalName";
  if (isInner(before) && isInner(spec)) {
    if (!isUnset(spec.clusterIP) && isUnset(spec.clusterIPs)) spec.clusterIPs = [spec.clusterIP];
    for (const name of ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"])
      if (isUnset(spec[name])) copy(name, before, spec);
  } else if (isInner(before)) drop(["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"], spec, before);
  else drop(["externalName"], spec, before);
  if (usesNodePorts(before) && usesNodePorts(spec)) keepPorts(spec, before);
  else if (usesNodePorts(before)) dropPorts(spec, before);
  if (needsHealthCheck(before) && needsHealthCheck(spec)) {
    if (isUnset(spec.healthCheckNodePort)) copy("healthCheckNodePort", before, spec);
  } else drop(["healthCheckNodePort"], spec, before);
  if (isExposed(before) && !isExposed(spec)) drop(["externalTrafficPolicy"], spec, before);
  if (before.type === "LoadBalancer" && spec.type !== "LoadBalancer")
    drop(["allocateLoadBalancerNodePorts", "loadBalancerClass"], spec, before);
}

function isUnset(value: unknown): boolean {
  return value === undefined || value === null || value === "" || value === 0;
}

function copy(name: string, from: Spec, to: Spec): void {
  if (from[name] === undefined) delete to[name];
  else to[name] = structuredClone(from[name]);
}

/** What the writer changed by hand stays, to be judged. */
function drop(names: readonly string[], spec: Spec, before: Spec): void {
  for (const name of names) if (sameJson(spec[name] ?? null, before[name] ?? null)) delete spec[name];
}

function keepPorts(spec: Spec, before: Spec): void {
  const used = new Set(objectsAt(spec, "ports").map(({ nodePort }) => nodePort));
  const keyOf = ({ port, protocol }: Spec): string => JSON.stringify([port, protocol]);
  // The first of several.
  const had = new Map(
    objectsAt(before, "ports")
      .toReversed()
      .map((port) => [keyOf(port), port]),
  );
  for (const port of objectsAt(spec, "ports")) {
    if (!isUnset(port.nodePort)) continue;
    const was = had.get(keyOf(port));
    if (was !== undefined && !used.has(was.nodePort)) copy("nodePort", was, port);
  }
}

function dropPorts(spec: Spec, before: Spec): void {
  const had = objectsAt(before, "ports");
  const same = (port: Spec, i: number) => port.nodePort === had[i]?.nodePort;
  if (objectsAt(spec, "ports").every(same)) for (const port of objectsAt(spec, "ports")) delete port.nodePort;
}
