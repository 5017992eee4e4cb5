/** What a user can do with an object: the request, the same as a command of kubectl, and what is lost by it. Pure: others ask and send. */
import type { KubeObject } from "@slipway/kube";
import { type FollowedKind, followedKindOf } from "../followed-kinds.ts";

export type ActionId =
  | "scale"
  | "replace"
  | "protect"
  | "unprotect"
  | "power-on"
  | "power-off"
  | "reset"
  | "inspect"
  | "wipe"
  | "give-back"
  | "approve"
  | "withdraw"
  | "pause"
  | "resume"
  | "delete";

/** A request to the Kubernetes API. */
export interface ApiCall {
  method: "PATCH" | "DELETE" | "POST";
  path: string;
  contentType?: string;
  body?: object;
}

/** What SelfSubjectAccessReview is asked: `spec.resourceAttributes`. */
export interface AccessWish {
  verb: "patch" | "delete" | "update";
  group: string;
  resource: string;
  subresource?: string;
  namespace?: string;
  name: string;
}

export interface Action {
  id: ActionId;
  label: string;
  /** What it does, in one sentence. */
  about: string;
  call: ApiCall;
  kubectl: string;
  /** What is lost by it, one thing each; none: nothing that can't be brought back. */
  destroys: readonly string[];
  access: AccessWish;
  /** Why it would not be done now, as the object stands, and what to do instead. */
  refused?: string | undefined;
}

/** An object whose kind is followed, with what requests and commands about it need. */
export interface Target {
  object: KubeObject;
  kind: FollowedKind;
}

/** The target that an object is; undefined: its kind is not followed. */
export function targetOf(object: KubeObject): Target | undefined {
  const kind = followedKindOf(object);
  return kind && { object, kind };
}

/** Path of an object at the Kubernetes API. */
export function apiPath({ object: { apiVersion, metadata }, kind: { group, plural } }: Target): string {
  const root = group === "" ? `/api/${apiVersion}` : `/apis/${apiVersion}`;
  const within = metadata.namespace === undefined ? "" : `/namespaces/${encodeURIComponent(metadata.namespace)}`;
  return `${root}${within}/${plural}/${encodeURIComponent(metadata.name)}`;
}

/** `kubectl -n NAMESPACE VERB …`. */
export function kubectl({ object: { metadata } }: Target, ...words: readonly string[]): string {
  const place = metadata.namespace === undefined ? [] : ["-n", metadata.namespace];
  return ["kubectl", ...place, ...words].map(quoted).join(" ");
}

/** `plural.group/name`, as kubectl takes it. */
export const named = ({ object, kind }: Target): string => `${kind.name}/${object.metadata.name}`;

/** A word for a POSIX shell. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

type Said = Pick<Action, "id" | "label" | "about"> & Partial<Pick<Action, "destroys" | "refused">>;

/** An action that is a merge patch of the object. */
export function patching(target: Target, patch: object, said: Said): Action {
  return {
    destroys: [],
    ...said,
    call: { method: "PATCH", path: apiPath(target), contentType: "application/merge-patch+json", body: patch },
    kubectl: kubectl(target, "patch", named(target), "--type", "merge", "-p", JSON.stringify(patch)),
    access: access(target, "patch"),
  };
}

/** An action that sets an annotation, or takes it off. */
export function annotating(target: Target, name: string, value: string | null, said: Said): Action {
  return {
    ...patching(target, { metadata: { annotations: { [name]: value } } }, said),
    kubectl: kubectl(
      target,
      "annotate",
      named(target),
      value === null ? `${name}-` : `${name}=${value}`,
      "--overwrite",
    ),
  };
}

/** An action that deletes the object, if it is still the one that was looked at. */
export function deleting(target: Target, said: Said): Action {
  const { uid } = target.object.metadata;
  return {
    destroys: [],
    ...said,
    call: {
      ...{ method: "DELETE", path: apiPath(target), contentType: "application/json" },
      body: { apiVersion: "v1", kind: "DeleteOptions", preconditions: { uid } },
    },
    kubectl: kubectl(target, "delete", named(target)),
    access: access(target, "delete"),
  };
}

/** The number of members of a pool. `destroys`: see `Action`. */
export function scaling(target: Target, replicas: number, said: Said): Action {
  return {
    destroys: [],
    ...said,
    call: {
      ...{ method: "PATCH", path: `${apiPath(target)}/scale`, contentType: "application/merge-patch+json" },
      body: { spec: { replicas } },
    },
    kubectl: kubectl(target, "scale", named(target), `--replicas=${replicas}`),
    access: { ...access(target, "patch"), subresource: "scale" },
  };
}

function access({ object: { metadata }, kind }: Target, verb: AccessWish["verb"]): AccessWish {
  const { name, namespace } = metadata;
  return { verb, group: kind.group, resource: kind.plural, ...(namespace !== undefined && { namespace }), name };
}
