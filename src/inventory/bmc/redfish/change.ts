import type { HttpAnswer } from "@slipway/base";
import type { Body } from "./body.ts";
import type { RedfishConnection, Resource } from "./connection.ts";
import { refusal } from "./refusal.ts";

/** Precondition failed; precondition required (RFC 9110 §15.5.13, RFC 6585 §3). */
const FAILED = 412;
const REQUIRED = 428;

/**
 * Changes a resource by PATCH. With the ETag that it was read with; a BMC whose ETags can't be met is taken as it is: read anew, without
 * the mark of a weak tag, without the quotes around the quotes, last without any. What `changes` lists are spellings of one change, the
 * richest first: BMCs refuse properties that others demand. Rejects when none is taken, with the first refusal.
 */
export async function change(
  connection: RedfishConnection,
  resource: Resource,
  changes: readonly Body[],
  signal: AbortSignal,
): Promise<HttpAnswer> {
  let first: HttpAnswer | undefined;
  for (const body of changes) {
    const answer = await patch(connection, resource, body, signal);
    if (answer.status < 400) return answer;
    first ??= answer;
    if (answer.status !== 400 && answer.status !== 422) break;
  }
  throw refusal(connection.origin, `PATCH ${resource.path}`, first!);
}

async function patch(
  connection: RedfishConnection,
  { path, etag }: Resource,
  body: Body,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const send = async (ifMatch: string | undefined): Promise<HttpAnswer> =>
    await connection.ask({ method: "PATCH", path, body, ...(ifMatch !== undefined && { ifMatch }) }, signal);
  const answer = await send(etag);
  if (answer.status === REQUIRED) return await send("*");
  if (answer.status !== FAILED) return answer;
  const now = (await connection.get(path, signal)).etag;
  for (const ifMatch of [...spellingsOf(now), undefined]) {
    const again = await send(ifMatch);
    if (again.status !== FAILED) return again;
  }
  return answer;
}

/** How BMCs want their own ETag back. */
function spellingsOf(etag: string | undefined): readonly string[] {
  if (etag === undefined) return [];
  const strong = etag.replace(/^W\//, "");
  const bare = strong.replace(/^(\\?")+|(\\?")+$/g, "");
  return [...new Set([etag, strong, `"${bare}"`])];
}
