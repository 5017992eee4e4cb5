import { parseCidr, tryParseIp } from "@slipway/base";
import { dnsLabel, dnsSubdomain } from "@slipway/cel/formats";
import { duplicate, forbidden, invalid, required } from "../model/field-error.ts";
import { at, membersAt, objectsAt, textAt, textsAt } from "../model/read.ts";
import type { Body, FieldError } from "../model/served.ts";
import { validateLabels } from "../rules/name-rules.ts";
import { named, oneOfField, requiredName, validatePort, validatePortOrName } from "../rules/value-rules.ts";
import { laterOnes } from "./later-ones.ts";

type Spec = Record<string, unknown>;

const IP_RULE = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
const CIDR_RULE = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
const PROTOCOLS = ["SCTP", "TCP", "UDP"];
const DAY_SECONDS = 86_400;

/** An IPv4 or IPv6 address. */
export function validateIp(ip: unknown, field: string): FieldError[] {
  return tryParseIp(String(ip ?? "")) === undefined ? [invalid(field, ip, IP_RULE)] : [];
}

/** A network in CIDR notation. */
export function validateCidr(cidr: string, field: string): FieldError[] {
  try {
    parseCidr(cidr);
    return [];
  } catch {
    return [invalid(field, cidr, CIDR_RULE)];
  }
}

