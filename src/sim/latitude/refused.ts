import { type HttpAnswer, json } from "@slipway/base";

/** An answer other than success, as the API words it: a status, a code word and a sentence. */
export class Refused extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, detail: string) {
    super(detail);
    this.status = status;
    this.code = code;
  }
}

/** The API's 404. */
export function missing(what: string, id: string): Refused {
  return new Refused(404, "NOT_FOUND", `${what} ${id} not found`);
}

/** The API's 422 with its code. */
export function unprocessable(code: string, detail: string): Refused {
  return new Refused(422, code, detail);
}

/** The JSON:API error body. */
export function errorAnswer(
  status: number,
  code: string,
  detail: string,
  headers: Record<string, string> = {},
): HttpAnswer {
  const title = code.toLowerCase().replaceAll("_", " ");
  return json(status, { errors: [{ code, status: String(status), title, detail }] }, headers);
}
