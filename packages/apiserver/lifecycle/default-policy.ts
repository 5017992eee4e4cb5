import { rfc3339, sameJson, uuid } from "@slipway/base";
import { defaultPolicy, type PolicyObject } from "../auth/policy/default-policy.ts";
import { uncovered } from "../auth/rbac/coverage.ts";
import { type PolicyRule, rulesOf } from "../auth/rbac/policy-rule.ts";
import { clusterRole, clusterRoleBinding, role, roleBinding } from "../builtin/rbac.ts";
import type { Core } from "../core/call.ts";
import { copyJson } from "../json/value.ts";
import type { Body, ServedResource } from "../model/served.ts";
import { apiVersionOf } from "../model/served.ts";
import { collectionOf, objectKey } from "../storage/keys.ts";
import { rewrite } from "../verbs/update.ts";
import { ownCall } from "./work.ts";

const AUTO_UPDATE = "rbac.authorization.kubernetes.io/autoupdate";
const MANAGER = "kube-apiserver";
const AGGREGATOR = "clusterrole-aggregation-controller";

const RESOURCES: Readonly<Record<PolicyObject["plural"], ServedResource>> = {
  clusterroles: clusterRole,
  clusterrolebindings: clusterRoleBinding,
  roles: role,
  rolebindings: roleBinding,
};

/**
 * Creates the objects of the default policy that are missing and gives those that are there back the rules and subjects they
 * are missing, unless they are annotated not to be updated. More than the default in them stays.
 */
export async function seedPolicy(core: Core): Promise<void> {
  const now = rfc3339(core.clock.now());
  for (const { collection, key, body } of templates()) {
    const found = core.store.get(collection, key);
    if (found === undefined) core.store.put(collection, key, fresh(core, body, now), undefined);
    else if (found.metadata.annotations?.[AUTO_UPDATE] !== "false") await complete(core, found, body);
  }
}

interface Template {
  collection: string;
  key: string;
  body: Body;
}

let made: readonly Template[] | undefined;

/** The objects as they are stored, but for uid and times: made once, since every server of a process starts with the same. */
function templates(): readonly Template[] {
  made ??= defaultPolicy().map((object) => {
    const resource = RESOURCES[object.plural];
    const body = whole(object, resource);
    return { collection: collectionOf(resource), key: objectKey(object.namespace, object.name), body };
  });
  return made;
}

function whole({ name, namespace, labels, content }: PolicyObject, resource: ServedResource): Body {
  const body = {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: {
      name,
      ...(namespace !== "" && { namespace }),
      labels: { "kubernetes.io/bootstrapping": "rbac-defaults", ...labels },
      annotations: { [AUTO_UPDATE]: "true" },
    },
    ...content,
  } as unknown as Body;
  const entry = { apiVersion: body.apiVersion, time: "", fieldsType: "FieldsV1" };
  const aggregated = content.aggregationRule !== undefined;
  body.metadata.managedFields = [
    ...(aggregated ? [{ ...entry, manager: AGGREGATOR, operation: "Apply", fieldsV1: { "f:rules": {} } }] : []),
    { ...entry, manager: MANAGER, operation: "Update", fieldsV1: ownFields(body, aggregated) },
  ];
  return body;
}

/** What the policy itself sets of an object; the rules of aggregated roles are the aggregation's. */
function ownFields({ metadata, ...body }: Body, aggregated: boolean): Record<string, unknown> {
  const each = (names: object | undefined) =>
    Object.fromEntries(Object.keys(names ?? {}).map((name) => [`f:${name}`, {}]));
  const whole = (names: object | undefined) => ({ ".": {}, ...each(names) });
  const { rules, aggregationRule, roleRef, subjects } = body;
  return {
    ...(aggregated && { "f:aggregationRule": whole(aggregationRule as object) }),
    "f:metadata": { "f:annotations": whole(metadata.annotations), "f:labels": whole(metadata.labels) },
    ...each({ ...(roleRef !== undefined && { roleRef }), ...(rules !== undefined && !aggregated && { rules }) }),
    ...each(subjects === undefined ? {} : { subjects }),
  };
}

function fresh(core: Core, body: Body, now: string): Body {
  const managedFields = body.metadata.managedFields!.map((entry) => ({ ...(entry as object), time: now }));
  const metadata = {
    ...body.metadata,
    uid: uuid(core.random),
    resourceVersion: "",
    creationTimestamp: now,
    managedFields,
  };
  return { ...body, metadata };
}

async function complete(core: Core, found: Body, wanted: Body): Promise<void> {
  if (wanted.aggregationRule !== undefined) return;
  const { parts: rules } = uncovered(rulesOf(found), rulesOf(wanted));
  const subjects = subjectsOf(wanted).filter((subject) => !subjectsOf(found).some((held) => sameJson(held, subject)));
  if (rules.length === 0 && subjects.length === 0) return;
  const resource = core.registry.findKind(found.apiVersion, found.kind)!;
  const { name, namespace = "" } = found.metadata;
  await rewrite(ownCall(core, resource, { namespace, name, manager: MANAGER }), (live) => {
    const next = copyJson(live);
    if (rules.length > 0) next.rules = [...rulesOf(next), ...rules] satisfies PolicyRule[];
    if (subjects.length > 0) next.subjects = [...subjectsOf(next), ...subjects];
    return next;
  });
}

function subjectsOf(binding: Body): readonly unknown[] {
  return (binding.subjects as readonly unknown[] | undefined) ?? [];
}
