import { dnsLabel } from "../rules/names.ts";
import type { Body, FieldError } from "../served.ts";
import { duplicateField, invalidField, missingReference, requiredField } from "./field-errors.ts";
import { validateLabel } from "./name-rules.ts";
import { at, objectsAt, textAt } from "./read.ts";

const PORT_RULE = "must be between 1 and 65535, inclusive";

export function validatePort(port: unknown, field: string): FieldError[] {
  if (typeof port !== "number" || (port >= 1 && port <= 65535)) return [];
  return [invalidField(field, port, PORT_RULE)];
}

/** The rules about a PodSpec that writers meet often; those that only a kubelet cares for are left to it. */
export function validatePodSpec(spec: unknown, path: string): FieldError[] {
  const volumes = objectsAt(spec, "volumes");
  const errors = [...validateNames(volumes, `${path}.volumes`)];
  const known = new Set(volumes.map((volume) => volume.name));
  if (spec === undefined || isEmptyList(at(spec, "containers"))) errors.push(requiredField(`${path}.containers`));
  const names = new Set<unknown>();
  for (const list of ["initContainers", "containers"]) {
    for (const [i, container] of objectsAt(spec, list).entries()) {
      const at = `${path}.${list}[${i}]`;
      if (names.has(container.name)) errors.push(duplicateField(`${at}.name`, container.name));
      names.add(container.name);
      errors.push(...validateContainer(container, at, known));
    }
  }
  const grace = at(spec, "terminationGracePeriodSeconds");
  if (typeof grace === "number" && grace < 0) {
    errors.push(invalidField(`${path}.terminationGracePeriodSeconds`, grace, "must be greater than or equal to 0"));
  }
  return errors;
}

/** What Pods and their makers are advised against: names that make no good host name. */
export function hostnameWarnings(object: Body, usedIn: string): string[] {
  const wrong = dnsLabel(object.metadata.name);
  if (wrong.length === 0) return [];
  const advice = "which can result in surprising behavior; a DNS label is recommended";
  return [`metadata.name: this is used in ${usedIn}, ${advice}: [${wrong.join(", ")}]`];
}

/** Absence is the schema's to refuse. */
function isEmptyList(value: unknown): boolean {
  return value === null || (Array.isArray(value) && value.length === 0);
}

function validateNames(items: Record<string, unknown>[], path: string): FieldError[] {
  const seen = new Set<unknown>();
  return items.flatMap((item, i) => {
    const name = item.name;
    const field = `${path}[${i}].name`;
    if (seen.has(name)) return [duplicateField(field, name)];
    seen.add(name);
    return name === "" ? [requiredField(field)] : validateLabel(name, field);
  });
}

function validateContainer(
  container: Record<string, unknown>,
  path: string,
  volumes: ReadonlySet<unknown>,
): FieldError[] {
  const errors =
    container.name === "" ? [requiredField(`${path}.name`)] : validateLabel(container.name, `${path}.name`);
  if (textAt(container, "image").trim() === "") errors.push(requiredField(`${path}.image`));
  for (const [i, port] of objectsAt(container, "ports").entries()) {
    errors.push(...validatePort(port.containerPort, `${path}.ports[${i}].containerPort`));
    errors.push(...validatePort(port.hostPort, `${path}.ports[${i}].hostPort`));
  }
  for (const [i, mount] of objectsAt(container, "volumeMounts").entries()) {
    if (!volumes.has(mount.name)) errors.push(missingReference(`${path}.volumeMounts[${i}].name`, mount.name));
  }
  for (const [i, variable] of objectsAt(container, "env").entries()) {
    if (textAt(variable, "name") === "") errors.push(requiredField(`${path}.env[${i}].name`));
    if (textAt(variable, "value") !== "" && variable.valueFrom !== undefined) {
      errors.push(invalidField(`${path}.env[${i}].valueFrom`, "", "may not be specified when `value` is not empty"));
    }
  }
  return errors;
}
