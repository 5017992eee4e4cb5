import { type Cidr, contains, parseCidr } from "@slipway/base";
import { forbidden, invalid, notSupported, required } from "../model/field-error.ts";
import { at, membersAt, objectsAt, textAt, textsAt } from "../model/read.ts";
import type { Body, FieldError, ServedResource } from "../model/served.ts";
import { validateLabelSelector, validatePortName } from "../rules/name-rules.ts";
import { selectorText } from "./selector-text.ts";
import { age, column, serve } from "./serve.ts";

const PROTOCOLS = ["TCP", "UDP", "SCTP"] as const;
const TYPES = ["Ingress", "Egress"] as const;
const NO_CIDR = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

export const networkPolicy: ServedResource = serve({
  apiVersion: "networking.k8s.io/v1",
  kind: "NetworkPolicy",
  plural: "networkpolicies",
  shortNames: ["netpol"],
  hasGeneration: true,
  description: "Whom a set of Pods may talk to, and who may talk to them.",
  namespaced: true,
  columns: [column("Pod-Selector", (object) => selectorText(at(object, "spec.podSelector"))), age],
  setDefaults,
  validate: validatePolicy,
});

/** A policy that does not say what it is about is about what comes in, and about what goes out if it has rules for that. */
function setDefaults(object: Body): void {
  object.spec ??= {};
  if (textsAt(object, "spec.policyTypes").length > 0) return;
  const spec = membersAt(object, "spec");
  spec.policyTypes = ["Ingress", ...(objectsAt(spec, "egress").length > 0 ? ["Egress"] : [])];
}

function validatePolicy(object: Body): FieldError[] {
  const errors = validateLabelSelector(at(object, "spec.podSelector"), "spec.podSelector");
  for (const [way, direction] of [
    ["ingress", "from"],
    ["egress", "to"],
  ] as const)
    for (const [i, rule] of objectsAt(object, `spec.${way}`).entries()) {
      const path = `spec.${way}[${i}]`;
      errors.push(...objectsAt(rule, "ports").flatMap((port, j) => validatePort(port, `${path}.ports[${j}]`)));
      errors.push(...objectsAt(rule, direction).flatMap((peer, j) => validatePeer(peer, `${path}.${direction}[${j}]`)));
    }
  const types = textsAt(object, "spec.policyTypes");
  if (types.length > TYPES.length)
    return [...errors, invalid("spec.policyTypes", types, "may not specify more than two policyTypes")];
  return [...errors, ...types.flatMap((type, i) => validateWord(type, `spec.policyTypes[${i}]`, TYPES))];
}

function validatePort(of: Record<string, unknown>, field: string): FieldError[] {
  return [...validateWord(of.protocol, `${field}.protocol`, PROTOCOLS), ...validateRange(of, field)];
}

function validateRange({ port, endPort }: Record<string, unknown>, field: string): FieldError[] {
  const wrongEnd = (detail: string): FieldError => invalid(`${field}.endPort`, endPort, detail);
  if (port === undefined)
    return endPort === undefined ? [] : [wrongEnd("may not be specified when `port` is not specified")];
  if (typeof port === "string")
    return [
      ...(endPort === undefined ? [] : [wrongEnd("may not be specified when `port` is non-numeric")]),
      ...validatePortName(port, `${field}.port`),
    ];
  const errors = validateNumber(port, `${field}.port`);
  if (typeof endPort !== "number") return errors;
  if (endPort < Number(port)) errors.push(invalid(`${field}.endPort`, port, "must be greater than or equal to `port`"));
  return [...errors, ...validateNumber(endPort, `${field}.endPort`)];
}

function validateWord(word: unknown, field: string, known: readonly string[]): FieldError[] {
  return typeof word !== "string" || known.includes(word) ? [] : [notSupported(field, word, known)];
}

function validateNumber(port: unknown, field: string): FieldError[] {
  const good = Number(port) >= 1 && Number(port) <= 65_535;
  return good ? [] : [invalid(field, port, "must be between 1 and 65535, inclusive")];
}

function validatePeer(
  { podSelector, namespaceSelector, ipBlock }: Record<string, unknown>,
  field: string,
): FieldError[] {
  const errors = [
    ...validateLabelSelector(podSelector, `${field}.podSelector`),
    ...validateLabelSelector(namespaceSelector, `${field}.namespaceSelector`),
  ];
  const selects = podSelector !== undefined || namespaceSelector !== undefined;
  if (ipBlock !== undefined && selects) errors.push(forbidden(field, "may not specify both ipBlock and another peer"));
  if (ipBlock !== undefined) errors.push(...validateBlock(ipBlock, `${field}.ipBlock`));
  if (ipBlock === undefined && !selects) errors.push(required(field, "must specify a peer"));
  return errors;
}

function validateBlock(block: unknown, field: string): FieldError[] {
  const text = textAt(block, "cidr");
  if (text === "") return [required(`${field}.cidr`)];
  const cidr = cidrOf(text);
  if (cidr === undefined) return [invalid(`${field}.cidr`, text, NO_CIDR)];
  return textsAt(block, "except").flatMap((except, i) => {
    const path = `${field}.except[${i}]`;
    const inner = cidrOf(except);
    if (inner === undefined) return [invalid(path, except, NO_CIDR)];
    const within = contains(cidr, inner) && inner.prefix > cidr.prefix;
    return within ? [] : [invalid(path, except, "must be a strict subset of `cidr`")];
  });
}

function cidrOf(text: string): Cidr | undefined {
  try {
    return parseCidr(text);
  } catch {
    return undefined;
  }
}
