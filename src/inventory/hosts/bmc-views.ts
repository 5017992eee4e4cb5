import { asFault, type Clock, Fault, isFault } from "@slipway/base";
import { type Client, keyOf, refOf } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import type { Bmc, PowerState } from "../bmc/bmc.ts";
import type { BmcTarget } from "../bmc/target.ts";
import type { BmcView } from "./facts.ts";

/** Makes the way to a BMC; throws a `Fault` (`Invalid`) for an address that is none. Asks nothing yet. */
export type OpenBmc = (target: BmcTarget) => Bmc;

interface Opened {
  bmc: Bmc;
  /** What it was opened with, without the password. */
  by: string;
  credentials: string;
  /** ms, monotonic. */
  readSecretAt: number;
  macs?: readonly string[];
  power?: { is: PowerState; at: number };
}

/** A rotated Secret is noticed after this, or at once when the BMC refuses the old credentials. */
const SECRET_MS = 10 * 60_000;

/** The ways to the hosts' BMCs, kept open between looks, and what each said last. */
export class BmcViews {
  readonly #open: OpenBmc;
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #opened = new Map<string, Opened>();

  constructor(open: OpenBmc, clock: Pick<Clock, "monotonic">) {
    this.#open = open;
    this.#clock = clock;
  }

  /** What the host's BMC says, or said at most `maxAgeMs` ago; undefined: it has none. Never rejects for the BMC's sake. */
  async view(
    host: BareMetalHost,
    { client, maxAgeMs, signal }: { client: Client; maxAgeMs: number; signal: AbortSignal },
  ): Promise<BmcView | undefined> {
    if (host.spec.bmc === undefined) {
      await this.forget(keyOf(refOf(host)));
      return undefined;
    }
    let credentials: string | undefined;
    try {
      const opened = await this.#of(host, client);
      credentials = opened.credentials;
      const now = this.#clock.monotonic();
      if (opened.power === undefined || now - opened.power.at > maxAgeMs)
        opened.power = { is: await opened.bmc.readPower({ signal }), at: this.#clock.monotonic() };
      opened.macs ??= (await opened.bmc.identity({ signal })).macs;
      return { is: "answers", power: opened.power.is, credentials, macs: opened.macs };
    } catch (error) {
      if (signal.aborted) throw error;
      const fault = asFault(error, host.spec.bmc.address);
      // The next look reads the Secret again.
      if (isFault(fault, "BadCredentials")) await this.forget(keyOf(refOf(host)));
      return { is: "fails", fault, ...(credentials !== undefined && { credentials }) };
    }
  }

  /** Reads something of the host's BMC. Rejects with a `Fault`. */
  async read<T>(host: BareMetalHost, client: Client, ask: (bmc: Bmc) => Promise<T>): Promise<T> {
    return ask((await this.#of(host, client)).bmc);
  }

  /** The way to the host's BMC, for a change of its power; what it said before counts no more. Rejects with a `Fault`. */
  async toChange(host: BareMetalHost, client: Client): Promise<Bmc> {
    const opened = await this.#of(host, client);
    delete opened.power;
    return opened.bmc;
  }

  /** Closes the way to the BMC of a host. */
  async forget(key: string): Promise<void> {
    const opened = this.#opened.get(key);
    this.#opened.delete(key);
    await opened?.bmc.close();
  }

  /** Closes all. */
  async close(): Promise<void> {
    await Promise.all([...this.#opened.keys()].map((key) => this.forget(key)));
  }

  async #of(host: BareMetalHost, client: Client): Promise<Opened> {
    const key = keyOf(refOf(host));
    const known = this.#opened.get(key);
    const now = this.#clock.monotonic();
    const { address, credentialsName, disableCertificateVerification = false } = host.spec.bmc!;
    const by = JSON.stringify([address, credentialsName, disableCertificateVerification]);
    if (known?.by === by && now - known.readSecretAt < SECRET_MS) return known;
    const { version, target } = await targetOf(host, client);
    if (known?.by === by && known.credentials === version) {
      known.readSecretAt = now;
      return known;
    }
    await this.forget(key);
    const opened = { bmc: this.#open(target), by, credentials: version, readSecretAt: now };
    this.#opened.set(key, opened);
    return opened;
  }
}

/** The credentials are those of the host's own namespace. Rejects with a `Fault` that names the Secret and what it lacks. */
export async function targetOf(host: BareMetalHost, client: Client): Promise<{ version: string; target: BmcTarget }> {
  const { namespace } = host.metadata;
  const { address, credentialsName: name, disableCertificateVerification = false } = host.spec.bmc!;
  const on = `Secret/${namespace}/${name}`;
  const remedy = "create it with the keys username and password, and ca.crt where the BMC's certificate needs one";
  const secret = await client.find(Secret, { name, ...(namespace !== undefined && { namespace }) });
  if (secret === undefined) throw new Fault("MissingInput", on, "the credentials of the BMC are not there", { remedy });
  const [username, password, authorities] = ["username", "password", "ca.crt"].map((key) =>
    Buffer.from(secret.data?.[key] ?? "", "base64")
      .toString()
      .trim(),
  ) as [string, string, string];
  const missing = [username === "" ? "username" : [], password === "" ? "password" : []].flat();
  if (missing.length > 0) throw new Fault("MissingInput", on, `it has no ${missing.join(" and no ")}`, { remedy });
  return {
    version: secret.metadata.resourceVersion ?? "",
    target: {
      address,
      credentials: { username, password },
      trust: { ...(authorities !== "" && { ca: authorities }), anyCertificate: disableCertificateVerification },
    },
  };
}
