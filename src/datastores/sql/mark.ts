/** What is written on a database or role that we made: a comment that names its other half. */
export interface Mark {
  schema: string;
  user: string;
}

const PREFIX = "slipway place ";

/** The comment for a place's database and role. */
export function writeMark({ schema, user }: Mark): string {
  return PREFIX + JSON.stringify({ schema, user });
}

/** Undefined: no mark of ours. */
export function readMark(comment: string | null | undefined): Mark | undefined {
  if (!comment?.startsWith(PREFIX)) return undefined;
  try {
    const { schema, user } = JSON.parse(comment.slice(PREFIX.length)) as Partial<Mark>;
    return typeof schema === "string" && typeof user === "string" ? { schema, user } : undefined;
  } catch {
    return undefined;
  }
}
