import { tryParseIp } from "@slipway/base";
import { dnsLabel, dnsSubdomain, qualifiedName } from "@slipway/cel/formats";
import { Pace, type Passes } from "../json/turns.ts";
import { duplicate, forbidden, invalid, required } from "../model/field-error.ts";
import { at, membersAt, objectsAt, textAt } from "../model/read.ts";
import type { Body, FieldError } from "../model/served.ts";
import { validateLabels } from "../rules/name-rules.ts";
import { named, oneOfField, requiredName } from "../rules/value-rules.ts";
import { validateContainer, validateLifecycle } from "./container-validation.ts";
import { validateTolerations } from "./toleration-validation.ts";
import { sourcesOf, validateSource } from "./volume-validation.ts";

const MAX_INT32 = 2 ** 31 - 1;

/** What is wrong with a PodSpec, in upstream's order; what only a kubelet cares for is left to it. */
export function* validatePodSpec(spec: unknown, path: string): Passes<FieldError[]> {
  const volumes = objectsAt(spec, "volumes");
  const volumeErrors = validateVolumes(volumes, `${path}.volumes`);
  const known = new Set(volumes.map(({ name }) => name));
  const pace = new Pace();
  const containerErrors = yield* validateContainers(spec, path, known, pace);
  containerErrors.push(...(yield* validateInitContainers(spec, path, known, pace)));
  const texts = (name: string, rule: typeof dnsLabel) => {
    const value = textAt(spec, name);
    return value === "" ? [] : named(value, `${path}.${name}`, rule);
  };
  return [
    ...volumeErrors,
    ...containerErrors,
    ...oneOfField(at(spec, "restartPolicy"), `${path}.restartPolicy`, ["Always", "OnFailure", "Never"]),
    ...oneOfField(at(spec, "dnsPolicy"), `${path}.dnsPolicy`, [
      "ClusterFirstWithHostNet",
      "ClusterFirst",
      "Default",
      "None",
    ]),
    ...validateLabels(membersAt(spec, "nodeSelector"), `${path}.nodeSelector`),
    ...texts("serviceAccountName", dnsSubdomain),
    ...texts("nodeName", dnsSubdomain),
    ...validateDeadline(at(spec, "activeDeadlineSeconds"), `${path}.activeDeadlineSeconds`),
    ...texts("hostname", dnsLabel),
    ...texts("subdomain", dnsLabel),
    ...validateTolerations(objectsAt(spec, "tolerations"), `${path}.tolerations`),
    ...validateHostAliases(objectsAt(spec, "hostAliases"), `${path}.hostAliases`),
    ...texts("priorityClassName", dnsSubdomain),
    ...texts("runtimeClassName", dnsSubdomain),
    ...oneOfField(at(spec, "preemptionPolicy"), `${path}.preemptionPolicy`, ["PreemptLowerPriority", "Never"]),
    ...objectsAt(spec, "readinessGates").flatMap((gate, i) =>
      named(gate.conditionType, `${path}.readinessGates[${i}].conditionType`, qualifiedName),
    ),
  ];
}

function* validateContainers(
  spec: unknown,
  path: string,
  volumes: ReadonlySet<unknown>,
  pace: Pace,
): Passes<FieldError[]> {
  const containers = objectsAt(spec, "containers");
  if (containers.length === 0) return [required(`${path}.containers`)];
  const names = new Set<unknown>();
  const errors: FieldError[] = [];
  for (const [i, container] of containers.entries()) {
    if (pace.isOver()) yield;
    const at = `${path}.containers[${i}]`;
    errors.push(...(yield* validateContainer(container, at, volumes, pace)));
    if (names.has(container.name)) errors.push(duplicate(`${at}.name`, container.name));
    names.add(container.name);
    errors.push(...validateLifecycle(container, at));
  }
  return errors;
}

function* validateInitContainers(
  spec: unknown,
  path: string,
  volumes: ReadonlySet<unknown>,
  pace: Pace,
): Passes<FieldError[]> {
  const names = new Set(objectsAt(spec, "containers").map(({ name }) => name));
  const errors: FieldError[] = [];
  for (const [i, container] of objectsAt(spec, "initContainers").entries()) {
    if (pace.isOver()) yield;
    const at = `${path}.initContainers[${i}]`;
    errors.push(...(yield* validateContainer(container, at, volumes, pace)));
    if (names.has(container.name)) errors.push(duplicate(`${at}.name`, container.name));
    else if (container.name !== "") names.add(container.name);
    if (container.restartPolicy === "Always") {
      errors.push(...validateLifecycle(container, at));
      continue;
    }
    const why = "may not be set for init containers without restartPolicy=Always";
    for (const name of ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"])
      if (container[name] !== undefined) errors.push(forbidden(`${at}.${name}`, why));
  }
  return errors;
}

function validateVolumes(volumes: readonly Record<string, unknown>[], path: string): FieldError[] {
  const seen = new Set<unknown>();
  return volumes.flatMap((volume, i) => {
    const at = `${path}[${i}]`;
    const errors = [
      ...validateSource(volume, at, sourcesOf(volume)),
      ...requiredName(volume.name, `${at}.name`, dnsLabel),
    ];
    if (seen.has(volume.name)) errors.push(duplicate(`${at}.name`, volume.name));
    if (errors.length === 0) seen.add(volume.name);
    return errors;
  });
}

function validateDeadline(seconds: unknown, field: string): FieldError[] {
  if (typeof seconds !== "number" || (seconds >= 1 && seconds <= MAX_INT32)) return [];
  return [invalid(field, seconds, `must be between 1 and ${MAX_INT32}, inclusive`)];
}

function validateHostAliases(aliases: readonly Record<string, unknown>[], path: string): FieldError[] {
  return aliases.flatMap(({ ip }, i) =>
    tryParseIp(String(ip ?? "")) !== undefined
      ? []
      : [invalid(`${path}[${i}].ip`, ip, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)")],
  );
}

/** What Pods and their makers are advised against: names that make no good host name. */
export function hostnameWarnings(object: Body, usedIn: string): string[] {
  const wrong = dnsLabel(object.metadata.name);
  if (wrong.length === 0) return [];
  const advice = "which can result in surprising behavior; a DNS label is recommended";
  return [`metadata.name: this is used in ${usedIn}, ${advice}: [${wrong.join(", ")}]`];
}
