import { createHmac, timingSafeEqual } from "node:crypto";
import { type Clock, Fault, type Mac, macBytes, macFromBytes } from "@slipway/base";
import { formatIpv4, parseIpv4 } from "../dhcp/wire/ipv4.ts";

/** A right that one machine has until `until` (ms since 1970). */
export interface Grant {
  mac: Mac;
  /** Where it was handed to, IPv4; absent: wherever the machine is. */
  address?: string;
  /** `agent`: to register; `private:SCOPE`: to fetch what is offered there. At most 128 characters. */
  to: string;
  until: number;
}

/** Every capability begins so, wherever it turns up: logs know by it what they must not repeat. */
export const CAPABILITY_PREFIX = "slc_";

const KEY_BYTES = 32;
const SEAL_BYTES = 32;
const MOST_TO = 128;
/** MAC, end in seconds, address; what for follows. */
const HEAD_BYTES = 6 + 6 + 4;
const ANYWHERE = "0.0.0.0";

/**
 * Grants that their holders carry with them: a sealed text (HMAC-SHA-256), safe in a URL and on a kernel's command line, that
 * nothing needs to remember. Who has the same key reads the same grants, after a restart and in another replica too.
 */
export class Capabilities {
  readonly #key: Uint8Array;
  readonly #clock: Pick<Clock, "now">;

  /** `key`: 32 secret bytes. Throws a `Fault` for another length. */
  constructor(key: Uint8Array, clock: Pick<Clock, "now">) {
    if (key.length !== KEY_BYTES) throw new Fault("Invalid", "capabilities", `a key of ${key.length} bytes, not 32`);
    this.#key = key;
    this.#clock = clock;
  }

  /** The capability's text. Throws a `RangeError` for what is no MAC or IPv4 address, or a longer `to`. */
  grant({ mac, address = ANYWHERE, to, until }: Grant): string {
    const scope = Buffer.from(to, "utf8");
    if (scope.length > MOST_TO) throw new RangeError(`capability to ${scope.length} bytes`);
    const payload = Buffer.concat([macBytes(mac), Buffer.alloc(HEAD_BYTES - 6), scope]);
    payload.writeUIntBE(Math.floor(until / 1000), 6, 6);
    payload.writeUInt32BE(parseIpv4(address), 12);
    return CAPABILITY_PREFIX + Buffer.concat([payload, this.#seal(payload)]).toString("base64url");
  }

  /** Whose capability it is, and where it was handed to, when it is one of ours, to just this, and not over; else undefined. */
  check(token: string, to: string): Pick<Grant, "mac" | "address"> | undefined {
    if (!/^slc_[A-Za-z0-9_-]{64,240}$/.test(token)) return undefined;
    const text = token.slice(CAPABILITY_PREFIX.length);
    const bytes = Buffer.from(text, "base64url");
    // One text for one grant: the last letter has bits to spare.
    if (bytes.toString("base64url") !== text) return undefined;
    const payload = bytes.subarray(0, bytes.length - SEAL_BYTES);
    if (payload.length < HEAD_BYTES || !timingSafeEqual(this.#seal(payload), bytes.subarray(payload.length)))
      return undefined;
    if (payload.subarray(HEAD_BYTES).toString("utf8") !== to) return undefined;
    if (payload.readUIntBE(6, 6) * 1000 <= this.#clock.now()) return undefined;
    const address = formatIpv4(payload.readUInt32BE(12));
    return { mac: macFromBytes(payload.subarray(0, 6)), ...(address !== ANYWHERE && { address }) };
  }

  #seal(payload: Uint8Array): Buffer {
    return createHmac("sha256", this.#key).update(payload).digest();
  }
}
