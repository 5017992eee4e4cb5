import { Fault, type Mac, parseMac } from "@slipway/base";
import { checkOwnBoot, type OwnBoot } from "./boot.ts";
import { formatIpv4, type Ipv4, parseIpv4 } from "./wire/ipv4.ts";

/** What is settled beforehand for one machine. */
export interface Reservation extends OwnBoot {
  mac: string;
  /** The one address it gets, in or outside of the pools. Absent: any. */
  address?: string;
  hostName?: string;
}

export interface Reserved extends OwnBoot {
  mac: Mac;
  address: Ipv4 | undefined;
  hostName?: string;
}

const HOST_NAME = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$/i;

/** Reservations by machine and by address. Throws a `Fault` when two share one, or one can't be encoded for a client. */
export class Reservations {
  readonly #byMac = new Map<Mac, Reserved>();
  readonly #byAddress = new Map<Ipv4, Mac>();

  constructor(all: Iterable<Reservation> = []) {
    for (const given of all) {
      const mac = parseMac(given.mac);
      const address = given.address === undefined ? undefined : parseIpv4(given.address);
      checkOwnBoot(mac, given);
      if (given.hostName !== undefined && !HOST_NAME.test(given.hostName))
        throw new Fault("Invalid", `reservation ${mac}`, "its host name is none by RFC 1123");
      if (this.#byMac.has(mac)) throw new Fault("Invalid", `reservation ${mac}`, "there are two for this machine");
      const holder = address === undefined ? undefined : this.#byAddress.get(address);
      if (address !== undefined && holder !== undefined)
        throw new Fault("Invalid", `reservation ${mac}`, `${formatIpv4(address)} is reserved for ${holder}`);
      this.#byMac.set(mac, { ...given, mac, address });
      if (address !== undefined) this.#byAddress.set(address, mac);
    }
  }

  of(mac: Mac | undefined): Reserved | undefined {
    return mac === undefined ? undefined : this.#byMac.get(mac);
  }

  holderOf(address: Ipv4): Mac | undefined {
    return this.#byAddress.get(address);
  }
}
