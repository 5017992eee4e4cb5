/** Bytes from the network that break the format they claim to have. The message names the field or option; it never quotes the bytes. */
export class Malformed extends RangeError {
  constructor(where: string, why: string) {
    super(`${where}: ${why}`);
    this.name = "Malformed";
  }
}

/** Reads an option that may be malformed; undefined then. */
export function tolerant<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Malformed) return undefined;
    throw error;
  }
}
