/**
 * Kinds of Cluster API that stay upstream's. Their definitions are there so that who applies one reads why it is refused; clusterctl lists some of
 * them. Upstream's own definitions take their place.
 */
import { z } from "zod";
import { defineKind, type Kind } from "../kind.ts";
import { CATEGORIES, GROUP } from "./fields.ts";

/** Why a kind is refused, in words. */
export const refusalOf = (kind: string): string =>
  `${kind} is served by upstream's Cluster API only: install it with clusterctl init`;

const refused = (of: { kind: string; plural: string; group?: string; shortNames?: string[]; what: string }): Kind =>
  defineKind({
    group: of.group ?? GROUP,
    version: "v1beta2",
    kind: of.kind,
    plural: of.plural,
    namespaced: true,
    shortNames: of.shortNames ?? [],
    categories: CATEGORIES,
    description: `${of.what} of Cluster API. Upstream's Cluster API serves it, Slipway's light core refuses it.`,
    spec: z.looseObject({}).optional(),
    columns: [],
    rules: [
      {
        path: "",
        rule: "false",
        message: refusalOf(of.kind),
      },
    ],
  }) as unknown as Kind;

export const REFUSED: readonly Kind[] = [
  refused({ kind: "ClusterClass", plural: "clusterclasses", shortNames: ["cc"], what: "Class of clusters" }),
  refused({ kind: "MachinePool", plural: "machinepools", shortNames: ["mp"], what: "Pool of machines" }),
  refused({ kind: "MachineDrainRule", plural: "machinedrainrules", what: "Rule of draining" }),
  refused({
    kind: "KubeadmControlPlane",
    plural: "kubeadmcontrolplanes",
    group: "controlplane.cluster.x-k8s.io",
    shortNames: ["kcp"],
    what: "Control plane on machines",
  }),
  refused({
    kind: "KubeadmControlPlaneTemplate",
    plural: "kubeadmcontrolplanetemplates",
    group: "controlplane.cluster.x-k8s.io",
    what: "Template of control planes on machines",
  }),
  refused({
    kind: "ClusterResourceSet",
    plural: "clusterresourcesets",
    group: "addons.cluster.x-k8s.io",
    what: "Objects for new clusters",
  }),
];
