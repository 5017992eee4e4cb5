/**
 * Which machine speaks from an address: the one place where that is decided. Everything that acts for a machine asks here: boot scripts,
 * registration, the agent's requests, private files, logs by address. docs/netboot.md states what is promised against whom.
 */
import type { Mac } from "@slipway/base";

/**
 * `proven`: a lease of ours for the address is this card's, and on our own link the kernel's neighbour at the address has this card.
 * `foreign`: another DHCP server gives addresses there, so a neighbour is all that is known of who has it; without one, nothing is.
 * `refused`: nothing is done in the speaker's name.
 */
export type Presence =
  | { is: "proven"; mac: Mac; address: string; via?: string }
  | { is: "foreign"; address: string; neighbour?: Mac }
  | { is: "refused"; address: string; because: string; unleased?: Unleased };

/** No lease or reservation has the address. A machine whose installer has a fixed address may use it. `neighbour`: the card at it, on the link. */
export interface Unleased {
  neighbour?: Mac;
}

/** Who speaks from an address, as things stand now. */
export interface Presences {
  of(sourceAddress: string): Presence;
}

/** The last lease of an address, or the reservation of it. */
export interface LeaseHolder {
  mac: Mac;
  /** It has not ended. One that has ended counts while no other machine was given the address: boot loaders never renew. */
  living: boolean;
  /** The relay and its port that it was given through; absent: our own link. */
  via?: string;
}

export interface PresenceSources {
  /** Our word on an address; undefined where we never gave it. */
  lease(address: string): LeaseHolder | undefined;
  /** The card that the kernel has for an address of the link. A connection has just been answered by it. */
  neighbour(address: string): Mac | undefined;
  /** Whether machines with the address are on the link itself. */
  isOnLink(address: string): boolean;
  /** Whether another DHCP server gives the address. */
  isForeign(address: string): boolean;
}

/**
 * How a card was shown to be the speaker's. `lease`: lease, neighbour and source agree. `relay`: the lease was given through a relay, and
 * there is no neighbour to compare. `neighbour`: no lease of ours, but the neighbour. `claim`: nothing but its own word.
 */
export type Proof = "lease" | "relay" | "neighbour" | "claim";

/** What an agent's session is bound to. Times are milliseconds since 1970. */
export interface Session {
  card: Mac;
  address: string;
  proof: Proof;
  /** The relay and its port; absent: none. */
  via?: string;
  /** Its boot was asked for at the machine's BMC, and has shown the value that the BMC was given for it. */
  isAsked?: true;
  registeredAt: number;
  /** When the agent made its last request. */
  spokeAt: number;
}

/** Decides who speaks from an address, by the lease, the neighbour and the link. Keeps nothing: each call asks the sources anew. */
export function presences(sources: PresenceSources): Presences {
  return { of: (sourceAddress) => presenceAt(plainAddress(sourceAddress), sources) };
}

function presenceAt(address: string, { lease, neighbour, isOnLink, isForeign }: PresenceSources): Presence {
  const isHere = isOnLink(address);
  const answering = isHere ? neighbour(address) : undefined;
  if (isHere && answering === undefined) return refused(address, "no neighbour is known at it");
  const given = lease(address);
  if (given !== undefined && (given.living || !isForeign(address))) {
    const because = contradiction(given, { isHere, answering });
    if (because !== undefined) return refused(address, because);
    return { is: "proven", mac: given.mac, address, ...(given.via !== undefined && { via: given.via }) };
  }
  if (!isForeign(address))
    return {
      ...refused(address, "it has no lease"),
      ...(given === undefined && { unleased: answering === undefined ? {} : { neighbour: answering } }),
    };
  return { is: "foreign", address, ...(answering !== undefined && { neighbour: answering }) };
}

/** What about the speaker does not agree with the lease of its address; undefined: all does. `answering`: the card on the link, when it is there. */
function contradiction(
  { mac, via }: LeaseHolder,
  { isHere, answering }: { isHere: boolean; answering: Mac | undefined },
): string | undefined {
  if (!isHere) return via === undefined ? "its lease was given on the link, and it speaks from elsewhere" : undefined;
  if (via !== undefined) return "its lease was given through a relay, and it speaks on the link";
  return answering === mac ? undefined : `its lease is ${mac}'s, and ${answering} answers at it`;
}

function refused(address: string, because: string): Extract<Presence, { is: "refused" }> {
  return { is: "refused", address, because };
}

/** The card that a presence shows; undefined: it shows none. */
export function cardOf(presence: Presence): Mac | undefined {
  return presence.is === "proven" ? presence.mac : presence.is === "foreign" ? presence.neighbour : undefined;
}

/** How far the presence shows that `card` is the speaker's; undefined: it does not, or shows another. */
export function proofOf(presence: Presence, card: Mac): Proof | undefined {
  if (presence.is === "refused") return undefined;
  const shown = cardOf(presence);
  if (shown === undefined) return "claim";
  if (shown !== card) return undefined;
  if (presence.is === "foreign") return "neighbour";
  return presence.via === undefined ? "lease" : "relay";
}

/** Whether the presence is the one that the session is bound to: its card, its address, its way. */
export function speaksFor(presence: Presence, session: Session | undefined): boolean {
  if (session === undefined || presence.address !== session.address) return false;
  const via = presence.is === "proven" ? presence.via : undefined;
  return proofOf(presence, session.card) === session.proof && via === session.via;
}

/** The way, where it names a port of the relay and not just the relay. */
export function portOf(via: string | undefined): string | undefined {
  return via?.endsWith("//") ? undefined : via;
}

/** IPv4 as such, however a socket for both families shows it. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, "");
}
