/**
 * CEL rules of TenantControlPlane: those of Kamaji's definition, and of its webhook's rules those that CEL can check at a bounded price. All
 * look at the new object. `check.ts` has the same rules, and the rest, with messages that name the values.
 */
import type { Rule } from "../kind.ts";

const isLoadBalancer = (object: string) => `${object}.controlPlane.service.serviceType == 'LoadBalancer'`;
const has = (object: string, field: string) =>
  `(has(${object}.networkProfile) && has(${object}.networkProfile.${field}))`;

const kept = (field: string, instead: string): Rule => ({
  path: "spec",
  rule: `!has(oldSelf.${field}) || has(self.${field})`,
  message: `${field} can't be removed once it is set: ${instead}`,
});
const unchanged = (path: string, message: string): Rule => ({ path, rule: "self == oldSelf", message });
const withLoadBalancer = (rule: string, field: string): Rule => ({
  path: "spec",
  rule: `${rule} || ${isLoadBalancer("self")}`,
  message: `${field} needs controlPlane.service.serviceType LoadBalancer: set that type, or remove the field`,
});

const networkRule = (field: string, rule: string, message: string): Rule => ({
  path: `spec.networkProfile.${field}`,
  rule,
  message,
});
const PREFIX = "write an address, a slash and a prefix length, such as 10.96.0.0/16 or fd00::/108";
const prefixText = (field: string) => networkRule(field, "self == '' || isCIDR(self)", `not a prefix: ${PREFIX}`);
const prefixList = (field: string) =>
  networkRule(field, "self.all(one, isCIDR(one))", `not all are prefixes: ${PREFIX}`);

/** Lists have precedence over single fields, and an empty single field is the default, as in `network.ts`. */
const prefixes = (list: string, single: string, otherwise: string) =>
  `(has(self.${list}) ? self.${list} : [self.${single} == '' ? '${otherwise}' : self.${single}])`;
const services = prefixes("serviceCidrs", "serviceCidr", "10.96.0.0/16");
const pods = prefixes("podCidrs", "podCidr", "10.244.0.0/16");
/** What is no prefix has a rule of its own. */
const disjoint = "!isCIDR(s) || !isCIDR(p) || !(cidr(s).containsCIDR(p) || cidr(p).containsCIDR(s))";

/** A version as Kubernetes has them: `v1.34.2`, the v optional. */
const VERSION = "^v?1[.][0-9]+[.][0-9]+([-+][0-9A-Za-z.+-]*)?$";
const minor = (version: string) => `int(${version}.split('.')[1])`;
const isVersion = (text: string) => `${text}.matches('${VERSION}')`;

const WANTED = "self.spec.kubernetes.version";
const BEFORE = "oldSelf.spec.kubernetes.version";
const INSTALLED = "self.status.kubernetesResources.version.version";
/** Something was installed, and it is of a later minor than what is wanted. */
const isBelowInstalled = [
  "has(self.status) && has(self.status.kubernetesResources) && has(self.status.kubernetesResources.version)",
  `has(${INSTALLED}) && ${isVersion(INSTALLED)} && ${minor(INSTALLED)} > ${minor(WANTED)}`,
].join(" && ");

export const rules: readonly Rule[] = [
  {
    path: "",
    // One that exists must still be changeable, or its finalizers could not go.
    rule: "oldSelf.hasValue() || (size(self.metadata.name) <= 63 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$'))",
    message:
      "the name becomes that of a Service: use at most 63 lower-case letters, digits and dashes, with a letter first and no dash last",
    optionalOldSelf: true,
  },
  kept("dataStore", "leave it, or name another DataStore to move to"),
  kept("dataStoreSchema", "leave it as it is"),
  kept("dataStoreUsername", "leave it as it is"),
  unchanged("spec.dataStoreSchema", "the schema can't be changed: the tenant's objects are in it"),
  unchanged("spec.dataStoreUsername", "the user can't be changed: the tenant's objects belong to it"),
  withLoadBalancer(
    `!${has("self", "loadBalancerSourceRanges")} || size(self.networkProfile.loadBalancerSourceRanges) == 0`,
    "networkProfile.loadBalancerSourceRanges",
  ),
  withLoadBalancer(`!${has("self", "loadBalancerClass")}`, "networkProfile.loadBalancerClass"),
  withLoadBalancer(
    "!has(self.controlPlane.service.allocateLoadBalancerNodePorts)",
    "controlPlane.service.allocateLoadBalancerNodePorts",
  ),
  {
    path: "spec",
    rule: `!(${isLoadBalancer("self")} && ${isLoadBalancer("oldSelf")}) || ${has("self", "loadBalancerClass")} == ${has("oldSelf", "loadBalancerClass")}`,
    message:
      "networkProfile.loadBalancerClass can be neither added nor removed while the type is LoadBalancer: change the type first",
  },
  {
    path: "spec.addons.konnectivity.agent",
    rule: "!has(self.replicas) || (self.mode == 'DaemonSet' ? self.replicas == 0 : self.replicas > 0)",
    message: "replicas must be above 0 with mode Deployment, and 0 or absent with mode DaemonSet",
  },
  {
    path: "spec.controlPlane",
    rule: "!has(self.ingress) || !has(self.gateway)",
    message: "ingress and gateway exclude each other: remove one of them",
  },
  {
    path: "spec.kubernetes.version",
    rule: `self.matches('${VERSION}')`,
    message: "not a version of Kubernetes: write all three numbers, such as v1.34.2",
  },
  {
    path: "",
    // What was only asked for, as by a slip, can be taken back.
    rule: `!${isVersion(WANTED)} || !${isVersion(BEFORE)} || ${minor(WANTED)} >= ${minor(BEFORE)} || !(${isBelowInstalled})`,
    message:
      "spec.kubernetes.version: the minor version can't go below the one that is installed: Kubernetes can't read back what a later one has stored",
  },
  networkRule("advertiseAddress", "self == '' || isIP(self)", "not an IP address: write one such as 192.0.2.10"),
  networkRule(
    "clusterDomain",
    "self == oldSelf",
    "the cluster's domain can't be changed: nodes and certificates have it",
  ),
  networkRule("loadBalancerClass", "self == oldSelf", "the class of a load balancer can't be changed"),
  prefixList("loadBalancerSourceRanges"),
  prefixText("serviceCidr"),
  prefixText("podCidr"),
  prefixList("serviceCidrs"),
  prefixList("podCidrs"),
  {
    path: "spec.networkProfile",
    rule: `!has(self.dnsServiceIPs) || self.dnsServiceIPs.all(one, isIP(one) && ${services}.exists(s, isCIDR(s) && cidr(s).containsIP(one)))`,
    message:
      "dnsServiceIPs must be addresses inside the service CIDRs: correct them, or remove them to have them chosen",
  },
  {
    path: "spec.networkProfile",
    rule: `${services}.all(s, ${pods}.all(p, ${disjoint}))`,
    message: "service and pod CIDRs overlap: choose prefixes that share no address",
  },
];
