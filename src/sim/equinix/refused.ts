/** An answer other than 2xx, with the API's form of reasons. */
export class Refused extends Error {
  readonly status: number;

  constructor(status: number, reason: string) {
    super(reason);
    this.status = status;
  }
}

/** The API's 404. */
export const notFound = (): Refused => new Refused(404, "Not found");
/** The API's 422; the reason is the text of its error. */
export const unprocessable = (reason: string): Refused => new Refused(422, reason);
