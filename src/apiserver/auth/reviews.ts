import type { Core } from "../core.ts";
import { isRecord } from "../json-value.ts";
import type { User } from "../request.ts";
import type { ServedResource } from "../served.ts";
import { badRequest } from "../status.ts";

/** Questions about access that are answered and not stored (`kubectl auth can-i`, `kubectl auth whoami`). */
export async function review(
  core: Core,
  group: string,
  plural: string,
  body: unknown,
  user: User,
): Promise<unknown | undefined> {
  const asked = isRecord(body) ? body : {};
  const spec = isRecord(asked.spec) ? asked.spec : {};
  if (group === "authentication.k8s.io" && plural === "selfsubjectreviews")
    return {
      ...asked,
      metadata: {},
      status: {
        userInfo: {
          username: user.name,
          ...(user.uid ? { uid: user.uid } : {}),
          groups: user.groups,
          ...(user.extra ? { extra: user.extra } : {}),
        },
      },
    };
  if (group !== "authorization.k8s.io") return undefined;
  switch (plural) {
    case "selfsubjectaccessreviews":
    case "localsubjectaccessreviews":
    case "subjectaccessreviews": {
      const about = plural === "selfsubjectaccessreviews" ? user : subject(spec);
      const { allowed, reason } = await core.authorize(attributes(about, spec));
      return { ...asked, metadata: {}, status: { allowed, ...(reason === undefined ? {} : { reason }) } };
    }
    case "selfsubjectrulesreviews": {
      const everything = await core.authorize({ ...NOTHING, user, verb: "*", plural: "*", group: "*" });
      const resourceRules = everything.allowed ? [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }] : [];
      const nonResourceRules = everything.allowed ? [{ verbs: ["*"], nonResourceURLs: ["*"] }] : [];
      // Without RBAC's rules at hand an incomplete answer is all that can be given, and it says so.
      return { ...asked, metadata: {}, status: { resourceRules, nonResourceRules, incomplete: !everything.allowed } };
    }
    default:
      return undefined;
  }
}

/** The groups and kinds above, for discovery. */
export const REVIEWS: readonly { group: string; plural: string; kind: string; namespaced: boolean }[] = [
  { group: "authentication.k8s.io", plural: "selfsubjectreviews", kind: "SelfSubjectReview", namespaced: false },
  {
    group: "authorization.k8s.io",
    plural: "localsubjectaccessreviews",
    kind: "LocalSubjectAccessReview",
    namespaced: true,
  },
  {
    group: "authorization.k8s.io",
    plural: "selfsubjectaccessreviews",
    kind: "SelfSubjectAccessReview",
    namespaced: false,
  },
  {
    group: "authorization.k8s.io",
    plural: "selfsubjectrulesreviews",
    kind: "SelfSubjectRulesReview",
    namespaced: false,
  },
  { group: "authorization.k8s.io", plural: "subjectaccessreviews", kind: "SubjectAccessReview", namespaced: false },
];

const NOTHING = { group: "", version: "*", plural: "", subresource: "", namespace: "", name: "", path: "" };

function subject(spec: Record<string, unknown>): User {
  const name = spec.user ?? "";
  const groups = spec.groups ?? [];
  if (typeof name !== "string" || !Array.isArray(groups))
    throw badRequest("spec.user: expected a string; spec.groups: expected strings");
  return { name, groups: groups.map(String) };
}

function attributes(user: User, spec: Record<string, unknown>) {
  const part = (of: unknown, name: string): string => (isRecord(of) && typeof of[name] === "string" ? of[name] : "");
  const resource = spec.resourceAttributes;
  const path = spec.nonResourceAttributes;
  if (isRecord(path)) return { ...NOTHING, user, verb: part(path, "verb"), path: part(path, "path") };
  return {
    user,
    verb: part(resource, "verb"),
    group: part(resource, "group"),
    version: part(resource, "version") || "*",
    plural: part(resource, "resource"),
    subresource: part(resource, "subresource"),
    namespace: part(resource, "namespace"),
    name: part(resource, "name"),
    path: "",
  };
}

/** The review resources as discovery shows them. They are created and answered, never kept. */
export function reviewResources(): ServedResource[] {
  return REVIEWS.map(({ group, plural, kind, namespaced }) => ({
    group,
    version: "v1",
    kind,
    listKind: `${kind}List`,
    plural,
    singular: kind.toLowerCase(),
    shortNames: [],
    categories: [],
    namespaced,
    verbs: ["create"],
    status: false,
    schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    builtIn: true,
    columns: [],
    hasGeneration: false,
    storageVersion: `${group}/v1`,
  }));
}
