/**
 * What applying an object brings about, for `slipway plan`: objects that controllers make for it, and machines that are ordered. A system says it
 * of its own kinds with the same pure functions that its controllers decide with; the plan follows from object to object, whichever systems they are of.
 */
import type { KubeObject, ObjectMeta, Ref, Resource } from "@slipway/kube";
import type { Kind } from "../kinds/kind.ts";
import type { AccountSource } from "../machines/accounts.ts";
import type { Concern, Order, Placement } from "../machines/machine.ts";
import type { OwnAccount } from "./providers/accounts.ts";

/** The cluster as it would be once everything is applied. */
export interface PlannedCluster {
  find<T extends KubeObject>(resource: Resource<T>, ref: Ref): Promise<T | undefined>;
  /** An object whose version nobody says, as Cluster API's references have it. */
  referenced(
    reference: { apiGroup: string; kind: string; name: string },
    namespace: string,
  ): Promise<KubeObject | undefined>;
}

/** A machine that is ordered for an object. */
export interface MachineWish {
  account: AccountSource;
  /** Where it may be, the preferred place first. */
  placements: readonly Placement[];
  /** On the spot market; `maxPrice` per hour. */
  spot?: { maxPrice?: string } | undefined;
  order(placement: Placement): Order;
  /** What can't work, whichever provider serves it. */
  concerns: readonly Concern[];
}

/** Objects that are made for another one, all alike. */
export interface Made {
  object: KubeObject;
  times: number;
  /** The object that its specification is copied from, and where it stands there: `spec.template`. */
  from?: { kind: string; name: string; at: string };
}

export interface Effects {
  makes?: readonly Made[];
  machine?: MachineWish;
  /** What keeps the rest from being known: a template that is missing. */
  unknown?: string;
}

/** What objects of a kind bring about. */
export interface Planning {
  kind: Kind;
  effects(object: KubeObject, around: PlannedCluster, own: OwnAccount): Promise<Effects>;
}

/** An object as it would be made: without what the API gives it. */
export function notYetMade(
  { group, version, kind }: Pick<Resource, "group" | "version" | "kind">,
  metadata: Partial<ObjectMeta> & { name: string },
  spec: unknown,
): KubeObject {
  const apiVersion = group === "" ? version : `${group}/${version}`;
  const object = {
    apiVersion,
    kind,
    metadata: { uid: "", resourceVersion: "", creationTimestamp: "", ...metadata },
    spec,
  };
  return object;
}
