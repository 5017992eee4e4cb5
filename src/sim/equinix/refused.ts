/** An answer other than 2xx, with the API's form of reasons. */
export class Refused extends Error {
  readonly status: number;

  constructor(status: number, reason: string) {
    super(reason);
    this.status = status;
  }
}

export const notFound = (): Refused => new Refused(404, "Not found");
export const unprocessable = (reason: string): Refused => new Refused(422, reason);
