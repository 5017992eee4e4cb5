/** The query of a list, a watch or the deletion of a collection, read and judged as upstream's `ListOptions`. */
import type { FieldError } from "../model/served.ts";
import { badRequest, invalid, unreasoned } from "../model/status.ts";

export interface ListOptions {
  /** 0: all. */
  limit: number;
  /** Empty on the first page. */
  continue: string;
  /** Empty: the present. */
  resourceVersion: string;
  resourceVersionMatch: string;
  sendInitialEvents: boolean | undefined;
  allowWatchBookmarks: boolean;
  /** Undefined: the server's own. */
  timeoutSeconds: number | undefined;
}

/** Reads and judges the options. Throws BadRequest for what does not parse, Invalid for what does not go together. */
export function listOptions(query: URLSearchParams, watch: boolean): ListOptions {
  const options: ListOptions = {
    allowWatchBookmarks: flag(query, "allowWatchBookmarks") ?? false,
    resourceVersion: query.get("resourceVersion") ?? "",
    resourceVersionMatch: query.get("resourceVersionMatch") ?? "",
    timeoutSeconds: whole(query, "timeoutSeconds"),
    limit: Math.max(0, whole(query, "limit") ?? 0),
    continue: query.get("continue") ?? "",
    sendInitialEvents: flag(query, "sendInitialEvents"),
  };
  const { resourceVersion, resourceVersionMatch, sendInitialEvents } = options;
  const old = resourceVersion === "" || resourceVersion === "0";
  if (watch && old && sendInitialEvents === undefined && resourceVersionMatch === "")
    Object.assign(options, { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" });
  const errors = watch ? judgeWatch(options) : judgeList(options);
  if (errors.length > 0)
    throw invalid({ group: "meta.k8s.io", plural: "listoptions", kind: "ListOptions" }, "", errors);
  return options;
}

function judgeList({ resourceVersion, resourceVersionMatch: match, ...rest }: ListOptions): FieldError[] {
  const errors: FieldError[] = [];
  if (match !== "") {
    if (resourceVersion === "")
      errors.push(
        forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden unless resourceVersion is provided"),
      );
    if (rest.continue !== "")
      errors.push(forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided"));
    if (match !== "Exact" && match !== "NotOlderThan") errors.push(unsupported(match, ["Exact", "NotOlderThan", ""]));
    if (match === "Exact" && resourceVersion === "0")
      errors.push(
        forbidden("resourceVersionMatch", 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'),
      );
  }
  if (rest.sendInitialEvents !== undefined)
    errors.push(forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  return errors;
}

function judgeWatch({ resourceVersionMatch: match, ...rest }: ListOptions): FieldError[] {
  const errors: FieldError[] = [];
  if (rest.sendInitialEvents !== undefined && match !== "NotOlderThan")
    errors.push(
      forbidden("resourceVersionMatch", "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"),
    );
  if (match === "") return errors;
  if (rest.sendInitialEvents === undefined)
    errors.push(
      forbidden(
        "resourceVersionMatch",
        "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
      ),
    );
  if (match !== "NotOlderThan") errors.push(unsupported(match, ["NotOlderThan"]));
  if (rest.continue !== "")
    errors.push(forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided"));
  return errors;
}

const forbidden = (field: string, why: string): FieldError => ({
  field,
  reason: "FieldValueForbidden",
  message: `Forbidden: ${why}`,
});

const unsupported = (match: string, known: readonly string[]): FieldError => ({
  field: "resourceVersionMatch",
  reason: "FieldValueNotSupported",
  message: `Unsupported value: ${JSON.stringify(match)}: supported values: ${known.map((k) => JSON.stringify(k)).join(", ")}`,
});

/** A switch is on unless it says otherwise; undefined when it is not there. */
export function flag(query: URLSearchParams, name: string): boolean | undefined {
  const text = query.get(name)?.toLowerCase();
  return text === undefined ? undefined : text !== "false" && text !== "0";
}

const LARGEST = 2n ** 63n;

function whole(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const wrong = numberTrouble(text, /^[+-]?\d+$/, LARGEST);
  if (wrong !== undefined) throw badRequest(`strconv.ParseInt: ${wrong}`);
  return Number(text);
}

/** A `resourceVersion` as a number; empty reads as 0. Throws BadRequest for other text. */
export function parseVersion(text: string): number {
  const wrong = versionTrouble(text);
  if (wrong !== undefined) throw badRequest(`invalid resource version: ${wrong}`);
  return Number(text);
}

/** As `parseVersion`, in the words of a read of one object, for which upstream has no better status than 500. */
export function parseVersionOfRead(text: string): number {
  const wrong = versionTrouble(text);
  if (wrong !== undefined) throw unreasoned(wrong);
  return Number(text);
}

function versionTrouble(text: string): string | undefined {
  const wrong = text === "" ? undefined : numberTrouble(text, /^\d+$/, LARGEST * 2n);
  return wrong && `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: ${wrong}`;
}

function numberTrouble(text: string, form: RegExp, end: bigint): string | undefined {
  if (!form.test(text)) return `parsing ${JSON.stringify(text)}: invalid syntax`;
  const size = BigInt(text.replace(/^[+-]/, ""));
  return size < end ? undefined : `parsing ${JSON.stringify(text)}: value out of range`;
}
