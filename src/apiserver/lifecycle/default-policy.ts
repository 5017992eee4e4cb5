import { rfc3339 } from "../../base/clock.ts";
import { uuid } from "../../base/random.ts";
import { defaultPolicy, type PolicyObject } from "../auth/policy/default-policy.ts";
import { uncovered } from "../auth/rbac/coverage.ts";
import { type PolicyRule, rulesOf } from "../auth/rbac/policy-rule.ts";
import { clusterRole, clusterRoleBinding, role, roleBinding } from "../builtin/rbac.ts";
import type { Core } from "../core.ts";
import { copyJson, sameJson } from "../json-value.ts";
import { trackUpdate } from "../patch/managed-fields.ts";
import { apiVersionOf, collectionOf, objectKey } from "../registry.ts";
import type { Body, ServedResource } from "../served.ts";
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
 * lack, unless they are annotated not to be updated. More than the default in them stays.
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
  const { rules, ...rest } = body;
  const aggregated = body.aggregationRule !== undefined;
  const own = {
    before: undefined,
    after: aggregated ? (rest as Body) : body,
    manager: MANAGER,
    subresource: "",
    apiVersion: body.apiVersion,
    time: "",
    schema: resource.schema,
  };
  const gathered = {
    manager: AGGREGATOR,
    operation: "Apply",
    apiVersion: body.apiVersion,
    time: "",
    fieldsType: "FieldsV1",
    fieldsV1: { "f:rules": {} },
  };
  body.metadata.managedFields = [...(aggregated && rules !== undefined ? [gathered] : []), ...trackUpdate(own)];
  return body;
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
  const rules = uncovered(rulesOf(found), rulesOf(wanted));
  const subjects = subjectsOf(wanted).filter((subject) => !subjectsOf(found).some((held) => sameJson(held, subject)));
  if (rules.length === 0 && subjects.length === 0) return;
  const resource = core.registry.findKind(found.apiVersion, found.kind)!;
  const { name, namespace = "" } = found.metadata;
  await rewrite(ownCall(core, resource, namespace, name, MANAGER), (live) => {
    const next = copyJson(live);
    if (rules.length > 0) next.rules = [...rulesOf(next), ...rules] satisfies PolicyRule[];
    if (subjects.length > 0) next.subjects = [...subjectsOf(next), ...subjects];
    return next;
  });
}

function subjectsOf(binding: Body): readonly unknown[] {
  return (binding.subjects as readonly unknown[] | undefined) ?? [];
}
