import { serve } from "../builtin/serve.ts";
import type { ServedResource } from "../model/served.ts";

/** The kinds that ask a question: created, answered and never kept. */

function question(apiVersion: string, kind: string, description: string, namespaced = false): ServedResource {
  return serve({ apiVersion, kind, description, namespaced, verbs: ["create"], columns: [], isQuestion: true });
}

const AUTHORIZATION = "authorization.k8s.io/v1";
const AUTHENTICATION = "authentication.k8s.io/v1";

export const accessReview = question(AUTHORIZATION, "SubjectAccessReview", "Whether someone may do something.");

export const localAccessReview = question(
  AUTHORIZATION,
  "LocalSubjectAccessReview",
  "Whether someone may do something within a namespace.",
  true,
);

export const ownAccessReview = question(AUTHORIZATION, "SelfSubjectAccessReview", "Whether I may do something.");

export const ownRulesReview = question(AUTHORIZATION, "SelfSubjectRulesReview", "What I may do in a namespace.");

export const ownReview = question(AUTHENTICATION, "SelfSubjectReview", "Who I am.");

export const tokenReview = question(AUTHENTICATION, "TokenReview", "Whose token it is.");

/** Posted to a ServiceAccount's subresource `token`; not a resource of its own. */
export const tokenRequest = question(AUTHENTICATION, "TokenRequest", "A token for a ServiceAccount.");