/** Services, in the order of upstream's `validateService`. */
export function validateService(object: Body, old?: Body): FieldError[] {
  const spec = membersAt(object, "spec");
  const ports = objectsAt(spec, "ports");
  const isHeadless = spec.clusterIP === "None";
  return [
    ...(old === undefined ? [] : validateKept(spec, membersAt(old, "spec"))),
    ...(ports.length === 0 && !isHeadless && spec.type !== "ExternalName" ? [required("spec.ports")] : []),
    ...validateType(spec, isHeadless),
    ...validatePorts(ports),
    ...validateLabels(membersAt(spec, "selector"), "spec.selector"),
    ...oneOfField(spec.sessionAffinity, "spec.sessionAffinity", ["ClientIP", "None"]),
    ...validateAffinity(spec),
    ...validateAddresses(spec),
    ...textsAt(spec, "externalIPs").flatMap((ip, i) => validateIp(ip, `spec.externalIPs[${i}]`)),
    ...oneOfField(spec.type, "spec.type", ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"]),
    ...validatePortUse(spec, ports),
    ...validateSourceRanges(spec),
    ...(spec.allocateLoadBalancerNodePorts !== undefined && spec.type !== "LoadBalancer"
      ? [forbidden("spec.allocateLoadBalancerNodePorts", "may only be used when `type` is 'LoadBalancer'")]
      : []),
    ...(textAt(spec, "loadBalancerClass") !== "" && spec.type !== "LoadBalancer"
      ? [forbidden("spec.loadBalancerClass", "may only be used when `type` is 'LoadBalancer'")]
      : []),
    ...validateTrafficPolicies(spec),
  ];
}

function validateKept(spec: Spec, old: Spec): FieldError[] {
  if (spec.type === "ExternalName" || old.type === "ExternalName") return [];
  const [before, now] = [textsAt(old, "clusterIPs")[0], textsAt(spec, "clusterIPs")[0]];
  return before !== undefined && before !== now
    ? [invalid("spec.clusterIPs[0]", [now], "may not change once set")]
    : [];
}

function validateType(spec: Spec, isHeadless: boolean): FieldError[] {
  const { type } = spec;
  if (isHeadless && (type === "NodePort" || type === "LoadBalancer"))
    return [invalid("spec.clusterIPs[0]", "None", `may not be set to 'None' for ${type} services`)];
  if (type !== "ExternalName") return [];
  const why = "may not be set for ExternalName services";
  const set = (name: string) => Array.isArray(spec[name]) || (typeof spec[name] === "string" && spec[name] !== "");
  const hasAddress = set("clusterIPs") || set("clusterIP");
  return [
    ...(hasAddress ? [forbidden("spec.clusterIPs", why)] : []),
    ...["ipFamilies", "ipFamilyPolicy"].filter(set).map((name) => forbidden(`spec.${name}`, why)),
    ...requiredName(textAt(spec, "externalName").replace(/\.$/, ""), "spec.externalName", dnsSubdomain),
  ];
}

function validatePorts(ports: readonly Spec[]): FieldError[] {
  const names = new Set<unknown>();
  return ports.flatMap((port, i) => {
    const path = `spec.ports[${i}]`;
    const name = textAt(port, "name");
    const errors = name !== "" ? named(name, `${path}.name`, dnsLabel) : [];
    if (name === "" && ports.length > 1) errors.push(required(`${path}.name`));
    if (name !== "" && names.has(name)) errors.push(duplicate(`${path}.name`, name));
    names.add(name);
    return [
      ...errors,
      ...validatePort(port.port, `${path}.port`),
      ...oneOfField(port.protocol, `${path}.protocol`, PROTOCOLS),
      ...validatePortOrName(port.targetPort, `${path}.targetPort`),
    ];
  });
}

function validateAffinity(spec: Spec): FieldError[] {
  const path = "spec.sessionAffinityConfig.clientIP.timeoutSeconds";
  const seconds = at(spec, "sessionAffinityConfig.clientIP.timeoutSeconds");
  if (spec.sessionAffinity !== "ClientIP" || typeof seconds !== "number") return [];
  if (seconds > 0 && seconds <= DAY_SECONDS) return [];
  return [invalid(path, seconds, `must be greater than 0 and less than ${DAY_SECONDS}`)];
}

function validateAddresses(spec: Spec): FieldError[] {
  if (spec.type === "ExternalName") return [];
  const ips = textsAt(spec, "clusterIPs");
  const first = textAt(spec, "clusterIP");
  const mismatch =
    first !== "" && ips[0] !== first
      ? [invalid("spec.clusterIPs", ips, "first value must match `clusterIP`")]
      : first === "" && ips.length > 0
        ? [invalid("spec.clusterIPs", ips, "must be empty when `clusterIP` is not specified")]
        : [];
  return [
    ...mismatch,
    ...textsAt(spec, "ipFamilies").flatMap((family, i) =>
      oneOfField(family, `spec.ipFamilies[${i}]`, ["IPv4", "IPv6"]),
    ),
    ...oneOfField(spec.ipFamilyPolicy, "spec.ipFamilyPolicy", ["PreferDualStack", "RequireDualStack", "SingleStack"]),
    ...ips.flatMap((ip, i) => (i === 0 && ip === "None" ? [] : validateIp(ip, `spec.clusterIPs[${i}]`))),
  ];
}

function validatePortUse(spec: Spec, ports: readonly Spec[]): FieldError[] {
  const isInner = spec.type === "ClusterIP";
  const isNode = (port: Spec) => typeof port.nodePort === "number" && port.nodePort !== 0;
  const again = (keyOf: (port: Spec) => unknown[]): ReadonlySet<number> =>
    laterOnes(ports.map((port) => JSON.stringify(keyOf(port))));
  const nodePorts = again(({ nodePort, protocol }) => [nodePort, protocol]);
  const inner = again(({ port, protocol }) => [port, protocol]);
  return [
    ...ports.flatMap((port, i) =>
      isInner && isNode(port)
        ? [forbidden(`spec.ports[${i}].nodePort`, "may not be used when `type` is 'ClusterIP'")]
        : [],
    ),
    ...ports.flatMap((port, i) =>
      isNode(port) && nodePorts.has(i) ? [duplicate(`spec.ports[${i}].nodePort`, port.nodePort)] : [],
    ),
    ...ports.flatMap(({ port, protocol }, i) =>
      inner.has(i)
        ? [
            duplicate(`spec.ports[${i}]`, {
              Name: "",
              Protocol: protocol,
              AppProtocol: null,
              Port: port,
              TargetPort: 0,
              NodePort: 0,
            }),
          ]
        : [],
    ),
  ];
}

function validateSourceRanges(spec: Spec): FieldError[] {
  const ranges = textsAt(spec, "loadBalancerSourceRanges");
  if (ranges.length === 0) return [];
  const field = "spec.LoadBalancerSourceRanges";
  return [
    ...(spec.type === "LoadBalancer" ? [] : [forbidden(field, "may only be used when `type` is 'LoadBalancer'")]),
    ...ranges.flatMap((range, i) => validateCidr(range.trim(), `${field}[${i}]`)),
  ];
}

/** Whether others than the cluster's own Pods reach it. */
export function isExposed(spec: Spec): boolean {
  const outside = spec.type === "ClusterIP" && textsAt(spec, "externalIPs").length > 0;
  return spec.type === "NodePort" || spec.type === "LoadBalancer" || outside;
}

/** Whether a load balancer asks each Node if it has Pods of the Service. */
export function needsHealthCheck(spec: Spec): boolean {
  return spec.type === "LoadBalancer" && spec.externalTrafficPolicy === "Local";
}

function validateTrafficPolicies(spec: Spec): FieldError[] {
  const policy = textAt(spec, "externalTrafficPolicy");
  const outer = isExposed(spec)
    ? oneOfField(policy, "spec.externalTrafficPolicy", ["Cluster", "Local"])
    : policy === ""
      ? []
      : [invalid("spec.externalTrafficPolicy", policy, "may only be set for externally-accessible services")];
  const check = spec.healthCheckNodePort;
  const unused =
    typeof check === "number" && check !== 0 && !needsHealthCheck(spec)
      ? [
          invalid(
            "spec.healthCheckNodePort",
            check,
            "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
          ),
        ]
      : [];
  return [
    ...outer,
    ...unused,
    ...oneOfField(spec.internalTrafficPolicy, "spec.internalTrafficPolicy", ["Cluster", "Local"]),
  ];
}
