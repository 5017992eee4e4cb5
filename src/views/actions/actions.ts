import type { KubeObject } from "@slipway/kube";
import { at } from "../../kinds/cluster-api/field-path.ts";
import { PROTECT } from "../../kinds/harvester/protect.ts";
import { rowOf } from "../row.ts";
import { type Action, annotating, deleting, patching, scaling, type Target, targetOf } from "./action.ts";
import { hostActions } from "./host-actions.ts";

/** Cluster API's annotation that has controllers leave an object alone. */
const PAUSED = "cluster.x-k8s.io/paused";
const SCALED = new Set(["InstancePool", "MachineDeployment", "MachineSet", "KamajiControlPlane", "TenantControlPlane"]);
const PROTECTED = new Set(["Instance", "InstancePool"]);
/** Machines that their pool makes anew once they are deleted. */
const REPLACED = new Set(["Instance", "Machine"]);
const PAUSED_BY_ANNOTATION = new Set(["Machine", "MachineSet", "PacketMachine", "PlunderMachine"]);
const PAUSED_BY_FIELD = new Set(["Cluster", "MachineDeployment"]);

/** What can be done with an object, but for scaling: that takes a number. Kinds that are not followed: nothing. Pure. */
export function actionsOf(object: KubeObject): Action[] {
  const target = targetOf(object);
  if (target === undefined) return [];
  const { kind } = object;
  return [
    ...(kind === "BareMetalHost" ? hostActions(target) : []),
    ...(PROTECTED.has(kind) ? [protection(target)] : []),
    ...(REPLACED.has(kind) ? [replacement(target)] : []),
    ...pausing(target),
  ];
}

/** How many members a pool is to have, 0 where it does not say; undefined: the object has no members. */
export function scaleOf(object: KubeObject): { wanted: number } | undefined {
  if (!SCALED.has(object.kind)) return undefined;
  const deployed = at(object, "spec.controlPlane.deployment.replicas");
  const wanted = typeof deployed === "number" ? deployed : rowOf(object).members?.wanted;
  return { wanted: wanted ?? 0 };
}

/** Scales a pool, a control plane or the like; `members`: those that it has now. Undefined: it can't be scaled to that. Pure. */
export function scaleTo(object: KubeObject, replicas: number, members: readonly KubeObject[] = []): Action | undefined {
  const target = targetOf(object);
  const scale = scaleOf(object);
  if (target === undefined || scale === undefined || !Number.isInteger(replicas) || replicas < 0) return undefined;
  const leaving = scale.wanted - replicas;
  const choice = members.map(({ metadata: { name } }) => name).sort();
  const lost = `${leaving} of ${object.kind} ${object.metadata.name}'s ${scale.wanted} members, with what is on their disks`;
  return scaling(target, replicas, {
    ...{ id: "scale", label: "Scale", about: `Have ${replicas} members in place of ${scale.wanted}.` },
    destroys: leaving <= 0 ? [] : [choice.length === 0 ? lost : `${lost}; chosen among ${choice.join(", ")}`],
  });
}

function protection(target: Target): Action {
  const { kind, metadata } = target.object;
  return metadata.annotations?.[PROTECT] === "true"
    ? annotating(target, PROTECT, null, {
        ...{ id: "unprotect", label: "Unprotect", about: `Let ${kind} ${metadata.name} be deleted again.` },
      })
    : annotating(target, PROTECT, "true", {
        ...{ id: "protect", label: "Protect" },
        about: `${kind} ${metadata.name} is not deleted, and not chosen when a pool shrinks.`,
      });
}

function replacement(target: Target): Action {
  const { kind, metadata } = target.object;
  const row = rowOf(target.object);
  const isPooled = (metadata.ownerReferences ?? []).length > 0;
  const machine = row.machine === undefined ? "" : ` (${row.machine})`;
  const isProtected = metadata.annotations?.[PROTECT] === "true";
  return deleting(target, {
    id: isPooled ? "replace" : "delete",
    label: isPooled ? "Replace" : "Delete",
    about: isPooled
      ? `Give the machine of ${metadata.name} back; its pool makes another.`
      : `Give the machine of ${metadata.name} back. Nothing makes another.`,
    destroys: [
      `${kind} ${metadata.name} and the data on its machine${machine}`,
      ...(row.node === undefined ? [] : [`Node ${row.node}: its Pods are evicted`]),
    ],
    refused: isProtected ? `it is protected by the annotation ${PROTECT}: unprotect it first` : undefined,
  });
}

function pausing(target: Target): Action[] {
  const { object } = target;
  const { kind, metadata } = object;
  const pause = { id: "pause", label: "Pause", about: `Controllers leave ${kind} ${metadata.name} alone.` } as const;
  const resume = { id: "resume", label: "Resume", about: `Controllers go on with ${kind} ${metadata.name}.` } as const;
  if (PAUSED_BY_FIELD.has(kind)) {
    const isPaused = at(object, "spec.paused") === true;
    return [patching(target, { spec: { paused: !isPaused } }, isPaused ? resume : pause)];
  }
  if (!PAUSED_BY_ANNOTATION.has(kind)) return [];
  const isPaused = metadata.annotations?.[PAUSED] !== undefined;
  return [annotating(target, PAUSED, isPaused ? null : "true", isPaused ? resume : pause)];
}
