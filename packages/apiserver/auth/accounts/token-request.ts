import { rfc3339 } from "@slipway/base";
import { admit, approve } from "../../core/admit.ts";
import type { Call } from "../../core/call.ts";
import { invalid as invalidField } from "../../model/field-error.ts";
import { at, membersAt, numberAt, textAt, textsAt } from "../../model/read.ts";
import type { Body, FieldError } from "../../model/served.ts";
import { badRequest, conflict, invalid, notFound } from "../../model/status.ts";
import { decodeObject, fillIn } from "../../verbs/object.ts";
import { tokenRequest } from "../review-kinds.ts";
import { tracked } from "../reviews.ts";
import type { AccountTokens, TokenFor } from "./account-tokens.ts";

const HOUR_S = 3600;
const MIN_S = 600;
const MAX_S = 2 ** 32;
/** What the volumes of Pods ask for: it marks tokens of clients that may not know yet that tokens expire. */
const PROJECTED_S = 3607;
/** How long such a token really is good for. */
const EXTENDED_S = 365 * 24 * HOUR_S;

const KIND = { group: "authentication.k8s.io", version: "v1", kind: "TokenRequest" };
const ERRORS = { group: "authentication.k8s.io", plural: "TokenRequest", kind: "TokenRequest" };

/** `POST …/serviceaccounts/<name>/token`: a token for the account, bound to a Pod, Secret or Node where asked. */
export async function requestToken(call: Call, tokens: AccountTokens): Promise<Body> {
  const { core, name, namespace } = call;
  const request = await readRequest(call);
  await admit(call, { operation: "CREATE", object: request, kind: KIND });
  const given = request.metadata.name ?? "";
  if (given !== "" && given !== name)
    refuse(name, invalidField("metadata.name", given, "must match the service account name if specified"));
  const account = core.store.get("/serviceaccounts", `${namespace}/${name}`);
  if (account === undefined) throw notFound(call.resource, name);
  const { uid } = account.metadata;
  if ((request.metadata.uid ?? "") !== "" && request.metadata.uid !== uid)
    throw conflict(
      { ...ERRORS },
      name,
      `the UID in the token request (${request.metadata.uid}) does not match the UID of the service account (${uid})`,
    );
  const seconds = numberAt(request, "spec.expirationSeconds");
  if (seconds < MIN_S) refuse("", tooShort(seconds));
  if (seconds > MAX_S) refuse("", tooLong(seconds));

  const bound = boundTo(call, at(request, "spec.boundObjectRef"));
  const wanted = textsAt(request, "spec.audiences");
  const audiences = wanted.length === 0 ? [tokens.issuer] : wanted;
  const isProjected =
    bound.pod !== undefined && seconds === PROJECTED_S && audiences.every((audience) => audience === tokens.issuer);
  const lifetime = isProjected ? { expiresInS: EXTENDED_S, warnAfterS: PROJECTED_S } : { expiresInS: seconds };
  const now = core.clock.now();
  const { managedFields } = request.metadata;
  const metadata = { name, namespace, uid, creationTimestamp: rfc3339(now), ...(managedFields && { managedFields }) };
  const spec = { boundObjectRef: null, ...membersAt(request, "spec"), audiences };
  const asked = { ...request, metadata: metadata as unknown as Body["metadata"], spec };
  const unanswered = { token: "", expirationTimestamp: null };
  await approve(call, { operation: "CREATE", object: { ...asked, status: unanswered }, kind: KIND });
  const token = tokens.issue({ account, audiences, bound, ...lifetime });
  const status = { token, expirationTimestamp: rfc3339(now + seconds * 1000) };
  return { ...asked, status };
}

async function readRequest(call: Call): Promise<Body> {
  const here = { ...call, resource: tokenRequest, name: "" };
  // The kind itself has no namespace, its place has.
  const resource = { ...tokenRequest, namespaced: true };
  const request = decodeObject({ ...here, resource }, call.body ?? {});
  await fillIn(here, request);
  delete request.status;
  const given = Object.entries(membersAt(request, "spec")).filter(([, value]) => value !== null);
  request.spec = { expirationSeconds: HOUR_S, ...Object.fromEntries(given) };
  return tracked(here, request, "token");
}

function refuse(name: string, error: FieldError): never {
  throw invalid(ERRORS, name, [error]);
}

function tooShort(seconds: number): FieldError {
  return invalidField("spec.expirationSeconds", seconds, "may not specify a duration less than 10 minutes");
}

function tooLong(seconds: number): FieldError {
  return invalidField("spec.expirationSeconds", seconds, "may not specify a duration larger than 2^32 seconds");
}

function boundTo({ core, namespace, name: account }: Call, reference: unknown): NonNullable<TokenFor["bound"]> {
  if (typeof reference !== "object" || reference === null) return {};
  const [kind, apiVersion, name] = [
    textAt(reference, "kind"),
    textAt(reference, "apiVersion"),
    textAt(reference, "name"),
  ];
  const [version, group] = apiVersion.split("/").reverse() as [string, string?];
  const plural = BINDABLE[kind];
  if (plural === undefined || group !== undefined)
    throw badRequest(`cannot bind token to object of type ${group ?? ""}/${version}, Kind=${kind}`);
  const object = core.store.get(`/${plural}`, kind === "Node" ? name : `${namespace}/${name}`);
  if (object === undefined) throw notFound({ group: "", plural, kind }, name);
  if (kind === "Pod" && textAt(object, "spec.serviceAccountName") !== account)
    throw badRequest(
      `cannot bind token for serviceaccount ${JSON.stringify(account)} to pod running with different serviceaccount name.`,
    );
  const uid = textAt(reference, "uid");
  if (uid !== "" && uid !== object.metadata.uid)
    throw conflict(
      { group: "", plural: kind, kind },
      name,
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  if (kind === "Secret") return { secret: object };
  if (kind === "Node") return { node: { name, uid: object.metadata.uid } };
  const nodeName = textAt(object, "spec.nodeName");
  if (nodeName === "") return { pod: object };
  const node = core.store.get("/nodes", nodeName);
  return { pod: object, node: { name: nodeName, ...(node && { uid: node.metadata.uid }) } };
}

const BINDABLE: Readonly<Record<string, string>> = { Pod: "pods", Secret: "secrets", Node: "nodes" };
