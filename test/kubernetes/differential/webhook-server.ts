import { systemClock as clock, type HttpAnswer, json, plain } from "@slipway/base";
import { serveHttp } from "@slipway/base/http-server";
import { createAuthority, issueServer } from "../../../src/pki/authority.ts";
import type { Json } from "./step.ts";

/**
 * A webhook that both servers call. How it answers stands in the URL, so that a configuration says all of it.
 * Its socket keeps no process alive: it ends with the test.
 */
const ca = await createAuthority({ commonName: "webhooks", clock });
const { certificatePem, keyPem } = await issueServer(ca, { commonName: "webhook", hosts: ["127.0.0.1"], clock });
const server = await serveHttp(answer, { tls: { cert: certificatePem, key: keyPem }, unref: true });

export const caBundle = Buffer.from(ca.certificatePem).toString("base64");
/** Where the webhook listens, and a port of loopback where nobody does. */
export const { port } = server;
export const DEAD_PORT = 1;

/** What an admission webhook is to answer: members of `response` (`patch` as a list of operations), or something altogether else. */
export interface AdmissionAnswer {
  /** Members of `response`; `allowed` unless said. */
  response?: Json;
  /** Replaces members of the whole AdmissionReview. */
  review?: Json;
  /** Annotates the object with what the webhook was sent, under this name. */
  annotate?: string;
  /** Sends what the webhook was sent back as a warning. */
  echo?: boolean;
  /** An HTTP answer that is no review. */
  raw?: { status?: number; body: string; type?: string };
  /** Never answers. */
  hang?: boolean;
}

/** The URL of an admission webhook that answers as wanted. */
export function admissionUrl(wanted: AdmissionAnswer = {}): string {
  return `https://127.0.0.1:${port}/admission/${encode(wanted)}`;
}

/** What a conversion webhook is to answer. */
export interface ConversionAnswer {
  /** Changes of each converted object: dotted path → value; null removes. */
  set?: Json;
  /** Moves a field: from one dotted path to another, by the version wanted. */
  move?: { [version: string]: [from: string, to: string] };
  response?: Json;
  review?: Json;
  /** Converts nothing to this version. */
  refuse?: string;
  /** Answers so many objects less. */
  drop?: number;
  raw?: AdmissionAnswer["raw"];
}

/** The URL of a conversion webhook that answers as wanted. */
export function conversionUrl(wanted: ConversionAnswer = {}): string {
  return `https://127.0.0.1:${port}/convert/${encode(wanted)}`;
}

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

async function answer({ url, body = "" }: { url: string; body?: string }): Promise<HttpAnswer> {
  const [kind, code = ""] = new URL(url).pathname.slice(1).split("/");
  const wanted = JSON.parse(Buffer.from(code, "base64url").toString()) as AdmissionAnswer & ConversionAnswer;
  if (wanted.hang) return await new Promise<never>(() => {});
  if (wanted.raw)
    return {
      ...plain(wanted.raw.status ?? 200, wanted.raw.body),
      headers: { "content-type": wanted.raw.type ?? "text/plain" },
    };
  const sent: Json = JSON.parse(body);
  return json(200, kind === "convert" ? converted(sent, wanted) : admitted(sent, wanted));
}

function admitted(sent: Json, wanted: AdmissionAnswer): Json {
  const { request } = sent;
  const { patch, ...response } = wanted.response ?? {};
  const operations = [...(patch ?? [])];
  const { uid, userInfo, object, oldObject, ...rest } = request;
  const { extra: _fingerprint, ...who } = userInfo;
  const told = inOrder({ ...rest, userInfo: who, object: seen(object), oldObject: seen(oldObject) });
  if (wanted.annotate) {
    if (!request.object?.metadata?.annotations)
      operations.push({ op: "add", path: "/metadata/annotations", value: {} });
    operations.push({ op: "add", path: `/metadata/annotations/${wanted.annotate}`, value: told });
  }
  const patched =
    operations.length === 0
      ? {}
      : { patch: Buffer.from(JSON.stringify(operations)).toString("base64"), patchType: "JSONPatch" };
  return {
    apiVersion: sent.apiVersion,
    kind: sent.kind,
    response: { uid, allowed: true, ...patched, ...(wanted.echo && { warnings: [told] }), ...response },
    ...wanted.review,
  };
}

/** A text that is the same for the same value, whoever wrote it, and whatever name a server made. */
function inOrder(value: Json): string {
  const sorted = (_key: string, at: Json): Json =>
    at !== null && typeof at === "object" && !Array.isArray(at)
      ? Object.fromEntries(Object.entries(at).sort(([a], [b]) => (a < b ? -1 : 1)))
      : at;
  return JSON.stringify(value, sorted).replace(/gen-[a-z0-9]{5}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "*");
}

/** An object without what is long, grows with each webhook, or is another on each server. */
function seen(object: Json): Json {
  if (!object?.metadata) return object;
  const { managedFields: _, annotations: __, ...metadata } = object.metadata;
  for (const field of ["uid", "resourceVersion", "creationTimestamp"]) if (metadata[field]) metadata[field] = "set";
  return { ...object, metadata };
}

function converted(sent: Json, wanted: ConversionAnswer): Json {
  const { uid, desiredAPIVersion, objects } = sent.request;
  const version = desiredAPIVersion.split("/")[1];
  const out = objects.slice(wanted.drop ?? 0).map((object: Json) => {
    const next = { ...structuredClone(object), apiVersion: desiredAPIVersion };
    const move = wanted.move?.[version];
    if (move !== undefined) {
      put(next, move[1], at(next, move[0]));
      put(next, move[0], undefined);
    }
    for (const [path, value] of Object.entries(wanted.set ?? {})) put(next, path, value ?? undefined);
    return next;
  });
  return {
    apiVersion: sent.apiVersion,
    kind: sent.kind,
    response: { uid, convertedObjects: out, result: resultOf(wanted.refuse === version), ...wanted.response },
    ...wanted.review,
  };
}

const resultOf = (refused: boolean): Json =>
  refused ? { status: "Failure", message: "not that way" } : { status: "Success" };

const at = (object: Json, path: string): Json => path.split(".").reduce((o: Json, step) => o?.[step], object);

function put(object: Json, path: string, value: Json): void {
  const steps = path.split(".");
  const last = steps.pop()!;
  let into = object;
  for (const step of steps) {
    if (into[step] === undefined && value === undefined) return;
    into[step] ??= {};
    into = into[step];
  }
  if (value === undefined) delete into[last];
  else into[last] = value;
}
