/** Bytes from the network that break the format they claim to have. The message names the field or option; it never quotes the bytes. */
export class Malformed extends RangeError {
  constructor(where: string, why: string) {
    super(`${where}: ${why}`);
    this.name = "Malformed";
  }
}
