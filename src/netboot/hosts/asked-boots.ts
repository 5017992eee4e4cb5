import { createHash, timingSafeEqual } from "node:crypto";
import type { Clock, Mac, Random } from "@slipway/base";

/** Every one-time value begins so: logs know by it what they must not repeat. */
export const BOOT_VALUE_PREFIX = "slo_";

/** A value, as a part of a regular expression. */
export const BOOT_VALUE = `${BOOT_VALUE_PREFIX}[A-Za-z0-9_-]{43}`;

/** From the order to start the machine to the registration of its agent; servers check their memory for minutes. */
export const ASKED_MS = 20 * 60_000;

const VALUE_BYTES = 32;
/** Machines that are being started at one time; of more, the oldest value ends. */
const MOST = 1_000;
/** A loader that could not start what it was given asks for its script again. */
const MOST_SCRIPTS = 16;

interface Asked {
  value: Buffer;
  /** Milliseconds since 1970. */
  until: number;
  /** Where the value was shown from. */
  address?: string;
  /** The capabilities that were granted there since. */
  capabilities: readonly Buffer[];
}

/**
 * Boots that were asked for at management controllers. Each has a value that the controller alone is given, which the firmware shows when it fetches its
 * loader: who shows it runs on the machine behind that controller. What its card is given to start the agent by, at the address where the value was shown, is
 * good for one registration within 20 minutes, and ends with the next order about the machine's power. In memory, as hashes: after a restart of netboot
 * the machine has to be started once more.
 */
export class AskedBoots {
  readonly #clock: Pick<Clock, "now">;
  readonly #random: Random;
  readonly #asked = new Map<Mac, Asked>();

  constructor(clock: Pick<Clock, "now">, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** The value of the boot that is asked for now, of the machine with this card. It ends the one before. */
  ask(mac: Mac): string {
    const value = BOOT_VALUE_PREFIX + Buffer.from(this.#random.bytes(VALUE_BYTES)).toString("base64url");
    this.#asked.delete(mac);
    if (this.#asked.size >= MOST) this.#asked.delete(this.#asked.keys().next().value!);
    this.#asked.set(mac, { value: hashOf(value), until: this.#clock.now() + ASKED_MS, capabilities: [] });
    return value;
  }

  /** The value was taken, or the machine's power is changed in another way: none of it counts. */
  end(mac: Mac): void {
    this.#asked.delete(mac);
  }

  /** The card of the machine whose boot has this value; undefined: none, or it has ended. */
  cardOf(value: string): Mac | undefined {
    const hash = hashOf(value);
    const found = [...this.#asked].find(([, asked]) => timingSafeEqual(asked.value, hash));
    return found && this.#open(found[0]) && found[0];
  }

  /** The machine with this card shows a value from this address. False: it is not the machine's, or has ended. */
  shown(mac: Mac, value: string, address: string): boolean {
    const asked = this.#open(mac);
    if (asked === undefined || !timingSafeEqual(asked.value, hashOf(value))) return false;
    this.#asked.set(mac, { ...asked, address });
    return true;
  }

  /** The machine was given a capability: it is of the boot that was asked for, where that has shown its value from the same address. */
  granted(mac: Mac, address: string, capability: string): void {
    const asked = this.#open(mac);
    if (asked === undefined || asked.address !== address) return;
    const capabilities = [...asked.capabilities, hashOf(capability)].slice(-MOST_SCRIPTS);
    this.#asked.set(mac, { ...asked, capabilities });
  }

  /** Whether the capability is of the boot that was asked for. Whoever believes it ends it: it is good once. */
  isOf(mac: Mac, capability: string): boolean {
    const hash = hashOf(capability);
    return this.#open(mac)?.capabilities.some((each) => timingSafeEqual(each, hash)) === true;
  }

  #open(mac: Mac): Asked | undefined {
    const asked = this.#asked.get(mac);
    if (asked === undefined || this.#clock.now() < asked.until) return asked;
    this.#asked.delete(mac);
    return undefined;
  }
}

/** Of equal length, whatever is compared. */
function hashOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
