import { about, bool, fields, int64, listOf, mapOf, text, texts, time } from "../builtin/schema-words.ts";
import { serve } from "../builtin/serve.ts";
import type { Schema, ServedResource } from "../served.ts";

/** The kinds that ask a question: created, answered and never kept. */

const requirement = fields({ "key!": text, "operator!": text, values: texts });
const selector = fields({ rawSelector: text, requirements: listOf(requirement) });
const extra = mapOf(texts);

const resourceAttributes = about(
  "An action on a resource; empty fields mean all.",
  fields({
    namespace: text,
    verb: text,
    group: text,
    version: text,
    resource: text,
    subresource: text,
    name: text,
    fieldSelector: selector,
    labelSelector: selector,
  }),
);
const nonResourceAttributes = about("An action on a path.", fields({ path: text, verb: text }));
const verdict = about("The answer.", fields({ "allowed!": bool, denied: bool, reason: text, evaluationError: text }));
const userInfo = fields({ username: text, uid: text, groups: texts, extra });

const aboutMyself = fields({ resourceAttributes, nonResourceAttributes });
const aboutAnybody = fields({ resourceAttributes, nonResourceAttributes, user: text, groups: texts, extra, uid: text });

function question(
  apiVersion: string,
  kind: string,
  description: string,
  members: Readonly<Record<string, Schema>>,
  namespaced = false,
): ServedResource {
  const required = members.spec === undefined ? {} : { required: ["spec"] };
  const made = serve({
    apiVersion,
    kind,
    description,
    members,
    ...required,
    namespaced,
    verbs: ["create"],
    columns: [],
  });
  return { ...made, isQuestion: true };
}

const AUTHORIZATION = "authorization.k8s.io/v1";
const AUTHENTICATION = "authentication.k8s.io/v1";

export const accessReview = question(AUTHORIZATION, "SubjectAccessReview", "Whether someone may do something.", {
  spec: aboutAnybody,
  status: verdict,
});

export const localAccessReview = question(
  AUTHORIZATION,
  "LocalSubjectAccessReview",
  "Whether someone may do something within a namespace.",
  { spec: aboutAnybody, status: verdict },
  true,
);

export const ownAccessReview = question(AUTHORIZATION, "SelfSubjectAccessReview", "Whether I may do something.", {
  spec: aboutMyself,
  status: verdict,
});

export const ownRulesReview = question(AUTHORIZATION, "SelfSubjectRulesReview", "What I may do in a namespace.", {
  spec: fields({ namespace: text }),
  status: fields({
    "resourceRules!": listOf(fields({ "verbs!": texts, apiGroups: texts, resources: texts, resourceNames: texts })),
    "nonResourceRules!": listOf(fields({ "verbs!": texts, nonResourceURLs: texts })),
    "incomplete!": bool,
    evaluationError: text,
  }),
});

export const ownReview = question(AUTHENTICATION, "SelfSubjectReview", "Who I am.", { status: fields({ userInfo }) });

export const tokenReview = question(AUTHENTICATION, "TokenReview", "Whose token it is.", {
  spec: fields({ token: text, audiences: texts }),
  status: fields({ authenticated: bool, user: userInfo, audiences: texts, error: text }),
});

/** Posted to a ServiceAccount's subresource `token`; not a resource of its own. */
export const tokenRequest = question(AUTHENTICATION, "TokenRequest", "A token for a ServiceAccount.", {
  spec: fields({
    "audiences!": texts,
    expirationSeconds: int64,
    boundObjectRef: { ...fields({ kind: text, apiVersion: text, name: text, uid: text }), nullable: true },
  }),
  status: fields({ "token!": text, "expirationTimestamp!": time }),
});
