import { rfc3339 } from "@slipway/base";
import type { Answer, Call } from "../core/call.ts";
import { letOthersGo, passesInTurns } from "../json/turns.ts";
import { invalid as invalidField } from "../model/field-error.ts";
import { at, textAt, textsAt } from "../model/read.ts";
import type { User } from "../model/request.ts";
import { apiVersionOf, type Body, type FieldError, type ServedResource } from "../model/served.ts";
import { badRequest, invalid } from "../model/status.ts";
import { updatedManagers } from "../patch/managed-fields.ts";
import { writeManagers } from "../patch/managers.ts";
import { decodeObject, fillIn, managerOf } from "../verbs/object.ts";
import { askedOf, metadataError, questionErrors, subjectOf } from "./access-review.ts";
import type { Authorizer } from "./authorize.ts";
import { isEmpty } from "./rbac/policy-rule.ts";
import {
  accessReview,
  localAccessReview,
  ownAccessReview,
  ownReview,
  ownRulesReview,
  tokenReview,
} from "./review-kinds.ts";
import type { JudgeToken, TokenVerdict } from "./token-verdict.ts";

/** A kind that is a question, and its answer. */
export interface Question {
  resource: ServedResource;
  answer: Answer;
}

/** The resources that answer questions about access: created, answered, never kept. */
export function reviews({ authorize, rulesFor }: Authorizer, judge: JudgeToken): Question[] {
  const decide = async (review: Body, user: User): Promise<Body> => {
    const { allowed, reason = "" } = await authorize(askedOf(review, user));
    return { ...review, status: { allowed, ...(reason !== "" && { reason }) } };
  };
  const answering = (
    resource: ServedResource,
    answer: (review: Body, call: Call) => Body | Promise<Body>,
  ): Question => ({ resource, answer: async (call) => await answer(await asked(call), call) });
  return [
    answering(ownReview, (review, call) => ({
      ...bare(review),
      metadata: { creationTimestamp: rfc3339(call.core.clock.now()) } as Body["metadata"],
      status: { userInfo: infoOf(call.user) },
    })),
    answering(tokenReview, (review) => {
      const token = textAt(review, "spec.token");
      if (token === "") throw badRequest("token is required for TokenReview in authentication");
      return { ...review, status: statusOf(judge(token, textsAt(review, "spec.audiences"))) };
    }),
    answering(localAccessReview, (review) => {
      refuse([
        ...questionErrors(review, { namesSomebody: true }),
        ...metadataError(review, "namespace"),
        ...outsideErrors(review),
      ]);
      return decide(review, subjectOf(review));
    }),
    answering(ownAccessReview, (review, call) => {
      refuse([...questionErrors(review, { namesSomebody: false }), ...metadataError(review, undefined)]);
      return decide(review, call.user);
    }),
    answering(ownRulesReview, (review, call) => {
      const namespace = textAt(review, "spec.namespace");
      if (namespace === "") throw badRequest("no namespace on request");
      return { ...bare(review), spec: {}, status: rulesStatus(rulesFor(call.user, namespace)) };
    }),
    answering(accessReview, (review) => {
      refuse([...questionErrors(review, { namesSomebody: true }), ...metadataError(review, undefined)]);
      return decide(review, subjectOf(review));
    }),
  ];
}

/** The question of a request, with its sender as the owner of its fields. */
async function asked(call: Call): Promise<Body> {
  const review = decodeObject(call, call.body);
  await letOthersGo(call);
  await fillIn(call, review);
  await letOthersGo(call);
  delete review.status;
  return tracked(call, review);
}

/** An object that is answered and not kept says who set its fields all the same. */
export async function tracked(call: Call, object: Body, subresource = ""): Promise<Body> {
  const update = {
    before: { ...bare(object), ...alwaysThere(object) },
    after: object,
    manager: managerOf(call),
    subresource,
    apiVersion: apiVersionOf(call.resource),
    time: rfc3339(call.core.clock.now()),
    schema: call.resource.schema,
  };
  const managedFields = writeManagers(await passesInTurns(call, updatedManagers(update, new Map())));
  const { managedFields: _, ...metadata } = object.metadata;
  return {
    ...object,
    metadata: { ...metadata, ...(managedFields.length > 0 && { managedFields }) } as Body["metadata"],
  };
}

/** The parts that are there even where nobody gave them: only what is in them has an owner. */
function alwaysThere({ spec }: Body): object {
  if (spec === undefined) return {};
  return { spec: at(spec, "boundObjectRef") === undefined ? {} : { boundObjectRef: {} } };
}

function bare({ apiVersion, kind }: Body): Body {
  return { apiVersion, kind, metadata: {} } as unknown as Body;
}

/** Upstream validates reviews before their kind is known to the error's maker, so the message names none. */
function refuse(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid({ group: accessReview.group, plural: "", kind: "" }, "", errors);
}

/** A local review asks about its own namespace and about no paths. */
function outsideErrors(review: Body): FieldError[] {
  const errors: FieldError[] = [];
  const namespace = textAt(review, "spec.resourceAttributes.namespace");
  if (at(review, "spec.resourceAttributes") !== undefined && namespace !== review.metadata.namespace)
    errors.push(invalidField("spec.resourceAttributes.namespace", namespace, "must match metadata.namespace"));
  const path = at(review, "spec.nonResourceAttributes");
  if (path !== undefined) {
    const sent = { Path: textAt(path, "path"), Verb: textAt(path, "verb") };
    errors.push(invalidField("spec.nonResourceAttributes", sent, "disallowed on this kind of request"));
  }
  return errors;
}

function rulesStatus({ rules, incomplete, error }: ReturnType<Authorizer["rulesFor"]>) {
  const resourceRules = rules
    .filter(({ resources }) => !isEmpty(resources))
    .map(({ nonResourceURLs: _, ...rule }) => rule);
  const nonResourceRules = rules
    .filter(({ nonResourceURLs }) => !isEmpty(nonResourceURLs))
    .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs }));
  return { resourceRules, nonResourceRules, incomplete, ...(error !== undefined && { evaluationError: error }) };
}

function statusOf(verdict: TokenVerdict) {
  if ("error" in verdict) return { user: {}, error: verdict.error };
  return { authenticated: true, user: infoOf(verdict.user), audiences: verdict.audiences };
}

function infoOf({ name, uid, groups, extra }: User) {
  const hasExtra = Object.keys(extra ?? {}).length > 0;
  return { username: name, ...(uid !== undefined && { uid }), groups, ...(hasExtra && { extra }) };
}
