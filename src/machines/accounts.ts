import { type Clock, Fault, type Http } from "@slipway/base";
import { Fleet } from "./fleet.ts";
import type { MachineDriver } from "./machine.ts";
import type { ClientCertificate, DriverFactory, DriverPorts, ProviderAccount } from "./provider.ts";

export interface Account extends ProviderAccount {
  /** The driver's name. */
  type: string;
  /** PEM certificate that the endpoint is verified with; undefined: the system's authorities. */
  ca: string | undefined;
}

/** An account by the name of whatever describes it, and what it is made of today. */
export interface AccountSource {
  /** `MachineProvider/latitude-fra`, `Secret/<namespace>/<name>`. */
  name: string;
  /** Reads type and credentials anew. Fails with `MissingInput` where they are not there. */
  read: () => Promise<Account>;
}

export interface AccountPorts extends Omit<DriverPorts, "http"> {
  /** The way to an endpoint whose certificate is verified with this PEM certificate, and that is shown the client's, where there is one. */
  http: (ca: string | undefined, client?: ClientCertificate) => Http;
  /** Endpoint per driver for accounts that name none: a compatible API in place of the provider's public one. */
  endpoints?: Readonly<Record<string, string | undefined>>;
}

/** How long credentials are used before they are read again; a refusal by the provider ends it at once. */
const CREDENTIALS_MS = 60_000;

/**
 * The fleets of all provider accounts in use: one driver and one list for each, however many ask. A rotated key takes effect
 * without recreating anything (H18): credentials are read again after a minute, and at once when the provider refuses them.
 */
export class Accounts {
  readonly #drivers: Readonly<Record<string, DriverFactory>>;
  readonly #ports: AccountPorts;
  readonly #clock: Clock;
  readonly #fleets = new Map<string, { fleet: Fleet; account: Account; readAt: number }>();
  readonly #reading = new Map<string, Promise<Fleet>>();

  constructor(drivers: Readonly<Record<string, DriverFactory>>, ports: AccountPorts) {
    this.#drivers = drivers;
    this.#ports = ports;
    this.#clock = ports.clock;
  }

  /** The fleet of an account. Many callers at once cause one read. */
  async fleet(source: AccountSource): Promise<Fleet> {
    const held = this.#fleets.get(source.name);
    if (held !== undefined && this.#clock.monotonic() - held.readAt < CREDENTIALS_MS) return held.fleet;
    let reading = this.#reading.get(source.name);
    if (reading === undefined) {
      reading = this.#read(source).finally(() => this.#reading.delete(source.name));
      this.#reading.set(source.name, reading);
    }
    return await reading;
  }

  /** The provider refused the credentials: the next look reads them again. */
  refused(name: string): void {
    const held = this.#fleets.get(name);
    if (held !== undefined) held.readAt = Number.NEGATIVE_INFINITY;
  }

  async #read(source: AccountSource): Promise<Fleet> {
    const account = await source.read();
    const held = this.#fleets.get(source.name);
    const unchanged = held !== undefined && JSON.stringify(held.account) === JSON.stringify(account);
    const fleet = unchanged ? held.fleet : new Fleet(this.#driver(source, account), this.#clock);
    this.#fleets.set(source.name, { fleet, account, readAt: this.#clock.monotonic() });
    return fleet;
  }

  #driver(source: AccountSource, account: Account): MachineDriver {
    const make = this.#drivers[account.type];
    const { clock, log, http, endpoints, hosts } = this.#ports;
    if (make !== undefined) {
      const endpoint = account.endpoint ?? endpoints?.[account.type];
      return make(
        { ...account, endpoint },
        { clock, log, http: http(account.ca, account.client), ...(hosts && { hosts }) },
      );
    }
    throw new Fault("Invalid", source.name, `there is no driver of type ${account.type}`, {
      remedy: `use one of ${Object.keys(this.#drivers).join(", ")}`,
    });
  }
}
