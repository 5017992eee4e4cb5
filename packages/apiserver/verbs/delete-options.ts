import { readHead, Unreadable } from "../body/head.ts";
import type { Call } from "../core/call.ts";
import { isRecord } from "../json/value.ts";
import { invalid, notSupported } from "../model/field-error.ts";
import type { FieldError } from "../model/served.ts";
import { badRequest } from "../model/status.ts";
import { decodeWire, Undecodable } from "../wire/decode.ts";
import { wireTypeOf } from "../wire/wire-types.ts";
import { dryRunErrors, invalidOptions, readBoolean } from "./write-options.ts";

export interface DeleteOptions {
  gracePeriodSeconds?: number | undefined;
  propagation?: "Background" | "Foreground" | "Orphan" | undefined;
  uid?: string | undefined;
  resourceVersion?: string | undefined;
  /** Admission has had its say: the deletion follows from another request. */
  admitted?: boolean;
}

interface Given {
  gracePeriodSeconds?: number;
  propagationPolicy?: string;
  orphanDependents?: boolean;
  preconditions?: { uid?: string; resourceVersion?: string };
  dryRun?: string[];
}

const TYPE = wireTypeOf("meta", "DeleteOptions")!;
const POLICIES = ["Foreground", "Background", "Orphan"];

/**
 * Reads DeleteOptions from the body, and from the query where there is no body; a dry run is noted in the query. Throws BadRequest for what
 * does not decode, Invalid for what makes no sense.
 */
export function deleteOptions(call: Call): DeleteOptions {
  const given = call.body === undefined ? fromQuery(call.query) : fromBody(call.body);
  const { gracePeriodSeconds, propagationPolicy: policy, orphanDependents, preconditions, dryRun = [] } = given;
  const errors: FieldError[] = [];
  if (orphanDependents !== undefined && policy !== undefined)
    errors.push(invalid("propagationPolicy", policy, "orphanDependents and deletionPropagation cannot be both set"));
  if (policy !== undefined && !POLICIES.includes(policy))
    errors.push(notSupported("propagationPolicy", policy, [...POLICIES, "nil"]));
  errors.push(...dryRunErrors(dryRun));
  if (errors.length > 0) throw invalidOptions("DeleteOptions", errors);
  if (dryRun.includes("All") && !call.query.getAll("dryRun").includes("All")) call.query.append("dryRun", "All");
  const old = orphanDependents === undefined ? undefined : orphanDependents ? "Orphan" : "Background";
  return {
    gracePeriodSeconds,
    propagation: (policy as DeleteOptions["propagation"]) ?? old,
    uid: preconditions?.uid,
    resourceVersion: preconditions?.resourceVersion,
  };
}

function fromBody(body: unknown): Given {
  try {
    const { apiVersion = "v1", kind = "DeleteOptions" } = readHead(body);
    if (kind !== "DeleteOptions")
      throw badRequest(
        `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`,
      );
    const { apiVersion: _v, kind: _k, ...rest } = isRecord(body) ? body : {};
    return decodeWire(TYPE, rest).value as Given;
  } catch (error) {
    if (error instanceof Undecodable || error instanceof Unreadable) throw badRequest(error.message);
    throw error;
  }
}

function fromQuery(query: URLSearchParams): Given {
  const seconds = query.get("gracePeriodSeconds");
  if (seconds !== null && !/^[-+]?\d+$/.test(seconds))
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(seconds)}: invalid syntax`);
  const policy = query.get("propagationPolicy");
  return {
    ...(seconds !== null && { gracePeriodSeconds: Number(seconds) }),
    ...(policy !== null && { propagationPolicy: policy }),
    ...(query.has("orphanDependents") && { orphanDependents: readBoolean(query.get("orphanDependents")) }),
    dryRun: query.getAll("dryRun"),
  };
}
