/** What a PacketCluster's and a PacketMachine's fields may be, beyond their types. What exists already is exempt from the rules for new objects. */
import type { Rule } from "../kind.ts";

const set = (of: string, field: string): string => `(has(${of}.${field}) && ${of}.${field} != '')`;
const both = (of: string): string => `(${set(of, "metro")} && ${set(of, "facility")})`;
const neither = (of: string): string => `(!${set(of, "metro")} && !${set(of, "facility")})`;

/** The field is the same as before, there or not. */
const unchanged = (field: string): string =>
  `(has(self.${field}) == has(oldSelf.${field}) && (!has(self.${field}) || self.${field} == oldSelf.${field}))`;

const notBoth = (path: string): Rule => ({
  path,
  rule: `!${both("self")} || (oldSelf.hasValue() && ${both("oldSelf.value()")})`,
  message: "give metro or facility, not both",
  optionalOldSelf: true,
});

/** Rules of a PacketCluster's specification at `path`. */
export const clusterRules = (path: string): Rule[] => [
  {
    path,
    rule: `!${neither("self")} || has(self.providerRef) || (oldSelf.hasValue() && ${neither("oldSelf.value()")})`,
    message: "metro or facility is required",
    optionalOldSelf: true,
  },
  notBoth(path),
  { path, rule: "self.projectID == oldSelf.projectID", message: "projectID can't be changed" },
  {
    path,
    rule: "self.vipManager == oldSelf.vipManager || oldSelf.vipManager == 'EMLB'",
    message: "vipManager can't be changed",
  },
];

/** What may change of a machine that exists: its providerID, tags, metro and facility, and how it is given back. */
const FIXED = ["billingCycle", "ipxeURL", "hardwareReservationID", "sshKeys", "spot", "providerRef"] as const;

/** Rules of a PacketMachine's specification. */
export const machineRules: Rule[] = [
  notBoth("spec"),
  {
    path: "spec",
    rule: `self.os == oldSelf.os && self.machineType == oldSelf.machineType && ${FIXED.map(unchanged).join(" && ")}`,
    message:
      "of a machine that exists, providerID, tags, metro, facility, metros, machineTypes and reclaimPolicy can be changed alone",
  },
  {
    path: "spec",
    rule: `!${set("oldSelf", "providerID")} || (has(self.providerID) && self.providerID == oldSelf.providerID)`,
    message: "providerID can't be changed once it is set",
  },
];

/** The template at `path` is what it was: machines that were made of it would not change with it. */
export const immutable = (path: string): Rule => ({
  path,
  rule: "self == oldSelf",
  message: "a template can't be changed: create another one and refer to that",
});

/** On the machines of a template: a ClusterClass has it, so its copies are changed by upstream's topology controller, at least for trial. */
const OF_CLASS = "slipway.dev/cluster-class";

/**
 * As `immutable`, but for templates of ClusterClasses: how much a copy of theirs differs is found out by changing it in a dry run, which a rule
 * can't tell from a change.
 */
export const immutableUnlessOfClass: Rule = {
  path: "spec.template",
  rule: `self.spec == oldSelf.spec || (has(oldSelf.metadata) && has(oldSelf.metadata.annotations) && '${OF_CLASS}' in oldSelf.metadata.annotations)`,
  message: `a template can't be changed: create another one and refer to that; one for a ClusterClass needs annotation ${OF_CLASS} in its template's metadata`,
};
