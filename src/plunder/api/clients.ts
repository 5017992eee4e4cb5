import { createHash, X509Certificate } from "node:crypto";
import { type Clock, Fault, replacePrivateFile } from "@slipway/base";
import { z } from "zod";
import { textOf } from "../../pki/shelf.ts";

const Known = z.strictObject({
  name: z.string(),
  /** SHA-256 of the certificate. */
  fingerprint: z.string(),
  issuedAt: z.number(),
  revokedAt: z.number().exactOptional(),
});
export type KnownClient = Readonly<z.output<typeof Known>>;

/** The one of its folder, which the command that runs there uses. */
const FIRST = "slipway-netboot-client";
const NAME = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,62}$/;
const MOST = 1_000;

export interface IssuedClient {
  name: string;
  certificatePem: string;
  keyPem: string;
}

/** Makes a certificate of that name. */
type Issue = (name: string) => Promise<Pick<IssuedClient, "certificatePem" | "keyPem">>;

/** Client certificates of the API, by name: each can be revoked, with effect at once. */
export class Clients {
  readonly #file: string;
  readonly #issue: Issue;
  readonly #clock: Pick<Clock, "now">;
  #known: readonly KnownClient[];

  private constructor(file: string, issue: Issue, clock: Pick<Clock, "now">, known: readonly KnownClient[]) {
    this.#file = file;
    this.#issue = issue;
    this.#clock = clock;
    this.#known = known;
  }

  /** Rejects with a `Fault` (`Invalid`) when the file holds something else: who was taken back would not be known. */
  static async open(file: string, issue: Issue, clock: Pick<Clock, "now">): Promise<Clients> {
    const text = await textOf(file);
    try {
      return new Clients(file, issue, clock, text === "" ? [] : z.array(Known).parse(JSON.parse(text)));
    } catch (cause) {
      throw new Fault("Invalid", file, "is no list of clients", {
        remedy: "restore it from a copy: without it, revoked clients would be served",
        cause,
      });
    }
  }

  list(): readonly KnownClient[] {
    return this.#known;
  }

  /** Who shows a certificate of this fingerprint (hexadecimal digits). Undefined: it was taken back, or is none that is known. */
  nameOf(fingerprint: string, commonName: string): string | undefined {
    const known = this.#known.find((each) => each.fingerprint === fingerprint);
    if (known !== undefined) return known.revokedAt === undefined ? known.name : undefined;
    return commonName === FIRST ? FIRST : undefined;
  }

  /** Issues a certificate. Rejects with a `Fault`: `Invalid`, `AlreadyExists` for a name that is in use, `NoCapacity`. */
  async issue(name: string): Promise<IssuedClient> {
    if (!NAME.test(name) || name === FIRST)
      throw new Fault("Invalid", "client", "a name is 1 to 63 letters, digits, dots, dashes, _ and @");
    if (this.#known.some((each) => each.name === name && each.revokedAt === undefined))
      throw new Fault("AlreadyExists", name, "there is a client of this name", {
        remedy: "revoke it first, or choose another name",
      });
    if (this.#known.length >= MOST) throw new Fault("NoCapacity", "client", `there are ${MOST} clients`);
    const { certificatePem, keyPem } = await this.#issue(name);
    const fingerprint = createHash("sha256").update(new X509Certificate(certificatePem).raw).digest("hex");
    await this.#keep([...this.#known, { name, fingerprint, issuedAt: this.#clock.now() }]);
    return { name, certificatePem, keyPem };
  }

  /** Its certificate is good for nothing from now on. Rejects with a `Fault` (`NotFound`). */
  async revoke(name: string): Promise<void> {
    const isIt = (each: KnownClient): boolean => each.name === name && each.revokedAt === undefined;
    if (!this.#known.some(isIt)) throw new Fault("NotFound", name.slice(0, 64), "there is no such client");
    const revokedAt = this.#clock.now();
    await this.#keep(this.#known.map((each) => (isIt(each) ? { ...each, revokedAt } : each)));
  }

  async #keep(known: readonly KnownClient[]): Promise<void> {
    await replacePrivateFile(this.#file, JSON.stringify(known));
    this.#known = known;
  }
}
